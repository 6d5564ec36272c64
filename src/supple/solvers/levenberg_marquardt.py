"""Levenberg–Marquardt with limits, and the search over many starts that makes it dependable.

Minimise ``G(q) = |ρ(q)|²`` over ``l ≤ q ≤ h``. At q, with J the derivative of the residuals and D = diag((1 − ρᵢ)²) the
change of unit that rigidity stands for, the step solves

    (J_F D J_Fᵀ + λ I) y = ρ,    dq = −D J_Fᵀ y,

the dual, m × m form of the damped normal equations: m residuals are few where joints are many. F are the coordinates that
may move: not locked, and not at a limit that the gradient presses against. Coordinates that the step would carry past a
limit are put on it and the others solved for once more, so the model's minimum along the face is found; every trial is
clipped, hence legal. The damping follows the value, ``λ = μ G s + λ₀ tr(J D Jᵀ)/m``, which makes the steps quadratic near a
solution with ``G = 0``; s grows eightfold when a trial does not lower G and shrinks fourfold when one does. G never rises.

**Many starts.** A single attempt may end in a local minimum. The search begins at the given start, then goes on from the
points of a low-discrepancy sequence in the box of the limits, ``u_k = frac(u₀ + k α)`` with α the powers of the generalised
golden ratio and u₀ from the seed. An attempt that lowers G by less than a tenth three times in a row is abandoned; so many
cheap attempts replace one expensive one, and the best of all is followed to its end. All of it is compiled, and the same
seed gives the same answer.

**Hard tasks.** Where every task can be met, all residuals vanish and weights do not matter. Where soft tasks stand against hard
ones, the search is continued with the hard ones weighing ever more (a quadratic penalty), until they hold to within
tolerance; if they do not, the status says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supple.compiled import entry, leaf, row, shared, table, written_in
from supple.errors import BadValue
from supple.evaluate import jacobian
from supple.goals import Custom, Near
from supple.problem import Problem
from supple.solution import Solution, audited
from supple.solvers.base import insist, reasons_of_a_descent_method
from supple.solvers.meter import FREELY, Allowance
from supple.space import Floats
from supple.tree import read_tree
from supple.views import read_limits, read_tasks, scratch_size

STATIONARY, MET, SPENT, ABANDONED = range(4)
HARDNESS = (1e2, 1e4, 1e6, 1e8)  # weights of hard tasks, one after the other, where not everything can be met
STEPS, ATTEMPTS, TOLERANCE, FACTOR, FLOOR, SLOW = range(6)  # settings


@shared
def room_size(I: Any) -> int:
    """Numbers of scratch that a search needs besides the evaluation's."""
    n, m = I[1], I[10]
    return 4 * n + 3 * m + 2 * m * n + m * m


@leaf
def factor_and_solve(A: Any, y: Any, m: int) -> None:
    """Cholesky of the lower triangle of A in place, and ``A y = y``."""
    for j in range(m):
        for i in range(j, m):
            s = A[i, j]
            for k in range(j):
                s -= A[i, k] * A[j, k]
            A[i, j] = math.sqrt(max(s, 1e-300)) if i == j else s / A[j, j]
    for i in range(m):
        s = y[i]
        for k in range(i):
            s -= A[i, k] * y[k]
        y[i] = s / A[i, i]
    for i in range(m - 1, -1, -1):
        s = y[i]
        for k in range(i + 1, m):
            s -= A[k, i] * y[k]
        y[i] = s / A[i, i]


@leaf
def damped_step(J: Any, D: Any, held: Any, damping: float, A: Any, y: Any, dq: Any) -> None:
    """``(J_F D J_Fᵀ + λI) y = y`` and ``dq = −D J_Fᵀ y`` for the coordinates that are not held."""
    m, n = J.shape
    for a in range(m):
        for b in range(a + 1):
            s = damping if a == b else 0.0
            for i in range(n):
                s += J[a, i] * J[b, i] * (D[i] if held[i] == 0.0 else 0.0)
            A[a, b] = s
    factor_and_solve(A, y, m)
    for i in range(n):
        if held[i] == 0.0:
            s = 0.0
            for a in range(m):
                s += J[a, i] * y[a]
            dq[i] = -D[i] * s


@leaf
def trial_step(
    q: Any, rho: Any, J: Any, D: Any, held: Any, damping: float, allowed: Any, A: Any, y: Any, trial: Any
) -> None:
    """The damped step inside the box: what would cross a limit is put on it, and the rest solved for once more."""
    m, n = J.shape
    hits = 1
    for turn in range(2):
        if hits > 0:
            for a in range(m):
                y[a] = rho[a]
                for i in range(n):
                    if held[i] == 2.0:
                        y[a] += J[a, i] * (trial[i] - q[i])
            damped_step(J, D, held, damping, A, y, trial)
            hits = 0
            for i in range(n):
                if held[i] == 2.0:
                    continue
                x = q[i] + (trial[i] if held[i] == 0.0 else 0.0)
                trial[i] = min(max(x, allowed.lower[i]), allowed.upper[i])
                if trial[i] != x and turn == 0:
                    held[i] = 2.0
                    hits += 1
    for i in range(n):
        if held[i] == 2.0:
            held[i] = 0.0  # a shorter step may leave it free again


@leaf
def hold(q: Any, rho: Any, J: Any, D: Any, allowed: Any, held: Any) -> float:
    """Which coordinates may not move: locked ones, and those at a limit against which the gradient presses.

    Returns the mean of the diagonal of ``J D Jᵀ``, the size that damping is measured by.
    """
    size = 0.0
    for i in range(q.shape[0]):
        g = 0.0
        for a in range(rho.shape[0]):
            g += J[a, i] * rho[a]
            size += J[a, i] * J[a, i] * D[i]
        pressed = (q[i] <= allowed.lower[i] and g > 0.0) or (q[i] >= allowed.upper[i] and g < 0.0)
        held[i] = 1.0 if pressed or D[i] == 0.0 else 0.0
    return size / rho.shape[0]


@written_in
def attempt(I: Any, F: Any, scratch: Any, T: Any, q: Any, settings: Any, memory: Any, most: float, info: Any) -> int:
    """Descend from q in place; the reason why it ended. info: iterations and evaluations added, the value written.

    Up to `most` steps; with no more than one attempt's, an attempt that is slow is abandoned.
    """
    n, m = I[1], I[10]
    _, a, f = read_tree(I, F)
    _, f = read_tasks(I, F, a, f)
    allowed = read_limits(I, F, f)
    D, held, trial = row(memory, 0, n), row(memory, n, n), row(memory, 2 * n, n)
    at = 4 * n
    rho, rho_new, y = row(memory, at, m), row(memory, at + m, m), row(memory, at + 2 * m, m)
    at += 3 * m
    J, J_new, A = table(memory, at, m, n), table(memory, at + m * n, m, n), table(memory, at + 2 * m * n, m, m)
    for i in range(n):
        D[i] = allowed.free[i] * allowed.free[i]
        q[i] = min(max(q[i], allowed.lower[i]), allowed.upper[i])
    value, unmet = jacobian(I, F, scratch, T, q, rho, J)
    scale, slow = 1.0, 0
    k, reason = 0, SPENT
    info[1] += 1
    while k < most:
        if unmet == 0:
            reason = MET
            break
        size = hold(q, rho, J, D, allowed, held)
        accepted, largest = False, 0.0
        new, still = value, unmet
        while not accepted and k < most:
            k += 1
            damping = settings[FACTOR] * value * scale + settings[FLOOR] * size
            trial_step(q, rho, J, D, held, damping, allowed, A, y, trial)
            largest = 0.0
            for i in range(n):
                largest = max(largest, abs(trial[i] - q[i]))
            if not largest > settings[TOLERANCE]:
                break
            new, still = jacobian(I, F, scratch, T, trial, rho_new, J_new)
            info[1] += 1
            accepted = new < value
            scale = 0.25 * scale if accepted else 8.0 * scale + 1e-3
        if not accepted:
            reason = SPENT if largest > settings[TOLERANCE] else STATIONARY
            break
        slow = slow + 1 if new > settings[SLOW] * value else 0
        value, unmet = new, still
        rho, rho_new = rho_new, rho
        J, J_new = J_new, J
        for i in range(n):
            q[i] = trial[i]
        if slow >= 3 and unmet > 0 and settings[ATTEMPTS] > 1 and most <= settings[STEPS]:
            reason = ABANDONED
            break
    info[0] += k
    info[2] = value
    return reason


@written_in
def search(I: Any, F: Any, scratch: Any, T: Any, q: Any, settings: Any, box: Any, memory: Any, info: Any) -> None:
    """Attempts from q and from the sequence's points until one meets every task; the best posture ends in q."""
    n = I[1]
    best = row(memory, 3 * n, n)
    least, reason = math.inf, SPENT
    tries, most = 0, settings[STEPS]
    searching = True
    while searching:
        for i in range(n):
            if tries == settings[ATTEMPTS]:
                q[i] = best[i]  # none met every task: the best is followed to its end
            elif tries > 0:
                u = box[2, i] + tries * box[3, i]
                q[i] = box[0, i] + (u - math.floor(u)) * (box[1, i] - box[0, i])
        if tries == settings[ATTEMPTS]:
            most = 10.0 * settings[STEPS]
        ended = attempt(I, F, scratch, T, q, settings, memory, most, info)
        tries += 1
        if info[2] < least or ended == MET or tries > settings[ATTEMPTS]:
            least, reason = info[2], ended
            for i in range(n):
                best[i] = q[i]
        searching = ended != MET and tries <= settings[ATTEMPTS]
        if tries == settings[ATTEMPTS] and (settings[ATTEMPTS] == 1.0 or reason == STATIONARY):
            searching = False
    for i in range(n):
        q[i] = best[i]
    info[3], info[4] = reason, tries


@entry
def search_entry(
    I: Any, F: Any, scratch: Any, T: Any, Q: Any, settings: Any, box: Any, info: Any, first: int, last: int
) -> None:
    """Solve rows first … last of Q (k, size) in place for the targets T (k, …); info (k, 5)."""
    memory = row(scratch, scratch.shape[0] - room_size(I), room_size(I))
    for k in range(first, last):
        search(I, F, scratch, T[k], Q[k], settings, box, memory, info[k])


def sampling_box(problem: Problem, start: Floats, seed: int) -> np.ndarray:
    """Rows: lower and upper end of where further starts lie, the sequence's offset and its increments.

    Without a limit, an angle is sampled over a whole turn about the start and a slide over a metre; what moves no
    effector stays at the start.
    """
    figure, limits = problem.figure, problem.limits
    assert limits is not None
    n = figure.size
    turning = {joint.name for joint in figure.parts if any(joint.turn)}
    reach = np.array([np.pi if name in turning else 0.5 for name in figure.joints])
    lower = np.where(np.isfinite(limits.lower), limits.lower, np.minimum(start, limits.upper) - reach)
    upper = np.where(np.isfinite(limits.upper), limits.upper, np.maximum(start, limits.lower) + reach)
    still = (problem.free == 0.0) | ~problem.moved
    lower[still] = upper[still] = start[still]
    root = 2.0
    for _ in range(60):  # the positive root of x^(n+1) = x + 1
        root = (1.0 + root) ** (1.0 / (n + 1))
    increments = (1.0 / root) ** np.arange(1, n + 1) % 1.0
    offsets = (0.5 + seed * 0.6180339887498949 * (1 + np.arange(n))) % 1.0
    return np.ascontiguousarray(np.stack([lower, upper, offsets, increments]))


@dataclass(frozen=True)
class LevenbergMarquardt:
    """Damped Gauss–Newton steps inside the limits, from the given start alone (`attempts` = 1) or from many."""

    steps: int = 100  # of one attempt
    attempts: int = 1
    tolerance: float = 1e-12  # on the largest coordinate of a step
    factor: float = 0.1  # μ, damping as a share of G
    floor: float = 1e-9  # λ₀, damping as a share of the mean diagonal of J D Jᵀ
    slow: float = 0.9  # an attempt with three steps in a row that leave more of G than this is abandoned

    def __post_init__(self) -> None:
        if self.steps < 0 or self.attempts < 1 or not self.tolerance >= 0.0:
            raise BadValue("steps and tolerance must not be negative, and attempts at least 1")
        if not (self.factor >= 0.0 and self.floor > 0.0 and 0.0 < self.slow <= 1.0):
            raise BadValue("damping needs factor ≥ 0, floor > 0 and 0 < slow ≤ 1")

    def refuse(self, problem: Problem) -> list[str]:
        """Priorities, obstacles, linear rows, and goals without residuals."""
        reasons = reasons_of_a_descent_method(problem, hard=True)
        assert problem.limits is not None
        if not problem.limits.is_box:
            reasons.append("its limits have linear rows")
        for task in problem.tasks:
            if any(isinstance(goal, Custom | Near) for goal, _ in task.alternatives):
                reasons.append(f"{task.name!r} has no residual form")
        return reasons

    @property
    def hardening(self) -> LevenbergMarquardt:
        """The settings with which a search goes on while hard tasks weigh ever more: one attempt, not too short."""
        return replace(self, attempts=1, steps=max(self.steps, 200))

    def settings(self) -> np.ndarray:
        """The numbers that the kernel reads."""
        numbers = (self.steps, self.attempts, self.tolerance, self.factor, self.floor, self.slow)
        return np.array(numbers, dtype=np.float64)

    def scratch(self, problem: Problem) -> np.ndarray:
        """Memory for one search at a time."""
        I = problem.packed[0]
        return np.zeros(scratch_size(I) + room_size(I))

    def solve(self, problem: Problem, start: Floats, seed: int = 0, allowance: Allowance = FREELY) -> Solution:
        """Search from `start`, then, with several attempts, from the points of the sequence that `seed` names."""
        insist(self, problem)
        I, F, T = problem.packed
        Q, info = np.array(start, dtype=np.float64).reshape(1, -1), np.zeros((1, 5))
        box = sampling_box(problem, Q[0], seed)
        scratch = self.scratch(problem)
        search_entry(I, F, scratch, T[None], Q, self.settings(), box, info, 0, 1)
        if problem.has_hard and info[0, 3] != MET:
            once = self.hardening.settings()
            for factor in HARDNESS:
                search_entry(I, problem.hardened(factor), scratch, T[None], Q, once, box, info, 0, 1)
        counts = {"iterations": int(info[0, 0]), "evaluations": int(info[0, 1]), "seed": seed}
        return audited(problem, Q[0], stationary=info[0, 3] == STATIONARY, **counts)
