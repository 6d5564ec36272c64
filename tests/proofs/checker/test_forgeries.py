"""Certificates that lie: for every field of the format a forgery that would matter if it were believed, and random ones."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import supple
from supple.proofs.certificate import Certificate
from supple.proofs.checker.balls import bend, dual_of, need_flint, placed
from tests.proofs.test_decide import gantry, scara, two_arms

pytest.importorskip("flint")
Data = dict[str, Any]


def ball_arm() -> supple.Figure:
    """A slide and three hinges with a ball at the end."""
    figure = supple.Figure(
        "ball arm",
        [
            supple.Joint("rail", None, slide=(1, 0, 0), limits=(0.0, 0.2), segment="cart"),
            supple.Joint("one", "cart", turn=(0, 0, 1), limits=(-0.5, 0.5), segment="upper"),
            supple.Joint(
                "two", "upper", supple.place((0.4, 0, 0)), turn=(0, 0, 1), limits=(-0.5, 0.5), segment="lower"
            ),
            supple.Joint(
                "three", "lower", supple.place((0.3, 0, 0)), turn=(0, 1, 0), limits=(-0.5, 0.5), segment="hand"
            ),
        ],
    )
    return figure.with_spheres({"hand": [(0.0, 0.0, 0.0, 0.05)], "upper": [(0.0, 0.0, 0.0, 0.05)]})


def held() -> supple.Figure:
    """Two arms that hold a bar of three metres."""
    from dataclasses import replace

    ends = supple.place((0, -3.0, 0)), supple.place((0, 0.2, 0))
    return replace(two_arms(), loops=(supple.Loop("bar", "part l4", "part r4", *ends),))


def problems() -> dict[str, supple.Problem]:
    """One that is impossible for every kind of entry and proof."""
    hand = ball_arm()
    at = hand.placement(hand.rest, "hand")
    wall = supple.Box(tuple(at[:3, 3] - 0.1), tuple(at[:3, 3] + 0.1))
    tool = supple.Direction("tool", (0, 0, 1))
    rail = gantry()
    seen = supple.Placed(supple.place((0.0, 0.0, 3.0)), relative_to="on x")
    both = held()
    return {
        "pose": supple.Problem(scara(), [supple.Task("tool", supple.Placed(supple.place((1.5, 0.0, 0.2))))]),
        "point": supple.Problem(scara(), [supple.Task(supple.Point("tool"), supple.At((1.5, 0.0, 0.2)))]),
        "axis": supple.Problem(
            scara(),
            [
                supple.Task(supple.Point("tool"), supple.At((0.9, 0.0, 0.2))),
                supple.Task(tool, supple.Facing((0, 0, 1))),
            ],
        ),
        "relative": supple.Problem(rail, [supple.Task("hand z", seen)]),
        "crash": supple.Problem(hand, [supple.Task("hand", supple.Placed(at))], obstacles={"wall": wall}),
        "held": supple.Problem(both, [supple.Task("part l4", supple.Placed(both.placement(both.rest, "part l4")))]),
    }


@cache
def honest() -> dict[str, tuple[supple.Figure, str]]:
    """Certificates as texts, with their figures."""
    out = {}
    for name, problem in problems().items():
        solution = supple.solve(problem)
        assert solution.status is supple.Status.IMPOSSIBLE, (name, solution.reason)
        out[name] = (problem.figure, solution.certificate.to_json())
    return out


def data_of(name: str) -> tuple[supple.Figure, Data]:
    figure, text = honest()[name]
    return figure, json.loads(text)


def accepted(data: Data, figure: supple.Figure | None) -> bool:
    try:
        return Certificate.from_json(json.dumps(data)).verify(figure)
    except supple.BadFile:
        return False


@pytest.mark.parametrize("name", list(problems()))
def test_honest_certificates_hold_and_say_what_was_not_checked(name: str) -> None:
    figure, text = honest()[name]
    certificate = Certificate.from_json(text)
    assert certificate.to_json() == text
    alone, known = certificate.checked(), certificate.checked(figure)
    assert alone.holds
    assert known.holds
    assert any(figure.name in part for part in alone.unchecked)
    assert not any(figure.name in part for part in known.unchecked)
    for wish in certificate.wishes:
        assert wish.segment in certificate.statement
        assert f"{wish.tolerance:g} m" in certificate.statement
    for link in certificate.said.links:
        assert link.is_fixed or f"{link.name} in [" in certificate.statement
    assert figure.name in certificate.statement
    assert ("wall" in certificate.statement) == (name == "crash")


# ── one forgery for every field ──────────────────────────────────────────────────────────────────────────────────────
def put(*path: Any, value: Any) -> Callable[[Data], None]:
    """Put a value where a path leads to."""

    def change(data: Data) -> None:
        at: Any = data
        for key in path[:-1]:
            at = at[key]
        assert at[path[-1]] != value
        at[path[-1]] = value

    return change


def grown(*path: Any, by: float) -> Callable[[Data], None]:
    """Multiply every number under a path."""

    def times(x: Any) -> Any:
        return [times(y) for y in x] if isinstance(x, list) else x * by

    def change(data: Data) -> None:
        at: Any = data
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = times(at[path[-1]])

    return change


def moved(*path: Any, axis: int, by: float) -> Callable[[Data], None]:
    """Move a placement."""

    def change(data: Data) -> None:
        at: Any = data
        for key in path:
            at = at[key]
        at[axis][3] += by

    return change


def extra(*path: Any, **fields: Any) -> Callable[[Data], None]:
    def change(data: Data) -> None:
        at: Any = data
        for key in path:
            at = at[key]
        at.update(fields)

    return change


REACHED = scara().placement(scara().rest, "tool").tolist()
FIELDS: dict[str, tuple[str, Callable[[Data], None]]] = {
    "another format": ("pose", put("format", value="supple certificate 1")),
    "another figure": ("pose", put("figure", value="panda")),
    "a joint's name": ("pose", put("joints", 1, "name", value="one")),
    "a joint's segment": ("pose", put("joints", 1, "segment", value="tool")),
    "a joint's parent": ("pose", put("joints", 1, "parent", value=None)),
    "a placement": ("pose", moved("joints", 1, "at", axis=0, by=-0.4)),
    "an axis": ("pose", put("joints", 1, "turn", value=[0, 1, 0])),
    "an axis of another length": ("pose", put("joints", 1, "turn", value=[0, 0, 0.5])),
    "a joint that no longer turns": ("pose", put("joints", 1, "turn", value=[0, 0, 0])),
    "a slide": ("pose", put("joints", 2, "slide", value=[0, 0, -0.01])),
    "a turn that slides": ("pose", put("joints", 1, "slide", value=[0, 0, 1])),
    "a lower limit": ("pose", put("joints", 0, "lower", value=1.9)),
    "an upper limit": ("pose", put("joints", 0, "upper", value=-1.9)),
    "limits upside down": ("pose", put("joints", 0, "lower", value=3.0)),
    "a target that is reached": ("pose", put("entries", 0, "target", value=REACHED)),
    "a frame that is reached": ("pose", moved("entries", 0, "frame", axis=0, by=1.0)),
    "a frame that is no rotation": ("pose", grown("entries", 0, "frame", by=2.0)),
    "a target that is a reflection": ("pose", put("entries", 0, "target", 2, 2, value=-1.0)),
    "a tolerance": ("pose", put("entries", 0, "tolerance", value=2.0)),
    "a negative tolerance": ("pose", put("entries", 0, "tolerance", value=-2.0)),
    "an angle": ("pose", put("entries", 0, "angle_tolerance", value=-1e-4)),
    "a wide angle": ("pose", put("entries", 0, "angle_tolerance", value=7.0)),
    "another kind": ("pose", put("entries", 0, "kind", value="point")),
    "an axis that was a point": ("point", put("entries", 0, "kind", value="axis")),
    "another segment": ("pose", put("entries", 0, "segment", value="nothing")),
    "seen from elsewhere": ("relative", put("entries", 0, "seen_from", value="hand x")),
    "seen from the world": ("relative", put("entries", 0, "seen_from", value=None)),
    "a way led elsewhere": ("pose", extra("entries", 0, led=REACHED)),
    "a turn with the name of a joint": ("axis", extra("entries", 0, turning="one")),
    "no wish": ("pose", put("entries", value=[])),
    "what follows from itself": ("held", put("entries", 2, "known", value=2)),
    "what follows from the wrong one": ("held", put("entries", 2, "through", value=0)),
    "what follows from what is before the first": ("held", put("entries", 2, "known", value=-3)),
    "a loop that is wide open": ("held", put("entries", 1, "tolerance", value=5.0)),
    "a claim that is none": ("pose", put("proof", 0, "claim", value=1)),
    "a negative claim": ("pose", put("proof", 0, "claim", value=-1)),
    "another arc": ("pose", put("proof", 0, "start", value=1)),
    "an arc that is none": ("pose", put("proof", 0, "start", value=-1)),
    "no squares": ("axis", put("proof", 0, "grams", value=[])),
    "squares of too many columns": ("axis", put("proof", 0, "grams", 0, value=[[1.0] * 9] * 8)),
    "another Λ": ("pose", grown("proof", 0, "symmetric", by=-1.0)),
    "another λ": ("point", grown("proof", 0, "linear", by=-1.0)),
    "a λ that is too long": ("point", put("proof", 0, "linear", value=[1.0] * 5)),
    "no boxes": ("pose", put("proof", value=[])),
    "a cut outside": ("pose", lambda d: d.update(proof=[{"joint": 0, "at": 9.0}, d["proof"][0], d["proof"][0]])),
    "a cut of nothing": ("pose", lambda d: d.update(proof=[{"joint": 99, "at": 0.0}, d["proof"][0], d["proof"][0]])),
    "half a cut": ("pose", lambda d: d.update(proof=[{"joint": 0, "at": 0.0}, d["proof"][0]])),
    "a margin": ("crash", put("margin", value=-0.2)),
    "a clearance's tolerance": ("crash", put("tolerance", value=0.5)),
    "a larger bar": ("crash", put("pairs", 0, "bar", "shape", "radius", value=0.5)),
    "a bar elsewhere": ("crash", put("pairs", 0, "bar", "shape", "centre", value=[0.0, 0.0, 0.01])),
    "another bar": ("crash", put("pairs", 0, "bar", "number", value=1)),
    "a bar of another segment": ("crash", put("pairs", 0, "bar", "segment", value="upper")),
    "a bar in the world": ("crash", put("pairs", 0, "bar", "segment", value=None)),
    "a small wall": ("crash", put("pairs", 0, "other", "shape", "upper", value=[-5.0, -5.0, -5.0])),
    "a wall elsewhere": ("crash", moved("pairs", 0, "other", "shape", "at", axis=2, by=3.0)),
    "a wall on a segment": ("crash", put("pairs", 0, "other", "segment", value="hand")),
    "another pair": ("crash", put("proof", 0, "pair", value=1)),
    "a point beyond the bar": ("crash", put("proof", 0, "along", value=0.3)),
    "given something else": ("crash", put("proof", 0, "given", value=5)),
    "a point that is not in the wall": ("crash", put("proof", 0, "near", value=[9.0, 9.0, 9.0])),
}


@pytest.mark.parametrize("what", FIELDS)
def test_a_lie_in_any_field_is_refused(what: str) -> None:
    name, change = FIELDS[what]
    figure, data = data_of(name)
    change(data)
    assert not accepted(data, figure)


def test_numbers_that_vanish_when_they_are_squared_prove_nothing() -> None:
    """A proof times 1e-200 is as negative as it was, but its norms, and with them what tolerances need, would be zero."""
    figure, data = data_of("pose")
    for key in ("symmetric", "kernel"):
        grown("proof", 0, key, by=1e-200)(data)
    grown("proof", 0, "grams", by=1e-100)(data)
    data["entries"][0]["tolerance"] = 2.0
    assert not accepted(data, figure)


def test_the_obstacle_of_one_name_is_one() -> None:
    figure, data = data_of("crash")
    second = copy.deepcopy(data["pairs"][0])
    second["other"]["shape"]["upper"] = [9.0, 9.0, 9.0]
    data["pairs"].append(second)
    assert not accepted(data, figure)


def test_wider_tolerances_that_a_proof_withstands_are_true() -> None:
    """Not every change is a lie: what still verifies is a statement of its own."""
    figure, data = data_of("pose")
    data["entries"][0]["tolerance"] = 1e-3
    assert accepted(data, figure)
    assert not accepted(data, figure.scaled(1.01))


# ── what is too much ─────────────────────────────────────────────────────────────────────────────────────────────────
def text_with(old: str, new: str) -> str:
    text = honest()["pose"][1]
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    "text",
    [
        lambda: text_with('"margin": 0.0', '"margin": 0.0, "margin": 1.0'),
        lambda: text_with('"margin": 0.0', '"margin": ' + "9" * 1_000_000),
        lambda: text_with('"margin": 0.0', '"margin": 0.' + "0" * 1_000_000),
        lambda: text_with('"margin": 0.0', '"margin": NaN'),
        lambda: text_with('"margin": 0.0', '"margin": 1e999'),
        lambda: text_with('"margin": 0.0', '"margin": 1e60'),
        lambda: text_with('"margin": 0.0', '"margin": true'),
        lambda: text_with('"margin": 0.0', '"margin": "0"'),
        lambda: text_with('"margin": 0.0', '"margin": 0.0, "more": 0'),
        lambda: text_with('"pairs": []', '"pairs": ' + "[" * 100_000 + "]" * 100_000),
        lambda: text_with('"name": "one"', '"name": "' + "x" * 5000 + '"'),
        lambda: text_with('"name": "one"', '"name": 1'),
        lambda: json.dumps({**json.loads(honest()["pose"][1]), "proof": [{"joint": 0, "at": 0.0}] * 1000}),
        lambda: json.dumps({**json.loads(honest()["pose"][1]), "entries": [{"known": 0, "through": 0}] * 1000}),
    ],
)
def test_what_is_too_much_is_refused_before_any_work(text: Callable[[], str]) -> None:
    with pytest.raises(supple.BadFile):
        Certificate.from_json(text())


def test_chains_that_are_too_long_are_refused_before_any_work() -> None:
    _, data = data_of("pose")
    link = data["joints"][-1]
    for k in range(12):
        data["joints"].append(
            {**link, "name": f"more {k}", "segment": f"s{k}", "parent": data["joints"][-1]["segment"]}
        )
    data["entries"][0]["segment"] = "s11"
    report = Certificate.from_json(json.dumps(data)).checked()
    assert not report.holds
    assert "more than 8 joints" in report.why


# ── random changes ───────────────────────────────────────────────────────────────────────────────────────────────────
def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to everything in some data; of long lists of numbers a few."""
    out = [path] if path else []
    if isinstance(data, dict):
        return out + [p for key, value in data.items() for p in places(value, (*path, key))]
    if isinstance(data, list):
        some = range(len(data)) if len(data) < 9 else (0, len(data) // 2, len(data) - 1)
        return out + [p for k in some for p in places(data[k], (*path, k))]
    return out


def mutated(rng: random.Random, data: Data, others: list[Data]) -> None:
    """Change something somewhere."""
    path = rng.choice(places(data))
    at: Any = data
    for key in path[:-1]:
        at = at[key]
    key, old = path[-1], at[path[-1]]
    kind = rng.randrange(6)
    if kind == 0 and isinstance(old, int | float):
        at[key] = rng.choice([0, -old, 2 * old, old + rng.gauss(0, 1), old * (1 + 1e-3 * rng.gauss(0, 1)), 1e40, -1, 1])
    elif kind == 1:
        at[key] = rng.choice([None, 0, 1.5, "tool", [], {}, [0.0], True, -1])
    elif kind == 2:
        del at[key]
    elif kind == 3 and isinstance(at, list):
        at.insert(key, copy.deepcopy(rng.choice(at)))
    elif kind == 4:
        other: Any = rng.choice(others)
        try:
            for step in path:
                other = other[step]
            at[key] = copy.deepcopy(other)
        except (KeyError, IndexError, TypeError):
            at[key] = None
    else:
        twin = rng.choice(places(data))
        other = data
        for step in twin:
            other = other[step]
        at[key] = copy.deepcopy(other)


def met(certificate: Certificate, figure: supple.Figure) -> bool:
    """Whether a posture that meets every wish is found: drawn at random, or by a search that cannot prove."""
    tasks = []
    for wish in certificate.wishes:
        goal = {"relative_to": wish.seen_from}
        if wish.kind == "pose":
            frame, wanted = supple.Frame(wish.segment, wish.frame), supple.Placed(wish.target, **goal)
        else:
            frame, wanted = supple.Point(wish.segment, wish.frame[:3, 3]), supple.At(wish.target[:3, 3], **goal)
        loose = {"tolerance": max(wish.tolerance, 1e-9), "angle_tolerance": max(wish.angle_tolerance, 1e-9)}
        tasks.append(supple.Task(frame, wanted, **loose))
    walls = dict(certificate.said.obstacles)
    problem = supple.Problem(figure, tasks, obstacles=walls)
    return supple.solve(problem, solver=supple.Multistart(attempts=8)).ok


def test_ten_thousand_random_changes_prove_nothing_false() -> None:
    """What still verifies says what it said, or something that a search cannot meet."""
    rng, kept, judged = random.Random(20), 0, set[str]()
    all_data = {name: json.loads(text) for name, (_, text) in honest().items()}
    for k in range(10_000):
        name = rng.choice(list(all_data))
        figure, data = honest()[name][0], copy.deepcopy(all_data[name])
        for _ in range(1 + k % 3):
            mutated(rng, data, list(all_data.values()))
            if not data:
                break
        if not accepted(data, figure):
            continue
        kept += 1
        told = {key: value for key, value in data.items() if key != "proof"}
        if told == {key: value for key, value in all_data[name].items() if key != "proof"} or repr(told) in judged:
            continue
        judged.add(repr(told))
        assert not met(Certificate.from_json(json.dumps(data)), figure), told
    assert 50 < kept < 5000
    assert judged


# ── what is decided in floating point ────────────────────────────────────────────────────────────────────────────────
def test_balls_of_placements_hold_the_nearest_rotation() -> None:
    flint = need_flint()
    rng = np.random.default_rng(0)
    for size in (0.0, 1e-16, 1e-14, 1e-13):
        for _ in range(20):
            U = np.linalg.qr(rng.normal(size=(3, 3)))[0]
            R = U * np.sign(np.linalg.det(U)) + size * rng.normal(size=(3, 3))
            u, _, vt = np.linalg.svd(R)
            assert np.abs(R - u @ vt).max() <= bend(R)
            with flint.ctx.workprec(200):
                exact = flint.arb_mat(R.tolist())
                E = exact.transpose() * exact - flint.arb_mat(np.eye(3).tolist())
                off = sum((x * x for x in E.entries()), flint.arb(0)).sqrt()
                assert bool(off < bend(R))
    assert bend(np.diag([1.0, 1.0, -1.0])) == np.inf
    assert bend(2.0 * np.eye(3)) == np.inf


def test_dual_quaternions_in_balls_are_of_length_one() -> None:
    for k in range(20):
        T = supple.place((0.1, 0.2, 0.3), rpy=np.random.default_rng(k).uniform(-3, 3, size=3))
        q = dual_of(placed(T), need_flint().arb(1))
        assert abs(float(sum(x * x for x in q[:4]).mid()) - 1.0) < 1e-14
        assert float(sum(a * b for a, b in zip(q[:4], q[4:], strict=True)).mid()) == pytest.approx(0.0, abs=1e-15)


def test_two_lies_are_no_truth() -> None:
    """Any two of the forgeries of one certificate, one after the other."""
    rng = random.Random(3)
    tried = 0
    for _ in range(400):
        first, second = rng.sample(list(FIELDS), 2)
        if FIELDS[first][0] != FIELDS[second][0]:
            continue
        figure, data = data_of(FIELDS[first][0])
        try:
            FIELDS[first][1](data)
            FIELDS[second][1](data)
        except (AssertionError, IndexError, KeyError, TypeError):  # the first left nothing to change
            continue
        tried += 1
        assert not accepted(data, figure), (first, second)
    assert tried > 50
