"""Obstacles that move: the same answers as a problem that was built with them there, and nothing is packed anew."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import supple
from supple.errors import BadValue, Refused
from supple.geometry import Cloud
from supple.geometry.shapes import Ball, Box, Capsule, Cylinder, Hull, Polytope
from supple.kernels.compiling import INTERPRETED
from supple.problem import Moving
from supple.problem.moving import own_names

HEAP = np.random.default_rng(5).normal(size=(14, 3)) * (0.04, 0.1, 0.1)
SHAPES: dict[str, Any] = {
    "ball": Ball((0.05, 0, 0), 0.12),
    "capsule": Capsule(0.05, 0.3, supple.place((0, 0, 0.1))),
    "box": Box((-0.2, -0.1, -0.02), (0.2, 0.1, 0.02)),
    "cylinder": Cylinder(0.1, 0.2),
    "hull": Hull(HEAP, 0.02),
    "polytope": Polytope.of(Box((-0.1, -0.1, -0.1), (0.1, 0.1, 0.2))),
}
COUNT = 2 if INTERPRETED else 12


def arm() -> supple.Figure:
    """The Panda with a box for a hand and round bodies elsewhere."""
    plain = supple.load("panda")
    return plain.with_solids(
        {
            **dict.fromkeys(plain.segments, ()),
            "panda_link4": (Ball((0, 0, 0), 0.07),),
            "panda_link5": (Capsule(0.05, 0.2, supple.place((0, 0, -0.15))),),
            "panda_hand": (Box((-0.03, -0.1, 0), (0.03, 0.1, 0.1)),),
        }
    )


def stated(obstacles: Any) -> supple.Problem:
    return supple.Problem(
        arm(), [supple.Task(supple.Point("panda_hand"), supple.At((0.4, 0.2, 0.5)))], obstacles=obstacles
    )


def draws(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Targets, and where the tray is."""
    rng = np.random.default_rng(seed)
    aims = rng.uniform((0.2, -0.4, 0.2), (0.6, 0.4, 0.7), (COUNT, 3))
    trays = [supple.place(a + rng.normal(0, 0.1, 3), rpy=rng.uniform(-3, 3, 3)) for a in aims]
    return aims, np.array(trays)


@pytest.mark.parametrize("name", SHAPES)
def test_a_moved_obstacle_is_as_good_as_one_that_was_built_there(name: str):
    shape, touched = SHAPES[name], 0
    query = supple.prepare(stated({"tray": shape, "post": Ball((0.4, 0.5, 0.3), 0.1)}), moving=["tray"])
    for aim, at in zip(*draws(1), strict=True):
        found = query(aim, obstacles={"tray": at})
        built = stated({"tray": Moving(shape, at), "post": Ball((0.4, 0.5, 0.3), 0.1)})
        again = supple.prepare(built)(aim)
        assert np.array_equal(found.q, again.q)
        assert found.status is again.status
        assert found.problem.obstacles == again.problem.obstacles
        assert found.errors == again.errors
        standing = stated({"tray": Moving(shape, at).standing, "post": Ball((0.4, 0.5, 0.3), 0.1)})
        others = np.random.default_rng(2).uniform(built.figure.lower, built.figure.upper, (4, built.figure.size))
        for q in (found.q, *others):
            for one, other in zip(built.misses(q), standing.misses(q), strict=True):
                assert one.metres == pytest.approx(other.metres, abs=1e-9)
            rho, J = built.jacobian(q)
            rho_too, J_too = standing.jacobian(q)
            order = [built.rows_of_tasks[0], standing.rows_of_tasks[0]]
            assert np.allclose(rho[list(order[0])], rho_too[list(order[1])])
            assert np.sort(np.abs(rho)) == pytest.approx(np.sort(np.abs(rho_too)), abs=1e-9)
            if q is found.q:  # which may be next to contact, where slopes change all at once
                continue
            assert np.abs(J).sum() == pytest.approx(np.abs(J_too).sum(), rel=1e-6, abs=1e-6)
            touched += built.misses(q)[1].metres > 0.0
    assert touched or INTERPRETED
    home = query((0.4, 0.2, 0.5))
    assert np.array_equal(
        home.q, supple.prepare(stated({"tray": Moving(shape), "post": Ball((0.4, 0.5, 0.3), 0.1)}))().q
    )
    assert np.array_equal(pickle.loads(pickle.dumps(query))((0.4, 0.2, 0.5)).q, home.q)


def test_every_door_moves_them_alike():
    aims, trays = draws(3)
    problem = stated({"tray": Moving(SHAPES["box"])})
    query = supple.prepare(problem)
    one_by_one = [query(aim, obstacles={"tray": at}) for aim, at in zip(aims, trays, strict=True)]
    many = supple.solve_many(problem, aims, obstacles={"tray": trays})
    assert np.array_equal(many.q, [found.q for found in one_by_one])
    assert many.status == tuple(found.status for found in one_by_one)
    assert many[1].problem.obstacles == one_by_one[1].problem.obstacles
    assert np.allclose(many.errors[1], [(m.metres, m.radians) for m in one_by_one[1].errors])
    still = supple.solve_many(problem, aims, obstacles={"tray": trays[0]})
    assert np.array_equal(still.q[0], one_by_one[0].q)
    path = supple.follow(problem, aims, obstacles={"tray": trays})
    start = query(aims[0], obstacles={"tray": trays[0]}).q
    assert np.array_equal(path.q[0], start)
    assert np.array_equal(path.q[1], query(aims[1], start=start, obstacles={"tray": trays[1]}).q)


def test_a_step_stays_clear_of_what_comes_near():
    problem, q = stated({"tray": Moving(SHAPES["ball"])}), arm().rest
    hand = arm().placement(q, "panda_hand")[:3, 3]
    for far in (0.5, 0.4, 0.3, 0.25):
        at = supple.place(hand + np.array((far, 0.0, 0.0)))
        q = supple.step(problem, q, 0.02, targets=hand + np.array((0.4, 0.0, 0.0)), obstacles={"tray": at})
        there = supple.Problem(arm(), [], obstacles={"tray": Moving(SHAPES["ball"], at)})
        assert there.misses(q)[0].metres <= 1e-8
        built = stated({"tray": Moving(SHAPES["ball"], at)})
        assert np.array_equal(
            supple.step(problem, arm().rest, 0.02, targets=hand, obstacles={"tray": at}),
            supple.step(built, arm().rest, 0.02, targets=hand),
        )


def test_parts_move_together():
    cloud = Cloud([(0, 0, 0), (0.2, 0, 0), (0, 0.2, 0)], 0.03)
    problem = stated({"leaves": cloud, "leaves of grass": Ball((0.9, 0, 0), 0.1)})
    assert own_names("leaves", problem.obstacles) == ["leaves 1", "leaves 2", "leaves 3"]  # pyright: ignore
    query = supple.prepare(problem, moving=["leaves"])
    found = query((0.4, 0.2, 0.5), obstacles={"leaves": (0.4, 0.2, 0.5)})
    wanted = Cloud(cloud.points + np.array((0.4, 0.2, 0.5)), 0.03)
    assert found.problem.misses(found.q)[1].metres == pytest.approx(
        stated({"leaves": wanted}).misses(found.q)[1].metres
    )


def test_bad_placements_are_refused_by_name():
    query = supple.prepare(stated({"tray": SHAPES["box"], "post": SHAPES["ball"]}), moving=["tray"])
    with pytest.raises(supple.Error, match="'tary'"):
        query((0.4, 0.2, 0.5), obstacles={"tary": np.eye(4)})
    with pytest.raises(Refused, match=r"'post' stands still.*moving="):
        query((0.4, 0.2, 0.5), obstacles={"post": np.eye(4)})
    with pytest.raises(BadValue, match="where 'tray' is"):
        query((0.4, 0.2, 0.5), obstacles={"tray": np.ones((4, 4))})
    with pytest.raises(BadValue, match="2 targets but 3 placements"):
        supple.solve_many(query.problem, [(0.4, 0.2, 0.5)] * 2, obstacles={"tray": [np.eye(4)] * 3})
    with pytest.raises(Refused, match="whole"):
        supple.follow(query.problem, [(0.4, 0.2, 0.5)], obstacles={"tray": np.eye(4)}, whole=True)
    with pytest.raises(supple.Error, match="'wall'"):
        supple.prepare(query.problem, moving=["wall"])
    with pytest.raises(BadValue, match="no end"):
        stated({"floor": Moving(Polytope.half_space((0, 0, -1), (0, 0, 1)))})
    with pytest.raises(BadValue, match="moves once"):
        Moving(Moving(SHAPES["box"]))
