"""What gives when not everything can be had: weights balance, priorities rank, and hard tasks hold."""

import numpy as np

import supple
from supple import AimedAt, At, Direction, Frame, Placed, Point, Problem, Task

figure = supple.load("human")
FEET = ("foot_l", "foot_r")
shelf = (2.0, -0.3, 1.6)  # out of reach


def stretch(hard: bool, first: str) -> Problem:
    """Stand, look at something behind the back, reach for the shelf; one of the two comes first."""
    feet = [Task(Frame(foot), Placed(figure.placement(figure.rest, foot)), hard=hard, name=foot) for foot in FEET]
    return Problem(
        figure,
        [
            *feet,
            Task(Point("hand_r.tip"), At(shelf), priority=int(first == "look"), name="reach"),
            Task(Direction("eyes"), AimedAt((-1.0, 0.5, 1.0)), priority=int(first == "reach"), name="look"),
        ],
    )


cases = {
    "all of equal rank": stretch(hard=False, first=""),
    "feet are hard": stretch(hard=True, first=""),
    "feet are hard, then reach, then look": stretch(hard=True, first="reach"),
    "feet are hard, then look, then reach": stretch(hard=True, first="look"),
}
print(f"{'':38s} {'feet slip':>10s} {'hand short':>11s} {'eyes off':>9s}")
for name, problem in cases.items():
    solution = supple.solve(problem)
    feet, reach, look = solution.errors[:2], solution.errors[2], solution.errors[3]
    slip = max(miss.metres for miss in feet)
    print(f"{name:38s} {1e3 * slip:7.2f} mm {1e3 * reach.metres:8.1f} mm {np.rad2deg(look.radians):8.2f}°", end="  ")
    print(solution.status.name)
