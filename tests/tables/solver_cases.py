"""Problems and laws that the tests of several solvers share; the laws know nothing of how a solver works."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_array_equal
from scipy.optimize import linprog, minimize, nnls

from supple.figure.catalogue import build
from supple.figure.effectors import Frame, Point
from supple.figure.figure import Figure
from supple.figure.limits import Limits
from supple.problem.goals import At, Near, Placed
from supple.problem.problem import Problem
from supple.problem.solution import Solution, Status
from supple.problem.task import Task
from tests.tables.figures import TREES

ARM = TREES["arm"]
PANDA, HUMAN = build("panda"), build("human")
JACK = build("jack", spine="grouped", shoulders="grouped", root="fixed", legs=False, fingers=False)
HAND = "panda_hand_tcp"
SIX = ("hand_l.palm", "hand_r.palm", "foot_l", "foot_r", "pelvis", "head.top")


def shaken(figure: Figure, seed: int, spread: float) -> np.ndarray:
    """A legal posture near the figure's rest."""
    return figure.limits.project(figure.rest + spread * np.random.default_rng(seed).normal(size=figure.size))


def points(figure: Figure, q: np.ndarray, *segments: str) -> list[Task]:
    """Tasks for the places that the segments have in the posture q."""
    return [Task(Point(s), At(figure.placement(q, s)[:3, 3])) for s in segments]


def panda(seed: int = 1, **options: Any) -> Problem:
    """A pose that the arm reaches, near its rest."""
    return Problem(
        PANDA, [Task(Frame(HAND), Placed(PANDA.placement(shaken(PANDA, seed, 0.3), HAND), per_radian=1.0))], **options
    )


def human(seed: int = 1) -> Problem:
    """Six points that the person reaches."""
    return Problem(HUMAN, points(HUMAN, shaken(HUMAN, seed, 0.15), *SIX))


def stretched(figure: Figure, segment: str, to: tuple[float, float, float], **options: Any) -> Problem:
    """One point out of reach."""
    return Problem(figure, [Task(Point(segment), At(to))], **options)


def narrowed() -> Problem:
    """A pose that the arm reaches only outside the narrow limits around its rest."""
    room = np.array([0.1, 0.4, 0.1, 0.4, 0.4, 0.1, 0.4, 1.0])
    limits = Limits(np.maximum(PANDA.rest - room, PANDA.lower), np.minimum(PANDA.rest + room, PANDA.upper))
    return panda(3, limits=limits)


def rows_on_panda() -> Limits:
    """The arm's box, one linear equality and two inequalities that are felt."""
    rest = PANDA.rest
    A_eq = np.array([[1.0, -1.0, 0, 0, 0.5, 0, 0, 0]])
    A = np.array([[0, 1.0, 0, 1.0, 0, 1.0, 0, 0], [0.3, 0, 1.0, 0, -1.0, 0, 0.2, 0]])
    return Limits(PANDA.lower, PANDA.upper, A_eq, A_eq @ rest, A, A @ rest + 0.02)


def leaning(figure: Figure, tasks: list[Task], weight: float, limits: Limits | None = None) -> Problem:
    """The tasks and a pull towards rest: one minimum, which meets no task exactly."""
    return Problem(figure, [*tasks, Task(None, Near(figure.rest + 0.05), weight=weight)], limits)


def reaching_up() -> list[Task]:
    """A pose for the arm's hand, some way off."""
    return [Task(Frame(HAND), Placed(PANDA.placement(shaken(PANDA, 5, 0.4), HAND), per_radian=1.0))]


REACHABLE = {
    "panda": (panda(), PANDA.rest),
    "human": (human(), HUMAN.rest),
    "jack": (Problem(JACK, points(JACK, shaken(JACK, 2, 0.2), "hand_l.palm", "hand_r.palm", "eyes")), JACK.rest),
    "panda with rows": (
        Problem(PANDA, points(PANDA, rows_on_panda().project(shaken(PANDA, 1, 0.2)), HAND), rows_on_panda()),
        PANDA.rest,
    ),
}
UNREACHABLE = {
    "panda": (stretched(PANDA, HAND, (1.2, 0.3, 0.4)), PANDA.rest),
    "panda at limits": (narrowed(), PANDA.rest),
    "panda with rows": (stretched(PANDA, HAND, (0.8, 0.7, 0.9), limits=rows_on_panda()), PANDA.rest),
    "human": (Problem(HUMAN, [Task(Point(s), At((3.0, y, 1.0))) for s, y in (("hand_l", 2.0), ("foot_r", -2.0))]), HUMAN.rest),
    "jack": (
        Problem(JACK, [Task(Point("hand_l.palm"), At((-0.3, -0.3, 1.2))), Task(Point("hand_r.palm"), At((0.1, 0.6, 0.8)))]),
        JACK.rest,
    ),
    "a corner to start from": (stretched(ARM, "hand", (0.9, 0.6, 0.4)), ARM.lower),
}  # fmt: skip
ALL = {**{f"{k}, reached": v for k, v in REACHABLE.items()}, **{f"{k}, not reached": v for k, v in UNREACHABLE.items()}}


def normals(problem: Problem, q: np.ndarray, slack: float = 1e-8) -> np.ndarray:
    """The outward normals of the limits that are active at q, equalities both ways."""
    limits = problem.limits
    assert limits is not None
    eye = np.eye(len(q))
    return np.array(
        [
            *eye[q >= limits.upper],
            *-eye[q <= limits.lower],
            *limits.A[limits.A @ q >= limits.b - slack],
            *limits.A_eq,
            *-limits.A_eq,
        ]
    ).reshape(-1, len(q))


def unexplained(problem: Problem, q: np.ndarray) -> float:
    """What non-negative multipliers of the active limits leave of −∇G, over the coordinates that may move (Kuhn–Tucker)."""
    moves = problem.free > 0.0
    g = problem.evaluate(q, hessian=False).gradient
    assert g is not None
    A = normals(problem, q)[:, moves]
    if len(A) == 0:
        return float(np.abs(g[moves]).max(initial=0.0))
    return float(nnls(A.T, -g[moves])[1])


def check(solution: Solution, start: np.ndarray) -> None:
    """What holds of every answer: legal, not uphill, locked coordinates untouched, and a status that is true."""
    problem, q = solution.problem, solution.q
    assert problem.limits is not None
    assert problem.limits.contains(q)
    assert problem.value(q) <= problem.value(start)
    locked = problem.free == 0.0
    assert_array_equal(q[locked], np.asarray(start)[locked])
    assert (solution.status is Status.SOLVED) == solution.ok
    assert solution.evaluations > solution.iterations or solution.iterations == 0
    if solution.status is Status.NEAREST:
        assert unexplained(problem, q) < 1e-6


def corner(seed: int) -> tuple[Problem, np.ndarray]:
    """A start in a corner: limits and rows that meet there in any number, some twice; rigid and locked coordinates."""
    rng = np.random.default_rng(seed)
    figure, ends = [(ARM, ["hand"]), (PANDA, [HAND, "panda_link4"]), (JACK, ["hand_l.palm", "eyes"])][seed % 3]
    n, start = figure.size, shaken(figure, seed, 0.3)
    sides = [np.where(rng.random(n) < 0.25, 0.0, rng.uniform(0, 1, n)) for _ in range(2)]
    many, equal = int(rng.integers(0, n)), int(rng.integers(0, 3))
    A = rng.normal(size=(many + equal, n)) * (rng.random((many + equal, n)) < 0.4) + 1e-3
    A[many // 2 :: 5] = A[0] if len(A) else 0.0
    b = A @ start + np.where((np.arange(many + equal) < equal) | (rng.random(many + equal) < 0.3), 0.0, 0.2)
    limits = Limits(start - sides[0], start + sides[1], A[:equal], b[:equal], A[equal:], b[equal:])
    aim = shaken(figure, seed + 1, 0.5)
    tasks = [
        Task(Frame(s), Placed(figure.placement(aim, s))) if rng.random() < 0.5 else points(figure, aim, s)[0]
        for s in ends
    ]
    return Problem(figure, tasks, limits, rigidity=rng.choice([0.0, 0.0, 0.5, 1.0], size=n)), start


def way_down(problem: Problem, q: np.ndarray) -> float:
    """The steepest legal descent at q within a unit box, by linear programming: 0 where no allowed move helps."""
    limits, (lower, upper) = problem.limits, box_of(problem, q)
    assert limits is not None
    g = problem.evaluate(q, hessian=False).gradient
    box = np.column_stack([np.maximum(lower - q, -1.0), np.minimum(upper - q, 1.0)])
    slack = np.maximum(limits.b - limits.A @ q, 0.0)
    rows = {"A_ub": limits.A, "b_ub": slack} if len(slack) else {}
    same = {"A_eq": limits.A_eq, "b_eq": np.zeros(len(limits.A_eq))} if len(limits.A_eq) else {}
    found = linprog(g, bounds=box, **rows, **same)
    assert found.success, found.message
    return float(found.fun)


def box_of(problem: Problem, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The limits of single coordinates; those that may not move stay where they are."""
    limits, moves = problem.limits, problem.free > 0.0
    assert limits is not None
    return np.where(moves, limits.lower, start), np.where(moves, limits.upper, start)


def by_slsqp(problem: Problem, start: np.ndarray) -> np.ndarray:
    """SciPy's answer."""
    limits, (lower, upper) = problem.limits, box_of(problem, start)
    assert limits is not None
    constraints = [{"type": "eq", "fun": lambda q: limits.A_eq @ q - limits.b_eq, "jac": lambda _: limits.A_eq}]
    constraints += [{"type": "ineq", "fun": lambda q: limits.b - limits.A @ q, "jac": lambda _: -limits.A}]
    found = minimize(
        lambda q: problem.value(np.clip(q, lower, upper)),
        start,
        jac=lambda q: problem.evaluate(np.clip(q, lower, upper), hessian=False).gradient,
        method="SLSQP",
        bounds=list(zip(lower, upper, strict=True)),
        constraints=[c for c in constraints if len(limits.A_eq if c["type"] == "eq" else limits.A)],
        options={"ftol": 1e-15, "maxiter": 500},
    )
    return np.clip(found.x, lower, upper)
