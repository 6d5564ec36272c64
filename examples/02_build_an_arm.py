"""A human arm in ten lines: a ball, a hinge, two more hinges at the wrist, and where the fingertip is."""

import numpy as np

from supple import Figure, Point, Problem, Task, At, ball, fixed, hinge, solve, universal

DEGREE = np.pi / 180

arm = Figure(
    "arm",
    [
        *fixed("shoulder_blade", at=(0, 0, 1.4)),
        *ball("upper_arm", "shoulder_blade", "yxz", limits=[(-180 * DEGREE, 60 * DEGREE), (-150 * DEGREE, 30 * DEGREE), (-90 * DEGREE, 70 * DEGREE)]),
        *hinge("forearm", "upper_arm", (0, -1, 0), at=(0, 0, -0.33), limits=(0, 150 * DEGREE), rest=0.2),
        *universal("hand", "forearm", "yx", at=(0, 0, -0.26), limits=[(-70 * DEGREE, 80 * DEGREE), (-20 * DEGREE, 30 * DEGREE)]),
        *fixed("fingertip", "hand", at=(0, 0, -0.19)),
    ],
)
print(arm)
print("coordinates:", ", ".join(arm.joints))

solution = solve(Problem(arm, [Task(Point("fingertip"), At((0.45, 0.15, 1.5)))]))
print(solution.report())

straight = arm.with_rest({"forearm": 0.0}).locked("hand")
print(straight, "- the wrist is locked:", straight.joints)
