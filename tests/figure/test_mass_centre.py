"""The centre of mass: sums by hand, derivatives, and what has no mass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose

from supple.errors import BadValue
from supple.figure.effectors import MassCentre, Point
from supple.figure.figure import Figure
from supple.figure.joints import fixed, hinge, slide
from supple.geometry.placements import X, Y, Z, place
from supple.geometry.shapes import Body
from supple.problem.goals import AimedAt, AnyOf, At, Beyond, Custom, Facing, OnLine, OnPlane, Placed, Within
from supple.problem.problem import Problem
from supple.problem.task import Task
from tests.tables.figures import TREES, assert_close, placements_by_exponentials, posture, slope, trees

GOALS: dict[str, Any] = {
    "At": At((0.3, 0.2, 0.1)),
    "OnLine": OnLine((0.3, 0.2, 0), Z),
    "OnPlane": OnPlane((0.3, 0.2, 0), (1, 2, 3)),
    "Beyond": Beyond((5, 5, 5), (1, 2, 3)),
    "Within": Within(place((0.5, 0, 0)), box=(0.1, 0.05, 0.2)),
    "AnyOf": AnyOf([OnPlane((1, 0, 0), X), OnPlane((0, 1, 0), Y)], (2, 3)),
}


def centre(figure: Figure, q: np.ndarray) -> np.ndarray:
    frames = placements_by_exponentials(figure, q)
    moments = [b.mass * (frames[s] @ [*b.centre, 1])[:3] for s, b in figure.bodies.items()]
    return np.sum(moments, axis=0) / sum(b.mass for b in figure.bodies.values())


@given(trees(), st.integers(0, 1 << 32))
@settings(max_examples=50)
def test_the_centre_of_mass_is_the_mean_of_the_bodies(figure: Figure, seed: int):
    q = np.random.default_rng(seed).normal(size=figure.size)
    assert_allclose(figure.mass_centre(q), centre(figure, q), atol=1e-11)
    problem = Problem(figure, [Task(MassCentre(), At((1, 2, 3)))])
    assert_allclose(problem.value(q), np.sum((centre(figure, q) - (1, 2, 3)) ** 2), rtol=1e-11)


def check(problem: Problem, q: np.ndarray) -> None:
    here = problem.evaluate(q)
    assert_close(here.gradient, slope(problem.value, q), 1e-6)
    assert_close(here.hessian, slope(lambda x: problem.evaluate(x, hessian=False).gradient, q), 1e-6)
    rho, J = problem.jacobian(q)
    assert_close(rho @ rho, here.value, 1e-11)
    assert_close(J, slope(lambda x: problem.jacobian(x)[0], q), 1e-6)
    assert_close(2 * J.T @ J, problem.evaluate(q, curvature=False).hessian, 1e-12)


@pytest.mark.parametrize("figure", TREES)
@pytest.mark.parametrize("goal", GOALS)
def test_laws(goal: str, figure: str):
    check(Problem(TREES[figure], [Task(MassCentre(), GOALS[goal], weight=1.5)]), posture(TREES[figure], 100, 0.8))


@given(trees(), st.integers(0, 1 << 32))
@settings(max_examples=25)
def test_laws_in_random_trees_beside_other_tasks(figure: Figure, seed: int):
    if not figure.size:
        return
    tasks = [
        Task(MassCentre(), OnLine((0, 0, 0), Z)),
        Task(figure.segments[-1], Placed(place((1, 2, 3)))),
        Task(MassCentre(), At((1, 0, 0)), weight=0.2),
    ]
    check(Problem(figure, tasks), np.random.default_rng(seed).normal(size=figure.size) * 0.7)


@pytest.mark.interpreted
def test_laws_on_a_small_figure():
    parts = [*hinge("a", None, (1, 2, 3)), *slide("b", "a", Y, at=(0, 0, 1)), *fixed("c", "b", (0.1, 0.2, 0.3))]
    figure = Figure("f", parts, bodies={"a": Body(1, (0, 1, 0)), "c": Body(2, (1, 0, 0))})
    for goal in (GOALS["At"], GOALS["OnLine"]):
        check(Problem(figure, [Task(MassCentre(), goal)]), np.array([0.3, 0.4]))


def test_one_body_is_a_point():
    figure = Figure(
        "f", [*hinge("a", None, X), *hinge("b", "a", Y, at=(0, 0, 1))], bodies={"b": Body(3.0, (0.1, 0.2, 0.3))}
    )
    q = np.array([0.4, 0.5])
    mass = Problem(figure, [Task(MassCentre(), At((1, 2, 3)))]).evaluate(q)
    point = Problem(figure, [Task(Point("b", (0.1, 0.2, 0.3)), At((1, 2, 3)))]).evaluate(q)
    assert_close(mass.value, point.value, 1e-14)
    assert_close(mass.gradient, point.gradient, 1e-14)
    assert_close(mass.hessian, point.hessian, 1e-13)


def test_weights_of_bodies_are_relative_and_weightless_ones_do_not_count():
    figure = TREES["arm"]
    q = posture(figure, 101)
    heavy = Figure(
        "h", figure.joints.values(), bodies={s: Body(1000 * b.mass, b.centre) for s, b in figure.bodies.items()}
    )
    with_nothing = Figure("n", figure.joints.values(), bodies={**figure.bodies, "waist": Body(0.0, (9, 9, 9))})
    for other in (heavy, with_nothing):
        assert_allclose(other.mass_centre(q), figure.mass_centre(q), rtol=1e-14)


def test_a_body_on_the_ground_stays_but_counts():
    figure = Figure("f", [*fixed("base"), *slide("a", "base", X)], bodies={"base": Body(3.0), "a": Body(1.0)})
    assert_allclose(figure.mass_centre([4.0]), (1, 0, 0))
    here = Problem(figure, [Task(MassCentre(), At((0, 0, 0)))]).evaluate([4.0])
    assert_allclose((here.value, here.gradient[0], here.hessian[0, 0]), (1, 0.5, 0.125))


def nothing(a: Any, x: Any, g: Any, H: Any) -> float:
    return 0.0


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        (At(X, relative_to="hand"), "the mass centre takes goals in the world"),
        (Custom(nothing), "the mass centre takes goals in the world"),
        (Facing(X), "Facing needs a direction"),
        (AimedAt(X), "AimedAt needs a direction"),
        (Placed(np.eye(4)), "Placed needs a frame"),
        (Within(tilt=0.1), "Within needs a frame"),
    ],
)
def test_refusals(goal: Any, message: str):
    with pytest.raises(BadValue, match=message):
        Task(MassCentre(), goal)
