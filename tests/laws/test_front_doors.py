"""Laws that hold at every front door: words are true, doors agree, and what is senseless is refused before it does harm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple
from supple.errors import BadValue
from supple.figure.catalogue import build
from supple.figure.effectors import Frame, Point
from supple.files.scene.text import format_scene, parse_scene
from supple.geometry.polyhedra import MOST, polyhedron_of
from supple.geometry.shapes import Ball, Box, Polytope
from supple.problem.goals import AnyOf, At, Beyond, Near, Outside, Placed, Within
from supple.problem.problem import Problem
from supple.problem.solution import Status, audited
from supple.problem.task import Clearance, Task, met
from supple.scene.scene import Scene
from supple.scene.settle import first_unmet
from supple.solving.follow import follow
from supple.solving.many import solve_many
from supple.solving.prepare import prepare
from supple.solving.solve import solve
from tests.tables.solver_cases import HAND, PANDA, rows_on_panda

REST = PANDA.placement(PANDA.rest, HAND)
BALLS = PANDA.with_spheres({segment: [(0.0, 0.0, 0.0, 0.05)] for segment in PANDA.segments[2:]})


def is_met(problem: Problem, q: Any) -> bool:
    """Whether every task is met, by the audit."""
    return all(met(task, miss) for task, miss in zip(problem.all_tasks, problem.misses(q), strict=True))


def agreeing(problem: Problem, target: Any, start: Any = None) -> Status:
    """The status on which `solve`, a prepared query, a batch and a path agree, all with the same posture."""
    alone = solve(problem, start=start)
    query = prepare(problem)
    query(start=PANDA.upper)  # what an earlier call leaves behind does not matter
    prepared, many = query(start=start), solve_many(problem, target, start=start)
    path = follow(problem, target, start=start)
    for q in (prepared.q, many.q[0], path.q[0]):
        assert np.array_equal(q, alone.q)
    assert prepared.status is many.status[0] is path.status[0] is many[0].status is alone.status
    assert prepared.ok == many.ok[0] == is_met(problem, alone.q)
    return alone.status


# ── words are true ───────────────────────────────────────────────────────────────────────────────────────────────────
def test_any_alternative_within_its_tolerance_meets_a_task_whatever_the_weights():
    out_of_reach = np.array([3.0, 0.0, 0.4])
    p = PANDA.placement(solve(Problem(PANDA, [Task(Point(HAND), At(out_of_reach))])).q, HAND)[:3, 3]
    targets = [out_of_reach, p + np.array([0.05, 0.0, 0.0])]
    goal = AnyOf([At(t) for t in targets], weights=[1e-5, 1.0])  # the first is the least, and missed by metres
    assert agreeing(Problem(PANDA, [Task(Point(HAND), goal, tolerance=0.1)]), [targets]) is Status.SOLVED


UNMET = {
    "a box": Task(Point(HAND), Within((3.0, 0.0, 0.5), box=0.1)),
    "a half-space": Task(Point(HAND), Beyond((3.0, 0.0, 0.5), (1.0, 0.0, 0.0))),
    "a tilt": Task(Frame("panda_link1"), Within(supple.place(rpy=(1.0, 0.0, 0.0)), tilt=0.1)),
}


@pytest.mark.parametrize("first", list(UNMET.values()), ids=list(UNMET))
def test_an_inequality_that_is_not_met_is_not_forgotten_while_later_ranks_are_met(first: Task):
    later = Task(Point("panda_link4"), At(PANDA.placement(PANDA.rest, "panda_link4")[:3, 3]), priority=1, tolerance=0.5)
    target = [None, np.asarray(later.goal.position)[None]]
    assert agreeing(Problem(PANDA, [first, later]), target) is Status.NEAREST


def test_an_obstacle_that_cannot_be_left_is_not_forgotten_while_tasks_are_met():
    target = REST[:3, 3] + (0.05, 0.0, 0.05)
    figure = PANDA.with_spheres({"panda_link2": [(0.0, 0.0, 0.0, 0.05)]})  # on the axes of both joints above it
    x, y, z = PANDA.placement(PANDA.rest, "panda_link2")[:3, 3].tolist()
    fog = Ball((x, y, z + 0.1), 0.2)
    problem = Problem(figure, [Task(Point(HAND), At(target))], obstacles={"fog": fog})
    assert prepare(problem)(target).status is Status.NEAREST
    solution = solve(problem)
    assert solution.status is Status.IMPOSSIBLE
    assert solution.certificate.verify()
    assert solution.unmet == ("clear of fog",)
    assert solution.errors[0].metres < 1e-5


def test_the_first_unmet_rank_is_that_of_a_task_not_of_its_name():
    tasks = [
        Task(Point(HAND), At(p), hard=hard, name="hand")
        for p, hard in ((REST[:3, 3] + 9.0, True), (REST[:3, 3], False))
    ]
    assert first_unmet(audited(Problem(PANDA, tasks), PANDA.rest, stationary=False)) == 0


@pytest.mark.parametrize("limits", [None, rows_on_panda()], ids=["box", "rows"])
def test_where_nothing_may_move_every_posture_is_the_nearest(limits: Any):
    problem = Problem(PANDA, [Task(Point(HAND), At((0.3, 0.3, 0.3)))], limits, rigidity=np.ones(PANDA.size))
    assert agreeing(problem, np.array([[0.3, 0.3, 0.3]])) is Status.NEAREST


def test_a_figure_without_coordinates_has_one_posture():
    fixed = PANDA.locked(*PANDA.coordinates)
    problem = Problem(fixed, [Task(HAND, Placed(REST))], limits=None)
    assert [s.status for s in solve(problem, distinct=3)] == [Status.SOLVED]


def test_a_posture_goal_without_weights_changes_nothing():
    problem = Problem(build("panda"), [Task(None, Near(PANDA.upper, 0.0))])
    assert np.array_equal(solve(problem).q, PANDA.limits.project(PANDA.rest))


# ── doors agree ──────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("seed", range(4))
def test_a_start_outside_of_linear_rows_is_the_same_start_at_every_door(seed: int):
    rng, limits = np.random.default_rng(seed), rows_on_panda()
    at = PANDA.placement(limits.project(rng.uniform(PANDA.lower, PANDA.upper)), HAND)
    problem = Problem(PANDA, [Task(HAND, Placed(at))], limits)
    agreeing(problem, at[None], rng.uniform(-6.0, 6.0, PANDA.size))


# ── what is senseless is refused ─────────────────────────────────────────────────────────────────────────────────────
def test_a_constraint_is_not_dragged_nowhere():
    scene = Scene(PANDA, constraints=[Task(Point(HAND), At(REST[:3, 3]), name="hand")])
    before = scene.now
    with pytest.raises(BadValue, match="'hand' is dragged to a target"):
        scene.drag("hand", None)
    assert scene.now is before
    assert np.array_equal(scene.problem.tasks[0].goal.position, REST[:3, 3])


NOTHING_INSIDE = {
    "empty": Polytope([[1, 0, 0], [-1, 0, 0]], [-1, -1]),  # pyright: ignore[reportArgumentType]
    "thin": Box((0, 0, 0), (1, 1, 1e-9)),
}


@pytest.mark.parametrize("shape", list(NOTHING_INSIDE.values()), ids=list(NOTHING_INSIDE))
def test_an_obstacle_without_an_inside_is_refused_before_it_stands_in_a_scene(shape: Any):
    scene = Scene(BALLS)
    with pytest.raises(BadValue, match=r"'void' is no obstacle: .*no inside"):
        scene.place("void", shape)
    with pytest.raises(BadValue, match="'obstacle 1' is no obstacle"):
        Problem(BALLS, [], obstacles=[shape])
    assert scene.history == (scene.now,)


@pytest.mark.parametrize(
    "options",
    [
        {"weight": "1"},
        {"weight": None},
        {"tolerance": "x"},
        {"angle_tolerance": 1j},
        {"priority": 0.5},
        {"priority": "a"},
    ],
    ids=str,
)
def test_options_of_a_task_are_numbers(options: dict[str, Any]):
    with pytest.raises(BadValue, match=f"the {next(iter(options))} of a task"):
        Task(Point(HAND), At((0.0, 0.0, 0.0)), **options)


@pytest.mark.parametrize("options", [{"margin": "x"}, {"margin": None}, {"ignoring": 3}, {"ignoring": [3]}], ids=str)
def test_a_clearance_is_a_number_and_pairs_of_names(options: dict[str, Any]):
    with pytest.raises(BadValue, match="clearance"):
        Clearance(**options)


def test_one_number_is_no_target():
    one, two = Task(Point(HAND), AnyOf([At((0, 0, 0)), At((0, 0, 1))])), Task(Point(HAND), At((0, 0, 1)))
    with pytest.raises(BadValue, match="must be a sequence"):
        Problem(PANDA, [one]).aimed(3.0)
    with pytest.raises(BadValue, match="the targets must be a sequence"):
        prepare(Problem(PANDA, [two, two]))(3.0)


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("ending", [".toml", ".json"])
def test_outside_of_a_solid_that_moves_comes_back_from_a_file(ending: str):
    goal = Outside(Box((0.0, 0.0, 0.0), (0.3, 0.3, 0.3)), margin=0.1, relative_to="panda_link1")
    panda = supple.load("panda")
    text = format_scene(Scene(panda, constraints=[Task(Point(HAND), goal, name="out")]), ending)
    again = parse_scene(text, ending, supple.load).constraints["out"]
    for q in np.random.default_rng(0).uniform(panda.lower, panda.upper, (10, panda.size)):
        assert Problem(panda, [again]).misses(q) == Problem(panda, [Task(Point(HAND), goal)]).misses(q)


def test_polytopes_of_many_sides_have_the_edges_that_euler_counts():
    normals = np.random.default_rng(0).normal(size=(150, 3))
    body = polyhedron_of(Polytope(normals, np.linalg.norm(normals, axis=1)))
    assert len(body.normals) == 150
    assert len(body.points) == 3 * 150 - 6  # every corner is on three faces
    with pytest.raises(BadValue, match="at most"):
        polyhedron_of(Polytope(np.ones((MOST + 1, 3)), np.arange(1.0, MOST + 2)))
