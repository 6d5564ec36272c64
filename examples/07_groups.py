"""Seventeen vertebrae, free or as one group: fewer coordinates, one smooth curve, and limits that hold exactly."""

import numpy as np

import supple

options = {"root": "fixed", "legs": False, "fingers": False, "shoulders": "grouped"}
free = supple.load("jack", spine="free", **options)
grouped = supple.load("jack", spine="grouped", **options)
print(f"free: {free.size} coordinates, grouped: {grouped.size}")

goals = {
    "hand_r.palm": supple.At((0.55, -0.20, 0.85)),
    "hand_l.palm": supple.At((0.50, 0.25, 0.95)),
}
for name, figure in (("free", free), ("grouped", grouped)):
    solution = supple.solve(figure, goals)
    print(f"\n{name}: {solution.status.name}, {solution.iterations} iterations")
    if name == "grouped":
        values = {n: v for n, v in zip(figure.coordinates, solution.q, strict=True) if n.startswith("spine.")}
        print({n: f"{np.rad2deg(v):.1f}°" for n, v in values.items()})
    curve = [figure.placement(solution.q, vertebra)[:3, 3] for vertebra in ("L5", "L1", "T10", "T5", "T1")]
    print("the spine, from L5 to T1 [m]:", "  ".join(f"({x:.3f}, {y:.3f}, {z:.3f})" for x, y, z in curve))
