"""The pieces of the compiled search on their own, interpreted: alignment and linear algebra against NumPy and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import supple
from supple import At, Frame, Placed, Point, Problem, Task
from supple.geometry.placements import Floats
from supple.kernels.algebra.blocks_of_three import (
    factor_blocks,
    solve_symmetric,
    substitute_blocks,
)
from supple.kernels.charts import report
from supple.kernels.compiling import INTERPRETED
from supple.kernels.jacobian import appraise, jacobian, locate
from supple.kernels.layouts import BY_JOINTS, RESIDUALS
from supple.kernels.opening import padded
from supple.kernels.tables import EXACT, open_evaluation, open_tasks
from supple.kernels.tree import open_tree
from supple.solvers.levenberg_marquardt.joint_by_joint import (
    eliminate,
    load_bodies,
    step_alone,
    substitute,
    twists_and_covectors,
)
from supple.solvers.levenberg_marquardt.root_placement import align
from supple.solvers.levenberg_marquardt.scratch import AT_LIMIT, HELD, MOVES, SEARCH_SCRATCH, open_search_scratch
from supple.solvers.levenberg_marquardt.second_order import bend_joints, can_bend

pytestmark = [
    pytest.mark.interpreted,
    pytest.mark.skipif(not INTERPRETED, reason="kernels that only kernels call can be called only interpreted"),
]
X, Y, Z = np.eye(3)
ENDS = ((1.0, 0.0, 0.2), (-0.4, 0.8, 0.0), (0.1, -0.7, 0.5), (0.3, 0.2, -0.9))


def body() -> supple.Figure:
    """A rigid body on a free root, with a few places to look at."""
    parts = [*supple.free("body")]
    for i, at in enumerate(ENDS):
        parts += supple.fixed(f"end {i}", "body", at)
    return supple.Figure("body", parts)


def aligned(problem: Problem, q: np.ndarray, timid: bool = False) -> tuple[bool, np.ndarray]:
    I, F, T = problem.pack
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
    turn = Rotation.align_vectors(goals - wanted, x - centre, weights=weights)[0]
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
    for in_blocks in (True, False):
        A, y = rng.normal(size=(order, padded(order))), right.copy()  # what is not the upper triangle is never read
        A[:, :order][np.triu_indices(order)] = full[np.triu_indices(order)]
        if in_blocks:
            factor_blocks(A, order)
            substitute_blocks(A, y, order)
        else:
            solve_symmetric(A, y, order)
        assert_allclose(y, np.linalg.solve(full, right), rtol=1e-8)


def test_a_matrix_that_is_not_positive_definite_is_said_to_be_so():
    for worst in (0.0, -1.0, np.nan):
        A, y = np.zeros((4, padded(4))), np.ones(4)
        A[:, :4] = np.diag([1.0, 2.0, worst, 1.0])
        assert not solve_symmetric(A, y, 4)


def limbs() -> Problem:
    """Three limbs on a slide and a hinge, far from the world's origin, with goals of several kinds and weights."""
    parts = [*supple.slide("base", None, X, at=(40.0, -30.0, 2.0)), *supple.hinge("trunk", "base", Z)]
    for i, at in enumerate(ENDS[:3]):
        parts += supple.hinge(f"a{i}", "trunk", X, at=at) + supple.hinge(f"b{i}", f"a{i}", Y, at=(0.1, 0.2, 0.5))
        parts += supple.hinge(f"c{i}", f"b{i}", Z, at=(0.3, 0.0, 0.4))
        parts += supple.fixed(f"tip{i}", f"c{i}", (0.0, 0.2, 0.3))
    figure = supple.Figure("limbs", [*parts, *supple.hinge("idle", "trunk", Y)])
    q = np.random.default_rng(5).uniform(-0.7, 0.7, figure.size)
    tasks = [Task(Frame(f"tip{i}"), Placed(figure.placement(q, f"tip{i}")), weight=1.0 + i) for i in range(2)]
    tasks.append(Task(Point("tip2"), At(figure.placement(q, "tip2")[:3, 3]), weight=3.0))
    return Problem(figure, tasks)


class Model:
    """The model of a step at a posture, evaluated, with the scratch of a search."""

    def __init__(self, problem: Problem, seed: int) -> None:
        I, F, T = problem.pack
        rng, memory = np.random.default_rng(seed), np.full(SEARCH_SCRATCH.size(I), np.nan)
        n, self.problem, self.I = problem.figure.size, problem, I
        self.q, self.damping = rng.uniform(-0.7, 0.7, n), 10.0 ** rng.uniform(-6, 0)
        self.held = rng.choice([MOVES, MOVES, MOVES, AT_LIMIT, HELD], n)
        self.put = np.where(self.held == HELD, rng.uniform(-0.2, 0.2, n), 0.0)
        self.weight = seed % 2 * rng.uniform(0.1, 1.0, n)
        self.slope = self.weight * rng.uniform(-0.1, 0.1, n)
        self.tree = open_tree(I, F)
        self.tasks, self.scratch = open_tasks(I, F), open_search_scratch(I, memory)
        scratch, evaluation = self.scratch, open_evaluation(I, self.scratch.evaluation)
        scratch.D[:], scratch.held[:], scratch.g[:] = 1.0, self.held, self.put
        scratch.near_weight[:], scratch.near_slope[:] = self.weight, self.slope
        locate(I, F, scratch.evaluation, self.q)
        appraise(I, F, scratch.evaluation, T, scratch.rho, scratch.chosen)
        twists_and_covectors(self.tasks, scratch.chosen, evaluation, scratch.rho, scratch)
        assert can_bend(self.tasks, scratch.chosen)

    def residuals(self, x: Floats) -> tuple[Floats, Floats]:
        """Residuals and their dense Jacobian."""
        I, F, T = self.problem.pack
        rho, J = np.zeros(int(I[RESIDUALS])), np.zeros((int(I[RESIDUALS]), len(x)))
        jacobian(I, F, self.problem.scratch(), T, x, rho, J)
        return rho, J

    def check(self, step: Floats, second: Floats) -> None:
        """A step is that of the dense model, and its second-order part removes how residuals bend along it."""
        (rho, J), free, h = self.residuals(self.q), self.held == MOVES, 1e-4
        system = J[:, free].T @ J[:, free] + np.diag(self.damping + self.weight[free])
        wanted = self.put.copy()
        wanted[free] = -np.linalg.solve(system, J[:, free].T @ (rho + J @ self.put) + self.slope[free])
        assert_allclose(step, wanted, atol=1e-7 * (1.0 + abs(wanted).max()))
        along = h * step / np.linalg.norm(step)
        bent = self.residuals(self.q + along)[0] - 2.0 * rho + self.residuals(self.q - along)[0]
        wanted = np.zeros_like(step)
        wanted[free] = -np.linalg.solve(system, J[:, free].T @ (0.5 * bent * (step @ step) / h**2))
        assert_allclose(second, wanted, atol=1e-3 * (1e-3 + abs(wanted).max()))


@pytest.mark.parametrize("seed", range(5))
def test_a_step_joint_by_joint_is_that_of_the_dense_model(seed: int) -> None:
    model = Model(limbs(), seed)
    tree, tasks, scratch = model.tree, model.tasks, model.scratch
    assert model.I[BY_JOINTS] == 1
    load_bodies(tasks, scratch.chosen, scratch)
    eliminate(tree, model.damping, scratch)
    step_alone(model.damping, scratch)
    substitute(tree, scratch, scratch.g)
    second = np.empty_like(model.q)
    bend_joints(tree, tasks, scratch.chosen, scratch, second)
    model.check(scratch.g, second)
