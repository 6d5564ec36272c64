"""Obstacles, continuity and contacts in RankOne: rows that hold for every posture, and answers that a judge checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

import supple
from supple import At, Box, Placed, Point, Polytope, Problem, RankOne, Task, Within
from supple.errors import BadValue
from supple.solvers.rank_one import AllOf, Contact, Continuity, FreeRegions
from supple.solvers.rank_one.obstacles import ends_of
from supple.solvers.rank_one.posture import write
from supple.solvers.rank_one.targets import targets_of
from supple.solvers.rank_one.variables import Cone, Lifted, value

pytest.importorskip("clarabel")

ARM = supple.load("panda").with_solids(
    {
        "panda_link4": [supple.Ball((0, 0, 0), 0.06)],
        "panda_link5": [supple.Capsule.between((0, 0, -0.2), (0, 0, 0), 0.05)],
        "panda_hand": [supple.Ball((0, 0, 0.05), 0.05)],
    }
)
ARM = ARM.locked(*[name for name in ARM.coordinates if "finger" in name])
HALVES = (
    Polytope.of(Box((-1, -1, -0.5), (1, 1, 0.55))),
    Polytope.of(Box((-1, -1, 0.45), (1, 1, 1.5))),
)


def placed(q: np.ndarray) -> Problem:
    return Problem(ARM, [Task("panda_hand", Placed(ARM.placement(q, "panda_hand")))])


def holds(cones: Sequence[Cone], x: np.ndarray, parameters: np.ndarray) -> bool:
    for cone in cones:
        v = value(cone.rows, x, parameters[: cone.rows.shape[2]])
        fine = {
            "zero": np.abs(v).max(initial=0.0) < 1e-9,
            "positive": v.min(initial=0.0) > -1e-9,
            "second_order": v[0] - np.linalg.norm(v[1:]) > -1e-9,
        }
        if not fine[cone.kind]:
            return False
    return True


def shares(rooms: FreeRegions, q: np.ndarray, chosen: list[int]) -> np.ndarray:
    """The variables of whole choices in a posture."""
    frames, out = ARM.placements(q), []
    for bar, allowed, own in zip(rooms.bars, rooms.choices, chosen, strict=True):
        ends = np.concatenate([frames[bar.segment][:3] @ (*end, 1.0) for end in bar.ends])
        for k in allowed:
            out.append(np.concatenate([[1.0], ends]) if k == own else np.zeros(1 + len(ends)))
    return np.concatenate(out)


@pytest.mark.parametrize("seed", range(6))
def test_whole_choices_meet_the_rows_exactly_if_the_bars_are_inside(seed: int):
    q = np.random.default_rng(seed).uniform(ARM.lower, ARM.upper)
    problem, rooms = placed(q), FreeRegions.of(ARM, HALVES)
    lifted = Lifted.of(problem, keep=rooms.keep(problem))
    cones, count = rooms.cones(lifted)
    assert count == rooms.variables
    frames = ARM.placements(q)
    parameters = targets_of(problem)
    for chosen in np.ndindex(*(2,) * len(rooms.bars)):
        inside = all(
            (HALVES[k].A @ (frames[bar.segment][:3] @ (*end, 1.0)) + bar.radius <= HALVES[k].b).all()
            for bar, k in zip(rooms.bars, chosen, strict=True)
            for end in bar.ends
        )
        x = np.concatenate([write(lifted, q, parameters), shares(rooms, q, list(chosen))])
        assert holds(cones, x, parameters) == inside
        assert (rooms.shares(x) == 1.0).all()


def test_answers_are_inside_the_polytopes():
    """Hands below a ceiling and above a floor: what RankOne finds keeps clear of the walls around the polytopes."""
    walls = {"floor": Box((-1, -1, -0.7), (1, 1, -0.3)), "ceiling": Box((-1, -1, 0.9), (1, 1, 1.2))}
    rooms = FreeRegions.of(ARM, supple.problem.free_space(walls, Box((-1, -1, -0.6), (1, 1, 1.1)), 5))
    found = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        while True:
            q = rng.uniform(ARM.lower, ARM.upper)
            problem = replace(placed(q), obstacles=walls)
            if max(miss.metres for miss in problem.misses(q)) < 1e-9:
                break
        reduced = rooms.reduced(problem)
        assert reduced.fits
        solution = supple.solve(problem, solver=RankOne(rows=reduced))
        found += solution.ok
    assert found >= 4


def test_a_pair_that_cannot_be_is_left_out():
    far = Polytope.of(Box((5, 5, 5), (6, 6, 6)))
    rooms = FreeRegions.of(ARM, [HALVES[0], far, HALVES[1]])
    reduced = rooms.reduced(placed(ARM.rest))
    assert all(1 not in allowed for allowed in reduced.choices)
    assert reduced.fits
    assert not FreeRegions.of(ARM, [far]).reduced(placed(ARM.rest)).fits


def test_continuity_keeps_the_next_posture_near():
    """Steps of 1 cm: every answer is within the bound of the one before, and the last is where it should be."""
    q = ARM.rest
    start = ARM.placement(q, "panda_hand")
    for k in range(1, 4):
        target = start.copy()
        target[:3, 3] += (0.0, 0.01 * k, 0.0)
        near = Continuity(q, 0.15)
        solution = supple.solve(
            Problem(ARM, [Task("panda_hand", Placed(target))]), solver=RankOne(rows=near, polish=None)
        )
        before, after = ARM.placements(q), ARM.placements(solution.q)
        moved = max(np.linalg.norm(after[s][:3, :3] - before[s][:3, :3]) for s in ARM.segments)
        assert solution.errors[0].metres < 1e-4
        assert moved < 0.15 + 1e-3
        q = solution.q


def test_contacts_lie_on_their_faces():
    face = supple.place((0.5, 0.1, 0.4))
    touch = Task(
        Point("panda_hand", (0, 0, 0.1)), Within(face, box=((-0.05, 0.0, -0.05), (0.05, 0.0, 0.05))), name="touch"
    )
    aim = Task("panda_hand", At((0.5, 0.1, 0.5)), name="hand")
    problem = Problem(ARM, [aim])
    solution = supple.solve(problem, solver=RankOne(rows=Contact([touch]), polish=None))
    audited = Problem(ARM, [touch, aim]).misses(solution.q)
    assert max(miss.metres for miss in audited) < 1e-4


def test_parts_together_are_the_parts():
    q = np.random.default_rng(3).uniform(ARM.lower, ARM.upper)
    problem, rooms, near = placed(q), FreeRegions.of(ARM, HALVES), Continuity(q, 0.2)
    both = AllOf([rooms, near, FreeRegions.of(ARM, HALVES[:1])])
    lifted = Lifted.of(problem, keep=both.keep(problem))
    cones, count = both.cones(lifted)
    assert count == both.variables == rooms.variables + FreeRegions.of(ARM, HALVES[:1]).variables
    assert len(cones) == sum(len(part.cones(lifted)[0]) for part in both.parts)
    x = np.random.default_rng(0).normal(size=lifted.size + count)
    parameters, values, first = targets_of(problem), [], lifted.size
    for part in both.parts:
        own = np.concatenate([x[: lifted.size], x[first : first + part.variables]])
        rows = [cone.rows for cone in part.cones(lifted)[0]]
        values += [value(E, own[: E.shape[1] - 1], parameters[: E.shape[2]]) for E in rows]
        first += part.variables
    for cone, expected in zip(cones, values, strict=True):
        E = cone.rows
        assert np.allclose(value(E, x[: E.shape[1] - 1], parameters[: E.shape[2]]), expected)
    assert both.push(x).sum() == -len(rooms.bars)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(BadValue, match="polytopes"):
        FreeRegions.of(ARM, [])
    with pytest.raises(BadValue, match="bounded"):
        FreeRegions.of(ARM, [Polytope.half_space((0, 0, 0), (0, 0, 1))])
    with pytest.raises(BadValue, match="no solids"):
        FreeRegions.of(supple.load("ur5").with_solids({s: [] for s in supple.load("ur5").segments}), HALVES)
    with pytest.raises(BadValue, match="positive"):
        Continuity(ARM.rest, 0.0)
    with pytest.raises(BadValue, match="Within"):
        Contact([Task("panda_hand", At((0, 0, 0)))])
    assert {len(bar.ends) for bar in ends_of(ARM)} == {1, 2}
