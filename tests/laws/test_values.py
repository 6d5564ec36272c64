"""Every public class is a value: equal by content, hashable, unchanging, whole after a pickle, before and after it was used.

A row of `ROWS` makes an instance, another one that differs, and says how it is used. A public class without a row fails.
"""

from __future__ import annotations

import copy
import dataclasses
import enum
import multiprocessing
import pickle
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache
from pathlib import Path as File
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

import supple
from supple import (
    AimedAt,
    Aligned,
    AnyOf,
    At,
    Balanced,
    Ball,
    Beyond,
    Box,
    Capsule,
    Clearance,
    Custom,
    Direction,
    Facing,
    Figure,
    Frame,
    Gap,
    Limits,
    Loop,
    Markers,
    MassCentre,
    Motion,
    Near,
    OnLine,
    OnPlane,
    Outside,
    Placed,
    Point,
    Polytope,
    Problem,
    Task,
    Within,
    ball,
    cluster,
    fixed,
    hinge,
    load,
    mimic,
    place,
    slide,
)
from supple.basics.values import LONGEST, FrozenDict, hash_of, same
from supple.figure import Coordinate, Drive, Group, Linear, LinearLimit, PiecewisePolynomial, Source, Spline, marker_set
from supple.figure.figure import Origin
from supple.geometry import Body, Cloud, Cylinder, Hull, Mesh
from supple.motion import DrivenAngle, Held, Match, Natural
from supple.problem import Miss, Moving, Trace
from supple.proofs import Certificates
from supple.scene import Touch
from supple.solvers.levenberg_marquardt.levenberg_marquardt import plain_search_entry
from supple.solvers.rank_one import AllOf, Contact, Continuity, FreeRegions
from supple.solving.step import plain_step_entry
from tests.tables.public import PUBLIC

SPOT, OTHER = (0.4, 0.1, 0.5), (0.4, 0.1, 0.6)


class Row(NamedTuple):
    """Makes an instance; makes one that differs; uses an instance as its users do."""

    make: Callable[[], Any]
    other: Callable[[], Any]
    use: Callable[[Any], Any] = repr


def distance(a, x, g, H):
    """½ the squared distance of a frame's origin, as `Custom` takes it."""
    P = 0.0
    for i in range(3):
        g[i] = x[i] - a[i]
        H[i, i] = 1.0
        P += 0.5 * g[i] * g[i]
    return P


def arm(length: float = 0.3) -> Figure:
    """An arm with everything that a figure can hold."""
    return Figure(
        "arm",
        [
            *fixed("base"),
            *ball("upper", "base", "zyx", limits=[(-1, 1)] * 3),
            *hinge("fore", "upper", (0, 1, 0), at=(0, 0, length), limits=(0, 2.5), rest=0.5, speed=2.0),
            *hinge("follower", "fore", (0, 1, 0), at=(0, 0, 0.2), drive=mimic("fore", 0.5)),
            *slide("tool", "fore", (0, 0, 1), at=(0, 0, 0.25), limits=(0, 0.2)),
        ],
        bodies={"upper": Body(2.0, (0, 0, 0.1), (Capsule(0.04, 0.2, (0, 0, 0.12)),)), "fore": Body(1.0)},
        bounds=[LinearLimit.of({"fore": 1.0, "tool": 2.0}, 2.6)],
        source=Source("urdf"),
        solids={"tool": [Ball((0, 0, 0.05), 0.03)]},
        markers={"wrist": Point("fore", (0, 0, 0.25)), "tip": Point("tool")},
    )


def used_figure(figure: Figure) -> None:
    q = figure.rest
    figure.placements(q), figure.jacobian(q, figure.segments[-1]), figure.marker_places(q)
    figure.colliding_pairs(), figure.chain(None, figure.segments[-1]), figure.speed, figure.turning
    supple.solve(figure, {figure.segments[-1]: At(SPOT)})


def problem(position: Any = SPOT, **more: Any) -> Problem:
    return Problem(arm(), [Task("tool", At(position)), Near(np.zeros(5))], rigidity={"fore": 0.5}, **more)


def used_problem(one: Problem) -> None:
    one.evaluate(one.figure.rest), one.misses(one.figure.rest)
    one.aimed(*[None] * len(one.tasks)).value(one.figure.rest)
    supple.solve(one)


def one_task() -> Problem:
    return Problem(arm(), [Task("tool", At(SPOT))])


def boxed() -> Problem:
    """A problem whose limits are ranges."""
    figure = supple.load("ur5")
    return Problem(figure, [Task("tool0", At(SPOT))])


def many(target: Any) -> supple.solving.Solutions:
    return supple.solve_many(one_task(), [target, (3.0, 0.0, 0.0)], threads=1)


def followed(target: Any) -> supple.solving.Path:
    return supple.follow(one_task(), [target, (0.35, 0.1, 0.5)])


def used_goal(goal: Any) -> None:
    effector = None if isinstance(goal, Near) else MassCentre() if isinstance(goal, Balanced) else "tool"
    used_problem(Problem(arm(), [Task(effector, goal)]))
    if not isinstance(goal, AnyOf):
        goal.terms()


def used_effector(effector: Any) -> None:
    arm().seen(arm().rest, effector)


def recording() -> Markers:
    figure = arm()
    Q = figure.rest + np.linspace(0.0, 0.1, 6)[:, None]
    where = figure.marker_places(Q)
    where[2, 0] = np.nan
    return Markers(tuple(figure.markers), where, np.arange(6) / 50.0, Source("trc"), ["made up"])


def motion(shift: float = 0.0) -> Motion:
    return Motion(arm(), np.tile(arm().rest, (3, 1)) + shift, [0.0, 0.1, 0.2], errors=[0.0, np.nan, 1.0])


@cache
def tracked() -> supple.motion.Tracked:
    return supple.track(arm(), recording())


@cache
def subject() -> supple.motion.Subject:
    return supple.fit_subject(arm(), recording(), scales="whole", place=False, frames=3, steps=5)


@cache
def reached() -> supple.solving.Reach:
    return supple.reach(load("panda"), "panda_hand", x=(0.3, 0.6), y=0.0, z=(0.3, 0.6), spacing=0.3)


@cache
def listed() -> Any:
    """All postures of an arm for a pose, with the proof."""
    figure = load("ur5")
    target = figure.placement([0.3, -0.8, 0.7, 0.2, 0.9, 0.4], "tool0")
    return supple.solve_all(Problem(figure, [Task("tool0", Placed(target))]))


@cache
def proved() -> supple.Solution:
    figure = load("panda")
    target = figure.placement(figure.rest, "panda_hand_tcp") + np.eye(4, k=3) * 2.0
    return supple.solve(figure, {"panda_hand_tcp": supple.Placed(target)})


def walker(length: float = 0.4) -> Figure:
    legs = [
        joint
        for side, y in (("l", 0.1), ("r", -0.1))
        for joint in (
            *ball(f"thigh_{side}", "pelvis", "yxz", at=(0, y, 0), limits=[(-1, 1)] * 3),
            *hinge(f"shin_{side}", f"thigh_{side}", (0, 1, 0), at=(0, 0, -length), limits=(0, 2)),
            *fixed(f"foot_{side}", f"shin_{side}", at=(0, 0, -length)),
        )
    ]
    return Figure("walker", [*supple.free("pelvis", at=(0, 0, 2 * length)), *legs])


@cache
def retargeted() -> supple.motion.Retargeted:
    source = walker()
    Q = np.tile(source.rest, (4, 1)) + 0.02 * np.arange(4)[:, None]
    return supple.retarget(Motion(source, Q, np.arange(4) / 30.0), walker(0.5), plant=False)


def moment(position: Any = SPOT) -> supple.scene.SceneState:
    scene = supple.Scene(arm(), obstacles={"pole": Ball((1, 1, 1), 0.1)})
    scene.add("reach", "tool", At(SPOT))
    scene.drag("reach", position)
    return scene.now


def frames(tolerance: float = 1e-7) -> supple.motion.TrackedFrames:
    trial = recording()
    points = [*arm().markers.values()]
    return supple.OptimalTracking(tolerance=tolerance).track_frames(arm(), points, trial.positions)


def contact(z: float) -> Contact:
    return Contact([Task(Point("tool"), Within((0.4, 0.1, z), box=(0.1, 0.1, 0.0)))])


def room(side: float) -> FreeRegions:
    return FreeRegions.of(arm(), [Polytope.of(Box((-2, -2, -2), (side, 2, 2)))])


def parallelogram(loop: Loop) -> Figure:
    sides = [*hinge("a", None, at=(0, 0, 0)), *hinge("b", None, at=(1, 0, 0))]
    return Figure("loop", [*sides, *hinge("c", "a", at=(0, 1, 0))], loops=[loop])


def closing(x: float = 1.0) -> Loop:
    return Loop("closes", "c", "b", (x, 0, 0), (0, 1, 0), point=True)


def settings(cls: type, **other: Any) -> Row:
    """The row of a record of settings, which is used by solving with it."""
    return Row(cls, lambda: cls(**other), hash)


FAR = Ball((2, 2, 2), 0.1)
CURVE = ((0.0, 1.0, 2.0), (0.0, 0.5, 0.7))
BOX = Box((-1, -1, -1), (1, 1, 1), (0.5, 0, 0))
HEAP = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]

ROWS: dict[str, Row] = {
    # figures
    "Figure": Row(arm, lambda: arm(0.4), used_figure),
    "Joint": Row(lambda: hinge("a", None)[0], lambda: hinge("a", None, at=(0, 0, 1))[0], lambda joint: joint.key),
    "Loop": Row(closing, lambda: closing(1.5), lambda loop: supple.solve(parallelogram(loop), {"c": At((0, 1, 0))})),
    "Source": Row(lambda: Source("bvh", 0.01, "y"), lambda: Source("bvh", 0.02, "y")),
    "Limits": Row(
        lambda: Limits([0, -np.inf], [1, np.inf], A=[[1, 1]], b=[1]), lambda: Limits([0, 0], [1, 1]),
        lambda limits: (limits.project([3, 3]), limits.rows),
    ),
    "Linear": Row(lambda: Linear(2.0), lambda: Linear(3.0), lambda f: f(1.0)),
    "Spline": Row(lambda: Spline(*CURVE), lambda: Spline(*CURVE, ends="cubic"), lambda f: (f(0.5), f.steepest())),
    "PiecewisePolynomial": Row(
        lambda: PiecewisePolynomial([[0, 1, 2]]), lambda: PiecewisePolynomial([[0, 1, 3]]), lambda f: (f(0.5), f.pieces())
    ),
    "Drive": Row(lambda: mimic("a", 2.0), lambda: Drive.by({"a": Spline(*CURVE)}), lambda d: d.value({"a": 1.0})),
    "Coordinate": Row(lambda: Coordinate("bend", (0, 1)), lambda: Coordinate("bend", (0, 2))),
    "Group": Row(
        lambda: Group("g", [Coordinate("bend")], {"upper.x": mimic("bend")}),
        lambda: Group("g", [Coordinate("bend")], {"upper.x": mimic("bend", 2.0)}),
        lambda group: arm().grouped(group).rest,
    ),
    "LinearLimit": Row(lambda: LinearLimit.of({"a": 1.0}, 2.0), lambda: LinearLimit.of({"a": 1.0}, 3.0)),
    "MarkerSet": Row(
        lambda: marker_set("cmu41"), lambda: marker_set("helen hayes"), lambda s: load("human").with_marker_set(s)
    ),
    "Body": Row(lambda: Body(1.0, SPOT, [Ball(SPOT, 0.1)]), lambda: Body(2.0, SPOT)),
    "Ball": Row(lambda: Ball(SPOT, 0.1), lambda: Ball(OTHER, 0.1)),
    "Box": Row(lambda: BOX, lambda: Box((-1, -1, -1), (1, 1, 2), (0.5, 0, 0))),
    "Cylinder": Row(lambda: Cylinder(0.1, 1.0, SPOT), lambda: Cylinder(0.1, 1.0, OTHER)),
    "Capsule": Row(lambda: Capsule(0.1, 1.0, SPOT), lambda: Capsule(0.2, 1.0, SPOT)),
    "Hull": Row(lambda: Hull(HEAP, 0.1), lambda: Hull(HEAP)),
    "Mesh": Row(lambda: Mesh(HEAP, SPOT), lambda: Mesh(HEAP, OTHER)),
    "Moving": Row(lambda: Moving(BOX, SPOT), lambda: Moving(BOX, OTHER)),
    "Cloud": Row(lambda: Cloud(HEAP, 0.1), lambda: Cloud(HEAP, 0.2)),
    "Polytope": Row(lambda: Polytope.of(BOX), lambda: Polytope.half_space(SPOT, (0, 0, 1))),
    # effectors and goals
    "Point": Row(lambda: Point("tool", SPOT), lambda: Point("tool", OTHER), used_effector),
    "Direction": Row(lambda: Direction("tool", SPOT), lambda: Direction("fore", SPOT), used_effector),
    "Frame": Row(lambda: Frame("tool", SPOT), lambda: Frame("tool", OTHER), used_effector),
    "MassCentre": Row(MassCentre, lambda: Point("tool"), used_effector),
    "Gap": Row(lambda: Gap(Point("tool"), Frame("base")), lambda: Gap(Frame("base"), Point("tool")), used_effector),
    "At": Row(lambda: At(SPOT), lambda: At(OTHER), used_goal),
    "Facing": Row(lambda: Facing((0, 0, 1)), lambda: Facing(rpy=(0, 0, 1)), used_goal),
    "Placed": Row(lambda: Placed(SPOT, rpy=(0, 0.3, 0)), lambda: Placed(place(OTHER)), used_goal),
    "AimedAt": Row(lambda: AimedAt(SPOT), lambda: AimedAt(SPOT, per_radian=1.0), used_goal),
    "OnLine": Row(lambda: OnLine(SPOT, (0, 0, 1)), lambda: OnPlane(SPOT, (0, 0, 1)), used_goal),
    "OnPlane": Row(lambda: OnPlane(SPOT, (0, 0, 1)), lambda: OnPlane(OTHER, (0, 0, 1)), used_goal),
    "Beyond": Row(lambda: Beyond(SPOT, (0, 0, 1)), lambda: Beyond(SPOT, (0, 1, 1)), used_goal),
    "Within": Row(lambda: Within(SPOT, box=(0.1, 0.2, 0.3)), lambda: Within(SPOT, tilt=(0.1, 0.2, 0.3)), used_goal),
    "Aligned": Row(lambda: Aligned(SPOT, (0, 0, 1)), lambda: Aligned(SPOT, y=(0, 0, 1)), used_goal),
    "AnyOf": Row(lambda: AnyOf([At(SPOT), At(OTHER)]), lambda: AnyOf([At(OTHER), At(SPOT)]), used_goal),
    "Outside": Row(lambda: Outside(BOX, 0.1), lambda: Outside(BOX, 0.2), used_goal),
    "Near": Row(lambda: Near(np.zeros(5)), lambda: Near(np.ones(5)), used_goal),
    "Balanced": Row(lambda: Balanced([(0, 0), (1, 0), (0, 1)], 0.05), lambda: Balanced([(0, 0), (1, 0), (0, 1)]), used_goal),
    "Custom": Row(lambda: Custom(distance, SPOT), lambda: Custom(distance, OTHER), used_goal),
    "Miss": Row(lambda: Miss(0.1, 0.2), lambda: Miss(0.1, 0.3)),
    # problems
    "Task": Row(lambda: Task("tool", At(SPOT)), lambda: Task("tool", At(SPOT), weight=2.0), lambda t: t.alternatives),
    "Clearance": Row(lambda: Clearance(0.1, ignoring=[["a", "b"]]), lambda: Clearance(0.1)),
    "Problem": Row(lambda: problem(obstacles=[FAR]), lambda: problem(OTHER, obstacles=[FAR]), used_problem),
    "Evaluation": Row(lambda: problem().evaluate(np.ones(5)), lambda: problem(OTHER).evaluate(np.ones(5))),
    # what doors answer with
    "Solution": Row(lambda: supple.solve(problem()), lambda: supple.solve(problem(OTHER)), lambda s: (s.errors, s.report())),
    "Trace": Row(
        lambda: Trace(np.arange(3), np.ones(3)), lambda: Trace(np.arange(3), np.zeros(3)), lambda t: t.later(1)
    ),
    "Decision": Row(lambda: supple.problem.Decision(3, 0.1, 0.2), lambda: supple.problem.Decision(4, 0.1, 0.2)),
    "Solutions": Row(lambda: many(SPOT), lambda: many(OTHER), lambda s: (s.errors, s.status, s[0].report())),
    "Path": Row(lambda: followed(SPOT), lambda: followed(OTHER), lambda s: (s.errors, s.flips, s[1].reason)),
    "Moment": Row(
        lambda: supple.solving.Moment(np.ones(2), np.zeros(2)),
        lambda: supple.solving.Moment(np.ones(2), np.ones(2)),
    ),
    "Servo": Row(
        lambda: supple.solving.Servo(boxed(), 0.01),
        lambda: supple.solving.Servo(boxed(), 0.01, rate=3.0),
        lambda servo: servo(servo.problem.figure.rest),
    ),
    "Twist": Row(lambda: supple.solving.Twist((1, 0, 0)), lambda: supple.solving.Twist((1, 0, 1))),
    "Query": Row(lambda: supple.prepare(one_task()), lambda: supple.prepare(one_task(), seed=1), lambda query: query(SPOT)),
    # scenes
    "SceneState": Row(moment, lambda: moment(OTHER), lambda now: (now.constraints, now.setup.needed)),
    "Touch": Row(lambda: Touch("a", "b", 0.1), lambda: Touch("a", "b", 0.2)),
    # motions
    "Markers": Row(recording, lambda: recording().only(["tip"]), lambda m: (m.rate, m.seen)),
    "Motion": Row(motion, lambda: motion(0.01), lambda m: m.frames(0, 2)),
    "Tracked": Row(lambda: dataclasses.replace(tracked()), lambda: tracked().frames(0, 2), lambda m: (m.table(), m.worst())),
    "TrackedFrames": Row(frames, lambda: frames(1e-3)),
    "Subject": Row(
        lambda: dataclasses.replace(subject()), lambda: dataclasses.replace(subject(), steps=9), lambda s: s.table()
    ),
    "Retargeted": Row(
        lambda: dataclasses.replace(retargeted()), lambda: dataclasses.replace(retargeted(), q=retargeted().q + 0.1),
        lambda m: m.report.text(),
    ),
    "Match": Row(lambda: Match([("a", "b")], ["name"]), lambda: Match([("a", "c")]), lambda m: m.text()),
    "Held": Row(lambda: Held(Point("tool"), SPOT), lambda: Held(Point("tool"), OTHER), lambda h: h.targets(3)),
    "DrivenAngle": Row(lambda: DrivenAngle("fore", [0.1, np.nan]), lambda: DrivenAngle("fore", [0.2, np.nan])),
    "Natural": Row(lambda: Natural(arm(), ["fore"]), lambda: Natural(arm()), lambda n: n.from_posture(arm().rest)),
    "Reach": Row(
        lambda: dataclasses.replace(reached()), lambda: dataclasses.replace(reached(), segment="panda_link7"),
        lambda r: (r.positions, r.status, r.counts),
    ),
    "Certificate": Row(
        lambda: proved().certificate, lambda: dataclasses.replace(proved().certificate, limits=None),
        lambda c: (c.verify(), c.explain(), c.to_json()),
    ),
    "Certificates": Row(
        lambda: Certificates((proved().certificate,)), lambda: Certificates(()), lambda c: (c.verify(), c.to_json())
    ),
    # archives
    "Track": Row(lambda: cluster.Track("a.osim"), lambda: cluster.Track("b.osim")),
    "Retarget": Row(lambda: cluster.Retarget("jack"), lambda: cluster.Retarget("jack", free=False)),
    "Stored": Row(lambda: cluster.Stored("out", {"SOLVED": 3}), lambda: cluster.Stored("out", {"SOLVED": 4})),
    "Fit": Row(lambda: cluster.Fit("subject.osim"), lambda: cluster.Fit("subject.osim", mass=70.0)),
    "Convert": Row(lambda: cluster.Convert(".mot"), lambda: cluster.Convert(".bvh")),
    "Told": Row(lambda: cluster.Told(True, "", {"frames": 3}), lambda: cluster.Told(True, "", {"frames": 4})),
    "Entry": Row(lambda: cluster.Entry("a", "b", "good"), lambda: cluster.Entry("a", "", "failed"), lambda e: e.line()),
    "Archive": Row(
        lambda: cluster.Archive(File("out"), [cluster.Entry("a", "b", "good")]), lambda: cluster.Archive(File("out"), []),
        lambda a: (a.ok, a.counts),
    ),
    "Completeness": Row(
        lambda: listed().certificate, lambda: dataclasses.replace(listed().certificate, limits=None),
        lambda c: (c.verify(), c.explain(), c.to_json(), c.coordinates),
    ),
    "Curve": Row(
        lambda: supple.solving.Curve(np.zeros((2, 7)), np.array([0.0, 1.0]), False),
        lambda: supple.solving.Curve(np.zeros((2, 7)), np.array([0.0, 1.0]), True),
        lambda c: (len(c), c.length),
    ),
    "AllSolutions": Row(listed, lambda: dataclasses.replace(listed(), why="another reason"), lambda a: len(a)),
    # solvers
    "Continuity": Row(lambda: Continuity(np.zeros(5), 0.1), lambda: Continuity(np.zeros(5), 0.2)),
    "Contact": Row(lambda: contact(0.5), lambda: contact(0.6), lambda rows: rows.keep(problem())),
    "AllOf": Row(lambda: AllOf([contact(0.5)]), lambda: AllOf([contact(0.6)]), lambda t: t.variables),
    "FreeRegions": Row(lambda: room(2.0), lambda: room(3.0), lambda r: (r.fits, r.variables)),
    "LevenbergMarquardt": settings(supple.LevenbergMarquardt, attempts=3),
    "Multistart": settings(supple.Multistart, attempts=3),
    "PreferredClearance": settings(supple.solvers.PreferredClearance, rungs=3),
    "Decide": settings(supple.Decide, boxes=3),
    "RankOne": Row(supple.RankOne, lambda: supple.RankOne(rows=contact(0.5)), hash),
    "Newton": settings(supple.Newton, steps=3),
    "ActiveSet": settings(supple.ActiveSet, steps=3),
    "ProjectedGradient": settings(supple.ProjectedGradient, steps=3),
    "JacobianTranspose": settings(supple.JacobianTranspose, steps=3),
    "FixedStep": Row(lambda: supple.solvers.FixedStep(0.1), lambda: supple.solvers.FixedStep(0.2), hash),
    "FittedStep": Row(supple.solvers.FittedStep, supple.solvers.CautiousStep, hash),
    "CautiousStep": Row(supple.solvers.CautiousStep, supple.solvers.FittedStep, hash),
    "DampedLeastSquares": settings(supple.solvers.DampedLeastSquares, steps=3),
    "PseudoInverse": settings(supple.PseudoInverse, steps=3),
    "CyclicCoordinateDescent": settings(supple.CyclicCoordinateDescent, steps=3),
    "Fabrik": settings(supple.Fabrik, steps=3),
    "OptimalTracking": settings(supple.OptimalTracking, iterations=3),
    "FrameByFrame": settings(supple.motion.FrameByFrame, steps=3),
    "WholeClip": settings(supple.motion.WholeClip, steps=3),
}  # fmt: skip

ERRORS: dict[str, Callable[[], Exception]] = {
    "Error": lambda: supple.Error("one"),
    "BadValue": lambda: supple.BadValue("one"),
    "UnknownName": lambda: supple.UnknownName("one"),
    "BadFile": lambda: supple.BadFile("broken", file="a.urdf", line=3),
    "Refused": lambda: supple.Refused("one"),
    "MissingExtra": lambda: supple.MissingExtra("clarabel", "convex", "a proof"),
    "Interrupted": lambda: supple.Interrupted("interrupted after 1 of 2 targets", 1, 2),
}
CHANGING = {"Scene"}  # it equals only itself
NESTED: dict[str, Row] = {  # what public values hold
    "Origin": Row(lambda: Origin("panda", False, {"a": [1]}), lambda: Origin("ur5", False, {"a": [1]})),
    "Setup": Row(lambda: moment().setup, lambda: supple.Scene(arm()).now.setup, lambda s: (s.enabled, s.needed)),
    "Report": Row(lambda: retargeted().report, lambda: dataclasses.replace(retargeted().report, phases=9), lambda r: r.text()),
    "Clear": Row(
        lambda: problem(obstacles=[Ball((2, 2, 2), 0.1)]).clear[0].goal,
        lambda: problem(obstacles=[Ball((2, 2, 3), 0.1)]).clear[0].goal, lambda goal: goal.segments,
    ),
}  # fmt: skip
ALL = {**ROWS, **NESTED}
each = pytest.mark.parametrize("name", ALL)


@cache
def used(name: str) -> Any:
    """An instance of a class that has been used."""
    one = ALL[name].make()
    ALL[name].use(one)
    hash(one)
    return one


def replaced(one: Any) -> Any:
    return one._replace() if isinstance(one, tuple) else dataclasses.replace(one)


def inside(thing: Any) -> Iterator[Any]:
    """Arrays and mappings that a value is made of."""
    if isinstance(thing, np.ndarray):
        yield thing
    elif isinstance(thing, Mapping):
        yield thing
        for one in thing.values():
            yield from inside(one)
    elif isinstance(thing, tuple | list):
        for one in thing:
            yield from inside(one)
    elif dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        for field in dataclasses.fields(thing):
            yield from inside(getattr(thing, field.name) if field.compare else None)


WAYS: dict[str, Callable[[Any], Any]] = {
    **{f"pickle {k}": (lambda one, k=k: pickle.loads(pickle.dumps(one, k))) for k in (2, pickle.HIGHEST_PROTOCOL)},
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "replace": replaced,
}


def test_every_public_class_has_a_row():
    classes = {name for name, thing in PUBLIC.items() if isinstance(thing, type)}
    plain = {name for name in classes if issubclass(PUBLIC[name], enum.Enum)}
    assert classes - plain - set(ERRORS) - CHANGING == set(ROWS)


@each
def test_equal_by_content(name):
    row, one = ALL[name], used(name)
    fresh, other = row.make(), row.other()
    assert one == fresh
    assert fresh == one
    assert hash(one) == hash(fresh)
    assert one != other
    assert other != one
    assert one != "something else"
    assert len({one, fresh, other}) == 2


@each
@pytest.mark.parametrize("way", WAYS)
def test_whole_after_every_way(name, way):
    for one in (ALL[name].make(), used(name)):
        again = WAYS[way](one)
        assert type(again) is type(one)
        assert again == one
        assert hash(again) == hash(one)
        assert repr(again) == repr(one)
        ALL[name].use(again)


@each
def test_what_was_worked_out_is_not_pickled(name):
    one = ALL[name].make()
    before = pickle.dumps(one)
    ALL[name].use(one)
    assert pickle.dumps(one) == before


@each
def test_never_changes(name):
    for one in (used(name), pickle.loads(pickle.dumps(used(name))), copy.deepcopy(used(name))):
        for thing in inside(one):
            if isinstance(thing, np.ndarray):
                assert not thing.flags.writeable
            else:
                with pytest.raises(TypeError, match="never changes"):
                    thing["x"] = 1  # pyright: ignore
        if dataclasses.is_dataclass(one):
            for field in dataclasses.fields(one):
                with pytest.raises(AttributeError):
                    setattr(one, field.name, None)


@each
def test_shown_in_a_few_words(name):
    text = repr(used(name))
    assert type(used(name)).__name__ in text
    assert " at 0x" not in text
    assert "\n" not in text
    assert len(text) <= LONGEST


@pytest.mark.parametrize("name", ERRORS)
def test_errors_come_back_as_they_were(name):
    error = ERRORS[name]()
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)


def test_status_is_the_same_object_after_a_pickle():
    assert all(pickle.loads(pickle.dumps(status)) is status for status in supple.Status)


# ── what equality means ──────────────────────────────────────────────────────────────────────────────────────────────
def test_numbers_are_compared_as_numbers():
    assert At((0.0, 1.0, 2.0)) == At((-0.0, 1.0, 2.0))
    assert hash(At((0.0, 1.0, 2.0))) == hash(At((-0.0, 1.0, 2.0)))
    nans = [np.array([1.0, np.nan]), np.array([1.0, -np.nan])]
    assert same(*nans)
    assert hash_of(nans[0]) == hash_of(nans[1])
    assert not same(np.zeros(2), np.zeros(2, dtype=int))
    assert not same(np.zeros(2), (0.0, 0.0))
    assert At((0, 1, 2)) == At([0.0, 1.0, 2.0]) != At((0, 1, np.nextafter(2.0, 3.0)))


def test_of_mappings_the_order_counts():
    """It is the order of the rows of `marker_places`."""
    figure = Figure("one", hinge("a", None), markers={"m": Point("a"), "n": Point("a", SPOT)})
    turned = Figure("one", hinge("a", None), markers={"n": Point("a", SPOT), "m": Point("a")})
    assert figure != turned
    assert figure.bodies == {}
    assert dict(figure.markers) == dict(turned.markers)


def test_where_a_figure_was_loaded_from_is_kept_but_does_not_make_it_another(tmp_path):
    written = tmp_path / "panda.urdf"
    supple.write(load("panda"), written)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "panda.urdf").write_bytes(written.read_bytes())
    one, two = load(written), load(tmp_path / "more" / "panda.urdf")
    assert one == two
    assert one.origin != two.origin
    assert pickle.loads(pickle.dumps(one)).origin == one.origin
    assert one.with_solids({}).origin == one.origin
    assert one.renamed("x").origin is None
    assert dataclasses.replace(one).origin is None


def test_what_is_given_is_copied():
    q, spot, bodies = np.zeros(5), np.array(SPOT), {"upper": Body(1.0)}
    row, goal, figure = Continuity(q, 0.1), At(spot), dataclasses.replace(arm(), bodies=bodies)
    hashes = [hash(row), hash(goal), hash(figure)]
    q[0], spot[0] = 1.0, 9.0
    bodies["fore"] = Body(2.0)
    assert (row, goal, figure) == (
        Continuity(np.zeros(5), 0.1),
        At(SPOT),
        dataclasses.replace(arm(), bodies={"upper": Body(1.0)}),
    )
    assert hashes == [hash(row), hash(goal), hash(figure)]
    assert q.flags.writeable


def test_a_view_of_numbers_that_others_can_write_is_copied():
    numbers = np.zeros(5)
    view = numbers[:]
    view.setflags(write=False)
    row = Continuity(view, 0.1)
    numbers[0] = 1.0
    assert row.q[0] == 0.0


def test_what_a_figure_hands_out_cannot_be_changed():
    figure = arm()
    for mapping in (figure.bodies, figure.solids, figure.markers, figure.joint_of, figure.bars):
        for change in (
            lambda m: m.__setitem__("x", 1), lambda m: m.pop("upper", 0), lambda m: m.update(x=1), lambda m: m.clear(),
            lambda m: m.setdefault("x", 1), lambda m: m.__ior__({"x": 1}), lambda m: m.popitem(), lambda m: m.__delitem__("x"),
        ):  # fmt: skip
            with pytest.raises(TypeError, match="never changes"):
                change(mapping)
        again = pickle.loads(pickle.dumps(mapping))
        assert type(again) is FrozenDict
        assert again == mapping
    tables = [
        *figure.packed.tables.values(),
        figure.rest,
        figure.lower,
        figure.upper,
        figure.speed,
        figure.turning,
    ]
    one = problem()
    tables += [*one.packed, one.moved, one.free, one.rigidity, *one.limits.rows[1:]]
    assert not any(table.flags.writeable for table in tables)


def test_what_is_true_of_other_targets_is_not_carried_over():
    """A problem with other targets equals the one that is built with them, whatever was worked out before."""
    one = problem(obstacles=[Ball((2, 2, 2), 0.1)])
    used_problem(one)
    hash(one)
    moved, built = one.aimed(OTHER, None), problem(OTHER, obstacles=[Ball((2, 2, 2), 0.1)])
    assert moved == built != one
    assert hash(moved) == hash(built)
    used_problem(built)
    for name in vars(built):
        if not name.startswith("_") and name not in ("figure",):
            assert same(getattr(moved, name), getattr(built, name)), name
    assert pickle.loads(pickle.dumps(moved)) == built
    assert dataclasses.replace(moved) == built
    assert supple.solve(moved).q.tobytes() == supple.solve(built).q.tobytes()


def test_a_problem_in_other_charts_is_a_value_too():
    from supple.solvers.recentring import Recentred

    figure = Figure("ball", [*ball("a", None), *fixed("tip", "a", (0, 0, 1))])
    stated, steep = Problem(figure, [Task("tip", At((0.6, 0.0, 0.8)))]), np.array([0.3, np.pi / 2, 0.1])
    one, q = Recentred.at(stated, steep, steep)
    two, _ = Recentred.at(stated, steep, steep)
    assert one == two != stated
    assert one.figure != figure
    again = pickle.loads(pickle.dumps(one))
    assert again == one
    assert again.value(q) == one.value(q)
    aimed = one.aimed((0.0, 0.6, 0.8))
    assert aimed.misses(q) == stated.aimed((0.0, 0.6, 0.8)).misses(one.home(q)) != one.misses(q)
    assert aimed.value(q) != one.value(q)


def test_loops_close_as_nearly_as_a_problem_says():
    figure, near = parallelogram(closing()), 1e-11
    one = Problem(figure, [], loop_tolerance=near)
    assert [(task.tolerance, task.angle_tolerance) for task in one.loops] == [(near, near)]
    assert one != Problem(figure, [])
    assert pickle.loads(pickle.dumps(one)).loops == one.loops
    assert one.aimed().loops == one.loops


# ── functions, scenes ────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_function_that_has_no_name_elsewhere_is_refused_by_name():
    def local(a, x, g, H):
        return 0.0

    for goal in (Custom(local), Custom(lambda a, x, g, H: 0.0)):
        name = goal.function.__qualname__.replace("<", ".").replace(">", ".")
        with pytest.raises(supple.Error, match=f"{name}.*numba.njit"):
            pickle.dumps(Problem(arm(), [Task("tool", goal)]))
        assert copy.deepcopy(Problem(arm(), [Task("tool", goal)])).tasks[0].goal == goal


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")  # pyright: ignore
def test_a_compiled_function_goes_through_a_pickle():
    compiled = numba.njit(distance)
    goal = Custom(compiled, SPOT)
    again = pickle.loads(pickle.dumps(goal))
    assert again == goal
    assert again.miss(place(OTHER)) == goal.miss(place(OTHER))


def test_a_scene_is_copied_with_its_history():
    scene = supple.Scene(arm(), obstacles={"pole": Ball((2, 2, 2), 0.1)})
    scene.add("reach", "tool", At(SPOT))
    scene.solve()
    scene.drag("reach", OTHER)
    scene.stiffen({"fore": 0.5})
    scene.undo()
    for again in (pickle.loads(pickle.dumps(scene)), copy.deepcopy(scene), copy.copy(scene)):
        assert again != scene
        assert (again.figure, again.now, again.history, again.undone) == (
            scene.figure,
            scene.now,
            scene.history,
            scene.undone,
        )
        assert (again.chains, again.touching, again.problem) == (scene.chains, scene.touching, scene.problem)
        again.redo()
        assert again.rigidity == {"fore": 0.5}
        assert scene.rigidity == {}
        again.undo()
        assert (
            again.drag("reach", SPOT).q.tobytes() == pickle.loads(pickle.dumps(scene)).drag("reach", SPOT).q.tobytes()
        )
        assert scene.now != again.now
    assert " at 0x" not in repr(scene)


# ── other processes and threads ──────────────────────────────────────────────────────────────────────────────────────
SENT = tuple(name for name in ALL if name not in ("Subject", "Retargeted", "Reach", "Report"))


def answers(asked: Problem) -> list[bytes]:
    """The postures of a problem by several doors, bit for bit."""
    moved = asked.aimed(OTHER, None)
    return [
        supple.solve(asked).q.tobytes(),
        supple.solve(asked.figure, {"tool": At(SPOT)}).q.tobytes(),
        supple.prepare(moved)().q.tobytes(),
        supple.solve(moved, solver=supple.Newton()).q.tobytes(),
        supple.step(Problem(load("panda"), [Task("panda_hand", At(SPOT))]), load("panda").rest, 0.01).tobytes(),
    ]


def elsewhere(asked: Problem, values: dict[str, Any]) -> tuple[list[bytes], dict[str, Any], bool, dict[str, int]]:
    """What another process makes of a problem and of values: answers, the values used and sent back, and whether all is equal.

    Last is how often each entry was compiled: once, unless arrays of another type have come to it.
    """
    for name, one in values.items():
        ALL[name].use(one)
    equal = all(one == ALL[name].make() and hash(one) == hash(ALL[name].make()) for name, one in values.items())
    found = answers(asked)
    again = pickle.loads(pickle.dumps(asked))
    equal = equal and answers(again) == found
    modules = [module for name, module in sys.modules.items() if name.startswith("supple.")]
    entries = [e for module in modules for name, e in vars(module).items() if name.endswith("_entry")]
    entries += [plain_search_entry, plain_step_entry()]
    return found, values, equal, {e.__name__: len(e.overloads) for e in entries if getattr(e, "overloads", None)}


@cache
def here() -> tuple[list[bytes], dict[str, Any]]:
    return answers(problem()), {name: used(name) for name in SENT}


def check(told: tuple[list[bytes], dict[str, Any], bool, Any]) -> None:
    found, values, equal, _ = told
    assert found == here()[0]
    assert values == here()[1]
    assert equal


def test_spawned_processes_answer_alike():
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        told = pool.submit(elsewhere, problem(), here()[1]).result()
    check(told)
    assert {"newton_entry", "plain_step_entry", "hessian_entry", "worlds_entry"} <= told[3].keys()
    assert {"search_entry", "plain_search_entry"} & told[3].keys()
    assert set(told[3].values()) == {1}, told[3]


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
def test_forked_processes_answer_alike():
    answers(problem())
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        check(pool.submit(elsewhere, problem(), here()[1]).result())


def test_joblib_answers_alike():
    joblib = pytest.importorskip("joblib")
    (told,) = joblib.Parallel(n_jobs=2)([joblib.delayed(elsewhere)(problem(), here()[1])])
    check(told)


def test_threads_answer_alike():
    one, found = problem(), here()[0]
    figure = one.figure
    gate = threading.Barrier(8)

    def work(k: int) -> tuple[list[bytes], int]:
        gate.wait()
        mine = one if k % 2 else problem()
        return answers(mine), hash(mine)

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(work, range(8)))
    assert all(bits == found for bits, _ in told)
    assert {number for _, number in told} == {hash(one)}
    assert figure == arm()


def test_a_file_of_pickles_is_read_by_a_process_that_has_made_none():
    with tempfile.TemporaryDirectory() as folder:
        file = File(folder) / "values.pickle"
        file.write_bytes(pickle.dumps([used(name) for name in SENT]))
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            assert pool.submit(read, str(file)).result() == [repr(used(name)) for name in SENT]


def read(file: str) -> list[str]:
    """What is in a file of pickles."""
    return [repr(one) for one in pickle.loads(File(file).read_bytes())]
