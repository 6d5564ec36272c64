"""A goal of one's own: a small function of what an effector reads, with its slope and curvature."""

import numpy as np

import supple


def on_sphere(a, x, g, H):
    """P = (|p - c|² - r²)² for a = (c, r): the point anywhere on a sphere.

    x holds the position and the three axes; g and H are the first and second derivatives with respect to them.
    """
    d0, d1, d2 = x[0] - a[0], x[1] - a[1], x[2] - a[2]
    d = (d0, d1, d2)
    s = d0 * d0 + d1 * d1 + d2 * d2 - a[3] * a[3]
    for i in range(3):
        g[i] = 4.0 * s * d[i]
        for j in range(3):
            H[i, j] = 8.0 * d[i] * d[j]
        H[i, i] += 4.0 * s
    return s * s


figure = supple.load("ur5")
centre, radius = np.array([0.5, 0.2, 0.4]), 0.15
goal = supple.Custom(on_sphere, (*centre, radius))
solution = supple.solve(supple.Problem(figure, [supple.Task(supple.Point("tool0"), goal, name="on the sphere")]))

distance = np.linalg.norm(figure.placement(solution.q, "tool0")[:3, 3] - centre)
print(solution.status.name, "-", solution.reason)
print(f"the tool is {distance:.6f} m from the centre of a sphere of {radius} m")
