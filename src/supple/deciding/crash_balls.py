"""Ball arithmetic: whether two things touch in every posture of a box (see `crashes`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.deciding.balls import PRECISION, ROUNDING, is_chain, need_flint
from supple.deciding.chain import Chain
from supple.deciding.claims import Claim
from supple.deciding.crashes import SURE, Pairing, looseness
from supple.deciding.proof import Crash
from supple.space import Floats


def crash_holds(pairing: Pairing, claim: Claim | None, crash: Crash, lower: Floats, upper: Floats) -> bool:
    """Whether the pair touches in every posture of the box, or in those that meet the claim that the pairing is given."""
    flint, chain = need_flint(), pairing.chain
    if not _leads_from(pairing, claim):
        return False
    fits = crash.point.shape == (3,) and not crash.point[:2].any() and abs(crash.point[2]) <= pairing.half
    if not (fits and is_chain(chain, np.eye(4)) and (lower <= upper).all()):
        return False
    with flint.ctx.workprec(PRECISION):
        arb, matrix = flint.arb, flint.arb_mat
        w, rho = _reach_in_balls(chain, crash.point, lower, upper, arb, matrix)
        if claim is not None:
            rho = rho + looseness(pairing, claim, arb, lambda x: x.abs_upper().sqrt()) + SURE / 10
        if crash.near is None:
            level = [sum(arb(float(n[i])) * w[i] for i in range(3)) - arb(float(n[3])) for n in pairing.faces]
            if not level or not all(x <= 0 for x in level):
                return False
            away = level[0]
            for x in level[1:]:
                away = away.max(x)
        else:
            x = [arb(float(v)) for v in crash.near]
            if len(x) != 3 or not _is_in(pairing, crash.near, arb):
                return False
            away = _length([a - b for a, b in zip(w, x, strict=True)], arb)
        return bool(away + rho + SURE / 10 < arb(float(pairing.keep)) + arb(float(pairing.radius)))


def _leads_from(pairing: Pairing, claim: Claim | None) -> bool:
    """Whether the pairing's chain begins where the claim says that its segment is, or, without one, at the base."""
    led = pairing.way.led
    if led is None or claim is None:
        return claim is None and (led is None or bool((led == np.eye(4)).all()))
    same = claim.places and pairing.way.seen_from == claim.way.segment and claim.tolerance >= 0.0
    return bool(same and claim.angle_tolerance >= 0.0 and np.allclose(led, claim.segment_at, 0.0, ROUNDING))


def _is_in(pairing: Pairing, x: Floats, arb: Any) -> bool:
    """Whether x is a point of the solid, or of the line but for a rounding."""
    X = [arb(float(v)) for v in x]
    if len(pairing.faces):
        return all(bool(sum(arb(float(n[i])) * X[i] for i in range(3)) <= arb(float(n[3]))) for n in pairing.faces)
    centre, direction, half = pairing.line[:3], pairing.line[3:6], float(pairing.line[6])
    t = float(np.clip((x - centre) @ direction, -half, half))
    off = [a - arb(float(c)) - arb(t) * arb(float(d)) for a, c, d in zip(X, centre, direction, strict=True)]
    return bool(_length(off, arb) < SURE / 10)


def _reach_in_balls(
    chain: Chain, point: Floats, lower: Floats, upper: Floats, arb: Any, matrix: Any
) -> tuple[list[Any], Any]:
    """As `reach_of`, of one point in the frame behind the chain."""
    zero, one = arb(0), arb(1)
    T, axes, halves = matrix(4, 4, [one if i % 5 == 0 else zero for i in range(16)]), [], []
    for B, sign, low, high, slides in zip(chain.before, chain.signs, lower, upper, chain.slides, strict=True):
        middle = (arb(float(low)) + arb(float(high))) / 2
        halves.append((arb(float(high)) - arb(float(low))) / 2)
        c, s, d = (one, zero, middle * int(sign)) if slides else (middle.cos(), middle.sin() * int(sign), zero)
        move = matrix([[c, -s, zero, zero], [s, c, zero, zero], [zero, zero, one, d], [zero, zero, zero, one]])
        T = T * _placement(B, arb, matrix) * move
        axes.append(T)
    W = T * _placement(chain.behind, arb, matrix) * matrix([[arb(float(x))] for x in (*point, 1.0)])
    w, rho = [W[i, 0] for i in range(3)], zero
    for A, half, slides in zip(axes[::-1], halves[::-1], chain.slides[::-1], strict=True):
        if slides:
            rho = rho + half.abs_upper()
            continue
        r, z = [w[i] - A[i, 3] for i in range(3)], [A[i, 2] for i in range(3)]
        across = [r[1] * z[2] - r[2] * z[1], r[2] * z[0] - r[0] * z[2], r[0] * z[1] - r[1] * z[0]]
        chord = 2 * (half / 2).sin() if half < arb.pi() else arb(2)
        rho = (rho + chord * (_length(across, arb) + rho)).abs_upper()
    return w, rho


def _placement(T: Floats, arb: Any, matrix: Any) -> Any:
    """A placement whose rotation is known up to rounding."""
    return matrix([[arb(float(T[i, j]), ROUNDING if i < 3 and j < 3 else 0.0) for j in range(4)] for i in range(4)])


def _length(values: list[Any], arb: Any) -> Any:
    total = arb(0)
    for x in values:
        total += x * x
    return total.abs_upper().sqrt()
