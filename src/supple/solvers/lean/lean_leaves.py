"""The leaves of the lean loop: plain Python over small arrays, made for one shape, for any compiler.

``leaves(shape, real, jit)`` binds sizes, parents and kinds by closure, so that a compiler which unrolls loops keeps every array
in registers; `jit` is `numba.njit`, CUDA's, or nothing at all, and `real` float32 or float64. One attempt is

    begin(starts, limits, k, q, base);   then until it arrives:   look(…) → over, value;   move(…),

`look` places all joints and goals and `move` takes one damped step, which is never taken back. `over` is the largest square
of a miss in units of its tolerance: below 1 every goal is met. With the errors e (a place [m], an angle as a chord times L [m])

    value G = |e|²,      (J Jᵀ + λ I) y = e,      q ← clip(q + Jᵀ y),      λ = μ min(G, 1) + ε

without the joints that e presses against a limit (`arm_step`); trees take the same step joint by joint (`tree_step`).

**Angles.** For the turn φ a from the frame to its goal, ``Σ x_c × g_c = 2 sin φ a`` over the three axes and ``1 + Σ x_c·g_c =
4 cos²(φ/2)``, so that ``2 sin(φ/2) a = (Σ x_c × g_c) / √(1 + Σ x_c·g_c)``. Near half a turn the sum vanishes: there the frame
is said to be as far off as it can be. A direction x misses g by the chord x − g.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from supple.solvers.lean.arm_step import arm_step
from supple.solvers.lean.goals_leaf import goals_leaf
from supple.solvers.lean.shape import Shape
from supple.solvers.lean.tree_step import tree_step

RADIAN = 0.25  # metres that a radian counts for
DAMPING = 0.05  # μ
LEAST = {True: 1e-6, False: 1e-7}  # ε, for steps joint by joint and others


class Tables(NamedTuple):
    """A shape as arrays that closures hold; compilers see constants."""

    parent: np.ndarray  # (n) row above each joint
    slide: np.ndarray  # (n)
    carrier: np.ndarray  # (G)
    place: np.ndarray  # (G)
    angle: np.ndarray  # (G)
    first: np.ndarray  # (G + 1) where the rows of each goal begin
    moves: np.ndarray  # (G, n) whether a joint moves a goal
    goal: np.ndarray  # (m) of each row
    goals: np.ndarray  # (n + 2) where the goals of each row begin
    slot: np.ndarray  # (n + 1) where a row's frame is kept, if something else than the next joint hangs on it; else −1
    slots: int
    straight: np.ndarray  # (n) whether the next joint hangs on this one
    runs: tuple[Run, ...]


class Run(NamedTuple):
    """Goals g₀ … g₁ − 1 that ask for the same: a leaf made for them knows what."""

    begin: int
    end: int
    place: int
    angle: int
    row: int  # where the rows of the first one begin
    rows: int  # of each


class Leaves(NamedTuple):
    """What a loop is made of, and how large its memory is."""

    begin: Any
    look: Any
    move: Any
    memory: tuple[tuple[int, ...], ...]  # shapes of the arrays that `look` and `move` write


def tables(shape: Shape) -> Tables:
    """The arrays of a shape."""
    n, G = shape.joints, len(shape.carrier)
    parent = np.array(shape.parent, np.int32)
    moves = np.zeros((G, n), np.int32)
    for g, row in enumerate(shape.carrier):
        at = row
        while at > 0:
            moves[g, at - 1], at = 1, int(parent[at - 1])
    slot = np.full(n + 1, -1, np.int32)
    slot[0] = slots = 0
    for i in range(n):
        if parent[i] != i and slot[parent[i]] < 0:
            slots += 1
            slot[parent[i]] = slots
    rows, runs = np.array(shape.rows), []
    for g, asked in enumerate(zip(shape.place, shape.angle, strict=True)):
        if runs and runs[-1][2:4] == asked:
            runs[-1] = runs[-1]._replace(end=g + 1)
        else:
            runs.append(Run(g, g + 1, *asked, int(rows[:g].sum()), int(rows[g])))
    straight = np.append(parent[1:] == np.arange(1, n), False)
    return Tables(
        parent, np.array(shape.slide, np.int32), np.array(shape.carrier, np.int32), np.array(shape.place, np.int32),
        np.array(shape.angle, np.int32), np.concatenate([[0], np.cumsum(rows)]).astype(np.int32), moves,
        np.repeat(np.arange(G), rows).astype(np.int32),
        np.searchsorted(np.array(shape.carrier), np.arange(n + 2)).astype(np.int32), slot, slots + 1,
        straight.astype(np.int32), tuple(runs),
    )  # fmt: skip


def leaves(shape: Shape, real: Any, jit: Callable[[Any], Any]) -> Leaves:
    """The leaves for a shape, in numbers of one kind, compiled by `jit`."""
    t = tables(shape)
    n, G, m = shape.joints, len(shape.carrier), int(t.first[-1])
    look = _look(shape, t, real, jit)
    make = tree_step if shape.by_joints else arm_step
    step, more = make(shape, t, (real, RADIAN, DAMPING, LEAST[shape.by_joints]), jit)
    # the running frame, frames kept, axes and origins of joints, points, errors, turns to the goals, frames that carry goals;
    # then what a step needs
    memory = ((12,), (t.slots, 12), (n, 6), (G, 3), (m,), (9,), (G, 12), *more)
    return Leaves(beginning(n, real, jit), look, step, memory)


def beginning(n: int, real: Any, jit: Callable[[Any], Any]) -> Any:
    """The leaf that begins an attempt of n coordinates."""
    ZERO, ONE, HALF = real(0), real(1), real(0.5)

    @jit
    def begin(starts: Any, limits: Any, k: Any, q: Any, base: Any) -> None:
        """Start k of a low-discrepancy sequence about the middle of the ranges; 0 is the start that was asked for."""
        for i in range(n):
            u = k * starts[3, i]
            u -= math.floor(u + HALF)
            x = starts[0, i] if k == ZERO else starts[1, i] + starts[2, i] * u
            q[i] = min(max(x, limits[0, i]), limits[1, i])
        for i in range(7):
            base[i] = ZERO
        base[0] = ONE

    return begin


def _look(shape: Shape, t: Tables, real: Any, jit: Callable[[Any], Any]) -> Any:
    """Everything in its place, and by how much each goal is missed."""
    n, G, FREE, PARENT, SLIDE, SLOT, GOALS = (
        shape.joints,
        len(shape.carrier),
        shape.free,
        t.parent,
        t.slide,
        t.slot,
        t.goals,
    )
    ZERO, ONE, TWO, SLIDES = real(0), real(1), real(2), any(shape.slide)
    BRANCHES, AT_END = t.slots > 1 or 0 in shape.parent[1:], all(row == n for row in shape.carrier)
    judge = goals_leaf(shape, t, (real, RADIAN), jit)

    @jit
    def stand(base: Any, X: Any) -> None:
        """The frame of the base, about its own origin."""
        X[9], X[10], X[11] = ZERO, ZERO, ZERO
        if FREE:
            a, b, c, d = base[0], base[1], base[2], base[3]
            X[0], X[1], X[2] = ONE - TWO * (c * c + d * d), TWO * (b * c - a * d), TWO * (b * d + a * c)
            X[3], X[4], X[5] = TWO * (b * c + a * d), ONE - TWO * (b * b + d * d), TWO * (c * d - a * b)
            X[6], X[7], X[8] = TWO * (b * d - a * c), TWO * (c * d + a * b), ONE - TWO * (b * b + c * c)
        else:
            for k in range(9):
                X[k] = ONE if k % 4 == 0 else ZERO

    @jit
    def keep_branch(X: Any, frames: Any, row: Any) -> None:
        if SLOT[row] >= 0:
            for k in range(12):
                frames[SLOT[row], k] = X[k]

    @jit
    def go_back(X: Any, frames: Any, i: Any) -> None:
        """Make the frame that joint i hangs on the running one."""
        if PARENT[i] != i:
            for k in range(12):
                X[k] = frames[SLOT[PARENT[i]], k]

    @jit
    def keep(X: Any, frames: Any, held: Any, row: Any) -> None:
        """Keep the running frame where something branches off, and for the goals that it carries."""
        if BRANCHES:  # a constant: what is never needed is never compiled
            keep_branch(X, frames, row)
        if not AT_END:
            for g in range(GOALS[row], GOALS[row + 1]):
                for k in range(12):
                    held[g, k] = X[k]

    @jit
    def look(offset: Any, tool: Any, bounds: Any, q: Any, base: Any, T: Any, memory: Any) -> Any:
        """Fill frames, axes, points and errors; how far the worst goal is off in units of its tolerance, and G."""
        X, frames, axes, held = memory[0], memory[1], memory[2], memory[6]
        for i in range(n):  # a loop of its own: short ones are unrolled
            axes[i, 0], axes[i, 1] = ONE, ZERO
            if SLIDE[i] == 0:
                axes[i, 0], axes[i, 1] = math.cos(q[i]), math.sin(q[i])
        stand(base, X)
        keep(X, frames, held, 0)
        for i in range(n):
            if BRANCHES:
                go_back(X, frames, i)
            cos, sin = axes[i, 0], axes[i, 1]
            for r in range(3):
                a, b, c = X[3 * r], X[3 * r + 1], X[3 * r + 2]
                u = a * offset[i, 0] + b * offset[i, 3] + c * offset[i, 6]
                v = a * offset[i, 1] + b * offset[i, 4] + c * offset[i, 7]
                w = a * offset[i, 2] + b * offset[i, 5] + c * offset[i, 8]
                X[9 + r] += a * offset[i, 9] + b * offset[i, 10] + c * offset[i, 11]
                if SLIDES and SLIDE[i] != 0:
                    X[9 + r] += w * q[i]
                X[3 * r], X[3 * r + 1], X[3 * r + 2] = u * cos + v * sin, v * cos - u * sin, w
                axes[i, r], axes[i, 3 + r] = w, X[9 + r]
            keep(X, frames, held, i + 1)
        if AT_END:
            for g in range(G):
                for k in range(12):
                    held[g, k] = X[k]
        return judge(tool, bounds, base, T, memory)

    return look
