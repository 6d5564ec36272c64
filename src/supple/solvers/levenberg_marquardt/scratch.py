"""The scratch of a search, declared here and nowhere else: its settings and its box, what it knows between attempts, and what
an attempt and its steps write down.

All of it lies in one array. A kernel opens the part that it needs; whoever calls an entry fills in settings and box first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from supple.kernels.layouts import BLOCK, PROBLEM
from supple.kernels.opening import Scratch, of
from supple.kernels.tables import EVALUATION

LEARNING = 256  # coordinates beyond which nothing is learnt: it would take more time than it saves

# settings of a search; whether a formula may answer first; rows are chained if each starts where the one before ended
STEPS, ATTEMPTS, TOLERANCE, FACTOR, FLOOR, SLOW, FORMULAS, CHAINED, SETTINGS = range(9)
# rows of its box (see `levenberg_marquardt`)
REACH, OFFSET, STRIDE, PERIOD, PACE, LOWER, UPPER, BOX = range(8)
# what has come of it so far: whether all tasks are met, within their tolerances and no better; whether what was reached is a
# least value; attempts in all, those from this set of starts, and how many of these are made
ALL_MET, TIGHT, SETTLED, TOTAL, TRIED, LIMIT, OUTCOME = range(7)
# the plan of one attempt: steps at most, ranks that count, the weight w of lower ones, whether a free root is moved first,
# patience, and the power p of shares of tolerances (0: plain squares)
MOST_STEPS, LOW_RANK, HIGH_RANK, PENALTY, ALIGNMENT, PATIENCE, POWER, PLAN = range(8)
# how far it is: steps made, slow ones in a row, whole turns taken, s of the damping, G at q and at the trial, t, the largest
# change of the last step, tasks not met at q and at the trial, the form of steps, and flags
(MADE, SLOWLY, TURNED, SCALE, HERE, THERE, SIZE, LARGEST, UNMET_HERE, UNMET_THERE, FORM, BENDS, FRESH, PLACED, PREFERRING,
 PROGRESS) = range(16)  # fmt: skip
INNER = 0.6  # share of the limits in which three starts out of four lie
UNFIT = -1  # a reason: the start is not finite, or the target needs a closer look
BODY = 28  # numbers of a body in `joint_by_joint`: the upper triangle of A (21), P (6), and whether there is anything
LEVER = 8  # numbers of a joint there: u (6), r, e
# a coordinate moves; may not, at a limit or locked; is put on its limit by this step
MOVES, AT_LIMIT, HELD = 0.0, 1.0, 2.0


class SearchScratch(NamedTuple):
    """All that a search writes."""

    settings: Any = of(SETTINGS)
    box: Any = of(BOX, "COORDINATES")
    target: Any = of("TARGET_NUMBERS")
    evaluation: Any = of(EVALUATION)
    outcome: Any = of(OUTCOME)
    plan: Any = of(PLAN)
    progress: Any = of(PROGRESS)
    D: Any = of("COORDINATES")  # mobility squared
    D_free: Any = of("COORDINATES")  # D of the coordinates that move, else 0
    root: Any = of("COORDINATES")  # its square root
    held: Any = of("COORDINATES")  # MOVES, AT_LIMIT or HELD
    trial: Any = of("COORDINATES")
    g: Any = of("COORDINATES")
    best: Any = of("COORDINATES")
    start: Any = of("COORDINATES")
    before: Any = of(
        "COORDINATES"
    )  # where the tolerance set was looked for (see `tolerance_set`), or all tasks were met
    near_weight: Any = of("COORDINATES")  # of the posture goals that count now
    near_slope: Any = of("COORDINATES")  # half of their gradient
    origin: Any = of("COORDINATES")
    rho: Any = of("RESIDUALS")
    rho_new: Any = of("RESIDUALS")
    y: Any = of("max(COORDINATES, RESIDUALS)")
    shift: Any = of("RESIDUALS")  # of lower ranks
    kept: Any = of("RESIDUALS")  # residuals that lower ranks have reached
    chosen: Any = of("BLOCKS")
    chosen_new: Any = of("BLOCKS")
    J: Any = of("BLOCKS * WIDEST_ROUTE", BLOCK)
    J_new: Any = of("BLOCKS * WIDEST_ROUTE", BLOCK)
    A: Any = of("MANY", "padded(MANY)")  # the linear system of a step in coordinates, and its factor
    B: Any = of("FEW", "padded(FEW)", over="A")  # that in residuals
    S: Any = of("LEARNT", "LEARNT")  # what Gauss–Newton leaves out, or nothing
    learnt: Any = of(4, "COORDINATES")
    on: Any = of("LINEAR_LIMITS")  # 1 where a linear limit holds
    nearest: Any = of("LINEAR_LIMITS * (LINEAR_LIMITS + 5)")  # for `algebra.nearest.project`, which looks at its size
    twist: Any = of("JOINTED", 6)  # and so on, where steps are solved for joint by joint
    lever: Any = of("JOINTED", LEVER)
    move: Any = of("JOINTED + 1", 6)
    body: Any = of("JOINTED + 1", BODY)
    covector: Any = of("RESIDUALS", 7)  # with its residual


SEARCH_SCRATCH = Scratch(
    SearchScratch,
    PROBLEM,
    BLOCKS="RESIDUALS // BLOCK",
    BLOCK=BLOCK,
    FEW="RESIDUALS * (RESIDUALS_ARE_FEW == 1)",
    MANY="COORDINATES * max(RESIDUALS_ARE_FEW != 1, COORDINATES <= LEARNING)",
    LEARNT="COORDINATES * (COORDINATES <= LEARNING)",
    LEARNING=LEARNING,
    JOINTED="JOINTS * (BY_JOINTS == 1)",
)


class CallScratch(NamedTuple):
    """What is known before a search begins."""

    settings: Any
    box: Any
    target: Any


class StartsScratch(NamedTuple):
    """What a search knows between its attempts."""

    settings: Any
    box: Any
    evaluation: Any
    outcome: Any
    plan: Any
    D: Any
    best: Any
    start: Any
    before: Any
    shift: Any
    kept: Any
    rho_new: Any
    chosen_new: Any


class PlainScratch(NamedTuple):
    """What an attempt at a plain problem writes."""

    settings: Any
    box: Any
    evaluation: Any
    plan: Any
    progress: Any
    D: Any
    D_free: Any
    root: Any
    held: Any
    trial: Any
    g: Any
    near_weight: Any
    near_slope: Any
    origin: Any
    rho: Any
    rho_new: Any
    y: Any
    chosen: Any
    chosen_new: Any
    J: Any
    J_new: Any
    A: Any
    B: Any
    S: Any
    learnt: Any


open_search_scratch = SEARCH_SCRATCH.open
open_call_scratch = SEARCH_SCRATCH.opening(CallScratch)
open_starts_scratch = SEARCH_SCRATCH.opening(StartsScratch)
open_plain_scratch = SEARCH_SCRATCH.opening(PlainScratch)
