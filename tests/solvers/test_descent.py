"""What every descent method and baseline has from its skeleton: an entry, settings in order, scratch that need not be clean."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from supple import (
    ActiveSet,
    At,
    CyclicCoordinateDescent,
    Fabrik,
    JacobianTranspose,
    Limits,
    Newton,
    Point,
    Problem,
    ProjectedGradient,
    PseudoInverse,
    Status,
    Task,
    solve,
)
from supple.figure.catalogue import build
from supple.problem.allowance import EVALUATIONS, FREELY, ITERATIONS
from supple.solvers.base import STEPS, TOLERANCE, Descent, is_patient
from supple.solvers.baselines.damped_least_squares import DampedLeastSquares
from supple.solvers.baselines.jacobian_transpose import FittedStep

PANDA, HAND = build("panda"), "panda_hand_tcp"
METHODS: dict[str, Any] = {
    "newton": Newton(steps=30),
    "gauss-newton": Newton(steps=30, curvature=False),
    "active set": ActiveSet(steps=60),
    "projected gradient": ProjectedGradient(steps=60),
    "transpose": JacobianTranspose(steps=60),
    "fitted": JacobianTranspose(steps=60, step=FittedStep()),
    "damped": DampedLeastSquares(steps=60),
    "inverse": PseudoInverse(steps=60),
    "inverse, clamped at the end": PseudoInverse(steps=60, at_end=True),
    "cyclic": CyclicCoordinateDescent(steps=20),
    "fabrik": Fabrik(steps=20),
}


def problems(tied: bool) -> tuple[list[Problem], np.ndarray]:
    """A hand at five points, near and out of reach, and five starts; `tied`: under linear limits, some of which hold."""
    rng, limits = np.random.default_rng(3), None
    if tied:
        A = rng.normal(size=(3, PANDA.size))
        limits = Limits(PANDA.lower, PANDA.upper, A=A, b=A @ PANDA.rest + 0.1)
    Q = np.array([PANDA.limits.project(PANDA.rest + 0.5 * rng.normal(size=PANDA.size)) for _ in range(5)])
    spots = PANDA.placement(Q, HAND)[:, :3, 3] * np.array([1.0, 1.0, 1.6, 1.0, 2.0])[:, None]
    found = [Problem(PANDA, [Task(Point(HAND), At(spot))], limits) for spot in spots]
    assert found[0].limits is not None
    return found, np.array([found[0].limits.project(PANDA.rest + 0.2 * rng.normal(size=PANDA.size)) for _ in found])


@pytest.mark.parametrize("tied", [False, True], ids=["box", "linear limits"])
@pytest.mark.parametrize("name", METHODS)
def test_rows_do_not_know_of_each_other(name: str, tied: bool) -> None:
    """Several rows of one call, in scratch full of rubbish, end as each does alone."""
    solver, (asked, starts) = METHODS[name], problems(tied)
    I, F, _ = asked[0].pack
    T, Q, report = np.array([p.packed[2] for p in asked]), starts.copy(), FREELY.report(len(asked))
    settings = np.array((solver.steps, solver.tolerance, is_patient(asked[0]), *solver.own_settings()), dtype=float)
    scratch = np.full(solver.loop.scratch.size(I), np.nan)
    solver.loop.entry(I, F, scratch, T, Q, settings, report, FREELY.page(), 0, len(asked))
    for k in reversed(range(len(asked))):
        alone = solver.solve(asked[k], starts[k])
        assert_array_equal(Q[k], alone.q)
        assert (report[k, ITERATIONS], report[k, EVALUATIONS]) == (alone.iterations, alone.evaluations)
        assert asked[k].value(alone.q) <= asked[k].value(starts[k])


@pytest.mark.parametrize("name", METHODS)
def test_settings_begin_with_steps_and_tolerance(name: str) -> None:
    solver = METHODS[name]
    assert isinstance(solver, Descent)
    assert [f.name for f in fields(solver)][STEPS : TOLERANCE + 1] == ["steps", "tolerance"]
    assert all(np.isfinite(solver.own_settings()))


# ── projected gradient: bounded steps, and giving up ─────────────────────────────────────────────────────────────────
def test_a_bounded_first_trial_moves_no_coordinate_further_than_it_says():
    problem = Problem(PANDA, [Task(Point(HAND), At((0.3, 0.4, 0.5)))])
    for longest in (0.01, 0.1):
        q = PANDA.rest
        for _ in range(15):
            new = solve(problem, q, solver=ProjectedGradient(steps=1, longest=longest)).q
            assert np.abs(new - q).max() <= longest * (1 + 1e-12)
            q = new
    free = solve(problem, solver=ProjectedGradient())
    assert np.array_equal(solve(problem, solver=ProjectedGradient(longest=1e9)).q, free.q)
    assert solve(problem, solver=ProjectedGradient(longest=0.1)).ok


def test_a_stagnating_descent_gives_up_and_says_so():
    problem = Problem(PANDA, [Task(Point(HAND), At((0.9, 0.6, -0.5)))])
    patient = solve(problem, solver=ProjectedGradient(spectral=False))
    hasty = solve(problem, solver=ProjectedGradient(spectral=False, stagnation=0.01))
    assert hasty.iterations < 0.5 * patient.iterations
    assert hasty.status is Status.STOPPED
    assert problem.value(hasty.q) < 1.05 * problem.value(patient.q)
    near = Problem(PANDA, [Task(Point(HAND), At((0.3, 0.4, 0.5)))])
    assert solve(near, solver=ProjectedGradient(stagnation=1e-3)).ok
