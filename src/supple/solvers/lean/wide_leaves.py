"""The leaves of the wide loop: the library's own evaluation, and a damped step in the coordinates.

``wide_leaves(shape, jit, written_in)`` are those of `lean_leaves` in another form: `look` places everything, evaluates one
term after the other with the leaves of `kernels`, and adds up ``H = JᵀJ`` and ``g = −Jᵀρ``; `move` takes the step

    (H + λ I) dq = g + λ v,      q ← clip(q + dq),      λ = μ min(G, 1) + ε,

without the coordinates that g presses against a limit. v leads to the preferred posture once all tasks are met, by less and
less: since ``λ (H + λ I)⁻¹`` is the projection onto what the tasks leave free, but for λ/σ², it moves nothing that they feel.
A row with a preference has arrived when besides all tasks the last step was small.

Of the seven numbers of the base, which is none here, the first is that step; then come how far a posture is drawn, and G.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from supple.kernels.jacobian import fill_block, residual_square
from supple.kernels.kinds import CLEAR, MIXED, NEAR
from supple.kernels.layouts import BLOCK, FRAME_ROW, KIND, MET, NO_ROW, REFERENCE_ROW, ROUTE, TARGET_AT, WORLD
from supple.kernels.observe import mass_columns, outward
from supple.kernels.tree import place, steer
from supple.solvers.lean.arm_step import cholesky
from supple.solvers.lean.lean_leaves import DAMPING, beginning
from supple.solvers.lean.ported import ported
from supple.solvers.lean.wide_shape import WideShape

LEAST_WIDE = 1e-9  # ε
SETTLED = 1e-3  # the largest step [rad, m] of a posture that is no longer drawn
LEASH, SHORTER = 0.3, 0.85  # how far a posture is drawn at once, and how much less each time
FAR = 1e6  # what is not yet drawn is not yet there


class Here(NamedTuple):
    """What leaves of the library write, of `EvaluationScratch`."""

    along: Any
    sine: Any
    cosine: Any
    theta: Any
    slope: Any
    bend: Any
    world: Any
    sums: Any
    seen: Any
    mixed: Any
    rows: Any
    axes: Any


class WideLeaves(NamedTuple):
    """What a wide loop is made of, and how large its memory is."""

    begin: Any
    look: Any  # (q, base, T, memory) → over, value
    move: Any  # (limits, q, base, T, value, memory)
    memory: tuple[Any, ...]  # shapes of `Here`, then of ρ, J, H, g


def wide_leaves(shape: WideShape, jit: Callable[[Any], Any], written_in: Callable[[Any], Any]) -> WideLeaves:
    """The leaves for a shape; `written_in` compiles what is written into its callers."""
    c, n = shape.coordinates, shape.rows
    curves, sums = max(shape.curves, 1), 4 * (n + 1) + 3 * n if shape.massive else 1
    here = (n, n, n, n, curves, curves, (n + 1, WORLD), sums, 24, MIXED, (BLOCK, 6), (1, 3))
    known: dict[Any, Any] = {}
    used = (steer, place, residual_square, fill_block, outward, mass_columns)
    own = {leaf: ported(leaf, jit, written_in, known) for leaf in used}
    look, move = _look(shape, own, jit), _move(shape, jit)
    return WideLeaves(
        beginning(c, np.float64, jit), look, move, (*here, BLOCK, (max(shape.widest, 1), BLOCK), (c, c), c)
    )


def _look(shape: WideShape, own: dict[Any, Any], jit: Callable[[Any], Any]) -> Any:
    steer_, place_, square_of, block_of = own[steer], own[place], own[residual_square], own[fill_block]
    to_world, mass_of = own[outward], own[mass_columns]
    c, MASSIVE, PREFERS, SEVERAL = shape.coordinates, shape.massive, shape.prefers, shape.several

    @jit
    def add(routes: Any, route: Any, rho: Any, J: Any, H: Any, g: Any) -> None:
        """Add ``JᵀJ`` (lower half) and ``−Jᵀρ`` of a block."""
        first, last = routes.begin[route], routes.begin[route + 1]
        for a in range(last - first):
            i, x, y, z = routes.column[first + a], J[a, 0], J[a, 1], J[a, 2]
            g[i] -= x * rho[0] + y * rho[1] + z * rho[2]
            for b in range(a + 1):
                j = routes.column[first + b]
                H[max(i, j), min(i, j)] += x * J[b, 0] + y * J[b, 1] + z * J[b, 2]

    @jit
    def least(t: Any, T: Any, memory: Any) -> Any:
        """The alternative of task t with the least value."""
        here, rho, tree, tasks = memory[0], memory[1], memory[5], memory[6]
        best, lowest = tasks.task[t], 0.0
        if SEVERAL:
            for a in range(tasks.task[t], tasks.task[t + 1]):
                total = 0.0
                for k in range(tasks.alternative[a], tasks.alternative[a + 1]):
                    total += square_of(tree, tasks, k, T, rho, here)
                if a == tasks.task[t] or total < lowest:
                    best, lowest = a, total
        return best

    @jit
    def add_term(k: Any, T: Any, memory: Any) -> Any:
        """Add a term to H and g; its value."""
        here, rho, J, H, g = memory[0], memory[1], memory[2], memory[3], memory[4]
        tree, tasks, routes = memory[5], memory[6], memory[7]
        P = square_of(tree, tasks, k, T, rho, here)
        if tasks.term[k, KIND] != CLEAR or P > 0.0:
            if tasks.term[k, REFERENCE_ROW] != NO_ROW:
                for r in range(BLOCK):
                    to_world(here.seen[12:], here.rows, r)
            if MASSIVE and tasks.term[k, FRAME_ROW] == NO_ROW:
                mass_of(tree, here)
            block_of(tree, tasks, routes, k, here, J, 0, False)
            add(routes, tasks.term[k, ROUTE], rho, J, H, g)
        return P

    @jit
    def look(q: Any, base: Any, T: Any, memory: Any) -> Any:
        """The largest square of a miss in units of its tolerance, and the value."""
        here, H, g, tree, tasks = memory[0], memory[3], memory[4], memory[5], memory[6]
        steer_(tree, q, here.theta, here.slope, here.bend)
        place_(tree, here.theta, here.along, here.sine, here.cosine, here.world)
        for i in range(c):
            g[i] = 0.0
            for j in range(i + 1):
                H[i, j] = 0.0
        over, value = 0.0, 0.0
        for t in range(tasks.task.shape[0] - 1):
            chosen = least(t, T, memory)
            for k in range(tasks.alternative[chosen], tasks.alternative[chosen + 1]):
                if tasks.term[k, KIND] != NEAR:
                    P = add_term(k, T, memory)
                    over, value = max(over, P / tasks.number[k, MET]), value + P
        if PREFERS:
            base[2] = value
            if base[1] == 0.0 and over < 1.0:
                base[0], base[1] = 1.0, LEASH  # from now on the posture is drawn
            over = max(over, (base[0] / SETTLED) ** 2 if base[1] > 0.0 else FAR)
            value = base[1] + 1e-9 * value if base[1] > 0.0 else value
        return over, value

    return look


def _move(shape: WideShape, jit: Callable[[Any], Any]) -> Any:
    c, PREFERS, solve = shape.coordinates, shape.prefers, cholesky(shape.coordinates, np.float64, jit)
    MU, EPS = DAMPING, LEAST_WIDE

    @jit
    def draw(q: Any, T: Any, g: Any, damping: Any, leash: Any, memory: Any) -> None:
        """Add λ v, towards the postures that are preferred, at most by so much."""
        tasks, coordinate = memory[6], memory[8]
        for k in range(tasks.term.shape[0]):
            if tasks.term[k, KIND] == NEAR:
                r, t, most, far = tasks.term[k, FRAME_ROW], tasks.term[k, TARGET_AT], LEAST_WIDE, 0.0
                for i in range(c):
                    most = max(most, tasks.near[r, coordinate[i]])
                for i in range(c):
                    far = max(far, tasks.near[r, coordinate[i]] / most * abs(q[i] - T[t + coordinate[i]]))
                scale = damping / most * (leash / far if far > leash else 1.0)
                for i in range(c):
                    g[i] -= scale * tasks.near[r, coordinate[i]] * (q[i] - T[t + coordinate[i]])

    @jit
    def hold(limits: Any, q: Any, H: Any, g: Any) -> None:
        """Take out the coordinates that are pressed against a limit."""
        for i in range(c):
            if (q[i] <= limits[0, i] and g[i] <= 0.0) or (q[i] >= limits[1, i] and g[i] >= 0.0):
                g[i] = 0.0
                for j in range(c):
                    H[max(i, j), min(i, j)] = 0.0

    @jit
    def move(limits: Any, q: Any, base: Any, T: Any, value: Any, memory: Any) -> None:
        """One step."""
        H, g = memory[3], memory[4]
        damping = MU * min(base[2] if PREFERS else value, 1.0) + EPS
        if PREFERS and base[1] > 0.0:
            draw(q, T, g, damping, base[1], memory)
            base[1] *= SHORTER
        hold(limits, q, H, g)
        solve(H, g, damping)
        went = 0.0
        for i in range(c):
            old = q[i]
            q[i] = min(max(old + g[i], limits[0, i]), limits[1, i])
            went = max(went, abs(q[i] - old))
        base[0] = went

    return move
