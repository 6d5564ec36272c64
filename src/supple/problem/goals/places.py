"""Goals of place and direction: At, Facing, Aligned, Placed, AimedAt."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import check_fields, finite, named_or_none, number, numbers, positive, spread
from supple.basics.values import Value
from supple.errors import BadValue
from supple.geometry.placements import (
    ROTATION_SLACK,
    Floats,
    angle_between,
    angle_of,
    frozen,
    placement,
    rotation,
    unit,
)
from supple.kernels import kinds as kind
from supple.problem.goals.base import PER_RADIAN, Miss, Term

ROUNDING = 1e-12  # of a rotation: not worth a word
MOST_SLACK = 0.1  # beyond it nobody can say which rotation was meant
_PERMUTE_Y = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # a frame whose x axis is the old y axis


@dataclass(frozen=True, eq=False, repr=False)
class At(Value):
    """The point at a position: ``P = ‖p − r‖²``."""

    position: Any  # (3,)
    relative_to: str | None = None
    shape: ClassVar[tuple[int, ...]] = (3,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", frozen(finite(self.position, (3,), "the position of At")))
        check_fields(self, relative_to=named_or_none)

    def terms(self) -> list[Term]:
        """One term."""
        return [Term(kind.AT, self.position, "position")]

    def miss(self, X: Floats) -> Miss:
        """The distance."""
        return Miss(metres=float(np.linalg.norm(X[:3, 3] - self.position)))

    def aimed(self, target: ArrayLike) -> At:
        """At another position (3,)."""
        return replace(self, position=numbers(target, "the position of At"))


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Facing(Value):
    """Axes of the frame along given directions: ``P = c_x²‖x_g − x‖² + c_y²‖y_g − y‖²``, either left out; or a whole rotation.

    ``Facing((0, 0, 1))`` turns a direction (or a frame's x axis) upwards; ``Facing(x=…, y=…)`` weighs two axes
    separately; ``Facing(rotation=…)``, ``quat_wxyz=``, ``quat_xyzw=`` or ``matrix=`` asks for all three.
    """

    x: Floats | None
    y: Floats | None
    matrix: Floats | None
    per_radian: tuple[float, float]
    relative_to: str | None

    def __init__(
        self,
        x: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        per_radian: float | tuple[float, float] = PER_RADIAN,
        relative_to: str | None = None,
        rotation: Any = None,
        **description: Any,
    ) -> None:
        whole = rotation is not None or any(v is not None for v in description.values())
        if whole == (x is not None or y is not None):
            raise BadValue("Facing takes directions x= and y=, or one description of a rotation")
        pair = tuple(spread(per_radian, (2,), "per_radian of Facing").tolist())
        for c in pair:
            positive(c, "per_radian of Facing")
        values = {
            "x": None if x is None else frozen(unit(x, "the x direction of Facing")),
            "y": None if y is None else frozen(unit(y, "the y direction of Facing")),
            "matrix": frozen(_rotation(rotation, description, "Facing")) if whole else None,
            "per_radian": pair,
            "relative_to": named_or_none(relative_to, "relative_to of Facing"),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def terms(self) -> list[Term]:
        """One term for each direction, or one for the rotation."""
        if self.matrix is not None:
            return [Term(kind.TURN, self.matrix.ravel(), "frame", scale=self.per_radian[0])]
        out = []
        if self.x is not None:
            out.append(Term(kind.FACE, self.x, "direction", scale=self.per_radian[0]))
        if self.y is not None:
            out.append(Term(kind.FACE, self.y, "frame", scale=self.per_radian[1], turn=_PERMUTE_Y))
        return out

    def miss(self, X: Floats) -> Miss:
        """The largest angle."""
        if self.matrix is not None:
            return Miss(radians=angle_of(self.matrix.T @ X[:3, :3]))
        angles = [angle_between(X[:3, i], d) for i, d in enumerate((self.x, self.y)) if d is not None]
        return Miss(radians=max(angles))

    def aimed(self, target: ArrayLike) -> Facing:
        """Along other directions: (3,) for the one that is given, (2, 3) for both, (3, 3) for a rotation."""
        options: dict[str, Any] = {"per_radian": self.per_radian, "relative_to": self.relative_to}
        if self.matrix is not None:
            return Facing(matrix=target, **options)
        both = self.x is not None and self.y is not None
        rows = finite(target, (2, 3) if both else (3,), "the target of Facing").reshape(-1, 3)
        names = [name for name in ("x", "y") if getattr(self, name) is not None]
        return Facing(**dict(zip(names, rows, strict=True)), **options)


@dataclass(frozen=True, eq=False, repr=False)
class Aligned(Value):
    """The point at a position and axes of the frame along directions: a pose with what turns about one axis left free.

    ``P = w_p‖p − r‖² + w_o (c_x²‖x_g − x‖² + c_y²‖y_g − y‖²)`` with ``weights = (w_p, w_o)`` and ``per_radian = (c_x, c_y)``;
    an axis that is left out is free. ``Aligned(p, x=(0, 0, 1))`` grips a bar that stands at p, from any side.
    """

    position: Any  # (3,)
    x: Any = None  # (3,)
    y: Any = None
    weights: Any = (1.0, 1.0)
    per_radian: Any = PER_RADIAN
    relative_to: str | None = None

    def __post_init__(self) -> None:
        if self.x is None and self.y is None:
            raise BadValue("Aligned needs a direction, x= or y=; for a position alone there is At")
        values = {
            "position": frozen(finite(self.position, (3,), "the position of Aligned")),
            "x": None if self.x is None else frozen(unit(self.x, "the x direction of Aligned")),
            "y": None if self.y is None else frozen(unit(self.y, "the y direction of Aligned")),
            "weights": _positive_pair(self.weights, "the weights of Aligned, of position and orientation,"),
            "per_radian": _positive_pair(self.per_radian, "per_radian of Aligned"),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        check_fields(self, relative_to=named_or_none)

    @property
    def facing(self) -> Facing:
        """Its orientation alone."""
        return Facing(self.x, self.y, per_radian=self.per_radian, relative_to=self.relative_to)

    def terms(self) -> list[Term]:
        """A position, and one term for each direction."""
        place = Term(kind.AT, self.position, "position", weight=self.weights[0])
        return [place, *(term._replace(weight=self.weights[1]) for term in self.facing.terms())]

    def miss(self, X: Floats) -> Miss:
        """The distance, and the largest angle."""
        return Miss(float(np.linalg.norm(X[:3, 3] - self.position)), self.facing.miss(X).radians)

    def aimed(self, target: ArrayLike) -> Aligned:
        """At another position, along other directions: (2, 3), or (3, 3) where both are given."""
        names = [name for name in ("x", "y") if getattr(self, name) is not None]
        rows = finite(target, (1 + len(names), 3), "the target of Aligned")
        return replace(self, position=rows[0], **dict(zip(names, rows[1:], strict=True)))


def _positive_pair(value: Any, what: str) -> tuple[float, float]:
    one, other = spread(value, (2,), what).tolist()
    return positive(one, what), positive(other, what)


def _rotation(turn: Any, description: dict[str, Any], what: str) -> Floats:
    strange = set(description) - {"quat_wxyz", "quat_xyzw", "matrix", "rpy"}
    if strange:
        raise BadValue(f"{what} does not take {', '.join(sorted(strange))}")
    return rotation(turn, **description, what=f"the rotation of {what}")


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Placed(Value):
    """The whole frame at a placement: position and rotation. ``Placed(T)`` with a (4, 4) matrix, or position and rotation.

    ``P = ‖p − r‖² + 4c² sin²(φ/2)`` with φ the angle between the two frames. A matrix whose columns are up to `slack` away
    from orthonormal is taken for the rotation nearest to it; `off` says how far away they were.
    """

    at: Floats
    per_radian: float
    relative_to: str | None
    slack: float = field(compare=False)
    off: float = field(init=False, compare=False)
    shape: ClassVar[tuple[int, ...]] = (4, 4)

    def __init__(
        self,
        at: ArrayLike,
        rotation: Any = None,
        *,
        per_radian: float = PER_RADIAN,
        relative_to: str | None = None,
        slack: float = ROTATION_SLACK,
        **description: Any,
    ) -> None:
        array, off = numbers(at, "the placement of Placed"), 0.0
        slack = number(slack, "the slack of Placed", least=0.0, most=MOST_SLACK)
        described = rotation is not None or any(v is not None for v in description.values())
        if array.shape == (4, 4) and not described:
            there = placement(array, "the placement of Placed", slack)
            off = float(np.abs(array[:3, :3].T @ array[:3, :3] - np.eye(3)).max())
            off = off if off > ROUNDING else 0.0
        elif array.shape == (3,) and described:
            R = _rotation(rotation, description, "Placed")
            there = placement(np.block([[R, finite(array, (3,), "position")[:, None]], [np.zeros(3), 1.0]]))
        else:
            raise BadValue(
                f"Placed takes a matrix (4, 4), or a position (3,) and one rotation, not shape {array.shape}"
            )
        relative_to = named_or_none(relative_to, "relative_to of Placed")
        per_radian = positive(per_radian, "per_radian of Placed")
        values = {"at": there, "per_radian": per_radian, "relative_to": relative_to, "slack": slack, "off": off}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def terms(self) -> list[Term]:
        """A position and a turn."""
        turn = Term(kind.TURN, self.at[:3, :3].ravel(), "frame", scale=self.per_radian)
        return [Term(kind.AT, self.at[:3, 3], "position"), turn]

    def miss(self, X: Floats) -> Miss:
        """Distance and angle."""
        return Miss(float(np.linalg.norm(X[:3, 3] - self.at[:3, 3])), angle_of(self.at[:3, :3].T @ X[:3, :3]))

    def aimed(self, target: ArrayLike) -> Placed:
        """At another placement (4, 4)."""
        return Placed(target, per_radian=self.per_radian, relative_to=self.relative_to, slack=self.slack)


@dataclass(frozen=True, eq=False, repr=False)
class AimedAt(Value):
    """The direction pointing at a point from where it starts: ``P = c²‖d̂ − v‖²``."""

    point: Any  # (3,)
    per_radian: float = PER_RADIAN
    relative_to: str | None = None
    shape: ClassVar[tuple[int, ...]] = (3,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", frozen(finite(self.point, (3,), "the point of AimedAt")))
        check_fields(self, per_radian=positive, relative_to=named_or_none)

    def terms(self) -> list[Term]:
        """One term."""
        return [Term(kind.AIM, self.point, "direction", scale=self.per_radian)]

    def miss(self, X: Floats) -> Miss:
        """The angle between the direction and the line of sight; half a turn if the two points coincide."""
        d = self.point - X[:3, 3]
        return Miss(radians=angle_between(d, X[:3, 0]) if np.linalg.norm(d) > 1e-9 else np.pi)

    def aimed(self, target: ArrayLike) -> AimedAt:
        """At another point (3,)."""
        return replace(self, point=numbers(target, "the point of AimedAt"))
