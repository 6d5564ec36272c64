"""Keeping clear: obstacles by name, how far bodies keep from them, and which pairs are left alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from supple.errors import BadValue, find
from supple.figure import Figure
from supple.shapes import Ball, Box, Capsule, Polytope

Obstacle: TypeAlias = Ball | Box | Capsule | Polytope
Obstacles: TypeAlias = Sequence[Obstacle] | Mapping[str, Obstacle]


@dataclass(frozen=True)
class Clearance:
    """How a figure keeps clear: by which `margin` [m], whether also of `itself`, and which pairs are left alone.

    `ignoring` names pairs: a segment and an obstacle, or two segments.
    """

    margin: float = 0.0
    itself: bool = False
    ignoring: Sequence[tuple[str, str]] = ()

    def __post_init__(self) -> None:
        if not (np.isfinite(self.margin) and self.margin >= 0.0):
            raise BadValue(f"the margin of a clearance must be finite and not negative, not {self.margin!r}")
        pairs = tuple(self.ignoring)
        for pair in pairs:
            if isinstance(pair, str) or len(pair) != 2 or not all(isinstance(name, str) for name in pair):
                raise BadValue(f"a clearance ignores pairs of names such as ('hand_l', 'table'), not {pair!r}")
        object.__setattr__(self, "ignoring", tuple((a, b) for a, b in pairs))


def named_obstacles(obstacles: Any) -> dict[str, Obstacle]:
    """Obstacles by name; those of a sequence are called obstacle 1, obstacle 2 and so on."""
    if isinstance(obstacles, Mapping):
        named = dict(obstacles)
    elif isinstance(obstacles, Iterable):
        named = {f"obstacle {i}": shape for i, shape in enumerate(obstacles, 1)}
    else:
        raise BadValue(f"obstacles are a sequence of shapes, or a mapping from names to shapes, not {obstacles!r}")
    for name, shape in named.items():
        if not isinstance(shape, Ball | Box | Capsule | Polytope):
            raise BadValue(f"{name!r} must be a Ball, Box, Capsule or Polytope, not {shape!r}")
    return named


def check_clearance(figure: Figure, obstacles: Mapping[str, Obstacle], clearance: Clearance) -> None:
    """Refuse names that do not exist."""
    if not isinstance(clearance, Clearance):
        raise BadValue(f"a problem's clearance is a Clearance, not {clearance!r}")
    known = (*figure.segments, *obstacles)
    for pair in clearance.ignoring:
        for name in pair:
            find(known, name, "segment or obstacle", f"figure {figure.name!r} and its obstacles")
