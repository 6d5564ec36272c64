"""Self-motions of seven hinges: on the target all along, closed, as many as a dense reference finds, cut where limits are."""

from __future__ import annotations

from functools import cache
from math import pi

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.proofs.claims import claims_of
from supple.solvers.closed_forms.axes import Axes
from supple.solvers.self_motions.rows_of_curves import LENGTH, SEVEN, TANGENT
from supple.solvers.self_motions.seven_hinges import SevenHinges
from tests.tables.arms import turns

TIPS = {"panda": "panda_hand", "iiwa14": "iiwa_link_ee", "sawyer": "right_hand"}
EVERY = pytest.mark.parametrize("name", TIPS)
QUICK = pytest.mark.parametrize("name", ["panda", "iiwa14"])


@cache
def axes_of(name: str) -> Axes:
    figure, tip = supple.load(name), TIPS[name]
    goal = supple.Placed(figure.placement(figure.rest, tip))
    return Axes.of(claims_of(supple.Problem(figure, [supple.Task(tip, goal)]))[0].chain)


@cache
def arm_of(name: str, slices: int) -> SevenHinges:
    return SevenHinges(axes_of(name), slices)


def poses(name: str, count: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    axes, rng = axes_of(name), np.random.default_rng(seed)
    Q = rng.uniform(np.maximum(axes.lower, -pi), np.minimum(axes.upper, pi), (count, SEVEN))
    return [(q, axes.placement(q)) for q in Q]


def ranges_of(name: str, start: np.ndarray) -> np.ndarray:
    axes = axes_of(name)
    return np.array([axes.lower, axes.upper, start, np.ones(SEVEN)])


def halfway(V: np.ndarray) -> np.ndarray:
    """Postures between vertices, by the cubic."""
    a, b, length = V[:-1], V[1:], V[:-1, LENGTH, None]
    return 0.5 * (a + b)[:, :SEVEN] + 0.125 * length * (a - b)[:, TANGENT:LENGTH]


@EVERY
def test_the_hand_stays_all_along(name: str) -> None:
    axes = axes_of(name)
    for q, T in poses(name, 3, 1):
        found = arm_of(name, 72).curves(T)
        off = np.inf
        for V, closed in found.curves:
            assert closed
            assert_allclose(turns(V[-1, :SEVEN] - V[0, :SEVEN]), 0.0, atol=1e-6)
            assert max(np.abs(axes.placement(v) - T).max() for v in V[:, :SEVEN]) < 1e-8
            assert max(np.abs(axes.placement(v) - T).max() for v in halfway(V)) < 2e-3
            chords = np.linalg.norm(np.diff(V[:, :SEVEN], axis=0), axis=1)
            assert (chords < 0.33).all()
            assert (V[:-1, LENGTH] >= chords * (1.0 - 1e-9)).all()
            assert_allclose(np.linalg.norm(V[:, TANGENT:LENGTH], axis=1), 1.0, atol=1e-9)
            off = min(off, np.linalg.norm(turns(V[:, :SEVEN] - q), axis=1).min())
        assert off < 0.16  # the posture that was known is on one of them


@QUICK
def test_as_many_as_a_dense_reference(name: str) -> None:
    for _, T in poses(name, 60, 2):
        few, many = arm_of(name, 72).curves(T), arm_of(name, 720).curves(T)
        assert len(few.curves) == len(many.curves)
        lengths = [sorted(V[:-1, LENGTH].sum() for V, _ in one.curves) for one in (few, many)]
        assert_allclose(lengths[0], lengths[1], rtol=2e-3)


def test_an_arm_without_a_formula_has_its_curves_by_eliminations() -> None:
    assert arm_of("sawyer", 72).way is None
    for _, T in poses("sawyer", 3, 4):
        assert len(arm_of("sawyer", 72).curves(T).curves) == len(arm_of("sawyer", 144).curves(T).curves)


def test_small_curves_between_slices_are_found() -> None:
    """An arm that is nearly stretched has curves along which the held hinge hardly moves."""
    q = np.array([-2.497, 0.349, -2.571, 0.004, 2.238, -1.148, -0.723])
    found = arm_of("iiwa14", 72).curves(axes_of("iiwa14").placement(q))
    assert len(found.curves) == 8
    for V, closed in found.curves:
        assert closed
        assert np.ptp(V[:, 0]) < 0.02
        assert np.ptp(V[:, 2]) > 6.0
    alone = arm_of("iiwa14", 72)
    assert alone.slices[-2] == 0  # no slice had a posture


def test_curves_that_nearly_meet_are_not_mixed_up() -> None:
    """Of these poses two curves all but cross: a step that comes onto the other is seen by the sign of a determinant."""
    known = poses("panda", 284, 1)
    for k in (78, 206, 283):
        counts = {len(arm_of("panda", slices).curves(known[k][1]).curves) for slices in (72, 144, 288)}
        assert len(counts) == 1


@EVERY
def test_pieces_are_inside_the_limits_and_end_at_them(name: str) -> None:
    axes = axes_of(name)
    arm, some = arm_of(name, 72), 0
    for q, T in poses(name, 6 if name != "sawyer" else 2, 5):
        ranges, met = ranges_of(name, q), np.inf
        for curve in arm.curves(T).curves:
            for V, closed in arm.pieces(T, curve, ranges):
                Q = V[:, :SEVEN]
                assert (axes.lower - 1e-9 <= Q).all()
                assert (axes.upper + 1e-9 >= Q).all()
                assert np.linalg.norm(np.diff(Q, axis=0), axis=1).max() < 0.33
                assert max(np.abs(axes.placement(v) - T).max() for v in Q) < 1e-8
                met = min(met, np.linalg.norm(Q - q, axis=1).min())
                for end in () if closed else (Q[0], Q[-1]):
                    some += 1
                    at = np.abs(turns(np.array([end - axes.lower, end - axes.upper])))
                    assert at.min() < 1e-9  # or a whole turn from there, where another piece ends
        assert met < 0.16
    assert some > 0


@QUICK
def test_the_nearest_is_the_nearest_of_all(name: str) -> None:
    """Beside every posture of dense samples, by another way: Newton's steps from points along the pieces."""
    axes, arm = axes_of(name), arm_of(name, 72)
    for k, (q, T) in enumerate(poses(name, 15, 7)):
        start = np.random.default_rng(k).uniform(axes.lower, axes.upper)
        ranges = ranges_of(name, start)
        curves = arm.curves(T).curves
        found = arm.nearest(T, curves, ranges)
        assert found is not None
        best, far = found
        assert_allclose(np.linalg.norm(best - start), far, atol=1e-9)
        assert (best >= axes.lower - 1e-9).all()
        assert (best <= axes.upper + 1e-9).all()
        assert_allclose(axes.placement(best), T, atol=1e-8)
        assert far <= np.linalg.norm(q - start) + 1e-9
        pieces = [piece for curve in curves for piece in arm.pieces(T, curve, ranges)]
        rows = np.concatenate([np.concatenate([V[:, :SEVEN], halfway(V)]) for V, _ in pieces])
        assert far <= np.linalg.norm(rows - start, axis=1).min() + 1e-4
        dense = arm_of(name, 720).nearest(T, arm_of(name, 720).curves(T).curves, ranges)
        assert dense is not None
        assert_allclose(far, dense[1], atol=1e-6)


def test_what_is_out_of_reach_has_none() -> None:
    T = np.eye(4)
    T[:3, 3] = 9.0
    found = arm_of("panda", 72).curves(T)
    assert found.curves == []
    assert arm_of("panda", 72).nearest(T, found.curves, ranges_of("panda", np.zeros(SEVEN))) is None


@pytest.mark.interpreted
def test_joints_that_turn_without_end_have_closed_pieces() -> None:
    q, T = poses("panda", 1, 9)[0]
    ranges = np.array([np.full(SEVEN, -np.inf), np.full(SEVEN, np.inf), q, np.ones(SEVEN)])
    arm = arm_of("panda", 72)
    curves = arm.curves(T).curves
    pieces = [piece for curve in curves for piece in arm.pieces(T, curve, ranges)]
    assert len(pieces) == len(curves)
    assert all(closed for _, closed in pieces)
    found = arm.nearest(T, curves, ranges)
    assert found is not None
    assert found[1] < 1e-8
