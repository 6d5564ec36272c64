"""Keeping clear of obstacles and of oneself: hard, exact, and judged by distances computed another way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple
from supple import At, Ball, Box, Capsule, Clearance, Placed, Point, Polytope, Problem, Status, Task
from supple.errors import BadValue, Refused, UnknownName
from supple.geometry.distances import distance_between

PANDA = supple.load("panda").with_spheres(
    {
        "panda_link3": [(0, 0, 0, 0.08)],
        "panda_link4": [(0, 0, 0, 0.08)],
        "panda_link5": [(0, 0, -0.12, 0.07), (0, 0, 0, 0.07)],
        "panda_link7": [(0, 0, 0, 0.07)],
        "panda_hand": [(0, 0, 0.05, 0.06)],
    }
)
HUMAN = supple.load("human", fingers=False)
TIP = Point("panda_hand", (0, 0, 0.1))
FLOOR = Polytope.half_space((0, 0, 0), (0, 0, 1))


def depth(problem: Problem, q: np.ndarray) -> float:
    """How deep the worst pair of all is in the other, margins included; every pair is measured, none left out as far."""
    worst, frames = 0.0, problem.figure.placements(q)
    for task in problem.clear:
        for bar, other, keep in task.goal.pairs:
            there = frames[other.segment] if other.segment is not None else np.eye(4)
            apart = distance_between(bar.shape, other.shape, frames[bar.segment], there)
            worst = max(worst, keep - bar.core.radius - apart)
    return worst


def audit(solution: supple.Solution) -> None:
    problem = solution.problem
    assert problem.limits is not None
    assert problem.limits.contains(solution.q)
    deepest = depth(problem, solution.q)
    told = max(
        (e.metres for t, e in zip(problem.all_tasks, solution.errors, strict=True) if t in problem.clear), default=0
    )
    assert told == pytest.approx(deepest, abs=1e-9)
    assert not solution.ok or deepest <= 1e-5


@pytest.mark.parametrize("seed", range(12))
def test_an_arm_finds_its_way_around(seed: int):
    """Targets from postures that are clear: each is reached with everything clear, though the plain answer may not be."""
    rng = np.random.default_rng(seed)
    things = {
        "post": Capsule(0.06, 0.8, supple.place((0.35, 0.25, 0.4))),
        "crate": Box((0.3, -0.5, 0.0), (0.6, -0.2, 0.35)),
        "lamp": Ball((0.2, 0.0, 1.0), 0.12),
        "table": Polytope.half_space((0, 0, -0.05), (0, 0, 1)),
    }
    while True:
        q = rng.uniform(PANDA.lower, PANDA.upper)
        problem = Problem(PANDA, [Task("panda_hand", Placed(PANDA.placement(q, "panda_hand")))], obstacles=things)
        if depth(problem, q) == 0.0:
            break
    solution = supple.solve(problem)
    audit(solution)
    assert solution.ok, solution.report()


def test_a_target_inside_an_obstacle_is_approached_up_to_its_surface():
    ball = Ball((0.5, 0.0, 0.5), 0.15)
    reach = Task(Point("panda_hand", (0, 0, 0.05)), At(ball.centre))
    solution = supple.solve(Problem(PANDA, [reach], obstacles={"ball": ball}))
    audit(solution)
    assert solution.status is Status.NEAREST
    assert "panda_hand" in solution.reason
    assert solution.errors[0].metres == pytest.approx(0.15 + 0.06, abs=1e-4)


def test_margins_are_kept():
    ball = Ball((0.5, 0.0, 0.5), 0.15)
    reach = Task(Point("panda_hand", (0, 0, 0.05)), At(ball.centre))
    problem = Problem(PANDA, [reach], obstacles=[ball], clearance=Clearance(margin=0.03))
    solution = supple.solve(problem)
    assert solution.errors[0].metres == pytest.approx(0.15 + 0.06 + 0.03, abs=1e-4)


def test_pairs_may_be_ignored_by_name():
    ball = Ball((0.5, 0.0, 0.5), 0.1)
    reach = Task(Point("panda_hand", (0, 0, 0.05)), At(ball.centre))
    ignoring = [("panda_hand", "ball"), ("ball", "panda_link7")]
    solution = supple.solve(Problem(PANDA, [reach], obstacles={"ball": ball}, clearance=Clearance(ignoring=ignoring)))
    assert solution.ok


def folded(**more: Any) -> Problem:
    """Both hands wanted in the middle of the belly."""
    inside = np.array([0.0, 0.0, 1.15])
    tasks = [Task(Point(f"hand_{s}.palm"), At(inside)) for s in "lr"]
    feet = [Task(f"foot_{s}", Placed(HUMAN.placement(HUMAN.rest, f"foot_{s}")), hard=True) for s in "lr"]
    return Problem(HUMAN, [*tasks, *feet], **more)


def test_hands_stay_outside_the_body():
    through = supple.solve(folded())
    apart = supple.solve(folded(clearance=Clearance(itself=True)))
    audit(apart)
    assert depth(apart.problem, through.q) > 0.02
    assert depth(apart.problem, apart.q) <= 1e-5


def test_what_touches_at_rest_is_known_and_left_alone():
    touching = HUMAN.touching()
    assert all(a in HUMAN.segments and b in HUMAN.segments for a, b in touching)
    problem = Problem(HUMAN, [], clearance=Clearance(itself=True))
    pairs = {frozenset((p.bar.segment, p.other.segment)) for task in problem.clear for p in task.goal.pairs}
    assert not pairs & {frozenset(pair) for pair in touching}
    assert depth(problem, HUMAN.rest) == 0.0


def test_residuals_are_the_oracles_distances_and_their_slopes_are_right():
    rng = np.random.default_rng(0)
    things = {"crate": Box((0.2, -0.2, 0.2), (0.5, 0.2, 0.6)), "ball": Ball((0, 0.3, 0.7), 0.3), "floor": FLOOR}
    problem = Problem(PANDA, [], obstacles=things, clearance=Clearance(margin=0.05, itself=True))
    pairs = [pair for task in problem.clear for pair in task.goal.pairs]
    checked = 0
    for _ in range(30):
        q = rng.uniform(PANDA.lower, PANDA.upper)
        rho, J = problem.jacobian(q)
        frames = PANDA.placements(q)
        for row, (bar, other, keep) in enumerate(pairs):
            there = frames[other.segment] if other.segment is not None else np.eye(4)
            apart = distance_between(bar.shape, other.shape, frames[bar.segment], there)
            assert rho[row] == pytest.approx(max(0.0, keep - bar.core.radius - apart), abs=1e-9)
        for i in range(PANDA.size):
            h = 1e-6 * np.eye(PANDA.size)[i]
            ahead, behind = problem.jacobian(q + h)[0], problem.jacobian(q - h)[0]
            smooth = (rho > 1e-4) & (np.abs(ahead + behind - 2.0 * rho) < 1e-10)
            slope = (ahead - behind)[smooth] / 2e-6
            assert np.abs(slope - J[smooth, i]).max(initial=0.0) < 1e-6
            checked += int(smooth.sum())
    assert checked > 500


def test_the_same_answer_alone_prepared_and_in_a_batch():
    rng = np.random.default_rng(3)
    T = PANDA.placement(rng.uniform(PANDA.lower, PANDA.upper, (8, PANDA.size)), "panda_hand")
    problem = Problem(PANDA, [Task("panda_hand", Placed(T[0]))], obstacles=[Ball((0.4, 0.0, 0.6), 0.15)])
    query, many = supple.prepare(problem), supple.solve_many(problem, T, threads=2)
    for i in range(len(T)):
        alone = supple.solve(problem.aimed(T[i]))
        audit(alone)
        np.testing.assert_array_equal(alone.q, query(T[i]).q)
        np.testing.assert_array_equal(alone.q, many.q[i])
        assert many.ok[i] == alone.ok == query(T[i]).ok


REFUSED = {
    "shape": (lambda: Problem(PANDA, [], obstacles=["cone"]), BadValue, "'obstacle 1' must be a Ball"),
    "no sequence": (lambda: Problem(PANDA, [], obstacles=3), BadValue, "must be a sequence"),
    "margin": (lambda: Clearance(margin=-1), BadValue, "not negative"),
    "pair": (lambda: Clearance(ignoring=["hand"]), BadValue, "pairs of names"),  # type: ignore[list-item]
    "name": (lambda: Problem(PANDA, [], clearance=Clearance(ignoring=[("panda_hnd", "x")])), UnknownName, "panda_hand"),
    "bare": (lambda: Problem(supple.load("ur5"), [], obstacles=[Ball((0, 0, 0), 1)]), BadValue, "with_spheres"),
    "solver": (
        lambda: supple.solve(Problem(PANDA, [], obstacles=[Ball((9, 9, 9), 1)]), solver=supple.ActiveSet()),
        Refused,
        "it keeps clear of obstacle 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str):
    make, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        make()


def test_preferred_room_is_kept_where_there_is_some():
    """A gap of 22 cm leaves links of radius 7 cm 4 cm on each side; one of 15 cm does not, and that is no failure."""
    for gap, least in ((0.22, 0.03), (0.15, 0.0)):
        walls = {
            "left": Box((0.5, gap / 2, 0.2), (0.8, gap / 2 + 0.1, 0.9)),
            "right": Box((0.5, -gap / 2 - 0.1, 0.2), (0.8, -gap / 2, 0.9)),
        }
        reach = Task(Point("panda_hand", (0, 0, 0.05)), At((0.55, 0.0, 0.5)), tolerance=0.02)
        solution = supple.solve(Problem(PANDA, [reach], obstacles=walls, clearance=Clearance(preferred=0.03)))
        audit(solution)
        assert solution.ok
        assert depth(Problem(PANDA, [reach], obstacles=walls, clearance=Clearance(margin=least)), solution.q) <= 1e-5


def test_preferred_room_of_a_person_and_of_a_query():
    """A free root is re-centred on the way; a prepared problem answers as `solve` does."""
    post = Capsule(0.1, 2.0, supple.place((0.45, -0.2, 1.0)))
    reach = Task(Point("hand_r.palm"), At((0.75, -0.2, 1.1)))
    start = np.array(HUMAN.rest)
    start[HUMAN.coordinates.index("pelvis.y")] = 1.5
    problem = Problem(HUMAN, [reach], obstacles={"post": post}, clearance=Clearance(preferred=0.03))
    solution = supple.solve(problem, start=start)
    audit(solution)
    assert solution.ok
    assert (
        depth(Problem(HUMAN, [reach], obstacles={"post": post}, clearance=Clearance(margin=0.03)), solution.q) <= 1e-5
    )
    assert np.array_equal(supple.prepare(problem)(None, start).q, solution.q)


def test_preferred_room_is_spent_from_one_allowance():
    reach = Task(Point("panda_hand"), At((2.0, 0.0, 0.5)))
    problem = Problem(PANDA, [reach], obstacles=[Ball((0.5, 0, 0.5), 0.1)], clearance=Clearance(preferred=0.05))
    solution = supple.solve(problem, budget=40)
    assert solution.status is Status.STOPPED
    assert solution.evaluations <= 41
    with pytest.raises(Refused, match="preferred"):
        supple.solve_many(problem, np.zeros((2, 3)))
    with pytest.raises(BadValue, match="preferred"):
        Clearance(preferred=-0.1)
