"""A short soak: dragging goes on and on, nothing grows but the history, and what is hard holds after every event."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np

from dragging import CASES, soak
from supple.view.page.session import STRIDE


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


def test_among_obstacles_no_event_touches_one_or_moves_a_foot():
    session, segment = CASES["table"]()
    rng, home = np.random.default_rng(3), session.figure.placement(session.q, segment)[:3, 3]
    stopped = 0
    for ease in (1.0, 0.5) * 5:
        begin = session.figure.placement(session.q, segment)[:3, 3]
        session.press(0, segment, begin)
        target = home + rng.standard_normal(3) * [0.3, 0.4, 0.5]
        for share in np.minimum(1.0, np.arange(1, 16) / 10):
            before = session.q
            session.pull(0, begin + share * (target - begin))
            session.tick(ease)
            assert session.scene.touching == ()
            assert all(ok for name, (_, ok) in session.misses().items() if name.startswith("foot"))
            assert session.scene.limits.contains(session.q)
            assert np.abs(session.q - before).max() <= STRIDE * (1.0 + 1e-9)
            stopped += not session.said.ok
        session.release(0)
        assert session.scene.touching == ()
    assert 10 < stopped < 140  # some targets are behind the table, some are not
