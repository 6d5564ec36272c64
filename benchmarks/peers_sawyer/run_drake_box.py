"""Drake's InverseKinematics for two arms on one box: ``python run_drake_box.py job.npz answer.npz``, in its own environment.

The frames of both grippers are constraints; collisions are not looked at. SNOPT from the zero posture, then, where that
fails, from as many random postures within the limits as `attempts` allows. Only the solver's own time counts.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.inverse_kinematics import InverseKinematics
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.solvers import SnoptSolver
from run_drake import RADIANS, bare


def main(asked: str, told: str) -> None:
    """Answer every target: where SNOPT first succeeded (−1: nowhere), the posture, and the seconds."""
    with np.load(asked) as file:
        job = {key: file[key] for key in file.files}
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(bare(str(job["urdf"])), "urdf")
    plant.WeldFrames(plant.world_frame(), plant.GetBodyByName(str(job["base"])).body_frame())
    plant.Finalize()
    low, high = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    low, high = np.where(np.isfinite(low), low, -np.pi), np.where(np.isfinite(high), high, np.pi)
    columns = np.array([plant.GetJointByName(str(name)).position_start() for name in job["joints"]])
    solver, rng, world = SnoptSolver(), np.random.default_rng(0), plant.world_frame()
    rows = []
    for pair in job["targets"]:
        ik = InverseKinematics(plant, with_joint_limits=True)
        for name, T in zip(job["frames"], pair, strict=True):
            frame, at = plant.GetFrameByName(str(name)), RigidTransform(T)
            ik.AddPositionConstraint(frame, np.zeros(3), world, at.translation(), at.translation())
            ik.AddOrientationConstraint(world, RotationMatrix(T[:3, :3]), frame, RotationMatrix(), RADIANS)
        found, q, seconds = -1, np.zeros(len(low)), 0.0
        for k in range(int(job["attempts"])):
            start = np.clip(np.zeros(len(low)), low, high) if k == 0 else rng.uniform(low, high)
            begun = time.perf_counter()
            result = solver.Solve(ik.prog(), start, None)
            seconds += time.perf_counter() - begun
            q = result.GetSolution(ik.q())
            if result.is_success():
                found = k
                break
        rows.append((found, q[columns], seconds))
    found, q, seconds = (np.array(column) for column in zip(*rows, strict=True))
    np.savez(told, found=found, q=q, seconds=seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
