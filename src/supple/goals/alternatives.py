"""A goal that any one of several others fulfils."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from supple.errors import BadValue
from supple.goals.base import Miss, Term, positive
from supple.space import Floats


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
            positive(w, "a weight of AnyOf")
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
