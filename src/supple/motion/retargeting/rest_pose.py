"""The posture of the source that stands for its rest pose.

Alignment (`retargeting.rest_alignment`) compares the target's rest pose with one of the source in which the trunk is
upright and the legs stand. The zero pose of a file often is one, a T-pose or an A-pose; in some files it is anything:
all bones along one axis, a body that lies, a pelvis turned away from its hips. So poses are measured by anatomy: a
pose *stands* as far as thighs and shanks point down, the trunk and the neck up, and the hips lie level. A zero pose
that stands to `STANDS`, and whose hips lie in the pelvis where the motion has them, is taken; otherwise the frame of
the motion that stands best.

The caller may name a frame, or say "T" or "A": then it is the pose, of the zero pose and all frames, that stands and
whose arms are nearest to a right angle, or half of one, from hanging.
"""

from __future__ import annotations

import numpy as np

from supple.errors import BadValue, shown
from supple.geometry.placements import Floats
from supple.motion.motion import Motion
from supple.motion.retargeting.anatomy import UP, Anatomy

STANDS = np.deg2rad(38.0)  # how far legs and trunk of a standing pose lean at most
WORST = np.deg2rad(65.0)  # any of them
ARMS = {"T": np.pi / 2, "A": np.pi / 4}  # from hanging
NEAR = np.deg2rad(25.0)  # how far from that they may be
APART = 0.5  # of the width of the hips: how far they may lie elsewhere in the pelvis than at rest
MANY = 400  # frames that are measured, at most


def resting(motion: Motion, rest: int | str | None) -> Anatomy:
    """The source with the posture that stands for its rest pose."""
    zero = Anatomy(motion.figure)
    if rest is None:
        leans, _ = _measured(motion, zero, motion.figure.rest[None])
        every = -(-len(motion) // MANY)
        stands = not leans.size or (leans.mean() < STANDS and leans.max() < WORST)
        if stands and _apart(motion, zero, motion.q[::every]) < APART:
            return zero
        leans, _ = _measured(motion, zero, motion.q[::every])
        return Anatomy(motion.figure, motion.q[::every][int(np.argmin(leans.mean(axis=1)))])
    if isinstance(rest, str):
        return _posed(motion, zero, rest)
    if isinstance(rest, bool) or not isinstance(rest, int | np.integer) or not 0 <= rest < len(motion):
        raise BadValue(f"rest is the number of a frame, 0 to {len(motion) - 1}, or 'T' or 'A', not {shown(rest)}")
    return Anatomy(motion.figure, motion.q[rest])


def _posed(motion: Motion, zero: Anatomy, rest: str) -> Anatomy:
    """With the pose nearest to a T- or A-pose."""
    if rest not in ARMS:
        raise BadValue(f"rest is the number of a frame, 0 to {len(motion) - 1}, or 'T' or 'A', not {shown(rest)}")
    Q = np.vstack([motion.figure.rest, motion.q])
    leans, arms = _measured(motion, zero, Q)
    if not arms.size:
        raise BadValue(
            f"{motion.figure.name!r} has no arms that are known by name, so no {rest}-pose is found: name a frame by rest="
        )
    off = np.abs(arms - ARMS[rest]).max(axis=1) + (leans.mean(axis=1) if leans.size else 0.0)
    k = int(np.argmin(off))
    if np.abs(arms[k] - ARMS[rest]).max() > NEAR or (leans.size and leans[k].mean() > STANDS):
        raise BadValue(
            f"neither the zero pose of {motion.figure.name!r} nor one of {len(motion)} frames is a standing {rest}-pose: "
            f"the nearest, {'the zero pose' if k == 0 else f'frame {k - 1}'}, is {np.rad2deg(off[k]):.0f}° from one; "
            "leave rest= out, or name a frame"
        )
    return Anatomy(motion.figure, Q[k])


def _apart(motion: Motion, zero: Anatomy, Q: Floats) -> float:
    """How far from their place at rest the hips lie in the pelvis, as a share of their width, as a rule."""
    thighs = [zero.parts[key][-1] for key in (("thigh", "l"), ("thigh", "r")) if key in zero.parts]
    if len(thighs) < 2 or ("pelvis", "") not in zero.parts:
        return 0.0
    pelvis = zero.parts["pelvis", ""][-1]
    T, rest = motion.figure.placement(Q, pelvis), zero.rest[pelvis]
    width = float(np.linalg.norm(zero.origin[thighs[0]] - zero.origin[thighs[1]]))
    off = [0.0]
    for thigh in thighs:
        away = motion.figure.placement(Q, thigh)[:, :3, 3] - T[:, :3, 3]
        local = np.einsum("kji,kj->ki", T[:, :3, :3], away) - rest[:3, :3].T @ (zero.origin[thigh] - rest[:3, 3])
        off.append(float(np.median(np.linalg.norm(local, axis=1))))
    return max(off) / max(width, 1e-9)


def _measured(motion: Motion, zero: Anatomy, Q: Floats) -> tuple[Floats, Floats]:
    """How far legs, trunk, neck and hips of postures lean (postures, leans), and arms from hanging (postures, arms) [rad]."""
    parts = zero.parts
    placed = motion.figure.placements(Q, [segments[-1] for segments in parts.values()])

    def at(part: str, side: str) -> Floats | None:
        segments = parts.get((part, side))
        if segments is None:
            return None
        return placed[segments[-1]][:, :3, 3]

    def between(a: Floats | None, b: Floats | None, way: Floats) -> list[Floats]:
        if a is None or b is None:
            return []
        line = b - a
        size = np.linalg.norm(line, axis=1)
        return [np.arccos(np.clip(line @ way / np.maximum(size, 1e-12), -1.0, 1.0))] if (size > 1e-9).all() else []

    leans: list[Floats] = []
    arms: list[Floats] = []
    for side in ("l", "r"):
        leans += between(at("thigh", side), at("shank", side), -UP) + between(at("shank", side), at("foot", side), -UP)
        arms += between(at("upper_arm", side), at("forearm", side), -UP)
    hips = [at("thigh", side) for side in ("l", "r")]
    if hips[0] is not None and hips[1] is not None:
        middle = 0.5 * (hips[0] + hips[1])
        shoulders = [at("upper_arm", side) for side in ("l", "r")]
        top = (
            0.5 * (shoulders[0] + shoulders[1])
            if shoulders[0] is not None and shoulders[1] is not None
            else at("neck", "")
        )
        leans += between(middle, top, UP)
        leans += [np.abs(0.5 * np.pi - angle) for angle in between(hips[1], hips[0], UP)]
    leans += between(at("neck", ""), at("head", ""), UP)
    return (np.array(leans).T if leans else np.empty((len(Q), 0))), (
        np.array(arms).T if arms else np.empty((len(Q), 0))
    )
