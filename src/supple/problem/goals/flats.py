"""Goals of lines, planes and half-spaces: OnLine, OnPlane, Beyond."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import check_fields, finite, named_or_none
from supple.basics.values import Value
from supple.geometry.placements import Floats, frozen, unit
from supple.kernels import kinds as kind
from supple.problem.goals.base import Miss, Term


@dataclass(frozen=True, eq=False, repr=False)
class _Flat(Value):
    """A point and a unit vector: what lines, planes and half-spaces have in common."""

    point: Any  # (3,)
    normal: Any  # (3,), made a unit vector
    relative_to: str | None = None
    shape: ClassVar[tuple[int, ...]] = (2, 3)
    kind: ClassVar[int]

    def __post_init__(self) -> None:
        what = type(self).__name__
        check_fields(self, relative_to=named_or_none)
        object.__setattr__(self, "point", frozen(finite(self.point, (3,), f"the point of {what}")))
        object.__setattr__(self, "normal", frozen(unit(self.normal, f"the direction of {what}")))

    def terms(self) -> list[Term]:
        """One term."""
        return [Term(self.kind, np.concatenate([self.point, self.normal]), "position")]

    def aimed(self, target: ArrayLike) -> Any:
        """With another point and unit vector, the rows of an array (2, 3)."""
        rows = finite(target, (2, 3), f"the target of {type(self).__name__}")
        return replace(self, point=rows[0], normal=rows[1])

    def _split(self, X: Floats) -> tuple[float, Floats]:
        d = X[:3, 3] - self.point
        s = float(d @ self.normal)
        return s, d - s * self.normal


class OnLine(_Flat):
    """The point on the line through `point` along `normal`: ``P = ‖d − (d·ν)ν‖²``."""

    kind = kind.LINE

    def miss(self, X: Floats) -> Miss:
        """The distance from the line."""
        return Miss(metres=float(np.linalg.norm(self._split(X)[1])))


class OnPlane(_Flat):
    """The point on the plane through `point` with `normal`: ``P = (d·ν)²``."""

    kind = kind.PLANE

    def miss(self, X: Floats) -> Miss:
        """The distance from the plane."""
        return Miss(metres=abs(self._split(X)[0]))


class Beyond(_Flat):
    """The point on the side of the plane to which `normal` points: ``P = max(0, d·ν)²``, ``d = p − r``."""

    kind = kind.BEYOND

    def miss(self, X: Floats) -> Miss:
        """How far it is on the wrong side."""
        return Miss(metres=max(0.0, -self._split(X)[0]))
