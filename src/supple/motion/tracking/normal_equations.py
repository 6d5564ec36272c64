"""Gradient and Gauss–Newton matrix of every frame of a clip, dense, for methods that couple frames (`whole`).

With A summed over everything a link carries, ``H_ab = ξ_aᵀ A ξ_b`` for axis b of that link and every axis a of it or above.
"""

from __future__ import annotations

from typing import Any

from supple.kernels.compiling import entry, leaf
from supple.kernels.scratch import clear
from supple.kernels.tree import open_tree
from supple.motion.tracking.frame_step import HUBER, differentiate_pins, find_slopes, load, observe, observe_pins, weigh
from supple.motion.tracking.rig import PINS, SYMMETRIC, open_rig, read_bench


@leaf
def lean_on(A: Any, l: int, t: Any, a: int, U: Any) -> None:
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
def add_matrix(rig: Any, bench: Any, H: Any) -> None:
    """The Gauss–Newton matrix of the markers into H (n, n)."""
    weigh(rig, bench)
    clear(H)
    for l in range(rig.up.shape[0] - 1, 0, -1):
        for b in range(rig.first[l], rig.first[l + 1]):
            lean_on(bench.inertia, l, bench.twist, b, bench.lean)
            above = l
            while above > 0:
                for a in range(rig.first[above], rig.first[above + 1] if above != l else b + 1):
                    h = 0.0
                    for i in range(6):
                        h += bench.twist[a, i] * bench.lean[b, i]
                    H[rig.axis[a], rig.axis[b]] = H[rig.axis[b], rig.axis[a]] = h
                above = rig.up[above]
        for i in range(SYMMETRIC):
            bench.inertia[rig.up[l], i] += bench.inertia[l, i]


@entry
def normal_entry(
    I: Any, F: Any, memory: Any, D: Any, W: Any, near: Any, Q: Any, settings: Any, value: Any, G: Any, H: Any, gap: Any,
    C: Any,
) -> None:  # fmt: skip
    """At the postures Q (k, n): value (k), gradients G (k, n), matrices H (k, n, n), gaps (k, 3p) and their derivatives C."""
    tree = open_tree(I, F)
    rig = open_rig(I, F)
    bench = read_bench(I, memory)
    for t in range(Q.shape[0]):
        value[t] = observe(tree, rig, bench, Q[t], D[t], W[t], near[t], settings[HUBER])
        observe_pins(rig, bench, D[t], W[t])
        load(rig, bench)
        find_slopes(rig, bench, Q[t], near[t])
        add_matrix(rig, bench, H[t])
        for i in range(Q.shape[1]):
            G[t, i] = bench.g[i]
            H[t, i, i] += near[t, 0, i]
        if I[PINS] > 0:
            differentiate_pins(rig, bench, W[t])
            for r in range(gap.shape[1]):
                gap[t, r] = bench.gap[r]
                for i in range(Q.shape[1]):
                    C[t, r, i] = bench.C[r, i]
