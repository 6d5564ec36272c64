"""Goals that any one of several others fulfils: AnyOf, and Outside, which is any side of a convex solid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from supple.basics.checks import instance, items, named_or_none, not_negative, positive
from supple.basics.values import Value
from supple.errors import BadValue
from supple.figure.effectors import as_effector
from supple.geometry.placements import Floats
from supple.geometry.shapes import Box, Polytope
from supple.problem.goals.base import Choice, Miss, Term, checked_goal, choices_of
from supple.problem.goals.flats import Beyond


@dataclass(frozen=True, eq=False, repr=False)
class AnyOf(Value):
    """Any one of several goals: ``P = min_k w_k P_k``. Outside a convex polyhedron is any of its sides.

    A goal is for the task's effector, or, as a pair ``(effector, goal)``, for one of its own: either hand at x is
    ``Task(AnyOf([(Point("hand_l"), At(x)), (Point("hand_r"), At(x))]))``. Nested alternatives are flattened, their weights
    multiplied.
    """

    goals: Sequence[Any]
    weights: Sequence[float] | None = None
    relative_to: str | None = None

    def __post_init__(self) -> None:
        goals = items(self.goals, "the goals of AnyOf")
        weights: tuple[Any, ...] = (1.0,) * len(goals)
        if self.weights is not None:
            weights = tuple(positive(w, "a weight of AnyOf") for w in items(self.weights, "the weights of AnyOf"))
        if not goals or len(weights) != len(goals):
            raise BadValue(f"AnyOf needs goals and as many weights, not {len(goals)} and {len(weights)}")
        goals = tuple(_pair(goal) if isinstance(goal, tuple | list) else _checked(goal) for goal in goals)
        if self.relative_to is not None:
            raise BadValue("AnyOf has no relative_to= of its own: give it to each of its goals")
        object.__setattr__(self, "goals", goals)
        object.__setattr__(self, "weights", weights)

    def choices(self) -> list[Choice]:
        """Every simple goal with the product of the weights above it, and the effector that is named nearest to it."""
        out: list[Choice] = []
        for given, weight in zip(self.goals, self.weights or (), strict=True):
            end, goal = given if isinstance(given, tuple) else (None, given)
            out += [Choice(end if own is None else own, g, weight * w) for own, g, w in choices_of(goal)]
        return out

    def alternatives(self) -> list[tuple[Any, float]]:
        """Every simple goal with the product of the weights above it."""
        return [(goal, weight) for _, goal, weight in self.choices()]

    def terms(self) -> list[Term]:
        """The terms of an alternative are its own."""
        raise BadValue("the terms of AnyOf belong to its alternatives")

    def miss(self, X: Floats) -> Miss:
        """The least miss of the alternatives, metres and radians added for the comparison."""
        if any(effector is not None for effector, _, _ in self.choices()):
            raise BadValue("this AnyOf looks at several effectors; `Problem.misses` says how far each task is missed")
        return min((g.miss(X) for g, _ in self.alternatives()), key=lambda m: m.metres + m.radians)

    def aimed(self, target: Any) -> AnyOf:
        """With other targets, one for each of its goals."""
        targets = items(target, "the targets of AnyOf")
        if len(targets) != len(self.goals):
            raise BadValue(f"AnyOf has {len(self.goals)} goals but {len(targets)} targets")
        pairs = zip(self.goals, targets, strict=True)
        goals = tuple((g[0], g[1].aimed(t)) if isinstance(g, tuple) else g.aimed(t) for g, t in pairs)
        return replace(self, goals=goals)


def _checked(goal: Any) -> Any:
    return checked_goal(goal, "AnyOf is made of goals such as At or Placed, or pairs (effector, goal)")


def _pair(given: Any) -> tuple[Any, Any]:
    if len(given) != 2:
        raise BadValue(f"AnyOf takes goals, or pairs (effector, goal), not {len(given)} things together")
    return as_effector(given[0]), _checked(given[1])


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Outside(AnyOf):
    """The point outside a convex solid, a `Box` or a `Polytope`: beyond any one of its sides, by `margin` [m] or more.

    ``P = min_k max(0, d_k)²`` with d_k the depth below side k. With `relative_to` the solid is part of that segment.
    """

    goals: Sequence[Any] = field(init=False, repr=False)
    weights: Sequence[float] = field(init=False, repr=False)
    solid: Box | Polytope = field(kw_only=True)
    margin: float = field(kw_only=True, default=0.0)

    def __init__(self, solid: Box | Polytope, margin: float = 0.0, relative_to: str | None = None) -> None:
        margin = not_negative(margin, "the margin of Outside")
        relative_to = named_or_none(relative_to, "relative_to of Outside")
        normals, depths = _sides(solid)
        sides = [Beyond((d + margin) * n, n, relative_to) for n, d in zip(normals, depths, strict=True)]
        super().__init__(sides)
        for name, value in (("solid", solid), ("margin", margin), ("relative_to", relative_to)):
            object.__setattr__(self, name, value)

    def miss(self, X: Floats) -> Miss:
        """How deep it is inside: the distance to the nearest side, moved outwards by the margin."""
        normals, depths = _sides(self.solid)
        return Miss(metres=max(0.0, float(np.min(depths + self.margin - normals @ X[:3, 3]))))

    def aimed(self, target: Any) -> AnyOf:
        """Any of other sides, a point and an outward direction for each of its own."""
        return AnyOf(self.goals).aimed(target)


def _sides(solid: Any) -> tuple[Floats, Floats]:
    """Outward unit normals n (k, 3) and offsets d (k) of the half-spaces ``n·x ≤ d`` whose intersection the solid is."""
    instance(solid, (Box, Polytope), "the solid of Outside")
    body = Polytope.of(solid) if isinstance(solid, Box) else solid
    length = np.linalg.norm(body.A, axis=1)
    return body.A / length[:, None], body.b / length
