"""Tracking in joint coordinates: against SciPy's least squares, against the truth, and against its own promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import least_squares

import supple
from supple.motion.tracking.carrying import rigid_fit

RATE = 100.0


def dotted(figure: supple.Figure, per_segment: int = 3, seed: int = 0) -> supple.Figure:
    """The figure with random markers on every segment that joints move."""
    rng = np.random.default_rng(seed)
    spots = {}
    for segment in figure.segments:
        if figure.joints_of(segment):
            for k in range(per_segment):
                spots[f"{segment}{k}"] = (segment, rng.uniform(-0.1, 0.1, 3))
    return figure.with_markers(spots)


def wave(figure: supple.Figure, frames: int, seed: int = 1) -> np.ndarray:
    """A smooth motion inside the limits."""
    rng = np.random.default_rng(seed)
    lower, upper = np.maximum(figure.lower, -0.8), np.minimum(figure.upper, 0.8)
    middle, swing = 0.5 * (lower + upper), 0.35 * (upper - lower)
    phase, speed = rng.uniform(0.0, 6.0, figure.size), rng.uniform(0.5, 2.0, figure.size)
    t = np.arange(frames)[:, None] / RATE
    return middle + swing * np.sin(phase + 2.0 * speed * t)


def places(figure: supple.Figure, q: np.ndarray) -> np.ndarray:
    """Where the markers are, by the figure's own kinematics (frames, m, 3)."""
    frames = {s: figure.placement(q, s) for s in {p.segment for p in figure.markers.values()}}
    columns = [frames[p.segment] @ np.append(p.offset, 1.0) for p in figure.markers.values()]
    return np.stack(columns, axis=1)[:, :, :3]


def trial(figure: supple.Figure, positions: np.ndarray) -> supple.Markers:
    return supple.Markers(list(figure.markers), positions, np.arange(len(positions)) / RATE)


def arm() -> supple.Figure:
    parts = [
        *supple.free("root", None),
        *supple.ball("shoulder", "root", "zyx", at=(0.0, 0.0, 0.4)),
        *supple.hinge("elbow", "shoulder", (0, 1, 0), at=(0.0, 0.0, -0.3), limits=(-0.2, 2.0)),
        *supple.universal("wrist", "elbow", at=(0.0, 0.0, -0.25)),
    ]
    return dotted(supple.Figure("arm", parts))


def knee() -> supple.Figure:
    """A hinge whose axis slides as it turns, and a second joint that follows the first."""
    slide = supple.figure.Spline((-1.0, 0.0, 1.0, 2.0), (0.01, 0.0, -0.02, -0.05))
    parts = [
        *supple.ball("hip", None, "zxy"),
        *supple.hinge("knee", "hip", (0, 1, 0), at=(0.0, 0.0, -0.4), limits=(-0.5, 2.0), segment="turned"),
        supple.Joint(
            "knee.slide", "turned", slide=(1, 0, 0), segment="shin", drive=supple.figure.Drive.by({"knee": slide})
        ),
        *supple.hinge("ankle", "shin", (0, 1, 0), at=(0.0, 0.0, -0.4)),
        *supple.hinge("toe", "ankle", (0, 1, 0), at=(0.1, 0.0, 0.0)),
    ]
    figure = supple.Figure("knee", parts)
    spots = {f"{s}{k}": p for s in ("hip", "shin", "toe") for k, p in enumerate([(s, x) for x in 0.1 * np.eye(3)])}
    return figure.with_markers(spots)


FIGURES = {
    "arm": arm,
    "knee": knee,
    "human": lambda: dotted(supple.load("human"), 2),
    "panda": lambda: dotted(supple.load("panda")),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_motion_is_recovered(name: str) -> None:
    figure = FIGURES[name]()
    q = wave(figure, 20)
    motion = supple.track(figure, trial(figure, places(figure, q)))
    assert motion.converged.all()
    assert motion.rms < 1e-6
    assert (motion.q >= figure.lower).all()
    assert (motion.q <= figure.upper).all()
    assert np.abs(places(figure, motion.q) - places(figure, q)).max() < 1e-5


@pytest.mark.parametrize("name", FIGURES)
def test_nobody_fits_noise_better(name: str) -> None:
    figure = FIGURES[name]()
    rng = np.random.default_rng(3)
    seen = places(figure, wave(figure, 3)) + rng.normal(0.0, 0.01, (3, len(figure.markers), 3))
    weights = rng.uniform(0.2, 2.0, len(figure.markers))
    method = None if name == "panda" else supple.motion.FrameByFrame(tolerance=1e-10, steps=500)
    motion = supple.track(figure, trial(figure, seen), method, weights=weights)
    lower, upper = figure.lower, figure.upper
    for t in range(len(seen)):

        def off(q: np.ndarray, t: int = t) -> np.ndarray:
            return (np.sqrt(weights)[:, None] * (places(figure, q[None])[0] - seen[t])).ravel()

        start = np.clip(motion.q[t], lower + 1e-9 * (upper > lower), upper - 1e-9)
        best = least_squares(off, start, bounds=(lower, upper), xtol=1e-14, ftol=1e-14, gtol=1e-12)
        ours = 0.5 * np.sum(off(motion.q[t]) ** 2)
        assert ours <= best.cost * (1.0 + 1e-7)
    again = np.linalg.norm(places(figure, motion.q) - seen, axis=2)
    np.testing.assert_allclose(motion.errors, again, atol=1e-12)


def test_limits_hold_where_the_truth_breaks_them() -> None:
    figure = arm()
    free = figure.with_limits({"elbow": (-3.0, 3.0)})
    q = wave(free, 30)
    q[:, figure.coordinates.index("elbow")] = np.linspace(-0.5, 2.5, 30)
    motion = supple.track(figure, trial(figure, places(free, q)))
    elbow = motion.q[:, figure.coordinates.index("elbow")]
    assert elbow.min() == -0.2
    assert elbow.max() == 2.0
    loose = supple.track(figure, trial(figure, places(free, q)), limits=False)
    assert loose.rms < 1e-6 < motion.rms


def four_bar() -> supple.Figure:
    parts = [
        *supple.hinge("crank", None, (0, 1, 0)),
        *supple.hinge("rod", "crank", (0, 1, 0), at=(0.0, 0.0, 0.2)),
        *supple.hinge("rocker", None, (0, 1, 0), at=(0.4, 0.0, 0.0)),
    ]
    end = supple.place((0.45, 0.0, 0.0)), supple.place((0.0, 0.0, 0.25))
    return dotted(supple.Figure("four-bar", parts, loops=[supple.Loop("end", "rod", "rocker", *end, point=True)]))


def test_loops_are_closed_whatever_the_noise() -> None:
    figure = four_bar()
    rng = np.random.default_rng(4)
    seen = places(figure, np.zeros((10, 3))) + rng.normal(0.0, 0.02, (10, len(figure.markers), 3))
    motion = supple.track(figure, trial(figure, seen), supple.motion.FrameByFrame(tolerance=1e-10))
    loop = figure.loops[0]
    for q in motion.q:
        a, b = (figure.placement(q, s) @ at for s, at in ((loop.a, loop.at_a), (loop.b, loop.at_b)))
        assert np.abs(a[:3, 3] - b[:3, 3]).max() < 1e-9
    assert motion.converged.all()


def test_the_closed_optimum_is_scipys() -> None:
    from scipy.optimize import minimize

    figure = four_bar()
    seen = places(figure, np.zeros((1, 3))) + np.random.default_rng(5).normal(0.0, 0.02, (1, len(figure.markers), 3))
    motion = supple.track(figure, trial(figure, seen), supple.motion.FrameByFrame(tolerance=1e-12, steps=500))
    loop = figure.loops[0]

    def value(q: np.ndarray) -> float:
        return 50.0 * float(np.sum((places(figure, q[None])[0] - seen[0]) ** 2))

    def gap(q: np.ndarray) -> np.ndarray:
        ends = (figure.placement(q, s) @ at for s, at in ((loop.a, loop.at_a), (loop.b, loop.at_b)))
        a, b = (T[:3, 3] for T in ends)
        return (a - b)[[0, 2]]

    best = minimize(value, motion.q[0], constraints={"type": "eq", "fun": gap}, method="SLSQP", options={"ftol": 1e-15})
    assert value(motion.q[0]) <= value(best.x) * (1.0 + 1e-6)


def test_an_infinite_weight_is_met_exactly() -> None:
    figure = arm()
    rng = np.random.default_rng(6)
    seen = places(figure, wave(figure, 5)) + rng.normal(0.0, 0.01, (5, len(figure.markers), 3))
    motion = supple.track(figure, trial(figure, seen), weights={"elbow0": np.inf})
    column = motion.markers.index("elbow0")
    assert motion.errors[:, column].max() < 1e-9 < motion.rms


def test_a_coordinate_can_be_kept_near_to_a_value() -> None:
    figure = arm()
    seen = places(figure, wave(figure, 4))
    motion = supple.track(figure, trial(figure, seen), coordinates={"elbow": (0.7, 1e6)})
    assert np.abs(motion.q[:, figure.coordinates.index("elbow")] - 0.7).max() < 1e-3


def test_gaps_are_bridged_and_said() -> None:
    figure = arm()
    q = wave(figure, 60)
    seen = places(figure, q)
    hidden = [k for k, p in enumerate(figure.markers.values()) if p.segment in ("wrist", "elbow")]
    seen[20:40, hidden] = np.nan
    motion = supple.track(figure, trial(figure, seen))
    wrist = [figure.coordinates.index(n) for n in figure.joints_of("wrist")]
    assert motion.bridged[20:40, wrist].all()
    assert not motion.bridged[:20].any()
    assert np.isnan(motion.errors[20:40][:, hidden]).all()
    assert motion.rms < 1e-6
    line = np.linspace(motion.q[19, wrist], motion.q[40, wrist], 22)[1:-1]
    np.testing.assert_allclose(motion.q[20:40][:, wrist], line, atol=1e-12)


def test_empty_frames_do_not_stop_a_clip() -> None:
    figure = arm()
    seen = places(figure, wave(figure, 30))
    seen[:5], seen[12:15], seen[-3:] = np.nan, np.nan, np.nan
    motion = supple.track(figure, trial(figure, seen))
    assert np.isfinite(motion.q).all()
    assert motion.rms < 1e-6
    assert np.isnan(motion.rms_by_frame[12])
    assert motion.bridged[12].all()


def test_outliers_count_little() -> None:
    figure = arm()
    q = wave(figure, 10)
    seen = places(figure, q)
    seen[:, 4] += 0.5
    plain = supple.track(figure, trial(figure, seen))
    robust = supple.track(figure, trial(figure, seen), supple.motion.FrameByFrame(huber=1e-3, steps=300))
    truth = places(figure, q)
    assert np.abs(places(figure, robust.q) - truth).max() < 0.1 * np.abs(places(figure, plain.q) - truth).max()


@pytest.mark.parametrize("solver", [supple.LevenbergMarquardt(), supple.Newton()])
def test_solvers_of_single_problems_find_the_same(solver: object) -> None:
    figure = arm()
    seen = places(figure, wave(figure, 4)) + np.random.default_rng(9).normal(0.0, 0.01, (4, len(figure.markers), 3))
    seen[2, 5] = np.nan
    fast = supple.track(figure, trial(figure, seen), supple.motion.FrameByFrame(tolerance=1e-12, steps=500))
    slow = supple.track(figure, trial(figure, seen), solver)
    assert slow.rms == pytest.approx(fast.rms, rel=1e-6)
    assert np.abs(places(figure, slow.q) - places(figure, fast.q)).max() < 1e-5


def test_what_one_method_refuses_another_takes() -> None:
    figure = dotted(supple.load("panda"))
    seen = trial(figure, places(figure, wave(figure, 2)))
    with pytest.raises(supple.Refused, match="several links"):
        supple.track(figure, seen, supple.motion.FrameByFrame())
    assert supple.track(figure, seen).rms < 1e-6
    with pytest.raises(supple.BadValue, match="method"):
        supple.track(figure, seen, "fast")


@pytest.mark.parametrize("name", ["arm", "human"])
def test_the_first_frame_does_not_depend_on_luck(name: str) -> None:
    figure = FIGURES[name]()
    rng = np.random.default_rng(7)
    seen = places(figure, wave(figure, 1)) + rng.normal(0.0, 0.003, (1, len(figure.markers), 3))
    values = []
    for _ in range(10):
        start = figure.limits.project(rng.uniform(-3.0, 3.0, figure.size))
        values.append(supple.track(figure, trial(figure, seen), start=start).rms)
    assert max(values) <= min(values) * (1.0 + 1e-3)


def test_what_no_marker_moves_with_stays_at_the_start() -> None:
    figure = arm()
    figure = supple.Figure("arm", figure.joints.values()).with_markers(
        {name: (p.segment, p.offset) for name, p in figure.markers.items() if p.segment != "wrist"}
    )
    wrist = [figure.coordinates.index(name) for name in figure.joints_of("wrist")]
    seen = places(figure, wave(figure, 3)) + np.random.default_rng(11).normal(0.0, 0.01, (3, len(figure.markers), 3))
    start = figure.rest.copy()
    start[wrist] = 0.3, -0.2
    motion = supple.track(figure, trial(figure, seen), supple.motion.FrameByFrame(tolerance=0.3), start=start)
    np.testing.assert_array_equal(motion.q[:, wrist], np.tile([0.3, -0.2], (3, 1)))


def test_a_cartwheel_passes_gimbal_lock() -> None:
    figure = arm()
    q = np.zeros((200, figure.size))
    q[:, figure.coordinates.index("root.y")] = np.linspace(0.0, 2.0 * np.pi, 200)
    q[:, figure.coordinates.index("root.x")] = 0.3
    motion = supple.track(figure, trial(figure, places(figure, q)))
    assert motion.rms < 1e-6
    assert motion.iterations.max() < 20


@given(shift=st.tuples(*[st.floats(-5.0, 5.0)] * 3), turn=st.floats(-3.0, 3.0))
@settings(max_examples=15, deadline=None)
def test_a_rigid_fit_finds_the_placement(shift: tuple[float, float, float], turn: float) -> None:
    points = np.random.default_rng(8).normal(size=(7, 3))
    T = supple.place(shift, rpy=(turn, 0.3 * turn, -turn))
    moved = points @ T[:3, :3].T + T[:3, 3]
    np.testing.assert_allclose(rigid_fit(points, moved, np.ones(7)), T, atol=1e-9)


def test_bad_input_is_named() -> None:
    figure = arm()
    seen = trial(figure, places(figure, wave(figure, 3)))
    bare = supple.Figure("bare", figure.joints.values())
    with pytest.raises(supple.BadValue, match="no markers"):
        supple.track(bare, seen)
    with pytest.raises(supple.BadValue, match=r"renamed\(\)"):
        supple.track(figure, seen.renamed({name: f"x{name}" for name in seen.names}))
    with pytest.raises(supple.UnknownName, match="did you mean"):
        supple.track(figure, seen, weights={"elbow_0": 1.0})
    with pytest.raises(supple.BadValue, match="negative"):
        supple.track(figure, seen, weights={"elbow0": -1.0})
    with pytest.raises(supple.BadValue, match="shape"):
        supple.track(figure, seen, weights=np.ones(3))
    with pytest.raises(supple.UnknownName, match="coordinate"):
        supple.track(figure, seen, coordinates={"knee": (0.0, 1.0)})
    with pytest.raises(supple.BadValue, match="Markers"):
        supple.track(figure, seen.positions)  # pyright: ignore[reportArgumentType]
    with pytest.raises(supple.UnknownName, match="segment"):
        figure.with_markers({"a": ("nose", (0, 0, 0))})


# ── all frames at once ───────────────────────────────────────────────────────────────────────────────────────────────


def rough(positions: np.ndarray, seed: int = 10, share: float = 0.3) -> np.ndarray:
    """Noise, and a share of the samples lost."""
    rng = np.random.default_rng(seed)
    seen = positions + rng.normal(0.0, 0.004, positions.shape)
    seen[rng.random(positions.shape[:2]) < share] = np.nan
    return seen


def test_the_whole_clip_is_nearer_to_the_truth_than_its_frames() -> None:
    figure = arm()
    q = wave(figure, 120)
    truth = places(figure, q)
    seen = trial(figure, rough(truth))
    off = [
        np.sqrt(np.mean((places(figure, supple.track(figure, seen, method).q) - truth) ** 2))
        for method in (supple.motion.FrameByFrame(), supple.motion.WholeClip(1e-4))
    ]
    assert off[1] < 0.5 * off[0]


def test_without_smoothness_the_whole_clip_is_its_frames() -> None:
    figure = arm()
    seen = trial(figure, rough(places(figure, wave(figure, 12)), share=0.0))
    exact = supple.motion.FrameByFrame(tolerance=1e-12, steps=500)
    frames = supple.track(figure, seen, exact)
    whole = supple.track(figure, seen, supple.motion.WholeClip(0.0, tolerance=1e-12))
    np.testing.assert_allclose(whole.rms_by_frame, frames.rms_by_frame, rtol=1e-6)


def test_the_sum_is_minimal() -> None:
    figure = arm().with_limits({"root": (-9.0, 9.0), "shoulder": (-9.0, 9.0)})  # no unlimited balls
    seen = trial(figure, rough(places(figure, wave(arm(), 8)), share=0.0))
    s = 1e-3
    motion = supple.track(figure, seen, supple.motion.WholeClip(s, tolerance=1e-12))

    def off(q: np.ndarray) -> np.ndarray:
        Q = q.reshape(8, -1)
        bend = s * np.diff(Q, 2, axis=0) * RATE**2
        return np.concatenate([(places(figure, Q) - seen.positions).ravel(), bend.ravel()])

    best = least_squares(off, motion.q.ravel(), xtol=1e-14, ftol=1e-14)
    assert 0.5 * np.sum(off(motion.q.ravel()) ** 2) <= best.cost * (1.0 + 1e-6)


def test_speeds_and_limits_hold_over_the_clip() -> None:
    figure = arm().with_limits({"elbow": (-0.1, 0.3)})
    seen = trial(figure, places(arm(), wave(arm(), 40)))
    motion = supple.track(figure, seen, supple.motion.WholeClip(1e-6, speed=0.8))
    assert np.abs(np.diff(motion.q, axis=0)).max() <= 0.8 / RATE * (1.0 + 1e-12)
    assert (motion.q >= figure.lower).all()
    assert (motion.q <= figure.upper).all()


def test_loops_stay_closed_over_the_clip() -> None:
    figure = four_bar()
    seen = trial(figure, rough(places(figure, np.zeros((15, 3)))))
    motion = supple.track(figure, seen, supple.motion.WholeClip(1e-4))
    assert motion.gap.max() < 1e-9


def test_windows_agree_with_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    figure = arm()
    seen = trial(figure, rough(places(figure, wave(figure, 90))))
    one = supple.track(figure, seen, supple.motion.WholeClip(1e-4, tolerance=1e-9))
    monkeypatch.setattr("supple.motion.tracking.whole_clip.WINDOW", 60)
    monkeypatch.setattr("supple.motion.tracking.whole_clip.BEYOND", 30)
    several = supple.track(figure, seen, supple.motion.WholeClip(1e-4, tolerance=1e-9))
    assert np.abs(one.q - several.q).max() < 1e-2
