"""Pins of a frame: points that must coincide, and the multipliers that bring them together (formulas in `frame_step`)."""

from __future__ import annotations

from typing import Any

from supple.kernels.algebra.vectors import clear
from supple.kernels.compiling import leaf
from supple.motion.tracking.elimination import back_substitute
from supple.motion.tracking.frame_model import point_at
from supple.motion.tracking.rig import PIN_MARKER, PIN_SECOND, WORLD_PIN

SOFT = 1e-12  # of the size of ``C H⁻¹ Cᵀ``: what lets redundant pins be


@leaf
def is_idle(rig: Any, seen: Any, k: int) -> bool:
    """Whether pin k holds a marker that was not seen."""
    return rig.pin[k, PIN_SECOND] == WORLD_PIN and not seen.weight[rig.pin[k, PIN_MARKER]] > 0.0


@leaf
def observe_pins(rig: Any, scratch: Any, seen: Any) -> float:
    """Where the ends of pins are, and how far apart, all together."""
    total = 0.0
    for k in range(rig.pin.shape[0]):
        for e in range(2):
            r, s = rig.pin[k, e], 3 * e
            if r == WORLD_PIN:
                m = rig.pin[k, PIN_MARKER]
                x, y, z = seen.place[m, 0], seen.place[m, 1], seen.place[m, 2]
            else:
                at = rig.pin_at
                x, y, z = point_at(scratch.world, rig.row[r], at[k, s], at[k, s + 1], at[k, s + 2], 1.0)
            scratch.end[k, s], scratch.end[k, s + 1], scratch.end[k, s + 2] = x, y, z
        idle = is_idle(rig, seen, k)
        for i in range(3):
            scratch.gap[3 * k + i] = 0.0 if idle else scratch.end[k, i] - scratch.end[k, 3 + i]
            total += abs(scratch.gap[3 * k + i])
    return total


@leaf
def differentiate_pins(rig: Any, scratch: Any, seen: Any) -> None:
    """``C = ∂gap/∂q``."""
    clear(scratch.C)
    for k in range(rig.pin.shape[0]):
        sign, idle = 1.0, is_idle(rig, seen, k)
        for e in range(2):
            l = rig.pin[k, e]
            x, y, z = scratch.end[k, 3 * e], scratch.end[k, 3 * e + 1], scratch.end[k, 3 * e + 2]
            while l > 0 and not idle:
                for a in range(rig.first[l], rig.first[l + 1]):
                    t, i = scratch.twist, rig.axis[a]
                    scratch.C[3 * k, i] += sign * (t[a, 3] + t[a, 1] * z - t[a, 2] * y)
                    scratch.C[3 * k + 1, i] += sign * (t[a, 4] + t[a, 2] * x - t[a, 0] * z)
                    scratch.C[3 * k + 2, i] += sign * (t[a, 5] + t[a, 0] * y - t[a, 1] * x)
                l = rig.up[l]
            sign = -1.0


@leaf
def close_pins(rig: Any, scratch: Any) -> None:
    """Turn the step without pins into the one that closes them, and write down their multipliers.

    ``M π = C dq + c`` with ``M = C H⁻¹Cᵀ``; then ``dq −= H⁻¹Cᵀ π``. M is damped a little, since pins may be
    redundant.
    """
    p, n, size = scratch.gap.shape[0], scratch.step.shape[0], 0.0
    for a in range(p):
        s = scratch.gap[a]
        for i in range(n):
            s += scratch.C[a, i] * scratch.step[i]
            scratch.Y[a, i] = 0.0
        scratch.y[a] = s
        clear(scratch.P)
        back_substitute(rig, scratch, scratch.C[a], scratch.Y[a], 0.0)
    for a in range(p):
        for b in range(p):
            s = 0.0
            for i in range(n):
                s += scratch.C[b, i] * scratch.Y[a, i]
            scratch.M[a, b] = s
        size += scratch.M[a, a]
    for a in range(p):
        scratch.M[a, a] += SOFT * size + 1e-300
    for a in range(p):  # Gaussian elimination of a positive definite matrix
        for b in range(a + 1, p):
            s = scratch.M[b, a] / scratch.M[a, a]
            scratch.y[b] -= s * scratch.y[a]
            for c in range(a + 1, p):
                scratch.M[b, c] -= s * scratch.M[a, c]
    for a in range(p - 1, -1, -1):
        for b in range(a + 1, p):
            scratch.y[a] -= scratch.M[a, b] * scratch.y[b]
        scratch.y[a] /= scratch.M[a, a]
    for a in range(p):
        scratch.multiplier[a] = scratch.y[a]
        for i in range(n):
            scratch.step[i] -= scratch.Y[a, i] * scratch.y[a]


@leaf
def largest_multiplier(scratch: Any) -> float:
    """The largest of the pins' multipliers."""
    s = 0.0
    for a in range(scratch.multiplier.shape[0]):
        s = max(s, abs(scratch.multiplier[a]))
    return s
