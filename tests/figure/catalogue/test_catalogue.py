"""Laws of the catalogue: agreement with the robots' published descriptions, and the symmetries of people."""

from __future__ import annotations

import json
import re
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.errors import BadValue, UnknownName
from supple.figure import catalogue
from supple.figure.catalogue.shoulder import BOX, ROWS, shoulder_group
from supple.figure.catalogue.trunk import VERTEBRAE, WHOLE, spine_group, weights
from supple.figure.effectors import Frame
from supple.figure.figure import Figure
from supple.geometry.placements import rotation
from supple.geometry.shapes import Ball, Capsule

ROBOTS = {
    "panda": ("panda/panda.urdf", {}),
    "ur5": ("ur5/ur5.urdf", {}),
    "iiwa14": ("iiwa14/iiwa14_primitive_collision.urdf", {}),
    "sawyer": ("sawyer/sawyer.urdf", {}),
    "baxter": ("baxter/baxter.urdf", {}),
    "right hand": ("shadow_hand/shadow_hand_right.urdf", {}),
    "left hand": ("shadow_hand/shadow_hand_left.urdf", {"side": "left"}),
}
MIMIC = "panda_finger_joint2"
PEOPLE = {
    "human": {},
    "jack": {},
    "grouped jack": {"spine": "grouped", "shoulders": "grouped"},
    "bust": {"spine": "grouped", "shoulders": "grouped", "root": "fixed", "legs": False, "fingers": False},
}
MIRROR = np.diag([1.0, -1.0, 1.0, 1.0])


def built(name: str, options: dict | None = None) -> Figure:
    word = name.split()[-1]
    return catalogue.build({"bust": "jack"}.get(word, word), **(options or {}))


def some_postures(figure: Figure, count: int, seed: int = 3) -> np.ndarray:
    """Postures inside the limits; unlimited coordinates within ±2."""
    rng = np.random.default_rng(seed)
    lower, upper = np.maximum(figure.lower, -2.0), np.minimum(figure.upper, 2.0)
    return np.array([figure.limits.project(rng.uniform(lower, upper)) for _ in range(count)])


# ── the catalogue itself ─────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", catalogue.names())
def test_every_figure_builds_with_unique_names_and_a_legal_rest(name: str):
    figure = catalogue.build(name)
    assert figure.name == name
    assert len(set(figure.coordinates)) == figure.size > 0
    assert len(set(figure.segments)) == len(figure.segments)
    assert figure.limits.contains(figure.rest)
    assert catalogue.describe(name)
    assert "\n" not in catalogue.describe(name)


def test_unknown_names_and_options_are_refused_with_a_proposal():
    with pytest.raises(UnknownName, match="panda"):
        catalogue.build("pamda")
    with pytest.raises(UnknownName, match="stature"):
        catalogue.build("human", statur=1.8)
    with pytest.raises(UnknownName, match="ur5"):
        catalogue.describe("ur6")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("human", {"stature": 0.0}),
        ("human", {"stature": float("nan")}),
        ("human", {"mass": -1.0}),
        ("human", {"root": "loose"}),
        ("human", {"grip": 0.5}),
        ("human", {"grip": 1.5, "fingers": False}),
        ("human", {"grip": float("nan"), "fingers": False}),
        ("jack", {"spine": "group"}),
        ("jack", {"shoulders": True}),
        ("hand", {"side": "middle"}),
        ("hand", {"prefix": 3}),
        ("stewart", {"geometry": np.zeros((6, 3))}),
        ("stewart", {"lengths": (0.6, 0.4)}),
        ("stewart", {"lengths": (0.01, 0.02)}),
        ("stewart", {"rest": (0.0, 0.0, 5.0)}),
    ],
)
def test_bad_options_are_refused(name: str, options: dict):
    with pytest.raises(BadValue):
        catalogue.build(name, **options)


# ── robots against their published descriptions ──────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", ROBOTS)
def test_joints_and_limits_are_the_published_ones(name: str, shared):
    file, options = ROBOTS[name]
    listed = json.loads((shared / "data/robots/models.json").read_text())[file]["joints"]
    figure = built(name, options)
    expected = {row["name"]: (row["lower"], row["upper"]) for row in listed if row["name"] != MIMIC}
    assert set(figure.coordinates) == set(expected)
    found = np.column_stack([figure.lower, figure.upper])
    assert_allclose(
        found, [expected[joint] for joint in figure.coordinates], rtol=0, atol=6e-7
    )  # listed to six decimals


@pytest.mark.parametrize("name", ["panda", "ur5", "iiwa14", "sawyer", "baxter"])
def test_speeds_are_the_published_ones(name: str, shared):
    text = (shared / "data/robots" / ROBOTS[name][0]).read_text()
    rates = re.findall(r'<joint name="(\w+)"(?:(?!</joint>).)*velocity="([^"]*)"', text, re.DOTALL)
    published = {joint: float(rate) for joint, rate in rates}
    figure = built(name)
    for joint, speed in zip(figure.coordinates, figure.speed, strict=True):
        assert speed == pytest.approx(published[joint]) or (np.isinf(speed) and published[joint] >= 1000), joint


@pytest.mark.parametrize("name", ROBOTS)
def test_tools_are_where_the_published_description_puts_them(name: str, shared):
    file, options = ROBOTS[name]
    reference = json.loads((shared / "data/robots/fk_reference.json").read_text())["robots"][file]
    figure = built(name, options)
    for sample in reference["samples"]:
        value = dict(zip(reference["joints"], sample["q"], strict=True))
        frames = figure.placements([value[joint] for joint in figure.coordinates])
        for tip, pose in sample["pose"].items():
            assert_allclose(frames[tip][:3, 3], pose[:3], rtol=0, atol=1e-9)
            assert_allclose(frames[tip][:3, :3], rotation(quat_wxyz=pose[3:]), rtol=0, atol=1e-9)


def test_links_on_the_way_to_the_tools_keep_their_names(shared):
    import xml.etree.ElementTree as ET

    models = json.loads((shared / "data/robots/models.json").read_text())
    for name, (file, options) in ROBOTS.items():
        robot = ET.parse(shared / "data/robots" / file).getroot()
        parent = {j.find("child").get("link"): j.find("parent").get("link") for j in robot.findall("joint")}
        segments = built(name, options).segments
        for tip in models[file]["tip_frames"]:
            at = tip
            while at is not None and at != "world":
                assert at in segments
                at = parent.get(at)


def test_the_pandas_fingers_move_together():
    figure = catalogue.build("panda")
    q = np.array(figure.rest)
    q[figure.coordinates.index("panda_finger_joint1")] = 0.03
    frames = figure.placements(q)
    hand, left, right = (frames[f"panda_{part}"] for part in ("hand", "leftfinger", "rightfinger"))
    inside = np.linalg.inv(hand)
    assert_allclose((inside @ left)[:3, 3], (0, 0.03, 0.0584), atol=1e-12)
    assert_allclose((inside @ right)[:3, 3], (0, -0.03, 0.0584), atol=1e-12)


def test_arms_at_rest_hold_their_tools_downwards():
    for name, tool, axis in (("panda", "panda_hand", 2), ("ur5", "tool0", 2), ("iiwa14", "iiwa_link_7", 2)):
        figure = catalogue.build(name)
        T = figure.placement(figure.rest, tool)
        assert_allclose(T[:3, axis], (0, 0, -1), atol=1e-9)
        assert np.hypot(*T[:2, 3]) > 0.3


def test_the_left_hand_is_the_right_hand_mirrored():
    right, left = catalogue.build("hand"), catalogue.build("hand", side="left")
    M = np.diag([-1.0, 1.0, 1.0])
    for q in some_postures(right, 5):
        value = dict(zip(right.coordinates, q, strict=True))
        value["rh_THJ3"] *= -1
        ours = right.placements(q)
        theirs = left.placements([value["rh_" + joint[3:]] for joint in left.coordinates])
        for finger in ("ff", "mf", "rf", "lf", "th"):
            assert_allclose(theirs[f"lh_{finger}tip"][:3, 3], M @ ours[f"rh_{finger}tip"][:3, 3], atol=1e-10)


def test_a_hand_takes_another_prefix():
    figure = catalogue.build("hand", prefix="robot/")
    assert all(name.startswith("robot/") for name in (*figure.coordinates, *figure.segments))


# ── the platform ─────────────────────────────────────────────────────────────────────────────────────────────────────
def gaps(figure: Figure, q: np.ndarray) -> np.ndarray:
    frames = figure.placements(q)
    return np.array([(frames[p.a] @ p.at_a)[:3, 3] - (frames[p.b] @ p.at_b)[:3, 3] for p in figure.loops])


def loop_jacobian(figure: Figure, q: np.ndarray) -> np.ndarray:
    step = 1e-6 * np.eye(figure.size)
    return np.array([(gaps(figure, q + d) - gaps(figure, q - d)).ravel() / 2e-6 for d in step]).T


def test_the_platform_is_closed_at_rest_and_has_six_freedoms():
    figure = catalogue.build("stewart")
    assert figure.size == 24
    assert_allclose(gaps(figure, figure.rest), 0, atol=1e-12)
    rank = np.linalg.matrix_rank(loop_jacobian(figure, figure.rest), tol=1e-6)
    assert figure.size - rank == 6
    lengths = [figure.coordinates.index(f"leg{k}.length") for k in range(1, 7)]
    assert figure.rest[lengths].mean() == pytest.approx(0.5)
    others = np.delete(loop_jacobian(figure, figure.rest), lengths, axis=1)
    assert np.linalg.matrix_rank(others, tol=1e-6) == 18  # the six lengths hold the platform


def test_a_given_platform_has_the_given_geometry(shared):
    data = json.loads((shared / "data/robots/stewart/griffis_duffy1993.json").read_text())
    points = np.array(data["base_points"]), np.array(data["platform_points"])
    pose = np.eye(4)
    pose[:3, :3] = rotation(rpy=(0.1, -0.2, 0.3))
    pose[:3, 3] = (0.4, 0.5, 1.2)
    figure = catalogue.build("stewart", geometry=points, lengths=(0.5, 3.0), rest=pose)
    assert_allclose(gaps(figure, figure.rest), 0, atol=1e-12)
    assert_allclose(figure.placement(figure.rest, "platform"), pose, atol=1e-12)
    ends = points[1] @ pose[:3, :3].T + pose[:3, 3]
    found = [figure.rest[figure.coordinates.index(f"leg{k}.length")] for k in range(1, 7)]
    assert_allclose(found, np.linalg.norm(ends - points[0], axis=1), atol=1e-12)
    assert np.isinf(figure.upper[figure.coordinates.index("leg1.x")])


# ── people ───────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_the_human_has_72_coordinates_all_limited_but_the_roots():
    figure = catalogue.build("human")
    assert figure.size == 72
    unlimited = {
        j for j, lo, hi in zip(figure.coordinates, figure.lower, figure.upper, strict=True) if np.isinf(hi - lo)
    }
    assert unlimited == {f"pelvis.{axis}" for axis in ("tx", "ty", "tz", "z", "y", "x")}
    for side, joint in product("lr", ("forearm", "shank")):
        assert figure.lower[figure.coordinates.index(f"{joint}_{side}.flexion")] == 0.0


@pytest.mark.parametrize("name", PEOPLE)
def test_lengths_scale_with_the_stature(name: str):
    small, tall = (built(name, PEOPLE[name] | {"stature": h}) for h in (1.0, 1.9))
    q = some_postures(small, 1)[0]
    grown = np.array(
        [1.9 * v if ".t" in j and j.startswith("pelvis") else v for j, v in zip(small.coordinates, q, strict=True)]
    )
    one, other = small.placements(q), tall.placements(grown)
    for segment in small.segments:
        assert_allclose(other[segment][:3, 3], 1.9 * one[segment][:3, 3], atol=1e-12)
        assert_allclose(other[segment][:3, :3], one[segment][:3, :3], atol=1e-12)
    assert_allclose(tall.mass_centre(grown), 1.9 * small.mass_centre(q), atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"fingers": False, "grip": 0.7}, {"mass": 81.5}, {"stature": 1.6}])
@pytest.mark.parametrize("name", ["human", "jack"])
def test_the_segments_weigh_what_the_person_weighs(name: str, options: dict):
    figure = catalogue.build(name, **options)
    expected = options.get("mass", 70.0 * (options.get("stature", 1.75) / 1.75) ** 2)
    assert sum(body.mass for body in figure.bodies.values()) == pytest.approx(expected, rel=1e-12)


FINGERS = ("index", "middle", "ring", "little")


def test_a_grip_bends_rigid_fingers_as_their_joints_would():
    share = 0.6
    rigid, moving = catalogue.build("human", fingers=False, grip=share), catalogue.build("human")
    bent = [
        j.rsplit(".", 1)[1] in ("opposition", "curl") or (j.rsplit("_", 1)[0] in FINGERS) for j in moving.coordinates
    ]
    q = np.where(bent, share * moving.upper, moving.rest)
    frames, hand = moving.placements(q), rigid.placement(rigid.rest, "hand_l")
    tips = [hand @ shape.at @ (0, 0, 0.5 * shape.length, 1) for shape in rigid.bodies["hand_l"].shapes]  # type: ignore[union-attr]
    for finger in (*FINGERS, "thumb"):
        tip = frames[f"{finger}_l.tip"][:3, 3]
        assert min(np.linalg.norm(end[:3] - tip) for end in tips) < 1e-9


def lowest(figure: Figure, q: np.ndarray) -> float:
    """Height of the lowest point of any body."""
    frames, heights = figure.placements(q), []
    for segment, body in figure.bodies.items():
        for shape in body.shapes:
            if isinstance(shape, Ball):
                heights.append((frames[segment] @ (*shape.centre, 1.0))[2] - shape.radius)
            elif isinstance(shape, Capsule):
                T = frames[segment] @ shape.at
                heights.append(T[2, 3] - abs(T[2, 2]) * shape.length / 2 - shape.radius)
    return min(heights)


@pytest.mark.parametrize("name", ["human", "jack", "grouped jack"])
def test_a_person_at_rest_stands_upright_on_the_ground(name: str):
    figure = built(name, PEOPLE[name] | {"stature": 1.8})
    frames = figure.placements(figure.rest)
    assert lowest(figure, figure.rest) == pytest.approx(0.0, abs=1e-12)
    for sole in ("foot_l.heel", "foot_r.heel", "toes_l.tip", "toes_r.tip"):
        assert frames[sole][2, 3] == pytest.approx(0.0, abs=1e-12)
    assert frames["head.top"][2, 3] == pytest.approx(1.8, abs=1e-12)
    assert frames["toes_l.tip"][0, 3] > frames["foot_l.heel"][0, 3]
    assert frames["hand_l"][1, 3] > 0.15 > -0.15 > frames["hand_r"][1, 3]
    heel, toe = frames["foot_l.heel"][0, 3], frames["toes_l.tip"][0, 3]
    assert heel < figure.mass_centre(figure.rest)[0] < toe


def mirrored(figure: Figure, q: np.ndarray) -> np.ndarray:
    """The mirrored posture: left and right exchanged, what bends or turns to one side turned round."""
    value = dict(zip(figure.coordinates, q, strict=True))
    out = []
    for joint in figure.coordinates:
        stem, motion = joint.rsplit(".", 1)
        base, _, rest = stem.partition("_l") if "_l" in stem else stem.partition("_r")
        sided = stem.endswith(("_l", "_r"))
        if sided:
            other = f"{base}{'_r' if stem.endswith('_l') else '_l'}{rest}.{motion}"
            out.append(value[other])
        elif motion in ("bending", "rotation", "ty") or joint in ("pelvis.z", "pelvis.x"):
            out.append(-value[joint])
        else:
            out.append(value[joint])
    return np.array(out)


def other_side(segment: str) -> str:
    stem, dot, end = segment.partition(".")
    swap = {"_l": "_r", "_r": "_l"}
    return stem[:-2] + swap[stem[-2:]] + dot + end if stem[-2:] in swap else segment


@pytest.mark.parametrize("name", PEOPLE)
def test_mirrored_values_are_a_mirrored_posture(name: str):
    figure = built(name, PEOPLE[name])
    for q in some_postures(figure, 3):
        turned = mirrored(figure, q)
        assert figure.limits.contains(turned)
        here, there = figure.placements(q), figure.placements(turned)
        for segment in figure.segments:
            assert_allclose(there[other_side(segment)], MIRROR @ here[segment] @ MIRROR, atol=1e-12)
    for segment, body in figure.bodies.items():
        twin = figure.bodies[other_side(segment)]
        assert twin.mass == body.mass
        assert_allclose(twin.centre, np.array(body.centre) * (1, -1, 1), atol=1e-15)


FOLDS = [  # joint, frame that moves, axis, direction of a positive value
    ("forearm_l.flexion", "hand_l", 0, 1),
    ("shank_r.flexion", "foot_r.heel", 0, -1),
    ("thigh_l.flexion", "shank_l", 0, 1),
    ("thigh_r.abduction", "shank_r", 1, -1),
    ("upper_arm_l.abduction", "forearm_l", 1, 1),
    ("clavicle_l.elevation", "upper_arm_l", 2, 1),
    ("clavicle_r.protraction", "upper_arm_r", 0, 1),
    ("hand_l.flexion", "hand_l.tip", 1, -1),
    ("index_r.flexion", "index_r.tip", 1, 1),
    ("foot_l.flexion", "toes_l.tip", 2, 1),
    ("lumbar.flexion", "head.top", 0, 1),
    ("lumbar.bending", "head.top", 1, 1),
    ("neck.rotation", "eyes", 1, 1),
    ("thigh_l.rotation", "toes_l.tip", 1, -1),
]


@pytest.mark.parametrize(("joint", "frame", "axis", "sign"), FOLDS)
def test_positive_values_fold_spread_and_turn_inwards(joint: str, frame: str, axis: int, sign: int):
    figure = catalogue.build("human")
    q = np.zeros(figure.size)
    before = figure.placement(q, frame)[axis, 3]
    q[figure.coordinates.index(joint)] = 0.3
    assert sign * (figure.placement(q, frame)[axis, 3] - before) > 0.01


def test_palms_face_the_thighs():
    figure = catalogue.build("human")
    q = np.zeros(figure.size)
    assert_allclose(figure.placement(q, "hand_l.palm")[:3, 2], (0, -1, 0), atol=1e-12)
    assert_allclose(figure.placement(q, "hand_r.palm")[:3, 2], (0, 1, 0), atol=1e-12)


# ── jack and his groups ──────────────────────────────────────────────────────────────────────────────────────────────
TUBE = {"shoulders": "grouped", "root": "fixed", "legs": False, "fingers": False}


def test_jack_has_the_published_numbers_of_freedoms():
    assert catalogue.build("jack", spine="grouped", **TUBE).size == 22
    assert catalogue.build("jack", spine="free", **TUBE).size == 70
    whole = catalogue.build("jack").size
    assert whole == catalogue.build("human").size - 9 + 3 * 17
    assert catalogue.build("jack", spine="grouped").size == whole - 48
    assert catalogue.build("jack", shoulders="grouped").size == whole - 4


def free_values(grouped: Figure, free: Figure, q: np.ndarray) -> np.ndarray:
    """The free figure's posture that the drives make of `q`."""
    value = dict(zip(grouped.coordinates, q, strict=True))
    for group in (spine_group(), shoulder_group("_l"), shoulder_group("_r")):
        value |= {joint: drive.value(value) for joint, drive in group.drives.items()}
    return np.array([value[joint] for joint in free.coordinates])


def test_a_grouped_posture_is_the_free_one_with_the_drives_values():
    grouped, free = catalogue.build("jack", **PEOPLE["grouped jack"]), catalogue.build("jack")
    for q in some_postures(grouped, 5):
        theta = free_values(grouped, free, q)
        assert free.limits.contains(theta)  # no vertebra and no shoulder joint leaves its own range
        ours, theirs = grouped.placements(q), free.placements(theta)
        for segment in free.segments:
            assert_allclose(ours[segment], theirs[segment], atol=1e-12)


def ranges(figure: Figure) -> dict[str, tuple[float, float]]:
    """The range of every coordinate."""
    pairs = zip(figure.lower.tolist(), figure.upper.tolist(), strict=True)
    return dict(zip(figure.coordinates, pairs, strict=True))


def test_every_legal_grouped_posture_keeps_every_joint_in_its_own_range():
    """Faces, edges and corners of the limits included: postures from far outside are projected onto them."""
    grouped, free = catalogue.build("jack", **PEOPLE["grouped jack"]), catalogue.build("jack")
    rng, range_of = np.random.default_rng(5), ranges(free)
    for k in range(150):
        q = grouped.limits.project(grouped.rest + rng.normal(size=grouped.size) * (0.5, 2.0, 8.0)[k % 3])
        for joint, value in zip(free.coordinates, free_values(grouped, free, q), strict=True):
            low, high = range_of[joint]
            assert low - 1e-9 <= value <= high + 1e-9, joint


@pytest.mark.parametrize("side", ["_l", "_r"])
def test_the_whole_polygon_keeps_clavicle_and_upper_arm_in_their_ranges(side: str):
    """Every degree of elevation and abduction that the polygon allows; twist is the upper arm's rotation as it is."""
    drives, range_of = shoulder_group(side).drives, ranges(catalogue.build("jack"))
    e, a = (np.arange(low, high + 1) for low, high in (BOX["elevation"], BOX["abduction"]))
    inside = np.ones((len(e), len(a)), dtype=bool)
    for row, upper in ROWS:
        if "twist" not in row:
            inside &= row["elevation"] * e[:, None] + row["abduction"] * a <= upper
    assert 0.5 < inside.mean() < 0.9
    at = {"elevation": (e, (-1, 1)), "abduction": (a, (1, -1)), "twist": (np.array(BOX["twist"]), (-1, 1, 1))}
    for joint, drive in drives.items():
        curves = ((curve, *at[name.rpartition(".")[2]]) for name, curve in drive.terms)
        values = drive.offset + sum(
            np.reshape([f(x) for x in np.deg2rad(degrees)], shape) for f, degrees, shape in curves
        )
        legal = np.broadcast_to(values, (2, *inside.shape))[:, inside]
        low, high = range_of[joint]
        assert low - 1e-12 <= legal.min() < legal.max() <= high + 1e-12, joint


@pytest.mark.parametrize("motion", ["flexion", "bending", "rotation"])
def test_the_whole_spine_at_its_limits_keeps_every_vertebra_in_its_range(motion: str):
    range_of = ranges(catalogue.build("jack"))
    for vertebra, share in zip(VERTEBRAE, weights()[motion], strict=True):
        low, high = range_of[f"{vertebra}.{motion}"]
        assert low <= share * np.deg2rad(WHOLE[motion][0]) < 0.0 < share * np.deg2rad(WHOLE[motion][1]) <= high


def test_the_guide_has_the_spines_shares(repository):
    text = (repository / "docs" / "guide" / "figures.md").read_text(encoding="utf-8")
    said = re.findall(r"\b(flexion|bending|rotation) ((?:[\d.]+/)+\d+\.\d)", text)
    found = {motion: [float(share) for share in shares.split("/")] for motion, shares in said}
    expected = {motion: [round(100 * share, 1) for share in weights()[motion]] for motion in WHOLE}
    assert found == expected


def test_the_shoulders_polygon_is_part_of_the_limits():
    figure = catalogue.build("jack", shoulders="grouped")
    for coefficients, upper in ROWS:
        q = np.array(figure.rest)
        row = np.zeros(figure.size)
        for angle, c in coefficients.items():
            row[figure.coordinates.index(f"shoulder_r.{angle}")] = c
        q += row / (row @ row) * (np.deg2rad(upper) - row @ q + 1e-3)
        assert not figure.limits.contains(q)


@pytest.mark.parametrize("side", ["_l", "_r"])
@pytest.mark.parametrize("angle", np.deg2rad([-45.0, 10.0, 75.0, 95.0, 140.0, 170.0]))
def test_raised_arms_point_where_the_angles_say(side: str, angle: float):
    figure = catalogue.build("jack", shoulders="grouped")
    left = 1.0 if side == "_l" else -1.0
    for motion, direction, slack in (
        ("elevation", (np.sin(angle), 0, -np.cos(angle)), 2e-3),  # a spline's error
        ("abduction", (0, left * np.sin(angle), -np.cos(angle)), 1e-12),
    ):
        q = np.zeros(figure.size)
        q[figure.coordinates.index(f"shoulder{side}.{motion}")] = angle
        assert_allclose(figure.placement(q, f"upper_arm{side}")[:3, 2], -np.array(direction), atol=slack)


def test_the_clavicle_rises_one_degree_for_every_two_of_the_upper_arm():
    drives = shoulder_group("_l").drives
    at = [{f"shoulder_l.{m}": 0.0 for m in BOX} | {"shoulder_l.abduction": np.deg2rad(a)} for a in (60, 120)]
    rise, socket = ([drives[j].value(v) for v in at] for j in ("clavicle_l.elevation", "upper_arm_l.abduction"))
    assert (socket[1] - socket[0]) / (rise[1] - rise[0]) == pytest.approx(2.0)


def test_the_spines_shares_are_anatomical():
    shares = weights()
    for motion, share in shares.items():
        assert sum(share) == pytest.approx(1.0, abs=1e-14), motion
        assert min(share) > 0
    assert len(VERTEBRAE) == 17
    assert sum(shares["flexion"][:5]) == pytest.approx(0.60, abs=0.01)  # lumbar
    assert sum(shares["rotation"][5:]) == pytest.approx(0.81, abs=0.01)  # thoracic


def test_a_grouped_spine_turns_the_trunk_by_its_angle():
    figure = catalogue.build("jack", spine="grouped")
    for motion, angle in (("flexion", 1.2), ("bending", -0.6), ("rotation", 0.7)):
        q = np.zeros(figure.size)
        q[figure.coordinates.index(f"spine.{motion}")] = angle
        R = figure.placement(q, "T1")[:3, :3]
        assert np.arccos((np.trace(R) - 1) / 2) == pytest.approx(abs(angle), abs=1e-9)


@pytest.mark.parametrize("segment", ["hand_l.tip", "eyes"])
def test_the_grouped_jacobian_is_the_slope_of_the_placement(segment: str):
    figure = catalogue.build("jack", spine="grouped", **TUBE)
    q = 0.9 * some_postures(figure, 1)[0] + 0.1 * figure.rest
    J, h = figure.jacobian(q, Frame(segment)), 1e-6
    R = figure.placement(q, segment)[:3, :3]
    for i, step in enumerate(h * np.eye(figure.size)):
        ahead, behind = figure.placement(q + step, segment), figure.placement(q - step, segment)
        assert_allclose(J[:3, i], (ahead - behind)[:3, 3] / (2 * h), atol=1e-8)
        spin = (ahead - behind)[:3, :3] @ R.T / (2 * h)
        assert_allclose(J[3:, i], (spin[2, 1], spin[0, 2], spin[1, 0]), atol=1e-8)
