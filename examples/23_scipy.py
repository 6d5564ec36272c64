"""Another optimiser: value, gradient and exact Hessian of a problem, handed to SciPy, and the tensor that makes the Hessian.

``f = ½ Σ ‖g − e‖²`` has the Hessian ``JᵀJ − Σ (g − e)·K`` with K an effector's second derivatives (Erleben & Andrews 2019).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

import supple
from supple import At, Point, Problem, Task

figure = supple.load("panda")
hand, target = Point("panda_hand_tcp"), np.array([0.4, 0.3, 0.6])
problem = Problem(figure, [Task(hand, At(target))])


def value(q: np.ndarray) -> tuple[float, Any]:
    """The objective and its gradient."""
    here = problem.evaluate(q, hessian=False)
    return here.value, here.gradient


for method in ("trust-exact", "trust-ncg"):
    found = minimize(value, figure.rest, jac=True, hess=lambda q: problem.evaluate(q).hessian, method=method)
    miss = problem.misses(found.x)[0].metres
    print(f"{method}: {found.nit} steps, {1e3 * miss:.1e} mm away")  # it knows of no limits: see ActiveSet, Newton

q = figure.rest
J, K = figure.jacobian(q, hand), figure.curvature(q, hand)
left = target - figure.placement(q, "panda_hand_tcp")[:3, 3]
by_hand = 2.0 * (J.T @ J - np.einsum("a,aij->ij", left, K))  # the library's objective is Σ ‖g − e‖², without the half
print("the Hessian by hand differs by", f"{np.abs(by_hand - problem.evaluate(q).hessian).max():.0e}")
