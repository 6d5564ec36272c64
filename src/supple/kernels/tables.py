"""What kernels open: the tables of a problem, and the scratch of placing a tree, of one evaluation, and of a projection.

Kernels that are merged into their callers take these views; the large ones take the pack and open what they need.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from supple.kernels.kinds import MIXED
from supple.kernels.layouts import BLOCK, PROBLEM, TREE, WORLD
from supple.kernels.opening import Scratch, of, opener


# ── tables of a problem ──────────────────────────────────────────────────────────────────────────────────────────────
class Tasks(NamedTuple):
    """A problem's terms."""

    task: Any  # (tasks + 1) where the alternatives of each task begin
    alternative: Any  # (alternatives + 1) where the terms of each alternative begin
    term: Any  # (terms, FIELDS)
    path: Any  # joints of relative terms, in walking order, as 1 + joint, negative on the reference's side
    number: Any  # (terms, TERM) frames, weights and parameters
    mass: Any  # (n + 1, 4) mass fraction and first moment of each row, or nothing
    near: Any  # (posture terms, size) weights
    solid: Any  # the numbers of all solids (see `clearance`)


class Terms(NamedTuple):
    """Of a problem's terms, what steps look at."""

    term: Any
    number: Any
    near: Any


class Routes(NamedTuple):
    """Which coordinates move what a term sees (see `routes`)."""

    first: Any  # (routes + 1) where the links of each route begin
    begin: Any  # (routes + 1) where its columns begin
    link: Any  # (links, LINK)
    column: Any  # coordinates
    prefix: Any  # (routes, routes) leading columns that two routes share
    second: Any  # (routes · routes + 1) where the further shared columns of two routes begin
    extra: Any  # (pairs, 2) their positions in both


class Allowed(NamedTuple):
    """The limits."""

    lower: Any
    upper: Any
    mobility: Any  # (size) how willingly each coordinate moves; 0: not at all
    equalities: Any  # how many of the linear limits are equalities; these come first
    A: Any  # (linear limits, size) of unit length
    b: Any


class Charts(NamedTuple):
    """The charts of unlimited balls and free roots."""

    joint: Any  # the first joint of each
    home: Any  # (charts, 9) the rotation of its original offset


STEEP = 0.5  # β below which a chart is re-centred: its axes are 60° from perpendicular
EXACT = 1e-12  # an error [rad] that no tolerance notices

open_tasks = opener(Tasks, PROBLEM)
open_terms = opener(Terms, PROBLEM)
open_routes = opener(Routes, PROBLEM, **{name: f"ROUTE_{name.upper()}" for name in Routes._fields})
open_limits = opener(Allowed, PROBLEM)
open_charts = opener(Charts, TREE, joint="CHART")


# ── scratch ──────────────────────────────────────────────────────────────────────────────────────────────────────────
class TreeScratch(NamedTuple):
    """Joint values, and what it takes to place everything by them."""

    theta: Any = of("JOINTS")
    bend: Any = of("DRIVE_TERMS")
    along: Any = of("padded(JOINTS)")
    sine: Any = of("padded(JOINTS)")
    cosine: Any = of("padded(JOINTS)")


TREE_SCRATCH = Scratch(TreeScratch, TREE)
open_tree_scratch = TREE_SCRATCH.open


class EvaluationScratch(NamedTuple):
    """What one evaluation writes down on its way."""

    along: Any = of("padded(JOINTS)")  # angle of each joint, then derivative along it
    sine: Any = of("padded(JOINTS)")
    cosine: Any = of("padded(JOINTS)")
    theta: Any = of("JOINTS")
    slope: Any = of("DRIVE_TERMS")
    bend: Any = of("DRIVE_TERMS")
    world: Any = of("JOINTS + 1", WORLD)
    wrench: Any = of("JOINTS + 1", 6)  # summed over subtrees at the end
    stiff: Any = of("JOINTS + 1", 36)  # likewise
    sums: Any = of("4 * (JOINTS + 1) + 3 * JOINTS")  # mass sums, then columns
    seen: Any = of(24)  # the frame a term sees, and its reference
    force: Any = of(12)  # on the parts of that frame
    push: Any = of(1, 6)  # the wrench of these forces
    block: Any = of(36)  # a term's B
    second: Any = of(12, 12)  # ∂²P/∂X²
    carried: Any = of(12, 6)
    mixed: Any = of(MIXED)
    stack: Any = of(7, "WIDTH")  # twists on the way to the root, and whose they are
    line: Any = of("WIDTH")
    rho: Any = of("RESIDUALS")
    rows: Any = of("RESIDUALS", 6)  # covectors of the residuals
    axes: Any = of("RESIDUALS // BLOCK", 3)  # the directions in which pairs were nearest when they were last looked at
    chosen: Any = of("RESIDUALS // BLOCK")  # the term in each block of residuals, or −1
    columns: Any = of("RESIDUALS // BLOCK * WIDEST_ROUTE", BLOCK)  # a Jacobian without its zeros


EVALUATION = Scratch(
    EvaluationScratch,
    PROBLEM,
    "EVALUATION_NUMBERS",
    WIDTH="padded(max(LONGEST_PATH, LONGEST_RELATIVE_PATH, 6))",
    BLOCK=BLOCK,
)
open_evaluation = EVALUATION.open

SLACK = 1e-9  # a row of unit length counts as kept if it is overstepped by less
# of a projection's scratch (ROWS + m, m); behind them is L
ACTIVE, MULTIPLIER, ANSWER, WHITE, REMAINDER, ROWS = range(6)


def row_room(m: int) -> int:
    """Numbers of scratch that a projection (`nearest`) needs for m rows."""
    return (ROWS + m) * m
