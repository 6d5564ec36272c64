"""Errors: one family, messages that name the culprit and propose a remedy, and no door that lets poison in."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import supple
from supple.errors import BadFile, BadValue, Error, MissingExtra, Refused, UnknownName, find
from supple.geometry.placements import X, Z
from tests.tables.figures import TREES

ARM = TREES["arm"]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (BadValue, ValueError),
        (UnknownName, KeyError),
        (BadFile, BadValue),
        (Refused, ValueError),
        (MissingExtra, ImportError),
    ],
)
def test_all_errors_are_of_one_family_and_of_pythons_own_kinds(error: type[Exception], kind: type[Exception]):
    assert issubclass(error, Error)
    assert issubclass(error, kind)
    assert getattr(supple, error.__name__) is error


def test_an_unknown_name_prints_as_a_sentence():
    assert str(UnknownName("figure 'a' has no joint called 'b'")) == "figure 'a' has no joint called 'b'"


@pytest.mark.parametrize(
    ("file", "line", "text"),
    [("a.urdf", 3, "a.urdf:3: wrong"), ("a.urdf", None, "a.urdf: wrong"), (None, None, "wrong")],
)
def test_a_bad_file_says_where(file: str | None, line: int | None, text: str):
    error = BadFile("wrong", file=file, line=line)
    assert str(error) == text
    assert (error.file, error.line) == (file, line)


def test_a_missing_extra_says_how_to_get_it():
    assert str(MissingExtra("mujoco", "mjcf", "reading MJCF")).endswith('pip install "supple[mjcf]"')


NAMES = ("left_shoulder", "left_elbow", "right_elbow", "head")


def test_find():
    assert [find(NAMES, name, "segment", "it") for name in NAMES] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("left_elbw", r"has no segment called 'left_elbw'; did you mean left_elbow, right_elbow.*\?$"),
        ("hed", r"did you mean head\?$"),
        ("zzz", r"; it has left_shoulder, left_elbow, right_elbow, head$"),
        (None, "has no segment called None"),
        (3.5, "has no segment called 3.5"),
        ("", "has no segment called ''"),
    ],
)
def test_an_unknown_name_proposes_what_is_near(name: Any, message: str):
    with pytest.raises(UnknownName, match=message):
        find(NAMES, name, "segment", "the figure")


def test_a_long_list_of_names_is_cut():
    with pytest.raises(UnknownName, match=r"n11, …$"):
        find(tuple(f"n{k}" for k in range(50)), "elephant", "segment", "the figure")


# ── poison ───────────────────────────────────────────────────────────────────────────────────────────────────────────
NAN, INF = math.nan, math.inf
# a maker for every public door, and what is poison to it
NUMBER = (NAN, "much", [1.0, 2.0])
POSITIVE = (NAN, INF, 0.0, -1.0)
VECTOR = ((NAN, 0, 0), (INF, 0, 0), (1, 2), (1, 2, 3, 4), "here", None, 5.0, [[1, 2, 3]], (1, "x", 2))
AXIS = (*VECTOR, (0, 0, 0))
PLACE = (
    (NAN, 0, 0), np.full((4, 4), NAN), np.diag([1.0, 1, -1, 1]), 2 * np.eye(4), np.eye(3), "here", None, np.ones((4, 4)), 5.0,
)  # fmt: skip
TURN = (np.full((3, 3), NAN), np.diag([1.0, 1, -1]), 2 * np.eye(3), np.eye(4), "left", np.zeros((3, 3)))
QUATERNION = ((0, 0, 0, 0), (NAN, 0, 0, 1), (1, 0, 0), "left")
LIMITS = ((1, -1), (NAN, 1), (0, NAN), (1,), (1, 2, 3), "wide", 5.0, None, (INF, INF), (-INF, -INF))
POSTURE = ((NAN, 0, 0, 0), (INF, 0, 0, 0), (0, 0), "still", None, [[[0, 0, 0, 0]]])

DOORS: dict[str, tuple[Callable[[Any], Any], tuple[Any, ...]]] = {
    "hinge axis": (lambda v: supple.hinge("j", None, v), AXIS),
    "hinge at": (lambda v: supple.hinge("j", None, at=v), PLACE),
    "hinge limits": (lambda v: supple.hinge("j", None, limits=v), LIMITS),
    "hinge rest": (lambda v: supple.hinge("j", None, rest=v), NUMBER),
    "screw pitch": (lambda v: supple.screw("j", None, pitch=v), (*NUMBER, INF)),
    "slide axis": (lambda v: supple.slide("j", None, v), AXIS),
    "ball limits": (lambda v: supple.ball("j", None, limits=v), (((0, 1),), [(0, 1), (0, 1), (1, 0)])),
    "Point": (lambda v: supple.Point("hand", v), VECTOR),
    "Direction": (lambda v: supple.Direction("hand", v), AXIS),
    "Frame": (lambda v: supple.Frame("hand", v), PLACE),
    "place": (supple.place, VECTOR),
    "place matrix": (lambda v: supple.place((0, 0, 0), matrix=v), TURN),
    "place quaternion": (lambda v: supple.place((0, 0, 0), quat_wxyz=v), QUATERNION),
    "At": (supple.At, VECTOR),
    "Facing": (supple.Facing, tuple(v for v in AXIS if v is not None)),
    "Facing matrix": (lambda v: supple.Facing(matrix=v), TURN),
    "Facing per radian": (lambda v: supple.Facing(X, per_radian=v), (*POSITIVE, "much", (1, 2, 3))),
    "Placed": (supple.Placed, (*PLACE, (1, 2, 3))),
    "Placed matrix": (lambda v: supple.Placed((0, 0, 0), matrix=v), TURN),
    "Placed quaternion": (lambda v: supple.Placed((0, 0, 0), quat_xyzw=v), QUATERNION),
    "Placed per radian": (lambda v: supple.Placed(np.eye(4), per_radian=v), POSITIVE),
    "AimedAt": (supple.AimedAt, VECTOR),
    "OnLine point": (lambda v: supple.OnLine(v, Z), VECTOR),
    "OnLine direction": (lambda v: supple.OnLine(X, v), AXIS),
    "OnPlane normal": (lambda v: supple.OnPlane(X, v), AXIS),
    "Beyond normal": (lambda v: supple.Beyond(X, v), AXIS),
    "Within": (lambda v: supple.Within(v, box=0.1), PLACE),
    "Within box": (lambda v: supple.Within(box=v), (NAN, INF, -1.0, (1, 2), "big", [(1, 1, 1), (0, 0, 0)])),
    "Within tilt": (lambda v: supple.Within(tilt=v), (NAN, 4.0, -1.0, (1, 2), "big")),
    "Aligned": (lambda v: supple.Aligned(v, Z), VECTOR),
    "Aligned axis": (lambda v: supple.Aligned(X, v), AXIS),
    "AnyOf": (supple.AnyOf, ([], ["here"], [None], [("hand",)], [("hand", "here")], [(1, supple.At(X))])),
    "Outside": (supple.Outside, (None, "here", supple.Ball((0, 0, 0), 1.0))),
    "Outside margin": (lambda v: supple.Outside(supple.Box((0, 0, 0), (1, 1, 1)), v), (NAN, INF, -1.0, "much", (1, 2))),
    "Near": (supple.Near, ([NAN], [INF], [[1.0]], "rest")),
    "Near weights": (lambda v: supple.Near([0.0, 0.0], v), (NAN, -1.0, (1, 2, 3), "much")),
    "Task weight": (lambda v: supple.Task("hand", supple.At(X), weight=v), POSITIVE),
    "Task tolerance": (lambda v: supple.Task("hand", supple.At(X), tolerance=v), POSITIVE),
    "Task effector": (lambda v: supple.Task(v, supple.At(X)), (None, 3, (1, 2, 3))),
    "Task goal": (lambda v: supple.Task("hand", v), (None, 3, (1, 2, 3), "up")),
    "Limits": (
        lambda v: supple.Limits([v[0]], [v[1]]),
        tuple(v for v in LIMITS if isinstance(v, tuple) and len(v) == 2),
    ),
    "Body mass": (supple.geometry.Body, (NAN, INF, -1.0)),
    "Ball radius": (lambda v: supple.Ball((0, 0, 0), v), POSITIVE),
    "Box": (lambda v: supple.Box((0, 0, 0), v), ((0, 1, 1), (NAN, 1, 1), (1, 1))),
    "Polytope": (lambda v: supple.Polytope(v, [1.0]), ([[0, 0, 0]], [[NAN, 0, 1]], [[1, 2]])),
    "Spline": (lambda v: supple.figure.Spline(v, (0, 1, 2)), ((0, 0, 1), (0, 1), (0, NAN, 1), (2, 1, 0))),
    "mimic ratio": (lambda v: supple.mimic("a", v), (NAN, INF)),
    "mimic offset": (lambda v: supple.mimic("a", 1.0, v), (NAN, INF)),
    "placement": (lambda v: ARM.placement(v, "hand"), POSTURE),
    "segment": (lambda v: ARM.placement(ARM.rest, v), ("", None, 3, "hands", ("hand",))),
    "jacobian": (lambda v: ARM.jacobian(v, "hand"), POSTURE),
    "evaluate": (lambda v: supple.Problem(ARM, [supple.Task("hand", supple.At(X))]).evaluate(v), POSTURE),
    "start": (lambda v: supple.solve(ARM, {"hand": supple.At(X)}, start=v), tuple(v for v in POSTURE if v is not None)),
    "rigidity": (lambda v: supple.Problem(ARM, [], rigidity=v), (NAN, -0.1, 1.1, {"leg": 1}, {"elbow": 2})),
    "with_limits": (lambda v: ARM.with_limits({"elbow": v}), ((1, -1), (NAN, 1), (1,), (1, 2, 3))),
    "with_rest": (ARM.with_rest, ({"leg": 0.0}, {"elbow": NAN}, [0, 0], [NAN, 0, 0, 0])),
    "based_at": (ARM.based_at, PLACE),
    "attached at": (lambda v: ARM.attached("tool", "hand", v), PLACE),
    "aimed": (
        lambda v: supple.Problem(ARM, [supple.Task("hand", supple.At(X))]).aimed(v),
        tuple(v for v in VECTOR if v is not None),
    ),
}
POISON = [(door, k) for door, (_, values) in DOORS.items() for k in range(len(values))]
DOOR_IDS = [f"{door}-{DOORS[door][1][k]!r}".replace("\n", "")[:60] for door, k in POISON]


@pytest.mark.parametrize(("door", "k"), POISON, ids=DOOR_IDS)
def test_poison_is_refused_by_name(door: str, k: int):
    make, values = DOORS[door]
    with pytest.raises(Error) as caught:
        make(values[k])
    assert len(str(caught.value)) > 15
