"""The first lines of the README: a robot arm puts a point of its hand at a place."""

import supple

figure = supple.load("panda")
hand = supple.Point("panda_hand", offset=(0, 0, 0.1))
task = supple.Task(hand, supple.At((0.4, 0.1, 0.6)))
problem = supple.Problem(figure, [task])

solution = supple.solve(problem)
print(solution.status.name, "-", solution.reason)
print(dict(zip(figure.coordinates, solution.q.round(3).tolist(), strict=True)))
print(f"missed by {1e6 * solution.errors[0].metres:.2f} micrometres")
print("within the limits:", figure.limits.contains(solution.q))

# A place beyond the arm's reach is no error: the answer is the nearest legal posture, and it says so.
far = supple.solve(problem.aimed((2.0, 0.0, 0.5)))
print(far.status.name, "-", far.reason)
print(f"{far.errors[0].metres:.3f} m short of it")
