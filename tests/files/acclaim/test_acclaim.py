"""ASF and AMC files: kinematics against a plain evaluation of the format's own words, units, orders, limits, lies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.spatial.transform import Rotation

import supple
from supple.errors import BadFile, BadValue
from supple.files.acclaim.motion import parse_amc
from supple.files.acclaim.skeleton import parse_asf
from supple.files.bvh.reader import FILE_AXES

BONES = (  # name, parent, direction, length, axis, order, dofs
    ("hip", "root", (0.6, -0.8, 0.0), 2.5, (0, 0, 0), "XYZ", ""),
    ("femur", "hip", (0.342, -0.9397, 0.0), 7.1, (0, 0, 20), "XYZ", "rx ry rz"),
    ("tibia", "femur", (0.342, -0.9397, 0.0), 7.0, (10, -30, 20), "XYZ", "rx"),
    ("foot", "tibia", (0.0, -0.2, 0.98), 2.1, (-90, 5, 40), "ZYX", "rx rz"),
    ("back", "root", (0.0, 1.0, 0.1), 3.0, (12, 0, -7), "YZX", "rz rx ry"),
    ("drawer", "back", (0.0, 0.0, 1.0), 1.0, (0, 45, 0), "XYZ", "ty rx"),
)


def asf(
    bones=BONES,
    length="0.45",
    angle="deg",
    order="TX TY TZ RX RY RZ",
    position="0 0 0",
    orientation="0 0 0",
    limits=None,
):
    """The text of an ASF file."""
    scale = 1.0 if angle == "deg" else np.pi / 180
    out = ["# made up", ":version 1.10", ":name test", ":units", "  mass 1.0", f"  length {length}", f"  angle {angle}"]
    out = [line for line in out if not line.endswith("length ")]
    out += [
        ":documentation",
        "  begin of a text: no bone",
        ":root",
        f"  order {order}",
        "  axis XYZ",
        f"  position {position}",
    ]
    out += [f"  orientation {orientation}", ":bonedata"]
    for k, (name, _, direction, size, axis, turns, dofs) in enumerate(bones):
        out += ["  begin", f"    id {k + 1}", f"    name {name}", "    direction " + " ".join(map(str, direction))]
        out += [f"    length {size}", f"    axis {' '.join(str(scale * a) for a in axis)}  {turns}"]
        if dofs:
            out.append(f"    dof {dofs}")
        if dofs and limits:
            pairs = [f"({limits[0]} {limits[1]})" for _ in dofs.split()]
            out += [f"    limits {pairs[0]}", *(f"           {pair}" for pair in pairs[1:])]
        out.append("  end")
    children: dict[str, list[str]] = {}
    for name, parent, *_ in bones:
        children.setdefault(parent, []).append(name)
    out += [":hierarchy", "  begin", *(f"    {p} {' '.join(c)}" for p, c in children.items()), "  end"]
    return "\n".join(out) + "\n"


def amc(frames: list[dict[str, list[float]]], mode: str = ":DEGREES") -> str:
    out = ["#!OML:ASF test.asf", ":FULLY-SPECIFIED", mode]
    for k, frame in enumerate(frames):
        out += [str(k + 1), *(f"{name} {' '.join(map(repr, values))}" for name, values in frame.items())]
    return "\n".join(line for line in out if line) + "\n"


def evaluated(frame: dict[str, list[float]], unit: float, order: str) -> dict[str, np.ndarray]:
    """World placements in the file's axes, by the words of the format: local turn C M C⁻¹, then the bone's offset."""

    def about(letter: str, degrees: float) -> np.ndarray:
        return Rotation.from_euler(letter, degrees, degrees=True).as_matrix()

    def motion(dofs: list[str], values: list[float]) -> tuple[np.ndarray, np.ndarray]:
        M, t = np.eye(3), np.zeros(3)
        for dof, value in zip(dofs, values, strict=True):
            if dof[0] == "r":
                M = about(dof[1], value) @ M
            else:
                t["xyz".index(dof[1])] = value * unit
        return M, t

    M, t = motion(order.lower().split(), frame["root"])
    places, ends = {"root": (M, t)}, {"root": np.zeros(3)}
    for name, parent, direction, length, axis, turns, dofs in BONES:
        C = np.eye(3)
        for letter in turns.lower():
            C = about(letter, axis["xyz".index(letter)]) @ C
        M, t = motion(dofs.split(), frame.get(name, []))
        R, p = places[parent]
        places[name] = (R @ C @ M @ C.T, p + R @ (ends[parent] + C @ t))
        ends[name] = unit * length * np.array(direction) / np.linalg.norm(direction)
    return {name: np.block([[R, p[:, None]], [np.zeros(3), np.ones(1)]]) for name, (R, p) in places.items()}


def random_frame(rng: np.random.Generator) -> dict[str, list[float]]:
    frame = {"root": rng.uniform(-90, 90, 6).tolist()}
    return frame | {b[0]: rng.uniform(-90, 90, len(b[6].split())).tolist() for b in BONES if b[6]}


@given(st.integers(0, 10_000), st.sampled_from(["TX TY TZ RX RY RZ", "TX TY TZ RZ RY RX", "RY TZ RX TX TY RZ"]))
@settings(max_examples=20)
def test_kinematics_are_those_of_the_format(seed, order):
    frame = random_frame(np.random.default_rng(seed))
    figure = parse_asf(asf(order=order).encode(), "test.asf")
    motion = parse_amc(amc([frame]).encode(), figure)
    wanted = evaluated(frame, 0.0254 / 0.45, order)
    B = np.eye(4)
    B[:3, :3] = FILE_AXES["y"]
    for name, T in figure.placements(motion.q[0]).items():
        if name in wanted:
            np.testing.assert_allclose(T, B @ wanted[name], atol=1e-12)
    T = figure.placement(motion.q[0], "foot.end")
    end = wanted["foot"] @ [*(2.1 * 0.0254 / 0.45 * np.array([0, -0.2, 0.98]) / np.hypot(0.2, 0.98)), 1]
    np.testing.assert_allclose(T[:, 3], B @ end, atol=1e-12)


def test_at_rest_all_frames_are_parallel_and_the_skeleton_stands():
    figure = parse_asf(asf().encode())
    assert figure.segments[0] == "root"
    for T in figure.placements(np.zeros(figure.size)).values():
        np.testing.assert_allclose(T[:3, :3], FILE_AXES["y"], atol=1e-15)
    assert (
        figure.placement(np.zeros(figure.size), "foot")[2, 3] < figure.placement(np.zeros(figure.size), "femur")[2, 3]
    )


def test_units():
    degrees, radians = parse_asf(asf().encode()), parse_asf(asf(angle="rad").encode())
    np.testing.assert_allclose(degrees.packed.tables["OFFSET"], radians.packed.tables["OFFSET"], atol=1e-12)
    for length, unit in (("0.45", 0.0254 / 0.45), ("1.0", 0.0254), ("", 0.0254 / 0.45)):
        figure = parse_asf(asf(length=length).encode())
        assert figure.source is not None
        assert figure.source.unit == pytest.approx(unit)
        apart = figure.placement(np.zeros(figure.size), "tibia") - figure.placement(np.zeros(figure.size), "femur")
        assert np.linalg.norm(apart[:3, 3]) == pytest.approx(7.1 * unit)
    assert parse_asf(asf().encode(), unit=0.01).source.unit == 0.01  # type: ignore[union-attr]


def test_angles_in_an_amc_file():
    figure = parse_asf(asf().encode())
    frame = random_frame(np.random.default_rng(1))
    turned = {name: np.radians(values).tolist() for name, values in frame.items()}
    turned["root"][:3] = frame["root"][:3]
    turned["drawer"][0] = frame["drawer"][0]
    one, other = (parse_amc(amc([f], mode).encode(), figure) for f, mode in ((frame, ":DEGREES"), (turned, ":RADIANS")))
    np.testing.assert_allclose(one.q, other.q, atol=1e-14)
    assert np.array_equal(parse_amc(amc([frame], "").encode(), figure).q, one.q)


def test_limits_and_start():
    figure = parse_asf(asf(limits=(-20, 70)).encode())
    k = figure.coordinates.index("femur.ry")
    assert (figure.lower[k], figure.upper[k]) == pytest.approx((np.radians(-20), np.radians(70)))
    assert np.isinf(figure.lower[figure.coordinates.index("root.rx")])
    moved = parse_asf(asf(position="1 2 3", orientation="0 90 0").encode(), unit=1.0)
    T = moved.placement(np.zeros(moved.size), "root")
    np.testing.assert_allclose(FILE_AXES["y"].T @ T[:3, 3], [1, 2, 3], atol=1e-12)
    np.testing.assert_allclose(
        FILE_AXES["y"].T @ T[:3, :3], Rotation.from_euler("y", 90, degrees=True).as_matrix(), atol=1e-12
    )


def test_through_the_door(tmp_path):
    rng = np.random.default_rng(2)
    frames = [random_frame(rng) for _ in range(4)]
    (tmp_path / "subject.asf").write_text(asf())
    (tmp_path / "01.amc").write_text(amc(frames))
    figure = supple.load(tmp_path / "subject.asf")
    one = supple.read_motion(tmp_path / "01.amc", figure=figure)
    other = supple.read_motion(tmp_path / "01.amc", asf=tmp_path / "subject.asf", rate=60.0)
    assert np.array_equal(one.q, other.q)
    assert one.rate == pytest.approx(120.0)
    assert other.rate == pytest.approx(60.0)
    supple.write(one, tmp_path / "x.bvh")
    again = supple.read_motion(tmp_path / "x.bvh")
    for segment in ("foot", "drawer"):
        here, there = (m.figure.placement(m.q, segment)[:, :3, 3] for m in (one, again))
        np.testing.assert_allclose(here, there, atol=1e-9)
    with pytest.raises(BadValue, match="figure= or asf="):
        supple.read_motion(tmp_path / "01.amc")
    with pytest.raises(BadValue, match="not read from an ASF file"):
        supple.read_motion(tmp_path / "01.amc", figure=again.figure)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: "", ":root"),
        (lambda s: s.replace(":hierarchy", ":hierarch"), ":hierarchy"),
        (lambda s: s.replace("name tibia", "name femur"), "two bones called 'femur'"),
        (lambda s: s.replace("    femur tibia\n", ""), "does not hang on the root"),
        (lambda s: s.replace("femur tibia", "tibia tibia"), "root|itself"),
        (lambda s: s.replace("tibia foot", "tibia foot root"), "itself"),
        (lambda s: s.replace("tibia foot", "tibia toe"), "'toe', which is no bone"),
        (lambda s: s.replace("dof rx ry rz", "dof rx ry l"), "stretch"),
        (lambda s: s.replace("dof rx ry rz", "dof rx ry rx"), "twice"),
        (lambda s: s.replace("length 7.1", "length long"), "'long'"),
        (lambda s: s.replace("length 7.1", ""), "length of bone 'femur'"),
        (lambda s: s.replace("angle deg", "angle gon"), "deg or rad"),
        (lambda s: s.replace("length 0.45", "length -1"), "positive"),
        (lambda s: s.replace("XYZ", "XXZ"), "order of axes"),
        (lambda s: s.replace("dof rx ry rz", "dof rx ry rz\n limits (0 1)"), "3 degrees of freedom but 2"),
        (lambda s: s.replace("dof rx\n", "dof rx\n limits (2 1)\n"), "above the upper"),
        (lambda s: s.replace("    id 2\n", "    begin\n"), "take turns"),
    ],
)
def test_broken_skeletons_are_refused(change, message):
    text = asf()
    assert change(text) != text
    with pytest.raises(BadFile, match=message):
        parse_asf(change(text).encode(), "test.asf")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: "", "no frame"),
        (lambda s: s.replace("tibia", "shin"), "'shin' has no degree of freedom"),
        (lambda s: s.replace("tibia ", "tibia 1 "), "1 degrees of freedom; here are 2"),
        (lambda s: s.replace("tibia ", "tibia 1\ntibia "), "twice in one frame"),
        (lambda s: s.replace("tibia ", "tibia x").replace("\n2\n", "\n2\n"), "finite number"),
        (lambda s: s.replace("\n2\n", "\n1\n"), "comes after"),
        (lambda s: s.replace("\n2\n", "\ntwo\n"), "whole number"),
        (lambda s: s[: s.rindex("drawer")], "no line for 'drawer'"),
    ],
)
def test_broken_motions_are_refused(change, message):
    figure = parse_asf(asf().encode())
    rng = np.random.default_rng(4)
    with pytest.raises(BadFile, match=message):
        parse_amc(change(amc([random_frame(rng), random_frame(rng)])).encode(), figure, "test.amc")
