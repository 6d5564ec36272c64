"""Whether a retargeted motion can be believed: what is wrong with it, where, and what to do about it, one sentence each.

Where figures and motion fit each other, limbs point 1–7° away from their wishes on average, and no part of the body is
below the ground. A trunk that points somewhere else than it should is worse than any limb: everything hangs on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from supple.geometry.placements import Floats
from supple.motion.retargeting.anatomy import UP, Anatomy
from supple.motion.retargeting.rest_alignment import Pair
from supple.motion.retargeting.seen import FINE, Seen
from supple.motion.retargeting.wishes import Wishes

if TYPE_CHECKING:
    from supple.motion.retargeting.report import Report

MEAN, LIMB, TRUNK = np.deg2rad((14.0, 45.0, 60.0))  # the most that is believed: of all segments, a limb, the trunk
LONG = np.deg2rad(11.0)  # of long limbs, and of the line from hips to shoulders
FRAMES = 0.02  # the share of frames in which the trunk may be elsewhere
DEEP, SLID, SUNK = 0.018, 0.004, 0.018  # [m]: spots below the ground, planted points, joints below the ground
THROUGH = 0.08  # [m]: parts of the body in each other
JERKY, CALM = 6.0, 5.0  # times the source's jerk; jerk of one who stands [m/s³]
LEANING = np.cos(np.deg2rad(50.0))  # of legs at rest from the upright


def problems_of(seen: Seen, errors: Floats, report: Report) -> tuple[str, ...]:
    """What is wrong with what was seen, whose direction errors are given by frame and pair [rad]."""
    wishes = seen.wishes
    told = [
        *_lying("source", wishes.alignment.source.anatomy),
        *_lying("target", wishes.alignment.target.anatomy),
        *_trunk(wishes, errors),
        *_limbs(seen, errors),
        *_jerks(report),
    ]
    if report.overlap > THROUGH:
        told.append(
            f"Parts of the target are {1e3 * report.overlap:.0f} mm inside each other: its body is wider than the source's; "
            "solve the frames again with what must keep apart, or leave them out."
        )
    if wishes.plant:
        told += _ground(seen, report.target.slide, report.target.depth)
    return (*told, *(_of_the_source(seen) if told else []))


def _of_the_source(seen: Seen) -> list[str]:
    """Which segments of the source jump themselves: a broken capture, which nothing follows well."""
    broken = [
        p.source for p, n in zip(seen.pairs, seen.source_jumps(), strict=True) if n and p.part not in ("", "toes")
    ]
    if not broken:
        return []
    return [f"The source itself jumps in places ({', '.join(broken[:6])}): mend it there, or leave these frames out."]


def _jerks(report: Report) -> list[str]:
    """Whether the target jerks where the source does not, or jumps."""
    told = []
    if report.target.jerk > JERKY * max(report.source.jerk, CALM):
        told.append(
            f"The target jerks {report.target.jerk / max(report.source.jerk, CALM):.0f} times as much as the source: its "
            "limits, or the ground, are in the way; look at the frames where it does, or at the match."
        )
    if report.jumps:
        told.append(f"Coordinates jump in {report.jumps} frames: a joint goes round the other side of its range there.")
    return told


def _lying(which: str, anatomy: Anatomy) -> list[str]:
    """Whether the legs of a figure do not point down in its rest pose."""
    feet = [anatomy.parts["foot", side][0] for side in ("l", "r") if ("foot", side) in anatomy.parts]
    hips = anatomy.parts.get(("pelvis", ""))
    if not feet or not hips:
        return []
    legs = anatomy.origin[hips[0]] - np.mean([anatomy.origin[foot] for foot in feet], axis=0)
    if legs @ UP >= LEANING * np.linalg.norm(legs):
        return []
    how = "upside down" if legs @ UP < -LEANING * np.linalg.norm(legs) else "lying"
    return [f"The {which}, {anatomy.figure.name!r}, is {how} in its rest pose: read it with the right up=, or turn it."]


def _trunk(wishes: Wishes, errors: Floats) -> list[str]:
    """Whether the trunk points somewhere else than it should."""
    pairs = wishes.alignment.pairs
    trunk = wishes.alignment.of("pelvis") or pairs[0]
    off = errors[:, pairs.index(trunk)]
    bad = np.flatnonzero(off > TRUNK)
    if len(bad) <= FRAMES * len(off):
        return []
    return [
        f"{trunk.target!r} points up to {np.rad2deg(off.max()):.0f}° away from where it should in {len(bad)} of {len(off)} "
        f"frames, from frame {bad[0]} to {bad[-1]}, so that the whole body does: see that source and target stand upright "
        "with the same up axis, and that the match has the right segments; leave these frames out if all is right."
    ]


def _limbs(seen: Seen, errors: Floats) -> list[str]:
    """Whether limbs point somewhere else than they should: one of them, or all on average."""
    wishes, means = seen.wishes, errors.mean(axis=0)
    long = seen.off_limbs(errors)

    def counts(pair: Pair) -> bool:
        return pair.part not in FINE and pair != wishes.alignment.of("pelvis")

    off = [
        f"{pair.target} after {pair.source} {np.rad2deg(mean):.0f}°"
        for pair, mean in zip(wishes.alignment.pairs, means, strict=True)
        if mean > LIMB and counts(pair)
    ]
    told = []
    if off:
        told.append(
            f"Some segments point far away from where they should on average ({', '.join(off)}): correct their lines of the "
            "match, or widen the limits of their joints."
        )
    if means.mean() > MEAN or long > LONG:
        far = np.rad2deg(max(means.mean(), long))
        worst = ", ".join(wishes.alignment.pairs[k].target for k in np.argsort(-means)[:3])
        told.append(
            f"Segments point {far:.1f}° away from where they should on average, most of all {worst}: "
            "look at the match, the up axes and the limits of the target."
        )
    return told


def _ground(seen: Seen, slide: float, depth: float) -> list[str]:
    """Whether something is below the ground, or planted feet slide."""
    told = []
    if slide > SLID:
        told.append(f"A planted foot slides by {1e3 * slide:.1f} mm: the legs of the target do not reach its places.")
    lowest, heights = seen.lowest()
    sunk = float(-heights.min())
    if max(depth - DEEP, sunk - SUNK) > 0.0:
        where = f", {lowest!r} in frame {int(heights.argmin())} most of all" if sunk > SUNK else ""
        feet = "" if seen.wishes.soles else " and that the match has the feet, of which it has none"
        told.append(
            f"The target is {max(depth, sunk):.2f} m below the ground{where}: see that both figures stand upright{feet}, "
            "or leave feet and ground alone by plant=False."
        )
    return told
