"""The leaves of the wide loop, as a GPU runs them: against the library's own derivatives, the audit, and known postures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import supple
from supple.figure import Drive
from supple.problem import Moving
from supple.problem.targets import flat_targets
from supple.problem.task import met
from supple.solvers.lean.shape import Refused, Shape
from supple.solvers.lean.takes import formed, takes
from supple.solvers.lean.wide_leaves import Here, wide_leaves
from supple.solvers.lean.wide_shape import WideNumbers, WideShape, widened

pytestmark = pytest.mark.interpreted


def gripper() -> supple.Figure:
    """An arm with three coupled joints, one of them by two coordinates, and bodies."""
    hinge, slide = supple.hinge, supple.slide
    return supple.Figure(
        "gripper",
        [
            *hinge("pan", None, (0, 0, 1), segment="base", limits=(-2.9, 2.9)),
            *hinge("lift", "base", (0, 1, 0), at=(0, 0, 0.3), segment="upper", limits=(-2.0, 2.0)),
            *hinge("bend", "upper", (0, 1, 0), at=(0.35, 0, 0), segment="fore", limits=(-2.5, 2.5)),
            *hinge("roll", "fore", (1, 0, 0), at=(0.15, 0, 0), segment="wrist", limits=(-2.9, 2.9)),
            *hinge("tip", "wrist", (0, 1, 0), at=(0.15, 0, 0), segment="hand", limits=(-2.0, 2.0)),
            *slide("left", "hand", (0, 1, 0), at=(0.05, 0, 0), segment="left_jaw", limits=(0.0, 0.04)),
            *slide("right", "hand", (0, -1, 0), at=(0.05, 0, 0), segment="right_jaw", drive=Drive.by({"left": 1.0})),
            *hinge("pad", "right_jaw", (0, 0, 1), at=(0.03, 0, 0), segment="pad",
                   drive=Drive.by({"left": 5.0, "roll": 0.1}, 0.05)),
        ],
    )  # fmt: skip


def four_bars() -> supple.Figure:
    """Two cranks and a rod between them, pinned to the second one."""
    hinge, up = supple.hinge, (0, 1, 0)
    return supple.Figure(
        "four bars",
        [
            *hinge("crank", None, up, segment="crank", limits=(-1.5, 1.5)),
            *hinge("rod", "crank", up, at=(0, 0, 0.3), segment="rod", limits=(-3.0, 3.0)),
            *hinge("rocker", None, up, at=(0.5, 0, 0), segment="rocker", limits=(-1.5, 1.5)),
        ],
        loops=[supple.Loop("pin", "rod", "rocker", (0.5, 0, 0), (0, 0, 0.3), point=True)],
    )  # fmt: skip


def task(effector: object, goal: object, **options: object) -> supple.Task:
    return supple.Task(effector, goal, **options)


def among(figure: supple.Figure) -> supple.Problem:
    """A hand among boxes and a ball, whose arm keeps off itself."""
    place, capsule, ball = supple.place, supple.Capsule, supple.Ball
    solids = {
        "base": [capsule(0.06, 0.25, place((0, 0, 0.12)))],
        "upper": [capsule(0.04, 0.3, place((0.17, 0, 0), rpy=(0, np.pi / 2, 0)))],
        "fore": [capsule(0.04, 0.1, place((0.07, 0, 0), rpy=(0, np.pi / 2, 0)))],
        "hand": [ball((0.03, 0, 0), 0.04)],
    }
    return supple.Problem(
        figure.with_solids(solids),
        [task("hand", supple.At((0, 0, 0)))],
        obstacles={"shelf": supple.Box((0.3, -0.4, 0.5), (0.6, 0.4, 0.55)), "ball": ball((0.2, 0.3, 0.4), 0.1)},
        clearance=supple.Clearance(0.02, itself=True),
    )


def problems() -> dict[str, supple.Problem]:
    arm, free = gripper(), gripper().based_at(free=True)
    goal, ahead = supple.At((0.4, 0.1, 0.4)), supple.Direction("hand", (1, 0, 0))
    room = supple.Within(np.eye(4), box=((-0.01,) * 3, (0.01,) * 3), tilt=((-0.3,) * 3, (0.3,) * 3))
    either = supple.AnyOf([goal, supple.OnLine((0.3, 0, 0.5), (0, 1, 0))])
    return {
        "coupled": supple.Problem(arm, [task(supple.Frame("pad", (0.02, 0, 0)), supple.At((0, 0, 0)))]),
        "relative": supple.Problem(arm, [task("hand", goal), task("pad", supple.At((0, 0, 0), relative_to="upper"))]),
        "ranked": supple.Problem(arm, [task("hand", goal, hard=True), task(ahead, supple.AimedAt((0.5, 0.5, 0)))]),
        "within": supple.Problem(arm, [task(supple.Frame("hand"), room)]),
        "near": supple.Problem(arm, [task("hand", goal), task(None, supple.Near(arm.rest), preference=True)]),
        "clear": among(arm),
        "closed": supple.Problem(four_bars(), [task(supple.Point("rod", (0.25, 0, 0.1)), supple.At((0.3, 0, 0.4)))]),
        "any": supple.Problem(arm, [task("hand", either)]),
        "free": supple.Problem(free, [task(supple.Frame("pad"), supple.Placed(np.eye(4)))]),
    }


class Run:
    """Leaves in plain Python, and the numbers of a problem in them."""

    def __init__(self, problem: supple.Problem) -> None:
        self.problem = problem
        self.shape, self.numbers = widened(problem, problem.admitted(problem.figure.rest))
        made = wide_leaves(self.shape, lambda leaf: leaf, lambda leaf: leaf)
        self.begin, self.look, self.move = made.begin, made.look, made.move
        self.memory = memory_of(self.numbers, [np.zeros(size) for size in made.memory])
        self.q, self.base = np.zeros(self.shape.coordinates), np.zeros(7)

    def here(self, T: np.ndarray) -> tuple[float, float]:
        return self.look(self.q, self.base, T, self.memory)

    def posture(self) -> np.ndarray:
        q = np.array(self.numbers.resting)
        q[self.numbers.coordinate] = self.q
        return q

    def solve(self, T: np.ndarray, attempts: int = 12) -> bool:
        n = self.numbers
        for k in range(attempts):
            self.begin(n.starts, n.limits, k, self.q, self.base)
            for _ in range(60):
                over, value = self.here(T)
                if over < 1.0:
                    return True
                self.move(n.limits, self.q, self.base, T, value, self.memory)
        return False


def memory_of(numbers: WideNumbers, arrays: list[np.ndarray]) -> tuple:
    own = len(Here._fields)
    tree, tasks, routes = opened(numbers)
    return (Here(*arrays[:own]), *arrays[own:], tree, tasks, routes, numbers.coordinate)


def opened(numbers: WideNumbers) -> tuple:
    from supple.kernels.tables import Routes, Tasks
    from supple.kernels.tree import Tree

    return Tree(*numbers.tree), Tasks(*numbers.tasks), Routes(*numbers.routes)


def aimed(problem: supple.Problem, q: np.ndarray) -> tuple[supple.Problem, np.ndarray]:
    """The problem aimed at what a posture meets, where its goals are places, and the targets as kernels read them."""
    figure, given = problem.figure, []
    for one in problem.tasks:
        goal, end = one.goal, one.effector
        if isinstance(goal, supple.At | supple.Placed | supple.Within):
            X = figure.placement(q, end.segment) @ end.frame
            if goal.relative_to is not None:
                X = np.linalg.inv(figure.placement(q, goal.relative_to)) @ X
            given.append(X if not isinstance(goal, supple.At) else X[:3, 3])
        elif isinstance(goal, supple.AimedAt):
            X = figure.placement(q, end.segment) @ end.frame
            given.append(X[:3, 3] + 0.7 * X[:3, 0])
        else:
            given.append(None)
    (row,) = flat_targets(problem, [None if t is None else t[None] for t in given], 1)
    return problem.aimed(*given), row


def some(problem: supple.Problem, rng: np.random.Generator) -> np.ndarray:
    """A posture; among obstacles one that touches nothing, of four bars one that is closed."""
    figure = problem.figure
    if figure.loops:  # a parallelogram
        angle = rng.uniform(-1.0, 1.0)
        return np.array([{"crank": angle, "rod": -angle, "rocker": angle}[name] for name in figure.coordinates])
    while True:
        q = rng.uniform(np.maximum(figure.lower, -1.2), np.minimum(figure.upper, 1.2))
        if all(
            miss.metres == 0.0
            for task, miss in zip(problem.all_tasks, problem.misses(q), strict=True)
            if task.keeps_clear
        ):
            return q


PROBLEMS = problems()


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_is_added_up_is_the_librarys_jacobian(name: str):
    problem, rng, checked = PROBLEMS[name], np.random.default_rng(4), 0
    run = Run(problem)
    for _ in range(4):
        q = rng.uniform(np.maximum(problem.figure.lower, -1.2), np.minimum(problem.figure.upper, 1.2))
        one, T = aimed(problem, rng.uniform(np.maximum(problem.figure.lower, -1), np.minimum(problem.figure.upper, 1)))
        run.q[:], run.base[:] = q[run.numbers.coordinate], 0.0
        _, value = run.here(T)
        rho, J = replace(one, tasks=[t for t in one.tasks if not t.preference]).jacobian(q)
        J = J[:, run.numbers.coordinate]
        assert value == pytest.approx(rho @ rho, rel=1e-12, abs=1e-300)
        assert np.allclose(np.tril(run.memory[3]), np.tril(J.T @ J), rtol=1e-11, atol=1e-13)
        assert np.allclose(run.memory[4], -J.T @ rho, rtol=1e-11, atol=1e-13)
        checked += rho @ rho > 0.0
    assert checked


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_arrives_is_legal_and_met(name: str):
    problem, rng, found = PROBLEMS[name], np.random.default_rng(2), 0
    run = Run(problem)
    for _ in range(4):
        one, T = aimed(problem, some(problem, rng))
        if run.solve(T):
            found += 1
            q = run.posture()
            assert problem.limits.contains(q)
            for each, miss in zip(one.all_tasks, one.misses(q), strict=True):
                assert met(each, miss), each.name
    assert found >= 3


def test_a_preferred_posture_is_as_near_as_the_tasks_allow():
    """What draws it has nothing left along what neither tasks nor limits hold."""
    problem, rng, found = PROBLEMS["near"], np.random.default_rng(7), 0
    run, rest = Run(problem), problem.figure.rest
    for _ in range(5):
        one, T = aimed(problem, some(problem, rng))
        if run.solve(T, 30):
            q = run.posture()
            J = replace(one, tasks=one.tasks[:1]).jacobian(q)[1]
            loose = (q > problem.limits.lower) & (q < problem.limits.upper)
            _, sizes, axes = np.linalg.svd(J[:, loose])
            left = axes[int((sizes > 1e-6).sum()) :] @ (q - rest)[loose]
            assert np.abs(left).max(initial=0.0) < 0.02
            found += 1
    assert found >= 3


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_is_never_met_by_any_goal(bad: float):
    for name in ("coupled", "relative", "ranked", "within", "free"):
        problem = PROBLEMS[name]
        run = Run(problem)
        _, T = aimed(problem, problem.figure.rest)
        run.q[:] = problem.figure.rest[run.numbers.coordinate]
        for k in range(len(T)):
            broken = T.copy()
            broken[k] = bad
            with np.errstate(invalid="ignore", divide="ignore"):
                over, value = run.here(broken)
            assert not (over < 1.0 and value < 1e30), (name, k)


def one_with(**options: object) -> supple.Problem:
    figure = gripper()
    given: dict = {"tasks": [task("hand", supple.At((0.4, 0, 0.4)))], **options}
    return supple.Problem(figure, **given)


def pulled() -> supple.Problem:
    return one_with(tasks=[task("hand", supple.At((0.4, 0, 0.4))), task(None, supple.Near(gripper().rest))])


def with_a_box() -> supple.Problem:
    figure = gripper().with_solids({"hand": [supple.Box((0, 0, 0), (0.1, 0.1, 0.1))]})
    return supple.Problem(
        figure, [task("hand", supple.At((0.4, 0, 0.4)))], obstacles=[supple.Box((1, 1, 1), (2, 2, 2))]
    )


def with_something_that_moves() -> supple.Problem:
    ball = Moving(supple.Ball((0, 0, 0), 0.1), supple.place((0.5, 0.1, 1.2)))
    return replace(among(gripper()), obstacles={"ball": ball})


def bounded() -> supple.Problem:
    figure = gripper()
    rows = supple.Limits(figure.lower, figure.upper, A=np.ones((1, figure.size)), b=[1.0])
    return one_with(limits=rows)


REFUSED = {
    "posture pulls": pulled,
    "no ball or capsule": with_a_box,
    "obstacle moves": with_something_that_moves,
    "not ranges": bounded,
    "more room": lambda: replace(among(gripper()), clearance=supple.Clearance(0.0, preferred=0.05)),
    "rigidity": lambda: one_with(rigidity={"pan": 0.5}),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_no_loop_takes_is_refused_by_name(why: str):
    problem = REFUSED[why]()
    with pytest.raises(Refused, match=why):
        widened(problem, problem.figure.rest)
    assert not takes(problem, problem.figure.rest)


def test_what_the_lean_loop_takes_does_not_go_to_the_wide_one():
    problem = one_with()
    assert isinstance(formed(problem, problem.figure.rest)[0], Shape)
    assert isinstance(formed(PROBLEMS["coupled"], PROBLEMS["coupled"].figure.rest)[0], WideShape)
