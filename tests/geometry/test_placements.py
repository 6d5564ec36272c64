"""Turns and placements: group laws, SciPy as the oracle, and refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from supple.errors import BadValue
from supple.geometry.placements import (
    HERE,
    X,
    Y,
    Z,
    angle_between,
    angle_of,
    cleaned,
    compose,
    inverse,
    moved,
    place,
    placement,
    rotation,
    turned,
    unit,
)

numbers = st.floats(-10, 10)
vectors = st.tuples(numbers, numbers, numbers).map(np.array)
axes = vectors.filter(lambda v: np.linalg.norm(v) > 1e-3)
angles = st.floats(-7, 7)
turns = st.builds(lambda v: Rotation.from_rotvec(v / 3), vectors)
places = st.builds(place, vectors, turns)


@given(places, places, places)
def test_placements_are_a_group(A: np.ndarray, B: np.ndarray, C: np.ndarray):
    assert_allclose((A @ B) @ C, A @ (B @ C), atol=1e-12)
    assert_allclose(inverse(A) @ A, HERE, atol=1e-12)
    assert_allclose(A @ inverse(A), HERE, atol=1e-12)
    assert_allclose(inverse(A @ B), inverse(B) @ inverse(A), atol=1e-12)


@given(axes, angles)
def test_turned_is_the_rotation_of_scipy(axis: np.ndarray, angle: float):
    u = np.array(unit(axis))
    assert_allclose(turned(u, angle), Rotation.from_rotvec(angle * u).as_matrix(), atol=1e-14)


@pytest.mark.parametrize("axis", [X, Y, Z, (-1, 0, 0), (0, -1, 0), (0, 0, -1)])
def test_a_turn_about_a_coordinate_axis_leaves_it_exactly_alone(axis: tuple[float, float, float]):
    R = turned(axis, 0.7)
    assert_array_equal(R @ axis, axis)
    assert (R == 0.0).sum() == 4


@given(turns, vectors)
def test_every_description_of_one_rotation_is_the_same_rotation(turn: Rotation, p: np.ndarray):
    R, xyzw = turn.as_matrix(), turn.as_quat()
    yaw, pitch, roll = turn.as_euler("ZYX")
    for description in (
        {"matrix": R},
        {"quat_xyzw": xyzw},
        {"quat_wxyz": xyzw[[3, 0, 1, 2]]},
        {"quat_wxyz": -3.0 * xyzw[[3, 0, 1, 2]]},
        {"rpy": (roll, pitch, yaw)},
    ):
        assert_allclose(rotation(**description), R, atol=1e-9)
        assert_allclose(place(p, **description), compose(R, p), atol=1e-9)
    assert_allclose(rotation(turn), R, atol=1e-14)


@given(axes, st.floats(-2, 2), angles)
def test_moved_is_a_screw(axis: np.ndarray, pitch: float, q: float):
    u = np.array(unit(axis))
    T = moved(u, pitch * u, q)
    assert_allclose(T, moved(u, np.zeros(3), q) @ place(pitch * q * u), atol=1e-13)
    assert_allclose(T @ moved(u, pitch * u, -q), HERE, atol=1e-13)


@given(turns)
def test_the_angle_of_a_rotation(turn: Rotation):
    assert_allclose(angle_of(turn.as_matrix()), turn.magnitude(), atol=1e-9)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-5, 1.0, math.pi - 1e-7, math.pi])
def test_small_and_large_angles_are_exact(angle: float):
    u = unit((1, 2, 3))
    v = turned(u, angle) @ np.cross(u, X) * 5.0
    assert_allclose(angle_between(np.cross(u, X), v), angle, rtol=0, atol=1e-15)
    assert_allclose(angle_of(turned(u, angle)), angle, rtol=0, atol=2e-15)


@pytest.mark.parametrize("length", [1e-11, 1e-3, 1.0, 1e8, 1e160, 1e300])
def test_unit_vectors_have_length_one(length: float):
    assert_allclose(unit((length * 3, 0, -4 * length)), (0.6, 0.0, -0.8), rtol=1e-15)


def test_a_rotation_that_is_nearly_one_is_cleaned_and_an_exact_one_is_kept():
    R = turned(unit((1, 2, 3)), 0.4)
    nearly = cleaned(R + 1e-7 * np.arange(9).reshape(3, 3))
    assert np.abs(nearly.T @ nearly - np.eye(3)).max() < 3e-15
    assert np.abs(nearly - R).max() < 1e-6
    assert_array_equal(cleaned(np.eye(3)), np.eye(3))


def test_placements_are_read_only():
    for T in (HERE, place((1, 2, 3)), placement((1, 2, 3)), inverse(place((1, 2, 3))), moved(Z, (0, 0, 0), 1.0)):
        with pytest.raises(ValueError, match="read-only"):
            T[0, 3] = 5.0


NAN, INF = math.nan, math.inf
REFUSED = {
    "NaN position": (lambda: place((NAN, 0, 0)), "position must be finite"),
    "infinite position": (lambda: placement((INF, 0, 0), "the tool"), "the tool must be finite"),
    "wrong shape": (lambda: placement((1, 2)), r"a position \(3,\) or a matrix \(4, 4\), not of shape \(2,\)"),
    "not numbers": (lambda: placement("left"), "a position .* not 'left'"),
    "last row": (lambda: placement(np.ones((4, 4))), r"last row must be \(0, 0, 0, 1\)"),
    "reflection": (lambda: rotation(matrix=np.diag([1, 1, -1])), "is a reflection"),
    "reflected placement": (lambda: placement(np.diag([1.0, -1, 1, 1])), "is a reflection"),
    "scaling": (lambda: rotation(matrix=2 * np.eye(3)), "not a rotation: its columns are 3 away from orthonormal"),
    "shear": (lambda: rotation(matrix=np.eye(3) + 0.1 * np.eye(3, k=1)), "not a rotation"),
    "NaN matrix": (lambda: rotation(matrix=np.full((3, 3), NAN)), "must be finite"),
    "zero quaternion": (lambda: rotation(quat_wxyz=(0, 0, 0, 0)), "names no rotation"),
    "NaN quaternion": (lambda: rotation(quat_xyzw=(NAN, 0, 0, 1)), "must be finite"),
    "short quaternion": (lambda: rotation(quat_xyzw=(0, 0, 1)), r"shape \(4,\), not \(3,\)"),
    "two descriptions": (lambda: rotation(rpy=(0, 0, 1), matrix=np.eye(3)), "one description of the rotation, not 2"),
    "bare array": (lambda: rotation(np.eye(3)), "for a bare array say matrix="),
    "zero axis": (lambda: unit((0, 0, 0), "the axis"), "the axis must not have length zero"),
    "NaN axis": (lambda: unit((NAN, 0, 0)), "axis must be finite"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str):
    make, message = REFUSED[case]
    with pytest.raises(BadValue, match=message):
        make()
