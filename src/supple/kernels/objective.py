"""The chain rule, written once: value, gradient, Hessian and Jacobian of any mix of tasks on any figure.

``G(q) = Σ_tasks min_alternatives Σ_terms P(X(θ(q)))``. Every term turns the frame it sees into a wrench and a 6 × 6 matrix
(`terms`) or residual rows (`terms`); the tree turns these into derivatives along joints (`tree`, `carry`,
`curvature`); drives turn derivatives along joints into derivatives along coordinates:

    ∂G/∂q_a = Σ_i θ_i'(q_a) ∂G/∂θ_i,    ∂²G/∂q_a∂q_b = Σ_ij θ_i' θ_j' ∂²G/∂θ_i∂θ_j + [a = b] Σ_i θ_i'' ∂G/∂θ_i.

The Gauss–Newton matrix is the Hessian without the curvature, ``2 Σ dρ dρᵀ``, assembled the same way from residual rows; the
residuals' own derivatives are in `linear`.
"""

from __future__ import annotations

from typing import Any

from supple.kernels.algebra.vectors import clear
from supple.kernels.compiling import entry, leaf, stage
from supple.kernels.curvature import add_chain_stiffness, add_mass_stiffness, add_tree_stiffness, squares
from supple.kernels.kinds import CLEAR, NEAR
from supple.kernels.layouts import DRIVEN_BY, FRAME_ROW, KIND, MET, NO_ROW, TARGET_AT, WEIGHT
from supple.kernels.observe import apply_wrench, observe
from supple.kernels.tables import open_evaluation, open_tasks
from supple.kernels.terms.dispatch import parts, potential, stiffness
from supple.kernels.tree import open_tree, place, slopes, steer, sum_stiffness
from supple.kernels.wrench import curve, push, stiffen


@leaf
def add_term(tree: Any, tasks: Any, k: int, T: Any, scratch: Any) -> float:
    """Value of term k; its wrench goes to the tree."""
    observe(tree, tasks, k, scratch)
    P = potential(tasks.term[k], scratch.seen, T, tasks.number[k], scratch.force, scratch.second, scratch.mixed)
    first, last = parts(tasks.term[k, KIND])
    push(scratch.seen, scratch.force, first, last, scratch.push[0])
    apply_wrench(tree, tasks, k, scratch)
    return P


@leaf
def add_stiffness(tree: Any, tasks: Any, k: int, T: Any, curvature: int, scratch: Any, H: Any) -> None:
    """The second derivatives of term k go to the tree, or straight into H for chains and the mass centre."""
    term, number, B = tasks.term[k], tasks.number[k], scratch.block
    observe(tree, tasks, k, scratch)
    if curvature != 0:
        first, last = parts(term[0])
        potential(term, scratch.seen, T, number, scratch.force, scratch.second, scratch.mixed)
        for i in range(36):
            B[i] = 0.0
        curve(scratch.seen, scratch.force, first, last, B)
        if stiffness(term, scratch.seen, T, number, scratch.force, scratch.second, scratch.mixed):
            stiffen(scratch.seen, scratch.second, first, last, scratch.carried, B)
    else:
        squares(tasks, k, T, scratch)
    if term[1] == NO_ROW:
        add_mass_stiffness(tree, scratch, curvature, H)
    elif term[2] != NO_ROW:
        add_chain_stiffness(tree, tasks, k, scratch, H)
    else:
        for i in range(36):
            scratch.stiff[term[1], i] += B[i]


@leaf
def choose(tree: Any, tasks: Any, t: int, T: Any, scratch: Any) -> int:
    """The alternative of task t with the least value; the first of several equal ones."""
    first, last = tasks.task[t], tasks.task[t + 1]
    best, least = first, 0.0
    if last - first == 1:
        return first
    for a in range(first, last):
        value = 0.0
        for k in range(tasks.alternative[a], tasks.alternative[a + 1]):
            observe(tree, tasks, k, scratch)
            value += potential(
                tasks.term[k], scratch.seen, T, tasks.number[k], scratch.force, scratch.second, scratch.mixed
            )
        if a == first or value < least:
            best, least = a, value
    return best


@leaf
def near_term(tasks: Any, k: int, T: Any, q: Any, g: Any) -> float:
    """A posture goal: ``P = w Σ_i w_i (q_i − ref_i)²``."""
    r, t = tasks.term[k, FRAME_ROW], tasks.term[k, TARGET_AT]
    w, P = tasks.number[k, WEIGHT], 0.0
    for i in range(q.shape[0]):
        c, e = w * tasks.near[r, i], q[i] - T[t + i]
        P += c * e * e
        g[i] += 2.0 * c * e
    return P


@stage
def gradient(I: Any, F: Any, memory: Any, T: Any, q: Any, g: Any) -> Any:
    """Value of G at q and the number of tasks not met; the gradient goes to g."""
    tree = open_tree(I, F)
    tasks = open_tasks(I, F)
    scratch = open_evaluation(I, memory)
    steer(tree, q, scratch.theta, scratch.slope, scratch.bend)
    place(tree, scratch.theta, scratch.along, scratch.sine, scratch.cosine, scratch.world)
    clear(scratch.wrench)
    for i in range(g.shape[0]):
        g[i] = 0.0
    value, unmet = 0.0, 0
    for t in range(tasks.task.shape[0] - 1):
        chosen = choose(tree, tasks, t, T, scratch)
        missed = 0
        for k in range(tasks.alternative[chosen], tasks.alternative[chosen + 1]):
            if tasks.term[k, KIND] == CLEAR:
                continue  # a condition, and no part of the objective
            if tasks.term[k, KIND] == NEAR:
                P = near_term(tasks, k, T, q, g)
            else:
                P = add_term(tree, tasks, k, T, scratch)
            if not tasks.number[k, MET] >= P:
                missed = 1
            value += P
        unmet += missed
    slopes(tree, scratch.world, scratch.wrench, scratch.along)
    for i in range(tree.parent.shape[0]):
        if tree.coordinate[i] >= 0:
            g[tree.coordinate[i]] += scratch.along[i]
    for d in range(tree.driven.shape[0]):
        for s in range(tree.first[d], tree.first[d + 1]):
            g[tree.term[s, DRIVEN_BY]] += scratch.slope[s] * scratch.along[tree.driven[d]]
    return value, unmet


@stage
def hessian(I: Any, F: Any, memory: Any, T: Any, q: Any, curvature: int, g: Any, H: Any) -> Any:
    """As `gradient`, and the Hessian goes to H; without `curvature` the Gauss–Newton matrix."""
    value, unmet = gradient(I, F, memory, T, q, g)
    tree = open_tree(I, F)
    tasks = open_tasks(I, F)
    scratch = open_evaluation(I, memory)
    clear(scratch.stiff)
    clear(H)
    for t in range(tasks.task.shape[0] - 1):
        chosen = choose(tree, tasks, t, T, scratch)
        for k in range(tasks.alternative[chosen], tasks.alternative[chosen + 1]):
            if tasks.term[k, KIND] == CLEAR:
                continue
            if tasks.term[k, KIND] == NEAR:
                for i in range(q.shape[0]):
                    H[i, i] += 2.0 * tasks.number[k, WEIGHT] * tasks.near[tasks.term[k, FRAME_ROW], i]
            else:
                add_stiffness(tree, tasks, k, T, curvature, scratch, H)
    for d in range(tree.driven.shape[0]):
        for s in range(tree.first[d], tree.first[d + 1]):
            if curvature != 0:
                H[tree.term[s, DRIVEN_BY], tree.term[s, DRIVEN_BY]] += scratch.bend[s] * scratch.along[tree.driven[d]]
    sum_stiffness(tree, scratch.stiff)
    add_tree_stiffness(tree, scratch, H)
    return value, unmet


@entry
def gradient_entry(I: Any, F: Any, memory: Any, T: Any, Q: Any, value: Any, g: Any) -> None:
    """Value (k, 2: G and the number of tasks not met) and gradient g (k, size) of the postures Q (k, size)."""
    for k in range(Q.shape[0]):
        value[k, 0], value[k, 1] = gradient(I, F, memory, T[k], Q[k], g[k])


@entry
def hessian_entry(I: Any, F: Any, memory: Any, T: Any, Q: Any, curvature: int, value: Any, g: Any, H: Any) -> None:
    """As `gradient_entry`, and Hessians (or Gauss–Newton matrices) H (k, size, size)."""
    for k in range(Q.shape[0]):
        value[k, 0], value[k, 1] = hessian(I, F, memory, T[k], Q[k], curvature, g[k], H[k])
