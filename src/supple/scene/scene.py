"""Scenes: a figure that keeps its posture while named constraints on it come, change and go (Zhao & Badler 1994).

Everything that is done to a scene makes a new `SceneState`, an unchanging value; the scene is the list of them and a place
in it, which is all that undo and redo move. An edit is checked before its state is kept, so a refused one changes nothing.
Solving starts at the current posture (see `settle`), and its answer stays, whatever the status: it is legal, and the nearest
for the given weights. Coordinates outside all chains stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import finite, instance, mapping, positive, seeded, spread
from supple.basics.values import FrozenDict
from supple.errors import BadValue, find
from supple.figure.figure import Figure
from supple.figure.limits import Limits
from supple.geometry.placements import Floats, frozen
from supple.problem.goals import Near
from supple.problem.obstacles import Clearance, Obstacle
from supple.problem.problem import Problem, Task
from supple.problem.solution import Solution
from supple.scene.chains import Chains
from supple.scene.dragging import Follower
from supple.scene.settle import settled
from supple.scene.state import History, SceneState, Setup, check_line, checked, legal, setup_of
from supple.scene.touches import Touch, touches_of
from supple.scene.undoing import Undoing
from supple.solvers.base import Solver
from supple.solving.solve import solve

PARTS = tuple(field.name for field in fields(Task) if field.name != "name")
OPTIONS = tuple(name for name in PARTS if name not in ("effector", "goal"))
CLEARANCE = tuple(field.name for field in fields(Clearance))


class Scene(Undoing):
    """A figure, its posture, and named constraints, obstacles and rigidities that may change; all of it can be undone.

    The posture `q` is the figure's rest unless given; one outside the limits is projected onto them. A scene changes, so it
    equals only itself; what it is at a moment, `now`, is a value. It can be copied and pickled, with all of its history.
    """

    def __init__(
        self,
        figure: Figure,
        q: ArrayLike | Mapping[str, float] | None = None,
        *,
        limits: Limits | None = None,
        rigidity: Mapping[str, float] | ArrayLike | None = None,
        constraints: Iterable[Task] = (),
        disabled: Iterable[str] = (),
        obstacles: Mapping[str, Obstacle] | None = None,
        clearance: Clearance | None = None,
    ) -> None:
        things = {} if obstacles is None else obstacles
        room = Clearance() if clearance is None else clearance
        setup = setup_of(figure, limits, rigidity, constraints, disabled, things, room)
        self._begin(figure, History(SceneState("begin", legal(figure.rest, setup.limits), setup)))
        if q is not None:
            self._history.keep(replace(self.now, q=self._posture(q)), instead=True)

    def _begin(self, figure: Figure, history: History) -> None:
        """Work out what is kept besides the figure and its history."""
        setup = history.now.setup
        problem = setup.problem(figure, setup.enabled)
        self._figure, self._history = figure, history
        self._packed: tuple[Setup, Problem] = (setup, problem)
        self._follower: tuple[Mapping[str, Task], Follower] | None = None
        self._chains = Chains(figure, problem.loops)
        self._chains.follow(setup.enabled)

    def __getstate__(self) -> tuple[Figure, History]:
        return self._figure, self._history

    def __setstate__(self, state: tuple[Figure, History]) -> None:
        self._begin(*state)

    def __copy__(self) -> Scene:
        return deepcopy(self)  # two scenes with one history would undo each other's edits

    def __repr__(self) -> str:
        count = len(self.now.setup.constraints)
        return f"Scene({self._figure.name!r}, {count} constraint{'' if count == 1 else 's'})"

    # ── what there is ────────────────────────────────────────────────────────────────────────────────────────────────
    @property
    def figure(self) -> Figure:
        """The figure, which never changes."""
        return self._figure

    @property
    def now(self) -> SceneState:
        """The scene as it is."""
        return self._history.now

    @property
    def q(self) -> Floats:
        """The current posture, always inside the limits."""
        return self.now.q

    @property
    def constraints(self) -> Mapping[str, Task]:
        """All constraints by name, in the order in which they were added."""
        return self.now.constraints

    @property
    def disabled(self) -> frozenset[str]:
        """The names of the constraints that do not count for the time being."""
        return self.now.setup.disabled

    @property
    def limits(self) -> Limits:
        """The allowed postures."""
        return self.now.setup.limits

    @property
    def rigidity(self) -> Mapping[str, float]:
        """The coordinates that do not move freely, each with its rigidity."""
        pairs = zip(self._figure.coordinates, self.now.setup.rigidity.tolist(), strict=True)
        return FrozenDict({name: value for name, value in pairs if value > 0.0})

    @property
    def obstacles(self) -> Mapping[str, Obstacle]:
        """What stands in the way, by name."""
        return FrozenDict(self.now.setup.obstacles)

    @property
    def clearance(self) -> Clearance:
        """How far bodies keep from obstacles and from each other."""
        return self.now.setup.clearance

    @property
    def chains(self) -> dict[str, tuple[str, ...]]:
        """The coordinates that each enabled constraint may move, after the reconciliation of all chains."""
        return {name: self._chains[name] for name in self.now.setup.enabled}

    @property
    def problem(self) -> Problem:
        """The problem of the enabled constraints, as they are now."""
        setup, problem = self._packed
        now = self.now
        if setup is not now.setup:
            problem = now.setup.problem(self._figure, now.setup.enabled)
            self._packed = (now.setup, problem)
        return problem.aimed(*map(now.aims.get, now.setup.enabled)) if now.aims else problem

    @property
    def touching(self) -> tuple[Touch, ...]:
        """The pairs that are nearer in this posture than the clearance allows, those that overlap most first."""
        return touches_of(self._figure, self.now)

    # ── constraints ──────────────────────────────────────────────────────────────────────────────────────────────────
    def add(self, name: str, effector: Any, /, goal: Any = None, **options: Any) -> None:
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

    def change(self, name: str, /, **changes: Any) -> None:
        """Change the effector, the goal or any option of a constraint."""
        self._constraint(name)
        known = _known(changes, PARTS, f"the constraint {name!r}")
        self._put(f"change {name!r}", name, replace(self._constraint(name), **known))

    def _put(self, done: str, name: str, task: Task) -> None:
        self._edit(done, constraints={**self.constraints, name: checked(self._figure, task)})

    def remove(self, name: str) -> None:
        """Take a constraint away."""
        self._constraint(name)
        left = {n: task for n, task in self.constraints.items() if n != name}
        self._edit(f"remove {name!r}", constraints=left, disabled=self.disabled - {name})

    def disable(self, name: str) -> None:
        """Leave a constraint out until it is enabled again."""
        self._constraint(name)
        self._edit(f"disable {name!r}", disabled=self.disabled | {name})

    def enable(self, name: str) -> None:
        """Let a disabled constraint count again."""
        self._constraint(name)
        self._edit(f"enable {name!r}", disabled=self.disabled - {name})

    # ── the rest of the scene ────────────────────────────────────────────────────────────────────────────────────────
    def stiffen(self, rigidity: Mapping[str, float]) -> None:
        """Set rigidities from 0 (moves freely) to 1 (locked), by coordinate, joint or segment, or by a pattern of these."""
        values = np.array(self.now.setup.rigidity)
        for name, value in mapping(rigidity, "the rigidities").items():
            called = [self._figure.coordinates.index(joint) for joint in self._figure.coordinates_of(name)]
            values[called] = spread(value, (len(called),), f"the rigidity of {name!r}")
        self._edit("stiffen " + ", ".join(map(repr, rigidity)), rigidity=frozen(values))

    def limit(self, limits: Limits | None) -> None:
        """Set the allowed postures, None for the figure's own; the posture is projected onto them."""
        chosen = self._figure.limits if limits is None else instance(limits, Limits, "what a scene is limited by")
        self._edit("limit", limits=chosen)

    def place(self, name: str, shape: Obstacle) -> None:
        """Put an obstacle somewhere, or the one of that name somewhere else."""
        check_line(name, "an obstacle's name")
        self._edit(f"place {name!r}", obstacles={**self.obstacles, name: shape})

    def take_away(self, name: str) -> None:
        """Take an obstacle away."""
        find(tuple(self.obstacles), name, "obstacle", "the scene")
        left = {n: body for n, body in self.obstacles.items() if n != name}
        pairs = [pair for pair in self.clearance.ignoring if name not in pair or name in self._figure.segments]
        self._edit(f"take away {name!r}", obstacles=left, clearance=replace(self.clearance, ignoring=pairs))

    def keep_clear(self, **changes: Any) -> None:
        """Change how far bodies keep from obstacles and from each other: any of the fields of `Clearance`."""
        known = _known(changes, CLEARANCE, "a clearance")
        self._edit("keep clear", clearance=replace(self.clearance, **known))

    def pose(self, q: ArrayLike | Mapping[str, float]) -> None:
        """Set the posture: all coordinates, or some by name. One outside the limits is projected onto them."""
        self._history.keep(replace(self.now, done="pose", q=self._posture(q)))

    # ── solving ──────────────────────────────────────────────────────────────────────────────────────────────────────
    def solve(self, solver: Solver | None = None, seed: int = 0) -> Solution:
        """Solve for the enabled constraints from the current posture. The answer becomes the posture, whatever its status."""
        problem, seed = self.problem, seeded(seed)
        if solver is None:
            solution = settled(problem, self.q, seed)
        else:
            solution = solve(problem, start=self.q, solver=solver, seed=seed)
        self._history.keep(replace(self.now, done="solve", q=solution.q))
        return solution

    def drag(self, name: str, target: Any, stride: float | None = None) -> Solution:
        """Move the target of a constraint and follow it from the current posture, in microseconds where it can be met.

        `target` is what the goal's `aimed` takes: a position for `At`, a placement for `Placed`. Preferences wait until the
        next `solve`, unless one is dragged itself. No coordinate changes by more than a `stride` [rad, m], if one is given;
        the same target again goes on. Successive drags of one constraint are one step to undo. See `dragging`.
        """
        now, enabled = self.now, self.now.setup.enabled
        if name not in enabled:
            self._constraint(name)
            raise BadValue(f"{name!r} is disabled: enable it before you drag it")
        if target is None:
            raise BadValue(f"{name!r} is dragged to a target, not to None")
        if stride is not None:
            positive(stride, "the stride of a drag")
        tasks = enabled if enabled[name].preference else now.setup.needed
        aims = {**now.aims, name: target}
        if self._follower is None or self._follower[0] is not tasks:
            self._follower = (tasks, Follower(self._figure, now.setup, tasks))
        solution = self._follower[1]([aims.get(other) for other in tasks], now.q, name, stride)
        aims[name] = frozen(target)
        done = f"drag {name!r}"
        self._history.keep(SceneState(done, solution.q, now.setup, aims), instead=now.done == done)
        return solution

    # ── checks ───────────────────────────────────────────────────────────────────────────────────────────────────────
    def _edit(self, done: str, **changes: Any) -> None:
        """Keep a state with another setup; raise before anything changes if it cannot be."""
        now = self.now
        setup = replace(now.setup, **{"constraints": now.constraints, **changes})
        problem = setup.problem(self._figure, setup.enabled)
        q = legal(now.q, setup.limits) if "limits" in changes else now.q
        self._chains.follow(setup.enabled)
        self._packed = (setup, problem)
        self._history.keep(SceneState(done, q, setup))

    def _constraint(self, name: str) -> Task:
        find(tuple(self.constraints), name, "constraint", "the scene")
        return self.constraints[name]

    def _posture(self, q: ArrayLike | Mapping[str, float]) -> Floats:
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
