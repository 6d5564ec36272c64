"""Distances and nearest points in answers: against the audit, which knows distances alone."""

from __future__ import annotations

import numpy as np
import pytest

import supple
from supple.geometry.distances import distance_between
from supple.geometry.shapes import Ball, Box, Capsule, Cylinder, Hull, Polytope, Solid
from supple.problem import Moving
from supple.problem.clearances import _placed, between

HEAP = np.random.default_rng(5).normal(size=(14, 3)) * (0.04, 0.03, 0.1)
SOLIDS: list[Solid] = [
    Ball((0.02, 0, 0), 0.1), Capsule(0.05, 0.3), Box((-0.1, -0.2, -0.1), (0.1, 0.2, 0.3)), Cylinder(0.1, 0.3), Hull(HEAP, 0.02),
]  # fmt: skip


def test_distances_are_those_of_the_audit_and_points_are_as_far_apart_and_on_their_bodies():
    rng, met = np.random.default_rng(0), 0
    for k in range(250):
        a, b = SOLIDS[k % 5], SOLIDS[k // 5 % 5]
        A, B = (supple.place(rng.uniform(-s, s, 3), rpy=rng.uniform(-3, 3, 3)) for s in (0.4, 0.2))
        one, other = _placed(a, A), _placed(b, B)
        distance, x, y = between(one.corners, one.radius, other.corners, other.radius)
        assert distance == pytest.approx(distance_between(a, b, A, B), abs=1e-9)
        assert np.linalg.norm(x - y) == pytest.approx(abs(distance), abs=1e-9)
        for point, body, at in ((x, a, A), (y, b, B)):  # on the surface of it: not outside, and next to the outside
            assert distance_between(Ball(tuple(point), 1e-9), body, shape_at=at) <= 1e-7
        if distance > 0.0:
            assert distance_between(Ball(tuple(x), 1e-9), b, shape_at=B) == pytest.approx(distance, abs=1e-7)
        else:
            met += 1
            moved = A.copy()
            moved[:3, 3] -= (x - y) * (1.0 + 1e-6)  # the push that parts them
            assert distance_between(a, b, moved, B) >= -1e-7
    assert 25 < met < 225


def test_an_answer_tells_the_nearest_first():
    figure = supple.load("human", fingers=False)
    wall = Polytope.half_space((0, 0.6, 0), (0, -1, 0))
    task = supple.Task("hand_l", supple.At(figure.placement(figure.rest, "hand_l")[:3, 3] + (0.1, 0.0, 0.2)))
    clear = supple.Clearance(itself=True)
    obstacles = {"wall": wall, "ball": Moving(Ball((0, 0, 0), 0.1), supple.place((0.5, 0.1, 1.2)))}
    found = supple.solve(supple.Problem(figure, [task], obstacles=obstacles, clearance=clear))
    rows = found.clearances
    assert [row.distance for row in rows] == sorted(row.distance for row in rows)
    kept = {*figure.colliding_pairs(), *((s, o) for s in figure.bars for o in obstacles)}
    assert {frozenset(row[:2]) for row in rows} == {frozenset(pair) for pair in kept}
    assert found.ok
    assert rows[0].distance >= -1e-4
    frames = figure.placements(found.q)
    for row in rows[:40:5]:
        if row.other in figure.segments:
            pairs = [(a, b, frames[row.other]) for a in figure.bars[row.segment] for b in figure.bars[row.other]]
        else:
            shape = wall if row.other == "wall" else obstacles["ball"].standing  # type: ignore[union-attr]
            pairs = [(a, shape, np.eye(4)) for a in figure.bars[row.segment]]
        least = min(distance_between(a, b, frames[row.segment], at) for a, b, at in pairs)
        assert row.distance == pytest.approx(least, abs=1e-8)
    assert supple.solve(supple.Problem(figure, [task])).clearances == ()
