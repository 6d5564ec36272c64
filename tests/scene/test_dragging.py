"""Following a dragged target: bounded work, hard constraints that hold, strides, limbs that bend again."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple import At, BadValue, Placed, Point, Scene
from supple.scene.dragging import CHOSEN, DRAGGED


@pytest.fixture(scope="module")
def person() -> supple.Figure:
    return supple.load("human", fingers=False)


def standing(person: supple.Figure, hard: bool = True) -> Scene:
    scene = Scene(person)
    for foot in ("foot_l", "foot_r"):
        scene.add(foot, foot, Placed(person.placement(scene.q, foot)), hard=hard)
    scene.add("hand", "hand_l.palm", At((0.4, 0.3, 1.1)))
    scene.solve()
    return scene


@pytest.mark.parametrize("hard", [False, True])
def test_out_of_reach_an_event_takes_few_evaluations_and_hard_feet_stay(person: supple.Figure, hard: bool):
    scene = standing(person, hard)
    for x in np.linspace(0.4, 2.5, 12):
        solution = scene.drag("hand", (x, 0.3, 1.1))
        assert solution.evaluations <= DRAGGED
        assert scene.limits.contains(scene.q)
        if hard:
            assert set(solution.unmet) <= {"hand"}
    assert not solution.ok
    assert solution.problem == scene.problem


def test_no_coordinate_changes_by_more_than_a_stride_and_the_target_is_reached_in_the_end(person: supple.Figure):
    scene, target = standing(person), (0.45, -0.1, 1.4)
    for _ in range(60):
        before = scene.q
        solution = scene.drag("hand", target, stride=0.1)
        assert np.abs(scene.q - before).max() <= 0.1 * (1.0 + 1e-9)
        if solution.ok:
            break
    assert solution.ok
    assert_array_equal(solution.problem.tasks[2].goal.position, target)
    assert_allclose(person.placement(scene.q, "hand_l.palm")[:3, 3], target, atol=1e-5)


def test_a_straight_arm_bends_again_when_the_target_comes_back_along_it(person: supple.Figure):
    scene = standing(person)
    way = np.array((1.0, 0.0, 0.0))
    for x in [*np.linspace(0.0, 1.5, 30), *np.linspace(1.5, 0.0, 30), *np.zeros(10)]:
        solution = scene.drag("hand", np.array((0.4, 0.3, 1.1)) + x * way)
    assert solution.ok


def test_a_plane_arm_pointing_at_the_target_is_nudged():
    arm = supple.Figure(
        "arm",
        [
            *supple.hinge("a", None, (0, 0, 1), limits=(-2.0, 2.0)),
            *supple.hinge("b", "a", (0, 0, 1), supple.place((1, 0, 0)), limits=(0.0, 2.0)),
            *supple.fixed("tip", "b", supple.place((1, 0, 0))),
        ],
    )
    scene = Scene(arm)
    scene.add("tip", Point("tip"), At((2.0, 0.0, 0.0)))
    assert scene.drag("tip", (1.5, 0.0, 0.0)).ok  # no slope there: both joints turn the tip sideways


def test_an_answer_does_not_change_with_what_was_handed_in(person: supple.Figure):
    scene, target = standing(person), np.array((0.42, 0.3, 1.1))
    solution = scene.drag("hand", target)
    target += 1.0
    assert_array_equal(solution.problem.tasks[2].goal.position, (0.42, 0.3, 1.1))


@pytest.mark.parametrize("stride", [0.0, -1.0, np.nan, "far"])
def test_a_stride_that_is_none_is_refused(person: supple.Figure, stride: object):
    with pytest.raises(BadValue, match="stride"):
        standing(person).drag("hand", (0.4, 0.3, 1.1), stride=stride)


def test_what_was_done_since_is_folded_into_one_step(person: supple.Figure):
    scene = standing(person)
    before, since = scene.now, len(scene.history)
    scene.add("other", "hand_r.palm", At((0.4, -0.3, 1.1)))
    scene.solve()
    scene.remove("other")
    after = scene.q
    scene.fold(since, "reach")
    assert [state.done for state in scene.history[since:]] == ["reach"]
    assert_array_equal(scene.q, after)
    scene.undo()
    assert scene.now is before
    scene.redo()
    assert_array_equal(scene.q, after)
    scene.fold(len(scene.history), "nothing")
    assert scene.now.done == "reach"
    for since, refusal in ((0, "at least 1"), (99, "nothing after 99")):
        with pytest.raises(BadValue, match=refusal):
            scene.fold(since, "all")


CHOSEN_SOLVERS = [
    supple.ProjectedGradient(), supple.ActiveSet(), supple.Newton(), supple.JacobianTranspose(), supple.PseudoInverse(),
    supple.CyclicCoordinateDescent(),
]  # fmt: skip


@pytest.mark.parametrize("solver", CHOSEN_SOLVERS, ids=lambda s: type(s).__name__)
def test_a_chosen_solver_follows_and_hard_feet_hold(person: supple.Figure, solver: supple.Solver):
    scene, target = standing(person), np.array((0.45, 0.1, 1.2))
    begin = person.placement(scene.q, "hand_l.palm")[:3, 3]
    for part in [*np.linspace(0.0, 1.0, 20), *np.ones(20)]:
        before = scene.q
        solution = scene.drag("hand", begin + part * (target - begin), stride=0.3, solver=solver)
        assert np.abs(scene.q - before).max() <= 0.3 * (1.0 + 1e-9)
        assert solution.evaluations <= CHOSEN
        assert scene.limits.contains(scene.q)
        assert set(solution.unmet) <= {"hand"}
    assert np.linalg.norm(person.placement(scene.q, "hand_l.palm")[:3, 3] - target) < 0.1 * np.linalg.norm(
        target - begin
    )
    usual = scene.drag("hand", begin, stride=0.3)
    assert usual.evaluations <= CHOSEN


def test_a_chosen_solver_that_cannot_take_the_constraints_says_so_and_nothing_changes(person: supple.Figure):
    scene = standing(person)
    before, steps = scene.q, len(scene.history)
    with pytest.raises(supple.Error, match="Fabrik cannot take this problem: it has 3 tasks, not one"):
        scene.drag("hand", (0.45, 0.1, 1.2), solver=supple.Fabrik())
    assert_array_equal(scene.q, before)
    assert len(scene.history) == steps
