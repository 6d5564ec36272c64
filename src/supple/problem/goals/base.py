"""What every goal is: terms for the kernels, and an independent measure of how far a frame is from it."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from numpy.typing import ArrayLike

from supple.errors import BadValue, shown
from supple.geometry.placements import Floats

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


class Choice(NamedTuple):
    """One alternative: what is placed (None: the effector of the task), its goal, and its weight among the others."""

    effector: Any
    goal: Any
    weight: float


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


class OfFigure:
    """Base of goals of the whole figure, whose tasks have no effector: near a posture, and clear of things."""

    @property
    def segments(self) -> tuple[str, ...]:
        """The segments that it looks at, if only some matter."""
        return ()

    @property
    def holds(self) -> Any:
        """Whether each coordinate itself matters to it, so that a whole turn is not nothing; or one answer for all."""
        return False

    def check_figure(self, size: int, owner: str) -> None:
        """Refuse a figure of `size` coordinates if the goal is not made for it."""

    def miss_of(self, figure: Any, q: ArrayLike) -> Miss:
        """How far a posture of the figure is from the goal; a preference is never missed."""
        return Miss()


def choices_of(goal: Any) -> list[Choice]:
    """The alternatives of which one must be met: what a goal says of itself, or it alone."""
    several = getattr(goal, "choices", None)
    return [Choice(None, goal, 1.0)] if several is None else several()


def checked_goal(goal: Any, what: str) -> Any:
    """A goal, which is an object with terms and misses."""
    if (
        isinstance(goal, type)
        or not callable(getattr(goal, "terms", None))
        or not callable(getattr(goal, "miss", None))
    ):
        raise BadValue(f"{what}, not {shown(goal)}")
    return goal
