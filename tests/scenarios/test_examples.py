"""Every example runs, as a user would run it: a process of its own, in an empty folder, without a screen."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT

FOLDER = ROOT / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))


def test_there_are_examples():
    assert EXAMPLES, f"no examples in {FOLDER}"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(example: Path, tmp_path: Path):
    settings = os.environ | {"MPLBACKEND": "Agg", "PYTHONWARNINGS": "default"}
    done = subprocess.run(
        [sys.executable, str(example)],
        cwd=tmp_path,
        env=settings,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, f"{example.name} failed\n{done.stdout}\n{done.stderr}"
