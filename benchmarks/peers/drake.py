"""Drake: a nonlinear programme with the poses as constraints, solved by SNOPT or IPOPT."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydrake.math import RotationMatrix
from pydrake.multibody.inverse_kinematics import InverseKinematics
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.solvers import IpoptSolver, SnoptSolver, SolverOptions

from peers.common import Job, Solver, main

RADIANS, FEASIBLE = 5e-5, 1e-10  # the constraint is on the cosine of the angle, so its tolerance must be the square


class Drake(Solver):
    """``InverseKinematics`` with position and angle as constraints; it has no restarts, so it gets random starts."""

    def __init__(self, job: Job, backend: str) -> None:
        super().__init__(job)
        self.plant = MultibodyPlant(0.0)
        Parser(self.plant).AddModels(job.urdf)
        root = next(iter(job.judge.chains.values()))[0].find("parent").get("link")
        self.root = self.plant.GetBodyByName(root)
        if not job.floating and root != "world":
            self.plant.WeldFrames(self.plant.world_frame(), self.root.body_frame())
        self.plant.Finalize()
        self.context = self.plant.CreateDefaultContext()
        self.rest = self.plant.GetPositions(self.context)
        self.columns = np.array([self.plant.GetJointByName(name).position_start() for name in job.joints])
        self.starts = [self._posture(q) for q in job.starts(30)]
        self.frames = [self.plant.GetFrameByName(name) for name in job.frames]
        self.world = self.plant.world_frame()
        self.solver, self.options = {"SNOPT": SnoptSolver, "IPOPT": IpoptSolver}[backend](), SolverOptions()
        names = {"SNOPT": ["Major feasibility tolerance"], "IPOPT": ["constr_viol_tol", "tol"]}[backend]
        for name in names:
            self.options.SetOption(self.solver.solver_id(), name, FEASIBLE)
        self.note = f"InverseKinematics, {backend}"

    def _posture(self, values: np.ndarray) -> np.ndarray:
        q = self.rest.copy()
        q[self.columns] = values
        return q

    def target(self, T: np.ndarray) -> Any:
        return [(one[:3, 3], RotationMatrix(one[:3, :3])) for one in T]

    def first(self) -> Any:
        return self.starts[0]

    def solve(self, target: Any, start: Any) -> Any:
        ik = InverseKinematics(self.plant, with_joint_limits=True)
        origin, same = np.zeros(3), RotationMatrix()
        for frame, (p, R) in zip(self.frames, target, strict=True):
            ik.AddPositionConstraint(frame, origin, self.world, p, p)
            ik.AddOrientationConstraint(self.world, R, frame, same, RADIANS)
        result = None
        for attempt, posture in enumerate(self.starts):
            result = self.solver.Solve(ik.prog(), posture if attempt else start, self.options)
            if result.is_success():
                break
        assert result is not None
        return result.GetSolution(ik.q()), result.is_success()

    def read(self, answer: Any) -> Any:
        q, ok = answer
        base = None
        if self.job.floating:
            self.plant.SetPositions(self.context, q)
            base = self.plant.EvalBodyPoseInWorld(self.context, self.root).GetAsMatrix4()
        return q[self.columns], base, ok

    def again(self, answer: Any) -> Any:
        return answer[0]


if __name__ == "__main__":
    main(Drake, lambda job: [{"backend": "SNOPT"}, {"backend": "IPOPT"}])
