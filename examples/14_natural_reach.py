"""A reach that fails, one that is awkward, and one that is natural (Zhao and Badler 1994, Fig. 6 to 8): chains and rigidity.

The right palm should lie flat on the right face of a box. Draws all three postures into natural_reach.png.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import pyplot as plt

import supple
from supple import At, Box, Direction, Facing, Point, Problem, Task
from supple.view import draw

figure = supple.load("human", root="fixed", fingers=False)
TORSO = ("lumbar", "thorax_lower", "thorax_upper")
PLACE, INWARDS = (0.68, 0.20, 0.95), (0.0, 1.0, 0.0)  # the middle of the right face, and the way into the box
BOX = Box((0.55, 0.20, 0.82), (0.81, 0.46, 1.08))


def problem(chain: str, rigidity: dict[str, float], **options: Any) -> Problem:
    """The palm at the face's middle, its normal along the face's; the joints from `chain` on may move."""
    palm = "hand_r.palm"
    tasks = [
        Task(Point(palm), At(PLACE), chain=chain, name="palm at the face"),
        Task(Direction(palm, (0, 0, 1)), Facing(INWARDS), chain=chain, name="palm flat on it"),
    ]
    return Problem(figure, tasks, rigidity=rigidity, **options)


def torso(q: np.ndarray, motion: str) -> float:
    """How much the three joints of the torso bend or turn, all together [degrees]."""
    return float(np.rad2deg(sum(abs(q[figure.coordinates.index(f"{s}.{motion}")]) for s in TORSO)))


STIFF = {f"{part}.{motion}": 0.5 for part in ("lumbar", "thorax_*") for motion in ("bending", "rotation")}
CASES: dict[str, tuple[str, dict[str, float]]] = {
    "from the shoulder": ("upper_arm_r", {}),
    "from the waist": ("lumbar", {}),
    "from the waist, rigidity 0.5": ("lumbar", STIFF),
}
sheet, panels = plt.subplots(1, 3, figsize=(14, 6.4), layout="tight")
for (name, (chain, rigidity)), panel in zip(CASES.items(), panels, strict=True):
    solution = supple.solve(problem(chain, rigidity))
    moving = int((solution.problem.free > 0).sum())
    print(f"{name}: {moving} coordinates, {solution.status.name}. {solution.reason}")
    flexion, bending, rotation = (torso(solution.q, motion) for motion in ("flexion", "bending", "rotation"))
    short = f"{1000 * solution.errors[0].metres:.0f} mm short" if not solution.ok else "reached"
    print(f"  {short}; torso: {flexion:.0f}° forwards and back, {bending:.0f}° sideways, {rotation:.0f}° of rotation")
    title = f"{name}: {short}\nbending {bending:.0f}°, rotation {rotation:.0f}°"
    shown = problem(chain, rigidity, obstacles=[BOX])
    draw(figure, solution.q, problem=shown, ax=panel, view=(10, -9), title=title)
low, high = (np.array([(p.get_xlim()[i], p.get_ylim()[i]) for p in panels]) for i in (0, 1))
for panel in panels:  # all at one scale
    panel.set(xlim=(low[:, 0].min(), high[:, 0].max()), ylim=(low[:, 1].min(), high[:, 1].max()))
sheet.savefig("natural_reach.png", dpi=100)
print("picture: natural_reach.png")
