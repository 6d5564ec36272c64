"""The paper's path of optimal tracking: its sparse steps are those of dense algebra, and its rules are the paper's."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import qr, solve_triangular
from scipy.sparse import csr_array, eye_array, random_array, vstack

import supple
from supple import OptimalTracking, Point
from supple.motion.optimal_tracking.paper_path import Frame, Linear, Model, step_length
from supple.motion.optimal_tracking.sparse_normal import NormalMatrix
from supple.motion.optimal_tracking.trial import DrivenAngle, Held, checked_trial
from tests.tables.figures import FIGURES, FOUR_BAR, closed_four_bar


@pytest.mark.parametrize("seed", range(5))
def test_the_sparse_factor_solves_what_a_dense_one_does(seed: int):
    rng = np.random.default_rng(seed)
    rows = csr_array(vstack([random_array((90, 60), density=0.04, rng=rng), eye_array(60)], format="csr"))
    matrix = NormalMatrix(rows)
    for _ in range(2):  # the structure is used again
        data, weight, b = rng.normal(size=rows.nnz), rng.uniform(0.1, 2.0, len(rows.indptr) - 1), rng.normal(size=60)
        B = csr_array((data, rows.indices, rows.indptr), shape=rows.shape).toarray()
        matrix.factor(data, weight, 1e-3)
        wanted = np.linalg.solve(B.T @ (weight[:, None] * B) + 1e-3 * np.eye(60), b)
        assert_allclose(matrix.solve(b), wanted, atol=1e-9 * np.abs(wanted).max())


def model_of(name: str) -> tuple[Model, Frame]:
    """A model with markers, something held and something driven, and the programme of its second frame."""
    figure = FOUR_BAR if name == "four-bar" else FIGURES[name]
    rng = np.random.default_rng(4)
    q = closed_four_bar(1.0) if name == "four-bar" else np.array(figure.rest)
    points = [Point(segment, rng.normal(0, 0.1, 3).tolist()) for segment in figure.segments for _ in range(3)]
    ways = np.array([[figure.seen(q, p)[:3, 3] for p in points]] * 2) + 0.02 * rng.normal(size=(2, len(points), 3))
    held = [Held(points[0], np.array([[np.nan] * 3, figure.seen(q, points[0])[:3, 3] + 0.01]))]
    driven = [DrivenAngle(figure.coordinates[0], q[0] + 0.1, 0.3)]
    trial = checked_trial(figure, points, ways, rng.uniform(0.2, 1.0, len(points)), q, held, driven, ())
    model = Model(trial)
    return model, model.frame(1)


def of_the_appendix(model: Model, frame: Frame, at: Linear, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Δ and −λ of (10) and (11) by a dense QR that finds dependent columns."""
    S, slope = model.S.toarray(), at.slope.toarray()
    H, A, n = S.T @ (frame.weight[:, None] * S), slope.T @ slope, len(g)
    Q, R, order = cast("Any", qr)(np.block([[H, A], [A, np.zeros((n, n))]]), pivoting=True)
    pivots = np.abs(np.diagonal(R))
    rank = int((pivots > 1e-9 * pivots[0]).sum())
    solution = np.zeros(2 * n)
    right = Q.T @ np.concatenate([-g, -slope.T @ at.phi])
    solution[order[:rank]] = solve_triangular(R[:rank, :rank], right[:rank])
    return solution[:n], solution[n:]


@pytest.mark.parametrize("name", ["arm", "twins", "mixed", "planar", "four-bar"])
def test_a_step_is_that_of_the_papers_matrix(name: str):
    model, frame = model_of(name)
    x = model.natural.from_posture(model.trial.start)
    at = model.linearised(frame, x)
    g = model.S.T @ (frame.weight * (model.S @ x + frame.offset))
    delta, mu = model.step(frame, at, g)
    wanted, prices = of_the_appendix(model, frame, at, g)
    assert np.linalg.norm(wanted) > 1e-3
    assert_allclose(delta, wanted, atol=1e-7)
    assert_allclose(mu, at.slope @ prices, atol=1e-6)


@pytest.mark.parametrize("name", ["arm", "mixed", "four-bar"])
def test_away_from_postures_a_step_solves_the_programme(name: str):
    """Redundant rows contradict each other there: (9) asks for least squares, and among these for the least cost."""
    model, frame = model_of(name)
    x = model.natural.from_posture(model.trial.start)
    x = x + 0.05 * np.random.default_rng(1).normal(size=len(x))
    at = model.linearised(frame, x)
    g = model.S.T @ (frame.weight * (model.S @ x + frame.offset))
    delta, _ = model.step(frame, at, g)
    slope, S = at.slope.toarray(), model.S.toarray()
    _, values, V = np.linalg.svd(slope)
    free = V[int((values > 1e-9).sum()) :]
    assert np.linalg.norm(slope.T @ (slope @ delta + at.phi)) < 1e-9
    assert np.linalg.norm(free @ (g + S.T @ (frame.weight * (S @ delta)))) < 1e-7


def test_maxmin_is_the_larger_of_both_lengths():
    cost, violation = np.array([1.0, -2.0, 2.0]), np.array([1.0, -2.0, 1.25, 0.0, 0.0])  # least at 0.5 and at 0.8
    assert step_length("maxmin", cost, np.zeros(3), violation) == pytest.approx(0.8)
    assert step_length("maxmin", np.array([1.0, -2.0, 1.0]), np.zeros(3), violation) == pytest.approx(1.0)


@pytest.mark.parametrize("step", ["merit", "maxmin"])
def test_the_papers_rule_accepts_sooner_and_says_so(step: Any):
    figure = FIGURES["mixed"]
    rng = np.random.default_rng(2)
    points = [Point(segment, rng.normal(0, 0.1, 3).tolist()) for segment in figure.segments for _ in range(3)]
    ways = np.array([[figure.seen(figure.rest + 0.02 * k, p)[:3, 3] for p in points] for k in range(4)])
    ways += 0.02 * rng.normal(size=ways.shape)
    found = {}
    for accept in ("still", "closed"):
        tracker = OptimalTracking(step, 1e-4, path="paper", accept=accept, limits=False)
        found[accept] = tracker.track_frames(figure, points, ways, start=figure.rest + 0.05)
        assert found[accept].converged.all()
        assert found[accept].violations.max() < 1e-4
    assert found["still"].steps.max() < 1e-4 < found["closed"].steps.max()
    assert (found["closed"].iterations >= 1).all()
    assert found["closed"].iterations.sum() < found["still"].iterations.sum()


def test_the_paths_agree_on_a_whole_body():
    figure = supple.load("human", fingers=False)
    rng = np.random.default_rng(3)
    points = [Point(segment, rng.normal(0, 0.1, 3).tolist()) for segment in figure.segments for _ in range(3)]
    q = np.array(figure.rest)
    ways = np.array([[figure.seen(q + 0.02 * k, p)[:3, 3] for p in points] for k in range(3)])
    ways += 0.01 * rng.normal(size=ways.shape)
    one, other = (
        OptimalTracking(path=path, limits=False).track_frames(figure, points, ways) for path in ("fast", "paper")
    )
    assert one.converged.all()
    assert other.converged.all()
    for a, b in zip(one.q, other.q, strict=True):
        apart = [figure.seen(a, p)[:3, 3] - figure.seen(b, p)[:3, 3] for p in points]
        assert np.abs(apart).max() < 1e-7


def test_what_nobody_sees_keeps_numbers_finite():
    figure = supple.load("human", fingers=False)
    rng = np.random.default_rng(3)
    points = [
        Point(s, rng.normal(0, 0.1, 3).tolist())
        for s in ("pelvis", "head", "hand_l", "hand_r", "foot_l")
        for _ in range(3)
    ]
    q = np.array(figure.rest)
    ways = np.array([[figure.seen(q + 0.03 * k, p)[:3, 3] for p in points] for k in range(4)])
    ways += 0.01 * rng.normal(size=ways.shape)
    for accept in ("still", "closed"):
        tracked = OptimalTracking("maxmin", 1e-6, path="paper", accept=accept, limits=False).track_frames(
            figure, points, ways
        )
        assert np.isfinite(tracked.q).all()
        assert np.isfinite(tracked.violations).all()
        assert (tracked.violations[tracked.converged] < 1e-6).all()
