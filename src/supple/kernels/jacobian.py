"""The residuals of any mix of tasks and their derivatives, ``ρ(q + dq) ≈ ρ + J dq``, for Gauss–Newton methods.

Every term owns a block of three residual rows; the rows it does not need stay zero. The Jacobian is stored without its
zeros: block b has a row of three numbers for each column of its term's route (`routes`),

    J[b · widest + c] = ∂(ρ_3b, ρ_3b+1, ρ_3b+2) / ∂q[column c of the route],

so a goal costs as many rows as coordinates move it, and products of two blocks run over the columns that they share.
`jacobian` spreads the same numbers over a dense matrix.

A bar that is nowhere near its solid has no block at all: of the hundreds of pairs that might touch, only those that do cost
more than a look at two centres.
"""

from __future__ import annotations

from typing import Any

from supple.kernels.algebra.vectors import clear
from supple.kernels.compiling import GENERAL, entry, leaf, row, stage
from supple.kernels.kinds import AT, CLEAR, FACE, TILT, TURN
from supple.kernels.layouts import (
    BLOCK,
    FRAME,
    FRAME_ROW,
    KIND,
    MASS_ROWS,
    MET,
    NO_ROW,
    PLAIN,
    RANK,
    RANKS_THAT_MUST,
    REFERENCE,
    REFERENCE_ROW,
    RESIDUAL_AT,
    RESIDUALS_OF,
    ROUTE,
    SHIFT,
    WIDEST_ROUTE,
)
from supple.kernels.observe import mass_columns, mass_sums, observe, outward
from supple.kernels.tables import open_evaluation, open_routes, open_tasks
from supple.kernels.terms.clear import REACH
from supple.kernels.terms.dispatch import residual
from supple.kernels.tree import open_tree, place, steer


@leaf
def is_far(tasks: Any, k: int, W: Any) -> bool:
    """Whether the two things of a CLEAR term are further apart than anything can reach from their centres."""
    A, a, b = tasks.number[k], tasks.term[k, FRAME_ROW], tasks.term[k, REFERENCE_ROW]
    square, reach = 0.0, A[REACH] + A[SHIFT]
    for i in range(3):
        d = W[a, 9 + i] + W[a, 3 * i] * A[FRAME + 9] + W[a, 3 * i + 1] * A[FRAME + 10] + W[a, 3 * i + 2] * A[FRAME + 11]
        x, y, z = A[REFERENCE + 9], A[REFERENCE + 10], A[REFERENCE + 11]
        if b == NO_ROW:
            d -= x if i == 0 else y if i == 1 else z
        else:
            d -= W[b, 9 + i] + W[b, 3 * i] * x + W[b, 3 * i + 1] * y + W[b, 3 * i + 2] * z
        square += d * d
    return square > reach * reach


@leaf
def residual_square(tree: Any, tasks: Any, k: int, T: Any, rho: Any, scratch: Any) -> float:
    """The residuals of term k into rho and their covectors into the scratch; returns ``Σ ρ²``."""
    a = tasks.term[k, RESIDUAL_AT]
    if GENERAL and tasks.term[k, RESIDUALS_OF] < BLOCK:
        for r in range(a, a + BLOCK):
            rho[r] = 0.0
            for i in range(6):
                scratch.rows[r, i] = 0.0
        if tasks.term[k, KIND] == CLEAR and is_far(tasks, k, scratch.world):
            return 0.0
    observe(tree, tasks, k, scratch)
    residual(tasks, k, T, scratch, rho)
    return rho[a] * rho[a] + rho[a + 1] * rho[a + 1] + rho[a + 2] * rho[a + 2]


@leaf
def put(routes: Any, scratch: Any, e: int, change: Any, J: Any, at: int, c: int) -> None:
    """Write the change of three residuals by link e into its column of J: column c, or the link's own if that is negative."""
    x, y, z = change
    if not GENERAL or c >= 0:
        J[at + c, 0], J[at + c, 1], J[at + c, 2] = x, y, z
        return
    slot, drive = at + routes.link[e, 1], routes.link[e, 2]
    if routes.link[e, 0] < 0:
        x, y, z = -x, -y, -z
    if drive >= 0:
        s = scratch.slope[drive]
        x, y, z = s * x, s * y, s * z
    if routes.link[e, 3] == 0:
        x, y, z = x + J[slot, 0], y + J[slot, 1], z + J[slot, 2]
    J[slot, 0], J[slot, 1], J[slot, 2] = x, y, z


@leaf
def fill_block(tree: Any, tasks: Any, routes: Any, k: int, scratch: Any, J: Any, at: int, plain: bool) -> None:
    """The rows of J from `at` on: the three covectors of term k on the twist of every link of its route.

    A point in the world needs few of them, ``J = w (ω × p + v)``, and what only turns has no forces. In a plain problem
    links and columns are the same.
    """
    W, R, a, kind = scratch.world, scratch.rows, tasks.term[k, RESIDUAL_AT], tasks.term[k, KIND]
    route = tasks.term[k, ROUTE]
    first, last = routes.first[route], routes.first[route + 1]
    if GENERAL and tasks.term[k, FRAME_ROW] == NO_ROW:
        fill_mass(tree, routes, first, last, a, scratch, J, at)
        return
    if kind == AT and tasks.term[k, REFERENCE_ROW] == NO_ROW:
        u = R[a, 3]
        p0, p1, p2 = R[a + 1, 2], R[a + 2, 0], R[a, 1]
        for e in range(first, last):
            c = routes.link[e, 0]
            w0, w1, w2 = W[c, 12], W[c, 13], W[c, 14]
            x, y, z = w1 * p2 - w2 * p1, w2 * p0 - w0 * p2, w0 * p1 - w1 * p0
            change = x + u * W[c, 15], y + u * W[c, 16], z + u * W[c, 17]
            put(routes, scratch, e, change, J, at, e - first if plain else -1)
        return
    r0, r1, r2 = R[a, 0], R[a, 1], R[a, 2]
    s0, s1, s2 = R[a + 1, 0], R[a + 1, 1], R[a + 1, 2]
    t0, t1, t2 = R[a + 2, 0], R[a + 2, 1], R[a + 2, 2]
    pushed = kind != TURN and kind != FACE and kind != TILT
    for e in range(first, last):
        c = abs(routes.link[e, 0])
        w0, w1, w2 = W[c, 12], W[c, 13], W[c, 14]
        x, y, z = r0 * w0 + r1 * w1 + r2 * w2, s0 * w0 + s1 * w1 + s2 * w2, t0 * w0 + t1 * w1 + t2 * w2
        if pushed:
            v0, v1, v2 = W[c, 15], W[c, 16], W[c, 17]
            x += R[a, 3] * v0 + R[a, 4] * v1 + R[a, 5] * v2
            y += R[a + 1, 3] * v0 + R[a + 1, 4] * v1 + R[a + 1, 5] * v2
            z += R[a + 2, 3] * v0 + R[a + 2, 4] * v1 + R[a + 2, 5] * v2
        put(routes, scratch, e, (x, y, z), J, at, e - first if plain else -1)


@leaf
def fill_mass(tree: Any, routes: Any, first: int, last: int, a: int, scratch: Any, J: Any, at: int) -> None:
    """The rows of J of a term on the mass centre: its forces on the columns of every joint, which must be in the scratch."""
    R, n = scratch.rows, tree.parent.shape[0]
    for e in range(first, last):
        c = 4 * (n + 1) + 3 * (routes.link[e, 0] - 1)
        v0, v1, v2 = scratch.sums[c], scratch.sums[c + 1], scratch.sums[c + 2]
        x, y = R[a, 3] * v0 + R[a, 4] * v1 + R[a, 5] * v2, R[a + 1, 3] * v0 + R[a + 1, 4] * v1 + R[a + 1, 5] * v2
        z = R[a + 2, 3] * v0 + R[a + 2, 4] * v1 + R[a + 2, 5] * v2
        put(routes, scratch, e, (x, y, z), J, at, -1)


@leaf
def empty_blocks(tasks: Any, t: int, rho: Any, chosen: Any) -> None:
    """Nothing in the blocks of task t: it has alternatives, and which one counts is not known yet."""
    for k in range(tasks.alternative[tasks.task[t]], tasks.alternative[tasks.task[t + 1]]):
        chosen[tasks.term[k, RESIDUAL_AT] // BLOCK] = -1.0
        for r in range(tasks.term[k, RESIDUAL_AT], tasks.term[k, RESIDUAL_AT] + BLOCK):
            rho[r] = 0.0


@stage
def locate(I: Any, F: Any, memory: Any, q: Any) -> None:
    """Where everything is in the posture q: the world table in the scratch."""
    tree = open_tree(I, F)
    scratch = open_evaluation(I, memory)
    steer(tree, q, scratch.theta, scratch.slope, scratch.bend)
    place(tree, scratch.theta, scratch.along, scratch.sine, scratch.cosine, scratch.world)


@stage
def appraise(I: Any, F: Any, memory: Any, T: Any, rho: Any, chosen: Any) -> Any:
    """Residuals into rho, the term of each block into `chosen`, covectors into the scratch; ``Σ ρ²`` and tasks not met.

    What they are read from, the places of everything, must be in the scratch (`locate`).
    """
    tree = open_tree(I, F)
    tasks = open_tasks(I, F)
    scratch = open_evaluation(I, memory)
    value, unmet = 0.0, 0
    for t in range(tasks.task.shape[0] - 1):
        best, last = tasks.task[t], tasks.task[t + 1]
        several = 1 if last - best > 1 else 0
        least, missed = 0.0, several
        for looking in range(several, -1, -1):  # first which alternative is least, then that one
            if GENERAL and several == 1:
                empty_blocks(tasks, t, rho, chosen)
            for a in range(best, last if looking == 1 else best + 1):
                total, over = 0.0, 0
                for k in range(tasks.alternative[a], tasks.alternative[a + 1]):
                    if tasks.term[k, RESIDUALS_OF] == 0:
                        continue  # a posture or custom goal has no residuals
                    P = residual_square(tree, tasks, k, T, rho, scratch)
                    total += P
                    if tasks.term[k, RANK] < I[RANKS_THAT_MUST] and not tasks.number[k, MET] >= P:
                        over = 1
                    if looking == 0:
                        block = tasks.term[k, RESIDUAL_AT] // BLOCK
                        idle = tasks.term[k, KIND] == CLEAR and P == 0.0
                        chosen[block] = -1.0 if idle else k
                        if GENERAL and not idle and tasks.term[k, REFERENCE_ROW] != NO_ROW:
                            for r in range(tasks.term[k, RESIDUAL_AT], tasks.term[k, RESIDUAL_AT] + BLOCK):
                                outward(row(scratch.seen, 12, 12), scratch.rows, r)
                if looking == 0:
                    value += total
                elif a == tasks.task[t] or total < least:
                    best, least = a, total
                missed = min(missed, over) if several == 1 else over  # any alternative will do
        unmet += missed
    return value, unmet


@stage
def differentiate(I: Any, F: Any, memory: Any, chosen: Any, J: Any) -> None:
    """The derivatives of the residuals that were appraised last into J."""
    tree = open_tree(I, F)
    tasks = open_tasks(I, F)
    routes = open_routes(I, F)
    scratch = open_evaluation(I, memory)
    if GENERAL and I[MASS_ROWS] > 0:
        mass_sums(tree, tasks.mass, scratch)
        mass_columns(tree, scratch)
    for b in range(chosen.shape[0]):
        if chosen[b] >= 0.0:
            fill_block(tree, tasks, routes, int(chosen[b]), scratch, J, b * I[WIDEST_ROUTE], I[PLAIN] == 1)


@stage
def linearise(I: Any, F: Any, memory: Any, T: Any, q: Any, rho: Any, J: Any, chosen: Any) -> Any:
    """Residuals into rho, their derivatives into J, the term of each block into `chosen`; ``Σ ρ²`` and tasks not met."""
    locate(I, F, memory, q)
    value, unmet = appraise(I, F, memory, T, rho, chosen)
    differentiate(I, F, memory, chosen, J)
    return value, unmet


@stage
def jacobian(I: Any, F: Any, memory: Any, T: Any, q: Any, rho: Any, J: Any) -> Any:
    """As `linearise`, with the derivatives in a dense J (residuals, size)."""
    tasks = open_tasks(I, F)
    routes = open_routes(I, F)
    scratch = open_evaluation(I, memory)
    value, unmet = linearise(I, F, memory, T, q, rho, scratch.columns, scratch.chosen)
    clear(J)
    for b in range(scratch.chosen.shape[0]):
        if scratch.chosen[b] >= 0.0:
            route = tasks.term[int(scratch.chosen[b]), ROUTE]
            first = routes.begin[route]
            for c in range(routes.begin[route + 1] - first):
                for r in range(BLOCK):
                    J[BLOCK * b + r, routes.column[first + c]] = scratch.columns[b * I[WIDEST_ROUTE] + c, r]
    return value, unmet


@entry
def jacobian_entry(I: Any, F: Any, memory: Any, T: Any, Q: Any, value: Any, rho: Any, J: Any) -> None:
    """Residuals rho (k, m) and Jacobians J (k, m, size) of the postures Q (k, size); value (k, 2)."""
    for k in range(Q.shape[0]):
        value[k, 0], value[k, 1] = jacobian(I, F, memory, T[k], Q[k], rho[k], J[k])
