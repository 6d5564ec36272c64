"""How far each coordinate could be from where it was put, for all that the markers tell.

Markers are off by e on average, in each direction. Near a posture of least squares the errors of its coordinates then have the
covariance ``e² H⁻¹``, H the Gauss–Newton matrix of the markers that were seen; what no marker tells has no bound but the range
of its joint. Ends of loops count as met. H is that of the frame alone: methods that look across frames know more.
"""

from __future__ import annotations

import numpy as np

from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.kernels.layouts import COORDINATES
from supple.motion.tracking.clip import Clip
from supple.motion.tracking.frame_by_frame import FrameByFrame
from supple.motion.tracking.normal_equations import normal_entry
from supple.motion.tracking.rig import FRAME, PINS

MET = 1e6  # weight of the ends of loops
BLIND = 1e-9  # [m²] what H is at least, so that it can be inverted


def doubts(figure: Figure, q: Floats, markers: tuple[str, ...], errors: Floats) -> Floats:
    """The standard deviation of each coordinate (frames, size), at most its range."""
    seen = np.isfinite(errors)
    none = np.zeros((*seen.shape, 3))
    clip = Clip(figure, markers, none, seen.astype(float), np.zeros((2, figure.size)), limits=False)
    I, F = clip.packing.packed
    T, n, rows = len(q), int(I[COORDINATES]), 3 * int(I[PINS])
    H, C = np.empty((T, n, n)), np.zeros((T, rows, n))
    settings, scratch = FrameByFrame().settings(clip, 0), FRAME.fresh(I)
    near, Q = np.zeros((T, 2, n)), np.ascontiguousarray(q[:, clip.packing.chosen])
    value, G, gap = np.empty(T), np.empty((T, n)), np.zeros((T, rows))
    normal_entry(I, F, scratch, none, clip.weights, near, Q, settings, value, G, H, gap, C)
    counts = seen.sum(axis=1)
    e = np.sqrt(np.nansum(errors**2) / max(float(np.maximum(3 * counts - n, counts).sum()), 1.0))
    covariance = np.linalg.inv(H + MET * np.einsum("tri,trj->tij", C, C) + BLIND * np.eye(n))
    out = np.full(q.shape, np.inf)
    out[:, clip.packing.chosen] = e * np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    if not figure.loops:
        out[clip.untold] = np.inf
    return np.minimum(out, figure.upper - figure.lower)
