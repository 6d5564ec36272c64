"""Pulls: proofs for trees and closed loops of any size, that hold, say what they are about, and cannot be forged."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import supple
from supple import At, Direction, Facing, Placed, Point, Problem, Status, Task
from supple.proofs.certificate import Certificate, links_between
from supple.proofs.checker.mechanism import box_of
from supple.proofs.claims import wishes_of
from supple.proofs.pull_programme import squared
from supple.proofs.pulled import pulled
from supple.proofs.pulling import Tree

pytest.importorskip("flint")
pytest.importorskip("clarabel")


def snake(count: int, reach: float = 1.0) -> supple.Figure:
    """Hinges about x, y and z in turn, 20 cm apart, and a slide in the middle."""
    joints: list[supple.Joint] = []
    for k in range(count):
        axis = tuple(np.eye(3)[(2 - k) % 3].tolist())
        at = (0.2 if k else 0.0, 0.0, 0.0)
        joints += supple.hinge(f"s{k}", f"s{k - 1}" if k else None, axis, at=at, limits=(-reach, reach))
    joints += supple.slide("tip", f"s{count - 1}", (1, 0, 0), at=(0.2, 0, 0), limits=(-0.05, 0.1))
    return supple.Figure(f"snake of {count}", joints)


def stewart(widths: float = 0.3) -> supple.Figure:
    """A plate on six legs of two hinges and a slide each, closed by balls: 24 joints and six loops with the plate's own."""
    parts = [*supple.free("plate", at=(0, 0, 0.5), limits=None)]
    loops = []
    for k in range(6):
        a, b = np.radians(60 * k + (10 if k % 2 else -10)), np.radians(60 * k + (-20 if k % 2 else 20))
        foot, top = 0.4 * np.array([np.cos(a), np.sin(a), 0]), widths * np.array([np.cos(b), np.sin(b), 0])
        parts += supple.hinge(f"u{k}", None, (1, 0, 0), at=tuple(foot), limits=(-1, 1))
        parts += supple.hinge(f"v{k}", f"u{k}", (0, 1, 0), limits=(-1, 1))
        parts += supple.slide(f"leg{k}", f"v{k}", (0, 0, 1), at=(0, 0, 0.5), limits=(-0.2, 0.2))
        loops.append(supple.Loop(f"ball {k}", f"leg{k}", "plate", supple.place(), supple.place(tuple(top)), point=True))
    return supple.Figure("stewart", parts, loops=tuple(loops))


def problems() -> dict[str, Problem]:
    """What is impossible, of every kind."""
    long, plate, human = snake(9), stewart(), supple.load("human", fingers=False)
    T = supple.place((2.1, 0.6, 0.0))
    hand, foot = (np.array(human.placement(human.rest, s)[:3, 3]) for s in ("hand_l", "foot_l"))
    tool = Direction("tip", (1, 0, 0))
    seen = Placed(supple.place((1.95, 0.6, 0.4)), relative_to="s0")
    return {
        "pose": Problem(long, [Task("tip", Placed(T))]),
        "point": Problem(long, [Task(Point("tip"), At((2.0, 0.5, 0.0)))]),
        "axis": Problem(
            long, [Task(Point("tip"), At((1.95, 0.0, 0.0))), Task(tool, Facing((0, 0, 1)))]
        ),
        "relative": Problem(long, [Task("tip", seen)]),
        "free root": Problem(
            human, [Task(Point("hand_l"), At(foot + np.array([0.1, 0.0, 2.4]))), Task(Point("foot_l"), At(foot)),
                    Task(Point("hand_r"), At(hand * (1, -1, 1)))]
        ),
        "loops": Problem(plate, [Task("plate", Placed(supple.place((0.0, 0.0, 1.0))))]),
    }  # fmt: skip


@pytest.mark.parametrize("name", list(problems()))
def test_what_many_joints_cannot_do_is_proved(name: str) -> None:
    problem = problems()[name]
    solution = supple.solve(problem)
    assert solution.status is Status.IMPOSSIBLE, solution.reason
    certificate = solution.certificate
    assert isinstance(certificate, Certificate)
    again = Certificate.from_json(certificate.to_json())
    assert again.verify(problem.figure)
    assert again.to_json() == certificate.to_json()
    assert "out of reach" in certificate.explain()
    for wish in certificate.wishes:
        assert wish.segment in certificate.statement
    if name == "free root":  # what is not needed is not named
        assert {wish.segment for wish in certificate.wishes} == {"hand_l", "foot_l"}


@pytest.mark.parametrize("seed", range(12))
def test_what_can_be_is_never_refuted(seed: int) -> None:
    """The wishes of a posture, in boxes around it: no pull holds, whatever is tightened."""
    rng = np.random.default_rng(seed)
    figure = [snake(9), snake(4, 3.0), supple.load("human", fingers=False)][seed % 3]
    q = rng.uniform(np.maximum(figure.limits.lower, -1.0), np.minimum(figure.limits.upper, 1.0))
    segments = rng.choice([s for s in figure.segments if figure.joints_of(s)], 3, replace=False)
    tasks = [Task(str(s), Placed(figure.placement(q, str(s)))) for s in segments[:2]]
    tasks.append(Task(Point(str(segments[2])), At(figure.placement(q, str(segments[2]))[:3, 3])))
    problem = Problem(figure, tasks)
    wishes = wishes_of(problem)
    links = links_between(problem, [(w.segment, w.seen_from) for w in wishes])
    tree, (lower, upper) = Tree(links, wishes), box_of(links, wishes)
    here = np.array([q[figure.coordinates.index(link.name)] for link in tree.moving])
    for width in (np.inf, 0.3, 1e-3):
        answer = tree.solved(np.maximum(lower, here - width), np.minimum(upper, here + width))
        assert answer.pull is None


def test_boxes_are_cut_until_all_are_empty() -> None:
    figure = snake(9)
    certificate, boxes = pulled(
        Problem(figure, [Task("tip", Placed(supple.place((1.4, 0.3, 0.0), rpy=(0, 0, 1.4))))]), 60
    )
    assert certificate is not None
    assert certificate.verify(figure)
    assert boxes > 1


def test_forms_of_quaternions_are_linear_in_rotations() -> None:
    rng = np.random.default_rng(1)
    for R in Rotation.from_quat(rng.normal(size=(10, 4))):
        B, q = rng.normal(size=(3, 3)), R.as_quat(scalar_first=True)
        assert q @ squared(B) @ q == pytest.approx(float((B * R.as_matrix()).sum()))


def accepted(data: Any, figure: supple.Figure | None) -> bool:
    try:
        return Certificate.from_json(json.dumps(data)).verify(figure)
    except supple.BadFile:
        return False


def honest(name: str) -> tuple[supple.Figure, Any]:
    problem = problems()[name]
    certificate = pulled(problem, 20).certificate
    assert certificate is not None
    return problem.figure, json.loads(certificate.to_json())


def test_lies_about_pulls_are_refused() -> None:
    figure, data = honest("pose")
    assert accepted(data, figure)
    T = figure.placement(figure.rest, "tip").tolist()

    def refused(change: Any, figure: supple.Figure | None = None) -> bool:
        lie = copy.deepcopy(data)
        change(lie)
        return not accepted(lie, figure)

    box = data["proof"][0]
    assert refused(lambda d: d["entries"][0].update(target=T))  # a target that is reached
    assert refused(lambda d: d["entries"][0].update(tolerance=5.0))
    assert refused(lambda d: d["entries"][0].update(seen_from="s8"))
    assert refused(lambda d: d["entries"][0].update(kind="point", target=T))
    assert refused(lambda d: d["joints"][3].update(upper=0.5), figure)
    assert refused(lambda d: d["joints"][4].update(upper=0.0, lower=0.0), figure)
    assert refused(lambda d: d["proof"][0].update(forces=[[0.0, 0.0, 0.0]], turns=np.zeros((1, 3, 3)).tolist()))
    assert refused(lambda d: d["proof"][0].update(forces=(-np.array(box["forces"])).tolist()))
    assert refused(lambda d: d["proof"][0].update(forces=(1e60 * np.array(box["forces"])).tolist()))
    assert refused(lambda d: d["proof"][0].update(forms=(0.5 * np.array(box["forms"])).tolist()))
    assert refused(lambda d: d["proof"][0].update(forms=(np.array(box["forms"]) - np.eye(4)).tolist()))
    assert refused(lambda d: d["proof"][0].update(forms=box["forms"][:-1]))
    assert refused(lambda d: d["proof"][0].update(skews=box["skews"][:-1]))
    assert refused(lambda d: d["proof"][0].update(entries=[1]))
    assert refused(lambda d: d["proof"][0].update(entries=[-1]))
    assert refused(lambda d: d["proof"][0].update(limits=[[[9.0]] * 4] * len(box["limits"])))
    assert refused(lambda d: d["proof"][0].update(more=1))


def test_a_force_on_what_slides_without_limits_proves_nothing() -> None:
    figure, data = honest("free root")
    assert accepted(data, figure)
    data["proof"][0]["forces"][0][0] += 2.0**-30
    assert not accepted(data, figure)


def test_two_segments_of_which_nothing_is_said_are_not_one() -> None:
    """A wish seen from elsewhere than where its way begins is none."""
    figure, data = honest("relative")
    assert accepted(data, figure)
    data["entries"][0]["seen_from"] = None
    assert not accepted(data, None)
    data["entries"][0]["seen_from"] = "elsewhere"
    assert not accepted(data, None)


def test_random_changes_prove_nothing_false() -> None:
    """Of a target that can be reached no numbers make a proof."""
    figure, data = honest("pose")
    rng = random.Random(5)
    reached = figure.placement(figure.rest + 0.2 * np.sin(np.arange(figure.size)), "tip").tolist()
    data["entries"][0]["target"] = reached
    for _ in range(60):
        lie = copy.deepcopy(data)
        box = lie["proof"][0]
        for _ in range(rng.randint(1, 3)):
            what = rng.choice(["forces", "turns", "forms", "limits", "skews"])
            rows = np.array(box[what]) if what != "limits" else None
            if rows is None:
                box[what] = [(rng.choice([0.0, -1.0, 3.0]) * np.array(G)).tolist() for G in box[what]]
            else:
                box[what] = (rng.choice([0.0, -1.0, 0.1, 10.0]) * rows + rng.gauss(0, 0.1)).tolist()
        assert not accepted(lie, None)
