"""Goals: what a carried frame should do. A goal has never heard of figures.

Each class states its target, lists the terms that kernels evaluate (`potentials`), and measures how far a frame is from
it in metres and radians, by plain NumPy and independently of the kernels.

``per_radian`` makes lengths and angles commensurate: it is the length [m] that weighs as much as one radian. In the terms of
Zhao & Badler, one unit of length weighing as much as d degrees means ``per_radian = 360/(2πd)``. A direction is left free
by leaving it out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as _field
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from supple import potentials as kind
from supple.compiled import register_custom
from supple.errors import BadValue
from supple.space import (
    Floats,
    angle_between,
    angle_of,
    finite,
    frozen,
    here,
    inverse,
    placement,
    rotation,
    rotation_vector,
    unit,
)

_PERMUTE_Y = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # a frame whose x axis is the old y axis
NEEDS = {"position", "direction", "frame"}


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


def _spread(value: Any, shape: tuple[int, ...], what: str) -> Floats:
    """One number for all, or an array of `shape`, as such an array."""
    array = _numbers(value, what)
    return np.full(shape, array) if array.shape == () else finite(array, shape, what)


def _numbers(value: Any, what: str) -> Floats:
    """`value` as an array of any shape; what is not made of numbers is refused."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadValue(f"{what} must be numbers, not {value!r}") from error


def _positive(value: float, what: str) -> None:
    if not (np.isfinite(value) and value > 0.0):
        raise BadValue(f"{what} must be positive and finite, not {value!r}")


@dataclass(frozen=True, eq=False)
class At:
    """The point at a position: ``P = ‖p − r‖²``."""

    position: Any  # (3,)
    relative_to: str | None = None
    shape: ClassVar[tuple[int, ...]] = (3,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", frozen(finite(self.position, (3,), "the position of At")))

    def terms(self) -> list[Term]:
        """One term."""
        return [Term(kind.AT, self.position, "position")]

    def miss(self, X: Floats) -> Miss:
        """The distance."""
        return Miss(metres=float(np.linalg.norm(X[:3, 3] - self.position)))

    def aimed(self, target: ArrayLike) -> At:
        """At another position (3,)."""
        return replace(self, position=np.asarray(target, float))


@dataclass(frozen=True, eq=False, init=False)
class Facing:
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
        per_radian: float | tuple[float, float] = 1.0,
        relative_to: str | None = None,
        rotation: Any = None,
        **description: Any,
    ) -> None:
        whole = rotation is not None or any(v is not None for v in description.values())
        if whole == (x is not None or y is not None):
            raise BadValue("Facing takes directions x= and y=, or one description of a rotation")
        pair = tuple(_spread(per_radian, (2,), "per_radian of Facing").tolist())
        for c in pair:
            _positive(c, "per_radian of Facing")
        values = {
            "x": None if x is None else frozen(unit(x, "the x direction of Facing")),
            "y": None if y is None else frozen(unit(y, "the y direction of Facing")),
            "matrix": frozen(_rotation(rotation, description, "Facing")) if whole else None,
            "per_radian": pair,
            "relative_to": relative_to,
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
            return Facing(matrix=np.asarray(target), **options)
        both = self.x is not None and self.y is not None
        rows = finite(target, (2, 3) if both else (3,), "the target of Facing").reshape(-1, 3)
        names = [name for name in ("x", "y") if getattr(self, name) is not None]
        return Facing(**dict(zip(names, rows, strict=True)), **options)


def _rotation(turn: Any, description: dict[str, Any], what: str) -> Floats:
    strange = set(description) - {"quat_wxyz", "quat_xyzw", "matrix", "rpy"}
    if strange:
        raise BadValue(f"{what} does not take {', '.join(sorted(strange))}")
    return rotation(turn, **description, what=f"the rotation of {what}")


@dataclass(frozen=True, eq=False, init=False)
class Placed:
    """The whole frame at a placement: position and rotation. ``Placed(T)`` with a (4, 4) matrix, or position and rotation.

    ``P = ‖p − r‖² + 4c² sin²(φ/2)`` with φ the angle between the two frames.
    """

    at: Floats
    per_radian: float
    relative_to: str | None
    shape: ClassVar[tuple[int, ...]] = (4, 4)

    def __init__(
        self,
        position: ArrayLike,
        rotation: Any = None,
        *,
        per_radian: float = 1.0,
        relative_to: str | None = None,
        **description: Any,
    ) -> None:
        array = _numbers(position, "the placement of Placed")
        described = rotation is not None or any(v is not None for v in description.values())
        if array.shape == (4, 4) and not described:
            at = placement(array, "the placement of Placed")
        elif array.shape == (3,) and described:
            R = _rotation(rotation, description, "Placed")
            at = placement(np.block([[R, finite(array, (3,), "position")[:, None]], [np.zeros(3), 1.0]]))
        else:
            raise BadValue(
                f"Placed takes a matrix (4, 4), or a position (3,) and one rotation, not shape {array.shape}"
            )
        _positive(per_radian, "per_radian of Placed")
        for name, value in {"at": at, "per_radian": float(per_radian), "relative_to": relative_to}.items():
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
        return Placed(target, per_radian=self.per_radian, relative_to=self.relative_to)


@dataclass(frozen=True, eq=False)
class AimedAt:
    """The direction pointing at a point from where it starts: ``P = c²‖d̂ − v‖²``."""

    point: Any  # (3,)
    per_radian: float = 1.0
    relative_to: str | None = None
    shape: ClassVar[tuple[int, ...]] = (3,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", frozen(finite(self.point, (3,), "the point of AimedAt")))
        _positive(self.per_radian, "per_radian of AimedAt")

    def terms(self) -> list[Term]:
        """One term."""
        return [Term(kind.AIM, self.point, "direction", scale=self.per_radian)]

    def miss(self, X: Floats) -> Miss:
        """The angle between the direction and the line of sight; half a turn if the two points coincide."""
        d = self.point - X[:3, 3]
        return Miss(radians=angle_between(d, X[:3, 0]) if np.linalg.norm(d) > 1e-9 else np.pi)

    def aimed(self, target: ArrayLike) -> AimedAt:
        """At another point (3,)."""
        return replace(self, point=np.asarray(target, float))


@dataclass(frozen=True, eq=False)
class _Flat:
    """A point and a unit vector: what lines, planes and half-spaces have in common."""

    point: Any  # (3,)
    normal: Any  # (3,), made a unit vector
    relative_to: str | None = None
    shape: ClassVar[tuple[int, ...]] = (2, 3)
    kind: ClassVar[int]

    def __post_init__(self) -> None:
        what = type(self).__name__
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


@dataclass(frozen=True, eq=False)
class Within:
    """The frame within a tolerance box around `at`, axis by axis in the goal's own frame.

    `box` is half the size of the box [m], or a pair (lower, upper) of corners; `tilt` likewise bounds the rotation
    vector from the goal's frame to the effector's [rad]. Either may be left out.
    """

    at: Any = _field(default_factory=here)  # (3,) or (4, 4)
    box: Any = None
    tilt: Any = None
    per_radian: float = 1.0
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
        _positive(self.per_radian, "per_radian of Within")

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
        return replace(self, at=np.asarray(target, float))


def _corners(value: Any, what: str) -> Floats | None:
    if value is None:
        return None
    array = _numbers(value, f"the {what} of Within")
    if array.shape in ((), (3,)):
        array = np.broadcast_to(np.stack([-array, array]) if array.shape else np.array([[-array], [array]]), (2, 3))
    array = finite(array, (2, 3), f"the {what} of Within")
    if (array[0] > array[1]).any():
        raise BadValue(f"the {what} of Within must satisfy lower ≤ upper, not {array.tolist()}")
    return frozen(array)


@dataclass(frozen=True, eq=False)
class AnyOf:
    """Any one of several goals for the same effector: ``P = min_k w_k P_k``. Outside a convex polyhedron is any of its sides.

    Nested alternatives are flattened, their weights multiplied.
    """

    goals: Sequence[Any]
    weights: Sequence[float] | None = None
    relative_to: str | None = None

    def __post_init__(self) -> None:
        goals = tuple(self.goals)
        weights = (1.0,) * len(goals) if self.weights is None else tuple(map(float, self.weights))
        if not goals or len(weights) != len(goals):
            raise BadValue(f"AnyOf needs goals and as many weights, not {len(goals)} and {len(weights)}")
        for w in weights:
            _positive(w, "a weight of AnyOf")
        for goal in goals:
            if not hasattr(goal, "terms") or not hasattr(goal, "miss"):
                raise BadValue(f"AnyOf is made of goals such as At or Placed, not {goal!r}")
        if self.relative_to is not None:
            raise BadValue("AnyOf has no relative_to= of its own: give it to each of its goals")
        object.__setattr__(self, "goals", goals)
        object.__setattr__(self, "weights", weights)

    def alternatives(self) -> list[tuple[Any, float]]:
        """Every simple goal with the product of the weights above it."""
        out: list[tuple[Any, float]] = []
        for goal, weight in zip(self.goals, self.weights or (), strict=True):
            inner = goal.alternatives() if isinstance(goal, AnyOf) else [(goal, 1.0)]
            out += [(g, weight * w) for g, w in inner]
        return out

    def terms(self) -> list[Term]:
        """The terms of an alternative are its own."""
        raise BadValue("the terms of AnyOf belong to its alternatives")

    def miss(self, X: Floats) -> Miss:
        """The least miss of the alternatives, metres and radians added for the comparison."""
        return min((g.miss(X) for g, _ in self.alternatives()), key=lambda m: m.metres + m.radians)

    def aimed(self, target: Any) -> AnyOf:
        """With other targets, one for each of its goals."""
        if len(target) != len(self.goals):
            raise BadValue(f"AnyOf has {len(self.goals)} goals but {len(target)} targets")
        goals = tuple(g.aimed(t) for g, t in zip(self.goals, target, strict=True))
        return replace(self, goals=goals)


@dataclass(frozen=True, eq=False)
class Custom:
    """A goal of one's own: ``function(a, x, g, H) -> P``, compiled by Numba, for the target numbers ``a``.

    ``x`` holds the 12 numbers of the effector's frame: its position, then its x, y and z axes. The function writes ∂P/∂x
    into ``g`` (12) and ∂²P/∂x² into ``H`` (12, 12), both zero on entry, and returns ``P ≥ 0``. The goal counts as met
    when ``√P`` is within the task's tolerance in metres.
    """

    function: Callable[..., float]
    target: Any = ()
    relative_to: str | None = None
    address: int = _field(init=False, repr=False)

    def __post_init__(self) -> None:
        array = np.atleast_1d(np.asarray(self.target, dtype=np.float64)).ravel()
        object.__setattr__(self, "target", frozen(finite(array, array.shape, "the target of Custom")))
        object.__setattr__(self, "address", register_custom(self.function))

    def terms(self) -> list[Term]:
        """One term."""
        return [Term(kind.CUSTOM, self.target, "position", address=self.address)]

    def miss(self, X: Floats) -> Miss:
        """``√P``, in the place of metres."""
        x = np.concatenate([X[:3, 3], X[:3, 0], X[:3, 1], X[:3, 2]])
        P = self.function(self.target.copy(), x, np.zeros(12), np.zeros((12, 12)))
        return Miss(metres=float(np.sqrt(max(P, 0.0))) if np.isfinite(P) else np.inf)

    def aimed(self, target: ArrayLike) -> Custom:
        """With other target numbers, as many as before."""
        array = finite(target, self.target.shape, "the target of Custom")
        out = replace(self, target=array)
        return out


@dataclass(frozen=True, eq=False)
class Near:
    """A posture goal: ``P = Σ_i w_i (q_i − ref_i)²``. A preference, not a condition: it never makes a solution fail."""

    reference: Any  # (size,)
    weights: Any = 1.0
    relative_to: str | None = None

    def __post_init__(self) -> None:
        reference = np.atleast_1d(np.asarray(self.reference, dtype=np.float64))
        object.__setattr__(self, "reference", frozen(finite(reference, reference.shape[:1], "the reference of Near")))
        weights = _spread(self.weights, reference.shape, "the weights of Near")
        if not (np.isfinite(weights).all() and (weights >= 0.0).all()):
            raise BadValue("the weights of Near must be finite and not negative")
        object.__setattr__(self, "weights", frozen(weights))

    def terms(self) -> list[Term]:
        """One term on the posture itself."""
        return [Term(kind.NEAR, self.reference, "posture")]

    def miss(self, X: Floats) -> Miss:
        """A preference is never missed."""
        return Miss()

    def aimed(self, target: ArrayLike) -> Near:
        """Near another posture."""
        return replace(self, reference=finite(target, self.reference.shape, "the reference of Near"))
