"""A human arm in ten lines: a ball, a hinge, two more hinges at the wrist, and where the fingertip is."""

import numpy as np

from supple import At, Figure, Point, Problem, Task, ball, fixed, hinge, solve, universal

SHOULDER = np.deg2rad([(-180, 60), (-150, 30), (-90, 70)])
ELBOW = np.deg2rad((0, 150))
WRIST = np.deg2rad([(-70, 80), (-20, 30)])

arm = Figure(
    "arm",
    [
        *fixed("shoulder_blade", at=(0, 0, 1.4)),
        *ball("upper_arm", "shoulder_blade", "yxz", limits=SHOULDER),
        *hinge("forearm", "upper_arm", (0, -1, 0), at=(0, 0, -0.33), limits=ELBOW, rest=0.2),
        *universal("hand", "forearm", "yx", at=(0, 0, -0.26), limits=WRIST),
        *fixed("fingertip", "hand", at=(0, 0, -0.19)),
    ],
)
print(arm)
print("coordinates:", ", ".join(arm.coordinates))

solution = solve(Problem(arm, [Task(Point("fingertip"), At((0.45, 0.15, 1.5)))]))
print(solution.report())

straight = arm.with_rest({"forearm": 0.0}).locked("hand")
print(straight, "- the wrist is locked:", straight.coordinates)
