"""Going back and forth in what was done to a scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from supple.basics.checks import whole
from supple.errors import BadValue
from supple.scene.chains import Chains
from supple.scene.past import History
from supple.scene.state import SceneState, check_line


class Undoing:
    """The part of a scene that keeps every state it was in."""

    _history: History
    _chains: Chains

    @property
    def history(self) -> Sequence[SceneState]:
        """Every state up to now, each with what was done, the posture and all else."""
        return self._history.states.first(self._history.at + 1)

    @property
    def undone(self) -> tuple[SceneState, ...]:
        """The states that `redo` brings back, the next one first."""
        return self._history.states[self._history.at + 1 :]

    def undo(self) -> None:
        """Make the scene what it was before the last thing that was done: constraints, posture and all."""
        self._go(-1, "undo: the scene is as it began")

    def redo(self) -> None:
        """Do again what was undone last."""
        self._go(1, "redo: nothing of the scene was undone")

    def _go(self, way: int, refusal: str) -> None:
        self._chains.follow(self._history.there(way, refusal).setup.enabled)
        self._history.go(way)

    def fold(self, since: int, done: str) -> None:
        """Make all that was done after the first `since` states of the history one step to undo, called `done`."""
        states, at = self._history.states, self._history.at
        since = whole(since, "since, how many states of the history stay as they are,", 1)
        check_line(done, "what was done")
        if since > at + 1:
            raise BadValue(f"fold: the scene has been through {at + 1} states, so there is nothing after {since}")
        if since <= at:
            last, before = states[at], states[since - 1]
            setup = before.setup if last.setup == before.setup else last.setup  # the same again is kept once
            self._history.fold(since, replace(last, done=done, setup=setup))
