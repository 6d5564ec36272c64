"""Posture goals inside a damped step: ``Σ w_i (q_i − r_i)²``, whose weights stand on the diagonal of the model."""

from __future__ import annotations

from typing import Any

from supple.kernels.compiling import leaf
from supple.kernels.kinds import NEAR
from supple.kernels.layouts import FRAME_ROW, KIND, RANK, TARGET_AT, WEIGHT


@leaf
def weigh_near(tasks: Any, low: int, high: int, weight: Any) -> bool:
    """The weights of the posture goals of ranks `low` to `high`; whether there are any."""
    found = False
    for i in range(weight.shape[0]):
        weight[i] = 0.0
    for k in range(tasks.term.shape[0]):
        if tasks.term[k, KIND] == NEAR and tasks.term[k, RANK] >= low and tasks.term[k, RANK] <= high:
            found = True
            for i in range(weight.shape[0]):
                weight[i] += tasks.number[k, WEIGHT] * tasks.near[tasks.term[k, FRAME_ROW], i]
    return found


@leaf
def near_value(tasks: Any, low: int, high: int, T: Any, q: Any, slope: Any) -> float:
    """The value of the posture goals of ranks `low` to `high` at q; half of their gradient goes to `slope`."""
    value = 0.0
    for i in range(q.shape[0]):
        slope[i] = 0.0
    for k in range(tasks.term.shape[0]):
        if tasks.term[k, KIND] == NEAR and tasks.term[k, RANK] >= low and tasks.term[k, RANK] <= high:
            r, t = tasks.term[k, FRAME_ROW], tasks.term[k, TARGET_AT]
            for i in range(q.shape[0]):
                w, e = tasks.number[k, WEIGHT] * tasks.near[r, i], q[i] - T[t + i]
                slope[i] += w * e
                value += w * e * e
    return value


@leaf
def mean_near_weight(weight: Any, D: Any) -> float:
    """The mean weight of the posture goals."""
    total = 0.0
    for i in range(weight.shape[0]):
        total += weight[i] * D[i]
    return total / max(weight.shape[0], 1)
