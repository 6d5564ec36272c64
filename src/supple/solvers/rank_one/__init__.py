"""Convex inverse kinematics: lifted variables, their relaxation, and rank minimisation."""

from typing import TYPE_CHECKING

from supple import lazily

if TYPE_CHECKING:
    from supple.solvers.rank_one.conditions import AllOf as AllOf, Contact as Contact, Continuity as Continuity
    from supple.solvers.rank_one.obstacles import FreeRegions as FreeRegions
    from supple.solvers.rank_one.rank_one import RankOne as RankOne

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "conditions": ["AllOf", "Contact", "Continuity"],
        "obstacles": ["FreeRegions"],
        "rank_one": ["RankOne"],
    },
)
