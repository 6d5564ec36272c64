"""A clip, frame by frame: each starts where the one before ended.

Moving a start on as the figure was moving saves half a step a frame, but lets what the markers do not tell drift away
for good. A frame whose pins cannot be closed may end anywhere: the one behind it then starts where the last frame that
closed them ended, if its own pins are less open there.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.charts import EXACT, STEEP, recentre, report
from supple.kernels.compiling import entry, stage
from supple.kernels.layouts import CHARTS, COORDINATES
from supple.kernels.tree import open_tree
from supple.motion.tracking.frame_step import CLOSED, ENDED, KAPPA, OPEN, STUCK, fit_frame, observe, observe_pins
from supple.motion.tracking.rig import open_rig, read_bench

EASE = 0.8  # what is left of κ from frame to frame


@stage
def openness(I: Any, F: Any, memory: Any, D: Any, W: Any, near: Any, q: Any) -> float:
    """How far the pins of a frame are open in a posture."""
    tree = open_tree(I, F)
    rig = open_rig(I, F)
    bench = read_bench(I, memory)
    observe(tree, rig, bench, q, D, W, near, math.inf)
    return observe_pins(rig, bench, D, W)


@entry
def frames_entry(
    I: Any, F: Any, memory: Any, D: Any, W: Any, near: Any, Q: Any, settings: Any, chained: bool, told: Any
) -> None:
    """Fit frames D (k, m, 3) with weights W (k, m) from the postures Q (k, n), in place; told (k, TOLD).

    Where they are chained, each but the first starts from the one before; `near` (k, 2, n) are the weights and values
    of the posture to keep near to. F must be the caller's own: charts are folded into it on the way.
    """
    n = I[COORDINATES]
    bench = read_bench(I, memory)
    bench.state[0] = KAPPA
    closed = 0  # the last frame whose pins are
    for t in range(Q.shape[0]):
        last = max(t - 1, 0)
        if chained and closed < last:
            gap = openness(I, F, memory, D[t], W[t], near[t], Q[closed])
            last = closed if gap < openness(I, F, memory, D[t], W[t], near[t], Q[last]) else last
        q, before = Q[t], Q[last]
        if chained and t > 0:
            for i in range(n):
                q[i] = before[i]
        if I[CHARTS] > 0:
            for i in range(n):
                bench.start[i] = q[i]
            recentre(I, F, q, STEEP)
        fit_frame(I, F, memory, D[t], W[t], near[t], q, settings, told[t])
        closed = t if told[t, OPEN] <= CLOSED else closed
        moves = chained and told[t, ENDED] != STUCK
        bench.state[0] = max(KAPPA, EASE * bench.state[0]) if moves else KAPPA
        if I[CHARTS] > 0:
            report(I, F, q, bench.start, EXACT)
