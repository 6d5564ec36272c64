"""Matrices of fixed trace that stand for a rotation, a direction with a length, or an angle, and what is linear in them.

Symmetric matrices are vectors: the upper triangle, column by column, off-diagonal entries times √2, so that inner products
stay what they are. The paper's numbers are those of Wu and Tron's IKSPARK.

*Quaternion* (77), 4 × 4, trace 1: ``Y = q qᵀ``, rotation ``R(Y)`` by (78).
*Rotation* (17), 7 × 7, trace 3: ``Y = y yᵀ``, ``y = (R¹; R²; 1)``; R¹ and R² are in the last column, ``R³ = R¹ × R²`` in the
block of products (19); (20): ``tr Y₁₁ = tr Y₂₂ = Y₇₇ = 1``, ``tr Y₁₂ = 0``.
*Slide* (23), 8 × 8, trace 2: ``y = (√τ r; √(1−τ) r; √τ; √(1−τ))``, r the sliding axis, τ ∈ [0, 1] the share of the range;
(24): ``tr Y₁₁ = Y₇₇``, ``tr Y₂₂ = Y₈₈``, ``tr Y₁₂ = Y₇₈ ≥ 0``, ``Y₇₇ + Y₈₈ = 1``, ``Y₁:₃,₈ = Y₄:₆,₇``, Y₁₂ symmetric; then
``τ = Y₇₇``, ``τr = Y₁:₃,₇``, ``r = Y₁:₃,₇ + Y₄:₆,₈``.
*Disc*: a rotation that takes one known direction to another known one is a turn by one angle; its quaternion matrix
lies in a face of rank 2, ``[[1 + c, s], [s, 1 − c]]/2``, trace 1, which is positive exactly if ``|(c, s)| ≤ 1``.
*Length*: a plain number, for slides along directions that are known.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.spatial.transform import Rotation

from supple.geometry.placements import Floats

ROOT_2 = np.sqrt(2.0)


@cache
def triangle(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, columns and scales of the upper triangle, column by column."""
    pairs = [(i, j) for j in range(n) for i in range(j + 1)]
    i, j = np.array(pairs).T
    return i, j, np.where(i == j, 1.0, ROOT_2)


def flat(Y: Floats) -> Floats:
    """Symmetric matrices (…, n, n) as vectors."""
    i, j, scale = triangle(Y.shape[-1])
    return Y[..., i, j] * scale


def square(y: Floats, n: int) -> Floats:
    """Vectors (…, n(n+1)/2) as symmetric matrices."""
    i, j, scale = triangle(n)
    Y = np.empty((*y.shape[:-1], n, n))
    Y[..., i, j] = Y[..., j, i] = y / scale
    return Y


def entry(n: int, i: int, j: int) -> Floats:
    """The vector whose inner product with a matrix is its entry (i, j)."""
    E = np.zeros((n, n))
    E[i, j] += 0.5
    E[j, i] += 0.5
    return flat(E)


def _form(q: Floats) -> Floats:
    """``R(q)`` of (78), a quadratic form in the quaternion (w, x, y, z)."""
    w, x, y, z = q
    return np.array([
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ])  # fmt: skip


def _quaternion_map() -> Floats:
    """(3, 3, 10): ``R(Y)``, by polarisation of the form."""
    out, unit = np.zeros((3, 3, 4, 4)), np.eye(4)
    for a in range(4):
        for b in range(4):
            out[:, :, a, b] = 0.25 * (_form(unit[a] + unit[b]) - _form(unit[a] - unit[b]))
    return flat(out)


def _rotation_map() -> Floats:
    """(3, 3, 28): first and second column from the last column of Y, the third their cross product (19)."""
    out = np.zeros((3, 3, 28))
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        out[a, 0], out[a, 1] = entry(7, a, 6), entry(7, 3 + a, 6)
        out[a, 2] = entry(7, b, 3 + c) - entry(7, c, 3 + b)
    return out


def _trace(n: int, rows: range, columns: range) -> Floats:
    return np.sum([entry(n, i, j) for i, j in zip(rows, columns, strict=True)], axis=0)


@dataclass(frozen=True, eq=False)
class Lift:
    """A kind of matrix: its order, its trace, the rows ``rows · Y = right`` that hold for it, and what is never negative."""

    name: str
    order: int
    trace: float
    rows: Floats
    right: Floats
    positive: Floats

    @property
    def size(self) -> int:
        """Numbers in the vector."""
        return self.order * (self.order + 1) // 2


def _lift(name: str, order: int, trace: float, rows: list[tuple[Floats, float]], positive: list[Floats]) -> Lift:
    size = order * (order + 1) // 2
    left, right = np.array([row for row, _ in rows]), np.array([value for _, value in rows])
    return Lift(name, order, trace, left, right, np.array(positive).reshape(-1, size))


def _slide_rows() -> list[tuple[Floats, float]]:
    first, second = range(3), range(3, 6)
    out = [
        (_trace(8, first, first) - entry(8, 6, 6), 0.0),
        (_trace(8, second, second) - entry(8, 7, 7), 0.0),
        (_trace(8, first, second) - entry(8, 6, 7), 0.0),
        (entry(8, 6, 6) + entry(8, 7, 7), 1.0),
    ]
    out += [(entry(8, k, 7) - entry(8, 3 + k, 6), 0.0) for k in range(3)]
    return out + [(entry(8, i, 3 + j) - entry(8, j, 3 + i), 0.0) for i, j in ((0, 1), (0, 2), (1, 2))]


TURN = {"quaternion": _quaternion_map(), "rotation": _rotation_map()}
LIFTS = {
    "quaternion": _lift("quaternion", 4, 1.0, [(flat(np.eye(4)), 1.0)], []),
    "rotation": _lift(
        "rotation",
        7,
        3.0,
        [
            (_trace(7, range(3), range(3)), 1.0),
            (_trace(7, range(3, 6), range(3, 6)), 1.0),
            (entry(7, 6, 6), 1.0),
            (_trace(7, range(3), range(3, 6)), 0.0),
        ],
        [],
    ),
    "slide": _lift("slide", 8, 2.0, _slide_rows(), [entry(8, 6, 7)]),
}
SHARE = entry(8, 6, 6)  # τ
ALONG = np.array([entry(8, k, 6) for k in range(3)])  # τ r
AXIS = ALONG + np.array([entry(8, 3 + k, 7) for k in range(3)])  # r


def lifted_rotation(R: Floats, name: str) -> Floats:
    """The matrix of rank one that stands for a rotation, as a vector."""
    if name == "quaternion":
        y = np.roll(Rotation.from_matrix(R).as_quat(), 1)
    else:
        y = np.concatenate([R[:, 0], R[:, 1], [1.0]])
    return flat(np.outer(y, y))


def lifted_slide(r: Floats, share: float) -> Floats:
    """The matrix of rank one that stands for an axis and a share of the range, as a vector."""
    a, b = np.sqrt(share), np.sqrt(1.0 - share)
    y = np.concatenate([a * r, b * r, [a, b]])
    return flat(np.outer(y, y))


def nearest_rotations(R: Floats) -> Floats:
    """The proper rotations nearest to matrices (…, 3, 3)."""
    u, _, vt = np.linalg.svd(R)
    u[..., :, 2] *= np.sign(np.linalg.det(u) * np.linalg.det(vt))[..., None]
    return u @ vt
