"""What the posing page knows: a scene, what is selected, who pulls at what. No browser: events in, state out.

Everything is called from one thread. A pull is a constraint that lasts from press to release; meanwhile `tick` follows the
newest targets, each call in bounded time and by at most `STRIDE`; `release` solves as far as a moment allows, and what was done
since the press is one step to undo. Pulling at a segment that is pinned by a point or a frame moves that pin.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from supple.errors import BadValue, Error, find
from supple.figure.effectors import Point
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.problem.goals import At, Miss
from supple.problem.solution import Solution
from supple.problem.task import Task, met, miss_of
from supple.scene.scene import Scene
from supple.scene.settle import nearby
from supple.scene.state import SceneState
from supple.solvers.base import Solver
from supple.solving.solve import solve
from supple.view.page.editing import Editing
from supple.view.page.mirror import bare
from supple.view.page.pins import handle_of, kind_of, new_pin, segment_of, target_of
from supple.view.page.pulls import Pull, Said, placed, towards, trunk_rigidity
from supple.view.page.why import why

STRIDE = 0.3  # rad or m that a coordinate may change in one tick: 18 a second at 60 ticks
EASE = 0.5  # part of the way to the newest target that a tick goes: events come 20 times a second, pictures 60 times
MOMENT = 0.3  # s that the solve at a release may take
LAST_TICKS = 12  # at a release, before it
FEET = re.compile(r"^(foot_[lr]|(left|right)_?foot|(left|right)_ankle_roll_link|[lr]_?foot)$", re.IGNORECASE)


class Session(Editing):
    """A figure that is posed by hand."""

    def __init__(self, scene: Scene, stand: bool = True) -> None:
        self.scene = scene
        self.selected: str | None = None
        self.pulls: dict[Any, Pull] = {}
        self.solver: Solver | None = None  # that somebody chose; None: the usual one
        self.said = Said()
        self.revision = 0  # counts what is done, so that an answer from beside knows whether it is late
        self._since = 0
        self._clipboard: tuple[Figure, Floats] | None = None
        self._earlier: list[Scene] = []
        self._later: list[tuple[Scene, Any]] = []
        self._known: tuple[SceneState, dict[str, tuple[Miss, bool]]] | None = None  # the misses of a state
        self.other: str | None = None  # what was selected before, for pins between two
        if stand and not scene.constraints:
            self._stand()

    def open(self, scene: Scene, stand: bool = True) -> None:
        """Go on with another scene, its feet pinned if it stands free and nothing is pinned; `undo` comes back."""
        self.become(scene)
        if stand and not scene.constraints:
            self._stand()

    # ── what there is ────────────────────────────────────────────────────────────────────────────────────────────────
    def misses(self) -> dict[str, tuple[Miss, bool]]:
        """By how much each enabled constraint is missed, and whether that is within its tolerances."""
        now = self.scene.now
        if self._known is None or self._known[0] is not now:
            counted = [now.constraints[name] for name in now.setup.enabled]
            self._known = (now, {task.name: self._missed(task) for task in counted})
        return self._known[1]

    def _missed(self, task: Task) -> tuple[Miss, bool]:
        miss = miss_of(self.figure, task, self.q)
        return miss, met(task, miss)

    def _stand(self) -> None:
        """Pin the feet of a figure that stands free."""
        figure, pins = self.figure, self._feet_of(self.figure, self.q)
        if pins:
            old = self.scene.now.setup
            self.scene = Scene(
                figure, self.q, limits=old.limits, rigidity=np.maximum(old.rigidity, trunk_rigidity(figure)), constraints=pins,
                obstacles=old.obstacles,
                clearance=old.clearance,
            )  # fmt: skip

    def _feet_of(self, figure: Figure, q: Floats) -> list[Any]:
        """Pins that hold the feet, or else the root, of a figure that stands free; what is a single body needs none."""
        feet = [s for s in figure.segments if FEET.match(bare(s))]
        root = figure.segments[0]
        free = len(figure.chain(None, root)) == 6 and len(figure.segments) > 1
        held = (feet or [root]) if free else []
        return [new_pin(figure, q, "frame", s, None, hard=bool(feet), name=s) for s in held]

    # ── selecting, turning ───────────────────────────────────────────────────────────────────────────────────────────
    def select(self, segment: str | None) -> None:
        """Choose a segment, or none."""
        if segment is not None:
            find(self.figure.segments, segment, "segment", f"figure {self.figure.name!r}")
        if self.selected is not None and segment != self.selected:
            self.other = self.selected
        self.selected = segment

    def turn(self, values: Mapping[str, float], done: bool = True) -> None:
        """Set coordinates (forward kinematics); successive ones of the same names are one step to undo until `done`."""
        self._quiet()
        called = "turn " + ", ".join(sorted(values))
        since = len(self.scene.history) - (self.scene.now.done == called)
        self.scene.pose(values)
        self.scene.fold(since, called + (" " if done else ""))
        self._say(None)

    # ── pulling ──────────────────────────────────────────────────────────────────────────────────────────────────────
    def press(self, who: Any, segment: str, place: Any) -> None:
        """Take hold of a segment at a place in the world."""
        find(self.figure.segments, segment, "segment", f"figure {self.figure.name!r}")
        place = placed(place)
        if who in self.pulls:
            self.release(who)
        held = {pull.pin for pull in self.pulls.values()}
        for name, task in self.scene.constraints.items():
            enabled = name not in self.scene.disabled and name not in held
            if enabled and kind_of(task) in ("point", "frame") and segment_of(task) == segment:
                self._hold(who, name, segment, place, passing=False)
                return
        if not self.figure.chain(None, segment):
            self.select(segment)  # fixed in the world: nothing to pull
            return
        T = self.figure.placement(self.q, segment)
        offset = tuple((T[:3, :3].T @ (place - T[:3, 3])).tolist())
        name = self._free_name(f"pull {segment}")
        since = len(self.scene.history)
        self.scene.add(name, Point(segment, offset), At(place))
        self._hold(who, name, segment, place, passing=True, since=since)

    def take(self, who: Any, pin: str) -> None:
        """Take hold of a pin's gizmo."""
        task = dict(self.scene.constraints).get(pin)
        if task is None or pin in self.scene.disabled:
            raise BadValue(f"there is no pin called {pin!r} that could be moved")
        self._hold(who, pin, segment_of(task) or "", np.zeros(3), passing=False)

    def _hold(self, who: Any, name: str, segment: str, place: Floats, passing: bool, since: int | None = None) -> None:
        if not self.pulls:
            self._since = len(self.scene.history) if since is None else since
        handle = handle_of(self.figure, self.q, self.scene.constraints[name])
        assert handle is not None
        self.pulls[who] = Pull(name, segment, place, handle, handle, handle, passing)
        self.revision += 1

    def pull(self, who: Any, place: Any) -> None:
        """Say where the pressed point should be; `tick` goes there. Who holds nothing pulls at nothing."""
        if who in self.pulls:
            held = self.pulls[who]
            wanted = np.array(held.begin)
            wanted[:3, 3] += placed(place) - held.press
            self.pulls[who] = replace(held, wanted=wanted)

    def carry(self, who: Any, handle: Floats) -> None:
        """Say where the gizmo that was taken is now."""
        if who in self.pulls:
            handle = np.array(handle, dtype=float)
            if handle.shape != (4, 4) or not np.isfinite(handle).all():
                raise BadValue("a gizmo is at a placement (4, 4) of finite numbers")
            self.pulls[who] = replace(self.pulls[who], wanted=handle)

    def tick(self, ease: float = EASE) -> bool:
        """Follow the newest targets by one stride; whether anything moved."""
        before = self.q
        for who, held in list(self.pulls.items()):
            if held.pin not in self.scene.constraints or held.pin in self.scene.disabled:
                del self.pulls[who]  # somebody else removed it
                continue
            at = towards(held.at, held.wanted, ease)
            task = self.scene.constraints[held.pin]
            self._follow(held.pin, target_of(task, at))
            self.pulls[who] = replace(held, at=at)
        return bool(np.abs(self.q - before).max(initial=0.0) > 1e-9)

    def _follow(self, pin: str, target: Any) -> None:
        """Follow by the chosen solver; by the usual one, saying why, if it cannot take these pins."""
        try:
            self._say(self.scene.drag(pin, target, STRIDE, self.solver), pin)
        except Error as refused:
            if self.solver is None:
                raise
            self._say(self.scene.drag(pin, target, STRIDE), pin)
            self.said = replace(self.said, text=f"{self.said.text} {refused}".strip())

    def release(self, who: Any) -> None:
        """Let go: follow to the end, solve for a moment, forget a passing pull, and make it all one step to undo."""
        held = self.pulls.get(who)
        if held is None:
            return
        for _ in range(LAST_TICKS):
            if not self.tick(1.0):
                break
        self.pulls.pop(who, None)
        if held.pin in self.scene.constraints:
            self._settle(held.pin)
            if held.passing:
                self.scene.remove(held.pin)
        if not self.pulls:
            what = held.segment if held.passing else held.pin
            self.scene.fold(self._since, f"pull {what!r}")

    def _settle(self, pin: str) -> None:
        """Go on from here for a moment; what ends farther from the goals is not taken."""
        problem = self.scene.problem
        solver = nearby(problem) if self.solver is None else self.solver
        try:
            found = solve(problem, start=self.q, solver=solver, deadline=MOMENT, prove=False)
        except Error:  # a solver that cannot take this problem
            return
        if found.ok or problem.value(found.q) < problem.value(self.q):
            self.scene.pose(found.q)
            self._say(found, pin)

    # ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────
    def _say(self, solution: Solution | None, pin: str | None = None) -> None:
        """Note what an answer has to say."""
        self.revision += 1
        if solution is None:
            self.said = Said()
        elif self._met(solution, pin):
            self.said = Said(True, "", solution.iterations)
        else:
            named = pin is not None and pin in self.scene.now.setup.enabled
            reason = why(self.scene, pin) if named and pin is not None else solution.reason
            self.said = Said(False, reason, solution.iterations)

    def _met(self, solution: Solution, pin: str | None) -> bool:
        """Whether all pins are met. While somebody pulls among obstacles nobody waits for the check of every distance."""
        if pin is not None and pin in self.scene.now.setup.enabled:
            if not self._missed(self.scene.constraints[pin])[1]:
                return False
            setup = self.scene.now.setup
            if self.pulls and (setup.obstacles or setup.clearance.itself):
                return all(ok for _, ok in self.misses().values())
        return solution.ok

    def _quiet(self) -> None:
        """Before anything else is done, pulls end: nobody's hold survives an edit, nothing of it is left behind."""
        for who in list(self.pulls):
            self.release(who)

    def _free_name(self, wanted: str) -> str:
        names, k, name = self.scene.constraints, 1, wanted
        while name in names:
            k += 1
            name = f"{wanted} {k}"
        return name
