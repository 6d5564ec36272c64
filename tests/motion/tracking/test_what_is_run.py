"""What tracking runs: no kernel but its own, and none of them writes past a table of its scratch."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from supple.kernels.compiling import INTERPRETED

TRIAL = """
import json, sys
import numpy as np
import supple
from supple.motion import WholeClip

root, arm = supple.free("root", None), supple.ball("arm", "root", at=(0, 0, 0.4))
figure = supple.Figure("arm", [*root, *arm, *supple.hinge("end", "arm", (0, 1, 0), at=(0.3, 0, 0))])
at = {"root": np.eye(3), "arm": [(0.1, 0.05, 0.02), (0.2, 0, 0.03)], "end": [(0.1, 0, 0.02), (0.2, 0.03, 0)]}
places = [(segment, x) for segment, xs in at.items() for x in xs]
figure = figure.with_markers({f"m{k}": place for k, place in enumerate(places)})
q = 0.2 * np.sin(np.arange(3)[:, None] + np.arange(figure.size))
markers = supple.Markers(tuple(figure.markers), figure.marker_places(q), np.arange(3) / 100.0)
"""
ENTRIES = """
tracked = supple.track(figure, markers)
assert tracked.rms < 1e-6, tracked.rms
loaded = [module for name, module in sys.modules.items() if name.startswith("supple.")]
entries = {value for module in loaded for value in vars(module).values() if getattr(value, "overloads", None)}
print(json.dumps(sorted({entry.__name__ for entry in entries if entry.__name__.endswith("_entry")})))
"""
GUARDS = """
from supple.kernels import layouts, opening
from supple.motion.optimal_tracking import feasible_path
from supple.motion.tracking import frame_by_frame, window

handed = []
def fresh(self, I, plain=opening.Scratch.fresh):
    handed.append((self, I, plain(self, I)))
    return handed[-1][2]
opening.Scratch.fresh = fresh
weights = {"m4": float("inf")}  # a pin
for method in (None, WholeClip(), supple.OptimalTracking()):
    supple.track(figure, markers, method, weights=weights)
kinds = {scratch.kind.__name__ for scratch, _, _ in handed}
print(json.dumps([layouts.CHECKED, sorted(kinds), all(scratch.intact(I, memory) for scratch, I, memory in handed)]))
"""


def told(script: str, **settings: str) -> object:
    """What a script prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", TRIAL + script], env=os.environ | settings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_tracking_compiles_nothing_but_the_tracker() -> None:
    assert told(ENTRIES) == ["frames_entry", "report_entry", "worlds_entry"]


def test_no_kernel_writes_past_a_table_of_its_scratch() -> None:
    checked, kinds, intact = told(GUARDS, SUPPLE_CHECKED="1", NUMBA_DISABLE_JIT="1")
    assert checked
    assert {"FrameScratch", "FeasibleScratch"} <= set(kinds)
    assert intact
