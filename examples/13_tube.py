"""Looking down a tube (Zhao and Badler 1994, Fig. 3 to 5): six constraints, and a spine of 17 vertebrae grouped or free.

Draws both postures into tube.png, and the angles along both spines into tube_spine.png.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from scipy.spatial.transform import Rotation

import supple
from supple import AimedAt, At, Direction, Facing, Figure, OnLine, OnPlane, Point, Problem, Task
from supple.view import draw

VERTEBRAE = [*(f"T{k}" for k in range(1, 13)), *(f"L{k}" for k in range(1, 6))]  # from the top
RADIUS, LENGTH = 0.06, 0.5
MOUTH = np.array([0.42, 0.06, 1.28])
AXIS = np.array([0.50, -0.12, -0.86]) / np.linalg.norm([0.50, -0.12, -0.86])  # down the tube
LEFT = np.cross((0, 0, 1), AXIS) / np.linalg.norm(np.cross((0, 0, 1), AXIS))


def tasks() -> list[Task]:
    """Palms flat on the tube, elbows out at the sides, the point between the eyes on the axis, and the bottom in sight."""
    exact: dict[str, Any] = {"tolerance": 1e-6, "angle_tolerance": 1e-6}
    out = []
    for s, way, down in (("l", LEFT, 0.10), ("r", -LEFT, 0.25)):
        palm, elbow = f"hand_{s}.palm", MOUTH + 0.24 * way
        out.append(Task(Point(palm), At(MOUTH + down * AXIS + RADIUS * way), name=f"hand {s}", **exact))
        out.append(Task(Direction(palm, (0, 0, 1)), Facing(-way), name=f"palm {s}", **exact))
        out.append(Task(Point(f"forearm_{s}"), OnPlane(elbow, way), name=f"elbow {s}", **exact))
    out.append(Task(Point("eyes"), OnLine(MOUTH, AXIS), name="eyes", **exact))
    out.append(Task(Direction("eyes"), AimedAt(MOUTH + LENGTH * AXIS), name="sight", **exact))
    return out


def staves(count: int = 28) -> list[supple.Polytope]:
    """The wall of the tube for the picture, as a barrel of flat staves."""
    u, v, out = LEFT, np.cross(AXIS, LEFT), []
    for a in 2 * np.pi * np.arange(count) / count:
        outwards, along = np.cos(a) * u + np.sin(a) * v, np.cos(a) * v - np.sin(a) * u
        half = np.tan(np.pi / count)
        A = np.array([outwards, -outwards, along - half * outwards, -along - half * outwards, AXIS, -AXIS])
        b = A @ MOUTH + np.array([RADIUS - 0.004, 0.012 - RADIUS, 0.0, 0.0, LENGTH, 0.0])
        out.append(supple.Polytope(A, b))
    return out


def spine_angles(figure: Figure, q: np.ndarray) -> np.ndarray:
    """Forward extension, lateral bending and axial rotation of each vertebra on the one below [degrees], from T1 down."""
    frames = figure.placements(q)
    below = [*VERTEBRAE[1:], "pelvis"]
    turns = [frames[b][:3, :3].T @ frames[a][:3, :3] for a, b in zip(VERTEBRAE, below, strict=True)]
    return Rotation.from_matrix(np.array(turns)).as_euler("YXZ", degrees=True) * (1, -1, 1)


def standing(figure: Figure, q: np.ndarray, **options: Any) -> tuple[Figure, np.ndarray]:
    """The same posture of the whole person, for the picture."""
    whole = supple.load("jack", **options, root="fixed")
    value = dict(zip(whole.coordinates, whole.rest, strict=True)) | dict(zip(figure.coordinates, q, strict=True))
    return whole, np.array([value[name] for name in whole.coordinates])


sheet, panels = plt.subplots(1, 2, figsize=(11, 7.4), layout="tight")
plots, curves = plt.subplots(1, 2, figsize=(11, 3.6), sharey=True, layout="constrained")
for spine, panel, curve in zip(("grouped", "free"), panels, curves, strict=True):
    options = {"spine": spine, "shoulders": "grouped"}
    figure = supple.load("jack", **options, root="fixed", legs=False, fingers=False)
    solution = supple.solve(Problem(figure, tasks()))
    worst = max(max(miss) for miss in solution.errors)
    print(f"{spine} spine, {figure.size} coordinates: {solution.status.name}, worst error {worst:.1e} m or rad")
    whole, q = standing(figure, solution.q, **options)
    draw(
        whole, q, problem=Problem(whole, tasks(), obstacles=staves()), ax=panel, view=(34, -30), title=f"{spine} spine"
    )
    angles = spine_angles(figure, solution.q)
    for name, line in zip(("forward extension", "lateral bending", "axial rotation"), angles.T, strict=True):
        curve.plot(VERTEBRAE, line, marker=".", label=name)
    curve.set(title=f"{spine} spine", ylabel="degrees" if spine == "grouped" else "")
    curve.grid(alpha=0.3)
    jumps = np.abs(np.diff(angles, axis=0)).sum(axis=0)
    print("  angles summed over the spine [deg]:", angles.sum(axis=0).round(1), " up and down:", jumps.round(1))
curves[0].legend(frameon=False)
sheet.savefig("tube.png", dpi=110)
plots.savefig("tube_spine.png", dpi=110)
print("pictures: tube.png, tube_spine.png")
