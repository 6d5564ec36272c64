"""The relaxed set (32): everything that the lifted variables of a posture satisfy, as cones.

Hinge (5), (6): ``R_i R⁰ u = R_j u``. Its limit ``|q − mid| ≤ α < π`` (8), for an axis e perpendicular to u:
``‖R_j e − R_i R⁰ Rot(u, mid) e‖ ≤ 2 sin(α/2)``. Of the three ways to state it each is tighter than the one before: *planes* are
the paper's (14), six that touch the ball, across the world's axes, which leave room beyond the limit even at rank one;
*cone* is the ball itself, exact at rank one; *two axes* are the balls of two axes e, and a hinge between a body that is known
and a disc then says all of it in one row, ``cos(q − mid) ≥ cos α``: the convex hull of the arc.
Slide: ``r = R_i e`` ties the matrix of the slide to that of its body. Loops and aims equate two expressions of one place.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from supple.figure.effectors import Gap
from supple.geometry.placements import Floats, turned
from supple.solvers.rank_one.bodies import Hinge
from supple.solvers.rank_one.known import Face
from supple.solvers.rank_one.matrices import AXIS, LIFTS
from supple.solvers.rank_one.targets import Aim, Turn
from supple.solvers.rank_one.variables import Cell, Cone, Lifted


def relaxed_set(lifted: Lifted, limits: str = "two axes") -> list[Cone]:
    """All cones: matrices, hinges with their `limits`, slides, loops and, if they are given as equations, the aims."""
    out = [cone for cell in (*lifted.bodies.values(), *lifted.slides.values()) for cone in _of_cell(lifted, cell)]
    for hinge in lifted.tree.hinges:
        out += _of_hinge(lifted, hinge, limits)
    out += _of_slides(lifted)
    for loop in lifted.loops:
        gap = loop.effector
        assert isinstance(gap, Gap)
        ends = [lifted.point(end.segment, end.frame[:3, 3]) for end in (gap.a, gap.b)]
        out.append(Cone("zero", ends[1] - ends[0], loop.name))
    if lifted.given:
        out += [Cone("zero", rows, aim.name) for aim in lifted.aims for rows in misses(lifted, aim, given=True)]
    return out


def _blank(lifted: Lifted, rows: int) -> Floats:
    return np.zeros((rows, 1 + lifted.size, lifted.parameters))


def _of_cell(lifted: Lifted, cell: Cell) -> Iterator[Cone]:
    """A matrix is positive semidefinite and has its trace; a disc has radius one."""
    if cell.lift == "length":
        return
    if cell.lift == "disc":
        E = _blank(lifted, 3)
        E[0, 0, 0] = E[1, cell.first, 0] = E[2, cell.first + 1, 0] = 1.0
        yield Cone("second_order", E)
        return
    lift = LIFTS[cell.lift]
    E = _blank(lifted, len(lift.rows))
    E[:, cell.columns, 0], E[:, 0, 0] = lift.rows, -lift.right
    yield Cone("zero", E)
    if len(lift.positive):
        E = _blank(lifted, len(lift.positive))
        E[:, cell.columns, 0] = lift.positive
        yield Cone("positive", E)
    E = _blank(lifted, cell.size)
    E[:, cell.columns, 0] = np.eye(cell.size)
    yield Cone("semidefinite", E)


# ── joints ───────────────────────────────────────────────────────────────────────────────────────────────────────────
def _of_hinge(lifted: Lifted, hinge: Hinge, limits: str) -> Iterator[Cone]:
    if hinge not in lifted.known.used:
        yield Cone("zero", lifted.axis(hinge.child, hinge.axis) - lifted.axis(hinge.parent, hinge.rest @ hinge.axis))
    span = hinge.span
    half = 0.5 * (span.upper - span.lower)
    if not half < np.pi:
        return
    middle = hinge.rest @ turned(hinge.axis.tolist(), span.middle)
    for body, face in lifted.known.faces.items():
        if face.hinge is hinge and limits == "two axes":
            yield _arc(lifted, hinge, body, face, middle, half)
            return
    radius = 2.0 * np.sin(0.5 * half)
    for side in hinge.sides if limits == "two axes" else hinge.sides[:1]:
        off = lifted.axis(hinge.child, side) - lifted.axis(hinge.parent, middle @ side)
        if limits == "planes":
            E = np.concatenate([off, -off])
            E[:, 0, 0] += radius
            yield Cone("positive", E, span.name)
            continue
        E = _blank(lifted, 4)
        E[0, 0, 0], E[1:] = radius, off
        yield Cone("second_order", E, span.name)


def _arc(lifted: Lifted, hinge: Hinge, body: int, face: Face, middle: Floats, half: float) -> Cone:
    """``cos(q − mid) ≥ cos α``, linear in the disc: ``v · (seen Rot(e_z, φ) innerᵀ) w`` with v on the known body."""
    assert face.seen is not None
    parent, child = lifted.tree.nodes[hinge.parent], lifted.tree.nodes[hinge.child]
    v, w = parent.turn @ middle @ hinge.sides[0], child.turn @ hinge.sides[0]
    if body == parent.body:
        v, w = w, v
    v, w = face.seen.T @ v, face.inner.T @ w
    E, first = _blank(lifted, 1), lifted.bodies[body].first
    E[0, 0, 0] = v[2] * w[2] - np.cos(half)
    E[0, first, 0], E[0, first + 1, 0] = v[:2] @ w[:2], v[1] * w[0] - v[0] * w[1]
    return Cone("positive", E, hinge.span.name)


def _of_slides(lifted: Lifted) -> Iterator[Cone]:
    for key, node in lifted.tree.nodes.items():
        if node.slide is None:
            continue
        span, cell = node.slide.span, lifted.slides[node.slide.span.index]
        if cell.lift == "slide":
            E = lifted.axis(key, node.slide.axis / np.linalg.norm(node.slide.axis)).copy()
            E[:, cell.columns, 0] -= AXIS
            yield Cone("zero", E, span.name)
            continue
        for sign, bound in ((1.0, span.lower), (-1.0, span.upper)):
            if np.isfinite(bound):
                E = _blank(lifted, 1)
                E[0, cell.first, 0], E[0, 0, 0] = sign, -sign * bound
                yield Cone("positive", E, span.name)


# ── aims ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
def misses(lifted: Lifted, aim: Aim, given: bool = False) -> Iterator[Floats]:
    """By how much an aim is missed, in world axes: expressions that are zero when it is met.

    With `given`, without those that hold by construction.
    """
    if aim.position is not None:
        base = lifted.point(aim.base, aim.base_frame[:3, 3])
        p = np.zeros((3, lifted.parameters))
        p[:, aim.position : aim.position + 3] = np.eye(3)
        yield lifted.point(aim.segment, aim.frame[:3, 3]) - base - _times(lifted, aim, p)
    for turn in aim.turns:
        if not (given and turn in lifted.known.used):
            yield from _turn_misses(lifted, aim, turn)


def _turn_misses(lifted: Lifted, aim: Aim, turn: Turn) -> Iterator[Floats]:
    for column, axis in enumerate(turn.axes):
        d = np.zeros((3, lifted.parameters))
        for a in range(3):
            d[a, turn.first + 3 * a + column] = 1.0
        yield lifted.axis(aim.segment, aim.frame[:3, axis]) - _times(lifted, aim, d)


def _times(lifted: Lifted, aim: Aim, vector: Floats) -> Floats:
    """A vector of parameters (3, 1 + p), given in the base frame, seen from the world; bases are free of parameters."""
    turn = np.einsum("abj,bc->acj", lifted.rotation(aim.base)[..., 0], aim.base_frame[:3, :3])
    return np.einsum("acj,ck->ajk", turn, vector)
