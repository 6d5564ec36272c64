"""The doors answer arms that have a formula by it: the nearest of all branches, the search for whatever a formula leaves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple.problem.problem import Problem
from supple.solvers.closed_forms.at_doors import way_of
from supple.solvers.multistart import Multistart
from tests.tables.arms import ARMS, OFFSET, figure_of

SEARCH = Multistart(formulas=False)
KNOWN = np.array([0.3, -0.8, 0.7, 0.2, 0.9, 0.4])
PANDA, IIWA, UR5 = supple.load("panda"), supple.load("iiwa14"), supple.load("ur5")
SEVEN = pytest.mark.parametrize("figure", [PANDA, IIWA], ids=["panda", "iiwa14"])


def posed(figure: supple.Figure, q: Any, segment: str = "hand", **more: Any) -> Problem:
    return Problem(figure, [supple.Task(segment, supple.Placed(figure.placement(q, segment)))], **more)


def far(figure: supple.Figure, segment: str = "hand") -> Problem:
    target = figure.placement(figure.rest, segment).copy()
    target[:3, 3] += 9.0
    return Problem(figure, [supple.Task(segment, supple.Placed(target))])


def tip(figure: supple.Figure) -> str:
    return {"panda": "panda_hand", "ur5": "tool0"}.get(figure.name, figure.segments[-1])


@pytest.mark.parametrize("name", ARMS)
def test_the_answer_is_the_nearest_of_all(name: str) -> None:
    figure, rng = figure_of(ARMS[name]), np.random.default_rng(5)
    query = supple.prepare(posed(figure, KNOWN))
    answered = 0
    for _ in range(60):
        q, start = rng.uniform(-np.pi, np.pi, (2, 6))
        T = figure.placement(q, "hand")
        found = query(T, start)
        every = supple.solve_all(posed(figure, q), start, prove=False)
        assert found.ok
        assert figure.limits.contains(found.q)
        assert_allclose(figure.placement(found.q, "hand"), T, atol=2e-9)
        if found.evaluations == 1:
            answered += 1
            assert_allclose(found.q, every.q[0], atol=1e-8)
    assert answered >= 58


def test_a_posture_that_is_there_already_stays() -> None:
    query = supple.prepare(posed(UR5, KNOWN, "tool0"))
    for q in np.random.default_rng(1).uniform(-3.0, 3.0, (20, 6)):
        found = query(UR5.placement(q, "tool0"), q)
        assert_allclose(found.q, q, atol=1e-9)
        assert not found.jumped


@pytest.mark.parametrize("name", ["puma-like", "ur5-like"])
def test_families_are_searched_for(name: str) -> None:
    """A straight wrist leaves an angle free: any posture of the family may be nearest, so no branch is guessed."""
    q = np.array([0.3, -0.8, 0.7, 0.2, 0.0, 0.4])
    figure = figure_of(ARMS[name])
    found, searched = (supple.solve(posed(figure, q), start=KNOWN, solver=s) for s in (None, SEARCH))
    assert found.ok
    assert found.evaluations == searched.evaluations > 1
    assert_array_equal(found.q, searched.q)


def test_what_is_out_of_reach_is_searched_for_as_ever() -> None:
    for figure in (figure_of(ARMS["ur5-like"]), figure_of(ARMS["kuka-like"])):
        found, searched = (supple.solve(far(figure), solver=s, prove=False) for s in (None, SEARCH))
        assert found.status is searched.status is supple.Status.NEAREST
        assert_array_equal(found.q, searched.q)


def test_limits_leave_the_nearest_that_is_legal() -> None:
    figure, rng = figure_of(ARMS["puma-like"], wide=2.0), np.random.default_rng(3)
    query = supple.prepare(posed(figure, KNOWN))
    for _ in range(100):
        q, start = rng.uniform(-2.0, 2.0, (2, 6))
        found = query(figure.placement(q, "hand"), start)
        assert found.ok
        assert (np.abs(found.q) <= 2.0).all()
        assert np.linalg.norm(found.q - start) <= np.linalg.norm(q - start) + 1e-6


def test_six_hinges_inside_a_larger_figure_and_seen_from_another_segment() -> None:
    arm = figure_of(ARMS["kuka-like"])
    joints = [*supple.hinge("other", None, (0, 1, 0), at=(0.2, 0.1, 0.3), limits=(-1, 1)), *arm.joints.values()]
    both = supple.Figure("both", joints)
    start = np.concatenate([[0.25], np.zeros(6)])
    found = supple.solve(posed(both, np.concatenate([[0.5], KNOWN])), start=start)
    alone = supple.solve(posed(arm, KNOWN), start=np.zeros(6))
    assert found.evaluations == alone.evaluations == 1
    assert found.q[0] == 0.25
    assert_array_equal(found.q[1:], alone.q)
    seen = arm.placement(KNOWN, "hand")
    base = supple.place((0.1, 0.2, 0.3), rpy=(0.4, 0.5, 0.6))
    stand = supple.Figure("stand", [*supple.fixed("stand", None, at=base), *arm.joints.values()])
    goal = supple.Placed(np.linalg.inv(base) @ seen, relative_to="stand")
    found = supple.solve(Problem(stand, [supple.Task("hand", goal)]))
    assert found.ok
    assert found.evaluations == 1
    assert_allclose(stand.placement(found.q, "hand"), seen, atol=1e-8)


def test_problems_that_a_formula_cannot_answer_have_none() -> None:
    arm = figure_of(ARMS["ur5-like"])
    problem = posed(arm, KNOWN)
    assert way_of(problem) is not None
    task = problem.tasks[0]
    others = [
        replace(problem, tasks=[replace(task, tolerance=1e-10)]),
        replace(problem, tasks=[task, supple.Task(None, supple.Near(arm.rest), preference=True)]),
        replace(problem, tasks=[replace(task, goal=supple.At((0.3, 0.2, 0.4)))]),
        replace(problem, rigidity={"2": 0.5}),
        replace(problem, limits=supple.Limits(arm.lower, arm.upper, A=np.ones((1, 6)), b=[3.0])),
        replace(
            problem,
            figure=arm.with_solids({"3": (supple.Ball((0, 0, 0), 0.02),)}),
            obstacles=[supple.Ball((5, 0, 0), 0.1)],
        ),
        posed(arm, KNOWN, "5"),
        posed(figure_of(OFFSET), KNOWN),
    ]
    for other in others:
        assert way_of(other) is None, other
        found, searched = (supple.solve(other, solver=s, prove=False) for s in (None, SEARCH))
        assert_array_equal(found.q, searched.q)
        assert found.evaluations == searched.evaluations


def test_a_named_method_and_one_that_wants_no_formula_search() -> None:
    problem = posed(UR5, KNOWN, "tool0")
    for solver in (supple.LevenbergMarquardt(), SEARCH):
        assert supple.solve(problem, solver=solver).evaluations > 1
    assert supple.solve(problem).evaluations == 1


@SEVEN
def test_slices_take_the_place_of_blind_starts(figure: supple.Figure) -> None:
    rng = np.random.default_rng(8)
    query = supple.prepare(posed(figure, figure.rest, tip(figure)))
    searching = supple.prepare(posed(figure, figure.rest, tip(figure)), solver=SEARCH)
    spent = np.zeros((200, 2))
    for k, q in enumerate(rng.uniform(figure.lower, figure.upper, (200, figure.size))):
        T = figure.placement(q, tip(figure))
        found, searched = query(T), searching(T)
        assert found.ok
        assert figure.limits.contains(found.q)
        assert_allclose(figure.placement(found.q, tip(figure)), T, atol=2e-5)
        spent[k] = found.evaluations, searched.evaluations
    assert spent[:, 0].mean() < 0.6 * spent[:, 1].mean()


@SEVEN
def test_what_is_near_is_looked_for_from_the_start(figure: supple.Figure) -> None:
    """A path goes on as it would without slices."""
    q = np.array(figure.rest) + 0.1 * np.sin(np.arange(60)[:, None] / 10.0 + np.arange(figure.size))
    T = figure.placement(q, tip(figure))
    paths = [supple.follow(posed(figure, q[0], tip(figure)), T, start=q[0], solver=s) for s in (None, SEARCH)]
    assert all(paths[0].ok)
    assert_array_equal(paths[0].q, paths[1].q)


@SEVEN
def test_slices_keep_to_budgets_and_to_a_pace(figure: supple.Figure) -> None:
    rng = np.random.default_rng(2)
    for q in rng.uniform(figure.lower, figure.upper, (10, figure.size)):
        problem = posed(figure, q, tip(figure))
        free = supple.solve(problem)
        for budget in (1, 2, 5, 30):
            short = supple.solve(problem, budget=budget)
            assert 1 <= short.evaluations <= budget
            assert figure.limits.contains(short.q)
            if free.evaluations <= budget:
                assert_array_equal(short.q, free.q)
        assert supple.solve(problem, budget=free.evaluations).ok
        query = supple.prepare(problem, one_branch=True)
        assert (np.abs(query(None, figure.rest).q - figure.rest) <= 0.5 + 1e-12).all()


def test_a_trace_leads_from_the_start_to_the_answer() -> None:
    for figure in (UR5, PANDA):
        problem = posed(figure, figure.rest + 0.4, tip(figure))
        plain, found = supple.solve(problem), supple.solve(problem, trace=True)
        assert_array_equal(plain.q, found.q)
        assert found.trace is not None
        assert found.trace.evaluations[0] == 1 <= found.trace.evaluations[-1] <= found.evaluations
        assert_allclose(found.trace.value[0], problem.value(figure.rest), rtol=1e-12)
        assert_allclose(found.trace.value[-1], problem.value(found.q), atol=1e-16)


@pytest.mark.interpreted
def test_formulas_and_slices_interpreted() -> None:
    for figure, segment in ((UR5, "tool0"), (PANDA, "panda_hand")):
        q = figure.rest + 0.5
        found = supple.solve(posed(figure, q, segment), prove=False)
        assert found.ok
        assert_allclose(figure.placement(found.q, segment), figure.placement(q, segment), atol=1e-5)
