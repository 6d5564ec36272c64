"""Tree kernels: sines against the standard library, placements against products of 4 × 4 matrices, packing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from supple.figure.effectors import Frame
from supple.figure.figure import Figure
from supple.figure.joints import hinge
from supple.figure.packing import aligned
from supple.geometry.placements import X, Y, Z, unit
from tests.tables.figures import FIGURES, FIXED, assert_close, placements_by_exponentials, slope, trees

WHEEL = Figure("wheel", hinge("w", None, Z))
ULP = 2.0**-52


def sine_and_cosine(angle: float) -> tuple[float, float]:
    R = WHEEL.placement([angle], "w")
    return float(R[1, 0]), float(R[0, 0])


ANGLES = [
    0.0, -0.0, 5e-324, 1e-300, 1e-20, 1e-8, 1e-3, 0.5, math.pi / 4, math.nextafter(math.pi / 4, 1), math.pi / 2, 2.0, math.pi,
    3 * math.pi / 2, 2 * math.pi, 10.0, 355.0, 1e3, 103993 / 33102 * 1e3, 1e5, 8388607 * math.pi / 2, 9.9999e6, 1e7,
    1.0000001e7, 1e9, 1e15, 1e22,
]  # fmt: skip


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.interpreted
def test_sines_of_small_and_huge_angles(angle: float):
    for x in (angle, -angle):
        s, c = sine_and_cosine(x)
        assert abs(s - math.sin(x)) <= ULP * max(abs(math.sin(x)), 1e-9)
        assert abs(c - math.cos(x)) <= ULP * max(abs(math.cos(x)), 1e-9)


def test_the_sine_of_the_largest_angles():
    for x in (1e100, 1e300, -1e308):
        assert_allclose(sine_and_cosine(x), (math.sin(x), math.cos(x)), rtol=0, atol=ULP)


@given(st.floats(-1.1e7, 1.1e7))
@settings(max_examples=300)
def test_sines_of_any_angle(x: float):
    s, c = sine_and_cosine(x)
    assert abs(s - math.sin(x)) <= ULP
    assert abs(c - math.cos(x)) <= ULP
    assert abs(s * s + c * c - 1.0) <= 2 * ULP


@given(st.integers(-6_000_000, 6_000_000), st.floats(-1e-6, 1e-6))
@settings(max_examples=300)
def test_sines_near_multiples_of_a_quarter_turn(k: int, offset: float):
    """Where one of the two is tiny, and most of the angle cancels against the quarter turns."""
    x = k * (math.pi / 2) + offset
    s, c = sine_and_cosine(x)
    assert abs(s - math.sin(x)) <= 2e-16
    assert abs(c - math.cos(x)) <= 2e-16


def test_one_huge_angle_does_not_spoil_the_others():
    figure = Figure("two", [*hinge("a", None, X), *hinge("b", None, Z)])
    assert_allclose(figure.placement([1e12, 0.3], "b"), figure.placement([0.0, 0.3], "b"), rtol=0, atol=1e-15)


@given(trees(), st.integers(0, 1 << 32))
def test_placements_of_random_trees_are_products_of_exponentials(figure: Figure, seed: int):
    q = np.random.default_rng(seed).normal(size=figure.size) * 2
    expected = placements_by_exponentials(figure, q)
    for segment, T in figure.placements(q).items():
        assert_allclose(T, expected[segment], rtol=0, atol=1e-11, err_msg=segment)


@given(trees(), st.integers(0, 1 << 32))
@settings(max_examples=40)
def test_jacobians_of_random_trees_are_slopes(figure: Figure, seed: int):
    if not figure.size:
        return
    q = np.random.default_rng(seed).normal(size=figure.size)
    for segment in figure.segments[-2:]:
        J = figure.jacobian(q, Frame(segment, (0.1, 0.2, 0.3)))
        expected = slope(lambda x, s=segment: (figure.placement(x, s) @ [0.1, 0.2, 0.3, 1])[:3], q)
        assert_close(J[:3], expected, 1e-7)
        R = figure.placement(q, segment)[:3, :3]
        change = slope(lambda x, s=segment, r=R: figure.placement(x, s)[:3, :3] @ r.T, q)
        assert_close(J[3:], np.array([change[2, 1], change[0, 2], change[1, 0]]), 1e-7)


@pytest.mark.parametrize("name", FIGURES)
def test_many_postures_at_once_are_each_alone(name: str):
    figure = FIGURES[name]
    Q = np.random.default_rng(5).normal(size=(7, figure.size))
    for segment in figure.segments:
        together = figure.placement(Q, segment)
        assert together.shape == (7, 4, 4)
        for q, T in zip(Q, together, strict=True):
            assert_array_equal(T, figure.placement(q, segment))


def test_no_postures_and_no_coordinates():
    assert WHEEL.placement(np.empty((0, 1)), "w").shape == (0, 4, 4)
    assert FIXED.placement([], "b").shape == (4, 4)
    assert FIXED.jacobian([], "b").shape == (6, 0)
    assert FIXED.placement(np.empty((3, 0)), "b").shape == (3, 4, 4)


ALMOST = [(1e-9, 0.0, 1.0), (0.0, -1.0, 1e-8)]


@pytest.mark.parametrize("axis", [X, Y, Z, (-1, 0, 0), (0, -1, 0), (1, 2, 3), (1, 1, 0), (1e-6, 0, 1), *ALMOST])
def test_an_axis_is_brought_to_a_coordinate_axis_by_a_rotation(axis: tuple[float, float, float]):
    u = np.array(unit(axis))
    k, sign, A = aligned(u)
    assert_allclose(A @ A.T, np.eye(3), atol=1e-15)
    assert_allclose(np.linalg.det(A), 1.0, atol=1e-14)
    assert_allclose(A @ (sign * np.eye(3)[k]), u, atol=1e-15)


def test_depth_first_order_keeps_subtrees_together():
    packed = FIGURES["twins"].packed
    for row in range(1, packed.count + 1):
        below = [r for r in range(1, packed.count + 1) if row - 1 in packed.path(r)]
        assert below == list(range(row, row + len(below)))
