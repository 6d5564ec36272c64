"""One frame: the posture whose markers lie nearest to where they were seen, inside limits, with loops closed.

Minimise over ``l ≤ q ≤ h``, with ``c(q) = 0`` for what is pinned,

    f(q) = ½ Σ_k w_k |p_k(q) − d_k|² + ½ Σ_i h_i (q_i − r_i)²,

p_k the place of marker k, d_k where it was seen (w_k = 0 where it was not), and h, r a posture to keep near to. A
marker that is further off than `huber` counts as an outlier, with the weight ``w huber/|p − d|`` (Huber's loss). A marker of a
negative weight has a floor: it costs ``½ |w| (z_d − z)²`` where it is lower than d, and nothing above.

**The step** of Gauss–Newton, damped by λ, is found without a matrix. All markers of a link act on its twist v through
one wrench and one 6 × 6 matrix (points p with forces ``f = w (p − d)``, in world axes about the world's origin),

    P = Σ (p × f, f),    A = Σ w [[|p|² I − p pᵀ, [p]×], [[p]×ᵀ, I]],

and a step dq moves the link by ``v = v_above + Σ_a ξ_a dq_a``. So the model ``½ Σ vᵀA v + Σ Pᵀv + ½ Σ (λ + h) dq²``
is that of a tree of rigid bodies, and eliminating one axis after the other from the leaves to the root, as
articulated-body dynamics does, solves it:

    U = A ξ,   D = ξᵀU + λ + h,   u = r − ξᵀP;   A ← A − U Uᵀ/D,   P ← P + U u/D;
    then from the root   dq = (u − Uᵀv)/D,   v ← v + ξ dq,

where r is the slope of what is not a marker. The cost grows with joints and markers, not with their product. Axes at
a limit against which the slope presses are left out; those that would cross one are put on it, ``P ← P + U dq``, and
the others solved for again. Pins add multipliers: ``C dq = −c`` by the small matrix ``C H⁻¹Cᵀ``, one more pass for
each of its rows.

**Damping.** Figures are often redundant: several joints between two segments with markers. Along what the markers do
not tell, the curvature that Gauss–Newton leaves out has the size of the misfit and either sign, and its steps
overshoot unless λ is as large; ``λ = κ f`` is. κ is raised when a step does not lower ``f + σ |c|₁`` and eased from
frame to frame. The loop ends with a step that promises no more than the share `tolerance` of f, or would with the usual κ.
"""

from __future__ import annotations

from typing import Any

from supple.kernels.compiling import leaf, stage
from supple.kernels.layouts import COORDINATES
from supple.kernels.tree import open_tree
from supple.motion.tracking.elimination import back_substitute, eliminate
from supple.motion.tracking.frame_model import find_gradient, find_wrenches, observe_markers
from supple.motion.tracking.pinned_ends import close_pins, differentiate_pins, largest_multiplier, observe_pins
from supple.motion.tracking.rig import (
    CLOSED,
    CONVERGED,
    ENDED,
    HUBER,
    ITERATIONS,
    LIMITED,
    OPEN,
    PINS,
    SPENT,
    STEPS,
    STUCK,
    TOLERANCE,
    VALUE,
    open_frame,
    open_rig,
)

FLOOR = 1e-12  # [m²] λ at least, for markers of weight 1
SETTLED = 1e-24  # [m²] a value that counts as none
KAPPA = 0.5  # κ to begin with
GREATEST = 1e12  # κ with which nothing moves
TURNS = 4  # times that a step is solved for, each time with the limits that the last one met


@stage
def observe_frame(I: Any, F: Any, memory: Any, q: Any, seen: Any, huber: float) -> Any:
    """Where everything is at q; f, and how far the pins are open."""
    tree, rig, scratch = open_tree(I, F), open_rig(I, F), open_frame(I, memory)
    value = observe_markers(tree, rig, scratch, q, seen, huber)
    return value, observe_pins(rig, scratch, seen)


@leaf
def step_inside(rig: Any, scratch: Any, q: Any, seen: Any, damping: float, limited: bool) -> float:
    """The trial: the minimum of the model inside the limits. Returns how much lower the model is there."""
    n, hits, gain = q.shape[0], 1, 0.0
    for i in range(n):
        g = scratch.gradient[i]
        pressed = limited and ((q[i] <= rig.lower[i] and g > 0.0) or (q[i] >= rig.upper[i] and g < 0.0))
        scratch.held[i] = 1.0 if pressed else 0.0
        scratch.step[i] = 0.0
    for turn in range(TURNS):
        if hits == 0:
            break
        eliminate(rig, scratch, seen, damping)
        for l in range(rig.up.shape[0]):
            for i in range(6):
                scratch.P[l, i] = scratch.own[l, i]
        for i in range(n):
            scratch.r[i] = -seen.near[0, i] * (q[i] - seen.near[1, i])
        gain = back_substitute(rig, scratch, scratch.r, scratch.step, 1.0)
        if scratch.gap.shape[0] > 0:
            close_pins(rig, scratch)
            gain = 0.0
            for i in range(n):
                gain -= 0.5 * scratch.gradient[i] * scratch.step[i]
            gain = abs(gain)
        hits = 0
        for i in range(n):
            x = q[i] + scratch.step[i]
            scratch.trial[i] = min(max(x, rig.lower[i]), rig.upper[i])
            if scratch.held[i] == 0.0 and scratch.trial[i] != x and turn < TURNS - 1:
                scratch.held[i] = 2.0
                scratch.step[i] = scratch.trial[i] - q[i]
                hits += 1
    return gain


@stage
def fit_frame(I: Any, F: Any, memory: Any, seen: Any, q: Any, settings: Any, report: Any) -> None:
    """Descend from q in place; the report says how it went. Places of markers are left in the scratch, and κ."""
    rig, scratch = open_rig(I, F), open_frame(I, memory)
    n, huber, limited, kappa = I[COORDINATES], settings[HUBER], settings[LIMITED] != 0.0, scratch.kappa[0]
    for i in range(n):
        q[i] = min(max(q[i], rig.lower[i]), rig.upper[i])
    value, gap = observe_frame(I, F, memory, q, seen, huber)
    sigma, k, ended, fresh = 0.0, 0, SPENT, True
    while k < settings[STEPS]:
        k += 1
        if fresh:
            find_wrenches(rig, scratch)
            if limited or I[PINS] > 0:
                find_gradient(rig, scratch, q, seen)
            if I[PINS] > 0:
                differentiate_pins(rig, scratch, seen)
        gain = step_inside(rig, scratch, q, seen, kappa * value + FLOOR, limited)
        sigma = max(sigma, 2.0 * largest_multiplier(scratch))
        new, gap_new = observe_frame(I, F, memory, scratch.trial, seen, huber)
        small = gain * max(kappa / KAPPA, 1.0) <= settings[TOLERANCE] * value or value <= SETTLED
        fresh = new + sigma * gap_new <= (value + sigma * gap) * (1.0 + 1e-12)
        if fresh:
            for i in range(n):
                q[i] = scratch.trial[i]
            value, gap = new, gap_new
        elif not small or gap > CLOSED:
            kappa *= 6.0
        if (small and gap <= CLOSED) or kappa > GREATEST:
            ended = STUCK if kappa > GREATEST else CONVERGED
            break
    if not fresh:
        value, gap = observe_frame(I, F, memory, q, seen, huber)
    scratch.kappa[0] = kappa
    report[ITERATIONS], report[VALUE], report[OPEN], report[ENDED] = k, value, gap, ended
