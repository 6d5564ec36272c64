"""Batches and maps on the workers of a cluster: the same as on one machine, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import supple
from supple.cluster.client import connected

distributed = pytest.importorskip("distributed")
pytest.importorskip("flint", reason="proofs need python-flint")


@pytest.fixture(scope="module")
def client() -> Iterator[distributed.Client]:
    """Two processes on this machine."""
    with connected(None, 2) as client:
        yield client


def arm() -> supple.Figure:
    """Three links that bend up and down on a base that turns."""
    parts = [
        *supple.hinge("base", None, (0, 0, 1)),
        *supple.hinge("upper", "base", (0, 1, 0), at=(0, 0, 0.2), limits=(-1.5, 1.5)),
        *supple.hinge("fore", "upper", (0, 1, 0), at=(0.4, 0, 0), limits=(0.0, 2.0)),
        *supple.fixed("tip", "fore", at=(0.3, 0, 0)),
    ]
    return supple.Figure("arm", parts)


@pytest.mark.parametrize(
    "asked",
    [
        {"volume": True, "spacing": 0.25},
        {"spacing": 0.2, "keep": True},
        {"x": 0.3, "spacing": 0.2},
        {"z": 0.3, "spacing": 0.2},
    ],
    ids=["volume", "slice", "x cut", "z cut"],
)
def test_a_map_is_the_same_on_a_cluster(client: distributed.Client, asked: dict):
    alone, seen = supple.reach(arm(), "tip", **asked), list[int]()
    spread = supple.reach(arm(), "tip", **asked, cluster=client, progress=seen.append)
    assert spread == alone
    assert_array_equal(spread.q, alone.q)
    assert sorted(spread.certificates) == sorted(alone.certificates)
    assert all(alone.counts.values()) or alone.counts["reached"]
    assert seen == sorted(seen)
    assert seen[-1] == spread.reached.size
    assert spread.late == 0


def test_rotations_of_a_map_are_the_same_on_a_cluster(client: distributed.Client):
    asked = {"x": (0.2, 0.6), "y": 0.0, "z": (0.0, 0.4), "spacing": 0.2, "rotation": 3}
    assert supple.reach(arm(), "tip", **asked, cluster=client) == supple.reach(arm(), "tip", **asked)


def test_what_a_map_on_a_cluster_cannot_have_is_refused(client: distributed.Client):
    with pytest.raises(supple.BadValue, match="deadline"):
        supple.reach(arm(), "tip", cluster=client, deadline=1.0)
    with pytest.raises(supple.BadValue, match=r"distributed\.Client"):
        supple.reach(arm(), "tip", cluster=3)


def test_a_batch_is_the_same_on_a_cluster(client: distributed.Client):
    figure = arm()
    problem = supple.Problem(figure, [supple.Task(supple.Point("tip"), supple.At((0.5, 0, 0.3)))])
    low, high = np.maximum(figure.lower, -3), np.minimum(figure.upper, 3)
    targets = figure.placement(np.random.default_rng(0).uniform(low, high, (600, 3)), "tip")[:, :3, 3]
    targets[::5] *= 3.0  # out of reach
    alone, spread = supple.solve_many(problem, targets), supple.solve_many(problem, targets, cluster=client)
    assert spread == alone
    assert not alone.ok.all()
