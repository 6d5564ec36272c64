"""Ball arithmetic: every number is a ball that contains the truth. Placements, quaternions and dual quaternions of balls.

**Placements.** A 4 × 4 matrix of floats stands for the rotation U nearest to its upper left part R, and its translation as it
is. With σ the singular values of R, ``‖R − U‖ = ‖σ − 1‖ ≤ ‖σ² − 1‖ = ‖RᵀR − I‖`` (Frobenius norms), so every entry of U
lies in a ball of that radius about that of R. Whether it is a rotation at all is decided in floating point, where each of the
nine entries of ``RᵀR − I`` is off by less than 4e-16 as long as R is nearly one, together less than `SHARP`; the radius is
had in balls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.errors import needed
from supple.geometry.placements import Floats

PRECISION = 80  # bits
ROUNDING = 1e-12  # [m, rad] by which tolerances are taken wider than they are said to be
SHARP = 2e-15  # of RᵀR − I as it is evaluated
BENT = 1e-11  # a matrix farther from a rotation stands for none
LARGEST = 1e50  # of all numbers in a certificate
FARTHEST = 1e9  # [m] of all lengths
ONTO = (
    ((0, 0, 1), (1, 0, 0), (0, 1, 0)),
    ((1, 0, 0), (0, 0, 1), (0, -1, 0)),
    ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
)  # z to x, y, z
CONJUGATE = (1, -1, -1, -1, 1, -1, -1, -1)


class Unproved(Exception):
    """A certificate proves nothing; the text says why."""


def need_flint() -> Any:
    """The module of ball arithmetic."""
    return needed("flint", "python-flint", "convex", "checking a certificate")


def bend(R: Floats) -> float:
    """An upper bound of how far any entry of a matrix is from that of the nearest rotation; infinite if there is none."""
    with np.errstate(all="ignore"):
        off = float(np.linalg.norm(R.T @ R - np.eye(3))) + SHARP
    return off if off < BENT and np.linalg.det(R) > 0.0 else np.inf


def placed(T: Floats) -> Any:
    """A placement in balls."""
    flint, off = need_flint(), bend(T[:3, :3])
    if not (off < BENT and tuple(T[3].tolist()) == (0.0, 0.0, 0.0, 1.0) and np.abs(T[:3, 3]).max() < FARTHEST):
        raise Unproved("a placement is none: no rotation, or too far away")
    arb, rows = flint.arb, T.tolist()
    R = flint.arb_mat([row[:3] for row in rows[:3]])
    off = norm((R.transpose() * R - flint.arb_mat(np.eye(3).tolist())).entries())
    return flint.arb_mat([[*(arb(x, off) for x in row[:3]), arb(row[3])] for row in rows[:3]] + [rows[3]])


def still() -> Any:
    """The placement that changes nothing."""
    return need_flint().arb_mat(np.eye(4).tolist())


def upright(axis: tuple[float, float, float]) -> tuple[Any, int]:
    """A rotation that brings ±z onto the direction of an axis, as a placement, and the sign.

    Of the coordinate axes: a permutation. Otherwise the columns ``x, a × x, a``, x along ``e × a`` with e the coordinate axis
    that a is farthest from: floats A, of which U is the nearest rotation. Turned a little further it brings z onto a
    exactly, by ``|U z − a| ≤ |A z − a| + bend(A)``, which makes its radius.
    """
    flint, a = need_flint(), np.array(axis)
    if np.count_nonzero(a) == 1:
        k = int(np.argmax(np.abs(a)))
        return flint.arb_mat([[*row, 0] for row in ONTO[k]] + [[0, 0, 0, 1]]), int(np.sign(a[k]))
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(a)))], a)
    A = np.column_stack([x / np.linalg.norm(x), np.cross(a, x / np.linalg.norm(x)), a])
    long = flint.arb(0)
    for value in axis:
        long += flint.arb(value) ** 2
    radius = flint.arb(above(abs(long.sqrt() - 1)) + 2.0 * bend(A))
    if not radius < BENT:
        raise Unproved("an axis is none: not of length one")
    rows = [[flint.arb(v, radius) for v in row] + [0] for row in A.tolist()]
    return flint.arb_mat([*rows, [0, 0, 0, 1]]), 1


def turned_back(T: Any) -> Any:
    """The inverse of a placement."""
    flint = need_flint()
    R = [[T[j, i] for j in range(3)] for i in range(3)]
    t = [-(R[i][0] * T[0, 3] + R[i][1] * T[1, 3] + R[i][2] * T[2, 3]) for i in range(3)]
    return flint.arb_mat([[*R[i], t[i]] for i in range(3)] + [[0, 0, 0, 1]])


def moved(x: Any, slides: bool) -> Any:
    """What a joint about or along z does; x is a ball."""
    flint = need_flint()
    c, s, d = (1, 0, x) if slides else (x.cos(), x.sin(), 0)
    return flint.arb_mat([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, d], [0, 0, 0, 1]])


# ── quaternions, of numbers of any kind ──────────────────────────────────────────────────────────────────────────────
def product(a: Any, b: Any) -> Any:
    """The product of two quaternions."""
    w, x, y, z = a
    W, X, Y, Z = b
    return [w * W - x * X - y * Y - z * Z, w * X + x * W + y * Z - z * Y,
            w * Y - x * Z + y * W + z * X, w * Z + x * Y - y * X + z * W]  # fmt: skip


def dual_product(a: Any, b: Any) -> Any:
    """The product of two dual quaternions."""
    left, right = product(a[:4], b[4:]), product(a[4:], b[:4])
    return [*product(a[:4], b[:4]), *(x + y for x, y in zip(left, right, strict=True))]


def dual(turn: Any, position: Any) -> Any:
    """A rotation and a translation as a dual quaternion."""
    half = product([0 * turn[0], *position], turn)
    return [*turn, *(x / 2 for x in half)]


def dual_of(T: Any, scale: Any) -> Any:
    """A placement in balls as a dual quaternion, lengths times a scale; the largest component of its rotation is positive.

    ``4 q_k q`` is linear in the rotation, for each component k; the largest ``4 q_k²`` is no less than one.
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = ([T[i, j] for j in range(3)] for i in range(3))
    squares = [1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz]
    a, b, c, d, e, f = zy - yz, xz - zx, yx - xy, yx + xy, xz + zx, zy + yz
    rows = ((squares[0], a, b, c), (a, squares[1], d, e), (b, d, squares[2], f), (c, e, f, squares[3]))
    sizes = [float(x.mid()) for x in squares]
    k = sizes.index(max(sizes))
    twice = 2 * squares[k].sqrt()
    return dual([x / twice for x in rows[k]], [scale * T[i, 3] for i in range(3)])


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def exact(values: Floats) -> Any:
    """A matrix of floats as they are."""
    return need_flint().arb_mat(values.tolist())


def norm(values: Any) -> Any:
    """An upper bound of the square root of a sum of squares."""
    total = need_flint().arb(0)
    for x in values:
        total += x * x
    return total.abs_upper().sqrt()


def length(T: Any) -> Any:
    """An upper bound of a placement's distance."""
    return norm(T[i, 3] for i in range(3))


def above(x: Any) -> float:
    """A floating-point number that is no smaller than any in a ball."""
    return float(np.nextafter(float(x.upper()), np.inf))
