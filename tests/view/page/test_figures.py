"""Regions, hands, preferred bends; another figure in the place of this one or beside it. No browser."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple import Box, Scene
from supple.errors import BadValue, UnknownName
from supple.view.page.as_python import python_lines
from supple.view.page.hand_presets import PRESETS
from supple.view.page.pins import handle_of
from supple.view.page.regions import hands, regions
from supple.view.page.session import Session

HUMAN = {"root", "trunk", "head", "left arm", "left fingers", "right arm", "right fingers", "left leg", "right leg"}


@pytest.fixture(scope="module")
def person() -> supple.Figure:
    return supple.load("human")


@pytest.fixture
def session(person: supple.Figure) -> Session:
    return Session(Scene(person))


def place(session: Session, segment: str) -> np.ndarray:
    return session.figure.placement(session.q, segment)[:3, 3]


def apart(session: Session, a: str, b: str) -> float:
    return float(np.linalg.norm(place(session, a) - place(session, b)))


def pulled(session: Session, segment: str, way: list[float]) -> np.ndarray:
    there = place(session, segment) + way
    session.press(0, segment, place(session, segment))
    session.pull(0, there)
    for _ in range(40):
        session.tick()
    session.release(0)
    return there


# ── regions ──────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", supple.figure.catalogue.names())
def test_every_coordinate_is_in_one_region(name: str):
    figure = supple.load(name)
    found = [c for own in regions(figure).values() for c in own]
    assert sorted(found) == sorted(figure.coordinates)


def test_regions_have_the_names_one_would_say(person: supple.Figure):
    assert set(regions(person)) == HUMAN
    assert set(regions(supple.load("jack", spine="grouped", shoulders="grouped"))) == HUMAN
    assert set(regions(supple.load("baxter"))) == {"head", "left arm", "right arm"}
    assert list(regions(supple.load("panda"))) == ["arm"]
    assert regions(person)["left fingers"][0] == "thumb_l.opposition"
    assert len(regions(person)["trunk"]) == 9


def test_a_rigid_region_stays_where_it_is(session: Session):
    session.stiffen_region("trunk", 1.0)
    before = session.figure.named(session.q)
    pulled(session, "hand_r", [0.3, 0.1, 0.2])
    after = session.figure.named(session.q)
    assert all(after[c] == before[c] for c in regions(session.figure)["trunk"])
    assert after["forearm_r.flexion"] != before["forearm_r.flexion"]
    with pytest.raises(UnknownName, match="region"):
        session.stiffen_region("tail", 1.0)


# ── hands ────────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("figure", ["human", "jack", "hand"])
def test_a_preset_moves_fingers_alone_within_their_limits(figure: str, name: str):
    session = Session(Scene(supple.load(figure)))
    session.hand("fist" if name == "open" else "open")
    before = session.q
    session.hand(name)
    assert session.figure.limits.contains(session.q)
    moved = {c for c, a, b in zip(session.figure.coordinates, session.q, before, strict=True) if a != b}
    assert moved
    assert moved <= {c for region, own in regions(session.figure).items() if "fingers" in region for c in own}


def test_a_fist_is_closed_an_index_points_and_a_pinch_meets(session: Session):
    session.select("forearm_l")
    session.hand("fist")
    assert apart(session, "index_l.tip", "hand_l") < 0.7 * apart(session, "index_r.tip", "hand_r")
    session.hand("point")
    assert apart(session, "index_l.tip", "hand_l") >= apart(session, "index_r.tip", "hand_r")
    assert apart(session, "middle_l.tip", "hand_l") < 0.7 * apart(session, "middle_r.tip", "hand_r")
    session.hand("pinch")
    assert apart(session, "index_l.tip", "thumb_l.tip") < 0.005
    with pytest.raises(BadValue, match="no hand with fingers"):
        Session(Scene(supple.load("panda"))).hand("fist")


def test_hands_are_found_where_fingers_part(person: supple.Figure):
    assert list(hands(person)) == ["hand_l", "hand_r"]
    assert list(hands(supple.load("hand"))) == ["rh_palm"]
    assert not hands(supple.load("human", fingers=False))


# ── preferred bends ──────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_joint_goes_back_to_the_bend_that_it_prefers():
    session = Session(Scene(supple.load("panda")))
    session.pin("point", "panda_hand", hard=True)
    start = session.q
    bent = {}
    for preferred in (False, True):
        session.pose(start, "begin")
        session.turn({"panda_joint4": -2.4})
        session.prefer("panda_link4", preferred)
        session.turn({"panda_joint4": -0.8})
        session.solve()
        assert all(ok for _, ok in session.misses().values())
        bent[preferred] = session.figure.named(session.q)["panda_joint4"]
    assert abs(bent[True] + 2.4) < 0.5 * abs(bent[False] + 2.4)
    session.prefer("panda_link4", False)
    assert list(session.scene.constraints) == ["panda_hand"]
    session.undo()
    assert "prefer panda_link4" in session.scene.constraints


# ── another figure ───────────────────────────────────────────────────────────────────────────────────────────────────
def test_another_figure_takes_the_posture_and_the_pins_and_undo_goes_back(session: Session):
    bends = {"upper_arm_r.flexion": 1.1, "forearm_r.flexion": 0.7, "thigh_l.flexion": 0.5, "shank_l.flexion": 0.9}
    session.turn(bends)
    q = session.q
    session.swap(supple.load("jack", spine="grouped"))
    assert session.figure.name == "jack"
    for joint, bend in bends.items():
        assert abs(session.figure.named(session.q)[joint] - bend) < 0.1
    assert list(session.scene.constraints) == ["foot_l", "foot_r"]
    assert all(ok for _, ok in session.misses().values())
    after = session.q
    session.undo()
    assert session.figure.name == "human"
    assert_array_equal(session.q, q)
    session.redo()
    assert session.figure.name == "jack"
    assert_array_equal(session.q, after)
    session.undo()
    session.turn({"head.flexion": 0.2})  # another way on: what was undone is gone
    with pytest.raises(BadValue, match="redo"):
        session.redo()


def test_a_figure_that_cannot_take_the_posture_changes_nothing(session: Session):
    before = session.scene
    with pytest.raises(supple.Error):
        session.swap(supple.load("crate"))
    assert session.scene is before


def test_a_person_and_a_robot_carry_a_box(session: Session):
    robot, box = session.invite(supple.load("panda")), session.invite(supple.load("crate", sides=(0.3, 0.4, 0.3)))
    assert (robot, box) == ("panda/", "crate/")
    names = [
        session.pair("meet", "hand_r.palm", "crate/crate"),
        session.pair("together", "panda/panda_hand", "crate/crate"),
    ]
    there = pulled(session, "crate/crate", [0.02, 0.05, 0.08])
    assert_allclose(place(session, "crate/crate"), there, atol=1e-3)
    assert all(session.misses()[name][1] for name in (*names, "foot_l", "foot_r"))
    assert session.scene.limits.contains(session.q)
    with pytest.raises(BadValue, match="balance one alone"):
        session.pin("balance", "pelvis")
    for _ in range(5):
        session.undo()
    assert "crate/crate" not in session.figure.segments


def test_two_people_shake_hands_and_stand(session: Session):
    session.invite(supple.load("human", stature=1.6))
    assert list(session.scene.constraints) == ["foot_l", "foot_r", "human/foot_l", "human/foot_r"]
    name = session.pair("meet", "human/hand_r.palm", "hand_r.palm")
    assert session.said.ok
    assert session.misses()[name][1]
    before = session.figure.named(session.q)
    session.select("human/hand_r")
    session.mirror()
    after = session.figure.named(session.q)
    assert all(after[c] == before[c] for c in before if not c.startswith("human/"))
    assert after["human/upper_arm_l.flexion"] == pytest.approx(before["human/upper_arm_r.flexion"])
    with pytest.raises(BadValue, match="needs two"):
        session.pair("meet", "hand_r", "hand_r")


def test_one_of_several_figures_goes_and_takes_its_pins_along(session: Session):
    robot, box = session.invite(supple.load("panda")), session.invite(supple.load("crate", sides=(0.3, 0.4, 0.3)))
    names = [
        session.pair("meet", "hand_r.palm", f"{box}crate"),
        session.pair("together", f"{robot}panda_hand", f"{box}crate"),
    ]
    session.prefer("forearm_l")
    before, q = session.figure.named(session.q), session.q
    session.select(f"{robot}panda_hand")
    session.dismiss()
    assert not any(s.startswith(robot) for s in session.figure.segments)
    after = session.figure.named(session.q)
    assert after == {c: x for c, x in before.items() if not c.startswith(robot)}
    assert list(session.scene.constraints) == ["foot_l", "foot_r", names[0], "prefer forearm_l"]
    assert session.misses()[names[0]][1]
    there = pulled(session, f"{box}crate", [0.03, 0.02, 0.04])
    assert_allclose(place(session, f"{box}crate"), there, atol=1e-3)
    session.select("hand_r")
    session.dismiss()
    assert session.figure.segments == ("crate",)
    assert not session.scene.constraints
    assert_allclose(place(session, "crate"), there, atol=1e-3)
    with pytest.raises(BadValue, match="click on the figure"):
        session.dismiss()
    for _ in range(3):
        session.undo()
    assert_array_equal(session.q, q)
    session.become(Scene(supple.load("human")))
    session.select("hand_l")
    with pytest.raises(BadValue, match="one figure only"):
        session.dismiss()


@pytest.mark.parametrize("first", [True, False])
def test_one_of_two_people_is_swapped_and_goes_on_shaking_hands(session: Session, first: bool):
    other = session.invite(supple.load("human"))
    session.pair("meet", f"{other}hand_r.palm", "hand_r.palm")
    session.turn({"forearm_l.flexion": 0.8, f"{other}forearm_l.flexion": 1.1})
    before = session.figure.named(session.q)
    session.select("head" if first else f"{other}head")
    session.swap(supple.load("jack", spine="grouped"))
    gone, stays = ("", other) if first else (other, "")
    new = "" if first else "jack/"
    after = session.figure.named(session.q)
    assert after[f"{new}forearm_l.flexion"] == pytest.approx(before[f"{gone}forearm_l.flexion"], abs=0.1)
    assert all(after[c] == x for c, x in before.items() if c.startswith("human/") == bool(stays))
    assert set(session.scene.constraints) == {
        "foot_l",
        "foot_r",
        "human/foot_l",
        "human/foot_r",
        "hand_r.palm – hand_r.palm",
    }
    session.solve()
    assert all(ok for _, ok in session.misses().values())
    assert session.scene.limits.contains(session.q)
    session.undo()
    session.undo()
    assert session.figure.named(session.q) == before


def test_either_hand_follows_a_pin(session: Session):
    name = session.pair("either", "hand_l", "hand_r", hard=False)
    right = place(session, "hand_r")
    task = session.scene.constraints[name]
    assert_allclose(handle_of(session.figure, session.q, task)[:3, 3], place(session, "hand_l"))
    for side in (1.0, -1.0):
        there = np.array([0.45, 0.25 * side, 1.1])
        frame = np.eye(4)
        frame[:3, 3] = there
        session.take(0, name)
        session.carry(0, frame)
        for _ in range(40):
            session.tick()
        session.release(0)
        assert min(np.linalg.norm(place(session, s) - there) for s in ("hand_l", "hand_r")) < 1e-3
        assert session.misses()[name][1]
        assert session.scene.limits.contains(session.q)
    assert_allclose(place(session, "hand_r"), right, atol=0.5)  # the other one hangs about where it was


def test_lines_of_python_make_all_of_it_again(session: Session):
    session.pin("point", "hand_l", chain=("forearm_l", "upper_arm_l"))
    session.prefer("forearm_l")
    session.scene.place("table", Box((0.4, -0.5, 0.0), (0.9, 0.5, 0.7)))
    session.scene.keep_clear(margin=0.01)
    session.invite(supple.load("panda"))
    session.pair("meet", "hand_r.palm", "panda/panda_hand_tcp")
    session.pair("either", "hand_r", "hand_l", hard=False)
    names: dict = {}
    exec(python_lines(session.scene), names)
    assert names["figure"] == session.figure
    assert_array_equal(names["q"], session.q)
    assert names["scene"].constraints == session.scene.constraints
    assert names["scene"].obstacles == session.scene.obstacles
    assert names["scene"].clearance == session.scene.clearance


def test_a_posture_is_pasted_into_another_figure(session: Session):
    session.turn({"forearm_r.flexion": 0.9})
    session.copy()
    session.become(Scene(supple.load("jack")))
    session.paste()
    assert session.figure.named(session.q)["forearm_r.flexion"] == pytest.approx(0.9)
    session.become(Scene(supple.load("panda")))
    with pytest.raises(BadValue, match="no coordinate"):
        session.paste()
