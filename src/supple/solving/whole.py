"""One continuous branch for a whole path, where there is one.

Greedy following takes the branch that the first target is met on, and jumps where that one ends. Here branches are looked for
along the whole path (`branches`) and joined by dynamic programming: among all sequences of links, over postures at the keys
and whole turns of coordinates, the one with the fewest breaks is taken, then the one of least cost,

    Σ |q_k − q_{k−1}|  +  PULL · mean over the keys of the distance to the preferred posture.

Where links are missing, keys are added and more postures looked for, some times; what is missing then is a *break*. The
path is then drawn taut: each posture is moved to the mean of its neighbours and towards the preferred one, corrected by one
attempt, and stays there if ``Σ |q_k − q_{k−1}|² + EASE Σ |q_k − preferred|²`` falls and no neighbour is further away than
the bound.

Not to find a branch proves nothing: another one may lie between the postures that were looked at.
"""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

from supple.geometry.placements import Floats
from supple.problem.allowance import MET, REASON
from supple.problem.goals import Near
from supple.problem.problem import Problem
from supple.solving.branches import TURN, Branches

KEYS, STRIDE = 24, 8  # keys at first, and targets from one to the next at most
ATTEMPTS, ROUNDS = 64, 3  # at a key at first; four times as many in each further round where a link is missing
MENDED = 4  # breaks that a round looks at
WINDINGS = 512  # sets of whole turns that are told apart, at most
PULL, EASE, SWEEPS = 10.0, 0.02, 30
BREAK = 1e6  # the cost of a break


class Found(NamedTuple):
    """A path: its postures (n, size), what the last attempt at each told, and which of them were found on a branch."""

    Q: Floats
    report: np.ndarray
    joined: np.ndarray


class Preferred(NamedTuple):
    """The posture that `Near` asks for at every target (n, size), and its weights (size)."""

    Q: Floats
    weights: Floats

    @classmethod
    def by(cls, problem: Problem, given: Any, rows: int) -> Preferred:
        """The sum of all posture goals of a problem."""
        total, weights = np.zeros((rows, problem.figure.size)), np.zeros(problem.figure.size)
        for task, targets in zip(problem.tasks, given, strict=True):
            if isinstance(task.goal, Near):
                own = task.weight * np.asarray(task.goal.weights)
                total = total + own * (task.goal.reference if targets is None else targets)
                weights = weights + own
        return cls(total / np.where(weights > 0.0, weights, 1.0), weights / max(weights.max(initial=0.0), 1e-300))


def whole_path(branches: Branches, start: Floats, preferred: Preferred) -> Found | None:
    """The best path that was found; None if no target can be met at any key."""
    n = len(branches.T)
    stride = max(1, min(STRIDE, (n - 1) // KEYS))
    keys = sorted({*range(0, n, stride), n - 1})
    for row in keys:
        branches.look(row, ATTEMPTS, start)
    _chains(branches, keys)
    plan = _plan(branches, start, preferred, keys)
    for turn in range(1, ROUNDS):
        missing = [(i, j) for i, j, link in plan if link is None]
        if not missing:
            break
        for i, j in missing[:MENDED]:
            keys = sorted({*keys, *range(i, j, max(1, (j - i) // 4))})
            for row in (k for k in keys if i - 2 * stride <= k <= j + 2 * stride):
                branches.look(row, ATTEMPTS * 4**turn, start)
        plan = _plan(branches, start, preferred, keys)
    return _taut(branches, _drawn(branches, plan), preferred) if plan else None


def _chains(branches: Branches, keys: list[int]) -> None:
    """Keep at every key what following from the first key on, and from the last one back, comes to."""
    n, T = len(branches.T), branches.T
    for q in branches.postures[keys[0]].copy():
        Q = branches.chained(T[1:], q)
        for row in (k for k in keys[1:] if k <= len(Q)):
            branches.keep(row, Q[row - 1 : row])
    for q in branches.postures[keys[-1]].copy():
        Q = branches.chained(T[-2::-1], q)
        for row in (k for k in keys[:-1] if n - 1 - k <= len(Q)):
            branches.keep(row, Q[n - 2 - row : n - 1 - row])


# ── dynamic programming ──────────────────────────────────────────────────────────────────────────────────────────────
class Winding:
    """The whole turns by which postures may be off those that are kept: a number for each set of them."""

    def __init__(self, branches: Branches) -> None:
        self.of, rounds = branches, branches.round & np.isfinite(branches.upper - branches.lower)
        span = np.where(rounds, branches.upper - branches.lower, 0.0)
        digits = np.maximum(1, np.ceil(span / TURN - 1e-12)).astype(int)
        while digits.prod() > WINDINGS:  # the widest range loses its last turns
            digits[np.argmax(digits)] -= 1
        self.digits = digits
        self.turns = np.array(list(product(*map(range, digits))), dtype=int)  # (W, size)
        self.stride = np.append(np.cumprod(digits[:0:-1])[::-1], 1)

    def legal(self, Q: Floats) -> np.ndarray:
        """Whether postures (k, …, size) are legal with each set of turns (k, …, W)."""
        X = Q[..., None, :] + TURN * self.turns
        unlimited = ~np.isfinite(self.of.upper - self.of.lower)
        return np.asarray(((self.of.lower <= X) & (self.of.upper >= X) | unlimited).all(axis=-1))

    def moved(self, turns: np.ndarray) -> np.ndarray:
        """The number of each set after further turns (k, W); −1 where there is none. Unlimited coordinates do not count."""
        to = self.turns + np.where(self.digits > 1, turns, 0)[:, None]
        fine = ((to >= 0) & (to < self.digits)).all(axis=-1)
        lost = (np.where((self.digits == 1) & np.isfinite(self.of.upper - self.of.lower), turns, 0) != 0).any(axis=-1)
        return np.where(fine & ~lost[:, None], to @ self.stride, -1)


class Stage(NamedTuple):
    """The least costs of all states at a key (postures times sets of turns), and where each came from: a link, a state."""

    row: int
    cost: Floats
    link: np.ndarray
    before: np.ndarray


def _plan(
    branches: Branches, start: Floats, preferred: Preferred, keys: list[int]
) -> list[tuple[int, int, Floats | None]]:
    """For neighbouring keys the way between them on the best path; None where there is a break."""
    keys = [k for k in keys if len(branches.postures.get(k, ()))]
    if not keys:
        return []
    winding = Winding(branches)
    stages: list[Stage] = []
    for row in keys:
        Q = branches.postures[row]
        X = Q[:, None] + TURN * winding.turns
        own = np.where(winding.legal(Q), 0.0, np.inf)
        if preferred.weights.any():
            off = np.sqrt((preferred.weights * (X - preferred.Q[row]) ** 2).sum(axis=-1))
            own = own + PULL / len(keys) * off
        if stages:
            stages.append(_next(branches, winding, stages[-1], row, own.ravel()))
        else:
            cost = (own + np.linalg.norm(branches.between(Q, start), axis=1)[:, None]).ravel()
            stages.append(Stage(row, cost, np.full(len(cost), -1), np.full(len(cost), -1)))
    return _traced(branches, winding, stages)


def _next(branches: Branches, winding: Winding, last: Stage, row: int, own: Floats) -> Stage:
    """The costs at the next key; if no state can be come to without a break, that of the cheapest state is added to all."""
    W, links = len(winding.turns), branches.links(last.row, row)
    legal = winding.legal(links.ways.min(axis=1)) & winding.legal(links.ways.max(axis=1))
    to = winding.moved(links.turns)
    before = links.a[:, None] * W + np.arange(W)
    after = links.b[:, None] * W + to
    total = np.where(legal & (to >= 0), last.cost[before] + links.cost[:, None], np.inf)
    cost, link, come = np.full(len(own), np.inf), np.full(len(own), -1), np.full(len(own), -1)
    number = np.broadcast_to(np.arange(len(links.a))[:, None], total.shape)
    usable = np.isfinite(total)
    total, after, before, number = total[usable], after[usable], before[usable], number[usable]
    order = np.argsort(-total, kind="stable")
    cost[after[order]], link[after[order]], come[after[order]] = total[order], number[order], before[order]
    cost = cost + own
    if not np.isfinite(cost).any():
        cheapest = int(np.argmin(last.cost))
        cost, come = last.cost[cheapest] + BREAK + own, np.full(len(own), cheapest)
    return Stage(row, cost, link, come)


def _traced(branches: Branches, winding: Winding, stages: list[Stage]) -> list[tuple[int, int, Floats | None]]:
    """The best way, from its end back to its beginning."""
    W, out = len(winding.turns), []
    state = int(np.argmin(stages[-1].cost))
    if len(stages) == 1:
        q = branches.postures[stages[0].row][state // W] + TURN * winding.turns[state % W]
        return [(stages[0].row, stages[0].row, q[None])]
    for before, stage in pairwise(reversed(stages)):
        link, come = int(before.link[state]), int(before.before[state])
        way = None
        if link >= 0:
            way = branches.links(stage.row, before.row).ways[link] + TURN * winding.turns[come % W]
        out.append((stage.row, before.row, way))
        state = come
    return out[::-1]


# ── postures ─────────────────────────────────────────────────────────────────────────────────────────────────────────
def _drawn(branches: Branches, plan: list[tuple[int, int, Floats | None]]) -> Floats:
    """A posture for every target: what links lead through; NaN where none does."""
    Q = np.full((len(branches.T), len(branches.lower)), np.nan)
    shift = np.zeros(Q.shape[1])
    endless = branches.round & ~np.isfinite(branches.upper - branches.lower)
    for i, j, way in plan:
        if way is None:
            shift = np.zeros(Q.shape[1])
            continue
        if np.isfinite(Q[i]).all():  # what turns without limits goes on where it is
            shift = np.where(endless, TURN * np.round((Q[i] - way[0]) / TURN), 0.0)
        Q[i : j + 1] = way + shift
    return Q


def _taut(branches: Branches, Q: Floats, preferred: Preferred) -> Found:
    """Each posture between its neighbours and nearer to the preferred one, as far as tasks, limits and the bound allow."""
    joined, bound, pull = np.asarray(np.isfinite(Q).all(axis=1)), branches.bound, EASE * preferred.weights
    X, T = np.where(joined[:, None], Q, 0.0), branches.T
    report = branches.corrected(T, X, stated=True)
    joined &= report[:, REASON] == MET
    linked = joined[1:] & joined[:-1] & (np.abs(np.diff(X, axis=0)) <= bound).all(axis=1)
    left, right = np.append(False, linked)[:, None], np.append(linked, False)[:, None]
    for sweep in range(SWEEPS):
        held = left | right if pull.any() else left & right  # without a pull, ends stay where they are
        some = np.flatnonzero(joined & (np.arange(len(X)) % 2 == sweep % 2) & held.ravel())
        before, after = X[some - 1], X[np.minimum(some + 1, len(X) - 1)]
        L, R, reference = left[some], right[some], preferred.Q[some]
        new = (L * before + R * after + pull * reference) / (1.0 * L + R + pull)
        told = branches.corrected(np.ascontiguousarray(T[some]), new, stated=True)

        def energy(Y: Floats) -> Floats:
            return (L * (Y - before) ** 2 + R * (Y - after) ** 2 + pull * (Y - reference) ** 2).sum(axis=1)  # noqa: B023

        within = ((np.abs(new - before) <= bound) | ~L).all(axis=1) & ((np.abs(new - after) <= bound) | ~R).all(axis=1)
        better = np.asarray(within & (told[:, REASON] == MET) & (energy(new) < energy(X[some])))
        X[some[better]], report[some[better]] = new[better], told[better]
        if not better.any() and sweep % 2:
            break
    return Found(X, report, joined)
