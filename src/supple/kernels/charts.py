"""Balls and free roots that turn without limits: re-centred, so that no solver meets gimbal lock.

**Chart.** Three hinges through one centre, undriven and without limits, are a *chart* of the rotations: the placement behind
them is ``O·M(q)`` with O the fixed offset of the first and ``M(q) = R₁(±q₁) R₂(±q₂) R₃(±q₃)``. Where the first and the third
axis coincide the three columns of a Jacobian span only two directions. The sine β of the angle between those axes says how
far that is: ``|cos q₂|`` for three different axes, ``|sin q₂|`` where the third is the first again.

**Re-centring.** `recentre` folds the rotation into the offset, ``O ← O·M(q)·M(c)ᵀ``, and goes on at ``q = c``, where β = 1:
c is zero, or a quarter turn in the middle where the third axis is the first again. No segment moves.

**Report.** `report` puts the original offset O₀ back, bit for bit, and writes the angles of ``O₀ᵀ·O·M(q)`` in the stated
order. The first comes from two entries of that matrix; the others from what is left when the first is undone, so that the
rotation is right to rounding even where the angles themselves are uncertain. Two triples give every rotation,

    (q₁, q₂, q₃) and (q₁ + π, π − q₂, q₃ + π),   or (q₁ + π, −q₂, q₃ + π) where the third axis is the first again,

each up to whole turns; the one nearest to a reference is taken. Near the lock ``q₁ + t, q₃ ∓ t`` is the same rotation but for
an error of at most ``β|t|``; where ``πβ`` is no more than `give` radians, t brings both as near to the reference as can be.

The original offsets stand in a table of their own, so the caller's F, a copy of his own, is all that changes.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.compiling import entry, leaf, stage
from supple.kernels.tables import EXACT as EXACT, STEEP as STEEP, open_charts
from supple.kernels.tree import open_tree


@leaf
def turn_by(offset: Any, i: int, k: int, s: float, c: float) -> None:
    """Turn the rotation of an offset about its own axis k by the angle of sine s and cosine c, in place."""
    a, b = (k + 1) % 3, (k + 2) % 3
    for r in range(3):
        x, y = offset[i, 3 * r + a], offset[i, 3 * r + b]
        offset[i, 3 * r + a], offset[i, 3 * r + b] = c * x + s * y, c * y - s * x


@leaf
def fold(tree: Any, i: int, q: Any) -> None:
    """``O ← O·M(q)`` for the chart of joint i."""
    for j in range(i, i + 3):
        angle = tree.offset[j, 12] * q[tree.coordinate[j]]
        turn_by(tree.offset, i, tree.axis[j], math.sin(angle), math.cos(angle))


@leaf
def between(home: Any, chart: int, offset: Any, i: int, r: int, s: int) -> float:
    """The entry (r, s) of ``O₀ᵀ·O``."""
    x = home[chart, r] * offset[i, s]
    return x + home[chart, 3 + r] * offset[i, 3 + s] + home[chart, 6 + r] * offset[i, 6 + s]


@leaf
def nearest_turn(x: float, wanted: float) -> float:
    """The angle that differs from x by whole turns and is nearest to the one that is wanted."""
    return x + 2.0 * math.pi * math.floor((wanted - x) / (2.0 * math.pi) + 0.5)


@stage
def recentre(I: Any, F: Any, q: Any, least: float) -> int:
    """Fold every chart with β < `least` into its offset; the number of charts whose q has changed.

    `STEEP` is a sensible `least`; 2 takes all. F must be the caller's own.
    """
    tree = open_tree(I, F)
    first = open_charts(I, F).joint
    folded = 0
    for chart in range(first.shape[0]):
        i = first[chart]
        again = tree.axis[i] == tree.axis[i + 2]
        middle = tree.offset[i + 1, 12] * q[tree.coordinate[i + 1]]
        if abs(math.sin(middle) if again else math.cos(middle)) < least:
            fold(tree, i, q)
            for j in range(i, i + 3):
                q[tree.coordinate[j]] = 0.0
            if again:
                turn_by(tree.offset, i, tree.axis[i + 1], -1.0, 0.0)
                q[tree.coordinate[i + 1]] = tree.offset[i + 1, 12] * 0.5 * math.pi
            folded += 1
    return folded


@leaf
def angles(tree: Any, home: Any, chart: int, i: int) -> Any:
    """The three angles, about the packed axes, of the rotation from the original offset to the present one."""
    a, b = tree.axis[i], tree.axis[i + 1]
    c = 3 - a - b
    sign = 1.0 if (b - a) % 3 == 1 else -1.0
    offset = tree.offset
    k = a if tree.axis[i + 2] == a else c  # the column of the last axis: its entries tell the first angle
    top, low = between(home, chart, offset, i, b, k), between(home, chart, offset, i, c, k)
    if k == a:
        x = math.atan2(top, -sign * low)
    else:
        x = math.atan2(-sign * top, low)
    s, r = sign * math.sin(x), math.cos(x)
    below = r * low - s * top  # rows b and c once the first turn is undone
    own = r * between(home, chart, offset, i, b, b) + s * between(home, chart, offset, i, c, b)
    d = c if k == a else a
    side = r * between(home, chart, offset, i, b, d) + s * between(home, chart, offset, i, c, d)
    corner = between(home, chart, offset, i, a, k)
    if k == a:
        return x, math.atan2(-sign * below, corner), math.atan2(-sign * side, own)
    return x, math.atan2(sign * corner, below), math.atan2(sign * side, own)


@stage
def report(I: Any, F: Any, q: Any, reference: Any, give: float) -> None:
    """Put the original offsets back and write the angles in the stated order, nearest to `reference` (size).

    `give` [rad] is the error that a free choice near the lock may cost; `EXACT` where nothing checks the answer again.
    """
    tree = open_tree(I, F)
    first, home = open_charts(I, F)
    for chart in range(first.shape[0]):
        i = first[chart]
        k0, k1, k2 = tree.coordinate[i], tree.coordinate[i + 1], tree.coordinate[i + 2]
        t0, t1, t2 = tree.offset[i, 12], tree.offset[i + 1, 12], tree.offset[i + 2, 12]
        x, y, z = t0 * q[k0], t1 * q[k1], t2 * q[k2]
        finite = math.isfinite(x) and math.isfinite(y) and math.isfinite(z)
        moved = False
        for e in range(9):
            moved = moved or tree.offset[i, e] != home[chart, e]
        if moved and finite:
            fold(tree, i, q)
            x, y, z = angles(tree, home, chart, i)
        for e in range(9):
            tree.offset[i, e] = home[chart, e]
        if not finite:
            continue
        again = tree.axis[i] == tree.axis[i + 2]
        parity = 1.0 if (tree.axis[i + 1] - tree.axis[i]) % 3 == 1 else -1.0
        u, v, w = t0 * reference[k0], t1 * reference[k1], t2 * reference[k2]
        nearest = math.inf
        for _ in range(2):
            beta = abs(math.sin(y) if again else math.cos(y))
            along = math.cos(y) if again else parity * math.sin(y)
            along = 1.0 if along > 0.0 else -1.0
            x, y, z = nearest_turn(x, u), nearest_turn(y, v), nearest_turn(z, w)
            off = nearest_turn((x - u) + along * (z - w), 0.0)  # what no choice of t takes away
            if math.pi * beta <= give:
                x, z = u + 0.5 * off, w + 0.5 * along * off
            distance = (x - u) * (x - u) + (y - v) * (y - v) + (z - w) * (z - w)
            if distance < nearest:
                nearest = distance
                q[k0], q[k1], q[k2] = t0 * x, t1 * y, t2 * z
            x, y, z = x + math.pi, (-y if again else math.pi - y), z + math.pi


@entry
def recentre_entry(I: Any, F: Any, q: Any, least: float) -> int:
    """`recentre`, for Python."""
    return recentre(I, F, q, least)


@entry
def report_entry(I: Any, F: Any, q: Any, reference: Any, give: float) -> None:
    """`report`, for Python."""
    report(I, F, q, reference, give)
