"""Charts: re-centring moves nothing, reporting undoes it, and no solver meets gimbal lock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

import supple
from supple import (
    ActiveSet,
    At,
    CyclicCoordinateDescent,
    Fabrik,
    Figure,
    Frame,
    JacobianTranspose,
    LevenbergMarquardt,
    Limits,
    MassCentre,
    Multistart,
    Near,
    Newton,
    Placed,
    Point,
    Problem,
    ProjectedGradient,
    PseudoInverse,
    Status,
    Task,
    ball,
    fixed,
    free,
    hinge,
    mimic,
)
from supple.figure import LinearLimit
from supple.figure.joints import EULER_ORDERS
from supple.geometry.placements import angle_of
from supple.geometry.shapes import Body
from supple.kernels.charts import recentre_entry, report_entry
from supple.kernels.layouts import AT_OFFSET, OFFSET, TREE, view
from supple.kernels.tables import EXACT, STEEP
from supple.problem.allowance import FREELY
from supple.solvers import DampedLeastSquares
from supple.solvers.recentring import Recentred, solve_recentred
from tests.tables.figures import somewhere

QUARTER = 0.5 * np.pi
ALL = 2.0
orders = st.sampled_from(EULER_ORDERS)
angle = st.one_of(st.floats(-7.0, 7.0), st.integers(-4, 4).map(lambda k: k * QUARTER))
triples = st.tuples(angle, angle, angle).map(np.array)


def figure_of(order: str) -> Figure:
    """A floating trunk and an arm on an unlimited ball, both in one order, on oblique frames."""
    parts = [
        *free("trunk", None, order, at=somewhere(1)),
        *ball("arm", "trunk", order, at=somewhere(2)),
        *hinge("elbow", "arm", (0, -1, 0), at=(0, 0, -0.3), limits=(-2, 2)),
        *fixed("hand", "elbow", at=somewhere(3)),
    ]
    return Figure(order, parts)


FIGURES = {order: figure_of(order) for order in EULER_ORDERS}
# points that tell where two segments are and how they stand, by residuals that rounding does not magnify
CORNERS = [
    Task(Point(name, at), At((0, 0, 1))) for name in ("hand", "trunk") for at in ((0, 0, 0), (1, 0, 0), (0, 1, 0))
]
PROBLEMS = {order: Problem(figure, CORNERS) for order, figure in FIGURES.items()}


def conditioning(order: str, middle: float) -> float:
    """The sine of the angle between the first and the third axis."""
    return float(abs(np.sin(middle) if order[0] == order[2] else np.cos(middle)))


def with_floats(problem: Problem, F: np.ndarray) -> Problem:
    """A problem with other packed floats."""
    other = Problem(problem.figure, problem.tasks, problem.limits, problem.rigidity)
    other.__dict__["pack"] = (problem.pack[0], F, problem.pack[2])
    return other


def assert_same_placements(figure: Figure, q: np.ndarray, p: np.ndarray, atol: float = 1e-12) -> None:
    for segment, T in figure.placements(q).items():
        assert_allclose(figure.placement(p, segment), T, rtol=0, atol=atol, err_msg=segment)


# ── the kernels ──────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.interpreted
@pytest.mark.parametrize(("order", "steep"), [("zyx", 1), ("zxz", 0)])
def test_re_centring_and_back(order: str, steep: int):
    problem = PROBLEMS[order]
    I, F, _ = problem.pack
    start = np.array([1.0, 2.0, 3.0, 0.4, 2.6, 0.7, 4.0, QUARTER, -1.0, 0.5])
    for least, most in ((ALL, 2), (STEEP, steep)):
        mine, q = F.copy(), start.copy()
        assert recentre_entry(I, mine, q, least) == most
        there = with_floats(problem, mine)
        assert_allclose(there.value(q), problem.value(start), rtol=1e-12)
        assert_allclose(there.jacobian(q)[0], problem.jacobian(start)[0], atol=1e-12)
        report_entry(I, mine, q, start, EXACT)
        assert_array_equal(mine, F)
        assert_same_placements(problem.figure, q, start)


@given(orders, triples, triples, st.floats(-1, 1))
def test_re_centring_moves_nothing_and_straightens_the_axes(order: str, a: np.ndarray, b: np.ndarray, bend: float):
    problem = PROBLEMS[order]
    I, F, _ = problem.pack
    start = np.array([0.1, -0.2, 0.3, *a, *b, bend])
    mine, q = F.copy(), start.copy()
    assert recentre_entry(I, mine, q, ALL) == 2
    assert_array_equal(q[[0, 1, 2, 9]], start[[0, 1, 2, 9]])
    middle = QUARTER if order[0] == order[2] else 0.0
    assert_array_equal(q[3:9], [0.0, middle, 0.0] * 2)
    there = with_floats(problem, mine)
    assert_allclose(there.value(q), problem.value(start), rtol=1e-12, atol=1e-13)
    assert_allclose(there.jacobian(q)[0], problem.jacobian(start)[0], rtol=0, atol=1e-12)
    changed = np.flatnonzero(mine != F)
    at = int(I[AT_OFFSET])
    offsets = {at + OFFSET * int(i) + k for i in view(TREE, I, F, "CHART") for k in range(9)}
    assert set(changed.tolist()) <= offsets


@given(orders, triples, triples, triples, st.booleans())
@example("zyx", np.array([1.0, QUARTER, 0.5]), np.array([1.0, -QUARTER, 0.5]), np.array([0.0, 1.0, 0.0]), True)
def test_reports_come_home_from_wherever_a_solver_went(
    order: str, a: np.ndarray, b: np.ndarray, step: np.ndarray, again: bool
):
    """Re-centre, move, re-centre, report: the placements are those of the moved chart, the floats those of before."""
    problem = PROBLEMS[order]
    I, F, _ = problem.pack
    start = np.array([0.1, -0.2, 0.3, *a, *b, 0.5])
    mine, q = F.copy(), start.copy()
    recentre_entry(I, mine, q, ALL)
    q[3:6] += step
    q[6:9] -= step
    if again:
        recentre_entry(I, mine, q, ALL)
    residuals = with_floats(problem, mine).jacobian(q)[0]
    report_entry(I, mine, q, start, EXACT)
    assert_array_equal(mine, F)
    assert_allclose(problem.jacobian(q)[0], residuals, rtol=0, atol=1e-11)


@given(orders, triples)
def test_angles_come_back_when_they_are_their_own_reference(order: str, a: np.ndarray):
    problem = PROBLEMS[order]
    I, F, _ = problem.pack
    start = np.array([0.1, -0.2, 0.3, *a, *a[::-1], 0.5])
    mine, q = F.copy(), start.copy()
    recentre_entry(I, mine, q, ALL)
    report_entry(I, mine, q, start, EXACT)
    for at in (3, 6):
        unsure = max(conditioning(order, start[at + 1]), 1e-9)
        assert_allclose(q[at : at + 3], start[at : at + 3], rtol=0, atol=1e-13 / unsure)
    mine, q = F.copy(), start.copy()
    report_entry(I, mine, q, start, EXACT)
    assert_array_equal(q, start)  # what was not re-centred is not even rounded


def triples_of(order: str, a: np.ndarray) -> list[np.ndarray]:
    """Both triples of one rotation with whole turns added, up to three of them."""
    other = a + np.pi
    other[1] = -a[1] if order[0] == order[2] else np.pi - a[1]
    turns = 2 * np.pi * np.array(np.meshgrid(*[range(-4, 5)] * 3)).reshape(3, -1).T
    return [*(a + turns), *(other + turns)]


@given(orders, triples, triples, st.booleans())
def test_the_nearest_of_all_triples_is_reported(order: str, a: np.ndarray, reference: np.ndarray, folded: bool):
    problem = PROBLEMS[order]
    I, F, _ = problem.pack
    start = np.array([0.0, 0.0, 0.0, *a, 0.3, 0.8, 0.1, 0.5])
    wanted = start.copy()
    wanted[3:6] = reference
    mine, q = F.copy(), start.copy()
    if folded:
        recentre_entry(I, mine, q, ALL)
    report_entry(I, mine, q, wanted, EXACT)
    assert_same_placements(problem.figure, q, start, 1e-11)
    nearest = min(np.linalg.norm(triple - reference) for triple in triples_of(order, a))
    reached = np.linalg.norm(q[3:6] - reference)
    assert reached <= nearest + 1e-12 / max(conditioning(order, a[1]), 1e-9)


@given(orders, angle, angle, st.integers(-2, 1), triples)
def test_at_the_lock_the_free_angle_goes_to_the_reference(
    order: str, x: float, z: float, turns: int, reference: np.ndarray
):
    """No shift (x + t, z ∓ t) of the two angles that share an axis is nearer to the reference."""
    problem = PROBLEMS[order]
    I, F, _ = problem.pack
    middle = np.pi * turns + (0.0 if order[0] == order[2] else QUARTER)
    start = np.array([0.0, 0.0, 0.0, x, middle, z, 0.3, 0.8, 0.1, 0.5])
    wanted = start.copy()
    wanted[3:6] = reference
    q = start.copy()
    report_entry(I, F.copy(), q, wanted, EXACT)
    assert_same_placements(problem.figure, q, start, 1e-11)
    J = problem.figure.jacobian(start, Frame("trunk"))[3:]
    along = np.array([1.0, 0.0, -np.sign(J[:, 3] @ J[:, 5])])
    slack = (q[3:6] - reference) @ along  # at the nearest point the way left is across the free direction
    assert abs(slack) < 1e-9
    assert np.abs(q[3:6] - reference)[[0, 2]].max() <= QUARTER + 1e-9


def test_a_nan_stays_a_nan_and_the_floats_come_back():
    problem = PROBLEMS["zyx"]
    I, F, _ = problem.pack
    start = np.array([0.0, 0.0, 0.0, 0.1, 1.5, 0.2, 0.3, 1.5, 0.1, 0.5])
    mine, q = F.copy(), start.copy()
    recentre_entry(I, mine, q, STEEP)
    q[4] = np.nan
    report_entry(I, mine, q, start, EXACT)
    assert_array_equal(mine, F)
    assert np.isnan(q[4])
    assert_allclose(q[6:9], start[6:9], atol=1e-12)


# ── which joints are charts ──────────────────────────────────────────────────────────────────────────────────────────
BALL = Figure("ball", [*ball("arm", None, "zyx", at=somewhere(5)), *fixed("hand", "arm", (0, 0, 1))])
SEEN: list[Task] = [Task("hand", Placed(somewhere(6)))]
LOOSE = Limits(np.full(3, -np.inf), np.full(3, np.inf))


def followed() -> Figure:
    return Figure(
        "f", [*BALL.joints.values(), *hinge("thumb", "hand", (1, 0, 0), at=(0, 0, 0.1), drive=mimic("arm.y", 0.5))]
    )


def spread_out(*between: Any, at: Sequence[float] = (0, 0, 0), axes: Sequence[Any] = ((0, 0, 1), (0, 1, 0), (1, 0, 0))):
    """Three hinges with segments of their own, the last at a distance, and perhaps something between."""
    parts = [
        *hinge("a", None, axes[0]), *hinge("b", "a", axes[1]), *between, *hinge("arm", "b", axes[2], at=at),
        *fixed("hand", "arm", (0, 0, 1)),
    ]  # fmt: skip
    return Figure("hinges", parts, bodies={"hand": Body(1.0)})


SUM = LinearLimit.of({"arm.x": 1, "arm.y": 1}, 2.0)
CHARTS: dict[str, tuple[Callable[[], Problem], int]] = {
    "a ball": (lambda: Problem(BALL, SEEN), 1),
    "limits": (lambda: Problem(BALL.with_limits({"arm.x": (-3, 3)}), SEEN), 0),
    "a limit on one side": (lambda: Problem(BALL.with_limits({"arm.z": (-3, np.inf)}), SEEN), 0),
    "limits of the problem": (lambda: Problem(BALL, SEEN, Limits(np.full(3, -9.0), np.full(3, 9.0))), 0),
    "limits that the problem lifts": (lambda: Problem(BALL.with_limits({"arm.x": (-3, 3)}), SEEN, LOOSE), 1),
    "a row": (lambda: Problem(Figure("b", BALL.joints.values(), bounds=[SUM]), SEEN), 0),
    "rigidity": (lambda: Problem(BALL, SEEN, rigidity={"arm.y": 0.5}), 0),
    "a lock": (lambda: Problem(BALL, SEEN, rigidity={"arm.y": 1.0}), 0),
    "a preference": (lambda: Problem(BALL, [*SEEN, Task(None, Near(np.zeros(3)))]), 0),
    "a preference for nothing": (lambda: Problem(BALL, [*SEEN, Task(None, Near(np.zeros(3), 0.0))]), 1),
    "a follower": (lambda: Problem(followed(), [*SEEN, Task("thumb", At((0, 0, 1)))]), 0),
    "a follower that nobody sees": (lambda: Problem(followed(), SEEN), 1),
    "hinges through one place": (lambda: Problem(spread_out(), SEEN), 1),
    "hinges about negative axes": (lambda: Problem(spread_out(axes=((0, 0, -1), (0, 1, 0), (0, 0, -1))), SEEN), 1),
    "hinges about oblique axes": (lambda: Problem(spread_out(axes=((1, 1, 0), (1, -1, 0), (0, 0, 1))), SEEN), 0),
    "hinges apart": (lambda: Problem(spread_out(at=(0, 0, 0.1)), SEEN), 0),
    "hinges about one axis": (lambda: Problem(spread_out(axes=((0, 0, 1), (0, 0, 1), (1, 0, 0))), SEEN), 0),
    "an effector between": (lambda: Problem(spread_out(), [*SEEN, Task(Point("a", (1, 0, 0)), At((0, 1, 0)))]), 0),
    "a branch between": (
        lambda: Problem(spread_out(*hinge("c", "b", at=(1, 0, 0))), [*SEEN, Task("c", At((0, 1, 0)))]), 0,
    ),
    "a branch behind": (
        lambda: Problem(
            Figure("branched", [*spread_out().joints.values(), *hinge("c", "b", at=(1, 0, 0))]),
            [*SEEN, Task("c", At((0, 1, 0)))],
        ), 0,
    ),
    "a branch that nobody sees": (lambda: Problem(spread_out(*hinge("c", "b", at=(1, 0, 0))), SEEN), 1),
    "a goal seen from between": (lambda: Problem(spread_out(), [Task("hand", At((0, 0, 1), relative_to="a"))]), 0),
    "a mass behind": (lambda: Problem(spread_out(), [Task(MassCentre(), At((0, 0, 1)))]), 1),
    "a ball that moves no effector": (
        lambda: Problem(Figure("two", [*BALL.joints.values(), *ball("b", None)]), SEEN), 1,
    ),
    "two balls": (
        lambda: Problem(
            Figure("two", [*BALL.joints.values(), *ball("b", "hand", "xyx")]), [Task("b", Placed(somewhere(7)))]
        ), 2,
    ),
    "a chain that begins below": (
        lambda: Problem(
            Figure("two", [*BALL.joints.values(), *ball("b", "hand", "xyx")]), [Task("b", Placed(somewhere(7)), chain="b")]
        ), 1,
    ),
    "no joints": (lambda: Problem(Figure("still", [*fixed("hand")]), SEEN), 0),
}  # fmt: skip


@pytest.mark.parametrize("case", CHARTS)
def test_which_joints_are_charts(case: str):
    make, count = CHARTS[case]
    problem = make()
    assert len(problem.charts) == count
    I, F, _ = problem.pack
    q = np.random.default_rng(3).normal(size=problem.figure.size)
    mine, there = F.copy(), q.copy()
    assert recentre_entry(I, mine, there, ALL) == count
    assert_allclose(with_floats(problem, mine).value(there), problem.value(q), rtol=1e-9)


def test_a_mass_between_the_hinges_is_no_chart():
    figure = Figure("heavy", spread_out().joints.values(), bodies={"hand": Body(1.0), "a": Body(1.0, (0.1, 0, 0))})
    assert Problem(figure, [Task(MassCentre(), At((0, 0, 1)))]).charts == ()
    assert len(Problem(figure, SEEN).charts) == 1


def test_the_root_of_a_person_is_the_only_chart():
    human = supple.load("human")
    (chart,) = Problem(human, [Task("hand_l", At((0, 0, 1)))]).charts
    assert [human.coordinates[i] for i in chart] == ["pelvis.z", "pelvis.y", "pelvis.x"]
    assert Problem(supple.load("panda"), [Task("panda_hand", At((0, 0, 1)))]).charts == ()


# ── solvers ──────────────────────────────────────────────────────────────────────────────────────────────────────────
SOLVERS = {
    "LevenbergMarquardt": LevenbergMarquardt(),
    "Newton": Newton(),
    "ActiveSet": ActiveSet(),
    "ProjectedGradient": ProjectedGradient(),
    "DampedLeastSquares": DampedLeastSquares(),
    "PseudoInverse": PseudoInverse(),
    "JacobianTranspose": JacobianTranspose(),
    "CyclicCoordinateDescent": CyclicCoordinateDescent(),
}


def across_the_lock(order: str) -> tuple[Problem, np.ndarray]:
    """A ball in its lock and a goal in the one direction in which it cannot turn there."""
    figure = Figure("ball", ball("arm", None, order, at=somewhere(5)))
    lock = np.array([0.3, 0.0 if order[0] == order[2] else QUARTER, 0.2])
    lost = np.linalg.svd(figure.jacobian(lock, Frame("arm"))[3:])[0][:, 2]
    goal = figure.placement(lock, "arm").copy()
    goal[:3, :3] = Rotation.from_rotvec(0.3 * lost).as_matrix() @ goal[:3, :3]
    return Problem(figure, [Task("arm", Placed(goal))]), lock


@pytest.mark.parametrize("order", ["zyx", "xyz", "zxz"])
@pytest.mark.parametrize("name", SOLVERS)
def test_no_solver_is_caught_in_the_lock(name: str, order: str):
    problem, lock = across_the_lock(order)
    solution = supple.solve(problem, lock, solver=SOLVERS[name])
    assert solution.status is Status.SOLVED, solution.report()
    assert solution.problem is problem
    assert not solution.q.flags.writeable
    assert solution.errors == problem.misses(solution.q)


def test_the_lock_does_catch_a_solver_that_is_not_re_centred():
    problem, lock = across_the_lock("zyx")
    assert ActiveSet().solve(problem, lock).status is Status.NEAREST


@pytest.mark.interpreted
def test_interpreted_out_of_the_lock():
    problem, lock = across_the_lock("zyx")
    assert supple.solve(problem, lock, solver=LevenbergMarquardt()).ok


def test_fabrik_takes_an_unlimited_ball():
    figure = Figure(
        "arm",
        [*ball("upper", None, "zxz"), *ball("lower", "upper", at=(0, 0, 0.5)), *fixed("tip", "lower", (0, 0, 0.5))],
    )
    solution = supple.solve(Problem(figure, [Task(Point("tip"), At((0.3, 0.4, 0.5)))]), solver=Fabrik())
    assert solution.ok, solution.report()


def test_a_problem_without_charts_is_solved_as_it_stands():
    panda = supple.load("panda")
    problem = Problem(panda, [Task("panda_hand", Placed(panda.placement(panda.rest + 0.1, "panda_hand")))])
    plain = ActiveSet().solve(problem, panda.rest)
    assert_array_equal(solve_recentred(ActiveSet(), problem, panda.rest, 0, FREELY).q, plain.q)


def test_solving_leaves_the_problem_as_it_was():
    problem, lock = across_the_lock("zyx")
    before = [a.copy() for a in problem.packed]
    first = supple.solve(problem, lock)
    for a, b in zip(before, problem.packed, strict=True):
        assert_array_equal(a, b)
    assert_array_equal(supple.solve(problem, lock).q, first.q)


def test_what_cannot_be_met_is_reported_as_nearest():
    figure = FIGURES["zyx"]
    far = Problem(figure.locked("trunk"), [Task(Point("hand"), At((9, 0, 0)))])
    solution = supple.solve(far, [0.0, QUARTER, 0.0, 0.1], solver=Newton())
    assert solution.status is Status.NEAREST
    assert solution.problem is far
    assert solution.errors == far.misses(solution.q)


@pytest.mark.parametrize("order", ["zyx", "zxz"])
def test_a_re_centred_problem_is_the_same_problem(order: str):
    problem = PROBLEMS[order]
    q = np.array([0.1, -0.2, 0.3, 0.4, QUARTER, 0.7, 4.0, 0.05, -1.0, 0.5])
    there, here = Recentred.at(problem, q, q)
    deeper, below = Recentred.at(there, here + 0.9, here)
    assert there.is_steep(here) is False
    for one, at in ((there, here), (deeper, below)):
        home = one.home(at)
        assert_allclose(one.value(at), one.stated.value(home), rtol=1e-12)
        assert one.misses(at) == one.stated.misses(home)
        for segment, T in one.figure.placements(at).items():
            assert_allclose(one.stated.figure.placement(home, segment), T, rtol=0, atol=1e-12)
    assert_same_placements(problem.figure, there.home(here), q)


# ── a cartwheel and a somersault ─────────────────────────────────────────────────────────────────────────────────────
SEGMENTS = ("hand_l", "hand_r", "foot_l", "foot_r", "head", "pelvis")
HUMAN = supple.load("human", fingers=False)


def turning(axis: str, heading: float, degrees: float) -> list[np.ndarray]:
    """Where the segments are when the standing person, facing `heading`, has turned about an axis of the pelvis."""
    pelvis = HUMAN.placement(HUMAN.rest, "pelvis")
    R = (Rotation.from_euler("z", heading, degrees=True) * Rotation.from_euler(axis, degrees, degrees=True)).as_matrix()
    moved = supple.place(pelvis[:3, 3] - R @ pelvis[:3, 3], matrix=R)
    return [moved @ HUMAN.placement(HUMAN.rest, segment) for segment in SEGMENTS]


def rooted(order: str) -> Figure:
    """The person floating on a root with another order of angles."""
    body = supple.load("human", fingers=False, root="fixed")
    at = body.placement(body.rest, "pelvis")
    rest = [*at[:3, 3], 0.0, 0.0, 0.0]
    parts = [joint for joint in body.joints.values() if joint.key != "pelvis"]
    return Figure("person", [*free("pelvis", None, order, rest=rest), *parts], bodies=body.bodies)


MOTIONS = {  # the order of the root, the axis of the turn, the heading: all but the first pass through the lock
    "cartwheel": ("zyx", "x", 0.0),
    "cartwheel through the lock": ("zxy", "x", 0.0),
    "cartwheel on proper angles": ("zxz", "x", 0.0),
    "cartwheel facing y": ("xyz", "x", 90.0),
    "somersault": ("zyx", "y", 0.0),
    "somersault facing askew": ("zyx", "y", 37.0),
    "somersault facing y": ("yxz", "y", 90.0),
    "somersault on proper angles": ("xyx", "y", 0.0),
}


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("solver", [None, LevenbergMarquardt()], ids=["default", "one attempt"])
def test_every_frame_of_a_whole_turn_is_solved_from_the_one_before(motion: str, solver: Any):
    order, axis, heading = MOTIONS[motion]
    figure = rooted(order)
    problem = Problem(figure, [Task(segment, Placed(np.eye(4))) for segment in SEGMENTS])
    (chart,) = problem.charts
    others = np.setdiff1d(np.arange(figure.size), chart)
    q = supple.solve(problem.aimed(*turning(axis, heading, 0.0)), solver=Multistart()).q
    locks = 0
    for degrees in range(10, 361, 10):
        wanted = turning(axis, heading, degrees)
        solution = supple.solve(problem.aimed(*wanted), q, solver=solver)
        assert solution.ok, f"{degrees}°: {solution.report()}"
        step = solution.q - q
        assert np.abs(step[others]).max() < np.deg2rad(15), degrees
        before, after = (figure.placement(p, "pelvis")[:3, :3] for p in (q, solution.q))
        assert abs(angle_of(before.T @ after) - np.deg2rad(10)) < 1e-3
        middles = [float(p[chart[1]]) for p in (q, solution.q)]
        locked = min(conditioning(order, x) for x in middles) < 0.02
        locks += conditioning(order, middles[1]) < 1e-5
        bound = np.pi if locked else np.deg2rad(40)
        assert np.abs(step[list(chart)]).max() <= bound + 1e-9, (degrees, np.rad2deg(step[list(chart)]))
        q = solution.q
    assert locks == 0 if motion == "cartwheel" else locks >= 1
    ends = [Rotation.from_matrix(figure.placement(p, "pelvis")[:3, :3]) for p in (q, figure.rest)]
    assert (ends[0] * ends[1].inv() * Rotation.from_euler("z", heading, degrees=True).inv()).magnitude() < 1e-3
