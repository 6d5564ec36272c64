"""Captured people: natural and joint coordinates end at one optimum, whole clips see through gaps."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import supple
from tests.motion.tracking.test_track import places

UNIT = 0.0254 / 0.45  # [m] of the skeletons' files


@pytest.fixture(scope="module")
def walk(shared: Path) -> tuple[supple.Figure, supple.Markers]:
    """The skeleton and the markers of a captured walk, 60 frames of it."""
    folder = shared / "data" / "mocap"
    skeleton = supple.load(folder / "bvh" / "02_01.bvh", unit=UNIT)
    skeleton = skeleton.locked(*(name for name in skeleton.coordinates if "HipJoint" in name))
    spots = json.loads((folder / "c3d" / "02_01.markers.json").read_text())["markers"]
    figure = skeleton.with_markers({name: (spot["joint"], spot["offset"]) for name, spot in spots.items()})
    trial = supple.read_markers(folder / "c3d" / "02_01.c3d").only(list(figure.markers)).frames(0, 60)
    x, y, z = np.moveaxis(trial.positions, 2, 0)  # the skeleton's file has other axes
    return figure, replace(trial, positions=np.stack([y, -x, z], axis=2))


def test_both_coordinates_end_at_one_optimum(walk: tuple[supple.Figure, supple.Markers]) -> None:
    figure, trial = walk
    joints = supple.track(figure, trial, supple.motion.FrameByFrame(tolerance=1e-13, steps=3000), limits=False)
    natural = supple.track(figure, trial, supple.OptimalTracking(iterations=200, tolerance=1e-9), limits=False)
    assert joints.converged.all()
    assert natural.converged.all()
    assert np.abs(places(figure, joints.q) - places(figure, natural.q)).max() < 1e-6
    assert joints.rms == pytest.approx(natural.rms, rel=1e-9)


def test_a_whole_clip_sees_through_gaps(walk: tuple[supple.Figure, supple.Markers]) -> None:
    figure, trial = walk
    gone = np.random.default_rng(0).random(trial.seen.shape) < 0.3
    holes = replace(trial, positions=np.where(gone[:, :, None], np.nan, trial.positions))
    off = [
        np.sqrt(
            np.mean(
                np.sum((places(figure, supple.track(figure, holes, method, limits=False).q) - trial.positions) ** 2, 2)
            )
        )
        for method in (supple.motion.FrameByFrame(), supple.motion.WholeClip())
    ]
    assert off[1] < 0.0045
    assert off[1] < off[0]
