"""One question, one answer: every door gives the same status, posture, reason and errors, bit for bit; and values."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

import supple
from supple import AimedAt, AnyOf, At, Beyond, Near, OnLine, OnPlane, Placed, Point, Problem, Solution, Status, Task
from supple.errors import Refused
from supple.figure.figure import Figure
from supple.figure.joints import fixed, hinge
from supple.geometry.placements import Z
from supple.problem.task import met
from tests.tables.figures import FOUR_BAR, TREES, closed_four_bar, posture

SCALES = (1e-6, 1e-3, 1.0, 1e2, 1e4)
ASKED_FOR_NOTHING = "nobody asked"
PANDA, UR5, JACK = supple.load("panda"), supple.load("ur5"), supple.load("jack")
PLANAR = Figure(
    "planar",
    [
        *hinge("a", None, Z, limits=(-2.5, 2.5)),
        *hinge("b", "a", Z, at=(0.5, 0, 0), limits=(-2.0, 2.0), rest=0.3),
        *hinge("c", "b", Z, at=(0.4, 0, 0), limits=(-2.0, 2.0), rest=0.3),
        *fixed("tip", "c", at=(0.2, 0, 0)),
    ],
)
FIGURES: dict[str, tuple[Figure, str, str]] = {
    "panda": (PANDA, "panda_hand", "panda_link4"),
    "ur5": (UR5, "tool0", "forearm_link"),
    "jack": (JACK, "hand_l", "head"),
    "tree": (TREES["twins"], "left hand", "right hand"),
    "free root": (TREES["mixed"], "hand", "foot"),
    "linear limits": (TREES["spine"], "head", "s2"),
    "loop": (FOUR_BAR, FOUR_BAR.segments[-1], FOUR_BAR.segments[0]),
    "planar": (PLANAR, "tip", "b"),
}


class Question(NamedTuple):
    """A problem, other targets for its tasks, and where to start."""

    name: str
    problem: Problem
    targets: list[Any]
    start: Any = None

    @property
    def target(self) -> Any:
        """As doors take it."""
        return self.targets[0] if len(self.targets) == 1 else self.targets


def aims(figure: Figure, q: np.ndarray, end: str, other: str, size: float) -> dict[str, tuple[list[Task], list[Any]]]:
    """Tasks of every kind, and the targets that the posture q meets."""
    T, S = figure.placement(q, end), figure.placement(q, other)
    p, s, z = T[:3, 3], S[:3, 3], np.array([0.0, 0.0, 1.0])
    ahead = p + 0.3 * size * T[:3, 0]
    point, nowhere = Task(Point(end), At(s)), p + 100.0 * size
    return {
        "at": ([point], [p]),
        "placed": ([Task(end, Placed(S))], [T]),
        "two": ([point, Task(Point(other), At(p))], [p, s]),
        "hard": ([replace(point, hard=True), Task(Point(other), At(p), priority=1)], [p, s]),
        "near": ([point, Task(None, Near(figure.rest))], [p, None]),
        "aimed": ([Task(supple.Direction(end), AimedAt(s))], [ahead]),
        "any of": ([Task(Point(end), AnyOf([At(s), At(p)], (1.0, 1e-9)))], [np.array([p, nowhere])]),
        "line": ([Task(Point(end), OnLine(s, z))], [np.array([p, z])]),
        "plane": ([Task(Point(end), OnPlane(s, z)), Task(Point(other), Beyond(s, z))], [np.array([p, z]), [s, z]]),
    }


def starts(figure: Figure, number: int) -> Any:
    """None, a posture inside the limits, one outside them."""
    inside = figure.limits.project(posture(figure, 7, 0.5))
    return (None, inside, inside + 3.0)[number % 3]


def beyond(target: Any, how: str, size: float) -> Any:
    """A target moved out of reach, or by a hair less and more than a tolerance."""
    far = {"reachable": 0.0, "unreachable": 50.0 * size, "inside": 0.9e-5, "outside": 1.1e-5}[how]
    if target is None or far == 0.0:
        return target
    out = np.array(target, dtype=float)
    if out.shape == (4, 4):
        out[:3, 3] += far * np.array([0.6, 0.0, 0.8])
    else:
        out[(0,) if out.ndim == 2 else ...] += far * np.array([0.6, 0.0, 0.8])
    return out


def questions(names: Any, scales: Any, hows: Any, kinds: Any = None) -> Iterator[Question]:
    """The table."""
    number = 0
    for name in names:
        plain, end, other = FIGURES[name]
        for scale in scales:
            figure = plain if scale == 1.0 else plain.scaled(scale)
            q = closed_four_bar(0.7) if name == "loop" else figure.limits.project(posture(figure, 3, 0.6))
            for kind, (tasks, targets) in aims(figure, q, end, other, scale).items():
                if kinds is not None and kind not in kinds:
                    continue
                for how in hows:
                    number += 1
                    moved = [beyond(targets[0], how, scale), *targets[1:]]
                    title = f"{name} × {scale:g}, {kind}, {how}"
                    yield Question(title, Problem(figure, tasks), moved, starts(figure, number))


def doors(question: Question, prove: bool) -> dict[str, Solution]:
    """The answers of all doors to one question."""
    _, problem, targets, start = question
    asked = problem.aimed(*targets)
    rows = [None if t is None else np.array([t, t]) for t in targets]
    many = supple.solve_many(problem, rows[0] if len(rows) == 1 else rows, start=start, threads=1, prove=prove)
    path = supple.follow(problem, rows[0] if len(rows) == 1 else rows, start=start, prove=prove)
    assert [s.status for s in (many[0], path[0])] == [many.status[0], path.status[0]]
    assert (many[1].q == many.q[1]).all() and (many.q[0] == many.q[1]).all()  # noqa: PT018
    out = {
        "solve": supple.solve(asked, start=start, prove=prove),
        "budget": supple.solve(asked, start=start, budget=10**9, prove=prove),
        "query": supple.prepare(problem, prove=prove)(question.target, start=start),
        "many": many[0],
        "follow": path[0],
    }
    if all(type(task.goal) in (At, Placed) and not task.hard and not task.priority for task in problem.tasks):
        segments = [task.effector.segment for task in problem.tasks]  # type: ignore[union-attr]
        if all(isinstance(task.effector, supple.Frame) for task in problem.tasks):
            goals = dict(zip(segments, (task.goal for task in asked.tasks), strict=True))
            out["short form"] = supple.solve(problem.figure, goals, start=start, prove=prove)
    again = supple.solve(asked, start=path.q[0], prove=prove)
    assert (again.status, again.reason) == (path[1].status, path[1].reason), question.name
    np.testing.assert_array_equal(again.q, path.q[1], question.name)
    return out


def agree(question: Question, prove: bool) -> Solution:
    """All doors say the same, it is true, and the reason says what was not tried."""
    answers = doors(question, prove)
    first = answers["solve"]
    for door, answer in answers.items():
        where = f"{question.name}: {door}"
        assert type(answer) is Solution, where
        assert answer.status is first.status, where
        assert answer.reason == first.reason, where
        np.testing.assert_array_equal(answer.q, first.q, where)
        assert answer.errors == first.errors, where
        counts = (answer.iterations, answer.evaluations, answer.seed)
        assert counts == (first.iterations, first.evaluations, first.seed), where
        problem = answer.problem
        pairs = list(zip(problem.all_tasks, problem.misses(answer.q), strict=True))
        assert answer.ok == all(met(task, miss) for task, miss in pairs) == (answer.status is Status.SOLVED), where
        assert problem.limits is not None
        assert problem.limits.contains(answer.q), where
        if not prove:
            assert (ASKED_FOR_NOTHING in answer.reason) == (not answer.ok), where
            assert answer.status is not Status.IMPOSSIBLE, where
        elif not answer.ok:
            assert answer.status is Status.IMPOSSIBLE or "Whether it is impossible" in answer.reason, where
    return first


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", [name for name in FIGURES if name != "jack"])
def test_every_door_gives_the_same_answer(name: str, scale: float) -> None:
    seen = {agree(q, prove=False).status for q in questions([name], [scale], ["reachable", "unreachable"])}
    assert Status.SOLVED in seen
    assert scale < 1e-3 or len(seen) > 1


@pytest.mark.parametrize("name", ["panda", "ur5", "linear limits", "planar"])
def test_no_door_is_misled_by_the_weight_of_an_alternative_out_of_reach(name: str) -> None:
    (question,) = questions([name], [1.0], ["reachable"], ["any of"])
    answer = agree(question, prove=False)
    assert answer.ok, answer.report()
    assert not supple.solve(answer.problem, start=question.start, solver=supple.Multistart()).ok  # it was misleading


def test_every_door_gives_the_same_answer_of_a_person() -> None:
    table = questions(["jack"], [1.0], ["reachable", "unreachable"], ["at", "two", "near"])
    assert {agree(q, prove=False).status for q in table} > {Status.SOLVED}


@pytest.mark.parametrize("name", ["panda", "ur5", "planar"])
def test_every_door_gives_the_same_answer_by_a_hair(name: str) -> None:
    table = questions([name], [1.0, 1e2, 1e4], ["inside", "outside"], ["at", "placed", "hard"])
    for question in table:
        agree(question, prove=False)


@pytest.mark.parametrize("name", ["panda", "ur5", "planar"])
def test_every_door_gives_the_same_proof(name: str) -> None:
    table = questions([name], [1.0, 1e4], ["reachable", "unreachable"], ["at", "placed", "aimed"])
    seen = [agree(question, prove=True) for question in table]
    assert any(answer.status is Status.IMPOSSIBLE for answer in seen)
    for answer in seen:
        assert (answer.certificate is not None) == (answer.status is Status.IMPOSSIBLE)


@pytest.mark.parametrize("name", ["linear limits", "free root"])
def test_what_cannot_be_decided_is_said_by_every_door(name: str) -> None:
    plain, end, _ = FIGURES[name]
    locked = plain.with_limits({"root.x": (-1, 1)}) if "root.x" in plain.coordinates else plain
    problem = Problem(locked, [Task(Point(end), At((0, 0, 0)), hard=True), Task(None, Near(plain.rest))])
    question = Question(name, problem, [np.array([0.0, 0.0, 900.0]), None])
    answer = agree(question, prove=True)
    assert answer.ok or "cannot be decided: " in answer.reason or "not decided" in answer.reason


UNREACHABLE = Problem(PLANAR, [Task(Point("tip"), At((3.0, 0.0, 0.0)))])


def test_a_budget_changes_the_answer_only_by_ending_the_search() -> None:
    short = supple.solve(UNREACHABLE, budget=2)
    assert short.status is Status.STOPPED
    assert short.reason.endswith("was not looked into: the search did not come to its end.")
    assert supple.prepare(UNREACHABLE, budget=2, prove=True)().reason == short.reason
    assert supple.solve(UNREACHABLE, budget=10**6).status is Status.IMPOSSIBLE


def test_a_named_solver_has_the_last_word_and_says_so() -> None:
    solver = supple.Multistart()
    one = supple.solve(UNREACHABLE, solver=solver)
    assert one.status is Status.NEAREST
    assert "Multistart was named" in one.reason
    other = supple.prepare(UNREACHABLE, solver=solver, prove=True)()
    assert (other.status, other.reason) == (one.status, one.reason)


def test_to_name_decide_is_to_ask() -> None:
    solver = supple.Decide(boxes=30)
    answers = [supple.solve(UNREACHABLE, solver=solver), supple.prepare(UNREACHABLE, solver=solver)()]
    answers.append(supple.solve_many(UNREACHABLE, np.array([[3.0, 0, 0]]), solver=solver)[0])
    assert [a.status for a in answers] == [Status.IMPOSSIBLE] * 3
    assert len({a.reason for a in answers}) == 1


def test_without_the_extra_every_door_says_that_it_cannot_prove(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise supple.MissingExtra("python-flint", "convex", "checking a certificate")

    monkeypatch.setattr("supple.solvers.deciding.need_flint", missing)
    answer = agree(Question("no extra", UNREACHABLE, [np.array([3.0, 0.0, 0.0])]), prove=True)
    assert answer.status is Status.NEAREST
    assert "cannot be proved" in answer.reason


def test_a_path_with_speeds_takes_no_posture_that_is_too_far() -> None:
    problem = Problem(PANDA, [Task(Point("panda_hand"), At((0.4, 0.1, 0.6)))])
    here = PANDA.placement(PANDA.rest, "panda_hand")[:3, 3]
    targets = np.array([here, here + np.array([-0.5, 0.2, 0.0]), (3.0, 0.0, 0.0)])
    path = supple.follow(problem, targets, dt=0.01, prove=True)
    assert (np.abs(np.diff(path.q, axis=0)) <= PANDA.speed * 0.01 * (1 + 1e-12)).all()
    assert path.status[0] is Status.SOLVED
    assert "too far for one step" in path[1].reason
    assert path.status[2] is Status.IMPOSSIBLE
    assert path[2].certificate.verify()


def test_one_step_proves_nothing() -> None:
    with pytest.raises(Refused, match="proves nothing"):
        supple.step(UNREACHABLE, PLANAR.rest, 0.01, prove=True)


def test_many_rows_are_proved_on_any_number_of_threads() -> None:
    targets = np.array([[3.0, 0, 0], [0.4, 0.3, 0], [0, 4.0, 0], [0.1, 0.6, 0]])
    one, two = (supple.solve_many(UNREACHABLE, targets, threads=n, prove=True) for n in (1, 2))
    assert one.status == two.status
    assert [s.name for s in one.status] == ["IMPOSSIBLE", "SOLVED", "IMPOSSIBLE", "SOLVED"]
    np.testing.assert_array_equal(one.q, two.q)
    np.testing.assert_array_equal(one.ok, [False, True, False, True])
    assert one[0].certificate.verify()
    assert one[1].certificate is None


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────────
def values() -> dict[str, Any]:
    """What doors return, and what they are made of."""
    targets = np.array([[0.4, 0.3, 0.0], [3.0, 0.0, 0.0]])
    query = supple.prepare(UNREACHABLE)
    traced = supple.solve(UNREACHABLE, trace=True)
    return {
        "unread": query(targets[0]),
        "solution": supple.solve(UNREACHABLE.aimed(targets[0])),
        "nearest": query(targets[1]),
        "solutions": supple.solve_many(UNREACHABLE, targets),
        "path": supple.follow(UNREACHABLE, targets),
        "query": query,
        "trace": traced.trace,
        "decision": traced.decision,
        "proved": traced,
    }


@pytest.mark.parametrize("name", ["unread", "solution", "nearest", "solutions", "path", "query", "trace", "decision"])
def test_answers_are_values(name: str) -> None:
    for used in (False, True):
        value = values()[name]
        if used:
            _ = [
                getattr(value, what, None) for what in ("errors", "problem", "reason", "ok", "flips", "status", "named")
            ]
            repr(value)
        assert replace(value) == value
        assert hash(replace(value)) == hash(value)
        assert copy.copy(value) == value
        assert value != "something else"
        for other in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
            assert type(other) is type(value)
            for what in ("q", "status", "reason", "evaluations", "boxes", "seed", "value"):
                np.testing.assert_array_equal(getattr(other, what, None), getattr(value, what, None))
            if hasattr(other, "q"):
                assert not other.q.flags.writeable


def test_a_query_that_was_used_answers_the_same_after_a_journey() -> None:
    query = supple.prepare(UNREACHABLE, prove=True)
    for target in ((0.4, 0.3, 0.0), (3.0, 0.0, 0.0)):
        here = query(target)
        there = pickle.loads(pickle.dumps(query))(target)
        assert (here.status, here.reason) == (there.status, there.reason)
        np.testing.assert_array_equal(here.q, there.q)
    assert replace(query, seed=3)((0.4, 0.3, 0.0)).seed == 3


def test_an_answer_with_something_changed() -> None:
    answer = supple.prepare(UNREACHABLE)((0.4, 0.3, 0.0))
    changed = replace(answer, reason="because")
    assert (changed.reason, changed.evaluations, changed.status) == ("because", answer.evaluations, answer.status)
    assert changed != answer
    with pytest.raises(AttributeError, match="no attribute 'reasons'"):
        _ = answer.reasons


def test_the_short_form_leaves_nothing_on_the_figure() -> None:
    figure = replace(PLANAR)
    target = figure.placement([0.3, 0.4, 0.5], "tip")
    before = set(vars(figure))
    assert supple.solve(figure, {"tip": Placed(target)}).ok
    new = set(vars(figure)) - before
    assert all(
        type(vars(figure)[name]).__module__
        in ("builtins", "numpy", "supple.figure.limits", "supple.figure.packing", "supple.basics.values")
        for name in new
    )
    assert "memory" not in new
    assert pickle.loads(pickle.dumps(figure)).size == figure.size


def test_postures_by_name() -> None:
    q = PLANAR.posture({"b": 0.7})
    np.testing.assert_array_equal(q, [0.0, 0.7, 0.3])
    assert PLANAR.named(q) == {"a": 0.0, "b": 0.7, "c": 0.3}
    np.testing.assert_array_equal(PLANAR.posture(PLANAR.named(q)), q)
    answer = supple.solve(UNREACHABLE.aimed((0.4, 0.3, 0.0)))
    assert answer.named == PLANAR.named(answer.q)
    assert supple.solve(UNREACHABLE.aimed((0.4, 0.3, 0.0)), start={"b": 0.7}).ok
    with pytest.raises(supple.Error, match="no coordinate"):
        PLANAR.posture({"x": 1.0})


@pytest.mark.parametrize("scale", [1.0, 1e4, 1e6])
def test_no_door_says_solved_beyond_the_tolerance(scale: float) -> None:
    """Where a posture is missed by just as much as the search stays inside the tolerance, and rounding decides."""
    figure = PANDA if scale == 1.0 else PANDA.scaled(scale)
    point = Point("panda_hand", scale * np.array([0.11, -0.07, 0.13]))
    problem = Problem(figure, [Task(point, At((0, 0, 0)), tolerance=1e-5)])
    query, rng = (
        supple.prepare(problem, solver=supple.LevenbergMarquardt(steps=0), prove=True),
        np.random.default_rng(5),
    )
    starts = rng.uniform(figure.lower, figure.upper, (150, figure.size))
    ways = rng.normal(size=(150, 3))
    off = 1e-5 * (1.0 + rng.uniform(-1.5e-6, 0.5e-6, 150))
    targets = np.array([figure.seen(q, point)[:3, 3] for q in starts])
    targets = targets + (off / np.linalg.norm(ways, axis=1))[:, None] * ways
    for start, target in zip(starts, targets, strict=True):
        answer = query(target, start=start)
        true = all(map(met, answer.problem.all_tasks, answer.problem.misses(answer.q)))
        one = supple.solve(problem.aimed(target), start=start, solver=query.solver)
        assert (answer.ok, answer.status, answer.reason) == (true, one.status, one.reason)
