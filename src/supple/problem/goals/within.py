"""A goal with room to move: a tolerance box around a frame."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import check_fields, finite, named_or_none, numbers, positive
from supple.basics.values import Value
from supple.errors import BadValue
from supple.geometry.placements import Floats, frozen, here, inverse, placement, rotation_vector
from supple.kernels import kinds as kind
from supple.problem.goals.base import PER_RADIAN, Miss, Term


@dataclass(frozen=True, eq=False, repr=False)
class Within(Value):
    """The frame within a tolerance box around `at`, axis by axis in the goal's own frame.

    `box` is half the size of the box [m], or a pair (lower, upper) of corners; `tilt` likewise bounds the rotation
    vector from the goal's frame to the effector's [rad]. Either may be left out.
    """

    at: Any = field(default_factory=here)  # (3,) or (4, 4)
    box: Any = None
    tilt: Any = None
    per_radian: float = PER_RADIAN
    relative_to: str | None = None
    shape: ClassVar[tuple[int, ...]] = (4, 4)

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", placement(self.at, "the frame of Within"))
        if self.box is None and self.tilt is None:
            raise BadValue("Within needs a box= [m], a tilt= [rad], or both")
        for name in ("box", "tilt"):
            object.__setattr__(self, name, _corners(getattr(self, name), name))
        if self.tilt is not None and max(map(abs, self.tilt.ravel())) > np.pi:
            raise BadValue("tilt bounds of Within lie between −π and π")
        check_fields(self, per_radian=positive, relative_to=named_or_none)

    def terms(self) -> list[Term]:
        """A term for the box, a term for the tilt."""
        out = []
        if self.box is not None:
            target = np.concatenate([self.at[:3, :3].ravel(), self.at[:3, 3]])
            out.append(Term(kind.BOX, target, "position", lower=tuple(self.box[0]), upper=tuple(self.box[1])))
        if self.tilt is not None:
            lower, upper = tuple(self.tilt[0]), tuple(self.tilt[1])
            R = self.at[:3, :3].ravel()
            out.append(Term(kind.TILT, R, "frame", scale=self.per_radian, lower=lower, upper=upper))
        return out

    def miss(self, X: Floats) -> Miss:
        """How far outside the box and the tilt."""
        E = inverse(self.at) @ X
        metres = radians = 0.0
        if self.box is not None:
            metres = float(np.linalg.norm(E[:3, 3] - np.clip(E[:3, 3], *self.box)))
        if self.tilt is not None:
            phi = rotation_vector(E[:3, :3])
            radians = float(np.linalg.norm(phi - np.clip(phi, *self.tilt)))
        return Miss(metres, radians)

    def aimed(self, target: ArrayLike) -> Within:
        """Around another frame (4, 4)."""
        return replace(self, at=numbers(target, "the frame of Within"))


def _corners(value: Any, what: str) -> Floats | None:
    if value is None:
        return None
    array = numbers(value, f"the {what} of Within")
    if array.shape in ((), (3,)):
        array = np.broadcast_to(np.stack([-array, array]) if array.shape else np.array([[-array], [array]]), (2, 3))
    array = finite(array, (2, 3), f"the {what} of Within")
    if (array[0] > array[1]).any():
        raise BadValue(f"the {what} of Within must satisfy lower ≤ upper, not {array.tolist()}")
    return frozen(array)
