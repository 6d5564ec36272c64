"""The plain search is the general one, bit for bit, where it serves; and it serves plain problems alone."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple
from supple.figure.catalogue import build
from supple.solvers.levenberg_marquardt.levenberg_marquardt import (
    LevenbergMarquardt,
    SearchCall,
    is_plain,
    plain_search_entry,
    search_entry,
)

ROBOTS = {"panda": "panda_hand_tcp", "ur5": "tool0", "iiwa14": "iiwa_link_ee", "sawyer": "right_hand"}
PANDA = build("panda")
HERE = supple.At((0.4, 0.1, 0.5))


def answers(problem: supple.Problem, start: np.ndarray, settings: LevenbergMarquardt) -> list[tuple[bytes, ...]]:
    """Posture, report and trace, of the general and of the plain entry."""
    out = []
    for entry in (search_entry, plain_search_entry):
        call = SearchCall(problem, settings.settings(), 3, trace=np.zeros((500, 2)))
        assert call.entry is plain_search_entry
        call.entry = entry
        Q = start[None].copy()
        call.run(call.T, Q)
        out.append((Q.tobytes(), call.report.tobytes(), call.trace.tobytes()))
    return out


def plain_tasks(figure: supple.Figure, segment: str, P: np.ndarray, kind: int) -> list[supple.Task]:
    """A frame, a point, a direction, or two points that contradict each other by a hair."""
    if kind == 0:
        return [supple.Task(segment, supple.Placed(P))]
    if kind == 1:
        return [supple.Task(segment, supple.At(P[:3, 3]))]
    if kind == 2:
        return [supple.Task(supple.Direction(segment, (0.0, 0.0, 1.0)), supple.Facing(P[:3, 2]))]
    other = supple.At(P[:3, 3] + 1e-4)
    return [supple.Task(segment, supple.At(P[:3, 3])), supple.Task(segment, other, weight=2.0, tolerance=1e-4)]


@pytest.mark.parametrize("kind", range(4))
@pytest.mark.parametrize("name", ROBOTS)
def test_both_searches_give_the_same_bits(name: str, kind: int) -> None:
    figure, segment, rng = build(name), ROBOTS[name], np.random.default_rng(kind)
    for i in range(20):  # reachable, out of reach by little, and by much
        q = rng.uniform(np.maximum(figure.lower, -3.0), np.minimum(figure.upper, 3.0))
        P = np.array(figure.placement(q, segment))
        P[:3, 3] += (0.0, 1e-3, 0.5)[i % 3] * rng.normal(size=3)
        problem = supple.Problem(figure, plain_tasks(figure, segment, P, kind))
        for settings in (LevenbergMarquardt(attempts=20), LevenbergMarquardt(), LevenbergMarquardt(steps=7)):
            general, plain = answers(problem, figure.rest, settings)
            assert general == plain, (i, settings)


def problem_with(*more: Any, **others: Any) -> supple.Problem:
    """A point of the Panda, and more."""
    return supple.Problem(PANDA, [supple.Task("panda_hand_tcp", HERE), *more], **others)


NOT_PLAIN = {
    "a preference": problem_with(supple.Task(None, supple.Near(PANDA.rest), preference=True)),
    "a posture goal": problem_with(supple.Task(None, supple.Near(PANDA.rest), weight=0.1)),
    "ranks": problem_with(supple.Task("panda_link4", HERE, priority=2)),
    "a plane": problem_with(supple.Task("panda_link4", supple.OnPlane((0.0, 0.0, 0.4), (0.0, 0.0, 1.0)))),
    "a relative goal": problem_with(supple.Task("panda_link6", replace(HERE, relative_to="panda_link2"))),
    "alternatives": problem_with(supple.Task("panda_link4", supple.AnyOf([HERE, supple.At((0.0, 0.0, 0.5))]))),
    "many goals": problem_with(*(supple.Task(f"panda_link{i}", HERE) for i in range(1, 8))),
    "an obstacle": supple.Problem(
        PANDA.with_spheres({"panda_link6": [(0.0, 0.0, 0.0, 0.05)]}),
        [supple.Task("panda_hand_tcp", HERE)],
        obstacles=[supple.Ball((1.0, 1.0, 1.0), 0.1)],
    ),
    "a linear limit": supple.Problem(
        PANDA,
        [supple.Task("panda_hand_tcp", HERE)],
        limits=replace(PANDA.limits, A=np.ones((1, PANDA.size)), b=np.ones(1)),
    ),
    "a free root": supple.Problem(build("human"), [supple.Task("pelvis", HERE)]),
}


@pytest.mark.interpreted
@pytest.mark.parametrize("what", NOT_PLAIN)
def test_what_is_not_plain_is_not_served_by_the_plain_search(what: str) -> None:
    I, F, _ = NOT_PLAIN[what].pack
    assert not is_plain(I, F)
    assert SearchCall(NOT_PLAIN[what], LevenbergMarquardt().settings()).entry is search_entry


@pytest.mark.interpreted
def test_a_point_is_plain() -> None:
    assert is_plain(*problem_with().pack[:2])


def test_one_place_calls_the_search() -> None:
    source = Path(supple.__file__).parent
    files = {path.name for path in source.rglob("*.py") if re.search(r"(?<![.\w])search_entry", path.read_text())}
    assert files == {"levenberg_marquardt.py", "search.py"}
