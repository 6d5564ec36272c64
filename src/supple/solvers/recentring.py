"""Any solver, run where its balls and free roots are far from gimbal lock (see `charts`).

A problem is re-centred at the start wherever a chart is steep there; the solver runs on that problem; if it ends with
tasks unmet at a posture where a chart has become steep, the problem is re-centred there and the solver goes on. The answer is
written in the stated order of angles, nearest to the start, and audited against the problem as it was stated.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from time import monotonic
from typing import Any

import numpy as np

from supple.basics.values import kept
from supple.figure.figure import Figure
from supple.figure.joints import Joint
from supple.geometry.placements import Floats, compose, frozen
from supple.kernels.compiling import entry_in
from supple.kernels.layouts import TREE, view
from supple.kernels.tables import EXACT, STEEP
from supple.problem.allowance import Allowance
from supple.problem.goals import Miss
from supple.problem.problem import WITHOUT_TARGETS, Problem
from supple.problem.solution import Solution, Status, Trace
from supple.problem.task import met
from supple.solvers.base import Solver
from supple.solvers.levenberg_marquardt.levenberg_marquardt import LevenbergMarquardt, compiled

recentre_entry = entry_in("supple.kernels.charts.recentre_entry")
report_entry = entry_in("supple.kernels.charts.report_entry")
ROUNDS = 3  # runs of a solver before its answer is taken as it is
GIVE = 1e-6  # error [rad] of a free choice of angles near the lock, where the audit says that the tasks are still met


@dataclass(frozen=True, eq=False, repr=False)
class Recentred(Problem):
    """A problem, and its figure, in charts that are centred elsewhere; audited as the problem that was stated.

    Made by `Recentred.at`; `numbers` are its packed floats, which say where the charts are centred.
    """

    stated: Problem = field(kw_only=True)
    reference: Floats = field(kw_only=True)
    numbers: Floats = field(kw_only=True)

    @classmethod
    def at(cls, problem: Problem, q: Floats, reference: Floats) -> tuple[Recentred, Floats]:
        """The problem re-centred at q where a chart is steep there, and q in it; `home` is nearest to `reference`."""
        I, F, _ = problem.pack
        F, here = F.copy(), np.array(q, dtype=np.float64)
        view(TREE, I, F, "HOME")[:] = view(TREE, I, F, "OFFSET")[view(TREE, I, F, "CHART"), :9]
        steep = recentre_entry(I, F, here, STEEP) > 0
        figure = _turned(problem, F) if steep else problem.figure
        more = {"stated": problem, "reference": kept(reference), "numbers": frozen(F)}
        return problem._varied(WITHOUT_TARGETS, cls, figure=figure, **more), here

    @cached_property
    def pack(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """That of the stated problem, with charts centred elsewhere."""
        I, _, T = self.stated.pack
        return I, np.array(self.numbers), T

    def aimed(self, *targets: Any) -> Recentred:
        """The same with other targets, in the same charts."""
        stated = self.stated.aimed(*targets)
        return self._varied(WITHOUT_TARGETS, tasks=stated.tasks, stated=stated)

    def home(self, q: Floats, give: float = EXACT) -> Floats:
        """A posture of this problem in the stated order of angles, nearest to the reference."""
        I, F, _ = self.pack
        out = np.array(q, dtype=np.float64)
        report_entry(I, F.copy(), out, self.reference, give)
        return out

    def is_steep(self, q: Floats) -> bool:
        """Whether a chart should be re-centred at q."""
        I, F, _ = self.pack
        return recentre_entry(I, F.copy(), np.array(q, dtype=np.float64), STEEP) > 0

    def misses(self, q: Any) -> tuple[Miss, ...]:
        """How far each task of the problem as it was stated is from being met."""
        return self.stated.misses(self.home(q))


def _turned(problem: Problem, F: np.ndarray) -> Figure:
    """The figure whose packed offsets are those of F; a chart's axes are coordinate axes of the joints themselves."""
    (I, old, _), figure = problem.packed, problem.figure
    new: dict[str, Joint] = {}
    for (first, _, _), i in zip(problem.charts, view(TREE, I, F, "CHART"), strict=True):
        joint = next(j for j in figure.joints.values() if j.name == figure.coordinates[first])
        before, after = (view(TREE, I, numbers, "OFFSET")[i, :9].reshape(3, 3) for numbers in (old, F))
        new[joint.name] = replace(joint, at=joint.at @ compose(before.T @ after, (0.0, 0.0, 0.0)))
    return replace(figure, joints=[new.get(joint.name, joint) for joint in figure.joints.values()])


def solve_recentred(solver: Solver, problem: Problem, start: Floats, seed: int, allowance: Allowance) -> Solution:
    """``solver.solve(problem, start, …)`` in re-centred charts; the same thing where the problem has none.

    The compiled search re-centres on its way and needs no help.
    """
    if isinstance(solver, LevenbergMarquardt) or not problem.charts:
        return solver.solve(problem, start, seed, allowance)
    from supple.solvers.clearance_first import PreferredClearance

    inner = solver.solver if isinstance(solver, PreferredClearance) else solver
    if compiled(inner) is not None:
        return solver.solve(problem, start, seed, allowance)
    begun = monotonic()
    there, here = Recentred.at(problem, start, start)
    solution = solver.solve(there, here, seed, allowance)
    for _ in range(ROUNDS - 1):
        left = allowance.left(solution.evaluations, monotonic() - begun)
        if solution.status is not Status.NEAREST or left is None or not there.is_steep(solution.q):
            break
        there, here = Recentred.at(problem, there.home(solution.q), start)
        before, solution = solution, solver.solve(there, here, seed, left)
        traces = [t for t in (before.trace, solution.trace and solution.trace.later(before.evaluations)) if t]
        solution = replace(
            solution,
            iterations=before.iterations + solution.iterations,
            evaluations=before.evaluations + solution.evaluations,
            trace=Trace.joined(traces) if traces else None,
        )
    q, calm = there.home(solution.q), there.home(solution.q, GIVE)
    if solution.ok and not np.array_equal(q, calm):
        pairs = zip(problem.all_tasks, problem.misses(calm), strict=True)
        q = calm if all(met(task, miss) for task, miss in pairs) else q
    q.setflags(write=False)
    return replace(solution, problem=problem, q=q)
