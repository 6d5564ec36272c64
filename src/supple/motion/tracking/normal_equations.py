"""Gradient and Gauss–Newton matrix of every frame of a clip, dense, for methods that couple frames (`whole_clip`).

With A summed over everything a link carries, ``H_ab = ξ_aᵀ A ξ_b`` for axis b of that link and every axis a of it or above.
`band_entry` puts the matrices of all frames into one, for `banded`.
"""

from __future__ import annotations

from typing import Any

from supple.kernels.algebra.vectors import clear
from supple.kernels.compiling import entry, leaf
from supple.motion.tracking.frame_model import find_gradient, find_matrices, find_wrenches
from supple.motion.tracking.frame_step import observe_frame
from supple.motion.tracking.pinned_ends import differentiate_pins
from supple.motion.tracking.rig import HUBER, PINS, SYMMETRIC, Seen, open_frame, open_rig


@leaf
def times_twist(A: Any, l: int, t: Any, a: int, U: Any) -> None:
    """``U[a] = A[l] ξ_a`` of a symmetric matrix in 21 numbers."""
    at = 0
    for i in range(6):
        U[a, i] = 0.0
    for i in range(6):
        for j in range(i, 6):
            U[a, i] += A[l, at] * t[a, j]
            if j > i:
                U[a, j] += A[l, at] * t[a, i]
            at += 1


@leaf
def add_matrix(rig: Any, scratch: Any, H: Any) -> None:
    """The Gauss–Newton matrix of the markers into H (n, n)."""
    find_matrices(rig, scratch)
    clear(H)
    for l in range(rig.up.shape[0] - 1, 0, -1):
        for b in range(rig.first[l], rig.first[l + 1]):
            times_twist(scratch.A, l, scratch.twist, b, scratch.U)
            above = l
            while above > 0:
                for a in range(rig.first[above], rig.first[above + 1] if above != l else b + 1):
                    h = 0.0
                    for i in range(6):
                        h += scratch.twist[a, i] * scratch.U[b, i]
                    H[rig.axis[a], rig.axis[b]] = H[rig.axis[b], rig.axis[a]] = h
                above = rig.up[above]
        for i in range(SYMMETRIC):
            scratch.A[rig.up[l], i] += scratch.A[l, i]


@entry
def normal_entry(
    I: Any, F: Any, memory: Any, D: Any, W: Any, near: Any, Q: Any, settings: Any, value: Any, G: Any, H: Any, gap: Any,
    C: Any,
) -> None:  # fmt: skip
    """At the postures Q (k, n): value (k), gradients G (k, n), matrices H (k, n, n), gaps (k, 3p) and their derivatives C."""
    rig, scratch = open_rig(I, F), open_frame(I, memory)
    for t in range(Q.shape[0]):
        seen = Seen(D[t], W[t], near[t])
        value[t], _ = observe_frame(I, F, memory, Q[t], seen, settings[HUBER])
        find_wrenches(rig, scratch)
        find_gradient(rig, scratch, Q[t], seen)
        add_matrix(rig, scratch, H[t])
        for i in range(Q.shape[1]):
            G[t, i] = scratch.gradient[i]
            H[t, i, i] += near[t, 0, i]
        if I[PINS] > 0:
            differentiate_pins(rig, scratch, seen)
            for r in range(gap.shape[1]):
                gap[t, r] = scratch.gap[r]
                for i in range(Q.shape[1]):
                    C[t, r, i] = scratch.C[r, i]


@entry
def band_entry(H: Any, near: Any, far: Any, scale: Any, band: Any) -> None:
    """Blocks H (k, n, n) and the diagonals that couple a frame with the next and the next but one (k, n) into `band`."""
    n = H.shape[1]
    for t in range(H.shape[0]):
        for i in range(n):
            c, s = t * n + i, scale[t, i]
            for j in range(band.shape[1]):
                band[c, j] = 0.0
            for j in range(i, n):
                band[c, j - i] = H[t, i, j] * s * scale[t, j]
            if t + 1 < H.shape[0]:
                band[c, n] = near[t, i] * s * scale[t + 1, i]
            if t + 2 < H.shape[0]:
                band[c, 2 * n] = far[t, i] * s * scale[t + 2, i]
            if s == 0.0:
                band[c, 0] = 1.0
