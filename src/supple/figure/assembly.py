"""Putting joints together: order, couplings, and what the limits of driven joints mean for the coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from supple.errors import BadValue, UnknownName, shown
from supple.figure.drives import Drive, Linear
from supple.figure.joints import Joint
from supple.geometry.placements import finite


def in_order(parts: Sequence[Joint], figure: str) -> tuple[Joint, ...]:
    """The joints depth-first, parents before children; doubles, strangers and cycles are refused by name."""
    children: dict[str | None, list[Joint]] = {}
    names: set[str] = set()
    keys: set[str] = set()
    for joint in parts:
        if not isinstance(joint, Joint):
            raise BadValue(
                f"figure {figure!r} is built from joints, not {shown(joint)} (did a constructor miss its *?)"
            )
        moving = {joint.name} if not joint.is_fixed else set()
        if moving & names or joint.key in keys or joint.key == "":
            raise BadValue(f"figure {figure!r} has two joints or segments called {joint.name!r}")
        names |= moving
        keys.add(joint.key)
        children.setdefault(joint.parent, []).append(joint)
    for parent in children:
        if parent is not None and parent not in keys:
            culprit = children[parent][0].name
            raise UnknownName(f"joint {culprit!r} hangs on {parent!r}, which figure {figure!r} does not have")
    order: list[Joint] = []
    stack = children.get(None, [])[::-1]
    while stack:
        joint = stack.pop()
        order.append(joint)
        stack.extend(children.get(joint.key, [])[::-1])
    if len(order) != len(parts):
        lost = sorted(set(keys) - {joint.key for joint in order})
        raise BadValue(f"figure {figure!r} has a cycle among {', '.join(lost[:6])}; close loops with Loop instead")
    return tuple(order)


def resolved(parts: Sequence[Joint], own: set[str], figure: str) -> tuple[Joint, ...]:
    """Drives rewritten so that they name coordinates only: a joint that follows a follower follows its leader."""
    by_name = {joint.name: joint for joint in parts if not joint.is_fixed}

    def terms(drive: Drive, scale: float, seen: tuple[str, ...]) -> tuple[list[tuple[str, Any]], float]:
        out: list[tuple[str, Any]] = []
        offset = scale * drive.offset
        for name, curve in drive.terms:
            leader = by_name.get(name)
            if name in own or (leader is not None and leader.drive is None and not leader.is_fixed):
                line = isinstance(curve, Linear)
                if not line and scale != 1.0:
                    raise BadValue(f"joint {seen[-1]!r} follows {name!r} through a spline of a spline: name its leader")
                out.append((name, Linear(scale * curve.slope) if line else curve))
            elif leader is None or leader.is_fixed or leader.drive is None:
                raise UnknownName(f"joint {seen[0]!r} follows {name!r}, which is no coordinate of figure {figure!r}")
            elif name in seen or not isinstance(curve, Linear):
                raise BadValue(f"joint {seen[0]!r} follows {name!r}, which is driven itself: name its leader")
            else:
                more, constant = terms(leader.drive, scale * curve.slope, (*seen, name))
                out += more
                offset += constant
        return out, offset

    done = []
    for joint in parts:
        if joint.drive is not None:
            rows, offset = terms(joint.drive, 1.0, (joint.name,))
            joint = replace(joint, drive=Drive(tuple(rows), offset))
        done.append(joint)
    return tuple(done)


def by_name(joints: Sequence[Joint]) -> dict[str, Joint]:
    """Joints by name, in order; a fixed one whose name another joint has gets an apostrophe."""
    moving = {joint.name for joint in joints if not joint.is_fixed}
    out: dict[str, Joint] = {}
    for joint in joints:
        name = joint.name
        while name in out or (joint.is_fixed and name in moving):
            name += "'"
        out[name] = joint
    return out


def driven_rows(joint: Joint, box: dict[str, list[float]]) -> list[tuple[tuple[tuple[str, float], ...], float]]:
    """What a driven joint's own limits mean for its coordinates: narrower ranges (in `box`), or rows of inequalities."""
    assert joint.drive is not None
    lower, upper = (side - joint.drive.offset for side in joint.limits)
    curves = joint.drive.terms
    if all(isinstance(curve, Linear) for _, curve in curves):
        slopes = tuple((name, curve.slope) for name, curve in curves if isinstance(curve, Linear) and curve.slope)
        if len(slopes) == 1:
            name, slope = slopes[0]
            a, b = sorted((lower / slope, upper / slope))
            box[name] = [max(box[name][0], a), min(box[name][1], b)]
            return []
        up = [(slopes, upper)] if np.isfinite(upper) else []
        down = [(tuple((name, -s) for name, s in slopes), -lower)] if np.isfinite(lower) else []
        return (up + down) if slopes else []
    low = high = 0.0
    for name, curve in curves:
        ends = finite(box[name], (2,), f"the limits of {name!r}, which drives {joint.name!r} through a spline")
        least, most = curve.span(*ends.tolist())
        low, high = low + least, high + most
    if low < lower - 1e-9 or high > upper + 1e-9:
        reach = (low + joint.drive.offset, high + joint.drive.offset)
        raise BadValue(f"driven joint {joint.name!r} would reach {reach}, beyond its limits {joint.limits}")
    return []
