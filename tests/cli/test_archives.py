"""Commands on many files: a folder, a manifest, an exit status, and what is refused before any process begins."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple
from supple.cluster import read_manifest
from tests.cli.test_cli import refusal, run
from tests.cli.test_trials import OSIM
from tests.motion.tracking.test_track import places

distributed = pytest.importorskip("distributed")


@pytest.fixture
def trials(tmp_path: Path) -> tuple[Path, list[Path]]:
    """A model and three trials of it, the last of which is broken."""
    model = tmp_path / "stick.osim"
    model.write_text(OSIM)
    figure, files = supple.load(model), [tmp_path / "in" / f"{name}.trc" for name in "abc"]
    files[0].parent.mkdir()
    for k, file in enumerate(files[:2]):
        q = np.linspace(0.0, 1.0 + k, 20)[:, None]
        supple.write(supple.Markers(["A", "B"], places(figure, q), np.arange(20) / 100.0), file)
    files[2].write_text("no trial\n")
    return model, files


def test_many_trials_are_tracked_into_a_folder(trials: tuple[Path, list[Path]], tmp_path: Path):
    model, files = trials
    out = tmp_path / "out"
    ask = ("track", *files, "-m", model, "-o", out, "--workers", 2)
    result = run(*ask)
    assert result.exit_code == 1, result.output  # one is broken
    assert "2 good, 0 doubtful, 1 failed" in result.stdout
    assert f"failed: {files[2]}: " in result.stdout
    for k, name in enumerate("ab"):
        motion = supple.read_motion(out / f"{name}.mot", figure=supple.load(model))
        np.testing.assert_allclose(motion.q[-1, 0], 1.0 + k, atol=1e-5)
    assert len(read_manifest(out)) == 3
    assert "(3 of them before)" in run(*ask).stdout
    supple.write(supple.read_markers(files[0]), files[2])
    result = run(*ask, "--retry-failed")
    assert result.exit_code == 0, result.output
    assert "3 good, 0 doubtful, 0 failed (2 of them before)" in result.stdout


def test_many_clips_are_retargeted_and_converted(tmp_path: Path):
    human = supple.load("human")
    rng = np.random.default_rng(3)
    for name in "ab":
        q = np.clip(human.rest + 0.1 * rng.standard_normal(human.size), human.lower, human.upper)
        moved = np.linspace(human.rest, q, 6)
        supple.write(supple.Motion(human, moved, np.arange(6) / 30), tmp_path / f"{name}.bvh")
    files = sorted(tmp_path.glob("*.bvh"))
    address = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1", silence_logs="CRITICAL"
    )
    with address:
        options = (
            "--to",
            "jack",
            "--cluster",
            address.scheduler_address,
            "--first",
            1,
            "--no-plant",
            "--format",
            ".glb",
        )
        result = run("retarget", *files, "-o", tmp_path / "out", *options)
        assert result.exit_code in (0, 1), result.output
        entries = read_manifest(tmp_path / "out")
        assert [entries[str(file)].told["frames"] for file in files] == [5, 5]
        result = run(
            "convert", *files, "-o", tmp_path / "glb", "--format", ".glb", "--cluster", address.scheduler_address
        )
        assert result.exit_code == 0, result.output
    assert sorted(path.name for path in (tmp_path / "glb").glob("*.glb")) == ["a.glb", "b.glb"]


def test_one_file_does_what_it_did(trials: tuple[Path, list[Path]], tmp_path: Path):
    model, files = trials
    assert run("track", files[0], "-m", model, "-o", tmp_path / "a.mot").exit_code == 0
    assert not (tmp_path / "manifest.jsonl").exists()


def test_what_many_files_cannot_have_is_refused(trials: tuple[Path, list[Path]], tmp_path: Path):
    model, files = trials
    assert "-o FOLDER" in refusal("track", *files, "-m", model)
    assert "--report is for a single file" in refusal(
        "track", *files, "-m", model, "-o", tmp_path / "o", "--report", "r.html"
    )
    assert "tcp://HOST:8786" in refusal("track", *files, "-m", model, "-o", tmp_path / "o", "--cluster", "nowhere")
    assert "has its own" in refusal(
        "track", *files, "-m", model, "-o", tmp_path / "o", "--cluster", "tcp://h:1", "--workers", 2
    )
    assert "no such file" in refusal("fit", files[0], "missing.trc", "-m", model, "-o", tmp_path / "o")
    assert "FROM TO" in refusal("convert", "a", "b", "c")
    assert "for many files" in refusal("convert", "panda", "panda.urdf", "--workers", 2)
    assert "--format" in refusal("convert", files[0], "-o", tmp_path / "o")
    assert not (tmp_path / "o").exists()


def test_weights_and_subjects_of_many_trials(trials: tuple[Path, list[Path]], tmp_path: Path):
    model, files = trials
    table = tmp_path / "weights.json"
    table.write_text('{"A": 1.0}')
    result = run("track", *files[:2], "-m", model, "-o", tmp_path / "w", "--weights", table, "--workers", 1)
    assert "0 failed" in result.stdout, result.output
    result = run("fit", *files[:2], "-m", model, "-o", tmp_path / "fit", "--scales", "whole", "--workers", 1)
    assert "0 failed" in result.stdout, result.output
    assert supple.load(tmp_path / "fit" / "a.osim").size == 1
