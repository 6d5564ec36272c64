"""The equations of points that are to meet, in floats (what they are is in `checker.points`)."""

from __future__ import annotations

import numpy as np

from supple.geometry.placements import Floats, inverse
from supple.proofs.checker.points import conformal, joint_parts
from supple.proofs.serial_chain import Chain, moved

EQUATIONS = 4  # of meeting points: w and |w|²


def point_rows(chain: Chain, target: Floats, middle: Floats, g: Floats, first: int) -> Floats:
    """The equations over the moments of both arcs, arc A being the first so many joints."""
    scale, n = 2.0 / chain.reach, len(chain.names)
    fixed = [
        B @ moved(x, slides) for B, x, slides in zip(chain.before, chain.signs * middle, chain.slides, strict=True)
    ]
    ahead = _vector(scale * target[:3, 3])
    for j in range(first):
        ahead = _conformal(inverse(fixed[j]), scale) @ ahead
        parts = joint_parts(-chain.signs[j] * g[j], chain.slides[j])
        ahead = np.stack([np.array(M) @ ahead for M in parts], axis=2).reshape(5, -1)
    behind = _vector(scale * chain.behind[:3, 3])
    for j in range(n - 1, first - 1, -1):
        parts = joint_parts(chain.signs[j] * g[j], chain.slides[j])
        behind = np.stack([np.array(M) @ behind for M in parts], axis=1).reshape(5, -1)
        behind = _conformal(fixed[j], scale) @ behind
    return np.concatenate([ahead[:EQUATIONS], -behind[:EQUATIONS]], axis=1)


def _conformal(T: Floats, scale: float) -> Floats:
    return np.array(conformal(T[:3, :3].tolist(), (scale * T[:3, 3]).tolist()))


def _vector(w: Floats) -> Floats:
    return np.array([*w, w @ w, 1.0])[:, None]
