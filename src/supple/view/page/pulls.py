"""What a pull is, and the way from one placement to another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from supple.errors import BadValue
from supple.geometry.placements import Floats
from supple.view.page.mirror import other_side

CLOSE = 1e-4  # m: nearer than this, a target is gone to at once
ROOT, TRUNK = 0.9, 0.8  # rigidities of a figure that stands free


@dataclass(frozen=True)
class Pull:
    """One person's hold on a constraint: where it was taken, where it should go, and where it has got to."""

    pin: str
    segment: str
    press: Floats  # the point that was pressed
    begin: Floats  # the handle of the pin then, (4, 4)
    wanted: Floats  # the newest handle
    at: Floats  # the handle of the last tick
    passing: bool  # whether the constraint goes with the release


@dataclass(frozen=True)
class Said:
    """What the last solve has to say."""

    ok: bool = True
    text: str = ""
    iterations: int = 0
    microseconds: float = 0.0
    proved: bool = False


def trunk_rigidity(figure: Any) -> Floats:
    """Rigidities with which limbs move before the trunk does, and the trunk before the root."""
    moved = {c: [s for s in figure.segments if c in figure.chain(None, s)] for c in figure.coordinates}
    out = np.zeros(figure.size)
    roots = {c for s in figure.segments if figure.parent_of(s) is None for c in figure.chain(None, s)}
    for i, coordinate in enumerate(figure.coordinates):
        both = any(other_side(s) != s and other_side(s) in moved[coordinate] for s in moved[coordinate])
        out[i] = ROOT if coordinate in roots else TRUNK if both else 0.0
    return out


def placed(place: Any) -> Floats:
    """A place in the world, checked."""
    out = np.array(place, dtype=float)
    if out.shape != (3,) or not np.isfinite(out).all() or np.abs(out).max() > 1e6:
        raise BadValue("a place is three finite numbers [m]")
    return out


def towards(a: Floats, b: Floats, part: float) -> Floats:
    """A placement part of the way from a to b; b itself if it is near."""
    if part >= 1.0 or (np.linalg.norm(b[:3, 3] - a[:3, 3]) < CLOSE and np.abs(b[:3, :3] - a[:3, :3]).max() < CLOSE):
        return b
    out = np.array(b)
    out[:3, 3] = a[:3, 3] + part * (b[:3, 3] - a[:3, 3])
    if not np.array_equal(a[:3, :3], b[:3, :3]):
        out[:3, :3] = Slerp([0.0, 1.0], Rotation.from_matrix([a[:3, :3], b[:3, :3]]))(part).as_matrix()
    return out
