"""Krawczyk's test: near a posture there is exactly one that brings the frame to the target.

With ``Δ = F(q) T⁻¹`` as rotation and F's and T's places, the equations are ``½ vee(Δ − Δᵀ) = 0`` and that both places are one.
A rotation whose trace is not −1 and whose part ``Δ − Δᵀ`` vanishes is 1, so as long as the trace is positive in a box these
are the equations of the pose. With a_j, p_j the lines where the hinges before them bring them, the derivatives by q_j are
``½ (tr Δ − Δ) a_j`` and ``a_j × (x − p_j)``, x the frame's place. For a box B about m and any matrix Y,

    m − Y f(m) + (1 − Y f′(B)) (B − m)

holds every zero in B; if it lies inside of B, there is exactly one (Krawczyk 1969).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.geometry.placements import Floats
from supple.proofs.checker.balls import Unproved, above, need_flint, turned_back
from supple.proofs.checker.hinge_lines import HINGES, Lines, cross, minus

RADII = (1e-5, 1e-6, 1e-7, 1e-8)  # [rad] of boxes that are tried
CLOSE = 1e-9  # [rad] how near a posture must be to the one that it stands for


def _line_turn(h: Any, p: Any, x: Any) -> Any:
    """The turn about a line, as a placement."""
    flint = need_flint()
    c, s = x.cos(), x.sin()
    K = [[0, -h[2], h[1]], [h[2], 0, -h[0]], [-h[1], h[0], 0]]
    rows = []
    for i in range(3):
        row = [s * K[i][j] + (1 - c) * h[i] * h[j] + (c if i == j else 0) for j in range(3)]
        rows.append([*row, p[i] - row[0] * p[0] - row[1] * p[1] - row[2] * p[2]])
    return flint.arb_mat([*rows, [0, 0, 0, 1]])


def _equations(lines: Lines, q: list[Any], back: Any, derivative: bool) -> tuple[list[Any], list[list[Any]], Any]:
    """The six numbers that are to vanish, their derivatives by columns, and the trace of Δ; `back` is the target's inverse."""
    flint = need_flint()
    here = flint.arb_mat(np.eye(4).tolist())
    moved = []
    for h, p, x in zip(lines.along, lines.through, q, strict=True):
        if derivative:
            a = here * flint.arb_mat([[h[0]], [h[1]], [h[2]], [0]])
            b = here * flint.arb_mat([[p[0]], [p[1]], [p[2]], [1]])
            moved.append(([a[i, 0] for i in range(3)], [b[i, 0] for i in range(3)]))
        here = here * _line_turn(h, p, x)
    frame = here * lines.home
    D = frame * back
    trace = D[0, 0] + D[1, 1] + D[2, 2]
    off = [(D[2, 1] - D[1, 2]) / 2, (D[0, 2] - D[2, 0]) / 2, (D[1, 0] - D[0, 1]) / 2]
    off += [frame[i, 3] - lines.target[i, 3] for i in range(3)]
    columns = []
    at = [frame[i, 3] for i in range(3)]
    for a, b in moved:
        turn = [(trace * a[i] - D[i, 0] * a[0] - D[i, 1] * a[1] - D[i, 2] * a[2]) / 2 for i in range(3)]
        columns.append([*turn, *cross(a, minus(at, b))])
    return off, columns, trace


def holds_one(lines: Lines, q: Floats) -> float:
    """The largest radius that was found of a box about q with exactly one posture, which lies within `CLOSE` of q."""
    arb, flint = need_flint().arb, need_flint()
    back, middle = turned_back(lines.target), [arb(float(x)) for x in q]
    off, columns, _ = _equations(lines, middle, back, True)
    J = np.array([[float(x.mid()) for x in column] for column in columns]).T
    if not np.isfinite(J).all() or abs(np.linalg.det(J)) < 1e-30:
        raise Unproved("a posture is singular, or nearly")
    Y = flint.arb_mat(np.linalg.inv(J).tolist())
    step = Y * flint.arb_mat([[x] for x in off])
    widest = 0.0
    for r in RADII:
        _, columns, trace = _equations(lines, [arb(float(x), r) for x in q], back, True)
        rest = Y * flint.arb_mat([[column[i] for column in columns] for i in range(HINGES)])
        image = 0.0
        for i in range(HINGES):
            spread = abs(rest[i, i] - 1)
            for j in range(HINGES):
                spread = spread if i == j else spread + abs(rest[i, j])
            image = max(image, above(abs(step[i, 0]) + spread * r))
        if trace > 0 and image < r:
            widest = max(widest, r)
            if image < CLOSE:
                return widest
    raise Unproved("a posture is not seen to be one, or nearly singular")
