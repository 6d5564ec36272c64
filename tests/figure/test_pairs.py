"""Which pairs of segments are kept apart: told by SRDF, or found out over the whole range, never from the zero of a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple
from supple.errors import BadFile, BadValue
from supple.figure.figure import Figure
from supple.figure.joints import fixed, hinge
from supple.files.srdf import parse_srdf
from supple.files.urdf.reader import parse_urdf
from supple.geometry.distances import distance_between
from supple.geometry.placements import Y
from supple.geometry.shapes import Ball, Box

BALL = '<collision><geometry><sphere radius="{}"/></geometry></collision>'
ARM = (
    '<robot name="arm">'
    + "".join(
        f'<link name="{name}">{BALL.format(r)}</link>' for name, r in zip("abcd", (0.1, 0.1, 0.1, 0.1), strict=True)
    )
    + "".join(
        f'<joint name="{b}" type="revolute"><parent link="{a}"/><child link="{b}"/><origin xyz="{x} 0 0"/>'
        '<axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>'
        for a, b, x in (("a", "b", 0.3), ("b", "c", 0.3), ("c", "d", -0.3))
    )
    + "</robot>"
)  # folded at zero: d is inside b


def test_the_zero_of_a_file_excuses_nothing_but_a_chosen_rest_posture_does():
    figure = parse_urdf(ARM)
    assert figure.touching() == (("b", "d"),)
    assert ("b", "d") in figure.colliding_pairs()
    assert figure.left_out()["at rest"] == ()
    chosen = figure.with_rest({"d": 0.1})
    assert ("b", "d") in chosen.touching()
    assert chosen.left_out()["at rest"] == (("b", "d"),)
    assert ("b", "d") not in chosen.colliding_pairs()


def test_what_always_touches_is_left_out_and_what_never_does_is_told():
    parts = [*fixed("a"), *hinge("b", "a", Y, at=(0.05, 0, 0)), *hinge("c", "b", Y, at=(0.05, 0, 0))]
    parts += hinge("far", "a", Y, at=(9, 0, 0), limits=(-1, 1))
    figure = Figure("f", parts).with_solids(dict.fromkeys(("a", "b", "c", "far"), (Ball((0, 0, 0), 0.1),)))
    assert figure.left_out()["always"] == (("a", "c"),)
    assert set(figure.never_touching()) == {("b", "far"), ("c", "far")}
    assert set(figure.colliding_pairs()) == {("b", "far"), ("c", "far")}  # a sample is no proof


def test_a_sample_is_the_same_every_time():
    one, other = (supple.load("human", fingers=False) for _ in range(2))
    assert one._sampled == other._sampled
    assert one.left_out() == other.left_out()


def test_distances_of_a_sample_are_those_of_the_audit():
    figure = supple.load("human", fingers=False)
    box = figure.with_solids(
        {"head": [Box((-0.1, -0.1, 0), (0.1, 0.1, 0.2))], "hand_l": [Box((-0.1, 0, 0), (0.1, 0.1, 0.2))]}
    )
    q = box.posture({"elbow_l.flexion": 1.0} if "elbow_l.flexion" in box.coordinates else box.rest)
    frames, apart = box.placements(q), box._apart(q)
    for a, b in [*[*apart][::7], ("head", "hand_l")]:
        least = min(distance_between(x, y, frames[a], frames[b]) for x in box.bars[a] for y in box.bars[b])
        assert apart[a, b] == pytest.approx(least, abs=1e-9)


# ── SRDF ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
SRDF = """<robot name="arm"><group name="g"><link name="a"/></group>
  <disable_collisions link1="a" link2="b" reason="Adjacent"/><disable_collisions link1="c" link2="a" reason="Never"/>
  <disable_collisions link1="c" link2="camera" reason="Never"/></robot>"""


def test_an_srdf_file_says_which_pairs_are_left_out(tmp_path: Path):
    (tmp_path / "arm.urdf").write_text(ARM)
    (tmp_path / "arm.srdf").write_text(SRDF)
    for srdf in (SRDF, tmp_path / "arm.srdf", str(tmp_path / "arm.srdf")):
        figure = supple.load(tmp_path / "arm.urdf", srdf=srdf)
        assert figure.ignored == (("a", "b"), ("c", "a"))
        assert set(figure.colliding_pairs()) == {("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")}
        assert "told 2 pairs" in " ".join(figure.notes)
    again = figure.prefixed("l_")
    assert again.ignored == (("l_a", "l_b"), ("l_c", "l_a"))
    both = figure.attached(parse_urdf(ARM).prefixed("r_"), "a", (0, 5, 0))
    assert {("a", "b"), ("c", "a")} < set(both.ignored or ())
    assert both.with_pairs(None).ignored is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<model/>", "begins with <robot>"),
        ('<robot name="a"><disable_collisions link1="a"/></robot>', "link2"),
        ('<robot name="a"><disable_collisions link1="a" link2="a"/></robot>', "paired with itself"),
        ('<robot name="a"><disable_default_collisions link="a"/></robot>', "is not read"),
    ],
)
def test_broken_srdf(text: str, message: str):
    with pytest.raises(BadFile, match=message):
        parse_srdf(text, "arm.srdf")


def test_pairs_are_refused_by_name():
    figure = parse_urdf(ARM)
    with pytest.raises(BadValue, match="two segments"):
        figure.with_pairs([("a", "a")])
    with pytest.raises(supple.Error, match="nobody"):
        figure.with_pairs([("a", "nobody")])


# ── the Panda ────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_the_panda_never_answers_with_its_forearm_in_its_hand(shared: Path):
    figure = supple.load(shared / "data" / "robots" / "panda" / "panda_collision.urdf")
    pair = ("panda_link5", "panda_hand")
    assert pair in figure.touching()  # in the zero of the file
    assert pair in figure.colliding_pairs()
    clear = supple.Clearance(itself=True, uncovered="ignore")
    start = figure.placement(figure.rest, "panda_hand")
    problem = supple.Problem(figure, [supple.Task("panda_hand", supple.Placed(start))], clearance=clear)
    query, solved = supple.prepare(problem), 0
    for q in np.random.default_rng(3).uniform(figure.lower, figure.upper, (40, figure.size)):
        solution = query(figure.placement(q, "panda_hand"))
        if solution.ok:
            solved += 1
            assert not {*solution.problem.figure.touching(solution.q, -1e-5)} & {*figure.colliding_pairs()}
    assert solved > 20
