"""Trials with markers: two CMU clips on the skeletons of their BVH files, and OSIM models with walks, a run and a shoulder.

The CMU skeleton is that of `motion_data`: 72 coordinates, no limits, or the captured range of each widened by 10°. Its 41
markers are placed by ``*.markers.json``. The C3D files stand a quarter turn about the vertical away from the BVH files: bvh
(x, y, z) = c3d (y, z, x). OSIM models keep the ranges of their clamped coordinates, or none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import supple
from motion_data import SHARED, capture

MOCAP = SHARED / "data" / "mocap"
CMU = {"02_01": "CMU walk", "02_05": "CMU punch"}
QUARTER = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # from the C3D files' world to the BVH files'
OSIM = {  # title, model, markers, weights
    "gait2354": ("Gait2354 walk", "opensim/gait2354/subject01.osim", "opensim/gait2354/walk1.trc", None),
    "gait2392": (
        "gait2392 walk",
        "opensim/gait2392_walk/subject01.osim",
        "opensim/gait2392_walk/walk_free_01.trc",
        None,
    ),
    "gait2392b": (
        "gait2392 walk 2",
        "opensim/gait2392_walk/subject01.osim",
        "opensim/gait2392_walk/walk_free_02.trc",
        None,
    ),
    "rajagopal": ("Rajagopal walk", "opensim/rajagopal_walk/subject.osim", "opensim/rajagopal_walk/walk.trc", None),
    "run": ("run with gaps", "gaps/run_subject.osim", "gaps/run_500_nan.trc", None),
    "shoulder": (
        "shoulder, closed loop",
        "closed_loop/shoulder/subject1_abdbonepin.osim",
        "closed_loop/shoulder/abdbonepin.trc",
        "closed_loop/shoulder/ik_weights.json",
    ),
}


@dataclass(frozen=True, eq=False)
class Trial:
    """A figure with markers, where they were seen, and where every tool begins; `model` is the OSIM file if there is one."""

    name: str
    title: str
    figure: supple.Figure
    markers: supple.Markers
    start: np.ndarray
    weights: Mapping[str, float]
    limits: bool = False
    model: Path | None = None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The markers that figure and trial share and that count, in the trial's order."""
        return tuple(n for n in self.markers.names if n in self.figure.markers and self.weights.get(n, 1.0) > 0.0)

    @cached_property
    def seen(self) -> np.ndarray:
        """Where these were (frames, m, 3) [m]; NaN where they were not seen."""
        return self.markers.only(self.names).positions

    def without(self, hidden: np.ndarray) -> Trial:
        """The trial with samples (frames, m) of `names` lost."""
        kept = self.markers.only(self.names)
        positions = kept.positions.copy()
        positions[hidden] = np.nan
        return replace(self, markers=replace(kept, positions=positions))

    def frames(self, first: int, last: int) -> Trial:
        """Part of the trial."""
        return replace(self, markers=self.markers.frames(first, last))

    def limited(self, limits: bool) -> Trial:
        """The same with limits or without."""
        return replace(self, limits=limits)

    def track(self, method: Any = None, start: np.ndarray | None = None) -> supple.motion.Tracked:
        """What supple makes of it."""
        begin = self.start if start is None else start
        kept = self.markers.only(self.names)
        weights = {name: self.weights.get(name, 1.0) for name in self.names}
        return supple.track(self.figure, kept, method, weights=weights, limits=self.limits, start=begin)


def places(figure: supple.Figure, q: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """The judge: where markers are in postures (n, size), by the figure's placements alone: (n, m, 3) [m]."""
    points = [figure.markers[name] for name in names]
    frames = {s: figure.placement(q, s) for s in {p.segment for p in points}}
    return np.stack([(frames[p.segment] @ np.append(p.offset, 1.0))[:, :3] for p in points], axis=1)


def rms(places: np.ndarray, seen: np.ndarray) -> float:
    """The root mean square distance of markers from where they were seen [mm]."""
    return 1e3 * float(np.sqrt(np.nanmean(np.sum((places - seen) ** 2, axis=2))))


def cmu(name: str) -> Trial:
    """A CMU clip by its number."""
    clip = capture(name)
    file = MOCAP / "c3d" / f"{name}.c3d"
    spots = json.loads(file.with_suffix(".markers.json").read_text())["markers"]
    raw = supple.read_markers(file)
    short = raw.renamed({n: n.rpartition(":")[2] for n in raw.names})
    kept = short.only([n for n in short.names if n in spots])
    markers = replace(kept, positions=kept.positions @ QUARTER.T)
    ranges = {j: (float(a), float(b)) for j, a, b in zip(clip.figure.coordinates, clip.lower, clip.upper, strict=True)}
    figure = clip.figure.with_limits({j: r for j, r in ranges.items() if np.isfinite(r[0])})
    figure = figure.with_markers({n: (spot["joint"], spot["offset"]) for n, spot in spots.items()})
    return Trial(name, CMU[name], figure, markers, clip.q[0], {})


def osim(name: str) -> Trial:
    """A trial on an OSIM model by its short name."""
    title, model, trc, weights = OSIM[name]
    figure, markers = supple.load(MOCAP / model), supple.read_markers(MOCAP / trc)
    given: dict[str, float] = {}
    if weights is not None:
        tasks = json.loads((MOCAP / weights).read_text())["markers"]
        given = {n: float(tasks.get(n, 0.0)) for n in markers.names}
    if name == "shoulder":
        markers = markers.frames(0, 1000)
    return Trial(name, title, figure, markers, figure.rest, given, True, MOCAP / model)


def trial(name: str) -> Trial:
    """Any of them."""
    if not MOCAP.is_dir():
        raise FileNotFoundError(f"{MOCAP} is missing: set SUPPLE_SHARED to the folder that holds data/mocap")
    return cmu(name) if name in CMU else osim(name)
