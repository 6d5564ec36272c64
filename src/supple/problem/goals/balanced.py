"""Balance: a point, usually the centre of mass, above a polygon of support."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import check_fields, finite, named_or_none, not_negative, numbers
from supple.basics.values import Value
from supple.errors import BadValue
from supple.geometry.placements import Floats, frozen
from supple.kernels import kinds as kind
from supple.problem.goals.base import Miss, Term


@dataclass(frozen=True, eq=False, repr=False)
class Balanced(Value):
    """The point above a convex polygon: ``P = Σ max(0, distance beyond an edge)²``, heights do not count.

    `polygon` holds points (k, 2) in the plane x, y, in any order; their convex hull is meant, drawn in by `margin` [m]. With
    `MassCentre` and the outline of the feet it is balance.
    """

    polygon: Any  # (k, 2)
    margin: float = 0.0
    relative_to: str | None = None

    def __post_init__(self) -> None:
        check_fields(self, margin=not_negative, relative_to=named_or_none)
        points = numbers(self.polygon, "the polygon of Balanced")
        if points.ndim != 2 or points.shape[1] != 2 or len(points) < 3:
            raise BadValue(
                f"the polygon of Balanced is at least three points (k, 2), not an array of shape {points.shape}"
            )
        corners = _hull(finite(points, points.shape, "the polygon of Balanced"))
        object.__setattr__(self, "polygon", frozen(corners))
        if self.margin > 0.0:
            _check_room(self.edges[:, :2], self.edges[:, 2], self.margin)

    @cached_property
    def edges(self) -> Floats:
        """Of each edge (k, 3): the inward unit normal, and the least value along it."""
        corners = self.polygon
        along = np.roll(corners, -1, axis=0) - corners
        inward = np.column_stack([-along[:, 1], along[:, 0]]) / np.linalg.norm(along, axis=1)[:, None]
        return frozen(np.column_stack([inward, (inward * corners).sum(axis=1) + self.margin]))

    def terms(self) -> list[Term]:
        """A half-space for each edge."""
        return [Term(kind.BEYOND, np.array([x * c, y * c, 0.0, x, y, 0.0]), "position") for x, y, c in self.edges]

    def miss(self, X: Floats) -> Miss:
        """How far it is beyond the worst edge."""
        return Miss(metres=float(max(0.0, (self.edges[:, 2] - self.edges[:, :2] @ X[:2, 3]).max())))

    def aimed(self, target: ArrayLike) -> Balanced:
        """Above another polygon with as many corners."""
        new = Balanced(target, self.margin, self.relative_to)
        if len(new.edges) != len(self.edges):
            raise BadValue(f"another polygon of Balanced must have {len(self.edges)} corners, not {len(new.edges)}")
        return new


def _hull(points: Floats) -> Floats:
    """The corners of the convex hull, counter-clockwise (Andrew's monotone chain)."""
    ordered = points[np.lexsort((points[:, 1], points[:, 0]))]
    slack = 1e-12 * max(1.0, float(np.abs(ordered).max())) ** 2

    def chain(row: Floats) -> list[Floats]:
        out: list[Floats] = []
        for p in row:
            while len(out) > 1 and _turn(out[-2], out[-1], p) <= slack:
                out.pop()
            out.append(p)
        return out[:-1]

    corners = np.array(chain(ordered) + chain(ordered[::-1]))
    if len(corners) < 3:
        raise BadValue("the polygon of Balanced has no area: its points lie on a line")
    return corners


def _turn(a: Floats, b: Floats, c: Floats) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _check_room(inward: Floats, least: Floats, margin: float) -> None:
    from scipy.optimize import linprog

    if linprog([0, 0], A_ub=-inward, b_ub=-least, bounds=[(None, None)] * 2).status == 2:
        raise BadValue(f"a margin of {margin:g} m leaves nothing of the polygon of Balanced")
