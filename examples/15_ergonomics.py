"""Ten scenes from daily life, each a file in the folder scenes: read, solved from the posture that the file gives, and drawn.

Prints what became of each, and draws all of them from two sides into ergonomics.png and ergonomics_behind.png.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import numpy as np
from matplotlib import pyplot as plt

import supple
from supple import Balanced, MassCentre, Problem, Solution
from supple.view import draw

FOLDER = Path(__file__).parent / "scenes"
SIDES = {"ergonomics.png": 0, "ergonomics_behind.png": 1}
SCENES = {  # the file, what it shows, and from where it is seen: elevation and azimuth [degrees]
    "driver": ("driving", (12, -52), (14, 118)),
    "lift": ("lifting a crate", (10, -52), (10, 28)),
    "ladder": ("climbing a ladder", (8, -62), (8, 158)),
    "under_table": ("looking under a table", (8, -72), (16, 128)),
    "cup": ("looking back, cup level", (8, 20), (8, 152)),
    "top_shelf": ("reaching the top shelf", (6, 158), (6, 214)),
    "typing": ("typing", (14, -52), (14, 132)),
    "tie_shoe": ("tying a shoe", (10, -52), (12, 42)),
    "cart": ("pushing a cart", (10, -58), (12, 142)),
    "pole": ("carrying a pole", (8, -40), (8, 128)),
}


def timed(scene: supple.Scene) -> tuple[Solution, float]:
    """The solution, and the milliseconds that the quickest of three solves took."""
    taken = []
    for _ in range(3):
        start = perf_counter()
        scene.solve()
        taken.append(1000 * (perf_counter() - start))
        scene.undo()
    return scene.solve(), min(taken)


def balance(solution: Solution) -> float:
    """How far the centre of mass is inside the polygon of support [m]; NaN where the scene asks for none."""
    for task in solution.problem.tasks:
        if isinstance(task.effector, MassCentre) and isinstance(task.goal, Balanced):
            centre = solution.problem.figure.seen(solution.q, task.effector)[:2, 3]
            inward, least = task.goal.edges[:, :2], task.goal.edges[:, 2] - task.goal.margin
            return float((inward @ centre - least).min())
    return np.nan


sheets = {path: plt.subplots(2, 5, figsize=(17, 8.6), layout="tight") for path in SIDES}
print(f"{'scene':12s} {'status':8s} {'worst error':>12s} {'ms':>5s} {'balance':>8s}  at a limit")
for i, (name, (title, *views)) in enumerate(SCENES.items()):
    scene = supple.read_scene(FOLDER / f"{name}.toml")
    solution, taken = timed(scene)
    errors = zip(solution.problem.all_tasks, solution.errors, strict=True)
    worst = max(max(miss) for task, miss in errors if not task.preference)
    inside = f"{100 * balance(solution):.1f} cm" if np.isfinite(balance(solution)) else "–"
    limits = ", ".join(solution.active) or "–"
    print(f"{name:12s} {solution.status.name:8s} {worst:12.1e} {taken:5.0f} {inside:>8s}  {limits}")
    shown = [t for t in scene.problem.tasks if isinstance(t.goal, Balanced)]
    around = Problem(scene.figure, shown, obstacles=scene.obstacles)
    for path, side in SIDES.items():
        panel = sheets[path][1].flat[i]
        draw(scene.figure, solution.q, problem=around, ax=panel, view=views[side], title=title, dpi=90)
for path, (sheet, _) in sheets.items():
    sheet.savefig(path, dpi=90)
print("pictures:", ", ".join(SIDES))
