"""A clip, frame by frame: each starts where the one before ended.

Moving a start on as the figure was moving saves half a step a frame, but lets what the markers do not tell drift away
for good. A frame whose pins cannot be closed may end anywhere: the one behind it then starts where the last frame that
closed them ended, if its own pins are less open there.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.charts import EXACT, STEEP, recentre, report
from supple.kernels.compiling import entry
from supple.kernels.layouts import CHARTS, COORDINATES
from supple.motion.tracking.frame_step import KAPPA, fit_frame, observe_frame
from supple.motion.tracking.rig import CLOSED, ENDED, OPEN, STUCK, Seen, open_frame

EASE = 0.8  # what is left of κ from frame to frame


@entry
def frames_entry(
    I: Any, F: Any, memory: Any, D: Any, W: Any, near: Any, Q: Any, settings: Any, chained: bool, reports: Any
) -> None:
    """Fit frames D (k, m, 3) with weights W (k, m) from the postures Q (k, n), in place; reports (k, REPORT).

    Where they are chained, each but the first starts from the one before; `near` (k, 2, n) are the weights and values
    of the posture to keep near to. F must be the caller's own: charts are folded into it on the way.
    """
    n, scratch = I[COORDINATES], open_frame(I, memory)
    scratch.kappa[0] = KAPPA
    closed = 0  # the last frame whose pins are
    for t in range(Q.shape[0]):
        seen, last = Seen(D[t], W[t], near[t]), max(t - 1, 0)
        if chained and closed < last:
            _, gap = observe_frame(I, F, memory, Q[closed], seen, math.inf)
            _, other = observe_frame(I, F, memory, Q[last], seen, math.inf)
            last = closed if gap < other else last
        q, before = Q[t], Q[last]
        if chained and t > 0:
            for i in range(n):
                q[i] = before[i]
        if I[CHARTS] > 0:
            for i in range(n):
                scratch.start[i] = q[i]
            recentre(I, F, q, STEEP)
        fit_frame(I, F, memory, seen, q, settings, reports[t])
        closed = t if reports[t, OPEN] <= CLOSED else closed
        moves = chained and reports[t, ENDED] != STUCK
        scratch.kappa[0] = max(KAPPA, EASE * scratch.kappa[0]) if moves else KAPPA
        if I[CHARTS] > 0:
            report(I, F, q, scratch.start, EXACT)
