"""Prepared queries: the same answers as `solve`, every check, and nothing left over from one call to the next."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import supple
from supple import AnyOf, At, OnLine, Placed, Point, Problem, Status, Task
from supple.errors import BadValue, Error, Refused
from supple.problem.task import met

PANDA, HAND = supple.load("panda"), "panda_hand"
RNG = np.random.default_rng(3)
POSTURES = RNG.uniform(PANDA.lower, PANDA.upper, (200, PANDA.size))
TARGETS = PANDA.placement(POSTURES, HAND)
PROBLEM = Problem(PANDA, [Task(HAND, Placed(TARGETS[0]))])


def audit(solution: supple.Solution) -> None:
    """What the answer says of itself is what an independent look says."""
    problem = solution.problem
    assert problem.limits is not None
    assert problem.limits.contains(solution.q)
    fine = all(met(t, m) for t, m in zip(problem.all_tasks, problem.misses(solution.q), strict=True))
    assert solution.ok == fine == (solution.status is Status.SOLVED)


def test_a_query_answers_as_solve_does_bit_for_bit():
    query = supple.prepare(PROBLEM)
    for target in TARGETS[:50]:
        one, other = query(target), supple.solve(PROBLEM.aimed(target))
        audit(one)
        assert_array_equal(one.q, other.q)
        assert (one.status, one.iterations, one.evaluations) == (other.status, other.iterations, other.evaluations)
        assert one.reason == other.reason


def test_every_reachable_pose_is_solved():
    query = supple.prepare(PROBLEM)
    assert all(query(target).ok for target in TARGETS)


def test_the_short_form_is_the_same():
    for target in TARGETS[:20]:
        assert_array_equal(supple.solve(PANDA, {HAND: Placed(target)}).q, supple.solve(PROBLEM.aimed(target)).q)


def test_unreachable_targets_end_in_the_nearest_posture_and_say_so():
    query = supple.prepare(Problem(PANDA, [Task(Point(HAND), At((0, 0, 1)))]))
    solution = query((3.0, 0.0, 0.5))
    audit(solution)
    assert solution.status is Status.NEAREST
    assert "panda_hand At" in solution.reason
    assert solution.errors[0].metres > 1.0


def test_an_answer_does_not_change_with_the_array_it_was_asked_with():
    query, target = supple.prepare(PROBLEM), TARGETS[1].copy()
    solution = query(target)
    target[:3, 3] += 1.0
    audit(solution)
    assert solution.ok


def test_answers_do_not_depend_on_earlier_calls_or_failed_ones():
    query = supple.prepare(PROBLEM)
    first = query(TARGETS[5])
    for target in TARGETS[6:20]:
        query(target, start=first.q)
    with pytest.raises(Error):
        query(np.full((4, 4), np.nan))
    again = query(TARGETS[5])
    assert_array_equal(first.q, again.q)
    assert first.evaluations == again.evaluations


def test_none_keeps_a_tasks_own_target():
    tasks = [Task(Point(HAND), At((0.4, 0.1, 0.6))), Task(Point("panda_link4"), OnLine((0, 0, 0.5), (0, 0, 1)))]
    query = supple.prepare(Problem(PANDA, tasks))
    query([(0.3, 0.2, 0.5), [(0.1, 0, 0.5), (0, 0, 1)]])
    assert_array_equal(query([None, None]).q, supple.solve(Problem(PANDA, tasks)).q)
    assert_array_equal(query().q, supple.solve(Problem(PANDA, tasks)).q)


def test_a_warm_start_is_used_and_one_beyond_the_limits_projected():
    query = supple.prepare(PROBLEM)
    assert query(TARGETS[3], start=query(TARGETS[3]).q).evaluations == 1
    audit(query(TARGETS[3], start=PANDA.upper + 1.0))


def test_rotations_rounded_to_six_digits_are_cleaned_as_ever():
    query = supple.prepare(PROBLEM)
    target = TARGETS[7].round(6)
    assert_array_equal(query(target).q, supple.solve(PROBLEM.aimed(target)).q)
    assert_array_equal(supple.solve_many(PROBLEM, target[None]).q[0], query(target).q)


def test_threads_share_a_query():
    query = supple.prepare(PROBLEM)
    alone = [query(t).q for t in TARGETS]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda t: query(t).q, TARGETS))
    assert_array_equal(alone, together)


REFLECTION = np.diag([1.0, 1.0, -1.0, 1.0])
BAD_TARGETS = {
    "shape": (np.zeros(3), "shape"),
    "words": ("here", "numbers"),
    "nan": (np.full((4, 4), np.nan), "finite"),
    "infinite": (np.vstack([np.eye(4)[:2], [0, 0, 1, np.inf], [0, 0, 0, 1]]), "finite"),
    "reflection": (REFLECTION, "reflection"),
    "scaled": (2.0 * np.eye(4), "last row|not a rotation"),
}


@pytest.mark.parametrize("case", BAD_TARGETS)
def test_bad_targets_are_refused_by_name(case: str):
    target, message = BAD_TARGETS[case]
    query = supple.prepare(PROBLEM)
    with pytest.raises(BadValue, match=message):
        query(target)
    assert query(TARGETS[0]).ok


@pytest.mark.parametrize("start", [np.zeros(3), np.full(PANDA.size, np.nan), "rest"])
def test_bad_starts_are_refused(start: object):
    with pytest.raises(Error):
        supple.prepare(PROBLEM)(TARGETS[0], start=start)  # type: ignore[arg-type]


def test_the_number_of_targets_is_checked():
    query = supple.prepare(Problem(PANDA, [Task(Point(HAND), At((0, 0, 1)))] * 2))
    with pytest.raises(BadValue, match="2 tasks but 1"):
        query([(0, 0, 1)])


def test_what_the_compiled_search_cannot_take_is_answered_as_solve_would():
    problem = Problem(PANDA, [Task(Point(HAND), At((0.4, 0.1, 0.6))), Task(HAND, supple.Custom(cost))])
    solution = supple.prepare(problem)([(0.3, 0.2, 0.5), None])
    audit(solution)
    assert_array_equal(solution.q, supple.solve(problem.aimed((0.3, 0.2, 0.5), None)).q)
    with pytest.raises(Refused, match="is hard"):
        supple.prepare(Problem(PANDA, [Task(HAND, supple.Custom(cost), hard=True)]), solver=supple.Newton())


def cost(a, x, g, H):
    return 0.0


def test_a_budget_bounds_every_call():
    query = supple.prepare(PROBLEM, budget=4)
    for target in TARGETS[:20]:
        solution = query(target)
        audit(solution)
        assert solution.evaluations <= 4


def test_alternatives_can_be_asked_again():
    goal = AnyOf([At((0.4, 0.0, 0.5)), At((0.0, 0.4, 0.5))])
    solution = supple.prepare(Problem(PANDA, [Task(Point(HAND), goal)]))()
    audit(solution)
    assert solution.ok


# ── several solutions ────────────────────────────────────────────────────────────────────────────────────────────────


def test_distinct_solutions_differ_solve_and_come_nearest_first():
    ur5 = supple.load("ur5")
    q = np.array([0.4, -1.2, 1.1, -0.7, 0.9, 0.3])
    problem = Problem(ur5, [Task("ee_link", Placed(ur5.placement(q, "ee_link")))])
    solutions = supple.solve(problem, start=q, distinct=8)
    assert len(solutions) >= 6
    distances = [np.linalg.norm(s.q - q) for s in solutions]
    assert distances == sorted(distances)
    assert distances[0] < 1e-3
    for i, one in enumerate(solutions):
        audit(one)
        assert one.ok
        assert all(np.abs(one.q - other.q).max() > 0.1 for other in solutions[:i])


def test_distinct_without_a_solution_is_the_answer_of_solve():
    (only,) = supple.solve(Problem(PANDA, [Task(Point(HAND), At((3, 0, 0)))]), distinct=3)
    assert only.status is Status.IMPOSSIBLE


def test_distinct_counts_from_one():
    with pytest.raises(BadValue, match="distinct"):
        supple.solve(PROBLEM, distinct=0)


def bent(sign: float) -> supple.Problem:
    """Two links in a plane; the elbow bends one way only."""
    limits = (0.2, 2.8) if sign > 0 else (-2.8, -0.2)
    parts = [*supple.hinge("a", None, limits=(-3.0, 3.0)), *supple.hinge("b", "a", at=(1, 0, 0), limits=limits)]
    figure = supple.Figure("two", [*parts, *supple.fixed("tip", "b", (1, 0, 0))])
    return supple.Problem(figure, [supple.Task(supple.Point("tip"), supple.At((1.2, 0, 0)))])


def test_an_answer_says_whether_it_jumped():
    query = supple.prepare(bent(1.0))
    near = query((1.2, 0, 0), start=[-0.9, 1.8])
    assert near.ok
    assert not near.jumped
    assert not query((1.2, 0, 0)).jumped  # nobody said where it was
    far = query((1.2, 0, 0), start=[2.5, 0.3])
    assert far.ok
    assert far.jumped
    assert far == query((1.2, 0, 0), start=[2.5, 0.3])
    unmet = query((4.0, 0, 0), start=[2.5, 0.3])
    assert unmet.jumped
    assert not unmet.ok


def test_one_branch_is_kept_to():
    free, kept = supple.prepare(bent(1.0)), supple.prepare(bent(1.0), one_branch=True)
    q = free((1.2, 0, 0), start=[-0.9, 1.8]).q
    for angle in np.linspace(0.0, 1.5, 30):
        target = 1.2 * np.array([np.cos(angle), np.sin(angle), 0.0])
        one = kept(target, q)
        assert one.ok
        assert not one.jumped
        assert np.abs(one.q - q).max() <= 0.5
        q = one.q
    far = kept((1.2, 0, 0), start=[2.5, 0.3])
    assert far.status is supple.Status.STOPPED
    assert "one_branch" in far.reason
    assert np.abs(far.q - [2.5, 0.3]).max() <= 0.5
    assert far.q[1] >= 0.2
    out = kept((4.0, 0, 0), start=[0.0, 0.3])
    assert out.status is supple.Status.NEAREST
    assert not out.ok


def test_one_branch_needs_the_compiled_search():
    with pytest.raises(supple.errors.Refused, match="one branch"):
        supple.prepare(bent(1.0), solver=supple.Newton(), one_branch=True)
