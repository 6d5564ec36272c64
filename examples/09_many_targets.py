"""One problem, many targets: a prepared query for one at a time, `solve_many` for thousands at once."""

from time import perf_counter

import numpy as np

import supple
from supple import Placed, Problem, Task

figure = supple.load("panda")
home = figure.placement(figure.rest, "panda_hand_tcp")
problem = Problem(figure, [Task("panda_hand_tcp", Placed(home))])

# Placements that the arm can reach: those of random legal postures.
rng = np.random.default_rng(0)
targets = figure.placement(rng.uniform(figure.lower, figure.upper, (5000, figure.size)), "panda_hand_tcp")

query = supple.prepare(problem)  # packs the problem once
query(home)  # compiles on the very first run

started = perf_counter()
solution = query(targets[0], start=figure.rest)
print(f"one target: {solution.status.name} in {1e6 * (perf_counter() - started):.0f} µs")

started = perf_counter()
many = supple.solve_many(problem, targets)  # on all cores
seconds = perf_counter() - started
print(f"{len(many)} targets: {100 * many.ok.mean():.2f} % met in {1e3 * seconds:.0f} ms")
met = many.errors[many.ok, 0]  # metres and radians, recomputed from the figure
print(f"the worst of those met is off by {1e6 * met[:, 0].max():.2f} µm and {1e6 * met[:, 1].max():.2f} µrad")
print("row 17 is the single answer, to the last bit:", np.array_equal(many.q[17], query(targets[17]).q))

# An arm without redundancy has a handful of postures for one placement: all of them, the nearest to the start first.
ur5 = supple.load("ur5")
flange = ur5.placement(np.array([0.3, -1.1, 1.4, -0.9, 1.2, 0.4]), "tool0")
postures = supple.solve(ur5, {"tool0": Placed(flange)}, distinct=16)
print(f"\nur5 has {len(postures)} postures for this placement:")
for solution in postures:
    print("  ", np.rad2deg(solution.q).round(1))
