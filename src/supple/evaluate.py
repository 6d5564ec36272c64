"""The chain rule, written once: value, gradient, Hessian and Jacobian of any mix of tasks on any figure.

``G(q) = Σ_tasks min_alternatives Σ_terms P(X(θ(q)))``. Every term turns the frame it sees into a wrench and a 6 × 6 matrix
(`potentials`) or residual rows (`residuals`); the tree turns these into derivatives along joints (`tree`, `carry`,
`curvature`); drives turn derivatives along joints into derivatives along coordinates:

    ∂G/∂q_a = Σ_i θ_i'(q_a) ∂G/∂θ_i,    ∂²G/∂q_a∂q_b = Σ_ij θ_i' θ_j' ∂²G/∂θ_i∂θ_j + [a = b] Σ_i θ_i'' ∂G/∂θ_i.

The Gauss–Newton matrix is the Hessian without the curvature, ``2 Σ dρ dρᵀ``, assembled the same way from residual rows.
"""

from __future__ import annotations

from typing import Any

from supple.carry import apply_wrench, mass_columns, observe, outward, term_count, term_of
from supple.compiled import entry, leaf, row, stage
from supple.curvature import add_chain_stiffness, add_mass_stiffness, add_tree_stiffness, squares
from supple.potentials import MET, NEAR, WEIGHT, parts, potential, stiffness
from supple.residuals import residual
from supple.tree import place, read_tree, slopes, steer, sum_stiffness
from supple.views import NO_ROW, clear, read_tasks, read_work
from supple.wrench import curve, push, stiffen


@leaf
def add_term(tree: Any, tasks: Any, k: int, T: Any, work: Any) -> float:
    """Value of term k; its wrench goes to the tree."""
    observe(tree, tasks, k, work)
    P = potential(tasks.term[k], work.seen, T, tasks.number[k], work.force, work.second, work.mixed)
    first, last = parts(tasks.term[k, 0])
    push(work.seen, work.force, first, last, work.push[0])
    apply_wrench(tree, tasks, k, work)
    return P


@leaf
def add_stiffness(tree: Any, tasks: Any, k: int, T: Any, curvature: int, work: Any, H: Any) -> None:
    """The second derivatives of term k go to the tree, or straight into H for chains and the mass centre."""
    term, number, B = tasks.term[k], tasks.number[k], work.block
    observe(tree, tasks, k, work)
    if curvature != 0:
        first, last = parts(term[0])
        potential(term, work.seen, T, number, work.force, work.second, work.mixed)
        for i in range(36):
            B[i] = 0.0
        curve(work.seen, work.force, first, last, B)
        if stiffness(term, work.seen, T, number, work.force, work.second, work.mixed):
            stiffen(work.seen, work.second, first, last, work.carried, B)
    else:
        squares(tasks, k, T, work)
    if term[1] == NO_ROW:
        add_mass_stiffness(tree, work, curvature, H)
    elif term[2] != NO_ROW:
        add_chain_stiffness(tree, tasks, k, work, H)
    else:
        for i in range(36):
            work.stiff[term[1], i] += B[i]


@leaf
def choose(tree: Any, tasks: Any, t: int, T: Any, work: Any) -> int:
    """The alternative of task t with the least value; the first of several equal ones."""
    first, last = tasks.task[t], tasks.task[t + 1]
    best, least = first, 0.0
    if last - first == 1:
        return first
    for a in range(first, last):
        value = 0.0
        for k in range(tasks.alternative[a], tasks.alternative[a + 1]):
            observe(tree, tasks, k, work)
            value += potential(tasks.term[k], work.seen, T, tasks.number[k], work.force, work.second, work.mixed)
        if a == first or value < least:
            best, least = a, value
    return best


@leaf
def near_term(tasks: Any, k: int, T: Any, q: Any, g: Any) -> float:
    """A posture goal: ``P = w Σ_i w_i (q_i − ref_i)²``."""
    r, t = tasks.term[k, 1], tasks.term[k, 3]
    w, P = tasks.number[k, WEIGHT], 0.0
    for i in range(q.shape[0]):
        c, e = w * tasks.near[r, i], q[i] - T[t + i]
        P += c * e * e
        g[i] += 2.0 * c * e
    return P


@stage
def gradient(I: Any, F: Any, scratch: Any, T: Any, q: Any, g: Any) -> Any:
    """Value of G at q and the number of tasks not met; the gradient goes to g."""
    tree, a, f = read_tree(I, F)
    tasks, _ = read_tasks(I, F, a, f)
    work, _ = read_work(I, scratch)
    steer(tree, q, work.theta, work.slope, work.bend)
    place(tree, work.theta, work.along, work.sine, work.cosine, work.world)
    clear(work.wrench)
    for i in range(g.shape[0]):
        g[i] = 0.0
    value, unmet = 0.0, 0
    for t in range(tasks.task.shape[0] - 1):
        chosen = choose(tree, tasks, t, T, work)
        missed = 0
        for k in range(tasks.alternative[chosen], tasks.alternative[chosen + 1]):
            if tasks.term[k, 0] == NEAR:
                P = near_term(tasks, k, T, q, g)
            else:
                P = add_term(tree, tasks, k, T, work)
            if not tasks.number[k, MET] >= P:
                missed = 1
            value += P
        unmet += missed
    slopes(tree, work.world, work.wrench, work.along)
    for i in range(tree.parent.shape[0]):
        if tree.coordinate[i] >= 0:
            g[tree.coordinate[i]] += work.along[i]
    for d in range(tree.driven.shape[0]):
        for s in range(tree.first[d], tree.first[d + 1]):
            g[tree.term[s, 0]] += work.slope[s] * work.along[tree.driven[d]]
    return value, unmet


@stage
def hessian(I: Any, F: Any, scratch: Any, T: Any, q: Any, curvature: int, g: Any, H: Any) -> Any:
    """As `gradient`, and the Hessian goes to H; without `curvature` the Gauss–Newton matrix."""
    value, unmet = gradient(I, F, scratch, T, q, g)
    tree, a, f = read_tree(I, F)
    tasks, _ = read_tasks(I, F, a, f)
    work, _ = read_work(I, scratch)
    clear(work.stiff)
    clear(H)
    for t in range(tasks.task.shape[0] - 1):
        chosen = choose(tree, tasks, t, T, work)
        for k in range(tasks.alternative[chosen], tasks.alternative[chosen + 1]):
            if tasks.term[k, 0] == NEAR:
                for i in range(q.shape[0]):
                    H[i, i] += 2.0 * tasks.number[k, WEIGHT] * tasks.near[tasks.term[k, 1], i]
            else:
                add_stiffness(tree, tasks, k, T, curvature, work, H)
    for d in range(tree.driven.shape[0]):
        for s in range(tree.first[d], tree.first[d + 1]):
            if curvature != 0:
                H[tree.term[s, 0], tree.term[s, 0]] += work.bend[s] * work.along[tree.driven[d]]
    sum_stiffness(tree, work.stiff)
    add_tree_stiffness(tree, work, H)
    return value, unmet


@leaf
def add_entry(tree: Any, work: Any, j: int, r: int, value: float, J: Any) -> None:
    """Add the derivative of residual r along joint j to the Jacobian in q."""
    if tree.coordinate[j] >= 0:
        J[r, tree.coordinate[j]] += value
        return
    for s in range(term_count(tree, j)):
        a, x = term_of(tree, work, j, s)
        J[r, a] += x * value


@leaf
def residual_square(tree: Any, tasks: Any, k: int, T: Any, rho: Any, work: Any) -> float:
    """The residuals of term k into rho and their rows into the scratch; returns ``Σ ρ²``."""
    first, P = tasks.term[k, 4], 0.0
    observe(tree, tasks, k, work)
    residual(tasks.term[k], work.seen, T, tasks.number[k], rho, work.rows, first, work.mixed)
    for r in range(first, first + tasks.term[k, 9]):
        P += rho[r] * rho[r]
    return P


@stage
def jacobian(I: Any, F: Any, scratch: Any, T: Any, q: Any, rho: Any, J: Any) -> Any:
    """Residuals into rho, their derivatives along q into J (residuals, size); ``Σ ρ²`` and the number of tasks not met."""
    tree, a, f = read_tree(I, F)
    tasks, _ = read_tasks(I, F, a, f)
    work, _ = read_work(I, scratch)
    steer(tree, q, work.theta, work.slope, work.bend)
    place(tree, work.theta, work.along, work.sine, work.cosine, work.world)
    clear(J)
    for r in range(rho.shape[0]):
        rho[r] = 0.0
    value, unmet = 0.0, 0
    for t in range(tasks.task.shape[0] - 1):
        chosen, last = tasks.task[t], tasks.task[t + 1]
        least, missed = 0.0, 0
        for looking in range(1 if last - chosen > 1 else 0, -1, -1):  # first which alternative is least, then that one
            for a in range(chosen, last if looking == 1 else chosen + 1):
                total = 0.0
                for k in range(tasks.alternative[a], tasks.alternative[a + 1]):
                    P = residual_square(tree, tasks, k, T, rho, work)
                    total += P
                    if looking == 0:
                        jacobian_rows(tree, tasks, k, tasks.term[k, 4], tasks.term[k, 9], work, J)
                        if not tasks.number[k, MET] >= P:
                            missed = 1
                    else:
                        forget_residuals(tasks, k, rho)
                if looking == 0:
                    value += total
                elif a == tasks.task[t] or total < least:
                    chosen, least = a, total
        unmet += missed
    return value, unmet


@leaf
def forget_residuals(tasks: Any, k: int, rho: Any) -> None:
    """Residuals of an alternative that was only looked at."""
    for r in range(tasks.term[k, 4], tasks.term[k, 4] + tasks.term[k, 9]):
        rho[r] = 0.0


@leaf
def jacobian_rows(tree: Any, tasks: Any, k: int, first: int, count: int, work: Any, J: Any) -> None:
    """The rows of J that belong to term k."""
    at = tasks.term[k, 1]
    if at == NO_ROW:
        mass_columns(tree, work)
        n = tree.parent.shape[0]
        for j in range(n):
            c = 4 * (n + 1) + 3 * j
            for r in range(first, first + count):
                s = work.rows[r, 3] * work.sums[c] + work.rows[r, 4] * work.sums[c + 1]
                s += work.rows[r, 5] * work.sums[c + 2]
                add_entry(tree, work, j, r, s, J)
        return
    relative = tasks.term[k, 2] != NO_ROW
    if relative:
        for r in range(first, first + count):
            outward(row(work.seen, 12, 12), work.rows, r)
    length = tasks.term[k, 6] if relative else (tree.depth[at - 1] + 1 if at > 0 else 0)
    for r in range(first, first + count, 3):
        three_rows(tree, tasks, k, relative, length, r, count, work, J)


@leaf
def three_rows(
    tree: Any, tasks: Any, k: int, relative: bool, length: int, r: int, count: int, work: Any, J: Any
) -> None:
    """Up to three rows of J at once, the covectors in registers: ``J[r, j] = N·ω_j + F·v_j`` along the joints of term k."""
    W, R = work.world, work.rows
    a, b = min(r + 1, r + count - 1), min(r + 2, r + count - 1)
    r0, r1, r2 = R[r, 0], R[r, 1], R[r, 2]
    r3, r4, r5 = R[r, 3], R[r, 4], R[r, 5]
    a0, a1, a2 = R[a, 0], R[a, 1], R[a, 2]
    a3, a4, a5 = R[a, 3], R[a, 4], R[a, 5]
    b0, b1, b2 = R[b, 0], R[b, 1], R[b, 2]
    b3, b4, b5 = R[b, 3], R[b, 4], R[b, 5]
    at = tasks.term[k, 1]
    for d in range(length):
        link = tasks.chain[tasks.term[k, 5] + d] if relative else 1 + tree.path[at - 1, d]
        c, sign = abs(link), 1.0 if link > 0 else -1.0
        w0, w1, w2 = W[c, 12], W[c, 13], W[c, 14]
        v0, v1, v2 = W[c, 15], W[c, 16], W[c, 17]
        x = sign * (r0 * w0 + r1 * w1 + r2 * w2 + r3 * v0 + r4 * v1 + r5 * v2)
        y = sign * (a0 * w0 + a1 * w1 + a2 * w2 + a3 * v0 + a4 * v1 + a5 * v2)
        z = sign * (b0 * w0 + b1 * w1 + b2 * w2 + b3 * v0 + b4 * v1 + b5 * v2)
        add_entry(tree, work, c - 1, r, x, J)
        if count > 1:
            add_entry(tree, work, c - 1, a, y, J)
            add_entry(tree, work, c - 1, b, z, J)


@entry
def gradient_entry(I: Any, F: Any, scratch: Any, T: Any, Q: Any, value: Any, g: Any) -> None:
    """Value (k, 2: G and the number of tasks not met) and gradient g (k, size) of the postures Q (k, size)."""
    for k in range(Q.shape[0]):
        value[k, 0], value[k, 1] = gradient(I, F, scratch, T[k], Q[k], g[k])


@entry
def hessian_entry(I: Any, F: Any, scratch: Any, T: Any, Q: Any, curvature: int, value: Any, g: Any, H: Any) -> None:
    """As `gradient_entry`, and Hessians (or Gauss–Newton matrices) H (k, size, size)."""
    for k in range(Q.shape[0]):
        value[k, 0], value[k, 1] = hessian(I, F, scratch, T[k], Q[k], curvature, g[k], H[k])


@entry
def jacobian_entry(I: Any, F: Any, scratch: Any, T: Any, Q: Any, value: Any, rho: Any, J: Any) -> None:
    """Residuals rho (k, m) and Jacobians J (k, m, size) of the postures Q (k, size); value (k, 2)."""
    for k in range(Q.shape[0]):
        value[k, 0], value[k, 1] = jacobian(I, F, scratch, T[k], Q[k], rho[k], J[k])
