"""Following a path: each answer starts where the one before ended, no joint is faster than it can be, and jumps are named."""

import numpy as np

import supple
from supple import Placed, Problem, Task

figure = supple.load("panda")
home = figure.placement(figure.rest, "panda_hand_tcp")
problem = Problem(figure, [Task("panda_hand_tcp", Placed(home))])

angle = np.linspace(0.0, 2.0 * np.pi, 401)
circle = np.tile(home, (len(angle), 1, 1))
circle[:, :3, 3] += 0.10 * np.stack([np.cos(angle) - 1.0, np.sin(angle), 0.0 * angle], axis=1)

for seconds in (4.0, 1.0, 0.4):  # once round
    dt = seconds / (len(angle) - 1)
    path = supple.follow(problem, circle, start=figure.rest, dt=dt)
    speeds = np.abs(np.diff(path.q, axis=0)) / dt
    print(f"{seconds:.1f} s: {path.ok.sum()} of {len(path)} met, {path.evaluations.mean():.1f} evaluations,", end=" ")
    print(f"joints at {100 * (speeds / figure.speed).max():.0f} % of their speed,", end=" ")
    print(f"at most {1e3 * path.errors[:, 0, 0].max():.2f} mm behind, jumps at {list(path.flips)}")
    assert (speeds <= figure.speed * (1.0 + 1e-9)).all()

# A hand that is to turn over from one target to the next jumps; with a time step it may not.
over = np.array([home, home @ supple.place((0.0, 0.0, 0.0), rpy=(0.0, 0.0, np.pi))])
print("\nturned over at once: jumps at", list(supple.follow(problem, over).flips), end=", ")
print("with 0.01 s for it: jumps at", list(supple.follow(problem, over, dt=0.01).flips))
