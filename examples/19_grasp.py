"""A hand of 24 joints holds a cube: five fingertips on its faces exactly, nothing inside it, no finger in another.

Prints how far every fingertip is from its face and draws grasp.png from two sides.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np
from matplotlib import pyplot as plt
from scipy.spatial.transform import Rotation

import supple
from supple import Box, Capsule, Clearance, Near, Point, Problem, RankOne, Task, Within
from supple.geometry.distances import distance_between
from supple.solvers.rank_one import AllOf, Contact, FreeRegions
from supple.view import draw

SIDE, ROUND = 0.05, 0.007  # of the cube; radius of a fingertip [m]
FACES = {
    "ff": (2, 1),
    "mf": (2, 1),
    "rf": (2, 1),
    "lf": (0, -1),
    "th": (2, -1),
}  # axis of the cube, and which end of it
CUBE = supple.place((0.007, -0.075, 0.321), Rotation.from_euler("x", 7, degrees=True))


def hand() -> supple.Figure:
    """The hand, with a capsule around every bone: what it keeps clear with, and what is drawn."""
    bones = {"rh_thproximal": (0.038, 0.009), "rh_thmiddle": (0.032, 0.008), "rh_thdistal": (0.0205, ROUND)}
    for finger in ("ff", "mf", "rf", "lf"):
        lengths = {"proximal": (0.045, 0.008), "middle": (0.025, 0.0075), "distal": (0.019, ROUND)}
        bones |= {f"rh_{finger}{bone}": size for bone, size in lengths.items()}
    bones |= {"rh_lfmetacarpal": (0.06, 0.01)}
    flesh = {name: [Capsule.between((0, 0, 0), (0, 0, length), radius)] for name, (length, radius) in bones.items()}
    flesh["rh_palm"] = [Capsule.between((x, 0, 0.02), (x, 0, 0.085), 0.011) for x in (-0.011, 0.011, 0.033)]
    return replace(
        supple.load("hand"), bodies={name: supple.geometry.Body(shapes=shapes) for name, shapes in flesh.items()}
    )


def touch(figure: supple.Figure, finger: str) -> Task:
    """The centre of a fingertip one radius off its face, anywhere on it that is 4 mm from the edges."""
    axis, end = FACES[finger]
    low, high = np.full(3, 0.004 - SIDE / 2), np.full(3, SIDE / 2 - 0.004)
    low[axis] = high[axis] = end * (SIDE / 2 + ROUND)
    tip = figure.bars[f"rh_{finger}distal"][0]
    centre = Point(f"rh_{finger}distal", tip.at[:3] @ (0, 0, tip.length / 2, 1))
    return Task(centre, Within(CUBE, box=(low, high)), tolerance=1e-9, name=finger)


figure = hand()
cube = Box((-SIDE / 2,) * 3, (SIDE / 2,) * 3, CUBE)
touches = [touch(figure, finger) for finger in FACES]
ease = Task(None, Near((figure.lower + figure.upper) / 2), preference=True)  # joints in the middle of their ranges
grasp = Problem(figure, [*touches, ease], obstacles={"cube": cube}, clearance=Clearance(itself=True))
supple.solve(grasp)  # compiled now
began = perf_counter()
solution = supple.solve(grasp)
print(f"{solution.status.name} in {1e3 * (perf_counter() - began):.0f} ms: {solution.reason}")

frames = figure.placements(solution.q)
for segment, bars in figure.bars.items():
    apart = min(distance_between(bar, cube, frames[segment]) for bar in bars)
    if segment.endswith("distal"):
        print(f"  {segment:12s} is {1e9 * apart:+7.2f} nm from the cube")
deepest = max(-distance_between(bar, cube, frames[s]) for s, bars in figure.bars.items() for bar in bars)
overlaps = figure.touching(solution.q, -1e-5) or "none"
print(f"nothing is deeper in the cube than {max(0.0, deepest):.1e} m; fingers overlap: {overlaps}")

# The same by convex relaxation: the room around the cube as cuboids, contacts as rows, no start and no descent in angles.
cuboids = supple.problem.free_space([cube], Box((-0.2, -0.2, -0.35), (0.2, 0.2, 0.2), CUBE), 60)
rows = AllOf([Contact(touches), FreeRegions.of(figure, cuboids)])
relaxed = supple.solve(Problem(figure, []), solver=RankOne(rows=rows))
misses = Problem(figure, touches, obstacles={"cube": cube}).misses(relaxed.q)
print(f"RankOne, in {len(cuboids)} cuboids: contacts and depth within {max(miss.metres for miss in misses):.0e} m")

sheet, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="tight")
for ax, view in zip(axes, ((16, -62), (14, 25)), strict=True):
    draw(figure, solution.q, problem=grasp, ax=ax, view=view, dpi=300)
    middle, top = np.mean(ax.get_xlim()), ax.get_ylim()[1]
    ax.set(xlim=(middle - 0.12, middle + 0.12), ylim=(top - 0.2, top - 0.01))  # without most of the forearm
sheet.savefig("grasp.png", dpi=110)
print("picture: grasp.png")
