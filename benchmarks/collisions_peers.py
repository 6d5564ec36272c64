"""Other solvers of a Panda among boxes: pink with its barrier for collisions, and Drake with its constraint of distance.

Both have the robot's own file with the hulls of its meshes, keep apart the pairs that we keep apart, and begin at rest and at
random postures, as often as given. pink steps down a quadratic programme, Drake solves a nonlinear one by SNOPT.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from collisions_boxes import BOXES, HAND, KEPT, METRES, RADIANS

STARTS, STEPS = 6, 60


def pink_panda(figure: Any, path: Path, folders: list[Path]) -> Any:
    """pink."""
    import coal
    import pink
    import pinocchio as pin
    from pink.barriers import SelfCollisionBarrier
    from pink.limits import ConfigurationLimit

    model = pin.buildModelFromUrdf(str(path))
    shapes = pin.buildGeomFromUrdf(model, str(path), pin.GeometryType.COLLISION, [str(f) for f in folders])
    owner = {}
    for i, thing in enumerate(shapes.geometryObjects):
        if thing.geometry.getObjectType() == coal.OBJECT_TYPE.OT_BVH:
            thing.geometry.buildConvexHull(True, "Qt")
            shapes.geometryObjects[i].geometry = thing.geometry.convex
        owner[i] = model.frames[thing.parentFrame].name
    apart = {frozenset(pair) for pair in figure.colliding_pairs()}
    for i, a in owner.items():
        for j, b in owner.items():
            if i < j and frozenset((a, b)) in apart:
                shapes.addCollisionPair(pin.CollisionPair(i, j))
    for name, (lo, hi) in BOXES.items():
        at = pin.SE3(np.eye(3), np.add(lo, hi) / 2)
        box = pin.GeometryObject(name, 0, at, coal.Box(*np.subtract(hi, lo).tolist()))
        k = shapes.addGeometryObject(box)
        for i, a in owner.items():
            if figure.chain(None, a):
                shapes.addCollisionPair(pin.CollisionPair(i, k))
    count = len(shapes.collisionPairs)
    barrier = SelfCollisionBarrier(n_collision_pairs=count, gain=8.5, safe_displacement_gain=0.0, d_min=KEPT)
    task, random = pink.FrameTask(HAND, 1.0, 1.0, lm_damping=1e-3), np.random.default_rng(1)
    columns = [figure.coordinates.index(name) if name in figure.coordinates else 7 for name in list(model.names)[1:]]

    def solve(T: np.ndarray) -> tuple[np.ndarray, bool]:
        task.set_target(pin.SE3(T[:3, :3], T[:3, 3]))
        out = np.array(figure.rest)
        for attempt in range(STARTS):
            start = np.asarray(figure.rest) if attempt == 0 else random.uniform(figure.lower, figure.upper)
            now = pink.Configuration(
                model,
                model.createData(),
                start[columns],
                collision_model=shapes,
                collision_data=pin.GeometryData(shapes),
            )
            for _ in range(STEPS):
                error = task.compute_error(now)
                if np.linalg.norm(error[:3]) < METRES / 2 and np.linalg.norm(error[3:]) < RADIANS / 2:
                    out[columns] = now.q
                    return out, True
                try:
                    v = pink.solve_ik(
                        now,
                        [task],
                        0.1,
                        "daqp",
                        limits=[ConfigurationLimit(model)],
                        barriers=[barrier],
                        safety_break=False,
                    )
                except Exception:
                    break
                now.integrate_inplace(v, 0.1)
        return out, False

    return solve


def with_hulls(path: Path, folders: list[Path], home: Path) -> Path:
    """The robot's file with the hulls of its meshes in place of them, for Drake, which reads no other meshes."""
    import trimesh

    text = re.sub(r"<visual>.*?</visual>", "", path.read_text(), flags=re.S)

    def hull(found: re.Match[str]) -> str:
        name = found.group(1).removeprefix("package://")
        place = next(f / name for f in folders if (f / name).is_file())
        out = home / (place.stem + ".obj")
        trimesh.load_scene(str(place)).to_mesh().convex_hull.export(out)
        return f'filename="{out}"'

    out = home / "robot.urdf"
    out.write_text(re.sub(r'filename="([^"]+)"', hull, text))
    return out


def drake_panda(figure: Any, path: Path, folders: list[Path]) -> Any:
    """Drake."""
    import pydrake.all as drake

    builder = drake.DiagramBuilder()
    plant, scene = drake.AddMultibodyPlantSceneGraph(builder, 0.0)
    (robot,) = drake.Parser(plant).AddModels(str(with_hulls(path, folders, Path(tempfile.mkdtemp()))))
    plant.WeldFrames(plant.world_frame(), plant.GetBodyByName(figure.segments[0]).body_frame())
    for name, (lo, hi) in BOXES.items():
        at = drake.RigidTransform(np.add(lo, hi) / 2)
        plant.RegisterCollisionGeometry(
            plant.world_body(), at, drake.Box(*np.subtract(hi, lo)), name, drake.CoulombFriction()
        )
    plant.Finalize()
    apart = {frozenset(pair) for pair in figure.colliding_pairs()}
    filters, names = scene.collision_filter_manager(), [s for s in figure.segments if plant.HasBodyNamed(s)]
    sets = {s: drake.GeometrySet(plant.GetCollisionGeometriesForBody(plant.GetBodyByName(s))) for s in names}
    world = drake.GeometrySet(plant.GetCollisionGeometriesForBody(plant.world_body()))
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            if frozenset((a, b)) not in apart:
                filters.Apply(drake.CollisionFilterDeclaration().ExcludeBetween(sets[a], sets[b]))
        if not figure.chain(None, a):
            filters.Apply(drake.CollisionFilterDeclaration().ExcludeBetween(sets[a], world))
    diagram = builder.Build()
    context = plant.GetMyMutableContextFromRoot(diagram.CreateDefaultContext())
    order = [plant.GetJointByName(name).position_start() for name in _joints(plant)]
    columns = [figure.coordinates.index(name) if name in figure.coordinates else 7 for name in _joints(plant)]
    random, hand, solver = np.random.default_rng(1), plant.GetFrameByName(HAND), drake.SnoptSolver()

    def solve(T: np.ndarray) -> tuple[np.ndarray, bool]:
        out = np.array(figure.rest)
        for attempt in range(STARTS):
            ik = drake.InverseKinematics(plant, context)
            box = np.full(3, METRES / 4)
            ik.AddPositionConstraint(hand, np.zeros(3), plant.world_frame(), T[:3, 3] - box, T[:3, 3] + box)
            turn = drake.RotationMatrix(T[:3, :3])
            ik.AddOrientationConstraint(plant.world_frame(), turn, hand, drake.RotationMatrix(), RADIANS / 2)
            ik.AddMinimumDistanceLowerBoundConstraint(KEPT, 0.02)
            start = np.asarray(figure.rest) if attempt == 0 else random.uniform(figure.lower, figure.upper)
            q = np.zeros(plant.num_positions())
            q[order] = start[columns]
            found = solver.Solve(ik.prog(), q, None)
            if found.is_success():
                out[columns] = found.GetSolution(ik.q())[order]
                return out, True
        return out, False

    assert robot is not None
    return solve


def _joints(plant: Any) -> list[str]:
    """The joints that move."""
    joints = (plant.get_joint(i) for i in plant.GetJointIndices())
    return [joint.name() for joint in joints if joint.num_positions() == 1]
