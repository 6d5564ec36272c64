"""MOT and STO files: degrees and metres, headers of several ages, round trips, and OpenSim's own results."""

from __future__ import annotations

import numpy as np
import pytest

import supple
from supple.errors import BadFile, BadValue
from supple.figure.figure import Figure
from supple.figure.joints import free, hinge, slide
from supple.files.storage import format_storage, parse_storage, turning
from supple.geometry.placements import Y
from supple.motion.motion import Motion

LIFT = Figure("lift", [*slide("up", None), *hinge("turn", "up", Y, limits=(-3, 3))])
HEAD = "name\nversion=1\nnRows=2\nnColumns=3\n{}\nendheader\ntime\tup\tturn\n0.5\t0.25\t90\n0.6\t0.5\t-180\n"


def read(text: str, figure: Figure = LIFT, **options) -> Motion:
    return parse_storage(text.encode(), figure, "test.mot", **options)


@pytest.mark.parametrize(
    ("line", "factor"),
    [
        ("inDegrees=yes", np.pi / 180),
        ("inDegrees=no", 1.0),
        ("", 1.0),
        ("Angles are in degrees.", np.pi / 180),
        ("InDegrees = Yes", np.pi / 180),
        ("DataType=double\nOpenSimVersion=4.5\ninDegrees=yes", np.pi / 180),
        ("datacolumns 3\ndatarows 99\nrange 0 1", 1.0),
    ],
)
def test_headers(line, factor):
    motion = read(HEAD.format(line))
    assert motion.times.tolist() == [0.5, 0.6]
    np.testing.assert_allclose(motion.q, [[0.25, 90 * factor], [0.5, -180 * factor]], rtol=1e-15)


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.replace("\n", "\r\n"),
        lambda s: s.replace("endheader\n", "endheader\n\n"),
        lambda s: s.replace("\tup", "\t/jointset/a/up/value").replace("0.25\t", " 0.25  \t"),
        lambda s: s.replace("time\tup\tturn", "time   up  turn"),
        lambda s: s.replace("turn\n", "turn\tmore\n").replace("90\n", "90\t1\n").replace("-180\n", "-180\t2\n"),
    ],
)
def test_ways_of_writing_the_same(change):
    text = HEAD.format("inDegrees=yes")
    assert np.array_equal(read(text).q, read(change(text)).q)
    assert change(text) != text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "endheader"),
        ("endheader\n", "time"),
        ("endheader\ntime\tup\tturn\n", "no row"),
        (HEAD.format("DataType=Vec3"), "plain numbers"),
        (HEAD.format("").replace("90", "ninety"), r"test\.mot:8: .*'ninety'"),
        (HEAD.format("").replace("90", "nan"), "finite"),
        (HEAD.format("").replace("90", "90 1"), "3 numbers.*4"),
        (HEAD.format("").replace("0.6", "0.4"), "must rise"),
        (HEAD.format("").replace("up\tturn\n", "up_u\tturn_u\n"), "speeds or accelerations, no postures"),
        (HEAD.format("").replace("turn\n", "other\n"), "no column for 'turn'.*partial=True"),
        (HEAD.format("").replace("up\tturn\n", "a\tb\n"), "no column"),
    ],
)
def test_what_is_broken_is_refused(text, message):
    with pytest.raises(BadFile, match=message):
        read(text)


def test_what_the_file_lacks_may_stay_at_rest():
    motion = read(HEAD.format("").replace("turn\n", "other\n"), partial=True)
    assert motion.q[:, 1].tolist() == [0.0, 0.0]
    assert motion.q[:, 0].tolist() == [0.25, 0.5]


@pytest.mark.parametrize("ending", ["mot", "sto"])
def test_what_is_written_reads_back(tmp_path, ending):
    figure = Figure("kite", [*free("kite"), *hinge("tail", "kite")])
    rng = np.random.default_rng(0)
    motion = Motion(figure, rng.normal(size=(20, figure.size)), np.cumsum(rng.uniform(0.01, 0.1, 20)))
    supple.write(motion, tmp_path / f"x.{ending}")
    again = supple.read_motion(tmp_path / f"x.{ending}", figure=figure)
    np.testing.assert_allclose(again.q, motion.q, rtol=1e-14)
    np.testing.assert_allclose(again.times, motion.times, rtol=1e-14)
    lines = (tmp_path / f"x.{ending}").read_text().splitlines()
    assert "inDegrees=yes" in lines
    first = lines[lines.index("endheader") + 2].split("\t")
    assert float(first[1]) == pytest.approx(motion.q[0, 0])  # kite.tx
    assert float(first[4]) == pytest.approx(np.degrees(motion.q[0, 3]))  # kite.z


def test_a_coordinate_that_turns_and_slides_things_is_an_angle():
    knee = Figure(
        "knee",
        [
            *slide("shift", None, drive=supple.mimic("knee", 0.01)),
            *hinge("turn", "shift", drive=supple.mimic("knee")),
        ],
        drivers=[supple.figure.Coordinate("knee")],
    )
    assert turning(knee).tolist() == [True]


def test_a_figure_is_needed():
    with pytest.raises(BadValue, match="figure="):
        supple.read_motion("walk.mot")
    with pytest.raises(BadFile, match="motions are written to"):
        supple.write(LIFT, "walk.mot")


def test_opensims_own_result(shared):
    """The walk that OpenSim tracked: its columns are taken by name, angles become radians."""
    file = shared / "data" / "mocap" / "opensim" / "gait2354" / "walk1_ik_reference.mot"
    if not file.exists():
        pytest.skip(f"{file} is missing")
    parts = [*slide("pelvis_tx", None), *hinge("hip_flexion_r", "pelvis_tx")]
    motion = supple.read_motion(file, figure=Figure("part", parts))
    assert len(motion) == 73
    assert motion.rate == pytest.approx(60.0)
    np.testing.assert_allclose(motion.q[0], [0.60162386, np.radians(19.56730088)], rtol=1e-12)
    assert format_storage(motion).count("\n") == 11 + 73


def test_of_rows_at_one_time_the_last_stays():
    text = HEAD.format("") + "0.6\t0.75\t1\n0.7\t0\t0\n0.7\t1\t2\n"
    motion = read(text)
    assert motion.times.tolist() == [0.5, 0.6, 0.7]
    assert motion.q[:, 0].tolist() == [0.25, 0.75, 1.0]


def test_states_of_opensim_3_are_told_from_their_speeds():
    """In states of OpenSim 3.3 a coordinate and its speed stand side by side."""
    text = HEAD.format("").replace("up\tturn\n", "joint/turn\tjoint/turn/speed\n")
    motion = read(text, partial=True)
    assert motion.q[:, 1].tolist() == [0.25, 0.5]
