"""The commands ``certify`` and ``verify``."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.test_cli import refusal, run


def test_a_pose_is_solved_or_proved_impossible(tmp_path: Path) -> None:
    reached = run("certify", "ur5", "tool0", "--at", "0.4,0.2,0.4")
    assert reached.exit_code == 0, reached.output
    assert reached.stdout.startswith("SOLVED")
    file = tmp_path / "proof.json"
    proved = run("certify", "ur5", "tool0", "--at", "1.5,0.2,0.4", "-o", file)
    assert proved.exit_code == 1, proved.output
    assert proved.stdout.startswith("IMPOSSIBLE")
    assert "out of reach whatever the limits" in proved.stdout
    assert "the proof holds" in run("verify", file).stdout
    assert "the proof holds of ur5" in run("verify", file, "--figure", "ur5").stdout
    other = run("verify", file, "--figure", "panda")
    assert other.exit_code == 1
    assert "does NOT hold of panda" in other.stdout
    point = run("certify", "ur5", "tool0", "--at", "0.2,0.9,0.9", "--point")
    assert point.exit_code == 1
    assert "wanted orientation" not in point.stdout


def test_a_certificate_that_was_bent_does_not_hold(tmp_path: Path) -> None:
    file = tmp_path / "proof.json"
    assert run("certify", "ur5", "tool0", "--at", "1.5,0.2,0.4", "-o", file).exit_code == 1
    data = json.loads(file.read_text())
    data["entries"][0]["target"][0][3] = 0.4
    file.write_text(json.dumps(data))
    result = run("verify", file)
    assert result.exit_code == 1
    assert "does NOT hold" in result.stdout


def test_what_is_no_certificate_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "proof.json"
    file.write_text("{}")
    assert "no certificate" in refusal("verify", file)
    file.write_bytes(b"\xff\xfe")
    assert "UTF-8" in refusal("verify", file)
    assert "needs 3 numbers" in refusal("certify", "ur5", "tool0", "--at", "1,2")
