"""Steps of a G1 with meshes that keeps clear of obstacles and of itself: their times, and whether one ends inside.

Both hands are led through points drawn at random about the chest, between a ball and a box, with itself=True; 5 ms a step.
Every tenth posture is judged by coal on the meshes. Processor time, on one core. mink, where it is there, does the same with
its collision limit on the G1 of MuJoCo Menagerie, whose bodies are simpler, fixed at its pelvis, with pairs of bodies that are
not joined and do not touch at first; MuJoCo says whether these penetrate.
"""

from __future__ import annotations

import os
import time
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import supple
from collisions_oracle import Links
from supple.problem import Moving

STEPS, EACH = 400, 50
MINK_CHEST = (0.0, 0.0, 0.84)  # about where the torso of its G1 is


def steps(home: Path) -> list[dict[str, Any]]:
    """A row for supple."""
    path = home / "robots" / "g1_description" / "urdf" / "g1_29dof_rev_1_0.urdf"
    folders = [home.parent, home / "robots"]
    figure, random = supple.load(path, folders=folders), np.random.default_rng(3)
    links = Links(path, folders)
    hands = [next(s for s in figure.segments if s == f"{side}_rubber_hand") for side in ("left", "right")]
    at = [figure.placement(figure.rest, hand)[:3, 3] for hand in hands]
    chest = figure.placement(figure.rest, "torso_link")[:3, 3]
    tasks = [supple.Task(hand, supple.At(p)) for hand, p in zip(hands, at, strict=True)]
    obstacles = {
        "ball": supple.Ball((0.35, 0.0, 0.25), 0.08),
        "shelf": supple.Box((0.25, -0.5, -0.15), (0.6, 0.5, -0.1)),
    }
    obstacles = {name: Moving(shape, supple.place(chest)) for name, shape in obstacles.items()}
    clear = supple.Clearance(0.005, itself=True, uncovered="ignore")
    problem = supple.Problem(figure, tasks, obstacles=obstacles, clearance=clear)
    pairs = [pair for pair in figure.colliding_pairs() if {*pair} <= links.links.keys()]
    found = supple.solve(problem, figure.rest)  # a start that is clear
    q, aims = np.array(found.q), list(at)
    supple.step(problem, q, 0.005, targets=aims)
    taken, inside, worst = [], 0, 0.0
    for k in range(STEPS):
        if k % EACH == 0:
            aims = [chest + random.uniform((0.1, -0.35, -0.2), (0.45, 0.35, 0.4)) for _ in at]
        began = time.process_time()
        q = supple.step(problem, q, 0.005, targets=aims)
        taken.append(1e6 * (time.process_time() - began))
        if k % 10 == 0:
            count = len(problem.clear)
            worst = max(worst, *(miss.metres for miss in problem.misses(q)[-count:]))
            X = figure.placements(q)
            inside += any(links.distance(p, X, hulls=True) < 0.0 and links.distance(p, X) < 0.0 for p in pairs)
    rows = [
        {
            "who": "supple", "start is clear": found.ok, "pairs": sum(len(task.goal.pairs) for task in problem.clear),
            "steps": STEPS, "median µs": float(np.median(taken)), "99 % µs": float(np.quantile(taken, 0.99)),
            "inside": inside, "lacking at worst [m]": worst,
        }
    ]  # fmt: skip
    path = Path(os.environ.get("SUPPLE_MENAGERIE", "/")) / "unitree_g1" / "g1.xml"
    if path.is_file() and find_spec("mink") is not None:
        rows.append(mink_steps(path))
    return rows


def mink_steps(path: Path) -> dict[str, Any]:
    """A row for mink."""
    import mink
    import mujoco

    spec = mujoco.MjSpec.from_file(str(path))
    spec.delete(next(joint for joint in spec.joints if joint.type == mujoco.mjtJoint.mjJNT_FREE))
    for key in list(spec.keys):
        spec.delete(key)
    x, y, z = MINK_CHEST
    ball, box = mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_BOX
    spec.worldbody.add_geom(name="ball", type=ball, size=[0.08, 0, 0], pos=[x + 0.35, y, z + 0.25])
    spec.worldbody.add_geom(name="shelf", type=box, size=[0.175, 0.5, 0.025], pos=[x + 0.425, y, z - 0.125])
    model = spec.compile()
    now = mink.Configuration(model)
    pairs, geoms = bodies_apart(model, now.data)
    limits = [mink.ConfigurationLimit(model), mink.CollisionAvoidanceLimit(model, pairs, 0.85, 0.005, 0.05)]
    speeds = {model.joint(j).name: 10.0 for j in range(model.njnt)}
    limits.append(mink.VelocityLimit(model, speeds))
    hands = ("left_wrist_yaw_link", "right_wrist_yaw_link")
    tasks = [mink.FrameTask(hand, "body", 1.0, 0.0, lm_damping=1e-6) for hand in hands]
    chest, random = now.get_transform_frame_to_world("torso_link", "body").translation(), np.random.default_rng(3)
    taken, inside = [], 0
    for k in range(STEPS):
        if k % EACH == 0:
            for task in tasks:
                aim = chest + random.uniform((0.1, -0.35, -0.2), (0.45, 0.35, 0.4))
                task.set_target(mink.SE3.from_translation(aim))
        began = time.process_time()
        v = mink.solve_ik(now, tasks, 0.005, "daqp", damping=1e-6, limits=limits)
        now.integrate_inplace(v, 0.005)
        taken.append(1e6 * (time.process_time() - began))
        if k % 10 == 0:
            apart = (mujoco.mj_geomDistance(model, now.data, a, b, 1.0, None) for a, b in geoms)
            inside += min(apart) < 0.0
    return {
        "who": "mink", "pairs": len(geoms), "steps": STEPS, "median µs": float(np.median(taken)),
        "99 % µs": float(np.quantile(taken, 0.99)), "inside": inside,
    }  # fmt: skip


def bodies_apart(model: Any, data: Any) -> tuple[list[Any], list[tuple[int, int]]]:
    """Pairs of bodies as mink takes them, lists of geometries, and all pairs of geometries in these."""
    import mujoco

    geoms: dict[int, list[int]] = {}
    for g in range(model.ngeom):
        if model.geom_contype[g] or model.geom_conaffinity[g]:
            geoms.setdefault(int(model.geom_bodyid[g]), []).append(g)
    pairs, flat = [], []
    for a, b in combinations(geoms, 2):
        own = [(g, h) for g in geoms[a] for h in geoms[b]]
        joined = (
            model.body_weldid[a] == model.body_weldid[b] or a == model.body_parentid[b] or b == model.body_parentid[a]
        )
        if not joined and min(mujoco.mj_geomDistance(model, data, *pair, 1.0, None) for pair in own) > 0.005:
            pairs.append((geoms[a], geoms[b]))
            flat += own
    return pairs, flat
