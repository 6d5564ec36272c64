"""A control loop: the hand follows a circle, a thousand steps a second, within the arm's limits and greatest speeds."""

import numpy as np

import supple
from supple import At, Facing, Frame, Near, Point, Problem, Task

DT = 0.001
figure = supple.load("panda")
start = figure.placement(figure.rest, "panda_hand_tcp")
centre, down = start[:3, 3] + (-0.10, 0.0, 0.0), start[:3, :3]

tasks = [
    Task(Point("panda_hand_tcp"), At(start[:3, 3]), name="on the circle"),
    Task(Frame("panda_hand_tcp"), Facing(matrix=down), priority=1, name="tool down"),
    Task(None, Near(figure.rest), priority=2, name="not far from rest"),
]
problem = Problem(figure, tasks)


def lap(seconds: float) -> None:
    """Once round in the given time, and what came of it."""
    q, fastest, farthest, tilted = figure.rest, 0.0, 0.0, 0.0
    for k in range(1, round(seconds / DT) + 1):
        angle = 2 * np.pi * k * DT / seconds
        place = centre + 0.10 * np.array([np.cos(angle), np.sin(angle), 0.0])
        following = problem.aimed(place, None, None)
        q_next = supple.step(following, q, DT)
        fastest = max(fastest, float(np.max(np.abs(q_next - q) / DT / figure.speed)))
        q = q_next
        misses = following.misses(q)
        farthest, tilted = max(farthest, misses[0].metres), max(tilted, misses[1].radians)
    print(f"{seconds:4.1f} s a lap: at most {100 * fastest:3.0f} % of a joint's greatest speed,", end=" ")
    print(f"{1000 * farthest:6.2f} mm behind, tilted by {np.rad2deg(tilted):5.2f}°")
    assert figure.limits.contains(q)


lap(2.0)
lap(0.2)  # too fast for the arm: it stays within its speeds and falls behind
