"""The pieces of the compiled search on their own, interpreted: alignment and linear algebra against NumPy and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import supple
from supple import At, Placed, Point, Problem, Task
from supple.charts import EXACT, report
from supple.compiled import INTERPRETED
from supple.solvers.alignment import align
from supple.solvers.blocks import solve_blocks, solve_symmetric
from supple.tree import padded

pytestmark = [
    pytest.mark.interpreted,
    pytest.mark.skipif(not INTERPRETED, reason="kernels that only kernels call can be called only interpreted"),
]
ENDS = ((1.0, 0.0, 0.2), (-0.4, 0.8, 0.0), (0.1, -0.7, 0.5), (0.3, 0.2, -0.9))


def body() -> supple.Figure:
    """A rigid body on a free root, with a few places to look at."""
    parts = [*supple.free("body")]
    for i, at in enumerate(ENDS):
        parts += supple.fixed(f"end {i}", "body", at)
    return supple.Figure("body", parts)


def aligned(problem: Problem, q: np.ndarray, timid: bool = False) -> tuple[bool, np.ndarray]:
    I, F, T = problem.packed
    own, out = F.copy(), q.copy()
    moved = align(I, own, problem.scratch(), T, out, timid)
    report(I, own, out, q, EXACT)
    return moved, out


@pytest.mark.parametrize("seed", range(6))
def test_points_are_fitted_as_scipy_fits_them(seed: int):
    rng, figure = np.random.default_rng(seed), body()
    q, goals = rng.uniform(-1, 1, 6), rng.uniform(-2, 2, (4, 3))
    weights = rng.uniform(0.5, 2.0, 4)
    tasks = [Task(Point(f"end {i}"), At(goals[i]), weight=weights[i]) for i in range(4)]
    problem = Problem(figure, tasks)
    moved, found = aligned(problem, q)
    assert moved
    x = np.array([figure.placement(q, f"end {i}")[:3, 3] for i in range(4)])
    centre, wanted = np.average(x, axis=0, weights=weights), np.average(goals, axis=0, weights=weights)
    turn, _ = Rotation.align_vectors(goals - wanted, x - centre, weights=weights)
    for i in range(4):
        there = figure.placement(found, f"end {i}")[:3, 3]
        assert_allclose(there, turn.apply(x[i] - centre) + wanted, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_a_rigid_body_is_put_where_all_its_goals_are_met(seed: int):
    rng, figure = np.random.default_rng(seed), body()
    q, there = rng.uniform(-2, 2, (2, 6))
    tasks = [
        Task("end 0", Placed(figure.placement(there, "end 0"))),
        Task("end 1", At(figure.placement(there, "end 1")[:3, 3])),
    ]
    problem = Problem(figure, tasks)
    moved, found = aligned(problem, q)
    assert moved
    assert problem.value(found) < 1e-18


@pytest.mark.parametrize("seed", range(10))
def test_alignment_never_raises_the_objective(seed: int):
    rng, figure = np.random.default_rng(seed), body()
    tasks = [Task(Point(f"end {i}"), At(rng.uniform(-2, 2, 3))) for i in range(3)]
    tasks.append(
        Task(
            "end 3",
            Placed(supple.place(rng.uniform(-1, 1, 3), rpy=rng.uniform(-3, 3, 3)), per_radian=rng.uniform(0.1, 2)),
        )
    )
    problem, q = Problem(figure, tasks), rng.uniform(-2, 2, 6)
    assert problem.value(aligned(problem, q)[1]) <= problem.value(q) + 1e-12


def test_a_timid_alignment_leaves_what_is_near_and_what_points_do_not_fix():
    figure = body()
    near = [Task(Point(f"end {i}"), At(np.array(ENDS[i]) + 0.01)) for i in range(4)]
    for tasks in (near, near[:2], [Task(Point("end 0"), At((5, 5, 5)))]):
        moved, q = aligned(Problem(figure, tasks), np.zeros(6), timid=True)
        assert not moved
        assert not q.any()


@pytest.mark.parametrize("order", [3, 6, 9, 18, 24])
def test_linear_systems_are_solved_as_numpy_solves_them(order: int):
    rng = np.random.default_rng(order)
    M = rng.normal(size=(order, order + 2))
    full, right = M @ M.T + 1e-3 * np.eye(order), rng.normal(size=order)
    for solve in (solve_blocks, solve_symmetric):
        A, y = rng.normal(size=(order, padded(order))), right.copy()  # what is not the upper triangle is never read
        A[:, :order][np.triu_indices(order)] = full[np.triu_indices(order)]
        solve(A, y, order)
        assert_allclose(y, np.linalg.solve(full, right), rtol=1e-8)


def test_a_matrix_that_is_not_positive_definite_is_said_to_be_so():
    for worst in (0.0, -1.0, np.nan):
        A, y = np.zeros((4, padded(4))), np.ones(4)
        A[:, :4] = np.diag([1.0, 2.0, worst, 1.0])
        assert not solve_symmetric(A, y, 4)
