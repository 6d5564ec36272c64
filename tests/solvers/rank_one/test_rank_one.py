"""Lifted coordinates hold for every posture, relaxations bound from below, and RankOne says only what is true."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple import At, Direction, Facing, Figure, Gap, Loop, Placed, Point, Problem, RankOne, Status, Task
from supple.figure.joints import ball, fixed, free, hinge, slide, universal
from supple.geometry.placements import X, Y, Z
from supple.problem.allowance import FREELY
from supple.solvers.rank_one.matrices import square
from supple.solvers.rank_one.posture import Reader, spectrum, write
from supple.solvers.rank_one.relaxed_set import relaxed_set
from supple.solvers.rank_one.search import Purse
from supple.solvers.rank_one.targets import targets_of
from supple.solvers.rank_one.variables import Cone, Lifted, value

pytest.importorskip("clarabel")

LIFTS = ("quaternion", "rotation")
LIMITS = ("two axes", "cone", "planes")
WIDE = (-2.0, 2.5)


def limb(name: str, shoulder: tuple[supple.Joint, ...]) -> Figure:
    elbow = hinge("elbow", "shoulder", X, at=(0, 0, 0.4), limits=(0.0, 2.5))
    wrist = universal("wrist", "elbow", "yz", at=(0, 0, 0.3), limits=(WIDE, WIDE))
    return Figure(name, [*shoulder, *elbow, *wrist, *fixed("tool", "wrist", at=(0.1, 0, 0.1))])


def trees() -> dict[str, Figure]:
    """Figures with the segment ``tool``, of every kind of joint that can be lifted."""
    tool = fixed("tool", "c", at=(0.2, 0.1, 0))
    arm = [*hinge("a", None, (1, 2, 3), limits=WIDE), *hinge("b", "a", Y, at=(0.5, 0, 0), limits=(0.1, 1.9))]
    rails = [*slide("x", None, X, limits=(-1, 1)), *slide("y", "x", Y, limits=(-1, 1)), *hinge("z", "y", Z)]
    scara = [*hinge("a", None, Z, limits=WIDE), *hinge("b", "a", Z, at=(0.3, 0, 0), limits=WIDE)]
    crane = [*hinge("a", None, Z), *hinge("b", "a", X, at=(0, 0, 1), limits=(-1, 1))]
    return {
        "arm": Figure("arm", [*arm, *hinge("c", "b", X, at=(0, 0, 0.4), limits=WIDE), *tool]),
        "rails": Figure("rails", [*rails, *hinge("c", "z", X, at=(0, 0, 0.4), limits=WIDE), *tool]),
        "scara": Figure("scara", [*scara, *slide("c", "b", Z, at=(0.2, 0, 0), limits=(0, 0.3)), *tool]),
        "crane": Figure("crane", [*crane, *slide("c", "b", (0, 1, 1), limits=(0.5, 1.5)), *tool]),
        "ball": limb("ball", ball("shoulder", None, "zxz", at=(0.1, 0, 1))),
        "limited ball": limb("limited ball", ball("shoulder", None, "zyx", limits=((-1, 1), (-1, 0.5), (-2, 2)))),
        "free": limb("free", free("shoulder")),
        "still": Figure("still", [*arm, *hinge("c", "b", X, at=(0, 0, 0.4), limits=(0.3, 0.3)), *tool]),
    }


TREES = trees()


def posture(figure: Figure, seed: int) -> np.ndarray:
    span = [np.where(np.isfinite(side), side, end) for side, end in ((figure.lower, -2.0), (figure.upper, 2.0))]
    return np.random.default_rng(seed).uniform(*span)


def placed(figure: Figure, segment: str, q: np.ndarray) -> list[Task]:
    return [Task(segment, Placed(figure.placement(q, segment)))]


def mixed(figure: Figure, segment: str, q: np.ndarray) -> list[Task]:
    """A point, a direction, and a goal seen from another segment."""
    T, first = figure.placement(q, segment), figure.segments[0]
    seen = np.linalg.inv(figure.placement(q, first)) @ T
    return [
        Task(Point(segment, (0.1, 0.2, 0.3)), At(T[:3, :3] @ (0.1, 0.2, 0.3) + T[:3, 3])),
        Task(Direction(segment, Y), Facing(T[:3, 1])),
        Task(segment, Facing(x=seen[:3, 0], y=seen[:3, 1], relative_to=first)),
        Task(Gap(Point(first), Point(segment)), At(seen[:3, 3])),
    ]


def faced(figure: Figure, segment: str, q: np.ndarray) -> list[Task]:
    """Two axes in the world, and a point."""
    T = figure.placement(q, segment)
    return [Task(segment, Facing(x=T[:3, 0], y=T[:3, 1])), Task(Point(segment), At(T[:3, 3]))]


def worst(cones: Sequence[Cone], x: np.ndarray, parameters: np.ndarray) -> float:
    """By how much the worst of all cones is missed."""
    out = 0.0
    for cone in cones:
        v = value(cone.rows, x, parameters)
        if cone.kind == "zero":
            out = max(out, np.abs(v).max())
        elif cone.kind == "positive":
            out = max(out, -v.min())
        elif cone.kind == "second_order":
            out = max(out, np.linalg.norm(v[1:]) - v[0])
        else:
            out = max(out, -np.linalg.eigvalsh(square(v, round((np.sqrt(8 * len(v) + 1) - 1) / 2)))[0])
    return float(out)


# ── lifted coordinates ───────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("given", [True, False], ids=["equations", "cost"])
@pytest.mark.parametrize("lift", LIFTS)
@pytest.mark.parametrize("tasks", [placed, mixed, faced])
@pytest.mark.parametrize("name", TREES)
def test_postures_are_points_of_rank_one_in_the_relaxed_set(name: str, tasks, lift: str, given: bool) -> None:
    figure = TREES[name]
    for seed in range(3):
        q = posture(figure, seed)
        problem = Problem(figure, tasks(figure, "tool", q))
        lifted, parameters = Lifted.of(problem, lift, given), targets_of(problem)
        x = write(lifted, q, parameters)
        for limits in LIMITS:
            assert worst(relaxed_set(lifted, limits), x, parameters) < 1e-12
        assert spectrum(lifted, x).rank_gap < 1e-12
        for segment in set(figure.segments) & set(lifted.tree.nodes):
            T = figure.placement(q, segment)
            offset = np.array([0.1, -0.2, 0.3])
            assert_allclose(
                value(lifted.point(segment, offset), x, parameters), T[:3, :3] @ offset + T[:3, 3], atol=1e-12
            )
            R = [value(row, x, parameters) for row in lifted.rotation(segment)]
            assert_allclose(R, T[:3, :3], atol=1e-12)
        back = Reader.of(lifted, parameters).read(x, figure.rest)
        assert_allclose(figure.placement(back, "tool"), figure.placement(q, "tool"), atol=1e-7)


@pytest.mark.parametrize("name", TREES)
def test_beyond_a_limit_is_outside_the_relaxed_set(name: str) -> None:
    figure = TREES[name]
    for k in np.flatnonzero(np.isfinite(figure.upper) & (figure.lower < figure.upper)):
        q = posture(figure, 1)
        q[k] = figure.upper[k] + 0.05
        problem = Problem(figure, placed(figure, "tool", q))
        lifted, parameters = Lifted.of(problem), targets_of(problem)
        for limits in ("two axes", "cone"):
            assert worst(relaxed_set(lifted, limits), write(lifted, q, parameters), parameters) > 1e-4


@pytest.mark.parametrize("lift", LIFTS)
def test_each_way_to_state_limits_is_tighter_than_the_one_before(lift: str) -> None:
    arm = TREES["arm"]
    bounds = np.zeros((6, 3))
    for seed, row in enumerate(bounds):
        q = posture(arm, seed) + 0.8  # beyond some of the limits
        problem = Problem(arm, placed(arm, "tool", q))
        for k, limits in enumerate(("planes", "cone", "two axes")):
            search, _ = RankOne(lift, limits=limits).search(problem, False, Purse(FREELY))
            x = search.relaxed().x
            assert x is not None
            row[k] = search.posed.value(x)
    assert (np.diff(bounds, axis=1) > -1e-6).all()
    assert (np.diff(bounds, axis=1).max(axis=0) > 1e-4).all()


def test_known_directions_leave_a_disc_and_planar_mechanisms_nothing_else() -> None:
    figure = supple.load("panda")
    problem = Problem(figure, placed(figure, "panda_hand", figure.rest))
    kinds = [cell.lift for cell in Lifted.of(problem).bodies.values()]
    assert kinds.count("disc") == 2
    assert kinds.count("quaternion") == 4
    problem = Problem(TREES["scara"], placed(TREES["scara"], "tool", TREES["scara"].rest))
    assert {cell.lift for cell in Lifted.of(problem).bodies.values()} == {"disc"}


@pytest.mark.parametrize("lift", LIFTS)
def test_the_relaxed_cost_is_a_lower_bound(lift: str) -> None:
    figure = supple.load("panda")
    target = supple.place((0.9, 0.5, 0.7), rpy=(1.0, 2.0, 3.0))
    solver, problem = RankOne(lift), Problem(figure, [Task("panda_hand", Placed(target))])
    search, _ = solver.search(problem, False, Purse(FREELY))
    x = search.relaxed().x
    assert x is not None
    bound = search.posed.value(x)
    nearest = supple.solve(problem)
    for q in [nearest.q, *(posture(figure, seed) for seed in range(20))]:
        T = figure.placement(q, "panda_hand")
        assert bound <= ((T - target) ** 2).sum() + 1e-7
    assert bound > 1e-3


# ── solving ──────────────────────────────────────────────────────────────────────────────────────────────────────────
ARMS = {"panda": "panda_hand", "sawyer": "right_hand", "baxter": "left_gripper"}


@pytest.mark.parametrize("lift", LIFTS)
@pytest.mark.parametrize("name", ARMS)
def test_arms_reach_what_can_be_reached(name: str, lift: str) -> None:
    figure, segment = supple.load(name), ARMS[name]
    for seed in range(4):
        problem = Problem(figure, placed(figure, segment, posture(figure, seed)))
        solution = supple.solve(problem, solver=RankOne(lift))
        assert solution.status is Status.SOLVED
        assert figure.limits.contains(solution.q)
    pure = supple.solve(problem, solver=RankOne(lift, polish=None))
    assert pure.ok == (pure.status is Status.SOLVED)
    assert figure.limits.contains(pure.q)


@pytest.mark.parametrize("name", [name for name in TREES if name != "still"])
def test_every_kind_of_joint_is_solved_without_a_local_solver(name: str) -> None:
    figure = TREES[name]
    solved = 0
    for seed in range(4):
        problem = Problem(figure, placed(figure, "tool", posture(figure, seed)))
        solution = supple.solve(problem, solver=RankOne(polish=None))
        assert solution.ok == (solution.status is Status.SOLVED)
        solved += solution.ok
        assert supple.solve(problem, solver=RankOne()).ok
    assert solved >= 3


def test_targets_with_six_digits_are_not_called_impossible() -> None:
    figure = supple.load("panda")
    for seed in range(6):
        T = np.round(figure.placement(posture(figure, seed), "panda_hand"), 6)
        solution = supple.solve(Problem(figure, [Task("panda_hand", Placed(T))]), solver=RankOne())
        assert solution.status is Status.SOLVED


def test_what_may_not_move_stays() -> None:
    figure = supple.load("panda")
    q, start = posture(figure, 3), figure.rest + 0.1
    start = figure.limits.project(start)
    q[2] = start[2]
    problem = Problem(figure, placed(figure, "panda_hand", q), rigidity={"panda_joint3": 1.0})
    solution = supple.solve(problem, start=start, solver=RankOne())
    assert solution.ok
    assert solution.q[2] == start[2]
    q[:2] = start[:2]
    target = figure.placement(q, "panda_hand")[:3, 3]
    problem = Problem(figure, [Task(Point("panda_hand"), At(target), chain="panda_link3")])
    solution = supple.solve(problem, start=start, solver=RankOne())
    assert solution.ok
    assert (solution.q[:2] == start[:2]).all()


def four_bar() -> Figure:
    sides = [
        *hinge("crank", None, Z),
        *hinge("coupler", "crank", Z, at=(0.2, 0, 0)),
        *hinge("rocker", None, Z, at=(0.5, 0, 0)),
    ]
    end = Loop("pin", "coupler", "rocker", supple.place((0.5, 0, 0)), supple.place((0.4, 0, 0)), point=True)
    rest = {"crank": 1.0, "coupler": -0.4, "rocker": 1.5}
    return Figure("four bar", [supple.Joint(**{**vars(j), "rest": rest[j.name]}) for j in sides], loops=(end,))


def test_a_four_bar_closes() -> None:
    figure = four_bar()
    for angle in np.linspace(0.2, 6.0, 5):
        tip = Task(Point("crank", (0.2, 0, 0)), At((0.2 * np.cos(angle), 0.2 * np.sin(angle), 0)))
        solution = supple.solve(Problem(figure, [tip]), solver=RankOne())
        assert solution.ok
        assert solution.errors[-1].metres < 1e-10


def test_two_hands_on_one_box() -> None:
    figure = supple.load("baxter")
    frames = [figure.placement(figure.rest, f"{side}_gripper") for side in ("left", "right")]
    grip = np.linalg.inv(frames[0]) @ frames[1]
    tied = Figure(figure.name, figure.joints.values(), loops=(Loop("box", "left_gripper", "right_gripper", grip),))
    target = frames[0] @ supple.place((0.02, 0.03, 0.01), rpy=(0.1, 0.05, 0.0))
    problem = Problem(tied, [Task("left_gripper", Placed(target))])
    for given in (True, False):
        lifted = RankOne().relaxation(problem, given).lifted
        assert lifted.tree.nodes["left_gripper"].body == lifted.tree.nodes["right_gripper"].body
    solution = supple.solve(problem, solver=RankOne())
    assert solution.ok
    assert max(solution.errors[1]) < 1e-10
    for given in (True, False):
        lifted, parameters = Lifted.of(problem, given=given), targets_of(problem)
        x = write(lifted, solution.q, parameters)
        assert worst(relaxed_set(lifted), x, parameters) < 1e-8
        R = [value(row, x, parameters) for row in lifted.rotation("right_gripper")]
        assert_allclose(R, tied.placement(solution.q, "right_gripper")[:3, :3], atol=1e-8)


# ── Stewart platforms ────────────────────────────────────────────────────────────────────────────────────────────────
def legs_of(figure: Figure, T: np.ndarray, geometry: tuple[np.ndarray, np.ndarray], solver: RankOne | None) -> float:
    """The largest error of a leg's length, against plain geometry."""
    base, platform = geometry
    tasks = [Task("platform", Placed(T), tolerance=1e-11, angle_tolerance=1e-11)]
    if solver is None:  # loops have no tolerance of their own: tasks that say the same have one
        ends = [(Point(loop.a), Point("platform", loop.at_b[:3, 3])) for loop in figure.loops]
        tasks += [Task(Gap(*pair), At((0, 0, 0)), hard=True, tolerance=1e-11) for pair in ends]
    solution = supple.solve(Problem(figure, tasks), solver=solver)
    assert solution.ok, solution.report()
    lengths = [solution.q[figure.coordinates.index(f"leg{k}.length")] for k in range(1, 7)]
    return float(np.abs(lengths - np.linalg.norm(platform @ T[:3, :3].T + T[:3, 3] - base, axis=1)).max())


@pytest.mark.parametrize("solver", [RankOne(), None], ids=["RankOne", "solve"])
def test_the_legs_of_a_platform_have_the_lengths_of_geometry(solver: RankOne | None) -> None:
    figure = supple.load("stewart")
    geometry = np.array([loop.at_b[:3, 3] for loop in figure.loops])
    base = np.array([figure.joint_of[f"leg{k}.x'"].at[:3, 3] for k in range(1, 7)])
    centre = figure.placement(figure.rest, "platform")
    for seed in range(2):
        draw = np.random.default_rng(seed)
        T = centre @ supple.place(draw.uniform(-0.03, 0.03, 3), rpy=draw.uniform(-0.1, 0.1, 3))
        assert legs_of(figure, T, (base, geometry), solver) < 1e-9


@pytest.mark.parametrize("solver", [RankOne(), None], ids=["RankOne", "solve"])
def test_assembly_modes_of_one_platform(shared: Path, solver: RankOne | None) -> None:
    data = json.loads((shared / "data/robots/stewart/dietmaier1998.json").read_text())
    geometry = np.array(data["base_points"], float), np.array(data["platform_points"], float)
    modes = [supple.place(mode["t"], matrix=mode["R"]) for mode in data["assembly_modes"]]
    figure = supple.load("stewart", geometry=geometry, lengths=(0.3, 3.0), rest=modes[0])
    for T in modes[::13]:
        assert legs_of(figure, T, geometry, solver) < 1e-9
        lengths = np.linalg.norm(geometry[1] @ T[:3, :3].T + T[:3, 3] - geometry[0], axis=1)
        assert_allclose(lengths, data["leg_lengths"], atol=1e-9)


@pytest.mark.parametrize("file", ["scara/scara600", "gantry/gantry6"])
def test_machines_with_slides_from_files(shared: Path, file: str) -> None:
    figure = supple.load(str(shared / f"data/robots/{file}.urdf"))
    segment = figure.segments[-1]
    for seed in range(3):
        problem = Problem(figure, placed(figure, segment, posture(figure, seed)))
        assert supple.solve(problem, solver=RankOne()).ok


# ── out of reach ─────────────────────────────────────────────────────────────────────────────────────────────────────
def far() -> Problem:
    return Problem(supple.load("panda"), [Task("panda_hand", Placed(supple.place((1.5, 0.3, 0.4))))])


def test_an_infeasible_relaxation_is_a_hint_and_no_proof() -> None:
    for solver in (RankOne(), RankOne("rotation"), RankOne(polish=None)):
        solution = supple.solve(far(), solver=solver)
        assert solution.status is Status.NEAREST
        assert solution.certificate is None
        assert "a hint and no proof: use Decide" in solution.reason
        assert solution.unmet == ("panda_hand Placed",)
    tilted = Problem(TREES["scara"], [Task("tool", Placed(supple.place((0.4, 0.1, 0.1), rpy=(0.3, 0, 0))))])
    assert "a hint" in supple.solve(tilted, solver=RankOne()).reason


@pytest.mark.parametrize("lift", LIFTS)
def test_a_condition_for_each_matrix_lets_none_of_them_fall_back(lift: str) -> None:
    solver = RankOne(lift, adaptive=True, each=True)
    search, _ = solver.search(far(), False, Purse(FREELY))
    x = search.relaxed().x
    assert x is not None
    missing = []
    for k in range(4):
        attempt = replace(search, steps=k).adapt(x, 0.5, each=True)
        missing.append(attempt.spectrum.trace - attempt.spectrum.first)
    for before, after in pairwise(missing):
        assert (after <= before + 1e-6).all()
    assert missing[-1].sum() < 0.9 * missing[0].sum()


@pytest.mark.parametrize("lift", LIFTS)
def test_the_adaptive_method_ends_at_rank_one_where_the_target_is_out_of_reach(lift: str) -> None:
    solver = RankOne(lift, adaptive=True)
    search, reader = solver.search(far(), False, Purse(FREELY))
    x = search.relaxed().x
    assert x is not None
    attempt = search.adapt(x, solver.factor)
    assert attempt.spectrum.rank_gap <= solver.tolerance
    assert search.posed.value(attempt.x) >= search.posed.value(x) - 1e-6
    assert list(attempt.path) == sorted(attempt.path, reverse=True)
    R = reader.matrices(attempt.x)
    assert_allclose(R @ R.transpose(0, 2, 1), np.broadcast_to(np.eye(3), R.shape), atol=1e-4)
    assert supple.solve(far(), solver=solver).status is not Status.IMPOSSIBLE


def test_rank_one_descends_and_restarts_stay_inside() -> None:
    figure = supple.load("panda")
    solver = RankOne(restarts=3)
    for seed in range(4):
        problem = Problem(figure, placed(figure, "panda_hand", posture(figure, seed)))
        search, _ = solver.search(problem, True, Purse(FREELY))
        x = search.relaxed().x
        assert x is not None
        relaxation = solver.relaxation(problem, True)
        cones, parameters = relaxed_set(relaxation.lifted), targets_of(problem)
        for attempt in search.attempts(x, 3, seed):
            path = np.array(attempt.path)
            assert (np.diff(path) < 1e-5).all()  # Σ λ₁ never falls
            assert worst(cones, attempt.x, parameters) < 1e-6


# ── what others add ──────────────────────────────────────────────────────────────────────────────────────────────────
class High:
    """Keeps the elbow of a Panda above a height, through a variable of its own."""

    def __init__(self, height: float) -> None:
        self.height = height

    def keep(self, problem: Problem) -> Sequence[str]:
        return ("panda_link4",)

    def cones(self, lifted: Lifted) -> tuple[Sequence[Cone], int]:
        z = lifted.point("panda_link4")[2:]
        tie = np.zeros((1, 2 + lifted.size, lifted.parameters))  # own variable = z − height
        tie[:, : 1 + lifted.size] = z
        tie[0, 0, 0] -= self.height
        tie[0, 1 + lifted.size, 0] = -1.0
        over = np.zeros_like(tie)
        over[0, 1 + lifted.size, 0] = 1.0
        return [Cone("zero", tie), Cone("positive", over)], 1

    def push(self, x: np.ndarray) -> np.ndarray:
        return np.zeros_like(x)


def test_rows_of_others_hold_at_rank_one() -> None:
    figure = supple.load("panda")
    problem = Problem(figure, placed(figure, "panda_hand", supple.solve(figure, {"panda_hand": At((0.5, 0.1, 0.5))}).q))
    heights = [supple.solve(problem, seed=s, start=posture(figure, s)).q for s in range(30)]
    tops = [figure.placement(q, "panda_link4")[2, 3] for q in heights]
    height = float(np.quantile(tops, 0.9))
    search, reader = RankOne(rows=High(height)).search(problem, True, Purse(FREELY))
    x = search.relaxed().x
    assert x is not None
    best = min(search.attempts(x, 10, 0), key=lambda attempt: attempt.spectrum.rank_gap)
    assert best.spectrum.rank_gap < 1e-6
    q = reader.read(best.x, figure.rest)
    assert figure.placement(q, "panda_link4")[2, 3] >= height - 1e-6
    assert max(problem.misses(q)[0]) < 1e-5
    assert "hint" in supple.solve(problem, solver=RankOne(rows=High(3.0), polish=None)).reason


def test_what_is_impossible_for_a_point_can_be_asked() -> None:
    figure = supple.load("panda")
    problem = Problem(figure, placed(figure, "panda_hand", posture(figure, 1)))
    search, _ = RankOne().search(problem, True, Purse(FREELY))
    z = search.lifted.point("panda_hand")[2:] @ targets_of(problem)
    above, beyond = z.copy(), z.copy()
    above[0, 0] += 5.0
    beyond[0, 0] -= 5.0
    assert search.posed.admits("positive", above)
    assert not search.posed.admits("positive", beyond)


# ── refusals, budgets, settings ──────────────────────────────────────────────────────────────────────────────────────
def test_structure_is_built_once() -> None:
    figure = supple.load("panda")
    solver = RankOne()
    first, second = (Problem(figure, placed(figure, "panda_hand", posture(figure, s))) for s in (1, 2))
    assert solver.relaxation(first, True) is solver.relaxation(second, True)
    other = Problem(figure, [Task("panda_link7", Placed(figure.placement(posture(figure, 1), "panda_link7")))])
    assert solver.relaxation(other, True) is not solver.relaxation(first, True)


def test_refusals_name_the_culprit() -> None:
    panda = supple.load("panda")
    pose = Task("panda_hand", Placed(panda.placement(panda.rest, "panda_hand")))
    round_panda = panda.with_spheres({"panda_link5": [(0, 0, 0, 0.1)]})
    aimed = Task(Direction("panda_hand"), supple.AimedAt((1, 1, 1)))
    screws = Figure("screws", [*supple.screw("twist", None, Z, 0.1), *hinge("b", "twist", X)])
    endless = Figure("endless", [*hinge("a", None, Z), *hinge("b", "a", X), *slide("pole", "b", Z)])
    follower = Figure("follower", [*hinge("a", None, Z), *hinge("b", "a", X, drive=supple.mimic("a"))])
    cases = {
        "AimedAt is not linear in rotations": Problem(panda, [aimed]),
        "joint 'twist' is a screw": Problem(screws, placed(screws, "b", screws.rest)),
        "slide 'pole' has no limits, and its axis turns": Problem(endless, [Task("pole", At((1, 0, 0)))]),
        "joint 'b' follows others": Problem(follower, placed(follower, "b", follower.rest)),
        "is a preference": Problem(panda, [pose, Task("panda_link4", At((0, 0, 1)), preference=True)]),
        "it keeps": Problem(round_panda, [pose], obstacles=[supple.Ball((1, 1, 1), 0.1)]),
        "more than a range": Problem(
            panda, [pose], supple.Limits(panda.lower, panda.upper, A=[[1, 1, *[0] * (panda.size - 2)]], b=[1.0])
        ),
    }
    for message, problem in cases.items():
        with pytest.raises(supple.Refused, match=message):
            supple.solve(problem, solver=RankOne())
    for wrong in ({"lift": "matrix"}, {"steps": -1}, {"tolerance": 0.0}, {"factor": 1.0}):
        with pytest.raises(supple.BadValue):
            RankOne(**wrong)


def test_without_the_extra_it_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(supple.MissingExtra, match=r"supple\[convex\]"):
        supple.solve(far(), solver=RankOne())


def test_budgets_and_deadlines_end_it() -> None:
    figure = supple.load("panda")
    problem = Problem(figure, placed(figure, "panda_hand", posture(figure, 1)))
    free = supple.solve(problem, solver=RankOne())
    for budget in (1, 2, 3, 5):
        short = supple.solve(problem, solver=RankOne(), budget=budget, trace=True)
        assert 1 <= short.evaluations <= budget
        assert short.trace is not None
        assert short.ok or short.reason.startswith(f"The budget of {budget} evaluations was spent")
    same = supple.solve(problem, solver=RankOne(), budget=free.evaluations + 100)
    assert_allclose(same.q, free.q)
    late = supple.solve(problem, solver=RankOne(), deadline=1e-9)
    assert late.ok or late.reason.startswith("The deadline of 1e-09 s passed")


def test_a_hinge_that_nothing_asks_of_is_no_obstacle_to_rank_one() -> None:
    """Its disc is at the centre of the relaxed set, where no direction is steepest."""
    arm = [*hinge("a", None, Z), *hinge("b", "a", X, limits=WIDE), *fixed("tip", "b", at=(1, 0, 0))]
    problem = Problem(Figure("arm", arm), [Task(Point("a"), At((0, 0, 0))), Task(Direction("b", X), Facing((0, 1, 0)))])
    search, _ = RankOne().search(problem, True, Purse(FREELY))
    x = search.relaxed().x
    assert x is not None
    assert search.descend(x).spectrum.rank_gap < 1e-6
