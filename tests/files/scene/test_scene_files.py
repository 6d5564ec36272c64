"""Scene files: what is written is read back bit for bit, in both formats; what is wrong is said, all of it, with its place."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_array_equal

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
    Custom,
    Direction,
    Facing,
    Frame,
    Gap,
    MassCentre,
    Near,
    OnLine,
    OnPlane,
    Outside,
    Placed,
    Point,
    Polytope,
    Scene,
    Task,
    Within,
)
from supple.errors import BadFile, BadValue
from supple.files.door import load
from supple.files.scene.text import ENDINGS, format_scene, json_text, parse_scene, toml_text
from supple.kernels.solids import solid_of
from supple.problem.obstacles import kept_apart

PERSON = supple.load("human", fingers=False)
PANDA = supple.load("panda")
GROUPED = supple.load("jack", spine="grouped", shoulders="grouped", legs=False, fingers=False, root="fixed")

# ── random scenes ────────────────────────────────────────────────────────────────────────────────────────────────────
numbers = st.floats(-5, 5)
points = st.tuples(numbers, numbers, numbers)
ways = points.filter(lambda p: np.linalg.norm(p) > 1e-3)
positive = st.floats(1e-6, 10)
uncovered = st.sampled_from(("refuse", "ignore"))
names = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Zl", "Zp", "Zs")), min_size=1, max_size=8)


@st.composite
def turns(draw: st.DrawFn) -> np.ndarray:
    return supple.place(draw(points), quat_wxyz=draw(st.tuples(st.floats(0.1, 1), numbers, numbers, numbers)))


def options(draw: st.DrawFn, figure: supple.Figure, weighed: bool = False) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if draw(st.booleans()):
        out["relative_to"] = draw(st.sampled_from(figure.segments))
    if weighed and draw(st.booleans()):
        out["per_radian"] = draw(positive)
    return out


@st.composite
def places(draw: st.DrawFn, figure: supple.Figure, depth: int = 2) -> Any:
    """A goal for a point in the world or seen from a segment, alternatives among them."""
    kind = draw(st.integers(0, 7 if depth else 6))
    if kind == 7:
        goals = draw(st.lists(places(figure, depth - 1), min_size=1, max_size=3))
        return AnyOf(goals, draw(st.none() | st.tuples(*[positive] * len(goals))))
    more = options(draw, figure)
    if kind == 0:
        return At(draw(points), **more)
    if kind == 1:
        return Within(draw(turns()), box=draw(st.tuples(*[st.floats(0, 3)] * 3)), **more)
    if kind == 2:
        return Balanced(
            np.array([(0, 0), (1, 0), (0.5, 1)]) + draw(points)[:2], draw(st.sampled_from((0.0, 0.1))), **more
        )
    if kind == 6:
        solid = st.builds(Polytope.half_space, points, ways) | st.just(Box((-1, -1, 0), (1, 1, 0.5), draw(turns())))
        return Outside(draw(solid), draw(st.sampled_from((0.0, 0.1))), **more)
    return (OnLine, OnPlane, Beyond)[kind - 3](draw(points), draw(ways), **more)


@st.composite
def frames(draw: st.DrawFn, figure: supple.Figure) -> Any:
    """A goal for a frame."""
    kind, more = draw(st.integers(0, 5)), options(draw, figure, weighed=True)
    if kind == 0:
        return Placed(draw(turns()), **more)
    if kind == 1:
        return AimedAt(draw(points), **more)
    if kind == 2:
        return Facing(matrix=draw(turns())[:3, :3], **more)
    if kind == 3:
        return Facing(draw(ways), **more)
    if kind == 4:
        return Facing(y=draw(ways), per_radian=(draw(positive), draw(positive)))
    low = draw(st.tuples(*[st.floats(-3, 0)] * 3))
    return Within(draw(turns()), box=0.1, tilt=(low, (0.1, 0.2, 0.3)), **more)


@st.composite
def constraints(draw: st.DrawFn, figure: supple.Figure, name: str) -> Task:
    segment = st.sampled_from(figure.segments)
    kind = draw(st.integers(0, 5))
    if kind == 0:
        weights = draw(
            st.just(1.0) | st.just(0.0) | st.lists(st.floats(0, 2), min_size=figure.size, max_size=figure.size)
        )
        return Task(None, Near(figure.rest + draw(numbers), weights), name=name)
    effector: Any = {
        1: Point(draw(segment), draw(points)),
        2: Frame(draw(segment), draw(turns() | st.just(np.eye(4)))),
        3: Direction(draw(segment), draw(ways), draw(points)),
        4: MassCentre(),
        5: Gap(Frame(draw(segment), draw(turns())), Point(draw(segment), draw(points))),
    }[kind]
    goal = draw(frames(figure) if kind == 2 else places(figure))
    if kind == 3:
        goal = draw(st.just(Facing(draw(ways))) | st.just(goal))
    seen = goal.alternatives() if isinstance(goal, AnyOf) else [(goal, 1.0)]
    if kind >= 4 and any(g.relative_to is not None for g, _ in seen):
        goal = At(draw(points))
    soft = {"preference": draw(st.booleans()), "priority": draw(st.integers(-2, 3))}
    return Task(
        effector,
        goal,
        name=name,
        weight=draw(positive),
        tolerance=draw(positive),
        angle_tolerance=draw(positive),
        **draw(st.sampled_from(({}, {"hard": True}, soft))),
    )


def has_inside(shape: Any) -> bool:
    try:
        solid_of(shape)
    except BadValue:
        return False
    return True


shapes = st.one_of(
    st.builds(Ball, points, positive),
    st.builds(lambda p, s: Box(p, np.array(p) + 0.01 + np.array(s)), points, st.tuples(positive, positive, positive)),
    st.builds(Capsule, positive, positive, turns()),
    st.builds(Polytope.half_space, points, ways),
    st.builds(lambda rows: Polytope([r for r, _ in rows], [b for _, b in rows]),
              st.lists(st.tuples(ways, numbers), min_size=1, max_size=4)).filter(has_inside),
)  # fmt: skip


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    figure = draw(st.sampled_from((PERSON, PANDA, GROUPED)))
    if figure is PANDA:
        bars = st.lists(st.builds(Ball, points, positive) | st.builds(Capsule, positive, positive, turns()), max_size=2)
        some = draw(st.dictionaries(st.sampled_from(figure.segments), bars, max_size=2))
        figure = figure.with_solids({"panda_hand": [Ball((0, 0, 0), 0.1)], **some}) if some else figure
    massless = [b for b in figure.bodies.values() if b.mass > 0.0] == []
    tasks = [draw(constraints(figure, name)) for name in draw(st.lists(names, max_size=3, unique=True))]
    tasks = [t for t in tasks if not (massless and isinstance(t.effector, MassCentre))]
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    limits = None
    if draw(st.booleans()):
        width = rng.uniform(0.1, 1.0, figure.size)
        row = rng.normal(size=figure.size)
        equal = (
            {"A_eq": [row], "b_eq": [row @ figure.rest]}
            if draw(st.booleans())
            else {"A": [row], "b": [row @ figure.rest]}
        )
        limits = supple.Limits(figure.rest - width, np.where(width > 0.5, np.inf, figure.rest + width), **equal)
    solid = any(figure.bars.values())
    obstacles = draw(st.dictionaries(names, shapes, max_size=2)) if solid else {}
    known = [*figure.segments, *obstacles]
    pairs = draw(st.lists(st.tuples(st.sampled_from(known), st.sampled_from(known)), max_size=2))
    clearance = supple.Clearance(draw(st.sampled_from((0.0, 0.01))), ignoring=pairs, uncovered=draw(uncovered))
    if draw(st.booleans()) and kept_apart(figure, clearance):
        clearance = replace(clearance, itself=True)
    return Scene(
        figure,
        figure.rest + rng.normal(size=figure.size) * draw(st.sampled_from((0.0, 0.3))),
        limits=limits,
        rigidity=rng.choice([0.0, 0.5, 1.0, rng.random()], figure.size) * draw(st.sampled_from((0.0, 1.0))),
        constraints=tasks,
        disabled=[task.name for task in tasks if draw(st.booleans())],
        obstacles=obstacles,
        clearance=clearance,
    )


# ── the round trip ───────────────────────────────────────────────────────────────────────────────────────────────────
@settings(max_examples=60)
@given(scene=scenes(), ending=st.sampled_from(ENDINGS))
def test_a_scene_that_is_written_is_read_back_bit_for_bit(scene: Scene, ending: str):
    text = format_scene(scene, ending)
    again = parse_scene(text, ending, load)
    assert format_scene(again, ending) == text
    assert_array_equal(again.q, scene.q)
    assert_array_equal(again.now.setup.rigidity, scene.now.setup.rigidity)
    assert list(again.constraints) == list(scene.constraints)
    assert (again.disabled, again.clearance, list(again.obstacles)) == (
        scene.disabled,
        scene.clearance,
        list(scene.obstacles),
    )
    assert again.chains == scene.chains
    assert {s: len(bars) for s, bars in again.figure.bars.items()} == {s: len(b) for s, b in scene.figure.bars.items()}
    one, other = scene.problem, again.problem
    for mine, theirs in zip(one.packed, other.packed, strict=True):
        assert_array_equal(theirs, mine)
    assert one.misses(scene.q) == other.misses(scene.q)
    for task, twin in zip(one.tasks, other.tasks, strict=True):
        assert [
            getattr(twin, o) for o in ("hard", "priority", "preference", "tolerance", "angle_tolerance", "chain")
        ] == [getattr(task, o) for o in ("hard", "priority", "preference", "tolerance", "angle_tolerance", "chain")]
    q = scene.limits.project(scene.q + 0.1)
    if all(task.effector is not None for task in one.tasks):
        assert other.value(q) == one.value(q)


@settings(max_examples=60)
@given(scene=scenes())
def test_both_formats_hold_the_same_tables(scene: Scene):
    assert tomllib.loads(format_scene(scene, ".toml")) == json.loads(format_scene(scene, ".json"))


@pytest.mark.parametrize("ending", ENDINGS)
def test_either_hand_chosen_joints_and_a_free_turn_are_read_back_bit_for_bit(ending: str):
    scene = Scene(PERSON)
    hands = [(Point(name, (0.0, 0.0, 0.1)), At((0.3, 0.1, 1.2))) for name in ("hand_l.palm", "hand_r.palm")]
    scene.add("either hand", None, AnyOf([*hands, (Frame("head"), AnyOf([At((0, 0, 2))], [3.0]))], (1, 2, 3)))
    scene.add(
        "grip",
        Frame("hand_r.palm"),
        Aligned((0.3, 0, 1), y=(0, 0, 1), weights=(1, 2)),
        chain=("upper_arm_r", "hand_r.*"),
    )
    text = format_scene(scene, ending)
    again = parse_scene(text, ending, load)
    assert format_scene(again, ending) == text
    assert again.constraints["either hand"].choices == scene.constraints["either hand"].choices
    assert again.chains == scene.chains
    for mine, theirs in zip(scene.problem.packed, again.problem.packed, strict=True):
        assert_array_equal(theirs, mine)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    "goal",
    [
        Outside(Box((0, 0, 0), (1, 2, 3), supple.place((0.1, 0, 0.9), quat_wxyz=(1, 2, 3, 4))), 0.02),
        Outside(Polytope([(1, 2, 3), (-3, 1, 0)], [1, 2]), relative_to="pelvis"),
        AnyOf([At((1, 2, 3)), Outside(Polytope.half_space((0, 0, 1), (0, 0, 2)))], (1, 3)),
    ],
    ids=("a box", "a polytope", "one of several"),
)
def test_outside_of_a_solid_is_read_back_bit_for_bit(goal: Any, ending: str):
    scene = Scene(PERSON)
    scene.add("clear", Point("head"), goal)
    text = format_scene(scene, ending)
    again = parse_scene(text, ending, load)
    assert format_scene(again, ending) == text
    assert "outside" in text
    for mine, theirs in zip(scene.problem.packed, again.problem.packed, strict=True):
        assert_array_equal(theirs, mine)


tables = st.recursive(
    st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(tables=st.dictionaries(st.text(st.characters(codec="utf-8")), tables, max_size=5))
def test_whatever_is_written_as_toml_or_json_is_read_by_pythons_own_readers(tables: dict[str, Any]):
    assert tomllib.loads(toml_text(tables)) == tables
    assert json.loads(json_text(tables)) == tables


def test_a_file_beside_the_scene(tmp_path: Path):
    (tmp_path / "robots").mkdir()
    (tmp_path / "scenes").mkdir()
    supple.write(supple.load("ur5"), tmp_path / "robots" / "ur5.urdf")
    scene = Scene(supple.load(tmp_path / "robots" / "ur5.urdf"))
    scene.add("tool", "tool0", At((0.4, 0.1, 0.5)))
    for ending in ENDINGS:
        path = tmp_path / "scenes" / f"reach{ending}"
        supple.write(scene, path)
        assert "../robots/ur5.urdf" in path.read_text()
        assert supple.read_scene(path).figure.coordinates == scene.figure.coordinates


def test_a_solved_scene_written_and_read_goes_on_where_it_was(tmp_path: Path):
    scene = Scene(PANDA)
    scene.add("hand", "panda_hand", At((0.4, 0.2, 0.6)))
    assert scene.solve().ok
    scene.drag("hand", (0.4, 0.25, 0.6))
    supple.write(scene, tmp_path / "a.toml")
    again = supple.read_scene(tmp_path / "a.toml")
    assert_array_equal(again.q, scene.q)
    assert_array_equal(again.constraints["hand"].goal.position, (0.4, 0.25, 0.6))
    assert again.solve().iterations == 0
    assert len(again.history) == 2


HEAD = 'version = 1\nfigure = { name = "human", fingers = false }\n'


def parsed(text: str, ending: str = ".toml", head: str = HEAD) -> Scene:
    return parse_scene(head + text, ending, load, "a" + ending)


def test_what_people_write():
    """Short forms: degrees, a bare position, quaternions, patterns, whole numbers, integers for floats."""
    scene = parsed("""
        posture = { "forearm_l.flexion" = "90deg", "pelvis.tz" = 1 }
        rigidity = { "thorax_*" = 0.5, lumbar = 1 }
        [[constraints]]
        name = "cup"
        effector = "hand_r.palm"
        goal = { placed = { position = [0.4, -0.2, 1.1], quat_xyzw = [0, 0, 1, 0] } }
        angle_tolerance = "1 deg"
        [[constraints]]
        name = "lean"
        effector = { direction = "thorax_upper", axis = [0, 0, 2] }
        goal = { facing = [0.2, 0, 1] }
        [[constraints]]
        name = "hips"
        effector = "pelvis"
        goal = { within = { at = { position = [0, 0, 0.9], rpy = [0, 0, "30deg"] }, tilt = ["5deg", 0.1, 3] } }
        [[constraints]]
        name = "relaxed"
        goal = { near = { "head.flexion" = "10deg", "thigh_?.flexion" = "80deg" }, weights = { "*" = 2, pelvis = 0, neck = 5 } }
        [obstacles]
        floor = { half_space = { point = [0, 0, 0], normal = [0, 0, 1] } }
        rail = { capsule = { start = [1, -1, 1], end = [1, 1, 1], radius = 0.02 } }
        """)
    q = dict(zip(scene.figure.coordinates, scene.q, strict=True))
    assert q["forearm_l.flexion"] == pytest.approx(np.pi / 2, abs=1e-15)
    assert q["pelvis.tz"] == 1.0
    assert scene.rigidity["thorax_lower.bending"] == 0.5
    assert scene.rigidity["lumbar.flexion"] == 1.0
    cup, lean, hips, relaxed = scene.constraints.values()
    assert cup.goal.at[0, 0] == -1.0
    assert cup.angle_tolerance == pytest.approx(np.pi / 180)
    assert lean.effector == Direction("thorax_upper", (0, 0, 1))  # type: ignore[comparison-overlap]
    assert hips.goal.tilt[1].tolist() == pytest.approx([np.pi / 36, 0.1, 3.0])
    wanted, weight = (
        dict(zip(scene.figure.coordinates, x, strict=True)) for x in (relaxed.goal.reference, relaxed.goal.weights)
    )
    assert wanted["thigh_l.flexion"] == wanted["thigh_r.flexion"] == pytest.approx(np.deg2rad(80.0))
    assert wanted["forearm_l.flexion"] == scene.figure.rest[scene.figure.coordinates.index("forearm_l.flexion")]
    assert (weight["pelvis.tx"], weight["pelvis.z"], weight["neck.bending"], weight["thigh_r.rotation"]) == (0, 0, 5, 2)
    assert scene.obstacles["floor"].b.tolist() == [0.0]  # type: ignore[union-attr]
    rail: Any = scene.obstacles["rail"]
    assert (rail.length, rail.at[:3, 3].tolist(), rail.at[:3, 2].tolist()) == (2.0, [1, 0, 1], [0, 1, 0])


# ── complaints ───────────────────────────────────────────────────────────────────────────────────────────────────────
REACH = "goal = { at = [1, 2, 3] }\n"
HAND = '[[constraints]]\nname = "left hand"\neffector = "hand_l.palm"\n'
# what is written as the goal, the effector, a further field of a constraint, or anywhere in the file; and what is said of it
GOALS = {
    "two numbers": ("{ at = [1, 2] }", "constraints[0] 'left hand': goal.at must be 3 numbers, not a list of 2"),
    "a word": ('{ at = [1, "x", 3] }', "'left hand': goal.at[1] must be a number, not 'x'"),
    "true": ("{ at = [1, true, 3] }", "goal.at[1] must be a number, not true"),
    "NaN": ("{ at = [1, nan, 3] }", "goal.at[1] must be finite, not nan"),
    "infinity": ("{ at = [1, -inf, 3] }", "goal.at[1] must be finite, not -inf"),
    "huge": ("{ at = [1, 1e300, 3] }", "goal.at[1] must be at most 1e+09 in size, not 1e+300"),
    "huge and whole": (f"{{ at = [1, 1{'0' * 400}, 3] }}", "not a huge number"),
    "a date": ("{ at = [1, 2020-01-01, 3] }", "goal.at[1] must be a number, not a date"),
    "an unknown goal": ("{ att = [1, 2, 3] }", "goal has no kind called 'att'; did you mean at?"),
    "no goal": ("{}", "goal must be a table with one of at, on_line"),
    "a goal of numbers": ("[1, 2, 3]", "goal must be a table with one of at, on_line"),
    "two goals": ("{ at = [1, 2, 3], near = {} }", "goal must have one of at and near, not 2"),
    "a strange option": ("{ at = [1, 2, 3], margin = 1 }", "goal has no field called 'margin'"),
    "an unknown reference": ('{ at = [1, 2, 3], relative_to = "x" }', "no segment called 'x'"),
    "a rotation twice": (
        "{ placed = { rpy = [0, 0, 0], quat_wxyz = [1, 0, 0, 0] } }",
        "goal.placed: rotation: give one",
    ),
    "no rotation": (
        "{ placed = { matrix = [[1, 0, 0], [0, 1, 0], [0, 0, 2]] } }",
        "goal.placed: rotation is not a rotation",
    ),
    "a zero axis": ("{ facing = [0, 0, 0] }", "goal: the x direction of Facing must not have length zero"),
    "no alternatives": ("{ any_of = [] }", "goal: AnyOf needs goals"),
    "a bad alternative": ("{ any_of = [{ at = [1, 2, 3] }, { at = [1] }] }", "goal.any_of[1].at must be 3 numbers"),
    "a flat polygon": ("{ over = [[0, 0], [1, 1]] }", "goal: the polygon of Balanced"),
}
EFFECTORS = {
    "an unknown segment": ('"hand_x"', "did you mean hand_"),
    "an unknown effector": ('{ pint = "hand_l" }', "effector has no kind called 'pint'; did you mean point?"),
    "one end of a gap": ('{ gap = ["hand_l"] }', "effector.gap must be two effectors, not 1"),
    "a gap of masses": ('{ gap = ["hand_l", { mass_centre = true }] }', "effector: the ends of a gap"),
    "no mass centre": ("{ mass_centre = false }", "leave mass_centre out"),
}
FIELDS = {
    "a strange field": ("wieght = 2", "'left hand' has no field called 'wieght'; did you mean weight?"),
    "a weight of 0": ("weight = 0", "'left hand': the weight of a task must be positive"),
    "both hard and not": ("hard = true\npreference = true", "'left hand': a task is hard, or"),
    "a word for a flag": ('hard = "yes"', "'left hand': hard must be true or false, not 'yes'"),
    "half a priority": ("priority = 0.5", "priority must be a whole number, not 0.5"),
    "an unknown chain": (
        'chain = "clavicel_l"',
        "'left hand': figure 'human' has no segment called 'clavicel_l'; did you mean clavicle_l",
    ),
}
TEXTS = {
    "no goal at all": (
        '[[constraints]]\nname = "left hand"\neffector = "hand_l.palm"\n',
        "constraints[0] 'left hand' lacks 'goal'",
    ),
    "no name": ('[[constraints]]\neffector = "hand_l"\ngoal = { at = [1, 2, 3] }', "constraints[0] lacks 'name'"),
    "two lines of name": ('[[constraints]]\nname = "a\\nb"', "constraints[0].name must be a line of text"),
    "no effector": ('[[constraints]]\nname = "a"\ngoal = { at = [1, 2, 3] }', "'a' lacks 'effector'"),
    "a direction for a point": (
        '[[constraints]]\nname = "a"\neffector = { point = "hand_l" }\ngoal = { aimed_at = [1, 2, 3] }',
        "'a': 'a': AimedAt needs a direction",
    ),
    "two of one name": (2 * (HAND + REACH), "constraints: two are called 'left hand'"),
    "an unknown coordinate": (
        'posture = { "forearm_l.flexon" = 1 }',
        "posture.'forearm_l.flexon': figure 'human' has no coordinate called 'forearm_l.flexon'; did you mean forearm_l",
    ),
    "degrees for a slide": ('posture = { "pelvis.tx" = "30deg" }', "posture.'pelvis.tx' must be a number, not '30deg'"),
    "nearly degrees": (
        'posture = { "head.flexion" = "30 grad" }',
        "must be an angle such as 0.5 or \"30deg\", not '30 grad'",
    ),
    "rigidity of nothing": (
        "rigidity = { tail = 0.5 }",
        "rigidity.tail: figure 'human' has no coordinate called 'tail'",
    ),
    "too rigid": ("rigidity = { lumbar = 2 }", "rigidity.lumbar must lie between 0"),
    "crossed limits": ('limits = { lower = { "head.flexion" = 9 } }', "limits: limits of coordinate"),
    "limits of nothing": ('limits = { lower = { "x" = 9 } }', "limits.lower.x: figure 'human' has no coordinate"),
    "half a row": (
        'limits = { rows = [{ coefficients = { "head.flexion" = 1 } }] }',
        "limits.rows[0] must have either 'upper' or 'equal'",
    ),
    "an empty row": (
        "limits = { rows = [{ coefficients = {}, upper = 1 }] }",
        "limits: linear inequalities: row 0 has no coefficient",
    ),
    "an unknown shape": ("obstacles = { x = { bx = {} } }", "obstacles.x has no kind called 'bx'; did you mean box?"),
    "solids of nobody": ("solids = { tail = [] }", "solids: figure 'human' has no segment called 'tail'"),
    "solids that are polytopes": (
        "solids = { head = [{ polytope = {} }] }",
        "solids.head[0] has no kind called 'polytope'; it has ball",
    ),
    "half a box": ("obstacles = { x = { box = { lower = [0, 0, 0] } } }", "obstacles.x.box lacks 'upper'"),
    "a box inside out": (
        "obstacles = { x = { box = { lower = [0, 0, 0], upper = [1, 1, -1] } } }",
        "obstacles.x.box: a box's upper corner",
    ),
    "a ball of nothing": (
        "obstacles = { x = { ball = { centre = [0, 0, 0], radius = 0 } } }",
        "obstacles.x.ball: a ball's radius",
    ),
    "a clearance of words": ('clearance = { ignoring = [["a"]] }', "clearance: a clearance ignores pairs"),
    "a clearance of nobody": (
        'clearance = { ignoring = [["hand_l", "tabel"]] }',
        "no segment or obstacle called 'tabel'",
    ),
    "a strange table": ("[constraint]", "the file has no field called 'constraint'; did you mean constraints?"),
    "constraints by name": ("[constraints.a]", "constraints must be a list, not a table"),
}
COMPLAINTS = {
    **{name: (f"{HAND}goal = {text}", words) for name, (text, words) in GOALS.items()},
    **{
        name: (f'[[constraints]]\nname = "a"\neffector = {text}\n{REACH}', words)
        for name, (text, words) in EFFECTORS.items()
    },
    **{name: (f"{HAND}{REACH}{text}", words) for name, (text, words) in FIELDS.items()},
    **TEXTS,
}


@pytest.mark.parametrize("name", COMPLAINTS)
def test_a_complaint_says_where_and_what(name: str):
    text, words = COMPLAINTS[name]
    with pytest.raises(BadFile) as caught:
        parsed(text)
    assert str(caught.value).startswith("a.toml: ")
    assert words in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("", "the file lacks 'version'"),
        ("version = 2", "version must be 1, not 2"),
        ('version = "1"', "version must be a whole number, not '1'"),
        ("version = 1", "the file lacks 'figure'"),
        ('version = 1\nfigure = "ur5"\nclearance = { itself = true }', "a.toml: figure 'ur5' has no solids"),
        ('version = 1\nfigure = "humn"', "figure: the catalogue has no figure called 'humn'; did you mean human"),
        ("version = 1\nfigure = 3", "figure must be a table, not 3"),
        ("version = 1\nfigure = {}", "figure must be a name of the catalogue, or a table with a name or a file"),
        ('version = 1\nfigure = { name = "human", file = "a.urdf" }', "figure must be a name of the catalogue"),
        ('version = 1\nfigure = { name = "human", statur = 1 }', "no option called 'statur'; did you mean stature"),
        ('version = 1\nfigure = { name = "human", stature = "tall" }', "figure: a person's stature"),
        ('version = 1\nfigure = { name = "human", stature = [] }', "figure: a person's stature"),
        ('version = 1\nfigure = { name = "human", stature = nan }', "figure: "),
        ('version = 1\nfigure = { name = "robot.urdf" }', "the catalogue has no figure called 'robot.urdf'; for a file"),
        ('version = 1\nfigure = { file = "robot.urdf" }', "robot.urdf: the file cannot be read"),
        ('version = 1\nfigure = { file = "robot.docx" }', "figure: "),
        ('version = 1\nfigure = { file = "a\\u0000.urdf" }', "figure.file must be a line of text"),
        ("version = 1\nversion = 1", "the TOML is broken"),
        ("a = [", "the TOML is broken"),
        ("a = " + "[" * 100_000, "nested too deeply"),
        ("a = " + "9" * 10_000, "the TOML is broken"),
    ],
)  # fmt: skip
def test_a_file_that_is_none(head: str, words: str):
    with pytest.raises(BadFile) as caught:
        parsed("", head=head)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the JSON is broken"),
        ("[]", "the file must be a table, not a list of 0"),
        ("3", "the file must be a table, not 3"),
        ('{"version": 1, "version": 1}', "'version' is said twice"),
        ('{"version": NaN}', "version must be a whole number, not nan"),
        ('{"version": 1, "figure": "human", "posture": {"head.flexion": Infinity}}', "must be finite, not inf"),
        ('{"version": 1, "figure": "human", "constraints": [{"name": "\\ud800"}]}', "name must be a line of text"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"version": 1,\n"figure": }', "a.json:2: the JSON is broken"),
    ],
)
def test_json_that_is_none(text: str, words: str):
    with pytest.raises(BadFile) as caught:
        parsed(text, ".json", head="")
    assert words in str(caught.value)
    assert len(str(caught.value)) < 400


def test_all_problems_are_told_at_once():
    texts = [COMPLAINTS[name][0] for name in ("an unknown coordinate", "too rigid", "an unknown shape", "a word")]
    with pytest.raises(BadFile) as caught:
        parsed("\n".join(texts))
    message = str(caught.value)
    assert message.startswith("a.toml: there are 4 problems:\n  posture.")
    assert message.count("\n") == 4
    for name in ("an unknown coordinate", "too rigid", "an unknown shape", "a word"):
        assert COMPLAINTS[name][1] in message


def test_goals_nested_without_end_are_refused():
    goal: Any = {"at": [1, 2, 3]}
    for _ in range(200):
        goal = {"any_of": [goal]}
    text = json.dumps(
        {"version": 1, "figure": "ur5", "constraints": [{"name": "a", "effector": "tool0", "goal": goal}]}
    )
    with pytest.raises(BadFile, match="nested more than 20 deep"):
        parsed(text, ".json", head="")


def test_too_much_of_anything_is_refused():
    many = [{"name": str(i), "effector": "tool0", "goal": {"at": [1, 2, 3]}} for i in range(1001)]
    with pytest.raises(BadFile, match="constraints are more than 1000"):
        parsed(json.dumps({"version": 1, "figure": "ur5", "constraints": many}), ".json", head="")
    names = {f"x{i}": 0.5 for i in range(10_001)}
    with pytest.raises(BadFile, match="rigidity has more than 10000 fields"):
        parsed(json.dumps({"version": 1, "figure": "ur5", "rigidity": names}), ".json", head="")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a." * 100_000 + "a = 1", "a.toml:3: the TOML is broken: a name has more than 50 parts"),
        ("posture." + "a . " * 100_000 + "a = 1", "a name has more than 50 parts"),
        (f"[rigidity]\n'{'[' * 100_000}' = 1", "rigidity has a field whose name is longer than 1000 characters"),
        ("".join(f"z{i} = 1\n" for i in range(900)), "there are 900 problems"),
    ],
)
def test_what_would_take_long_is_refused_soon(text: str, words: str):
    with pytest.raises(BadFile) as caught:
        parsed(text)
    assert words in str(caught.value)
    assert str(caught.value).count("\n") <= 51


def test_files_that_cannot_be_opened(tmp_path: Path):
    with pytest.raises(BadFile, match="cannot be read"):
        supple.read_scene(tmp_path / "none.toml")
    with pytest.raises(BadFile, match="not a plain file"):
        supple.read_scene(tmp_path)
    (tmp_path / "a.toml").write_bytes(b"version = 1\n\xff\n")
    with pytest.raises(BadFile, match=r"a\.toml:2: this is not UTF-8"):
        supple.read_scene(tmp_path / "a.toml")
    (tmp_path / "a.yaml").write_text("version: 1")
    with pytest.raises(BadFile, match="scenes are kept in"):
        supple.read_scene(tmp_path / "a.yaml")
    with pytest.raises(BadFile, match="scenes are kept in"):
        supple.write(Scene(PANDA), tmp_path / "a.urdf")
    with pytest.raises(BadFile, match="cannot be written"):
        supple.write(Scene(PANDA), tmp_path / "none" / "a.toml")
    with pytest.raises(BadFile, match="figures are written"):
        supple.write(PANDA, tmp_path / "a.toml")


def own(a: Any, x: Any, g: Any, H: Any) -> float:
    return 0.0


def test_what_cannot_be_written_is_listed_whole():
    scene = Scene(PANDA.locked("panda_joint1"))
    scene.add("mine", "panda_hand", Custom(own))
    scene.add("far", "panda_hand", At((1e10, 0, 0)))
    with pytest.raises(BadValue) as caught:
        format_scene(scene, ".toml")
    assert "'mine': a goal of the kind Custom" in str(caught.value)
    assert "made or edited in Python" in str(caught.value)
    assert "numbers above 1e+09" in str(caught.value)
    assert PANDA.origin is not None
    assert PANDA.locked("panda_joint1").origin is None
