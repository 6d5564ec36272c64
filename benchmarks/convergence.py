"""How five solvers come down: the value against evaluations and against time, on the same problems from the same start.

Run ``python benchmarks/convergence.py [--folder docs/images]``. The curves against evaluations are the solvers' traces. For
those against time, the point of a trace at n evaluations is placed at the time that a solve with the budget n takes, the
best of many, all budgets in turn: a budget cuts the same way short, so this is when an answer with that value is there.
The time is that of the whole call from Python, with its checks and the audit of the answer.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

import supple
from supple import At, Frame, Placed, Point, Problem, Task

SOLVERS: dict[str, Any] = {
    "ProjectedGradient": supple.ProjectedGradient(),
    "ActiveSet": supple.ActiveSet(),
    "Newton": supple.Newton(),
    "LevenbergMarquardt": supple.LevenbergMarquardt(),
    "JacobianTranspose": supple.JacobianTranspose(step=supple.solvers.FixedStep(0.125)),
}
SIX = ("hand_l.palm", "hand_r.palm", "foot_l", "foot_r", "pelvis", "head.top")
POINTS = 25  # of a curve against time
LEAST, SPAN = 7, 1.5  # rounds of one curve, and how many seconds they go on for


def shaken(figure: supple.Figure, seed: int, spread: float) -> np.ndarray:
    """A legal posture near the figure's rest."""
    return figure.limits.project(figure.rest + spread * np.random.default_rng(seed).normal(size=figure.size))


def problems() -> dict[str, Problem]:
    """Goals read off a posture near rest, so that all of them can be met."""
    panda, human = supple.load("panda"), supple.load("human")
    jack = supple.catalogue.build("jack", spine="grouped", shoulders="grouped", root="fixed", legs=False, fingers=False)
    hand, far, bent = "panda_hand_tcp", shaken(human, 1, 0.15), shaken(jack, 2, 0.2)
    reach = [Task(Point(s), At(human.placement(far, s)[:3, 3])) for s in SIX]
    tube = [Task(Frame(s), Placed(jack.placement(bent, s), per_radian=0.3)) for s in ("hand_l.palm", "hand_r.palm")]
    return {
        "panda: a pose": Problem(panda, [Task(Frame(hand), Placed(panda.placement(shaken(panda, 1, 0.3), hand)))]),
        "human: six points": Problem(human, reach),
        "jack: both hands on a tube": Problem(jack, tube),
    }


def seconds(problem: Problem, solver: Any, budgets: list[int]) -> np.ndarray:
    """The time of a solve with each budget, the best of many rounds."""
    best, rounds, begun = np.full(len(budgets), np.inf), 0, time.perf_counter()
    while rounds < LEAST or time.perf_counter() - begun < SPAN:
        for k, budget in enumerate(budgets):
            start = time.perf_counter()
            supple.solve(problem, solver=solver, budget=budget)
            best[k] = min(best[k], time.perf_counter() - start)
        rounds += 1
    return best


def curve(problem: Problem, solver: Any) -> dict[str, Any] | None:
    """Evaluations, values, and times of some of them; None if the solver refuses the problem."""
    if solver.refuse(problem):
        return None
    trace = supple.solve(problem, solver=solver, trace=True).trace
    assert trace is not None, f"{solver} keeps no trace"
    some = np.unique(np.geomspace(1, len(trace), POINTS).round().astype(int)) - 1
    times = 1e3 * seconds(problem, solver, trace.evaluations[some].tolist())
    return {"evaluations": trace.evaluations, "value": trace.value, "some": some, "times": times}


def main() -> None:
    """Measure, print a table, and draw."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("docs/images"), help="where the picture goes")
    folder = parser.parse_args().folder
    cases = problems()
    figure, axes = plt.subplots(len(cases), 2, figsize=(10, 3.1 * len(cases)), sharey="row", layout="constrained")
    for (name, problem), (left, right) in zip(cases.items(), axes, strict=True):
        print(f"\n| {name} | evaluations | value | ms |\n| --- | ---: | ---: | ---: |")
        for colour, (title, solver) in zip(("C0", "C1", "C2", "C3", "0.5"), SOLVERS.items(), strict=True):
            found = curve(problem, solver)
            if found is None:
                print(f"| `{title}` | does not take it | | |")
                continue
            n, value, some, times = (found[k] for k in ("evaluations", "value", "some", "times"))
            print(f"| `{title}` | {n[-1]} | {value[-1]:.2g} | {times[-1]:.3g} |")
            left.step(n, value, where="post", color=colour, label=title, lw=1.4)
            right.plot(times, value[some], color=colour, label=title, lw=1.4, marker=".", ms=3)
        for axis, label in ((left, "evaluations"), (right, "milliseconds from call to answer")):
            axis.set(xscale="log", yscale="log", xlabel=label)
            axis.grid(alpha=0.3)
        left.set(ylabel="objective G", title=name)
    axes[0, 1].legend(fontsize=8, frameon=False)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "convergence.png", dpi=110)


if __name__ == "__main__":
    main()
