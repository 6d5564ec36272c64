"""Distances between bodies with corners: against the hull of all differences, against coal, against MuJoCo; and slopes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from supple.geometry.distances import distance_between
from supple.geometry.placements import Floats, compose, inverse
from supple.geometry.polyhedra import bounded, corners_of, polyhedron_of
from supple.geometry.shapes import Box, Hull, Polytope
from supple.kernels.body_gaps import witness_entry
from supple.kernels.solids import solid_of

COUNT = 150


def drawn(rng: np.random.Generator, radius: bool = False) -> Box | Hull:
    """A box, or a hull of a few or of many points."""
    sides = rng.uniform(0.03, 0.3, 3)
    if rng.random() < 0.3:
        return Box(tuple(-sides), tuple(0.7 * sides))
    return Hull(rng.normal(size=(rng.integers(4, 40), 3)) * sides, rng.uniform(0, 0.05) if radius else 0.0)


def put(rng: np.random.Generator) -> Floats:
    """A placement nearby."""
    return compose(Rotation.random(random_state=rng).as_matrix(), 0.25 * rng.normal(size=3))


def found(a: Box | Hull, b: Box | Hull, A: Floats, B: Floats) -> np.ndarray:
    """Distance, direction and witness, seen from B."""
    S, T = solid_of(a, True), solid_of(b, True)
    out = np.zeros((1, 7))
    frames, half, at = np.array([A, B]), np.array([-1.0, -1.0]), np.array([0, len(S)])
    witness_entry(np.concatenate([S, T]), at, half, frames, np.array([[0, 1, 0]]), np.zeros((2, 120)), out)
    return out[0]


def cases(seed: int, radius: bool = False, count: int = COUNT) -> list[tuple[Box | Hull, Box | Hull, Floats, Floats]]:
    rng = np.random.default_rng(seed)
    return [(drawn(rng, radius), drawn(rng, radius), put(rng), put(rng)) for _ in range(count)]


def test_distances_are_those_of_the_hull_of_all_differences():
    apart = [(found(*case)[0], distance_between(*case)) for case in cases(1, radius=True)]
    ours, other = np.array(apart).T
    assert np.abs(ours - other).max() < 1e-12
    assert (ours < -0.01).sum() > 20
    assert (ours > 0.01).sum() > 20


@pytest.mark.interpreted
def test_a_few_distances_interpreted_too():
    for case in cases(2, count=6):
        assert found(*case)[0] == pytest.approx(distance_between(*case), abs=1e-12)


def test_distances_are_those_of_coal():
    coal = pytest.importorskip("coal")

    def solid(body: Box | Hull) -> object:
        points = coal.StdVec_Vec3s()
        for point in corners_of(body):
            points.append(point)
        return coal.Convex.convexHull(points, False, "")

    for a, b, A, B in cases(3):
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        frames = [coal.Transform3s(T[:3, :3], T[:3, 3]) for T in (A, B)]
        theirs = coal.distance(solid(a), frames[0], solid(b), frames[1], request, result)
        assert found(a, b, A, B)[0] == pytest.approx(theirs, abs=1e-9)


def test_distances_are_those_of_mujoco():
    mujoco = pytest.importorskip("mujoco")
    compared = 0
    for a, b, A, B in cases(4, count=60):
        spec = mujoco.MjSpec()
        for name, body, T in (("a", a, A), ("b", b, B)):
            spec.add_mesh(name=name, uservert=corners_of(body).ravel())
            quat = Rotation.from_matrix(T[:3, :3]).as_quat(scalar_first=True)
            own = spec.worldbody.add_body(name=name, pos=T[:3, 3], quat=quat)
            own.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, name=name)
        model = spec.compile()
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        ours = found(a, b, A, B)[0]
        theirs = mujoco.mj_geomDistance(model, data, 0, 1, 10.0, None)
        if ours > 0.0:  # what it says of bodies that meet is not always the shortest push
            assert ours == pytest.approx(theirs, abs=1e-6)  # its meshes are single precision
            compared += 1
        else:
            assert theirs < 1e-6
    assert compared > 15


def test_slopes_are_differences_of_the_other_way_of_computing():
    step, twists = 1e-6, np.random.default_rng(9).normal(size=(2, 6))
    for a, b, A, B in cases(5, count=40):
        _, *numbers = found(a, b, A, B)
        n, w, X = np.array(numbers[:3]), np.array(numbers[3:]), inverse(B) @ A
        assert np.linalg.norm(n) == pytest.approx(1.0)
        for turn, slide in twists.reshape(2, 2, 3):
            ends = []
            for sign in (step, -step):
                moved = compose(Rotation.from_rotvec(sign * turn).as_matrix(), sign * slide)
                ends.append(distance_between(a, b, B @ moved @ X, B))
            slope = (ends[0] - ends[1]) / (2.0 * step)
            assert n @ (np.cross(turn, w) + slide) == pytest.approx(slope, abs=1e-6)


def test_boxes_that_stand_square_to_each_other():
    one, other = Box((0, 0, 0), (1, 1, 1)), Box((0, 0, 0), (1, 2, 3))
    for gap in (0.5, 1e-3, 1e-10, 0.0, -1e-10, -0.25):
        at = compose(np.eye(3), (0.1, 2 + gap, 0.2))
        distance, *direction = found(one, other, at, np.eye(4))
        assert distance == pytest.approx(gap, abs=1e-12)
        assert np.allclose(direction[:3], (0, 1, 0), atol=1e-6)
    inside = found(Box((0.4, 0.4, 0.4), (0.5, 0.6, 0.6)), one, np.eye(4), np.eye(4))
    assert inside[0] == pytest.approx(-0.5)


def test_nan_stays_nan():
    assert np.isnan(found(Box((0, 0, 0), (1, 1, 1)), Box((0, 0, 0), (1, 1, 1)), np.full((4, 4), np.nan), np.eye(4))[0])


def test_a_hull_has_the_faces_edges_and_corners_of_what_it_is_around():
    cube = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    body = polyhedron_of(Hull(np.vstack([cube, [(0.5, 0.5, 0.5), (0.5, 1.0, 0.5)]])))
    assert (len(body.normals), len(body.points)) == (6, 12)
    first, second = (body.normals[body.faces[:, k]] for k in (0, 1))
    assert np.allclose(np.cross(first, second), body.directions)
    assert len(corners_of(Hull(cube))) == 8
    assert np.allclose(np.sort(Polytope.hull(cube).b), (0, 0, 0, 1, 1, 1))


def test_what_has_no_end_is_cut_off_far_away():
    floor = Polytope.half_space((0, 0, 0.3), (0, 0, 1))
    box = Box((-1, -1, 0.5), (1, 1, 1))
    assert distance_between(box, floor) == pytest.approx(0.2, abs=1e-9)
    assert bounded(Polytope.of(box)) is not None
    deeper = compose(np.eye(3), (50.0, 0.0, -0.4))
    assert distance_between(box, floor, deeper) == pytest.approx(-0.2, abs=1e-9)
