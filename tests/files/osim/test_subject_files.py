"""Subjects written into the generic model's own file: read again by us and by OpenSim, and nothing else lost."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import supple
from supple.files.osim.writer import write_subject
from tests.cli.test_cli import refusal, run
from tests.oracles.test_opensim import opensims

MODELS = {
    "gait2354": ("opensim/gait2354/subject01.osim", "opensim/gait2354/static.trc"),
    "rajagopal": ("opensim/rajagopal_walk/subject.osim", "opensim/rajagopal_walk/walk.trc"),
    "run": ("gaps/run_subject.osim", "gaps/run_500_nan.trc"),
}


@pytest.fixture(params=MODELS)
def subject(request: pytest.FixtureRequest, shared: Path) -> tuple[Path, supple.Markers, supple.motion.Subject]:
    """A generic model, a trial, and who was in it."""
    model, trial = (shared / "data" / "mocap" / name for name in MODELS[request.param])
    markers = supple.read_markers(trial).frames(0, 40, 2)
    return model, markers, supple.fit_subject(supple.load(model), markers, scales="symmetric", frames=10)


def test_the_file_holds_the_subject(subject: tuple[Path, supple.Markers, supple.motion.Subject], tmp_path: Path):
    model, markers, fitted = subject
    write_subject(fitted.figure, model, tmp_path / "s.osim", fitted.factors, mass=70.0)
    again = supple.load(tmp_path / "s.osim")
    assert abs(supple.track(again, markers).rms - fitted.motion.rms) < 1e-6
    assert abs(sum(body.mass for body in again.bodies.values()) - 70.0) < 1e-9
    rng = np.random.default_rng(1)
    q = rng.uniform(np.maximum(again.lower, -1), np.minimum(again.upper, 1), (5, again.size))
    for segment in again.segments:
        np.testing.assert_allclose(again.placement(q, segment), fitted.figure.placement(q, segment), atol=1e-7)
    for name, body in again.bodies.items():
        np.testing.assert_allclose(body.centre, fitted.figure.bodies[name].centre, atol=1e-9)


def test_what_is_not_understood_is_kept(subject: tuple[Path, supple.Markers, supple.motion.Subject], tmp_path: Path):
    model, _, fitted = subject
    strange = tmp_path / "strange.osim"
    text = model.read_text(encoding="utf-8")
    odd = "<!--a remark--><StrangeThing name='odd'><deep>1 2 3</deep></StrangeThing></Model>"
    strange.write_text(re.sub(r"</Model>", odd, text, count=1), encoding="utf-8")
    write_subject(fitted.figure, strange, tmp_path / "s.osim", fitted.factors)
    written = (tmp_path / "s.osim").read_text(encoding="utf-8")
    assert "a remark" in written
    tags = [[e.tag for e in ET.fromstring(t).iter()] for t in (strange.read_text(encoding="utf-8"), written)]
    more = [tag for tag in tags[1] if tag in ("MultiplierFunction", "scale", "function")]
    assert len(tags[1]) - len(tags[0]) <= len(more)
    assert set(tags[0]) <= set(tags[1])


def test_opensim_opens_it_with_the_same_residual(
    subject: tuple[Path, supple.Markers, supple.motion.Subject], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    opensim = pytest.importorskip("opensim")
    model, markers, fitted = subject
    write_subject(fitted.figure, model, tmp_path / "s.osim", fitted.factors)
    part = markers.only([n for n in markers.names if n in fitted.figure.markers]).frames(0, 4)
    if np.isnan(part.positions).any():
        part = part.only([n for n in part.names if not np.isnan(part[n]).any()])
    theirs = opensims(opensim, tmp_path / "s.osim", part, dict.fromkeys(part.names, 1.0), fitted.figure.coordinates)
    ours = supple.track(fitted.figure, part, supple.motion.FrameByFrame(tolerance=1e-12, steps=5000))
    places = fitted.figure.marker_places(theirs, list(part.names))
    residual = np.sqrt(np.mean(np.sum((places - part.positions) ** 2, axis=2)))
    assert abs(residual - ours.rms) < 1e-5


def test_the_command_fits_and_writes(shared: Path, tmp_path: Path):
    folder = shared / "data" / "mocap" / "opensim" / "gait2354"
    supple.write(supple.read_markers(folder / "static.trc").frames(0, 30), tmp_path / "static.trc")
    out = tmp_path / "subject.osim"
    done = run("fit", tmp_path / "static.trc", "--model", folder / "subject01.osim", "-o", out, "--mass", 72.6)
    assert done.exit_code == 0, done.output
    assert "static.trc on subject01.osim: Nothing seems wrong." in done.output
    assert abs(sum(b.mass for b in supple.load(out).bodies.values()) - 72.6) < 1e-9
    assert ".osim" in refusal("fit", tmp_path / "static.trc", "--model", "human")
    assert "kg" in refusal("fit", tmp_path / "static.trc", "-m", folder / "subject01.osim", "--mass", -1)


def test_older_files_are_refused_with_the_remedy(shared: Path, tmp_path: Path):
    model = shared / "data" / "mocap" / "opensim" / "gait2354" / "subject01.osim"
    figure = supple.load(model)
    old = tmp_path / "old.osim"
    old.write_text(
        re.sub(r'Version="\d+"', 'Version="30000"', model.read_text(encoding="utf-8"), count=1), encoding="utf-8"
    )
    with pytest.raises(supple.Error, match="save it with OpenSim 4"):
        write_subject(figure, old, tmp_path / "new.osim", dict.fromkeys([None, *figure.segments], 1.0))
    assert not (tmp_path / "new.osim").exists()
