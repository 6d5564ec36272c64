"""`solve_all` of arms that move while the hand stays: curves inside the limits, the nearest first, no claim too many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple

PANDA, UR5 = supple.load("panda"), supple.load("ur5")


def posed(figure: supple.Figure, q: Any, segment: str, **more: Any) -> supple.Problem:
    return supple.Problem(figure, [supple.Task(segment, supple.Placed(figure.placement(q, segment)))], **more)


def pointed(q: np.ndarray, along: tuple[float, float, float], **more: Any) -> tuple[supple.Problem, Any]:
    """A point and a direction of the UR5's tool, which leave a turn free; and how far a posture is off."""
    T = UR5.placement(q, "tool0")
    wanted = T[:3, :3] @ along
    point, direction = supple.Point("tool0"), supple.Direction("tool0", along)
    tasks = [supple.Task(point, supple.At(T[:3, 3])), supple.Task(direction, supple.Facing(wanted))]

    def off(row: np.ndarray) -> float:
        here = UR5.placement(row, "tool0")
        return float(max(np.abs(here[:3, 3] - T[:3, 3]).max(), np.abs(here[:3, :3] @ along - wanted).max()))

    return supple.Problem(UR5, tasks, **more), off


def test_the_curves_of_seven_hinges() -> None:
    rng, size = np.random.default_rng(4), PANDA.size
    for _ in range(4):
        q, start = rng.uniform(PANDA.lower, PANDA.upper, (2, size))
        start[-1] = q[-1]
        target = PANDA.placement(q, "panda_hand")
        found = supple.solve_all(posed(PANDA, q, "panda_hand"), start)
        assert found.complete == "family"
        assert "'panda_joint7'" in found.why
        assert "not proved" in found.why
        assert found.certificate is None
        assert len(found) == len(found.curves) > 0
        far = np.linalg.norm(found.q - start, axis=1)
        assert (np.diff(far) >= 0.0).all()
        assert far[0] <= np.linalg.norm(q - start) + 1e-9
        for row, curve in zip(found.q, found.curves, strict=True):
            assert_allclose(PANDA.placement(row, "panda_hand"), target, atol=1e-8)
            assert np.linalg.norm(curve.q - row, axis=1).min() < 0.33
            assert np.linalg.norm(curve.q - start, axis=1).min() >= np.linalg.norm(row - start) - 1e-6
            for one in curve.q:
                assert_allclose(PANDA.placement(one, "panda_hand"), target, atol=1e-8)
                assert PANDA.limits.contains(one)
            assert curve.arc[0] == 0.0
            assert (np.diff(curve.arc) >= np.linalg.norm(np.diff(curve.q, axis=0), axis=1) - 1e-9).all()
            assert curve.length == curve.arc[-1]
            assert len(curve) == len(curve.q)


def test_the_start_is_the_nearest_to_itself() -> None:
    q = np.array(PANDA.rest) + 0.1
    found = supple.solve_all(posed(PANDA, q, "panda_hand"), q)
    assert_allclose(found.q[0, :7], q[:7], atol=1e-6)


def test_seven_hinges_inside_a_larger_figure() -> None:
    both = supple.Figure("both", [*supple.hinge("other", None, (0, 1, 0), limits=(-1, 1)), *PANDA.joints.values()])
    q = np.array(PANDA.rest) + 0.2
    found = supple.solve_all(posed(both, np.append(0.5, q), "panda_hand"), np.append(0.25, PANDA.rest))
    alone = supple.solve_all(posed(PANDA, q, "panda_hand"), PANDA.rest)
    assert_array_equal(found.q[:, 1:], alone.q)
    assert (found.q[:, 0] == 0.25).all()
    assert (found.curves[0].q[:, 0] == 0.25).all()


@pytest.mark.parametrize("along", [(0.0, 0.0, 1.0), (0.6, 0.0, 0.8)], ids=["its last axis", "another"])
def test_a_direction_leaves_a_turn_free(along: tuple[float, float, float]) -> None:
    q = np.array([0.3, -0.8, 0.7, 0.2, 0.9, 0.4])
    problem, off = pointed(q, along)
    found = supple.solve_all(problem, q)
    assert found.complete == "family"
    assert "the free turn" in found.why
    assert len(found.curves) >= 4
    assert_allclose(found.q[0], q, atol=1e-6)
    for curve in found.curves:
        assert max(off(row) for row in curve.q) < 1e-8
        assert all(UR5.limits.contains(row) for row in curve.q)


def test_a_direction_of_five_hinges_has_a_list_that_nobody_proves() -> None:
    q = np.array([0.3, -0.8, 0.7, 0.2, 0.9, 0.4])
    five = UR5.locked("wrist_3_joint")
    rest = np.array(q[:5])
    T = five.placement(rest, "tool0")
    direction = supple.Direction("tool0", (0.0, 0.0, 1.0))
    tasks = [supple.Task(supple.Point("tool0"), supple.At(T[:3, 3])), supple.Task(direction, supple.Facing(T[:3, 2]))]
    found = supple.solve_all(supple.Problem(five, tasks), rest)
    assert found.complete is False
    assert "a direction is free" in found.why
    assert_allclose(found.q[0], rest, atol=1e-8)
    assert len(found) == 8
    for row in found.q:
        assert_allclose(five.placement(row, "tool0")[:3, 2:], T[:3, 2:], atol=1e-8)


def test_nothing_inside_the_limits_and_nothing_at_all() -> None:
    q = np.array(PANDA.rest) + 0.1
    problem = posed(PANDA, q, "panda_hand")
    narrow = supple.Limits(np.minimum(q + 0.5, PANDA.upper), np.minimum(q + 0.6, PANDA.upper + 0.0))
    found = supple.solve_all(supple.Problem(PANDA, problem.tasks, narrow))
    assert found.complete == "family"
    assert len(found) == len(found.curves) == 0
    assert "0 pieces" in found.why
    far = PANDA.placement(q, "panda_hand") + np.eye(4, k=3) * 5.0
    none = supple.solve_all(supple.Problem(PANDA, [supple.Task("panda_hand", supple.Placed(far))]))
    assert none.complete is False
    assert len(none) == 0
    assert "Not proved" in none.why


def test_windings_are_refused() -> None:
    with pytest.raises(supple.Error, match="six hinges"):
        supple.solve_all(posed(PANDA, PANDA.rest, "panda_hand"), windings=True)
