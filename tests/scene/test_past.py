"""All states of a scene, packed to the last bit."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import supple
from supple.errors import BadValue
from supple.scene import Scene
from supple.scene.past import BLOCK, Past
from supple.scene.state import SceneState


def states(count: int) -> list[SceneState]:
    """States of two setups, with odd numbers among the postures, and with targets here and there."""
    rng, scene = np.random.default_rng(0), Scene(supple.load("ur5"))
    other = Scene(supple.load("ur5"), rigidity={"shoulder_pan_joint": 0.5})
    q, out = np.array(scene.q), []
    for k in range(count):
        q = np.array(q)
        q[rng.integers(len(q))] = rng.choice([rng.standard_normal(), -0.0, np.nextafter(1.0, 2.0), 5e-324])
        q.setflags(write=False)
        setup = (scene if k % 7 else other).now.setup
        out.append(SceneState(f"step {k % 5}", q, setup, {"hand": q[:3]} if k % 11 == 0 else {}))
    return out


@pytest.mark.parametrize("count", [1, BLOCK, 2 * BLOCK, 2 * BLOCK + 1, 7 * BLOCK + 3])
def test_what_was_kept_comes_back_to_the_last_bit(count: int):
    given, past = states(count), Past()
    for k, state in enumerate(given):
        past.follow(k, state)
    assert len(past) == count
    for found in (past, pickle.loads(pickle.dumps(past)), copy.deepcopy(past)):
        assert found == given
        assert [state.q.tobytes() for state in found] == [state.q.tobytes() for state in given]
        assert [found[k].q.tobytes() for k in range(-count, 0)] == [state.q.tobytes() for state in given]
    for k, state in enumerate(past):
        assert state.setup is given[k].setup
        assert not state.q.flags.writeable
    for k in (0, 1, count // 2, count):
        assert past.first(k) == given[:k]
        assert past[k:] == tuple(given[k:])
    with pytest.raises(IndexError):
        past[count]


@pytest.mark.parametrize("at", [0, 5, BLOCK, 3 * BLOCK + 1, 5 * BLOCK - 1])
def test_what_comes_after_is_forgotten_when_another_way_is_gone(at: int):
    given, past = states(5 * BLOCK), Past()
    for k, state in enumerate(given):
        past.follow(k, state)
    past.follow(at, given[0])
    assert past == [*given[:at], given[0]]
    assert past != [*given[:at], given[1], given[2]]


def test_undo_goes_back_through_all_of_it_and_forth_again():
    scene = Scene(supple.load("ur5"))
    rng, seen = np.random.default_rng(1), [scene.q]
    for _ in range(300):
        scene.pose(rng.uniform(-1.0, 1.0, 6))
        seen.append(scene.q)
    for q in seen[-2::-1]:
        scene.undo()
        assert_array_equal(scene.q, q)
        assert scene.now is scene.now
    with pytest.raises(BadValue):
        scene.undo()
    for q in seen[1:]:
        scene.redo()
        assert_array_equal(scene.q, q)
    for _ in range(150):
        scene.undo()
    scene.pose(np.zeros(6))
    assert len(scene.history) == 152
    assert scene.undone == ()
    scene.undo()
    assert_array_equal(scene.q, seen[150])


def test_a_thousand_steps_take_little_room():
    past = Past()
    for k, state in enumerate(states(1024)):
        past.follow(k, state)
    assert len(pickle.dumps(past)) < 1024 * 100  # a posture of six numbers alone is 48 bytes
