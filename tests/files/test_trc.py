"""TRC files: every recording reads, headers that lie are told, gaps in all spellings are gaps, what is written reads back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import supple
from supple.errors import BadFile, BadValue
from supple.figure.figure import Source
from supple.files.marker_trial import Wishes
from supple.files.trc import format_trc, parse_trc
from supple.motion.markers import Markers

HEAD = "PathFileType\t4\t(X/Y/Z)\tx.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\n"
SMALL = HEAD + "100\t100\t2\t2\tmm\nFrame#\tTime\tR.Thigh Upper\t\t\tb\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n"
ROWS = "1\t0.00\t1000\t2000\t3000\t4000\t5000\t6000\n2\t0.01\t1\t2\t3\t4\t5\t6\n"


@pytest.fixture(scope="session")
def mocap(shared: Path) -> Path:
    folder = shared / "data" / "mocap"
    if not folder.is_dir():
        pytest.skip(f"no recordings: the folder {folder} is missing")
    return folder


def read(text: str, **wishes) -> Markers:
    return parse_trc(text.encode(), Wishes(**wishes), "test.trc")


def test_units_and_axes():
    markers = read(SMALL + ROWS)
    assert markers.names == ("R.Thigh Upper", "b")
    np.testing.assert_allclose(markers.positions[0], [[1.0, -3.0, 2.0], [4.0, -6.0, 5.0]])
    np.testing.assert_allclose(read(SMALL + ROWS, up="z", unit=1.0).positions[0, 0], [1000.0, 2000.0, 3000.0])
    assert any("y up is assumed" in note for note in markers.notes)


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.replace("\n", "\r\n"),
        lambda s: s.replace("\n\n", "\n"),
        lambda s: s.replace("\n\n", "\n\t\t\t\t\t\t\t\n"),
        lambda s: s.replace("100\t100\t2\t2\tmm", "  100.0\t\t  100.0\t\t    2\t\t     2\t\t mm"),
        lambda s: "\ufeff" + s,
        lambda s: s + "\n\n",
        lambda s: s.replace("6\n", "6\t\t \n"),
        lambda s: s.replace("1000\t", "  1.0E+03\t"),
        lambda s: s.replace("PathFileType\t4\t(X/Y/Z)\tx.trc\n", ""),
    ],
)
def test_ways_of_writing_the_same(change):
    text = SMALL + ROWS
    assert change(text) != text
    one, other = read(text), read(change(text))
    assert other.names == one.names
    assert other.notes == one.notes
    assert np.array_equal(one.positions, other.positions)


@pytest.mark.parametrize("word", ["", " ", "NaN", "nan", "NAN", "       NaN", "-nan(ind)", "-1.#IND", "1e999", "inf"])
def test_missing_in_all_spellings(word):
    markers = read(SMALL + ROWS.replace("\t2000\t", f"\t{word}\t"))
    assert markers.seen.tolist() == [[False, True], [True, True]]
    assert any("1 of 4 samples" in note for note in markers.notes)


def test_a_row_that_ends_early_misses_the_rest():
    markers = read(SMALL + ROWS + "3\t0.02\t1\n")
    assert not markers.seen[2].any()
    assert any("end early" in note for note in markers.notes)
    assert any("says 2 frames; there are 3" in note for note in markers.notes)


def test_times_that_do_not_rise_come_from_the_rate():
    markers = read(SMALL + ROWS.replace("0.01", "0.00"))
    assert markers.times.tolist() == [0.0, 0.01]
    assert any("do not rise" in note for note in markers.notes)
    assert read(SMALL + ROWS, rate=10.0).times.tolist() == [0.0, 0.1]


def test_times_that_were_rounded_come_from_the_rate():
    head = SMALL.replace("100\t100", "60\t60")
    rows = "".join(f"{k}\t{(k + 184) / 60:.3f}\t1\t2\t3\t4\t5\t6\n" for k in range(9))
    markers = read(head + rows)
    np.testing.assert_allclose(markers.times, (184 + np.arange(9)) / 60, rtol=1e-14)
    assert any("rounded to 0.001 s" in note for note in markers.notes)
    dropped = "".join(rows.splitlines(keepends=True)[:4] + rows.splitlines(keepends=True)[5:])
    assert read(head + dropped).times[4] == 3.15
    assert not any("rounded" in note for note in read(SMALL + ROWS).notes)


def test_zeros():
    zero = "3\t0.02\t0\t0\t0\t7\t8\t9\n"
    assert not read(SMALL + ROWS + zero).seen[2, 0]
    assert read(SMALL + ROWS + zero, zeros="seen").seen.all()
    always = "1\t0\t0\t0\t0\t7\t8\t9\n2\t1\t0\t0\t0\t7\t8\t9\n"
    assert read(SMALL + always).seen.all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Frame#"),
        ("hello", "Frame#"),
        ("a\0b", "text file"),
        (SMALL, "no row of numbers"),
        (SMALL + ROWS.replace("2000", "two"), r"test\.trc:7: .*'two'"),
        (SMALL + ROWS.replace("2000", "1_0"), "1_0"),
        (SMALL + ROWS.replace("2000", "1\t2"), r"test\.trc:7: .* 8 cells"),
        (SMALL.replace("\tmm\n", "\tfurlong\n") + ROWS, "unit="),
        (HEAD + "100\t100\t2\t2\tmm\nFrame#\tTime\n" + ROWS, "0 markers"),
        (SMALL.replace("100\t100", "0\t0") + ROWS.replace("0.01", "0.00"), "rate="),
    ],
)
def test_what_is_broken_is_refused(text, message):
    with pytest.raises(BadFile, match=message):
        read(text)


@given(
    st.integers(1, 6), st.integers(1, 4), st.sampled_from(["x", "y", "z"]), st.sampled_from([0.001, 1.0]), st.integers(0, 999)
)  # fmt: skip
@settings(max_examples=25)
def test_what_is_written_reads_back(frames, count, up, unit, seed):
    rng = np.random.default_rng(seed)
    positions = np.where(rng.random((frames, count, 1)) < 0.3, np.nan, rng.normal(size=(frames, count, 3)))
    names = tuple(f"m {k}" for k in range(count))
    markers = Markers(names, positions, np.cumsum(rng.uniform(0.01, 0.1, frames)), Source("trc", unit, up))
    again = read(format_trc(markers), up=up)
    assert again.names == names
    assert again.source == markers.source
    np.testing.assert_allclose(again.positions, positions, rtol=1e-13, atol=1e-16)
    np.testing.assert_allclose(again.times, markers.times, rtol=1e-14)


@pytest.mark.parametrize(("count", "fine"), [(3000, True), (50_000, False)])
def test_very_many_markers(count, fine):
    text = HEAD + "100\t100\t1\t1\tmm\nFrame#\tTime\t" + "a\t\t\t" * count + "\n1\t0\t" + "1\t2\t3\t" * count
    if fine:
        assert len(set(read(text).names)) == count
    else:
        with pytest.raises(BadFile, match="50000 markers"):
            read(text)


def test_names_that_the_format_cannot_hold():
    with pytest.raises(BadValue, match="rename"):
        format_trc(Markers(("a\tb",), np.zeros((1, 1, 3)), np.zeros(1)))


@pytest.mark.parametrize(
    ("file", "shape", "missing", "note"),
    [
        ("gaps/crlf_line_ending.trc", (10, 41), 0, ""),
        ("gaps/dataWithBlanksForMissingMarkers.trc", (464, 40), 15005, ""),
        ("gaps/dataWithEformat.trc", (5, 14), 0, "in metres"),
        ("gaps/dataWithNaNsOfDifferentCases.trc", (5, 14), 5, "Never seen: 'thigh'"),
        ("gaps/exampleFormat.trc", (5, 3), 2, "in metres"),
        ("gaps/run_500_nan.trc", (427, 42), 22, "4 of 42 markers"),
        ("opensim/gait2354/static.trc", (300, 49), 0, ""),
        ("opensim/gait2354/walk1.trc", (151, 41), 0, ""),
        ("opensim/gait2392_walk/walk_free_01.trc", (73, 41), 0, "says 900 frames; there are 73"),
        ("opensim/gait2392_walk/walk_free_02.trc", (75, 41), 0, "says 900 frames"),
        ("opensim/rajagopal_walk/walk.trc", (238, 41), 0, "in mm"),
        ("closed_loop/shoulder/abdbonepin.trc", (1991, 11), 0, "says 3514"),
    ],
)
def test_recordings(mocap, file, shape, missing, note):
    markers = supple.read_markers(mocap / file)
    assert markers.seen.shape == shape
    assert int((~markers.seen).sum()) == missing
    assert any(note in said for said in markers.notes)
    assert np.nanmax(np.abs(markers.positions)) < 10.0
    again = parse_trc(format_trc(markers).encode(), Wishes())
    np.testing.assert_allclose(again.positions, markers.positions, rtol=1e-13, atol=1e-16)


def test_trajectories_behind_the_named_ones_have_no_label():
    """Cortex writes what it could not label behind the markers that have names."""
    text = "PathFileType\t4\t(X/Y/Z)\tx.trc\nDataRate\tNumMarkers\tUnits\n100\t2\tmm\nFrame#\tTime\ta\t\t\n\t\tX1\tY1\tZ1\n\n"
    text += "1\t0.00\t1\t2\t3\t4\t5\t6\n2\t0.01\t1\t2\t3\n3\t0.02\t1\t2\t3\t\t\t\t7\t8\t9\n"
    assert parse_trc(text.encode(), Wishes()).names == ("a",)
    everything = parse_trc(text.encode(), Wishes(unlabelled=True))
    assert everything.names == ("a", "*2", "*3")
    assert np.isnan(everything.positions[:, 1, 0]).tolist() == [False, True, True]
    assert any("2 trajectories stand behind" in note for note in everything.notes)
    shifted = text.replace("4\t5\t6", "4\t5")
    with pytest.raises(BadFile, match="a row has 5 cells"):
        parse_trc(shifted.encode(), Wishes())


def test_a_blank_column_behind_every_marker_is_taken_out():
    head = "PathFileType\t4\nDataRate\tUnits\n100\tmm\nFrame#\tTime\ta\t\t\t\tb\t\t\n\t\tX1\tY1\tZ1\t\tX2\tY2\tZ2\n\n"
    markers = parse_trc((head + "1\t0\t1\t2\t3\t\t4\t5\t6\t\n2\t0.01\t1\t2\t3\t\t4\t5\t7\t\n").encode(), Wishes(up="z"))
    assert markers.names == ("a", "b")
    np.testing.assert_allclose(markers.positions[1] * 1000, [[1, 2, 3], [4, 5, 7]])
