"""`RankOne` among obstacles, as in the tables VI and VII of IKSPARK: three densities of balls, and ways to build free space.

In the workcell free space is the four cuboids of the file. Among random boxes it is grown from seeds: *biased* ones are the
centres of the balls in a posture that reaches the target regardless of obstacles, *unbiased* ones as many random points. A
problem is *built* if every ball has a polytope left after the pairs that the relaxation excludes are taken out (IX-C).
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

import supple
from sawyer_data import HAND, JOINTS, Scenes, balls
from supple import Box, LevenbergMarquardt, Placed, Polytope, Problem, RankOne, Task
from supple.solvers.rank_one import FreeRegions

WORKSPACE = Box((-1.0, -1.0, -0.3), (1.0, 1.0, 1.3))
SOLVER = RankOne(polish=None, restarts=3)
WAYS = {  # biased, cuboids
    "unbiased seeds, polytopes": (False, False),
    "biased seeds, polytopes": (True, False),
    "biased seeds, cuboids": (True, True),
}


def arm_of(model: str) -> supple.Figure:
    """Sawyer with one of the models of balls, its head locked: seven coordinates."""
    return supple.load("sawyer").locked("head_pan").with_spheres(balls(model))


def things_of(boxes: np.ndarray) -> list[Box]:
    """The obstacles of a problem."""
    return [Box(box[:3], box[3:]) for box in boxes]


def rooms_of(
    scenes: Scenes, i: int, arm: supple.Figure, biased: bool = True, cuboids: bool = True
) -> tuple[Polytope, ...]:
    """The free space of a problem."""
    if scenes.cuboids is not None:
        return tuple(Polytope.of(Box(low, high)) for low, high in scenes.cuboids)
    things = things_of(scenes.boxes[i])
    seeds: Any = sum(map(len, arm.bars.values()))
    if biased:
        seeds = supple.problem.seeds_about(arm, supple.solve(arm, {HAND: Placed(scenes.places[i])}).q)
    return supple.problem.free_space(things, WORKSPACE, seeds, cuboids=cuboids)


def built(scenes: Scenes, i: int, arm: supple.Figure, reduce: bool, **how: Any) -> tuple[Problem, FreeRegions | None]:
    """A problem, and its rows; none if there is no free space."""
    problem = Problem(arm, [Task(HAND, Placed(scenes.places[i]))], obstacles=things_of(scenes.boxes[i]))
    polytopes = rooms_of(scenes, i, arm, **how)
    if not polytopes:
        return problem, None
    rooms = FreeRegions.of(arm, polytopes)
    return problem, rooms.reduced(problem, SOLVER) if reduce else rooms


def rank_one(scenes: Scenes, model: str, reduce: bool = True) -> dict[str, Any]:
    """What `RankOne` makes of a set: postures before and after a local solver, times, and how many could be built."""
    arm = arm_of(model)
    order = [arm.coordinates.index(name) for name in JOINTS]
    rows: dict[str, list[Any]] = {key: [] for key in ("q", "polished", "built", "build", "solve", "steps")}
    for i in range(len(scenes.places)):
        begun = time.perf_counter()
        problem, rooms = built(scenes, i, arm, reduce)
        middle = time.perf_counter()
        q = polished = np.full(len(order), np.nan)
        steps, fits = 0, rooms is not None and rooms.fits
        ended = middle
        if fits:
            found = replace(SOLVER, rows=rooms).solve(problem, arm.rest)
            ended, steps, q = time.perf_counter(), found.iterations, found.q[order]
            polished = LevenbergMarquardt().solve(problem, found.q).q[order]
        answer = (q, polished, fits, middle - begun, ended - middle, steps)
        for key, one in zip(rows, answer, strict=True):
            rows[key].append(one)
    return {key: np.array(column) for key, column in rows.items()}


def table_six(scenes: Scenes, label: str, model: str, found: dict[str, Any]) -> dict[str, Any]:
    """A row of table VI."""
    fine, own, warm = (scenes.judged(found[key], m) for key, m in (("q", "eval"), ("q", model), ("polished", "eval")))
    good, has = own["solved"], found["built"]
    return {
        "set": scenes.name,
        "solver": label,
        "count": len(has),
        "built": int(has.sum()),
        "own": int(good.sum()),
        "solved": int(fine["solved"].sum()),
        "with local solver": int(warm["solved"].sum()),
        "build": float(found["build"].mean()),
        "solve": float(found["solve"][has].mean()) if has.any() else float("nan"),
        "steps": float(found["steps"][has].mean()) if has.any() else float("nan"),
        "metres": float(own["metres"][good].mean()) if good.any() else float("nan"),
        "radians": float(own["radians"][good].mean()) if good.any() else float("nan"),
    }


def table_seven(scenes: Scenes, way: str) -> dict[str, Any]:
    """A row of table VII, with the mid-density balls."""
    biased, cuboids = WAYS[way]
    arm, counts, fits, seconds = arm_of("mid"), [], [], []
    for i in range(len(scenes.places)):
        begun = time.perf_counter()
        _, rooms = built(scenes, i, arm, True, biased=biased, cuboids=cuboids)
        seconds.append(time.perf_counter() - begun)
        counts.append(0 if rooms is None else len(rooms.polytopes))
        fits.append(rooms is not None and rooms.fits)
    times, count = float(np.mean(seconds)), float(np.mean(counts))
    return {"way": way, "count": len(fits), "built": int(sum(fits)), "polytopes": count, "build": times}


def show_six(row: dict[str, Any]) -> None:
    """Print a row of table VI."""
    counts = "".join(f"{row[key]:8d}" for key in ("count", "built", "own", "solved", "with local solver"))
    errors = f"{row['metres']:10.1e}{row['radians']:10.1e}"
    print(
        f"{row['set']:10}{row['solver']:26}{counts}{row['build']:9.2f}{row['solve']:9.3f}{row['steps']:8.1f}{errors}",
        flush=True,
    )


SIX = (
    f"{'set':10}{'solver':26}{'count':>8}{'built':>8}{'own':>8}{'eval':>8}{'+ local':>8}"
    f"{'build s':>9}{'solve s':>9}{'steps':>8}{'metres':>10}{'radians':>10}"
)
SEVEN = f"{'way to build (random boxes)':34}{'count':>8}{'built':>8}{'polytopes':>11}{'build s':>9}"


def show_seven(row: dict[str, Any]) -> None:
    """Print a row of table VII."""
    print(f"{row['way']:34}{row['count']:8d}{row['built']:8d}{row['polytopes']:11.1f}{row['build']:9.2f}", flush=True)
