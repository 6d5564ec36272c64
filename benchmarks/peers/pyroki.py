"""PyRoki: Levenberg–Marquardt by automatic differentiation in JAX, on the CPU."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import jax_dataclasses as jdc
import jaxlie
import jaxls
import numpy as np
import pyroki
import yourdfpy

from peers.common import Job, Solver, main
from peers.judge import METRES, RADIANS

jax.config.update("jax_enable_x64", True)


class PyRoki(Solver):
    """The pose and limit costs of its own example, compiled once; it has no restarts, so it gets random starts."""

    def __init__(self, job: Job, turn: float) -> None:
        super().__init__(job)
        urdf = yourdfpy.URDF.load(job.urdf, build_scene_graph=True, load_meshes=False)
        self.robot = pyroki.Robot.from_urdf(urdf)
        names = list(self.robot.joints.actuated_names)
        self.columns = np.array([names.index(name) for name in job.joints])
        self.rest = np.array((self.robot.joints.lower_limits + self.robot.joints.upper_limits) / 2)
        self.link = jnp.array(self.robot.links.names.index(job.frames[0]), dtype=jnp.int32)
        self.starts = [self._posture(q) for q in job.starts(30)]
        self.turn = turn
        self.note = f"pose_cost_analytic_jac and limit_cost, weight of turns {turn:g}"

    def _posture(self, values: np.ndarray) -> Any:
        q = self.rest.copy()
        q[self.columns] = values
        return jnp.array(q)

    def target(self, T: np.ndarray) -> Any:
        return jaxlie.SE3.from_matrix(jnp.array(T[0]))

    def first(self) -> Any:
        return self.starts[0]

    def solve(self, target: Any, start: Any) -> Any:
        q, met = start, False
        for attempt, posture in enumerate(self.starts):
            q, miss = descend(self.robot, self.link, target, posture if attempt else start, self.turn)
            metres, radians = np.asarray(miss)
            met = metres <= METRES and radians <= RADIANS
            if met:
                break
        return q, met

    def read(self, answer: Any) -> Any:
        return np.asarray(answer[0])[self.columns], None, answer[1]

    def again(self, answer: Any) -> Any:
        return answer[0]


@jdc.jit
def descend(robot: Any, link: Any, target: Any, start: Any, turn: Any) -> Any:
    """One attempt: the posture, clipped to the limits, and its metres and radians."""
    variable = robot.joint_var_cls(0)
    costs = [
        pyroki.costs.pose_cost_analytic_jac(robot, variable, target, link, pos_weight=50.0, ori_weight=50.0 * turn),
        pyroki.costs.limit_cost(robot, variable, weight=100.0),
    ]
    found = (
        jaxls.LeastSquaresProblem(costs, [variable])
        .analyze()
        .solve(
            initial_vals=jaxls.VarValues.make([variable.with_value(start)]),
            verbose=False,
            linear_solver="dense_cholesky",
            trust_region=jaxls.TrustRegionConfig(lambda_initial=1.0),
            termination=jaxls.TerminationConfig(
                cost_tolerance=1e-14, gradient_tolerance=1e-9, parameter_tolerance=1e-9
            ),
        )
    )
    q = jnp.clip(found[variable], robot.joints.lower_limits, robot.joints.upper_limits)
    miss = (target.inverse() @ jaxlie.SE3(robot.forward_kinematics(q)[link])).log()
    return q, jnp.array([jnp.linalg.norm(miss[:3]), jnp.linalg.norm(miss[3:])])


if __name__ == "__main__":
    main(PyRoki, lambda job: [{"turn": 0.2}, {"turn": 1.0}])
