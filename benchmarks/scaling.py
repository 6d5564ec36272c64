"""How time grows with the degrees of freedom, from 10 to 2,000: one iteration of every solver, one evaluation, and building.

Run ``python benchmarks/scaling.py [--json FILE] [--folder docs/images] [--most 2000] [--families chain,jack,grouped]``. One
thread. Times are processor time, so that other work on the machine counts less; each is the least of several rounds, and a
round goes through all sizes, so that a slow minute does not bend a curve.

*An iteration*: the solver's compiled loop, with the arrays that `solve` would give it, is cut short after a quarter and after
three quarters of the iterations that it would make, or of `MOST`; the difference of the two times, over that of the
iterations that it counts, is the time of one. So neither compiling nor packing, the first steps, checking the answer or
getting memory is part of it. A solver is not asked for larger sizes once an iteration takes longer than `LONGEST`.

*The exponent* is the slope of a straight line through log time against log size, fitted by least squares over sizes from 100
on, and over all.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import supple
from scaling_cells import EVALUATED, ROUNDS, Building, Cell, Evaluation, Iteration
from scaling_plot import draw
from scaling_problems import Case, chain_case, grouped_case, jack_case, reach_case
from supple.kernels.tables import EVALUATION
from supple.solvers.levenberg_marquardt.scratch import SEARCH_SCRATCH

SIZES = (10, 20, 50, 100, 150, 200, 300, 500, 700, 1000, 1400, 2000)
PAIRS = (1, 2, 4, 8, 14, 25, 36, 52, 75, 108)  # of arms: 74 … 2000 coordinates
GROUPED = (1, 3, 7, 14, 28, 50, 71, 100, 142)  # 22 … 1996 coordinates
FAMILIES: dict[str, tuple[Callable[[int], Case], tuple[int, ...]]] = {
    "chain": (chain_case, SIZES),
    "jack": (jack_case, PAIRS),
    "grouped": (grouped_case, GROUPED),
}
SOLVERS: dict[str, Any] = {
    "ProjectedGradient": supple.ProjectedGradient(tolerance=0.0),
    "ActiveSet": supple.ActiveSet(tolerance=0.0),
    "Newton": supple.Newton(tolerance=0.0),
    "LevenbergMarquardt": supple.LevenbergMarquardt(tolerance=0.0, slow=1.0),
    "JacobianTranspose": supple.JacobianTranspose(tolerance=0.0, step=supple.solvers.FixedStep(1e-3)),
    "DampedLeastSquares": supple.solvers.DampedLeastSquares(tolerance=0.0),
    "PseudoInverse": supple.PseudoInverse(tolerance=0.0),
    "CyclicCoordinateDescent": supple.CyclicCoordinateDescent(tolerance=0.0),
    "Fabrik": supple.Fabrik(tolerance=0.0),
}
MOST = {"ProjectedGradient": 200, "ActiveSet": 200, "JacobianTranspose": 200, "Newton": 6, "Fabrik": 4}
OTHERWISE = 12  # iterations; of the other solvers
LONGEST = 1.0  # seconds
TARGETS = {"ActiveSet": 2.1, "value + gradient": 1.2}


def megabytes(case: Case) -> dict[str, float]:
    """What is held in memory for a problem: its packs, and the scratch of an evaluation and of two solvers."""
    problem, I = case.problem, case.problem.packed[0]
    numbers = {"evaluation": EVALUATION.size(I), "ActiveSet": supple.ActiveSet.loop.scratch.size(I)}
    sizes = {"pack": sum(pack.nbytes for pack in problem.packed)} | {k: 8 * v for k, v in numbers.items()}
    sizes["LevenbergMarquardt"] = 8 * SEARCH_SCRATCH.size(I)
    return {what: size / 1e6 for what, size in sizes.items()}


def fitted(sizes: list[int], seconds: list[float], least: int = 0) -> float | None:
    """The exponent over sizes from `least` on."""
    pairs = [(n, t) for n, t in zip(sizes, seconds, strict=True) if n >= least]
    if len(pairs) < 3:
        return None
    x, y = np.log(np.array(pairs)).T
    return float(np.polyfit(x, y, 1)[0])


def cells_of(case: Case, reach: Case | None, over: set[str]) -> dict[str, Cell]:
    """What is measured at one size; a solver that has become too slow goes `over`."""
    cells: dict[str, Cell] = {what: Evaluation(case, what) for what in EVALUATED}
    cells |= {f"building: {stage}": Building(case, stage) for stage in ("figure", "problem")}
    for name, solver in SOLVERS.items():
        own = reach if name == "Fabrik" and reach is not None else case
        if name not in over and not solver.refuse(own.problem):
            cell = cells[name] = Iteration(own, solver, MOST.get(name, OTHERWISE))
            cell.round()
            if cell.seconds > LONGEST:
                over.add(name)
    return cells


def measured(family: str, most: int) -> dict[str, Any]:
    """All lines of a family."""
    make, arguments = FAMILIES[family]
    over: set[str] = set()
    columns: list[dict[str, Cell]] = []
    memory = []
    for argument in arguments:
        case = make(argument)
        if case.size <= most:
            memory.append({"size": case.size, **megabytes(case)})
            columns.append(cells_of(case, reach_case(argument) if family == "chain" else None, over))
            print(f"{family} {case.size}: ready", flush=True)
    for _ in range(ROUNDS):
        for cells in columns:
            for cell in cells.values():
                cell.round()
    lines = {}
    for name in dict.fromkeys(name for cells in columns for name in cells):
        mine = [cells[name] for cells in columns if name in cells]
        sizes, seconds = [cell.size for cell in mine], [cell.seconds for cell in mine]
        line: dict[str, Any] = {"sizes": sizes, "seconds": seconds}
        line |= {"from_100": fitted(sizes, seconds, 100), "all": fitted(sizes, seconds)}
        steps = [cell for cell in mine if isinstance(cell, Iteration)]
        if steps:
            line["evaluations"] = [cell.evaluations / cell.iterations for cell in steps]
        lines[name] = line
    return {"lines": lines, "megabytes": memory}


def table(family: str, found: dict[str, Any]) -> str:
    """The lines as Markdown: microseconds at some sizes, and the exponents."""
    every = sorted({n for line in found["lines"].values() for n in line["sizes"]})
    shown = [min(every, key=lambda n: abs(np.log(n / near))) for near in (10, 100, 500, 1000, 2000)]
    shown = list(dict.fromkeys(shown))
    head = f"| {family} [µs] | " + " | ".join(map(str, shown)) + " | from 100 | all |"
    rows = [head, "| --- |" + " ---: |" * (len(shown) + 2)]
    for name, line in found["lines"].items():
        at = dict(zip(line["sizes"], line["seconds"], strict=True))
        cells = [f"{1e6 * at[n]:.3g}" if n in at else "" for n in shown]
        fits = ["" if line[k] is None else f"{line[k]:.2f}" for k in ("from_100", "all")]
        rows.append(f"| {name} | " + " | ".join(cells + fits) + " |")
    return "\n".join(rows)


def main() -> None:
    """Measure, print tables, write JSON and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="where all numbers go")
    parser.add_argument("--folder", type=Path, default=Path("docs/images"), help="where the picture goes")
    parser.add_argument("--most", type=int, default=2000, help="the largest size")
    parser.add_argument("--families", default=",".join(FAMILIES), help="which figures")
    given = parser.parse_args()
    found = {family: measured(family, given.most) for family in given.families.split(",")}
    for family, result in found.items():
        print("\n" + table(family, result))
        for row in result["megabytes"]:
            print(f"{family} {row.pop('size')}: " + ", ".join(f"{k} {v:.3g} MB" for k, v in row.items()))
        for name, most in TARGETS.items():
            exponent = result["lines"][name]["from_100"]
            said = "not measured" if exponent is None else "met" if exponent <= most else "missed"
            print(f"target: exponent of {name} at most {most}: {said}")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n")
    given.folder.mkdir(parents=True, exist_ok=True)
    draw(found, given.folder / "scaling.png")


if __name__ == "__main__":
    main()
