"""Limits: projections checked by the conditions of Karush, Kuhn and Tucker, and refusals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog, nnls

from supple.errors import BadValue
from supple.figure.limits import Limits, project_entry
from supple.kernels.tables import row_room


def projected(limits: Limits, q: np.ndarray, ease: np.ndarray) -> tuple[np.ndarray, float]:
    """The nearest allowed posture in the metric ``Σ dq²/ease``, and what the kernel says is left."""
    p, (equalities, A, b) = np.array(q, float), limits.rows
    room, origin = np.full(row_room(len(b)), np.nan), np.full(len(p), np.nan)
    return p, project_entry(p, limits.lower, limits.upper, equalities, A, b, np.asarray(ease, float), room, origin)


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


@given(polytopes(), st.integers(0, 1 << 32))
def test_ease_is_a_change_of_unit(limits: Limits, seed: int):
    """The nearest by Σ dq²/ease is the nearest by Σ dφ² where q = φ √ease."""
    rng = np.random.default_rng(seed)
    q, unit = rng.normal(size=limits.size) * 3, rng.uniform(0.2, 1.0, limits.size)
    other = Limits(limits.lower / unit, limits.upper / unit, limits.A_eq * unit, limits.b_eq, limits.A * unit, limits.b)
    assert_allclose(limits.project(q, unit**2), unit * other.project(q / unit), rtol=0, atol=1e-6)


@given(polytopes(), st.integers(0, 1 << 32))
def test_what_has_no_ease_stays_if_it_can(limits: Limits, seed: int):
    rng = np.random.default_rng(seed)
    inside = limits.project(rng.normal(size=limits.size))
    ease = np.where(rng.random(limits.size) < 0.4, 0.0, 1.0)
    p = limits.project(inside + ease * rng.normal(size=limits.size), ease)
    assert limits.contains(p)
    assert_array_equal(p[ease == 0.0], inside[ease == 0.0])


def test_what_has_no_ease_moves_if_it_must():
    limits = Limits([-1, -1], [1, 1], A=[[1, 1]], b=[0])
    assert_allclose(limits.project([0.9, 0.9], [0, 1]), [0.9, -0.9], atol=1e-12)
    assert_allclose(limits.project([0.9, 0.9], [0, 0]), [0, 0], atol=1e-12)


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


def crowded(seed: int) -> tuple[Limits, np.ndarray, np.ndarray, np.ndarray]:
    """Many rows about an allowed point, many of them through it, some all but the same, opposite or equalities.

    Returned with the point, a posture near or far, and the ease of each coordinate, 0 for some where the point has them.
    """
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 8)), int(rng.integers(1, 30))
    centre, A = rng.normal(size=n), rng.normal(size=(m, n))
    A = np.vstack([A, A[: m // 2] + 10 ** rng.uniform(-9, -2) * rng.normal(size=(m // 2, n))])
    if seed % 5 == 0:
        A = np.vstack([A, A[:3], -A[:1]])
    size = 10 ** rng.uniform(-9, 0) if seed % 3 == 0 else 1.0
    b = A @ centre + rng.exponential(size=len(A)) * (rng.random(len(A)) < 0.6) * 0.1 * size
    wide = rng.exponential(size=(2, n)) * (rng.random((2, n)) < 0.9)
    lower, upper = np.where(rng.random((2, n)) < 0.9, [centre - wide[0], centre + wide[1]], [[-INF], [INF]])
    A_eq = rng.normal(size=(int(rng.integers(1, n)) if seed % 4 == 0 and n > 1 else 0, n))
    ease = np.where(rng.random(n) < 0.15, 0.0, 10 ** rng.uniform(-3, 1, n)) if seed % 7 == 0 else np.ones(n)
    q = centre + np.where(ease > 0, rng.normal(size=n), 0.0) * 10 ** rng.uniform(-2, 3)
    return Limits(lower, upper, A_eq, A_eq @ centre, A, b), centre, q, ease


def unexplained(limits: Limits, q: np.ndarray, p: np.ndarray, ease: np.ndarray) -> float:
    """The part of ``(q − p)/ease`` that no multipliers of limits met at p explain, in proportion."""
    moves = ease > 0
    root, (equalities, A, b) = np.sqrt(ease[moves]), limits.rows
    eye, exact, met = np.eye(limits.size), A[:equalities], A[equalities:][A[equalities:] @ p >= b[equalities:] - 1e-8]
    normals = np.vstack([eye[p >= limits.upper], -eye[p <= limits.lower], met, exact, -exact])[:, moves] * root
    length, pull = np.linalg.norm(normals, axis=1), (q - p)[moves] / root
    normals = normals[length > 1e-12] / length[length > 1e-12, None]
    rest = nnls(normals.T, pull, maxiter=10000)[1] if normals.size else np.linalg.norm(pull)
    return float(rest / (1 + np.linalg.norm(pull)))


def test_projections_onto_crowded_polytopes_are_legal_nearest_final_and_bring_nothing_further_apart():
    for seed in range(500):
        limits, centre, q, ease = crowded(seed)
        moves = ease > 0
        p, left = projected(limits, q, ease)
        assert left <= 1e-9, seed
        assert limits.contains(p), seed
        assert_array_equal(p[~moves], q[~moves])
        assert unexplained(limits, q, p, ease) <= 1e-7, seed
        assert np.abs(projected(limits, p, ease)[0] - p).max() <= 1e-8, seed
        near = q + np.where(moves, np.random.default_rng(seed).normal(size=len(q)), 0.0)
        apart = (projected(limits, near, ease)[0] - p)[moves] / np.sqrt(ease[moves])
        assert np.linalg.norm(apart) <= np.linalg.norm((near - q)[moves] / np.sqrt(ease[moves])) + 1e-6, seed
        assert_allclose(projected(limits, centre, ease)[0], centre, rtol=0, atol=1e-9)


def test_rows_are_kept_to_twelve_digits_where_they_are_well_apart():
    for seed in range(300):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 60))
        A, centre = rng.normal(size=(int(rng.integers(1, n)), n)), rng.normal(size=n)
        limits = Limits(centre - rng.random(n), centre + rng.random(n), A=A, b=A @ centre + 0.1 * rng.random(len(A)))
        p, left = projected(limits, centre + 10 ** rng.uniform(-1, 3) * rng.normal(size=n), np.ones(n))
        assert left <= 1e-12 * (1 + np.abs(limits.b).max())
        assert (p >= limits.lower).all()
        assert (p <= limits.upper).all()


def test_limits_are_refused_if_and_only_if_a_linear_programme_finds_no_posture():
    refused = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(1, 7)), int(rng.integers(1, 12))
        A, b = rng.normal(size=(m, n)), rng.normal(size=m) - 0.5
        A_eq = rng.normal(size=(int(rng.integers(0, min(n, 3))), n))
        b_eq, upper = 0.3 * rng.normal(size=len(A_eq)), rng.uniform(0.2, 2, n)
        answer = linprog(np.zeros(n), A, b, A_eq, b_eq, list(zip(-upper, upper, strict=True)))
        if answer.status == 0:
            Limits(-upper, upper, A_eq, b_eq, A, b)
        else:
            refused += 1
            with pytest.raises(BadValue, match="contradict each other"):
                Limits(-upper, upper, A_eq, b_eq, A, b)
    assert 50 < refused < 350


def test_a_vertex_of_very_many_rows_and_duplicates_is_found():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(60, 3))
    A[:, 0] = np.abs(A[:, 0]) + 0.3
    limits = Limits([-2, -2, -2], [0, 2, 2], A=np.vstack([A, A]), b=np.zeros(120))
    assert_allclose(limits.project([50, 0, 0]), [0, 0, 0], atol=1e-12)


@pytest.mark.interpreted
def test_a_coordinate_without_ease_stays_and_the_others_answer_for_it():
    limits = Limits([-1, -1, -1], [1, 1, 1], A_eq=[[1, 1, 0]], b_eq=[1], A=[[0, 1, 1]], b=[0.5])
    p, left = projected(limits, np.array([0.2, 0.0, 0.9]), np.array([0.0, 1.0, 4.0]))
    assert_allclose(p, [0.2, 0.8, -0.3], atol=1e-15)
    assert left <= 1e-15


@pytest.mark.interpreted
def test_the_kernel_tells_a_contradiction_and_a_room_that_is_too_small():
    lower, upper, ease, origin = np.zeros(2), np.ones(2), np.ones(2), np.empty(2)
    A, b, room = np.full((1, 2), math.sqrt(0.5)), np.array([-1.0]), np.empty(row_room(1))
    q = np.array([0.5, 3.0])
    assert project_entry(q, lower, upper, 0, A, b, ease, room, origin) == math.inf
    assert ((q >= lower) & (q <= upper)).all()
    assert project_entry(q, lower, upper, 0, A, -b, ease, room[:-1], origin) == math.inf
    assert project_entry(q, lower, upper, 0, A, -b, ease, room, origin) <= 1e-15
