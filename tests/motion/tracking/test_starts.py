"""Starts of the first frame: roots of every kind are carried as near to what was seen as they can be."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import least_squares

import supple
from supple.motion.tracking.carrying import carried_to, rigid_fit, spread_out
from supple.motion.tracking.clip import clip_of
from tests.motion.tracking.test_track import dotted, places, trial

HALF = (-1.6, 1.6)
ROOTS: dict[str, Callable[[], tuple[supple.Joint, ...]]] = {
    "free": lambda: supple.free("root"),
    "proper Euler angles": lambda: supple.free("root", order="zxz", at=supple.place((0.1, 0.2, 0.3), rpy=(0.4, 0.5, 0.6))),
    "free within limits": lambda: supple.free("root", order="xyz", limits=[(-9.0, 9.0)] * 3 + [(-3.2, 3.2), HALF, (-3.2, 3.2)]),
    "ball": lambda: supple.ball("root", None, at=(0.0, 0.1, 0.2)),
    "planar": lambda: supple.figure.planar("root", None),
    "hinge": lambda: supple.hinge("root", None),
}  # fmt: skip
WHOLE = ("free", "proper Euler angles", "free within limits")  # those that any placement can be met with


def figure_with(root: str) -> supple.Figure:
    """A root and an arm that hangs on it."""
    arm = supple.ball("shoulder", "root", at=(0.0, 0.0, 0.4)), supple.hinge("elbow", "shoulder", at=(0.0, 0.3, 0.0))
    return dotted(supple.Figure("figure", [*ROOTS[root](), *arm[0], *arm[1]]))


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("seed", range(3))
def test_a_root_is_carried_as_near_as_it_can_be(root: str, seed: int) -> None:
    figure, rng = figure_with(root), np.random.default_rng(seed)
    lower, upper = np.maximum(figure.lower, -1.5), np.minimum(figure.upper, 1.5)
    truth = rng.uniform(lower, upper)
    clip = clip_of(figure, trial(figure, places(figure, truth[None])))
    postures = spread_out(figure, 12)
    carried = carried_to(clip, 0, postures)
    moved = [figure.coordinates.index(name) for name in figure.chain(None, "root")]
    others = np.delete(np.arange(figure.size), moved)
    np.testing.assert_array_equal(carried[:, others], postures[:, others])
    assert (carried >= figure.lower).all()
    assert (carried <= figure.upper).all()
    seen, at = clip.positions[0], places(figure, carried)
    for q, before, after in zip(carried, places(figure, postures), at, strict=True):
        if root in WHOLE:
            T = rigid_fit(before, seen, np.ones(len(seen)))
            np.testing.assert_allclose(after, before @ T[:3, :3].T + T[:3, 3], atol=1e-9)
            continue

        def off(x: np.ndarray, q: np.ndarray = q) -> np.ndarray:
            full = q.copy()
            full[moved] = x
            return (places(figure, full[None])[0] - seen).ravel()

        best = least_squares(off, q[moved], xtol=1e-14, ftol=1e-14, gtol=1e-14)
        assert np.sum(off(q[moved]) ** 2) <= 2.0 * best.cost * 1.01 + 1e-12


def test_limits_that_do_not_count_do_not_hold_a_root() -> None:
    figure = figure_with("free").with_limits({"root.tx": (-0.1, 0.1)})
    truth = figure.rest.copy()
    truth[0] = 5.0
    seen = trial(figure, places(figure, truth[None]))
    for limits, x in ((True, 0.1), (False, 5.0)):
        carried = carried_to(clip_of(figure, seen, limits=limits), 0, figure.rest[None].copy())
        assert carried[0, 0] == pytest.approx(x, abs=1e-9)


def test_markers_that_no_segment_carries_together_leave_postures_alone() -> None:
    parts = [*supple.hinge("left", None), *supple.hinge("right", None)]
    figure = dotted(supple.Figure("two", parts))
    postures = spread_out(figure, 3)
    clip = clip_of(figure, trial(figure, places(figure, figure.rest[None] + 0.5)))
    np.testing.assert_array_equal(carried_to(clip, 0, postures), postures)
