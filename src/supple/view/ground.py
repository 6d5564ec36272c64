"""The ground under a figure: a grid that fades away, and a soft shadow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.geometry.placements import Floats
from supple.view.camera import Camera
from supple.view.colours import SHADOW
from supple.view.skeleton import Piece

LAYERS = 7


def height_of_ground(pieces: Sequence[Piece], size: float) -> float:
    """The floor is z = 0, unless the figure reaches below it or floats far above."""
    lowest = min(float(piece.solid.skin()[0][:, 2].min()) for piece in pieces)
    return lowest if lowest < -0.01 * size or lowest > size else 0.0


def shadows(pieces: Sequence[Piece], camera: Camera, ground: float, size: float) -> list[tuple[Floats, Floats]]:
    """Outlines (n, 2) and colours of the shadow, from its faint rim to its core; the higher, the more blurred."""
    from scipy.spatial import ConvexHull, QhullError

    out = []
    for layer in range(LAYERS):
        blur = 1.0 - layer / (LAYERS - 1)
        colour = 1.0 + (np.array(SHADOW) - 1.0) * max(1.0 - blur, 0.06) ** 1.1
        for piece in pieces:
            if not piece.shadow:
                continue
            skin, normal = piece.solid.skin()
            height = np.clip(skin[:, 2:] - ground, 0.0, None)
            fallen = skin - height * camera.sun + blur * (0.005 * size + 0.05 * height) * normal
            fallen[:, 2] = ground
            points = camera.flat(fallen)
            try:
                out.append((points[ConvexHull(points).vertices], colour))
            except QhullError:  # the ground seen from its edge
                continue
    return out


def grid(camera: Camera, middle: Floats, reach: float) -> tuple[Floats, Floats]:
    """Short pieces (n, 2, 2) of a square grid on the ground around `middle`, and how visible each of them is."""
    spacing = nice(0.32 * reach)
    first = np.floor((middle[:2] - reach) / spacing).astype(int)
    last = np.ceil((middle[:2] + reach) / spacing).astype(int)
    fine = np.linspace(-reach, reach, 49)
    pieces = []
    for axis in (0, 1):
        for k in range(first[axis], last[axis] + 1):
            line = np.empty((len(fine), 3))
            line[:, axis], line[:, 1 - axis], line[:, 2] = k * spacing, middle[1 - axis] + fine, middle[2]
            pieces.append(np.stack([line[:-1], line[1:]], axis=1))
    segments = np.concatenate(pieces)
    distance = np.linalg.norm(segments.mean(axis=1)[:, :2] - middle[:2], axis=1) / reach
    strength = np.clip(1.0 - distance, 0.0, 1.0) ** 0.9
    seen = strength > 0.01
    return camera.flat(segments[seen]), strength[seen]


def nice(length: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above `length`."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(max(m * power for m in (1.0, 2.0, 5.0) if m * power <= length * (1 + 1e-9)))
