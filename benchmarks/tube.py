"""Looking down a tube: how often and how fast the six constraints of Zhao and Badler (1994) are met.

Run ``python benchmarks/tube.py [--count 100] [--rounds 7] [--seed 0] [--json FILE]``. One thread, one call at a time from
Python: ``query = supple.prepare(problem, solver=…)``, then ``query(targets)`` for every placement of the tube (`tube_task`),
from the upright rest posture. An answer counts as solved if every constraint holds within 1e-6 m and 1e-6 rad, recomputed from
the figure, and the posture is legal; "false" are answers that call themselves solved and are not. The time of a placement is
the best of all rounds, by the clock; "besides" is that of a call that starts at its own answer: all that is not search.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import supple
from supple import ActiveSet, LevenbergMarquardt, Multistart, Newton
from supple.solvers.levenberg_marquardt.levenberg_marquardt import default_solver
from tube_task import Placement, person, placements, problem

TOLERANCE = 1e-6
SOLVERS: dict[str, Any] = {
    "the default": None,
    "ActiveSet": ActiveSet(),
    "ActiveSet, up to 10 starts": Multistart(ActiveSet(), attempts=10),
    "Newton": Newton(),
    "Newton without curvature": Newton(curvature=False),
    "LevenbergMarquardt": LevenbergMarquardt(),
}


def milliseconds(query: Any, tubes: list[Placement], starts: list[Any], rounds: int) -> np.ndarray:
    """The time of each placement, the best of all rounds."""
    out = np.empty((rounds, len(tubes)))
    for row in out:
        for k, (tube, start) in enumerate(zip(tubes, starts, strict=True)):
            begun = time.perf_counter()
            query(tube.targets, start)
            row[k] = time.perf_counter() - begun
    return 1e3 * out.min(axis=0)


def is_solved(solution: supple.Solution) -> bool:
    """Whether every constraint holds, by the figure alone, in a legal posture."""
    limits = solution.problem.limits
    assert limits is not None
    return limits.contains(solution.q) and max(max(miss) for miss in solution.problem.misses(solution.q)) <= TOLERANCE


def measured(figure: supple.Figure, solver: Any, tubes: list[Placement], rounds: int) -> dict[str, Any]:
    """Successes, statuses, work and times of one solver."""
    query = supple.prepare(problem(figure, TOLERANCE), solver=solver)
    answers = [query(tube.targets) for tube in tubes]
    solved = [is_solved(answer) for answer in answers]
    false = sum(answer.ok and not good for answer, good in zip(answers, solved, strict=True))
    times = milliseconds(query, tubes, [None] * len(tubes), rounds)
    besides = milliseconds(query, tubes, [answer.q for answer in answers], rounds)
    return {
        "solved": sum(solved),
        "false": false,
        "median_ms": float(np.median(times)),
        "mean_ms": float(times.mean()),
        "p99_ms": float(np.percentile(times, 99)),
        "besides_ms": float(np.median(besides)),
        "iterations": float(np.median([answer.iterations for answer in answers])),
        "evaluations": float(np.median([answer.evaluations for answer in answers])),
    }


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--count", type=int, default=100, help="placements of the tube")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    tubes = placements(arguments.count, arguments.seed)
    rows: list[dict[str, Any]] = []
    print("| coordinates | solver | solved | false | median [ms] | mean | p99 | besides | steps | evaluations |")
    print("| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for figure in (person("grouped"), person("free")):
        for name, solver in SOLVERS.items():
            used = solver if solver is not None else default_solver(problem(figure))
            row: dict[str, Any] = {"coordinates": figure.size, "solver": name, "settings": repr(used)}
            refused = used.refuse(problem(figure))
            if refused:
                rows.append(row | {"refused": refused})
                print(f"| {figure.size} | {name} | refuses: {'; '.join(refused)} | | | | | | | |", flush=True)
                continue
            row |= measured(figure, solver, tubes, arguments.rounds)
            rows.append(row)
            times = " | ".join(f"{row[k]:.2f}" for k in ("median_ms", "mean_ms", "p99_ms", "besides_ms"))
            work = f"{row['iterations']:.0f} | {row['evaluations']:.0f}"
            print(
                f"| {figure.size} | {name} | {row['solved']}/{len(tubes)} | {row['false']} | {times} | {work} |",
                flush=True,
            )
    if arguments.json:
        report = {"placements": len(tubes), "seed": arguments.seed, "tolerance": TOLERANCE, "rows": rows}
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
