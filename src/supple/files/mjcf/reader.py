"""MJCF files in, through MuJoCo's own compiler: what it makes of defaults, degrees and frames is what is read.

Bodies become segments under their own names and keep their frames. A hinge or a slide is one coordinate, equal to
MuJoCo's ``qpos`` (its ``ref`` included); a ball is ``<joint>.z``, ``.y``, ``.x`` and a free joint ``<joint>.tx``,
``.ty``, ``.tz``, ``.z``, ``.y``, ``.x``, with ``R = Rz Ry Rx``. Named sites become fixed segments. Equalities between
bodies or sites become loops, equalities between joints become drives; inactive ones are left out.

Spheres, capsules, boxes and cylinders that can touch something (``contype`` or ``conaffinity``) become shapes, other
solids the box around them; what hangs on the world itself is scenery and stays out. A body that weighs something or is seen
but has no such shape is `Figure.uncovered`.

A file cannot make the reader open another one: every reference is refused before MuJoCo sees the text.
"""

from __future__ import annotations

from pathlib import Path

from supple.figure.figure import Figure, Source
from supple.figure.joints import Joint, fixed
from supple.files.mjcf.bodies import body_of, is_uncovered, shape_of
from supple.files.mjcf.compiled import Model
from supple.files.mjcf.equalities import equalities_of
from supple.files.mjcf.joints import joints_of_body
from supple.files.mjcf.text import compiled, refuse_dangers
from supple.files.xml import blaming, parse_xml, read_bytes


def read_mjcf(path: str | Path) -> Figure:
    """The figure in an MJCF file."""
    return parse_mjcf(read_bytes(path), str(path))


def parse_mjcf(text: str | bytes, file: str | None = None) -> Figure:
    """The figure in the text of an MJCF file; `file` is what messages call it."""
    root = parse_xml(text, file)
    if root.tag != "mujoco":
        raise root.bad(f"an MJCF file begins with <mujoco>, not <{root.tag}>")
    refuse_dangers(root)
    model = Model(compiled(text, file), root)
    name = root.attributes.get("model") or (Path(file).stem if file else "mjcf")
    with blaming(root):
        return _figure(model, name)


def _figure(model: Model, name: str) -> Figure:
    drives, loops = equalities_of(model)
    parts: list[Joint] = []
    if any("world" in (loop.a, loop.b) for loop in loops):
        parts += fixed("world")
    moving = range(1, model.tables.nbody)
    for b in moving:
        parts += joints_of_body(model, b, drives)
    for k in range(model.tables.nsite):
        if model.tables.site(k).name:
            parts.append(Joint(f"{model.sites[k]}.site", model.carrier(k), model.site(k), segment=model.sites[k]))
    bodies = {model.bodies[b]: body for b in moving if (body := body_of(model, b)) is not None}
    bare = [model.bodies[b] for b in moving if is_uncovered(model, b)]
    source, remarks = Source("mjcf"), _remarks(model)
    return Figure(name, parts, bodies=bodies, loops=loops, source=source, remarks=remarks, uncovered=bare)


def _remarks(model: Model) -> list[str]:
    """What was left out, and shapes that are only boxes around what the file has."""
    m, kinds = model.tables, model.api.mjtGeom
    names = model.equalities
    out = [f"The equality {names[e]!r} is not active: it is left out." for e in range(m.neq) if not m.eq_active0[e]]
    plain = (kinds.mjGEOM_SPHERE, kinds.mjGEOM_CAPSULE, kinds.mjGEOM_CYLINDER, kinds.mjGEOM_BOX)
    owners = [int(m.geom_bodyid[g]) for g in range(m.ngeom) if int(m.geom_type[g]) not in plain and shape_of(model, g)]
    boxed = dict.fromkeys(model.bodies[b] for b in owners if b)
    if boxed:
        out.append(f"Ellipsoids and meshes are the boxes around them: {', '.join(boxed)}.")
    scenery = int(m.body_geomnum[0])
    return out + ([f"What hangs on the world itself is scenery and left out ({scenery} in all)."] if scenery else [])
