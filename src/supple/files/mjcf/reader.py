"""MJCF files in, through MuJoCo's own compiler: what it makes of defaults, degrees and frames is what is read.

Bodies become segments under their own names and keep their frames. A hinge or a slide is one coordinate, equal to
MuJoCo's ``qpos`` (its ``ref`` included); a ball is ``<joint>.z``, ``.y``, ``.x`` and a free joint ``<joint>.tx``,
``.ty``, ``.tz``, ``.z``, ``.y``, ``.x``, with ``R = Rz Ry Rx``. Named sites become fixed segments. Equalities between
bodies or sites become loops, those between joints or fixed tendons drives; inactive ones are left out. The rest posture is the
keyframe "home" where there is one.

Spheres, capsules, boxes and cylinders that can touch something (``contype`` or ``conaffinity``) become shapes, other
solids the box around them; what hangs on the world itself is scenery and stays out. A body that weighs something or is seen
but has no such shape, or one of a mesh that could not be read, is `Figure.uncovered`.

A ball that is limited may turn by at most an angle, whatever the axis. Turns in sequence add up to no more than the sum of
their angles, so ``|z| + |y| + |x| ≤ angle`` never leaves that limit, though it leaves some of its room unused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from supple.basics.checks import one_of
from supple.errors import BadFile
from supple.figure.drives import Drive, LinearLimit
from supple.figure.figure import Figure, Source
from supple.figure.joints import HERE, NOT, Joint, ball, fixed, free
from supple.figure.limits import Limits
from supple.figure.structure import driven_rows, in_order, resolved
from supple.files.bvh.writer import continuous_zyx
from supple.files.folders import Folders
from supple.files.mjcf.bodies import Bodies
from supple.files.mjcf.compiler import Compiled, compile_spec, compile_text, mujoco_api
from supple.files.mjcf.equalities import Equalities
from supple.files.mjcf.gather import HOME, gather, lost_meshes
from supple.files.mjcf.names import Names
from supple.files.xml import LARGEST_NUMBER, blaming, parse_xml, read_bytes
from supple.geometry.placements import Floats, compose, inverse, moved, place, rotation

BALLS = ("inside", "free")  # what becomes of the limits of balls
TURNS = "zyx"
NAMELESS = "MuJoCo Model"  # what MuJoCo calls a model that has no name


def read_mjcf(path: str | Path, *, folders: Iterable[str | Path] = (), balls: str = "inside") -> Figure:
    """The figure in an MJCF file, which may name files in its own folder and in `folders`; `balls`="free": without limits."""
    return _figure(read_bytes(path), str(path), Folders(Path(path).absolute().parent, folders), balls)


def parse_mjcf(
    text: str | bytes, file: str | None = None, *, folders: Iterable[str | Path] = (), balls: str = "inside"
) -> Figure:
    """The figure in the text of an MJCF file; `file` is what messages call it, and only files in `folders` are opened."""
    return _figure(text, file, Folders(None, folders), balls)


def read_model(model: Any, *, balls: str = "inside") -> Figure:
    """The figure of an MjModel, or of an MjSpec, which is compiled."""
    one_of(balls, BALLS, "what becomes of the limits of balls")
    api = mujoco_api()
    if isinstance(model, api.MjSpec):
        model = compile_spec(model)
    try:
        reader = _Reader(model, balls)
        name = reader.names.model_name
        return reader.figure("mjcf" if name in ("", NAMELESS) else name, [])
    except BadFile:
        raise
    except ValueError as error:
        raise BadFile(f"the model cannot be a figure: {error}") from error


def read_looks(path: str | Path, folders: Iterable[str | Path] = ()) -> Compiled:
    """MuJoCo's model of an MJCF file with the meshes that it is drawn with; files are opened as by `read_mjcf`."""
    gathered = gather(parse_xml(read_bytes(path), str(path)), Folders(Path(path).absolute().parent, folders))
    return compile_text(gathered, drawn=True)


def _figure(text: str | bytes, file: str | None, folders: Folders, balls: str) -> Figure:
    one_of(balls, BALLS, "what becomes of the limits of balls")
    mujoco_api()
    root = parse_xml(text, file)
    try:
        _ = text.decode("utf-8-sig") if isinstance(text, bytes) else text
    except UnicodeDecodeError as error:
        raise BadFile("MJCF must be UTF-8 text", file=file) from error
    gathered = gather(root, folders)
    compiled = compile_text(gathered)
    remarks = list(gathered.remarks)
    if compiled.lost:
        remarks.append(f"Meshes were not read: {lost_meshes(gathered, set(compiled.lost))}.")
    name = root.attributes.get("model") or (Path(file).stem if file else "mjcf")
    with blaming(root):
        return _Reader(compiled.model, balls).figure(name, remarks)


class _Reader:
    """A compiled model on its way to a figure."""

    def __init__(self, model: Any, balls: str) -> None:
        self.model, self.balls, self.api = model, balls, mujoco_api()
        self.names = Names(model)
        self.rest = self._home()
        self._check_numbers()
        self.ties = Equalities(model, self.api, self.names, self.rest)
        self.bounds: list[LinearLimit] = []
        self.remarks: list[str] = []

    def figure(self, name: str, remarks: list[str]) -> Figure:
        parts: list[Joint] = []
        if any("world" in (loop.a, loop.b) for loop in self.ties.loops):
            parts += fixed("world")
        for b in range(1, self.model.nbody):
            parts += self._joints_of_body(b)
        for k in range(self.model.nsite):
            if self.model.site(k).name:
                site = self.names.sites[k]
                parts.append(Joint(f"{site}.site", self._parent(k), self._site(k), segment=site))
        bodies = Bodies(self.model, self.api, self.names)
        return Figure(
            name,
            settled(parts, self.bounds, name),
            bodies=bodies.all(),
            loops=self.ties.loops,
            bounds=self.bounds,
            source=Source("mjcf"),
            remarks=[*remarks, *self.ties.remarks, *self.remarks, *bodies.remarks()],
            uncovered=bodies.uncovered(),
            solids=bodies.solids,
        )

    def _home(self) -> Floats:
        """The keyframe called home, or where the model starts."""
        m = self.model
        keys = [k for k in range(m.nkey) if m.key(k).name == HOME]
        return np.array(m.key_qpos[keys[0]] if keys else m.qpos0)

    def _check_numbers(self) -> None:
        """Refuse what would overflow in products of a few numbers, or is no number at all."""
        m = self.model
        for what, numbers in {
            "the position of a body": m.body_pos,
            "the position of a site": m.site_pos,
            "the anchor of a joint": m.jnt_pos,
            "a joint's value at the start": m.qpos0,
            "a value of the keyframe home": self.rest,
            "a number of an equality": m.eq_data[:, :5],
            "a coefficient of a tendon": m.wrap_prm,
        }.items():
            if not (np.abs(numbers) <= LARGEST_NUMBER).all():
                raise BadFile(f"{what} must be finite and not exceed {LARGEST_NUMBER:g} in size")

    def _parent(self, site: int) -> str | None:
        b = int(self.model.site_bodyid[site])
        return self.names.bodies[b] if b else None

    def _site(self, k: int) -> Floats:
        return place(self.model.site_pos[k], quat_wxyz=self.model.site_quat[k])

    # ── joints ───────────────────────────────────────────────────────────────────────────────────────────────────────
    def _joints_of_body(self, b: int) -> list[Joint]:
        """The joints from the parent body to body `b`: each turns about its anchor, the last one has the segment."""
        m, segment = self.model, self.names.bodies[b]
        above = int(m.body_parentid[b])
        parent = self.names.bodies[above] if above else None
        frame = place(m.body_pos[b], quat_wxyz=m.body_quat[b])  # of what comes next, in what hangs on `parent`
        joints: list[Joint] = []
        for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
            if m.jnt_type[j] == self.api.mjtJoint.mjJNT_FREE:
                return list(self._free(j, segment))
            anchor = compose(np.eye(3), m.jnt_pos[j])
            is_ball = m.jnt_type[j] == self.api.mjtJoint.mjJNT_BALL
            for joint in (self._ball if is_ball else self._scalar)(j, parent, frame @ anchor):
                joints.append(joint)
                parent = joint.key
            frame = inverse(anchor)
        if joints and np.array_equal(frame, HERE):
            return [*joints[:-1], replace(joints[-1], segment=segment)]
        return [*joints, Joint(f"{segment}.origin", parent, frame, segment=segment)]

    def _scalar(self, j: int, parent: str | None, at: Floats) -> tuple[Joint, ...]:
        """A hinge or a slide, without a segment of its own."""
        m, name, drive = self.model, self.names.joints[j], self.ties.drives.get(j)
        axis, k = m.jnt_axis[j], m.jnt_qposadr[j]
        turn, along = (axis, NOT) if m.jnt_type[j] == self.api.mjtJoint.mjJNT_HINGE else (NOT, axis)
        at = at @ moved(turn, along, -float(m.qpos0[k]))
        if drive is not None and not isinstance(drive, Drive):
            return (Joint(name, parent, at @ moved(turn, along, drive)),)
        return (Joint(name, parent, at, turn, along, self.ties.limits[j], rest=float(self.rest[k]), drive=drive),)

    def _ball(self, j: int, parent: str | None, at: Floats) -> tuple[Joint, ...]:
        """A ball, without a segment of its own; its limit as rows, unless the user takes it off."""
        m, name, k = self.model, self.names.joints[j], self.model.jnt_qposadr[j]
        angles = self._angles(self.rest[k : k + 4])
        most = float(m.jnt_range[j, 1])
        if m.jnt_limited[j] and most < np.pi:
            if self.balls == "free":
                self.remarks.append(f"The limit of ball {name!r} to {most:.6g} rad is taken off.")
            else:
                self._limit_ball(name, most)
        return tuple(replace(joint, segment=None) for joint in ball(name, parent, TURNS, at, rest=angles))

    def _limit_ball(self, name: str, most: float) -> None:
        for signs in product((1.0, -1.0), repeat=3):
            terms = {f"{name}.{axis}": sign for axis, sign in zip(TURNS, signs, strict=True)}
            self.bounds.append(LinearLimit.of(terms, most))
        self.remarks.append(
            f"Ball {name!r} may turn by {most:.6g} rad about any axis: it is kept inside that by |z| + |y| + |x| ≤ "
            f'{most:.6g}. balls="free" takes the limit off.'
        )

    def _free(self, j: int, segment: str) -> tuple[Joint, ...]:
        start = self.rest[self.model.jnt_qposadr[j] :][:7]
        angles = self._angles(start[3:])
        return free(self.names.joints[j], None, TURNS, segment=segment, rest=[*start[:3].tolist(), *angles])

    @staticmethod
    def _angles(quaternion: Floats) -> list[float]:
        """The three turns of a quaternion (w first); a quaternion of zeros is none."""
        if not np.any(quaternion):
            return [0.0, 0.0, 0.0]
        return continuous_zyx(rotation(quat_wxyz=quaternion)[None, None])[0, 0].tolist()


def settled(parts: list[Joint], bounds: list[LinearLimit], figure: str) -> list[Joint]:
    """The joints with their rest values moved into what ranges, followers' ranges and bounds allow together."""
    ordered = resolved(in_order(parts, figure), set(), figure)
    own = {joint.name: joint for joint in ordered if joint.drive is None and not joint.is_fixed}
    box = {name: list(joint.limits) for name, joint in own.items()}
    driven = [joint for joint in ordered if joint.drive is not None and np.isfinite(joint.limits).any()]
    rows = [row for joint in driven for row in driven_rows(joint, box)]
    rows += [(bound.coefficients, bound.upper) for bound in bounds]
    where = {name: i for i, name in enumerate(own)}
    A = np.zeros((len(rows), len(own)))
    for r, (coefficients, _) in enumerate(rows):
        for name, value in coefficients:
            A[r, where[name]] += value
    lower, upper = (np.array([box[name][side] for name in own]) for side in (0, 1))
    q = np.clip([joint.rest for joint in own.values()], lower, upper)
    b = np.array([most for _, most in rows])
    if rows and (A @ q > b).any():
        q = np.clip(Limits(lower, upper, A=A, b=b).project(q), lower, upper)
    rests = dict(zip(own, q.tolist(), strict=True))
    return [part if part.is_fixed or part.name not in own else replace(part, rest=rests[part.name]) for part in parts]
