"""What a file says that the links of a robot are made of, as coal sees it: the meshes themselves, and of ours only postures."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import coal
import numpy as np
import pinocchio as pin

Pair = tuple[str, str]


@dataclass
class Link:
    """The geometries of a link, each with its frame there: as the file has them, and their convex hulls."""

    parts: list[tuple[Any, np.ndarray]] = field(default_factory=list)
    hulls: list[tuple[Any, np.ndarray]] = field(default_factory=list)


def transform(T: np.ndarray) -> Any:
    """A placement for coal."""
    return coal.Transform3s(np.ascontiguousarray(T[:3, :3]), np.ascontiguousarray(T[:3, 3]))


class Links:
    """The collision geometries of a URDF file."""

    def __init__(self, path: Path, folders: Iterable[Path]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = pin.buildModelFromUrdf(str(path))
            found = pin.buildGeomFromUrdf(model, str(path), pin.GeometryType.COLLISION, [str(f) for f in folders])
        self.links: dict[str, Link] = {}
        for thing in found.geometryObjects:
            frame = model.frames[thing.parentFrame]
            at = (frame.placement.inverse() * thing.placement).homogeneous
            own = self.links.setdefault(frame.name, Link())
            own.parts.append((thing.geometry, at))
            own.hulls.append((_hull(thing.geometry), at))

    @property
    def meshes(self) -> int:
        """How many of the geometries are meshes."""
        kinds = (geometry.getObjectType() for link in self.links.values() for geometry, _ in link.parts)
        return sum(kind == coal.OBJECT_TYPE.OT_BVH for kind in kinds)

    def pairs(self) -> list[Pair]:
        """All pairs of links that are made of something."""
        return [*combinations(self.links, 2)]

    def distance(self, pair: Pair, X: dict[str, np.ndarray], hulls: bool = False) -> float:
        """How far two links are apart; below 0 they overlap. Of meshes as they are it does not tell how deep."""
        (a, b), least = pair, np.inf
        for one, S in getattr(self.links[a], "hulls" if hulls else "parts"):
            for other, T in getattr(self.links[b], "hulls" if hulls else "parts"):
                where = transform(X[a] @ S), transform(X[b] @ T)
                least = min(least, distance_of(one, where[0], other, where[1]))
        return least

    def to_box(self, name: str, X: dict[str, np.ndarray], box: Any, at: Any) -> float:
        """How far a link is from a box in the world."""
        return min(distance_of(one, transform(X[name] @ S), box, at) for one, S in self.links[name].parts)


def distance_of(one: Any, S: Any, other: Any, T: Any) -> float:
    """The distance of two geometries, negative where they touch."""
    request, result = coal.CollisionRequest(), coal.CollisionResult()
    if coal.collide(one, S, other, T, request, result):
        depth = min((result.getContact(i).penetration_depth for i in range(result.numContacts())), default=0.0)
        kinds = {one.getObjectType(), other.getObjectType()}
        return -1e-12 if coal.OBJECT_TYPE.OT_BVH in kinds else min(float(depth), -1e-12)
    return float(coal.distance(one, S, other, T, coal.DistanceRequest(), coal.DistanceResult()))


def _hull(geometry: Any) -> Any:
    """The convex hull of a mesh; anything else as it is."""
    if geometry.getObjectType() != coal.OBJECT_TYPE.OT_BVH:
        return geometry
    geometry.buildConvexHull(True, "Qt")
    return geometry.convex
