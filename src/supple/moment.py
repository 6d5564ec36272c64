"""What a scene is at one moment: unchanging values, so that every earlier one can be kept and brought back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

from supple.apart import Clearance, Obstacle
from supple.figure import Figure
from supple.limits import Limits
from supple.problem import Problem, Task
from supple.space import Floats


@dataclass(frozen=True, eq=False)
class Setup:
    """What is asked of a figure. While it stays the same object, a prepared query answers."""

    limits: Limits
    rigidity: Floats
    constraints: Mapping[str, Task] = field(default_factory=dict)
    disabled: frozenset[str] = frozenset()
    obstacles: Mapping[str, Obstacle] = field(default_factory=dict)
    clearance: Clearance = field(default_factory=Clearance)

    @cached_property
    def enabled(self) -> dict[str, Task]:
        """The constraints that count."""
        return {name: task for name, task in self.constraints.items() if name not in self.disabled}

    def problem(self, figure: Figure) -> Problem:
        """The problem of the enabled constraints."""
        tasks = list(self.enabled.values())
        return Problem(figure, tasks, self.limits, self.rigidity, self.obstacles, self.clearance)


@dataclass(frozen=True, eq=False)
class Moment:
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
        return MappingProxyType(tasks)
