"""A parallel view of the scene, and the image of solids in it: for every pixel the nearest surface, lit and outlined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from supple.errors import BadValue
from supple.geometry.placements import Floats, finite
from supple.view.colours import OUTLINE, colour_of
from supple.view.skeleton import Piece
from supple.view.solids import Bone

FINE = 2  # samples in a pixel along each axis
COARSE = 4  # samples between two of a field that is smooth anyway


class Camera:
    """A parallel view from `elevation` above the horizon and `azimuth` about z, counted from x [degrees]."""

    def __init__(self, view: Sequence[float]) -> None:
        elevation, azimuth = np.deg2rad(finite(view, (2,), "view, the elevation and the azimuth in degrees,"))
        if abs(elevation) > np.pi / 2 + 1e-9:
            raise BadValue(f"the elevation of a view lies between −90° and 90°, not {view[0]!r}")
        e, a = float(elevation), float(azimuth)
        towards = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])  # from the scene to the eye
        right = np.array([-np.sin(a), np.cos(a), 0.0])
        self.axes = np.stack([right, np.cross(towards, right), towards])  # of the paper, as rows
        away = -np.array([np.cos(a), np.sin(a), 0.0])
        self.sun = np.array([0.0, 0.0, 1.0]) - 0.22 * right - 0.10 * away  # where the shadow comes from
        self.placement = np.eye(4)
        self.placement[:3, :3] = self.axes

    def flat(self, points: Floats) -> Floats:
        """Where points (…, 3) fall on the paper: (…, 2) [m]."""
        return points @ self.axes[:2].T


class Image(NamedTuple):
    """Colours with opacity (rows from the bottom, columns, 4), and the part of the paper they cover."""

    pixels: Floats
    extent: tuple[float, float, float, float]  # left, right, bottom, top [m]


def photograph(pieces: Sequence[Piece], camera: Camera, room: Floats, pixel: float, size: float) -> Image:
    """The pieces as seen by the camera within `room`, rows (lowest, highest) of x and y; a pixel is `pixel` metres wide."""
    columns, rows = (int(np.ceil(length / pixel)) for length in np.ptp(room, axis=1))
    step = pixel / FINE
    x = room[0, 0] + step * (0.5 + np.arange(FINE * columns))
    y = room[1, 0] + step * (0.5 + np.arange(FINE * rows))
    depth = np.full((len(y), len(x)), -np.inf)
    normal = np.zeros((len(y), len(x), 3), dtype=np.float32)
    which = np.full(depth.shape, -1, dtype=np.int32)
    for k, piece in enumerate(pieces):
        solid = piece.solid.moved(camera.placement)
        skin, _ = solid.skin()
        r = 0.1 * float(np.ptp(skin, axis=0).max())  # places on a skin are a few degrees apart
        i0, i1 = np.searchsorted(x, (skin[:, 0].min() - r, skin[:, 0].max() + r))
        j0, j1 = np.searchsorted(y, (skin[:, 1].min() - r, skin[:, 1].max() + r))
        if i0 == i1 or j0 == j1:
            continue
        z, n = solid.top(*np.meshgrid(x[i0:i1], y[j0:j1]))
        z = z + _ahead(piece, skin.mean(axis=0), camera)
        box = (slice(j0, j1), slice(i0, i1))
        with np.errstate(invalid="ignore"):
            nearer = z > depth[box]
        depth[box][nearer], normal[box][nearer], which[box][nearer] = z[nearer], n[nearer], k
    colours = np.array([colour_of(piece.colour) for piece in pieces], dtype=np.float32)
    normal = _smoothed(normal, depth, np.isin(which, _broad(pieces, size)), size, step)
    shown = _lit(colours, which, normal, camera) * _hollows(depth, size, step)[..., None]
    fine = _outlined(np.clip(shown, 0.0, 1.0), depth, which >= 0, size, step)
    extent = (
        float(room[0, 0]),
        float(room[0, 0] + columns * pixel),
        float(room[1, 0]),
        float(room[1, 0] + rows * pixel),
    )
    return Image(_averaged(fine, rows, columns), extent)


def _ahead(piece: Piece, middle: Floats, camera: Camera) -> float:
    """How far a piece must come forward to lie on the surface of what it lies in."""
    x, y = np.full((1, 1), middle[0]), np.full((1, 1), middle[1])
    tops = [float(solid.moved(camera.placement).top(x, y)[0][0, 0]) for solid in piece.through]
    return max((top - float(middle[2]) for top in tops if top > middle[2]), default=0.0)


def _broad(pieces: Sequence[Piece], size: float) -> list[int]:
    """The pieces of flesh that are broad enough to be drawn as one smooth skin."""
    flesh = [(k, p.solid) for k, p in enumerate(pieces) if p.colour == "flesh" and isinstance(p.solid, Bone)]
    return [k for k, bone in flesh if min(bone.r_start, bone.r_end) > 0.02 * size]


def _smoothed(normal: np.ndarray, depth: Floats, skin: np.ndarray, size: float, step: float) -> np.ndarray:
    """Normals averaged over a small neighbourhood of the skin, but not across the edges of what lies behind another."""
    from scipy.ndimage import gaussian_filter

    mask = skin[::COARSE, ::COARSE].astype(float)
    if not mask.any():
        return normal
    sigma = 0.012 * size / (COARSE * step)
    weight = gaussian_filter(mask, sigma) + 1e-6
    z = np.where(mask > 0.0, depth[::COARSE, ::COARSE], 0.0)
    jump = gaussian_filter(z, sigma) / weight - z
    trust = mask * np.exp(-((jump / (0.012 * size)) ** 2))
    fields = [gaussian_filter(mask * normal[::COARSE, ::COARSE, i], sigma) / weight for i in range(3)]
    mean = np.stack([_fine(field, depth.shape) for field in (*fields, trust)], axis=-1)
    share = (mean[..., 3:] * skin[..., None]).astype(np.float32)
    out = (1.0 - share) * normal + share * mean[..., :3].astype(np.float32)
    return out / np.maximum(np.linalg.norm(out, axis=-1, keepdims=True), 1e-6)


def _fine(coarse: Floats, shape: tuple[int, ...]) -> Floats:
    """A coarse field on all samples."""
    from scipy.ndimage import zoom

    full = np.asarray(zoom(coarse, COARSE, order=1, grid_mode=True, mode="nearest"))
    return full[: shape[0], : shape[1]]


def _lit(colours: np.ndarray, which: np.ndarray, normal: np.ndarray, camera: Camera) -> Floats:
    """Light from the upper left behind the eye, a little from the sky, and a faint gloss."""
    light = np.array([-0.50, 0.62, 0.70])
    light /= np.linalg.norm(light)
    half = light + np.array([0.0, 0.0, 1.0])
    half /= np.linalg.norm(half)
    facing = np.clip(normal @ light.astype(np.float32), 0.0, 1.0)
    sky = 0.5 + 0.5 * (normal @ camera.axes[:, 2].astype(np.float32))
    gloss = np.clip(normal @ half.astype(np.float32), 0.0, 1.0) ** 30
    strength = 0.47 + 0.52 * facing + 0.12 * sky
    return colours[which] * strength[..., None] + 0.09 * gloss[..., None]


def _hollows(depth: Floats, size: float, step: float) -> Floats:
    """A darkening of places that lie behind their surroundings."""
    from scipy.ndimage import gaussian_filter

    coarse = depth[::COARSE, ::COARSE]
    seen = np.isfinite(coarse)
    if not seen.any():
        return np.ones(depth.shape)
    filled = np.where(seen, coarse, coarse[seen].min() - 0.1 * size)
    behind = np.clip(gaussian_filter(filled, 0.012 * size / (COARSE * step)) - filled, 0.0, None) / (0.03 * size)
    return _fine(1.0 - 0.28 * np.clip(behind, 0.0, 1.0), depth.shape)


def _outlined(colour: Floats, depth: Floats, covered: np.ndarray, size: float, step: float) -> Floats:
    """Colour and opacity with a dark line wherever something much nearer, or anything at all, begins.

    A surface that is seen at a grazing angle rises towards the eye as steeply as it falls away: that is no beginning.
    """
    from scipy.ndimage import maximum_filter, minimum_filter

    reach = 2 * max(1, round(0.0011 * size / step)) + 1
    around = maximum_filter(depth, size=reach)
    below = minimum_filter(np.where(covered, depth, np.inf), size=reach)
    with np.errstate(invalid="ignore"):
        falls = np.where(covered, depth - below, 0.0)
        line = (around - depth - falls > 0.012 * size) & np.isfinite(around)
    out = np.concatenate([colour, covered[..., None]], axis=-1)
    out[line] = (*OUTLINE, 1.0)
    out[~covered & ~line] = 0.0
    return out


def _averaged(fine: Floats, rows: int, columns: int) -> Floats:
    """Pixels from their samples; colours are averaged by opacity."""
    fine[..., :3] *= fine[..., 3:]
    mean = fine.reshape(rows, FINE, columns, FINE, 4).mean(axis=(1, 3))
    mean[..., :3] /= np.maximum(mean[..., 3:], 1e-6)
    return np.clip(mean, 0.0, 1.0)
