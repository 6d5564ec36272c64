"""Retargeting survives what people have: zero poses that are none, names that mislead, bodies upside down."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from typer.testing import CliRunner

import supple
from supple.cli import app
from supple.errors import BadValue
from supple.motion.motion import Motion
from supple.motion.retargeting.anatomy import Anatomy
from supple.motion.retargeting.match_check import sureness
from supple.motion.retargeting.planted import standing
from supple.motion.retargeting.rest_alignment import arc, arcs
from supple.motion.retargeting.rest_pose import resting
from tests.motion.retargeting.test_retarget import HUMAN, marching, renamed

LIMBS = [("thigh", "shank"), ("shank", "foot"), ("upper_arm", "forearm"), ("forearm", "hand")]


def folded(motion: Motion) -> Motion:
    """The same motion of a figure whose zero pose is bent double: other rest, same postures."""
    bent = {"lumbar.flexion": 0.5, "thigh_l.flexion": 1.6, "thigh_r.flexion": 1.2, "shank_l.flexion": 1.5}
    return Motion(motion.figure.with_rest(bent), motion.q, motion.times)


def direction_errors(a: Motion, b: Motion) -> float:
    """The mean angle between limbs, as lines between joints [°]: nothing of the retargeter's own."""
    angles = []
    for upper, lower in LIMBS:
        for side in "lr":
            lines = []
            for motion in (a, b):
                ends = [motion.figure.placement(motion.q, f"{part}_{side}")[:, :3, 3] for part in (upper, lower)]
                line = ends[1] - ends[0]
                lines.append(line / np.linalg.norm(line, axis=1, keepdims=True))
            angles.append(np.degrees(np.arccos(np.clip((lines[0] * lines[1]).sum(axis=1), -1.0, 1.0))))
    return float(np.mean(angles))


# ── rest poses ───────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_zero_pose_that_does_not_stand_is_recognised():
    motion = folded(marching(HUMAN, 40))
    chosen = resting(motion, None)
    assert not np.allclose(chosen.posture, motion.figure.rest)
    out = supple.retarget(motion, supple.load("human", stature=1.5, fingers=False))
    assert direction_errors(motion, out) < 4.0
    assert out.ok, out.report.problems


def test_a_zero_pose_that_stands_is_kept():
    motion = marching(HUMAN, 10)
    assert_allclose(resting(motion, None).posture, HUMAN.rest)


def test_a_pose_is_found_or_given():
    motion = marching(HUMAN, 20)
    Q = motion.q.copy()
    for side in "lr":
        Q[7, HUMAN.coordinates.index(f"upper_arm_{side}.abduction")] = np.pi / 2
        Q[11, HUMAN.coordinates.index(f"upper_arm_{side}.abduction")] = np.pi / 4
    posed = Motion(HUMAN, Q, motion.times)
    assert_allclose(resting(posed, "T").posture, Q[7])
    assert_allclose(resting(posed, "A").posture, Q[11])
    assert_allclose(resting(posed, 3).posture, Q[3])


@pytest.mark.parametrize("rest", [-1, 20, "X", 1.5, True, "t"])
def test_other_rests_are_refused(rest: object):
    with pytest.raises(BadValue, match="rest is the number of a frame, 0 to 19, or 'T' or 'A'"):
        supple.retarget(marching(HUMAN, 20), HUMAN, rest=rest)  # pyright: ignore[reportArgumentType]


def test_a_pose_that_nobody_takes_is_refused():
    with pytest.raises(BadValue, match="is a standing T-pose: the nearest"):
        supple.retarget(marching(HUMAN, 20), HUMAN, rest="T")


# ── matches ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_limb_with_one_name_is_cut_where_it_bends(shared: Path):
    talos = supple.load(shared / "data/robots/talos/talos_full_v2.urdf").based_at(free=True)
    pairs = dict(supple.motion.match_segments(HUMAN, talos).pairs)
    for k, part in ((3, "upper_arm"), (4, "forearm"), (7, "hand")):
        assert pairs[f"arm_left_{k}_link"] == f"{part}_l"
    for k, part in ((3, "thigh"), (4, "shank"), (6, "foot")):
        assert pairs[f"leg_right_{k}_link"] == f"{part}_r"
    hand = sureness([("arm_left_7_link", "upper_arm_l")], Anatomy(HUMAN), Anatomy(talos))
    assert hand[0] < 0.1


def test_names_that_geometry_denies_are_refused_by_name():
    wrong = renamed(HUMAN, {"upper_arm_l": "hand_l", "hand_l": "upper_arm_l"})
    with pytest.raises(
        BadValue, match=r"'hand_l' of 'human' is, like .* a hand, but what hangs below them tells otherwise"
    ):
        supple.motion.match_segments(HUMAN, wrong)
    given = {"pelvis": "pelvis", "hand_l": "upper_arm_l"}
    assert supple.retarget(marching(HUMAN, 2), wrong, given, plant=False).match.pairs  # who says so is believed


# ── frames ───────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(("turn", "tip"), [(0.0, 0.0), (2.0, 0.0), (np.pi, 0.0), (1.0, np.pi / 2), (-2.0, np.pi)])
def test_the_first_frame_is_found_however_the_body_stands_lies_or_hangs(turn: float, tip: float):
    motion = marching(HUMAN, 8)
    Q = motion.q.copy()
    pelvis = [k for k, name in enumerate(HUMAN.coordinates) if name.startswith("pelvis.")]
    Q[:, pelvis[3]], Q[:, pelvis[5]] = tip, turn
    turned = Motion(HUMAN, Q, motion.times)
    out = supple.retarget(turned, supple.load("human", stature=1.5, fingers=False), plant=False)
    assert direction_errors(turned, out) < 1.0


def test_nothing_depends_on_where_a_clip_begins():
    motion = marching(HUMAN, 40)
    out = supple.retarget(motion, HUMAN, plant=False)
    back = supple.retarget(Motion(HUMAN, motion.q[::-1], motion.times), HUMAN, plant=False)
    assert_allclose(out.q, back.q[::-1], atol=2e-3)


def test_hands_on_the_ground_stay_there():
    figure = HUMAN
    low = {f"hand_{s}": supple.At((0.55, 0.25 if s == "l" else -0.25, 0.07)) for s in "lr"}
    feet = {f"foot_{s}": supple.Placed(figure.placement(figure.rest, f"foot_{s}")) for s in "lr"}
    solution = supple.solve(figure, low | feet, prove=False)
    assert solution.ok
    share = np.clip(np.linspace(-0.5, 2.0, 75), 0.0, 1.0)[:, None]
    motion = Motion(figure, (1.0 - share) * figure.rest + share * solution.q, np.arange(75) / 30.0)
    small = supple.load("human", stature=1.5, fingers=False)
    out = supple.retarget(motion, small)
    held = small.placement(out.q[52:], "hand_l")[:, :3, 3]
    assert np.ptp(held, axis=0).max() < 2e-3
    assert out.report.target.depth < 2e-3


def test_arcs_are_arcs():
    rng = np.random.default_rng(3)
    u, v = rng.normal(size=(2, 9, 3))
    for R, a, b in zip(arcs(u, v), u, v, strict=True):
        assert_allclose(R, arc(a, b), atol=1e-12)


def test_what_creeps_stands_anew():
    times = np.arange(90) / 30.0
    way = np.zeros((90, 3))
    way[30:60, 0] = np.linspace(0.0, 0.05, 30)
    way[60:, 0] = 0.05
    found = standing(way, times, 0.9)
    assert found[0][0] == 0
    assert 30 <= found[0][1] <= 40
    assert all(np.ptp(way[a:b, 0]) < 0.006 * 0.9 for a, b in found)


# ── the verdict ──────────────────────────────────────────────────────────────────────────────────────────────────────
def test_the_report_tells_jerk_jumps_and_overlap():
    out = supple.retarget(marching(HUMAN, 20), HUMAN)
    assert out.report.jumps == 0
    assert out.report.overlap < 0.05
    assert "frames that jump" in out.report.text()


def test_the_command_takes_a_rest_and_writes_a_page(tmp_path: Path):
    clip, out, page = tmp_path / "march.bvh", tmp_path / "out.bvh", tmp_path / "report.html"
    supple.write(marching(HUMAN, 8), clip)
    run = CliRunner()
    done = run.invoke(
        app, ["retarget", str(clip), "--to", "human", "--rest", "0", "-o", str(out), "--report", str(page)]
    )
    assert done.exit_code == 0, done.output
    text = page.read_text(encoding="utf-8")
    assert text.index("Nothing seems wrong") < text.index("slide of planted feet")
    assert "srcdoc" in text
    refused = run.invoke(app, ["retarget", str(clip), "--to", "human", "--rest", "9", "-o", str(out)])
    assert refused.exit_code == 2
    assert "0 to 7" in refused.output + refused.stderr
