"""Drake's InverseKinematics on Sawyer among boxes: ``python run_drake.py job.npz answer.npz``, in an environment of its own.

Position and angle of the hand are constraints, and so is the least distance between the balls of the arm and the boxes; balls
do not see each other. One attempt with SNOPT, IPOPT or NLOPT from the given start, the zero posture unless told otherwise.
Only the solver's own time counts, not that of building the plant, which is new where the boxes are.
"""

from __future__ import annotations

import sys
import time
import xml.etree.ElementTree as ElementTree
from importlib.metadata import version
from typing import Any

import numpy as np
from pydrake.geometry import Box, CollisionFilterDeclaration, GeometrySet, Sphere
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.inverse_kinematics import InverseKinematics
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction
from pydrake.solvers import IpoptSolver, NloptSolver, SnoptSolver
from pydrake.systems.framework import DiagramBuilder

RADIANS = 5e-4  # half of what the sets call reached; positions are equalities
INFLUENCE = 0.05  # distance [m] from which a pair counts
SOLVERS = {"SNOPT": SnoptSolver, "IPOPT": IpoptSolver, "NLOPT": NloptSolver}


def bare(urdf: str) -> str:
    """The text of a URDF without its own shapes."""
    robot = ElementTree.parse(urdf).getroot()
    for link in robot.findall("link"):
        for part in (*link.findall("collision"), *link.findall("inertial")):
            link.remove(part)
    return ElementTree.tostring(robot, encoding="unicode")


class World:
    """The arm, its balls and the boxes of one problem."""

    def __init__(self, job: Any, boxes: np.ndarray) -> None:
        builder = DiagramBuilder()
        plant, graph = AddMultibodyPlantSceneGraph(builder, 0.0)
        self.plant = plant
        Parser(plant).AddModelsFromString(bare(str(job["urdf"])), "urdf")
        plant.WeldFrames(plant.world_frame(), plant.GetBodyByName("base").body_frame())
        rub = CoulombFriction()
        own = GeometrySet()
        for k, (link, row) in enumerate(zip(job["links"], job["balls"], strict=True)):
            body = plant.GetBodyByName(str(link))
            own.Add(plant.RegisterCollisionGeometry(body, RigidTransform(row[:3]), Sphere(row[3]), f"ball{k}", rub))
        for k, box in enumerate(boxes):
            size, at = box[3:] - box[:3], RigidTransform((box[:3] + box[3:]) / 2)
            plant.RegisterCollisionGeometry(plant.world_body(), at, Box(*size), f"box{k}", rub)
        plant.Finalize()
        graph.collision_filter_manager().Apply(CollisionFilterDeclaration().ExcludeWithin(own))
        self.diagram = builder.Build()
        self.root = self.diagram.CreateDefaultContext()
        self.context = plant.GetMyMutableContextFromRoot(self.root)
        self.columns = np.array([plant.GetJointByName(str(name)).position_start() for name in job["joints"]])
        self.hand, self.world = plant.GetFrameByName("right_hand"), plant.world_frame()

    def solve(self, solver: Any, target: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, bool, float]:
        """The joints, whether the solver is content, and its seconds."""
        ik = InverseKinematics(self.plant, self.context, with_joint_limits=True)
        p = target[:3, 3]
        ik.AddPositionConstraint(self.hand, np.zeros(3), self.world, p, p)
        ik.AddOrientationConstraint(self.world, RotationMatrix(target[:3, :3]), self.hand, RotationMatrix(), RADIANS)
        ik.AddMinimumDistanceLowerBoundConstraint(0.0, INFLUENCE)
        q = np.zeros(self.plant.num_positions())
        q[self.columns] = start
        begun = time.perf_counter()
        result = solver.Solve(ik.prog(), q, None)
        seconds = time.perf_counter() - begun
        return result.GetSolution(ik.q())[self.columns], result.is_success(), seconds


def main(asked: str, told: str) -> None:
    """Answer every problem of the job."""
    with np.load(asked) as file:
        job = {key: file[key] for key in file.files}
    solver, at = SOLVERS[str(job["backend"])](), job["offset"]
    answers, world, known = [], None, None
    for i, target in enumerate(job["places"]):
        boxes = job["boxes"][at[i] : at[i + 1]]
        if world is None or known is None or boxes.shape != known.shape or (boxes != known).any():
            world, known = World(job, boxes), boxes
        answers.append(world.solve(solver, target, job["starts"][i]))
    q, ok, seconds = (np.array(column) for column in zip(*answers, strict=True))
    np.savez(told, q=q, ok=ok, seconds=seconds, version=version("drake"))


if __name__ == "__main__":
    main(*sys.argv[1:])
