"""What is measured of Wu's IKSPARK (2025), part by part; `ikspark_2025` makes the page of it.

Most of it is what `convex_rank`, `convex_sawyer`, `sawyer_rank` and two examples do, run once more and drawn in one style.
"""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import subprocess
import tempfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from ink import COLOURS, GREY, PALE, kept, sheet
from pages import ROOT

import supple
from convex_rank import FACTORS, LIFTS, one, one_far, size, stewart, told
from convex_rank_data import DATA, box, platforms
from convex_sawyer import drake, judged
from peers.environments import PEERS, NotInstalled, environment
from sawyer_data import HAND, Scenes, balls
from sawyer_rank import SOLVER, WAYS, arm_of, built, rank_one, table_seven, table_six
from supple import ActiveSet, Decide, Placed, Point, Problem, RankOne, Task
from supple.problem.allowance import FREELY
from supple.solvers.rank_one.matrices import LIFTS as MATRICES, square
from supple.solvers.rank_one.search import Purse
from supple.view import draw

PEERS_AT = Path(os.environ.get("SUPPLE_PEERS", ROOT / "build" / "peers"))
LIMITS = ("planes", "cone", "two axes")
PAPERS = {"limits": "planes", "each": True}  # how the paper states limits, and the conditions of Problem 4
OURS = {"limits": "two axes", "each": False}
COUNTS = {  # of problems, in full and in quick mode
    "boxes": (500, 250), "ablation": (200, 40), "far rotation": (200, 10), "far quaternion": (500, 40),
    "conditions": (100, 15), "stewart": (100, 40), "sawyer": (600, 16), "seven": (500, 8), "integral": (100, 10),
    "drake": (600, 24), "bodies": (500, 40), "blocked": (50, 6),
}  # fmt: skip
Row = dict[str, Any]


def count(name: str, quick: bool) -> int:
    """How many problems a part takes."""
    return COUNTS[name][quick]


# ── two arms on one box ──────────────────────────────────────────────────────────────────────────────────────────────
def sizes(quick: bool, images: Path) -> list[Row]:
    """Table II."""
    return size(box(1))


def boxes(quick: bool, images: Path) -> dict[str, Any]:
    """Table III, Figures 7, 10 and 11: the two lifts, and local methods on the same targets."""
    job, rows, solved = box(count("boxes", quick)), [], {}
    for lift in LIFTS:
        solver = RankOne(lift, polish=None)
        solver.relaxation(job.problem, True)
        found = [one(solver, job.problem.aimed(T)) for T in job.targets]
        rows.append({"method": f"RankOne, {lift}", **told(found, job.label, solver.restarts)})
        solved[lift] = [row["found"] is not None for row in found]
        print(f"  {lift}", flush=True)
    infeasible = rows[-1]["called_infeasible"]
    arms = supple.load("baxter")
    tasks = [Task(supple.Frame(f"{side}_gripper"), Placed(np.eye(4))) for side in ("left", "right")]
    ends = _grips(job)
    zero = np.clip(np.zeros(arms.size), arms.lower, arms.upper)
    draws = np.random.default_rng(0)
    for label, method, starts in (
        ("BFGS (ActiveSet), from zero", ActiveSet(), 1),
        ("BFGS (ActiveSet), ten starts", ActiveSet(), 10),
        ("solve, proofs off", None, 1),
    ):
        good, seconds = [], []
        for pair in [ends[0], *ends]:
            asked, start = Problem(arms, tasks).aimed(*pair), zero
            began = process_time()
            for _ in range(starts):
                ok = supple.solve(asked, start, solver=method, prove=False).ok
                if ok:
                    break
                start = draws.uniform(arms.lower, arms.upper)
            good.append(ok)
            seconds.append(process_time() - began)
        solved[label] = good[1:]
        rows.append({"method": label, "targets": len(ends), "found": sum(good[1:]), "called_infeasible": infeasible,
                     "seconds": float(np.mean(np.array(seconds[1:])[good[1:]])) if any(good[1:]) else None})  # fmt: skip
    _scattered(job, solved, images)
    figure, panel = sheet(1, 1, 2.8)
    for row, colour, said in zip(rows, COLOURS, ((87.2, 92.3), (88.6, 92.8)), strict=False):
        panel.plot(100 * np.array(row["curve"]), marker="o", ms=3, color=colour, label=row["method"])
        panel.plot((0, 10), said, "x", color=colour, label=f"{said[0]} and {said[1]} %: the paper, none and ten")
    panel.set(xlabel="restarts", ylabel="found [%]", title="Fig. 11: of targets not called infeasible")
    panel.legend(ncols=2)
    kept(figure, images, "ikspark_fig11")
    first = next(k for k, good in enumerate(solved["quaternion"]) if good)
    figure, panels = sheet(1, 2, 4.0)
    posed = job.problem.aimed(job.targets[first])
    q = supple.solve(posed, solver=RankOne(polish=None)).q
    draw(posed.figure, q, problem=posed, ax=panels[0], view=(15, 30), title="Fig. 7: both hands on the box")
    away = job.problem.aimed(job.shifted[first])
    q = supple.solve(away, solver=RankOne(adaptive=True, polish=None)).q
    draw(away.figure, q, problem=away, ax=panels[1], view=(15, 30), title="Fig. 12: the box a metre too far")
    kept(figure, images, "ikspark_fig7_12", shaded=True)
    return {"rows": rows, "either": int(np.sum(np.logical_or(solved["rotation"], solved["quaternion"])))}


def _grips(job: Any) -> np.ndarray:
    """Where both grippers are to be: (targets, 2, 4, 4)."""
    left = job.problem.tasks[0].effector.frame
    loop = job.problem.figure.loops[0]
    return np.array([[T @ np.linalg.inv(left), T @ np.linalg.inv(loop.at_b)] for T in job.targets])


def _scattered(job: Any, solved: dict[str, list[bool]], images: Path) -> None:
    """Figure 10: which targets are solved by whom, seen from above and from the front."""
    ours = np.logical_or(solved["rotation"], solved["quaternion"])
    bfgs = np.array(solved["BFGS (ActiveSet), ten starts"])
    kinds = (
        ("both", ours & bfgs, COLOURS[2], "."),
        ("RankOne alone", ours & ~bfgs, COLOURS[0], "^"),
        ("BFGS alone", ~ours & bfgs, COLOURS[1], "s"),
        ("neither", ~ours & ~bfgs, GREY, "x"),
    )
    figure, panels = sheet(1, 2, 3.2)
    for panel, (a, b), names in zip(panels, ((0, 1), (1, 2)), (("x [m]", "y [m]"), ("y [m]", "z [m]")), strict=True):
        for label, chosen, colour, mark in kinds:
            at = job.targets[chosen, :3, 3]
            panel.scatter(at[:, a], at[:, b], s=12, c=colour, marker=mark, label=f"{label}: {chosen.sum()}")
        panel.set(xlabel=names[0], ylabel=names[1], aspect="equal")
    panels[0].set_title("Fig. 10: from above")
    panels[1].set_title("from the front")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    kept(figure, images, "ikspark_fig10")


def drake_box(quick: bool, images: Path) -> list[Row]:
    """The rows of Drake in Table III, where it can be installed: ten attempts, and the first of them."""
    job = box(count("boxes", quick))
    python = _drake(quick)
    if python is None:
        return []
    runner = ROOT / "benchmarks" / "peers_sawyer" / "run_drake_box.py"
    names = [f"{side}_gripper" for side in ("left", "right")]
    arms, ends = supple.load("baxter"), _grips(job)
    sent = {
        "urdf": str(DATA / "robots/baxter/baxter.urdf"), "base": "base", "joints": np.array(list(arms.coordinates)),
        "frames": np.array(names), "targets": ends, "attempts": 10,
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        asked, answer = Path(folder) / "job.npz", Path(folder) / "answer.npz"
        np.savez(asked, **sent)
        subprocess.run([str(python), str(runner), str(asked), str(answer)], capture_output=True, check=True)
        with np.load(answer) as file:
            found, q, seconds = file["found"], file["q"], file["seconds"]
    placed = np.stack([arms.placement(q, name) for name in names], axis=1)
    apart = np.abs(placed[..., :3, 3] - ends[..., :3, 3]).max(axis=(1, 2))
    inside = ((q >= arms.lower - 1e-6) & (q <= arms.upper + 1e-6)).all(axis=1)
    good = (found >= 0) & (apart < 1e-3) & inside
    return [
        {"method": f"Drake SNOPT ({name})", "targets": len(good), "found": int((good & (found < most)).sum()),
         "seconds": float(seconds[good & (found < most)].mean()) if (good & (found < most)).any() else None}
        for name, most in (("10 attempts", 10), ("1 attempt", 1))
    ]  # fmt: skip


def _drake(quick: bool) -> Path | None:
    """The Python that has Drake; in quick mode only if it is there already."""
    if quick and not (PEERS_AT / "drake" / "installed").exists():
        return None
    try:
        return environment(PEERS["drake"], PEERS_AT)
    except NotInstalled as error:
        print(f"  Drake: {error}", flush=True)
        return None


def ablation(quick: bool, images: Path) -> list[Row]:
    """How limits are stated: planes as in the paper, cones, cones about two axes; on the same targets."""
    job, rows = box(count("ablation", quick)), []
    for lift in LIFTS:
        for limits in LIMITS:
            solver = RankOne(lift, polish=None, limits=limits)
            solver.relaxation(job.problem, True)
            found = [one(solver, job.problem.aimed(T)) for T in job.targets]
            rows.append({"lift": lift, "limits": limits, **told(found, job.label, solver.restarts)})
            print(f"  {lift}, {limits}", flush=True)
    return rows


def far(quick: bool, images: Path) -> list[Row]:
    """Table IV, by the paper's limits and conditions, and by ours."""
    rows = []
    for lift in LIFTS:
        job = box(count(f"far {lift}", quick))
        for name, how in (("paper's", PAPERS), ("ours", OURS)):
            solver = RankOne(lift, polish=None, **how)  # pyright: ignore[reportArgumentType]
            hints = sum(
                solver.search(job.problem.aimed(T), True, Purse(FREELY))[0].relaxed().infeasible for T in job.shifted
            )
            for factor in (*FACTORS[lift], None):
                rows.append(_far(job, solver, factor) | {"lift": lift, "how": name, "infeasible": hints})
            print(f"  {lift}, {name}", flush=True)
    return rows


def _far(job: Any, solver: RankOne, factor: float | None) -> Row:
    found = [one_far(solver, job.problem.aimed(T), factor) for T in job.shifted]
    good = [row for row in found if row["second"] <= solver.tolerance]
    mean = {key: float(np.mean([row[key] for row in good])) if good else None for key in ("seconds", "steps", "rise")}
    legal = sum(row["open"] <= 1e-3 for row in good)
    return {"factor": factor, "targets": len(found), "found": len(good), "legal": legal, **mean}


def conditions(quick: bool, images: Path) -> list[Row]:
    """Problem 4 once more: limits and conditions one by one, with the smaller matrices."""
    job, rows = box(count("conditions", quick)), []
    for limits in LIMITS:
        for each in (True, False):
            solver = RankOne(polish=None, limits=limits, each=each)
            for factor in (0.1, None):
                rows.append(_far(job, solver, factor) | {"limits": limits, "each": each})
    return rows


# ── eigenvalues ──────────────────────────────────────────────────────────────────────────────────────────────────────
def _values(search: Any, x: np.ndarray) -> list[np.ndarray]:
    """The eigenvalues of every matrix, least first."""
    out = []
    for name, cells in search.lifted.groups.items():
        for cell in cells:
            if name == "disc":
                r = float(np.linalg.norm(x[cell.own]))
                out.append(np.array([0.5 * (1 - r), 0.5 * (1 + r)]))
            else:
                out.append(np.linalg.eigvalsh(square(x[cell.own], MATRICES[name].order)))
    return out


def _walk(search: Any, x: np.ndarray, restarts: int) -> tuple[list[list[np.ndarray]], list[int]]:
    """Eigenvalues after every step, and the steps before which it began anew."""
    step, rng, path, anew = replace(search, steps=1), np.random.default_rng(0), [_values(search, x)], []
    for _ in range(1 + restarts):
        slow = 0
        for _ in range(50):
            done = step.descend(x)
            before, x = sum(v[-1] for v in path[-1]), done.x
            path.append(_values(search, x))
            rise, missing = sum(v[-1] for v in path[-1]) - before, done.spectrum.missing
            slow = slow + 1 if rise < 0.02 * (missing + rise) else 0
            if done.spectrum.rank_gap <= search.tolerance:
                return path, anew
            if slow >= 2:
                break
        x = search.restarted(x, rng)
        if x is None:
            break
        anew.append(len(path))
        path.append(_values(search, x))
    return path, anew


def eigenvalues(quick: bool, images: Path) -> dict[str, Any]:
    """Figures 8 and 9: the largest eigenvalue of every matrix in the course of a descent, the spectra at its end, restarts."""
    job, out = box(40), {}
    figure, panels = sheet(2, 2, 5.0)
    stalled: Any = None
    for lift, (path_at, end_at) in zip(LIFTS, panels.T, strict=True):
        for k in np.flatnonzero(job.label == 1):
            search, _ = RankOne(lift, polish=None).search(job.problem.aimed(job.targets[k]), True, Purse(FREELY))
            answer = search.relaxed()
            path, anew = _walk(search, answer.x, 10)
            ended = max(v[-2] for v in path[-1]) <= 1e-6
            if ended and anew and stalled is None and lift == "quaternion":
                stalled = path, anew
            if ended and not anew and lift not in out:
                tops = np.array([[v[-1] for v in row] for row in path])
                traces = np.array([v.sum() for v in path[-1]])
                path_at.plot(tops / traces, color=COLOURS[0], linewidth=1)
                path_at.set(title=f"{lift}: λ₁ over the trace", xlabel="step", ylim=(None, 1.02))
                path_at.set_xticks(range(len(path)))
                for v in path[-1]:
                    end_at.plot(range(1, len(v) + 1), np.maximum(v[::-1], 1e-16), ".-", color=COLOURS[0], linewidth=0.6)
                end_at.axhline(1e-6, color=COLOURS[1], linestyle="--", linewidth=1)
                end_at.set_xticks(range(1, max(len(v) for v in path[-1]) + 1))
                end_at.set(
                    yscale="log",
                    ylim=(1e-11, 10),
                    title=f"{lift}: eigenvalues in the end",
                    xlabel="eigenvalue, largest first",
                )
                rising = bool((np.diff(tops.sum(axis=1)) > -1e-6).all())
                out[lift] = {"steps": len(path) - 1, "second": max(float(v[-2]) for v in path[-1]), "rising": rising}
            if lift in out and (stalled is not None or lift != "quaternion"):
                break
    kept(figure, images, "ikspark_fig8")
    if stalled is not None:
        path, anew = stalled
        figure, panel = sheet(1, 1, 2.8)
        panel.plot([[v[-1] for v in row] for row in path], color=COLOURS[0], linewidth=1)
        for at in anew:
            panel.axvline(at - 0.5, color=COLOURS[1], linestyle="--", linewidth=1)
        panel.set(
            xlabel="step (dashed: a restart before it)", ylabel="λ₁", title="Fig. 9: stalled, and on after a restart"
        )
        kept(figure, images, "ikspark_fig9")
        out["restart"] = {"before": anew[0], "restarts": len(anew), "steps": len(path) - 1}
    return out


# ── platforms ────────────────────────────────────────────────────────────────────────────────────────────────────────
def legs(quick: bool, images: Path) -> list[Row]:
    """Table V and Figure 13."""
    jobs = platforms(count("stewart", quick))
    rows = [row for job in jobs for row in stewart(job)]
    figure, panels = sheet(1, 2, 3.6)
    for job, panel in zip(jobs, panels, strict=True):
        posed = Problem(job.figure, [Task("platform", Placed(job.poses[0]))])
        draw(job.figure, supple.solve(posed, solver=RankOne(polish=None)).q, problem=posed, ax=panel, title=job.name)
    kept(figure, images, "ikspark_fig13", shaded=True)
    return rows


# ── among obstacles ──────────────────────────────────────────────────────────────────────────────────────────────────
MODELS = (("low", True), ("mid", True), ("high", True), ("mid", False))


def sawyer(quick: bool, images: Path) -> list[Row]:
    """Table VI, Figures 16, 17 and 19."""
    rows = []
    for name in ("random", "workcell"):
        scenes = Scenes.read(name, count("sawyer", quick))
        for model, reduce in MODELS:
            found = rank_one(scenes, model, reduce)
            row = table_six(scenes, f"{model}{'' if reduce else ', all pairs'}", model, found)
            own = scenes.judged(found["q"], model)["solved"]
            more = {"q": np.nan_to_num(found["q"]).tolist(), "good": own.tolist()}
            rows.append(row | more | {"times": found["solve"][own].tolist(), "counts": found["steps"][own].tolist()})
            print(f"  {name}, {row['solver']}", flush=True)
    _scenes_drawn(rows, quick, images)
    return rows


def _scenes_drawn(rows: list[Row], quick: bool, images: Path) -> None:
    """Figures 16, 17 and 19."""
    figure, panels = sheet(1, 2, 3.4)
    for name, panel in zip(("random", "workcell"), panels, strict=True):
        scenes = Scenes.read(name, count("sawyer", quick))
        row = next(r for r in rows if r["set"] == name and r["solver"] == "mid")
        good, at = np.array(row["good"]), scenes.places[:, :3, 3]
        panel.scatter(*at[good][:, [0, 2]].T, s=12, c=COLOURS[2], label=f"solved: {good.sum()}")
        panel.scatter(*at[~good][:, [0, 2]].T, s=16, c=COLOURS[1], marker="x", label=f"not: {(~good).sum()}")
        panel.set(xlabel="x [m]", ylabel="z [m]", title=f"Fig. 16: {name}, mid density", aspect="equal")
        panel.set(xlim=(-1.0, 1.0), ylim=(-0.3, 1.3))
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
    kept(figure, images, "ikspark_fig16")
    figure, panels = sheet(1, 2, 3.0, sharey=True)
    labels = [f"{r['set']}, {r['solver']}" for r in rows]
    for panel, key, said in ((panels[0], "times", "seconds by the clock"), (panels[1], "counts", "steps")):
        panel.boxplot(
            [r[key] for r in rows], orientation="horizontal", widths=0.6, patch_artist=True, flierprops={"markersize": 3},
            boxprops={"facecolor": PALE, "edgecolor": COLOURS[0]}, medianprops={"color": COLOURS[1]},
        )  # fmt: skip
        panel.set(xlabel=said, xlim=(0, None), ylim=(len(rows) + 0.6, 0.4))
        panel.set_yticks(range(1, len(rows) + 1), labels)
    panels[0].set_title("Fig. 17: of those solved")
    kept(figure, images, "ikspark_fig17")
    figure, panels = sheet(1, 4, 2.9, width=9.0)
    for model, panel in zip(("low", "mid", "high", "eval"), panels, strict=True):
        arm = supple.load("sawyer").locked("head_pan")
        bodies = {link: supple.geometry.Body(shapes=tuple(supple.geometry.Ball(r[:3], r[3]) for r in rows)) for link, rows in
                  balls(model).items()}  # fmt: skip
        title = f"{model}: {sum(map(len, balls(model).values()))} balls"
        draw(replace(arm, bodies=bodies), arm.rest, ax=panel, view=(10, -60), title=title, dpi=200)
    kept(figure, images, "ikspark_fig19", shaded=True)


def seven(quick: bool, images: Path) -> list[Row]:
    """Table VII."""
    return [table_seven(Scenes.read("random", count("seven", quick)), way) for way in WAYS]


def integral(quick: bool, images: Path) -> list[Row]:
    """Whether shares of polytopes become whole by themselves, and by (72)."""
    rows, arm = [], arm_of("mid")
    for name in ("random", "workcell"):
        scenes = Scenes.read(name, count("integral", quick))
        for whole in (0.0, 1.0):
            first, last, steps = [], [], []
            for i in range(len(scenes.places)):
                problem, rooms = built(scenes, i, arm, True)
                if rooms is None or not rooms.fits:
                    continue
                rooms = replace(rooms, whole=whole)
                search, _ = replace(SOLVER, rows=rooms).search(problem, True, Purse(FREELY), arm.rest)
                x = search.relaxed().x
                if x is None:
                    continue
                first.append(float(rooms.shares(x).min()))
                for attempt in search.attempts(x, SOLVER.restarts, 0):
                    if attempt.spectrum.rank_gap <= search.tolerance:
                        last.append(float(rooms.shares(attempt.x).min()))
                        steps.append(attempt.steps)
                        break
            rows.append({"set": name, "whole": whole, "problems": len(first), "rank one": len(last),
                         "first": first, "last": last})  # fmt: skip
    return rows


def drake_sawyer(quick: bool, images: Path) -> list[Row]:
    """Drake's rows of Table VI: three solvers from zero, and IPOPT from what `RankOne` found."""
    if _drake(quick) is None:
        return []
    rows = []
    for name in ("random", "workcell"):
        scenes = Scenes.read(name, count("drake", quick))
        for backend in ("SNOPT", "IPOPT", "NLOPT"):
            rows.append(judged(scenes, f"Drake {backend}", drake(scenes, backend, PEERS_AT)))
            print(f"  {name}, {backend}", flush=True)
        scenes = Scenes.read(name, count("sawyer", quick))
        found = rank_one(scenes, "mid")
        starts = np.nan_to_num(found["q"])
        rows.append(judged(scenes, "Drake IPOPT from RankOne", drake(scenes, "IPOPT", PEERS_AT, starts)))
        own = judged(scenes, "Drake IPOPT, the same targets", drake(scenes, "IPOPT", PEERS_AT))
        rows.append(own)
    return [{k: v for k, v in row.items() if k != "missed"} for row in rows]


# ── motion and grasp ─────────────────────────────────────────────────────────────────────────────────────────────────
def _example(name: str) -> dict[str, Any]:
    """What an example leaves behind, run in an empty folder."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(folder)
        try:
            return runpy.run_path(str(ROOT / "examples" / name))
        finally:
            os.chdir(here)


def shelf(quick: bool, images: Path) -> Row:
    """Figures 14 and 15: into a shelf, step by step, every body within a ball of its last rotation."""
    left = _example("20_shelf.py")
    walk, figure = np.array(left["walk"]), left["figure"]
    pictures, panels = sheet(1, 3, 3.2, width=9.0)
    for panel, k in zip(panels, (0, len(walk) // 2, len(walk) - 1), strict=True):
        draw(
            figure,
            walk[k],
            problem=left["seen"],
            ax=panel,
            view=(20, -115),
            dpi=200,
            title=f"step {k + 1} of {len(walk)}",
        )
    kept(pictures, images, "ikspark_fig14_15", shaded=True)
    return {
        "asked": len(left["places"][::3]), "reached": len(walk), "cuboids": len(left["cuboids"]),
        "clear": 1e3 * min(left["room"](figure, q) for q in walk),
        "turn": float(np.degrees(np.abs(np.diff(walk, axis=0)).max())),
    }  # fmt: skip


def grasp(quick: bool, images: Path) -> Row:
    """Figure 18: five fingertips on the faces of a cube."""
    left = _example("19_grasp.py")
    figure, relaxed = left["figure"], left["relaxed"]
    pictures, panels = sheet(1, 2, 4.0)
    touches = [replace(touch, tolerance=1e-4) for touch in left["touches"]]
    shown = Problem(figure, touches, obstacles={"cube": left["cube"]})
    for panel, view in zip(panels, ((16, -62), (14, 25)), strict=True):
        draw(figure, relaxed.q, problem=shown, ax=panel, view=view, dpi=300)
        middle, top = np.mean(panel.get_xlim()), panel.get_ylim()[1]
        panel.set(xlim=(middle - 0.12, middle + 0.12), ylim=(top - 0.2, top - 0.01))
    kept(pictures, images, "ikspark_fig18", shaded=True)
    return {
        "coordinates": figure.size, "contacts": len(left["touches"]), "cuboids": len(left["cuboids"]),
        "worst": max(miss.metres for miss in left["misses"]),
    }  # fmt: skip


# ── what cannot be ───────────────────────────────────────────────────────────────────────────────────────────────────
def _proved(name: str, asked: list[Problem], solver: Any = None) -> Row:
    """How problems end, with every certificate checked once more."""
    ends, seconds, tried = [], [], []
    supple.solve(asked[0], solver=solver, deadline=20.0)
    for problem in asked:
        began = process_time()
        found = supple.solve(problem, solver=solver, deadline=20.0)
        seconds.append(process_time() - began)
        ends.append(found.status.name)
        if found.certificate is not None:
            tried.append(bool(found.certificate.verify(problem.figure)))
    return {
        "figure": name, "joints": asked[0].figure.size, "targets": len(ends),
        "ends": {e: ends.count(e) for e in sorted(set(ends))},
        "verified": sum(tried), "certificates": len(tried), "median": 1e3 * float(np.median(seconds)),
        "most": 1e3 * float(np.max(seconds)),
    }  # fmt: skip


def certificates(quick: bool, images: Path) -> list[Row]:
    """Every figure of the paper, asked for what it cannot do, and a person."""
    many, rng = count("bodies", quick), np.random.default_rng(4)
    job, rows = box(many), []
    rows.append(_proved("Baxter, a box in both hands, + 1 m", [job.problem.aimed(T) for T in job.shifted]))
    closed = [job.problem.aimed(T) for T, one in zip(job.targets, job.label, strict=True) if one == -1]
    rows.append(_proved("Baxter, labelled infeasible", closed))
    for platform in platforms(min(many, 40)):
        asked = []
        for T in platform.poses:
            T = np.array(T)
            T[:3, 3] += rng.uniform(4.0, 6.0) * _direction(rng)
            asked.append(Problem(platform.figure, [Task("platform", Placed(T))]))
        rows.append(_proved(f"Stewart: {platform.name}, + 4 to 6", asked))
    hand = supple.load("hand")
    rows.append(
        _proved("hand, two fingertips", [_apart(hand, "rh_fftip", "rh_thtip", rng) for _ in range(min(many, 40))])
    )
    human = supple.load("human", fingers=False)
    rows.append(
        _proved("person, hand and foot", [_apart(human, "hand_l", "foot_l", rng) for _ in range(min(many, 40))])
    )
    print("  " + ", ".join(str(row["figure"]) for row in rows), flush=True)
    return rows


def _direction(rng: np.random.Generator) -> np.ndarray:
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def _apart(figure: supple.Figure, one: str, two: str, rng: np.random.Generator) -> Problem:
    """Two points farther from each other than all lengths between them."""
    a, b = (figure.placement(figure.rest, name)[:3, 3] for name in (one, two))
    far = _spread(figure, one) + _spread(figure, two)
    way = _direction(rng)
    middle = 0.5 * (a + b)
    goals = (middle + 0.5 * rng.uniform(1.02, 1.5) * far * way, middle - 0.5 * rng.uniform(1.02, 1.5) * far * way)
    return Problem(figure, [Task(Point(name), supple.At(p)) for name, p in zip((one, two), goals, strict=True)])


def _spread(figure: supple.Figure, segment: str) -> float:
    """The sum of the lengths from a segment to the root's own frame."""
    path = [figure.placement(figure.rest, key)[:3, 3] for key in figure.path_to_root(segment) if key in figure.segments]
    return float(sum(np.linalg.norm(p - q) for p, q in pairwise(path)))


def blocked(quick: bool, images: Path) -> list[Row]:
    """Scenes that leave no way: a box about the hand, a wall across, a closed cage. All targets can be reached without them."""
    many = count("blocked", quick)
    scenes, arm, rows = Scenes.read("random"), arm_of("mid"), []
    beyond = [T for T in scenes.places if T[0, 3] > 0.7][:many]
    anywhere = list(scenes.places[:many])
    wall = [supple.Box((0.3, -1.5, -1.2), (0.55, 1.5, 1.8))]
    low, high, thick = np.array((-0.4, -0.4, -1.0)), np.array((0.4, 0.4, 1.0)), 0.25
    cage = []
    for axis in range(3):
        for end, side in ((low, -1), (high, 1)):
            if (axis, side) != (2, -1):  # its floor is what the arm stands on
                a, b = low - thick, high + thick
                a[axis], b[axis] = (end[axis] - thick, end[axis]) if side < 0 else (end[axis], end[axis] + thick)
                cage.append(supple.Box(tuple(a), tuple(b)))
    kinds = (
        ("a box about the hand", anywhere, None),
        ("a wall 25 cm thick between arm and target", beyond, wall),
        ("a cage with walls of 25 cm about the arm", beyond, cage),
    )
    for name, targets, things in kinds:
        asked = []
        for T in targets:
            p = T[:3, 3]
            own = [supple.Box(tuple(p - 0.06), tuple(p + 0.06))] if things is None else things
            asked.append(Problem(arm, [Task(HAND, Placed(T))], obstacles=own))
        rows.append(_proved(name, asked))
        if things is not None:
            rows.append(_proved(f"{name}, 2000 boxes of joints", asked[: max(2, many // 5)], Decide(boxes=2000)))
        print(f"  {name}", flush=True)
    free = [Problem(arm, [Task(HAND, Placed(T))], obstacles=[supple.Box(*map(tuple, b.reshape(2, 3))) for b in boxes])
            for T, boxes in zip(scenes.places[:many], scenes.boxes[:many], strict=True)]  # fmt: skip
    rows.append(_proved("random boxes with a way (to compare)", free))
    return rows


PARTS = {
    "sizes": sizes, "eigenvalues": eigenvalues, "boxes": boxes, "ablation": ablation, "conditions": conditions, "far": far,
    "legs": legs, "certificates": certificates, "blocked": blocked, "integral": integral, "sawyer": sawyer, "seven": seven,
    "shelf": shelf, "grasp": grasp, "drake box": drake_box, "drake sawyer": drake_sawyer,
}  # fmt: skip
