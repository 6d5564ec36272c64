"""The best value of one coordinate, everything else held: closed forms along hinges and slides.

Let the coordinate change by t. **Along a hinge** through p about the unit axis u a carried point or axis x goes round a
circle, so that a goal that is linear in it, once the constant lengths are taken out, is a first harmonic of t:

    Σ w ‖r(t) − g‖² + Σ c²‖x(t) − x_g‖² + … = const + B cos t + C sin t,
    B = −2 Σ w r_⊥·(g − p),   C = −2 Σ w (u × r)·(g − p)     (r measured from p; axes likewise with c², without p).

Its least value is at ``t = atan2(−C, −B)``, or within limits at that angle a turn away, or at an end of the range.

**Along a slide** a position goal (also on a line or a plane) is a parabola of t, and its vertex is clamped.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from supple.kernels.compiling import leaf
from supple.kernels.kinds import AT, FACE, LINE, NEAR, PLANE, TURN
from supple.kernels.layouts import DRIVEN_BY, FRAME_ROW, KIND, NO_ROW, REFERENCE_ROW, SCALE, TARGET_AT, WEIGHT

IDLE, EXACT, SEARCHED = range(3)  # how a coordinate is moved
FAINT = 1e-14  # a harmonic weaker than this share of its terms is rounding: the goals lie on the axis


class Span(NamedTuple):
    """How far a coordinate may go."""

    low: Any  # the least change
    high: Any  # the greatest
    share: Any  # of its way that it is willing to go, 1 − ρ


class Carried(NamedTuple):
    """What the terms see, while joints move it one after the other."""

    X: Any  # (terms, 12) the frames
    order: Any  # (terms) the terms in the order of the rows that carry them
    first: Any  # the place in the order of the first that the joint at hand moves


@leaf
def carries(tree: Any, j: int, at: int) -> bool:
    """Whether joint j moves the row `at` of the world table."""
    return j < at <= tree.last[j] + 1


@leaf
def survey(tree: Any, tasks: Any, free: Any, how: Any) -> None:
    """How each coordinate is moved: not at all, by its closed form, or by a search."""
    for i in range(free.shape[0]):
        how[i] = IDLE
    for j in range(tree.parent.shape[0]):
        if tree.coordinate[j] >= 0:
            how[tree.coordinate[j]] = EXACT if tree.axis[j] < 6 else SEARCHED
    for s in range(tree.term.shape[0]):
        how[tree.term[s, DRIVEN_BY]] = SEARCHED
    for t in range(tasks.task.shape[0] - 1):
        single = tasks.task[t + 1] - tasks.task[t] == 1
        for k in range(tasks.alternative[tasks.task[t]], tasks.alternative[tasks.task[t + 1]]):
            kind, at, reference = tasks.term[k, KIND], tasks.term[k, FRAME_ROW], tasks.term[k, REFERENCE_ROW]
            if kind == NEAR:
                for i in range(free.shape[0]):
                    if tasks.near[at, i] > 0.0:
                        how[i] = SEARCHED
                continue
            plain = single and at != NO_ROW and reference == NO_ROW
            harmonic = plain and (kind == AT or kind == FACE or kind == TURN)
            parabola = harmonic or (plain and (kind == LINE or kind == PLANE))
            for j in range(tree.parent.shape[0]):
                felt = at == NO_ROW or carries(tree, j, at) or carries(tree, j, reference)
                if felt and tree.coordinate[j] >= 0 and not (harmonic if tree.axis[j] < 3 else parabola):
                    how[tree.coordinate[j]] = SEARCHED
    for i in range(free.shape[0]):
        if not free[i] > 0.0:
            how[i] = IDLE


@leaf
def order_by_row(tasks: Any, order: Any) -> None:
    """The terms in the order of the rows that carry what they see: those that a joint moves stand together."""
    for k in range(order.shape[0]):
        s = k
        while s > 0 and tasks.term[int(order[s - 1]), FRAME_ROW] > tasks.term[k, FRAME_ROW]:
            order[s] = order[s - 1]
            s -= 1
        order[s] = k


@leaf
def first_moved(tasks: Any, order: Any, first: int, j: int) -> int:
    """The place in the order of the first term that joint j moves, if there is one; `first` is that of a later joint."""
    while first > 0 and tasks.term[int(order[first - 1]), FRAME_ROW] > j:
        first -= 1
    return first


@leaf
def span_of(allowed: Any, q: Any, i: int) -> Any:
    """The least and the greatest change of coordinate i that the limits allow; never a forced one."""
    low, high = allowed.lower[i] - q[i], allowed.upper[i] - q[i]
    for r in range(allowed.b.shape[0]):
        a, slack = allowed.A[r, i], allowed.b[r]
        if a == 0.0:
            continue
        for k in range(q.shape[0]):
            slack -= allowed.A[r, k] * q[k]
        if a > 0.0:
            high = min(high, slack / a)
        else:
            low = max(low, slack / a)
    return Span(min(low, 0.0), max(high, 0.0), allowed.mobility[i])


@leaf
def best_angle(B: float, C: float, size: float, span: Any) -> float:
    """Where ``B cos t + C sin t`` is least for low ≤ t ≤ high. With a share below 1 only on the way downhill from t = 0."""
    low, high = span.low, span.high
    if not math.hypot(B, C) > FAINT * size:
        return 0.0
    t = math.atan2(-C, -B)
    if low <= t <= high:
        return t
    if span.share < 1.0:
        return min(max(t, low), high)
    around = t - 2.0 * math.pi if t > 0.0 else t + 2.0 * math.pi
    if low <= around <= high:
        return around
    at_low, at_high = B * math.cos(low) + C * math.sin(low), B * math.cos(high) + C * math.sin(high)
    return low if at_low < at_high else high


@leaf
def harmonic(W: Any, b: int, x0: float, x1: float, x2: float, g0: float, g1: float, g2: float) -> Any:
    """``−x_⊥·g``, ``−(u × x)·g`` and the size of both, for the axis u in row b of the world table W."""
    u0, u1, u2 = W[b, 12], W[b, 13], W[b, 14]
    along, across = x0 * u0 + x1 * u1 + x2 * u2, g0 * u0 + g1 * u1 + g2 * u2
    cosine = along * across - (x0 * g0 + x1 * g1 + x2 * g2)
    sine = g0 * (u2 * x1 - u1 * x2) + g1 * (u0 * x2 - u2 * x0) + g2 * (u1 * x0 - u0 * x1)
    return cosine, sine, math.sqrt((x0 * x0 + x1 * x1 + x2 * x2) * (g0 * g0 + g1 * g1 + g2 * g2))


@leaf
def hinge_change(tree: Any, tasks: Any, T: Any, W: Any, carried: Any, j: int, span: Any) -> float:
    """The best change of the hinge j."""
    h, X, order = j + 1, carried.X, carried.order
    p0, p1, p2 = W[h, 9], W[h, 10], W[h, 11]
    B, C, size = 0.0, 0.0, 0.0
    for e in range(carried.first, order.shape[0]):
        k = int(order[e])
        if tasks.term[k, FRAME_ROW] > tree.last[j] + 1:
            break
        if tasks.term[k, KIND] == NEAR:
            continue
        kind, t, w = tasks.term[k, KIND], tasks.term[k, TARGET_AT], 2.0 * tasks.number[k, WEIGHT]
        if kind == AT:
            b, c, s = harmonic(W, h, X[k, 0] - p0, X[k, 1] - p1, X[k, 2] - p2, T[t] - p0, T[t + 1] - p1, T[t + 2] - p2)
            B, C, size = B + w * b, C + w * c, size + w * s
            continue
        w *= tasks.number[k, SCALE] * tasks.number[k, SCALE]
        if kind == FACE:
            b, c, s = harmonic(W, h, X[k, 3], X[k, 4], X[k, 5], T[t], T[t + 1], T[t + 2])
            B, C, size = B + w * b, C + w * c, size + w * s
        else:
            for a in range(3):
                x = 3 + 3 * a
                b, c, s = harmonic(W, h, X[k, x], X[k, x + 1], X[k, x + 2], T[t + a], T[t + 3 + a], T[t + 6 + a])
                B, C, size = B + 0.5 * w * b, C + 0.5 * w * c, size + 0.5 * w * s
    return best_angle(B, C, size, span)


@leaf
def slide_change(tree: Any, tasks: Any, T: Any, W: Any, carried: Any, j: int, span: Any) -> float:
    """The best change of the slide j: the vertex of ``Σ w ‖Q(r + t a − g)‖²``, Q the projector that a goal sees through."""
    X, order = carried.X, carried.order
    a0, a1, a2 = W[j + 1, 15], W[j + 1, 16], W[j + 1, 17]
    bend, slope = 0.0, 0.0
    for e in range(carried.first, order.shape[0]):
        k = int(order[e])
        if tasks.term[k, FRAME_ROW] > tree.last[j] + 1:
            break
        kind, t, w = tasks.term[k, KIND], tasks.term[k, TARGET_AT], tasks.number[k, WEIGHT]
        if kind == FACE or kind == TURN or kind == NEAR:
            continue
        d0, d1, d2 = X[k, 0] - T[t], X[k, 1] - T[t + 1], X[k, 2] - T[t + 2]
        aa, ad = a0 * a0 + a1 * a1 + a2 * a2, a0 * d0 + a1 * d1 + a2 * d2
        if kind != AT:
            n0, n1, n2 = T[t + 3], T[t + 4], T[t + 5]
            an, dn = a0 * n0 + a1 * n1 + a2 * n2, d0 * n0 + d1 * n1 + d2 * n2
            if kind == PLANE:
                aa, ad = an * an, an * dn
            else:
                aa, ad = aa - an * an, ad - an * dn
        bend += w * aa
        slope += w * ad
    if not bend > 0.0:
        return 0.0
    return min(max(-slope / bend, span.low), span.high)


@leaf
def spun(u0: float, u1: float, u2: float, s: float, c: float, x: float, y: float, z: float) -> Any:
    """The vector (x, y, z) turned about the unit axis u by the angle with sine s and ``c = 1 − cos``."""
    v0, v1, v2 = u1 * z - u2 * y, u2 * x - u0 * z, u0 * y - u1 * x
    return (
        x + s * v0 + c * (u1 * v2 - u2 * v1),
        y + s * v1 + c * (u2 * v0 - u0 * v2),
        z + s * v2 + c * (u0 * v1 - u1 * v0),
    )


@leaf
def carry_frames(tree: Any, tasks: Any, W: Any, carried: Any, j: int, t: float) -> None:
    """Move the frames that joint j carries by t."""
    X, order = carried.X, carried.order
    u0, u1, u2 = W[j + 1, 12], W[j + 1, 13], W[j + 1, 14]
    hinge = tree.axis[j] < 3
    s, c = math.sin(t), 2.0 * math.sin(0.5 * t) ** 2  # 1 − cos t
    for e in range(carried.first, order.shape[0]):
        k = int(order[e])
        if tasks.term[k, FRAME_ROW] > tree.last[j] + 1:
            break
        if tasks.term[k, KIND] == NEAR:
            continue
        for part in range(0, 12, 3):
            if not hinge:
                if part == 0:
                    for i in range(3):
                        X[k, i] += t * W[j + 1, 15 + i]
                continue
            p0 = W[j + 1, 9] if part == 0 else 0.0
            p1 = W[j + 1, 10] if part == 0 else 0.0
            p2 = W[j + 1, 11] if part == 0 else 0.0
            x, y, z = spun(u0, u1, u2, s, c, X[k, part] - p0, X[k, part + 1] - p1, X[k, part + 2] - p2)
            X[k, part], X[k, part + 1], X[k, part + 2] = x + p0, y + p1, z + p2
