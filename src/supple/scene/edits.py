"""What is done to a scene besides solving: constraints, rigidity, limits, obstacles, posture. Each edit makes a new state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import finite, instance, mapping, spread
from supple.errors import BadValue, find
from supple.figure.limits import Limits
from supple.geometry.placements import Floats, frozen
from supple.problem.bars import Obstacle
from supple.problem.goals import Near
from supple.problem.task import Clearance, Task
from supple.scene.state import SceneState, check_line, checked, legal

PARTS = tuple(field.name for field in fields(Task) if field.name != "name")
OPTIONS = tuple(name for name in PARTS if name not in ("effector", "goal"))
CLEARANCE = tuple(field.name for field in fields(Clearance))


class Edits:
    """The edits of a `Scene`, which is the only class that has them (`self` is that scene)."""

    # ── constraints ──────────────────────────────────────────────────────────────────────────────────────────────────
    def add(self: Any, name: str, effector: Any, /, goal: Any = None, **options: Any) -> None:
        """Add a constraint: an effector, a goal and the options of `Task`; or a `Task`; or a `Near`."""
        check_line(name, "a constraint's name")
        if name in self.constraints:
            raise BadValue(f"the scene has a constraint called {name!r} already: change or remove it")
        if isinstance(effector, Task | Near) and (goal is not None or options):
            raise BadValue(f"{name!r}: a {type(effector).__name__} is complete; it takes no further goal or options")
        if isinstance(effector, Task):
            task = replace(effector, name=name)
        elif isinstance(effector, Near):
            task = Task(None, effector, name=name)
        else:
            task = Task(effector, goal, name=name, **_known(options, OPTIONS, f"the constraint {name!r}"))
        self._put(f"add {name!r}", name, task)

    def change(self: Any, name: str, /, **changes: Any) -> None:
        """Change the effector, the goal or any option of a constraint."""
        self._constraint(name)
        known = _known(changes, PARTS, f"the constraint {name!r}")
        self._put(f"change {name!r}", name, replace(self._constraint(name), **known))

    def _put(self: Any, done: str, name: str, task: Task) -> None:
        self._edit(done, constraints={**self.constraints, name: checked(self._figure, task)})

    def remove(self: Any, name: str) -> None:
        """Take a constraint away."""
        self._constraint(name)
        left = {n: task for n, task in self.constraints.items() if n != name}
        self._edit(f"remove {name!r}", constraints=left, disabled=self.disabled - {name})

    def disable(self: Any, name: str) -> None:
        """Leave a constraint out until it is enabled again."""
        self._constraint(name)
        self._edit(f"disable {name!r}", disabled=self.disabled | {name})

    def enable(self: Any, name: str) -> None:
        """Let a disabled constraint count again."""
        self._constraint(name)
        self._edit(f"enable {name!r}", disabled=self.disabled - {name})

    # ── the rest of the scene ────────────────────────────────────────────────────────────────────────────────────────
    def stiffen(self: Any, rigidity: Mapping[str, float]) -> None:
        """Set rigidities from 0 (moves freely) to 1 (locked), by coordinate, joint or segment, or by a pattern of these."""
        values = np.array(self.now.setup.rigidity)
        for name, value in mapping(rigidity, "the rigidities").items():
            called = [self._figure.coordinates.index(joint) for joint in self._figure.coordinates_of(name)]
            values[called] = spread(value, (len(called),), f"the rigidity of {name!r}")
        self._edit("stiffen " + ", ".join(map(repr, rigidity)), rigidity=frozen(values))

    def limit(self: Any, limits: Limits | None) -> None:
        """Set the allowed postures, None for the figure's own; the posture is projected onto them."""
        chosen = self._figure.limits if limits is None else instance(limits, Limits, "what a scene is limited by")
        self._edit("limit", limits=chosen)

    def place(self: Any, name: str, shape: Obstacle) -> None:
        """Put an obstacle somewhere, or the one of that name somewhere else."""
        check_line(name, "an obstacle's name")
        self._edit(f"place {name!r}", obstacles={**self.obstacles, name: shape})

    def take_away(self: Any, name: str) -> None:
        """Take an obstacle away."""
        find(tuple(self.obstacles), name, "obstacle", "the scene")
        left = {n: body for n, body in self.obstacles.items() if n != name}
        pairs = [pair for pair in self.clearance.ignoring if name not in pair or name in self._figure.segments]
        self._edit(f"take away {name!r}", obstacles=left, clearance=replace(self.clearance, ignoring=pairs))

    def keep_clear(self: Any, **changes: Any) -> None:
        """Change how far bodies keep from obstacles and from each other: any of the fields of `Clearance`."""
        known = _known(changes, CLEARANCE, "a clearance")
        self._edit("keep clear", clearance=replace(self.clearance, **known))

    def pose(self: Any, q: ArrayLike | Mapping[str, float]) -> None:
        """Set the posture: all coordinates, or some by name. One outside the limits is projected onto them."""
        self._history.keep(replace(self.now, done="pose", q=self._posture(q)))

    # ── checks ───────────────────────────────────────────────────────────────────────────────────────────────────────
    def _edit(self: Any, done: str, **changes: Any) -> None:
        """Keep a state with another setup; raise before anything changes if it cannot be."""
        now = self.now
        setup = replace(now.setup, **{"constraints": now.constraints, **changes})
        problem = setup.problem(self._figure, setup.enabled)
        q = legal(now.q, setup.limits) if "limits" in changes else now.q
        self._chains.follow(setup.enabled)
        self._packed = (setup, problem)
        self._history.keep(SceneState(done, q, setup))

    def _constraint(self: Any, name: str) -> Task:
        find(tuple(self.constraints), name, "constraint", "the scene")
        return self.constraints[name]

    def _posture(self: Any, q: ArrayLike | Mapping[str, float]) -> Floats:
        """A posture by numbers or by name, inside the limits."""
        if isinstance(q, Mapping):
            values = np.array(self.q)
            for name, value in mapping(q, "the coordinates of a posture").items():
                at = find(self._figure.coordinates, name, "coordinate", f"figure {self._figure.name!r}")
                values[at] = finite(value, (), f"the coordinate {name!r}")
            q = values
        return legal(self._figure.posture(q), self.limits)


def _known(options: dict[str, Any], names: tuple[str, ...], owner: str) -> dict[str, Any]:
    for option in options:
        find(names, option, "option", owner)
    return options
