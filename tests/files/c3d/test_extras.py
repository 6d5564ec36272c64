"""What C3D files hold beside markers: channels, events, parameters of other programs; kept through reading and writing."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import supple
from supple.errors import BadFile, BadValue
from supple.files.c3d.bytes import C3dBytes, Parameter
from supple.files.c3d.extras import Analog, C3dSource, Event, Kept, read_analog
from supple.files.c3d.reader import parse_c3d
from supple.files.c3d.writer import format_c3d
from supple.files.marker_trial import Wishes
from supple.motion.markers import Markers

FORCES = Analog(("Fx", "Fy", "EMG"), ("N", "N", "V"), 500.0, np.random.default_rng(0).normal(size=(40, 3)))
EVENTS = (Event("Foot Strike", "Left", 0.02), Event("Foot Off", "Right", 0.05))
PLATES = (Kept("FORCE_PLATFORM", "CHANNEL", 2, (3, 1), np.arange(1, 4, dtype="<u2").tobytes()),)
SOURCE = C3dSource("c3d", 0.001, "z", FORCES, EVENTS, PLATES)


def trial(frames: int = 8, source: C3dSource = SOURCE) -> Markers:
    positions = np.random.default_rng(1).normal(size=(frames, 2, 3))
    return Markers(("a", "b"), positions, np.arange(frames) / 100.0, source)


def read(data: bytes, **wishes) -> Markers:
    return parse_c3d(data, Wishes(**wishes), "test.c3d")


def test_channels_events_and_other_parameters_go_round():
    again = read(format_c3d(trial())).source
    assert isinstance(again, C3dSource)
    assert again.analog is not None
    assert (again.analog.names, again.analog.units, again.analog.rate) == (FORCES.names, FORCES.units, 500.0)
    np.testing.assert_allclose(again.analog.values, FORCES.values, rtol=1e-6)
    assert [(e.label, e.context) for e in again.events] == [(e.label, e.context) for e in EVENTS]
    np.testing.assert_allclose([e.time for e in again.events], [e.time for e in EVENTS], atol=1e-6)
    assert again.kept == PLATES


def test_ezc3d_finds_channels_and_events(tmp_path):
    ezc3d = pytest.importorskip("ezc3d")
    supple.write(trial(), tmp_path / "t.c3d")
    c3d = ezc3d.c3d(str(tmp_path / "t.c3d"))
    np.testing.assert_allclose(c3d["data"]["analogs"][0].T, FORCES.values, rtol=1e-6)
    assert c3d["parameters"]["ANALOG"]["LABELS"]["value"] == list(FORCES.names)
    assert c3d["parameters"]["EVENT"]["LABELS"]["value"] == ["Foot Strike", "Foot Off"]
    np.testing.assert_allclose(c3d["parameters"]["EVENT"]["TIMES"]["value"], [[0, 0], [0.02, 0.05]], atol=1e-6)
    assert c3d["parameters"]["FORCE_PLATFORM"]["CHANNEL"]["value"].ravel().tolist() == [1, 2, 3]


def test_the_six_dialects_have_the_channels_that_ezc3d_reads(shared: Path):
    ezc3d = pytest.importorskip("ezc3d")
    for name in (
        "pc_int",
        "pc_real",
        "dec_int",
        "dec_real",
        "sgi_int",
        "sgi_real",
    ):  # ezc3d does not read those of MIPS
        file = shared / "data/mocap/c3d_variants" / f"{name}.c3d"
        known = file.with_name(name.replace("sgi", "pc") + ".c3d")
        source = supple.read_markers(file).source
        assert isinstance(source, C3dSource)
        assert source.analog is not None
        theirs = ezc3d.c3d(str(known))["data"]["analogs"][0].T
        np.testing.assert_allclose(source.analog.values, theirs, rtol=1e-5, atol=1e-6 * np.abs(theirs).max())


def test_a_part_of_a_trial_keeps_its_part_of_the_channels():
    part = read(format_c3d(trial().frames(2, 6)))
    assert isinstance(part.source, C3dSource)
    assert part.source.analog is not None
    np.testing.assert_allclose(part.source.analog.values, FORCES.values[10:30], rtol=1e-6)
    np.testing.assert_allclose([e.time for e in part.source.events], [0.0, 0.03], atol=1e-6)


def test_channels_that_no_longer_fit_are_refused_and_can_be_left_out():
    fewer = trial().frames(0, 8, 3)
    with pytest.raises(BadValue, match=r"3 analog channels of 500 Hz do not fit 3 frames.*source=None"):
        format_c3d(fewer)
    assert len(read(format_c3d(dataclasses.replace(fewer, source=None)))) == 3


def test_one_frame_is_a_trial(tmp_path):
    one = Markers(("a",), np.ones((1, 1, 3)), np.zeros(1))
    for name in ("one.c3d", "one.trc"):
        supple.write(one, tmp_path / name)
        assert np.allclose(supple.read_markers(tmp_path / name, up="y" if "trc" in name else None).positions, 1.0)


def test_trajectories_without_labels_are_called_by_their_numbers():
    data = format_c3d(trial(source=C3dSource("c3d", 0.001, "z")))
    markers = read(data.replace(b"LABELS", b"LABEL_"))
    assert markers.names == ("point 1", "point 2")
    assert "names none of its 2 trajectories" in " ".join(markers.notes)


@pytest.mark.parametrize(("word", "metres"), [("mete", 1.0), ("mill", 0.001), ("cent", 0.01), ("Metr", 1.0)])
def test_units_that_are_cut_short(word: str, metres: float):
    def unit(word: bytes) -> bytes:
        head = b"\x05\x01UNITS"
        old = format_c3d(Markers(("a",), np.ones((1, 1, 3)), np.zeros(1)))
        at = old.index(head) + len(head)
        assert old[at + 2 : at + 7] == b"\xff\x01\x02mm"
        return old[: at + 2] + b"\xff\x01" + bytes([len(word)]) + word + old[at + 2 + 5 :]

    data = unit(word.encode())
    grown = len(word) - 2
    at = data.index(b"\x05\x01UNITS") + 7
    data = data[:at] + bytes([data[at] + grown]) + data[at + 1 :]
    end = data.index(b"\0" * 40, at)
    data = data[:end] + data[end + grown :]  # the section keeps its length
    assert read(data).source.unit == metres  # pyright: ignore[reportOptionalMemberAccess]


def test_a_unit_of_two_meanings_is_refused():
    data = format_c3d(trial(source=C3dSource("c3d", 0.001, "z"))).replace(b"\x02mm", b"\x02me")
    with pytest.raises(BadFile, match="'me' is not known"):
        read(data)


@pytest.mark.parametrize(
    ("told", "offsets", "wanted"),
    [
        ("", (32768, 32767), [[-34.0, 2.0], [2.0, -33.0]]),
        ("UNSIGNED", (32760, 32767), [[-26.0, 2.0], [10.0, -33.0]]),
        ("SIGNED", (0, 32768), [[32734.0, 1.0], [-32766.0, 65502.0]]),
        ("", (0, 1), [[32734.0, -32768.0], [-32766.0, 32733.0]]),
    ],
)
def test_integers_around_the_middle_of_their_range_have_no_sign(
    told: str, offsets: tuple[int, int], wanted: list[list[float]]
):
    raw = np.array([[32734, 32769], [32770, 32734]], dtype="<u2")
    data = np.array([2, *offsets], dtype="<u2").tobytes() + told.encode()
    parameters = {("ANALOG", "USED"): Parameter(2, (), 0), ("ANALOG", "OFFSET"): Parameter(2, (2,), 2)}
    parameters |= {("ANALOG", "FORMAT"): Parameter(-1, (len(told),), 6)} if told else {}
    analog = read_analog(C3dBytes(data, None, "intel", parameters), raw.view(np.uint8), 0, False, 100.0, [])
    assert analog is not None
    np.testing.assert_array_equal(analog.values, wanted)
