"""How far a question walks through the code: no further than it has come to, so that it grows by somebody's decision alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

WALKS = Path(__file__).parents[2] / "benchmarks" / "walks.py"
# The most modules and changes of module, kernels entered as one call. Wanted are 32 and 500, 16, 40.
MOST = {
    "URDF query": (38, 480),
    "tracked frame": (18, 540),
    "supple solve scene.toml": (58, 6000),
}


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="kernels are entered as one call")
def test_walks_are_no_longer_than_they_were():
    environment = os.environ | {"SUPPLE_QUIET": "1", "SUPPLE_SHARED": ""}
    for _ in range(2):  # the first compiles what is missing
        done = subprocess.run(
            [sys.executable, str(WALKS), "--here", *MOST], capture_output=True, text=True, env=environment, check=True
        )
    found = json.loads(done.stdout)
    for walk, (modules, changes) in MOST.items():
        *_, row = found[walk].values()
        assert row["modules"] <= modules, (walk, row["names"])
        assert row["changes"] <= changes, walk
