"""What stands and what turns freely; fingers; jolts that are taken slowly."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import supple
from supple.basics.stopping import Stop
from supple.figure.figure import Figure
from supple.motion.motion import Motion
from supple.motion.retargeting.anatomy import Anatomy
from supple.motion.retargeting.footing import levelled
from supple.motion.retargeting.frames import Follower
from supple.motion.retargeting.match import as_match
from supple.motion.retargeting.planted import either, ground_under
from supple.motion.retargeting.rest_alignment import Alignment
from supple.motion.retargeting.rest_pose import resting
from supple.motion.retargeting.seen import Seen
from supple.motion.retargeting.slowing import slowed
from supple.motion.retargeting.verdict import THROUGH
from supple.motion.retargeting.wishes import Wishes
from tests.motion.retargeting.test_retarget import HUMAN, marching, renamed
from tests.motion.retargeting.test_survival import direction_errors


# ── what stands, and what turns freely ───────────────────────────────────────────────────────────────────────────────
def test_phases_of_two_lists_are_joined_where_they_touch():
    assert either([(0, 3), (7, 9)], [(3, 5), (8, 12)]) == [(0, 5), (7, 12)]
    assert either([], []) == []


def test_nobody_stands_on_a_ground_with_balls_above_ankles():
    rng = np.random.default_rng(1)
    times = np.arange(200) / 30.0
    fall = np.linspace(1.0, 0.0, 200)
    ankle = np.column_stack([times, 0.0 * times, 0.08 + 0.3 * fall + 0.001 * rng.normal(size=200)])
    ball = np.add(ankle, (0.1, 0.0, 0.05))
    ball[100:, 2] -= 0.11
    ball[:100, 0] = ankle[:100, 0] = 0.0
    ground = ground_under([(ankle, ball)], times, 0.9)
    assert ground.heights[1] < ground.heights[0]
    for kind, way in enumerate((ankle, ball)):
        assert (way[:, 2] < ground.under(way, kind)).mean() < 0.06


def test_feet_are_levelled_by_flat_feet_only():
    flat = Rotation.from_euler("y", np.full((30, 1), 10.0), degrees=True).as_matrix()
    onto_toes = Rotation.from_euler("y", np.full((40, 1), 95.0), degrees=True).as_matrix()
    planted = [[(0, 70)], [(0, 70)]]
    C = levelled(np.concatenate([flat, onto_toes]), planted)
    assert_allclose(flat[0] @ C @ [0.0, 0.0, 1.0], [0.0, 0.0, 1.0], atol=1e-9)
    assert_allclose(levelled(onto_toes, [[(0, 40)], [(0, 40)]]), np.eye(3))


def free_puppet() -> Figure:
    """Legs, trunk and arms of three free angles each, as in a BVH file, and a thumb that no other figure has."""
    names = {"hips": (None, (0, 0, 0.9)), "spine": ("hips", (0, 0, 0.2)), "head": ("spine", (0, 0, 0.3))}
    for s, y in (("l", 0.1), ("r", -0.1)):
        names |= {f"thigh_{s}": ("hips", (0, y, 0)), f"shank_{s}": (f"thigh_{s}", (0, 0, -0.42)),
                  f"foot_{s}": (f"shank_{s}", (0, 0, -0.4)), f"upper_arm_{s}": ("spine", (0, 2 * y, 0.25)),
                  f"forearm_{s}": (f"upper_arm_{s}", (0, 0, -0.3)), f"hand_{s}": (f"forearm_{s}", (0, 0, -0.25)),
                  f"thumb_{s}": (f"hand_{s}", (0.03, 0, -0.03))}  # fmt: skip
    parts = []
    for name, (parent, at) in names.items():
        parts += supple.free(name, parent) if parent is None else supple.ball(name, parent, "zyx", at=at)
    figure = supple.Figure("puppet", parts)
    return figure.with_rest({figure.coordinates[2]: 0.9})


def test_free_angles_have_nothing_to_go_round_and_what_nobody_asks_for_rests():
    t = np.arange(40) / 30.0
    motion = marching(HUMAN, 40)
    Q = motion.q.copy()
    k = HUMAN.coordinates.index("upper_arm_l.abduction")
    Q[:, k] = np.clip(1.2 * np.pi * t, 0.0, HUMAN.upper[k])
    puppet = free_puppet()
    out = supple.retarget(Motion(HUMAN, Q, t), puppet)
    assert out.report.jumps == 0
    own = [k for k, name in enumerate(puppet.coordinates) if name.startswith("thumb")]
    assert own
    assert_allclose(out.q[:, own], np.tile(puppet.rest[own], (40, 1)), atol=1e-12)
    assert direction_errors(Motion(HUMAN, Q, t), out) < 3.0


def test_a_segment_that_jumps_is_told_unless_its_source_does():
    motion = marching(HUMAN, 30)
    puppet = free_puppet()
    out = supple.retarget(motion, puppet, plant=False)
    wishes = Wishes(motion, Alignment(resting(motion, None), Anatomy(puppet), out.match), plant=False)
    follower = Follower(puppet, wishes, Stop(None))
    Q = out.q.copy()
    k = puppet.coordinates.index(puppet.joints_of("forearm_l")[0])
    Q[15:, k] += 3.0
    assert Seen(puppet, wishes, follower, out.q).jumps() == 0
    assert Seen(puppet, wishes, follower, Q).jumps() == 1


def test_parts_inside_each_other_are_told():
    inside = HUMAN.placement(HUMAN.rest, "lumbar")[:3, 3]
    held = {f"foot_{s}": supple.Placed(HUMAN.placement(HUMAN.rest, f"foot_{s}")) for s in "lr"}
    solution = supple.solve(HUMAN, {"hand_l": supple.At(inside), **held}, prove=False)
    assert solution.ok
    motion = Motion(HUMAN, np.tile(solution.q, (6, 1)), np.arange(6) / 30.0)
    out = supple.retarget(motion, HUMAN, plant=False)
    assert out.report.overlap > THROUGH
    assert any("inside each other" in problem for problem in out.report.problems)
    assert not out.ok


# ── fingers ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_fingers_follow_where_hands_show_several():
    person = supple.load("human")
    fingers = ("thumb", "index", "middle", "ring", "little")
    called = {f"{f}_{s}": f"{side}Hand{f.title()}1" for f in fingers for s, side in (("l", "Left"), ("r", "Right"))}
    other = renamed(supple.load("human", stature=1.5), called)
    pairs = dict(supple.motion.match_segments(person, other).pairs)
    assert {t: s for t, s in pairs.items() if t in called.values()} == {t: s for s, t in called.items()}
    Q = np.tile(person.rest, (10, 1))
    Q[:, person.coordinates.index("index_l.flexion")] = np.linspace(0.1, 1.2, 10)
    out = supple.retarget(Motion(person, Q, np.arange(10) / 30.0), other)
    mine = out.q[:, other.coordinates.index("index_l.flexion")]
    assert_allclose(np.ptp(mine), 1.1, atol=0.1)


def test_a_thumb_alone_is_not_followed():
    person = supple.load("human")
    fingers = [s for s in person.segments if s.startswith(("index", "middle", "ring", "little"))]
    thumbs = {s: s.replace("thumb_", "thumb_tip_") for s in person.segments if s.startswith("thumb")}
    mitten = renamed(person, {segment: f"pad_{k}" for k, segment in enumerate(fingers)} | thumbs)
    pairs = dict(supple.motion.match_segments(mitten, person).pairs)
    assert not set(thumbs) & set(pairs)


def test_jolts_of_the_whole_body_are_taken_slowly():
    motion = marching(HUMAN, 60)
    figure = supple.load("human", stature=1.5, fingers=False)
    wishes = Wishes(
        motion, Alignment(resting(motion, None), Anatomy(figure), as_match(None, Anatomy(HUMAN), Anatomy(figure))), True
    )
    follower = Follower(figure, wishes, Stop(None))
    Q, _ = follower.solved(None)
    x = figure.coordinates.index("pelvis.tx")
    jolted = Q.copy()
    jolted[30:, x] += 0.1

    def largest(P: np.ndarray) -> float:
        return float(np.abs(np.diff(P[:, x], n=2)).max()) * 900.0

    assert largest(jolted) > 80.0
    assert largest(slowed(follower, jolted)) < 0.6 * largest(jolted)
    assert_allclose(slowed(follower, Q), Q)
