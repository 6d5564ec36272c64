"""The scratch of placing a tree, and of one evaluation."""

from __future__ import annotations

from typing import Any, NamedTuple

from supple.kernels.layouts import BLOCK, PROBLEM, TREE, WORLD
from supple.kernels.opening import Scratch, of
from supple.kernels.terms.kinds import MIXED


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
