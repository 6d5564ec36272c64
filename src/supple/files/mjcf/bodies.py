"""What the bodies of a compiled model are made of: masses, the room they take, and which of them are not covered."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from supple.files.mjcf.compiler import STAND_IN_NAME
from supple.files.mjcf.names import Names
from supple.geometry.body_fits import ACCURACY, fitted
from supple.geometry.placements import place
from supple.geometry.shapes import Ball, Body, Box, Capsule, Cylinder, Shape, Solid


class Bodies:
    """The geoms of a model, seen as the bodies of a figure."""

    def __init__(self, model: Any, api: Any, names: Names) -> None:
        self.model, self.kinds, self.names = model, api.mjtGeom, names
        paths = [_path(model, k) for k in range(model.nmesh)]
        self.stand_ins = {k for k, path in enumerate(paths) if path == STAND_IN_NAME}

    def all(self) -> dict[str, Body]:
        """What has a mass or a shape, by the names of its bodies."""
        many = range(1, self.model.nbody)
        return {self.names.bodies[b]: body for b in many if (body := self._body(b)) is not None}

    def uncovered(self) -> list[str]:
        """Bodies that weigh something or are seen, but whose shapes are not known, or not all of them."""
        return [self.names.bodies[b] for b in range(1, self.model.nbody) if self._is_uncovered(b)]

    def remarks(self) -> list[str]:
        """Shapes that are only boxes around what the file has, and scenery."""
        m, kinds = self.model, self.kinds
        plain = (kinds.mjGEOM_SPHERE, kinds.mjGEOM_CAPSULE, kinds.mjGEOM_CYLINDER, kinds.mjGEOM_BOX)
        owners = [int(m.geom_bodyid[g]) for g in range(m.ngeom) if int(m.geom_type[g]) not in plain and self._shape(g)]
        boxed = dict.fromkeys(self.names.bodies[b] for b in owners if b)
        meshed = [name for name in self.solids if name in boxed]
        boxed = {name: None for name in boxed if name not in meshed}
        scenery = int(m.body_geomnum[0])
        out = [f"Ellipsoids are the boxes around them: {', '.join(boxed)}."] if boxed else []
        if meshed:
            out.append(
                f"Meshes keep clear as hulls to within {ACCURACY:g} m, and are drawn as boxes: {', '.join(meshed)}."
            )
        return out + (
            [f"What hangs on the world itself is scenery and left out ({scenery} in all)."] if scenery else []
        )

    @cached_property
    def solids(self) -> dict[str, list[Solid]]:
        """What bodies with meshes keep clear with: hulls of these, and their other shapes."""
        out = {}
        for b in range(1, self.model.nbody):
            own = [g for g in self._geoms(b) if self._shape(g) is not None]
            if any(self._is_mesh(g) for g in own) and not self._is_uncovered(b):
                out[self.names.bodies[b]] = [self._solid(g) for g in own]
        return out

    def _solid(self, g: int) -> Solid:
        m, shape = self.model, self._shape(g)
        assert shape is not None
        if not self._is_mesh(g):
            return shape
        k, at = int(m.geom_dataid[g]), place(m.geom_pos[g], quat_wxyz=m.geom_quat[g])
        first = int(m.mesh_vertadr[k])
        points = np.array(m.mesh_vert[first : first + int(m.mesh_vertnum[k])], dtype=float)
        return fitted(points @ at[:3, :3].T + at[:3, 3])

    def _is_mesh(self, g: int) -> bool:
        return int(self.model.geom_type[g]) in (self.kinds.mjGEOM_MESH, self.kinds.mjGEOM_SDF)

    def _geoms(self, b: int) -> range:
        first = int(self.model.body_geomadr[b])
        return range(first, first + int(self.model.body_geomnum[b]))

    def _touches(self, g: int) -> bool:
        return bool(self.model.geom_contype[g] or self.model.geom_conaffinity[g])

    def _is_unknown(self, g: int) -> bool:
        """Whether a geom touches things, but has no bounds or only stands in for a mesh."""
        boundless = (self.kinds.mjGEOM_PLANE, self.kinds.mjGEOM_HFIELD)
        return self._touches(g) and (int(self.model.geom_type[g]) in boundless or self._is_stand_in(g))

    def _is_stand_in(self, g: int) -> bool:
        return self._is_mesh(g) and int(self.model.geom_dataid[g]) in self.stand_ins

    def _is_uncovered(self, b: int) -> bool:
        geoms = self._geoms(b)
        if any(self._is_unknown(g) for g in geoms):
            return True
        return (self.model.body_mass[b] > 0.0 or len(geoms) > 0) and not any(self._shape(g) is not None for g in geoms)

    def _body(self, b: int) -> Body | None:
        m = self.model
        shapes = [shape for g in self._geoms(b) if (shape := self._shape(g)) is not None]
        mass = float(m.body_mass[b])
        return Body(mass, tuple(m.body_ipos[b].tolist()), tuple(shapes)) if mass or shapes else None

    def _shape(self, g: int) -> Shape | None:
        """The room a geom takes; None for scenery, for what touches nothing, and for what is not known."""
        m, kinds = self.model, self.kinds
        kind, (a, b, c) = int(m.geom_type[g]), m.geom_size[g].tolist()
        if not self._touches(g) or self._is_unknown(g):
            return None
        at = place(m.geom_pos[g], quat_wxyz=m.geom_quat[g])
        if kind == kinds.mjGEOM_SPHERE:
            return Ball(tuple(at[:3, 3].tolist()), a)
        if kind == kinds.mjGEOM_CAPSULE:
            return Capsule(a, 2.0 * b, at)
        if kind == kinds.mjGEOM_CYLINDER:
            return Cylinder(a, 2.0 * b, at)
        if kind == kinds.mjGEOM_BOX:
            return Box((-a, -b, -c), (a, b, c), at)
        centre, half = m.geom_aabb[g, :3], m.geom_aabb[g, 3:]
        return Box(tuple((centre - half).tolist()), tuple((centre + half).tolist()), at)


def _path(model: Any, mesh: int) -> str:
    """What the model calls the file of a mesh; empty if it has none."""
    start = int(model.mesh_pathadr[mesh])
    return "" if start < 0 else model.paths[start:].split(b"\0", 1)[0].decode("utf-8", "replace")
