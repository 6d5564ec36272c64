"""Every state that a scene was in. All but the newest are packed, to the last bit, so that undo needs no end.

Postures of successive states have most of their bits in common: `BLOCK` of them are kept as what changes from one to the next,
byte by byte of the same meaning side by side, and compressed. What is asked of the figure is shared by the states that ask it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, overload

import numpy as np

from supple.errors import BadValue
from supple.geometry.placements import frozen
from supple.scene.state import SceneState, Setup

BLOCK = 64  # states that are packed together; as many or more of the newest are not


class _Packed:
    """Some successive states."""

    def __init__(self, states: Sequence[SceneState]) -> None:
        Q = np.ascontiguousarray([state.q for state in states]).view(np.uint64)
        Q[1:] ^= Q[:-1].copy()
        self._size = Q.shape[1]
        self._bytes = zlib.compress(np.ascontiguousarray(Q.view(np.uint8).reshape(-1, 8).T).tobytes(), 6)
        self._setups = _shared(state.setup for state in states)
        self._dones = tuple({state.done: None for state in states})
        setups = [next(k for k, own in enumerate(self._setups) if own is state.setup) for state in states]
        self._which = bytes(setups), bytes(self._dones.index(state.done) for state in states)
        self._aims = {k: state.aims for k, state in enumerate(states) if state.aims}

    def states(self) -> list[SceneState]:
        """The states as they were."""
        rows = np.frombuffer(zlib.decompress(self._bytes), dtype=np.uint8).reshape(8, -1)
        Q = np.bitwise_xor.accumulate(
            np.ascontiguousarray(rows.T).view(np.uint64).reshape(len(self._which[0]), self._size), axis=0
        )
        told = zip(Q.view(np.float64), *self._which, strict=True)
        return [
            SceneState(self._dones[done], frozen(q), self._setups[setup], self._aims.get(k, {}))
            for k, (q, setup, done) in enumerate(told)
        ]


def _shared(setups: Iterable[Setup]) -> tuple[Setup, ...]:
    return tuple({id(setup): setup for setup in setups}.values())


class Past(Sequence[SceneState]):
    """States in order."""

    def __init__(self, packed: Iterable[_Packed] = (), newest: Iterable[SceneState] = ()) -> None:
        self._packed, self._newest = list(packed), list(newest)
        self._open: tuple[int, list[SceneState]] = (-1, [])

    def __len__(self) -> int:
        return BLOCK * len(self._packed) + len(self._newest)

    @overload
    def __getitem__(self, at: int) -> SceneState: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[SceneState, ...]: ...
    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return tuple(self[k] for k in range(*at.indices(len(self))))
        k = at + len(self) if at < 0 else at
        if not 0 <= k < len(self):
            raise IndexError(f"there are {len(self)} states, not one at {at}")
        block, row = divmod(k, BLOCK)
        if block >= len(self._packed):
            return self._newest[k - BLOCK * len(self._packed)]
        if self._open[0] != block:
            self._open = (block, self._packed[block].states())
        return self._open[1][row]

    def __iter__(self) -> Iterator[SceneState]:
        for packed in self._packed:
            yield from packed.states()
        yield from self._newest

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Past | tuple | list):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __getstate__(self) -> tuple[Any, ...]:
        return self._packed, self._newest

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.__init__(*state)

    def __repr__(self) -> str:
        return f"<{len(self)} states, {self[-1].done!r} the last>" if len(self) else "<no states>"

    def first(self, count: int) -> Past:
        """The first states."""
        blocks, rest = divmod(count, BLOCK)
        if blocks < len(self._packed):
            return Past(self._packed[:blocks], self._packed[blocks].states()[:rest])
        return Past(self._packed, islice(self._newest, count - BLOCK * len(self._packed)))

    def follow(self, count: int, state: SceneState) -> None:
        """Keep the first states and go on with another one."""
        if count < len(self):
            kept = self.first(count)
            self._packed, self._newest, self._open = kept._packed, kept._newest, (-1, [])
        self._newest.append(state)
        if len(self._newest) > 2 * BLOCK:
            self._packed.append(_Packed(self._newest[:BLOCK]))
            del self._newest[:BLOCK]


class History:
    """All states of a scene, and which of them is now."""

    def __init__(self, first: SceneState) -> None:
        self.states, self.at, self.now = Past(newest=[first]), 0, first

    def keep(self, state: SceneState, instead: bool = False) -> None:
        """Go on to a state, or put it in the place of this one; what was undone is forgotten."""
        self.at += not instead
        self.states.follow(self.at, state)
        self.now = state

    def there(self, way: int, refusal: str) -> SceneState:
        """The state before (−1) or after (1)."""
        if not 0 <= self.at + way < len(self.states):
            raise BadValue(refusal)
        return self.states[self.at + way]

    def go(self, way: int) -> None:
        """Make that one the state that is now."""
        self.now = self.states[self.at + way]
        self.at += way

    def fold(self, since: int, state: SceneState) -> None:
        """Put a state in the place of all after the first ones."""
        self.states.follow(since, state)
        self.at, self.now = since, state
