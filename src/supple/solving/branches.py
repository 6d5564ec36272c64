"""Branches of solutions along a path: different postures at some of its targets, and which of them are joined.

**Postures.** At chosen targets, the *keys*, single attempts are made from many starts, and those that meet every task are kept
where they differ. An arm without redundancy has finitely many; of a continuum these are samples.

**Links.** Two postures at neighbouring keys are joined if the straight way between them, corrected at every target on it by one
attempt, meets every task and moves no coordinate by more than the bound from one target to the next.

**Turns.** A coordinate that may turn more than once around is looked at modulo a whole turn; a link keeps its
postures, so that whoever joins links can tell which turns the limits allow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from supple.basics.stopping import Stop
from supple.geometry.placements import Floats
from supple.kernels.compiling import entry_in
from supple.kernels.layouts import CHARTS, FREE_ROOT
from supple.kernels.tables import EXACT
from supple.problem.allowance import BUDGET, FREELY, MET, REASON
from supple.problem.problem import Problem
from supple.solvers.levenberg_marquardt.levenberg_marquardt import (
    LevenbergMarquardt,
    SearchCall,
    free_to_turn,
    further_start,
)

report_entry = entry_in("supple.kernels.charts.report_entry")
APART = 0.05  # radians or metres in some coordinate that make two postures different
KEPT = 96  # postures at a key, at most
NEAREST = 4  # postures at the next key that each is tried to be joined with, and the other way round
TURN = 2.0 * np.pi


class Halted(Exception):
    """It was time to stop."""


@dataclass(frozen=True)
class Links:
    """Ways from postures at one key to postures at the next."""

    a: np.ndarray  # (links,) which posture at the first
    b: np.ndarray  # and at the second
    ways: Floats  # (links, rows, size) from a on; the last is b, by whole turns away
    cost: Floats  # (links,) how long each way is
    turns: np.ndarray  # (links, size) whole turns from b as it is kept to the end of the way


class Branches:
    """What is known of the branches along a path of targets T (n, …) of a problem without preferences."""

    def __init__(self, problem: Problem, T: Floats, bound: Floats, seed: int, stop: Stop) -> None:
        limits = problem.limits
        assert limits is not None
        self.lower, self.upper, self.bound, self.T, self.seed, self.stop = (
            limits.lower, limits.upper, bound, T, seed, stop,
        )  # fmt: skip
        limited = np.isfinite([self.lower, self.upper])
        self.round = free_to_turn(problem) & (self.upper - self.lower > TURN) & (limited[0] == limited[1])
        self.low = np.where(np.isfinite(self.lower), self.lower, -np.pi)
        open_limits = replace(
            limits, lower=np.where(self.round, -np.inf, self.lower), upper=np.where(self.round, np.inf, self.upper)
        )
        self.stated, self.problem = problem, replace(problem, limits=open_limits)
        self.still = problem.pack[0].copy()
        self.still[CHARTS] = self.still[FREE_ROOT] = 0
        self.tried: dict[int, int] = {}
        self.postures: dict[int, Floats] = {}
        self._links: dict[tuple[int, int, int, int], Links] = {}

    # ── searches ─────────────────────────────────────────────────────────────────────────────────────────────────────
    def corrected(self, T: Floats, Q: Floats, stated: bool = False, charted: bool = False) -> np.ndarray:
        """One attempt from each row of Q, in place; the report. Limits on what turns count only if they are `stated`."""
        report = FREELY.report(len(Q))
        problem = self.stated if stated else self.problem
        call = SearchCall(
            problem, LevenbergMarquardt().settings(), self.seed, report, I=None if charted else self.still
        )
        self._run(partial(call.run, T, Q, 0, len(Q)), report)
        return report

    def chained(self, T: Floats, q: Floats) -> Floats:
        """Postures that meet T row by row from q on, within the bound of each other: as many as there are without a gap."""
        report, Q = FREELY.report(len(T) + 1), np.tile(q, (len(T) + 1, 1))
        T = np.vstack([T[:1], T])
        call = SearchCall(
            self.problem, LevenbergMarquardt().settings(), self.seed, report, paces=self.bound, I=self.still
        )
        at = 1
        while at < len(T):
            end = min(at + 16, len(T))
            self._run(partial(call.run, T, Q, at, end), report)
            missed = np.flatnonzero(report[at:end, REASON] != MET)
            if missed.size:
                return Q[1 : at + missed[0]]
            at = end
        return Q[1:]

    def _run(self, job: partial[None], report: np.ndarray) -> None:
        def halt() -> None:
            report[:, BUDGET] = 0.0

        if self.stop.run([job], halt):
            raise Halted

    # ── postures ─────────────────────────────────────────────────────────────────────────────────────────────────────
    def look(self, row: int, attempts: int, start: Floats) -> None:
        """Make attempts at a target, up to that many with all that were made before."""
        first = self.tried.get(row, 0)
        if first >= attempts:
            return
        starts = [further_start(self.problem, start, self.seed, k) if k else start for k in range(first, attempts)]
        Q = np.array(starts)
        report = self.corrected(np.tile(self.T[row], (len(Q), 1)), Q, charted=True)
        for q in Q:
            report_entry(self.problem.pack[0], self.problem.pack[1], q, start, EXACT)
        self.tried[row] = attempts
        self.keep(row, Q[report[:, REASON] == MET])

    def keep(self, row: int, Q: Floats) -> None:
        """Keep those postures at a target that differ from those that are there."""
        kept = list(self.postures.get(row, np.empty((0, len(self.lower)))))
        for q in self.folded(Q):
            if len(kept) < KEPT and (not kept or np.abs(self.between(np.array(kept), q)).max(axis=1).min() > APART):
                kept.append(q)
        self.postures[row] = np.array(kept).reshape(-1, len(self.lower))

    def folded(self, Q: Floats) -> Floats:
        """Postures whose turning coordinates lie in the first turn above the lower limit."""
        return np.where(self.round, self.low + (Q - self.low) % TURN, Q)

    def between(self, Q: Floats, to: Floats) -> Floats:
        """The way from Q to a posture, the shorter way round."""
        way = to - Q
        return np.where(self.round, way - TURN * np.round(way / TURN), way)

    # ── links ────────────────────────────────────────────────────────────────────────────────────────────────────────
    def links(self, i: int, j: int) -> Links:
        """Ways from the postures at target i to those at target j > i."""
        A, B = self.postures[i], self.postures[j]
        key = (i, j, len(A), len(B))
        if key not in self._links:
            self._links[key] = self._linked(i, j, A, B)
        return self._links[key]

    def _linked(self, i: int, j: int, A: Floats, B: Floats) -> Links:
        way = self.between(A[:, None], B[None])
        far = np.abs(way).max(axis=2)
        near = np.zeros(far.shape, dtype=bool)
        np.put_along_axis(near, np.argsort(far, axis=1, kind="stable")[:, :NEAREST], True, axis=1)
        np.put_along_axis(near, np.argsort(far, axis=0, kind="stable")[:NEAREST], True, axis=0)
        near &= (np.abs(way) <= self.bound * (j - i)).all(axis=2)
        a, b = np.nonzero(near)
        part = np.arange(j - i + 1)[None, :, None] / (j - i)
        Q = A[a][:, None] + part * way[a, b][:, None]
        inner = np.ascontiguousarray(Q[:, 1:-1]).reshape(-1, A.shape[1])
        met = np.ones(len(a), dtype=bool)
        if len(inner):
            report = self.corrected(np.tile(self.T[i + 1 : j], (len(a), 1)), inner)
            Q[:, 1:-1] = inner.reshape(len(a), -1, A.shape[1])
            met = (report[:, REASON] == MET).reshape(len(a), -1).all(axis=1)
        moves = np.diff(Q, axis=1)
        met &= (np.abs(moves) <= self.bound).all(axis=(1, 2))
        a, b, Q, moves = a[met], b[met], Q[met], moves[met]
        turns = np.where(self.round, np.round((Q[:, -1] - B[b]) / TURN), 0.0).astype(int)
        return Links(a, b, Q, np.linalg.norm(moves, axis=2).sum(axis=1), turns)
