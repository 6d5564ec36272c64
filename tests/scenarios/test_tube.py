"""Looking down a tube: the placements are what they say, and both figures meet all six constraints."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
import tube_task
from supple import ActiveSet, Multistart
from supple.figure.catalogue.trunk import spine_group

COUNT = 8
FIGURES = {spine: tube_task.person(spine) for spine in ("grouped", "free")}


@cache
def tubes() -> list[tube_task.Placement]:
    """The placements."""
    return tube_task.placements(COUNT, seed=3)


def worst(problem: supple.Problem, q: Any) -> float:
    """The largest error [m, rad] of any constraint."""
    return max(max(miss) for miss in problem.misses(q))


def as_free(q: np.ndarray) -> np.ndarray:
    """A posture of the grouped figure as one of the figure with free vertebrae."""
    value = dict(zip(FIGURES["grouped"].coordinates, q, strict=True))
    value |= {joint: drive.value(value) for joint, drive in spine_group().drives.items()}
    return np.array([value[joint] for joint in FIGURES["free"].coordinates])


def test_the_figures_have_the_papers_coordinates():
    assert {spine: figure.size for spine, figure in FIGURES.items()} == {"grouped": 22, "free": 70}
    assert len(FIGURES["grouped"].limits.A) == 8


@pytest.mark.parametrize("k", range(COUNT))
def test_a_legal_posture_of_both_figures_meets_the_targets_exactly(k: int):
    tube = tubes()[k]
    for spine, q in (("grouped", tube.posture), ("free", as_free(tube.posture))):
        figure = FIGURES[spine]
        assert figure.limits.contains(q)
        assert worst(tube_task.problem(figure).aimed(*tube.targets), q) < 1e-12


@pytest.mark.parametrize("k", range(COUNT))
def test_the_targets_are_those_of_a_tube(k: int):
    """Palms at the tube's radius from its axis, flat on it; the bottom on the axis; elbow planes along the tube."""
    left, right, *normals, plane_l, plane_r, (eye, axis), bottom = tubes()[k].targets
    for palm, normal in zip((left, right), normals, strict=True):
        outwards = (palm - eye) - ((palm - eye) @ axis) * axis
        assert np.linalg.norm(outwards) == pytest.approx(tube_task.RADIUS, abs=1e-4)
        assert_allclose(normal, -outwards / np.linalg.norm(outwards), atol=3e-3)
    assert_allclose(np.cross(bottom - eye, axis), 0.0, atol=1e-12)
    for plane in (plane_l, plane_r):
        assert plane[1] @ axis == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("solver", [None, Multistart(ActiveSet(), attempts=10)], ids=["default", "ActiveSet"])
@pytest.mark.parametrize("spine", FIGURES)
def test_every_placement_is_solved_from_upright_to_a_millionth(spine: str, solver: Any):
    query = supple.prepare(tube_task.problem(FIGURES[spine]), solver=solver)
    for tube in tubes():
        solution = query(tube.targets)
        assert solution.ok, solution.report()
        assert FIGURES[spine].limits.contains(solution.q)
        assert worst(solution.problem, solution.q) <= 1e-6


def test_the_same_seed_gives_the_same_placements():
    for ours, again in zip(tubes(), tube_task.placements(2, seed=3), strict=False):
        for a, b in zip(ours.targets, again.targets, strict=True):
            assert (a == b).all()
