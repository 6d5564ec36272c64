"""Straight limbs bend, and the way they can: a knee forward, an elbow up, whatever the start."""

from __future__ import annotations

import numpy as np
import pytest

import supple
from supple import At, Point, Problem, Status, Task

HUMAN = supple.load("human", fingers=False, root="fixed")
LIMBS = {
    "knee": ("foot_l", "shank_l.flexion", ("thigh_l.flexion", "shank_l.flexion")),
    "elbow": ("hand_r", "forearm_r.flexion", ("upper_arm_r.flexion", "upper_arm_r.abduction", "forearm_r.flexion")),
}


@pytest.mark.parametrize("limb", LIMBS)
@pytest.mark.parametrize("rise", [0.001, 0.05, 0.2])
def test_a_straight_limb_that_is_shortened_along_itself_bends(limb: str, rise: float):
    """The goal lies exactly on the limb's line, where no derivative tells which way to bend."""
    end, hinge, others = LIMBS[limb]
    straight = np.array(HUMAN.rest)
    for name in others:
        straight[HUMAN.coordinates.index(name)] = 0.0
    straight = HUMAN.limits.project(straight)
    above = HUMAN.placement(straight, end)[:3, 3] + (0.0, 0.0, rise)
    chain = HUMAN.parent_of(HUMAN.parent_of(end) or "") or ""
    solution = supple.solve(Problem(HUMAN, [Task(Point(end), At(above), chain=chain)]), start=straight)
    assert solution.status is Status.SOLVED, solution.report()
    assert solution.q[HUMAN.coordinates.index(hinge)] > 0.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_figure_without_limits_bends_the_way_that_one_sided_limits_allow(sign: float):
    leg = supple.Figure(
        "leg",
        [
            *supple.hinge("hip", None, (0, 1, 0)),
            *supple.hinge("knee", "hip", (0, 1, 0), at=(0, 0, -0.4)),
            *supple.fixed("foot", "knee", at=(0, 0, -0.4)),
        ],
    )
    bent = leg.with_limits({"knee": (0.0, 3.0) if sign > 0 else (-3.0, 0.0)})
    solution = supple.solve(bent, {"foot": At((0.0, 0.0, -0.6))})
    assert solution.ok
    assert sign * solution.q[1] > 0.1
