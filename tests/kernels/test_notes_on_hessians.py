"""Algorithms 1 to 4 of the notes by Erleben & Andrews (2019), literally, beside the compiled Hessian and `Figure.curvature`.

Bones turn by Euler angles ZYZ. Three corrections, without which the notes do not say what they mean: line 3 of Algorithm 2 is
the position of B_k, line 20 of Algorithm 3 writes column 3k + 2, and what Algorithm 4 fills is the lower triangle.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from supple import At, BadValue, Direction, Figure, Frame, Point, Problem, Task, hinge, load
from tests.tables.figures import TREES, posture

Z, Y = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)


@dataclass(eq=False)
class Bone:
    """A bone: its number, its parent, where it is in the parent, and what Algorithm 2 writes."""

    number: int
    parent: Bone | None
    position: np.ndarray
    children: list[Bone] = field(default_factory=list)
    angles: np.ndarray = field(default_factory=lambda: np.zeros(3))
    R: np.ndarray = field(default_factory=lambda: np.eye(3))
    t: np.ndarray = field(default_factory=lambda: np.zeros(3))


def turn(axis: str, angle: float) -> np.ndarray:
    return Rotation.from_euler(axis, angle).as_matrix()


def make_chains(bones: list[Bone]) -> list[list[Bone]]:
    """Algorithm 1."""
    leaves = [bone for bone in bones if not bone.children]
    chains = []
    for leaf in leaves:
        chain, bone = [], leaf
        while bone is not None:
            chain.insert(0, bone)
            bone = bone.parent
        chains.append(chain)
    return chains


def forward_kinematics_update(bone: Bone) -> None:
    """Algorithm 2."""
    alpha, beta, gamma = bone.angles
    R_k = turn("z", alpha) @ turn("y", beta) @ turn("z", gamma)
    t_k = bone.position
    R_p, t_p = np.eye(3), np.zeros(3)
    if bone.parent is not None:
        R_p, t_p = bone.parent.R, bone.parent.t
    bone.R, bone.t = R_p @ R_k, t_p + R_p @ t_k
    for child in bone.children:
        forward_kinematics_update(child)


def axes(bone: Bone) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    R_p = np.eye(3) if bone.parent is None else bone.parent.R
    alpha, beta, _ = bone.angles
    return R_p @ Z, R_p @ turn("z", alpha) @ Y, R_p @ turn("z", alpha) @ turn("y", beta) @ Z


def compute_jacobian(bones: list[Bone]) -> np.ndarray:
    """Algorithm 3."""
    forward_kinematics_update(bones[0])
    chains = make_chains(bones)
    J = np.zeros((3 * len(chains), 3 * len(bones)))
    for i, chain in enumerate(chains):
        e = chain[-1].t
        for bone in chain:
            for a, axis in enumerate(axes(bone)):
                J[3 * i : 3 * i + 3, 3 * bone.number + a] = np.cross(axis, e - bone.t)
    return J


def compute_hessian(chains: list[list[Bone]], J: np.ndarray, goals: np.ndarray) -> np.ndarray:
    """Algorithm 4, its lower triangle mirrored."""
    H = J.T @ J
    for c, chain in enumerate(chains):
        r = goals[c] - chain[-1].t
        for k in chain:
            for h in chain[: chain.index(k) + 1]:
                for i in range(3 * k.number, 3 * k.number + 3):
                    for b, axis in enumerate(axes(h)):
                        H[i, 3 * h.number + b] -= np.cross(axis, J[3 * c : 3 * c + 3, i]) @ r
    lower = np.tril(H)
    return lower + np.tril(lower, -1).T


def tree(rng: np.random.Generator) -> tuple[list[Bone], Figure]:
    """A tree of seven bones with three leaves, for the algorithms and as a figure; bones in the order of their numbers."""
    parents = (None, 0, 1, 1, 3, 0, 5)
    bones: list[Bone] = []
    joints = []
    for number, parent in enumerate(parents):
        bones.append(Bone(number, None if parent is None else bones[parent], rng.normal(size=3)))
        if parent is not None:
            bones[parent].children.append(bones[-1])
        name = f"bone {number}"
        joints += hinge(f"{name} α", None if parent is None else f"bone {parent}", Z, at=tuple(bones[-1].position))
        joints += hinge(f"{name} β", f"{name} α", Y) + hinge(name, f"{name} β", Z)
    return bones, Figure("tree", joints)


@pytest.mark.parametrize("seed", range(5))
def test_the_algorithms_of_the_notes_give_our_jacobian_and_hessian(seed: int):
    rng = np.random.default_rng(seed)
    bones, figure = tree(rng)
    q = rng.uniform(-2, 2, figure.size)
    by_name = dict(zip(figure.coordinates, q, strict=True))
    for bone in bones:
        bone.angles = np.array([by_name[f"bone {bone.number}{end}"] for end in (" α", " β", "")])
    order = [figure.coordinates.index(f"bone {bone.number}{end}") for bone in bones for end in (" α", " β", "")]
    J = compute_jacobian(bones)
    chains, goals = make_chains(bones), rng.normal(size=(3, 3))
    H = compute_hessian(chains, J, goals)
    ends = [Point(f"bone {chain[-1].number}") for chain in chains]
    assert len(ends) == 3
    assert_allclose(np.vstack([figure.jacobian(q, end) for end in ends])[:, order], J, atol=1e-12)
    here: Any = Problem(figure, [Task(end, At(goal)) for end, goal in zip(ends, goals, strict=True)]).evaluate(q)
    assert_allclose(
        0.5 * here.hessian[np.ix_(order, order)], H, atol=1e-11
    )  # ours is of Σ‖g − e‖², theirs of half of it
    K = [figure.curvature(q, end) for end in ends]
    r = [goal - chain[-1].t for goal, chain in zip(goals, chains, strict=True)]
    ours = sum(
        figure.jacobian(q, e).T @ figure.jacobian(q, e) - np.einsum("a,aij->ij", x, k)
        for e, x, k in zip(ends, r, K, strict=True)
    )
    assert_allclose(0.5 * here.hessian, ours, atol=1e-11)


@pytest.mark.parametrize("name", ["arm", "twins"])
def test_curvature_is_the_slope_of_the_jacobian(name: str):
    figure = TREES[name]
    q, h = posture(figure, 4), 1e-6
    end = figure.segments[-1]
    for effector in (Point(end, (0.1, 0.2, 0.3)), Direction(end, (1.0, 2.0, 3.0))):
        K = figure.curvature(q, effector)
        assert_allclose(K, np.swapaxes(K, 1, 2), atol=1e-14)
        for j, step in enumerate(h * np.eye(figure.size)):
            slope = (figure.jacobian(q + step, effector) - figure.jacobian(q - step, effector)) / (2 * h)
            assert_allclose(K[:, :, j], slope, atol=1e-8)


def test_curvature_refuses_what_it_does_not_tell():
    arm = TREES["arm"]
    with pytest.raises(BadValue, match="points and directions"):
        arm.curvature(arm.rest, Frame(arm.segments[-1]))
    person = load("jack", spine="grouped", shoulders="grouped", root="fixed")
    with pytest.raises(BadValue, match="follows a curve"):
        person.curvature(person.rest, Point("hand_l.palm"))
