"""An arm reaches into a shelf for a mug, past a board above and a cup beside it, and gets there without touching anything.

First the posture at the mug, then the whole way in as a sequence of places of the hand, every posture next to the one before.
Draws shelf.png.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np
from matplotlib import pyplot as plt
from scipy.spatial.transform import Rotation

import supple
from supple import Box, Capsule, Clearance, Placed, Problem, RankOne, Task
from supple.geometry.distances import distance_between
from supple.solvers.rank_one import AllOf, Continuity, FreeRegions
from supple.view import draw

LINKS = {  # from, to, radius [m]
    "right_l0": ((0, 0, 0.12), (0.081, 0, 0.237), 0.075),
    "right_l1": ((0, 0, 0), (0, 0, 0.1225), 0.07),
    "right_l2": ((0, 0, -0.07), (0, 0, 0.26), 0.06),
    "right_l3": ((0, 0, -0.03), (0, -0.01, -0.12), 0.06),
    "right_l4": ((0, 0, -0.03), (0, 0.01, 0.26), 0.05),
    "right_l5": ((0, 0, 0.03), (0, 0, 0.1), 0.06),
    "right_l6": ((0, 0.015, -0.03), (0, 0.015, 0), 0.05),
    "right_hand": ((0, 0, 0), (0, 0, 0.1), 0.03),
}
SHELF = {
    "back": Box((0.98, -0.35, -0.1), (1.0, 0.35, 0.8)),
    "left": Box((0.65, 0.33, -0.1), (1.0, 0.35, 0.8)),
    "right": Box((0.65, -0.35, -0.1), (1.0, -0.33, 0.8)),
    "lower board": Box((0.65, -0.35, 0.1), (1.0, 0.35, 0.12)),
    "upper board": Box((0.65, -0.35, 0.43), (1.0, 0.35, 0.45)),
    "cup": Capsule.between((0.86, -0.14, 0.16), (0.86, -0.14, 0.2), 0.04),
}
MUG = np.array((0.86, 0.0, 0.21))
FORWARD = Rotation.from_euler("y", 90, degrees=True)  # the hand points along x
FRAMES = 40


def arm() -> supple.Figure:
    """Sawyer with capsules around its links and a gripper in its hand; the head stays."""
    bodies = {name: supple.geometry.Body(shapes=(Capsule.between(*link),)) for name, link in LINKS.items()}
    return replace(supple.load("sawyer").locked("head_pan"), bodies=bodies)


def room(figure: supple.Figure, q: np.ndarray) -> float:
    """The least distance between the arm and the shelf."""
    frames = figure.placements(q)
    bars = [(bar, frames[segment]) for segment, bars in figure.bars.items() for bar in bars]
    return min(distance_between(bar, thing, at) for bar, at in bars for thing in SHELF.values())


figure = arm()
grasp = supple.place(MUG - (0.13, 0, 0), FORWARD)
keep = Clearance(preferred=0.03)
reach = Problem(figure, [Task("right_hand", Placed(grasp))], obstacles=SHELF, clearance=keep)
supple.solve(reach)  # compiled now
began = perf_counter()
solution = supple.solve(reach)
took = 1e3 * (perf_counter() - began)
print(f"at the mug: {solution.status.name} in {took:.0f} ms, {1e3 * room(figure, solution.q):.0f} mm clear")

ways = np.linspace(MUG - (0.45, 0.1, -0.15), grasp[:3, 3], FRAMES)
places = np.array([supple.place(p, FORWARD) for p in ways])
keep_off = Problem(figure, reach.tasks, obstacles=SHELF, clearance=Clearance(margin=0.01))
paths = []
for first in supple.solve(keep_off.aimed(places[-1]), distinct=8):  # backwards, from every posture found at the mug
    path = supple.follow(keep_off, places[::-1], start=first.q)
    paths.append((not path.ok.all(), np.abs(np.diff(path.q, axis=0)).max(), path))
_, step, path = min(paths, key=lambda one: one[:2])
Q = path.q[::-1]
smooth = sum(path.ok.all() and not path.flips for *_, path in paths)
print(
    f"on the way: {path.ok.sum()} of {FRAMES} places reached, {1e3 * min(room(figure, q) for q in Q):.0f} mm clear,",
    end=" ",
)
print(
    f"no joint turns more than {np.degrees(step):.1f}° at a time ({smooth} of {len(paths)} postures at the mug lead out)"
)

# The same by convex relaxation: free space as a union of polytopes, every body within a ball of its last rotation.
about = [
    supple.problem.seeds_about(figure, supple.solve(figure, {"right_hand": Placed(places[k])}).q, 40, 0.2)
    for k in (0, -1)
]
cuboids = supple.problem.free_space(SHELF, Box((-0.6, -0.8, -0.3), (1.1, 0.8, 1.2)), np.vstack(about))
rooms, walk = FreeRegions.of(figure, cuboids), []
for place in places[::3]:
    there = keep_off.aimed(place)
    rows = [rooms.reduced(there), *(Continuity(q, bound=0.5) for q in walk[-1:])]
    answer = supple.solve(there, solver=RankOne(rows=AllOf(rows), polish=None))
    walk += [answer.q] if answer.ok else []
step = np.degrees(np.abs(np.diff(walk, axis=0)).max())
print(
    f"RankOne: {len(walk)} of {len(places[::3])} places reached in {len(cuboids)} cuboids, steps of {step:.0f}° at most"
)

mug = Capsule.between(np.subtract(MUG, (0, 0, 0.05)), np.add(MUG, (0, 0, 0.01)), 0.04)
shown = {name: thing for name, thing in SHELF.items() if name != "right"} | {"mug": mug}  # to look inside
seen = Problem(figure, reach.tasks, obstacles=shown)
sheet, axes = plt.subplots(1, 3, figsize=(15, 5.2), layout="tight")
for ax, k in zip(axes, (0, 20, FRAMES - 1), strict=True):
    draw(figure, Q[k], problem=seen, ax=ax, view=(20, -115), title=f"place {k + 1} of {FRAMES}", dpi=200)
sheet.savefig("shelf.png", dpi=100)
print("picture: shelf.png")
