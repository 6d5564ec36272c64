"""Chains reconciled as constraints come and go, without starting from scratch (Zhao & Badler 1994, section 10).

A constraint i has a chain ``C_i``, the coordinates it was given, and a reach ``R_i ⊇ C_i``, all those that move what it looks
at. A joint of one chain that moves what another constraint looks at joins that chain too, so that after the reconciliation

    chain of i  =  R_i ∩ U,    U = ∪_k C_k.

Kept are the number of chains that hold each coordinate, ``n_c = |{k : c ∈ C_k}|``, and the reconciled chains. A constraint
that comes or goes changes ``n_c`` on its own chain only; the others change where ``n_c`` leaves 0 or comes back to it.

A posture goal looks at every coordinate and has no chain of its own: ``C = ∅``, ``R`` = all. As in `Problem.free`, it may move
everything if no constraint was given a chain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from supple.figure.figure import Figure
from supple.problem.task import Task, chain_of


@dataclass(eq=False)
class _Link:
    """One constraint: the task, its chain, its reach and its chain after the reconciliation, a flag for each coordinate."""

    task: Task
    own: np.ndarray
    reach: np.ndarray
    chain: np.ndarray


class Chains:
    """The reconciled chains of a changing set of named tasks on one figure; its closed loops never go."""

    def __init__(self, figure: Figure, loops: Sequence[Task]) -> None:
        self.figure = figure
        self._links: dict[str, _Link] = {}
        self._count = np.zeros(figure.size, dtype=int)
        for task in loops:
            self._count += self._flags(chain_of(figure, task))

    def follow(self, tasks: Mapping[str, Task]) -> None:
        """Make these the tasks; those that are the same objects as before cost nothing. On an error nothing changes."""
        fresh = {name: self._link(task) for name, task in tasks.items() if not self._has(name, task)}
        for name in [name for name in self._links if name in fresh or name not in tasks]:
            self._remove(name)
        for name, link in fresh.items():
            self._add(name, link)

    def __getitem__(self, name: str) -> tuple[str, ...]:
        """The coordinates that a task may move, after the reconciliation."""
        link = self._links[name]
        everywhere = link.task.of_figure and all(other.task.chain is None for other in self._links.values())
        flags = link.reach if everywhere else link.chain
        return tuple(joint for joint, flag in zip(self.figure.coordinates, flags, strict=True) if flag)

    @property
    def moved(self) -> np.ndarray:
        """Whether each coordinate is in some chain: `Problem.moved`."""
        return self._count > 0

    def _has(self, name: str, task: Task) -> bool:
        return name in self._links and self._links[name].task is task

    def _link(self, task: Task) -> _Link:
        """A task's chain and reach; a chain without joints is refused."""
        if task.of_figure:
            own, reach = self._flags(()), self._flags(self.figure.coordinates)
        else:
            own = self._flags(chain_of(self.figure, task))
            reach = own if task.chain is None else self._flags(chain_of(self.figure, replace(task, chain=None)))
        return _Link(task, own, reach, own)

    def _flags(self, names: tuple[str, ...]) -> np.ndarray:
        wanted = set(names)
        return np.array([name in wanted for name in self.figure.coordinates], dtype=bool)

    def _add(self, name: str, link: _Link) -> None:
        gained = link.own & (self._count == 0)
        if gained.any():
            for other in self._links.values():
                other.chain = other.chain | (other.reach & gained)
        self._count += link.own
        link.chain = link.reach & (self._count > 0)
        self._links[name] = link

    def _remove(self, name: str) -> None:
        link = self._links.pop(name)
        lost = link.own & (self._count == 1)
        self._count -= link.own
        if lost.any():
            for other in self._links.values():
                other.chain = other.chain & ~lost
