"""The command ``track`` and its report; filters of markers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import supple
from supple.view.report import write_report
from tests.cli.test_cli import refusal, run
from tests.motion.tracking.test_track import arm, places, trial, wave

OSIM = """<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40000"><Model name="stick">
<BodySet><objects><Body name="rod"><mass>1</mass></Body></objects></BodySet>
<JointSet><objects><PinJoint name="pin">
<socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/rod</socket_child_frame>
<coordinates><Coordinate name="turn"><range>-3 3</range><clamped>true</clamped></Coordinate></coordinates>
</PinJoint></objects></JointSet>
<MarkerSet><objects>
<Marker name="A"><socket_parent_frame>/bodyset/rod</socket_parent_frame><location>0.3 0 0</location></Marker>
<Marker name="B"><socket_parent_frame>/bodyset/rod</socket_parent_frame><location>0.3 0.1 0</location></Marker>
</objects></MarkerSet></Model></OpenSimDocument>
"""


@pytest.fixture
def stick(tmp_path: Path) -> tuple[Path, Path]:
    """A model and a trial of it on disk: half a turn in 50 frames."""
    model, file = tmp_path / "stick.osim", tmp_path / "trial.trc"
    model.write_text(OSIM)
    figure = supple.load(model)
    q = np.linspace(0.0, 1.5, 50)[:, None]
    supple.write(supple.Markers(["A", "B"], places(figure, q), np.arange(50) / 100.0), file)
    return model, file


def test_a_trial_becomes_angles_and_a_page(stick: tuple[Path, Path], tmp_path: Path) -> None:
    model, file = stick
    out, page = tmp_path / "out.mot", tmp_path / "page.html"
    result = run("track", file, "--model", model, "-o", out, "--report", page)
    assert result.exit_code == 0, result.output
    assert "50 frames, 0 not converged" in result.stdout
    motion = supple.read_motion(out, figure=supple.load(model))
    np.testing.assert_allclose(motion.q[:, 0], np.linspace(0.0, 1.5, 50), atol=1e-5)
    text = page.read_text()
    assert text.count("<img") == 6
    assert not re.search(r"(src|href)='?http", text)


@pytest.mark.parametrize("method", ["frames", "whole", "natural"])
def test_every_method_finds_the_turn(method: str, stick: tuple[Path, Path], tmp_path: Path) -> None:
    model, file = stick
    out = tmp_path / "out.mot"
    assert run("track", file, "-m", model, "-o", out, "--method", method).exit_code == 0
    motion = supple.read_motion(out, figure=supple.load(model))
    np.testing.assert_allclose(motion.q[:, 0], np.linspace(0.0, 1.5, 50), atol=1e-4)


def test_weights_come_from_a_file(stick: tuple[Path, Path], tmp_path: Path) -> None:
    model, file = stick
    table = tmp_path / "weights.json"
    table.write_text(json.dumps({"markers": {"A": 2.0}}))
    result = run("track", file, "-m", model, "--weights", table)
    assert result.exit_code == 0
    assert re.search(r"^B +0.0%", result.stdout, re.MULTILINE)


def test_what_cannot_work_is_said_in_a_line(stick: tuple[Path, Path], tmp_path: Path) -> None:
    model, file = stick
    assert ".mot" in refusal("track", file, "-m", model, "-o", tmp_path / "out.xyz")
    assert "--method" in refusal("track", file, "-m", model, "--method", "magic")
    assert "no markers" in refusal("track", file, "-m", "panda")
    bad = tmp_path / "bad.json"
    bad.write_text('{"A": "heavy"}')
    assert "number" in refusal("track", file, "-m", model, "--weights", bad)
    assert "cutoff" in refusal("track", file, "-m", model, "--cutoff", 400)


def test_a_report_shows_gaps(tmp_path: Path) -> None:
    figure = arm()
    seen = places(figure, wave(figure, 40))
    seen[10:20, :6] = np.nan
    markers = trial(figure, seen)
    motion = supple.track(figure, markers)
    write_report(motion, markers, tmp_path / "page.html")
    assert "frame" in (tmp_path / "page.html").read_text()
    assert len(motion.worst(3)) == 3


def test_a_filter_halves_the_power_at_its_cutoff_and_does_not_lag() -> None:
    t = np.arange(2000) / 200.0
    for hertz, gain in ((1.0, 1.0), (6.0, 0.5**0.5), (60.0, 0.0)):
        way = np.sin(2.0 * np.pi * hertz * t)
        markers = supple.Markers(["A"], np.stack([way, way, way], axis=1)[:, None], t)
        out = markers.filtered(6.0)["A"][500:1500, 0]
        np.testing.assert_allclose(out, gain * way[500:1500], atol=6e-3)


def test_a_filter_leaves_gaps_alone() -> None:
    way = np.random.default_rng(0).normal(size=(300, 1, 3))
    way[100:120] = np.nan
    markers = supple.Markers(["A"], way, np.arange(300) / 100.0)
    out = markers.filtered(5.0)
    np.testing.assert_array_equal(out.seen, markers.seen)
    alone = supple.Markers(["A"], way[:100], np.arange(100) / 100.0).filtered(5.0)
    np.testing.assert_allclose(out["A"][:100], alone["A"], atol=1e-12)
