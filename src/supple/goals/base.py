"""What every goal is: terms for the kernels, and an independent measure of how far a frame is from it."""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import BadValue
from supple.space import Floats, finite

PER_RADIAN = 0.3  # metres that a radian counts for, unless told otherwise: about what it moves at the end of a forearm


class Term(NamedTuple):
    """One atom of a goal: a kind of potential, its target numbers, and which axis of the effector plays x."""

    kind: int
    target: Floats
    needs: str  # what the effector must have: "position", "direction" or "frame"
    weight: float = 1.0
    scale: float = 1.0
    lower: tuple[float, float, float] = (0.0, 0.0, 0.0)
    upper: tuple[float, float, float] = (0.0, 0.0, 0.0)
    turn: Floats | None = None  # applied to the effector's frame first
    address: int = 0  # of a custom function


class Miss(NamedTuple):
    """How far a task is from being met."""

    metres: float = 0.0
    radians: float = 0.0


class Goal(Protocol):
    """What `Task` needs of a goal."""

    relative_to: str | None

    def terms(self) -> list[Term]:
        """The terms whose sum is the potential."""
        ...

    def miss(self, X: Floats) -> Miss:
        """How far the frame X (4, 4) is from the goal."""
        ...

    def aimed(self, target: ArrayLike) -> Goal:
        """The same goal with other target numbers."""
        ...


def spread(value: Any, shape: tuple[int, ...], what: str) -> Floats:
    """One number for all, or an array of `shape`, as such an array."""
    array = numbers(value, what)
    return np.full(shape, array) if array.shape == () else finite(array, shape, what)


def numbers(value: Any, what: str) -> Floats:
    """`value` as an array of any shape; what is not made of numbers is refused."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadValue(f"{what} must be numbers, not {value!r}") from error


def positive(value: float, what: str) -> None:
    """Refuse what is not a positive finite number."""
    if not (isinstance(value, Real) and 0.0 < value < np.inf):
        raise BadValue(f"{what} must be positive and finite, not {value!r}")
