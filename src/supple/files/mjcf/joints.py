"""The joints of an MJCF model: hinges and slides as they are, balls and free joints as sequences of turns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from supple.figure.drives import FREE, Drive
from supple.figure.joints import HERE, NOT, Joint, ball, free
from supple.files.bvh.writer import continuous_zyx
from supple.files.mjcf.compiled import Model
from supple.geometry.placements import Floats, compose, inverse, moved, place, rotation


def joints_of_body(model: Model, b: int, drives: dict[int, Drive | float]) -> list[Joint]:
    """The joints from the parent body to body `b`: each turns about its anchor, the last one has the segment."""
    m, segment = model.tables, model.bodies[b]
    above = int(m.body_parentid[b])
    parent = model.bodies[above] if above else None
    frame = place(m.body_pos[b], quat_wxyz=m.body_quat[b])  # of what comes next, in what hangs on `parent`
    joints: list[Joint] = []
    for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
        if m.jnt_type[j] == model.api.mjtJoint.mjJNT_FREE:
            return list(_free(model, j, segment))
        anchor = compose(np.eye(3), m.jnt_pos[j])
        for joint in _scalar(model, j, parent, frame @ anchor, drives.get(j)):
            joints.append(joint)
            parent = joint.key
        frame = inverse(anchor)
    if joints and np.array_equal(frame, HERE):
        return [*joints[:-1], replace(joints[-1], segment=segment)]
    return [*joints, Joint(f"{segment}.origin", parent, frame, segment=segment)]


def _scalar(model: Model, j: int, parent: str | None, at: Floats, drive: Drive | float | None) -> tuple[Joint, ...]:
    """One joint of the model without a segment of its own."""
    m, name, kinds = model.tables, model.joints[j], model.api.mjtJoint
    limits = (float(m.jnt_range[j, 0]), float(m.jnt_range[j, 1])) if m.jnt_limited[j] else FREE
    if m.jnt_type[j] == kinds.mjJNT_BALL:
        if m.jnt_limited[j]:
            raise model.bad(
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


def _free(model: Model, j: int, segment: str) -> tuple[Joint, ...]:
    start = model.tables.qpos0[model.tables.jnt_qposadr[j] :][:7]
    angles = continuous_zyx(rotation(quat_wxyz=start[3:])[None, None])[0, 0]
    return free(model.joints[j], None, "zyx", segment=segment, rest=[*start[:3], *angles])
