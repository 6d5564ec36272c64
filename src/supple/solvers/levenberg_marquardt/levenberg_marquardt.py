"""Levenberg–Marquardt: damped Gauss–Newton steps inside the limits, with hard tasks and strict priorities.

The loop of one attempt, with its equations, is in `attempt`; the search over many starts and the augmented Lagrangian that
takes tasks rank by rank are in `search`; here are its settings, and how the search is called: where attempts begin, and one
call with its pack, scratch, report and trace. Every door that searches goes through `SearchCall`.

There are three entries, made of one source (`kernels.compiling.twins`). A *plain* problem asks for points, frames and
directions in the world, of one rank and without alternatives, on segments that undriven joints carry, within ranges; no ball
or root turns without limits, and goals are few for the number of joints. It is served by the plain entry, which compiles in a
third of the time; everything else by the general one. Both give a plain problem the same answer, bit for bit. A third
serves figures that keep clear of things with boxes and hulls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from supple.basics.checks import check_fields, counted, flag, not_negative, number, positive, whole
from supple.geometry.placements import Floats
from supple.kernels.compiling import entry_in, untyped
from supple.kernels.kinds import CUSTOM, NEAR
from supple.problem.allowance import FREELY, Allowance
from supple.problem.packing import is_plain, suited
from supple.problem.problem import Problem
from supple.problem.solution import Solution
from supple.solvers.base import Solver, answered, insist, reasons_of_a_descent_method
from supple.solvers.levenberg_marquardt.scratch import (
    BOX,
    CHAINED,
    FORMULAS,
    LOWER,
    OFFSET,
    PACE,
    PERIOD,
    REACH,
    SEARCH_SCRATCH,
    STRIDE,
    UPPER,
    open_call_scratch,
)

HINGES, PLACEMENT = 6, (4, 4)
MANY = 100  # attempts, where nobody says how many
NO_TRACE = FREELY.page()
search_entry = entry_in("supple.solvers.levenberg_marquardt.search.search_entry")
plain_search_entry = entry_in("supple.solvers.levenberg_marquardt.search.plain_search_entry")


@dataclass(frozen=True)
class LevenbergMarquardt:
    """Damped Gauss–Newton steps inside the limits, from the given start alone (`attempts` = 1) or from many."""

    steps: int = 100  # of one attempt
    attempts: int = 1
    tolerance: float = 1e-12  # on the largest coordinate of a step
    factor: float = 0.1  # μ, damping as a share of G
    floor: float = 1e-9  # λ₀, damping as a share of the mean diagonal of J D Jᵀ
    slow: float = 0.9  # an attempt with three steps in a row that leave more of G than this is abandoned
    formulas: bool = False  # whether an arm that has a formula is answered by it, the nearest branch to the start

    def __post_init__(self) -> None:
        check_fields(self, steps=whole, attempts=counted, tolerance=not_negative, formulas=flag)
        check_fields(self, factor=not_negative, floor=positive, slow=partial(number, above=0.0, most=1.0))

    def refuse(self, problem: Problem) -> list[str]:
        """Goals without residuals, and posture goals that come strictly before other tasks."""
        reasons = reasons_of_a_descent_method(problem, ranked=True)
        last = max(problem.ranks, default=0)
        for task, rank in zip(problem.tasks, problem.ranks, strict=False):
            kinds = {term.kind for goal, _ in task.alternatives for term in goal.terms()}
            if CUSTOM in kinds:
                reasons.append(f"{task.name!r} has no residual form")
            if NEAR in kinds and rank < last:
                reasons.append(f"{task.name!r} comes before other tasks: a posture goal leaves them nothing to do")
        return reasons

    def settings(self) -> tuple[float, ...]:
        """The numbers that the kernel reads."""
        return (self.steps, self.attempts, self.tolerance, self.factor, self.floor, self.slow, self.formulas)

    def solve(self, problem: Problem, start: Floats, seed: int = 0, allowance: Allowance = FREELY) -> Solution:
        """Search from `start`, then, with several attempts, from the points of the sequence that `seed` names."""
        insist(self, problem)
        call = SearchCall(problem, self.settings(), seed, allowance.report(), allowance.page())
        Q = np.array(start, dtype=np.float64).reshape(1, -1)
        with allowance.watched(call.report):
            call.run(problem.pack[2][None], Q)
        (row,) = call.report
        return answered(problem, Q[0], row, call.trace, seed, allowance)


# ── who searches where nobody is named ───────────────────────────────────────────────────────────────────────────────
def default_solver(problem: Problem) -> Solver:
    """The first of the standing solvers that takes the problem; the first of all, to say why, if none does.

    Many attempts of this search, arms that have a formula by it; where limits have linear rows or goals no residuals, some of
    Newton's method or of the active-set method; the projected gradient last. Where more clearance is preferred than must be
    kept, it is asked for that first.
    """
    usual = LevenbergMarquardt(attempts=MANY, formulas=True)
    chosen = usual if not usual.refuse(problem) else _other(problem)
    if problem.clearance.preferred <= problem.clearance.margin:
        return chosen
    from supple.solvers.clearance_first import PreferredClearance

    return PreferredClearance(chosen)


def _other(problem: Problem) -> Solver:
    """The first of the others that takes the problem; most problems need none of these modules."""
    from supple.solvers.active_set.active_set import ActiveSet
    from supple.solvers.multistart import Multistart
    from supple.solvers.newton.newton import Newton
    from supple.solvers.projected_gradient import ProjectedGradient

    others = (Multistart(Newton(), attempts=10), Multistart(ActiveSet(), attempts=10), ProjectedGradient())
    return next((solver for solver in others if not solver.refuse(problem)), Multistart())


def compiled(solver: Solver) -> LevenbergMarquardt | None:
    """The settings of the compiled search that a solver stands for, itself or in many attempts; None for any other solver."""
    if isinstance(solver, LevenbergMarquardt):
        return solver
    from supple.solvers.multistart import Multistart

    if isinstance(solver, Multistart) and isinstance(solver.solver, LevenbergMarquardt):
        return solver.joined(solver.solver)
    return None


def one_attempt(solver: Solver) -> Solver:
    """A single attempt of a solver that makes many."""
    if isinstance(solver, LevenbergMarquardt):
        return replace(solver, attempts=1, formulas=False)
    from supple.solvers.multistart import Multistart

    return solver.solver if isinstance(solver, Multistart) else solver


# ── one call ─────────────────────────────────────────────────────────────────────────────────────────────────────────
class SearchCall:
    """What one search at a time needs; `run` searches for rows of postures."""

    def __init__(
        self,
        problem: Problem,
        settings: Sequence[float],
        seed: int = 0,
        report: np.ndarray | None = None,
        trace: np.ndarray = NO_TRACE,
        paces: Any = None,
        I: np.ndarray | None = None,
    ) -> None:
        """Searches write what they spend into `report` (rows, REPORT) and, where it has room, their way down into `trace`.

        With `paces` (size), rows are chained, each starting where the one before ended, and no coordinate moves by more
        than its pace from one row to the next. I is for a pack with other counts than the problem's.
        """
        own, F, T = problem.pack
        self.I, self.F, self.T = own if I is None else I, F.copy(), T[None].copy()
        self.report, self.trace = FREELY.report() if report is None else report, trace
        self.told = self.report[:1].reshape(-1)  # its first row
        self.scratch = SEARCH_SCRATCH.fresh(self.I)
        known = open_call_scratch(self.I, self.scratch)
        known.settings[: len(settings)] = settings
        known.settings[CHAINED] = 0.0 if paces is None else 1.0
        known.box[:] = search_box(problem, seed, paces)
        self.entry = plain_search_entry if is_plain(self.I, F) else suited(search_entry, self.I, F)
        self.has_run = False
        self.settings, self.formula = known.settings, None
        if known.settings[FORMULAS] and (count := hinges_placed(problem)):
            from supple.solvers.closed_forms.at_doors import FormulaFirst  # most problems need none of it

            self.formula = FormulaFirst(problem, paces, sliced=count > HINGES)

    def run(self, T: np.ndarray, Q: np.ndarray, first: int = 0, last: int = 1) -> None:
        """Solve rows first … last − 1 of Q (k, size) in place for the targets T, k times as many numbers."""
        if self.formula is None:
            self.search(T, Q, first, last)
        else:
            self.formula.run(self, T, Q, first, last)

    def search(self, T: np.ndarray, Q: np.ndarray, first: int, last: int) -> None:
        """The same without a formula."""
        self.entry(self.I, self.F, self.scratch, T, Q, self.report, self.trace, first, last)
        if not self.has_run:  # from now on without a look at types, which stay what they are
            self.entry, self.has_run = untyped(self.entry), True


def hinges_placed(problem: Problem) -> int:
    """How many coordinates place the frame of a problem that may have a formula; 0 for all others."""
    if len(problem.tasks) != 1 or getattr(problem.tasks[0].goal, "shape", None) != PLACEMENT:
        return 0
    count = int(np.count_nonzero(problem.moved))
    return count if count in (HINGES, HINGES + 1) else 0


# ── where attempts begin, and how their answers are unwound (the reasons are in `search`) ────────────────────────────
def strides(n: int) -> Floats:
    """The stride of the evenly spread sequence along each of n coordinates, in ranges: powers of the golden ratio's kin."""
    root = 2.0
    for _ in range(60):  # the positive root of x^(n+1) = x + 1
        root = (1.0 + root) ** (1.0 / (n + 1))
    return np.array((1.0 / root) ** np.arange(1, n + 1) % 1.0, dtype=np.float64)


def free_to_turn(problem: Problem) -> np.ndarray:
    """Whether a whole turn of each coordinate changes nothing: no segment, no row of the limits, no posture goal."""
    assert problem.limits is not None
    held = (problem.limits.rows[1] != 0.0).any(axis=0)
    for task in problem.tasks:
        if task.of_figure:
            held = held | task.goal.holds
    return problem.figure.turning & ~held


def search_box(problem: Problem, seed: int, paces: Any = None) -> np.ndarray:
    """The box (BOX, size) of a search.

    Further starts lie within the limits; an angle without limits, or with more than a turn between them, is sampled over
    one turn about the start, a slide without limits over a metre; what moves no effector stays. With `paces` (size) no
    coordinate moves by more than its pace from one row to the next.
    """
    figure, limits = problem.figure, problem.limits
    assert limits is not None
    n, turning, box = figure.size, figure.turning, np.zeros((BOX, figure.size))
    reach = np.where(turning, np.pi, 0.5)
    near = np.where(turning, limits.upper - limits.lower > 2.0 * np.pi, ~np.isfinite(limits.upper - limits.lower))
    box[REACH] = np.where((problem.free == 0.0) | ~problem.moved, 0.0, np.where(near, reach, np.inf))
    box[STRIDE] = strides(n)
    box[OFFSET] = (0.5 + seed * 0.6180339887498949 * (1 + np.arange(n))) % 1.0
    box[PERIOD] = np.where(free_to_turn(problem), 2.0 * np.pi, 0.0)
    box[LOWER], box[UPPER] = limits.lower, limits.upper
    if paces is not None:
        box[PACE] = paces
    return box


def further_start(problem: Problem, start: Floats, seed: int, k: int) -> Floats:
    """Point k of the sequence in the whole of the limits."""
    limits, box = problem.limits, search_box(problem, seed)
    assert limits is not None
    reach, far = np.where(np.isfinite(box[REACH]), box[REACH], 0.0), np.isfinite(box[REACH])
    low = np.where(far, np.maximum(limits.lower, np.minimum(start - reach, limits.upper - 2.0 * reach)), limits.lower)
    high = np.where(far, np.minimum(limits.upper, low + 2.0 * reach), limits.upper)
    return low + (box[OFFSET] + k * box[STRIDE]) % 1.0 * (high - low)


def unwound(problem: Problem, Q: Floats, reference: Floats) -> Floats:
    """Postures (k, size) with whole turns taken off towards the reference, as far as the limits allow."""
    limits, period = problem.limits, 2.0 * np.pi
    assert limits is not None
    X = Q - period * np.round((Q - reference) / period)
    X = np.where(limits.upper < X, X - period, np.where(limits.lower > X, X + period, X))
    legal = (limits.lower <= X) & (limits.upper >= X) & free_to_turn(problem)
    return np.where(legal & (np.abs(Q - reference) > 0.5 * period), X, Q)
