"""The part of a session that edits: pins, joints, postures, undo."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from supple.errors import BadValue, find
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.problem.solution import Solution
from supple.scene.scene import Scene
from supple.solvers.base import Solver
from supple.view.page.mirror import mirrored
from supple.view.page.pins import new_pin
from supple.view.page.pulls import placed


class Editing:
    """What is done to a scene besides pulling; each of these is one step to undo."""

    scene: Scene
    solver: Solver | None
    _clipboard: Floats | None

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

    # ── pins ─────────────────────────────────────────────────────────────────────────────────────────────────────────
    def pin(self, kind: str, segment: str, place: Any = None, **options: Any) -> str:
        """Pin a segment as it is; the name of the pin."""
        self._quiet()
        task = new_pin(self.figure, self.q, kind, segment, None if place is None else placed(place), **options)
        name = self._free_name("balance" if kind == "balance" else segment if kind == "point" else f"{segment} {kind}")
        self.scene.add(name, task)
        self._say(None)
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

    # ── postures ─────────────────────────────────────────────────────────────────────────────────────────────────────
    def pose(self, q: Any, done: str) -> None:
        """Take a posture."""
        self._quiet()
        since = len(self.scene.history)
        self.scene.pose(q)
        self.scene.fold(since, done)
        self._say(None)

    def reset(self) -> None:
        """Back to rest, and pins where the figure is then stay as they are."""
        self.pose(self.figure.rest, "reset")

    def copy(self) -> None:
        """Keep the posture for `paste`."""
        self._clipboard = self.q

    def paste(self) -> None:
        """Take the posture that was copied."""
        if self._clipboard is None:
            raise BadValue("nothing was copied")
        self.pose(self._clipboard, "paste")

    def mirror(self) -> None:
        """Left becomes right."""
        self.pose(mirrored(self.figure, self.q), "mirror")

    def undo(self) -> None:
        """Back by one step."""
        self._quiet()
        self.scene.undo()
        self._say(None)

    def redo(self) -> None:
        """Forth by one step."""
        self._quiet()
        self.scene.redo()
        self._say(None)
