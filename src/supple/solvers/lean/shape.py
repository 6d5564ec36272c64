"""What the lean loop takes, and in what form: a *shape*, bound when its code is compiled, and *numbers*, free at run time.

The shape says how many joints move what is looked at, which hangs on which, which slide, and what each goal asks of
which frame; all figures of one shape share one compiled loop. Every joint turns about, or slides along, the z axis of
its own frame: the axis that the pack has for it is folded into the offset before it and undone in what hangs on it. A
free root (three slides and a chart) is no joint here but a frame of its own, which has no gimbal lock; `root` says
how its six coordinates come out of it.

A goal is a frame with a place to be at, a direction or orientation to have, or both:

    PLACE  of a point    AT: p;  LINE, PLANE, BEYOND: p and the unit vector ν
    ANGLE  of the frame  TURN: an orientation;  FACE: the x axis along a unit vector
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from supple.kernels import kinds as kind
from supple.kernels.layouts import (
    ALTERNATIVES,
    CHARTS,
    DRIVEN,
    FRAME_ROW,
    FREE_ROOT,
    KIND,
    LINEAR_LIMITS,
    MASS_ROWS,
    MET,
    NO_ROW,
    POSTURE_TERMS,
    PROBLEM,
    RANKS,
    REFERENCE_ROW,
    SCALE,
    TARGET_AT,
    TASKS,
    WEIGHT,
    view,
)
from supple.problem.problem import Problem
from supple.solvers.lean.ranges import ranges_of, strides

PLACES = (kind.AT, kind.LINE, kind.PLANE, kind.BEYOND)
ANGLES = (kind.TURN, kind.FACE)
NOTHING = -1
IN_REGISTERS = 60  # joints × rows up to which a step in the space of residuals keeps everything in registers
MOST_JOINTS, MOST_ROWS = 256, 96
COARSE_PLACE, COARSE_ANGLE = (
    5e-6,
    5e-5,
)  # float32 arrives no nearer than this for certain: the finish goes on in float64
INSIDE = 0.8  # share of a tolerance at which the search hands over to the finish


class Shape(NamedTuple):
    """What is fixed when a loop is compiled; goals are in the order of the joints that carry them."""

    parent: tuple[int, ...]  # (n) row that each joint hangs on; row 0 is the base, row i + 1 the frame behind joint i
    slide: tuple[bool, ...]  # (n)
    carrier: tuple[int, ...]  # (G) row that carries each goal's frame
    place: tuple[int, ...]  # (G) what its point is to do, or NOTHING
    angle: tuple[int, ...]  # (G) what its axes are to do, or NOTHING
    free: bool  # whether the base may be anywhere

    @property
    def joints(self) -> int:
        """Joints n."""
        return len(self.parent)

    @property
    def rows(self) -> tuple[int, ...]:
        """Residuals of each goal."""
        return tuple(3 * (p != NOTHING) + 3 * (a != NOTHING) for p, a in zip(self.place, self.angle, strict=True))

    @property
    def by_joints(self) -> bool:
        """Whether a step goes joint by joint, rather than through the residuals."""
        return self.free or self.joints * sum(self.rows) > IN_REGISTERS


@dataclass(frozen=True, eq=False)
class Numbers:
    """What may change without compiling, in float64."""

    offset: np.ndarray  # (n, 12) from the row above to each joint: rotation, row by row, and origin
    tool: np.ndarray  # (G, 12) the goals' frames
    limits: np.ndarray  # (2, n) lower and upper
    starts: np.ndarray  # (4, n) first start; middle, span and stride of all others
    source: np.ndarray  # (G, 12) where in a row of targets each number of a goal is, or NOTHING
    tolerance: np.ndarray  # (G, 2) square of a distance, and of a chord of the unit sphere, below which a goal is met
    coordinate: np.ndarray  # (n) of each joint
    resting: np.ndarray  # (size) the start: coordinates that nothing looks at stay there
    root: Root | None


class Root(NamedTuple):
    """How a free root's six coordinates come out of its frame X: ``X = X₀ · slides · (R₃, 0) · turns``."""

    first: tuple[float, ...]  # (12) X₀
    turn: tuple[float, ...]  # (9) R₃
    slides: tuple[int, int, int]  # axis of each slide
    turns: tuple[int, int, int]  # axis of each turn, all different
    sign: tuple[float, ...]  # (6)
    coordinate: tuple[int, ...]  # (6)


class Refused(Exception):
    """Why the lean loop does not take a problem."""


def needs(holds: Any, what: str) -> None:
    """Refuse a problem that has something the loop does not take."""
    if not holds:
        raise Refused(what)


def shaped(problem: Problem, start: np.ndarray) -> tuple[Shape, Numbers]:
    """The shape and the numbers of a problem that begins at `start`; `Refused` says why it has none."""
    I, F, _ = problem.pack
    terms = view(PROBLEM, I, F, "TERM")
    needs(len(terms), "it has no task")
    needs(I[TASKS] == I[ALTERNATIVES], "it has alternatives")
    needs(I[RANKS] == 1 and I[POSTURE_TERMS] == 0, "its tasks have ranks, or it prefers a posture")
    needs(I[LINEAR_LIMITS] == 0, "its limits are not ranges alone")
    needs(I[MASS_ROWS] == 0, "it weighs its mass")
    needs(I[DRIVEN] == 0, "several joints share a coordinate")
    needs((terms[:, REFERENCE_ROW] == NO_ROW).all(), "a goal is relative to a segment")
    needs(
        np.isin(terms[:, KIND], PLACES + ANGLES).all(), "a goal is none of At, Placed, Facing, OnLine, OnPlane, Beyond"
    )
    needs(np.isin(problem.free, (0.0, 1.0)).all(), "it has rigidity between 0 and 1")
    needs((terms[:, FRAME_ROW] > 0).all(), "a goal's frame does not move")
    free = I[CHARTS] > 0
    needs(not free or (I[CHARTS] == 1 and I[FREE_ROOT] > 0), "it has a ball without limits that is no free root")
    turned, slide = _axes(problem)
    root = _root(problem) if free else None
    skipped = 6 if free else 0
    turned[: skipped + 1] = np.eye(3)  # the base is as the pack has it
    parent = view(PROBLEM, I, F, "PARENT")[skipped:]
    needs(not free or (parent >= skipped).all(), "something hangs on the world beside the free root")
    groups, rows = _grouped(terms, view(PROBLEM, I, F, "NUMBER")), view(PROBLEM, I, F, "NUMBER")
    tool = np.array([_turned_back(turned, g[0], rows[g[1][0], :12]) for g in groups]).reshape(-1, 12)
    place, angle = (tuple(_kind_of(terms, g[1], kinds) for g in groups) for kinds in (PLACES, ANGLES))
    carrier = tuple(g[0] - skipped for g in groups)
    shape = Shape(
        tuple((parent - skipped).tolist()), tuple(slide[skipped:].tolist()), carrier, place, angle, bool(free)
    )
    needs(shape.joints, "nothing moves but a free root")
    needs(shape.joints <= MOST_JOINTS and sum(shape.rows) <= MOST_ROWS, "it is too large")
    return shape, _numbers(problem, start, shape, (turned, tool, groups, skipped, root))


def _axes(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """For each row a rotation whose z axis is that of the joint, signs folded in (n + 1, 3, 3); whether it slides (n)."""
    I, F, _ = problem.pack
    axis, offset = view(PROBLEM, I, F, "AXIS"), view(PROBLEM, I, F, "OFFSET")
    needs((axis < 6).all(), "it has a screw")
    out, slide = np.tile(np.eye(3), (len(axis) + 1, 1, 1)), axis > 2
    for i, (k, (turn, along)) in enumerate(zip(axis % 3, offset[:, 12:], strict=True)):
        sign = along if slide[i] else turn
        needs(abs(sign) == 1.0, "a slide has a scale")
        A = np.zeros((3, 3))
        A[k, 2], A[(k + 1) % 3, 0], A[(k + 2) % 3, 1] = sign, 1.0, sign  # a permutation: nothing is rounded
        out[i + 1] = A
    return out, slide


def _turned_back(turned: np.ndarray, row: int, frame: np.ndarray) -> np.ndarray:
    """A frame in a row of the pack, as the row turned to its joint's z axis has it."""
    A = turned[row]
    return np.concatenate([(A.T @ frame[:9].reshape(3, 3)).ravel(), A.T @ frame[9:12]])


def _grouped(terms: np.ndarray, numbers: np.ndarray) -> list[tuple[int, list[int]]]:
    """Terms that look at one frame together, at most one of a place and one of an angle; by the row that carries them."""
    groups: list[tuple[int, list[int]]] = []
    for k, term in enumerate(terms):
        row, one = int(term[FRAME_ROW]), term[KIND] in PLACES
        for group in groups:
            other = group[1][0]
            fits = len(group[1]) == 1 and (terms[other, KIND] in PLACES) != one
            if group[0] == row and fits and np.array_equal(numbers[other, :12], numbers[k, :12]):
                group[1].append(k)
                break
        else:
            groups.append((row, [k]))
    return sorted(groups, key=lambda group: group[0])


def _kind_of(terms: np.ndarray, group: list[int], among: tuple[int, ...]) -> int:
    return next((int(terms[k, KIND]) for k in group if terms[k, KIND] in among), NOTHING)


def _sources(terms: np.ndarray, group: list[int]) -> tuple[int, ...]:
    """Rotation or direction in the first nine numbers (of a line or plane ν in 6 … 8), the point in the last three."""
    out = [NOTHING] * 12
    for k in group:
        at = int(terms[k, TARGET_AT])
        match int(terms[k, KIND]):
            case kind.TURN:
                out[:9] = range(at, at + 9)
            case kind.FACE:
                out[:3] = range(at, at + 3)
            case kind.AT:
                out[9:] = range(at, at + 3)
            case _:
                needs(_kind_of(terms, group, (kind.TURN,)) == NOTHING, "an orientation stands beside a line or plane")
                out[9:], out[6:9] = range(at, at + 3), range(at + 3, at + 6)
    return tuple(out)


def _root(problem: Problem) -> Root:
    """The free root, whose first three joints slide along axes at right angles and whose next three turn."""
    I, F, _ = problem.pack
    axis, offset = view(PROBLEM, I, F, "AXIS")[:6], view(PROBLEM, I, F, "OFFSET")[:6]
    coordinate = view(PROBLEM, I, F, "COORDINATE")[:6]
    turns = [int(k) for k in axis[3:]]
    needs(len(set(turns)) == 3, "its free root turns twice about one axis")
    needs((np.asarray(problem.free)[coordinate] == 1.0).all(), "its free root is held")
    sign = [float(x) for x in (*offset[:3, 13], *offset[3:, 12])]
    first = offset[0, :12].copy()
    first[9:] += first[:9].reshape(3, 3) @ (offset[1, 9:12] + offset[2, 9:12])
    slides = (int(axis[0]) % 3, int(axis[1]) % 3, int(axis[2]) % 3)
    return Root(
        tuple(first.tolist()), tuple(offset[3, :9].tolist()), slides, (turns[0], turns[1], turns[2]), tuple(sign),
        tuple(coordinate.tolist()),
    )  # fmt: skip


def _numbers(problem: Problem, start: np.ndarray, shape: Shape, found: Any) -> Numbers:
    """The numbers that go with a shape."""
    turned, tool, groups, skipped, root = found
    I, F, _ = problem.pack
    terms = view(PROBLEM, I, F, "TERM")
    offset, coordinate = (view(PROBLEM, I, F, name)[skipped:] for name in ("OFFSET", "COORDINATE"))
    parent, n = np.array(shape.parent, dtype=int), shape.joints
    rows = []
    for i in range(n):
        A, B = turned[parent[i] + skipped], turned[i + 1 + skipped]
        rows.append([*(A.T @ offset[i, :9].reshape(3, 3) @ B).ravel(), *(A.T @ offset[i, 9:12])])
    limits, (middle, span) = ranges_of(problem, start, coordinate, np.array(shape.slide))
    return Numbers(
        np.array(rows), tool, limits, np.stack([start[coordinate], middle, span, strides(n)]),
        np.array([_sources(terms, g[1]) for g in groups]), _tolerances(problem, groups),
        coordinate.copy(), start, root,
    )  # fmt: skip


def _tolerances(problem: Problem, groups: list[tuple[int, list[int]]]) -> np.ndarray:
    """Squares of what may be missed: the limits of the terms, which are weighed, by their weights."""
    I, F, _ = problem.pack
    numbers, terms = view(PROBLEM, I, F, "NUMBER"), view(PROBLEM, I, F, "TERM")
    out = np.full((len(groups), 2), np.inf)
    for g, (_, group) in enumerate(groups):
        for k in group:
            own = numbers[k]
            if terms[k, KIND] in PLACES:
                out[g, 0] = own[MET] / own[WEIGHT]
            else:
                out[g, 1] = own[MET] / (own[WEIGHT] * own[SCALE] ** 2)
    return out


def packs(numbers: Numbers, real: Any) -> tuple[np.ndarray, ...]:
    """Offsets, tools, bounds, limits and starts as a loop in numbers of one kind reads them.

    Bounds are the inverse squares of what may be missed. A search in float32 hands over inside the tolerance, or as
    near as it can come for certain; its limits are rounded inwards, so that what it finds is legal in float64.
    """
    tolerance, (lower, upper) = numbers.tolerance, numbers.limits
    low, high = lower.astype(real), upper.astype(real)
    if real is np.float32:
        tolerance = np.maximum(INSIDE**2 * tolerance, [[COARSE_PLACE**2, COARSE_ANGLE**2]])
        low = np.where(low < lower, np.nextafter(low, real(np.inf)), low)
        high = np.where(high > upper, np.nextafter(high, real(-np.inf)), high)
    bounds = (1.0 / tolerance).astype(real)
    arrays = (numbers.offset, numbers.tool, bounds, np.stack([low, high]), numbers.starts)
    return tuple(np.ascontiguousarray(a.astype(real)) for a in arrays)
