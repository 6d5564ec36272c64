"""The same figure and the same quantities in Pinocchio, checked to agree before anything is timed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin

import supple


class Peer:
    """A Pinocchio model of a problem's figure whose tasks are points or poses of segments."""

    def __init__(self, problem: supple.Problem) -> None:
        self.problem = problem
        figure = problem.figure
        self.model = pin.Model()
        place: dict[str | None, tuple[int, np.ndarray]] = {None: (0, np.eye(4))}
        self.order: list[str] = []
        for joint in figure.joints.values():
            at, frame = place[joint.parent]
            T = frame @ joint.at
            if not joint.is_fixed:
                at = self.model.addJoint(at, _model(joint), pin.SE3(T), joint.name)
                self.order.append(joint.name)
                T = np.eye(4)
            place[joint.key] = (at, T)
        self.follow = _couplings(figure, self.order)
        self.tasks: list[tuple[int, int, Any]] = []
        for task in problem.tasks:
            at, T = place[task.effector.segment]
            name = f"effector {len(self.tasks)}"
            frame = pin.Frame(name, at, pin.SE3(T @ task.effector.frame), pin.FrameType.OP_FRAME)
            self.tasks.append((self.model.addFrame(frame), at, task.goal))
        self.data = self.model.createData()

    def _q(self, q: np.ndarray) -> np.ndarray:
        return self.follow @ q

    def gradient(self, q: np.ndarray) -> tuple[float, np.ndarray]:
        """computeJointJacobians, updateFramePlacements, getFrameJacobian and a product for each goal."""
        pin.computeJointJacobians(self.model, self.data, self._q(q))
        pin.updateFramePlacements(self.model, self.data)
        value, g = 0.0, np.zeros(self.model.nv)
        for frame, _, goal in self.tasks:
            J = pin.getFrameJacobian(self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED)
            here = self.data.oMf[frame]
            if isinstance(goal, supple.At):
                e = here.translation - goal.position
                value += e @ e
                g += 2.0 * (J[:3].T @ e)
            else:
                e = here.translation - goal.at[:3, 3]
                E = here.rotation @ goal.at[:3, :3].T
                value += e @ e + 3.0 - np.trace(E)
                g += 2.0 * (J[:3].T @ e) + J[3:].T @ np.array([E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1]])
        return value, self.follow.T @ g

    def hessian(self, q: np.ndarray) -> tuple[float, np.ndarray]:
        """The gradient's calls, computeJointKinematicHessians, and a contraction for each point goal."""
        value, _ = self.gradient(q)
        pin.computeJointKinematicHessians(self.model, self.data)
        H = np.zeros((self.model.nv, self.model.nv))
        for frame, at, goal in self.tasks:
            J = pin.getFrameJacobian(self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED)
            K = pin.getJointKinematicHessian(self.model, self.data, at, pin.LOCAL_WORLD_ALIGNED)
            K = np.reshape(K.ravel(), K.shape, order="F")  # the binding hands out column-major memory as row-major
            e = self.data.oMf[frame].translation - goal.position
            arm = self.data.oMf[frame].translation - self.data.oMi[at].translation
            w = J[3:]
            lever = np.cross(w.T, arm)  # the point is off the joint's origin by a lever that turns with it
            inner = np.einsum("a,aij->ij", e, K[:3]) + np.einsum("a,aij->ij", np.cross(arm, e), K[3:])
            H += 2.0 * (J[:3].T @ J[:3] + inner + np.cross(w.T[:, None], lever[None, :]) @ e)
        return value, self.follow.T @ H @ self.follow

    def jacobian(self, q: np.ndarray) -> tuple[float, np.ndarray]:
        """computeJointJacobians, updateFramePlacements and getFrameJacobian: the frame's Jacobian, before any residual."""
        pin.computeJointJacobians(self.model, self.data, self._q(q))
        pin.updateFramePlacements(self.model, self.data)
        frame = self.tasks[0][0]
        return 0.0, pin.getFrameJacobian(self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED) @ self.follow

    def check(self, what: int, Q: np.ndarray) -> None:
        """Refuse to time anything that does not agree with supple."""
        for q in Q:
            if what == 2:
                ours = self.problem.figure.jacobian(q, self.problem.tasks[0].effector)
                np.testing.assert_allclose(self.jacobian(q)[1], ours, atol=1e-9)
                continue
            here = self.problem.evaluate(q)
            value, derivative = (self.gradient, self.hessian)[what](q)
            np.testing.assert_allclose(value, here.value, rtol=1e-9)
            np.testing.assert_allclose(derivative, (here.gradient, here.hessian)[what], atol=1e-9)

    def time(self, what: int, Q: np.ndarray, best: Callable[..., float]) -> tuple[float, float]:
        """Seconds of Pinocchio's own C++ calls, and of the whole computation from Python."""
        full = [np.ascontiguousarray(self._q(q)) for q in Q]

        def core() -> None:
            for x in full:
                pin.computeJointJacobians(self.model, self.data, x)
                if what == 1:
                    pin.computeJointKinematicHessians(self.model, self.data)
                pin.updateFramePlacements(self.model, self.data)

        call = (self.gradient, self.hessian, self.jacobian)[what]

        def whole() -> None:
            for q in Q:
                call(q)

        return best(core, len(Q)), best(whole, len(Q))


def _model(joint: supple.Joint) -> Any:
    turn, slide = np.array(joint.turn), np.array(joint.slide)
    if turn.any() and slide.any():
        return pin.JointModelHelicalUnaligned(turn, float(turn @ slide))
    if turn.any():
        return pin.JointModelRevoluteUnaligned(turn)
    return pin.JointModelPrismaticUnaligned(slide)


def _couplings(figure: supple.Figure, order: list[str]) -> np.ndarray:
    """The matrix that takes q to the values of all moving joints; only straight couplings without offset."""
    M = np.zeros((len(order), figure.size))
    by_name = {joint.name: joint for joint in figure.joints.values() if not joint.is_fixed}
    for i, name in enumerate(order):
        drive = by_name[name].drive
        terms = [(name, 1.0)] if drive is None else [(n, curve.slope) for n, curve in drive.terms]
        for leader, slope in terms:
            M[i, figure.coordinates.index(leader)] = slope
    return M
