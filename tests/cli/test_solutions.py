"""The command ``solutions``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_cli import refusal, run

POSE = ("solutions", "ur5", "tool0", "--at", "0.4,0.2,0.4", "--quat-wxyz", "0.5,0.5,0.5,0.5")


def test_all_postures_are_listed_drawn_and_proved(tmp_path: Path) -> None:
    pytest.importorskip("flint")
    pytest.importorskip("matplotlib")
    picture, proof = tmp_path / "all.png", tmp_path / "all.json"
    result = run(*POSE, "-o", picture, "--certificate", proof)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("8 postures, all that there are.")
    assert result.stdout.count("elbow_joint=") == 8
    assert picture.stat().st_size > 10_000
    checked = run("verify", proof, "--figure", "ur5")
    assert checked.exit_code == 0, checked.output
    assert "There are no others" in checked.stdout
    assert run("verify", proof, "--figure", "panda").exit_code == 1


def test_curves_are_listed() -> None:
    """An arm of seven hinges moves while its hand stays."""
    result = run("solutions", "panda", "panda_hand", "--at", "0.4,0.2,0.4", "--quat-wxyz", "0,1,0,0")
    assert result.exit_code == 0, result.output
    first, *lines = result.stdout.splitlines()
    assert "family" in first
    assert "is not proved" in first
    curves = [line for line in lines if line.startswith("curve ")]
    assert int(first.split()[0]) == len(curves) > 0
    assert curves[0].endswith(("closed", "cut"))


def test_none_and_what_is_refused() -> None:
    none = run("solutions", "ur5", "tool0", "--at", "1.5,0.2,0.4")
    assert none.exit_code == 1
    assert none.stdout.startswith("0 postures")
    assert "six or seven hinges" in refusal("solutions", "panda", "panda_link4", "--at", "0.4,0.2,0.4")
    assert "needs 3 numbers" in refusal("solutions", "ur5", "tool0", "--at", "1,2")
