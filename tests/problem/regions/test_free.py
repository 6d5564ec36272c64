"""Free space: polytopes that meet no obstacle, hold their seeds and end somewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import supple
from supple import Ball, Box, Capsule, Polytope
from supple.errors import BadValue
from supple.geometry.distances import distance_between
from supple.geometry.polyhedra import corners_of
from supple.problem import free_space, seeds_about
from supple.problem.regions.ellipsoids import largest_ellipsoid

ROOM = Box((-1, -1, -1), (1, 1, 1))
TILTED = Box(
    (-1, -0.8, -0.5), (1, 0.8, 0.5), supple.place((0.3, 0.2, 0.1), Rotation.from_euler("xyz", (0.4, 0.3, 1.0)))
)


def rows_of(shape: Any) -> Polytope:
    return Polytope.of(shape) if isinstance(shape, Box) else shape


def overlap(body: Polytope, shape: Any) -> float:
    """How deep a polytope and an obstacle reach into each other, by linear programming or by the distance of a core."""
    if isinstance(shape, Ball | Capsule):
        return -distance_between(shape, body)
    A = np.vstack([body.A, rows_of(shape).A])
    A = np.column_stack([A, np.linalg.norm(A, axis=1)])
    b = np.concatenate([body.b, rows_of(shape).b])
    return float(linprog([0, 0, 0, -1], A_ub=A, b_ub=b, bounds=[(None, None)] * 3 + [(None, 1.0)]).x[3])


def scattered(seed: int) -> list[Any]:
    """Obstacles of every kind."""
    rng = np.random.default_rng(seed)

    def point() -> Any:
        return rng.uniform(-0.9, 0.9, 3)

    turned = supple.place(point(), Rotation.from_rotvec(rng.normal(size=3)))
    low = point()
    return [
        Ball(point(), rng.uniform(0.05, 0.3)),
        Capsule.between(point(), point(), rng.uniform(0.05, 0.15)),
        Box(low, tuple(low + rng.uniform(0.1, 0.5, 3))),
        Box((-0.2, -0.1, -0.3), (0.2, 0.1, 0.3), turned),
        Polytope.half_space((0, 0, -0.7), rng.normal(size=3) + np.array((0, 0, 4))),
    ]


@pytest.mark.parametrize("cuboids", [True, False])
@settings(max_examples=8)
@given(st.integers(0, 2**32 - 1), st.sampled_from([ROOM, TILTED]))
def test_polytopes_are_free_and_bounded_and_hold_their_seeds(cuboids: bool, seed: int, bounds: Box):
    things = scattered(seed)
    drawn = np.random.default_rng(seed).uniform(
        np.multiply(0.95, bounds.lower), np.multiply(0.95, bounds.upper), (3, 3)
    )
    points = drawn @ bounds.at[:3, :3].T + bounds.at[:3, 3]
    for point in points:
        found = free_space(things, bounds, point, cuboids=cuboids)
        free = all(distance_between(Ball(point, 1e-9), t) > 1e-5 for t in things)
        assert len(found) == int(free)
        for body in found:
            assert (body.A @ point < body.b).all()
            assert max(overlap(body, thing) for thing in things) < 0.0
            corners = corners_of(body)
            over = Polytope.of(bounds).A @ corners.T - Polytope.of(bounds).b[:, None]
            assert over.max() <= 1e-6
            assert ConvexHull(corners).volume > 0.0


def test_cuboids_cannot_grow():
    """Pushed out by a millimetre, every face of a cuboid meets a wall or a box."""
    rng = np.random.default_rng(1)
    low = rng.uniform(-0.9, 0.6, (12, 3))
    boxes = [Box(a, a + rng.uniform(0.1, 0.3, 3)) for a in low]
    found = free_space(boxes, ROOM, 10)
    assert found
    for body in found:
        for k in range(6):
            wider = Polytope(body.A, body.b + 1e-3 * np.eye(6)[k])
            outside = wider.b[k] > 1.0
            assert outside or max(overlap(wider, box) for box in boxes) > 1e-5


def test_an_empty_room_is_one_cuboid():
    (body,) = free_space([], TILTED, 5)
    assert np.allclose(body.b, Polytope.of(TILTED).b, atol=1e-5)
    (same,) = free_space([], TILTED, 5, cuboids=False)
    assert np.allclose(same.b, body.b, atol=1e-5)


def test_polytopes_hold_more_than_cuboids_beside_a_slope():
    slope = Polytope.half_space((0, 0, 0), (0, 1, 1))
    sizes = [
        max(ConvexHull(corners_of(body)).volume for body in free_space([slope], ROOM, (0, 0.5, 0.5), cuboids=cuboids))
        for cuboids in (True, False)
    ]
    assert sizes[1] == pytest.approx(4.0, abs=1e-4)
    assert sizes[0] < 3.0


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_the_largest_ellipsoid_of_a_stretched_cube_is_its_stretched_ball(seed: int):
    rng = np.random.default_rng(seed)
    M, p = rng.normal(size=(3, 3)) + 2 * np.eye(3), rng.normal(size=3)
    A = np.vstack([np.eye(3), -np.eye(3)]) @ np.linalg.inv(M)
    C, e = A / np.linalg.norm(A, axis=1)[:, None], (1 + A @ p) / np.linalg.norm(A, axis=1)
    L, d = largest_ellipsoid(C, e)
    assert np.allclose(d, p, atol=1e-4)
    assert np.allclose(L @ L.T, M @ M.T, atol=1e-3 * np.linalg.norm(M) ** 2)


def test_seeds_are_about_the_balls():
    arm = supple.load("panda").with_spheres({"panda_link4": [(0, 0, 0.1, 0.08)], "panda_hand": [(0, 0, 0, 0.05)]})
    points = seeds_about(arm, arm.rest, 30, radius=0.2)
    centres = [
        arm.placement(arm.rest, name)[:3] @ (0, 0, z, 1) for name, z in (("panda_link4", 0.1), ("panda_hand", 0.0))
    ]
    assert np.allclose(points[:2], centres)
    assert np.linalg.norm(points[:, None] - np.array(centres), axis=2).min(axis=1).max() <= 0.2
    with pytest.raises(BadValue, match="no solids"):
        seeds_about(supple.load("panda").with_solids({s: [] for s in supple.load("panda").segments}), arm.rest)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(BadValue, match="Box"):
        free_space([], Ball((0, 0, 0), 1.0))  # pyright: ignore[reportArgumentType]
    with pytest.raises(BadValue, match="at least 1"):
        free_space([], ROOM, 0)
    with pytest.raises(BadValue, match="seeds"):
        free_space([], ROOM, [(0, 0, np.nan)])
    assert free_space([Box((-2, -2, -2), (2, 2, 2))], ROOM, 3) == ()
