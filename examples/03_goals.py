"""Many kinds of goals at once: a person at a table looks at a cup and takes one of two handles, the other hand on the hip."""

import numpy as np

import supple
from supple import AimedAt, AnyOf, At, Direction, Facing, Frame, OnLine, OnPlane, Placed, Point, Task, Within

figure = supple.load("human")
ankle = figure.placement(figure.rest, "foot_l")[2, 3]
cup, handles = (0.9, 0.0, 1.0), [(0.45, 0.35, 1.25), (0.45, 0.95, 1.65)]

tasks = [
    Task(Direction("eyes"), AimedAt(cup), name="look at the cup"),
    Task(Point("hand_l.palm"), AnyOf([At(handle) for handle in handles]), name="hold a handle"),
    Task(Point("hand_r.palm"), At((0.02, -0.20, 0.12), relative_to="pelvis"), name="right hand on the hip"),
    Task(Point("forearm_r"), OnPlane((0.0, -0.42, 0.0), (0.0, 1.0, 0.0)), name="right elbow at the wall"),
    Task(Frame("foot_l"), Placed((0.0, 0.10, ankle), matrix=np.eye(3)), name="left foot stays"),
    Task(Point("foot_r"), OnLine((0.0, -0.12, ankle), (1.0, 0.0, 0.0)), name="right foot on a line"),
    Task(Point("pelvis"), Within(supple.place((0.05, 0.0, 0.90)), box=(0.05, 0.05, 0.04)), name="hips in a box"),
    Task(Direction("thorax_upper", (0, 0, 1)), Facing((0.2, 0.0, 1.0)), name="lean forward a little"),
]
problem = supple.Problem(figure, tasks)
solution = supple.solve(problem)
print(solution.report())

try:
    from supple.view import draw

    draw(figure, solution.q, problem=problem, path="goals.png", view=(14, -30), names=True)
    print("picture: goals.png")
except supple.MissingExtra as missing:
    print(missing)
