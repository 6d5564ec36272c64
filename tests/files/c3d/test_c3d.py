"""C3D files: the six dialects agree, gaps are what the file says, ezc3d reads the same, and nothing broken gets through."""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path

import numpy as np
import pytest

import supple
from supple.errors import BadFile, BadValue, Error
from supple.figure.figure import Source
from supple.files.c3d.bytes import as_floats, open_c3d
from supple.files.c3d.reader import parse_c3d
from supple.files.c3d.writer import format_c3d
from supple.files.marker_trial import Wishes
from supple.motion.markers import Markers

VARIANTS = tuple(f"{processor}_{kind}" for processor in ("pc", "dec", "sgi") for kind in ("int", "real"))

STEP = 0.000281182  # m: one unit of the integers in those files


@pytest.fixture(scope="session")
def mocap(shared: Path) -> Path:
    folder = shared / "data" / "mocap"
    if not folder.is_dir():
        pytest.skip(f"no recordings: the folder {folder} is missing")
    return folder


def trial(frames: int = 5, names: tuple[str, ...] = ("a", "b", "c"), seed: int = 0, **more) -> Markers:
    positions = np.random.default_rng(seed).normal(size=(frames, len(names), 3))
    return Markers(names, positions, np.arange(frames) / 100.0, **more)


def read(data: bytes, **wishes) -> Markers:
    return parse_c3d(data, Wishes(**wishes), "test.c3d")


def patched(data: bytes, at: int, layout: str, *values) -> bytes:
    new = struct.pack(layout, *values)
    return data[:at] + new + data[at + len(new) :]


def parameter(data: bytes, name: str, group: str = "POINT") -> int:
    """Where the values of a parameter begin."""
    return open_c3d(data, None).parameters[group, name].at


# ── recordings ───────────────────────────────────────────────────────────────────────────────────────────────────────
def test_the_six_dialects_of_one_trial_agree(mocap):
    trials = {name: supple.read_markers(mocap / "c3d_variants" / f"{name}.c3d") for name in VARIANTS}
    first = trials["pc_real"]
    assert first.positions.shape == (89, 36, 3)
    assert first.rate == pytest.approx(50.0)
    for name, other in trials.items():
        assert other.names == first.names
        assert np.array_equal(other.seen, first.seen), name
        apart = np.abs(other.positions - first.positions)
        assert np.nanmax(apart) <= (0.0 if name.endswith("real") else 1.01 * STEP), name
        assert np.nanmean(apart > 1e-6) < 0.01, name  # where whoever made the files rounded the other way


@pytest.mark.parametrize(
    ("file", "unit"),
    [
        ("c3d/02_01.c3d", 0.001),
        ("c3d/02_05.c3d", 0.001),
        ("c3d_variants/dec_int.c3d", 0.001),
        ("c3d_variants/dec_real.c3d", 0.001),
        ("c3d_variants/pc_int.c3d", 0.001),
        ("closed_loop/wheelchair/kinematics_racing_propulsion.c3d", 1.0),
        ("gaps/freeform.c3d", 0.001),
        ("gaps/tennis_serve_nan.c3d", 1.0),
        ("gaps/walking2.c3d", 0.001),
    ],
)
def test_ezc3d_reads_the_same(mocap, file, unit):
    ezc3d = pytest.importorskip("ezc3d")
    markers = supple.read_markers(mocap / file, up="z")
    theirs = ezc3d.c3d(str(mocap / file))
    points = theirs["data"]["points"][:3].transpose(2, 1, 0) * unit
    labels = [label.rsplit(":", 1)[-1] for label in theirs["parameters"]["POINT"]["LABELS"]["value"]]
    assert list(markers.names) == labels[: len(markers.names)]
    assert np.array_equal(np.isnan(points).any(axis=2), ~markers.seen)
    assert np.nanmax(np.abs(points - markers.positions)) < 1e-6
    assert markers.rate == pytest.approx(theirs["parameters"]["POINT"]["RATE"]["value"][0])


def test_the_cmu_walk_lies_on_its_skeleton(mocap):
    """bvh (x, y, z) = c3d (y, z, x): the markers of the hips go where the root of the BVH file goes."""
    markers = supple.read_markers(mocap / "c3d" / "02_01.c3d")
    motion = supple.read_motion(mocap / "bvh" / "02_01.bvh", unit=0.0254 / 0.45)
    root = motion.figure.placement(motion.q[1:], "Hips")[:, :3, 3]
    waist = np.mean([markers[name] for name in ("LFWT", "RFWT", "LBWT", "RBWT")], axis=0)
    there = waist[:, [1, 0, 2]] * (1.0, -1.0, 1.0)
    assert len(markers) == len(motion) - 1
    assert np.linalg.norm(there - root, axis=1).max() < 0.15


def test_what_was_done_is_told(mocap):
    walk = supple.read_markers(mocap / "c3d" / "02_01.c3d")
    assert "LFWT" in walk.names
    assert walk.source is not None
    assert (walk.source.format, walk.source.unit, walk.source.up) == ("c3d", 0.001, "z")
    assert any("TakeoMonday" in note for note in walk.notes)
    assert any("mm" in note for note in walk.notes)
    free = supple.read_markers(mocap / "gaps" / "freeform.c3d", up="y")
    assert any("3874 of 58353 samples (6.6 %)" in note for note in free.notes)
    assert np.nanmin(free.positions[:, :, 2]) > -0.1
    assert any("names no vertical axis" in note for note in supple.read_markers(mocap / "gaps" / "freeform.c3d").notes)


# ── round trips and numbers ──────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("up", ["x", "y", "z"])
@pytest.mark.parametrize("unit", [0.001, 0.01, 1.0])
def test_what_is_written_reads_back(tmp_path, up, unit):
    markers = trial(seed=1, source=Source("c3d", unit, up))
    markers = Markers(
        markers.names,
        np.where(markers.positions[:, :, :1] > 1.0, np.nan, markers.positions),
        markers.times,
        markers.source,
    )
    supple.write(markers, tmp_path / "x.c3d")
    again = supple.read_markers(tmp_path / "x.c3d")
    assert again.names == markers.names
    assert again.source == markers.source
    np.testing.assert_allclose(again.positions, markers.positions, rtol=1e-6)
    np.testing.assert_allclose(again.times, markers.times, atol=1e-7)


def test_ezc3d_reads_what_is_written(tmp_path):
    ezc3d = pytest.importorskip("ezc3d")
    positions = trial(7).positions.copy()
    positions[3, 1] = np.nan
    supple.write(Markers(("a", "b", "c"), positions, np.arange(7) / 250.0), tmp_path / "x.c3d")
    theirs = ezc3d.c3d(str(tmp_path / "x.c3d"))
    np.testing.assert_allclose(theirs["data"]["points"][:3].transpose(2, 1, 0), 1000.0 * positions, rtol=1e-6)
    parameters = theirs["parameters"]["POINT"]
    assert parameters["LABELS"]["value"] == ["a", "b", "c"]
    assert (parameters["UNITS"]["value"], parameters["Y_SCREEN"]["value"]) == (["mm"], ["+Z"])
    assert parameters["RATE"]["value"][0] == 250.0


def test_angles_and_forces_are_no_markers():
    data = format_c3d(trial(names=("knee", "hip", "toe")))
    at = data.index(b"\x08\x01X_SCREEN")
    record = b"\x06\x01ANGLES" + struct.pack("<HbBB", 10, -1, 1, 4) + b"knee\0"  # as long as the one it replaces
    markers = read(data[:at] + record + data[at + len(record) :])
    assert markers.names == ("hip", "toe")
    assert any("angles, forces" in note for note in markers.notes)


def test_many_labels_and_many_frames():
    names = tuple(f"m{k}" for k in range(700))
    assert read(format_c3d(trial(2, names))).names == names
    long = trial(70_000, ("a",))
    again = read(format_c3d(long))
    assert len(again) == 70_000
    np.testing.assert_allclose(again.positions, long.positions, rtol=1e-6)


def test_decs_numbers():
    """Known bit patterns: 1.0 is 0x4080 0000, −0.5 is 0xC000 0000, words low byte first."""
    words = np.array([0x4080, 0, 0xC000, 0, 0, 0, 0x41A0, 0], dtype="<u2")
    assert as_floats(words.view(np.uint8), "dec").tolist() == [1.0, -0.5, 0.0, 5.0]


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_prefixes_go_where_names_stay_different():
    two = read(format_c3d(trial(names=("A:x", "B:y", "*52"))))
    assert two.names == ("x", "y")
    assert any("1 trajectories have no label" in note for note in two.notes)
    assert read(format_c3d(trial(names=("A:x", "B:x", "z")))).names == ("A:x", "B:x", "z")
    assert read(format_c3d(trial(names=("A:x", "x", "z")))).names == ("A:x", "x", "z")
    assert read(format_c3d(trial(names=("A:x", "B:y", "*52"))), unlabelled=True).names == ("x", "y", "*52")


def test_the_same_name_twice_gets_a_number():
    data = format_c3d(trial(names=("a1", "a2", "a3")))
    at = parameter(data, "LABELS")
    markers = read(patched(data, at, "6s", b"a1a1a3"))
    assert markers.names == ("a1", "a1_2", "a3")
    assert any("same name" in note for note in markers.notes)


# ── gaps ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_zeros_are_missing_only_where_the_file_does_not_mark_gaps_itself():
    positions = trial(4).positions.copy()
    positions[1, 0] = 0.0  # elsewhere in other frames
    positions[:, 2] = 0.0  # always at the origin
    plain = format_c3d(Markers(("a", "b", "c"), positions, np.arange(4) / 10))
    assert read(plain).seen.tolist() == [[True] * 3, [False, True, True], [True] * 3, [True] * 3]
    assert read(plain, zeros="seen").seen.all()
    assert not read(plain, zeros="missing").seen[:, 2].any()
    positions[2, 1] = np.nan
    marked = read(format_c3d(Markers(("a", "b", "c"), positions, np.arange(4) / 10)))
    assert marked.seen.sum() == 11
    assert any("At the origin" in note for note in marked.notes)


# ── lies ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_lie_about_frames_is_limited_by_the_file():
    data = format_c3d(trial(200))
    for last in (60_000, 65_535):
        lie = patched(data, 8, "<H", last)
        lie = patched(lie, parameter(lie, "FRAMES"), "<H", last)
        lie = patched(lie, parameter(lie, "ACTUAL_END_FIELD", "TRIAL"), "<HH", 0xFFFF, 0x7FFF)
        markers = read(lie)
        assert 200 <= len(markers) < 250
        assert any("it holds" in note for note in markers.notes)
    assert len(read(data[: -len(data) // 2])) < 200


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: b"", "not a C3D file"),
        (lambda d: patched(d, 1, "B", 3), "not a C3D file"),
        (lambda d: patched(d, 0, "B", 200), "outside the file"),
        (lambda d: patched(d, 515, "B", 7), "processor 7"),
        (lambda d: patched(patched(d, parameter(d, "SCALE"), "<f", 0.0), 12, "<f", np.nan), "scale"),
        (lambda d: patched(patched(d, parameter(d, "RATE"), "<f", 0.0), 20, "<f", -5.0), "rate="),
        (lambda d: patched(d, parameter(d, "DATA_START"), "<H", 9999), "outside the file"),
        (lambda d: patched(d, parameter(d, "UNITS"), "2s", b"qq"), "unit="),
        (lambda d: d[:1024], "no frames"),
    ],
)  # fmt: skip
def test_what_is_broken_is_refused(change, message):
    with pytest.raises(BadFile, match=message):
        read(change(format_c3d(trial())))


def test_what_the_caller_says_counts():
    data = format_c3d(trial())
    assert read(data, rate=50.0).rate == pytest.approx(50.0)
    np.testing.assert_allclose(read(data, unit=1.0).positions, 1000.0 * read(data).positions, rtol=1e-12)
    for wrong in ({"up": "q"}, {"unit": -1.0}, {"rate": np.nan}, {"zeros": "perhaps"}):
        with pytest.raises(BadValue):
            Wishes(**wrong)
    with pytest.raises(BadFile, match=r"\.c3d, \.trc"):
        supple.read_markers("trial.csv")


def test_flipped_bytes_raise_only_our_errors():
    rng = np.random.default_rng(3)
    data = np.frombuffer(format_c3d(trial(3)), np.uint8)
    for _ in range(400):
        broken = data.copy()
        broken[rng.integers(0, 1100, 4)] = rng.integers(0, 256, 4)
        with contextlib.suppress(Error):
            read(broken.tobytes())
