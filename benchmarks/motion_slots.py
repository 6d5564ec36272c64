"""Every solver in a slot of 15 ms a frame: the experiment of the projected-gradient paper (its figures 8 to 10), and jitter.

Each frame begins at the answer to the frame before and gets, as in the paper, a number of steps that takes about 15 ms; it is
timed beforehand for each solver. What is left is the sum of the squared distances of all six effectors from their goals [m²].

**Jitter** is the root mean square of the second difference of the joint angles from frame to frame, ``q[k−1] − 2 q[k] +
q[k+1]``, over those joints that move an effector, the root left out; as a multiple of the same number of the captured
motion at the same frames. 1 is as smooth as the capture.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import supple
from motion_data import ROOT, SPACINGS, Capture

SLOT = 0.015  # seconds
TRIAL = 120  # frames between those on which steps are timed
SOLVERS: dict[str, Any] = {
    "default (many starts)": supple.Multistart(),
    "LevenbergMarquardt": supple.LevenbergMarquardt(),
    "Newton": supple.Newton(),
    "ActiveSet": supple.ActiveSet(),
    "ProjectedGradient": supple.ProjectedGradient(),
    "ProjectedGradient, τ₁ = 1": supple.ProjectedGradient(spectral=False),
    "DampedLeastSquares": supple.solvers.DampedLeastSquares(),
    "PseudoInverse": supple.PseudoInverse(),
    "CyclicCoordinateDescent": supple.CyclicCoordinateDescent(),
    "JacobianTranspose, τ = 0.005": supple.JacobianTranspose(),
    "JacobianTranspose, (28)": supple.JacobianTranspose(step=supple.solvers.FittedStep()),
    "JacobianTranspose, (29)": supple.JacobianTranspose(step=supple.solvers.CautiousStep()),
    "Fabrik": supple.Fabrik(),
}


def jitter(capture: Capture, spacing: float, Q: np.ndarray) -> float | None:
    """How jumpy the answers (n, 72) to all runs at a spacing are, as a multiple of the capture; None if runs are too short."""
    moved = capture.problem.moved.copy()
    moved[:ROOT] = False
    mine, theirs, at = [], [], 0
    for run in capture.runs(spacing):
        own = capture.q[list(run.frames)][:, moved]
        found = np.vstack([own[:1], Q[at : at + len(own) - 1][:, moved]])
        at += len(own) - 1
        mine.append(np.diff(found, 2, axis=0))
        theirs.append(np.diff(own, 2, axis=0))
    a, b = np.concatenate(mine), np.concatenate(theirs)
    return float(np.sqrt(np.mean(a**2) / np.mean(b**2))) if len(b) else None


def weighed(values: list[float | None], counts: list[int]) -> float | None:
    """The mean over motions, each counting by its frames; None if no motion has a value."""
    known = [(v, n) for v, n in zip(values, counts, strict=True) if v is not None]
    return float(sum(v * n for v, n in known) / sum(n for _, n in known)) if known else None


def slotted(capture: Capture, solver: Any) -> Any:
    """The solver with as many steps as take 15 ms of processor time, timed on frames a second apart."""
    if isinstance(solver, supple.Multistart):
        return solver  # bounded by its attempts
    steps, seconds = 0, 0.0
    for frame in range(TRIAL, len(capture.q), TRIAL):
        problem = capture.problem.aimed(*capture.goals[frame])
        solver.solve(problem, capture.q[frame], 0)  # packed and compiled now
        start = time.thread_time()
        steps += solver.solve(problem, capture.q[frame - TRIAL], 0).iterations
        seconds += time.thread_time() - start
    return replace(solver, steps=max(1, int(SLOT * steps / seconds)))


def shown(value: float | None) -> str:
    """A number with two digits, or room for it."""
    return f"{'':6s}" if value is None else f"{value:6.2f}"


def in_slots(capture: Capture, spacing: float, solver: Any) -> tuple[np.ndarray, np.ndarray]:
    """The answers (n, 72) of a solver to all runs at a spacing, and how many steps each took."""
    Q, steps = [], []
    for run in capture.runs(spacing):
        q = capture.q[run.frames[0]]
        for frame in run.frames[1:]:
            solution = solver.solve(capture.problem.aimed(*capture.goals[frame]), q, 0)
            q = solution.q
            Q.append(q)
            steps.append(solution.iterations)
    return np.array(Q), np.array(steps)


def slots(captures: list[Capture]) -> list[dict[str, Any]]:
    """For each solver and spacing: what is left in every frame [m²] and the jitter, or why the solver refuses."""
    rows = []
    for label, solver in SOLVERS.items():
        reasons = solver.refuse(captures[0].problem)
        if reasons:
            rows.append({"solver": label, "refused": "; ".join(reasons)})
            continue
        limited = slotted(captures[len(captures) // 2], solver)
        for spacing in SPACINGS:
            left, jumps, counts, inside = [], [], [], []
            taken, overrun = 0, 0.0
            for capture in captures:
                frames = [f for run in capture.runs(spacing) for f in run.frames[1:]]
                if not frames:
                    continue
                Q, steps = in_slots(capture, spacing, limited)
                taken = max(taken, int(steps.max()))
                miss = np.linalg.norm(capture.seen(Q) - capture.goals[frames], axis=2)
                left += (miss**2).sum(axis=1).tolist()
                inside += (miss.max(axis=1) <= 1e-3).tolist()
                jumps.append(jitter(capture, spacing, Q))
                counts.append(len(frames))
                overrun = max(overrun, capture.overrun(Q))
            mean = weighed(jumps, counts)
            row = {"solver": label, "spacing": spacing, "left": left, "share": float(np.mean(inside)), "jitter": mean}
            row |= {"overrun": float(np.degrees(overrun)), "steps": getattr(limited, "steps", None), "taken": taken}
            rows.append(row)
            print(
                f"{label:30s} {spacing:5.2f} s   steps ≤ {taken:6d}   median left {np.median(left):9.2g} m²"
                f"   within 1 mm {100 * row['share']:5.1f} %   jitter {shown(mean)}   over {row['overrun']:.2g}°",
                flush=True,
            )
    return rows


# ── pictures ─────────────────────────────────────────────────────────────────────────────────────────────────────────
FLOOR = 1e-13  # m²: less is drawn as this much
BLUE, GREY, RED = "#2b6cb0", "#8a8f98", "#c0392b"


def draw(rows: list[dict[str, Any]], folder: Path) -> list[Path]:
    """The box plots, one picture for each spacing, and the jitter; PNG files."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    taken = [row for row in rows if "left" in row]
    labels = list(dict.fromkeys(row["solver"] for row in taken))
    paths = []
    for spacing in SPACINGS:
        chosen = {row["solver"]: row for row in taken if row["spacing"] == spacing}
        figure, axes = plt.subplots(figsize=(8.0, 0.36 * len(labels) + 1.2), layout="constrained")
        data = [np.maximum(chosen[label]["left"], FLOOR) for label in labels]
        axes.boxplot(
            data,
            orientation="horizontal",
            widths=0.6,
            patch_artist=True,
            boxprops={"facecolor": "#dce8f5", "edgecolor": BLUE},
            medianprops={"color": BLUE, "linewidth": 2},
            whiskerprops={"color": BLUE},
            capprops={"color": BLUE},
            flierprops={"marker": "+", "markeredgecolor": RED, "markersize": 4, "alpha": 0.5},
        )
        axes.set_xscale("log")
        axes.set_xlim(FLOOR / 3, 30.0)
        axes.axvline(1e-6, color=GREY, linestyle="--", linewidth=1)
        axes.text(1.3e-6, len(labels) + 0.85, "1 mm", color=GREY, fontsize=8, va="bottom")
        axes.set_yticks(range(1, len(labels) + 1), labels)
        axes.set_ylim(len(labels) + 0.9, 0.4)
        axes.set_xlabel("sum of squared errors left after 15 ms [m²]")
        axes.set_title(f"{len(data[0])} frames, goals {spacing} s apart", fontsize=10)
        axes.grid(axis="x", color="#e6e6e6")
        axes.set_axisbelow(True)
        paths.append(folder / f"motion_{round(1000 * spacing):04d}ms.png")
        figure.savefig(paths[-1], dpi=130)
        plt.close(figure)
    figure, axes = plt.subplots(figsize=(8.0, 0.5 * len(labels) + 1.2), layout="constrained")
    for k, (spacing, colour) in enumerate(zip(SPACINGS, (BLUE, "#6fa8dc", "#b9d3ee"), strict=True)):
        values = [
            next(r["jitter"] or 0.0 for r in taken if r["solver"] == s and r["spacing"] == spacing) for s in labels
        ]
        axes.barh(np.arange(len(labels)) + 0.26 * (k - 1), values, 0.26, color=colour, label=f"{spacing} s apart")
    axes.axvline(1.0, color=GREY, linestyle="--", linewidth=1)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_xlabel("jitter, as a multiple of the captured motion's")
    axes.legend(frameon=False, fontsize=8)
    axes.grid(axis="x", color="#e6e6e6")
    axes.set_axisbelow(True)
    paths.append(folder / "motion_jitter.png")
    figure.savefig(paths[-1], dpi=130)
    plt.close(figure)
    return paths
