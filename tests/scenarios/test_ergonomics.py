"""The ten ergonomic scenes: every file is solved, nothing penetrates, people who stand are balanced, and postures are natural.

Contacts, gaps and balance are worked out here from points sampled on the bars, independently of the library's distances.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.spatial import ConvexHull, KDTree

import supple
from supple import Balanced, Ball, Box, Capsule, Direction, MassCentre, Near, Polytope, Scene, Solution, Status
from supple.geometry.shapes import Core
from tests import ROOT

FOLDER = ROOT / "examples" / "scenes"
SCENES = sorted(path.stem for path in FOLDER.glob("*.toml") if path.stem != "table")  # which is no person's work
STANDING = ("cup", "lift", "pole", "tie_shoe", "top_shelf", "under_table")
SYMMETRIC = ("driver", "lift", "typing", "under_table")
# A squat bends flat feet as far as they go; who reaches up on tiptoe straightens the upper back.
AT_LIMITS = {"lift": {"foot_l.flexion", "foot_r.flexion"}, "top_shelf": {"thorax_upper.flexion"}}
TOUCH = 0.015  # what is nearer than this touches [m]


class Case(NamedTuple):
    """A scene and what came out."""

    scene: Scene
    solution: Solution

    def at(self, segment: str) -> np.ndarray:
        return self.scene.figure.placement(self.solution.q, segment)

    def degrees(self, joint: str) -> float:
        return float(np.rad2deg(self.solution.q[self.scene.figure.coordinates.index(joint)]))


@cache
def case(name: str) -> Case:
    scene = supple.read_scene(FOLDER / f"{name}.toml")
    return Case(scene, scene.solve())


def skin(figure: supple.Figure, q: np.ndarray, segments: tuple[str, ...] = ()) -> dict[str, np.ndarray]:
    """Points on the surfaces of the bars of each segment, a few millimetres apart."""
    frames, out = figure.placements(q), {}
    turns, along = np.linspace(0.0, 2 * np.pi, 24, endpoint=False), np.linspace(-1.0, 1.0, 9)
    rings = [
        (np.cos(t) * np.cos(e), np.sin(t) * np.cos(e), np.sin(e)) for t in turns for e in (-1.2, -0.6, 0.0, 0.6, 1.2)
    ]
    around = np.array([*rings, (0, 0, 1), (0, 0, -1)])
    for segment in segments or figure.bars:
        points = []
        for bar in figure.bars[segment]:
            core = Core.of(bar)
            T = frames[segment] @ core.at
            for share in along if core.half else (0.0,):
                local = core.radius * around + (0.0, 0.0, share * core.half)
                points.append(local @ T[:3, :3].T + T[:3, 3])
        out[segment] = np.concatenate(points)
    return out


def outside(shape: Any, points: np.ndarray) -> float:
    """How far the deepest point is outside a shape, at least; below zero it is inside."""
    if isinstance(shape, Ball | Capsule):
        core = Core.of(shape)
        local = (points - core.at[:3, 3]) @ core.at[:3, :3]
        local[:, 2] -= np.clip(local[:, 2], -core.half, core.half)
        return float(np.linalg.norm(local, axis=1).min()) - core.radius
    body = Polytope.of(shape) if isinstance(shape, Box) else shape
    lengths = np.linalg.norm(body.A, axis=1)
    return float(((points @ body.A.T - body.b) / lengths).max(axis=1).min())


# ── what has to hold in every scene ──────────────────────────────────────────────────────────────────────────────────
def test_there_are_ten_that_a_person_can_read():
    assert len(SCENES) == 10
    for name in SCENES:
        lines = (FOLDER / f"{name}.toml").read_text(encoding="utf-8").splitlines()
        assert len(lines) < 90
        assert lines[0].startswith("# ")


@pytest.mark.parametrize("name", SCENES)
def test_every_constraint_is_met_by_a_legal_posture(name: str):
    scene, solution = case(name)
    assert solution.status is Status.SOLVED
    assert solution.unmet == ()
    assert scene.limits.contains(solution.q)
    for task, miss in zip(solution.problem.all_tasks, solution.errors, strict=True):
        assert task.preference or max(miss) < 1e-5, task.name
    assert any(task.hard for task in scene.constraints.values())
    assert any(isinstance(task.goal, Near) and task.preference for task in scene.constraints.values())


@pytest.mark.parametrize("name", SCENES)
def test_nothing_penetrates(name: str):
    scene, solution = case(name)
    left_alone = {frozenset(pair) for pair in scene.clearance.ignoring}
    for segment, points in skin(scene.figure, solution.q).items():
        for obstacle, shape in scene.obstacles.items():
            if frozenset((segment, obstacle)) not in left_alone:
                assert outside(shape, points) > -1e-5, (segment, obstacle)
    assert scene.clearance.itself
    assert all(name.startswith("hand_") for name, _ in scene.clearance.ignoring), "only what is held is left alone"


@pytest.mark.parametrize("name", STANDING)
def test_who_stands_on_the_floor_is_balanced_on_what_touches_it(name: str):
    scene, solution = case(name)
    asked = [
        t for t in scene.constraints.values() if isinstance(t.effector, MassCentre) and isinstance(t.goal, Balanced)
    ]
    assert [task.hard for task in asked] == [True]
    points = np.concatenate([*skin(scene.figure, solution.q).values()])
    inward = -ConvexHull(
        points[points[:, 2] < TOUCH, :2]
    ).equations  # how far inside each edge of what touches the floor
    assert (inward @ (*scene.figure.mass_centre(solution.q)[:2], 1.0)).min() > 0.0
    for corner in asked[0].goal.polygon:
        assert (inward @ (*corner, 1.0)).min() > -0.025, "support from nowhere"


# ── what looks natural ───────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", SCENES)
def test_no_joint_is_at_its_limit_but_where_people_s_are(name: str):
    scene, solution = case(name)
    assert set(solution.active) <= AT_LIMITS.get(name, set())
    q, lower, upper = solution.q, scene.limits.lower, scene.limits.upper
    for joint, x, low, high in zip(scene.figure.coordinates, q, lower, upper, strict=True):
        if joint.startswith("hand_"):
            assert np.rad2deg(min(x - low, high - x)) > 3.0, f"{joint} is bent as far as it goes"


@pytest.mark.parametrize("name", SCENES)
def test_heads_are_upright_and_necks_not_wrung(name: str):
    one = case(name)
    tilt = np.rad2deg(np.arcsin(one.at("eyes")[2, 1]))
    assert abs(tilt) < 10.0
    assert abs(one.degrees("neck.bending")) < 10.0
    assert abs(one.degrees("neck.rotation") + one.degrees("head.rotation")) < (55.0 if name == "cup" else 35.0)
    seeing = [t.effector for t in one.scene.constraints.values() if isinstance(t.effector, Direction)]
    assert "eyes" in [effector.segment for effector in seeing], "every scene says where its person looks"


@pytest.mark.parametrize("name", SYMMETRIC)
def test_what_is_symmetric_is_done_symmetrically(name: str):
    one = case(name)
    for joint in one.scene.figure.coordinates:
        stem, motion = joint.rsplit(".", 1)
        if stem.endswith("_l"):
            assert one.degrees(joint) == pytest.approx(one.degrees(f"{stem[:-2]}_r.{motion}"), abs=2.0)
        elif motion in ("bending", "rotation") and not stem.endswith("_r"):
            assert one.degrees(joint) == pytest.approx(0.0, abs=2.0)


@pytest.mark.parametrize("name", SCENES)
def test_knees_point_where_the_feet_do(name: str):
    one = case(name)
    for side in "lr":
        hip, knee, ankle = (one.at(f"{part}_{side}")[:3, 3] for part in ("thigh", "shank", "foot"))
        foot, across = one.at(f"foot_{side}")[:3, 0], one.at("pelvis")[:3, 1]
        bend = knee - hip - (ankle - hip) * ((knee - hip) @ (ankle - hip)) / ((ankle - hip) @ (ankle - hip))
        if np.linalg.norm(bend) > 0.03:  # a straight leg's knee points nowhere
            away = bend / np.linalg.norm(bend) - foot
            assert abs(away @ across) < 0.5, f"the {side} knee falls to one side"


def test_the_driver_sits_relaxed():
    one = case("driver")
    for side, (joint, low, high) in product(
        "lr", [("shank_{}.flexion", 40, 80), ("forearm_{}.flexion", 30, 90), ("thigh_{}.flexion", 70, 95)]
    ):
        assert low < one.degrees(joint.format(side)) < high
    assert one.at("head.top")[0, 3] > one.at("thorax_upper")[0, 3] - 0.15


def test_the_lift_is_done_by_the_legs():
    one = case("lift")
    assert one.degrees("shank_l.flexion") > 60.0
    back = sum(one.degrees(f"{part}.flexion") for part in ("lumbar", "thorax_lower", "thorax_upper"))
    assert abs(back) < 20.0
    assert one.degrees("forearm_l.flexion") < 20.0


def test_the_climber_is_in_front_of_the_ladder():
    scene, solution = case("ladder")
    stile: Any = scene.obstacles["left_stile"]
    forward = np.cross((0.0, 1.0, 0.0), stile.at[:3, 2])
    forward *= np.sign(forward[0])
    trunk = ("pelvis", "lumbar", "thorax_lower", "thorax_upper", "head", "thigh_l", "thigh_r")
    for segment, points in skin(scene.figure, solution.q, trunk).items():
        assert ((points - stile.at[:3, 3]) @ forward).max() < 0.0, segment
    for side in "lr":
        rung = {"l": "rung_3", "r": "rung_2"}[side]
        assert outside(scene.obstacles[rung], skin(scene.figure, solution.q)[f"foot_{side}"]) < TOUCH


def test_the_cup_is_level_and_the_eyes_look_back():
    one = case("cup")
    assert one.at("hand_r.palm")[2, 1] == pytest.approx(-1.0, abs=1e-8)
    gaze = one.at("eyes")[:3, 0]
    assert np.rad2deg(np.arctan2(gaze[1], gaze[0])) > 110.0
    turns = [one.degrees(f"{part}.rotation") for part in ("lumbar", "thorax_lower", "thorax_upper", "neck", "head")]
    assert min(turns) > 3.0, "every joint turns along"


def test_whoever_reaches_the_top_shelf_stands_on_tiptoe_and_stretches():
    one = case("top_shelf")
    assert min(one.at(f"foot_{side}.heel")[2, 3] for side in "lr") > 0.04
    assert one.degrees("forearm_r.flexion") < 20.0
    assert one.degrees("upper_arm_r.flexion") > 120.0


def test_who_types_has_level_forearms_and_straight_wrists():
    one = case("typing")
    for side in "lr":
        thigh, forearm = (one.at(f"{part}_{side}")[:3, 2] for part in ("thigh", "forearm"))
        assert abs(np.rad2deg(np.arcsin(thigh[2]))) < 15.0
        assert abs(np.rad2deg(np.arcsin(forearm[2]))) < 15.0
        assert abs(one.degrees(f"hand_{side}.flexion")) < 15.0


def test_hands_are_at_the_shoe_and_the_pole_on_the_shoulder():
    one = case("tie_shoe")
    parts = skin(one.scene.figure, one.solution.q, ("foot_l", "hand_l", "hand_r"))
    for hand in ("hand_l", "hand_r"):
        assert KDTree(parts["foot_l"]).query(parts[hand])[0].min() < 0.05
    scene, solution = case("pole")
    assert outside(scene.obstacles["pole"], skin(scene.figure, solution.q)["clavicle_r"]) < TOUCH


def test_the_cart_is_leant_into():
    one = case("cart")
    up = one.at("thorax_lower")[:3, 2]
    assert 20.0 < np.rad2deg(np.arctan2(up[0], up[2])) < 50.0
    assert one.at("toes_r.tip")[0, 3] < one.at("foot_l.heel")[0, 3] - 0.3


@pytest.mark.parametrize("name", SCENES)
def test_the_posture_does_not_hang_on_where_it_began(name: str):
    scene, solution = case(name)
    near = next(t.goal for t in scene.constraints.values() if isinstance(t.goal, Near))

    def effort(q: np.ndarray) -> float:
        return float((near.weights * (q - near.reference) ** 2).sum())

    again = supple.read_scene(FOLDER / f"{name}.toml")
    noise = np.random.default_rng(1).uniform(-0.05, 0.05, scene.figure.size)
    again.pose(again.q + noise)
    other = again.solve()
    assert other.status is Status.SOLVED
    assert effort(other.q) == pytest.approx(effort(solution.q), rel=0.02)
