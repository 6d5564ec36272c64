"""The grid of poses that a map of reach asks for (see `reach`).

**Grid.** Positions are ``p = s (i, j, k)``, multiples of the spacing s, over the box around a ball that holds whatever the
chain reaches: its centre c is the origin of the first joint, its radius r the sum of all lengths behind it. An axis may be
cut to a range, which then begins the count, or to one number, which makes a slice.

**Rotations spread evenly** are the super-Fibonacci spiral on the unit quaternions: with t = (m + ½)/n,

    q_m = (√t sin α, √t cos α, √(1−t) sin β, √(1−t) cos β),    α = 2π n t / φ,    β = 2π n t / ψ,    φ² = 2,  ψ⁴ = ψ + 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from supple.basics.checks import numbers, positive, whole
from supple.errors import BadValue, Refused, shown
from supple.figure.effectors import Frame
from supple.figure.figure import Figure
from supple.geometry.placements import Floats, rotation
from supple.problem.problem import Problem
from supple.proofs.serial_chain import Chain, Undecidable, chain_of

MOST = 200_000  # poses of one map
ACROSS_SLICE, ACROSS_VOLUME = 24, 12  # steps of the default spacing across the box
DESCRIPTIONS = {"quat_wxyz": 1, "quat_xyzw": 1, "matrix": 2, "rpy": 1}  # of a rotation, and how many axes its array has
Span = float | Sequence[float] | None


# ── rotations ────────────────────────────────────────────────────────────────────────────────────────────────────────
def rotations_of(turn: Any, description: Mapping[str, Any]) -> Floats | None:
    """The rotations (k, 3, 3) that are asked for; None if there are none."""
    given = {name: value for name, value in description.items() if value is not None}
    for name in given.keys() - DESCRIPTIONS.keys():
        raise BadValue(f"reach does not take {name}=; a rotation is given as {', '.join(DESCRIPTIONS)}")
    if turn is None and not given:
        return None
    if turn is not None and given:
        raise BadValue("reach takes one description of its rotations, not several")
    if isinstance(turn, int | np.integer) and not isinstance(turn, bool):
        return spread_rotations(int(turn))
    as_matrix = None if isinstance(turn, type) else getattr(turn, "as_matrix", None)
    if as_matrix is not None:
        turn, given = None, {"matrix": as_matrix()}
    if turn is None and len(given) == 1:
        name, value = next(iter(given.items()))
        array = numbers(value, f"{name} of reach")
        if array.ndim == DESCRIPTIONS[name] + 1 and len(array):
            return np.array([rotation(**{name: row}) for row in array])
    return rotation(turn, **given, what="the rotation of reach")[None]


def spread_rotations(count: int) -> Floats:
    """So many rotations (count, 3, 3), spread evenly over all of them."""
    count = whole(count, "the number of rotations", 1, MOST)
    s = np.arange(count) + 0.5
    near, far = np.sqrt(s / count), np.sqrt(1.0 - s / count)
    alpha, beta = 2.0 * np.pi * s / np.sqrt(2.0), 2.0 * np.pi * s / 1.533751168755204
    quaternions = np.stack([near * np.sin(alpha), near * np.cos(alpha), far * np.sin(beta), far * np.cos(beta)], axis=1)
    return np.array([rotation(quat_wxyz=q) for q in quaternions])


# ── the grid ─────────────────────────────────────────────────────────────────────────────────────────────────────────
def _chain(problem: Problem, segment: str) -> Chain:
    """The chain that moves the segment."""
    limits = problem.limits
    assert limits is not None
    try:
        chain = chain_of(problem.figure, segment, np.eye(4), limits.lower, limits.upper)
    except Undecidable as reason:  # while a loop of the figure can be decided
        raise Refused(f"what {segment!r} reaches cannot be decided: {reason}") from reason
    if not (chain.upper > chain.lower).any():
        raise BadValue(f"no joint moves {segment!r} of figure {problem.figure.name!r}: choose a segment farther out")
    return chain


def grid_of(
    problem: Problem, segment: str, spans: tuple[Span, Span, Span], volume: bool, spacing: float | None, turns: int
) -> tuple[tuple[Floats, Floats, Floats], float]:
    """The axes of the grid, and its spacing."""
    chain = _chain(problem, segment)
    centre = chain.before[0, :3, 3]
    radius = chain.reach - float(np.linalg.norm(centre))
    if all(span is None for span in spans) and not volume:
        spans = _slice(problem.figure, segment, centre)
    ends = [_ends(span, "xyz"[i], centre[i], radius) for i, span in enumerate(spans)]
    wide = [high - low for low, high in ends if high > low]
    if spacing is None:
        spacing = float(f"{2.0 * radius / (ACROSS_VOLUME if len(wide) == 3 else ACROSS_SLICE):.2g}")
    spacing = positive(spacing, "the spacing of a map [m]")
    _check_count(float(np.prod([length / spacing + 1.0 for length in wide])) * turns, len(wide), spacing)
    axes = [_steps(span, end, spacing) for span, end in zip(spans, ends, strict=True)]
    return (axes[0], axes[1], axes[2]), spacing


def _slice(figure: Figure, segment: str, centre: Floats) -> tuple[Span, Span, Span]:
    """The level of the rest posture if every hinge is upright, the upright plane through the first joint otherwise."""
    turns = figure.jacobian(figure.rest, Frame(segment))[3:]
    if np.abs(turns[:2]).max(initial=0.0) < 1e-9:
        return None, None, float(figure.placement(figure.rest, segment)[2, 3])
    return None, float(centre[1]), None


def _ends(span: Span, name: str, centre: float, radius: float) -> tuple[float, float]:
    if span is None:
        return float(centre - radius), float(centre + radius)
    values = np.atleast_1d(numbers(span, f"{name} of a map, a number or a range (from, to),"))
    if values.shape not in ((1,), (2,)) or not np.isfinite(values).all() or values[0] > values[-1]:
        raise BadValue(f"{name} of a map is a finite number or a range (from, to), not {shown(span)}")
    return float(values[0]), float(values[-1])


def _check_count(count: float, axes: int, spacing: float) -> None:
    if count > MOST:
        wide = 1.05 * spacing * (count / MOST) ** (1.0 / max(axes, 1))
        remedies = [f"a spacing of {wide:.2g} m or more"] * (axes > 0) + ["a slice"] * (axes == 3) + ["fewer rotations"]
        raise BadValue(f"a map of about {count:.3g} poses is more than {MOST}: take {' or '.join(remedies)}")


def _steps(span: Span, ends: tuple[float, float], spacing: float) -> Floats:
    """Steps from a range's beginning; multiples of the spacing that reach beyond both ends where no range is given."""
    low, high = ends
    if span is None:
        return spacing * np.arange(np.floor(low / spacing), np.ceil(high / spacing) + 1.0)
    return low + spacing * np.arange(np.floor((high - low) / spacing + 1e-9) + 1.0)
