"""Goals: derivatives against differences, the two forms against each other, misses against potentials, and refusals.

The table crosses every goal with every effector. A pair that a goal takes must obey the laws on several figures; a pair that it
does not take must be refused by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from supple.errors import BadValue, Error
from supple.figure.effectors import Direction, Frame, Gap, MassCentre, Point
from supple.figure.figure import Figure
from supple.figure.joints import ball, free, hinge
from supple.geometry.placements import X, Y, Z, place, turned, unit
from supple.geometry.shapes import Box
from supple.problem.goals import (
    AimedAt,
    Aligned,
    AnyOf,
    At,
    Beyond,
    Custom,
    Facing,
    Miss,
    Near,
    OnLine,
    OnPlane,
    Outside,
    Placed,
    Within,
)  # fmt: skip
from supple.problem.problem import Problem
from supple.problem.solution import Status
from supple.problem.task import Task
from supple.solvers.projected_gradient import ProjectedGradient
from supple.solving.solve import solve
from tests.tables.figures import ENDS, FIGURES, FOUR_BAR, TREES, assert_close, posture, slope, somewhere

R = somewhere(20)[:3, :3]
T = somewhere(21)


def bowl(a: Any, x: Any, g: Any, H: Any) -> float:
    """A potential in which positions and axes mix: ``(x₀ − a₀)⁴ + (x₃ x₇ − a₁)²``."""
    s, c = x[0] - a[0], x[3] * x[7] - a[1]
    g[0], g[3], g[7] = 4 * s**3, 2 * c * x[7], 2 * c * x[3]
    H[0, 0], H[3, 3], H[7, 7] = 12 * s * s, 2 * x[7] ** 2, 2 * x[3] ** 2
    H[3, 7] = H[7, 3] = 2 * c + 2 * x[3] * x[7]
    return s**4 + c * c


# goals by what they look at
POSITION: dict[str, Any] = {
    "At": At((0.4, 0.1, 0.6)),
    "OnLine": OnLine((1, 0, 0), (1, 1, 1)),
    "OnPlane": OnPlane((1, 0, 0), (1, 2, 1)),
    "Beyond": Beyond((1, 0, 0), (1, 2, 1)),
    "not Beyond": Beyond((1, 0, 0), (-1, -2, -1)),
    "box": Within(T, box=(0.1, 0.2, 0.05)),
    "lopsided box": Within(T, box=[(-0.1, 0, -2), (0.5, 0, 3)]),
    "point box": Within(T, box=0.0),
    "AnyOf": AnyOf([At((1, 2, 3)), OnPlane((0.2, 0, 0), Z), Beyond((0, 0, 5), Z)], weights=(1, 2, 3)),
    "Outside": Outside(Box((-3, -2, -4), (2, 3, 5), T), margin=0.1),
}
DIRECTION: dict[str, Any] = {
    "Facing": Facing((0, 3, 4), per_radian=0.5),
    "AimedAt": AimedAt((1, 2, 3), per_radian=0.7),
    "Aligned": Aligned(T[:3, 3], T[:3, 0], weights=(2, 3), per_radian=0.5),
    "AnyOf directions": AnyOf([Facing(X), Facing(Y), AimedAt((9, 0, 0))]),
}
FRAME: dict[str, Any] = {
    "Facing y": Facing(y=(1, 2, 3)),
    "Facing x and y": Facing(X, (0, 1, 1), per_radian=(0.3, 0.7)),
    "Facing matrix": Facing(matrix=R, per_radian=0.8),
    "Aligned y": Aligned(T[:3, 3], y=T[:3, 1], weights=(0.3, 0.7)),
    "Aligned x and y": Aligned(T[:3, 3], T[:3, 0], T[:3, 1], per_radian=(0.3, 0.7)),
    "Placed": Placed(T, per_radian=0.4),
    "tilt": Within(T, tilt=(0.1, 0.2, 0.3), per_radian=0.6),
    "lopsided tilt": Within(T, tilt=[(-0.1, 0, -2), (0.5, 0, 3)]),
    "no tilt": Within(T, tilt=0.0),
    "box and tilt": Within(T, box=0.1, tilt=(0.1, 0, 0.3)),
    "AnyOf frames": AnyOf([Placed(T), AnyOf([Placed(somewhere(22)), At((1, 1, 1))], weights=(2, 3))], weights=(1, 4)),
}
CUSTOM = {"Custom": Custom(bowl, (0.1, 0.2))}
GOALS: dict[str, Any] = {**POSITION, **DIRECTION, **FRAME, **CUSTOM}


def effectors(figure: str) -> dict[str, Any]:
    """Every kind of effector on a figure."""
    end, other = ENDS[figure]
    at, far = somewhere(23), somewhere(24)
    return {
        "Point": Point(end, (0.1, 0.2, 0.3)),
        "Direction": Direction(end, (1, 2, 3), (0.1, 0.2, 0.3)),
        "Frame": Frame(end, at),
        "MassCentre": MassCentre(),
        "Gap of points": Gap(Point(other, (0.3, 0, 0)), Point(end, (0, 0.1, 0))),
        "Gap of directions": Gap(Frame(other, far), Direction(end, (1, 2, 3))),
        "Gap of frames": Gap(Frame(other, far), Frame(end, at)),
    }


EFFECTORS = tuple(effectors("arm"))
WHOLE = {"Frame", "Gap of frames"}
POINTED = WHOLE | {"Direction", "Gap of directions"}


def takes(goal: str, effector: str) -> bool:
    if goal in CUSTOM:
        return effector != "MassCentre"
    if goal in POSITION:
        return True
    return effector in (POINTED if goal in DIRECTION else WHOLE)


PAIRS = [(g, e) for g in GOALS for e in EFFECTORS if takes(g, e)]
STRANGERS = [(g, e) for g in GOALS for e in EFFECTORS if not takes(g, e)]


# ── the laws ─────────────────────────────────────────────────────────────────────────────────────────────────────────
def check_derivatives(problem: Problem, q: np.ndarray) -> None:
    """Gradient and Hessian are the slopes of value and gradient; the Hessian is symmetric."""
    here = problem.evaluate(q)
    assert here.gradient is not None
    assert here.hessian is not None
    assert_allclose(problem.value(q), here.value, rtol=1e-14, atol=1e-300)
    alone = problem.evaluate(q, hessian=False)
    assert alone.hessian is None
    assert_allclose(alone.gradient, here.gradient, rtol=1e-12, atol=1e-13)
    assert_close(here.gradient, slope(problem.value, q), 1e-6, "gradient")
    assert_close(here.hessian, slope(lambda x: problem.evaluate(x, hessian=False).gradient, q), 1e-6, "Hessian")
    assert_close(here.hessian, here.hessian.T, 1e-14, "symmetry")


def check_residuals(problem: Problem, q: np.ndarray) -> None:
    """``Σρ² = P``, ``2Jᵀρ = ∇P``, J is the slope of ρ, and ``2JᵀJ`` is the Gauss–Newton matrix."""
    rho, J = problem.jacobian(q)
    here = problem.evaluate(q, curvature=False)
    assert_close(rho @ rho, here.value, 1e-10, "sum of squares")
    assert_close(2 * J.T @ rho, here.gradient, 1e-10, "gradient")
    assert_close(2 * J.T @ J, here.hessian, 1e-12, "Gauss–Newton")
    assert_close(J, slope(lambda x: problem.jacobian(x)[0], q), 1e-6, "Jacobian")


def check(figure: Figure, task: Task, seed: int, residuals: bool = True) -> None:
    problem, q = Problem(figure, [task]), posture(figure, seed, 0.8)
    check_derivatives(problem, q)
    if residuals:
        check_residuals(problem, q)


@pytest.mark.parametrize("figure", ["mixed", "spine", "twins"])
@pytest.mark.parametrize(("goal", "effector"), PAIRS)
def test_laws(goal: str, effector: str, figure: str):
    task = Task(effectors(figure)[effector], GOALS[goal], weight=1.7)
    for seed in range(2):
        check(TREES[figure], task, 31 + seed, residuals=goal not in CUSTOM)


SMALL = Figure("small", [*hinge("shoulder", None, (1, 2, 2), at=T), *hinge("hand", "shoulder", X, at=(0, 0, 1))])


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.interpreted
def test_laws_of_every_goal_on_a_small_arm(goal: str):
    effector = Point("hand", (0, 1, 0)) if goal in POSITION else Frame("hand", somewhere(25))
    check(SMALL, Task(effector, GOALS[goal]), 40, residuals=goal not in CUSTOM)


@pytest.mark.parametrize("figure", [name for name in FIGURES if name not in TREES])
@pytest.mark.interpreted
def test_laws_of_a_placed_frame_on_every_kind_of_joint(figure: str):
    end, _ = ENDS[figure]
    unlooped = Figure(figure, FIGURES[figure].joints.values())
    check(unlooped, Task(Frame(end, somewhere(26)), Placed(T, per_radian=0.3)), 41)


@pytest.mark.parametrize("figure", TREES)
@pytest.mark.interpreted
def test_laws_of_all_goals_together(figure: str):
    tasks = [Task(effectors(figure)[e], GOALS[g], weight=0.1 + k % 7) for k, (g, e) in enumerate(PAIRS)]
    problem = Problem(TREES[figure], [*tasks, Near(np.ones(TREES[figure].size), 0.3)])
    check_derivatives(problem, posture(TREES[figure], 42, 0.8))
    without = Problem(TREES[figure], [t for t in tasks if not isinstance(t.goal, Custom)])
    check_residuals(without, posture(TREES[figure], 47, 0.8))


def test_a_sum_of_tasks_is_the_sum_of_its_parts():
    figure = TREES["mixed"]
    tasks = [Task(effectors("mixed")[e], GOALS[g], weight=0.5) for g, e in PAIRS]
    q = posture(figure, 44)
    whole = Problem(figure, tasks).evaluate(q)
    parts = [Problem(figure, [task]).evaluate(q) for task in tasks]
    assert_close(whole.value, sum(p.value for p in parts), 1e-12)
    assert_close(whole.gradient, sum(p.gradient for p in parts), 1e-12)
    assert_close(whole.hessian, sum(p.hessian for p in parts), 1e-12)


def test_a_posture_goal():
    figure = TREES["spine"]
    reference, weights = np.linspace(-1, 1, figure.size), np.arange(figure.size)
    problem, q = Problem(figure, [Task(None, Near(reference, weights), weight=3.0)]), posture(figure, 45)
    assert_allclose(problem.value(q), 3 * weights @ (q - reference) ** 2)
    check_derivatives(problem, q)
    assert problem.misses(q) == (Miss(),)


# ── what the potentials are ──────────────────────────────────────────────────────────────────────────────────────────
def floating(X_world: np.ndarray) -> tuple[Figure, np.ndarray]:
    """A free body and the posture that puts it at a placement."""
    angles = Rotation.from_matrix(X_world[:3, :3]).as_euler("ZYX")
    return Figure("body", free("body")), np.array([*X_world[:3, 3], *angles])


def value_at(goal: Any, X_world: np.ndarray, weight: float = 1.0) -> float:
    figure, q = floating(X_world)
    return Problem(figure, [Task("body", goal, weight=weight)]).value(q)


def excess(values: Any, corners: Any) -> float:
    return float(np.sum((values - np.clip(values, *corners)) ** 2))


def formula(goal: Any, X: np.ndarray) -> float:
    """P as the papers write it, by plain NumPy."""
    r = X[:3, 3]
    match goal:
        case At():
            return float(np.sum((goal.position - r) ** 2))
        case Facing() if goal.matrix is not None:
            angle = Rotation.from_matrix(goal.matrix.T @ X[:3, :3]).magnitude()
            return 4 * goal.per_radian[0] ** 2 * math.sin(angle / 2) ** 2
        case Facing():
            pairs = zip((goal.x, goal.y), (X[:3, 0], X[:3, 1]), goal.per_radian, strict=True)
            return sum(c**2 * float(np.sum((g - x) ** 2)) for g, x, c in pairs if g is not None)
        case Aligned():
            turn = Facing(goal.x, goal.y, per_radian=goal.per_radian)
            return goal.weights[0] * formula(At(goal.position), X) + goal.weights[1] * formula(turn, X)
        case Placed():
            turn = Facing(matrix=goal.at[:3, :3], per_radian=goal.per_radian)
            return formula(At(goal.at[:3, 3]), X) + formula(turn, X)
        case AimedAt():
            d = goal.point - r
            return goal.per_radian**2 * float(np.sum((d / np.linalg.norm(d) - X[:3, 0]) ** 2))
        case OnLine():
            return float(np.sum(np.cross(r - goal.point, goal.normal) ** 2))
        case OnPlane():
            return float((r - goal.point) @ goal.normal) ** 2
        case Beyond():
            return max(0.0, float((goal.point - r) @ goal.normal)) ** 2
        case Within():
            E = np.linalg.inv(goal.at) @ X
            out = 0.0 if goal.box is None else excess(E[:3, 3], goal.box)
            if goal.tilt is not None:
                out += goal.per_radian**2 * excess(Rotation.from_matrix(E[:3, :3]).as_rotvec(), goal.tilt)
            return out
        case AnyOf():
            return min(w * formula(g, X) for g, w in zip(goal.goals, goal.weights, strict=True))
        case Custom():
            x = np.concatenate([r, X[:3, 0], X[:3, 1], X[:3, 2]])
            return bowl(goal.target, x, np.zeros(12), np.zeros((12, 12)))
    raise AssertionError(goal)


PLACES = {
    **{f"somewhere {k}": somewhere(50 + k, 1.0) for k in range(5)},
    "at the goal": T,
    "a little beside": T @ place((1e-7, 0, 0), Rotation.from_rotvec((0, 1e-7, 2e-7))),
    "nearly half a turn": T @ place((0, 0, 0.1), Rotation.from_rotvec(np.array(unit((1, 2, 3))) * (math.pi - 1e-3))),
    "half a turn but for 1e-5": T
    @ place((0, 0, 0.1), Rotation.from_rotvec(np.array(unit((1, 2, 3))) * (math.pi - 1e-5))),
    "half a turn but for 1e-9": T
    @ place((0, 0, 0.1), Rotation.from_rotvec(np.array(unit((1, 2, 3))) * (math.pi - 1e-9))),
}


# A rotation vector flips its sign at half a turn; what tilts are worth there has a test of its own below.
HALF_TURNS = {name for name in PLACES if "but for" in name}
SEEN_FROM = [(g, where) for g in GOALS for where in PLACES if where not in HALF_TURNS or "tilt" not in g]


@pytest.mark.parametrize(("goal", "where"), SEEN_FROM)
def test_potentials_are_what_the_papers_say(goal: str, where: str):
    X_world = PLACES[where]
    P = formula(GOALS[goal], X_world)
    assert_allclose(value_at(GOALS[goal], X_world, 2.5), 2.5 * P, rtol=1e-7, atol=1e-15)


@pytest.mark.parametrize(("goal", "where"), [pair for pair in SEEN_FROM if pair[0] not in CUSTOM])
def test_the_residual_form_agrees_everywhere(goal: str, where: str):
    figure, q = floating(PLACES[where])
    problem = Problem(figure, [Task("body", GOALS[goal])])
    rho, J = problem.jacobian(q)
    assert np.isfinite(J).all()
    assert_close(rho @ rho, problem.value(q), 1e-7)
    assert_close(2 * J.T @ rho, problem.evaluate(q).gradient, 1e-6)


# ── misses ───────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("goal", [g for g in GOALS if "AnyOf" not in g])
def test_a_miss_is_what_the_potential_says(goal: str, where: str):
    """Metres and radians, from which the potential follows; exactly zero only where it is."""
    it, X_world = GOALS[goal], PLACES[where]
    miss, P = it.miss(X_world), formula(it, X_world)
    if isinstance(it, Placed):
        expected = miss.metres**2 + 4 * it.per_radian**2 * math.sin(miss.radians / 2) ** 2
    elif isinstance(it, Within):
        expected = miss.metres**2 + it.per_radian**2 * miss.radians**2
    elif isinstance(it, Aligned) and (it.x is None or it.y is None):
        c = it.per_radian[0 if it.x is not None else 1]
        expected = it.weights[0] * miss.metres**2 + it.weights[1] * 4 * c**2 * math.sin(miss.radians / 2) ** 2
    elif isinstance(it, Facing | Aligned) and it.x is not None and it.y is not None:
        angles = [float(np.arccos(np.clip(d @ X_world[:3, k], -1, 1))) for k, d in enumerate((it.x, it.y))]
        assert_allclose(miss.radians, max(angles), rtol=0, atol=1e-7)
        return
    elif isinstance(it, Facing | AimedAt):
        c = (
            it.per_radian
            if isinstance(it, AimedAt)
            else it.per_radian[0 if it.x is not None or it.matrix is not None else 1]
        )
        expected = 4 * c**2 * math.sin(miss.radians / 2) ** 2
    else:
        expected = miss.metres**2
    assert_allclose(expected, P, rtol=1e-6, atol=1e-15)


def test_the_miss_of_any_of_is_its_least():
    goal = AnyOf([At((0, 0, 1)), At((0, 0, 3))])
    assert_allclose(goal.miss(place((0, 0, 2.9))).metres, 0.1)
    assert_allclose(goal.miss(place((0, 0, 1.2))).metres, 0.2)


@pytest.mark.parametrize("goal", [*POSITION, *DIRECTION, *FRAME])
def test_what_kernels_call_met_is_what_the_audit_calls_met(goal: str):
    """On the way into a goal a solver stops at once only where the audit agrees, or where there is nothing to gain."""
    figure, q = floating(somewhere(60, 0.5))
    solver, stopped = ProjectedGradient(steps=1), 0
    for tolerance, angle in ((1e-5, 1e-4), (1e-2, 1e-1), (0.3, 1.0)):
        problem = Problem(figure, [Task("body", GOALS[goal], tolerance=tolerance, angle_tolerance=angle)])
        for k in range(0, 200, 5):
            scale = 10 ** (-k / 30)
            solution = solver.solve(problem, q * scale + (1 - scale) * floating(T)[1])
            if solution.iterations == 0 and not solution.ok:
                assert np.abs(problem.evaluate(solution.q, hessian=False).gradient).max() < 1e-8
            stopped += solution.iterations == 0
    assert (
        stopped or "AnyOf" in goal or goal in ("At", "OnLine", "OnPlane", "Facing", "AimedAt", "not Beyond", "Outside")
    )


@pytest.mark.parametrize("tilt", [0.0, 0.1])
@pytest.mark.parametrize("left", [0.0, 1e-9, 1e-7, 1e-5])
def test_half_a_turn_away_is_as_far_as_can_be(tilt: float, left: float):
    problem, angle = (
        Problem(Figure("body", free("body")), [Task("body", Within(tilt=tilt, per_radian=1.0))]),
        math.pi - left,
    )
    q = np.array([0, 0, 0, angle, 0, 0])
    here = problem.evaluate(q)
    assert_allclose(problem.misses(q)[0].radians, angle - tilt, atol=1e-6)
    assert_allclose(here.value, (angle - tilt) ** 2, rtol=1e-9)
    assert_allclose(here.gradient, [0, 0, 0, 2 * (angle - tilt), 0, 0], rtol=0, atol=1e-6)


def test_aiming_from_the_target_itself_is_defined_and_not_met():
    problem, q = (
        Problem(Figure("body", free("body")), [Task("body", AimedAt((1, 2, 3)))]),
        np.array([1.0, 2, 3, 0, 0, 0]),
    )
    here = problem.evaluate(q)
    assert math.isfinite(here.value)
    assert problem.misses(q)[0].radians == math.pi
    assert np.isfinite(here.gradient).all()
    assert np.abs(here.gradient).max() < 1e3
    assert solve(problem, q).status != Status.SOLVED or np.linalg.norm(solve(problem, q).q[:3] - q[:3]) > 0


# ── moved targets ────────────────────────────────────────────────────────────────────────────────────────────────────
AIMED: dict[str, tuple[Any, Any, Any]] = {
    "At": (At((1, 2, 3)), (4, 5, 6), At((4, 5, 6))),
    "Facing": (Facing(X, per_radian=2), (0, 0, 5), Facing(Z, per_radian=2)),
    "Facing y": (Facing(y=X, per_radian=(3, 2)), (0, 0, 5), Facing(y=Z, per_radian=(3, 2))),
    "Facing both": (Facing(X, Y), [(0, 1, 0), (0, 0, 1)], Facing(Y, Z)),
    "Facing matrix": (Facing(matrix=np.eye(3), per_radian=2), R, Facing(matrix=R, per_radian=2)),
    "Aligned": (Aligned(X, Y, weights=(2, 3)), [(1, 2, 3), (0, 0, 5)], Aligned((1, 2, 3), Z, weights=(2, 3))),
    "Aligned both": (Aligned(X, Y, Z), [(1, 2, 3), (0, 0, 5), X], Aligned((1, 2, 3), Z, X)),
    "Placed": (Placed(np.eye(4), per_radian=3), T, Placed(T, per_radian=3)),
    "AimedAt": (AimedAt((1, 2, 3), 0.5), (4, 5, 6), AimedAt((4, 5, 6), 0.5)),
    "OnLine": (OnLine((1, 2, 3), X), [(4, 5, 6), (0, 2, 0)], OnLine((4, 5, 6), Y)),
    "Beyond": (Beyond((1, 2, 3), X), [(4, 5, 6), (0, 2, 0)], Beyond((4, 5, 6), Y)),
    "Within": (Within(box=0.1, tilt=0.2, per_radian=2), T, Within(T, box=0.1, tilt=0.2, per_radian=2)),
    "Custom": (CUSTOM["Custom"], (0.5, 0.6), Custom(bowl, (0.5, 0.6))),
    "AnyOf": (AnyOf([At(X), At(Y)], (1, 2)), [(0, 0, 1), (0, 0, 2)], AnyOf([At((0, 0, 1)), At((0, 0, 2))], (1, 2))),
}


@pytest.mark.parametrize("name", AIMED)
def test_aimed_elsewhere(name: str):
    goal, target, expected = AIMED[name]
    X_world = somewhere(70)
    assert_allclose(value_at(goal.aimed(target), X_world), value_at(expected, X_world), rtol=1e-14)
    figure, q = floating(X_world)
    problem = Problem(figure, [Task("body", goal, weight=2.0)])
    moved = problem.aimed(target)
    assert_allclose(moved.value(q), 2 * value_at(expected, X_world), rtol=1e-14)
    assert_allclose(problem.value(q), 2 * value_at(goal, X_world), rtol=1e-14)
    for ours, afresh in zip(problem.aimed(target).packed, moved.packed, strict=True):
        assert_array_equal(ours, afresh)  # a problem that is packed already is not packed again, but as if


def test_every_description_of_a_placement():
    turn = Rotation.from_matrix(T[:3, :3])
    xyzw = turn.as_quat()
    for goal in (
        Placed(T[:3, 3], turn),
        Placed(T[:3, 3], quat_xyzw=xyzw),
        Placed(T[:3, 3], quat_wxyz=xyzw[[3, 0, 1, 2]]),
        Placed(T[:3, 3], matrix=T[:3, :3]),
    ):
        assert_allclose(goal.at, T, atol=1e-14)
    assert_allclose(Facing(rotation=turn).matrix, T[:3, :3], atol=1e-14)


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(("goal", "effector"), STRANGERS)
def test_a_goal_refuses_an_effector_that_lacks_what_it_looks_at(goal: str, effector: str):
    with pytest.raises(
        BadValue, match=r"needs a (direction|frame|position), which|the mass centre takes goals in the world"
    ):
        Task(effectors("arm")[effector], GOALS[goal])


NAN = math.nan
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "At NaN": (lambda: At((NAN, 0, 0)), "the position of At must be finite"),
    "At infinity": (lambda: At((math.inf, 0, 0)), "the position of At must be finite"),
    "At a plane": (lambda: At((1, 2)), r"the position of At must have shape \(3,\), not \(2,\)"),
    "Facing nowhere": (lambda: Facing((0, 0, 0)), "the x direction of Facing must not have length zero"),
    "Facing nothing": (lambda: Facing(), "directions x= and y=, or one description"),
    "Facing too much": (lambda: Facing(X, matrix=np.eye(3)), "directions x= and y=, or one description"),
    "Facing a mirror": (lambda: Facing(matrix=np.diag([1, 1, -1])), "the rotation of Facing is a reflection"),
    "Facing angles": (lambda: Facing(angles=3), "Facing does not take angles"),
    "Facing twice": (lambda: Facing(matrix=np.eye(3), rpy=(0, 0, 0)), "one description of the rotation, not 2"),
    "Facing for nothing": (lambda: Facing(X, per_radian=0.0), "per_radian of Facing must be positive"),
    "Facing three ways": (lambda: Facing(X, per_radian=(1, 2, 3)), "per_radian of Facing"),
    "Placed in a mirror": (lambda: Placed(np.diag([1, 1, -1, 1])), "the placement of Placed is a reflection"),
    "Placed NaN": (lambda: Placed(np.full((4, 4), NAN)), "the placement of Placed must be finite"),
    "Placed without a turn": (lambda: Placed((1, 2, 3)), r"a matrix \(4, 4\), or a position \(3,\) and one rotation"),
    "Placed twice": (lambda: Placed(np.eye(4), quat_wxyz=(1, 0, 0, 0)), "Placed takes a matrix"),
    "Placed by a zero": (lambda: Placed((0, 0, 0), quat_wxyz=(0, 0, 0, 0)), "names no rotation"),
    "Placed by words": (lambda: Placed("here"), "Placed"),
    "Placed for NaN": (lambda: Placed(np.eye(4), per_radian=NAN), "per_radian of Placed must be positive"),
    "AimedAt NaN": (lambda: AimedAt((0, 0, NAN)), "the point of AimedAt must be finite"),
    "OnLine without direction": (
        lambda: OnLine((0, 0, 0), (0, 0, 0)),
        "the direction of OnLine must not have length zero",
    ),
    "Beyond NaN": (lambda: Beyond((NAN, 0, 0), Z), "the point of Beyond must be finite"),
    "Within nothing": (lambda: Within(T), r"Within needs a box= \[m\], a tilt= \[rad\], or both"),
    "Within inside out": (lambda: Within(T, box=-0.1), "the box of Within must satisfy lower ≤ upper"),
    "Within too far": (lambda: Within(T, tilt=4.0), "tilt bounds of Within lie between −π and π"),
    "Within NaN": (lambda: Within(T, box=NAN), "the box of Within must be finite"),
    "Within four": (lambda: Within(T, box=(1, 2, 3, 4)), "the box of Within must have shape"),
    "Within words": (lambda: Within(T, box="big"), "the box of Within"),
    "Aligned with nothing": (lambda: Aligned(X), "for a position alone there is At"),
    "Aligned for nothing": (
        lambda: Aligned(X, Y, weights=(1, 0)),
        "the weights of Aligned, of position and orientation,",
    ),
    "Aligned point": (lambda: Task(Point("hand"), Aligned(X, Y)), "Aligned needs a direction"),
    "AnyOf none": (lambda: AnyOf([]), "AnyOf needs goals and as many weights, not 0 and 0"),
    "AnyOf weights": (lambda: AnyOf([At(X)], (1, 2)), "AnyOf needs goals and as many weights, not 1 and 2"),
    "AnyOf for nothing": (lambda: AnyOf([At(X)], (0,)), "a weight of AnyOf must be positive"),
    "AnyOf words": (lambda: Task("hand", AnyOf(["here"])), "goal"),
    "AnyOf relative": (lambda: AnyOf([At(X)], relative_to="hand"), "relative_to"),
    "AnyOf of postures": (lambda: Task("hand", AnyOf([Near([0.0])])), "Near needs a posture"),
    "Near NaN": (lambda: Near([NAN]), "the reference of Near must be finite"),
    "Near weights": (lambda: Near([0, 0], (1, -1)), "the weights of Near must be finite and not negative"),
    "Near other weights": (lambda: Near([0, 0], (1, 1, 1)), "the weights of Near"),
    "Custom NaN": (lambda: Custom(bowl, (NAN, 0)), "the target of Custom must be finite"),
    "aimed At": (lambda: At(X).aimed((1, 2)), "the position of At must have shape"),
    "aimed OnLine": (lambda: OnLine(X, Y).aimed((1, 2, 3)), r"the target of OnLine must have shape \(2, 3\)"),
    "aimed Facing": (lambda: Facing(X, Y).aimed(X), r"the target of Facing must have shape \(2, 3\)"),
    "aimed Custom": (lambda: CUSTOM["Custom"].aimed((1, 2, 3)), r"the target of Custom must have shape \(2,\)"),
    "aimed AnyOf": (lambda: AnyOf([At(X)]).aimed([X, Y]), "AnyOf has 1 goals but 2 targets"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str):
    make, message = REFUSED[case]
    with pytest.raises(Error, match=message):
        make()


def test_a_figure_without_mass_has_no_mass_centre_to_place():
    with pytest.raises(BadValue, match="figure 'four-bar' has no mass"):
        Problem(FOUR_BAR, [Task(MassCentre(), At(X))])


def test_turned_is_what_the_oracle_thinks():
    figure = Figure("b", ball("b", None, "zyx"))
    assert_allclose(figure.placement([0.3, 0, 0], "b")[:3, :3], turned(Z, 0.3), atol=1e-16)
