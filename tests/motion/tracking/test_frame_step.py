"""The kernels of tracking: their step is that of the dense normal equations, their derivatives those of differences."""

from __future__ import annotations

import numpy as np
import pytest

import supple
from supple.kernels.compiling import INTERPRETED
from supple.motion.tracking.clip import Clip, Packing
from supple.motion.tracking.frame_by_frame import FrameByFrame
from supple.motion.tracking.frame_runs import run
from supple.motion.tracking.normal_equations import normal_entry
from supple.motion.tracking.rig import FRAME, PINS
from tests.motion.tracking.test_track import arm, four_bar, knee, places, wave

pytestmark = pytest.mark.interpreted

FIGURES = {"arm": arm, "knee": knee, "four-bar": four_bar}


def seen_from(figure: supple.Figure, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return places(figure, wave(figure, 1)) + rng.normal(0.0, 0.02, (1, len(figure.markers), 3))


def clip_of(figure: supple.Figure, seen: np.ndarray, limits: bool = False) -> Clip:
    weights = np.random.default_rng(1).uniform(0.5, 2.0, seen.shape[:2])
    near = np.stack([np.full(figure.size, 0.01), np.full(figure.size, 0.1)])
    return Clip(figure, tuple(figure.markers), seen, weights, near, limits=limits)


def looked_at(clip: Clip, q: np.ndarray) -> dict[str, np.ndarray]:
    """Value, gradient, matrix, gaps and their derivatives at one posture."""
    I, F = clip.packing.packed
    n, rows = len(clip.packing.chosen), 3 * int(I[PINS])
    out = {"value": np.empty(1), "G": np.empty((1, n)), "H": np.empty((1, n, n)), "gap": np.zeros((1, rows))}
    out["C"] = np.zeros((1, rows, n))
    near = clip.near[None][:, :, clip.packing.chosen].copy()
    row = q[None, clip.packing.chosen].copy()
    settings = FrameByFrame().settings(clip, 0)
    normal_entry(I, F, FRAME.fresh(I), clip.positions, clip.weights, near, row, settings, *out.values())
    return {name: array[0] for name, array in out.items()}


def value_of(clip: Clip, q: np.ndarray) -> float:
    """The objective, written with the figure's own kinematics."""
    off = np.sum((places(clip.figure, q[None])[0] - clip.positions[0]) ** 2, axis=1)
    return float(0.5 * clip.weights[0] @ off + 0.5 * clip.near[0] @ (q - clip.near[1]) ** 2)


@pytest.mark.parametrize("name", FIGURES)
def test_derivatives_are_those_of_differences(name: str) -> None:
    figure = FIGURES[name]()
    clip = clip_of(figure, seen_from(figure))
    q = wave(figure, 1, seed=5)[0]
    here = looked_at(clip, q)
    assert here["value"] == pytest.approx(value_of(clip, q), rel=1e-12)
    h, eye = 1e-6, np.eye(figure.size)
    slope = [(value_of(clip, q + h * e) - value_of(clip, q - h * e)) / (2.0 * h) for e in eye]
    np.testing.assert_allclose(here["G"], slope, rtol=1e-6, atol=1e-7)
    if here["gap"].size:
        sides = [(looked_at(clip, q + h * e)["gap"] - looked_at(clip, q - h * e)["gap"]) / (2.0 * h) for e in eye]
        np.testing.assert_allclose(here["C"], np.transpose(sides), atol=1e-8)


@pytest.mark.parametrize("name", FIGURES)
def test_the_matrix_is_that_of_gauss_and_newton(name: str) -> None:
    figure = FIGURES[name]()
    clip = clip_of(figure, seen_from(figure))
    q = wave(figure, 1, seed=5)[0]
    J = [figure.jacobian(q, p) for p in figure.markers.values()]
    H = sum(w * j.T @ j for w, j in zip(clip.weights[0], J, strict=True)) + np.diag(clip.near[0])
    np.testing.assert_allclose(looked_at(clip, q)["H"], H, atol=1e-12)


@pytest.mark.parametrize("name", FIGURES)
def test_one_step_solves_the_normal_equations(name: str) -> None:
    figure = FIGURES[name]()
    clip = clip_of(figure, seen_from(figure))
    q = wave(figure, 1, seed=5)[0] if not figure.loops else np.zeros(figure.size)
    here = looked_at(clip, q)
    damped = here["H"] + (0.5 * here["value"] + 1e-12) * np.eye(figure.size)
    C, rows = here["C"], len(here["gap"])
    system = np.block([[damped, C.T], [C, -1e-12 * np.trace(C @ np.linalg.solve(damped, C.T)) * np.eye(rows)]])
    step = np.linalg.lstsq(system, np.concatenate([-here["G"], -here["gap"]]), rcond=None)[0][: figure.size]
    fits = run(clip, np.array([0]), q, FrameByFrame(tolerance=1e-30).settings(clip, 1))
    np.testing.assert_allclose(fits.q[0] - q, step, atol=1e-9)


def test_links_are_runs_of_joints_with_nothing_seen_between() -> None:
    figure = knee()
    packing = Packing(figure, list(figure.markers.values()))
    links = packing.links
    names = [
        [figure.coordinates[packing.chosen[a]] for a in links.axis[i:j]]
        for i, j in zip(links.first[1:], links.first[2:], strict=False)
    ]
    assert names == [["hip.z", "hip.x", "hip.y"], ["knee"], ["ankle", "toe"]]
    assert packing.is_tree


@pytest.mark.skipif(not INTERPRETED, reason="the compiled kernels have tests of their own")
def test_a_motion_is_recovered_without_a_compiler() -> None:
    figure = knee()
    q = wave(figure, 2)
    clip = clip_of(figure, places(figure, q))
    clip.near[0] = 0.0
    fits = run(clip, np.arange(2), q[0] + 0.05, FrameByFrame(tolerance=1e-10).settings(clip, 50))
    np.testing.assert_allclose(places(figure, fits.q), clip.positions, atol=1e-6)
