"""Figures 1, 2, 3, 5 and 7 of Engell-Nørregård & Erleben 2009 as strips, and when its loop gives up."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from ink import kept, sheet

import supple
from motion_data import BETWEEN, SPACINGS, Capture, capture
from supple import ProjectedGradient
from supple.view import draw

PAPERS = ProjectedGradient(spectral=False)
SIDE = (8, -60)
TOLERANCE = 0.01  # [m]
FIGURES: dict[str, tuple[str, ...]] = {  # and segments whose places in another posture are asked for
    "human": ("hand_r", "hand_l", "foot_r", "head"),
    "hand": ("rh_fftip", "rh_mftip", "rh_thtip"),
    "baxter": ("left_gripper", "right_gripper"),
    "panda": ("panda_hand",),
}


def motion_of(name: str) -> Capture:
    """A motion with the paper's tolerance."""
    one = capture(name)
    tasks = [replace(task, tolerance=TOLERANCE) for task in one.problem.tasks]
    return replace(one, problem=replace(one.problem, tasks=tasks))


def solved(motion: Capture, frames: list[int]) -> np.ndarray:
    """Postures for the goals of some frames, each from the one before."""
    q, out = motion.q[max(frames[0] - 12, 0)], []
    for frame in frames:
        q = PAPERS.solve(motion.problem.aimed(*motion.goals[frame]), q).q
        out.append(q)
    return np.array(out)


def off(motion: Capture, frames: list[int], Q: np.ndarray) -> dict[str, float]:
    """The worst miss of a goal, and of elbows and knees, which have none [cm]."""
    miss = np.linalg.norm(motion.seen(Q) - motion.goals[frames], axis=2)
    free = np.linalg.norm(motion.seen(Q, BETWEEN) - motion.seen(motion.q[frames], BETWEEN), axis=2)
    return {"goals": 100 * float(miss.max()), "between": 100 * float(free.max())}


def strip(name: str, first: int, step: int, many: int, images: Path, file: str, rows: int = 1) -> dict[str, float]:
    """Frames of a motion as projected line search makes them."""
    motion = motion_of(name)
    frames = list(range(first, min(len(motion.q), first + step * many), step))[:many]
    Q = solved(motion, frames)
    pictures, panels = sheet(rows, -(-len(frames) // rows), 2.5 * rows, width=9.0)
    for panel in panels.ravel():
        panel.set_axis_off()
    for frame, q, panel in zip(frames, Q, panels.ravel(), strict=False):
        draw(motion.figure, q, ax=panel, view=SIDE, title=f"{frame / 120:.2f} s", dpi=200)
    kept(pictures, images, file, shaded=True)
    return off(motion, frames, Q)


def figures(quick: bool, images: Path) -> dict[str, Any]:
    """Figure 1: any figure: a person, a hand, a robot of two arms, an arm; goals are where a random posture has them."""
    out = {}
    pictures, panels = sheet(1, len(FIGURES), 3.0, width=9.0)
    for (name, segments), panel in zip(FIGURES.items(), panels, strict=True):
        figure = supple.load(name, root="fixed", fingers=False) if name == "human" else supple.load(name)
        rng = np.random.default_rng(2)
        low, high = (np.where(np.isfinite(b), b, b0) for b, b0 in ((figure.lower, -1.0), (figure.upper, 1.0)))
        q = figure.rest + 0.6 * (rng.uniform(low, high) - figure.rest)
        tasks = [supple.Task(supple.Point(s), supple.At(figure.placement(q, s)[:3, 3])) for s in segments]
        problem = supple.Problem(figure, tasks)
        found = supple.solve(problem, solver=replace(PAPERS, steps=20_000))
        draw(figure, found.q, problem=problem, ax=panel, view=(10, -50), title=f"{name}, {figure.size}", dpi=200)
        miss = max(error.metres for error in found.errors)
        out[name] = {
            "size": figure.size,
            "miss": 100 * float(miss),
            "met": bool(miss < TOLERANCE),
            "steps": found.iterations,
        }
    kept(pictures, images, "gradient_fig1", shaded=True)
    return out


def redundant(quick: bool, images: Path) -> dict[str, float]:
    """Figure 2: all goals are met, and the posture is another one."""
    motion = motion_of("02_05")
    frames = list(range(120, len(motion.q), 120))
    Q = solved(motion, frames)
    apart = np.linalg.norm(motion.seen(Q, BETWEEN) - motion.seen(motion.q[frames], BETWEEN), axis=2).max(axis=1)
    met = np.linalg.norm(motion.seen(Q) - motion.goals[frames], axis=2).max(axis=1) < 0.01
    k = int(np.argmax(np.where(met, apart, -1.0)))
    problem = motion.problem.aimed(*motion.goals[frames[k]])
    pictures, panels = sheet(1, 4, 3.4, width=9.0)
    for view, (one, two) in zip((SIDE, (8, 60)), (panels[:2], panels[2:]), strict=True):
        for panel, q, title in ((one, motion.q[frames[k]], "captured"), (two, Q[k], "line search")):
            draw(motion.figure, q, problem=problem, ax=panel, view=view, title=title, dpi=200)
    kept(pictures, images, "gradient_fig2", shaded=True)
    return {"apart": 100 * float(apart[k]), "met": int(met.sum()), "frames": len(frames)}


def running(quick: bool, images: Path) -> dict[str, float]:
    """Figure 3: a run."""
    return strip("09_01", 12, 12, 6, images, "gradient_fig3")


def jump(quick: bool, images: Path) -> dict[str, float]:
    """Figure 5: eleven key frames of a jump."""
    return strip("16_03", 130, 26, 11, images, "gradient_fig5", rows=2)


def samples(quick: bool, images: Path) -> dict[str, Any]:
    """Figure 7: three frames in a row at each spacing."""
    motion = motion_of("49_06")
    pictures, panels = sheet(len(SPACINGS), 3, 7.2, width=6.0)
    out = {}
    for spacing, row in zip(SPACINGS, panels, strict=True):
        step = round(spacing * 120)
        frames = [140 + step * k for k in range(3)]
        for frame, panel in zip(frames, row, strict=True):
            draw(motion.figure, motion.q[min(frame, len(motion.q) - 1)], ax=panel, view=SIDE, dpi=200)
        row[0].set_title(f"{spacing} s apart", loc="left", fontsize=9)
        moved = np.linalg.norm(motion.goals[step:] - motion.goals[:-step], axis=2)
        out[str(spacing)] = 100 * float(np.median(moved))
    kept(pictures, images, "gradient_fig7", shaded=True)
    return out


def giving_up(quick: bool, images: Path) -> list[dict[str, Any]]:
    """Goals a second away: steps and what is left, with and without a rule for stagnation, a bound on first steps, or both."""
    motion = motion_of("49_06")
    runs = motion.runs(1.0)[:: 4 if quick else 1]
    ways = {
        "the paper's": PAPERS,
        "gives up below 1 % in ten steps": ProjectedGradient(spectral=False, stagnation=0.01),
        "spectral": ProjectedGradient(),
        "spectral, first trials ≤ 0.5 rad": ProjectedGradient(longest=0.5),
        "both": ProjectedGradient(longest=0.5, stagnation=0.01),
    }
    rows = []
    for label, method in ways.items():
        steps, left = [], []
        for run in runs:
            for before, frame in pairwise(run.frames):
                found = method.solve(motion.problem.aimed(*motion.goals[frame]), motion.q[before])
                steps.append(found.iterations)
                left.append(float(np.linalg.norm(motion.seen(found.q[None])[0] - motion.goals[frame], axis=1).max()))
        rows.append({"method": label, "goals": len(steps), "steps": float(np.median(steps)), "most": int(np.max(steps)),
                     "left": 100 * float(np.median(left)), "tenth": 100 * float(np.percentile(left, 90))})  # fmt: skip
    return rows


PARTS = {
    "figures": figures,
    "redundant": redundant,
    "running": running,
    "jump": jump,
    "samples": samples,
    "giving up": giving_up,
}
