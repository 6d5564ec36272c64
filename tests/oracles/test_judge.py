"""The judge of `fuzz/soak.py`: it knows nothing of the library, agrees with Pinocchio, and notices answers that are wrong."""

from __future__ import annotations

import ast
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import judge as judging
import supple
from doors import Ledger
from laws import judged
from questions import KNOWN, question
from soak import GROWTH, grown
from supple import (
    AimedAt,
    AnyOf,
    At,
    Beyond,
    Direction,
    Facing,
    Frame,
    Gap,
    Near,
    OnLine,
    OnPlane,
    Placed,
    Point,
    Problem,
    Task,
    Within,
)
from supple.problem import Miss
from tests import ROOT
from tests.tables.figures import FIGURES, placements_by_exponentials, posture

HALF = np.pi / 2


# ── it is another's ──────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("file", ["judge.py", "judge_goals.py"])
def test_the_judge_imports_nothing_of_the_library(file: str):
    tree = ast.parse((ROOT / "fuzz" / file).read_text())
    names = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert names <= {"__future__", "typing", "numpy", "judge_goals"}


# ── places ───────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", FIGURES)
def test_places_are_products_of_exponentials(name: str):
    figure = FIGURES[name]
    Q = np.array([posture(figure, seed, 1.5) for seed in range(3)])
    places = judging.Judge(SimpleNamespace(figure=figure)).places(Q)
    for k, q in enumerate(Q):
        for segment, X in placements_by_exponentials(figure, q).items():
            assert_allclose(places[segment][k], X, atol=1e-12)


@pytest.mark.parametrize("name", ["panda", "human", "stewart"])
def test_places_are_pinocchios(name: str):
    pin: Any = pytest.importorskip("pinocchio")
    from tests.oracles.test_pinocchio import configuration, model_of

    figure = supple.load(name)
    q = posture(figure, 5, 0.4)
    model = model_of(figure)
    data = model.createData()
    pin.framesForwardKinematics(model, data, configuration(figure, model, q))
    places = judging.Judge(SimpleNamespace(figure=figure)).places(q[None])
    for segment in figure.segments:
        assert_allclose(places[segment][0], data.oMf[model.getFrameId(segment)].homogeneous, atol=1e-12)


# ── misses that anybody can check ────────────────────────────────────────────────────────────────────────────────────
ARM = supple.Figure(
    "arm",
    [
        *supple.hinge("upper", None, (0, 0, 1), limits=(-2.0, 2.0)),
        *supple.hinge("lower", "upper", (0, 0, 1), at=(1, 0, 0), limits=(-2.0, 2.0)),
        *supple.fixed("hand", "lower", at=(1, 0, 0)),
    ],
    bodies={"upper": supple.geometry.Body(1.0, (1, 0, 0)), "hand": supple.geometry.Body(3.0)},
)
Q = np.array([0.0, HALF])  # the hand at (1, 1, 0), turned by a right angle about z
AT_ONE = supple.place((0, 0, 0), rpy=(0, 0, HALF))
SEEN: dict[str, tuple[Any, float, float]] = {
    "at": (Task(Point("hand"), At((1, 1, 2))), 2.0, 0.0),
    "relative": (Task(Point("hand"), At((0, 0, 0), relative_to="lower")), 1.0, 0.0),
    "placed": (Task("hand", Placed((1, 0, 0), rpy=(0, 0, 0))), 1.0, HALF),
    "turned": (Task("hand", Facing(rpy=(0, 0, HALF))), 0.0, 0.0),
    "turned over": (Task("hand", Facing(rpy=(0, 0, -HALF))), 0.0, np.pi),
    "facing": (Task(Direction("hand"), Facing((1, 1, 0))), 0.0, np.pi / 4),
    "aimed": (Task(Direction("hand"), AimedAt((1, 5, 0))), 0.0, 0.0),
    "aimed aside": (Task(Direction("hand", offset=(0, 1, 0)), AimedAt((5, 1, 0))), 0.0, HALF),
    "line": (Task(Point("hand"), OnLine((0, 0, 0), (1, 0, 0))), 1.0, 0.0),
    "plane": (Task(Point("hand"), OnPlane((0, 0, 0), (0, 2, 0))), 1.0, 0.0),
    "beyond": (Task(Point("hand"), Beyond((0, 0, 0), (0, 1, 0))), 0.0, 0.0),
    "not beyond": (Task(Point("hand"), Beyond((0, 3, 0), (0, 1, 0))), 2.0, 0.0),
    "in the box": (Task(Point("hand"), Within((1, 0.5, 0), box=0.6)), 0.0, 0.0),
    "out of the box": (Task("hand", Within((1, 0, 0), box=0.5, tilt=1.0)), 0.5, HALF - 1.0),
    "any": (Task(Point("hand"), AnyOf([At((9, 9, 9)), At((1, 1, 0.5))])), 0.5, 0.0),
    "gap": (Task(Gap(Frame("upper"), Frame("hand")), Placed(AT_ONE)), np.sqrt(2.0), 0.0),
    "mass": (Task(supple.MassCentre(), At((1, 0, 0))), 0.75, 0.0),
    "near": (Task(None, Near((1, 1))), 0.0, 0.0),
}


@pytest.mark.parametrize("name", SEEN)
def test_misses(name: str):
    task, metres, radians = SEEN[name]
    (miss,) = judging.Judge(Problem(ARM, [task])).misses(Q[None])
    assert_allclose([miss.metres[0], miss.radians[0]], [metres, radians], atol=1e-12)


def test_obstacles_and_loops():
    arm = ARM.with_spheres({"hand": [(0, 0, 0, 0.1)]})
    arm = replace(arm, loops=(supple.Loop("pin", "hand", "upper", point=True),))
    things = [
        supple.Ball((1, 1, 1), 0.5),
        supple.Box((0, 0, -1), (2, 1.25, 1)),
        supple.Capsule(0.2, 2.0, supple.place((1, 2, 0))),
        supple.Polytope.half_space((0, 0, -0.3), (0, 0, 1)),
    ]
    problem = Problem(arm, [], obstacles=things, clearance=supple.Clearance(margin=0.3))
    misses = judging.Judge(problem).misses(Q[None])
    assert_allclose([m.metres[0] for m in misses], [np.sqrt(2), 0.0, 0.65, 0.0, 0.1], atol=1e-12)


def test_limits():
    arm = supple.Figure(
        "arm",
        [
            *supple.hinge("a", None, limits=(-1, 1)),
            *supple.hinge("b", "a", limits=(-1, 1)),
            *supple.hinge("c", "b", limits=(-0.5, 0.5), drive=supple.mimic("a", 2.0)),
        ],
        bounds=[supple.figure.LinearLimit.of({"a": 3.0, "b": 4.0}, 2.0)],
    )
    judge = judging.Judge(Problem(arm, []))
    postures = np.array(
        [[0, 0], [0, 1.5], [0.3, 0], [0.2, 0.9], [0.25, 0.3125], [np.nan, 0], [np.nextafter(-1, -2), 0]]
    )
    assert_allclose(judge.illegal(postures)[:6], [0, 0.8, 0.1, 0.44, 0, np.inf], atol=1e-9)
    assert judge.illegal(np.array([[0.0, np.nextafter(-1, -2)]]))[0] > 0.0
    stated = supple.Limits([0, 0], [0.1, 0.1])
    assert_allclose(
        judging.Judge(Problem(arm, [], stated), stated).illegal(np.array([[0.1, 0.1], [0.1, 0.2]])), [0, 0.1]
    )


# ── it notices ───────────────────────────────────────────────────────────────────────────────────────────────────────
def asked() -> Any:
    """A question about an arm with a row of each kind."""
    return next(q for q in (question(0, k) for k in range(99)) if q.short and {"hair", "beyond"} <= set(q.kinds))


ASKED = asked()
ROW = int(np.flatnonzero(ASKED.kinds == "inside")[0])
FAR = int(np.flatnonzero(ASKED.kinds == "beyond")[0])


def answer(row: int = ROW, **changed: Any) -> Any:
    """The posture that a target was made from, told as a door would."""
    q = changed.pop("q", ASKED.postures[row])
    fields = {"q": q, "status": supple.Status.SOLVED, "ok": True, "reason": "So it is.", "certificate": None}
    fields |= changed
    return SimpleNamespace(**fields, **({} if "errors" in fields else {"errors": ASKED.aimed(row).misses(q)}))


def laws_broken(door: str, row: int, *answers: Any) -> set[str]:
    ledger = Ledger(ASKED)
    for one in answers:
        ledger.add(door, row, one)
    judged(ledger)
    return {one["law"] for one in ledger.wrong}


def test_a_true_answer_breaks_no_law():
    assert laws_broken("solve", ROW, answer()) == set()
    far = answer(FAR, status=supple.Status.NEAREST, ok=False)
    assert laws_broken("solve", FAR, far) == set()


WRONG: dict[str, tuple[str, int, dict[str, Any], str]] = {
    "a posture beside": ("solve", ROW, {"q": ASKED.problem.figure.rest}, "SOLVED means met"),
    "out of reach": ("query", FAR, {}, "SOLVED means met"),
    "outside": ("solve_many", ROW, {"q": ASKED.postures[ROW] + 1e9}, "every posture is legal"),
    "not finite": ("query", ROW, {"q": ASKED.postures[ROW] * np.nan, "errors": []}, "every posture is legal"),
    "too modest": ("solve", ROW, {"status": supple.Status.NEAREST, "ok": False}, "met means SOLVED"),
    "false errors": ("solve", ROW, {"errors": [Miss(1e-8, 0.0) for _ in ASKED.problem.tasks]}, "errors are true"),
    "no reason": ("query", FAR, {"status": supple.Status.NEAREST, "ok": False, "reason": ""}, "a reason is given"),
    "two words": ("query", ROW, {"ok": False}, "ok means SOLVED"),
    "called impossible": (
        "solve", ROW, {"status": supple.Status.IMPOSSIBLE, "ok": False}, "what can be reached is not impossible",
    ),
    "without a proof": ("solve", FAR, {"status": supple.Status.IMPOSSIBLE, "ok": False}, "IMPOSSIBLE is proved"),
    "a false proof": (
        "solve", FAR,
        {"status": supple.Status.IMPOSSIBLE, "ok": False, "certificate": SimpleNamespace(verify=lambda figure, limits: False)},
        "IMPOSSIBLE is proved",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_is_noticed(name: str):
    door, row, changed, law = WRONG[name]
    assert law in laws_broken(door, row, answer(row, **changed))


def test_a_step_of_a_tolerance_is_noticed():
    """A posture that just misses: one coordinate moved by as little as a few tolerances allow."""
    figure, k = ASKED.problem.figure, 0
    for k in range(figure.size):
        q = ASKED.postures[ROW].copy()
        q[k] += 1e-2 * (1.0 if q[k] < 0.5 * (figure.lower[k] + figure.upper[k]) else -1.0)
        misses = ASKED.aimed(ROW).misses(q)
        if any(m.metres > 2e-5 or m.radians > 2e-4 for m in misses):
            assert "SOLVED means met" in laws_broken("solve", ROW, answer(q=q))
            return
    pytest.fail("no coordinate moves the goal")


def test_doors_that_differ_in_the_last_bit_are_noticed():
    ledger = Ledger(ASKED)
    ledger.same("solve", "query", ROW, answer(), answer(q=np.nextafter(ASKED.postures[ROW], np.inf)))
    ledger.same("solve", "query", ROW, answer(), answer(status=supple.Status.NEAREST))
    ledger.same("solve", "query", ROW, answer(), answer(reason="So it is not."))
    ledger.same("solve", "query", ROW, answer(), answer())
    laws = [f"doors agree on {what}" for what in ("q", "the status", "the reason")]
    assert [one["law"] for one in ledger.wrong] == laws


def test_memory_that_grows_is_noticed():
    rng = np.random.default_rng(0)
    flat = 300.0 + rng.normal(0, 3, 200)
    assert abs(grown(flat.tolist())) < 0.2 * GROWTH
    assert grown((flat + np.linspace(0, 3 * GROWTH, 200)).tolist()) > GROWTH
    assert abs(grown([100.0] * 20 + flat.tolist())) < 0.2 * GROWTH  # warming up is no growth


def test_what_is_drawn_is_what_is_said_of_it():
    for k in range(12):
        one = question(5, k)
        known = np.isin(one.kinds, KNOWN)
        assert (one.judge.illegal(one.postures) == 0.0).all()
        for task, miss in zip(one.problem.all_tasks, one.judge.misses(one.postures, one.targets), strict=True):
            assert (miss.metres[known] <= task.tolerance + miss.metres_off[known]).all()
            assert (miss.radians[known] <= task.angle_tolerance + miss.radians_off[known]).all()
