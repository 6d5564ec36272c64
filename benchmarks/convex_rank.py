"""Rank minimisation over convex relaxations: the experiments of IKSPARK's Tables II to V and Figure 11, beside its numbers.

Run ``OMP_NUM_THREADS=1 python benchmarks/convex_rank.py [--count N] [--jobs size,arms,box,far,stewart] [--json FILE] [--plot
FILE]``. One thread. *arms*: random reachable poses of single arms, 200 at most. *box*: the midpoint between Baxter's two
grippers, tied to each other, to 500 poses, without a local solver. *far*: the same poses a metre further on, out of
reach, by the adaptive method. *stewart*: poses of two platforms. A posture counts as found if the tasks and the loop are met
to 10 µm and 0.1 mrad by the figure's own placements; *far* counts, as the paper does, what ends at rank one. Times are
processor times of everything, from the numbers of a target to joint angles; the paper counts its cone solver alone.
Problems are read from a folder ``shared`` beside the checkout, or from the one that ``SUPPLE_SHARED`` names.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import supple
from convex_rank_data import Box, Platform, box, need_data, platforms
from supple import At, Gap, LevenbergMarquardt, Placed, Point, Problem, RankOne, Task
from supple.problem.allowance import FREELY
from supple.problem.task import met
from supple.solvers.rank_one.matrices import nearest_rotations
from supple.solvers.rank_one.posture import Reader
from supple.solvers.rank_one.search import Attempt, Purse

LIFTS = ("rotation", "quaternion")
ARMS = {"panda": "panda_hand", "sawyer": "right_hand", "baxter": "left_gripper"}
FACTORS = {"rotation": (0.2, 0.4, 0.8), "quaternion": (0.05, 0.1, 0.2)}
PAPER_BOX = {"rotation": "87.2 % + 5.1 %, 0.64 s, 7.67", "quaternion": "88.6 % + 4.2 %, 0.29 s, 3.64"}
PAPER_FAR = {
    ("rotation", 0.2): "29.6 %, 7.07, +0.039", ("quaternion", 0.05): "62.2 %, 4.41, +0.034",
    ("rotation", 0.4): "55.0 %, 10.95, +0.081", ("quaternion", 0.1): "80.2 %, 5.07, +0.052",
    ("rotation", 0.8): "28.8 %, 47.36, +0.140", ("quaternion", 0.2): "67.6 %, 7.06, +0.061",
    ("rotation", None): "99.6 %, 7.83, +0.124", ("quaternion", None): "97.0 %, 5.33, +0.091",
}  # fmt: skip
Row = dict[str, Any]


def size(job: Box) -> list[Row]:
    """Table II: variables and rows."""
    rows = []
    for lift in LIFTS:
        for given in (True, False):
            relaxation = RankOne(lift).relaxation(job.problem, given)
            zero = sum(n for kind, n in relaxation.program.kinds if kind == "zero")
            cones = {
                kind: sum(k == kind for k, _ in relaxation.program.kinds) for kind in ("second_order", "semidefinite")
            }
            free = [cell.lift for cell in relaxation.lifted.bodies.values()]
            rows.append({
                "lift": lift, "targets": "equations" if given else "cost", "variables": relaxation.lifted.size,
                "matrices": free.count(lift), "discs": free.count("disc"), "equalities": zero, **cones,
            })  # fmt: skip
    return rows


def off_rotation(reader: Reader, attempt: Attempt) -> float:
    """How far the bodies' matrices are from rotations, in the Frobenius norm, at worst."""
    R = reader.matrices(attempt.x)
    return float(np.linalg.norm(R - nearest_rotations(R), axis=(1, 2)).max())


def one(solver: RankOne, problem: Problem) -> Row:
    """The pure method on one target: after which restart it was found, if at all."""
    began = process_time()
    search, reader = solver.search(problem, True, Purse(FREELY))
    answer = search.relaxed()
    row: Row = {"infeasible": answer.infeasible, "found": None, "steps": 0, "status": answer.status, "beyond": False}
    if answer.x is not None:
        for attempt in search.attempts(answer.x, solver.restarts, 0):
            row["steps"] += attempt.steps
            q = problem.admitted(reader.read(attempt.x, problem.figure.rest))
            misses = problem.misses(q)
            if all(met(task, miss) for task, miss in zip(problem.all_tasks, misses, strict=True)):
                row |= {"found": attempt.restart, "metres": misses[0].metres, "radians": misses[0].radians}
                row |= {"second": attempt.spectrum.rank_gap, "off": off_rotation(reader, attempt)}
                break
            row["beyond"] |= (
                attempt.spectrum.rank_gap <= solver.tolerance
            )  # of rank one, and no posture within the limits
    return row | {"seconds": process_time() - began}


def boxes(job: Box, restarts: int = 10) -> list[Row]:
    """Table III and Figure 11."""
    rows = []
    for lift in LIFTS:
        solver = RankOne(lift, restarts=restarts, polish=None)
        solver.relaxation(job.problem, True)
        found = [one(solver, job.problem.aimed(T)) for T in job.targets]
        rows.append({"lift": lift, "paper": PAPER_BOX[lift], **told(found, job.label, restarts)})
    rows += [through(job, RankOne(), "RankOne()"), through(job, None, "supple.solving.solve")]
    return rows


def arms(count: int, restarts: int = 10) -> list[Row]:
    """Random reachable poses of single arms."""
    rows = []
    for name, segment in ARMS.items():
        figure, draw = supple.load(name), np.random.default_rng(6)
        targets = figure.placement(draw.uniform(figure.lower, figure.upper, (count, figure.size)), segment)
        problem = Problem(figure, [Task(segment, Placed(targets[0]))])
        for lift in LIFTS:
            solver = RankOne(lift, restarts=restarts, polish=None)
            solver.relaxation(problem, True)
            found = [one(solver, problem.aimed(T)) for T in targets]
            rows.append({"arm": name, "lift": lift, **told(found, np.ones(count), restarts)})
        job = Box(problem, targets, targets, np.ones(count))
        rows += [
            {"arm": name, **through(job, *way)} for way in ((RankOne(), "RankOne()"), (None, "supple.solving.solve"))
        ]
    return rows


def told(found: list[Row], label: np.ndarray, restarts: int) -> Row:
    """What a list of targets adds up to."""
    good = [row for row in found if row["found"] is not None]
    open_ = sum(not row["infeasible"] for row in found)
    curve = [sum(row["found"] <= k for row in good) for k in range(restarts + 1)]
    return {
        "targets": len(found), "called_infeasible": len(found) - open_, "first": curve[0], "found": curve[-1],
        "found_of_feasible": sum(row["found"] is not None for row, one in zip(found, label, strict=True) if one == 1),
        "feasible": int((label == 1).sum()),
        "beyond": sum(row["beyond"] and row["found"] is None for row in found),
        "false_alarms": sum(row["infeasible"] for row, one in zip(found, label, strict=True) if one == 1),
        "curve": [count / max(1, open_) for count in curve],
        "seconds": float(np.mean([row["seconds"] for row in good])),
        "steps": float(np.mean([row["steps"] for row in good])),
        **{name: float(np.mean([row[name] for row in good])) for name in ("metres", "radians")},
        **{f"worst_{name}": max(row[name] for row in good) for name in ("second", "off")},
    }  # fmt: skip


def through(job: Box, solver: RankOne | None, name: str) -> Row:
    """The same targets through the front door."""
    solutions, seconds = [], []
    supple.solve(job.problem, solver=solver)  # compiles, and builds the structure
    for T in job.targets:
        began = process_time()
        solutions.append(supple.solve(job.problem.aimed(T), solver=solver))
        seconds.append(process_time() - began)
    ok = np.array([solution.ok for solution in solutions])
    return {
        "lift": name, "targets": len(ok), "found": int(ok.sum()), "found_of_feasible": int(ok[job.label == 1].sum()),
        "feasible": int((job.label == 1).sum()), "seconds": float(np.mean(np.array(seconds)[ok])),
        "hints": sum("a hint and no proof" in solution.reason for solution in solutions),
    }  # fmt: skip


def far(job: Box) -> list[Row]:
    """Table IV: targets out of reach, with constant factors and with one that adapts."""
    rows = []
    for lift in LIFTS:
        hints = sum(
            RankOne(lift).search(job.problem.aimed(T), True, Purse(FREELY))[0].relaxed().infeasible for T in job.shifted
        )
        for factor in (*FACTORS[lift], None):
            solver = RankOne(lift, polish=None)
            found = [one_far(solver, job.problem.aimed(T), factor) for T in job.shifted]
            good = [row for row in found if row["second"] <= solver.tolerance]
            mean = (
                {name: float(np.mean([row[name] for row in good])) for name in ("seconds", "steps", "rise")}
                if good
                else {}
            )
            worst = max((row["open"] for row in good), default=np.nan)
            rows.append({
                "lift": lift, "factor": "adaptive" if factor is None else factor, "targets": len(found), "found": len(good),
                **mean, "worst_loop": worst, "called_infeasible": hints, "paper": PAPER_FAR[lift, factor],
            })  # fmt: skip
    return rows


def one_far(solver: RankOne, problem: Problem, factor: float | None) -> Row:
    """The adaptive method on one target."""
    began = process_time()
    search, reader = solver.search(problem, False, Purse(FREELY))
    x = search.relaxed().x
    if x is None:
        return {"second": np.inf}
    start = 0.4 if solver.lift == "rotation" else 0.1
    attempt = search.adapt(x, start if factor is None else factor, solver.softer if factor is None else 0, solver.each)
    rise, seconds = search.posed.value(attempt.x) - search.posed.value(x), process_time() - began
    loop = problem.misses(problem.admitted(reader.read(attempt.x, problem.figure.rest)))[1]
    return {
        "second": attempt.spectrum.rank_gap, "steps": attempt.steps, "rise": rise, "seconds": seconds, "open": max(loop)
    }  # fmt: skip


def stewart(job: Platform) -> list[Row]:
    """Table V: leg lengths, against plain geometry; not by a formula, the legs are joints like any others."""
    rows = []
    ways = {
        "RankOne, no local solver": RankOne(polish=None),
        "RankOne": RankOne(polish=LevenbergMarquardt()),
        "supple.solving.solve": None,
    }
    for name, solver in ways.items():
        errors, apart, seconds, steps, ok = [], [], [], [], 0
        supple.solve(Problem(job.figure, legs(job, job.poses[0], solver)), solver=solver)  # compiles
        for T, lengths in zip(job.poses, job.lengths, strict=True):
            problem = Problem(job.figure, legs(job, T, solver))
            began = process_time()
            solution = supple.solve(problem, solver=solver)
            seconds.append(process_time() - began)
            ok += solution.ok
            steps.append(solution.iterations)
            mine = [solution.q[job.figure.coordinates.index(f"leg{k}.length")] for k in range(1, 7)]
            apart.append(np.abs(mine - lengths))
            errors.append(apart[-1].max())
        rows.append({
            "platform": job.name, "solver": name, "poses": len(job.poses), "found": ok, "steps": float(np.mean(steps)),
            "mean_leg_error": float(np.mean(errors)), "legs": np.mean(apart, axis=0).tolist(),
            "worst_leg_error": float(np.max(errors)),
            "to_1e-9": int((np.array(errors) < 1e-9).sum()), "seconds": float(np.mean(seconds)),
        })  # fmt: skip
    return rows


def legs(job: Platform, T: np.ndarray, solver: RankOne | None) -> list[Task]:
    """The pose; without RankOne, which closes loops to the last digits, the loops once more as tasks with a tolerance."""
    if solver is not None and solver.polish is None:
        return [Task("platform", Placed(T))]
    tasks = [Task("platform", Placed(T), tolerance=1e-11, angle_tolerance=1e-11)]
    if solver is None:
        ends = [(Point(loop.a), Point("platform", loop.at_b[:3, 3])) for loop in job.figure.loops]
        tasks += [Task(Gap(*pair), At((0, 0, 0)), hard=True, tolerance=1e-11) for pair in ends]
    return tasks


def shown(title: str, rows: list[Row]) -> None:
    """A table on the screen."""
    print(f"\n{title}")
    for row in rows:
        cells = (f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items() if k != "curve")
        print("  " + ", ".join(cells), flush=True)


def plot(rows: list[Row], file: str) -> None:
    """Figure 11: how the share of targets found grows with restarts."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(6, 3.4), layout="constrained")
    for row, colour in zip([row for row in rows if "curve" in row], ("C0", "C3"), strict=True):
        axis.plot(100 * np.array(row["curve"]), marker="o", ms=4, color=colour, label=f"{row['lift']} lift")
    for name, (first, last), colour in (("rotation", (87.2, 92.3), "C0"), ("quaternion", (88.6, 92.8), "C3")):
        axis.plot((0, 10), (first, last), "x", ms=6, color=colour, label=f"the paper, {name}: none and ten")
    axis.set(xlabel="restarts", ylabel="found, of targets not called infeasible [%]", xlim=(-0.3, 10.3))
    axis.set_xticks(range(11))
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8, loc="lower right")
    figure.savefig(file, dpi=130)


def main(argv: list[str] | None = None) -> None:
    """Run the jobs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500, help="targets of each set")
    parser.add_argument("--jobs", default="size,arms,box,far,stewart")
    parser.add_argument("--json")
    parser.add_argument("--plot")
    options = parser.parse_args(argv)
    need_data()
    wanted, job, out = options.jobs.split(","), box(options.count), {}
    runs = {"size": lambda: size(job), "box": lambda: boxes(job), "far": lambda: far(job)}
    runs["arms"] = lambda: arms(min(options.count, 200))
    runs["stewart"] = lambda: [row for platform in platforms(options.count) for row in stewart(platform)]
    for name in wanted:
        out[name] = runs[name]()
        shown(name, out[name])
        if options.json:
            Path(options.json).write_text(json.dumps(out, indent=1, default=float))
    if options.plot and "box" in out:
        plot(out["box"], options.plot)


if __name__ == "__main__":
    main()
