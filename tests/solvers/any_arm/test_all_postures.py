"""The eliminations that kernels make: the same equations as in plain NumPy, zeros isolated, and lists that agree."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.kernels.compiling import INTERPRETED, table
from supple.solvers.any_arm.all_postures import AGREEING, all_postures
from supple.solvers.any_arm.any_arm import AnyArm
from supple.solvers.any_arm.circle import find_series, zeros_nearby, zeros_on_circle
from supple.solvers.any_arm.elimination import Elimination
from supple.solvers.any_arm.pencil import both_sides, cut_chain, factored, reflected, six_equations
from supple.solvers.any_arm.rows_of_elimination import SAMPLES, SIDES, SIX, VALUES
from tests.solvers.any_arm.test_any_arm import ARMS
from tests.tables.arms import OFFSET, axes_of, turns

AROUND = 2.0 * pi * np.arange(SAMPLES) / SAMPLES
EACH = pytest.mark.parametrize("name", ARMS)


def only_interpreted(test: Any) -> Any:
    """Mark a test of kernels that only kernels call."""
    missing = pytest.mark.skipif(
        not INTERPRETED, reason="kernels that only kernels call can be called only interpreted"
    )
    return pytest.mark.interpreted(missing(test))


def drawn(ask: AnyArm, f: Any) -> np.ndarray | None:
    """Zeros of a function on the circle, as kernels find them; none if they are not sure."""
    ask.memory[VALUES : VALUES + SAMPLES] = f(AROUND)
    find_series(ask.memory)
    zeros = np.zeros(24)
    n, sure = zeros_on_circle(ask.memory, zeros)
    return np.sort(zeros[:n]) if sure else None


@only_interpreted
@pytest.mark.parametrize("way", [(False, 0), (False, 4), (True, 2)])
def test_kernels_and_numpy_have_the_same_equations(way: tuple[bool, int]) -> None:
    """Both sides, up to lengths: they are measured from other origins, so what is left of them has the same zeros."""
    axes = axes_of(OFFSET)
    ask, q = AnyArm(axes), np.array([0.3, -0.8, 0.7, 0.2, 0.9, 0.4])
    target = axes.placement(q)
    backwards, cut = way
    cut_chain(ask.wide, target, backwards, cut, ask.scratch, ask.memory)
    both_sides(ask.scratch, ask.memory)
    sides = table(ask.memory, SIDES, 14, 36).copy()
    order = (np.arange(6) + cut) % 6
    x = (q[::-1] if backwards else q)[order]
    u = [np.array([1.0, np.cos(a), np.sin(a)]) for a in x]
    known = np.einsum("b,a->ba", u[1], u[0]).ravel()
    unknown = np.einsum("a,b,c->abc", u[2], u[3], u[4]).ravel()
    assert_allclose(sides[:, 8:35] @ unknown, sides[:, :8] @ known[1:] + sides[:, 35], atol=1e-12)
    reflected(ask.memory)
    six_equations(ask.memory, False)
    six = table(ask.memory, SIX, 3, 54).reshape(3, 6, 9)
    y = np.outer(np.tan(x[3] / 2) ** np.arange(3), np.tan(x[4] / 2) ** np.arange(3)).ravel()
    assert_allclose(np.einsum("m,mij,j->i", u[2], six, y), 0.0, atol=1e-12)
    plain = ask._eliminated(target, (backwards, cut, False))
    assert isinstance(plain, Elimination)
    M = plain.matrix()[0]
    for t in (x[2], x[2] + 0.3):
        at = np.array([1.0, np.cos(t), np.sin(t)])
        own = np.zeros((12, 12))
        own[:6, :9] = own[6:, 3:] = np.einsum("m,mij->ij", at, six)
        small = [np.linalg.svd(A, compute_uv=False)[-1] for A in (own, np.einsum("m,mij->ij", at, M))]
        assert (np.array(small) < 1e-12).all() if t == x[2] else (np.array(small) > 1e-12).all()


@only_interpreted
def test_the_determinant_is_that_of_the_matrix() -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        A = rng.normal(size=(12, 12))
        assert_allclose(factored(A.copy(), np.zeros(12)), np.linalg.det(A), rtol=1e-12)


@only_interpreted
def test_zeros_on_the_circle_are_isolated() -> None:
    rng, ask, clear = np.random.default_rng(1), AnyArm(axes_of(OFFSET)), 0
    ask.memory[SIX : SIX + 162] = 0.0
    for _ in range(200):
        count = 2 * int(rng.integers(0, 9))
        known = np.sort(rng.uniform(0.0, 2.0 * pi, count))
        other = rng.uniform(0.0, 2.0 * pi, 8 - count // 2), rng.uniform(1.1, 3.0, 8 - count // 2)

        def f(t: np.ndarray, known: Any = known, other: Any = other) -> Any:
            return np.prod(np.sin(0.5 * (t[:, None] - known)), axis=1) * np.prod(
                other[1] + np.cos(t[:, None] - other[0]), axis=1
            )

        if count and np.diff(np.append(known, known[0] + 2.0 * pi)).min() < 1e-2:
            continue
        found = drawn(ask, f)
        if found is not None:  # where it is faint, the matrix would be asked, and here is none
            clear += 1
            assert len(found) == count
            assert_allclose(found, known, atol=1e-6)
    assert clear >= 60


@only_interpreted
def test_zeros_that_touch_are_not_sure() -> None:
    ask = AnyArm(axes_of(OFFSET))
    ask.memory[VALUES : VALUES + SAMPLES] = 1.0 - np.cos(AROUND - 1.0)
    ask.memory[SIX : SIX + 162] = 0.0  # nor when the arc is looked at by itself
    find_series(ask.memory)
    zeros = np.zeros(24)
    n, sure = zeros_on_circle(ask.memory, zeros)
    assert not sure
    assert zeros_nearby(ask.memory, 1.0, 0.1, zeros, n)[1] is False


@EACH
def test_kernels_find_what_eigenvalues_find(name: str) -> None:
    axes, rng = axes_of(ARMS[name]), np.random.default_rng(7)
    ask, agreed = AnyArm(axes), 0
    for _ in range(40):
        q = rng.uniform(-pi, pi, 6)
        target, out = axes.placement(q), np.empty((64, 6))
        told = all_postures(ask.compiled_ways, ask.wide, target, ask.scratch, ask.memory, out, 2)
        found = out[: told % AGREEING]
        for row in found:
            assert_allclose(axes.placement(row), target, atol=2e-9)
        if told // AGREEING >= 2:
            agreed += 1
            other = ask._by_eigenvalues(target, np.empty((0, 6))).postures
            assert len(other) == len(found)
            for row in other:
                assert np.abs(turns(found - row)).max(1).min() < 1e-6
    assert agreed >= 38


@EACH
def test_a_list_that_lacks_one_is_never_said_to_agree(name: str) -> None:
    """Nor one for whose last posture there is no room."""
    axes, rng = axes_of(ARMS[name]), np.random.default_rng(9)
    ask = AnyArm(axes)
    for _ in range(200):
        q = rng.uniform(-pi, pi, 6)
        target, out = axes.placement(q), np.empty((64, 6))
        told = all_postures(ask.compiled_ways, ask.wide, target, ask.scratch, ask.memory, out, 2)
        count, agreed = told % AGREEING, told // AGREEING
        if agreed >= 2:
            assert np.abs(turns(out[:count] - q)).max(1).min() < 1e-6
        room = np.empty((max(count - 1, 1), 6))
        assert all_postures(ask.compiled_ways, ask.wide, target, ask.scratch, ask.memory, room, 2) < 2 * AGREEING


@pytest.mark.interpreted
def test_postures_interpreted() -> None:
    axes = axes_of(OFFSET)
    ask, q = AnyArm(axes), np.array([0.3, -0.8, 0.7, 0.2, 0.9, 0.4])
    found = ask.everywhere(axes.placement(q))
    assert found.agreed >= 2
    assert np.abs(turns(found.postures - q)).max(1).min() < 1e-6
