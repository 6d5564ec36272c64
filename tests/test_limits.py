"""Limits: projections checked by the conditions of Karush, Kuhn and Tucker, and refusals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls

from supple.errors import BadValue
from supple.limits import Limits


def assert_nearest(limits: Limits, q: np.ndarray, p: np.ndarray, slack: float = 1e-7) -> None:
    """p is allowed, and ``q − p`` lies in the cone of the normals of the limits that hold at p: nothing is nearer."""
    assert limits.contains(p)
    eye = np.eye(limits.size)
    normals = [
        *eye[p >= limits.upper],
        *-eye[p <= limits.lower],
        *limits.A[limits.A @ p >= limits.b - slack],
        *limits.A_eq,
        *-limits.A_eq,
    ]
    if not normals:
        assert_array_equal(p, q)
        return
    _, rest = nnls(np.array(normals).T, q - p)
    assert rest <= slack * max(1.0, float(np.abs(q).max()))


@st.composite
def polytopes(draw: st.DrawFn) -> Limits:
    """A box with rows that all keep one common point."""
    size = draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    inside = rng.normal(size=size)
    lower = np.where(rng.random(size) < 0.8, inside - rng.uniform(0, 1, size), -np.inf)
    upper = np.where(rng.random(size) < 0.8, inside + rng.uniform(0, 1, size), np.inf)
    A = rng.normal(size=(draw(st.integers(0, 4)), size))
    A_eq = rng.normal(size=(draw(st.integers(0, max(0, min(2, size - 2)))), size))
    return Limits(lower, upper, A_eq, A_eq @ inside, A, A @ inside + rng.uniform(0, 0.5, len(A)))


@given(polytopes(), st.integers(0, 1 << 32))
def test_a_projection_is_allowed_nearest_and_final(limits: Limits, seed: int):
    q = np.random.default_rng(seed).normal(size=limits.size) * 3
    p = limits.project(q)
    assert_nearest(limits, q, p)
    assert_allclose(limits.project(p), p, rtol=0, atol=1e-9)


@given(polytopes(), st.integers(0, 1 << 32))
def test_projections_bring_no_two_postures_further_apart(limits: Limits, seed: int):
    a, b = np.random.default_rng(seed).normal(size=(2, limits.size)) * 3
    assert np.linalg.norm(limits.project(a) - limits.project(b)) <= np.linalg.norm(a - b) + 1e-8


@pytest.mark.parametrize("seed", range(6))
def test_many_rows_of_few_coordinates_are_projected_onto_exactly(seed: int):
    """As the polygons of many shoulders are: more rows than a sweep may take one by one through all coordinates."""
    rng = np.random.default_rng(seed)
    size, rows = 40, 60
    inside, A = rng.uniform(-0.5, 0.5, size), np.zeros((rows, size))
    for row in A:
        row[rng.choice(size, 3, replace=False)] = rng.normal(size=3)
    ties = np.eye(size)[:2] - np.eye(size)[2:4]
    b = A @ inside + rng.uniform(0, 0.3, rows)
    limits = Limits(np.full(size, -1.0), np.full(size, 1.0), ties, ties @ inside, A, b)
    q = rng.normal(size=size) * 2
    assert_nearest(limits, q, limits.project(q))


@pytest.mark.interpreted
def test_a_box_is_a_clip_and_keeps_what_is_inside_bit_for_bit():
    limits = Limits([-1, -math.inf, 0], [1, 2, math.inf])
    assert_array_equal(limits.project([-3, 5, -1]), [-1, 2, 0])
    q = np.array([0.1, -1e9, 1e9])
    assert_array_equal(limits.project(q), q)


@pytest.mark.interpreted
def test_a_triangle_and_a_line():
    triangle = Limits([0, 0], [1, 1], A=[[1, 1]], b=[1])
    assert_allclose(triangle.project([2, 2]), [0.5, 0.5], atol=1e-12)
    assert_allclose(triangle.project([3, 0.2]), [1, 0], atol=1e-12)
    line = Limits([-9, -9], [9, 9], A_eq=[[3, 4]], b_eq=[5])
    assert_allclose(line.project([0, 0]), [0.6, 0.8], atol=1e-12)
    assert not line.contains([0, 0])
    assert line.contains([0.6, 0.8])


def test_rows_are_kept_at_unit_length_and_mean_the_same():
    limits = Limits([-9, -9], [9, 9], A=[[3, 4]], b=[10])
    assert_allclose(limits.A, [[0.6, 0.8]])
    assert_allclose(limits.b, [2])


@pytest.mark.parametrize("angle", [0.3, 0.1, 0.03, 0.01, 0.003])
@pytest.mark.parametrize("spread", [1.0, 100.0])
def test_a_sharp_wedge_is_projected_onto_exactly(angle: float, spread: float):
    """Two rows that are nearly opposite meet far away: slow for methods that take one row at a time."""
    c, s = math.cos(angle), math.sin(angle)
    limits = Limits([-1e6, -1e6], [1e6, 1e6], A=[[c, s], [-c, s]], b=[-s * spread, -s * spread])
    assert_allclose(limits.project([0, 0]), [0, -spread], rtol=0, atol=1e-8 * spread)


def test_nearly_parallel_equalities_have_one_solution():
    limits = Limits([-10, -10], [10, 10], A_eq=[[1, 0], [1, 0.01]], b_eq=[1, 1.02])
    assert_allclose(limits.project([5, -5]), [1, 2], atol=1e-8)


def test_limits_are_read_only():
    limits = Limits([0, 0], [1, 1], A=[[1, 1]], b=[1])
    for array in (limits.lower, limits.upper, limits.A, limits.b):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5.0


def test_limits_do_not_follow_the_arrays_they_were_made_from():
    lower = np.zeros(2)
    limits = Limits(lower, [1, 1])
    lower[0] = 0.5
    assert limits.contains([0.1, 0.1])
    assert_array_equal(limits.project([0.1, 0.1]), [0.1, 0.1])


NAN, INF = math.nan, math.inf
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "inverted": (
        lambda: Limits([0, 2], [1, 1]),
        r"limits of coordinate 1 must satisfy lower ≤ upper, not \(2.0, 1.0\)",
    ),
    "NaN": (lambda: Limits([NAN], [1]), "limits of coordinate 0 must satisfy"),
    "at infinity": (lambda: Limits([INF], [INF]), "limits of coordinate 0 must satisfy"),
    "lengths": (lambda: Limits([0], [1, 2]), r"vectors of one length, not \(1,\) and \(2,\)"),
    "half a row": (lambda: Limits([0], [1], A=[[1]]), "linear inequalities need both a matrix and a right-hand side"),
    "shape": (
        lambda: Limits([0, 0], [1, 1], A=[[1, 1, 1]], b=[1]),
        r"on 2 coordinates need a matrix of shape \(1, 2\)",
    ),
    "NaN row": (lambda: Limits([0], [1], A=[[NAN]], b=[1]), "linear inequalities must be finite"),
    "infinite side": (lambda: Limits([0], [1], A_eq=[[1]], b_eq=[INF]), "linear equalities must be finite"),
    "zero row": (lambda: Limits([0], [1], A=[[0]], b=[1]), "linear inequalities: row 0 has no coefficient"),
    "contradiction": (lambda: Limits([0, 0], [1, 1], A_eq=[[1, 1]], b_eq=[3]), "the limits contradict each other"),
    "two equalities": (lambda: Limits([-9], [9], A_eq=[[1], [1]], b_eq=[1, 2]), "the limits contradict each other"),
    "project NaN": (lambda: Limits([0], [1]).project([NAN]), "a posture to project must be finite"),
    "project shape": (lambda: Limits([0], [1]).project([0, 1]), r"has shape \(1,\), not \(2,\)"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str):
    make, message = REFUSED[case]
    with pytest.raises(BadValue, match=message):
        make()


@pytest.mark.parametrize("q", [[NAN, 0.0], [INF, 0.0]])
def test_what_is_not_finite_is_not_contained(q: list[float]):
    assert not Limits([-1, -1], [1, 1]).contains(q)
    assert not Limits([-INF, -INF], [INF, INF], A=[[1, 1]], b=[1]).contains(q)


def test_crowded_polytopes_are_never_called_contradictory_and_the_nearest_point_is_found():
    """Many rows about one point that is allowed, some of them all but the same, seen from near and from far."""
    for seed in range(150):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(1, 8)), int(rng.integers(1, 30))
        centre, A = rng.normal(size=n), rng.normal(size=(m, n))
        A = np.vstack([A, A[: m // 2] + 1e-6 * rng.normal(size=(m // 2, n))])
        b = A @ centre + rng.exponential(size=len(A)) * (rng.random(len(A)) < 0.6) * 0.1
        limits = Limits(centre - rng.exponential(size=n), centre + rng.exponential(size=n), A=A, b=b)
        q = centre + rng.normal(size=n) * 10 ** rng.uniform(-2, 3)
        nearest = limits.project(q)
        assert limits.contains(nearest)
        # no allowed point lies on q's side of the nearest one: (x − nearest)·(q − nearest) ≤ 0 for the centre and between
        for share in (1.0, 0.1, 1e-3):
            x = nearest + share * (centre - nearest)
            assert (x - nearest) @ (q - nearest) <= 1e-7 * (1 + np.linalg.norm(q - nearest))
