"""Obstacles that move from one answer to the next: their placements are targets, and nothing is packed anew.

A moving obstacle is written in a frame of its own. For kernels it stands on the world as a segment does that never moves: every
term that keeps clear of it has the obstacle's frame among its numbers, so moving it is writing twelve numbers for each term.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from supple.basics.checks import instance, mapping, names_in, numbers
from supple.basics.values import Value
from supple.errors import BadValue, Refused, find, shown
from supple.geometry.body_fits import Cloud, Mesh
from supple.geometry.placements import Floats, here, placement
from supple.geometry.shapes import Ball, Box, Capsule, Cylinder, Hull, Polytope
from supple.kernels.kinds import CLEAR
from supple.kernels.layouts import FRAME, KIND, PROBLEM, REFERENCE, view
from supple.problem.bars import carried_along
from supple.problem.problem import Problem


@dataclass(frozen=True, eq=False, repr=False)
class Moving(Value):
    """An obstacle whose `shape` is written in a frame of its own, and where that frame is now; see `prepare`."""

    shape: Any
    at: Floats = field(default_factory=here)

    def __post_init__(self) -> None:
        if isinstance(self.shape, Moving):
            raise BadValue("an obstacle moves once: Moving(…) takes a shape")
        instance(self.shape, (Ball, Box, Capsule, Cylinder, Polytope, Hull, Mesh, Cloud), "an obstacle that moves")
        object.__setattr__(self, "at", placement(self.at, "where a moving obstacle is"))

    @property
    def standing(self) -> Any:
        """The shape where it is now, as an obstacle that does not move."""
        shape, R, p = self.shape, self.at[:3, :3], self.at[:3, 3]
        if isinstance(shape, Ball):
            return Ball(tuple((R @ shape.centre + p).tolist()), shape.radius)
        if isinstance(shape, Hull):
            return Hull(shape.points @ R.T + p, shape.radius)
        if isinstance(shape, Polytope):
            A = shape.A @ R.T
            return Polytope(A, shape.b + A @ p)
        return replace(shape, at=self.at @ shape.at)


def all_standing(obstacles: Mapping[str, Any]) -> dict[str, Any]:
    """Obstacles where they are now."""
    return {name: shape.standing if isinstance(shape, Moving) else shape for name, shape in obstacles.items()}


def own_names(name: str, obstacles: Mapping[str, Any]) -> list[str]:
    """The names of an obstacle: its own, or those of its parts."""
    return [other for other in obstacles if other == name or (other.rpartition(" ")[0] == name and _is_part(other))]


def _is_part(name: str) -> bool:
    return name.rpartition(" ")[2].isdigit()


def with_moving(problem: Problem, names: Any) -> Problem:
    """The same problem, in which some obstacles move: each with its own frame where the world's is now."""
    several = names_in([names] if isinstance(names, str) else names, "moving, the names of obstacles that move,")
    obstacles = dict(problem.obstacles)  # pyright: ignore[reportArgumentType, reportCallIssue]
    for name in several:
        own = own_names(name, obstacles)
        if not own:
            find((*obstacles,), name, "obstacle", "the problem")
        obstacles.update({one: Moving(obstacles[one]) for one in own if not isinstance(obstacles[one], Moving)})
    return problem if not several else replace(problem, obstacles=obstacles)


def placements_of(problem: Problem, given: Any) -> dict[str, Floats]:
    """Where moving obstacles are said to be, each part by its name; who does not move, or is not there, is refused."""
    obstacles: Any = problem.obstacles
    out: dict[str, Floats] = {}
    for name, at in mapping(given, "where obstacles are, placements by name,").items():
        own = own_names(name, obstacles)
        if not own:
            find((*obstacles,), name, "obstacle", "the problem")
        if not all(isinstance(obstacles[one], Moving) for one in own):
            raise Refused(
                f"{name!r} stands still: say prepare(problem, moving=[{shown(name)}]), or give it as Moving(…)"
            )
        out.update(dict.fromkeys(own, placement(at, f"where {name!r} is")))
    return out


def placements_of_rows(problem: Problem, given: Any, count: int) -> dict[str, Floats]:
    """The same for many answers: a placement for all of them, or one for each, as (count, 4, 4)."""
    out: dict[str, Floats] = {}
    for name, at in mapping(given, "where obstacles are, placements by name,").items():
        what = f"where {name!r} is"
        frames = numbers(at, what)
        several = [placement(one, what) for one in frames] if frames.ndim == 3 else [placement(at, what)] * count
        if len(several) != count:
            raise BadValue(f"there are {count} targets but {len(several)} placements of {name!r}")
        for own in placements_of(problem, {name: several[0] if several else here()}):
            out[own] = np.array(several).reshape(count, 4, 4)
    return out


def moved_to(problem: Problem, placements: Mapping[str, Floats]) -> Problem:
    """The same problem with some obstacles elsewhere."""
    if not placements:
        return problem
    obstacles: Any = dict(problem.obstacles)  # pyright: ignore[reportArgumentType, reportCallIssue]
    obstacles.update({name: replace(obstacles[name], at=at) for name, at in placements.items()})
    return replace(problem, obstacles=obstacles)


class Movers:
    """Where the frames of moving obstacles stand in a pack."""

    def __init__(self, problem: Problem) -> None:
        I, F, _ = problem.pack
        rows = np.flatnonzero(view(PROBLEM, I, F, "TERM")[:, KIND] == CLEAR)
        pairs = [pair for task in problem.clear for pair in task.goal.pairs]
        obstacles: Any = problem.obstacles
        self.own = {name: shape.at for name, shape in obstacles.items() if isinstance(shape, Moving)}
        places = view(PROBLEM, I, np.arange(len(F)), "NUMBER")  # in F
        self.at: dict[str, np.ndarray] = {}
        self.frames: dict[str, np.ndarray] = {}
        for name in self.own:
            mine = [
                (places[row, FRAME if pair.bar.moves == name else REFERENCE], thing.at)
                for row, pair in zip(rows, pairs, strict=True)
                for thing in pair[:2]
                if thing.moves == name
            ]
            self.at[name] = np.array([at for at, _ in mine], dtype=np.int64)[:, None] + np.arange(12)
            self.frames[name] = np.array([frame for _, frame in mine]).reshape(-1, 4, 4)

    def write(self, F: np.ndarray, placements: Mapping[str, Floats]) -> None:
        """Write where the obstacles are; those that are not named are where the problem has them."""
        for name, own in self.own.items():
            frames = carried_along(placements.get(name, own), self.frames[name])
            np.put(F, self.at[name], np.concatenate([frames[:, :3, :3].reshape(-1, 9), frames[:, :3, 3]], axis=1))
