"""The table of `test_zoo`: for every public callable how it is called rightly, and which animals are right for an argument."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from unittest import mock

import numpy as np

import supple
from supple import At, Ball, Box, Point, Task, cluster, figure, geometry, motion, problem, solvers
from supple.figure.marker_sets import Landmark
from supple.problem.allowance import FREELY
from supple.solvers import rank_one
from supple.solvers.base import UNASKED
from tests.tables.zoo import (
    COUNT,
    EMPTY,
    ENDLESS,
    FLAG,
    FUNCTION,
    MAPPING,
    NAME,
    NAME_OR_NONE,
    NEVER,
    NONE,
    NOT_NEGATIVE,
    NUMBER,
    PAIR,
    POSITIVE,
    SHARE,
    TEXT,
    WHOLE,
    Kind,
    kind,
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A call, and for each argument a right value (or what makes one) and the animals that are right too."""

    call: Callable[..., Any]
    cells: dict[str, tuple[Any, Kind]]
    bare: frozenset[str] = frozenset()  # arguments whose right value is a function itself


def row(call: Callable[..., Any], /, bare: tuple[str, ...] = (), **cells: tuple[Any, Kind]) -> Row:
    return Row(call, cells, frozenset(bare))


def method(make: Callable[[], Any], called: str, /, **cells: tuple[Any, Kind]) -> Row:
    """A row for a method, each time of a new object."""
    return Row(lambda **arguments: getattr(make(), called)(**arguments), cells)


# Records that the library makes and hands out; nothing takes them.
RESULTS = frozenset(
    [
        "AllSolutions",
        "Archive",
        "Certificate",
        "Certificates",
        "Completeness",
        "Decision",
        "Entry",
        "Entry.line",
        "Evaluation",
        "Miss",
        "Moment",
        "SceneState",
        "Path",
        "Reach",
        "Retargeted",
        "Solution",
        "Solutions",
        "Subject",
        "Told",
        "Touch",
        "Trace",
        "Tracked",
        "TrackedFrames",
        "Trace.joined",
        "Trace.later",
    ]
)
SOLVERS = [
    "ActiveSet", "CyclicCoordinateDescent", "DampedLeastSquares", "Decide", "Fabrik", "JacobianTranspose",
    "LevenbergMarquardt", "Multistart", "Newton", "ProjectedGradient", "PseudoInverse", "RankOne", "PreferredClearance",
]  # fmt: skip
GOALS = [
    "AimedAt", "Aligned", "AnyOf", "At", "Beyond", "Custom", "Facing", "Near", "OnLine", "OnPlane", "Outside", "Balanced",
    "Placed", "Within",
]  # fmt: skip
# Methods that the library calls, with what it has checked itself.
LIBRARY = (
    dict.fromkeys(SOLVERS, ("refuse", "solve"))
    | dict.fromkeys(GOALS, ("miss",))
    | dict.fromkeys(("Continuity", "AllOf", "Contact"), ("cones", "keep", "push"))
    | {
        "RankOne": ("refuse", "solve", "relaxation", "search"),
        "FreeRegions": ("cones", "keep", "push", "shares"),
        "OptimalTracking": ("tracked",),
        "FrameByFrame": ("first", "fit", "refusals", "settings"),
        "WholeClip": ("fit",),
        "Figure": ("by_coordinate", "check_segment"),
        "Near": ("miss", "miss_of", "check_figure"),
        "Query": ("told",),
        "Twist": ("moved",),
        **dict.fromkeys(("Linear", "PiecewisePolynomial", "Spline"), ("stretched",)),
        "Trace": ("later", "joined"),
    }
)

# ── what is right ────────────────────────────────────────────────────────────────────────────────────────────────────
ORIGIN, UP = (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)
REST = [0.1, 0.2]
SQUARE = ((0, 0), (1, 0), (1, 1), (0, 1))
BOX = Box((0, 0, 0), (1, 1, 1))
BALLS = {"b": (Ball((0.5, 0, 0), 0.1),)}
ARM = PAIR.with_solids(BALLS).with_markers(
    {"m": ("a", (0.5, 0, 0)), "n": ("b", (0.5, 0.1, 0)), "o": ("b", (0.2, 0, 0.1))}
)
LEG = supple.Figure("leg", [*supple.hinge("c", None)])
LIMITS = supple.Limits([-1, -1], [1, 1])
ROWED = supple.Limits([-1, -1], [1, 1], A=[[1, 1]], b=[1])
TASK = Task(Point("b", (1, 0, 0)), At((1.5, 0.5, 0)))
PROBLEM = supple.Problem(ARM, [TASK])
QUERY = supple.prepare(PROBLEM)
SERVO = supple.solving.Servo(PROBLEM, 0.1)
TARGETS = np.array([[1.5, 0.5, 0.0], [1.4, 0.6, 0.0]])
TIMES = (0.0, 0.1)
WAY = np.array([[0.1, 0.2], [0.15, 0.25]])
SEEN = ARM.marker_places(np.array([[0.1, 0.2], [0.15, 0.25]]))
MARKERS = supple.Markers(("m", "n", "o"), SEEN, TIMES)
LONG = supple.Markers(("m",), np.zeros((40, 1, 3)), np.arange(40) * 0.01)
MOTION = supple.Motion(ARM, WAY, TIMES)
BIPED = supple.Figure("biped", [*supple.free("pelvis"), *(
    joint for side, y in (("l", 0.1), ("r", -0.1)) for joint in (
        *supple.hinge(f"thigh_{side}", "pelvis", (0, 1, 0), at=(0, y, 0)),
        *supple.hinge(f"shank_{side}", f"thigh_{side}", (0, 1, 0), at=(0, 0, -0.4)),
        *supple.hinge(f"foot_{side}", f"shank_{side}", (0, 1, 0), at=(0, 0, -0.4)),
        *supple.fixed(f"toes_{side}", f"foot_{side}", at=(0.2, 0, -0.05))))])  # fmt: skip
STEPPING = supple.Motion(BIPED, np.tile(BIPED.rest, (2, 1)), TIMES)
PIECES = figure.PiecewisePolynomial(((0, 0, 1),))
LINE = figure.Linear(2.0)
DRIVE = supple.mimic("a")
CUSTOM = supple.Custom(lambda a, x, g, H: 0.0, (1.0, 2.0))
GROUP = figure.Group("g", (figure.Coordinate("c", (-1, 1)),), {"a": figure.Drive.by({"c": 1.0})})
NATURAL = motion.Natural(PAIR)
X = NATURAL.from_posture(REST)
SET = figure.marker_set("cmu41")
ROOM = supple.Polytope.of(Box((-3, -3, -3), (3, 3, 3)))
HEAP = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
MESH = NamedTemporaryFile(suffix=".off")  # noqa: SIM115 (it is there as long as the rows are)
MESH.write(b"OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n")
MESH.flush()
ROOMS = rank_one.FreeRegions.of(ARM, [ROOM])
TOUCH = Task(Point("b"), supple.Within(box=1.0))
PROOF = supple.solve(PAIR, {"b": At((9.0, 0.0, 0.0))}, solver=supple.Decide()).certificate
PROOFS = supple.proofs.Certificates((PROOF,))

UR5 = supple.load("ur5")
POSED = supple.Problem(UR5, [Task("tool0", supple.Placed(UR5.placement([0.3, -0.8, 0.7, 0.2, 0.9, 0.4], "tool0")))])
LISTED: Any = supple.solve_all(POSED).certificate


CONVERT = cluster.Convert(".bvh", reading={"figure": PAIR})


def unspread(**arguments: Any) -> Any:
    """`supple.cluster.map`, but no process is begun and no folder made."""
    with (
        mock.patch(
            "supple.cluster.archive._Run.do", lambda run, client, todo: run.known.update({p.source: p for p in todo})
        ),
        mock.patch("supple.cluster.archive.connected", mock.MagicMock()),
        mock.patch("pathlib.Path.mkdir"),
    ):
        return cluster.map(**arguments)


def unstored(**arguments: Any) -> Any:
    """`supple.cluster.solve_stored`, but no process is begun."""
    with (
        mock.patch("supple.cluster.stored._run", mock.MagicMock()),
        mock.patch("supple.cluster.stored.connected", mock.MagicMock()),
        mock.patch("supple.cluster.stored._Source", mock.MagicMock()),
    ):
        return cluster.solve_stored(**arguments)


def unwarmed(**arguments: Any) -> Any:
    """`supple.warm`, but nothing is compiled."""
    with (
        mock.patch("supple.cli.warm.calls", return_value=[]),
        mock.patch("supple.cli.warm.compile_missing", return_value={}),
    ):
        return supple.warm(**arguments)


FOLDER = Path(tempfile.mkdtemp(prefix="zoo"))
for ending in (".urdf", ".bvh"):
    supple.write(PAIR, FOLDER / f"pair{ending}")
supple.write(supple.Motion(PAIR, WAY, TIMES), FOLDER / "pair.mot")
supple.write(MARKERS, FOLDER / "m.trc")
supple.write(MARKERS, FOLDER / "m.c3d")
supple.write(supple.Scene(supple.load("ur5")), FOLDER / "s.toml")


def scene() -> supple.Scene:
    made = supple.Scene(ARM, REST, constraints=[Task(Point("b"), At((1, 0, 0)), name="hand")], obstacles={"box": FAR})
    return made


MOVING = {
    "Motion": lambda: MOTION,
    "Tracked": lambda: TRACKED,
    "Retargeted": lambda: RETARGETED,
}
TRACKED = supple.track(ARM, MARKERS)
RETARGETED = supple.retarget(STEPPING, BIPED, plant=False)
FAR = Box((8, 8, 8), (9, 9, 9))
TWO = np.array([0.1, -0.2])
BRIDGE: Any = {"others": (None, NONE), "names": (None, NONE | kind("{}"))}
BRIDGE_BACK: Any = {
    "near": (None, NONE | MAPPING), "names": (None, NONE | kind("{}")),
    "slack": (1e-6, NOT_NEGATIVE),
}  # fmt: skip


LINKS = "".join(f"<link name='{name}'/>" for name in "abc")
HINGE = "<joint name='{0}' type='revolute'><parent link='{1}'/><child link='{2}'/><axis xyz='0 0 1'/>{3}</joint>"
RANGE = "<limit lower='-1' upper='1' effort='1' velocity='1'/>"
URDF = f"<robot name='arm'>{LINKS}{HINGE.format('p', 'a', 'b', RANGE)}{HINGE.format('q', 'b', 'c', RANGE)}</robot>"
INNER = "<body name='c'><joint name='q'/><geom size='1'/></body>"
MJCF = f"<mujoco><worldbody><body name='b'><joint name='p'/><geom size='1'/>{INNER}</body></worldbody></mujoco>"


@cache
def of_pinocchio() -> Any:
    """An arm of two hinges, as Pinocchio has it."""
    return import_module("pinocchio").buildModelFromXML(URDF)


@cache
def of_mujoco() -> Any:
    """The same, as MuJoCo has it."""
    return import_module("mujoco").MjModel.from_xml_string(MJCF)


POSTURE = MAPPING  # numbers by name
STARTS = POSTURE | NONE
DEADLINE = (None, ENDLESS | NONE)
VECTOR = NEVER
PLACE = NEVER
FIGURE = kind("figure")
TEXTS = EMPTY | kind("texts", "numbers in words", "generator")
BUDGET = COUNT | NONE | kind("0-d", "inf")  # no end is no budget
SOLVER = (None, NONE)
SEED = (0, WHOLE)
WEIGHTED = (1.0, POSITIVE)
RELATIVE = (None, NAME_OR_NONE)
STEPS = (10, WHOLE)
TOLERANCE = (1e-9, NOT_NEGATIVE)
JOINT = {"name": ("j", NAME), "parent": (None, NAME_OR_NONE), "at": (ORIGIN, PLACE)}
SEGMENT = (None, NAME_OR_NONE)
AXIS = (UP, VECTOR)
RANGE = ((-1, 1), NEVER)
RANGES = (None, NONE)
REACH = kind("None", "0", "half", "0-d")

ROWS: dict[str, Row] = {
    # ── places ──
    "place": row(supple.place, position=(ORIGIN, VECTOR), turn=(None, NONE), quat_wxyz=(None, NONE), matrix=(None, NONE)),
    "place(quat_xyzw)": row(supple.place, quat_xyzw=((0, 0, 0, 1), NONE)),
    "place(rpy)": row(supple.place, rpy=(ORIGIN, NONE)),
    # ── joints ──
    "Joint": row(supple.Joint, **JOINT, turn=(UP, VECTOR), slide=(ORIGIN, VECTOR), limits=RANGE, segment=SEGMENT,
                 rest=(0.0, NUMBER), speed=(1.0, ENDLESS), drive=(None, NONE)),
    "fixed": row(supple.fixed, **JOINT),
    "hinge": row(supple.hinge, **JOINT, axis=AXIS, limits=RANGE, segment=SEGMENT, rest=(0.0, NUMBER), speed=(1.0, ENDLESS),
                 drive=(None, NONE)),
    "slide": row(supple.slide, **JOINT, axis=AXIS, limits=RANGE, segment=SEGMENT),
    "screw": row(supple.screw, **JOINT, axis=AXIS, pitch=(0.1, NUMBER), limits=RANGE, segment=SEGMENT),
    "universal": row(supple.universal, **JOINT, order=("xy", NEVER), limits=RANGES, segment=SEGMENT, rest=RANGES),
    "ball": row(supple.ball, **JOINT, order=("zyx", NEVER), limits=RANGES, segment=SEGMENT, rest=RANGES),
    "planar": row(figure.planar, **JOINT, limits=RANGES, segment=SEGMENT, rest=RANGES),
    "free": row(supple.free, **JOINT, order=("zyx", NEVER), limits=RANGES, segment=SEGMENT, rest=RANGES),
    # ── drives ──
    "Linear": row(figure.Linear, slope=(1.0, NUMBER)),
    "Linear.span": method(lambda: LINE, "span", lower=(0.0, NUMBER), upper=(1.0, NUMBER)),
    "Spline": row(figure.Spline, x=((0, 1), NEVER), y=((0, 1), NEVER), ends=("natural", NEVER)),
    "Spline.span": method(lambda: figure.Spline((0, 1), (0, 1)), "span", lower=(0.0, NUMBER), upper=(1.0, NUMBER)),
    "PiecewisePolynomial": row(figure.PiecewisePolynomial, rows=(((0, 0, 1),), NEVER)),
    "PiecewisePolynomial.span": method(lambda: PIECES, "span", lower=(0.0, NUMBER), upper=(1.0, NUMBER)),
    "PiecewisePolynomial.scaled": method(lambda: PIECES, "scaled", factor=(2.0, NUMBER)),
    "PiecewisePolynomial.after": method(lambda: PIECES, "after", slope=(2.0, NUMBER - kind("0")), shift=(0.0, NUMBER)),
    "Drive": row(figure.Drive, terms=((("a", LINE),), NEVER), offset=(0.0, NUMBER)),
    "Drive.by": row(figure.Drive.by, terms=({"a": 1.0}, NEVER), offset=(0.0, NUMBER)),
    "Drive.value": method(lambda: DRIVE, "value", q=({"a": 1.0}, NEVER)),
    "mimic": row(supple.mimic, name=("a", NAME), ratio=(1.0, NUMBER), offset=(0.0, NUMBER)),
    "Coordinate": row(figure.Coordinate, name=("c", NAME), limits=RANGE, rest=(0.0, NUMBER), speed=(1.0, ENDLESS)),
    "Group": row(figure.Group, name=("g", NAME), coordinates=((), EMPTY), drives=({}, MAPPING), bounds=((), EMPTY)),
    "LinearLimit": row(figure.LinearLimit, coefficients=((("a", 1.0),), NEVER), upper=(1.0, NUMBER)),
    "LinearLimit.of": row(figure.LinearLimit.of, coefficients=({"a": 1.0}, NEVER), upper=(1.0, NUMBER)),
    # ── shapes ──
    "Ball": row(supple.Ball, centre=(ORIGIN, VECTOR), radius=(1.0, POSITIVE)),
    "Box": row(supple.Box, lower=(ORIGIN, VECTOR), upper=((1, 1, 1), VECTOR), at=(ORIGIN, PLACE)),
    "Capsule": row(supple.Capsule, radius=(1.0, POSITIVE), length=(1.0, POSITIVE), at=(ORIGIN, PLACE)),
    "Capsule.between": row(supple.Capsule.between, start=(ORIGIN, VECTOR), end=(UP, VECTOR), radius=(1.0, POSITIVE)),
    "Cylinder": row(geometry.Cylinder, radius=(1.0, POSITIVE), length=(1.0, POSITIVE), at=(ORIGIN, PLACE)),
    "Hull": row(geometry.Hull, points=(HEAP, NEVER), radius=(0.1, NOT_NEGATIVE)),
    "Mesh": row(geometry.Mesh, points=(HEAP, NEVER), at=(ORIGIN, PLACE), accuracy=(0.1, POSITIVE)),
    "Mesh.read": row(geometry.Mesh.read, path=(MESH.name, NEVER), at=(ORIGIN, PLACE), scale=((1, 1, 1), VECTOR),
                     accuracy=(0.1, POSITIVE)),
    "Moving": row(problem.Moving, shape=(BOX, NEVER), at=(ORIGIN, PLACE)),
    "Cloud": row(geometry.Cloud, points=(HEAP, NEVER), radius=(0.1, POSITIVE), accuracy=(0.1, POSITIVE)),
    "fitted": row(geometry.fitted, points=(HEAP, NEVER), accuracy=(0.1, POSITIVE)),
    "excess": row(geometry.excess, body=(BOX, NEVER), points=(HEAP, NEVER)),
    "Polytope.hull": row(supple.Polytope.hull, points=(HEAP, NEVER)),
    "Polytope": row(supple.Polytope, A=([UP], NEVER), b=([1.0], NUMBER)),
    "Polytope.of": row(supple.Polytope.of, box=(BOX, NEVER)),
    "Polytope.half_space": row(supple.Polytope.half_space, point=(ORIGIN, VECTOR), normal=(UP, VECTOR)),
    "Body": row(geometry.Body, mass=(1.0, NOT_NEGATIVE), centre=(ORIGIN, VECTOR), shapes=((), EMPTY)),
    "Clearance": row(supple.Clearance, margin=(0.1, NOT_NEGATIVE), itself=(False, FLAG), ignoring=((), EMPTY),
                     preferred=(0.0, NOT_NEGATIVE), uncovered=("refuse", NEVER)),
    # ── effectors ──
    "Point": row(supple.Point, segment=("a", NAME), offset=(ORIGIN, VECTOR)),
    "Direction": row(supple.Direction, segment=("a", NAME), axis=AXIS, offset=(ORIGIN, VECTOR)),
    "Frame": row(supple.Frame, segment=("a", NAME), at=(ORIGIN, PLACE)),
    "Gap": row(supple.Gap, a=(Point("a"), NEVER), b=(Point("b"), NEVER)),
    "MassCentre": row(supple.MassCentre),
    # ── goals ──
    "At": row(supple.At, position=(ORIGIN, VECTOR), relative_to=RELATIVE),
    "At.aimed": method(lambda: At(ORIGIN), "aimed", target=(UP, VECTOR)),
    "AimedAt": row(supple.AimedAt, point=(ORIGIN, VECTOR), per_radian=(0.3, POSITIVE), relative_to=RELATIVE),
    "AimedAt.aimed": method(lambda: supple.AimedAt(ORIGIN), "aimed", target=(UP, VECTOR)),
    "Facing": row(supple.Facing, x=(UP, VECTOR), y=(None, NONE), per_radian=(0.3, POSITIVE), relative_to=RELATIVE,
                  rotation=(None, NONE)),
    "Facing(matrix)": row(supple.Facing, matrix=(np.eye(3), NEVER)),
    "Facing.aimed": method(lambda: supple.Facing(UP), "aimed", target=(UP, VECTOR)),
    "Placed": row(supple.Placed, at=(np.eye(4), NEVER), rotation=(None, NONE), per_radian=(0.3, POSITIVE),
                  relative_to=RELATIVE, slack=(1e-3, kind("0"))),
    "Placed(quat_wxyz)": row(supple.Placed, at=(ORIGIN, VECTOR), quat_wxyz=((1, 0, 0, 0), NEVER)),
    "Placed.aimed": method(lambda: supple.Placed(np.eye(4)), "aimed", target=(np.eye(4), NEVER)),
    "OnLine": row(supple.OnLine, point=(ORIGIN, VECTOR), normal=AXIS, relative_to=RELATIVE),
    "OnLine.aimed": method(lambda: supple.OnLine(ORIGIN, UP), "aimed", target=((UP, UP), NEVER)),
    "OnPlane": row(supple.OnPlane, point=(ORIGIN, VECTOR), normal=AXIS, relative_to=RELATIVE),
    "OnPlane.aimed": method(lambda: supple.OnPlane(ORIGIN, UP), "aimed", target=((UP, UP), NEVER)),
    "Beyond": row(supple.Beyond, point=(ORIGIN, VECTOR), normal=AXIS, relative_to=RELATIVE),
    "Beyond.aimed": method(lambda: supple.Beyond(ORIGIN, UP), "aimed", target=((UP, UP), NEVER)),
    "Within": row(supple.Within, at=(ORIGIN, PLACE), box=(1.0, NOT_NEGATIVE), tilt=(None, NONE | kind("0", "half", "0-d")),
                  per_radian=(0.3, POSITIVE), relative_to=RELATIVE),
    "Within.aimed": method(lambda: supple.Within(box=1.0), "aimed", target=(np.eye(4), NEVER)),
    "Near": row(supple.Near, reference=(REST, NUMBER | kind("five", "huge", "[]")), weights=(1.0, NOT_NEGATIVE),
                relative_to=RELATIVE),
    "Near.aimed": method(lambda: supple.Near(REST), "aimed", target=(REST, NEVER)),
    "Balanced": row(supple.Balanced, polygon=(SQUARE, NEVER), margin=(0.1, kind("0", "half")), relative_to=RELATIVE),
    "Balanced.aimed": method(lambda: supple.Balanced(SQUARE), "aimed", target=(SQUARE, NEVER)),
    "Aligned": row(supple.Aligned, position=(ORIGIN, VECTOR), x=(UP, VECTOR), y=(None, NONE), weights=((1.0, 1.0), POSITIVE),
                   per_radian=(0.3, POSITIVE), relative_to=RELATIVE),
    "Aligned.aimed": method(lambda: supple.Aligned(ORIGIN, UP), "aimed", target=((UP, UP), NEVER)),
    "AnyOf": row(supple.AnyOf, goals=((At(ORIGIN),), NEVER), weights=(None, NONE | kind("set")), relative_to=(None, NONE)),
    "AnyOf.aimed": method(lambda: supple.AnyOf((At(ORIGIN),)), "aimed", target=([UP], NEVER)),
    "Outside": row(supple.Outside, solid=(BOX, NEVER), margin=(0.1, NOT_NEGATIVE), relative_to=RELATIVE),
    "Outside.aimed": method(lambda: supple.Outside(BOX), "aimed", target=([(UP, UP)] * 6, NEVER)),
    "Custom": row(supple.Custom, bare=("function",), function=(lambda a, x, g, H: 0.0, NEVER), target=((), NUMBER |
                  kind("five", "huge", "deep", "[]")), relative_to=RELATIVE),
    "Custom.aimed": method(lambda: CUSTOM, "aimed", target=(REST, NEVER)),
    # ── figures ──
    "Source": row(figure.Source, format=("bvh", NAME), unit=(1.0, POSITIVE), up=("z", kind("word"))),
    "Loop": row(supple.Loop, name=("l", NAME), a=("a", NAME), b=("b", NAME), at_a=(ORIGIN, PLACE), at_b=(ORIGIN, PLACE),
                point=(False, FLAG)),
    "Figure": row(supple.Figure, name=("f", NAME), joints=(supple.hinge("a", None), EMPTY | MAPPING), drivers=((), EMPTY),
                  bodies=({}, MAPPING), loops=((), EMPTY), bounds=((), EMPTY), source=(None, NONE), solids=({}, MAPPING),
                  markers=({}, MAPPING), remarks=((), TEXTS), uncovered=((), EMPTY), ignored=(None, EMPTY | NONE)),
    "Figure.attached": method(lambda: ARM, "attached", other=("tool", NAME), to=("b", NONE), at=(ORIGIN, PLACE),
                              prefix=("", TEXT)),
    "Figure.attached(figure)": method(lambda: ARM, "attached", other=(LEG, NAME | FIGURE | kind("empty text")), to=("b", NONE),
                                      prefix=("p", TEXT)),
    "Figure.based_at": method(lambda: ARM, "based_at", at=(ORIGIN, PLACE), free=(False, FLAG), order=("zyx", NEVER)),
    "Figure.path_to_root": method(lambda: ARM, "path_to_root", segment=("b", NEVER)),
    "Figure.coordinates_of": method(lambda: ARM, "coordinates_of", name=("b", NEVER)),
    "Figure.chain": method(lambda: ARM, "chain", start=("a", NONE), end=("b", NEVER)),
    "Figure.colliding_pairs": method(lambda: ARM, "colliding_pairs", margin=(0.0, NUMBER)),
    "Figure.grouped": row(lambda group: PAIR.grouped(group), group=(GROUP, NEVER)),
    "Figure.curvature": method(lambda: ARM, "curvature", q=(REST, POSTURE), effector=(Point("b"), NEVER)),
    "Figure.jacobian": method(lambda: ARM, "jacobian", q=(REST, POSTURE), effector=("b", NEVER)),
    "Figure.joints_of": method(lambda: ARM, "joints_of", segment=("b", NEVER)),
    "Figure.locked": row(lambda name, q: PAIR.locked(name, q=q), name=("a", NEVER), q=(None, NONE)),
    "Figure.marker_places": method(lambda: ARM, "marker_places", q=(REST, POSTURE), names=(None, NONE | EMPTY)),
    "Figure.mass_centre": method(lambda: supple.load("human"), "mass_centre", q=(supple.load("human").rest, POSTURE)),
    "Figure.named": method(lambda: ARM, "named", q=(REST, POSTURE | MAPPING)),
    "Figure.parent_of": method(lambda: ARM, "parent_of", segment=("b", NEVER)),
    "Figure.placement": method(lambda: ARM, "placement", q=(REST, POSTURE), segment=("b", NEVER)),
    "Figure.placements": method(lambda: ARM, "placements", q=(REST, POSTURE),
                                segments=(None, NONE | EMPTY | kind("generator"))),
    "Figure.to_pinocchio": method(lambda: supple.load(URDF), "to_pinocchio", q=(TWO, POSTURE), model=(of_pinocchio, NEVER),
                                  **BRIDGE),
    "Figure.from_pinocchio": method(lambda: supple.load(URDF), "from_pinocchio", q=(TWO, NEVER), model=(of_pinocchio, NEVER),
                                    **BRIDGE_BACK),
    "Figure.to_mujoco": method(lambda: supple.load(URDF), "to_mujoco", q=(TWO, POSTURE), model=(of_mujoco, NEVER), **BRIDGE),
    "Figure.from_mujoco": method(lambda: supple.load(URDF), "from_mujoco", qpos=(TWO, NEVER), model=(of_mujoco, NEVER),
                                 **BRIDGE_BACK),
    "PiecewisePolynomial.of_curve": method(lambda: PIECES, "of_curve", inner=(lambda: PIECES, NEVER), shift=(0.0, NUMBER)),
    "Figure.posture": method(lambda: ARM, "posture", q=(REST, POSTURE), many=(False, FLAG)),
    "Figure.prefixed": method(lambda: ARM, "prefixed", prefix=("p", TEXT)),
    "Figure.renamed": method(lambda: ARM, "renamed", name=("p", NAME)),
    "Figure.rerooted": method(lambda: ARM, "rerooted", segment=("b", NEVER)),
    "Figure.scaled": method(lambda: ARM, "scaled", factors=(2.0, POSITIVE | MAPPING)),
    "Figure.seen": method(lambda: ARM, "seen", q=(REST, POSTURE), effector=("b", NEVER)),
    "Figure.touching": method(lambda: ARM, "touching", q=(None, STARTS), margin=(0.0, NUMBER)),
    "Figure.left_out": method(lambda: ARM, "left_out", margin=(0.0, NUMBER)),
    "Figure.never_touching": method(lambda: ARM, "never_touching"),
    "Figure.with_pairs": method(lambda: ARM, "with_pairs", ignored=((), EMPTY | NONE)),
    "Figure.with_capsules": method(lambda: ARM, "with_capsules", capsules=({"a": [(ORIGIN, UP, 0.1)]}, MAPPING)),
    "Figure.with_capsules(row)": row(lambda r: ARM.with_capsules({"a": r}), r=([(ORIGIN, UP, 0.1)], EMPTY)),
    "Figure.with_limits": method(lambda: ARM, "with_limits", limits=({"a": (-1, 1)}, MAPPING | NONE),
                                 speed=({"a": 1.0}, MAPPING | NONE)),
    "Figure.with_limits(pair)": row(lambda r, s: ARM.with_limits({"a": r}, speed={"a": s}), r=((-1, 1), NEVER),
                                    s=(1.0, ENDLESS)),
    "Figure.with_marker_set": method(lambda: supple.load("human"), "with_marker_set", markers=("cmu41", NEVER)),
    "Figure.with_markers": method(lambda: ARM, "with_markers", markers=({"m": ("a", ORIGIN)}, MAPPING)),
    "Figure.with_markers(one)": row(lambda m: ARM.with_markers({"m": m}), m=(("a", ORIGIN), NEVER)),
    "Figure.with_rest": method(lambda: ARM, "with_rest", rest=(REST, MAPPING)),
    "Figure.with_rest(one)": row(lambda r: ARM.with_rest({"a": r}), r=(0.1, SHARE | kind("-1"))),
    "Figure.with_solids": method(lambda: ARM, "with_solids", solids=(BALLS, MAPPING)),
    "Figure.with_spheres": method(lambda: ARM, "with_spheres", spheres=({"a": [(0, 0, 0, 1)]}, MAPPING)),
    "Figure.with_spheres(row)": row(lambda r: ARM.with_spheres({"a": r}), r=([(0, 0, 0, 1)], EMPTY)),
    "Limits": row(supple.Limits, lower=([-1, -1], NEVER), upper=([1, 1], NEVER), A_eq=(None, NONE), b_eq=(None, NONE),
                  A=([[1, 1]], NEVER), b=([1], kind("0", "5", "half", "0-d", "-1"))),
    "Limits.contains": method(lambda: ROWED, "contains", q=(REST, POSTURE), slack=(1e-9, NOT_NEGATIVE)),
    "Limits.project": method(lambda: ROWED, "project", q=(REST, POSTURE), ease=(None, NONE)),
    # ── problems ──
    "Task": row(supple.Task, effector=(Point("b"), NAME), goal=(At(ORIGIN), NEVER), weight=WEIGHTED, hard=(False, FLAG),
                chain=(None, NAME_OR_NONE | TEXTS), priority=(0, WHOLE | kind("-1")), tolerance=(1e-5, POSITIVE),
                angle_tolerance=(1e-4, POSITIVE), name=("t", TEXT), preference=(False, FLAG)),
    "Problem": row(supple.Problem, figure=(ARM, FIGURE), tasks=([], EMPTY), limits=(None, NONE),
                   rigidity=(None, NONE | MAPPING | kind("0", "half")), obstacles=((), EMPTY | MAPPING),
                   clearance=(supple.Clearance(), NEVER), loop_tolerance=(None, POSITIVE | NONE)),
    "Problem.admitted": method(lambda: PROBLEM, "admitted", q=(REST, POSTURE)),
    "Problem.aimed": row(lambda target: PROBLEM.aimed(target), target=(UP, NONE)),
    "Problem.evaluate": method(lambda: PROBLEM, "evaluate", q=(REST, POSTURE), hessian=(True, FLAG), curvature=(True, FLAG)),
    "Problem.jacobian": method(lambda: PROBLEM, "jacobian", q=(REST, POSTURE)),
    "Problem.misses": method(lambda: PROBLEM, "misses", q=(REST, POSTURE)),
    "Problem.value": method(lambda: PROBLEM, "value", q=(REST, POSTURE)),
    # ── doors ──
    "solve": row(supple.solve, problem=(PROBLEM, FIGURE), start=(REST, STARTS), solver=(supple.Newton(), NONE), seed=SEED,
                 distinct=(None, NONE), budget=(50, BUDGET), deadline=DEADLINE, trace=(False, FLAG),
                 prove=(False, FLAG), tolerance=(None, NONE), angle_tolerance=(None, NONE)),
    "solve(distinct)": row(lambda distinct, seed: supple.solve(PROBLEM, distinct=distinct, seed=seed), seed=SEED,
                           distinct=(1, COUNT | NONE)),
    "solve(short)": row(lambda goals, start, solver: supple.solve(ARM, goals, start, solver=solver),
                        goals=({"b": At((1, 0, 0))}, MAPPING), start=(REST, STARTS), solver=SOLVER),
    "solve(goal)": row(lambda goal: supple.solve(ARM, {"b": goal}), goal=(At((1, 0, 0)), NEVER)),
    "solve_all": row(supple.solve_all, problem=(POSED, NEVER), start=(UR5.rest, STARTS), prove=(False, FLAG),
                     windings=(False, FLAG)),
    "prepare": row(supple.prepare, problem=(PROBLEM, NEVER), solver=SOLVER, seed=SEED, prove=(False, FLAG),
                   budget=(None, BUDGET), one_branch=(False, FLAG), moving=((), EMPTY)),
    "Query": row(supple.solving.Query, problem=(PROBLEM, NEVER), solver=(supple.LevenbergMarquardt(), NEVER), seed=SEED,
                 allowance=(FREELY, NEVER), proving=(UNASKED, NEVER), one_branch=(False, FLAG)),
    "Query(call)": row(lambda target, start: QUERY(target, start), target=(TARGETS[0], NONE), start=(None, STARTS)),
    "solve_many": row(supple.solve_many, problem=(PROBLEM, NEVER), targets=(TARGETS, EMPTY), start=(None, STARTS),
                      solver=SOLVER, threads=(1, COUNT | NONE), device=("cpu", NEVER), seed=SEED, prove=(False, FLAG),
                      deadline=DEADLINE, cluster=(None, NONE), obstacles=(None, NONE | MAPPING)),
    "follow": row(supple.follow, problem=(PROBLEM, NEVER), targets=(TARGETS, EMPTY), start=(None, STARTS),
                  dt=(0.1, POSITIVE | NONE), speed=(None, NONE | ENDLESS), jump=(0.5, ENDLESS), solver=SOLVER, seed=SEED,
                  prove=(False, FLAG), deadline=DEADLINE, whole=(False, FLAG), obstacles=(None, NONE | MAPPING)),
    "step": row(supple.step, problem=(PROBLEM, NEVER), q=(REST, POSTURE), dt=(0.1, POSITIVE), targets=(None, NONE),
                gain=(0.5, kind("half")), damping=(1e-6, POSITIVE), prove=(False, NEVER), obstacles=(None, NONE | MAPPING)),
    "Servo": row(supple.solving.Servo, problem=(PROBLEM, NEVER), dt=(0.1, POSITIVE), acceleration=(1.0, POSITIVE | ENDLESS),
                 speed=(None, NONE | POSITIVE | ENDLESS), rate=(1.0, POSITIVE), damping=(1e-6, POSITIVE),
                 ease=(1.0, NOT_NEGATIVE)),
    "Servo(call)": row(lambda q, velocity, targets: SERVO(q, velocity, targets), q=(REST, POSTURE),
                       velocity=(None, NONE), targets=(None, NONE)),
    "Twist": row(supple.solving.Twist, linear=((0.1, 0, 0), NEVER), angular=((0, 0, 0.1), NEVER)),
    "reach": row(supple.reach, figure=(PAIR, FIGURE), segment=("b", NEVER), x=(1.0, REACH | kind("5", "-1")),
                 y=(0.1, REACH | kind("5", "-1")), z=(0.0, REACH | kind("5", "-1")), volume=(False, FLAG),
                 spacing=(1.0, POSITIVE | NONE), rotation=(None, NONE | COUNT), seed=SEED, boxes=(1, COUNT),
                 keep=(False, FLAG), progress=(None, FUNCTION), quat_wxyz=(None, NONE), deadline=DEADLINE,
                 cluster=(None, NONE)),
    "free_space": row(problem.free_space, obstacles=((), EMPTY | MAPPING), bounds=(BOX, NEVER), seeds=([(0.5, 0.5, 0.5)],
                      COUNT), cuboids=(True, FLAG), seed=SEED),
    "seeds_about": row(problem.seeds_about, figure=(ARM, NEVER), q=(REST, POSTURE), count=(1, WHOLE), radius=(0.1, POSITIVE),
                       seed=SEED),
    # ── scenes ──
    "Scene": row(supple.Scene, figure=(ARM, FIGURE), q=(None, NONE | MAPPING), limits=(None, NONE), rigidity=(None, NONE |
                 MAPPING | kind("0", "half")), constraints=((), EMPTY), disabled=((), EMPTY), obstacles=(None, NONE | MAPPING),
                 clearance=(None, NONE)),
    "Scene.add": row(lambda name, effector, goal, weight: scene().add(name, effector, goal, weight=weight), name=("n", NAME),
                     effector=(Point("b"), NEVER), goal=(At(ORIGIN), NEVER), weight=WEIGHTED),
    "Scene.change": row(lambda name, goal, weight: scene().change(name, goal=goal, weight=weight), name=("hand", NEVER),
                        goal=(At(ORIGIN), NEVER), weight=WEIGHTED),
    "Scene.disable": method(scene, "disable", name=("hand", NEVER)),
    "Scene.enable": method(scene, "enable", name=("hand", NEVER)),
    "Scene.remove": method(scene, "remove", name=("hand", NEVER)),
    "Scene.drag": method(scene, "drag", name=("hand", NEVER), target=((1, 0.1, 0), NEVER), stride=(0.1, POSITIVE | NONE)),
    "Scene.fold": method(scene, "fold", since=(1, NEVER), done=("all of it", NAME)),
    "Scene.keep_clear": row(lambda margin, itself: scene().keep_clear(margin=margin, itself=itself), margin=(0.1,
                            NOT_NEGATIVE), itself=(False, FLAG)),
    "Scene.limit": method(scene, "limit", limits=(LIMITS, NONE)),
    "Scene.place": method(scene, "place", name=("n", NAME), shape=(FAR, NEVER)),
    "Scene.take_away": method(scene, "take_away", name=("box", NEVER)),
    "Scene.pose": method(scene, "pose", q=(REST, MAPPING)),
    "Scene.solve": method(scene, "solve", solver=SOLVER, seed=SEED),
    "Scene.stiffen": method(scene, "stiffen", rigidity=({"a": 0.5}, MAPPING)),
    # ── solvers ──
    "ActiveSet": row(supple.ActiveSet, steps=STEPS, tolerance=TOLERANCE, update=("bfgs", NEVER)),
    "CyclicCoordinateDescent": row(supple.CyclicCoordinateDescent, steps=STEPS, tolerance=TOLERANCE),
    "DampedLeastSquares": row(solvers.DampedLeastSquares, steps=STEPS, tolerance=TOLERANCE, damping=(0.1, POSITIVE)),
    "Decide": row(supple.Decide, solver=(supple.Newton(), NEVER), boxes=(1, COUNT)),
    "Fabrik": row(supple.Fabrik, steps=STEPS, tolerance=TOLERANCE),
    "JacobianTranspose": row(supple.JacobianTranspose, steps=STEPS, tolerance=TOLERANCE, step=(solvers.FittedStep(), NEVER)),
    "FixedStep": row(solvers.FixedStep, length=(1.0, POSITIVE)),
    "FittedStep": row(solvers.FittedStep),
    "CautiousStep": row(solvers.CautiousStep, deviation=(1.0, POSITIVE)),
    "LevenbergMarquardt": row(supple.LevenbergMarquardt, steps=STEPS, attempts=(1, COUNT), tolerance=TOLERANCE,
                              factor=(0.1, NOT_NEGATIVE), floor=(0.1, POSITIVE), slow=(0.9, kind("half")),
                              formulas=(False, FLAG)),
    "Multistart": row(supple.Multistart, solver=(supple.Newton(), NEVER), attempts=(1, COUNT), formulas=(False, FLAG)),
    "Newton": row(supple.Newton, steps=STEPS, tolerance=TOLERANCE, curvature=(True, FLAG), damping=(0.1, POSITIVE)),
    "OptimalTracking": row(supple.OptimalTracking, step=("merit", NEVER), tolerance=(1e-7, POSITIVE), iterations=(5, WHOLE),
                           path=("fast", NEVER), accept=("still", NEVER), limits=(True, FLAG),
                           curvature=(True, FLAG), steady=(0.0, NOT_NEGATIVE)),
    "OptimalTracking.track_frames": method(
        lambda: supple.OptimalTracking(iterations=1), "track_frames", figure=(ARM, FIGURE), points=([Point("b")], NEVER),
        positions=(np.zeros((2, 1, 3)), NEVER), weights=(None, NONE | NOT_NEGATIVE), start=(None, STARTS), held=((), EMPTY),
        driven=((), EMPTY), beyond=((), EMPTY)),
    "ProjectedGradient": row(supple.ProjectedGradient, steps=STEPS, tolerance=TOLERANCE, alpha=(0.1, kind("half")),
                             beta=(0.5, kind("half")), spectral=(True, FLAG), longest=(1.0, ENDLESS),
                             stagnation=(0.0, SHARE)),
    "PseudoInverse": row(supple.PseudoInverse, steps=STEPS, tolerance=TOLERANCE, cutoff=(0.1, SHARE), longest=(1.0, ENDLESS),
                         at_end=(False, FLAG)),
    "RankOne": row(supple.RankOne, lift=("quaternion", NEVER), adaptive=(False, FLAG), steps=STEPS, restarts=STEPS,
                   tolerance=(1e-6, POSITIVE), factor=(0.1, kind("half")), softer=STEPS, polish=(None, NONE),
                   rows=(None, NONE)),
    "PreferredClearance": row(solvers.PreferredClearance, solver=(supple.Newton(), NEVER), rungs=(1, COUNT)),
    "FreeRegions": row(rank_one.FreeRegions, bars=(ROOMS.bars, NEVER), polytopes=(ROOMS.polytopes, NEVER),
                       choices=(ROOMS.choices, NEVER), whole=(1.0, NOT_NEGATIVE)),
    "FreeRegions.of": row(rank_one.FreeRegions.of, figure=(ARM, NEVER), polytopes=([ROOM], NEVER), margin=(0.0, NOT_NEGATIVE),
                          whole=(1.0, NOT_NEGATIVE)),
    "FreeRegions.reduced": method(lambda: ROOMS, "reduced", problem=(PROBLEM, NEVER), solver=(None, NONE)),
    "Continuity": row(rank_one.Continuity, q=(REST, kind("[]", "five", "huge")), bound=(1.0, POSITIVE)),
    "Contact": row(rank_one.Contact, tasks=([TOUCH], EMPTY)),
    "AllOf": row(rank_one.AllOf, parts=([rank_one.Continuity(REST, 1.0)], EMPTY)),
    "Held": row(motion.Held, effector=(Point("b"), NEVER), target=(ORIGIN, NEVER)),
    "Held.targets": method(lambda: motion.Held(Point("b"), ORIGIN), "targets", frames=(2, WHOLE)),
    "DrivenAngle": row(motion.DrivenAngle, coordinate=("a", NAME), values=(1.0, NUMBER | kind("nan", "[]", "five", "huge")),
                       weight=(1.0, NOT_NEGATIVE | kind("inf"))),
    # ── natural coordinates ──
    "Natural": row(motion.Natural, figure=(PAIR, FIGURE), angles=((), EMPTY | kind("generator")), points=((), EMPTY)),
    "Natural.constraints": method(lambda: NATURAL, "constraints", x=(X, NEVER)),
    "Natural.jacobian": method(lambda: NATURAL, "jacobian", x=(X, NEVER)),
    "Natural.linearised": method(lambda: NATURAL, "linearised", x=(X, NEVER)),
    "Natural.from_posture": method(lambda: NATURAL, "from_posture", q=(REST, POSTURE)),
    "Natural.to_posture": method(lambda: NATURAL, "to_posture", x=(X, NEVER), near=(None, STARTS)),
    "Natural.marker_matrix": method(lambda: NATURAL, "marker_matrix", points=([Point("b")], EMPTY)),
    # ── motions and markers ──
    "Motion": row(supple.Motion, figure=(ARM, FIGURE), q=(WAY, NEVER), times=(TIMES, NEVER), errors=(None, NONE),
                  source=(None, NONE)),
    "Markers": row(supple.Markers, names=(("m",), NEVER), positions=(np.zeros((2, 1, 3)), NEVER), times=(TIMES, NEVER),
                   source=(None, NONE), notes=((), TEXTS)),
    "Markers.filtered": method(lambda: LONG, "filtered", cutoff=(5.0, POSITIVE), order=(4, NEVER)),
    "Markers.frames": method(lambda: MARKERS, "frames", first=(0, WHOLE | kind("-1")), last=(2, WHOLE | kind("-1", "None")),
                             step=(1, COUNT)),
    "Markers.only": method(lambda: MARKERS, "only", names=(("m",), EMPTY)),
    "Markers.renamed": method(lambda: MARKERS, "renamed", names=({"m": "k"}, MAPPING)),
    "MarkerSet": row(figure.MarkerSet, name=("s", NAME), landmarks=({}, MAPPING), means=({}, MAPPING | kind("{'x': 'x'}"))),
    "MarkerSet(landmark)": row(lambda mark: figure.MarkerSet("s", {"m": mark}, {"m": "C7"}),
                               mark=(Landmark("head", ORIGIN, 0.1), NEVER)),
    "MarkerSet.spelling": method(lambda: SET, "spelling", names=(("C7",), TEXTS)),
    "marker_set": row(figure.marker_set, name=("cmu41", NEVER)),
    "track": row(supple.track, figure=(ARM, NEVER), markers=(MARKERS, NEVER), method=(None, NONE), weights=(None, NONE |
                 MAPPING), coordinates=(None, NONE | MAPPING), limits=(True, FLAG), start=(None, STARTS), progress=(None,
                 FUNCTION), deadline=DEADLINE),
    "FrameByFrame": row(motion.FrameByFrame, tolerance=(1e-4, POSITIVE), steps=(5, COUNT), huber=(1.0, ENDLESS),
                        search=(True, FLAG)),
    "WholeClip": row(motion.WholeClip, smoothness=(0.0, NOT_NEGATIVE), speed=(None, NONE | ENDLESS | EMPTY), huber=(1.0,
                     ENDLESS), tolerance=(1e-6, POSITIVE), steps=(5, COUNT)),
    "relabelled": row(motion.relabelled, figure=(ARM, NEVER), markers=(MARKERS, NEVER)),
    "fit_subject": row(supple.fit_subject, figure=(ARM, NEVER), markers=(MARKERS, NEVER), scales=("whole", MAPPING),
                       place=(False, FLAG | EMPTY), trust=(0.02, POSITIVE | MAPPING), spread=(0.1, POSITIVE), noise=(0.003,
                       POSITIVE), weights=(None, NONE | MAPPING), limits=(True, FLAG), start=(None, STARTS), frames=(2, COUNT),
                       steps=(2, COUNT), tolerance=(1e-2, POSITIVE)),
    # ── retargeting ──
    "Match": row(motion.Match, pairs=((("a", "a"),), EMPTY), notes=((), EMPTY)),
    "Match.parse": row(motion.Match.parse, text=("a = b", kind("empty text"))),
    "Match.check": method(lambda: motion.Match((("a", "a"),)), "check", source=(ARM, FIGURE), target=(ARM,
                          FIGURE)),
    "match_segments": row(motion.match_segments, source=(BIPED, NEVER), target=(BIPED, NEVER)),
    "retarget": row(supple.retarget, motion=(STEPPING, NEVER), to=(BIPED, NEVER), match=(None, NONE),
                    plant=(False, FLAG), rest=(None, NONE | kind("0", "-1")), progress=(None, FUNCTION), deadline=DEADLINE),
    # ── files ──
    "load": row(supple.load, what=(FOLDER / "pair.bvh", NEVER), unit=(0.01, POSITIVE | NONE), up=("y", NONE | kind("word"))),
    "load(urdf)": row(supple.load, what=(FOLDER / "pair.urdf", NEVER)),
    "load(human)": row(supple.load, what=("human", NEVER), stature=(1.75, POSITIVE), mass=(None, POSITIVE | NONE),
                       root=("free", NEVER), legs=(True, FLAG), fingers=(False, FLAG), grip=(0.0, SHARE)),
    "load(jack)": row(supple.load, what=("jack", NEVER), spine=("free", NEVER), shoulders=("free", NEVER)),
    "load(hand)": row(supple.load, what=("hand", NEVER), side=("left", NEVER), prefix=(None, TEXT | NONE)),
    "load(stewart)": row(supple.load, what=("stewart", NEVER), geometry=(None, NONE), lengths=(None, NONE), rest=(None, NONE),
                         swing=(None, NONE | ENDLESS)),
    "read_motion": row(supple.read_motion, path=(FOLDER / "pair.mot", NEVER), figure=(PAIR, FIGURE), partial=(False,
                       FLAG)),
    "read_markers": row(supple.read_markers, path=(FOLDER / "m.trc", NEVER), up=(None, NONE | kind("word")),
                        unit=(None, POSITIVE | NONE),
                        rate=(None, POSITIVE | NONE), unlabelled=(False, FLAG), zeros=(None, NONE)),
    "read_markers(c3d)": row(supple.read_markers, path=(FOLDER / "m.c3d", NEVER)),
    "read_scene": row(supple.read_scene, path=(FOLDER / "s.toml", NEVER)),
    "write": row(supple.write, what=(MARKERS, NEVER), path=(FOLDER / "out.trc", NEVER)),
    # ── archives ──
    "map": row(unspread, ("job",), job=(CONVERT, NEVER), files=([FOLDER / "pair.mot"], NEVER),
               folder=(FOLDER / "archive", NAME | TEXT | kind("path")),
               workers=(None, COUNT | NONE), cluster=(None, NONE), retry_failed=(False, FLAG),
               progress=(None, FUNCTION)),
    "read_manifest": row(cluster.read_manifest, path=(FOLDER / "archive", NAME | TEXT | kind("path"))),
    "solve_stored": row(unstored, ("problem", "targets"), problem=(PROBLEM, NEVER), targets=("in.zarr", NAME | kind("path")),
                        answers=("out", NAME | kind("path")), chunk=(8, COUNT), solver=SOLVER, seed=SEED, prove=(False, FLAG),
                        workers=(None, COUNT | NONE), cluster=(None, NONE), progress=(None, FUNCTION)),
    "Stored": row(cluster.Stored, answers=("out", NAME), counts=({}, MAPPING), skipped=(0, kind("0", "5"))),
    "Track": row(cluster.Track, model=("ur5", NAME), ending=(".mot", NEVER), method=(None, NONE),
                 cutoff=(None, NONE | POSITIVE), weights=(None, NONE | MAPPING), relabel=(False, FLAG), reading=({}, MAPPING),
                 options=({}, MAPPING)),
    "Fit": row(cluster.Fit, model=("subject.osim", NAME), mass=(None, NONE | POSITIVE), reading=({}, MAPPING),
               options=({}, MAPPING)),
    "Retarget": row(cluster.Retarget, to=("jack", NAME), ending=(".bvh", NEVER), model=(None, NAME_OR_NONE),
                    free=(True, FLAG), first=(0, WHOLE), last=(None, WHOLE | NONE), step=(1, COUNT), reading=({}, MAPPING),
                    options=({}, MAPPING)),
    "Convert": row(cluster.Convert, ending=(".bvh", NEVER), model=(None, NAME_OR_NONE), reading=({}, MAPPING)),
    "warm": row(unwarmed, workers=(1, NONE | COUNT), progress=(None, FUNCTION)),
    "Completeness.verify": method(lambda: LISTED, "verify", figure=(UR5, NONE | FIGURE), limits=(None, NONE)),
    "Completeness.checked": method(lambda: LISTED, "checked", figure=(UR5, NONE | FIGURE), limits=(None, NONE)),
    "Completeness.from_json": row(LISTED.from_json, text=(LISTED.to_json(), NEVER)),
    "Certificates.verify": method(lambda: PROOFS, "verify", figure=(PAIR, NONE | FIGURE), limits=(None, NONE)),
    "Certificates.checked": method(lambda: PROOFS, "checked", figure=(PAIR, NONE | FIGURE), limits=(None, NONE)),
    "Certificates.from_json": row(PROOFS.from_json, text=(PROOFS.to_json(), NEVER)),
    "Certificate.verify": method(lambda: PROOF, "verify", figure=(PAIR, NONE | FIGURE), limits=(None, NONE)),
    "Certificate.checked": method(lambda: PROOF, "checked", figure=(PAIR, NONE | FIGURE), limits=(None, NONE)),
    "Certificate.from_json": row(supple.Certificate.from_json, text=(PROOF.to_json(), NEVER)),
    **{f"{name}.posture": method(make, "posture", frame=(0, kind("0", "-1"))) for name, make in MOVING.items()},
    **{f"{name}.frames": method(make, "frames", first=(0, WHOLE | kind("-1")), last=(None, WHOLE | kind("-1", "None")),
                                step=(1, COUNT)) for name, make in MOVING.items()},
    "Tracked.worst": method(lambda: TRACKED, "worst", count=(2, WHOLE)),
}  # fmt: skip
