"""What the fast path of optimal tracking reads and writes: items, gaps and half-spaces in arrays, and room to work in.

An *item* is a point or a direction carried by a row of the world table: the markers first, then both ends of every gap (of a
closed loop, or one end of what is held), then the points that have a half-space.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supple.figure.effectors import Point
from supple.figure.packing import find_charts, with_charts
from supple.geometry.placements import Floats
from supple.kernels.layouts import TREE, WORLD, pack
from supple.kernels.opening import LANES, padded
from supple.motion.optimal_tracking.trial import Trial

MEMORY = 3  # steps whose merit a new one is measured by


class Given(NamedTuple):
    """What stays the same from frame to frame."""

    at: Any  # (items) row of the world table: markers, then ends of gaps, then points with a half-space
    local: Any  # (items, 4) where in that row; 1 for a point, 0 for a direction
    gap: Any  # (gaps, 2) items whose difference must vanish; the second −1: a target instead
    plane: Any  # (half-spaces, 4) normal and distance
    angle: Any  # (driven) coordinates
    stiffness: Any  # (driven) their weights, infinite: exactly
    A: Any  # (rows, n) linear limits A q ≤ b
    b: Any  # (rows)
    lower: Any  # (n)
    upper: Any  # (n)


class Asked(NamedTuple):
    """What is measured, frame by frame."""

    position: Any  # (frames, markers, 3)
    weight: Any  # (frames, markers)
    hold: Any  # (frames, held, 3) NaN: not held
    value: Any  # (frames, driven) NaN: not driven


class Bench(NamedTuple):
    """Scratch."""

    theta: Any
    slope: Any
    bend: Any
    along: Any
    sine: Any
    cosine: Any
    world: Any
    wrench: Any
    stiff: Any
    push: Any
    stack: Any
    line: Any
    spot: Any  # (items, 3) where items are
    force: Any  # (items, 3) on them
    H: Any  # (n, n)
    trial: Any  # (n)
    past: Any  # (MEMORY, 2) cost and ‖c‖₁ of the last steps
    kind: Any  # (rows of the programme) gap and component, or −1
    pull: Any  # (gaps, 3) prices of the gaps
    lean: Any  # (half-spaces) prices of the half-spaces
    firm: Any  # (n) prices of the bounds
    before: Any  # (n) the frame before
    anchor: Any  # (n + 1) where the frame starts, in charts; then how much staying there weighs


def items_of(trial: Trial) -> tuple[np.ndarray, Floats, np.ndarray]:
    """Rows and places of all items, and the gaps between them."""
    packed, at, local, gap = trial.figure.packed, [], [], []

    def add(segment: str, place: Floats, point: float) -> int:
        at.append(packed.row[segment])
        frame = packed.frame[segment]
        local.append([*(frame[:3, :3] @ place + point * frame[:3, 3]), point])
        return len(at) - 1

    for marker in trial.points:
        add(marker.segment, np.array(marker.offset), 1.0)
    for loop in trial.figure.loops:
        ends = ((loop.a, loop.at_a), (loop.b, loop.at_b))
        gap.append([add(s, T[:3, 3], 1.0) for s, T in ends])
        gap += [[add(s, T[:3, i], 0.0) for s, T in ends] for i in range(0 if loop.point else 2)]
    for k, held in enumerate(trial.held):
        e = held.effector
        is_point = isinstance(e, Point)
        gap.append([add(e.segment, np.array(e.offset if is_point else e.axis), float(is_point)), -1 - k])
    for point, _ in trial.beyond:
        add(point.segment, np.array(point.offset), 1.0)
    return np.array(at, dtype=np.int64), np.array(local).reshape(-1, 4), np.array(gap, dtype=np.int64).reshape(-1, 2)


def given_by(trial: Trial) -> Given:
    """What a trial keeps from frame to frame, in arrays."""
    at, local, gap = items_of(trial)
    limits, joints = trial.figure.limits, trial.figure.coordinates
    plane = np.array([[*side.normal, side.normal @ side.point] for _, side in trial.beyond]).reshape(-1, 4)
    angle = np.array([joints.index(a.coordinate) for a in trial.driven], dtype=np.int64)
    stiffness = np.array([a.weight for a in trial.driven], dtype=float)
    return Given(at, local, gap, plane, angle, stiffness, np.array(limits.A), np.array(limits.b),
                 np.array(limits.lower), np.array(limits.upper))  # fmt: skip


def packed_with_charts(trial: Trial, given: Given, limited: bool) -> tuple[np.ndarray, Floats]:
    """The figure in arrays of its own, with the balls that can be re-centred: those whose angles nothing has a hold on."""
    packed = trial.figure.packed
    held = np.zeros(packed.size, dtype=bool)
    held[[k for joint in packed.drives for k, term in joint if term >= 0]] = True
    held[given.angle] = True
    if limited:
        held |= np.isfinite(given.lower) | np.isfinite(given.upper) | given.A.any(axis=0)
    charts = find_charts(packed.tables, set(given.at.tolist()), held)
    return pack(TREE, {**packed.counts, "CHARTS": len(charts)}, with_charts(packed.tables, charts))


def bench_for(trial: Trial, given: Given, rows: int) -> Bench:
    """Room for a trial whose programme has up to that many rows."""
    packed = trial.figure.packed
    n, joints, t, items = packed.size, packed.count, packed.terms, len(given.at)
    room, deep = padded(joints), padded(joints) + LANES
    world = np.zeros((joints + 1, WORLD))
    return Bench(
        np.zeros(joints), np.zeros(t), np.zeros(t), np.zeros(room), np.zeros(room), np.zeros(room), world,
        np.zeros((joints + 1, 6)), np.zeros((joints + 1, 36)), np.zeros((1, 6)), np.zeros((7, deep)), np.zeros(deep),
        np.zeros((items, 3)), np.zeros((items, 3)), np.zeros((n, n)), np.zeros(n), np.zeros((MEMORY, 2)),
        np.zeros(rows, dtype=np.int64), np.zeros((len(given.gap), 3)), np.zeros(len(given.plane)), np.zeros(n), np.zeros(n),
        np.zeros(n + 1),
    )  # fmt: skip
