"""A short soak: dragging goes on and on, and nothing grows but the history."""

from __future__ import annotations

import gc
import tracemalloc

from dragging import CASES, soak


def test_dragging_leaves_only_its_history_behind():
    session, segment = CASES["human"]()
    soak(session, segment, lambda drags: drags < 4)
    steps = len(session.scene.history)
    gc.collect()
    tracemalloc.start()
    begun, _ = tracemalloc.get_traced_memory()
    drags, lost = soak(session, segment, lambda drags: drags < 12)
    gc.collect()
    ended, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert lost == 0
    assert len(session.scene.history) == steps + drags
    assert not session.pulls
    assert (ended - begun) / drags < 60_000  # bytes that a step to undo may keep
