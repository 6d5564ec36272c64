"""The room between obstacles as a union of convex polytopes: cuboids, and polytopes with faces in any direction.

Prints how many there are and how much of the free space they cover, and draws a floor plan, free_space.png. They do not cover
all of it, so that nothing fits into any of them proves nothing.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from matplotlib import pyplot as plt
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, HalfspaceIntersection
from scipy.spatial.transform import Rotation

import supple
from supple import Ball, Box, Capsule, Polytope
from supple.geometry.distances import distance_between

CELL, HEIGHT = Box((0, 0, 0), (2, 1.6, 1)), 0.5
TURNED = supple.place((1.4, 0.6, 0.5), Rotation.from_euler("z", 35, degrees=True))
THINGS = [
    Box((0.5, 0.0, 0.0), (0.65, 1.0, 1.0)),
    Box((-0.4, -0.08, -0.5), (0.4, 0.08, 0.5), TURNED),
    Capsule.between((0.95, 1.15, 0.0), (0.95, 1.15, 1.0), 0.13),
    Polytope([(-1, -0.6, 0), (0, 1, 0), (1, 0, 0)], [-2.5, 1.6, 2.0]),  # pyright: ignore[reportArgumentType]
]


def plan(body: Polytope) -> np.ndarray:
    """The outline of a polytope at one height, as far as it is in the cell."""
    cell = Polytope.of(CELL)
    A, b = np.vstack([body.A, cell.A]), np.concatenate([body.b, cell.b])
    A, b = A[:, :2], b - HEIGHT * A[:, 2]
    A, b = A[np.abs(A).max(axis=1) > 1e-9], b[np.abs(A).max(axis=1) > 1e-9]
    wide = np.column_stack([A, np.linalg.norm(A, axis=1)])
    middle = linprog([0, 0, -1], wide, b, bounds=[(None, None)] * 3).x
    if middle[2] < 1e-6:
        return np.empty((0, 2))
    points = HalfspaceIntersection(np.column_stack([A, -b]), middle[:2]).intersections
    return points[ConvexHull(points).vertices]


def outline(thing: Box | Capsule | Polytope) -> np.ndarray:
    """The outline of an obstacle."""
    if isinstance(thing, Capsule):
        turn = np.linspace(0, 2 * np.pi, 60)
        return thing.at[:2, 3] + thing.radius * np.column_stack([np.cos(turn), np.sin(turn)])
    return plan(Polytope.of(thing) if isinstance(thing, Box) else thing)


drawn = np.random.default_rng(1).uniform(CELL.lower, CELL.upper, (400, 3))
points = [p for p in drawn if all(distance_between(Ball(p, 1e-6), thing) > 0.0 for thing in THINGS)]
sheet, axes = plt.subplots(1, 2, figsize=(12, 5), layout="tight")
for ax, cuboids in zip(axes, (True, False), strict=True):
    began = perf_counter()
    found = supple.problem.free_space(THINGS, CELL, 12, cuboids=cuboids)
    took = 1e3 * (perf_counter() - began)
    inside = np.array([any((body.A @ p <= body.b).all() for body in found) for p in points])
    name = f"{len(found)} {'cuboids' if cuboids else 'polytopes'} cover {100 * inside.mean():.0f} % of the free space"
    print(f"{name}, {took:.0f} ms")
    for body, colour in zip(found, plt.get_cmap("viridis")(np.linspace(0, 0.9, len(found))), strict=True):
        shape = plan(body)
        if len(shape):
            ax.fill(*shape.T, facecolor=(*colour[:3], 0.15), edgecolor=colour, linewidth=1.5)
    for thing in THINGS:
        ax.fill(*outline(thing).T, color="0.3")
    ax.set(title=name, aspect="equal", xlim=(-0.03, 2.03), ylim=(-0.03, 1.63), xlabel="x [m]", ylabel="y [m]")
sheet.savefig("free_space.png", dpi=100)
print("picture: free_space.png")
