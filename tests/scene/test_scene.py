"""Scenes: chains reconciled step by step equal those from scratch, undo brings everything back, refusals change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple import At, Ball, Box, MassCentre, Near, OnPlane, Placed, Point, Problem, Scene, Status, Task
from supple.errors import BadValue, Refused, UnknownName
from supple.figure.figure import Figure
from supple.problem.task import segments_of
from tests.tables.figures import FOUR_BAR, TREES

ARM, TWINS = TREES["arm"], TREES["twins"]
SOLID = {name: figure.with_spheres({figure.segments[-1]: [(0, 0, 0, 0.05)]}) for name, figure in TREES.items()}
FIGURES = {**SOLID, "four-bar": FOUR_BAR.with_spheres({"pen": [(0, 0, 0, 0.05)]})}
NAMES = ("a", "b", "c", "d")


def reaching(figure: Figure = ARM, *ends: str) -> Scene:
    """A scene with a point goal for each end."""
    scene = Scene(figure)
    for k, end in enumerate(ends or ("hand",)):
        scene.add(end, Point(end), At((0.3, 0.1 * k, 0.6)))
    return scene


def look(scene: Scene) -> tuple[Any, ...]:
    """Everything that can be seen of a scene."""
    return (
        scene.q.tolist(), dict(scene.constraints), scene.disabled, dict(scene.rigidity), dict(scene.obstacles),
        scene.clearance, scene.limits, scene.chains, [moment.done for moment in scene.history],
        [moment.done for moment in scene.undone],
    )  # fmt: skip


# ── chains, from scratch ─────────────────────────────────────────────────────────────────────────────────────────────
def reconciled(problem: Problem) -> dict[str, set[str]]:
    """The paper's rule until nothing changes: a joint of one chain that moves another's effector joins that chain."""
    figure, chains, reach = problem.figure, {}, {}
    for task in problem.all_tasks:
        massive = [s for s, body in figure.bodies.items() if body.mass > 0.0]
        ends = massive if isinstance(task.effector, MassCentre) else segments_of(task)
        reach[task.name] = {name for end in ends for name in figure.chain(None, end)}
        above: set[str] = set()
        if task.chain is not None:
            own = figure.chain(figure.parent_of(task.chain), task.chain)  # a group may drive joints above as well
            above = set(figure.chain(None, task.chain)) - set(own)
        chains[task.name] = reach[task.name] - above
        if task.effector is None:
            reach[task.name], chains[task.name] = set(figure.coordinates), set()
            if all(other.chain is None for other in problem.tasks):
                chains[task.name] = set(figure.coordinates)
    postures = {task.name for task in problem.tasks if task.effector is None}
    while True:
        wanted = {
            name: chain | {joint for other in chains if other not in postures for joint in chains[other] & reach[name]}
            for name, chain in chains.items()
        }
        if wanted == chains:
            return {task.name: chains[task.name] for task in problem.tasks}
        chains = wanted


class Editing(RuleBasedStateMachine):
    """Anything may be done to a scene in any order."""

    @initialize(name=st.sampled_from(sorted(FIGURES)))
    def begin(self, name: str) -> None:
        self.figure = FIGURES[name]
        self.scene = Scene(self.figure)
        self.looks = [self.seen()]
        self.at = 0

    def seen(self) -> tuple[Any, ...]:
        return look(self.scene)[:-2]

    def done(self) -> None:
        """Something new was done: what was undone is gone."""
        self.looks[self.at + 1 :] = [self.seen()]
        self.at += 1

    def task(self, kind: int, end: int, chain: int | None, soft: bool) -> Task:
        figure, segments = self.figure, self.figure.segments
        segment = segments[end % len(segments)]
        options: dict[str, Any] = {
            "chain": None if chain is None else segments[chain % len(segments)],
            "hard": not soft,
        }
        if kind == 0:
            return Task(None, Near(figure.rest))
        if kind == 1 and figure.bodies:
            return Task(MassCentre(), OnPlane((0, 0, 0), (1, 0, 0)), **options)
        relative = segments[(end + 1) % len(segments)] if kind == 2 else None
        return Task(Point(segment), At((0.1, 0.2, 0.3), relative_to=relative), **options)

    parts = {  # noqa: RUF012
        "kind": st.integers(0, 4),
        "end": st.integers(0, 9),
        "chain": st.none() | st.integers(0, 9),
        "soft": st.booleans(),
    }

    @rule(name=st.sampled_from(NAMES), **parts)
    def add_or_change(self, name: str, **parts: Any) -> None:
        before = look(self.scene)
        task = self.task(**parts)
        try:
            if name in self.scene.constraints:
                self.scene.change(name, effector=task.effector, goal=task.goal, chain=task.chain, hard=task.hard)
            else:
                self.scene.add(name, task)
        except BadValue:
            assert task.chain is not None
            assert look(self.scene) == before
        else:
            self.done()

    @precondition(lambda self: self.scene.constraints)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        self.scene.remove(data.draw(st.sampled_from(sorted(self.scene.constraints))))
        self.done()

    @precondition(lambda self: self.scene.constraints)
    @rule(data=st.data(), on=st.booleans())
    def switch(self, data: st.DataObject, on: bool) -> None:
        name = data.draw(st.sampled_from(sorted(self.scene.constraints)))
        self.scene.enable(name) if on else self.scene.disable(name)
        assert (name not in self.scene.disabled) is on
        self.done()

    @rule(k=st.integers(0, 99), value=st.sampled_from((0.0, 0.5, 1.0)))
    def stiffen(self, k: int, value: float) -> None:
        name = self.figure.coordinates[k % self.figure.size]
        self.scene.stiffen({name: value})
        assert self.scene.rigidity.get(name, 0.0) == value
        self.done()

    @rule(seed=st.integers(0, 99))
    def pose(self, seed: int) -> None:
        self.scene.pose(np.random.default_rng(seed).normal(size=self.figure.size))
        self.done()

    @rule(place=st.tuples(*[st.floats(-1, 1)] * 3))
    def place_and_take_away(self, place: tuple[float, float, float]) -> None:
        if "ball" in self.scene.obstacles:
            self.scene.take_away("ball")
        else:
            self.scene.place("ball", Ball(place, 0.1))
        self.done()

    @precondition(lambda self: self.draggable())
    @rule(data=st.data(), place=st.tuples(*[st.floats(-1, 1)] * 3))
    def drag(self, data: st.DataObject, place: tuple[float, float, float]) -> None:
        name = data.draw(st.sampled_from(self.draggable()))
        again = self.scene.now.done == f"drag {name!r}"
        solution = self.scene.drag(name, place)
        assert self.scene.constraints[name].goal.position.tolist() == list(place)
        assert_array_equal(self.scene.q, solution.q)
        if again:
            self.looks[self.at :] = [self.seen()]
        else:
            self.done()

    def draggable(self) -> list[str]:
        on = [name for name in self.scene.constraints if name not in self.scene.disabled]
        return [name for name in on if isinstance(self.scene.constraints[name].goal, At)]

    @precondition(lambda self: self.at > 0)
    @rule()
    def undo(self) -> None:
        self.scene.undo()
        self.at -= 1

    @precondition(lambda self: self.at + 1 < len(self.looks))
    @rule()
    def redo(self) -> None:
        self.scene.redo()
        self.at += 1

    @invariant()
    def the_scene_is_what_it_was_at_this_moment(self) -> None:
        if hasattr(self, "scene"):
            assert self.seen() == self.looks[self.at]
            assert len(self.scene.history) == self.at + 1
            assert len(self.scene.undone) == len(self.looks) - self.at - 1

    @invariant()
    def chains_are_those_from_scratch(self) -> None:
        if hasattr(self, "scene"):
            scene = self.scene
            tasks = [task for name, task in scene.constraints.items() if name not in scene.disabled]
            fresh = Problem(scene.figure, tasks)
            assert_array_equal(scene._chains.moved, fresh.moved)
            assert_array_equal(scene.problem.moved, fresh.moved)
            assert {name: set(chain) for name, chain in scene.chains.items()} == reconciled(fresh)
            assert list(scene.chains) == [task.name for task in tasks]
            free = {n for n, free in zip(scene.figure.coordinates, fresh.free, strict=True) if free}
            loops = {n for loop in fresh.loops for end in segments_of(loop) for n in scene.figure.chain(None, end)}
            assert free == set().union(loops, *scene.chains.values())

    @invariant()
    def the_posture_is_legal(self) -> None:
        if hasattr(self, "scene"):
            assert self.scene.limits.contains(self.scene.q)


TestEditing = Editing.TestCase
TestEditing.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


def test_a_joint_of_one_chain_joins_another_whose_effector_it_moves():
    person = supple.load("human", fingers=False)
    scene = Scene(person)
    scene.add("right hand", "hand_r.palm", At((0.4, -0.3, 1.2)), chain="upper_arm_r")
    assert "lumbar.flexion" not in scene.chains["right hand"]
    scene.add("left hand", "hand_l.palm", At((0.4, 0.3, 1.2)), chain="lumbar")
    assert {"lumbar.flexion", "thorax_upper.bending"} <= set(scene.chains["right hand"])
    assert "clavicle_r.elevation" not in scene.chains["right hand"]
    assert "pelvis.tx" not in scene.chains["left hand"]
    scene.disable("left hand")
    assert "lumbar.flexion" not in scene.chains["right hand"]
    assert set(scene.chains) == {"right hand"}


# ── solving ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_scene_solves_from_its_posture_and_keeps_the_answer():
    scene = reaching()
    start = scene.q
    solution = scene.solve()
    assert solution.ok
    assert_array_equal(scene.q, solution.q)
    assert_allclose(ARM.placement(scene.q, "hand")[:3, 3], (0.3, 0.0, 0.6), atol=1e-5)
    again = scene.solve()
    assert again.ok
    assert_array_equal(again.q, solution.q)
    scene.undo()
    scene.undo()
    assert_array_equal(scene.q, start)
    scene.redo()
    assert_array_equal(scene.q, solution.q)


def test_without_constraints_the_posture_stays():
    scene = Scene(ARM, {"waist": 0.7})
    assert scene.solve().ok
    assert scene.q[0] == 0.7


@pytest.mark.parametrize("hard", [False, True])
def test_what_cannot_be_met_ends_nearest_and_the_posture_stays(hard: bool):
    scene = reaching(ARM)
    scene.change("hand", goal=At((9.0, 0.0, 0.3)), hard=hard)
    before = scene.problem.value(scene.q)
    solution = scene.solve()
    assert not solution.ok
    assert_array_equal(scene.q, solution.q)
    assert solution.problem.value(scene.q) < before
    again = scene.solve()
    assert_allclose(again.q, scene.history[-2].q, atol=1e-5)


def test_coordinates_outside_all_chains_stay_where_the_scene_has_them():
    scene = Scene(ARM, {"waist": 0.4, "shoulder": -0.3})
    scene.add("hand", "hand", At((0.1, 0.0, 0.9)), chain="elbow")
    scene.solve()
    assert_array_equal(scene.q[:2], (0.4, -0.3))


def test_the_answer_comes_from_nearby_if_nothing_meets_all():
    """A free figure out of reach of one goal: the whole search may end anywhere, the scene ends where a descent does."""
    person = supple.load("human", fingers=False)
    scene = Scene(person)
    for foot in ("foot_l", "foot_r"):
        scene.add(foot, foot, Placed(person.placement(person.rest, foot)))
    scene.add("hand", Point("hand_r.palm"), At((2.2, -0.3, 1.2)))
    solution = scene.solve()
    assert solution.status is Status.NEAREST
    descent = supple.solve(scene.problem, start=person.rest, solver=supple.Newton())
    assert_allclose(solution.q, descent.q, atol=1e-9)


def test_an_answer_from_elsewhere_is_taken_if_it_meets_more_important_constraints():
    """From an elbow at its limit and the goal behind, descent is stuck; the search is not."""
    rng, taken = np.random.default_rng(5), 0
    panda = supple.load("panda")
    for q in rng.uniform(panda.lower, panda.upper, (12, panda.size)):
        scene = Scene(panda, q)
        scene.add("hand", "panda_hand", Placed((0.5, -0.3, 0.3), rpy=(np.pi, 0.0, 1.0)))
        near = supple.solve(scene.problem, start=scene.q, solver=supple.LevenbergMarquardt())
        assert scene.solve().ok
        taken += not near.ok
    assert taken, "every start was easy: the test says nothing"


def test_an_answer_from_elsewhere_is_taken_for_the_sake_of_hard_constraints():
    """What is out of reach stays so; but the hard constraint, which a single attempt may miss, is met from every start."""
    rng, taken = np.random.default_rng(5), 0
    panda = supple.load("panda")
    for q in rng.uniform(panda.lower, panda.upper, (12, panda.size)):
        scene = Scene(panda, q)
        scene.add("hand", "panda_hand", Placed((0.5, -0.3, 0.3), rpy=(np.pi, 0.0, 1.0)), hard=True)
        scene.add("elbow", Point("panda_link4"), At((0.0, 3.0, 0.5)))
        near = supple.solve(scene.problem, start=scene.q, solver=supple.LevenbergMarquardt())
        assert scene.solve().unmet == ("elbow",)
        taken += "hand" in near.unmet
    assert taken, "every start was easy: the test says nothing"


def test_a_solver_of_ones_own():
    scene = reaching()
    assert scene.solve(supple.ActiveSet()).ok
    before = look(scene)
    scene.change("hand", hard=True)
    with pytest.raises(Refused, match="'hand' is hard"):
        scene.solve(supple.ActiveSet())
    scene.undo()
    assert look(scene)[:-1] == before[:-1]


# ── dragging ─────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_drag_moves_the_target_and_follows_it():
    scene = reaching()
    scene.add("height", Point("hand"), OnPlane((0, 0, 0.6), (0, 0, 1)))
    scene.solve()
    for y in np.linspace(0.0, 0.2, 6):
        solution = scene.drag("hand", (0.3, y, 0.6))
        assert solution.ok
        assert_array_equal(scene.q, solution.q)
        assert_array_equal(scene.constraints["hand"].goal.position, (0.3, y, 0.6))
        assert_allclose(ARM.placement(scene.q, "hand")[:3, 3], (0.3, y, 0.6), atol=1e-5)
        assert scene.problem.tasks[0].goal.position.tolist() == [0.3, y, 0.6]
        assert scene.problem.value(scene.q) == pytest.approx(solution.problem.value(scene.q))


def test_a_drag_answers_as_a_fresh_problem_would():
    scene = reaching(TWINS, "left hand", "right hand")
    scene.solve()
    scene.drag("left hand", (0.2, 0.3, 0.5))
    before = scene.q
    solution = scene.drag("right hand", (0.25, -0.3, 0.4))
    tasks = [Task(Point("left hand"), At((0.2, 0.3, 0.5))), Task(Point("right hand"), At((0.25, -0.3, 0.4)))]
    fresh = supple.solve(Problem(TWINS, tasks), start=before, solver=supple.LevenbergMarquardt())
    assert_array_equal(solution.q, fresh.q)


def test_drags_of_one_constraint_are_one_step_to_undo():
    scene = reaching(TWINS, "left hand", "right hand")
    scene.solve()
    steps, before = len(scene.history), scene.q
    for x in (0.25, 0.26, 0.27):
        scene.drag("left hand", (x, 0.1, 0.6))
    assert len(scene.history) == steps + 1
    scene.drag("right hand", (0.25, 0.1, 0.6))
    assert len(scene.history) == steps + 2
    scene.undo()
    assert scene.constraints["left hand"].goal.position.tolist() == [0.27, 0.1, 0.6]
    scene.undo()
    assert scene.constraints["left hand"].goal.position.tolist() == [0.3, 0.0, 0.6]
    assert_array_equal(scene.q, before)


def test_hard_constraints_hold_while_another_is_dragged_out_of_reach():
    scene = reaching(TWINS, "left hand", "right hand")
    scene.change("right hand", hard=True)
    scene.solve()
    for x in np.linspace(0.3, 3.0, 10):
        solution = scene.drag("left hand", (x, 0.3, 0.6))
    assert solution.unmet == ("left hand",)


def test_one_query_serves_all_drags_poses_and_solves(monkeypatch: pytest.MonkeyPatch):
    made = []
    monkeypatch.setattr(
        "supple.scene.attempts.prepare", lambda *a, **k: made.append(supple.prepare(*a, **k)) or made[-1]
    )
    scene = reaching(TWINS, "left hand", "right hand")
    scene.drag("left hand", (0.3, 0.1, 0.6))
    scene.solve()
    scene.pose(TWINS.rest)
    scene.drag("right hand", (0.3, 0.1, 0.6))
    scene.undo()
    scene.drag("left hand", (0.3, 0.2, 0.6))
    assert len(made) == 1
    scene.change("left hand", weight=2.0)
    assert scene.constraints["left hand"].goal.position.tolist() == [0.3, 0.2, 0.6]
    scene.drag("left hand", (0.3, 0.2, 0.6))
    assert len(made) == 2


def test_preferences_wait_until_a_drag_is_over():
    scene = reaching(TWINS, "left hand")
    scene.add("relaxed", Task(None, Near(TWINS.rest), preference=True))
    scene.solve()
    solution = scene.drag("left hand", (0.3, 0.2, 0.6))
    assert solution.ok
    assert [task.name for task in solution.problem.tasks] == ["left hand"]
    dragged = np.linalg.norm(scene.q - TWINS.rest)
    scene.solve()
    assert np.linalg.norm(scene.q - TWINS.rest) < dragged
    scene.add("other hand", Task(Point("right hand"), At((0.3, -0.3, 0.2)), preference=True))
    assert len(scene.drag("other hand", (0.3, -0.3, 0.3)).problem.tasks) == 3


# ── rigidity, limits, obstacles ──────────────────────────────────────────────────────────────────────────────────────
def test_rigidity_by_coordinate_joint_segment_and_pattern():
    jack = supple.load("jack", legs=False, fingers=False)
    scene = Scene(jack, rigidity={"hand_l.flexion": 0.25})
    scene.stiffen({"L5": 0.5, "T*.bending": 0.75, "hand_r": 1.0})
    expected = {"hand_l.flexion": 0.25}
    expected |= {name: 0.5 for name in jack.coordinates if name.startswith("L5.")}
    expected |= {name: 0.75 for name in jack.coordinates if name.startswith("T") and name.endswith(".bending")}
    expected |= {name: 1.0 for name in jack.coordinates if name.startswith("hand_r.")}
    assert len(expected) == 1 + 3 + 12 + 3
    assert dict(scene.rigidity) == expected
    assert_array_equal(scene.problem.rigidity, [expected.get(name, 0.0) for name in jack.coordinates])
    scene.stiffen({"*": 0.0})
    assert not scene.rigidity


def test_a_locked_coordinate_does_not_move():
    scene = reaching()
    scene.stiffen({"shoulder": 1.0})
    scene.solve()
    assert scene.q[1] == ARM.rest[1]


def test_other_limits_bring_the_posture_inside():
    scene = Scene(ARM, {"elbow": 2.0})
    narrow = supple.Limits(ARM.lower, np.minimum(ARM.upper, 1.0))
    scene.limit(narrow)
    assert scene.q[2] == 1.0
    assert scene.problem.limits is narrow
    scene.limit(None)
    assert scene.limits is ARM.limits
    scene.undo()
    scene.undo()
    assert scene.q[2] == 2.0


def test_obstacles_and_clearance_reach_the_problem():
    scene = reaching(ARM.with_spheres({name: [(0, 0, 0, 0.01)] for name in ARM.segments}))
    scene.place("table", Box((1, 1, 0), (2, 2, 0.7)))
    scene.keep_clear(margin=0.002, ignoring=[("hand", "table"), ("elbow", "hand")])
    scene.keep_clear(itself=True)
    assert scene.problem.clearance == supple.Clearance(0.002, True, (("hand", "table"), ("elbow", "hand")))
    assert list(scene.problem.obstacles) == ["table"]
    scene.place("table", Ball((1, 1, 0), 0.1))
    assert isinstance(scene.obstacles["table"], Ball)
    scene.take_away("table")
    assert not scene.problem.obstacles
    assert scene.clearance.ignoring == (("elbow", "hand"),)


def test_touching_lists_the_pairs_that_are_too_near():
    person = supple.load("human", fingers=False)
    scene = Scene(person)
    scene.place("floor", supple.Polytope.half_space((0, 0, 0), (0, 0, 1)))
    assert not scene.touching, "it stands on the floor"
    scene.keep_clear(margin=0.01)
    assert {touch.segment for touch in scene.touching} == {"foot_l", "foot_r", "toes_l", "toes_r"}
    assert all(touch.other == "floor" and abs(touch.distance) < 1e-9 for touch in scene.touching)
    scene.keep_clear(ignoring=[("foot_l", "floor"), ("floor", "toes_l")])
    assert {touch.segment for touch in scene.touching} == {"foot_r", "toes_r"}
    scene.place("floor", Ball(tuple(person.placement(scene.q, "head")[:3, 3]), 0.05))
    head = next(touch for touch in scene.touching if touch.segment == "head")
    assert head.distance < -0.05
    assert [t.distance for t in scene.touching] == sorted(t.distance for t in scene.touching)


def test_touching_itself():
    person = supple.load("human", fingers=False)
    scene, rng, seen = Scene(person), np.random.default_rng(2), 0
    for _ in range(5):
        scene.pose(rng.uniform(np.maximum(person.lower, -1.5), np.minimum(person.upper, 1.5)))
        scene.keep_clear(itself=False)
        assert not scene.touching
        scene.keep_clear(itself=True)
        apart = set(person.colliding_pairs())
        assert {touch[:2] for touch in scene.touching} == {pair for pair in person.touching(scene.q) if pair in apart}
        seen += len(scene.touching)
    assert seen
    scene.pose(person.rest)
    assert not scene.touching, "what touches at rest does not count"


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────────
HAND = At((0.3, 0.0, 0.6))
REFUSED: dict[str, tuple[Callable[[Scene], Any], type[Exception], str]] = {
    "add twice": (lambda s: s.add("hand", "hand", HAND), BadValue, "called 'hand' already"),
    "add to nothing": (lambda s: s.add("x", "hnad", HAND), UnknownName, "did you mean hand"),
    "add without a goal": (lambda s: s.add("x", "hand"), BadValue, "needs a goal"),
    "add a task and a goal": (lambda s: s.add("x", Task("hand", HAND), HAND), BadValue, "a Task is complete"),
    "add with a strange option": (lambda s: s.add("x", "hand", HAND, wieght=2), UnknownName, "did you mean weight"),
    "add with a bad weight": (lambda s: s.add("x", "hand", HAND, weight=-1), BadValue, "weight"),
    "add without a name": (lambda s: s.add(" ", "hand", HAND), BadValue, "a line of at most"),
    "add with two lines of name": (lambda s: s.add("a\nb", "hand", HAND), BadValue, "a line of at most"),
    "add with a chain that is none": (lambda s: s.add("x", "waist", HAND, chain="hand"), BadValue, "no joint between"),
    "add an effector twice": (
        lambda s: s.add("x", "hand", HAND, effector="hand"),
        UnknownName,
        "option called 'effector'",
    ),
    "change nothing": (lambda s: s.change("hnad", weight=2), UnknownName, "did you mean hand"),
    "change the name": (lambda s: s.change("hand", name="x"), UnknownName, "no option called 'name'"),
    "change to nonsense": (lambda s: s.change("hand", chain="hnad"), UnknownName, "did you mean hand"),
    "change what is disabled": (lambda s: s.change("off", effector="hnad"), UnknownName, "did you mean hand"),
    "remove nothing": (lambda s: s.remove("foot"), UnknownName, "it has hand"),
    "enable nothing": (lambda s: s.enable("hnd"), UnknownName, "did you mean hand"),
    "disable nothing": (lambda s: s.disable("hnd"), UnknownName, "did you mean hand"),
    "stiffen nothing": (lambda s: s.stiffen({"elbo": 0.5}), UnknownName, "did you mean elbow"),
    "stiffen a pattern of nothing": (lambda s: s.stiffen({"z*": 0.5}), UnknownName, "'z*'"),
    "stiffen too much": (lambda s: s.stiffen({"elbow": 1.5}), BadValue, "between 0"),
    "stiffen by a word": (lambda s: s.stiffen({"elbow": "much"}), BadValue, "the rigidity of 'elbow'"),
    "limits of another figure": (lambda s: s.limit(TWINS.limits), BadValue, "do not fit"),
    "an obstacle of no shape": (lambda s: s.place("x", "box"), BadValue, "must be a Ball, Box"),
    "an obstacle that nothing touches": (lambda s: s.place("x", Ball((0, 0, 0), 1)), BadValue, "has no solids"),
    "an obstacle without a name": (lambda s: s.place("", Ball((0, 0, 0), 1)), BadValue, "a line of at most"),
    "take nothing away": (lambda s: s.take_away("table"), UnknownName, "it has none"),
    "a strange clearance": (lambda s: s.keep_clear(margn=1), UnknownName, "did you mean margin"),
    "a negative clearance": (lambda s: s.keep_clear(margin=-1), BadValue, "margin"),
    "pose too few": (lambda s: s.pose([1, 2]), BadValue, "4 coordinates"),
    "pose nothing": (lambda s: s.pose({"elbo": 1}), UnknownName, "did you mean elbow"),
    "pose by a word": (lambda s: s.pose({"elbow": "bent"}), BadValue, "the coordinate 'elbow'"),
    "pose NaN": (lambda s: s.pose({"elbow": np.nan}), BadValue, "finite"),
    "drag nothing": (lambda s: s.drag("hnd", (0, 0, 0)), UnknownName, "did you mean hand"),
    "drag what is disabled": (lambda s: s.drag("off", (0, 0, 0)), BadValue, "enable it"),
    "drag to NaN": (lambda s: s.drag("hand", (0, 0, np.nan)), BadValue, "finite"),
    "drag to too few": (lambda s: s.drag("hand", (0, 0)), BadValue, "position of At"),
    "drag to a word": (lambda s: s.drag("hand", "there"), BadValue, "must be real numbers"),
    "redo": (lambda s: s.redo(), BadValue, "nothing of the scene was undone"),
    "no figure": (lambda s: Scene("human"), BadValue, "must be a Figure"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_names_the_culprit_and_changes_nothing(name: str):
    act, kind, words = REFUSED[name]
    scene = reaching()
    scene.add("off", Point("wrist"), HAND)
    scene.disable("off")
    before = look(scene)
    with pytest.raises(kind) as caught:
        act(scene)
    assert words in str(caught.value)
    assert look(scene) == before


BEGUN: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "a name twice": ({"constraints": [Task("hand", HAND, name="a")] * 2}, BadValue, "have the same name"),
    "a name of two lines": ({"constraints": [Task("hand", HAND, name="a\nb")]}, BadValue, "a line of at most"),
    "nothing disabled": ({"disabled": ["a"]}, UnknownName, "no constraint called 'a'; it has none"),
    "an unknown segment": ({"constraints": [Task("hnad", HAND)]}, UnknownName, "did you mean hand"),
    "too rigid": ({"rigidity": {"elbow": 2.0}}, BadValue, "between 0"),
}


@pytest.mark.parametrize("name", BEGUN)
def test_a_scene_that_cannot_begin(name: str):
    options, kind, words = BEGUN[name]
    with pytest.raises(kind) as caught:
        Scene(ARM, **options)
    assert words in str(caught.value)


def test_nothing_is_before_the_beginning():
    with pytest.raises(BadValue, match="as it began"):
        Scene(ARM).undo()
