"""Formulas give all branches: each is where forward kinematics says, the known one is there, brute force finds no other."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.solvers.closed_forms.axes import Axes
from supple.solvers.closed_forms.closed_form import ClosedForm
from supple.solvers.closed_forms.recognition import GENERAL, MEETING, PARALLEL, PLANAR, recognised
from tests.tables.arms import ARMS, OFFSET, axes_of, brute_force, turns

KINDS = {
    "ur5-like": PLANAR,
    "skew planar": PLANAR,
    "puma-like": MEETING,
    "kuka-like": GENERAL,
    "skew wrist": GENERAL,
    "skew shoulder": MEETING,
    "parallel shoulder": PARALLEL,
    "elbow": GENERAL,
}
BOTH = pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
EACH = pytest.mark.parametrize("name", ARMS)
ZERO = np.zeros(6)


def closed(axes: Axes) -> ClosedForm:
    formula = recognised(axes)
    assert formula is not None
    return ClosedForm(axes, formula)


@EACH
@BOTH
def test_the_formula_is_recognised(name: str, backwards: bool) -> None:
    formula = recognised(axes_of(ARMS[name], backwards))
    assert formula is not None
    assert (formula.kind, formula.backwards) == (KINDS[name], backwards)


def test_arms_without_a_formula_have_none() -> None:
    assert recognised(axes_of(OFFSET)) is None
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert recognised(axes_of([tuple(rng.normal(size=3)) for _ in range(6)])) is None


@EACH
@BOTH
def test_branches_are_where_they_should_be_and_the_known_one_is_there(name: str, backwards: bool) -> None:
    axes = axes_of(ARMS[name], backwards)
    ask, rng = closed(axes), np.random.default_rng(3)
    for _ in range(300):
        known = rng.uniform(-pi, pi, 6)
        target = axes.placement(known)
        found, free, _ = ask(target, ZERO)
        assert not free
        assert np.abs(turns(found - known)).max(1).min() < 1e-6
        for row in found:
            assert_allclose(axes.placement(row), target, atol=2e-9)
        for i, row in enumerate(found):
            assert all(np.abs(turns(row - other)).max() > 1e-6 for other in found[:i])


@EACH
@BOTH
def test_brute_force_finds_the_same(name: str, backwards: bool) -> None:
    axes = axes_of(ARMS[name], backwards)
    ask, rng = closed(axes), np.random.default_rng(4)
    for k in range(2):
        target = axes.placement(rng.uniform(-pi, pi, 6))
        found, other = ask(target, ZERO)[0], brute_force(axes, target, 500, k)
        assert len(found) == len(other)
        for row in other:
            assert np.abs(turns(found - row)).max(1).min() < 1e-6


@EACH
def test_what_is_out_of_reach_has_no_branches(name: str) -> None:
    axes = axes_of(ARMS[name])
    target = axes.placement(ZERO)
    target[:3, 3] = (9.0, 9.0, 9.0)
    assert len(closed(axes)(target, ZERO)[0]) == 0
    target[0, 0] = np.nan
    assert len(closed(axes)(target, ZERO)[0]) == 0


@pytest.mark.parametrize("name", [n for n in ARMS if KINDS[n] != PLANAR])
def test_a_straight_wrist_is_a_family(name: str) -> None:
    """Where the fourth and sixth axes fall into one line their sum alone is known: the start's fourth angle is taken."""
    axes = axes_of([*ARMS[name][:3], (-pi / 2, 0, 0.4), (pi / 2, 0, 0), (0, 0, 0.1)])
    known, start = np.array([0.3, -0.8, 0.7, 0.2, 0.0, 0.4]), np.array([0.0, 0, 0, 0.6, 0, 0])
    found, free, _ = closed(axes)(axes.placement(known), start)
    assert free
    straight = [row for row in found if abs(turns(row[4])) < 1e-6]
    assert straight
    assert all(abs(row[3] - 0.6) < 1e-6 for row in straight)
    for row in found:
        assert_allclose(axes.placement(row), axes.placement(known), atol=2e-9)


@pytest.mark.parametrize("name", ["ur5-like", "puma-like", "kuka-like"])
def test_a_stretched_arm_has_branches_that_meet(name: str) -> None:
    """Both bends of a stretched elbow are one posture: given once, said to be a cluster, and right."""
    axes = axes_of(ARMS[name])
    k, m = axes.through[2] - axes.through[1], axes.through[3] - axes.through[2]
    if name != "ur5-like":
        m = closed(axes).formula.through[3] - axes.through[2]
    h = axes.along[2]
    bend = np.arctan2(h @ np.cross(m, k), m @ k - (h @ m) * (h @ k))  # the turn that brings m onto k
    known = np.array([0.3, -0.8, bend, 0.2, 0.9, 0.4])
    found, free, close = closed(axes)(axes.placement(known), ZERO)
    assert close
    assert not free
    assert np.abs(turns(found - known)).max(1).min() < 1e-4
    for row in found:
        assert_allclose(axes.placement(row), axes.placement(known), atol=2e-9)


@EACH
def test_an_arm_that_all_but_fits_is_polished_on_its_own_geometry(name: str) -> None:
    axes, rng = axes_of(ARMS[name]), np.random.default_rng(5)
    h = axes.along + 1e-7 * rng.normal(size=(6, 3))
    bent = Axes(
        h / np.linalg.norm(h, axis=1)[:, None], axes.through + 1e-8 * rng.normal(size=(6, 3)),
        axes.home, axes.lower, axes.upper,
    )  # fmt: skip
    ask = closed(bent)
    for _ in range(50):
        known = rng.uniform(-pi, pi, 6)
        found = ask(bent.placement(known), ZERO)[0]
        assert np.abs(turns(found - known)).max(1).min() < 1e-6
        for row in found:
            assert_allclose(bent.placement(row), bent.placement(known), atol=1e-11)


def test_branches_are_wound_towards_the_start_and_kept_inside_limits() -> None:
    axes = axes_of(ARMS["ur5-like"], wide=2 * pi)
    rng = np.random.default_rng(6)
    for _ in range(50):
        known, start = rng.uniform(-pi, pi, 6), rng.uniform(-2 * pi, 2 * pi, 6)
        found = closed(axes)(axes.placement(known), start)[0]
        assert (np.abs(found) <= 2 * pi).all()
        for shift in (-2 * pi, 2 * pi):
            other = found + shift
            assert ((np.abs(other - start) >= np.abs(found - start) - 1e-9) | (np.abs(other) > 2 * pi)).all()
    narrow = Axes(axes.along, axes.through, axes.home, np.full(6, -1.0), np.full(6, 1.0))
    known = np.full(6, 0.5)
    every, inside = closed(axes)(axes.placement(known), known)[0], closed(narrow)(axes.placement(known), known)[0]
    assert len(inside) == sum((np.abs(turns(row)) <= 1.0).all() for row in every) > 0


@pytest.mark.interpreted
def test_the_same_interpreted() -> None:
    for name in ("ur5-like", "kuka-like", "parallel shoulder"):
        axes = axes_of(ARMS[name], backwards=name == "kuka-like")
        known = np.array([0.3, -0.8, 0.7, 0.2, 0.9, 0.4])
        found = closed(axes)(axes.placement(known), ZERO)[0]
        assert np.abs(turns(found - known)).max(1).min() < 1e-6
