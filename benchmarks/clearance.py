"""How long one distance between a bar and a solid takes, near and far, from inside compiled code.

Run ``python benchmarks/clearance.py``. One thread. Each number is the best of twenty rounds over 512 random placements of a bar
40 cm long: *near* ones are within 30 cm of the surface, *far* ones beyond, and may say so without the distance.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from supple.geometry.shapes import Ball, Box, Capsule, Polytope
from supple.kernels.clearance import gap
from supple.kernels.compiling import entry, row
from supple.kernels.solids import solid_of

HALF, COUNT, NEAR = 0.2, 512, 0.3
STONE = np.random.default_rng(3).normal(size=(20, 3))
SOLIDS = {
    "ball": Ball((0, 0, 0), 0.3),
    "capsule": Capsule(0.1, 0.5),
    "half-space": Polytope.half_space((0, 0, 0), (0, 0, 1)),
    "box": Box((-0.3, -0.2, -0.1), (0.4, 0.2, 0.3)),
    "20 planes": Polytope(STONE, 0.4 * np.linalg.norm(STONE, axis=1)),
}


@entry
def _gaps(S: Any, frames: Any, h: float, enough: float, out: Any, values: Any) -> None:
    """The distance of every frame."""
    solid, found = row(S, 0, S.shape[0]), row(out, 0, 6)
    for k in range(values.shape[0]):
        values[k] = gap(solid, 0, row(frames, 12 * k, 12), h, enough, found)


def frames_about(S: np.ndarray, near: bool) -> np.ndarray:
    """Random frames of which the bars are near the solid, or far from it."""
    rng, kept, out, value = np.random.default_rng(0), [], np.empty(6), np.empty(1)
    while len(kept) < COUNT:
        axes = Rotation.random(random_state=rng).as_matrix().T
        frame = np.concatenate([rng.uniform(-1, 1, 3) * (0.8 if near else 3.0), axes.ravel()])
        _gaps(S, frame, HALF, NEAR, out, value)
        if abs(value[0]) < NEAR if near else value[0] > NEAR:
            kept.append(frame)
    return np.concatenate(kept)


def nanoseconds(S: np.ndarray, frames: np.ndarray, enough: float) -> float:
    """The time of one distance."""
    out, values, best = np.empty(6), np.empty(COUNT), np.inf
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(20):
            _gaps(S, frames, HALF, enough, out, values)
        best = min(best, time.perf_counter() - start)
    return best / (20 * COUNT) * 1e9


def main() -> None:
    """Print the table."""
    print("solid        near [ns]   far [ns]")
    for name, shape in SOLIDS.items():
        S = solid_of(shape)
        near, far = (nanoseconds(S, frames_about(S, near), NEAR) for near in (True, False))
        print(f"{name:12} {near:9.1f} {far:9.1f}")


if __name__ == "__main__":
    main()
