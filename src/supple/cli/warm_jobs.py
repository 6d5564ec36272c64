"""Small jobs that between them call every entry, as users do: through public names, with every type of argument.

They are run interpreted, to learn what there is to compile; so each is as small as it can be. A test holds them to all entries
that there are.
"""

from __future__ import annotations

import contextlib
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import supple
from supple import motion as motions, solvers
from supple.errors import MissingExtra

FRAMES = 3
SWING = 0.3
FAR = 5.0


# ── figures, problems, trials ────────────────────────────────────────────────────────────────────────────────────────
def arm() -> supple.Figure:
    """Three hinges."""
    joints = [
        *supple.hinge("shoulder", None, (0, 0, 1), limits=(-2.0, 2.0)),
        *supple.hinge("elbow", "shoulder", (0, 1, 0), at=(0.3, 0.0, 0.0), limits=(-2.0, 2.0)),
        *supple.hinge("wrist", "elbow", (0, 0, 1), at=(0.3, 0.0, 0.0), limits=(-2.0, 2.0)),
    ]
    return with_markers(supple.Figure("arm", joints))


def rover() -> supple.Figure:
    """An arm whose root is free, with a ball."""
    joints = [
        *supple.free("root", None),
        *supple.ball("shoulder", "root", "zyx", at=(0.0, 0.0, 0.3)),
        *supple.hinge("elbow", "shoulder", (0, 1, 0), at=(0.0, 0.0, -0.3), limits=(-0.2, 2.0)),
    ]
    return with_markers(supple.Figure("rover", joints))


def with_markers(figure: supple.Figure) -> supple.Figure:
    """Three markers on every segment that moves."""
    moving = [s for s in figure.segments if figure.joints_of(s)]
    return figure.with_markers({f"{s}{k}": (s, x) for s in moving for k, x in enumerate(0.1 * np.eye(3))})


def problem(figure: supple.Figure, **options: Any) -> supple.Problem:
    """The last segment's frame where a posture near to rest puts it."""
    last = figure.segments[-1]
    target = figure.placement(figure.rest + 0.1, last)
    return supple.Problem(figure, [supple.Task(last, supple.Placed(target))], **options)


def point(figure: supple.Figure, stretch: float = 1.0, **options: Any) -> supple.Problem:
    """The last segment's origin where a posture near to rest puts it, or so many times as far."""
    last = figure.segments[-1]
    place = figure.placement(figure.rest + 0.1, last)[:3, 3]
    return supple.Problem(figure, [supple.Task(supple.Point(last), supple.At(stretch * place))], **options)


def rows(figure: supple.Figure, equal: bool = False) -> supple.Limits:
    """Limits that are no box, with an equality or without."""
    A = np.ones((1, figure.size))
    more = {"A_eq": A[:, ::-1] * np.arange(figure.size), "b_eq": [0.0]} if equal else {}
    return supple.Limits(figure.lower, figure.upper, A=A, b=[float(figure.size)], **more)


def trial(figure: supple.Figure) -> supple.Markers:
    """Markers of a figure that moves a little."""
    t = np.arange(FRAMES)
    places = figure.marker_places(figure.rest + SWING * np.sin(t)[:, None] * np.ones(figure.size))
    return supple.Markers(tuple(figure.markers), places, t / 100.0)


# ── jobs ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
def look() -> None:
    """Placements, Jacobians, values and their derivatives, projections on limits."""
    for figure in (arm(), rover()):
        figure.placement(figure.rest, figure.segments[-1])
        figure.placement(np.tile(figure.rest, (2, 1)), figure.segments[-1])
        asked = problem(figure)
        asked.jacobian(figure.rest)
        for curvature in (False, True):
            asked.evaluate(figure.rest, curvature=curvature)
        for equal in (False, True):
            rows(figure, equal).project(figure.rest)


def search() -> None:
    """The default solver, through every door."""
    for figure in (arm(), rover()):
        for asked in (problem(figure), problem(figure, limits=rows(figure)), point(figure)):
            supple.solve(asked, prove=False)
        last = figure.segments[-1]
        targets = figure.placement(np.tile(figure.rest, (2, 1)), last)
        query = supple.prepare(problem(figure), prove=False)
        for _ in range(2):
            query(targets[0])
            query(targets[0], figure.rest)
        supple.solve_many(problem(figure), targets, prove=False)
        supple.follow(problem(figure), targets)
    supple.solve(point(arm()), distinct=2)
    for name, segment in (("ur5", "tool0"), ("panda", "panda_hand")):  # arms with a formula, and with one in slices
        figure = supple.load(name)
        targets = figure.placement(np.tile(figure.rest + 0.5, (2, 1)), segment)
        asked = supple.Problem(figure, [supple.Task(segment, supple.Placed(targets[0]))])
        supple.prepare(asked)(targets[0])
        supple.solve_many(asked, targets)


def list_all() -> None:
    """All postures of an arm that has a formula, and of one that has none; the curves of one with seven hinges."""
    ur5, joints, at = supple.load("ur5"), list[supple.Joint](), np.eye(4)
    supple.solve_all(problem(ur5), ur5.rest + 0.1, prove=False)
    supple.solve_all(problem(supple.load("iiwa14")))
    for j in range(6):
        joints += supple.hinge(f"{j}", f"{j - 1}" if j else None, (0, 0, 1), at=at)
        at = supple.place((0.1 * j, 0.2, 0.3), rpy=(1.0 + j, 0.5, 0.2))
    supple.solve_all(problem(supple.Figure("skew", joints)), prove=False)


def move() -> None:
    """Single steps of a control loop."""
    for figure in (arm(), rover()):
        supple.step(problem(figure), figure.rest, 0.01)
        supple.step(point(figure), figure.rest, 0.01)
        supple.step(problem(figure), figure.rest, 0.01, targets=figure.placement(figure.rest, figure.segments[-1]))


def keep_clear() -> None:
    """Obstacles and the figure itself, with bars and with boxes."""
    for shape in (supple.Ball((0.1, 0.0, 0.0), 0.05), supple.Box((0.0, -0.1, -0.1), (0.2, 0.1, 0.1))):
        figure = arm().with_solids(dict.fromkeys(arm().segments, (shape,)))
        clear = supple.Clearance(itself=True)
        asked = point(figure, obstacles=[supple.Box((2.0, 2.0, 2.0), (3.0, 3.0, 3.0))], clearance=clear)
        supple.solve(asked, prove=False, budget=4)
        asked.jacobian(figure.rest)
        supple.step(asked, figure.rest, 0.01)


def methods() -> None:
    """Every other solver."""
    chosen: list[Any] = [
        *(
            supple.Newton(),
            supple.ActiveSet(),
            supple.ProjectedGradient(),
            supple.Multistart(supple.Newton(), attempts=2),
        ),
        *(supple.JacobianTranspose(), supple.PseudoInverse(), supple.CyclicCoordinateDescent(), supple.Fabrik()),
        solvers.DampedLeastSquares(),
    ]
    for solver in chosen:
        supple.solve(point(arm()), solver=solver, budget=4, prove=False)
    for solver in chosen[:4]:
        supple.solve(problem(rover()), solver=solver, budget=4, prove=False)


def track() -> None:
    """Markers, frame by frame and all at once."""
    for figure in (arm(), rover()):
        for method in (None, motions.WholeClip(), motions.WholeClip(speed=100.0)):
            supple.track(figure, trial(figure), method)


def track_optimally() -> None:
    """Markers by optimal tracking, on both of its paths."""
    figure = arm()
    for method in (supple.OptimalTracking(), supple.OptimalTracking(path="paper", limits=False)):
        supple.track(figure, trial(figure), method)


def prove() -> None:
    """Poses that cannot be for the way that they are turned, and points out of reach, with proofs that are checked."""
    figure = arm()
    last = figure.segments[-1]
    target = figure.placement(figure.rest + 0.1, last)
    for goal in (
        supple.Placed(target[:3, 3], rpy=(1.0, 1.0, 1.0)),
        supple.Placed(0.6 * target[:3, 3], rpy=(0.5, 0.0, 0.0)),
        supple.At(FAR * target[:3, 3]),
        supple.At(0.05 * target[:3, 3]),
    ):
        supple.solve(supple.Problem(figure, [supple.Task(last, goal)]), solver=supple.Decide(boxes=20))


JOBS: tuple[Callable[[], None], ...] = (
    look, search, list_all, move, keep_clear, methods, track, track_optimally, prove,
)  # fmt: skip


def main() -> None:
    """Run all jobs, interpreted; write the calls that were made to standard output, as a pickle."""
    from supple.kernels.compiling.recording import recorded

    for job in JOBS:
        with contextlib.suppress(MissingExtra):  # what cannot be used need not be compiled
            job()
    sys.stdout.buffer.write(pickle.dumps(recorded()))


if __name__ == "__main__":
    main()
