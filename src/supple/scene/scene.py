"""Scenes: a figure that keeps its posture while named constraints on it come, change and go (Zhao & Badler 1994).

Everything that is done to a scene makes a new `SceneState`, an unchanging value; the scene is the list of them and a place
in it, which is all that undo and redo move. An edit is checked before its state is kept, so a refused one changes nothing.
Solving starts at the current posture (see `settle`), and its answer stays, whatever the status: it is legal, and the nearest
for the given weights. Coordinates outside all chains stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from supple.basics.checks import positive, seeded
from supple.basics.values import FrozenDict
from supple.errors import BadValue
from supple.figure.figure import Figure
from supple.figure.limits import Limits
from supple.geometry.placements import Floats, frozen
from supple.problem.bars import Obstacle
from supple.problem.problem import Problem
from supple.problem.solution import Solution
from supple.problem.task import Clearance, Task
from supple.scene.chains import Chains
from supple.scene.dragging import Follower
from supple.scene.edits import Edits
from supple.scene.past import History
from supple.scene.settle import settled
from supple.scene.state import SceneState, Setup, legal, setup_of
from supple.scene.touches import Touch, touches_of
from supple.scene.undoing import Undoing
from supple.solvers.base import Solver
from supple.solving.solve import solve


class Scene(Edits, Undoing):
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
        self._follower: tuple[Mapping[str, Task], Solver | None, Follower] | None = None
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

    def drag(self, name: str, target: Any, stride: float | None = None, solver: Solver | None = None) -> Solution:
        """Move the target of a constraint and follow it from the current posture, in microseconds where it can be met.

        `target` is what the goal's `aimed` takes: a position for `At`, a placement for `Placed`. Preferences wait until the
        next `solve`, unless one is dragged itself. No coordinate changes by more than a `stride` [rad, m], if one is given;
        the same target again goes on. Successive drags of one constraint are one step to undo. Another `solver` follows in
        its own way, as far as some evaluations bring it, what is hard being heavy to it. See `dragging`.
        """
        now, enabled = self.now, self.now.setup.enabled
        if not isinstance(name, str) or name not in enabled:
            self._constraint(name)
            raise BadValue(f"{name!r} is disabled: enable it before you drag it")
        if target is None:
            raise BadValue(f"{name!r} is dragged to a target, not to None")
        if stride is not None:
            positive(stride, "the stride of a drag")
        tasks = enabled if enabled[name].preference else now.setup.needed
        aims = {**now.aims, name: target}
        if self._follower is None or self._follower[0] is not tasks or self._follower[1] != solver:
            self._follower = (tasks, solver, Follower(self._figure, now.setup, tasks, solver))
        solution = self._follower[2]([aims.get(other) for other in tasks], now.q, name, stride)
        aims[name] = frozen(target)
        done = f"drag {name!r}"
        self._history.keep(SceneState(done, solution.q, now.setup, aims), instead=now.done == done)
        return solution
