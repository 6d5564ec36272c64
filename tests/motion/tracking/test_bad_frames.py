"""Bad frames do not spoil good ones, and answers do not claim too much."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import supple
from supple.cli.trials import _method, read_weights
from tests.motion.tracking.test_track import arm, four_bar, places, trial, wave

METHODS = [
    supple.motion.FrameByFrame(),
    supple.motion.WholeClip(),
    supple.OptimalTracking(),
    supple.LevenbergMarquardt(),
]


def reach() -> supple.Figure:
    """An arm from a fixed shoulder, whose elbow does not bend backwards."""
    parts = [
        *supple.ball("shoulder", None, "zyx"),
        *supple.hinge("elbow", "shoulder", (0, 1, 0), at=(0.0, 0.0, -0.3), limits=(0.0, 2.5)),
    ]
    spots = {"upper": ("shoulder", (0.05, 0, -0.15)), "outer": ("shoulder", (0, 0.05, -0.28))}
    return supple.Figure("reach", parts).with_markers({**spots, "wrist": ("elbow", (0.03, 0, -0.25))})


def reaching(frames: int) -> np.ndarray:
    q = np.stack([0.5 * np.sin(np.linspace(0.0, 2.0, frames) + k) for k in range(4)], axis=1)
    q[:, 3] += 1.0
    return q


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_an_exact_marker_out_of_reach_is_no_convergence(method: object) -> None:
    figure = reach()
    seen = places(figure, reaching(6))
    seen[:, 2] += 1.0
    motion = supple.track(figure, trial(figure, seen), method, weights={"wrist": np.inf})
    assert motion.gap.min() > 0.1
    assert not motion.converged.any()


@pytest.mark.parametrize(
    "method", [supple.motion.FrameByFrame(), supple.OptimalTracking()], ids=lambda m: type(m).__name__
)
def test_a_frame_that_cannot_be_met_leaves_the_next_ones_alone(method: object) -> None:
    figure = reach()
    q = reaching(30)
    seen = places(figure, q)
    seen[10, 2] += 1.0
    motion = supple.track(figure, trial(figure, seen), method, weights={"wrist": np.inf})
    assert np.flatnonzero(~motion.converged).tolist() == [10]
    np.testing.assert_allclose(np.delete(motion.q, 10, axis=0), np.delete(q, 10, axis=0), atol=1e-6)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_one_marker_is_enough(method: object) -> None:
    figure = reach()
    seen = places(figure, reaching(300)[:3])
    seen[:, :2] = np.nan
    assert supple.track(figure, trial(figure, seen), method).rms < 1e-3


def test_what_carries_a_loop_is_bridged() -> None:
    parts = [*supple.free("root", None), *four_bar().joints.values()]
    parts = [p if p.parent is not None or p.name.startswith("root") else replace(p, parent="root") for p in parts]
    bar = four_bar()
    figure = supple.Figure("carried", parts, loops=bar.loops, markers=bar.markers)
    q = np.zeros((9, figure.size))
    q[:, 0] = np.linspace(0.0, 0.8, 9)
    seen = places(figure, q)
    seen[3:6] = np.nan
    motion = supple.track(figure, trial(figure, seen))
    assert motion.bridged[3:6, :6].all()
    step = np.diff(motion.q[:, 0])
    np.testing.assert_allclose(step, step.mean(), atol=1e-6)
    assert motion.gap.max() < 1e-9


def test_the_whole_clip_bends_across_a_gap() -> None:
    figure = arm()
    q = wave(figure, 80)
    seen = places(figure, q)
    seen[30:50] = np.nan
    off = []
    for method in (supple.motion.FrameByFrame(), supple.motion.WholeClip(1e-5)):
        motion = supple.track(figure, trial(figure, seen), method)
        assert motion.bridged[30:50].all()
        off.append(np.abs(motion.q - q)[30:50].max())
    assert off[1] < 0.5 * off[0]


def test_what_is_wrong_with_weights_and_coordinates_is_named() -> None:
    figure = arm()
    seen = trial(figure, places(figure, wave(figure, 3)))
    with pytest.raises(supple.BadValue, match="'elbow1'"):
        supple.track(figure, seen, weights={"elbow1": float("nan")})
    with pytest.raises(supple.BadValue, match="mapping"):
        supple.track(figure, seen, coordinates=[("elbow", 0.0)])  # pyright: ignore[reportArgumentType]


def test_what_is_no_trial_no_figure_and_no_method_is_named() -> None:
    figure = arm()
    seen = trial(figure, places(figure, wave(figure, 3)))
    with pytest.raises(supple.BadValue, match="no frames"):
        supple.track(figure, trial(figure, seen.positions[:0]))
    with pytest.raises(supple.BadValue, match="'human'"):
        supple.track("human", seen)  # pyright: ignore[reportArgumentType]
    with pytest.raises(supple.BadValue, match=r"write FrameByFrame\(\)"):
        supple.track(figure, seen, supple.motion.FrameByFrame)


def test_a_trial_that_shows_nothing_is_no_success() -> None:
    figure = arm()
    seen = places(figure, wave(figure, 3))
    with pytest.raises(supple.BadValue, match="ever seen"):
        supple.track(figure, trial(figure, np.full_like(seen, np.nan)))
    with pytest.raises(supple.BadValue, match="ever seen"):
        supple.track(figure, trial(figure, seen), weights=np.zeros(len(figure.markers)))


def test_a_file_of_weights_for_other_markers_is_refused(tmp_path: Path) -> None:
    figure = arm()
    path = tmp_path / "weights.json"
    path.write_text('{"elbow_0": 2.0, "LASI": 1.0}')
    with pytest.raises(supple.BadFile, match="root0"):
        read_weights(path, figure, trial(figure, places(figure, wave(figure, 3))))


def test_a_subject_that_fits_already_is_settled() -> None:
    figure = reach()
    for frames in (1, 6):
        subject = supple.fit_subject(figure, trial(figure, places(figure, reaching(frames))))
        assert subject.converged
        assert subject.scales["whole"] == pytest.approx(1.0)


def test_what_a_subject_cannot_be_fitted_with_is_named() -> None:
    figure = reach()
    seen = trial(figure, places(figure, reaching(3)))
    for wrong in ({"trust": "far"}, {"noise": "some"}, {"place": 5}):
        with pytest.raises(supple.BadValue, match=next(iter(wrong))):
            supple.fit_subject(figure, seen, **wrong)  # pyright: ignore[reportArgumentType]
    with pytest.raises(supple.BadValue, match="'human'"):
        supple.fit_subject("human", seen)  # pyright: ignore[reportArgumentType]


def test_a_number_of_frames_may_be_numpys() -> None:
    figure = reach()
    seen = trial(figure, places(figure, reaching(6)))
    assert len(supple.fit_subject(figure, seen, frames=np.int64(4)).frames) == 4  # pyright: ignore[reportArgumentType]


def test_an_option_that_would_do_nothing_is_refused() -> None:
    with pytest.raises(supple.BadValue, match="huber"):
        _method("natural", 3e-5, 0.02)
