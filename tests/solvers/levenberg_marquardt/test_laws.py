"""Laws of the compiled search on random problems, checked without it: limits, status, budgets, and that all doors agree."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from supple import (
    AimedAt,
    AnyOf,
    At,
    BadValue,
    Beyond,
    Direction,
    Facing,
    Figure,
    Frame,
    Gap,
    LevenbergMarquardt,
    Limits,
    Multistart,
    Newton,
    OnLine,
    OnPlane,
    Placed,
    Point,
    Problem,
    Solution,
    Status,
    Task,
    Within,
    ball,
    fixed,
    follow,
    hinge,
    load,
    prepare,
    solve,
    solve_many,
)
from supple.geometry.placements import Z
from supple.kernels.layouts import FREE_ROOT, RESIDUALS
from supple.problem.task import met
from supple.solvers.levenberg_marquardt.scratch import open_search_scratch
from tests.tables.figures import FIGURES, FIXED, TREES

CATALOGUE = {name: load(name) for name in ("panda", "ur5", "human", "hand", "stewart", "baxter")}
MANY = [*CATALOGUE.values(), *(f for f in FIGURES.values() if f.limits.is_box)]
SOLVERS = [Multistart(attempts=12), LevenbergMarquardt(), LevenbergMarquardt(attempts=3, steps=30)]
BATCHES = range(6)
EACH = 60  # problems in a batch


def inside(figure: Figure, rng: np.random.Generator) -> np.ndarray:
    """A posture anywhere within the limits."""
    lower, upper = figure.limits.lower, figure.limits.upper
    q = rng.normal(size=figure.size)
    both = np.isfinite(lower) & np.isfinite(upper)
    q[both] = lower[both] + rng.random(int(both.sum())) * (upper - lower)[both]
    return figure.limits.project(q)


def random_goal(X: np.ndarray, segment: str, rng: np.random.Generator, far: bool, relative: str | None) -> Any:
    """An effector on a segment and a goal that holds at the placement X, or, if `far`, somewhere else."""
    p = X[:3, 3] + (rng.normal(size=3) * rng.choice([0.3, 3.0]) if far else 0.0)
    R = X[:3, :3] @ (Rotation.from_rotvec(rng.normal(size=3)).as_matrix() if far else np.eye(3))
    point, frame, line = Point(segment), Frame(segment), Direction(segment)
    flat = (OnLine, OnPlane, Beyond)[rng.integers(3)]
    b, t = rng.uniform(0.0, 0.1, 3), rng.uniform(0.0, 0.3, 3)
    at = np.block([[R, p[:, None]], [np.zeros(3), 1.0]])
    makers: list[Any] = [
        lambda: (point, At(p, relative_to=relative)),
        lambda: (frame, Placed(at, relative_to=relative)),
        lambda: (line, Facing(R[:, 0], relative_to=relative)),
        lambda: (frame, Facing(matrix=R, relative_to=relative)),
        lambda: (frame, Facing(R[:, 0], R[:, 1], relative_to=relative)),
        lambda: (line, AimedAt(p + R[:, 0], relative_to=relative)),
        lambda: (point, flat(p, rng.normal(size=3), relative_to=relative)),
        lambda: (frame, Within(at, box=(-b, b), tilt=(-t, t), relative_to=relative)),
        lambda: (frame, AnyOf([Placed(at, relative_to=relative), At(p + rng.normal(size=3), relative_to=relative)])),
    ]
    return makers[rng.integers(len(makers))]()


def random_task(figure: Figure, q: np.ndarray, rng: np.random.Generator, far: bool, ranked: bool, k: int) -> Task:
    """One task of any kind."""
    segments = figure.segments
    segment = segments[rng.integers(len(segments))] if rng.random() < 0.5 else segments[-1]
    relative = segments[rng.integers(len(segments))] if rng.random() < 0.3 else None
    relative = None if relative == segment else relative
    X = figure.placement(q, segment)
    if relative is not None:
        X = np.linalg.inv(figure.placement(q, relative)) @ X
    effector, goal = random_goal(X, segment, rng, far, relative)
    if relative is not None and rng.random() < 0.3:
        effector, goal = Gap(Point(relative), Point(segment)), At(X[:3, 3])
    tolerance, angle = 10.0 ** rng.uniform(-9, -2), 10.0 ** rng.uniform(-8, -2)
    hard, priority = (bool(rng.random() < 0.4), int(rng.integers(3))) if ranked else (False, 0)
    weight = float(10.0 ** rng.uniform(-2, 2)) if rng.random() < 0.4 else 1.0
    names = {"name": f"task {k}", "tolerance": float(tolerance), "angle_tolerance": float(angle)}
    return Task(effector, goal, weight=weight, hard=hard, priority=priority, **names)


def random_problem(seed: int, ranked: bool) -> tuple[Problem, np.ndarray, Any]:
    """A problem, a start that may be outside the limits or on them, and a solver."""
    rng = np.random.default_rng(seed)
    figure = MANY[rng.integers(len(MANY))]
    q, far = inside(figure, rng), bool(rng.random() < 0.35)
    tasks = [random_task(figure, q, rng, far, ranked, k) for k in range(int(rng.integers(1, 5)))]
    limits = None
    if rng.random() < 0.3:
        lower, upper, r = figure.limits.lower.copy(), figure.limits.upper.copy(), rng.random(figure.size)
        lower = np.where(r < 0.2, q, np.where(r < 0.5, np.maximum(lower, q - 0.3), lower))
        upper = np.where(r < 0.2, q, np.where((r > 0.3) & (r < 0.5), np.minimum(upper, q + 0.3), upper))
        limits = Limits(lower, upper)
    rigidity = rng.choice([0.0, 0.0, 0.5, 0.9, 1.0], size=figure.size) if rng.random() < 0.2 else None
    problem = Problem(figure, tasks, limits, rigidity)
    assert problem.limits is not None
    starts = [
        figure.rest,
        inside(figure, rng),
        q + 2.0 * rng.normal(size=figure.size),
        np.where(np.isfinite(problem.limits.lower), problem.limits.lower, 0.5 * np.pi),
    ]
    return problem, starts[rng.integers(4)], SOLVERS[rng.integers(3)]


def is_legal(problem: Problem, q: np.ndarray) -> bool:
    """Whether a posture is inside the limits, exactly."""
    limits = problem.limits
    assert limits is not None
    return bool(np.isfinite(q).all() and (q >= limits.lower).all() and (q <= limits.upper).all())


def is_met(problem: Problem, q: np.ndarray) -> bool:
    """Whether every task is met, by the figure alone."""
    return all(met(task, miss) for task, miss in zip(problem.all_tasks, problem.misses(q), strict=True))


def downhill(problem: Problem, q: np.ndarray, step: float = 1e-4) -> float:
    """The part of the objective that a small legal step against the gradient takes away."""
    limits, here = problem.limits, problem.evaluate(q, hessian=False)
    value, gradient = here.value, here.gradient
    assert limits is not None
    assert gradient is not None
    pressed = ((q <= limits.lower) & (gradient > 0.0)) | ((q >= limits.upper) & (gradient < 0.0))
    g = np.where(pressed | (problem.free == 0.0), 0.0, gradient)
    most = float(np.abs(g).max(initial=0.0))
    if most == 0.0:
        return 0.0
    return max((value - problem.value(limits.project(q - h * g / most))) / value for h in (step, 0.01 * step))


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("ranked", [False, True])
def test_answers_are_legal_truthful_and_no_worse_than_the_start(batch: int, ranked: bool) -> None:
    for seed in range(EACH * batch, EACH * (batch + 1)):
        problem, start, solver = random_problem(seed, ranked)
        assert problem.limits is not None
        packs = [a.copy() for a in problem.packed]
        answer = solve(problem, start, solver=solver, seed=seed % 3)
        begun = problem.limits.project(start)
        assert is_legal(problem, answer.q), seed
        assert answer.ok == is_met(problem, answer.q) == (answer.status is Status.SOLVED), seed
        assert np.array_equal(answer.q[problem.free == 0.0], begun[problem.free == 0.0]), seed
        assert all(np.array_equal(a, b) for a, b in zip(packs, problem.packed, strict=True)), seed
        if len(set(problem.ranks)) == 1 and not answer.ok:
            assert problem.value(answer.q) <= problem.value(begun) * (1.0 + 1e-9), seed
        again = solve(problem, start, solver=solver, seed=seed % 3)
        assert np.array_equal(again.q, answer.q), seed
        assert again.evaluations == answer.evaluations, seed
        hurried = solve(problem, start, solver=solver, seed=17, budget=1 + seed % 50)
        assert is_legal(problem, hurried.q), seed
        assert hurried.evaluations <= 1 + seed % 50, seed


@pytest.mark.parametrize("batch", BATCHES)
def test_nearest_is_stationary(batch: int) -> None:
    for seed in range(EACH * batch, EACH * (batch + 1)):
        problem, start, solver = random_problem(seed, ranked=False)
        assert problem.limits is not None
        period = np.where(problem.figure.turning, 2.0 * np.pi, np.inf)
        if len(set(problem.ranks)) > 1 or (problem.limits.upper - problem.limits.lower >= period).any():
            continue  # seams are looked at below
        answer = solve(problem, start, solver=solver)
        if answer.status is Status.NEAREST:
            assert downhill(problem, answer.q) < 1e-6, seed


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("ranked", [False, True])
def test_a_prepared_query_is_the_solve_bit_for_bit(batch: int, ranked: bool) -> None:
    rng = np.random.default_rng(batch)
    for seed in range(EACH * batch, EACH * (batch + 1)):
        problem, start, solver = random_problem(seed, ranked)
        query = prepare(problem, solver=solver)
        for call in query._calls:
            known = ("settings", "box")
            for name, table in open_search_scratch(call.I, call.scratch)._asdict().items():
                if name not in known:
                    table[...] = rng.normal(size=table.shape)  # what another search might have left
        one, two = solve(problem, start, solver=solver), query(None, start)
        assert np.array_equal(one.q, two.q), seed
        assert one.status is two.status, seed
        assert (one.evaluations, one.iterations) == (two.evaluations, two.iterations), seed


def placed_pair(seed: int) -> tuple[Problem, list[list[np.ndarray]]]:
    """Two arms, a placement for one and a position for the other, and some targets for both."""
    figure, rng = CATALOGUE["baxter"], np.random.default_rng(seed)
    tasks = [Task(Frame("left_hand"), Placed(np.eye(4))), Task(Point("right_hand"), At((0.5, -0.5, 0.5)))]
    Q = [inside(figure, rng) for _ in range(20)]
    targets = [[figure.placement(q, "left_hand"), figure.placement(q, "right_hand")[:3, 3]] for q in Q]
    return Problem(figure, tasks), targets


def test_every_door_gives_the_same_bits_in_any_order_and_from_threads() -> None:
    problem, targets = placed_pair(0)
    query, singles = prepare(problem), [solve(problem.aimed(*t)) for t in targets]

    def ask(k: int) -> Solution:
        for bad in ([np.diag([1.0, 1.0, -1.0, 1.0]), targets[k][1]], [targets[k][0], (np.nan, 0, 0)], [targets[k][0]]):
            with pytest.raises(BadValue):
                query(bad)
        assert query([None, targets[k][1]]).problem.tasks[0].goal is problem.tasks[0].goal
        return query(targets[k])

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, range(len(targets))))
    many = solve_many(problem, [np.array([t[i] for t in targets]) for i in range(2)], threads=3)
    for single, answer, row in zip(singles, answers, many.q, strict=True):
        assert np.array_equal(single.q, answer.q)
        assert np.array_equal(single.q, row)
    assert [s.ok for s in singles] == [a.ok for a in answers] == many.ok.tolist()


@pytest.mark.parametrize("name", ["panda", "ur5", "baxter"])
def test_dual_and_primal_forms_take_the_same_step(name: str) -> None:
    figure = CATALOGUE[name]
    segment = figure.segments[-1]
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, start = figure.placement(inside(figure, rng), segment), inside(figure, rng)
        tasks = [Task(Frame(segment), Placed(X))]
        idle = [Task(Point(segment), Beyond(X[:3, 3] - (0.0, 0.0, 1e4), (0.0, 0.0, 1.0)))] * 4
        few, many = Problem(figure, tasks), Problem(figure, tasks + idle)
        rows, more = int(few.packed[0][RESIDUALS]), int(many.packed[0][RESIDUALS])  # the order of a dual system
        share = more / rows  # of the damping, which counts all rows
        assert rows <= figure.size < more
        a = solve(few, start, solver=LevenbergMarquardt(steps=1, factor=0.0, floor=1e-3)).q
        b = solve(many, start, solver=LevenbergMarquardt(steps=1, factor=0.0, floor=1e-3 * share)).q
        assert np.abs(a - b).max() < 1e-6


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 1e6])
def test_figures_of_any_size(scale: float) -> None:
    parts = [*hinge("a", None, Z, limits=(-2, 2))]
    for name, above in (("b", "a"), ("c", "b")):
        parts += hinge(name, above, (0, 1, 0), at=(0, 0, scale), limits=(-2, 2))
    figure = Figure("any size", [*parts, *fixed("tip", "c", at=(0, 0.5 * scale, scale))])
    for seed in range(20):
        q = np.random.default_rng(seed).uniform(-1.5, 1.5, 3)
        task = Task(Point("tip"), At(figure.placement(q, "tip")[:3, 3]), tolerance=1e-6 * scale)
        assert solve(Problem(figure, [task])).ok


@pytest.mark.parametrize("weight", [1e-100, 1e-12, 1e12, 1e100])
def test_one_weight_changes_nothing(weight: float) -> None:
    figure = CATALOGUE["panda"]
    for seed in range(10):
        X = figure.placement(inside(figure, np.random.default_rng(seed)), "panda_hand")
        assert solve(Problem(figure, [Task(Frame("panda_hand"), Placed(X), weight=weight)])).ok


def test_what_nothing_moves_is_nearest_at_once() -> None:
    for problem in (
        Problem(FIXED, [Task(Point("b"), At((1, 1, 1)))]),
        Problem(CATALOGUE["panda"], [Task(Point("panda_link0"), At((1, 1, 1)))]),
        Problem(CATALOGUE["panda"], [Task(Point("panda_link0"), At((1e12, 1, 1)))]),
        Problem(CATALOGUE["panda"], [Task(Point("panda_hand"), At((1, 1, 1)))], rigidity=np.ones(8)),
    ):
        for solver in (Multistart(), LevenbergMarquardt(factor=0.0)):
            answer = solve(problem, solver=solver)
            assert answer.status is Status.NEAREST
            assert np.array_equal(answer.q, problem.figure.rest)
    assert solve(Problem(CATALOGUE["panda"], [])).status is Status.SOLVED


def test_balls_follow_within_their_speeds() -> None:
    for name in ("ball zyx", "ball xyx"):
        figure, rng = FIGURES[name], np.random.default_rng(5)
        Q = np.cumsum(0.1 * rng.normal(size=(60, figure.size)), axis=0)
        targets = figure.placement(Q, "tool")
        path = follow(Problem(figure, [Task(Frame("tool"), Placed(targets[0]))]), targets, start=Q[0], dt=0.01, speed=5)
        assert np.abs(np.diff(path.q, axis=0)).max() <= 0.05 * (1.0 + 1e-12)


# ── corners ────────────────────────────────────────────────────────────────────────────────────────
def test_a_target_beyond_all_numbers_gets_a_legal_answer() -> None:
    problem = Problem(CATALOGUE["panda"], [Task(Point("panda_hand"), At((1e200, 0, 0)))])
    with np.errstate(over="ignore"):
        assert is_legal(problem, solve(problem).q)
        assert np.array_equal(prepare(problem)((1e200, 0, 0)).q, solve(problem).q)


def test_a_free_root_follows_within_its_speeds() -> None:
    figure, names, rng = TREES["twins"], ("left hand", "right hand", "trunk"), np.random.default_rng(0)
    problem = Problem(figure, [Task(Point(name), At((0, 0, 0))) for name in names])
    assert problem.packed[0][FREE_ROOT] > 0
    Q = np.cumsum(0.3 * rng.normal(size=(10, figure.size)), axis=0)
    Q = np.array([figure.limits.project(q) for q in Q])
    targets = [figure.placement(Q, name)[:, :3, 3] for name in names]
    path = follow(problem, targets, start=Q[0], dt=0.01, speed=2.0)
    assert np.abs(np.diff(path.q, axis=0)).max() <= 0.02 * (1.0 + 1e-12)


def test_budgets_are_exact_where_charts_are_recentred() -> None:
    figure = FIGURES["ball zyx"]
    for seed in range(40):
        rng = np.random.default_rng(seed)
        start, goal = 2.0 * rng.normal(size=3), figure.placement(2.0 * rng.normal(size=3), "tool")
        problem = Problem(figure, [Task(Frame("tool"), Placed(goal))])
        for budget in range(1, solve(problem, start).evaluations + 1):
            assert solve(problem, start, budget=budget).evaluations <= budget


def test_budgets_are_exact_with_ranks() -> None:
    figure, solver = CATALOGUE["panda"], LevenbergMarquardt()
    for seed in range(4):
        rng = np.random.default_rng(seed)
        hard = Task(Point("panda_hand"), At(rng.normal(size=3)), hard=True)
        problem = Problem(figure, [hard, Task(Point("panda_link5"), At(rng.normal(size=3)))])
        for budget in range(1, 300):
            assert solve(problem, solver=solver, budget=budget).evaluations <= budget


def test_a_query_closes_loops_without_tasks() -> None:
    assert prepare(Problem(CATALOGUE["stewart"], []))().ok


def test_distinct_solutions_are_different_postures() -> None:
    figure = FIGURES["ball zyx"]
    goal = figure.placement(np.array([1.0, 0.4, -0.8]), "tool")
    answers = solve(Problem(figure, [Task(Frame("tool"), Placed(goal))]), [0.3, 0.2, 0.1], distinct=6)
    P = figure.placement(np.array([a.q for a in answers]), "tool")
    assert all(np.abs(P[i] - P[j]).max() > 0.01 for i in range(len(P)) for j in range(i))


@pytest.mark.parametrize(("limit", "start", "wanted"), [(np.pi, 2.5, -2.5), (2.0 * np.pi, 6.0, 0.5)])
def test_nearest_is_stationary_at_a_seam(limit: float, start: float, wanted: float) -> None:
    figure = Figure("dial", [*hinge("j", None, Z, limits=(-limit, limit)), *fixed("tip", "j", at=(1, 0, 0))])
    problem = Problem(figure, [Task(Point("tip"), At((np.cos(wanted), np.sin(wanted), 0)))])
    assert solve(problem, [start], solver=LevenbergMarquardt()).ok


def test_a_query_with_another_solver_answers_as_solve_does() -> None:
    figure = Figure("ball", [*ball("j", None, "zyx"), *fixed("tool", "j", at=(0.1, 0.2, 0.3))])
    goal, start = figure.placement(np.array([1.0, 0.4, -0.8]), "tool"), np.array([0.3, 0.5 * np.pi, 0.2])
    problem = Problem(figure, [Task(Frame("tool"), Placed(goal))])
    one, two = solve(problem, start, solver=Newton()), prepare(problem, solver=Newton())(goal, start)
    assert np.array_equal(one.q, two.q)


def test_a_small_budget_never_makes_things_worse_than_the_start() -> None:
    figure = TREES["twins"]
    for seed in range(60):
        rng = np.random.default_rng(seed)
        q, start = inside(figure, rng), inside(figure, rng)
        names = ("left hand", "right hand", "trunk")
        tasks = [Task(Point(s), At(figure.placement(q, s)[:3, 3])) for s in names]
        plane = OnPlane(figure.placement(start, "left elbow")[:3, 3], rng.normal(size=3))
        problem = Problem(figure, [*tasks, Task(Point("left elbow"), plane, weight=1e3)])
        answer = solve(problem, start, budget=2)
        assert answer.ok or problem.value(answer.q) <= problem.value(start) * (1.0 + 1e-9)


def test_nearest_is_stationary_for_a_target_far_away() -> None:
    figure = CATALOGUE["panda"]
    answer = solve(Problem(figure, [Task(Point("panda_hand"), At((1e9, 1e9, 0)))]))
    g = answer.problem.evaluate(answer.q, hessian=False).gradient
    assert answer.status is not Status.NEAREST or g is None or np.abs(g[:6]).max() < 1e-3 * 1e9


def test_what_is_locked_at_a_limit_stays() -> None:
    for lower in np.random.default_rng(0).uniform(-3.0, 3.0, 40):
        parts = [*hinge("a", None, Z, limits=(lower, np.inf)), *hinge("b", "a", Z, at=(1, 0, 0), limits=(-1, 1))]
        figure = Figure("two", [*parts, *fixed("tip", "b", at=(1, 0, 0))])
        problem = Problem(figure, [Task(Point("tip"), At((5, 1, 0)))], rigidity={"a": 1.0})
        assert solve(problem, [lower, 0.2], solver=LevenbergMarquardt()).q[0] == lower
