"""What the fast path of optimal tracking reads and writes: items, gaps and half-spaces in a pack, a frame, and scratch.

An *item* is a point or a direction carried by a row of the world table: the markers first, then both ends of every gap (of a
closed loop, or one end of what is held), then the points that have a half-space.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supple.figure.effectors import Point
from supple.geometry.placements import Floats
from supple.kernels.layouts import TREE, WORLD, Layout, Table
from supple.kernels.opening import Scratch, of, opener
from supple.motion.optimal_tracking.trial import Trial

REMEMBERED = 3  # steps whose merit a new one is measured by

FEASIBLE = Layout(
    "a trial of optimal tracking",
    "ITEMS GAPS PLANES ANGLES LINEAR_ROWS PROGRAMME_ROWS",
    base=TREE,
    ints=[
        Table("ITEM_ROW", ("ITEMS",)),
        Table("GAP", ("GAPS", 2)),
        Table("ANGLE", ("ANGLES",)),
    ],
    floats=[
        Table("ITEM_AT", ("ITEMS", 4)),
        Table("PLANE", ("PLANES", 4)),
        Table("STIFFNESS", ("ANGLES",)),
        Table("A", ("LINEAR_ROWS", "COORDINATES")),
        Table("B", ("LINEAR_ROWS",)),
        Table("LOWER", ("COORDINATES",)),
        Table("UPPER", ("COORDINATES",)),
    ],
)


class Items(NamedTuple):
    """What stays the same from frame to frame."""

    row: Any  # (items) row of the world table: markers, then ends of gaps, then points with a half-space
    item_at: Any  # (items, 4) where in that row; 1 for a point, 0 for a direction
    gap: Any  # (gaps, 2) items whose difference must vanish; the second −1 − k: target k instead
    plane: Any  # (half-spaces, 4) normal and distance
    angle: Any  # (driven) coordinates
    stiffness: Any  # (driven) their weights, infinite: exactly
    A: Any  # (rows, n) linear limits A q ≤ b
    b: Any  # (rows)
    lower: Any  # (n)
    upper: Any  # (n)


open_items = opener(Items, FEASIBLE, row="ITEM_ROW")


class Measured(NamedTuple):
    """What is measured in a frame."""

    position: Any  # (markers, 3)
    weight: Any  # (markers)
    hold: Any  # (held, 3) NaN: not held
    value: Any  # (driven) NaN: not driven


class FeasibleScratch(NamedTuple):
    """What the loop writes down on its way, in the letters of `feasible_path`."""

    theta: Any = of("JOINTS")
    slope: Any = of("DRIVE_TERMS")
    bend: Any = of("DRIVE_TERMS")
    along: Any = of("padded(JOINTS)")
    sine: Any = of("padded(JOINTS)")
    cosine: Any = of("padded(JOINTS)")
    world: Any = of("JOINTS + 1", WORLD)
    wrench: Any = of("JOINTS + 1", 6)
    stiff: Any = of("JOINTS + 1", 36)
    push: Any = of(1, 6)
    stack: Any = of(7, "padded(LONGEST_PATH)")
    line: Any = of("padded(LONGEST_PATH)")
    place: Any = of("ITEMS", 3)  # where items are
    force: Any = of("ITEMS", 3)  # on them
    H: Any = of("COORDINATES", "COORDINATES")
    trial: Any = of("COORDINATES")
    past_cost: Any = of(REMEMBERED)  # of the last steps
    past_gap: Any = of(REMEMBERED)  # their ‖c‖₁
    kind: Any = of("PROGRAMME_ROWS")  # of a row: gap and component, or −1
    gap_price: Any = of("GAPS", 3)  # multipliers
    plane_price: Any = of("PLANES")
    limit_price: Any = of("COORDINATES")
    before: Any = of("COORDINATES")  # the frame before
    anchor: Any = of("COORDINATES")  # where the frame starts, in charts
    anchor_weight: Any = of(1)  # how much staying there weighs
    damping: Any = of(1)  # of the next step


FEASIBLE_SCRATCH = Scratch(FeasibleScratch, FEASIBLE)
open_feasible = FEASIBLE_SCRATCH.open


def items_of(trial: Trial) -> tuple[np.ndarray, Floats, np.ndarray]:
    """Rows and places of all items, and the gaps between them."""
    packed, at, local, gap = trial.figure.packed, [], [], []

    def add(segment: str, place: Floats, point: float) -> int:
        at.append(packed.row[segment])
        local.append([*packed.in_row(segment, place, point), point])
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


def packed_trial(trial: Trial, limited: bool) -> tuple[np.ndarray, Floats]:
    """What a trial keeps from frame to frame; balls can be re-centred whose angles nothing has a hold on."""
    row, at, gap = items_of(trial)
    tree, limits, names = trial.figure.packed, trial.figure.limits, trial.figure.coordinates
    plane = np.array([[*side.normal, side.normal @ side.point] for _, side in trial.beyond]).reshape(-1, 4)
    angle = np.array([names.index(a.coordinate) for a in trial.driven], dtype=np.int64)
    held = np.zeros(tree.size, dtype=bool)
    held[[k for joint in tree.drives for k, term in joint if term >= 0]] = True
    held[angle] = True
    if limited:
        held |= np.isfinite(limits.lower) | np.isfinite(limits.upper) | np.asarray(limits.A).any(axis=0)
    counts = {"ITEMS": len(row), "GAPS": len(gap), "PLANES": len(plane), "ANGLES": len(angle)}
    counts |= {"LINEAR_ROWS": len(limits.b), "PROGRAMME_ROWS": 3 * len(gap) + len(angle) + len(plane) + len(limits.b)}
    tables = {
        "ITEM_ROW": row, "ITEM_AT": at, "GAP": gap, "ANGLE": angle, "PLANE": plane,
        "STIFFNESS": [a.weight for a in trial.driven], "A": limits.A, "B": limits.b, "LOWER": limits.lower,
        "UPPER": limits.upper,
    }  # fmt: skip
    return tree.with_charts(FEASIBLE, set(row.tolist()), held, counts, tables)
