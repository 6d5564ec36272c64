"""Frames that are stuck are looked at again: tracking ends where a search of single frames ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import supple
from supple.motion.tracking.clip import clip_of
from supple.motion.tracking.frame_runs import run
from supple.motion.tracking.rig import VALUE
from tests.motion.tracking.test_track import places, trial


def windmill(spare: float = 0.15) -> supple.Figure:
    """A trunk with an arm that turns by nearly a whole turn, and a little sideways."""
    reach = np.pi - spare
    parts = [
        *supple.free("trunk"),
        *supple.hinge("swing", "trunk", (0, 1, 0), at=(0.0, -0.2, 0.4), limits=(-reach, reach)),
        *supple.hinge("raise", "swing", (1, 0, 0), limits=(-1.5, 0.4)),
        *supple.hinge("elbow", "raise", (0, 1, 0), at=(0.0, 0.0, -0.3), limits=(-2.4, 0.0)),
    ]
    spots = {
        "hip": ("trunk", (0.1, 0.1, 0.0)), "back": ("trunk", (-0.1, 0.0, 0.1)), "chest": ("trunk", (0.1, 0.0, 0.4)),
        "upper": ("raise", (0.05, 0.0, -0.15)), "outer": ("raise", (0.0, -0.05, -0.25)),
        "wrist": ("elbow", (0.03, 0.0, -0.25)), "thumb": ("elbow", (-0.03, -0.03, -0.25)),
    }  # fmt: skip
    return supple.Figure("windmill", parts).with_markers(spots)


def turning(figure: supple.Figure, frames: int = 120, backwards: bool = False) -> supple.Markers:
    """An arm that makes a whole turn and a half, through what its limits leave out."""
    q = np.zeros((frames, figure.size))
    at = {name: k for k, name in enumerate(figure.coordinates)}
    q[:, at["swing"]] = np.linspace(-1.0, 3.0 * np.pi - 1.0, frames)
    q[:, at["raise"]], q[:, at["elbow"]] = -0.2, -0.5
    free = figure.with_limits(dict.fromkeys(("swing", "raise", "elbow"), (-np.inf, np.inf)))
    seen = places(free, q[::-1] if backwards else q)
    return trial(figure, seen + np.random.default_rng(0).normal(0.0, 0.002, seen.shape))


def singly(figure: supple.Figure, markers: supple.Markers) -> np.ndarray:
    """The value of each frame when it is searched for by itself."""
    clip, method, out = clip_of(figure, markers), supple.motion.FrameByFrame(), []
    for t in range(len(markers)):
        one = replace(clip, positions=clip.positions[t : t + 1], weights=clip.weights[t : t + 1])
        fit = run(one, np.array([0]), method.first(one, figure.rest.copy()), method.settings(one, 200))
        out.append(fit.reports[0, VALUE])
    return np.array(out)


@pytest.mark.parametrize("backwards", [False, True])
def test_an_arm_that_meets_its_limit_goes_on_from_the_other_side(backwards: bool):
    figure = windmill()
    markers = turning(figure, backwards=backwards)
    best = singly(figure, markers)
    motion = supple.track(figure, markers)
    value = 0.5 * (motion.errors**2).sum(axis=1)  # type: ignore[operator]
    assert (value <= 1.01 * best + 1e-9).all()
    jammed = supple.track(figure, markers, supple.motion.FrameByFrame(search=False), start=motion.q[0])
    assert (jammed.rms_by_frame > 5.0 * motion.rms_by_frame).sum() > 20  # else there was nothing to be stuck at


@pytest.mark.parametrize("tolerance", [1e-2, 1e-6, 1e-10])
def test_tighter_tolerances_never_end_worse(tolerance: float):
    figure = windmill(0.4)
    markers = turning(figure)
    loose = supple.track(figure, markers, supple.motion.FrameByFrame(tolerance=tolerance))
    tight = supple.track(figure, markers, supple.motion.FrameByFrame(tolerance=1e-2 * tolerance))
    assert tight.rms <= loose.rms * (1.0 + 1e-4)


@pytest.mark.parametrize(
    ("model", "seen"), [("rajagopal_walk/subject", "rajagopal_walk/walk"), ("gait2354/subject01", "gait2354/walk1")]
)
def test_captured_walks_end_as_low_as_single_frames(shared: Path, model: str, seen: str):
    folder = shared / "data" / "mocap" / "opensim"
    figure, markers = supple.load(folder / f"{model}.osim"), supple.read_markers(folder / f"{seen}.trc")
    value = 0.5 * np.nansum(supple.track(figure, markers).errors ** 2, axis=1)[::20]  # type: ignore[operator]
    assert (value <= 1.001 * singly(figure, markers.frames(0, len(markers), 20))).all()
