"""Any arm of six hinges: lifted lines move as lines do, the known posture is found, and brute force finds no other."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.solvers.any_arm.any_arm import AnyArm
from supple.solvers.any_arm.elimination import Elimination, acting, lifted, turning
from supple.solvers.closed_forms.axes import turn_about
from tests.tables.arms import OFFSET, axes_of, brute_force, figure_of, turns


def random_arm(seed: int) -> list[tuple[float, float, float]]:
    rng = np.random.default_rng(seed)
    return [(rng.uniform(-pi, pi), rng.uniform(-0.4, 0.4), rng.uniform(-0.4, 0.4)) for _ in range(6)]


JACO = [
    (pi / 2, 0, 0.2755), (pi, 0.41, 0), (pi / 2, 0, -0.0098),
    (1.0472, 0, -0.25008), (1.0472, 0, -0.085563), (pi, 0, -0.2028),
]  # fmt: skip
ARMS = {"offset": OFFSET, "jaco-like": JACO, "random 1": random_arm(1), "random 2": random_arm(2)}


def test_lifted_lines_move_as_lines_do() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        h, p, l, x, t = rng.normal(size=(5, 3))
        h, l = h / np.linalg.norm(h), l / np.linalg.norm(l)
        q = rng.uniform(-pi, pi)
        T = turn_about(h, p, q)
        moved = lifted(T[:3, :3] @ x + T[:3, 3], T[:3, :3] @ l)
        assert_allclose(acting(T[:3, :3], T[:3, 3]) @ lifted(x, l), moved, atol=1e-12)
        A, B, C = turning(h, p)
        assert_allclose((A + np.cos(q) * B + np.sin(q) * C) @ lifted(x, l), moved, atol=1e-12)
        assert_allclose(acting(np.eye(3), t) @ lifted(x, l), lifted(x + t, l), atol=1e-12)


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("cut", range(6))
def test_both_sides_of_every_cut_agree_in_a_posture(name: str, cut: int) -> None:
    axes, rng = axes_of(ARMS[name]), np.random.default_rng(1)
    q = rng.uniform(-pi, pi, 6)
    one = Elimination(axes, axes.placement(q) @ np.linalg.inv(axes.home), cut)
    left, right = one.equations()
    u = [np.array([1.0, np.cos(x), np.sin(x)]) for x in q[one.order]]
    assert_allclose(np.einsum("iabc,a,b,c->i", left, *u[2:5]), np.einsum("iba,b,a->i", right, u[1], u[0]), atol=1e-9)


@pytest.mark.parametrize("name", ARMS)
def test_the_known_posture_is_found_and_brute_force_finds_no_other(name: str) -> None:
    axes, rng = axes_of(ARMS[name]), np.random.default_rng(2)
    ask = AnyArm(axes)
    for k in range(12):
        q = rng.uniform(-pi, pi, 6)
        target = axes.placement(q)
        found, agreed, tried = ask.everywhere(target)
        assert agreed >= 2
        assert tried < 9
        assert np.abs(turns(found - q)).max(1).min() < 1e-6
        for row in found:
            assert_allclose(axes.placement(row), target, atol=2e-9)
        for row in brute_force(axes, target, 400, k) if k < 2 else ():
            assert np.abs(turns(found - row)).max(1).min() < 1e-6


def test_through_the_door() -> None:
    figure = figure_of(OFFSET, wide=2.5)
    known = np.array([0.3, -0.8, 0.7, 0.2, 0.9, 0.4])
    problem = supple.Problem(figure, [supple.Task("hand", supple.Placed(figure.placement(known, "hand")))])
    found = supple.solve_all(problem, known)
    assert found.complete is False
    assert "no formula" in found.why
    assert_allclose(found.q[0], known, atol=1e-9)
    assert (np.abs(found.q) <= 2.5).all()
    far = figure.placement(known, "hand").copy()
    far[:3, 3] = (5.0, 0.0, 0.0)
    none = supple.solve_all(supple.Problem(figure, [supple.Task("hand", supple.Placed(far))]))
    assert none.q.shape == (0, 6)
