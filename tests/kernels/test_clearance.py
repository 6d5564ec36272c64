"""Distances between bars and solids: kernel against oracle, slopes against differences, and what distances must obey."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from scipy.spatial import HalfspaceIntersection
from scipy.spatial.transform import Rotation

from supple.errors import BadValue
from supple.geometry.distances import distance_between
from supple.geometry.placements import HERE, X, Y, Z, compose, inverse, place, turned
from supple.geometry.polyhedra import polyhedron_of
from supple.geometry.shapes import Ball, Box, Capsule, Core, Polytope
from supple.kernels.clearance import gap
from supple.kernels.compiling import INTERPRETED
from supple.kernels.solids import solid_of

FAR = 1e9
WEDGE = Polytope([[1, 0, 1], [-1, 0, 1]], [0.0, 0.2])
SLAB = Polytope([[0, 0, 1], [0, 0, -3]], [0.1, 0.3])
SHAFT = Polytope([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]], [0.2, 0.1, 0.3, 0.3])
CORNER = Polytope(-np.eye(3), [0.1, 0.0, 0.2])
FLOOR = Polytope.half_space((0.3, 0.1, 0.05), (0.2, 0.1, 2.0))
PYRAMID = Polytope([[1, 0, 1], [-1, 0, 1], [0, 1, 1], [0, -1, 1], [0, 0, -1]], [0.4, 0.4, 0.4, 0.4, 0.0])
BOX = Box((-0.3, -0.2, -0.1), (0.4, 0.2, 0.3), place((0.1, 0, 0.1), rpy=(0.3, 0.5, 0.7)))
POST = Capsule(0.1, 0.6, place((0.1, 0, 0.1), rpy=(0.3, 0.5, 0.7)))
PEA = Ball((0.1, -0.1, 0.0), 0.12)
FLAT: dict[str, Any] = {
    "box": BOX,
    "half-space": FLOOR,
    "slab": SLAB,
    "wedge": WEDGE,
    "shaft": SHAFT,
    "corner": CORNER,
    "pyramid": PYRAMID,
}
SHAPES: dict[str, Any] = {**FLAT, "capsule": POST, "ball": PEA}


@njit
def _gap(S: Any, s: int, X: Any, h: float, enough: float, out: Any) -> float:
    return gap(S, s, X, h, enough, out)


def measured(shape: Any, at: np.ndarray, h: float, enough: float = FAR) -> tuple[float, np.ndarray, np.ndarray]:
    """Distance, direction and witness by the kernel, for a solid that does not begin where its array does."""
    S, out = np.concatenate([[9.0, 9.0, 9.0], solid_of(shape)]), np.full(6, np.nan)
    frame = np.concatenate([at[:3, 3], at[:3, 0], at[:3, 1], at[:3, 2]])
    distance = float(_gap(S, 3, frame, float(h), enough, out))
    return distance, out[:3], out[3:]


def bar_of(h: float, radius: float = 0.03) -> Ball | Capsule:
    return Capsule(radius, 2 * h) if h else Ball((0, 0, 0), radius)


# ── what is drawn ────────────────────────────────────────────────────────────────────────────────────────────────────
numbers = st.floats(-1, 1)
vectors = st.tuples(numbers, numbers, numbers).map(np.array)
turns = vectors.map(lambda v: Rotation.from_rotvec(4 * v))
frames = st.builds(place, vectors, turns)
halves = st.sampled_from([0.0, 0.05, 0.3, 1.5])
sizes = st.floats(0.05, 0.5)


@st.composite
def polytopes(draw: Any) -> Polytope:
    """Two to twelve planes in all directions about a point, often unbounded."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = draw(st.integers(2, 12))
    A = rng.normal(size=(count, 3))
    return Polytope(A, np.linalg.norm(A, axis=1) * rng.uniform(0.05, 0.5, count) + A @ draw(vectors) / 4)


boxes = st.builds(lambda a, b, at: Box(-a * np.ones(3), (a, b, 2 * b), at), sizes, sizes, frames)
round_ones = st.one_of(st.builds(Ball, vectors, sizes), st.builds(Capsule, sizes, sizes, frames))
flat_ones = st.one_of(boxes, polytopes(), st.sampled_from(list(FLAT.values())))
shapes = st.one_of(round_ones, flat_ones)


# ── the kernel ───────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.interpreted
@settings(max_examples=60 if INTERPRETED else 300)
@given(shapes, frames, halves)
def test_the_kernel_agrees_with_the_oracle(shape: Any, at: np.ndarray, h: float):
    distance, direction, witness = measured(shape, at, h)
    assert distance - 0.03 == pytest.approx(distance_between(bar_of(h), shape, at), abs=1e-9)
    assert np.linalg.norm(direction) == pytest.approx(1, abs=1e-9)
    assert_allclose(np.cross(witness - at[:3, 3], at[:3, 2]), 0, atol=1e-12)
    assert abs((witness - at[:3, 3]) @ at[:3, 2]) <= h + 1e-12


@settings(max_examples=200)
@given(shapes, frames, halves)
def test_slopes_are_those_of_the_distance(shape: Any, at: np.ndarray, h: float):
    distance, n, w = measured(shape, at, h)
    assume(abs(distance) > 0.02)
    step = 1e-5
    for k in range(6):
        v, turn = np.zeros(3), np.zeros(3)
        (v if k < 3 else turn)[k % 3] = 1.0
        ends = []
        for s in (-step, step):
            R = turned(turn, s) if k >= 3 else np.eye(3)
            moved = compose(R @ at[:3, :3], R @ at[:3, 3] + s * v)
            ends.append(measured(shape, moved, h))
        bends = [np.abs(ends[0][i] + ends[1][i] - 2 * (n, w)[i - 1]).max() for i in (1, 2)]
        assume(max(bends) < 1e-6)  # no feature ends here
        slope = (ends[1][0] - ends[0][0]) / (2 * step)
        assert n @ (np.cross(turn, w) + v) == pytest.approx(slope, abs=1e-6)


@settings(max_examples=200)
@given(flat_ones, frames, halves, vectors, st.floats(1e-9, 0.3))
def test_a_push_changes_the_distance_by_no_more_than_its_length(
    shape: Any, at: np.ndarray, h: float, push: np.ndarray, length: float
):
    assume(np.linalg.norm(push) > 1e-3)
    push = length * push / np.linalg.norm(push)
    here, there = measured(shape, at, h)[0], measured(shape, compose(at[:3, :3], at[:3, 3] + push), h)[0]
    assert abs(there - here) <= length * (1 + 1e-9) + 1e-12


@settings(max_examples=200)
@given(shapes, frames, halves)
def test_a_push_by_the_distance_makes_them_touch(shape: Any, at: np.ndarray, h: float):
    distance, n, _ = measured(shape, at, h)
    touching = compose(at[:3, :3], at[:3, 3] - distance * n)
    assert measured(shape, touching, h)[0] == pytest.approx(0, abs=1e-9)


@pytest.mark.interpreted
@pytest.mark.parametrize("name", SHAPES)
def test_touching_to_within_rounding_is_touching(name: str):
    rng = np.random.default_rng(1)
    for _ in range(60):
        at = place(rng.uniform(-1, 1, 3), Rotation.random(random_state=rng))
        distance, n, _ = measured(SHAPES[name], at, 0.3)
        for off in np.arange(-3, 4) * 2e-17:
            touching = compose(at[:3, :3], at[:3, 3] - (distance + off) * n)
            assert abs(measured(SHAPES[name], touching, 0.3)[0]) < 1e-12


def reach(body: Polytope, n: np.ndarray) -> float:
    """The greatest n·x in a polytope, by linear programming."""
    found = linprog(-n, A_ub=body.A, b_ub=body.b, bounds=[(None, None)] * 3)
    return -found.fun if found.status == 0 else np.inf


@settings(max_examples=40)
@given(polytopes(), frames, st.sampled_from([0.3, 1.5]), st.lists(vectors, min_size=3, max_size=3))
def test_no_push_that_parts_them_is_shorter_than_the_depth(
    body: Polytope, at: np.ndarray, h: float, others: list[np.ndarray]
):
    distance, n, _ = measured(body, at, h)
    assume(distance < 0)
    c, u = at[:3, 3], at[:3, 2]
    assert reach(body, n) - n @ c + h * abs(n @ u) == pytest.approx(-distance, abs=1e-7)
    for other in others:
        assume(np.linalg.norm(other) > 1e-3)
        m = other / np.linalg.norm(other)
        assert reach(body, m) - m @ c + h * abs(m @ u) >= -distance - 1e-7


@settings(max_examples=200)
@given(shapes, frames, halves, st.floats(-0.2, 1.0))
def test_what_is_far_enough_is_told_by_a_lower_bound(shape: Any, at: np.ndarray, h: float, enough: float):
    exact, n, _ = measured(shape, at, h)
    quick, m, _ = measured(shape, at, h, enough)
    if quick > enough:
        assert quick <= exact + 1e-12
    else:
        assert quick == exact
        assert_array_equal(m, n)


@given(st.builds(Capsule, sizes, sizes, frames), frames, sizes)
def test_two_capsules_are_as_far_from_each_other(first: Capsule, at: np.ndarray, length: float):
    second = Capsule(0.1, length)
    there = measured(first, at, length / 2)[0] - second.radius
    back = measured(second, inverse(at) @ first.at, first.length / 2)[0] - first.radius
    assert there == pytest.approx(back, abs=1e-12)


def lying(x: float, y: float, z: float, *along: float) -> np.ndarray:
    """A frame at a place whose z axis points along a direction."""
    turn, _ = Rotation.align_vectors([along], [Z])
    return place((x, y, z), turn)


CUBE = Box((-1, -1, -1), (1, 1, 1))
ROD = Capsule(0.1, 2.0)
KNOWN: dict[str, tuple[Any, np.ndarray, float, float, Any]] = {
    "over a face": (CUBE, lying(0, 0, 3, 1, 0, 0), 0.5, 2.0, Z),
    "on a face": (CUBE, lying(0, 0, 1, 1, 0, 0), 0.5, 0.0, Z),
    "over a face it is longer than": (CUBE, lying(0, 0, 2, 1, 0, 0), 5.0, 1.0, Z),
    "down to a face": (CUBE, lying(0.2, 0.1, 3, 0, 0, 1), 0.5, 1.5, Z),
    "piercing a face": (CUBE, lying(0.2, 0.1, 1, 0, 0, 1), 0.5, -0.5, Z),
    "piercing the cube": (CUBE, lying(0.3, 0.1, 0, 0, 0, 1), 5.0, -0.7, X),
    "across an edge": (CUBE, lying(2, 0, 2, 1, 0, -1), 3.0, np.sqrt(2), (np.sqrt(0.5), 0, np.sqrt(0.5))),
    "on an edge": (CUBE, lying(1, 0, 1, 1, 0, -1), 3.0, 0.0, (np.sqrt(0.5), 0, np.sqrt(0.5))),
    "through an edge": (CUBE, lying(0.9, 0, 0.9, 1, 0, -1), 3.0, -0.1 * np.sqrt(2), (np.sqrt(0.5), 0, np.sqrt(0.5))),
    "along an edge": (CUBE, lying(2, 0, 2, 0, 1, 0), 3.0, np.sqrt(2), (np.sqrt(0.5), 0, np.sqrt(0.5))),
    "in an edge": (CUBE, lying(1, 0, 1, 0, 1, 0), 3.0, 0.0, None),
    "ball at a corner": (CUBE, place((2, 2, 2)), 0.0, np.sqrt(3), np.full(3, np.sqrt(1 / 3))),
    "ball in a corner": (CUBE, place((1, 1, 1)), 0.0, 0.0, None),
    "ball in the middle": (CUBE, HERE, 0.0, -1.0, None),
    "bar in the middle": (CUBE, HERE, 0.5, -1.0, None),
    "over a wedge": (WEDGE, lying(-0.1, 3, 1.1, 1, 0, 0), 0.5, 1.0, Z),
    "in a shaft": (SHAFT, lying(0, 0, 7, 1, 0, 0), 0.05, -0.15, (-1, 0, 0)),
    "beside a rod": (ROD, place((0.5, 0, 0.5)), 1.0, 0.4, X),
    "crossing a rod": (ROD, lying(0, 0, 0.3, 0, 1, 0), 1.0, -0.1, None),
    "in a rod": (ROD, place((0, 0, 0.2)), 1.0, -0.1, None),
    "at the end of a rod": (ROD, lying(0, 0, 3, 0, 0, 1), 0.5, 1.4, Z),
    "ball in a ball": (Ball((0, 0, 0), 0.2), HERE, 0.0, -0.2, None),
}


@pytest.mark.interpreted
@pytest.mark.parametrize("case", KNOWN)
def test_distances_that_can_be_seen(case: str):
    shape, at, h, wanted, direction = KNOWN[case]
    distance, n, w = measured(shape, at, h)
    assert distance == pytest.approx(wanted, abs=1e-12)
    assert distance_between(bar_of(h), shape, at) == pytest.approx(wanted - 0.03, abs=1e-9)
    assert np.isfinite(w).all()
    assert np.linalg.norm(n) == pytest.approx(1, abs=1e-12)
    if direction is not None:
        assert_allclose(n, direction, atol=1e-9)


@pytest.mark.interpreted
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("broken", [0, 2, 9, 11])
def test_nan_stays_nan(name: str, broken: int):
    S, frame = solid_of(SHAPES[name]), np.concatenate([[0.1, 0.2, 0.3], X, Y, Z])
    frame[broken] = np.nan
    assert np.isnan(_gap(S, 0, frame, 0.3, 0.1, np.empty(6)))


def test_a_placed_shape_is_as_far_as_the_bar_seen_from_it():
    shape_at, bar_at = place((1, 2, 3), rpy=(1, 2, 3)), place((1.5, 2.2, 3.1), rpy=(3, 2, 1))
    for shape in SHAPES.values():
        seen = inverse(shape_at) @ bar_at
        apart = distance_between(POST, shape, bar_at, shape_at)
        assert apart == pytest.approx(measured(shape, seen @ POST.at, 0.3)[0] - POST.radius, abs=1e-9)


def test_a_bar_that_is_next_to_parallel_to_a_face_is_as_far_as_one_that_is():
    at, box = place((0, 0, 0.5)), Box((-3, -3, -3), (3, 3, 3))
    tilted = at.copy()
    tilted[0, 2] = 1e-320
    assert distance_between(bar_of(0.3), box, tilted) == distance_between(bar_of(0.3), box, at)


# ── faces and edges ──────────────────────────────────────────────────────────────────────────────────────────────────
COUNTS = {
    "box": (6, 12),
    "half-space": (1, 0),
    "slab": (2, 0),
    "wedge": (2, 1),
    "shaft": (4, 4),
    "corner": (3, 3),
    "pyramid": (5, 8),
}


@pytest.mark.parametrize("name", COUNTS)
def test_faces_and_edges_are_counted(name: str):
    body = polyhedron_of(FLAT[name])
    assert (len(body.normals), len(body.points)) == COUNTS[name]
    assert_allclose(np.linalg.norm(body.directions, axis=1), 1)
    for k, (i, j) in enumerate(body.faces):
        along = np.cross(body.normals[i], body.normals[j])
        assert_allclose(body.directions[k], along / np.linalg.norm(along), atol=1e-12)
        for face in (i, j):
            assert body.normals[face] @ body.points[k] == pytest.approx(body.offsets[face])


@settings(max_examples=30)
@given(st.tuples(*[st.floats(1e-3, 2.0)] * 3), frames)
def test_a_box_is_the_polytope_of_its_rows(sizes: tuple[float, float, float], at: np.ndarray):
    box = Box(np.negative(sizes), np.multiply(sizes, 0.5), at)
    body, rows = polyhedron_of(box), polyhedron_of(Polytope.of(box))
    for mine, other in zip(body[:2], rows[:2], strict=True):
        assert_allclose(mine, other, atol=1e-12)
    ends = [b.points[:, None] + b.spans[:, :, None] * b.directions[:, None] for b in (body, rows)]
    for edge, faces in zip(ends[0], body.faces, strict=True):
        k = next(k for k, pair in enumerate(rows.faces) if set(pair) == set(faces))
        assert_allclose(edge, ends[1][k] if (rows.faces[k] == faces).all() else ends[1][k, ::-1], atol=1e-9)


@settings(max_examples=100)
@given(polytopes(), vectors)
def test_corners_are_those_of_qhull(body: Polytope, inside: np.ndarray):
    room = Polytope(np.vstack([body.A, np.eye(3), -np.eye(3)]), np.concatenate([body.b, np.full(6, 0.7)]))
    try:
        found = polyhedron_of(room)
    except BadValue:
        return
    middle = _inner(room)
    expected = HalfspaceIntersection(np.column_stack([room.A, -room.b]), middle).intersections
    ends = np.concatenate([found.points + found.spans[:, [s]] * found.directions for s in (0, 1)])
    apart = np.linalg.norm(ends[:, None] - expected, axis=2)
    assert apart.min(axis=1).max() < 1e-7
    assert apart.min(axis=0).max() < 1e-7
    corners = len(np.unique(apart.argmin(axis=1))) if len(expected) == len(np.unique(expected.round(7), axis=0)) else 0
    assert corners == 0 or corners - len(found.points) + len(found.normals) == 2


def _inner(body: Polytope) -> np.ndarray:
    rows = np.column_stack([body.A, np.linalg.norm(body.A, axis=1)])
    return linprog([0, 0, 0, -1], A_ub=rows, b_ub=body.b, bounds=[(None, None)] * 4).x[:3]


def same_solid(a: Polytope, b: Polytope) -> bool:
    first, second = solid_of(a), solid_of(b)
    return first.shape == second.shape and bool(np.allclose(first, second, atol=1e-9))


def test_rows_that_add_nothing_are_dropped():
    lean = Polytope.of(Box((0, 0, 0), (1, 2, 3)))
    for extra, b in (
        ([1, 1, 1], 99),  # far outside
        ([1, 0, 0], 5),  # behind a face
        ([2, 0, 0], 2),  # the same face
        ([1, 1, 0], 3),  # through an edge
        ([1, 1, 1], 6),  # through a corner
    ):
        assert same_solid(lean, Polytope(np.vstack([lean.A, extra]), [*lean.b, b]))


def test_the_plane_through_an_edge_never_takes_the_edge_away():
    """Of three planes through one line the outermost two are the faces, in whatever order they come."""
    A, b = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0.0]]), np.array([1, 2, 1, 0, 0.0])
    for order in ([0, 1, 2, 3, 4], [1, 0, 2, 3, 4], [2, 3, 0, 4, 1]):
        body = polyhedron_of(Polytope(A[order], b[order]))
        assert (len(body.normals), len(body.points)) == (4, 4)
        assert not (np.abs(body.normals @ (1, 1, 0)) > 1.2).any()


# ── shapes ───────────────────────────────────────────────────────────────────────────────────────────────────────────
@given(boxes, vectors)
def test_a_box_is_a_polytope(box: Box, point: np.ndarray):
    own = (inverse(box.at) @ [*point, 1.0])[:3]
    slack = min((own - box.lower).min(), (box.upper - own).min())
    body = Polytope.of(box)
    assert (body.b - body.A @ point).min() == pytest.approx(slack, abs=1e-12)


def test_a_half_space_is_solid_where_its_normal_does_not_point():
    floor = Polytope.half_space((7, 8, 0.5), (0, 0, 3))
    assert floor.A @ (0, 0, -9) < floor.b < floor.A @ (0, 0, 9)
    assert floor.b == [0.5]


def test_a_core_is_what_a_bar_is_round_about():
    assert Core.of(PEA).half == 0.0
    assert_array_equal(Core.of(PEA).at[:3, 3], PEA.centre)
    assert Core.of(POST).half == 0.3
    assert Core.of(POST).radius == 0.1


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "no rows": (lambda: Polytope(np.zeros((0, 3)), []), "at least one row"),
    "words": (lambda: Polytope([[1, 0, 0]], ["far"]), "a polytope's b must be real numbers"),
    "ragged": (lambda: Polytope([[1, 0, 0]], [[1], [2, 3]]), "a polytope's b must be numbers"),
    "a table for b": (lambda: Polytope(np.eye(3), np.eye(3)), r"a polytope's b must have shape \(3,\)"),
    "too few numbers": (lambda: Polytope(np.eye(3), [1, 2]), r"a polytope's b must have shape \(3,\)"),
    "flat rows": (lambda: Polytope(np.eye(2), [1, 2]), r"a polytope's A must have shape \(2, 3\)"),
    "a zero row": (lambda: Polytope([[0, 0, 0]], [1]), "zero row"),
    "no normal": (lambda: Polytope.half_space((0, 0, 0), (0, 0, 0)), "a half-space's normal must not have length zero"),
    "a flat point": (lambda: Polytope.half_space((0, 0), (0, 0, 1)), "a point of a half-space's surface must have"),
    "a word for a radius": (lambda: Ball((0, 0, 0), "big"), "a ball's radius must be positive"),  # pyright: ignore
    "an empty polytope": (
        lambda: solid_of(Polytope([[1, 0, 0], [0, 1, 0], [-1, 0, 0]], [1, 1, -2])),
        r"no inside: no point meets all of \[1.0, 0.0, 0.0\]·x ≤ 1; \[-1.0, 0.0, 0.0\]·x ≤ -2 ",
    ),
    "a sheet": (lambda: solid_of(Polytope([[0, 0, 1], [0, 0, -1]], [1, -1])), "no inside"),
    "a word in the way": (lambda: solid_of("cone"), "a Ball, a Box, a Capsule"),  # pyright: ignore
    "a distance to a word": (lambda: distance_between(PEA, "cone"), "not"),  # pyright: ignore
    "a distance from a word": (lambda: distance_between("cone", PEA), "not"),  # pyright: ignore
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str):
    make, message = REFUSED[case]
    with pytest.raises(BadValue, match=message):
        make()
