"""The appendix of Zhao & Badler (1994), stepped through: dense matrices and inverses, no shortcut, the same way down.

The algorithm below is Steps 0 to 5 as printed, with A_q a matrix, ``(A_qᵀA_q)⁻¹`` computed anew each time and every limit a row
``aᵀq ≤ b`` with a unit normal. Only the line search has to be agreed on ("any line search technique"): cubic Hermite
interpolation as in the kernel, told once more. The compiled loop must make the same steps, values and
active limits. Twenty steps are compared: where nothing is left to gain, rounding decides which test a step passes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple import ActiveSet, At, Limits, Placed, Point, Problem, Task
from tests.tables.figures import posture
from tests.tables.solver_cases import HAND, JACK, PANDA

DELTA_1, DELTA_2 = 1e-4, 0.5


def hermite(a: float, Ga: float, da: float, b: float, Gb: float, db: float) -> float:
    """The minimum between a and b of the cubic with these values and slopes; NaN if it has none."""
    t = da + db - 3.0 * (Ga - Gb) / (a - b)
    if t * t < da * db:
        return float("nan")
    u = np.copysign(np.sqrt(t * t - da * db), b - a)
    return float(b - (b - a) * (db + u - t) / (db - da + 2.0 * u))


@dataclass
class Appendix:
    """One run of the algorithm; `values` are G at each accepted posture, `added` and `dropped` count steps 4 and 2."""

    problem: Problem
    q: np.ndarray
    update: str
    values: list[float] = field(default_factory=list)
    added: int = 0
    dropped: int = 0

    def __post_init__(self) -> None:
        """Equation 23: equalities first, then ``aᵀq ≤ b``, all normals of unit length; and Step 0."""
        limits, n = self.problem.limits, len(self.q)
        assert limits is not None
        equalities, A, b = limits.rows
        length = np.linalg.norm(A, axis=1)
        A, b = A / length[:, None], b / length
        self.l = equalities
        self.a = np.vstack([A[:equalities], np.eye(n), -np.eye(n), A[equalities:]])
        self.b = np.concatenate([b[:equalities], limits.upper, -limits.lower, b[equalities:]])
        self.active = [j for j in range(len(self.b)) if j < self.l or self.b[j] - self.a[j] @ self.q <= 1e-10]
        self.H = np.eye(n)
        for j in self.active:
            self.H = self.without(j)
        self.here()
        self.values.append(self.G)

    def here(self) -> None:
        now: Any = self.problem.evaluate(self.q, hessian=False)
        self.G, self.g = now.value, now.gradient

    def without(self, j: int) -> np.ndarray:
        """Equation 32."""
        Ha = self.H @ self.a[j]
        return self.H - np.outer(Ha, Ha) / (self.a[j] @ Ha)

    def step(self) -> bool:
        """From Step 1 to the next accepted posture; False at a Kuhn–Tucker point."""
        while True:
            A_q = self.a[self.active].T
            inverse = np.linalg.inv(A_q.T @ A_q)
            alpha = inverse @ A_q.T @ self.g
            free = [k for k, j in enumerate(self.active) if j >= self.l]
            if np.abs(self.g - A_q @ alpha).max() <= 1e-9 and all(alpha[k] <= 1e-9 for k in free):
                return False
            worth = {k: alpha[k] / np.sqrt(inverse[k, k]) for k in free}
            m = max(worth, key=lambda k: worth[k], default=None)
            if m is None or np.linalg.norm(self.H @ self.g) > max(0.0, 0.5 * worth[m]):
                break
            gone = self.a[self.active.pop(m)]  # Step 2
            rest = self.a[self.active].T
            P = (
                np.eye(len(self.q)) - rest @ np.linalg.solve(rest.T @ rest, rest.T)
                if rest.size
                else np.eye(len(self.q))
            )
            self.H = self.H + np.outer(P @ gone, P @ gone) / (gone @ P @ gone)
            self.dropped += 1
        s = -self.H @ self.g  # Step 3
        ways = [
            j for j in range(self.l, len(self.b)) if j not in self.active and self.a[j] @ s > 1e-12 * np.linalg.norm(s)
        ]
        reach = {j: (self.b[j] - self.a[j] @ self.q) / (self.a[j] @ s) for j in ways}
        first = min(reach, key=lambda j: reach[j], default=None)
        lam = np.inf if first is None else reach[first]
        gamma = self.search(s, lam)
        g = self.g
        self.q = self.q + gamma * s
        self.here()
        self.values.append(self.G)
        if gamma == lam and first is not None:  # Step 4
            self.H = self.without(first)
            self.active.append(first)
            self.added += 1
            return True
        sigma, y = gamma * s, self.g - g  # Step 5
        sy, Hy = sigma @ y, self.H @ y
        if sy <= 1e-12 * np.linalg.norm(sigma) * np.linalg.norm(y):
            return True
        if self.update == "bfgs" or (self.update == "switch" and sy >= y @ Hy):
            self.H = (
                self.H + ((1.0 + y @ Hy / sy) * np.outer(sigma, sigma) - np.outer(sigma, Hy) - np.outer(Hy, sigma)) / sy
            )
        else:
            self.H = self.H + np.outer(sigma, sigma) / sy - np.outer(Hy, Hy) / (y @ Hy)
        return True

    def search(self, s: np.ndarray, lam: float) -> float:
        """γ of (31), from min(1, λ) on, longer by at most 8 times, shorter between what is too short and too long."""
        slope, gamma = self.g @ s, min(1.0, lam)
        short: Any = (0.0, self.G, slope)
        long: Any = None
        for _ in range(30):
            there: Any = self.problem.evaluate(self.q + gamma * s, hessian=False)
            now = (gamma, there.value, there.gradient @ s)
            if there.value > self.G + DELTA_1 * gamma * slope:
                long = now
            elif now[2] < DELTA_2 * slope and gamma < lam:
                longer, short = hermite(*short, *now), now
                if long is None:
                    gamma = min(lam, min(longer, 8.0 * gamma) if longer > 1.5 * gamma else 1.5 * gamma)
                    continue
            else:
                return gamma
            width = long[0] - short[0]
            gamma = hermite(*short, *long)
            if not short[0] + 0.05 * width < gamma < long[0] - 0.05 * width:
                gamma = short[0] + (0.1 if gamma <= short[0] + 0.05 * width else 0.5) * width
        raise AssertionError("no step")


def panda_pose() -> tuple[Problem, np.ndarray]:
    return Problem(PANDA, [Task(HAND, Placed(PANDA.placement(posture(PANDA, 3), HAND)))]), posture(PANDA, 7)


def out_of_reach() -> tuple[Problem, np.ndarray]:
    return Problem(PANDA, [Task(Point(HAND), At((0.9, 0.6, -0.5)))]), PANDA.rest


def at_a_limit() -> tuple[Problem, np.ndarray]:
    start = np.array(PANDA.rest)
    start[[1, 3]] = PANDA.upper[1], PANDA.lower[3]
    return Problem(PANDA, [Task(Point(HAND), At((0.2, 0.3, 0.9)))]), start


def with_rows() -> tuple[Problem, np.ndarray]:
    """An equality, and two inequalities on the way."""
    A = np.zeros((2, PANDA.size))
    A[0, :2], A[1, 2:5] = (1.0, 0.5), (0.3, -1.0, 0.7)
    E = np.zeros((1, PANDA.size))
    E[0, [4, 6]] = 1.0, 1.0
    rest = PANDA.rest
    limits = Limits(PANDA.lower, PANDA.upper, E, E @ rest, A, A @ rest + (0.15, 0.2))
    return Problem(PANDA, [Task(Point(HAND), At((0.3, 0.5, 0.2)))], limits), rest


def tube() -> tuple[Problem, np.ndarray]:
    """Two hands and the line of sight of Jack, 22 coordinates and more."""
    hands = [Task(Point(f"hand_{s}.palm"), At((0.45, y, 1.35))) for s, y in (("l", 0.05), ("r", -0.05))]
    return Problem(JACK, [*hands, Task(supple.Direction("eyes"), supple.AimedAt((0.6, 0.0, 1.2)))]), JACK.rest


CASES = {"a pose": panda_pose, "out of reach": out_of_reach, "at limits": at_a_limit, "rows": with_rows, "jack": tube}


@pytest.mark.parametrize("update", ["switch", "bfgs", "dfp"])
@pytest.mark.parametrize("case", CASES)
def test_the_loop_makes_the_steps_of_the_appendix(case: str, update: str):
    problem, start = CASES[case]()
    literal = Appendix(problem, problem.admitted(start), update)
    ours = supple.solve(problem, start, solver=ActiveSet(update=update, steps=20), trace=True)
    assert ours.trace is not None
    values = ours.trace.value
    while len(literal.values) < len(values) and literal.step():
        pass
    assert len(literal.values) == len(values)
    assert len(values) > 5
    big = values > 1e-9 * values[0]  # below, sums of squares of rounding errors
    assert_allclose(np.array(literal.values)[big], values[big], rtol=1e-6)
    assert_allclose(literal.q, ours.q, atol=1e-7)
    assert_allclose((literal.b - literal.a @ ours.q)[literal.active], 0.0, atol=1e-9)


def test_the_cases_add_and_drop_limits_and_use_both_formulas():
    added = dropped = 0
    ways = set()
    for case, make in CASES.items():
        problem, start = make()
        runs = []
        for update in ("switch", "bfgs", "dfp"):
            run = Appendix(problem, problem.admitted(start), update)
            for _ in range(15):
                if not run.step():
                    break
            added, dropped = added + run.added, dropped + run.dropped
            runs.append(run.values)
        ways |= {(case, k) for k in (1, 2) if runs[0] != runs[k]}
    assert added > 5
    assert dropped > 2
    assert len(ways) > 5
