"""`solve_all`: every posture, the nearest first, inside the limits; complete only with a proof, and plain words otherwise."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from math import pi
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple
from tests.tables.arms import ARMS, axes_of, brute_force, figure_of, turns

KNOWN = np.array([0.3, -0.8, 0.7, 0.2, 0.9, 0.4])


def posed(figure: supple.Figure, q: Any, segment: str = "hand", **more: Any) -> supple.Problem:
    return supple.Problem(figure, [supple.Task(segment, supple.Placed(figure.placement(q, segment)))], **more)


@pytest.mark.parametrize("name", ARMS)
def test_all_are_found_the_nearest_first_and_proved(name: str) -> None:
    pytest.importorskip("flint")
    figure, rng = figure_of(ARMS[name]), np.random.default_rng(11)
    proved = 0
    for k in range(6):
        q, start = rng.uniform(-pi, pi, 6), rng.uniform(-pi, pi, 6)
        problem = posed(figure, q)
        found = supple.solve_all(problem, start)
        far = np.linalg.norm(found.q - start, axis=1)
        assert (np.diff(far) >= 0.0).all()
        for row in found.q:
            assert_allclose(figure.placement(row, "hand"), figure.placement(q, "hand"), atol=1e-8)
            assert figure.limits.contains(row)
        if k < 2:
            assert len(found) == len(brute_force(axes_of(ARMS[name]), figure.placement(q, "hand"), 500, k))
        if found.complete is True:
            proved += 1
            assert found.certificate is not None
            assert found.certificate.verify(figure)
            assert len(found) == len(found.certificate.postures)
    assert proved >= 5


@pytest.mark.parametrize("arm", ["ur5", "random", "panda"])
def test_threads_that_ask_at_once_get_the_same_lists(arm: str) -> None:
    if arm == "random":
        rng = np.random.default_rng(4)
        axes = rng.standard_normal((6, 3))
        joints: list[supple.Joint] = []
        for k in range(6):
            at = tuple((0.2 * rng.standard_normal(3)).tolist())
            joints += supple.hinge(f"h{k}", f"h{k - 1}" if k else None, tuple(axes[k].tolist()), at=at)
        figure, segment = supple.Figure("random", joints), "h5"
    else:
        figure, segment = supple.load(arm), {"ur5": "tool0", "panda": "panda_hand"}[arm]
    rng, free = np.random.default_rng(5), figure.rest
    Q = np.clip(free + rng.uniform(-1.5, 1.5, (120 if arm == "ur5" else 12, figure.size)), figure.lower, figure.upper)
    problems = [posed(figure, q, segment) for q in Q]

    def lists(_: int) -> list[np.ndarray]:
        return [supple.solve_all(problem, prove=False).q for problem in problems]

    alone = lists(0)
    with ThreadPoolExecutor(4) as pool:
        for together in pool.map(lists, range(4)):
            for a, b in zip(alone, together, strict=True):
                assert_array_equal(a, b)


def test_limits_leave_some_out_and_the_proof_has_them() -> None:
    pytest.importorskip("flint")
    figure = figure_of(ARMS["puma-like"], wide=2.0)
    found = supple.solve_all(posed(figure, KNOWN))
    assert found.complete is True
    assert found.certificate is not None
    assert 0 < len(found) < len(found.certificate.postures) == 8
    assert (np.abs(found.q) <= 2.0).all()
    assert np.abs(found.q - KNOWN).max(1).min() < 1e-8


def test_a_posture_just_outside_a_limit_leaves_it_open() -> None:
    pytest.importorskip("flint")
    figure = figure_of(ARMS["puma-like"])
    upper = np.array(figure.upper)
    upper[2] = KNOWN[2] - 1e-10
    limits = supple.Limits(figure.lower, upper)
    found = supple.solve_all(supple.Problem(figure, [posed(figure, KNOWN).tasks[0]], limits))
    assert found.complete is False
    assert "at a limit" in found.why


def test_windings_on_request() -> None:
    figure = supple.load("ur5")
    problem = posed(figure, KNOWN, "tool0")
    few, all_ = supple.solve_all(problem, prove=False), supple.solve_all(problem, prove=False, windings=True)
    assert len(few) == 8
    assert len(all_) == 8 * 2**5  # every joint but the elbow turns twice
    assert len(np.unique(np.round(all_.q, 6), axis=0)) == len(all_)
    for row in all_.q:
        assert np.abs(turns(few.q - row)).max(1).min() < 1e-9
        assert figure.limits.contains(row)
    endless = supple.Problem(figure, problem.tasks, supple.Limits(np.full(6, -np.inf), np.full(6, np.inf)))
    with pytest.raises(supple.Error, match="infinitely many"):
        supple.solve_all(endless, windings=True)
    assert len(supple.solve_all(endless, prove=False)) == 8


def test_nothing_is_in_reach_and_that_is_proved() -> None:
    pytest.importorskip("flint")
    figure = figure_of(ARMS["ur5-like"])
    target = figure.placement(KNOWN, "hand").copy()
    target[:3, 3] = (0.0, 0.0, 3.0)
    found = supple.solve_all(supple.Problem(figure, [supple.Task("hand", supple.Placed(target))]))
    assert found.q.shape == (0, 6)
    assert found.complete is True


def test_families_and_clusters_are_said() -> None:
    figure = figure_of(ARMS["puma-like"])
    straight = supple.solve_all(posed(figure, [0.3, -0.8, 0.7, 0.2, 0.0, 0.4]))
    assert straight.complete == "family"
    assert "infinitely many" in straight.why
    for row in straight.q:
        assert_allclose(
            figure.placement(row, "hand"), figure.placement([0.3, -0.8, 0.7, 0.2, 0.0, 0.4], "hand"), atol=1e-8
        )
    planar = figure_of(ARMS["ur5-like"])
    stretched = supple.solve_all(posed(planar, [0.3, -0.8, 0.0, 0.2, 0.9, 0.4]))
    assert stretched.complete == "cluster"
    assert len(stretched) > 0


def test_nearly_singular_poses_stay_open_and_say_so() -> None:
    pytest.importorskip("flint")
    figure = figure_of(ARMS["puma-like"])
    found = supple.solve_all(posed(figure, [0.3, -0.8, 0.7, 0.2, 1e-6, 0.4]))
    assert found.complete is False
    assert found.why.startswith("Not proved")


def test_a_chain_inside_a_larger_figure() -> None:
    """Six hinges on a cart that slides and beside another arm: what is not of the chain stays where the start has it."""
    arm = figure_of(ARMS["kuka-like"])
    joints = [*supple.hinge("other", None, (0, 1, 0), limits=(-1, 1)), *arm.joints.values()]
    both = supple.Figure("both", joints)
    q = np.concatenate([[0.5], KNOWN])
    start = np.concatenate([[0.25], np.zeros(6)])
    found = supple.solve_all(posed(both, q), start, prove=False)
    alone = supple.solve_all(posed(arm, KNOWN), np.zeros(6), prove=False)
    assert_array_equal(found.q[:, 1:], alone.q)
    assert (found.q[:, 0] == 0.25).all()


def test_one_joint_of_seven_locked() -> None:
    pytest.importorskip("flint")
    panda = supple.load("panda").locked("panda_joint7")
    q = np.array(panda.rest)
    found = supple.solve_all(posed(panda, q, "panda_hand_tcp"), q)
    assert np.abs(found.q - q).max(1).min() < 1e-6
    assert found.complete is True


def test_without_being_asked_nothing_is_proved() -> None:
    found = supple.solve_all(posed(figure_of(ARMS["ur5-like"]), KNOWN), prove=False)
    assert found.complete is False
    assert found.certificate is None
    assert "asked" in found.why


def test_other_problems_are_refused_by_name() -> None:
    arm, panda = figure_of(ARMS["ur5-like"]), supple.load("panda")
    two = [supple.Task(s, supple.Placed(arm.placement(KNOWN, s))) for s in ("hand", "3")]
    cases = [
        (posed(panda, panda.rest, "panda_link3"), "six or seven hinges; 4 move 'panda_link3'"),
        (posed(arm, KNOWN, "5"), "5 move '5'"),
        (supple.Problem(arm, [supple.Task(supple.Point("hand"), supple.At((0.3, 0.2, 0.4)))]), "one task, a frame"),
        (supple.Problem(arm, two), "one task"),
        (supple.Problem(arm, [supple.Task("hand", supple.AimedAt((1, 0, 0)))]), "Placed"),
    ]
    for problem, word in cases:
        with pytest.raises(supple.Refused, match=word):
            supple.solve_all(problem)
