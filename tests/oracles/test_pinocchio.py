"""Kinematics against Pinocchio: placements, Jacobians and second derivatives, on robots and on random trees.

Pinocchio leaves joints that follow others free. Its derivatives are carried over to our coordinates by hand,
``∂²x/∂q_a∂q_b = Σ_ij θ_i' θ_j' ∂²x/∂θ_i∂θ_j + [a = b] Σ_i θ_i'' ∂x/∂θ_i``, with the slopes of drives from SciPy.
Ours come through the kernels that solvers use: of a potential that is linear in the numbers of a frame, gradient and
Hessian are the first and second derivative of those numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose

from supple.figure.effectors import Frame
from supple.figure.figure import Figure
from supple.files.urdf.reader import read_urdf
from supple.problem.goals import Custom
from supple.problem.problem import Problem
from supple.problem.task import Task
from tests.tables.figures import FIGURES, FOUR_BAR, curve_value, joint_value, posture, slope, somewhere, trees

pin: Any = pytest.importorskip("pinocchio")

ROBOTS = [
    "baxter/baxter", "g1/g1_29dof", "g1/g1_29dof_with_hand", "gantry/gantry6", "iiwa14/iiwa14_primitive_collision",
    "iiwa14/iiwa14_spheres_collision", "panda/panda", "panda/panda_collision", "sawyer/sawyer", "scara/scara600",
    "shadow_hand/shadow_hand_left", "shadow_hand/shadow_hand_right", "talos/talos_full_v2", "talos/talos_reduced",
    "ur10/ur10", "ur5/ur5",
]  # fmt: skip


def linear(a: Any, x: Any, g: Any, H: Any) -> float:
    """``P = a₁₂ + Σ a_k x_k`` over the 12 numbers of a frame."""
    P = a[12]
    for k in range(12):
        g[k] = a[k]
        P += a[k] * x[k]
    return P


COEFFICIENTS = np.append(np.random.default_rng(3).normal(size=12), 1e3)
LINEAR = Custom(linear, COEFFICIENTS)


# ── Pinocchio's side ─────────────────────────────────────────────────────────────────────────────────────────────────
def pose(T: np.ndarray) -> Any:
    return pin.SE3(np.array(T[:3, :3]), np.array(T[:3, 3]))


def model_of(figure: Figure) -> Any:
    """The same joints, one by one, as a Pinocchio model; every segment a frame."""
    model = pin.Model()
    at: dict[str | None, tuple[int, np.ndarray]] = {None: (0, np.eye(4))}  # joint and placement on it
    for joint in figure.joints.values():
        parent, T = at[joint.parent]
        T = T @ joint.at
        if not joint.is_fixed:
            turn, slide = np.array(joint.turn), np.array(joint.slide)
            if not slide.any():
                kind = pin.JointModelRevoluteUnaligned(turn)
            elif not turn.any():
                kind = pin.JointModelPrismaticUnaligned(slide)
            else:
                kind = pin.JointModelHelicalUnaligned(turn, float(slide @ turn))
            parent, T = model.addJoint(parent, kind, pose(T), joint.name), np.eye(4)
        at[joint.key] = parent, T
        if joint.segment is not None:
            model.addFrame(pin.Frame(joint.segment, parent, pose(T), pin.FrameType.BODY))
    return model


def configuration(figure: Figure, model: Any, q: np.ndarray) -> np.ndarray:
    """Pinocchio's numbers for our posture; a turning joint without limits is a cosine and a sine there."""
    out = pin.neutral(model)
    moving = {joint.name: joint for joint in figure.joints.values() if not joint.is_fixed}
    for name, joint in zip(model.names, model.joints, strict=True):
        if name == "universe":
            continue
        theta = joint_value(figure, moving[name], q)
        out[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(theta), np.sin(theta)) if joint.nq == 2 else theta
    return out


def drives(figure: Figure, model: Any, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``∂θ/∂q`` and ``∂²θ/∂q²`` (each θ depends on one coordinate per term), rows in Pinocchio's order."""
    first, second = np.zeros((model.nv, figure.size)), np.zeros((model.nv, figure.size))
    moving = {joint.name: joint for joint in figure.joints.values() if not joint.is_fixed}
    for name, entry in zip(model.names, model.joints, strict=True):
        if name == "universe":
            continue
        drive = moving[name].drive
        if drive is None:
            first[entry.idx_v, figure.coordinates.index(name)] = 1.0
            continue
        for leader, curve in drive.terms:
            k = figure.coordinates.index(leader)
            first[entry.idx_v, k] += curve_value(curve, q[k], 1)
            second[entry.idx_v, k] += curve_value(curve, q[k], 2)
    return first, second


class Theirs:
    """Placement, Jacobian (6, size) and second derivatives (12, size, size) of the frame of a segment."""

    def __init__(self, figure: Figure, model: Any, q: np.ndarray) -> None:
        self.model, self.data = model, model.createData()
        self.first, self.second = drives(figure, model, q)
        pin.computeJointJacobians(model, self.data, configuration(figure, model, q))
        pin.computeJointKinematicHessians(model, self.data)
        pin.updateFramePlacements(model, self.data)

    def placement(self, segment: str) -> np.ndarray:
        return self.data.oMf[self.model.getFrameId(segment, pin.FrameType.BODY)].homogeneous

    def jacobian(self, segment: str) -> np.ndarray:
        return self._jacobian(segment) @ self.first

    def _jacobian(self, segment: str) -> np.ndarray:
        frame = self.model.getFrameId(segment, pin.FrameType.BODY)
        J = np.array(pin.getFrameJacobian(self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED))
        return J.reshape(6, self.model.nv)  # a single column comes flat

    def derivatives(self, segment: str) -> tuple[np.ndarray, np.ndarray]:
        """First (12, size) and second derivatives of the position and the three axes."""
        frame = self.model.getFrameId(segment, pin.FrameType.BODY)
        H = np.array(pin.getFrameKinematicHessian(self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED))
        H = H.ravel().reshape(
            (6, self.model.nv, self.model.nv), order="F"
        )  # stored by columns, whatever it says itself
        J, axes = self._jacobian(segment), self.placement(segment)[:3, :3]
        slopes, bends = [J[:3]], [H[:3]]
        for axis in axes.T:
            slopes.append(np.cross(J[3:].T, axis).T)  # ω_j × d
            turning = np.cross(H[3:].transpose(1, 2, 0), axis).transpose(2, 0, 1)  # ∂ω_j/∂θ_k × d
            carried = np.cross(J[3:].T[:, None], slopes[-1].T[None]).transpose(2, 0, 1)  # ω_j × (ω_k × d)
            bends.append(turning + carried)
        moves, bend = np.concatenate(slopes), np.concatenate(bends)
        second = np.einsum("xij,ia,jb->xab", bend, self.first, self.first)
        second += np.einsum("xi,ia,ab->xab", moves, self.second, np.eye(self.first.shape[1]))
        return moves @ self.first, second


# ── ours ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
def compare(figure: Figure, model: Any, q: np.ndarray, deep: tuple[str, ...], tolerance: float = 1e-10) -> None:
    """Placements and Jacobians of every segment, second derivatives of the segments `deep`."""
    theirs, ours = Theirs(figure, model, q), figure.placements(q)
    for segment in figure.segments:
        reach = max(1.0, float(np.abs(ours[segment]).max()))
        assert_allclose(ours[segment], theirs.placement(segment), rtol=0, atol=tolerance * reach, err_msg=segment)
        expected = theirs.jacobian(segment)
        size = max(1.0, float(np.abs(expected).max(initial=0.0)))
        assert_allclose(figure.jacobian(q, segment), expected, rtol=0, atol=tolerance * size, err_msg=segment)
    for segment in deep:
        first, second = theirs.derivatives(segment)
        here = Problem(Figure(figure.name, figure.joints.values(), figure.drivers), [Task(segment, LINEAR)]).evaluate(q)
        a = COEFFICIENTS[:12]
        T = theirs.placement(segment)
        x = np.concatenate([T[:3, 3], T[:3, 0], T[:3, 1], T[:3, 2]])
        assert_allclose(here.value, a @ x + 1e3, rtol=1e-12)
        for mine, expected in ((here.gradient, a @ first), (here.hessian, np.einsum("x,xab->ab", a, second))):
            size = max(1.0, float(np.abs(expected).max(initial=0.0)))
            assert_allclose(mine, expected, rtol=0, atol=tolerance * size, err_msg=segment)


def leaves(figure: Figure) -> tuple[str, ...]:
    """The segments that carry no other."""
    above = {figure.parent_of(segment) for segment in figure.segments}
    return tuple(segment for segment in figure.segments if segment not in above)


@pytest.mark.parametrize("name", ROBOTS)
def test_robots(name: str, shared: Path):
    path = shared / "data" / "robots" / f"{name}.urdf"
    figure, model = read_urdf(path), pin.buildModelFromUrdf(str(path))
    rng = np.random.default_rng(11)
    lower, upper = np.maximum(figure.lower, -3.0), np.minimum(figure.upper, 3.0)
    for _ in range(3):
        compare(figure, model, rng.uniform(lower, upper), leaves(figure)[:4])


@pytest.mark.parametrize("name", FIGURES)
def test_every_kind_of_joint(name: str):
    figure = FIGURES[name]
    for seed in range(3):
        compare(figure, model_of(figure), posture(figure, seed, 1.5), figure.segments)


@given(trees(most=9), st.integers(0, 1 << 32))
@settings(max_examples=60)
def test_random_trees(figure: Figure, seed: int):
    if not figure.size:
        return  # Pinocchio wants something that moves
    rng = np.random.default_rng(seed)
    compare(figure, model_of(figure), rng.normal(size=figure.size) * 1.5, leaves(figure)[:2])


def test_far_from_the_origin_and_after_many_turns():
    figure = FIGURES["mixed"].based_at(somewhere(9, 100.0))
    q = posture(figure, 5) + 0.0
    q[figure.coordinates.index("root.z")] += 2000 * np.pi
    compare(figure, model_of(figure), q, ("hand", "foot"))


def test_an_axis_that_is_all_but_a_coordinate_axis():
    """A tilt of 1e-8 has a cosine of exactly one, and moves a point at a metre by ten nanometres."""
    from supple.figure.joints import fixed, hinge

    figure = Figure(
        "f", [*hinge("a", None, (1e-8, 0, 1)), *hinge("b", "a", (0, 1, -1e-8)), *fixed("tip", "b", (1, 1, 1))]
    )
    compare(figure, model_of(figure), np.array([2.0, 2.0]), ("tip",))


def test_a_frame_off_its_segment_is_a_segment_of_its_own():
    """Second derivatives of an offset frame, by welding the offset on as a segment that Pinocchio knows."""
    at = somewhere(12)
    for name, segment in (("mixed", "wrist"), ("spine", "neck"), ("twins", "left elbow")):
        figure = FIGURES[name]
        welded, q = figure.attached("weld", segment, at), posture(figure, 6)
        _, second = Theirs(welded, model_of(welded), q).derivatives("weld")
        here = Problem(figure, [Task(Frame(segment, at), LINEAR)]).evaluate(q)
        assert_allclose(here.hessian, np.einsum("x,xab->ab", COEFFICIENTS[:12], second), rtol=0, atol=1e-10)


def test_the_second_derivatives_that_are_compared_with_are_slopes():
    figure = FIGURES["mixed"]
    model, q = model_of(figure), posture(figure, 7)
    _, second = Theirs(figure, model, q).derivatives("hand")
    numbers = slope(lambda x: Theirs(figure, model, x).derivatives("hand")[0], q)
    assert_allclose(second, numbers, rtol=0, atol=1e-8)


def test_the_model_that_is_compared_with_is_not_empty():
    assert model_of(FOUR_BAR).nv == 3
    assert model_of(FIGURES["mixed"]).nv == 16  # two of them follow others
