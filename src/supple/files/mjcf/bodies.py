"""What the bodies of an MJCF model are made of: mass, the shapes that can touch something, and which they do not cover."""

from __future__ import annotations

from supple.files.mjcf.compiled import Model
from supple.geometry.placements import place
from supple.geometry.shapes import Ball, Body, Box, Capsule, Cylinder, Shape


def body_of(model: Model, b: int) -> Body | None:
    """The mass and the shapes of a body; none if it has neither."""
    m = model.tables
    shapes = [shape for g in model.geoms(b) if (shape := shape_of(model, g)) is not None]
    mass = float(m.body_mass[b])
    return Body(mass, tuple(m.body_ipos[b].tolist()), tuple(shapes)) if mass or shapes else None


def shape_of(model: Model, g: int) -> Shape | None:
    """The room a geom takes; None for scenery and for what touches nothing."""
    m, kinds = model.tables, model.api.mjtGeom
    kind, (a, b, c) = int(m.geom_type[g]), m.geom_size[g].tolist()
    if not (m.geom_contype[g] or m.geom_conaffinity[g]) or kind in (kinds.mjGEOM_PLANE, kinds.mjGEOM_HFIELD):
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


def is_uncovered(model: Model, b: int) -> bool:
    """Whether a body weighs something or is seen, but has no shape that can touch anything; or a plane that is carried."""
    m, geoms = model.tables, model.geoms(b)
    boundless = (model.api.mjtGeom.mjGEOM_PLANE, model.api.mjtGeom.mjGEOM_HFIELD)
    if any(int(m.geom_type[g]) in boundless and (m.geom_contype[g] or m.geom_conaffinity[g]) for g in geoms):
        return True
    return (m.body_mass[b] > 0.0 or len(geoms) > 0) and not any(shape_of(model, g) is not None for g in geoms)
