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


def test_none_and_what_is_refused() -> None:
    none = run("solutions", "ur5", "tool0", "--at", "1.5,0.2,0.4")
    assert none.exit_code == 1
    assert none.stdout.startswith("0 postures")
    assert "lock one" in refusal("solutions", "panda", "panda_hand", "--at", "0.4,0.2,0.4")
    assert "needs 3 numbers" in refusal("solutions", "ur5", "tool0", "--at", "1,2")
