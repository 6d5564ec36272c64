"""Five angles eliminated from the closure of a chain of six hinges (Raghavan and Roth 1990; Manocha and Canny 1994).

**Lifted lines.** Of a line through p along l take the fifteen numbers

    v = (1, p, l, p·p, p·l, p × l, (p·p) l − 2 (p·l) p).

A motion ``x ↦ R x + t`` acts on them linearly: with ``a = R p``, ``b = R l``, m and w the last two,

    p·p ↦ p·p + 2 t·a + t·t,    p·l ↦ p·l + t·b,    m ↦ R m + t × b,
    w ↦ R w − 2 t × R m + (t·t) b − 2 (p·l) t − 2 (t·b) t.

So the turn about hinge j acts as ``A_j + cos q_j B_j + sin q_j C_j``, constant matrices.

**Equations.** The last line is where the target has it: ``E_3 E_4 E_5 v_6 = E_2⁻¹ E_1⁻¹ g v_6``, fourteen equations (the first
number is 1 on both sides). The right side is linear in the eight products of cosines and sines of q_1 and q_2; what is
orthogonal to all of them leaves six equations, linear in those of q_3, q_4 and q_5.

**The matrix.** With x, y the tangents of half of q_4, q_5 they are linear in the nine products ``xⁱ yʲ``, i, j ≤ 2; the same
times x makes twelve equations in twelve products, ``M(q_3) z = 0``, ``M = M_0 + cos q_3 M_1 + sin q_3 M_2``. With s the
tangent of half of q_3, seen from where M is far from singular, that is ``(P + s Q + s² S) z = 0``: eigenvalues of
24 by 24 numbers. Of these sixteen are postures, real or not, and eight are s = ±i.

**Others.** The closed chain may be cut behind any hinge, which makes another angle the one that is left; the arm may be taken
reversed; and y may be multiplied by in place of x. For an arm whose axes meet or are parallel in places some of these have
matrices that are always singular, and say nothing.

**No proof.** Arcs of the angle in which the matrix is regular, and one zero about each posture, all in ball arithmetic, would
prove that a list is complete. Nothing checks that independently yet, so such lists are never called proved.
"""

from __future__ import annotations

import numpy as np

from supple.geometry.placements import Floats
from supple.solvers.closed_forms.axes import HINGES, Axes

NEARLY_REAL = 0.02  # of log |exp(iq)|: what is polished, not what is believed
AROUND = 2.0 * np.pi * np.arange(8) / 8.0  # angles from which the tangent may be measured


def cross_matrix(a: Floats) -> Floats:
    """``b ↦ a × b``."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def lifted(p: Floats, l: Floats) -> Floats:
    """The fifteen numbers of a line."""
    return np.concatenate([[1.0], p, l, [p @ p, p @ l], np.cross(p, l), (p @ p) * l - 2.0 * (p @ l) * p])


def acting(R: Floats, t: Floats) -> Floats:
    """What a motion does to the fifteen numbers; R need not be a rotation where t is zero."""
    M = np.zeros((15, 15))
    M[0, 0] = M[7, 7] = M[8, 8] = 1.0
    for at in (1, 4, 9, 12):
        M[at : at + 3, at : at + 3] = R
    M[1:4, 0], M[7, 0] = t, t @ t
    M[7, 1:4], M[8, 4:7] = 2.0 * t @ R, t @ R
    M[9:12, 4:7] = cross_matrix(t) @ R
    M[12:15, 9:12] = -2.0 * cross_matrix(t) @ R
    M[12:15, 4:7] = (t @ t) * R - 2.0 * np.outer(t, t @ R)
    M[12:15, 8] = -2.0 * t
    return M


def turning(h: Floats, p: Floats) -> Floats:
    """``A, B, C`` (3, 15, 15) of the turn about a line."""
    there, back, K = acting(np.eye(3), p), acting(np.eye(3), -p), cross_matrix(h)
    still = acting(np.outer(h, h), np.zeros(3))
    parts = [np.zeros((15, 15)), np.zeros((15, 15))]
    for at in (1, 4, 9, 12):
        parts[0][at : at + 3, at : at + 3] = np.eye(3) - np.outer(h, h)
        parts[1][at : at + 3, at : at + 3] = K
    return np.array([there @ part @ back for part in (still, *parts)])


def halved(E: Floats) -> Floats:
    """Coefficients by (1, cos, sin) along the last axis as those by powers of the tangent of the half angle, times 1 + t²."""
    one, c, s = E[..., 0], E[..., 1], E[..., 2]
    return np.stack([one + c, 2.0 * s, one - c], axis=-1)


class Elimination:
    """The closed chain cut behind hinge `cut`, with the target's motion g; `swapped`: multiplied by y."""

    def __init__(self, axes: Axes, g: Floats, cut: int, swapped: bool = False) -> None:
        self.cut, self.swapped, size = cut, swapped, axes.reach
        R, t = g[:3, :3], g[:3, 3]
        h, p = np.array(axes.along), np.array(axes.through)
        h[:cut], p[:cut] = h[:cut] @ R, (p[:cut] - t) @ R
        self.order = (np.arange(HINGES) + cut) % HINGES
        self.h, p = h[self.order], p[self.order]
        origin = p[2].copy()
        self.p = (p - origin) / size
        self.R, self.t = R, (R @ origin + t - origin) / size

    def equations(self) -> tuple[Floats, Floats]:
        """Both sides: (14, 3, 3, 3) by q_3, q_4, q_5 and (14, 3, 3) by q_2, q_1."""
        h, p = self.h, self.p
        turns = [turning(a, b) for a, b in zip(h, p, strict=True)]
        last = lifted(p[5], h[5])
        there = lifted(self.R @ p[5] + self.t, self.R @ h[5])
        left = np.einsum("aij,bjk,ckl,l->iabc", turns[2], turns[3], turns[4], last, optimize=True)
        back = np.array([1.0, 1.0, -1.0])  # of an angle undone
        first = np.einsum("a,aij,j->ia", back, turns[0], there)
        right = np.einsum("b,bij,ja->iba", back, turns[1], first)
        return left[1:], right[1:]

    def matrix(self) -> tuple[Floats, Floats, Floats]:
        """The matrix (3, 12, 12) by 1, cosine and sine; both sides less the constant; and what solves for the products."""
        left, right = self.equations()
        known = right.reshape(14, 9)
        E = left.copy()
        E[:, 0, 0, 0] -= known[:, 0]
        Q = np.linalg.qr(known[:, 1:], mode="complete")[0][:, 8:]
        six = np.tensordot(Q, E, axes=(0, 0))  # by q_3, q_4, q_5
        six = np.moveaxis(halved(np.moveaxis(halved(six), 2, -1)), -1, 2)  # by q_3, powers of x, powers of y
        six = six.swapaxes(2, 3) if self.swapped else six
        M = np.zeros((3, 12, 12))
        for k in range(3):
            block = six[:, k].reshape(6, 9)
            M[k, :6, :9] = M[k, 6:, 3:] = block
        return M / max(float(np.abs(M).max()), 1e-300), E, np.linalg.pinv(known[:, 1:]).astype(np.float64)

    def postures(self) -> Floats:
        """Postures (k, 6), in the order of the arm, that are worth polishing."""
        M, E, solved = self.matrix()
        return self.unfolded(*zeros_of(M), E, solved)

    def conditioning(self) -> float:
        """How far the matrix is from being singular where it is farthest; none if it always is."""
        return float(seen_from_around(self.matrix()[0]).max())

    def unfolded(self, q3: Floats, kernels: Floats, E: Floats, solved: Floats) -> Floats:
        """All six angles from the third and the kernels."""
        q4 = half_angles(kernels[:, :9], kernels[:, 3:])
        rows = kernels.reshape(-1, 4, 3)
        q5 = half_angles(rows[:, :, :2].reshape(-1, 8), rows[:, :, 1:].reshape(-1, 8))
        q4, q5 = (q5, q4) if self.swapped else (q4, q5)
        parts = [np.stack([np.ones_like(q), np.cos(q), np.sin(q)], axis=1) for q in (q3, q4, q5)]
        products = np.einsum("iabc,na,nb,nc->ni", E, *parts, optimize=True) @ solved.T
        q1, q2 = np.arctan2(products[:, 1], products[:, 0]), np.arctan2(products[:, 5], products[:, 2])
        out = np.empty((len(q3), HINGES))
        for k, q in enumerate((q1, q2, q3, q4, q5, self.last(q1, q2, q3, q4, q5))):
            out[:, self.order[k]] = q
        return out

    def last(self, *angles: Floats) -> Floats:
        """The sixth angle: what is left of a direction across the last axis when all others are undone."""
        h = self.h[5]
        e = np.cross(h, np.eye(3)[np.argmin(np.abs(h))])
        e /= np.linalg.norm(e)
        a = np.tile(self.R @ e, (len(angles[0]), 1))
        for k, q in zip(self.h, angles, strict=False):
            c, s = np.cos(q)[:, None], -np.sin(q)[:, None]
            a = c * a + s * np.cross(k, a) + (1.0 - c) * (a @ k)[:, None] * k
        return np.arctan2(a @ np.cross(h, e), a @ e)


def half_angles(low: Floats, high: Floats) -> Floats:
    """Angles whose half has the tangent that rows of `high` are of those of `low`, nearly."""
    a, b, c = (low * low).sum(1), (low * high).sum(1), (high * high).sum(1)
    return 2.0 * np.where(a >= c, np.arctan2(b, a), np.arctan2(c, b))


def seen_from_around(M: Floats) -> Floats:
    """The smallest singular value of the matrix, in parts of the largest, at some angles."""
    around = AROUND[:, None, None]
    values = np.linalg.svd(M[0] + np.cos(around) * M[1] + np.sin(around) * M[2], compute_uv=False)
    return (values[:, -1] / np.maximum(values[:, 0], 1e-300)).astype(np.float64)


def zeros_of(M: Floats) -> tuple[Floats, Floats]:
    """Angles at which ``M_0 + cos q M_1 + sin q M_2`` is all but singular, and its kernels there, as rows."""
    if not np.isfinite(M).all():
        return np.empty(0), np.empty((0, 12))
    zero = (
        AROUND[int(np.argmax(seen_from_around(M)))] + np.pi
    )  # the tangent is infinite where it is farthest from singular
    c, s = np.cos(zero), np.sin(zero)
    M1, M2 = c * M[1] + s * M[2], c * M[2] - s * M[1]
    P, Q, S = M[0] + M1, 2.0 * M2, M[0] - M1
    companion = np.zeros((24, 24))
    companion[:12, 12:] = np.eye(12)
    companion[12:] = -np.linalg.solve(S, np.hstack([P, Q]))
    values, vectors = np.linalg.eig(companion)
    with np.errstate(all="ignore"):
        turn = (1.0 + 1j * values) / (1.0 - 1j * values)
        keep = np.abs(np.log(np.abs(turn))) < NEARLY_REAL
    keep &= np.imag(values) >= -1e-9
    kernels = vectors[:12, keep].T
    biggest = kernels[np.arange(len(kernels)), np.abs(kernels).argmax(1)]
    return np.angle(turn[keep]) + zero, (kernels / biggest[:, None]).real
