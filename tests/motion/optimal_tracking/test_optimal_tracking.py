"""Optimal tracking: both paths reach the optimum that plain optimisers find in joint coordinates, loops and limits exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import least_squares, minimize

import supple
from supple import Beyond, Direction, OptimalTracking, Point
from supple.motion import DrivenAngle, Held, Natural
from tests.tables.figures import FIGURES, FOUR_BAR, closed_four_bar

ALL = [
    OptimalTracking(limits=False),
    OptimalTracking("maxmin", limits=False),
    OptimalTracking(limits=False, curvature=False),
    OptimalTracking(path="paper", limits=False),
    OptimalTracking("maxmin", path="paper", limits=False),
]
BOTH = [ALL[0], ALL[3]]


def named(tracker: OptimalTracking) -> str:
    return f"{tracker.path} {tracker.step}" + ("" if tracker.curvature else " flat")


def seen(figure: supple.Figure, q: np.ndarray, points: list[Point]) -> np.ndarray:
    return np.array([figure.seen(q, point)[:3, 3] for point in points])


def trial(name: str, noise: float = 0.01, frames: int = 4, seed: int = 0):
    """A figure, two markers or more on every segment, their noisy way, and the first posture."""
    figure = FIGURES[name]
    rng = np.random.default_rng(seed)
    points = [Point(segment, rng.normal(0, 0.1, 3)) for segment in figure.segments for _ in range(3)]
    q = rng.uniform(np.maximum(figure.lower, -0.5), np.minimum(figure.upper, 0.5))
    ways = np.array([seen(figure, q + 0.03 * k, points) for k in range(frames)])
    return figure, points, ways + noise * rng.normal(size=ways.shape), q


def best(figure: supple.Figure, points: list[Point], target: np.ndarray, q: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The optimum in joint coordinates by SciPy, from q."""
    w = np.sqrt(w)[:, None]
    found = least_squares(
        lambda z: (w * (seen(figure, z, points) - target)).ravel(), q, xtol=1e-15, ftol=1e-15, gtol=1e-14
    )
    return found.x


@pytest.mark.parametrize("tracker", ALL, ids=named)
@pytest.mark.parametrize("name", ["arm", "twins", "mixed", "spine", "planar"])
def test_the_optimum_is_that_of_joint_coordinates(tracker: OptimalTracking, name: str):
    figure, points, ways, q = trial(name)
    weights = np.linspace(0.2, 2.0, len(points))
    tracked = tracker.track_frames(figure, points, ways, weights, start=q + 0.1)
    assert tracked.converged.all()
    assert max(tracked.violations.max(), tracked.steps.max()) < 1e-7
    for k in (0, 3):
        wanted = seen(figure, best(figure, points, ways[k], tracked.q[k], weights), points)
        assert_allclose(seen(figure, tracked.q[k], points), wanted, atol=1e-7)


@pytest.mark.parametrize("tracker", ALL, ids=named)
def test_a_closed_loop_is_met_exactly_at_the_constrained_optimum(tracker: OptimalTracking):
    rng = np.random.default_rng(3)
    points = [
        Point("crank", (0.1, 0.02, 0.03)),
        Point("coupler", (0.2, 0.1, 0)),
        Point("rocker", (0.2, 0, 0.1)),
        Point("pen"),
    ]
    ways = np.array([seen(FOUR_BAR, closed_four_bar(a), points) for a in np.linspace(1.0, 1.3, 4)])
    ways += 0.01 * rng.normal(size=ways.shape)

    def gap(q: np.ndarray) -> np.ndarray:
        ends = seen(FOUR_BAR, q, [Point("coupler", (0.4, 0, 0)), Point("rocker", (0.3, 0, 0))])
        return (ends[0] - ends[1])[:2]

    tracked = tracker.track_frames(FOUR_BAR, points, ways, start=closed_four_bar(1.0) + np.array([0.1, 0.1, -0.1]))
    assert tracked.converged.all()
    for q, way in zip(tracked.q, ways, strict=True):
        assert np.abs(gap(q)).max() < 1e-8
        found = minimize(
            lambda z, way=way: 500.0 * ((seen(FOUR_BAR, z, points) - way) ** 2).sum(), q + 1e-3, method="SLSQP",
            constraints={"type": "eq", "fun": gap}, options={"ftol": 1e-16, "maxiter": 300},
        )  # fmt: skip
        assert_allclose(seen(FOUR_BAR, q, points), seen(FOUR_BAR, found.x, points), atol=1e-6)


def girdle() -> tuple[supple.Figure, list[Point]]:
    """A thorax with two shoulder girdles, each closed by a rod from the ribs to the shoulder blade, and the arms."""
    parts, points, loops = (
        [*supple.free("thorax")],
        [Point("thorax", p) for p in ((0.1, 0, 0), (-0.1, 0, 0.2), (0, 0.1, 0.1))],
        [],
    )
    for side, s in (("L", 1), ("R", -1)):
        parts += [
            *supple.universal(f"{side}clavicle", "thorax", "zx", at=(0.05, 0.03 * s, 0.15)),
            *supple.ball(f"{side}scapula", f"{side}clavicle", "zyx", at=(-0.05, 0.14 * s, 0.02)),
            *supple.universal(f"{side}rod", "thorax", "yz", at=(-0.08, 0.02 * s, 0.05)),
            *supple.ball(f"{side}arm", f"{side}scapula", "xyz", at=(0, 0.03 * s, -0.04)),
            *supple.hinge(f"{side}forearm", f"{side}arm", (0, 1, 0), at=(0, 0, -0.3)),
        ]
        head = np.array([0.0, 0.17 * s, 0.17]) - (
            -0.08,
            0.02 * s,
            0.05,
        )  # the rod's end in its own axes, all angles zero
        loops.append(
            supple.Loop(
                f"{side} girdle", f"{side}rod", f"{side}scapula", supple.place(head), supple.place(), point=True
            )
        )
        for segment, places in (
            (f"{side}clavicle", ((0.0, 0.08 * s, 0.03),)),
            (f"{side}scapula", ((0, 0.02 * s, 0.03), (-0.06, -0.09 * s, 0.0), (-0.08, -0.07 * s, -0.13))),
            (f"{side}arm", ((0.03, 0.05 * s, -0.14), (0, 0.05 * s, -0.3))),
            (f"{side}forearm", ((0.03, 0, -0.2), (0, 0.04 * s, -0.25))),
        ):
            points += [Point(segment, place) for place in places]
    return supple.Figure("girdle", parts, loops=loops), points


def test_two_closed_girdles_both_paths():
    figure, points = girdle()
    rng = np.random.default_rng(5)
    ways = np.repeat(seen(figure, figure.rest, points)[None], 3, axis=0)
    ways += np.cumsum(0.005 * rng.normal(size=ways.shape), axis=0)
    results = [tracker.track_frames(figure, points, ways) for tracker in (*ALL[:2], *ALL[3:])]
    natural = Natural(figure)
    for tracked in results:
        assert tracked.converged.all()
        for q, first in zip(tracked.q, results[0].q, strict=True):
            assert np.linalg.norm(natural.constraints(natural.from_posture(q))) < 1e-7
            assert_allclose(seen(figure, q, points), seen(figure, first, points), atol=1e-6)


@pytest.mark.parametrize("tracker", BOTH, ids=named)
def test_missing_markers_weigh_nothing(tracker: OptimalTracking):
    figure, points, ways, q = trial("twins")
    weights = np.ones(ways.shape[:2])
    weights[1, ::4] = 0.0
    gaps = ways.copy()
    gaps[1, ::4] = np.nan
    one = tracker.track_frames(figure, points, ways, weights, start=q)
    other = tracker.track_frames(figure, points, gaps, start=q)
    assert_allclose(one.q, other.q, atol=1e-12)
    assert other.converged.all()


@pytest.mark.parametrize("tracker", BOTH, ids=named)
def test_a_frame_without_markers_stays_where_it_was(tracker: OptimalTracking):
    figure, points, ways, q = trial("arm")
    ways[2] = np.nan
    tracked = tracker.track_frames(figure, points, ways, start=q)
    assert_allclose(tracked.q[2], tracked.q[1], atol=1e-9)
    assert tracked.converged.all()


@pytest.mark.parametrize("tracker", ALL, ids=named)
def test_a_loop_is_closed_even_where_nothing_is_seen(tracker: OptimalTracking):
    start = closed_four_bar(1.0) + 0.05
    tracked = tracker.track_frames(FOUR_BAR, [Point("pen")], np.full((1, 1, 3), np.nan), start=start)
    assert tracked.converged.all()
    assert_allclose(tracked.q[0], start, atol=0.2)


@pytest.mark.parametrize("tracker", ALL, ids=named)
@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_only_ratios_of_weights_matter(tracker: OptimalTracking, unit: float):
    figure, points, ways, q = trial("twins")
    one = tracker.track_frames(figure, points, ways, start=q)
    other = tracker.track_frames(figure, points, ways, np.full(len(points), unit), start=q)
    assert other.converged.all()
    assert_allclose(one.q, other.q, atol=1e-6)


@pytest.mark.parametrize("tracker", BOTH, ids=named)
def test_what_cannot_be_held_is_reported_and_redundant_holds_are_no_trouble(tracker: OptimalTracking):
    figure, points, ways, q = trial("arm")
    far = tracker.track_frames(figure, points, ways, start=q, held=[Held(Point("hand"), (5, 5, 5))])
    assert not far.converged.any()
    assert np.isfinite(far.q).all()
    hand = Held(Point("hand"), figure.seen(q, Point("hand"))[:3, 3])
    twice = tracker.track_frames(figure, points, ways, start=q, held=[hand, hand, Held(Point("waist"), (0, 0, 0))])
    once = tracker.track_frames(figure, points, ways, start=q, held=[hand])
    assert twice.converged.all()
    assert_allclose(twice.q, once.q, atol=1e-6)


@pytest.mark.parametrize("tracker", BOTH, ids=named)
def test_what_is_held_is_held_exactly(tracker: OptimalTracking):
    figure, points, ways, q = trial("twins")
    hand, trunk = Point("left hand", (0, 0, 0.02)), Direction("trunk", (0, 0, 1))
    place = figure.seen(q, hand)[:3, 3] + 0.02
    up = np.array([[0, 0.1, 1], [np.nan] * 3, [0, 0, 1], [0.1, 0, 1]])
    held = [Held(hand, place), Held(trunk, up)]
    tracked = tracker.track_frames(figure, points, ways, start=q, held=held)
    assert tracked.converged.all()
    for k, posture in enumerate(tracked.q):
        assert_allclose(figure.seen(posture, hand)[:3, 3], place, atol=1e-7)
        if k != 1:
            assert_allclose(figure.seen(posture, trunk)[:3, 0], up[k] / np.linalg.norm(up[k]), atol=1e-7)
    free = tracker.track_frames(figure, points, ways, start=q)
    assert np.abs(figure.seen(free.q[0], hand)[:3, 3] - place).max() > 1e-3


def test_both_paths_hold_the_same_optimum():
    figure, points, ways, q = trial("twins")
    held = [Held(Point("left hand"), figure.seen(q, Point("left hand"))[:3, 3] + 0.02)]
    driven = [
        DrivenAngle("right elbow", -0.4, weight=0.02),
        DrivenAngle("left elbow", [-0.2, np.nan, -0.3, -0.3], np.inf),
    ]
    one, other = (t.track_frames(figure, points, ways, start=q, held=held, driven=driven) for t in BOTH)
    assert_allclose(one.q, other.q, atol=1e-6)
    assert_allclose(one.q[[0, 2], figure.coordinates.index("left elbow")], [-0.2, -0.3], atol=1e-9)
    plain = BOTH[0].track_frames(figure, points, ways, start=q)
    k = figure.coordinates.index("right elbow")
    assert (np.abs(one.q[:, k] + 0.4) < np.abs(plain.q[:, k] + 0.4)).all()


def test_limits_are_kept_and_the_rest_is_optimal():
    figure, points, ways, q = trial("twins", noise=0.0)
    elbow = figure.coordinates.index("left elbow")
    upper = figure.upper[elbow]
    q[elbow] = upper - 0.01  # the markers go 0.08 beyond the limit
    ways = np.array([seen(figure, q + 0.03 * k, points) for k in range(4)]) + 0.005 * np.random.default_rng(1).normal(
        size=ways.shape
    )
    tracked = OptimalTracking().track_frames(figure, points, ways, start=q)
    assert tracked.converged.all()
    assert figure.limits.contains(tracked.q[0])
    assert ((tracked.q >= figure.lower) & (tracked.q <= figure.upper)).all()
    assert tracked.q[3, elbow] == upper
    found = least_squares(
        lambda z: (seen(figure, z, points) - ways[3]).ravel(), np.clip(tracked.q[3], figure.lower + 1e-6, figure.upper - 1e-6),
        bounds=(figure.lower, figure.upper), xtol=1e-15, ftol=1e-15, gtol=1e-14,
    )  # fmt: skip
    assert_allclose(seen(figure, tracked.q[3], points), seen(figure, found.x, points), atol=1e-6)


def test_linear_limits_are_kept():
    figure, points, _, _ = trial("spine", noise=0.0)
    outside = np.array([0.9, 0.9, 0.1, 0.1, 0.1])  # bow + lean ≤ 1.5
    tracked = OptimalTracking().track_frames(figure, points, seen(figure, outside, points)[None])
    assert tracked.converged.all()
    assert figure.limits.contains(tracked.q[0])
    assert_allclose(tracked.q[0, :2].sum(), 1.5, atol=1e-9)


def test_half_spaces_are_kept():
    figure, points, ways, q = trial("twins")
    floor = figure.seen(q, Point("left hand"))[2, 3] + 0.01
    contact = [(Point("left hand"), Beyond((0, 0, floor), (0, 0, 1))), (Point("trunk"), Beyond((0, 0, -9), (0, 0, 1)))]
    free = OptimalTracking().track_frames(figure, points, ways[:1], start=q)
    tracked = OptimalTracking().track_frames(figure, points, ways[:1], start=q, beyond=contact)
    assert figure.seen(free.q[0], Point("left hand"))[2, 3] < floor - 1e-3
    assert tracked.converged.all()
    assert_allclose(figure.seen(tracked.q[0], Point("left hand"))[2, 3], floor, atol=1e-9)


@pytest.mark.parametrize("step", ["merit", "maxmin"])
def test_gimbal_lock_is_no_obstacle(step: str):
    figure = supple.Figure("arm", [*supple.free("base"), *supple.ball("upper", "base", "zyx", at=(0, 0, 0.3))])
    rng = np.random.default_rng(0)
    points = [Point(segment, rng.normal(0, 0.1, 3)) for segment in ("base", "base", "base", "upper", "upper", "upper")]
    t = np.linspace(0, 1, 40)
    q = np.zeros((40, 9))
    q[:, figure.coordinates.index("base.y")] = 3.0 * t  # through the lock
    q[:, figure.coordinates.index("upper.y")] = np.pi / 2  # at the lock all the time
    q[:, figure.coordinates.index("upper.z")] = t
    ways = np.array([seen(figure, z, points) for z in q])
    ways += 0.002 * rng.normal(size=ways.shape)
    tracked = OptimalTracking(step).track_frames(figure, points, ways, start=q[0])
    assert tracked.converged.all()
    assert tracked.iterations.mean() < 8
    errors = np.array([seen(figure, z, points) for z in tracked.q]) - ways
    assert np.sqrt((errors**2).mean()) < 0.002


def test_steadiness_settles_what_markers_leave_open():
    figure, points, ways, q = trial("twins", noise=0.0)
    ways[1:, [k for k, point in enumerate(points) if "left" in point.segment]] = np.nan
    tracked = OptimalTracking(steady=1e-6).track_frames(figure, points, ways, start=q)
    left = [figure.coordinates.index(name) for name in figure.coordinates if "left" in name]
    assert tracked.converged.all()
    assert_allclose(tracked.q[1:, left], np.repeat(tracked.q[:1, left], 3, axis=0), atol=1e-9)
    others = [point for point in points if "left" not in point.segment]
    assert_allclose(seen(figure, tracked.q[3], others), seen(figure, q + 0.09, others), atol=1e-4)


def test_a_frame_that_does_not_converge_is_reported():
    figure, points, ways, q = trial("twins")
    for tracker in (
        OptimalTracking(iterations=1, limits=False),
        OptimalTracking(iterations=1, path="paper", limits=False),
    ):
        tracked = tracker.track_frames(figure, points, ways, start=q + 0.3)
        assert not tracked.converged.any()
        assert (tracked.iterations == 1).all()
        assert np.isfinite(tracked.q).all()


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), step=st.sampled_from(["merit", "maxmin"]))
def test_no_posture_nearby_is_better(seed: int, step: str):
    figure, points, ways, q = trial("mixed", seed=seed, frames=1, noise=0.02)
    found = OptimalTracking(step).track_frames(figure, points, ways, start=q).q[0]
    assert figure.limits.contains(found)
    rng = np.random.default_rng(seed)
    here = ((seen(figure, found, points) - ways[0]) ** 2).sum()
    for _ in range(10):
        other = figure.limits.project(found + 1e-3 * rng.normal(size=figure.size))
        assert ((seen(figure, other, points) - ways[0]) ** 2).sum() > here - 1e-12


@pytest.mark.interpreted
def test_interpreted():
    figure, points, ways, q = trial("arm", frames=2)
    tracked = OptimalTracking().track_frames(figure, points, ways, start=q)
    assert tracked.converged.all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: OptimalTracking("best"), "step rule is one of merit, maxmin"),
        (lambda: OptimalTracking(path="slow"), "path is one of fast, paper"),
        (lambda: OptimalTracking(tolerance=0.0), "tolerance of OptimalTracking must be positive"),
        (lambda: OptimalTracking(path="paper"), "limits=False"),
        (lambda: OptimalTracking(accept="soon"), "what is accepted is one of still, closed"),
        (lambda: OptimalTracking(accept="closed"), "path 'fast' meets the equations"),
        (lambda: OptimalTracking(steady=-1.0), "steady of OptimalTracking must be finite and not negative"),
        (lambda: track(points=[Point("foot")]), "no segment called 'foot'"),
        (lambda: track(positions=np.zeros((2, 2, 3))), r"shape \(frames, 1, 3\)"),
        (lambda: track(positions=np.full((2, 1, 3), np.inf)), "finite, or NaN"),
        (lambda: track(weights=[-1.0]), "must not be negative"),
        (lambda: track(driven=[DrivenAngle("elbw", 0.0)]), "did you mean elbow"),
        (lambda: track(held=[Held(Point("hand"), np.zeros((3, 3)))]), "target of the held"),
        (lambda: track(beyond=[(Point("hand"), supple.OnPlane((0, 0, 0), (0, 0, 1)))]), "pair \\(Point, Beyond\\)"),
        (lambda: Held("hand", (0, 0, 0)), "Point or Direction"),
    ],
)
def test_bad_questions_are_refused(wrong, message: str):
    with pytest.raises(supple.Error, match=message):
        wrong()


def track(points=None, positions=None, **more):
    points = points or [Point("hand")]
    return OptimalTracking().track_frames(
        FIGURES["arm"], points, np.zeros((2, 1, 3)) if positions is None else positions, **more
    )
