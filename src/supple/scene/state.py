"""What a scene is at one moment: unchanging values, so that every earlier one can be kept and brought back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import instance, items, mapping, names_in
from supple.basics.values import FrozenDict, Value
from supple.errors import BadValue, find, shown
from supple.figure.figure import Figure
from supple.figure.limits import Limits
from supple.geometry.placements import Floats, frozen
from supple.problem.bars import Obstacle
from supple.problem.problem import Problem
from supple.problem.task import Clearance, Task, chain_of

LONGEST_NAME = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Setup(Value):
    """What is asked of a figure. While it stays the same object, prepared queries answer."""

    limits: Limits
    rigidity: Floats
    constraints: Mapping[str, Task] = field(default_factory=dict)
    disabled: frozenset[str] = frozenset()
    obstacles: Mapping[str, Obstacle] = field(default_factory=dict)
    clearance: Clearance = field(default_factory=Clearance)

    @cached_property
    def enabled(self) -> Mapping[str, Task]:
        """The constraints that count."""
        return FrozenDict({name: task for name, task in self.constraints.items() if name not in self.disabled})

    @cached_property
    def needed(self) -> Mapping[str, Task]:
        """The constraints that count and are no mere preferences."""
        return FrozenDict({name: task for name, task in self.enabled.items() if not task.preference})

    def problem(self, figure: Figure, tasks: Mapping[str, Task]) -> Problem:
        """The problem of some of the constraints."""
        return Problem(figure, list(tasks.values()), self.limits, self.rigidity, self.obstacles, self.clearance)


def setup_of(
    figure: Figure,
    limits: Limits | None,
    rigidity: Mapping[str, float] | ArrayLike | None,
    constraints: Iterable[Task],
    disabled: Iterable[str],
    obstacles: Mapping[str, Obstacle],
    clearance: Clearance,
) -> Setup:
    """What is asked of a figure, checked."""
    instance(figure, Figure, "what a scene is made of")
    obstacles = mapping(obstacles, "the obstacles of a scene")
    tasks = [checked(figure, task) for task in items(constraints, "the constraints of a scene", Task)]
    whole = Problem(figure, tasks, limits, rigidity, obstacles, clearance)
    assert whole.limits is not None
    named, off = {task.name: task for task in tasks}, frozenset(names_in(disabled, "the disabled constraints"))
    if len(named) < len(tasks):
        raise BadValue("two constraints of a scene have the same name")
    for name in (*named, *obstacles):
        check_line(name, "the name of a constraint or obstacle")
    for name in off:
        find(tuple(named), name, "constraint", "the scene")
    return Setup(whole.limits, frozen(np.asarray(whole.rigidity)), named, off, dict(obstacles), whole.clearance)


@dataclass(frozen=True, eq=False, repr=False)
class SceneState(Value):
    """A scene after something was done to it: its posture, what is asked, and where targets have been dragged since."""

    done: str
    q: Floats
    setup: Setup
    aims: Mapping[str, Floats] = field(default_factory=dict)  # targets of constraints, as `Problem.aimed` takes them

    @cached_property
    def constraints(self) -> Mapping[str, Task]:
        """All constraints with the targets they have now."""
        tasks = dict(self.setup.constraints)
        for name, target in self.aims.items():
            tasks[name] = replace(tasks[name], goal=tasks[name].goal.aimed(target))
        return FrozenDict(tasks)


def checked(figure: Figure, task: Task) -> Task:
    """A task that can be a constraint on a figure; unknown names and chains without joints are refused."""
    Problem(figure, [task])
    if not task.of_figure:
        chain_of(figure, task)
    return task


def legal(q: Floats, limits: Limits) -> Floats:
    """A posture as it is if it is allowed, else the nearest that is."""
    return frozen(q if limits.contains(q) else limits.project(q))


def check_line(text: Any, what: str) -> None:
    """Refuse what is not a line of text."""
    if not isinstance(text, str) or not text.strip() or not text.isprintable() or len(text) > LONGEST_NAME:
        raise BadValue(f"{what} is a line of at most {LONGEST_NAME} letters, not {shown(text)}")
