"""Two figures in one world: one figure to every solver, that scene files and lines of Python can name."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple import At, Gap, Placed, Point, Scene, Task
from supple.errors import BadFile


@pytest.fixture(scope="module")
def two() -> supple.Figure:
    person, arm = supple.load("human", fingers=False), supple.load("panda")
    return person.attached(arm, None, supple.place((0.9, 0.1, 0.8), rpy=(0.0, 0.0, 2.8)), prefix="arm/")


def test_each_moves_as_it_does_alone(two: supple.Figure):
    person, arm = supple.load("human", fingers=False), supple.load("panda")
    rng = np.random.default_rng(0)
    a = person.limits.project(person.rest + 0.3 * rng.standard_normal(person.size))
    b = arm.limits.project(arm.rest + 0.3 * rng.standard_normal(arm.size))
    q = two.posture({**person.named(a), **{f"arm/{name}": x for name, x in arm.named(b).items()}})
    assert two.size == person.size + arm.size
    assert_allclose(two.placement(q, "hand_r"), person.placement(a, "hand_r"), atol=1e-14)
    base = supple.place((0.9, 0.1, 0.8), rpy=(0.0, 0.0, 2.8))
    assert_allclose(two.placement(q, "arm/panda_hand"), base @ arm.placement(b, "panda_hand"), atol=1e-14)


def test_they_shake_hands(two: supple.Figure):
    shake = Task(Gap(Point("hand_r"), Point("arm/panda_hand")), At((0.0, 0.0, 0.0)), hard=True)
    feet = [Task(s, Placed(two.placement(two.rest, s)), hard=True) for s in ("foot_l", "foot_r")]
    found = supple.solve(supple.Problem(two, [shake, *feet]))
    assert found.ok
    apart = np.subtract(*(two.placement(found.q, s)[:3, 3] for s in ("hand_r", "arm/panda_hand")))
    assert np.linalg.norm(apart) < 1e-5
    assert np.abs(found.q - two.rest)[two.size - 9 :].max() > 0.05  # the arm helped


@pytest.mark.parametrize("ending", [".toml", ".json"])
def test_a_scene_of_two_is_written_and_read(two: supple.Figure, tmp_path, ending: str):
    scene = Scene(two, {"arm/panda_joint2": 0.4})
    scene.add(
        "shake",
        Gap(Point("hand_r"), Point("arm/panda_hand")),
        At((0.0, 0.0, 0.0)),
        chain=("arm/panda_joint*", "forearm_r"),
    )
    supple.write(scene, tmp_path / f"two{ending}")
    back = supple.read_scene(tmp_path / f"two{ending}")
    assert back.figure == two
    assert_array_equal(back.q, scene.q)
    assert back.constraints == scene.constraints


def test_a_robot_that_was_let_loose_is_written_too(tmp_path):
    figure = supple.load("panda").based_at((0.0, 0.0, 0.5), free=True)
    supple.write(Scene(figure, {"root.tx": 0.2}), tmp_path / "loose.toml")
    back = supple.read_scene(tmp_path / "loose.toml")
    assert back.figure == figure
    assert back.q[0] == 0.2


def test_what_a_file_cannot_say_of_an_origin_is_forgotten():
    arm = supple.load("panda")
    assert arm.attached(arm.locked("panda_joint1"), None, prefix="b/").origin is None
    assert arm.attached(arm, "panda_hand", prefix="b/").origin is None
    assert arm.based_at((1, 0, 0)).based_at((0, 1, 0)).origin is None
    assert arm.based_at((1, 0, 0), free=True, order="xyz").origin is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("figure = []", "a list of one to"),
        ('[[figure]]\nname = "panda"\nprefix = "a/"', "begin with a figure without a prefix"),
        ('[[figure]]\nname = "panda"\n[[figure]]\nname = "panda"', "two"),
        ('[[figure]]\nname = "panda"\n[[figure]]\nname = "nobody"\nprefix = "b"', "nobody"),
        ('figure = { name = "panda", at = [1, 2] }', "at"),
        ('figure = { name = "panda", free = 1 }', "free"),
    ],
)
def test_broken_companies_are_refused(tmp_path, text: str, said: str):
    path = tmp_path / "scene.toml"
    path.write_text("version = 1\n" + text)
    with pytest.raises(BadFile, match=said):
        supple.read_scene(path)
