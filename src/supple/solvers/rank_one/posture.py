"""From a posture to lifted variables and back.

`write` gives the matrices of rank one that stand for a posture. `read` takes variables of any rank: the rotation nearest to
each body's matrix, then every joint's coordinate from the two rotations that it joins; a coordinate is wrapped and
clipped into its range. `spectrum` says how far the matrices are from rank one.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from supple.geometry.placements import Floats
from supple.solvers.rank_one.bodies import Hinge, Socket, Span, davenport, frames_of
from supple.solvers.rank_one.matrices import (
    LIFTS,
    SHARE,
    flat,
    lifted_rotation,
    lifted_slide,
    nearest_rotations,
    square,
)
from supple.solvers.rank_one.variables import Lifted

NOWHERE = 1e-9  # a point of a disc no farther from its centre has no direction


def write(lifted: Lifted, q: Floats, parameters: Floats) -> Floats:
    """The variables of a posture."""
    frames = frames_of(lifted.figure, lifted.tree, q)
    x = np.zeros(lifted.size)
    for key, node in lifted.tree.nodes.items():
        R = frames[key][:3, :3]
        cell = lifted.bodies.get(node.body)
        if cell is not None and cell.lift == "disc":
            face = lifted.known.faces[node.body]
            turn = (face.outer @ parameters).T @ R @ node.turn.T @ face.inner
            x[cell.own] = turn[0, 0], turn[1, 0]
        elif cell is not None:
            x[cell.own] = lifted_rotation(R @ node.turn.T, cell.lift)
        if node.slide is not None:
            span, cell = node.slide.span, lifted.slides[node.slide.span.index]
            axis = R @ node.slide.axis
            if cell.lift == "length":
                x[cell.own] = q[span.index]
            else:
                share = (q[span.index] - span.lower) / (span.upper - span.lower)
                x[cell.own] = lifted_slide(axis / np.linalg.norm(axis), share)
    return x


def body_rotations(lifted: Lifted, parameters: Floats) -> tuple[tuple[int, ...], Floats]:
    """The bodies, and their rotations as linear functions of the variables: (bodies, 3, 3, 1 + n)."""
    bodies = tuple(sorted({node.body for node in lifted.tree.nodes.values()}))
    return bodies, np.array([lifted.body_turn(body) @ parameters for body in bodies])


@dataclass(frozen=True, eq=False)
class Reader:
    """Reads postures from variables, for given targets."""

    lifted: Lifted
    bodies: tuple[int, ...]
    turns: Floats  # (bodies, 3, 3, 1 + n)

    @classmethod
    def of(cls, lifted: Lifted, parameters: Floats) -> Reader:
        """For these targets."""
        return cls(lifted, *body_rotations(lifted, parameters))

    def matrices(self, x: Floats) -> Floats:
        """The bodies' 3 × 3 matrices, rotations only if the variables are of rank one: (bodies, 3, 3)."""
        return self.turns @ np.concatenate([[1.0], x[: self.lifted.size]])

    def read(self, x: Floats, reference: Floats) -> Floats:
        """The posture that the variables come nearest to; coordinates that are not lifted are those of `reference`."""
        near = dict(zip(self.bodies, nearest_rotations(self.matrices(x)), strict=True))
        tree, q = self.lifted.tree, np.array(reference, dtype=np.float64)
        turns = {key: near[node.body] @ node.turn for key, node in tree.nodes.items()}
        for hinge in tree.hinges:
            between = (turns[hinge.parent] @ hinge.rest).T @ turns[hinge.child]
            q[hinge.span.index] = _fitted(_angle(hinge, between), hinge.span, q[hinge.span.index])
        for socket in tree.sockets:
            q[list(socket.indices)] = _angles(socket, turns[socket.parent].T @ turns[socket.child])
        for node in tree.nodes.values():
            if node.slide is not None:
                span, cell = node.slide.span, self.lifted.slides[node.slide.span.index]
                y = x[cell.own]
                value = y[0] if cell.lift == "length" else span.lower + (span.upper - span.lower) * (SHARE @ y)
                q[span.index] = np.clip(value, span.lower, span.upper)
        for index, value in tree.still.items():
            q[index] = value
        return q


def _angle(hinge: Hinge, between: Floats) -> float:
    """The angle about the hinge's axis of a rotation that is nearly about it."""
    a, b = hinge.sides
    return float(np.arctan2(b @ between @ a - a @ between @ b, a @ between @ a + b @ between @ b))


def _fitted(angle: float, span: Span, reference: float) -> float:
    """The same angle inside the range if some whole turns bring it there, nearest to the reference, else clipped."""
    about = reference if not np.isfinite(span.upper - span.lower) else span.middle
    angle += 2.0 * np.pi * round((about - angle) / (2.0 * np.pi))
    return float(np.clip(angle, span.lower, span.upper))


def _angles(socket: Socket, between: Floats) -> Floats:
    """The three angles of a ball."""
    first, second, third = (joint.at[:3, :3] for joint in socket.joints)
    turn = first.T @ between @ (second @ third).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # at gimbal lock one angle is a free choice
        return Rotation.from_matrix(turn).as_davenport(np.array(davenport(socket.joints)), "intrinsic")


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Of every matrix: its trace, its two largest eigenvalues; and the slope of the sum of the largest ones."""

    trace: Floats
    first: Floats
    second: Floats
    slopes: list[tuple[slice, Floats]]  # of each matrix: where its variables are, and uuᵀ as a vector

    @property
    def missing(self) -> float:
        """``Σ tr Y − λ₁``: zero exactly if every matrix has rank one."""
        return float((self.trace - self.first).sum())

    @property
    def rank_gap(self) -> float:
        """The largest of all second eigenvalues: zero exactly if every matrix has rank one."""
        return float(self.second.max(initial=0.0))


def spectrum(lifted: Lifted, x: Floats) -> Spectrum:
    """How far variables are from rank one, (41) and (46)."""
    trace, first, second, slopes = [], [], [], []
    for name, cells in lifted.groups.items():
        y = np.array([x[cell.own] for cell in cells])
        if name == "disc":
            y = np.where(np.abs(y).max(axis=1, keepdims=True) > NOWHERE, y, (NOWHERE, 0.0))  # any direction will do
            radius = np.hypot(*y.T)
            trace.append(np.ones(len(y)))
            first.append(0.5 * (1.0 + radius))
            second.append(0.5 * (1.0 - radius))
            slope = 0.5 * y / radius[:, None]
        else:
            lift = LIFTS[name]
            values, vectors = np.linalg.eigh(square(y, lift.order))
            u = vectors[:, :, -1]
            trace.append(np.full(len(y), lift.trace))
            first.append(values[:, -1])
            second.append(values[:, -2])
            slope = flat(u[:, :, None] * u[:, None, :])
        slopes += [(cell.own, row) for cell, row in zip(cells, slope, strict=True)]
    traces, firsts, seconds = (np.concatenate([np.empty(0), *part]) for part in (trace, first, second))
    return Spectrum(traces, firsts, seconds, slopes)
