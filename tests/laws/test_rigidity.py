"""Rigidity: what is locked never moves by a bit, what is reluctant moves less, and a change of unit is what it is."""

from __future__ import annotations

import inspect
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple import (
    ActiveSet,
    At,
    CyclicCoordinateDescent,
    Decide,
    Fabrik,
    Figure,
    JacobianTranspose,
    LevenbergMarquardt,
    Limits,
    Multistart,
    Newton,
    Placed,
    Problem,
    ProjectedGradient,
    PseudoInverse,
    RankOne,
    Refused,
    Status,
    Task,
    fixed,
    hinge,
    slide,
    solve,
)
from supple.figure import Coordinate, Drive, Group
from supple.geometry.placements import X, Z
from supple.solvers import CautiousStep, DampedLeastSquares, FittedStep, PreferredClearance
from tests.tables.figures import TREES, posture
from tests.tables.public import PUBLIC
from tests.tables.solver_cases import JACK, shaken

METRIC: dict[str, Any] = {  # those that measure in units of 1 − ρ
    "ProjectedGradient": ProjectedGradient(),
    "ProjectedGradient, plain": ProjectedGradient(spectral=False),
    "ActiveSet": ActiveSet(),
    "Newton": Newton(),
    "Newton, without curvature": Newton(curvature=False),
    "LevenbergMarquardt": LevenbergMarquardt(),
    "JacobianTranspose": JacobianTranspose(),
    "JacobianTranspose, fitted": JacobianTranspose(step=FittedStep()),
    "JacobianTranspose, cautious": JacobianTranspose(step=CautiousStep()),
    "PseudoInverse": PseudoInverse(longest=np.inf),
    "DampedLeastSquares": DampedLeastSquares(),
}
RELUCTANT: dict[str, Any] = METRIC | {
    "CyclicCoordinateDescent": CyclicCoordinateDescent(),
    "Multistart": Multistart(),
    "Multistart of Newton": Multistart(Newton(), attempts=5),
    "Multistart of ActiveSet": Multistart(ActiveSet(), attempts=5),
}
ALL: dict[str, Any] = RELUCTANT | {"Fabrik": Fabrik(), "RankOne": RankOne()}

ARM = TREES["arm"]
RAILS = Figure("rails", [*slide("a", None, X), *slide("b", "a", X)])
LINKS = Figure(
    "links",
    [
        *hinge("a", None, Z, limits=(-3, 3)),
        *(j for k, n in enumerate("bcd") for j in hinge(n, "abcd"[k], Z, at=(0.5, 0, 0), limits=(-3, 3), rest=0.4)),
        *fixed("tip", "d", at=(0.5, 0, 0)),
    ],
)
FAR = (0.9, 0.8, 0.0)  # within the reach of LINKS


def short(solver: Any, steps: int) -> Any:
    """The solver with few steps, also of each attempt."""
    if isinstance(solver, Multistart):
        return replace(solver, solver=replace(solver.solver, steps=steps), attempts=min(solver.attempts, 5))
    return replace(solver, steps=steps)


def test_the_table_has_every_solver():
    refusing = {
        Decide,
        PreferredClearance,
    }  # the first refuses locked joints, the second hands everything to its solver
    solvers = {k for k in PUBLIC.values() if inspect.isclass(k) and hasattr(k, "refuse")} - refusing
    assert {type(s) for s in ALL.values()} == solvers


# ── locked ───────────────────────────────────────────────────────────────────────────────────────────────────────────
def locked_cases(seed: int) -> list[tuple[Problem, np.ndarray]]:
    """A locked waist on an arm with ranges; locked shoulders, which linear rows tie to the rest, on a person."""
    rng = np.random.default_rng(seed)
    reach = At(ARM.placement(posture(ARM, seed), "hand")[:3, 3])
    palm = JACK.placement(shaken(JACK, seed, 0.5), "hand_l.palm")
    person = Problem(
        JACK,
        [Task("hand_l.palm", Placed(palm))],
        rigidity={"shoulder_?.elevation": 1, "spine.bending": 1, "neck": 0.5, "*_l.twist": rng.uniform()},
    )
    return [
        (Problem(ARM, [Task("hand", reach)], rigidity={"waist": 1.0}), posture(ARM, seed + 9)),
        (person, shaken(JACK, seed + 9, 1.0)),  # on the faces of the rows, by rounding a little beyond some
    ]


@pytest.mark.parametrize("solver", ALL)
def test_what_is_locked_never_moves_by_a_bit(solver: str):
    moved = 0
    for seed in range(5):
        for problem, start in locked_cases(seed):
            if ALL[solver].refuse(problem):
                continue
            q = solve(problem, start, solver=short(ALL[solver], 40)).q
            stays = problem.free == 0.0
            assert_array_equal(q[stays], start[stays])
            assert problem.limits.contains(q)
            moved += bool((q != start).any())
    assert moved >= 5


def test_what_is_locked_stays_through_every_door():
    problem, start = locked_cases(1)[0]
    targets = ARM.placement([posture(ARM, k) for k in range(8)], "hand")[:, :3, 3]
    answers = [
        *supple.solve_many(problem, targets, start=start).q,
        *supple.follow(problem, targets, start=start).q,
        *(supple.prepare(problem)(target, start).q for target in targets),
        *(supple.step(problem, start, 0.1, targets=target) for target in targets),
    ]
    assert all(q[0] == start[0] and (q[1:] != start[1:]).any() for q in answers)


def test_a_start_beyond_a_row_comes_back_without_what_is_locked():
    limits = Limits(ARM.lower, ARM.upper, A=[[1, 1, 0, 0]], b=[0.5])
    problem = Problem(ARM, [Task("hand", At((0.3, 0.2, 0.5)))], limits, rigidity={"waist": 1})
    for solver in (None, ActiveSet(), ProjectedGradient(), Newton(), DampedLeastSquares()):
        q = solve(problem, [0.4, 0.3, 1.0, 0.1], solver=solver).q
        assert q[0] == 0.4
        assert q[1] <= 0.1 + 1e-9
    both = Problem(ARM, problem.tasks, limits, rigidity={"waist": 1, "shoulder": 1})
    assert limits.contains(solve(both, [0.4, 0.3, 1.0, 0.1]).q)  # a lock that no legal posture has cannot hold


# ── reluctant ────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("solver", METRIC)
def test_two_rails_share_the_way_as_the_squares_of_their_units(solver: str):
    for rho in (0.0, 0.3, 0.5, 0.9):
        problem = Problem(RAILS, [Task("b", At((1.0, 0, 0)), tolerance=1e-7)], rigidity={"b": rho})
        q = solve(problem, [0.0, 0.0], solver=METRIC[solver]).q
        d = (1.0 - rho) ** 2
        assert_allclose(q, [1.0 / (1.0 + d), d / (1.0 + d)], atol=2e-7)


@pytest.mark.parametrize("solver", RELUCTANT)
@pytest.mark.parametrize("name", ["b", "d"])
def test_the_more_rigid_a_joint_is_the_less_of_the_motion_is_its_own(solver: str, name: str):
    i, shares = LINKS.coordinates.index(name), []
    for rho in (0.0, 0.25, 0.5, 0.75, 0.9, 1.0):
        problem = Problem(LINKS, [Task("tip", At(FAR))], rigidity={name: rho})
        solution = solve(problem, solver=RELUCTANT[solver])
        assert solution.ok, solution.report()
        moved = np.abs(solution.q - LINKS.rest)
        shares.append(float(moved[i] / moved.sum()))
    assert all(a > b for a, b in pairwise(shares)), shares
    assert shares[-1] == 0.0


@pytest.mark.parametrize("solver", RELUCTANT)
def test_reluctance_is_no_excuse_to_call_a_posture_the_nearest(solver: str):
    problem = Problem(RAILS, [Task("b", At((1.0, 0, 0)))], rigidity={"a": 1.0, "b": 0.999})
    solution = solve(problem, [0.0, 0.9996], solver=short(RELUCTANT[solver], 100))
    assert solution.status is not Status.NEAREST, solution.report()


# ── a change of unit ─────────────────────────────────────────────────────────────────────────────────────────────────
RHO = np.array([0.0, 0.5, 0.7, 0.2])
ROWS = np.array([[1.0, 0.5, 0.0, -0.3], [0.0, -1.0, 0.2, 1.0]])


def in_other_units(limits: Limits) -> tuple[Figure, Limits]:
    """The arm whose joints follow coordinates φ by ``q = (1 − ρ) φ``, and its limits in φ."""
    unit = 1.0 - RHO
    coordinates = tuple(
        Coordinate(f"φ{i}", (float(lo), float(hi)), float(x))
        for i, (lo, hi, x) in enumerate(zip(ARM.lower / unit, ARM.upper / unit, ARM.rest / unit, strict=True))
    )
    drives = {name: Drive.by({f"φ{i}": float(unit[i])}) for i, name in enumerate(ARM.coordinates)}
    rows = {"A": limits.A * unit, "b": limits.b} if len(limits.b) else {}
    return ARM.grouped(Group("units", coordinates, drives)), Limits(limits.lower / unit, limits.upper / unit, **rows)


@pytest.mark.parametrize("solver", METRIC)
@pytest.mark.parametrize("rows", [False, True], ids=["ranges", "rows"])
@pytest.mark.parametrize("target", [(0.3, 0.3, 0.5), (0.9, 0.9, 0.2)], ids=["reached", "not reached"])
def test_rigidity_is_a_change_of_unit_step_by_step(solver: str, rows: bool, target: Any):
    limits = Limits(ARM.lower, ARM.upper, A=ROWS, b=ROWS @ ARM.rest + 0.1) if rows else ARM.limits
    tasks = [Task("hand", At(target))]
    problem, (scaled, their) = Problem(ARM, tasks, limits, rigidity=RHO), in_other_units(limits)
    if METRIC[solver].refuse(problem):
        pytest.skip("it does not take linear rows")
    assert scaled.coordinates == ("φ0", "φ1", "φ2", "φ3")
    springs = rows and solver == "LevenbergMarquardt"  # holds rows by springs, whose stiffness is by the unit of a row
    for steps in (1, 2, 3, 5, 8):
        once = replace(METRIC[solver], steps=steps)
        here, there = once.solve(problem, ARM.rest), once.solve(Problem(scaled, tasks, their), scaled.rest)
        still = (
            here.status is Status.NEAREST
        )  # G is what it was but for its last bit, which decides on a last step of √ε
        assert_allclose(here.q, (1.0 - RHO) * there.q, rtol=0, atol=1e-4 if springs else 1e-7 if still else 1e-9)
        assert springs or here.evaluations == there.evaluations
    assert (here.q != ARM.rest).all()


# ── refusal ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_what_cannot_honour_reluctance_refuses_it_by_name():
    task = Task("tip", At(FAR))
    for solver in RELUCTANT.values():
        assert not solver.refuse(Problem(LINKS, [task], rigidity={"c": 0.5}))
    assert not Fabrik().refuse(Problem(LINKS, [task], rigidity={"c": 1.0}))
    with pytest.raises(
        Refused, match=r"Fabrik cannot take this problem: joint 'c' has rigidity 0\.5, which is neither"
    ):
        solve(Problem(LINKS, [task], rigidity={"c": 0.5}), solver=Fabrik())
