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

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from supple.errors import BadFile, MissingExtra
from supple.figure.drives import FREE, Drive, mimic
from supple.figure.figure import Figure, Loop, Source
from supple.figure.joints import HERE, NOT, Joint, ball, fixed, free
from supple.files.bvh.writer import continuous_zyx
from supple.files.xml import Element, blaming, parse_xml, read_bytes
from supple.geometry.placements import Floats, compose, inverse, moved, place, rotation
from supple.geometry.shapes import Ball, Body, Box, Capsule, Cylinder, Shape

MOST_COPIES = 10_000  # bodies that <replicate> may make, in all nested counts
MOST_CELLS = 4_096  # width, height, rows, columns of pictures and height fields; sizes of user data
SOFT = {"composite", "flexcomp", "flex", "skin"}
OUTSIDE = {"include", "attach", "plugin", "extension"}
SIZES = {"width", "height", "nrow", "ncol", "nkey", "gridsize", "resolution"}
NUMERIC = {"pos", "quat", "axisangle", "euler", "xyaxes", "zaxis", "fromto", "size", "axis", "range", "ref", "polycoef"}
_LOCK = Lock()
NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


def read_mjcf(path: str | Path) -> Figure:
    """The figure in an MJCF file."""
    return parse_mjcf(read_bytes(path), str(path))


def parse_mjcf(text: str | bytes, file: str | None = None) -> Figure:
    """The figure in the text of an MJCF file; `file` is what messages call it."""
    root = parse_xml(text, file)
    if root.tag != "mujoco":
        raise root.bad(f"an MJCF file begins with <mujoco>, not <{root.tag}>")
    for element, copies in _walk(root):
        _refuse_dangers(element, copies)
    model = _compiled(text, file)
    name = root.attributes.get("model") or (Path(file).stem if file else "mjcf")
    with blaming(root):
        return _Reader(model, root).figure(name)


def _walk(root: Element) -> Iterator[tuple[Element, float]]:
    """Every element, with the number of copies that <replicate> makes of it."""
    stack = [(root, 1.0)]
    while stack:
        element, copies = stack.pop()
        if element.tag == "replicate":
            copies *= max(1.0, element.number("count", 1.0))
        yield element, copies
        stack.extend((child, copies) for child in element.children[::-1])


def _refuse_dangers(element: Element, copies: float) -> None:
    """No other files, no plug-ins, no memory without bounds, no numbers that are none."""
    if element.tag in OUTSIDE:
        raise element.bad(f"{element.label} is not allowed: write the whole model into one file, without plug-ins")
    if element.tag in SOFT:
        raise element.bad(f"{element.label} is not allowed: a figure is made of rigid bodies")
    if copies > MOST_COPIES:
        raise element.bad(f"{element.label} makes {copies:.0f} copies; at most {MOST_COPIES} are allowed")
    for key, value in element.attributes.items():
        words = value.split()
        if key.startswith("file") and value:
            raise element.bad(f"{element.label} refers to the file {value[:60]!r}; only this one is read")
        if key in SIZES or key.startswith("nuser_"):
            for word in words:
                if len(word) > 6 or not word.lstrip("+-").isdigit() or int(word) > MOST_CELLS:
                    raise element.bad(f"{key} of {element.label} must be at most {MOST_CELLS}, not {word[:20]!r}")
        if key in NUMERIC and any(NOT_FINITE.fullmatch(word) for word in words):
            raise element.bad(f"{key} of {element.label} must be finite, not {value[:60]!r}")


def _mujoco() -> Any:
    try:
        return import_module("mujoco")
    except ImportError as error:
        raise MissingExtra("mujoco", "mjcf", "reading MJCF files") from error


@contextmanager
def _overheard(mujoco: Any) -> Iterator[list[str]]:
    """While MuJoCo compiles, its warnings come here, and not to stderr and a log file in the user's folder."""
    said: list[str] = []
    with _LOCK:  # there is one handler for all threads
        before = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(said.append)
        try:
            yield said
        finally:
            mujoco.set_mju_user_warning(before)


def _compiled(text: str | bytes, file: str | None) -> Any:
    """MuJoCo's model. What it warns of is said where it refuses the model; where it does not, it is about dynamics."""
    mujoco, said = _mujoco(), []
    try:
        plain = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\ufeff")
        with _overheard(mujoco) as said:
            return mujoco.MjModel.from_xml_string(plain)
    except UnicodeDecodeError as error:
        raise BadFile("MJCF must be UTF-8 text", file=file) from error
    except Exception as error:  # MuJoCo raises several kinds, none of them its own base
        message = str(error).strip()
        line = re.search(r"line(?: number=)? ?(\d+)", message, re.IGNORECASE)
        first = message.splitlines()[0] if message else type(error).__name__
        first = "; ".join([first, *(" ".join(warning.split()) for warning in said)])
        raise BadFile(f"MuJoCo refuses the model: {first}", file=file, line=int(line[1]) if line else None) from error


def _named(given: Sequence[str], spare: Sequence[str]) -> list[str]:
    """The given names; where one is empty or was there before, the spare one, primed until it is new."""
    done: list[str] = []
    taken = {name for name in given if name}
    for name, other in zip(given, spare, strict=True):
        if not name or name in done:
            name = other
            while name in taken:
                name += "_"
            taken.add(name)
        done.append(name)
    return done


class _Reader:
    """A compiled model on its way to a figure."""

    def __init__(self, model: Any, root: Element) -> None:
        self.model, self.root, self.api = model, root, _mujoco()
        bodies = [model.body(b).name for b in range(model.nbody)]
        sites = [model.site(k).name for k in range(model.nsite)]
        spare = [f"body{b}" for b in range(model.nbody)] + [f"{name}.site" for name in sites]
        names = _named([*bodies, *sites], spare)
        self.bodies, self.sites = names[: model.nbody], names[model.nbody :]
        owner, many = model.jnt_bodyid, model.body_jntnum
        spare = [
            self.bodies[b] if many[b] == 1 else f"{self.bodies[b]}.{j - model.body_jntadr[b] + 1}"
            for j, b in enumerate(owner)
        ]
        self.joints = _named([model.joint(j).name for j in range(model.njnt)], spare)

    def figure(self, name: str) -> Figure:
        drives, loops = self._equalities()
        parts: list[Joint] = []
        if any("world" in (loop.a, loop.b) for loop in loops):
            parts += fixed("world")
        for b in range(1, self.model.nbody):
            parts += self._joints_of_body(b, drives)
        for k in range(self.model.nsite):
            if self.model.site(k).name:
                parts.append(Joint(f"{self.sites[k]}.site", self._parent(k), self._site(k), segment=self.sites[k]))
        bodies = {self.bodies[b]: body for b in range(1, self.model.nbody) if (body := self._body(b)) is not None}
        bare = [name for b, name in enumerate(self.bodies) if b and self._is_uncovered(b)]
        remarks, source = self._remarks(), Source("mjcf")
        return Figure(name, parts, bodies=bodies, loops=loops, source=source, remarks=remarks, uncovered=bare)

    def _is_uncovered(self, b: int) -> bool:
        """Whether a body weighs something or is seen, but has no shape that can touch anything; or a plane that is carried."""
        m = self.model
        first = int(m.body_geomadr[b])
        geoms = range(first, first + int(m.body_geomnum[b]))
        boundless = (self.api.mjtGeom.mjGEOM_PLANE, self.api.mjtGeom.mjGEOM_HFIELD)
        if any(int(m.geom_type[g]) in boundless and (m.geom_contype[g] or m.geom_conaffinity[g]) for g in geoms):
            return True
        return (m.body_mass[b] > 0.0 or len(geoms) > 0) and not any(self._shape(g) is not None for g in geoms)

    def _remarks(self) -> list[str]:
        """What was left out, and shapes that are only boxes around what the file has."""
        m, kinds = self.model, self.api.mjtGeom
        names = _named([m.equality(e).name for e in range(m.neq)], [f"equality{e + 1}" for e in range(m.neq)])
        out = [f"The equality {names[e]!r} is not active: it is left out." for e in range(m.neq) if not m.eq_active0[e]]
        plain = (kinds.mjGEOM_SPHERE, kinds.mjGEOM_CAPSULE, kinds.mjGEOM_CYLINDER, kinds.mjGEOM_BOX)
        owners = [int(m.geom_bodyid[g]) for g in range(m.ngeom) if int(m.geom_type[g]) not in plain and self._shape(g)]
        boxed = dict.fromkeys(self.bodies[b] for b in owners if b)
        if boxed:
            out.append(f"Ellipsoids and meshes are the boxes around them: {', '.join(boxed)}.")
        scenery = int(m.body_geomnum[0])
        return out + (
            [f"What hangs on the world itself is scenery and left out ({scenery} in all)."] if scenery else []
        )

    def _bad(self, tag: str, name: str, message: str) -> BadFile:
        """The error about the element of that tag and name, on its line if it can be told."""
        for element, _ in _walk(self.root):
            if element.attributes.get("name") == name and (element.tag == tag or tag == ""):
                return element.bad(message)
        return self.root.bad(message)

    def _parent(self, site: int) -> str | None:
        b = int(self.model.site_bodyid[site])
        return self.bodies[b] if b else None

    def _site(self, k: int) -> Floats:
        return place(self.model.site_pos[k], quat_wxyz=self.model.site_quat[k])

    # ── joints ───────────────────────────────────────────────────────────────────────────────────────────────────────
    def _joints_of_body(self, b: int, drives: dict[int, Drive | float]) -> list[Joint]:
        """The joints from the parent body to body `b`: each turns about its anchor, the last one has the segment."""
        m, segment = self.model, self.bodies[b]
        above = int(m.body_parentid[b])
        parent = self.bodies[above] if above else None
        frame = place(m.body_pos[b], quat_wxyz=m.body_quat[b])  # of what comes next, in what hangs on `parent`
        joints: list[Joint] = []
        for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
            if m.jnt_type[j] == self.api.mjtJoint.mjJNT_FREE:
                return list(self._free(j, segment))
            anchor = compose(np.eye(3), m.jnt_pos[j])
            for joint in self._scalar(j, parent, frame @ anchor, drives.get(j)):
                joints.append(joint)
                parent = joint.key
            frame = inverse(anchor)
        if joints and np.array_equal(frame, HERE):
            return [*joints[:-1], replace(joints[-1], segment=segment)]
        return [*joints, Joint(f"{segment}.origin", parent, frame, segment=segment)]

    def _scalar(self, j: int, parent: str | None, at: Floats, drive: Drive | float | None) -> tuple[Joint, ...]:
        """One joint of the model without a segment of its own."""
        m, name, kinds = self.model, self.joints[j], self.api.mjtJoint
        limits = (float(m.jnt_range[j, 0]), float(m.jnt_range[j, 1])) if m.jnt_limited[j] else FREE
        if m.jnt_type[j] == kinds.mjJNT_BALL:
            if m.jnt_limited[j]:
                raise self._bad(
                    "joint", name, f"ball joint {name!r} is limited to a cone, which three ranges cannot say: "
                    'set limited="false", or use three hinges with ranges'
                )  # fmt: skip
            return tuple(replace(joint, segment=None) for joint in ball(name, parent, "zyx", at))
        axis, start = m.jnt_axis[j], float(m.qpos0[m.jnt_qposadr[j]])
        turns = m.jnt_type[j] == kinds.mjJNT_HINGE
        turn, along = (axis, NOT) if turns else (NOT, axis)
        at = at @ moved(turn, along, -start)
        if drive is not None and not isinstance(drive, Drive):
            return (Joint(name, parent, at @ moved(turn, along, drive)),)
        rest = min(max(start, limits[0]), limits[1])
        return (Joint(name, parent, at, turn, along, limits, rest=rest, drive=drive),)

    def _free(self, j: int, segment: str) -> tuple[Joint, ...]:
        start = self.model.qpos0[self.model.jnt_qposadr[j] :][:7]
        angles = continuous_zyx(rotation(quat_wxyz=start[3:])[None, None])[0, 0]
        return free(self.joints[j], None, "zyx", segment=segment, rest=[*start[:3], *angles])

    # ── bodies ───────────────────────────────────────────────────────────────────────────────────────────────────────
    def _body(self, b: int) -> Body | None:
        m = self.model
        first = int(m.body_geomadr[b])
        geoms = range(first, first + int(m.body_geomnum[b]))
        shapes = [shape for g in geoms if (shape := self._shape(g)) is not None]
        mass = float(m.body_mass[b])
        return Body(mass, tuple(m.body_ipos[b].tolist()), tuple(shapes)) if mass or shapes else None

    def _shape(self, g: int) -> Shape | None:
        """The room a geom takes; None for scenery and for what touches nothing."""
        m, kinds = self.model, self.api.mjtGeom
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

    # ── equalities ───────────────────────────────────────────────────────────────────────────────────────────────────
    def _equalities(self) -> tuple[dict[int, Drive | float], list[Loop]]:
        """Drives by joint (a number: the joint never moves from that value), and loops."""
        m, kinds = self.model, self.api.mjtEq
        drives: dict[int, Drive | float] = {}
        loops: list[Loop] = []
        names = _named([m.equality(e).name for e in range(m.neq)], [f"equality{e + 1}" for e in range(m.neq)])
        for e in range(m.neq):
            kind = int(m.eq_type[e])
            if not m.eq_active0[e]:
                continue
            if kind == kinds.mjEQ_JOINT:
                j = int(m.eq_obj1id[e])
                if j in drives:
                    raise self._bad("", names[e], f"joint {self.joints[j]!r} follows two equalities; keep one")
                drives[j] = self._drive(e, names[e])
            elif kind in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD):
                loops.append(self._loop(e, names[e], point=bool(kind == kinds.mjEQ_CONNECT)))
            else:
                raise self._bad("", names[e], f"equality {names[e]!r} ties neither bodies nor joints; delete it")
        return drives, loops

    def _drive(self, e: int, name: str) -> Drive | float:
        """``y − y0 = a0 + a1 (x − x0)``, with the start values x0 and y0 of both joints."""
        m = self.model
        j, leader = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
        a = m.eq_data[e, :5].tolist()
        start = float(m.qpos0[m.jnt_qposadr[j]])
        if leader < 0:
            return start + a[0]
        if any(a[2:]):
            raise self._bad(
                "joint", name, f"joint {self.joints[j]!r} follows {self.joints[leader]!r} by a polynomial of higher "
                "degree; only straight lines (two coefficients) are read"
            )  # fmt: skip
        if a[1] == 0.0:
            return start + a[0]
        return mimic(self.joints[leader], a[1], start + a[0] - a[1] * float(m.qpos0[m.jnt_qposadr[leader]]))

    def _loop(self, e: int, name: str, point: bool) -> Loop:
        """A connect or a weld; its ends are given by two sites, or by anchors in two bodies."""
        m = self.model
        one, two, data = int(m.eq_obj1id[e]), int(m.eq_obj2id[e]), m.eq_data[e]
        if m.eq_objtype[e] == self.api.mjtObj.mjOBJ_SITE:
            a, b = (self._parent(k) or "world" for k in (one, two))
            return Loop(name, a, b, self._site(one), self._site(two), point)
        a, b = self.bodies[one], self.bodies[two]
        if point:
            return Loop(name, a, b, place(data[:3]), place(data[3:6]), True)
        return Loop(name, a, b, place(data[3:6], quat_wxyz=data[6:10]), place(data[:3]))
