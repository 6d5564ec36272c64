"""Problems of any size for `scaling`: chains of hinges, and the jack with more and more arms.

Goals are read off a posture drawn from the limits, so they can all be met; their tolerances are so small that no solver calls
them met while it is timed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import supple
from supple import At, Figure, Frame, Placed, Point, Problem, Task
from supple.figure.catalogue import build
from supple.figure.catalogue.limbs import NECK, add_arms
from supple.figure.catalogue.shoulder import shoulder_group
from supple.figure.catalogue.standing import Plan
from supple.figure.catalogue.trunk import VERTEBRAE
from supple.figure.drives import FREE
from supple.geometry.placements import Z, compose, turned

STARTS = 3
GOLDEN = 2.399963  # radians between the directions in which pairs of arms face
NEVER = 1e-14  # metres and radians


@dataclass(frozen=True)
class Case:
    """A problem and postures to start from."""

    size: int
    problem: Problem
    starts: tuple[np.ndarray, ...]


def case(figure: Figure, tasks: Callable[[np.ndarray], list[Task]]) -> Case:
    """`tasks` of a posture drawn from the limits; starts are drawn from the third of them about the rest."""
    rng = np.random.default_rng(figure.size)

    def drawn(share: float) -> np.ndarray:
        q = rng.uniform(figure.lower, figure.upper)
        return figure.limits.project(figure.rest + share * (q - figure.rest))

    problem = Problem(figure, tasks(drawn(0.8)))
    return Case(figure.size, problem, tuple(drawn(0.3) for _ in range(STARTS)))


def task(effector: Point | Frame, goal: At | Placed) -> Task:
    """A task that is never met."""
    return Task(effector, goal, tolerance=NEVER, angle_tolerance=NEVER)


def chain(n: int) -> Figure:
    """A metre of n hinges about x and y in turn; their ranges are such that it bends as far whatever n."""
    limit, parts, above = 3.0 / np.sqrt(n), [], None
    for i in range(n):
        axis = (1.0, 0.0, 0.0) if i % 2 == 0 else (0.0, 1.0, 0.0)
        parts += supple.hinge(f"hinge{i}", above, axis, at=(0.0, 0.0, 1.0 / n), limits=(-limit, limit))
        above = f"hinge{i}"
    return Figure("chain", [*parts, *supple.fixed("tip", above, (0.0, 0.0, 1.0 / n))])


def chain_case(n: int) -> Case:
    """A pose for the end of the chain and a point for its middle."""
    figure, middle = chain(n), f"hinge{n // 2}"

    def tasks(q: np.ndarray) -> list[Task]:
        end = task(Frame("tip"), Placed(figure.placement(q, "tip")))
        return [end, task(Point(middle), At(figure.placement(q, middle)[:3, 3]))]

    return case(figure, tasks)


def reach_case(n: int) -> Case:
    """A point for the end of the chain, which is all that FABRIK takes."""
    figure = chain(n)
    return case(figure, lambda q: [task(Point("tip"), At(figure.placement(q, "tip")[:3, 3]))])


def arms(grouped: bool) -> Figure:
    """The arms of the jack on a chest that is a mere frame."""
    plan = Plan(1.75, None)
    plan.root("chest", NECK, floating=False)
    add_arms(plan, "chest", fingers=False, grip=0.0)
    figure = Figure("arms", plan.parts, bodies=plan.bodies).based_at(-1.75 * np.array(NECK))
    if not grouped:
        return figure
    groups = [shoulder_group("_l"), shoulder_group("_r")]
    return figure.with_limits({name: FREE for group in groups for name in group.drives}).grouped(*groups)


def many_armed(pairs: int, grouped: bool = False) -> Figure:
    """The jack without legs and fingers and, from its shoulders down the spine, further pairs of arms.

    56 + 18 · pairs coordinates; with spine and shoulders grouped 8 + 14 · pairs, and 8 · pairs rows of linear limits.
    """
    how = "grouped" if grouped else "free"
    figure = build("jack", spine=how, shoulders=how, root="fixed", legs=False, fingers=False)
    pair = arms(grouped)
    for k in range(1, pairs):
        to = VERTEBRAE[-1 - k % len(VERTEBRAE)]
        figure = figure.attached(pair, to, compose(turned(Z, GOLDEN * k), (0.0, 0.0, 0.0)), f"{k}.")
    return figure


def jack_case(pairs: int, grouped: bool = False) -> Case:
    """A point for the palm of every hand."""
    figure = many_armed(pairs, grouped)
    palms = [segment for segment in figure.segments if segment.endswith(".palm")]

    def tasks(q: np.ndarray) -> list[Task]:
        at = figure.placements(q)
        return [task(Point(palm), At(at[palm][:3, 3])) for palm in palms]

    return case(figure, tasks)


def grouped_case(pairs: int) -> Case:
    """The same with spine and shoulders grouped."""
    return jack_case(pairs, grouped=True)
