"""BVH in and out: against an evaluator of ten lines, and there and back again."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from supple.errors import BadFile, BadValue
from supple.figure.figure import Figure, Source
from supple.figure.joints import Joint, X, Y, Z, ball, fixed, free, hinge, screw, slide
from supple.files.bvh.reader import FILE_AXES, parse_bvh, read_bvh
from supple.files.bvh.writer import continuous_zyx, format_bvh, write_bvh
from supple.files.urdf.reader import read_urdf
from supple.geometry.placements import HERE, Floats, angle_of, place, turned
from supple.motion.motion import Motion

FILES = ["01_14", "02_01", "02_03", "02_04", "02_05", "05_06", "09_01", "13_33", "16_03", "49_06", "49_08", "74_13"]

ODD = """HIERARCHY
ROOT Hips {
  OFFSET 1 2 3
  CHANNELS 4 Yposition Xrotation Zposition Zrotation
  JOINT Left Leg
  {
    OFFSET 0.5 -4.25 0
    CHANNELS 3 Yrotation Zrotation Xrotation
    JOINT Slider { OFFSET 0 -1 0 CHANNELS 2 Zposition Xposition
      End Site { OFFSET 0 -.5 0 }
      End Site { OFFSET 0 -.25 1e-1 }
    }
    JOINT Plate
    {
      OFFSET 0 0 7
      CHANNELS 0
      JOINT Toe { OFFSET 1 1 1 CHANNELS 1 Yrotation }
    }
  }
}
ROOT Prop
{
  OFFSET 9 9 9
  CHANNELS 6 Zrotation Xrotation Yrotation Xposition Yposition Zposition
}
MOTION
Frames: 3
Frame Time: .025

0 0 0 0  0 0 0  0 0  0  0 0 0 0 0 0
1.5 20 -3 40  10 -20 30  4 5  60  10 20 30 4 5 6
-7 170 8 -190  95 88 361  -4 .5  -60.125  -10 20 -30 4 -5 600
"""
ORDERS = ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "X", "Y", "ZX", "YX", ""]


def independent(text: str, unit: float = 1.0) -> list[dict[str, Floats]]:
    """World placements of all joints in the axes of the file, one mapping a frame."""
    head, rows = re.split(r"Frame Time:.*", text)
    words = re.findall(r"[{}]|[^\s{}]+", head.replace("Left Leg", "Left_Leg").replace("End Site", "JOINT ?"))
    frames = []
    for row in rows.strip("\n").split("\n") if "Frames: 0" not in head else []:
        values, stack, world = iter(map(float, row.split())), [np.eye(4)], {}
        for k, word in enumerate(words):
            if word in ("ROOT", "JOINT"):
                stack.append(stack[-1].copy())
                world[words[k + 1]] = stack[-1]
            elif word == "OFFSET":
                stack[-1][:3, 3] += stack[-1][:3, :3] @ np.array(words[k + 1 : k + 4], float) * unit
            elif word == "CHANNELS":
                channels = words[k + 2 : k + 2 + int(words[k + 1])]
                T, R = stack[-1], stack[-1][:3, :3].copy()
                for axis, kind, value in ((np.eye(3)["XYZ".index(c[0])], c[1:], next(values)) for c in channels):
                    if kind == "position":
                        T[:3, 3] += R @ axis * value * unit
                    else:
                        T[:3, :3] = T[:3, :3] @ turned(axis, np.radians(value))
            elif word == "}":
                stack.pop()
        frames.append({name: T for name, T in world.items() if name != "?"})
    return frames


def assert_same_motion(a: Motion, b: Motion, tolerance: float = 1e-9) -> None:
    assert a.figure.coordinates == b.figure.coordinates
    assert a.figure.segments == b.figure.segments
    for one, two in zip(a.figure.joints.values(), b.figure.joints.values(), strict=True):
        assert (one.name, one.parent, one.segment, one.turn, one.slide) == (
            two.name,
            two.parent,
            two.segment,
            two.turn,
            two.slide,
        )
        np.testing.assert_allclose(one.at, two.at, atol=tolerance)
    np.testing.assert_allclose(a.q, b.q, atol=tolerance)
    np.testing.assert_allclose(a.times, b.times, atol=tolerance)
    assert a.source == b.source


def words_of(text: str) -> list[str | float]:
    """The words of a BVH text, numbers by value."""
    words = re.findall(r"[{}]|[^\s{}]+", text)
    return [float(w) if re.fullmatch(r"[-+]?[\d.]+([eE][-+]?\d+)?", w) else w for w in words]


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("up", ["x", "y", "z"])
def test_placements_are_those_of_an_independent_evaluator(up: str):
    motion = parse_bvh(ODD, unit=0.1, up=up)
    frames = independent(ODD, 0.1)
    assert len(frames) == len(motion) == 3
    assert motion.figure.segments == (
        "Hips", "Left Leg", "Slider", "Slider.end", "Slider.end2", "Plate", "Toe", "Prop",
    )  # fmt: skip
    B = np.eye(4)
    B[:3, :3] = FILE_AXES[up]
    np.testing.assert_array_equal(FILE_AXES[up] @ np.eye(3)["xyz".index(up)], Z)
    assert np.linalg.det(FILE_AXES[up]) == 1.0
    for k, frame in enumerate(frames):
        for name, T in frame.items():
            got = motion.figure.placement(motion.q[k], name.replace("_", " "))
            np.testing.assert_allclose(got, B @ T, atol=1e-12, err_msg=f"{name} in frame {k}")


def test_every_channel_is_a_joint_in_metres_and_radians():
    motion = parse_bvh(ODD)
    assert motion.figure.coordinates[:7] == (
        "Hips.ty", "Hips.tz", "Hips.x", "Hips.z", "Left Leg.y", "Left Leg.z", "Left Leg.x",
    )  # fmt: skip
    np.testing.assert_allclose(motion.q[1, :4], [0.015, -0.03, np.radians(20), np.radians(40)])
    np.testing.assert_allclose(motion.times, [0.0, 0.025, 0.05])
    end = motion.figure.placement(np.zeros(motion.figure.size), "Slider.end2")
    np.testing.assert_allclose(end[:3, 3], np.array([1.5, -3.1, -3.5]) / 100 + [0, 0, 0], atol=1e-12)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends_and_byte_order_marks_do_not_matter(tmp_path: Path, newline: str):
    path = tmp_path / "odd.bvh"
    path.write_bytes(b"\xef\xbb\xbf" + ODD.replace("\n", newline).encode())
    motion = read_bvh(path)
    assert motion.figure.name == "odd"
    np.testing.assert_array_equal(motion.q, parse_bvh(ODD).q)


def test_a_skeleton_of_the_greatest_depth_is_read_and_written():
    deep = "HIERARCHY ROOT r { OFFSET 0 0 0 CHANNELS 1 Xrotation\n"
    deep += "".join(f"JOINT j{k} {{ OFFSET 0 1 0 CHANNELS 0\n" for k in range(499))
    text = deep + "}" * 500 + "\nMOTION\nFrames: 1\nFrame Time: 1\n90\n"
    motion = parse_bvh(text, unit=1.0)
    np.testing.assert_allclose(motion.figure.placement(motion.q[0], "j498")[:3, 3], [0, -499, 0], atol=1e-9)
    assert_same_motion(parse_bvh(format_bvh(motion), unit=1.0), motion)


# ── there and back again ─────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("up", ["x", "y", "z"])
def test_text_to_motion_to_text_keeps_every_word(up: str):
    text = format_bvh(parse_bvh(ODD, unit=0.0254, up=up))
    assert words_of(text) == pytest.approx(words_of(ODD), abs=1e-11)
    assert_same_motion(parse_bvh(text, unit=0.0254, up=up), parse_bvh(ODD, unit=0.0254, up=up))


@pytest.mark.parametrize("frames", [0, 1])
def test_few_frames_keep_the_frame_time(frames: int):
    text = ODD.split("MOTION")[0] + f"MOTION\nFrames: {frames}\nFrame Time: 0.04\n" + ("1 " * 16 + "\n") * frames
    motion = parse_bvh(text)
    assert len(motion) == frames
    assert words_of(format_bvh(motion)) == pytest.approx(words_of(text), abs=1e-11)


def test_a_skeleton_without_channels_has_blank_frames():
    text = "HIERARCHY\nROOT r\n{\n\tOFFSET 0 0 0\n\tCHANNELS 0\n}\nMOTION\nFrames: 2\nFrame Time: 1\n\n\n"
    motion = parse_bvh(text)
    assert motion.q.shape == (2, 0)
    assert format_bvh(motion) == text


number = st.floats(-1e4, 1e4).map(lambda x: float(f"{x:.6g}"))


@st.composite
def skeletons(draw: st.DrawFn) -> str:
    """Random trees with channels in random order, end sites, and a few frames."""
    count = draw(st.integers(1, 7))
    parents = [-1, *(draw(st.integers(-1, k - 1)) for k in range(1, count))]
    columns = 0

    def block(k: int, tab: str) -> list[str]:
        nonlocal columns
        names = ["Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation"]
        channels = draw(st.permutations(names))[: draw(st.integers(0, 6))]
        columns += len(channels)
        lines = [f"{tab}{'ROOT' if parents[k] < 0 else 'JOINT'} n{k}", tab + "{"]
        lines.append(tab + "OFFSET " + " ".join(repr(draw(number)) for _ in range(3)))
        lines.append(tab + " ".join(["CHANNELS", str(len(channels)), *channels]))
        for _ in range(draw(st.integers(0, 2))):
            lines.append(tab + "End Site { OFFSET " + " ".join(repr(draw(number)) for _ in range(3)) + " }")
        for child in range(k + 1, count):
            if parents[child] == k:
                lines += block(child, tab + " ")
        return [*lines, tab + "}"]

    head = [line for k in range(count) if parents[k] < 0 for line in block(k, "")]
    frames = draw(st.integers(0, 3))
    rows = [" ".join(repr(draw(number)) for _ in range(columns)) for _ in range(frames)]
    return "\n".join(["HIERARCHY", *head, "MOTION", f"Frames: {frames}", "Frame Time: 0.01", *rows]) + "\n"


@given(text=skeletons(), unit=st.sampled_from([1.0, 0.01, 0.0254, 0.056444]), up=st.sampled_from("xyz"))
def test_any_skeleton_comes_back(text: str, unit: float, up: str):
    motion = parse_bvh(text, unit=unit, up=up)
    again = format_bvh(motion)
    assert words_of(again) == pytest.approx(words_of(text), abs=1e-10)
    assert_same_motion(parse_bvh(again, unit=unit, up=up), motion)


@given(text=skeletons())
def test_any_skeleton_stands_where_the_independent_evaluator_puts_it(text: str):
    motion = parse_bvh(text, unit=1e-3, up="z")
    if motion.figure.size:
        for q, frame in zip(motion.q, independent(text, 1e-3), strict=True):
            for name, T in frame.items():
                np.testing.assert_allclose(motion.figure.placement(q, name), T, atol=1e-9)


@pytest.mark.parametrize("name", FILES)
def test_captured_motion_comes_back_word_by_word(shared: Path, tmp_path: Path, name: str):
    path = shared / "data" / "mocap" / "bvh" / f"{name}.bvh"
    motion = read_bvh(path, unit=0.056444)
    write_bvh(motion, tmp_path / f"{name}.bvh")
    again = read_bvh(tmp_path / f"{name}.bvh", unit=0.056444)
    assert_same_motion(again, motion, 1e-12)
    lines, back = (p.read_text().splitlines() for p in (path, tmp_path / f"{name}.bvh"))
    start = next(k for k, line in enumerate(lines) if line.startswith("Frame Time")) + 1
    assert words_of("\n".join(back[: start + 20])) == words_of("\n".join(lines[: start + 20]))
    some = [1, 77, len(motion) - 1]
    frames = independent("\n".join([*lines[:start], *(lines[start + k] for k in some)]), 0.056444)
    for k, frame in zip(some, frames, strict=True):
        for joint, T in frame.items():
            got = motion.figure.placement(motion.q[k], joint)
            np.testing.assert_allclose(FILE_AXES["y"].T @ got[:3], T[:3], atol=1e-9)


# ── figures that are no BVH skeletons ────────────────────────────────────────────────────────────────────────────────
TILT = place((0.1, -0.2, 0.3), rpy=(0.4, -1.1, 2.0))
CRANE = Figure(
    "crane",
    [
        *fixed("base", None, TILT),
        *hinge("yaw", "base", (1, 2, 2), at=TILT, limits=(0.2, 2.0), rest=0.5),
        *slide("boom", "yaw", (0, 1, 1), at=(0, 0, 1)),
        *screw("auger", "boom", Y, pitch=0.05, at=TILT),
        *ball("wrist", "auger", "zxz", at=place((0, 0, 0.2), rpy=(0, 1, 0))),
        *fixed("camera", "wrist", TILT),
        *fixed("camera.end", "camera", (0, 0.1, 0)),
        *hinge("finger", "camera", X, at=(0.2, 0.1, 0)),
        *hinge("idle", None, Z, at=(3, 0, 0)),
    ],
)
DRONE = Figure("drone", [*free("drone"), *ball("gimbal", "drone", "zyx", at=place((0, 0, -0.1), rpy=(0.3, 0.2, 0.1)))])
CRANK = Joint("crank", "block", HERE, turn=Y)  # it moves no segment, only the next joint
ENGINE = Figure("engine", [*fixed("block"), CRANK, *hinge("rod", CRANK.key, Z, at=(1, 0, 0))])


def wandering(figure: Figure, frames: int = 60) -> Motion:
    steps = np.random.default_rng(7).normal(scale=0.3, size=(frames, figure.size))
    return Motion(figure, figure.rest + np.cumsum(steps, axis=0), np.arange(frames) / 50.0)


def assert_segments_agree(motion: Motion, again: Motion) -> None:
    """Same positions, same rotations but for the constant one at rest."""
    figure, rest = motion.figure, motion.figure.rest
    B = FILE_AXES["y"]
    for segment in figure.segments:
        want, got = figure.placement(motion.q, segment), again.figure.placement(again.q, segment)
        np.testing.assert_allclose(got[:, :3, 3], want[:, :3, 3], atol=1e-9, err_msg=segment)
        turn = got[:, :3, :3] @ B.T @ figure.placement(rest, segment)[:3, :3]
        assert max(angle_of(a.T @ b) for a, b in zip(turn, want[:, :3, :3], strict=True)) < 1e-9, segment


@pytest.mark.parametrize("figure", [CRANE, DRONE, ENGINE], ids=lambda figure: figure.name)
def test_any_tree_is_written_by_what_its_segments_do(figure: Figure):
    motion = wandering(figure)
    text = format_bvh(motion)
    again = parse_bvh(text)
    assert set(again.figure.segments) >= set(figure.segments)
    assert again.rate == pytest.approx(50.0)
    assert_segments_agree(motion, again)


@pytest.mark.parametrize("name", ["panda/panda", "talos/talos_full_v2", "shadow_hand/shadow_hand_right"])
def test_robots_are_written_with_all_their_links(shared: Path, name: str):
    motion = wandering(read_urdf(shared / "data" / "robots" / f"{name}.urdf"), 10)
    assert_segments_agree(motion, parse_bvh(format_bvh(motion)))


def test_only_what_moves_has_channels():
    text = format_bvh(wandering(CRANE))
    channels = dict(re.findall(r"(?:ROOT|JOINT) (\S+)\s*\{\s*OFFSET .*\s*CHANNELS (\d)", text))
    assert channels == {
        "base": "6", "yaw": "3", "boom": "6", "auger": "6", "wrist": "3", "camera": "0", "finger": "3", "idle": "6",
    }  # fmt: skip
    assert text.count("End Site") == 3  # of camera, finger and idle


def test_a_robot_without_a_source_is_in_centimetres_with_y_up():
    text = format_bvh(Motion(Figure("post", [*fixed("top", None, (0.1, 0.2, 0.3))]), np.empty((1, 0)), [0.0]))
    assert re.search(r"\n10 30 -20 0 0 0\n", text), "x, z, −y in centimetres, then no turn"


def test_a_figure_from_a_bvh_file_that_was_changed_is_still_written_in_its_unit():
    motion = parse_bvh(ODD, unit=1.0, up="z")
    figure = motion.figure.locked("Left Leg.z")
    q = motion.q[:, [motion.figure.coordinates.index(name) for name in figure.coordinates]]
    again = parse_bvh(format_bvh(Motion(figure, q, motion.times)), unit=1.0, up="z")
    for segment in ("Toe", "Slider.end2", "Prop"):
        want = figure.placement(q, segment)[:, :3, 3]
        np.testing.assert_allclose(again.figure.placement(again.q, segment)[:, :3, 3], want, atol=1e-9)


def test_angles_run_on_through_full_turns_and_gimbal_lock():
    t = np.linspace(0, 1, 401)
    spin = np.array([turned(Z, 15 * x) for x in t])
    loop = np.array([turned(Z, 0.3) @ turned(Y, 9 * x) @ turned(X, 0.2) for x in t])
    locked = np.array([turned(Z, x) @ turned(Y, np.pi / 2) for x in t])
    locked[:, :2, 0] = 1e-13 * np.random.default_rng(2).normal(size=(401, 2))  # no angle can be read off this
    R = np.stack([spin, loop, locked], axis=1)
    angles = continuous_zyx(R)
    assert np.abs(np.diff(angles, axis=0)).max() < 0.05
    back = np.array([[turned(Z, a) @ turned(Y, b) @ turned(X, c) for a, b, c in row] for row in angles])
    np.testing.assert_allclose(back, R, atol=1e-10)


def test_uneven_times_are_refused_and_rounded_ones_are_not():
    q = np.zeros((4, 1))
    figure = Figure("one", [*hinge("a", None, Z)])
    assert "Frame Time: 0.0166666666666667\n" in format_bvh(Motion(figure, q, [0.0, 0.017, 0.033, 0.05]))
    with pytest.raises(BadValue, match=r"frame 1 is at 0\.5 s, not 1 s"):
        format_bvh(Motion(figure, q, [0.0, 0.5, 2.0, 3.0]))


@pytest.mark.parametrize("name", ["two  blanks", "brace{", " edge", "tab\tbed", "\udc80"])
def test_names_that_cannot_be_written_are_refused(name: str):
    with pytest.raises(BadValue, match=r"BVH cannot hold the name|must be a name"):
        format_bvh(Motion(Figure("f", [*hinge(name, None, Z)]), [[0.0]], [0.0]))


def test_sources_of_other_formats_do_not_decide_how_bvh_is_written():
    post = Figure("post", [*fixed("top", None, (0.1, 0.2, 0.3))], source=Source("urdf", 1.0, "z"))
    assert "\n10 30 -20 0 0 0\n" in format_bvh(Motion(post, np.empty((1, 0)), [0.0]))


# ── bad files ────────────────────────────────────────────────────────────────────────────────────────────────────────
GOOD = """HIERARCHY
ROOT r
{
OFFSET 0 0 0
CHANNELS 2 Xrotation Yposition
JOINT a
{
OFFSET 1 0 0
CHANNELS 1 Zrotation
End Site
{
OFFSET 0 1 0
}
}
}
MOTION
Frames: 2
Frame Time: 0.5
1 2 3
4 5 6
"""

BAD = [  # (what to replace, by what, line, message)
    ("HIERARCHY", "HIERARCHIE", 1, "begins with HIERARCHY"),
    (GOOD, "", 1, "begins with HIERARCHY"),
    ("ROOT r", "ROOT", 2, "needs a name"),
    ("ROOT r", "ROOT a", 6, "'a' is there twice"),
    ("ROOT r", "JOINT r", 2, "ROOT or MOTION must come here"),
    ("ROOT r\n{", "ROOT r\n", 4, "opening brace must follow ROOT 'r', not 'OFFSET'"),
    ("OFFSET 0 0 0\n", "", 14, "ROOT 'r' has no OFFSET"),
    ("OFFSET 0 0 0", "OFFSET 0 0", 4, "three numbers, not 2"),
    ("OFFSET 0 0 0", "OFFSET 0 nan 0", 4, "finite number .* not 'nan'"),
    ("OFFSET 0 0 0", "OFFSET 0 1e999 0", 4, "finite number .* not '1e999'"),
    ("OFFSET 0 0 0", "OFFSET 0 0 0\nOFFSET 0 0 0", 5, "two OFFSETs"),
    ("CHANNELS 2", "CHANNELS 3", 5, "announces 3 CHANNELS and names 2"),
    ("CHANNELS 2", "CHANNELS two", 5, "whole number, not 'two'"),
    ("CHANNELS 2", "CHANNELS -2", 5, "whole number, not '-2'"),
    ("CHANNELS 2 Xrotation Yposition", "CHANNELS", 5, "whole number, not ''"),
    ("Yposition", "Wposition", 5, "not 'Wposition'"),
    ("Xrotation Yposition", "Xrotation XROTATION", 5, "XROTATION twice"),
    ("CHANNELS 1 Zrotation", "CHANNELS 1 Zrotation\nCHANNELS 0", 10, "two lines of CHANNELS"),
    ("End Site", "End", 10, "'End' must be followed by 'Site'"),
    ("OFFSET 0 1 0\n", "CHANNELS 0\n", 12, "'CHANNELS' cannot stand in the end site of 'a'"),
    ("OFFSET 0 1 0\n", "OFFSET 0 1 0\nJOINT x", 13, "'JOINT' cannot stand in the end site"),
    ("JOINT a", "BONE a", 6, "'BONE' cannot stand in ROOT 'r'"),
    ("}\n}\n}\n", "}\n}\n", 15, "ROOT 'r' of line 2 is still open"),
    ("}\n}\n}\n", "}\n}\n}\n}\n", 16, "ROOT or MOTION must come here, not '}'"),
    ("MOTION", "MOTION 2", 16, "alone on its line"),
    (GOOD[GOOD.index("MOTION") :], "", 16, "not the end of the file"),
    (GOOD[GOOD.index("Frames") :], "", 17, "'Frames: N' must come here"),
    ("Frames: 2\n", "", 17, "'Frames: N' must come here, not 'Frame Time: 0.5'"),
    ("Frames: 2", "Frames: 1.5", 17, "whole number, not '1.5'"),
    ("Frames: 2", "Frames: 3", 20, "Frames says 3, but the file ends after 2"),
    ("Frames: 2", "Frames: 999999999999", 20, "the file ends after 2"),
    ("Frames: 2", "Frames: 9999999999999", 17, "whole number"),
    ("Frames: 2", "Frames: 1", 20, "Frames says 1, but here is another line"),
    ("Frame Time: 0.5", "Frame Time: -0.5", 18, "must be positive"),
    ("Frame Time: 0.5", "Frame Time: 0", 18, "must be positive"),
    ("Frame Time: 0.5", "Frame Time: soon", 18, "finite number .* not 'soon'"),
    ("4 5 6", "4 5", 20, "3 numbers, one for each channel; here are 2"),
    ("4 5 6", "4 5 6 7", 20, "here are 4"),
    ("4 5 6", "\n4 5 6e", 21, "not '6e'"),
    ("4 5 6", "4 5 nan", 20, "not 'nan'"),
    ("4 5 6", "4 5 1e10", 20, "at most 1e\\+09, not '1e10'"),
    ("4 5 6", "4 5 1_0", 20, "not '1_0'"),
    ("4 5 6", "4 5 6\0", 20, "a channel must be"),
    ("4 5 6", "4 5 ٣", 20, "not '٣'"),
    ("1 2 3\n4 5 6", "1 2\n3 4 5 6", 19, "here are 2"),
    ("ROOT r", "ROOT \0", 2, "not a text file"),
]


def test_the_good_file_of_the_table_is_good():
    np.testing.assert_allclose(np.degrees(parse_bvh(GOOD).q[:, [1, 2]]), [[1, 3], [4, 6]])


@pytest.mark.parametrize(("old", "new", "line", "message"), BAD)
def test_bad_files_are_refused_with_file_and_line(old: str, new: str, line: int, message: str):
    assert old in GOOD
    with pytest.raises(BadFile, match=message) as caught:
        parse_bvh(GOOD.replace(old, new, 1), "bad.bvh")
    assert (caught.value.file, caught.value.line) == ("bad.bvh", line)


def test_a_bad_number_far_down_is_found():
    rows = ["1 2 3"] * 5000
    rows[4321] = "1 x 3"
    with pytest.raises(BadFile, match="not 'x'") as caught:
        parse_bvh(GOOD.split("Frames")[0] + "Frames: 5000\nFrame Time: 1\n" + "\n".join(rows))
    assert caught.value.line == 4321 + 19


@pytest.mark.parametrize("count", [501, 20_000])
def test_trees_beyond_the_bounds_are_refused(count: int):
    nested = count < 1000
    inner = "".join(f"JOINT j{k} {{ OFFSET 0 0 0 {'' if nested else '}'}\n" for k in range(count))
    with pytest.raises(BadFile, match="more than 10000 joints, or nested more than 500"):
        parse_bvh("HIERARCHY ROOT r { OFFSET 0 0 0\n" + inner + "}" * (count * nested + 1) + "\nMOTION\n")


def test_files_that_are_no_text_or_not_there_are_refused(tmp_path: Path):
    path = tmp_path / "noise.bvh"
    path.write_bytes(b"HIERARCHY\n\xff\xfe\x00")
    with pytest.raises(BadFile, match="UTF-8") as caught:
        read_bvh(path)
    assert caught.value.line == 2
    with pytest.raises(BadFile, match="cannot be read"):
        read_bvh(tmp_path / "missing.bvh")


@given(text=st.text(max_size=200) | st.text("{}ROTJINEDFSCHALM 01.\n", max_size=200))
def test_noise_is_never_anything_but_a_bad_file(text: str):
    with pytest.raises(BadFile):
        parse_bvh("HIERARCHY\nROOT r\n" + text)


@given(cut=st.integers(0, len(GOOD) - 8), noise=st.text(max_size=3))
def test_a_damaged_file_is_read_or_refused_but_never_breaks_the_reader(cut: int, noise: str):
    for damaged in (GOOD[:cut], GOOD[:cut] + noise + GOOD[cut + 1 :]):
        try:
            motion = parse_bvh(damaged)
        except BadFile as error:
            line = error.line
        else:
            line = len(motion)
            assert f": {line}\n" in damaged
        assert line is not None


@pytest.mark.parametrize(("unit", "up"), [(0.0, "y"), (-1.0, "y"), (np.nan, "y"), ("cm", "y"), (1.0, "w"), (1.0, "-y")])
def test_units_and_axes_that_are_none_are_refused(unit, up):
    with pytest.raises(BadValue, match=r"unit|up axis"):
        parse_bvh(GOOD, unit=unit, up=up)


@pytest.mark.parametrize("blank", ["\u2028", "\u00a0", "\u3000"])
def test_a_strange_blank_between_numbers_is_refused_by_its_line(blank: str):
    text = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 2 Xrotation Yrotation\n}\nMOTION\nFrames: 1\nFrame Time: 0.1\n1 2\n"
    assert len(parse_bvh(text)) == 1
    with pytest.raises(BadFile, match=r"walk.bvh:10: .*(plain digits|numbers|another line)"):
        parse_bvh(text.replace("1 2\n", f"1{blank}2\n"), "walk.bvh")
