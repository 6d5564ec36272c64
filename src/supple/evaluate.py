"""The chain rule, written once: value, gradient, Hessian and Jacobian of any mix of tasks on any figure.

``G(q) = Σ_tasks min_alternatives Σ_terms P(X(θ(q)))``. Every term turns the frame it sees into a wrench and a 6 × 6 matrix
(`potentials`) or residual rows (`residuals`); the tree turns these into derivatives along joints (`tree`); drives turn
derivatives along joints into derivatives along coordinates:

    ∂G/∂q_a = Σ_i θ_i'(q_a) ∂G/∂θ_i,    ∂²G/∂q_a∂q_b = Σ_ij θ_i' θ_j' ∂²G/∂θ_i∂θ_j + [a = b] Σ_i θ_i'' ∂G/∂θ_i.

**Relative terms.** Seen from a reference segment s, the effector is moved by the joints between s and itself: those on its
own side with their twists, those on the side of s with the opposite ones, shared ones not at all. So a term pushes its
segment with its wrench and s with the opposite wrench, and for second derivatives the joints are walked from s up to
the common joint and down to the effector: along this *chain* the earlier joint carries the later.

**The mass centre** ``C = Σ μ_k c_k`` is pushed by a force f when every segment is pushed by ``μ_k f`` at its own centre;
its columns are ``∂C/∂θ_j = ω_j × S_j + m_j v_j`` with S and m summed over j's subtree.

The Gauss–Newton matrix is the Hessian without the curvature, ``2 Σ dρ dρᵀ``, assembled the same way from residual rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from supple.compiled import entry, leaf, row, stage, table
from supple.potentials import (
    FRAME,
    MET,
    MIXED,
    NEAR,
    REFERENCE,
    TERM,
    WEIGHT,
    curve,
    parts,
    potential,
    push,
    stiffen,
    stiffness,
)
from supple.residuals import residual
from supple.tree import WORLD, lean, place, read_tree, see, slopes, steer, sum_stiffness

# integers of a term: kind, row, reference row, where its target, residuals and chain begin, lengths of chain and target,
# address of a custom function, number of residuals, and whether it is hard
FIELDS = 11
NO_ROW = -1


class Tasks(NamedTuple):
    """A problem's terms, as kernels see them."""

    task: Any  # (tasks + 1) where the alternatives of each task begin
    alternative: Any  # (alternatives + 1) where the terms of each alternative begin
    term: Any  # (terms, FIELDS)
    chain: Any  # joints of relative terms, in walking order, as 1 + joint, negative on the reference's side
    number: Any  # (terms, TERM) frames, weights and parameters
    mass: Any  # (n + 1, 4) mass fraction and first moment of each row, or nothing
    near: Any  # (posture terms, size) weights


class Allowed(NamedTuple):
    """The limits, as kernels see them."""

    lower: Any
    upper: Any
    free: Any  # (size) how willingly each coordinate moves; 0: not at all
    equalities: int
    A: Any  # (rows, size) of unit length, equalities first
    b: Any


class Work(NamedTuple):
    """Scratch of one evaluation; the caller brings the memory."""

    theta: Any
    slope: Any
    bend: Any
    sine: Any
    cosine: Any
    world: Any
    wrench: Any  # (n + 1, 6) summed over subtrees at the end
    stiff: Any  # (n + 1, 36) likewise
    along: Any  # (n) derivative along each joint
    seen: Any  # (24) the frame a term sees, and its reference
    force: Any  # (12) on the parts of that frame
    push: Any  # (1, 6) the wrench of these forces
    block: Any  # (36) a term's B
    second: Any  # (12, 12) ∂²P/∂X²
    carried: Any  # (12, 6)
    mixed: Any  # (MIXED)
    stack: Any  # (6, deepest or longest chain) twists on the way to the root
    line: Any  # (deepest or longest chain)
    rho: Any  # (residuals)
    rows: Any  # (residuals, 6)
    sums: Any  # (n + 1, 4) mass sums, then (n, 3) columns


@leaf
def read_tasks(I: Any, F: Any, a: int, f: int) -> Any:
    """Views of the tasks in a pack whose tables begin at a and f; and where the next table begins in F."""
    tasks, alternatives, terms, chain, masses, near = I[6], I[7], I[8], I[9], I[12], I[13]
    task = row(I, a, tasks + 1)
    a += tasks + 1
    alternative = row(I, a, alternatives + 1)
    a += alternatives + 1
    term = table(I, a, terms, FIELDS)
    a += terms * FIELDS
    links = row(I, a, chain)
    number = table(F, f, terms, TERM)
    f += terms * TERM
    mass = table(F, f, masses, 4)
    f += 4 * masses
    weights = table(F, f, near, I[1])
    return Tasks(task, alternative, term, links, number, mass, weights), f + near * I[1]


@leaf
def read_limits(I: Any, F: Any, f: int) -> Any:
    """Views of the limits in a pack, whose tables begin at f."""
    size, rows = I[1], I[15]
    lower, upper, free = row(F, f, size), row(F, f + size, size), row(F, f + 2 * size, size)
    A = table(F, f + 3 * size, rows, size)
    return Allowed(lower, upper, free, I[16], A, row(F, f + 3 * size + rows * size, rows))


def scratch_size(header: Any) -> int:
    """Numbers of scratch that `read_work` lays out."""
    n, deepest, t, residuals, longest = (int(header[k]) for k in (0, 2, 4, 10, 11))
    wide = max(deepest, longest, 6)
    by_joint = 4 * n + (n + 1) * (WORLD + 6 + 36) + 4 * (n + 1) + 3 * n
    return by_joint + 2 * t + 24 + 12 + 6 + 36 + 144 + 72 + MIXED + 7 * wide + 7 * residuals


@leaf
def read_work(I: Any, scratch: Any) -> Any:
    """Views of the scratch, with the world's own frame filled in; and where free scratch begins."""
    n, t, residuals = I[0], I[4], I[10]
    wide = max(I[2], I[11], 6)
    theta, sine, cosine = row(scratch, 0, n), row(scratch, n, n), row(scratch, 2 * n, n)
    along, slope, bend = row(scratch, 3 * n, n), row(scratch, 4 * n, t), row(scratch, 4 * n + t, t)
    a = 4 * n + 2 * t
    world, wrench = table(scratch, a, n + 1, WORLD), table(scratch, a + (n + 1) * WORLD, n + 1, 6)
    a += (n + 1) * (WORLD + 6)
    stiff, sums = table(scratch, a, n + 1, 36), row(scratch, a + 36 * (n + 1), 4 * (n + 1) + 3 * n)
    a += 40 * (n + 1) + 3 * n
    seen, force, wrung = row(scratch, a, 24), row(scratch, a + 24, 12), table(scratch, a + 36, 1, 6)
    block, second, carried = row(scratch, a + 42, 36), table(scratch, a + 78, 12, 12), table(scratch, a + 222, 12, 6)
    mixed = row(scratch, a + 294, MIXED)
    a += 294 + MIXED
    stack, line = table(scratch, a, 6, wide), row(scratch, a + 6 * wide, wide)
    a += 7 * wide
    rho, rows = row(scratch, a, residuals), table(scratch, a + residuals, residuals, 6)
    for k in range(WORLD):
        world[0, k] = 1.0 if k == 0 or k == 4 or k == 8 else 0.0
    work = Work(
        theta, slope, bend, sine, cosine, world, wrench, stiff, along, seen, force, wrung, block, second, carried, mixed,
        stack, line, rho, rows, sums,
    )  # fmt: skip
    return work, a + 7 * residuals


@leaf
def clear(a: Any) -> None:
    """Set a table to zero."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = 0.0


@leaf
def mass_sums(tree: Any, mass: Any, work: Any) -> None:
    """World moments ``Σ μ c`` (3) and masses (1) of each row into ``work.sums``."""
    W = work.world
    for r in range(tree.parent.shape[0] + 1):
        m, x, y, z = mass[r, 0], mass[r, 1], mass[r, 2], mass[r, 3]
        for i in range(3):
            work.sums[4 * r + i] = m * W[r, 9 + i] + W[r, 3 * i] * x + W[r, 3 * i + 1] * y + W[r, 3 * i + 2] * z
        work.sums[4 * r + 3] = m


@leaf
def mass_columns(tree: Any, work: Any) -> None:
    """Columns ``∂C/∂θ_j`` behind the row sums; the sums become sums over subtrees."""
    n = tree.parent.shape[0]
    for j in range(n - 1, -1, -1):
        a, b = 4 * tree.parent[j], 4 * (j + 1)
        x, y, z, m = work.sums[b], work.sums[b + 1], work.sums[b + 2], work.sums[b + 3]
        w0, w1, w2 = work.world[j + 1, 12], work.world[j + 1, 13], work.world[j + 1, 14]
        c = 4 * (n + 1) + 3 * j
        work.sums[c] = w1 * z - w2 * y + m * work.world[j + 1, 15]
        work.sums[c + 1] = w2 * x - w0 * z + m * work.world[j + 1, 16]
        work.sums[c + 2] = w0 * y - w1 * x + m * work.world[j + 1, 17]
        for k in range(4):
            work.sums[a + k] += work.sums[b + k]


@leaf
def observe(tree: Any, tasks: Any, k: int, work: Any) -> None:
    """What term k sees: a frame in the world, or in the frame of its reference segment."""
    X, at, reference = work.seen, tasks.term[k, 1], tasks.term[k, 2]
    if at == NO_ROW:
        mass_sums(tree, tasks.mass, work)
        X[0] = X[1] = X[2] = 0.0
        for r in range(tree.parent.shape[0] + 1):
            for i in range(3):
                X[i] += work.sums[4 * r + i]
        return
    see(work.world, at, tasks.number[k], FRAME, X)
    if reference == NO_ROW:
        return
    Y = row(X, 12, 12)
    see(work.world, reference, tasks.number[k], REFERENCE, Y)
    for i in range(3):
        X[i] -= Y[i]
    for part in range(0, 12, 3):
        x, y, z = X[part], X[part + 1], X[part + 2]
        for i in range(3):
            X[part + i] = Y[3 + 3 * i] * x + Y[4 + 3 * i] * y + Y[5 + 3 * i] * z


@leaf
def outward(Y: Any, w: Any, at: int) -> None:
    """Turn the covector ``w[at]`` from the axes and origin of the frame Y to those of the world, in place."""
    n0, n1, n2, f0, f1, f2 = w[at, 0], w[at, 1], w[at, 2], w[at, 3], w[at, 4], w[at, 5]
    for i in range(3):
        w[at, i] = Y[3 + i] * n0 + Y[6 + i] * n1 + Y[9 + i] * n2
        w[at, 3 + i] = Y[3 + i] * f0 + Y[6 + i] * f1 + Y[9 + i] * f2
    f0, f1, f2 = w[at, 3], w[at, 4], w[at, 5]
    w[at, 0] += Y[1] * f2 - Y[2] * f1
    w[at, 1] += Y[2] * f0 - Y[0] * f2
    w[at, 2] += Y[0] * f1 - Y[1] * f0


@leaf
def apply_wrench(tree: Any, tasks: Any, k: int, work: Any) -> None:
    """Add the wrench of term k to the rows of the tree that feel it."""
    at, reference = tasks.term[k, 1], tasks.term[k, 2]
    f = work.push[0]
    if at == NO_ROW:
        for r in range(tree.parent.shape[0] + 1):
            x, y, z, m = work.sums[4 * r], work.sums[4 * r + 1], work.sums[4 * r + 2], work.sums[4 * r + 3]
            work.wrench[r, 0] += y * f[5] - z * f[4]
            work.wrench[r, 1] += z * f[3] - x * f[5]
            work.wrench[r, 2] += x * f[4] - y * f[3]
            for i in range(3):
                work.wrench[r, 3 + i] += m * f[3 + i]
        return
    if reference != NO_ROW:
        outward(row(work.seen, 12, 12), work.push, 0)
        for i in range(6):
            work.wrench[reference, i] -= f[i]
    for i in range(6):
        work.wrench[at, i] += f[i]


@leaf
def add_pair(tree: Any, work: Any, i: int, j: int, h: float, H: Any) -> None:
    """Add ``∂²G/∂θ_i∂θ_j = h`` to the Hessian in q, both halves."""
    a, b = tree.coordinate[i], tree.coordinate[j]
    if a >= 0 and b >= 0:
        H[a, b] += h
        if i != j:
            H[b, a] += h
        return
    for s in range(max(term_count(tree, i), 1)):
        a, x = term_of(tree, work, i, s)
        for t in range(max(term_count(tree, j), 1)):
            b, y = term_of(tree, work, j, t)
            H[a, b] += x * y * h
            if i != j:
                H[b, a] += x * y * h


@leaf
def term_count(tree: Any, i: int) -> int:
    """Number of coordinates that drive joint i through curves; 0 if it has its own."""
    if tree.coordinate[i] >= 0:
        return 0
    d = -1 - tree.coordinate[i]
    return tree.first[d + 1] - tree.first[d]


@leaf
def term_of(tree: Any, work: Any, i: int, s: int) -> Any:
    """Coordinate and slope of the s-th term of joint i."""
    if tree.coordinate[i] >= 0:
        return tree.coordinate[i], 1.0
    t = tree.first[-1 - tree.coordinate[i]] + s
    return tree.term[t, 0], work.slope[t]


@leaf
def add_mass_stiffness(tree: Any, work: Any, curvature: int, H: Any) -> None:
    """Second derivatives through the mass centre: curvature as forces on segments, the rest as columns ``c_iᵀ M c_j``."""
    n, f, M = tree.parent.shape[0], work.force, work.second
    for r in range(n + 1):
        m = work.sums[4 * r + 3]
        if m > 0.0 and curvature != 0:
            c, weighted = row(work.mixed, 0, 3), row(work.mixed, 3, 3)
            for i in range(3):
                c[i] = work.sums[4 * r + i] / m
                weighted[i] = m * f[i]
            curve(c, weighted, 0, 1, work.stiff[r])
    mass_columns(tree, work)
    base = 4 * (n + 1)
    for j in range(n):
        c0, c1, c2 = work.sums[base + 3 * j], work.sums[base + 3 * j + 1], work.sums[base + 3 * j + 2]
        y0 = M[0, 0] * c0 + M[0, 1] * c1 + M[0, 2] * c2
        y1 = M[1, 0] * c0 + M[1, 1] * c1 + M[1, 2] * c2
        y2 = M[2, 0] * c0 + M[2, 1] * c1 + M[2, 2] * c2
        for i in range(j + 1):
            h = work.sums[base + 3 * i] * y0 + work.sums[base + 3 * i + 1] * y1 + work.sums[base + 3 * i + 2] * y2
            add_pair(tree, work, i, j, h, H)


@leaf
def add_chain_stiffness(tree: Any, tasks: Any, k: int, work: Any, H: Any) -> None:
    """Second derivatives of a relative term: B on all pairs of its chain, the earlier joint carrying the later."""
    Y, B = row(work.seen, 12, 12), work.block
    start, count = tasks.term[k, 5], tasks.term[k, 6]
    for b in range(count):
        link = tasks.chain[start + b]
        j, sign = abs(link) - 1, 1.0 if link > 0 else -1.0
        w0, w1, w2 = work.world[j + 1, 12], work.world[j + 1, 13], work.world[j + 1, 14]
        v0 = work.world[j + 1, 15] + w1 * Y[2] - w2 * Y[1]
        v1 = work.world[j + 1, 16] + w2 * Y[0] - w0 * Y[2]
        v2 = work.world[j + 1, 17] + w0 * Y[1] - w1 * Y[0]
        for i in range(3):
            work.stack[i, b] = sign * (Y[3 + 3 * i] * w0 + Y[4 + 3 * i] * w1 + Y[5 + 3 * i] * w2)
            work.stack[3 + i, b] = sign * (Y[3 + 3 * i] * v0 + Y[4 + 3 * i] * v1 + Y[5 + 3 * i] * v2)
        for i in range(6):
            s = 0.0
            for m in range(6):
                s += B[6 * i + m] * work.stack[m, b]
            work.line[i] = s
        for a in range(b + 1):
            h = 0.0
            for i in range(6):
                h += work.stack[i, a] * work.line[i]
            add_pair(tree, work, abs(tasks.chain[start + a]) - 1, j, h, H)


@leaf
def squares(tasks: Any, k: int, T: Any, work: Any) -> None:
    """Gauss–Newton's ``B = 2 Σ dρ dρᵀ`` of term k into the block; for the mass centre, the same of forces into `second`."""
    a = tasks.term[k, 4]
    residual(tasks.term[k], work.seen, T, tasks.number[k], work.rho, work.rows, a, work.mixed)
    for i in range(6):
        for j in range(6):
            s = 0.0
            for r in range(a, a + tasks.term[k, 9]):
                s += work.rows[r, i] * work.rows[r, j]
            work.block[6 * i + j] = 2.0 * s
            if i > 2 and j > 2:
                work.second[i - 3, j - 3] = 2.0 * s


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
    r, t, w, P = tasks.term[k, 1], tasks.term[k, 3], tasks.number[k, WEIGHT], 0.0
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
    place(tree, work.theta, work.sine, work.cosine, work.world)
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
def add_tree_stiffness(tree: Any, work: Any, H: Any) -> None:
    """``∂²G/∂θ_i∂θ_j = ξ_i · (B_j ξ_j)`` for every joint j and every i above it or equal.

    Depth-first order keeps the twists on the way from the root to j in the first columns of one stack.
    """
    plain = tree.driven.shape[0] == 0
    for j in range(tree.parent.shape[0]):
        depth = tree.depth[j]
        for k in range(6):
            work.stack[k, depth] = work.world[j + 1, 12 + k]
        w = work.push[0]
        lean(work.world, j + 1, work.stiff, j + 1, w)
        w0, w1, w2, w3, w4, w5 = w[0], w[1], w[2], w[3], w[4], w[5]
        for d in range(depth + 1):
            work.line[d] = (
                work.stack[0, d] * w0 + work.stack[1, d] * w1 + work.stack[2, d] * w2
                + work.stack[3, d] * w3 + work.stack[4, d] * w4 + work.stack[5, d] * w5
            )  # fmt: skip
        if plain:
            b = tree.coordinate[j]
            for d in range(depth):
                a = tree.coordinate[tree.path[j, d]]
                H[a, b] += work.line[d]
                H[b, a] += work.line[d]
            H[b, b] += work.line[depth]
        else:
            for d in range(depth + 1):
                add_pair(tree, work, tree.path[j, d], j, work.line[d], H)


@leaf
def add_entry(tree: Any, work: Any, j: int, r: int, value: float, J: Any) -> None:
    """Add the derivative of residual r along joint j to the Jacobian in q."""
    if tree.coordinate[j] >= 0:
        J[r, tree.coordinate[j]] += value
        return
    for s in range(term_count(tree, j)):
        a, x = term_of(tree, work, j, s)
        J[r, a] += x * value


@stage
def jacobian(I: Any, F: Any, scratch: Any, T: Any, q: Any, rho: Any, J: Any) -> float:
    """Residuals into rho, their derivatives along q into J (residuals, size); returns ``Σ ρ²``."""
    tree, a, f = read_tree(I, F)
    tasks, _ = read_tasks(I, F, a, f)
    work, _ = read_work(I, scratch)
    steer(tree, q, work.theta, work.slope, work.bend)
    place(tree, work.theta, work.sine, work.cosine, work.world)
    clear(J)
    for r in range(rho.shape[0]):
        rho[r] = 0.0
    for t in range(tasks.task.shape[0] - 1):
        chosen = choose(tree, tasks, t, T, work)
        for k in range(tasks.alternative[chosen], tasks.alternative[chosen + 1]):
            first, count = tasks.term[k, 4], tasks.term[k, 9]
            observe(tree, tasks, k, work)
            residual(tasks.term[k], work.seen, T, tasks.number[k], rho, work.rows, first, work.mixed)
            jacobian_rows(tree, tasks, k, first, count, work, J)
    value = 0.0
    for r in range(rho.shape[0]):
        value += rho[r] * rho[r]
    return value


@leaf
def jacobian_rows(tree: Any, tasks: Any, k: int, first: int, count: int, work: Any, J: Any) -> None:
    """The rows of J that belong to term k."""
    W, at = work.world, tasks.term[k, 1]
    if at == NO_ROW:
        mass_columns(tree, work)
        n = tree.parent.shape[0]
        for j in range(n):
            c = 4 * (n + 1) + 3 * j
            for r in range(first, first + count):
                s = (
                    work.rows[r, 3] * work.sums[c]
                    + work.rows[r, 4] * work.sums[c + 1]
                    + work.rows[r, 5] * work.sums[c + 2]
                )
                add_entry(tree, work, j, r, s, J)
        return
    relative = tasks.term[k, 2] != NO_ROW
    if relative:
        for r in range(first, first + count):
            outward(row(work.seen, 12, 12), work.rows, r)
    length = tasks.term[k, 6] if relative else (tree.depth[at - 1] + 1 if at > 0 else 0)
    for d in range(length):
        link = tasks.chain[tasks.term[k, 5] + d] if relative else 1 + tree.path[at - 1, d]
        b, sign = abs(link), 1.0 if link > 0 else -1.0
        x0, x1, x2 = sign * W[b, 12], sign * W[b, 13], sign * W[b, 14]
        x3, x4, x5 = sign * W[b, 15], sign * W[b, 16], sign * W[b, 17]
        for r in range(first, first + count):
            s = work.rows[r, 0] * x0 + work.rows[r, 1] * x1 + work.rows[r, 2] * x2
            s += work.rows[r, 3] * x3 + work.rows[r, 4] * x4 + work.rows[r, 5] * x5
            add_entry(tree, work, b - 1, r, s, J)


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
    """Residuals rho (k, m) and Jacobians J (k, m, size) of the postures Q (k, size); value (k)."""
    for k in range(Q.shape[0]):
        value[k] = jacobian(I, F, scratch, T[k], Q[k], rho[k], J[k])
