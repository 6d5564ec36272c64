"""What the player plays: motions of figures and clouds of markers, on one clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import supple
from supple.errors import BadFile, BadValue
from supple.geometry.placements import Floats
from supple.motion.markers import Markers
from supple.motion.motion import Motion

MOTIONS = (".bvh", ".amc", ".mot", ".sto", ".glb", ".gltf", ".vrm", ".fbx", ".usd", ".usda", ".usdc", ".usdz")
MARKERS = (".c3d", ".trc")
APART = 1.1  # of the wider one's width: figures that stand side by side


@dataclass(frozen=True)
class Clip:
    """A motion or markers under a name, shown `aside` of where it is [m]; a motion may be shown in another `scale`."""

    name: str
    what: Motion | Markers
    aside: tuple[float, float, float] = (0.0, 0.0, 0.0)
    scale: float = 1.0

    @property
    def times(self) -> Floats:
        """When its frames are, from 0 on [s]."""
        return self.what.times - self.what.times[0]

    def frame(self, time: float) -> int:
        """The frame at a time; the last one stays."""
        return max(0, int(np.searchsorted(self.times, time + 1e-9, side="right")) - 1)

    def points(self, frame: int) -> Floats:
        """The markers that were seen in a frame, (k, 3)."""
        assert isinstance(self.what, Markers)
        rows = self.what.positions[frame]
        return rows[~np.isnan(rows).any(axis=1)] + np.array(self.aside)

    def placements(self, frame: int) -> dict[str, Floats]:
        """Where the segments of its figure are in a frame."""
        assert isinstance(self.what, Motion)
        out = {}
        for segment, T in self.what.figure.placements(self.what.q[frame]).items():
            out[segment] = np.array(T)
            out[segment][:3, 3] = self.scale * T[:3, 3] + self.aside
        return out


def read_clip(path: str | Path, model: str | None = None, **options: Any) -> Clip:
    """A clip from a file; coordinates without a skeleton need the `model` that they belong to."""
    ending = Path(path).suffix.lower()
    if ending in MARKERS:
        return Clip(Path(path).name, supple.read_markers(path))
    if ending not in MOTIONS:
        raise BadFile(f"the player plays {', '.join((*MOTIONS, *MARKERS))}", file=str(path))
    if ending == ".amc":
        if model is None:
            raise BadValue(f"{path}: an .amc file needs its skeleton: --model FILE.asf")
        return Clip(Path(path).name, supple.read_motion(path, asf=model))
    if ending != ".bvh":
        if model is None:
            raise BadValue(f"{path}: a file of coordinates needs the figure they belong to: --model FILE")
        options["figure"] = supple.load(model)
    return Clip(Path(path).name, supple.read_motion(path, **options))


def side_by_side(clips: Sequence[Clip]) -> list[Clip]:
    """Motions of several figures next to each other along y; markers stay with the first, which they were seen with."""
    out, at, first = [], 0.0, True
    for clip in clips:
        if isinstance(clip.what, Markers):
            out.append(clip)
            continue
        wide = APART * max(_width(clip), 0.6)
        at = at if first else at + wide
        out.append(replace(clip, aside=(0.0, -at if not first else 0.0, 0.0)))
        first = False
    return out


def _width(clip: Clip) -> float:
    return float(np.ptp([T[1, 3] for T in clip.placements(0).values()]))


def length_of(clips: Sequence[Clip]) -> float:
    """Seconds until the last of them ends."""
    return max((float(clip.times[-1]) for clip in clips if len(clip.times)), default=0.0)


def middle_of(clips: Sequence[Clip]) -> tuple[Floats, float]:
    """The middle of everything at the beginning, and how large it is."""
    points = []
    for clip in clips:
        if isinstance(clip.what, Markers):
            first = next((clip.points(k) for k in range(len(clip.what)) if len(clip.points(k))), np.zeros((1, 3)))
            points.append(first)
        else:
            points.append(np.array([T[:3, 3] for T in clip.placements(0).values()]))
    places = np.concatenate(points)
    low, high = places.min(axis=0), places.max(axis=0)
    return 0.5 * (low + high), float(max(np.linalg.norm(high - low), 0.1))
