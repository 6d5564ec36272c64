"""A closed loop as a task: the free end of a four-bar linkage is pulled to its pivot while the coupler does its work."""

import numpy as np

from supple import At, Figure, Gap, OnPlane, Point, Problem, Task, fixed, hinge, solve

Y = (0, 1, 0)
linkage = Figure(
    "four-bar",
    [
        *fixed("ground"),
        *hinge("crank", "ground", Y, at=(0, 0, 0.1), limits=(-np.pi, np.pi), rest=-0.6),
        *hinge("coupler", "crank", Y, at=(0, 0, 0.15), limits=(-np.pi, np.pi), rest=1.8),
        *hinge("rocker", "coupler", Y, at=(0, 0, 0.40), limits=(-np.pi, np.pi), rest=1.5),
        *fixed("rocker_end", "rocker", at=(0, 0, 0.30)),
        *fixed("pen", "coupler", at=(-0.12, 0, 0.20)),
    ],
)

# The second pivot stands at (0.4, 0, 0.1). A gap looks at one end from the other: here the rocker's end from the ground.
closed = Task(Gap(Point("ground", (0.4, 0.0, 0.1)), Point("rocker_end")), At((0, 0, 0)), weight=10.0, name="closed")
for height in (0.36, 0.38, 0.40):
    pen = Task(Point("pen"), OnPlane((0, 0, height), (0, 0, 1)), name=f"pen at {height} m")
    solution = solve(Problem(linkage, [closed, pen]))
    print(solution.report(), end="\n\n")
