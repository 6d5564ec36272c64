"""How far coordinates could be off, beside what comes of many draws of noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import supple

NOISE, DRAWS = 0.002, 300


def arm() -> supple.Figure:
    """A shoulder, an elbow and a wrist whose markers lie 1 cm from its axis."""
    figure = supple.Figure("arm", [
        *supple.ball("shoulder", None, "zyx"),
        *supple.hinge("elbow", "shoulder", (0, 1, 0), at=(0, 0, -0.3), limits=(-2.0, 2.0)),
        *supple.hinge("roll", "elbow", (0, 0, 1), at=(0, 0, -0.1), limits=(-1.5, 1.5)),
    ])  # fmt: skip
    places = {
        "a": ("shoulder", (0.05, 0.0, -0.1)),
        "b": ("shoulder", (0.0, 0.05, -0.25)),
        "c": ("elbow", (0.03, 0.0, -0.1)),
    }
    places |= {"d": ("roll", (0.01, 0.0, -0.12)), "e": ("roll", (0.0, 0.0, -0.15))}
    return figure.with_markers(places)


def test_doubts_are_the_spread_that_noise_makes():
    figure = arm()
    q = np.tile([0.3, -0.4, 0.5, 0.8, 0.2], (DRAWS, 1))
    names = list(figure.markers)
    clean = figure.marker_places(q, names)
    seen = supple.Markers(
        names, clean + np.random.default_rng(0).normal(0.0, NOISE, clean.shape), np.arange(DRAWS) / 100.0
    )
    motion = supple.track(figure, seen, supple.motion.FrameByFrame(tolerance=1e-12, steps=1000))
    spread, told = motion.q.std(axis=0), np.median(motion.doubt, axis=0)
    assert spread.max() > 10.0 * spread.min()
    np.testing.assert_allclose(told, spread, rtol=0.15)
    assert list(motion.hardly_told) == ["roll"]
    assert "Hardly told by the markers: roll ±0.2" in motion.table()


def test_what_no_marker_tells_may_be_anywhere_in_its_range():
    figure = arm()
    q = np.tile([0.3, -0.4, 0.5, 0.8, 0.2], (5, 1))
    names = ["a", "b", "c"]
    times = np.arange(5) / 100.0
    motion = supple.track(figure, supple.Markers(names, figure.marker_places(q, names), times))
    assert motion.hardly_told == {"roll": 3.0}
    free = figure.with_limits({"roll": (-np.inf, np.inf)})
    assert np.isinf(replace(motion, figure=free).doubt[:, 4]).all()
