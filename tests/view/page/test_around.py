"""Other ways to meet the same pins: all of them where they can be listed, else some."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

pytest.importorskip("viser")
from supple.view.page.around import other_ways


def test_every_other_way_of_an_arm_that_has_a_list() -> None:
    ur5, q = supple.load("ur5"), np.array([0.3, -0.8, 0.7, 0.2, 0.9, 0.4])
    target = ur5.placement(q, "tool0")
    ways = other_ways(supple.Problem(ur5, [supple.Task("tool0", supple.Placed(target))]), q)
    assert len(ways) == 7
    for way in ways:
        assert_allclose(ur5.placement(way, "tool0"), target, atol=1e-8)


def test_some_where_there_is_no_list() -> None:
    ur5, q = supple.load("ur5"), np.array([0.3, -0.8, 0.7, 0.2, 0.9, 0.4])
    place = ur5.placement(q, "tool0")[:3, 3]
    ways = other_ways(supple.Problem(ur5, [supple.Task(supple.Point("tool0"), supple.At(place))]), q)
    assert len(ways) >= 2
    for way in ways:
        assert np.abs(way - q).max() > 0.05
        assert_allclose(ur5.placement(way, "tool0")[:3, 3], place, atol=1e-4)
