"""The part of a session that edits: pins, joints, postures, undo."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from supple.errors import BadValue, find
from supple.figure.figure import Figure
from supple.geometry.placements import HERE, Floats
from supple.problem.goals import Near
from supple.problem.solution import Solution
from supple.problem.task import Task
from supple.scene.scene import Scene
from supple.solvers.base import Solver
from supple.view.page.company import free_prefix, joined, opposite, swapped
from supple.view.page.exchange import exchanged, members, prefix_of, without
from supple.view.page.hand_presets import hands_meant, preset
from supple.view.page.mirror import bare, mirrored
from supple.view.page.pins import new_pair, new_pin
from supple.view.page.pulls import placed
from supple.view.page.regions import regions


class Editing:
    """What is done to a scene besides pulling; each of these is one step to undo."""

    scene: Scene
    selected: str | None
    solver: Solver | None
    _clipboard: tuple[Figure, Floats] | None
    _earlier: list[Scene]  # of other figures, before this one
    _later: list[tuple[Scene, Any]]  # those that were undone, each with the state that it followed

    @property
    def figure(self) -> Figure:
        """The figure."""
        return self.scene.figure

    @property
    def q(self) -> Floats:
        """The posture."""
        return self.scene.q

    def _quiet(self) -> None: ...
    def _say(self, solution: Solution | None, pin: str | None = None) -> None: ...
    def _settle(self, pin: str) -> None: ...
    def _free_name(self, wanted: str) -> str: ...
    def _feet_of(self, figure: Figure, q: Floats) -> list[Any]: ...

    # ── pins ─────────────────────────────────────────────────────────────────────────────────────────────────────────
    def pin(self, kind: str, segment: str, place: Any = None, **options: Any) -> str:
        """Pin a segment as it is; the name of the pin."""
        self._quiet()
        if kind == "balance" and self.figure.origin is not None and self.figure.origin.beside:
            raise BadValue(
                "with several figures in the scene the mass centre is that of all of them: balance one alone"
            )
        task = new_pin(self.figure, self.q, kind, segment, None if place is None else placed(place), **options)
        name = self._free_name("balance" if kind == "balance" else segment if kind == "point" else f"{segment} {kind}")
        self.scene.add(name, task)
        self._say(None)
        return name

    def pair(self, kind: str, segment: str, other: str, hard: bool = True) -> str:
        """Pin two segments to each other, as they are or so that they meet, or let either of them be where one is now.

        The name of the pin is returned.
        """
        self._quiet()
        since = len(self.scene.history)
        name = self._free_name(f"{bare(segment)} {'or' if kind == 'either' else '–'} {bare(other)}")
        self.scene.add(name, new_pair(self.figure, self.q, kind, segment, other, hard=hard))
        if kind == "meet":
            self._settle(name)
        self.scene.fold(since, f"pin {name!r}")
        return name

    def change(self, name: str, **changes: Any) -> None:
        """Change an option of a pin and solve."""
        self._quiet()
        since = len(self.scene.history)
        self.scene.change(name, **changes)
        self._settle(name)
        self.scene.fold(since, f"change {name!r}")

    def rename(self, name: str, to: str) -> None:
        """Call a pin something else; it keeps its place in the list."""
        self._quiet()
        if to == name:
            return
        since, tasks, off = len(self.scene.history), dict(self.scene.constraints), self.scene.disabled
        find(tuple(tasks), name, "pin", "the scene")
        if to in tasks:
            raise BadValue(f"there is a pin called {to!r} already")
        self.scene.add(to, replace(tasks[name], name=to))  # refuses names that are none
        for other in tasks:
            self.scene.remove(other)
        self.scene.remove(to)
        for other, task in tasks.items():
            new = to if other == name else other
            self.scene.add(new, replace(task, name=new))
            if other in off:
                self.scene.disable(new)
        self.scene.fold(since, f"rename {name!r}")

    def enable(self, name: str, on: bool = True) -> None:
        """Let a pin count, or not."""
        self._quiet()
        if on == (name in self.scene.disabled):
            (self.scene.enable if on else self.scene.disable)(name)
        self._say(None)

    def unpin(self, name: str) -> None:
        """Take a pin away."""
        self._quiet()
        self.scene.remove(name)
        self._say(None)

    def solve(self) -> Solution:
        """The whole search, from here."""
        self._quiet()
        solution = self.scene.solve(self.solver)
        unmet = solution.unmet
        self._say(solution, unmet[0] if unmet else None)
        return solution

    # ── joints ───────────────────────────────────────────────────────────────────────────────────────────────────────
    def lock(self, name: str, locked: bool = True) -> None:
        """Hold a coordinate, or all of a joint or segment, where it is."""
        self.stiffen(name, 1.0 if locked else 0.0)

    def stiffen(self, name: str, rigidity: float) -> None:
        """Make a coordinate, a joint or a segment less willing to move: from 0 to 1."""
        self._quiet()
        self.scene.stiffen({name: rigidity})

    def stiffen_region(self, region: str, rigidity: float) -> None:
        """Make a whole region less willing to move: root, trunk, an arm, the fingers of a hand."""
        self._quiet()
        known = regions(self.figure)
        find(tuple(known), region, "region", f"figure {self.figure.name!r}")
        self.scene.stiffen(dict.fromkeys(known[region], rigidity))

    def prefer(self, segment: str, on: bool = True, weight: float = 1.0) -> None:
        """Have a segment's own joint go back to how it bends now wherever the pins leave it free, or not any more."""
        self._quiet()
        figure, name = self.figure, f"prefer {segment}"
        own = figure.coordinates_of(segment)
        since = len(self.scene.history)
        if name in self.scene.constraints:
            self.scene.remove(name)
        if on:
            weights = np.array([weight if c in own else 0.0 for c in figure.coordinates])
            self.scene.add(name, Task(None, Near(self.q, weights), preference=True))
        if len(self.scene.history) > since:
            self.scene.fold(since, name if on else f"no longer {name}")

    # ── postures ─────────────────────────────────────────────────────────────────────────────────────────────────────
    def pose(self, q: Any, done: str) -> None:
        """Take a posture."""
        self._quiet()
        since = len(self.scene.history)
        self.scene.pose(q)
        self.scene.fold(since, done)
        self._say(None)

    def hand(self, name: str) -> None:
        """Close the selected hand, or both, as a preset says."""
        values: dict[str, float] = {}
        for hand in hands_meant(self.figure, self.selected):
            values |= preset(self.figure, self.q, hand, name)
        self.pose(values, f"hand: {name}")

    def reset(self) -> None:
        """Back to rest, and pins where the figure is then stay as they are."""
        self.pose(self.figure.rest, "reset")

    def copy(self) -> None:
        """Keep the posture for `paste`."""
        self._clipboard = (self.figure, self.q)

    def paste(self) -> None:
        """Take the posture that was copied."""
        if self._clipboard is None:
            raise BadValue("nothing was copied")
        figure, q = self._clipboard
        known = {name: x for name, x in figure.named(q).items() if name in self.figure.coordinates}
        if not known:
            raise BadValue("what was copied has no coordinate of this figure")
        self.pose(known, "paste")

    def mirror(self) -> None:
        """Left becomes right; of several figures that of the selected segment, or all of them."""
        values = self.figure.named(mirrored(self.figure, self.q))
        if self.selected is not None:
            prefix = self.selected.rpartition("/")[0]
            values = {c: x for c, x in values.items() if c.rpartition("/")[0] == prefix}
        self.pose(values, "mirror")

    def undo(self) -> None:
        """Back by one step; before the first one of a figure, to the figure before it."""
        self._quiet()
        if len(self.scene.history) == 1 and self._earlier:
            here, self.scene = self.scene, self._earlier.pop()
            self._later.append((here, self.scene.now))
            self.selected = None
        else:
            self.scene.undo()
        self._say(None)

    def redo(self) -> None:
        """Forth by one step."""
        self._quiet()
        if not self.scene.undone and self._later and self._later[-1][1] == self.scene.now:
            self._earlier.append(self.scene)
            self.scene, self.selected = self._later.pop()[0], None
        else:
            self.scene.redo()
        self._say(None)

    # ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────
    def become(self, scene: Scene) -> None:
        """Go on with another scene; `undo` comes back to this one."""
        self._quiet()
        self._earlier.append(self.scene)
        self._later.clear()
        self.scene, self.selected = scene, None
        self._say(None)

    def swap(self, to: Figure) -> None:
        """Another figure in the place of this one, of several that of the selected segment.

        It keeps the posture, and the pins that it has segments for.
        """
        self._quiet()
        if len(members(self.figure)) > 1:
            self.become(exchanged(self.scene, prefix_of(self.figure, self.selected), to))
        else:
            self.become(swapped(self.scene, to)[0])

    def dismiss(self) -> None:
        """Take the figure of the selected segment out of the company, and the pins that speak of it."""
        self._quiet()
        if self.selected is None:
            raise BadValue("click on the figure that is to go")
        self.become(without(self.scene, prefix_of(self.figure, self.selected)))

    def invite(self, other: Figure, at: Any = None) -> str:
        """Another figure into the same world, in front of the first unless told where; the prefix of its names."""
        self._quiet()
        prefix = free_prefix(self.figure, other.name)
        place = opposite(self.scene, other) if at is None else at
        there = other.based_at(place)
        pins = [
            replace(pin, name=prefix + pin.name, effector=replace(pin.effector, segment=prefix + pin.effector.segment))
            for pin in self._feet_of(there, there.rest)
        ]
        self.become(joined(self.scene, there, prefix, HERE, tuple(pins)))
        return prefix
