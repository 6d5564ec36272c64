"""Collections are seldom while kernels are compiled, and as they were before when that is done, or has failed."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from numba.core import event, types

from supple.kernels.compiling import INTERPRETED, collecting, decorators, entry

pytestmark = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")


class Watching(event.Listener):
    """Notes the thresholds while functions are compiled."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def on_start(self, event: Any) -> None:
        """Note them."""
        self.seen.append(gc.get_threshold())

    def on_end(self, event: Any) -> None:
        """Nothing."""


@pytest.mark.parametrize("fails", [False, True])
def test_thresholds_come_back(fails: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decorators, "UNKEPT", "a test keeps nothing")
    watching, before = Watching(), gc.get_threshold()

    def add(x: float) -> Any:
        return x + ("one" if fails else 1.0)

    with event.install_listener("numba:compile", watching):
        if fails:
            with pytest.raises(Exception, match=r"\w"):
                entry(add).compile((types.unicode_type,) * 2)
        else:
            assert entry(add)(1.0) == 2.0
    assert gc.get_threshold() == before
    if not fails:
        assert watching.seen[0] == collecting.SELDOM
