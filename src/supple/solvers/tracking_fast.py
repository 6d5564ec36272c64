"""The optimal tracking method on its own feasible set: the same optimum, hundreds of times sooner.

**Why it is the same point.** The equations ``Φ(x) = 0`` of a tree of joints are solved by ``x = x(q)``, q the joint values, and the
columns of ``R = ∂x/∂q`` span the null space of Φ_x. So the paper's programme restricted to ``Φ_x Δ = 0`` is one in p,
``Δ = R p``, with the matrix ``RᵀHR`` and the gradient ``Rᵀg``: what markers, linear in x, see of a relative velocity p. Multipliers
of tree equations never appear, redundant or not, and x(q + p) obeys them to the last digit. What is left as equations are the
gaps c(q) of closed loops and of what is held exactly,

    minimise ½ pᵀ(RᵀHR + K)p + gᵀR p    subject to  c + C p = 0,  n·(r + J p) ≥ d,  lower ≤ q + p ≤ upper,            (a)

and limits and half-spaces come in as they are. A point is stationary for (a) if and only if it is for the paper's (13).

**Curvature.** The paper's H leaves out the curvature of Φ, so its steps converge linearly, the slower the larger the errors of
the markers. Differentiating ``Φ(x(q)) = 0`` twice gives ``λᵀΦ_xx[R, R] = g · ∂²x/∂q²`` at a stationary point: the curvature of the
Lagrangian is K, the forces of markers and gaps on how points move at second order. With it convergence is quadratic.
The diagonal is raised in proportion to the distance from the optimum, which keeps that rate and still picks one step where
markers leave a coordinate open; where the matrix is not positive definite even so, K is left out for that step.

**Structure.** A marker leaves a 6 × 6 matrix with its body; summed over subtrees these give the matrix of (a), entries between
different branches staying zero (`tree`). Everything is done in the loop below, compiled, without a sparse factorisation.

**Steps.** *merit*: whole steps, halved while ``½ΨᵀWΨ + σ‖c‖₁`` does not fall below its largest value of the last steps, then damped.
*maxmin*: along the curve x(q + αp) the cost is, to second order, the parabola of (a) and ``‖c‖`` linear; both are least at α = 1, so
it takes whole steps.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from supple.carry import term_count, term_of
from supple.compiled import entry, leaf, stage
from supple.curvature import add_tree_stiffness
from supple.effectors import Direction, Point
from supple.packing import flat_floats, flat_ints
from supple.solvers.dual_active_set import Programme, minimise, programme
from supple.solvers.factors import factor
from supple.solvers.trial import Trial
from supple.space import HERE, Floats
from supple.tree import LANES, WORLD, padded, place, read_tree, slopes, steer, sum_stiffness
from supple.wrench import curve

ITERATIONS, VIOLATION, STEP, CONVERGED, COST = range(5)
FLOOR = 1e-10  # of the largest diagonal entry: what keeps unseen coordinates where they are
NEARNESS = 1.0  # damping for every metre that the optimum is away
BENT = 0.01  # the damping up to which curvature is kept that is not definite without
HALVINGS = 4
MEMORY = 3  # steps whose merit a new one is measured by


class Given(NamedTuple):
    """What stays the same from frame to frame."""

    at: Any  # (items) row of the world table: markers, then ends of gaps, then points with a half-space
    local: Any  # (items, 4) where in that row; 1 for a point, 0 for a direction
    gap: Any  # (gaps, 2) items whose difference must vanish; the second −1: a target instead
    plane: Any  # (half-spaces, 4) normal and distance
    angle: Any  # (driven) coordinates
    stiffness: Any  # (driven) their weights, infinite: exactly
    A: Any  # (rows, n) linear limits A q ≤ b
    b: Any  # (rows)
    lower: Any  # (n)
    upper: Any  # (n)


class Asked(NamedTuple):
    """What is measured, frame by frame."""

    position: Any  # (frames, markers, 3)
    weight: Any  # (frames, markers)
    hold: Any  # (frames, held, 3) NaN: not held
    value: Any  # (frames, driven) NaN: not driven


class Bench(NamedTuple):
    """Scratch."""

    theta: Any
    slope: Any
    bend: Any
    along: Any
    sine: Any
    cosine: Any
    world: Any
    wrench: Any
    stiff: Any
    push: Any
    stack: Any
    line: Any
    spot: Any  # (items, 3) where items are
    force: Any  # (items, 3) on them
    H: Any  # (n, n)
    trial: Any  # (n)
    past: Any  # (MEMORY, 2) cost and ‖c‖₁ of the last steps
    kind: Any  # (rows of the programme) gap and component, or −1
    pull: Any  # (gaps, 3) prices of the gaps
    lean: Any  # (half-spaces) prices of the half-spaces
    firm: Any  # (n) prices of the bounds


@leaf
def look(tree: Any, given: Any, q: Any, work: Any) -> None:
    """Where everything is at q."""
    steer(tree, q, work.theta, work.slope, work.bend)
    place(tree, work.theta, work.along, work.sine, work.cosine, work.world)
    for k in range(given.at.shape[0]):
        r = given.at[k]
        for i in range(3):
            s = given.local[k, 3] * work.world[r, 9 + i]
            for j in range(3):
                s += work.world[r, 3 * i + j] * given.local[k, j]
            work.spot[k, i] = s


@leaf
def gap_of(given: Any, asked: Any, frame: int, work: Any, k: int, i: int) -> float:
    """Component i of gap k; NaN if there is none in this frame."""
    a, b = given.gap[k, 0], given.gap[k, 1]
    if b >= 0:
        return work.spot[a, i] - work.spot[b, i]
    return work.spot[a, i] - asked.hold[frame, -1 - b, i]


@leaf
def measure(given: Any, asked: Any, frame: int, q: Any, work: Any) -> Any:
    """Cost, sum and square sum of all violations at the postures last looked at; the markers' forces go to work."""
    f, total, square = 0.0, 0.0, 0.0
    for k in range(asked.weight.shape[1]):
        w = asked.weight[frame, k]
        for i in range(3):
            e = work.spot[k, i] - asked.position[frame, k, i]
            work.force[k, i] = w * e
            f += 0.5 * w * e * e
    for k in range(given.gap.shape[0]):
        for i in range(3):
            c = abs(gap_of(given, asked, frame, work, k, i))
            if c == c:
                total += c
                square += c * c
    first = given.at.shape[0] - given.plane.shape[0]
    for k in range(given.plane.shape[0]):
        s = given.plane[k, 3]
        for i in range(3):
            s -= given.plane[k, i] * work.spot[first + k, i]
        total += max(s, 0.0)
        square += max(s, 0.0) ** 2
    for k in range(given.angle.shape[0]):
        e, w = q[given.angle[k]] - asked.value[frame, k], given.stiffness[k]
        if e == e and w < math.inf:
            f += 0.5 * w * e * e
        elif e == e:
            total += abs(e)
            square += e * e
    return f, total, square


@leaf
def add_motion(tree: Any, given: Any, work: Any, item: int, i: int, factor: float, line: Any) -> None:
    """Add how component i of an item moves with q, times a factor."""
    x, y, h = work.spot[item, (i + 1) % 3], work.spot[item, (i + 2) % 3], given.local[item, 3]
    r = given.at[item]
    while r > 0:
        j = r - 1
        s = work.world[r, 12 + (i + 1) % 3] * y - work.world[r, 12 + (i + 2) % 3] * x + h * work.world[r, 15 + i]
        for t in range(max(term_count(tree, j), 1)):
            k, slope = term_of(tree, work, j, t)
            line[k] += factor * slope * s
        r = tree.parent[j]


@leaf
def write_rows(tree: Any, given: Any, asked: Any, frame: int, q: Any, limited: int, work: Any, P: Any) -> Any:
    """The rows of (a): gaps and exact angles, then half-spaces and linear limits; their number, and that of the first."""
    n, row, gaps = q.shape[0], 0, given.gap.shape[0]
    for k in range(P.C.shape[0]):
        work.kind[k] = -1
        for i in range(n):
            P.C[k, i] = 0.0
    for k in range(gaps):
        for i in range(3):
            c = gap_of(given, asked, frame, work, k, i)
            if c == c:
                P.c[row], work.kind[row] = -c, 3 * k + i
                add_motion(tree, given, work, given.gap[k, 0], i, 1.0, P.C[row])
                if given.gap[k, 1] >= 0:
                    add_motion(tree, given, work, given.gap[k, 1], i, -1.0, P.C[row])
                row += 1
    for k in range(given.angle.shape[0]):
        e = asked.value[frame, k] - q[given.angle[k]]
        if e == e and given.stiffness[k] == math.inf:
            P.c[row], P.C[row, given.angle[k]] = e, 1.0
            row += 1
    equalities, first = row, given.at.shape[0] - given.plane.shape[0]
    for k in range(given.plane.shape[0]):
        P.c[row], work.kind[row] = given.plane[k, 3], 3 * gaps + k
        for i in range(3):
            P.c[row] -= given.plane[k, i] * work.spot[first + k, i]
            add_motion(tree, given, work, first + k, i, given.plane[k, i], P.C[row])
        row += 1
    for k in range(given.b.shape[0] if limited != 0 else 0):
        P.c[row] = -given.b[k]
        for i in range(n):
            P.C[row, i] = -given.A[k, i]
            P.c[row] += given.A[k, i] * q[i]
        row += 1
    for i in range(n):
        P.lower[i], P.upper[i] = given.lower[i] - q[i], given.upper[i] - q[i]
    return row, equalities


@leaf
def pull_back(given: Any, work: Any) -> None:
    """The prices of gaps and half-spaces as forces on their items."""
    markers = given.at.shape[0] - given.plane.shape[0]
    for k in range(given.gap.shape[0]):
        markers = min(markers, given.gap[k, 0])
    for k in range(markers, given.at.shape[0]):
        for i in range(3):
            work.force[k, i] = 0.0
    for k in range(given.gap.shape[0]):
        for i in range(3):
            work.force[given.gap[k, 0], i] -= work.pull[k, i]
            if given.gap[k, 1] >= 0:
                work.force[given.gap[k, 1], i] += work.pull[k, i]
    first = given.at.shape[0] - given.plane.shape[0]
    for k in range(given.plane.shape[0]):
        for i in range(3):
            work.force[first + k, i] -= work.lean[k] * given.plane[k, i]


@leaf
def marker_stiffness(w: float, r: Any, B: Any) -> None:
    """Add ``w GᵀG``, ``G = (−[r]×, I)``, to B."""
    x, y, z = r[0], r[1], r[2]
    square = x * x + y * y + z * z
    for i in range(3):
        for j in range(3):
            B[6 * i + j] -= w * r[i] * r[j]
        B[7 * i] += w * square
        B[21 + 7 * i] += w
    B[4] -= w * z
    B[5] += w * y
    B[9] += w * z
    B[11] -= w * x
    B[15] -= w * y
    B[16] += w * x
    B[19] += w * z
    B[20] -= w * y
    B[24] -= w * z
    B[26] += w * x
    B[30] += w * y
    B[31] -= w * x


@stage
def derive(I: Any, F: Any, given: Any, asked: Any, frame: int, q: Any, curved: int, work: Any, g: Any) -> float:
    """Gradient and matrix of the programme at the posture last looked at; its largest diagonal entry."""
    tree, _, _ = read_tree(I, F)
    n, markers = q.shape[0], asked.weight.shape[1]
    for r in range(work.stiff.shape[0]):
        for k in range(6):
            work.wrench[r, k] = 0.0
        for k in range(36):
            work.stiff[r, k] = 0.0
    for k in range(markers):
        if asked.weight[frame, k] > 0.0:
            r, f, w = work.spot[k], work.force[k], work.wrench[given.at[k]]
            w[0] += r[1] * f[2] - r[2] * f[1]
            w[1] += r[2] * f[0] - r[0] * f[2]
            w[2] += r[0] * f[1] - r[1] * f[0]
            w[3] += f[0]
            w[4] += f[1]
            w[5] += f[2]
            marker_stiffness(asked.weight[frame, k], r, work.stiff[given.at[k]])
    if curved != 0:
        for k in range(given.at.shape[0]):
            if given.local[k, 3] != 0.0:
                curve(work.spot[k], work.force[k], 0, 1, work.stiff[given.at[k]])
            else:
                turn_only(work.spot[k], work.force[k], work.stiff[given.at[k]])
    slopes(tree, work.world, work.wrench, work.along)
    for i in range(n):
        g[i] = 0.0
        for j in range(n):
            work.H[i, j] = 0.0
    for j in range(tree.parent.shape[0]):
        for t in range(max(term_count(tree, j), 1)):
            k, slope = term_of(tree, work, j, t)
            g[k] += slope * work.along[j]
            if tree.coordinate[j] < 0 and curved != 0:
                work.H[k, k] += work.bend[tree.first[-1 - tree.coordinate[j]] + t] * work.along[j]
    sum_stiffness(tree, work.stiff)
    add_tree_stiffness(tree, work, work.H)
    for k in range(given.angle.shape[0]):
        i, w = given.angle[k], given.stiffness[k]
        e = q[i] - asked.value[frame, k]
        if e == e and w < math.inf:
            g[i] += w * e
            work.H[i, i] += w
    largest = 1e-300
    for i in range(n):
        largest = max(largest, abs(work.H[i, i]))
    return largest


@leaf
def turn_only(u: Any, f: Any, B: Any) -> None:
    """The curvature of a force on a direction: ``B_ωω += u fᵀ − (u·f) I``."""
    s = u[0] * f[0] + u[1] * f[1] + u[2] * f[2]
    for i in range(3):
        for j in range(3):
            B[6 * i + j] += u[i] * f[j]
        B[7 * i] -= s


@leaf
def shifted(work: Any, R: Any, damping: float, shift: float) -> bool:
    """Factor ``H + damping diag |H| + shift I`` into R; False if that is not positive definite."""
    n = R.shape[0]
    for i in range(n):
        for j in range(n):
            R[i, j] = work.H[i, j]
        R[i, i] += damping * abs(work.H[i, i]) + shift
    return factor(R, n) == n


@leaf
def keep_prices(given: Any, work: Any, P: Any, rows: int) -> float:
    """The prices of gaps and half-spaces, for the next curvature; returns the largest price of all rows."""
    gaps, largest = given.gap.shape[0], 0.0
    for k in range(gaps):
        for i in range(3):
            work.pull[k, i] = 0.0
    for r in range(rows):
        k = work.kind[r]
        largest = max(largest, abs(P.price[r]))
        if k >= 3 * gaps:
            work.lean[k - 3 * gaps] = P.price[r]
        elif k >= 0:
            work.pull[k // 3, k % 3] = P.price[r]
    return largest


@leaf
def firm_up(work: Any, P: Any, equalities: int, largest: float) -> None:
    """Stiffen what cannot move anyway: ``ρ CᵀC`` for equalities, ``p_i²`` for coordinates that a limit held last time.

    Where these constraints hold the programme has the same solution, but its matrix is definite if it is so along them.
    """
    n = P.g.shape[0]
    for i in range(n):
        if work.firm[i] != 0.0:
            work.H[i, i] += largest
    for r in range(equalities):
        square = 1e-300
        for i in range(n):
            square += P.C[r, i] * P.C[r, i]
        rho = largest / square
        for i in range(n):
            if P.C[r, i] != 0.0:
                P.g[i] -= rho * P.C[r, i] * P.c[r]
                for j in range(n):
                    work.H[i, j] += rho * P.C[r, i] * P.C[r, j]


@leaf
def distance(asked: Any, frame: int, work: Any, P: Any, rows: int) -> float:
    """How far the optimum is, roughly, as the markers see it [m]: what the last prices leave of the gradient, over the diagonal."""
    n, square, weight = P.g.shape[0], 0.0, 1e-300
    for i in range(n):
        r = P.g[i] - work.firm[i]
        for k in range(rows):
            r -= P.price[k] * P.C[k, i]
        if work.H[i, i] > 0.0:
            square += r * r / work.H[i, i]
    for k in range(asked.weight.shape[1]):
        weight += asked.weight[frame, k]
    return math.sqrt(square / weight)


@stage
def propose(I: Any, F: Any, given: Any, asked: Any, frame: int, q: Any, settings: Any, damping: float, work: Any, P: Any) -> Any:  # fmt: skip
    """The step p of (a) from the posture last looked at; returns the largest price of a row and what the cost is to fall by."""
    tree, _, _ = read_tree(I, F)
    n, limited, curved = q.shape[0], int(settings[4]), int(settings[3])
    pull_back(given, work)
    rows, equalities = write_rows(tree, given, asked, frame, q, limited, work, P)
    largest = derive(I, F, given, asked, frame, q, curved, work, P.g)
    damping += NEARNESS * distance(asked, frame, work, P, rows)
    definite = shifted(work, P.R, damping, FLOOR * largest)
    if not definite and curved != 0:
        firm_up(work, P, equalities, largest)
        raised, k = damping, 0
        while not definite and k < 4 and raised < BENT:
            definite = shifted(work, P.R, raised, FLOOR * largest)
            raised, k = 10.0 * raised, k + 1
    if not definite and curved != 0:
        largest = derive(I, F, given, asked, frame, q, 0, work, P.g)
        definite = shifted(work, P.R, damping, FLOOR * largest)
    while not definite:
        damping = max(10.0 * damping, 1e-8)
        definite = shifted(work, P.R, damping, damping * largest) or damping > 1e3
    minimise(P, rows, equalities, limited)
    for i in range(n):
        work.firm[i] = P.price[rows + i] - P.price[rows + n + i]
    promised = 0.0  # −(gᵀp + ½ pᵀHp), with M p + g the pull of the constraints
    for i in range(n):
        s = P.g[i]
        for j in range(n):
            s += 0.5 * work.H[i, j] * P.p[j]
        promised -= s * P.p[i]
    return keep_prices(given, work, P, rows), promised


@leaf
def next_damping(damping: float, gain: float) -> float:
    """The damping of the next step, by the ratio of true to promised decrease."""
    if gain < 0.25:
        return max(4.0 * damping, 1e-2)
    if gain > 0.75:
        return 0.2 * damping if damping > 1e-4 else 0.0
    return damping


@stage
def follow(I: Any, F: Any, given: Any, asked: Any, frame: int, q: Any, settings: Any, work: Any, P: Any, report: Any) -> None:  # fmt: skip
    """Bring q to the optimum of one frame."""
    tree, _, _ = read_tree(I, F)
    n, tolerance, whole = q.shape[0], settings[0], settings[2] != 0.0
    if settings[4] != 0.0:
        for i in range(n):
            q[i] = min(max(q[i], given.lower[i]), given.upper[i])
    look(tree, given, q, work)
    f, total, square = measure(given, asked, frame, q, work)
    damping, sigma, k, moved = 0.0, 0.0, 0, math.inf
    for m in range(MEMORY):
        work.past[m, 0], work.past[m, 1] = f, total
    while k < int(settings[1]) and not (math.sqrt(square) < tolerance and moved < tolerance):
        price, promised = propose(I, F, given, asked, frame, q, settings, damping, work, P)
        sigma = max(sigma, 2.0 * price)
        bar, size = f + sigma * total, 0.0
        for m in range(MEMORY if given.gap.shape[0] > 0 else 0):
            bar = max(bar, work.past[m, 0] + sigma * work.past[m, 1])
        for i in range(n):
            size += P.p[i] * P.p[i]
        size, alpha, accepted = math.sqrt(size), 1.0, False
        for _ in range(HALVINGS):
            for i in range(n):
                work.trial[i] = q[i] + alpha * P.p[i]
                if settings[4] != 0.0:
                    work.trial[i] = min(max(work.trial[i], given.lower[i]), given.upper[i])
            look(tree, given, work.trial, work)
            f_new, total_new, square_new = measure(given, asked, frame, work.trial, work)
            tiny = size < 1e-5 and total_new <= total + 1e-9
            accepted = whole or f_new + sigma * total_new < bar or tiny
            if accepted:
                break
            alpha *= 0.5
        k += 1
        if accepted:
            if not whole and total + total_new == 0.0:
                damping = next_damping(damping, (f - f_new) / max(promised, 1e-300) if size > 1e-5 else 1.0)
            moved, f, total, square = alpha * size, f_new, total_new, square_new
            for i in range(n):
                q[i] = work.trial[i]
            work.past[k % MEMORY, 0], work.past[k % MEMORY, 1] = f, total
        else:
            damping = max(10.0 * damping, 1e-2)
            look(tree, given, q, work)
            measure(given, asked, frame, q, work)
    report[ITERATIONS], report[VIOLATION], report[STEP], report[COST] = k, math.sqrt(square), moved, f
    report[CONVERGED] = 1.0 if math.sqrt(square) < tolerance and moved < tolerance else 0.0


@entry
def track_entry(I: Any, F: Any, given: Any, asked: Any, Q: Any, settings: Any, work: Any, P: Any, report: Any) -> None:
    """Track all frames: row 0 of Q is the start on entry, every other frame starts from the one before."""
    for k in range(Q.shape[0]):
        for i in range(Q.shape[1] if k > 0 else 0):
            Q[k, i] = Q[k - 1, i]
        follow(I, F, given, asked, k, Q[k], settings, work, P, report[k])


def _items(trial: Trial) -> tuple[np.ndarray, Floats, np.ndarray]:
    """Rows and places of all items, and the gaps between them."""
    packed, at, local, gap = trial.figure.packed, [], [], []

    def add(segment: str, place: Floats, point: float) -> int:
        at.append(packed.row[segment])
        frame = packed.frame[segment]
        local.append([*(frame[:3, :3] @ place + point * frame[:3, 3]), point])
        return len(at) - 1

    for marker in trial.points:
        add(marker.segment, np.array(marker.offset), 1.0)
    for loop in trial.figure.loops:
        ends = ((loop.a, loop.at_a), (loop.b, loop.at_b))
        gap.append([add(s, T[:3, 3], 1.0) for s, T in ends])
        gap += [[add(s, T[:3, i], 0.0) for s, T in ends] for i in range(0 if loop.point else 2)]
    for k, held in enumerate(trial.held):
        e = held.effector
        is_point = isinstance(e, Point)
        gap.append([add(e.segment, np.array(e.offset if is_point else e.axis), float(is_point)), -1 - k])
    for point, _ in trial.beyond:
        add(point.segment, np.array(point.offset), 1.0)
    return np.array(at, dtype=np.int64), np.array(local).reshape(-1, 4), np.array(gap, dtype=np.int64).reshape(-1, 2)


def _given(trial: Trial) -> Given:
    at, local, gap = _items(trial)
    limits, joints = trial.figure.limits, trial.figure.joints
    plane = np.array([[*side.normal, side.normal @ side.point] for _, side in trial.beyond]).reshape(-1, 4)
    angle = np.array([joints.index(a.coordinate) for a in trial.driven], dtype=np.int64)
    stiffness = np.array([a.weight for a in trial.driven], dtype=float)
    return Given(at, local, gap, plane, angle, stiffness, np.array(limits.A), np.array(limits.b),
                 np.array(limits.lower), np.array(limits.upper))  # fmt: skip


def _bench(trial: Trial, given: Given, rows: int) -> Bench:
    packed = trial.figure.packed
    n, joints, t, items = packed.size, packed.count, packed.terms, len(given.at)
    room, deep = padded(joints), padded(joints) + LANES
    world = np.zeros((joints + 1, WORLD))
    world[0, [0, 4, 8]] = 1.0
    return Bench(
        np.zeros(joints), np.zeros(t), np.zeros(t), np.zeros(room), np.zeros(room), np.zeros(room), world,
        np.zeros((joints + 1, 6)), np.zeros((joints + 1, 36)), np.zeros((1, 6)), np.zeros((7, deep)), np.zeros(deep),
        np.zeros((items, 3)), np.zeros((items, 3)), np.zeros((n, n)), np.zeros(n), np.zeros((MEMORY, 2)),
        np.zeros(rows, dtype=np.int64), np.zeros((len(given.gap), 3)), np.zeros(len(given.plane)), np.zeros(n),
    )  # fmt: skip


def track(trial: Trial, settings: Floats) -> tuple[Floats, Floats]:
    """Postures (frames, size) and a report (frames, 5) of each."""
    given = _given(trial)
    rows = 3 * len(given.gap) + len(given.angle) + len(given.plane) + len(given.b)
    work, P = _bench(trial, given, rows), programme(trial.figure.size, rows)
    asked = Asked(trial.positions, trial.weights, trial.holds, trial.values)
    Q, report = np.zeros((trial.frames, trial.figure.size)), np.zeros((trial.frames, 5))
    Q[:1] = trial.start
    packed = trial.figure.packed
    track_entry(flat_ints(packed.ints), flat_floats(packed.floats), given, asked, Q, settings, work, P, report)
    return Q, report
