"""The posing page's session, without a browser: events in, state out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple import Scene
from supple.errors import BadValue, UnknownName
from supple.view.page.as_python import postures_of, postures_text, python_lines
from supple.view.page.mirror import mirrored, other_side
from supple.view.page.pins import KINDS, handle_of, target_of
from supple.view.page.session import STRIDE, Session
from supple.view.page.why import spoken


@pytest.fixture(scope="module")
def person() -> supple.Figure:
    return supple.load("human", fingers=False)


@pytest.fixture
def session(person: supple.Figure) -> Session:
    return Session(Scene(person))


def hand(session: Session) -> np.ndarray:
    return session.figure.placement(session.q, "hand_l")[:3, 3]


def pulled(session: Session, place: np.ndarray, ticks: int = 80, segment: str = "hand_l") -> None:
    session.press("somebody", segment, session.figure.placement(session.q, segment)[:3, 3])
    session.pull("somebody", place)
    for _ in range(ticks):
        session.tick()


# ── pulling ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_standing_person_has_its_feet_pinned_and_nothing_to_undo(session: Session):
    assert list(session.scene.constraints) == ["foot_l", "foot_r"]
    assert all(task.hard for task in session.scene.constraints.values())
    with pytest.raises(BadValue, match="as it began"):
        session.undo()


def test_a_pull_moves_the_hand_to_the_target_and_leaves_one_step_to_undo(session: Session):
    before, target = session.q, np.add(hand(session), [0.25, 0.05, 0.3])
    pulled(session, target)
    assert_allclose(hand(session), target, atol=1e-4)
    session.release("somebody")
    assert_allclose(hand(session), target, atol=1e-5)
    assert session.said.ok
    assert list(session.scene.constraints) == ["foot_l", "foot_r"]
    assert all(ok for _, ok in session.misses().values())
    assert [state.done for state in session.scene.history] == ["begin", "pull 'hand_l'"]
    after = session.q
    session.undo()
    assert_array_equal(session.q, before)
    session.redo()
    assert_array_equal(session.q, after)


def test_out_of_reach_the_figure_stays_legal_keeps_its_feet_and_says_why(session: Session):
    pulled(session, np.add(hand(session), [3.0, 0.0, 1.0]))
    assert not session.said.ok
    assert "elbow is straight" in session.said.text
    session.release("somebody")
    assert session.scene.limits.contains(session.q)
    assert all(ok for _, ok in session.misses().values())


def test_no_tick_changes_a_coordinate_by_more_than_a_stride(session: Session):
    session.press("somebody", "hand_l", hand(session))
    begin, most = hand(session), 0.0
    for x in [*np.linspace(0.0, 2.5, 25), *np.linspace(2.5, 0.0, 25)]:
        session.pull("somebody", np.add(begin, [x, 0.0, 0.4]))
        before = session.q
        session.tick(1.0)
        most = max(most, float(np.abs(session.q - before).max()))
    for _ in range(60):
        session.tick()
    assert most <= STRIDE * (1.0 + 1e-9)
    assert_allclose(hand(session), np.add(begin, [0.0, 0.0, 0.4]), atol=1e-3)


def test_a_chosen_solver_pulls_and_one_that_cannot_gives_way_to_the_usual_one(session: Session):
    there = np.add(hand(session), [0.1, 0.05, 0.1])
    session.solver = supple.PseudoInverse()
    pulled(session, there)
    assert_allclose(hand(session), there, atol=1e-3)
    session.release("somebody")
    session.solver = supple.Fabrik()
    pulled(session, np.add(there, [0.05, 0.0, 0.0]))
    assert "Fabrik cannot take this problem" in session.said.text
    assert_allclose(hand(session), np.add(there, [0.05, 0.0, 0.0]), atol=1e-3)


def test_the_newest_target_wins(session: Session):
    begin = hand(session)
    session.press("somebody", "hand_l", begin)
    for x in (0.1, 0.9, -0.4, 0.2):
        session.pull("somebody", np.add(begin, [x, 0.0, 0.2]))
    for _ in range(60):
        session.tick()
    assert_allclose(hand(session), np.add(begin, [0.2, 0.0, 0.2]), atol=1e-4)


def test_two_people_pull_at_once_and_neither_leaves_anything_behind(session: Session):
    left, right = (session.figure.placement(session.q, s)[:3, 3] for s in ("hand_l", "hand_r"))
    session.press(1, "hand_l", left)
    session.press(2, "hand_r", right)
    session.pull(1, np.add(left, [0.2, 0.1, 0.3]))
    session.pull(2, np.add(right, [0.3, 0.0, 0.1]))
    for _ in range(60):
        session.tick()
    session.release(1)
    assert list(session.pulls) == [2]
    session.release(2)
    session.release(2)
    assert_allclose(hand(session), np.add(left, [0.2, 0.1, 0.3]), atol=1e-3)
    assert list(session.scene.constraints) == ["foot_l", "foot_r"]
    assert len(session.scene.history) == 2


def test_pulling_at_what_is_pinned_moves_the_pin(session: Session):
    session.pin("point", "hand_l")
    target = np.add(hand(session), [0.2, 0.0, 0.2])
    pulled(session, target)
    session.release("somebody")
    assert_allclose(session.scene.constraints["hand_l"].goal.position, target, atol=1e-9)
    assert_allclose(hand(session), target, atol=1e-4)


def test_an_edit_in_the_middle_of_a_pull_ends_it_first(session: Session):
    pulled(session, np.add(hand(session), [0.2, 0.0, 0.2]), ticks=5)
    session.lock("head")
    assert not session.pulls
    assert list(session.scene.constraints) == ["foot_l", "foot_r"]


@pytest.mark.parametrize("place", [(0, 0), (0, 0, np.nan), (0, 0, 1e9), "there"])
def test_a_place_that_is_none_is_refused(session: Session, place: object):
    with pytest.raises((BadValue, ValueError)):
        session.press("somebody", "hand_l", place)
    assert not session.pulls


def test_a_segment_that_is_none_is_refused(session: Session):
    with pytest.raises(UnknownName):
        session.press("somebody", "tentacle", (0, 0, 0))


# ── pins ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("kind", KINDS)
def test_a_new_pin_is_met_and_its_gizmo_goes_where_it_is_taken(session: Session, kind: str):
    name = session.pin(kind, "hand_l")
    assert session.misses()[name][1]
    task = session.scene.constraints[name]
    handle = handle_of(session.figure, session.q, task)
    if kind == "balance":
        assert handle is None
        return
    assert handle is not None
    if kind != "direction":
        session.take("somebody", name)
        handle[:3, 3] += [0.05, 0.0, 0.05]
        session.carry("somebody", handle)
        for _ in range(30):
            session.tick()
        session.release("somebody")
        moved = session.scene.constraints[name]
        assert_allclose(
            target_of(moved, handle_of(session.figure, session.q, moved)), target_of(task, handle), atol=1e-9
        )
        assert session.misses()[name][1]


def test_pins_are_renamed_disabled_weighed_and_removed(session: Session):
    session.pin("point", "hand_l")
    session.rename("hand_l", "cup")
    assert list(session.scene.constraints) == ["foot_l", "foot_r", "cup"]
    session.enable("cup", False)
    assert "cup" in session.scene.disabled
    session.rename("cup", "glass")
    assert session.scene.disabled == {"glass"}
    session.enable("glass")
    session.change("glass", weight=3.0, hard=True, chain="upper_arm_l")
    task = session.scene.constraints["glass"]
    assert (task.weight, task.hard, task.chain) == (3.0, True, "upper_arm_l")
    session.unpin("glass")
    assert list(session.scene.constraints) == ["foot_l", "foot_r"]
    for _ in range(7):
        session.undo()
    assert [state.done for state in session.scene.history] == ["begin"]
    with pytest.raises(BadValue, match="already"):
        session.rename("foot_l", "foot_r")


# ── joints, postures ─────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_locked_joint_does_not_move(session: Session):
    session.lock("forearm_l")
    at = session.figure.coordinates.index("forearm_l.flexion")
    before = session.q[at]
    pulled(session, np.add(hand(session), [0.2, 0.0, 0.3]))
    session.release("somebody")
    assert session.q[at] == before


def test_turning_is_one_step_to_undo(session: Session):
    before = session.q
    for value in (0.1, 0.2, 0.3):
        session.turn({"forearm_l.flexion": value}, done=False)
    assert session.figure.named(session.q)["forearm_l.flexion"] == 0.3
    session.undo()
    assert_array_equal(session.q, before)


@pytest.mark.parametrize("name", ["human", "jack"])
def test_a_mirrored_posture_is_the_mirror_image(name: str):
    figure = supple.load(name, fingers=False)
    q = figure.rest + 0.2 * np.random.default_rng(0).standard_normal(figure.size)
    image = mirrored(figure, q)
    for segment in figure.segments:
        there = figure.placement(image, other_side(segment))[:3, 3]
        assert_allclose(there, [1, -1, 1] * figure.placement(q, segment)[:3, 3], atol=1e-12)
    assert_allclose(mirrored(figure, image), q, atol=1e-12)


def test_names_change_sides_and_are_spoken():
    pairs = {
        "hand_l": "hand_r",
        "left_knee_joint": "right_knee_joint",
        "LeftArm": "RightArm",
        "L_Hand": "R_Hand",
        "pelvis": "pelvis",
    }
    for one, other in pairs.items():
        assert other_side(one) == other
        assert other_side(other) == one
    assert spoken("forearm_l") == "left elbow"
    assert spoken("right_knee_link") == "right knee"
    assert spoken("T4") == "T4"


def test_copy_as_python_makes_the_same_posture_and_pins_when_it_is_run(session: Session):
    for kind in KINDS:
        session.pin(kind, "hand_r")
    session.lock("head")
    session.enable("hand_r line", False)
    pulled(session, np.add(hand(session), [0.2, 0.1, 0.3]))
    session.release("somebody")
    space: dict[str, object] = {}
    exec(python_lines(session.scene), space)
    again = space["scene"]
    assert isinstance(again, Scene)
    assert_array_equal(again.q, session.q)
    assert again.constraints == session.scene.constraints
    assert again.disabled == session.scene.disabled
    assert again.rigidity == session.scene.rigidity


def test_saved_and_read_again_it_is_the_same(session: Session, tmp_path):
    pulled(session, np.add(hand(session), [0.2, 0.1, 0.3]))
    session.release("somebody")
    supple.write(session.scene, tmp_path / "scene.toml")
    again = supple.read_scene(tmp_path / "scene.toml")
    assert_array_equal(again.q, session.q)
    text = postures_text(session.figure, {"now": session.q})
    assert_array_equal(postures_of(session.figure, text)["now"], session.q)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"postures": 3}', '{"postures": {"a": {"head.flexion": "x"}}}', "[" * 9000]
)
def test_broken_postures_are_refused(session: Session, text: str):
    with pytest.raises(supple.BadFile):
        postures_of(session.figure, text)


def test_a_robot_that_is_bolted_down_has_no_pins_and_follows():
    session = Session(Scene(supple.load("panda")))
    assert not session.scene.constraints
    tip = session.figure.segments[-1]
    place = session.figure.placement(session.q, tip)[:3, 3]
    pulled(session, np.add(place, [0.05, 0.1, -0.05]), segment=tip)
    session.release("somebody")
    assert_allclose(session.figure.placement(session.q, tip)[:3, 3], np.add(place, [0.05, 0.1, -0.05]), atol=1e-4)


def test_constraints_that_the_page_does_not_make_are_kept(person: supple.Figure):
    scene = Scene(person)
    scene.add("inside", "hand_l", supple.Within(scene.figure.placement(scene.q, "hand_l"), box=0.4))
    session = Session(scene)
    pulled(session, np.add(hand(session), [0.1, 0.0, 0.1]))
    session.release("somebody")
    assert "is left out" in python_lines(session.scene)


def test_copy_as_python_makes_hulls_again():
    scene = Scene(supple.load("human"))
    scene.place("rock", supple.geometry.Hull(np.random.default_rng(0).standard_normal((9, 3)) + 3.0, 0.02))
    space: dict[str, object] = {}
    exec(python_lines(scene), space)
    again = space["scene"]
    assert isinstance(again, Scene)
    assert again.obstacles == scene.obstacles
