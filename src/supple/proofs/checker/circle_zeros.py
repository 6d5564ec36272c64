"""Where a trigonometric polynomial of degree two with balls for coefficients can be zero: Newton's method on arcs.

On an arc X about m, ``f(x)`` lies in ``f(m) + f′(X)(X − m)``: an arc where that is not zero is left out. Where ``f′(X)`` is not
zero there is at most one zero, in ``m − f(m)/f′(X)``. Other arcs are halved. Every zero lies in what is returned; an arc may
hold none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from supple.proofs.checker.balls import Unproved, need_flint

ARCS = 48
NARROW = 1e-8  # [rad] half an arc that is not halved any more
SHARPENINGS = 12
OVERLAP = 1e-13  # [rad] of arcs, much more than the rounding of their middles


def value(f: Sequence[Any], x: Any) -> Any:
    """``f₀ + f₁c + f₂s + f₃c² + f₄cs + f₅s²``."""
    c, s = x.cos(), x.sin()
    return f[0] + f[1] * c + f[2] * s + f[3] * c * c + f[4] * c * s + f[5] * s * s


def slope(f: Sequence[Any], x: Any) -> Any:
    """Its derivative."""
    c, s = x.cos(), x.sin()
    return f[2] * c - f[1] * s + 2 * (f[5] - f[3]) * c * s + f[4] * (c * c - s * s)


def circle_zeros(f: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Cosines and sines of arcs that hold every zero."""
    arb = need_flint().arb
    half = arb.pi() / ARCS
    width = float(half.upper()) + OVERLAP
    stack = [(float((half * (2 * k + 1)).mid()), width) for k in range(ARCS)]
    found = []
    while stack:
        m, r = stack.pop()
        X, middle = arb(m, r), arb(m)
        at, steep = value(f, middle), slope(f, X)
        if not (at + steep * arb(0, r)).overlaps(arb(0)):
            continue
        if not steep.overlaps(arb(0)):
            narrowed = _sharpened(f, X)
            if narrowed is not None:
                found.append((narrowed.cos(), narrowed.sin()))
        elif r < NARROW:
            raise Unproved("two postures meet, or nearly")
        else:
            stack += [(m - 0.5 * r, 0.5 * r + OVERLAP), (m + 0.5 * r, 0.5 * r + OVERLAP)]
    return found


def _sharpened(f: Sequence[Any], X: Any) -> Any:
    """The part of an arc that can hold its one zero; None if there is none."""
    for _ in range(SHARPENINGS):
        middle = X.mid()
        new = middle - value(f, middle) / slope(f, X)
        if not new.overlaps(X):
            return None
        cut = new.intersection(X)
        if not cut.rad() < 0.5 * X.rad():
            return cut
        X = cut
    return X
