"""One frame: the posture whose markers lie nearest to where they were seen, inside limits, with loops closed.

Minimise over ``l ≤ q ≤ h``, with ``c(q) = 0`` for what is pinned,

    f(q) = ½ Σ_k w_k |p_k(q) − d_k|² + ½ Σ_i h_i (q_i − r_i)²,

p_k the place of marker k, d_k where it was seen (w_k = 0 where it was not), and h, r a posture to keep near to. A
marker that is further off than `huber` counts as an outlier, with the weight ``w huber/|p − d|`` (Huber's loss).

**The step** of Gauss–Newton, damped by λ, is found without a matrix. All markers of a link act on its twist v through
one wrench and one 6 × 6 matrix (points p with forces ``f = w (p − d)``, in world axes about the world's origin),

    P = Σ (p × f, f),    A = Σ w [[|p|² I − p pᵀ, [p]×], [[p]×ᵀ, I]],

and a step dq moves the link by ``v = v_above + Σ_a ξ_a dq_a``. So the model ``½ Σ vᵀA v + Σ Pᵀv + ½ Σ (λ + h) dq²``
is that of a tree of rigid bodies, and eliminating one axis after the other from the leaves to the root, as
articulated-body dynamics does, solves it:

    U = A ξ,   D = ξᵀU + λ + h,   u = r − ξᵀP;   A ← A − U Uᵀ/D,   P ← P + U u/D;
    then from the root   dq = (u − Uᵀv)/D,   v ← v + ξ dq,

where r is the slope of what is not a marker. The cost grows with joints and markers, not with their product. Axes at
a limit against which the slope presses are left out; those that would cross one are put on it, ``P ← P + U dq``, and
the others solved for again. Pins add multipliers: ``C dq = −c`` by the small matrix ``C H⁻¹Cᵀ``, one more pass for
each of its rows.

**Damping.** Figures are often redundant: several joints between two segments with markers. Along what the markers do
not tell, the curvature that Gauss–Newton leaves out has the size of the misfit and either sign, and its steps
overshoot unless λ is as large; ``λ = κ f`` is. κ is raised when a step does not lower ``f + σ |c|₁`` and eased from
frame to frame. The loop ends with a step that promises no more than the share `tolerance` of f, or would with the usual κ.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import leaf, stage
from supple.kernels.layouts import COORDINATES
from supple.kernels.scratch import clear
from supple.kernels.tree import open_tree, place, steer
from supple.motion.tracking.rig import PINS, WORLD_PIN, open_rig, read_bench

STEPS, TOLERANCE, HUBER, LIMITED = range(4)  # settings
ITERATIONS, VALUE, OPEN, ENDED = range(4)  # what is told of a frame
CONVERGED, SPENT, STUCK = range(3)  # how it ended
TOLD = 4
FLOOR = 1e-12  # [m²] λ at least, for markers of weight 1
SETTLED = 1e-24  # [m²] a value that counts as none
KAPPA = 0.5  # κ to begin with
GREATEST = 1e12  # κ with which nothing moves
TURNS = 4  # times that a step is solved for, each time with the limits that the last one met
CLOSED = 1e-9  # [m] how far pins may be open, all together
SOFT = 1e-12  # of the size of ``C H⁻¹ Cᵀ``: what lets redundant pins be


@leaf
def carried(world: Any, r: int, x: float, y: float, z: float) -> Any:
    """Where a point of row r is."""
    return (
        world[r, 9] + world[r, 0] * x + world[r, 1] * y + world[r, 2] * z,
        world[r, 10] + world[r, 3] * x + world[r, 4] * y + world[r, 5] * z,
        world[r, 11] + world[r, 6] * x + world[r, 7] * y + world[r, 8] * z,
    )


@leaf
def observe_pins(rig: Any, bench: Any, D: Any, W: Any) -> float:
    """Where the ends of pins are, and how far apart, all together."""
    total = 0.0
    for k in range(rig.pin.shape[0]):
        for e in range(2):
            r, s = rig.pin[k, e], 3 * e
            if r == WORLD_PIN:
                x, y, z = D[rig.pin[k, 2], 0], D[rig.pin[k, 2], 1], D[rig.pin[k, 2], 2]
            else:
                x, y, z = carried(bench.world, rig.row[r], rig.pin_at[k, s], rig.pin_at[k, s + 1], rig.pin_at[k, s + 2])
            bench.end[k, s], bench.end[k, s + 1], bench.end[k, s + 2] = x, y, z
        idle = rig.pin[k, 1] == WORLD_PIN and not W[rig.pin[k, 2]] > 0.0
        for i in range(3):
            bench.gap[3 * k + i] = 0.0 if idle else bench.end[k, i] - bench.end[k, 3 + i]
            total += abs(bench.gap[3 * k + i])
    return total


@leaf
def observe(tree: Any, rig: Any, bench: Any, q: Any, D: Any, W: Any, near: Any, huber: float) -> float:
    """Where everything is at q: places and forces of markers; returns f."""
    steer(tree, q, bench.theta, bench.slope, bench.bend)
    place(tree, bench.theta, bench.along, bench.sine, bench.cosine, bench.world)
    f = 0.0
    for k in range(rig.link.shape[0]):
        w = W[k]
        x, y, z = carried(bench.world, rig.row[rig.link[k]], rig.at[k, 0], rig.at[k, 1], rig.at[k, 2])
        bench.place[k, 0], bench.place[k, 1], bench.place[k, 2] = x, y, z
        if w > 0.0:
            x, y, z = x - D[k, 0], y - D[k, 1], z - D[k, 2]
            square = x * x + y * y + z * z
            if square > huber * huber:
                off = math.sqrt(square)
                f += w * huber * (off - 0.5 * huber)
                w *= huber / off
            else:
                f += 0.5 * w * square
        else:
            x, y, z = 0.0, 0.0, 0.0
        bench.weight[k] = w
        bench.force[k, 0], bench.force[k, 1], bench.force[k, 2] = w * x, w * y, w * z
    for i in range(q.shape[0]):
        e = q[i] - near[1, i]
        f += 0.5 * near[0, i] * e * e
    return f


@leaf
def load(rig: Any, bench: Any) -> None:
    """The wrench P of the markers of each link, and the twist of each axis."""
    clear(bench.pull)
    for k in range(rig.link.shape[0]):
        x, y, z = bench.place[k, 0], bench.place[k, 1], bench.place[k, 2]
        f0, f1, f2 = bench.force[k, 0], bench.force[k, 1], bench.force[k, 2]
        l = rig.link[k]
        bench.pull[l, 0] += y * f2 - z * f1
        bench.pull[l, 1] += z * f0 - x * f2
        bench.pull[l, 2] += x * f1 - y * f0
        bench.pull[l, 3] += f0
        bench.pull[l, 4] += f1
        bench.pull[l, 5] += f2
    for a in range(rig.axis.shape[0]):
        for i in range(6):
            bench.twist[a, i] = 0.0
        for t in range(rig.begin[a], rig.begin[a + 1]):
            r, d = rig.term[t, 0], rig.term[t, 1]
            s = bench.slope[d] if d >= 0 else 1.0
            for i in range(6):
                bench.twist[a, i] += s * bench.world[r, 12 + i]


@leaf
def find_slopes(rig: Any, bench: Any, q: Any, near: Any) -> None:
    """The gradient of f, by coordinate."""
    for l in range(rig.up.shape[0]):
        for i in range(6):
            bench.push[l, i] = bench.pull[l, i]
    for l in range(rig.up.shape[0] - 1, 0, -1):
        for a in range(rig.first[l], rig.first[l + 1]):
            s = 0.0
            for i in range(6):
                s += bench.twist[a, i] * bench.push[l, i]
            k = rig.axis[a]
            bench.g[k] = s + near[0, k] * (q[k] - near[1, k])
        for i in range(6):
            bench.push[rig.up[l], i] += bench.push[l, i]


@leaf
def weigh(rig: Any, bench: Any) -> None:
    """A of each link's own markers."""
    clear(bench.inertia)
    for k in range(rig.link.shape[0]):
        w, l, A = bench.weight[k], rig.link[k], bench.inertia
        if w > 0.0:
            x, y, z = bench.place[k, 0], bench.place[k, 1], bench.place[k, 2]
            a, b, c = w * x, w * y, w * z
            A[l, 0] += b * y + c * z
            A[l, 1] -= a * y
            A[l, 2] -= a * z
            A[l, 4] -= c
            A[l, 5] += b
            A[l, 6] += a * x + c * z
            A[l, 7] -= b * z
            A[l, 8] += c
            A[l, 10] -= a
            A[l, 11] += a * x + b * y
            A[l, 12] -= b
            A[l, 13] += a
            A[l, 15] += w
            A[l, 18] += w
            A[l, 20] += w


@leaf
def eliminate(rig: Any, bench: Any, near: Any, damping: float) -> None:
    """U and 1/D of every axis that moves, from the leaves to the root."""
    weigh(rig, bench)
    A = bench.inertia
    for l in range(rig.up.shape[0] - 1, 0, -1):
        a00, a01, a02, a03, a04, a05 = A[l, 0], A[l, 1], A[l, 2], A[l, 3], A[l, 4], A[l, 5]
        a11, a12, a13, a14, a15 = A[l, 6], A[l, 7], A[l, 8], A[l, 9], A[l, 10]
        a22, a23, a24, a25 = A[l, 11], A[l, 12], A[l, 13], A[l, 14]
        a33, a34, a35, a44, a45, a55 = A[l, 15], A[l, 16], A[l, 17], A[l, 18], A[l, 19], A[l, 20]
        for back in range(rig.first[l + 1] - rig.first[l]):
            a = rig.first[l + 1] - 1 - back
            t0, t1, t2 = bench.twist[a, 0], bench.twist[a, 1], bench.twist[a, 2]
            t3, t4, t5 = bench.twist[a, 3], bench.twist[a, 4], bench.twist[a, 5]
            u0 = a00 * t0 + a01 * t1 + a02 * t2 + a03 * t3 + a04 * t4 + a05 * t5
            u1 = a01 * t0 + a11 * t1 + a12 * t2 + a13 * t3 + a14 * t4 + a15 * t5
            u2 = a02 * t0 + a12 * t1 + a22 * t2 + a23 * t3 + a24 * t4 + a25 * t5
            u3 = a03 * t0 + a13 * t1 + a23 * t2 + a33 * t3 + a34 * t4 + a35 * t5
            u4 = a04 * t0 + a14 * t1 + a24 * t2 + a34 * t3 + a44 * t4 + a45 * t5
            u5 = a05 * t0 + a15 * t1 + a25 * t2 + a35 * t3 + a45 * t4 + a55 * t5
            bench.lean[a, 0], bench.lean[a, 1], bench.lean[a, 2] = u0, u1, u2
            bench.lean[a, 3], bench.lean[a, 4], bench.lean[a, 5] = u3, u4, u5
            if bench.held[rig.axis[a]] != 0.0:
                continue
            D = t0 * u0 + t1 * u1 + t2 * u2 + t3 * u3 + t4 * u4 + t5 * u5 + damping + near[0, rig.axis[a]]
            e = 1.0 / D
            bench.ease[a] = e
            s0, s1, s2, s3, s4, s5 = e * u0, e * u1, e * u2, e * u3, e * u4, e * u5
            a00, a01, a02 = a00 - s0 * u0, a01 - s0 * u1, a02 - s0 * u2
            a03, a04, a05 = a03 - s0 * u3, a04 - s0 * u4, a05 - s0 * u5
            a11, a12, a13 = a11 - s1 * u1, a12 - s1 * u2, a13 - s1 * u3
            a14, a15, a22 = a14 - s1 * u4, a15 - s1 * u5, a22 - s2 * u2
            a23, a24, a25 = a23 - s2 * u3, a24 - s2 * u4, a25 - s2 * u5
            a33, a34, a35 = a33 - s3 * u3, a34 - s3 * u4, a35 - s3 * u5
            a44, a45, a55 = a44 - s4 * u4, a45 - s4 * u5, a55 - s5 * u5
        b = rig.up[l]
        A[b, 0], A[b, 1], A[b, 2] = A[b, 0] + a00, A[b, 1] + a01, A[b, 2] + a02
        A[b, 3], A[b, 4], A[b, 5] = A[b, 3] + a03, A[b, 4] + a04, A[b, 5] + a05
        A[b, 6], A[b, 7], A[b, 8] = A[b, 6] + a11, A[b, 7] + a12, A[b, 8] + a13
        A[b, 9], A[b, 10], A[b, 11] = A[b, 9] + a14, A[b, 10] + a15, A[b, 11] + a22
        A[b, 12], A[b, 13], A[b, 14] = A[b, 12] + a23, A[b, 13] + a24, A[b, 14] + a25
        A[b, 15], A[b, 16], A[b, 17] = A[b, 15] + a33, A[b, 16] + a34, A[b, 17] + a35
        A[b, 18], A[b, 19], A[b, 20] = A[b, 18] + a44, A[b, 19] + a45, A[b, 20] + a55


@leaf
def back_substitute(rig: Any, bench: Any, r: Any, x: Any, moved: float) -> float:
    """Solve for x (n) with the slopes −r and the wrenches ``bench.push``; what is held moves by `moved` · x.

    Returns how much lower the model is at the answer.
    """
    P, v, gain = bench.push, bench.move, 0.0
    for l in range(rig.up.shape[0] - 1, 0, -1):
        p0, p1, p2, p3, p4, p5 = P[l, 0], P[l, 1], P[l, 2], P[l, 3], P[l, 4], P[l, 5]
        for back in range(rig.first[l + 1] - rig.first[l]):
            a = rig.first[l + 1] - 1 - back
            k, U, t = rig.axis[a], bench.lean, bench.twist
            if bench.held[k] != 0.0:
                e = moved * x[k]
            else:
                u = r[k] - (t[a, 0] * p0 + t[a, 1] * p1 + t[a, 2] * p2 + t[a, 3] * p3 + t[a, 4] * p4 + t[a, 5] * p5)
                bench.left[a] = u
                e = bench.ease[a] * u
                gain += e * u
            p0, p1, p2 = p0 + e * U[a, 0], p1 + e * U[a, 1], p2 + e * U[a, 2]
            p3, p4, p5 = p3 + e * U[a, 3], p4 + e * U[a, 4], p5 + e * U[a, 5]
        b = rig.up[l]
        P[b, 0], P[b, 1], P[b, 2] = P[b, 0] + p0, P[b, 1] + p1, P[b, 2] + p2
        P[b, 3], P[b, 4], P[b, 5] = P[b, 3] + p3, P[b, 4] + p4, P[b, 5] + p5
    for i in range(6):
        v[0, i] = 0.0
    for l in range(1, rig.up.shape[0]):
        b = rig.up[l]
        v0, v1, v2, v3, v4, v5 = v[b, 0], v[b, 1], v[b, 2], v[b, 3], v[b, 4], v[b, 5]
        for a in range(rig.first[l], rig.first[l + 1]):
            k, U, t = rig.axis[a], bench.lean, bench.twist
            if bench.held[k] != 0.0:
                e = moved * x[k]
            else:
                s = U[a, 0] * v0 + U[a, 1] * v1 + U[a, 2] * v2 + U[a, 3] * v3 + U[a, 4] * v4 + U[a, 5] * v5
                e = bench.ease[a] * (bench.left[a] - s)
            x[k] = e
            v0, v1, v2 = v0 + e * t[a, 0], v1 + e * t[a, 1], v2 + e * t[a, 2]
            v3, v4, v5 = v3 + e * t[a, 3], v4 + e * t[a, 4], v5 + e * t[a, 5]
        v[l, 0], v[l, 1], v[l, 2] = v0, v1, v2
        v[l, 3], v[l, 4], v[l, 5] = v3, v4, v5
    return 0.5 * gain


@leaf
def differentiate_pins(rig: Any, bench: Any, W: Any) -> None:
    """``C = ∂gap/∂q``."""
    clear(bench.C)
    for k in range(rig.pin.shape[0]):
        sign = 1.0
        for e in range(2):
            l = rig.pin[k, e]
            idle = rig.pin[k, 1] == WORLD_PIN and not W[rig.pin[k, 2]] > 0.0
            x, y, z = bench.end[k, 3 * e], bench.end[k, 3 * e + 1], bench.end[k, 3 * e + 2]
            while l > 0 and not idle:
                for a in range(rig.first[l], rig.first[l + 1]):
                    t, i = bench.twist, rig.axis[a]
                    bench.C[3 * k, i] += sign * (t[a, 3] + t[a, 1] * z - t[a, 2] * y)
                    bench.C[3 * k + 1, i] += sign * (t[a, 4] + t[a, 2] * x - t[a, 0] * z)
                    bench.C[3 * k + 2, i] += sign * (t[a, 5] + t[a, 0] * y - t[a, 1] * x)
                l = rig.up[l]
            sign = -1.0


@leaf
def close_pins(rig: Any, bench: Any) -> None:
    """Turn ``bench.step``, the step without pins, into the one that closes them; new multipliers into ``bench.price``.

    ``M π = C dq + c`` with ``M = C H⁻¹Cᵀ``; then ``dq −= H⁻¹Cᵀ π``. M is damped a little, since pins may be
    redundant.
    """
    p, n, size = bench.gap.shape[0], bench.step.shape[0], 0.0
    for a in range(p):
        s = bench.gap[a]
        for i in range(n):
            s += bench.C[a, i] * bench.step[i]
            bench.Y[a, i] = 0.0
        bench.y[a] = s
        clear(bench.push)
        back_substitute(rig, bench, bench.C[a], bench.Y[a], 0.0)
    for a in range(p):
        for b in range(p):
            s = 0.0
            for i in range(n):
                s += bench.C[b, i] * bench.Y[a, i]
            bench.M[a, b] = s
        size += bench.M[a, a]
    for a in range(p):
        bench.M[a, a] += SOFT * size + 1e-300
    for a in range(p):  # Gaussian elimination of a positive definite matrix
        for b in range(a + 1, p):
            s = bench.M[b, a] / bench.M[a, a]
            bench.y[b] -= s * bench.y[a]
            for c in range(a + 1, p):
                bench.M[b, c] -= s * bench.M[a, c]
    for a in range(p - 1, -1, -1):
        for b in range(a + 1, p):
            bench.y[a] -= bench.M[a, b] * bench.y[b]
        bench.y[a] /= bench.M[a, a]
    for a in range(p):
        bench.price[a] = bench.y[a]
        for i in range(n):
            bench.step[i] -= bench.Y[a, i] * bench.y[a]


@leaf
def propose(rig: Any, bench: Any, q: Any, near: Any, damping: float, limited: bool) -> float:
    """The trial: the minimum of the model inside the limits. Returns how much lower the model is there."""
    n, hits, gain = q.shape[0], 1, 0.0
    for i in range(n):
        pressed = limited and (
            (q[i] <= rig.lower[i] and bench.g[i] > 0.0) or (q[i] >= rig.upper[i] and bench.g[i] < 0.0)
        )
        bench.held[i] = 1.0 if pressed else 0.0
        bench.step[i] = 0.0
    for turn in range(TURNS):
        if hits == 0:
            break
        eliminate(rig, bench, near, damping)
        for l in range(rig.up.shape[0]):
            for i in range(6):
                bench.push[l, i] = bench.pull[l, i]
        for i in range(n):
            bench.rest[i] = -near[0, i] * (q[i] - near[1, i])
        gain = back_substitute(rig, bench, bench.rest, bench.step, 1.0)
        if bench.gap.shape[0] > 0:
            close_pins(rig, bench)
            gain = 0.0
            for i in range(n):
                gain -= 0.5 * bench.g[i] * bench.step[i]
            gain = abs(gain)
        hits = 0
        for i in range(n):
            x = q[i] + bench.step[i]
            bench.trial[i] = min(max(x, rig.lower[i]), rig.upper[i])
            if bench.held[i] == 0.0 and bench.trial[i] != x and turn < TURNS - 1:
                bench.held[i] = 2.0
                bench.step[i] = bench.trial[i] - q[i]
                hits += 1
    return gain


@leaf
def dearest(bench: Any) -> float:
    """The largest multiplier."""
    s = 0.0
    for a in range(bench.price.shape[0]):
        s = max(s, abs(bench.price[a]))
    return s


@stage
def fit_frame(I: Any, F: Any, memory: Any, D: Any, W: Any, near: Any, q: Any, settings: Any, told: Any) -> None:
    """Descend from q in place; `told` says how it went. Places of markers are left in the scratch, and κ."""
    tree = open_tree(I, F)
    rig = open_rig(I, F)
    bench = read_bench(I, memory)
    n, huber, limited, kappa = I[COORDINATES], settings[HUBER], settings[LIMITED] != 0.0, bench.state[0]
    for i in range(n):
        q[i] = min(max(q[i], rig.lower[i]), rig.upper[i])
    value = observe(tree, rig, bench, q, D, W, near, huber)
    gap, sigma = observe_pins(rig, bench, D, W), 0.0
    k, ended, fresh = 0, SPENT, True
    while k < settings[STEPS]:
        k += 1
        if fresh:
            load(rig, bench)
            if limited or I[PINS] > 0:
                find_slopes(rig, bench, q, near)
            if I[PINS] > 0:
                differentiate_pins(rig, bench, W)
        gain = propose(rig, bench, q, near, kappa * value + FLOOR, limited)
        sigma = max(sigma, 2.0 * dearest(bench))
        new = observe(tree, rig, bench, bench.trial, D, W, near, huber)
        gap_new = observe_pins(rig, bench, D, W)
        small = gain * max(kappa / KAPPA, 1.0) <= settings[TOLERANCE] * value or value <= SETTLED
        fresh = new + sigma * gap_new <= (value + sigma * gap) * (1.0 + 1e-12)
        if fresh:
            for i in range(n):
                q[i] = bench.trial[i]
            value, gap = new, gap_new
        elif not small or gap > CLOSED:
            kappa *= 6.0
        if (small and gap <= CLOSED) or kappa > GREATEST:
            ended = STUCK if kappa > GREATEST else CONVERGED
            break
    if not fresh:
        value = observe(tree, rig, bench, q, D, W, near, huber)
        gap = observe_pins(rig, bench, D, W)
    bench.state[0] = kappa
    told[ITERATIONS], told[VALUE], told[OPEN], told[ENDED] = k, value, gap, ended
