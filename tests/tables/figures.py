"""Figures that many tests share: one of every kind of joint, mixed trees, drives, groups, loops, masses; and random ones.

The oracles at the end know nothing of the library's kernels: matrix exponentials for placements, SciPy's splines for drives,
central differences for derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.polynomial import Polynomial
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline, make_interp_spline
from scipy.spatial.transform import Rotation

from supple.figure.curves import PiecewisePolynomial, Spline
from supple.figure.drives import Coordinate, Drive, Group, Linear, LinearLimit, mimic
from supple.figure.figure import Figure, Loop
from supple.figure.joints import Joint, ball, fixed, free, hinge, planar, screw, slide, universal
from supple.geometry.placements import X, Y, Z, place
from supple.geometry.shapes import Body


def somewhere(seed: int, reach: float = 0.4) -> np.ndarray:
    """A placement, always the same for the same number."""
    rng = np.random.default_rng(seed)
    return place(rng.normal(size=3) * reach, Rotation.from_rotvec(rng.normal(size=3)))


def _one(name: str, *joints: Joint) -> Figure:
    """A joint on an oblique base, with a tool on an oblique flange."""
    base = fixed("base", None, somewhere(1))
    return Figure(
        name, [*base, *joints, *fixed("tool", "j", somewhere(2))], bodies={"tool": Body(2.0, (0.1, 0.2, 0.3))}
    )


def _mixed() -> Figure:
    """Every kind of joint in one tree, two joints that follow others, bodies on several segments."""
    wave = Spline((-2, -1, 0, 1, 2), (0, 0.3, 0.1, 0.5, 0.2))
    parts = [
        *free("root"),
        *ball("shoulder", "root", "zyz", at=somewhere(3)),
        *hinge("elbow", "shoulder", X, at=(0, 0, -0.3), limits=(-2.5, 2.5)),
        *hinge("wrist", "elbow", (1, 1, 0), at=somewhere(4), drive=mimic("elbow", 0.5, 0.1)),
        *fixed("hand", "wrist", at=somewhere(5)),
        *screw("bolt", "elbow", (1, 2, 3), 0.1, at=somewhere(6)),
        *slide("rail", "root", (0, 1, 1), at=somewhere(7)),
        *universal("knuckle", "rail", "yx", at=somewhere(8)),
        *hinge("toe", "knuckle", Z, at=somewhere(9), drive=Drive.by({"knuckle.y": wave, "rail": 0.7}, 0.2)),
        *fixed("foot", "toe", at=somewhere(10)),
    ]
    bodies = {
        "root": Body(3, (0, 0.1, 0.2)),
        "hand": Body(1, (0.1, 0, 0)),
        "foot": Body(2, (0, 0, 0.1)),
        "elbow": Body(0.5),
    }
    return Figure("mixed", parts, bodies=bodies)


def _arm() -> Figure:
    """Three hinges in a plane and one across it, with narrow limits."""
    return Figure(
        "arm",
        [
            *hinge("waist", None, Z, limits=(-3.0, 3.0)),
            *hinge("shoulder", "waist", Y, at=(0, 0, 0.3), limits=(-2.0, 2.0)),
            *hinge("elbow", "shoulder", Y, at=(0, 0, 0.4), limits=(0.0, 2.5), rest=0.5),
            *hinge("wrist", "elbow", Y, at=(0, 0, 0.3), limits=(-1.5, 1.5)),
            *fixed("hand", "wrist", at=(0, 0, 0.1)),
        ],
        bodies={"shoulder": Body(2.0, (0, 0, 0.2)), "elbow": Body(1.5, (0, 0, 0.15)), "hand": Body(0.5)},
    )


def _spine() -> Figure:
    """Four hinges of a spine driven by two parameters, one of them through a curve; an arm on top."""
    links = [*hinge("s1", None, X, at=(0, 0, 0.1))]
    for k in range(2, 5):
        links += hinge(f"s{k}", f"s{k - 1}", Y if k % 2 else X, at=(0, 0, 0.1))
    links += [*ball("neck", "s4", "xzy", at=(0, 0, 0.1)), *fixed("head", "neck", at=(0, 0.1, 0.1))]
    curve = Spline((-1, 0, 0.5, 1.5), (-0.4, 0, 0.3, 0.5))
    group = Group(
        "spine",
        (Coordinate("bow", (-1, 1)), Coordinate("lean", (-1.2, 1.2), 0.1)),
        {"s1": Drive.by({"bow": 0.3}), "s2": Drive.by({"bow": curve, "lean": 0.1}, 0.05),
         "s3": Drive.by({"lean": curve}), "s4": Drive.by({"bow": 0.2, "lean": -0.3})},
        (LinearLimit.of({"bow": 1.0, "lean": 1.0}, 1.5),),
    )  # fmt: skip
    bodies = {"s1": Body(1.0), "s2": Body(1.0, (0, 0.05, 0)), "head": Body(4.0, (0, 0, 0.1))}
    return Figure("spine", links, bodies=bodies).grouped(group)


def _four_bar() -> Figure:
    """Four bars, cut open at the coupler's far end."""
    parts = [
        *hinge("crank", None, Z),
        *hinge("coupler", "crank", Z, at=(0.2, 0, 0)),
        *hinge("rocker", None, Z, at=(0.5, 0, 0)),
        *fixed("pen", "coupler", at=(0.3, 0.2, 0)),
    ]
    return Figure("four-bar", parts, loops=(Loop("pin", "coupler", "rocker", (0.4, 0, 0), (0.3, 0, 0), point=True),))


def closed_four_bar(crank: float) -> np.ndarray:
    """The posture of the four-bar in which the loop is closed, by the cosine rule."""
    end = 0.2 * np.array([np.cos(crank), np.sin(crank)])
    way = np.array([0.5, 0.0]) - end
    length = np.linalg.norm(way)
    coupler = np.arctan2(way[1], way[0]) + np.arccos((0.4**2 + length**2 - 0.3**2) / (2 * 0.4 * length))
    pin = end + 0.4 * np.array([np.cos(coupler), np.sin(coupler)])
    return np.array([crank, coupler - crank, np.arctan2(pin[1], pin[0] - 0.5)])


def _twins() -> Figure:
    """Two arms on one floating trunk: goals on different branches, references on either side."""
    parts = [*free("trunk", order="xyz", at=somewhere(11))]
    for side in ("left", "right"):
        at = (0.0, 0.2 if side == "left" else -0.2, 0.4)
        parts += ball(f"{side} shoulder", "trunk", "yxz", at=at)
        parts += hinge(f"{side} elbow", f"{side} shoulder", (1, 0, 0.5), at=(0, 0, -0.3), limits=(-2.6, 0.5))
        parts += fixed(f"{side} hand", f"{side} elbow", at=somewhere(12))
    bodies = {"trunk": Body(5, (0, 0, 0.2)), "left hand": Body(0.5), "right elbow": Body(1.0, (0, 0, -0.1))}
    return Figure("twins", parts, bodies=bodies)


ONE_JOINT = {
    "hinge": _one("hinge", *hinge("j", "base", (1, -2, 3), at=somewhere(13))),
    "hinge about −y": _one("hinge about −y", *hinge("j", "base", (0, -1, 0), at=somewhere(13))),
    "slide": _one("slide", *slide("j", "base", (1, -2, 3), at=somewhere(13))),
    "slide along −x": _one("slide along −x", *slide("j", "base", (-1, 0, 0), at=somewhere(13))),
    "screw": _one("screw", *screw("j", "base", (1, -2, 3), 0.2, at=somewhere(13))),
    "screw about −z": _one("screw about −z", *screw("j", "base", (0, 0, -1), 0.2, at=somewhere(13))),
    "universal": _one("universal", *universal("j", "base", "zx", at=somewhere(13))),
    "ball zyx": _one("ball zyx", *ball("j", "base", "zyx", at=somewhere(13))),
    "ball xyx": _one("ball xyx", *ball("j", "base", "xyx", at=somewhere(13))),
    "planar": _one("planar", *planar("j", "base", at=somewhere(13))),
    "free": _one("free", *free("j", "base", "yzx", at=somewhere(13))),
}
TREES = {"mixed": _mixed(), "arm": _arm(), "spine": _spine(), "twins": _twins()}
FOUR_BAR = _four_bar()
FIXED = Figure("fixed", [*fixed("a", None, somewhere(14)), *fixed("b", "a", somewhere(15))], bodies={"b": Body(1.0)})
FIGURES: dict[str, Figure] = {**ONE_JOINT, **TREES, "four-bar": FOUR_BAR}
# an effector's segment and a segment to see it from
ENDS = dict.fromkeys(ONE_JOINT, ("tool", "base")) | {
    "mixed": ("hand", "foot"), "arm": ("hand", "shoulder"), "spine": ("head", "s2"), "twins": ("left hand", "right hand"),
    "four-bar": ("pen", "rocker"),
}  # fmt: skip


def posture(figure: Figure, seed: int, spread: float = 1.0) -> np.ndarray:
    """A posture within the limits, the same for the same number."""
    q = np.random.default_rng(seed).normal(size=figure.size) * spread
    return figure.limits.project(q)


# ── random figures ───────────────────────────────────────────────────────────────────────────────────────────────────
KINDS = ("hinge", "slide", "screw", "universal", "ball", "planar", "free", "fixed")


def _random_joint(kind: str, name: str, parent: str | None, rng: np.random.Generator) -> tuple[Joint, ...]:
    at = (
        somewhere(int(rng.integers(1 << 30)))
        if rng.random() < 0.7
        else place(rng.normal(size=3) * (rng.random() < 0.5))
    )
    coordinate_axes = [X, Y, Z, (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0)]
    axis = rng.normal(size=3) if rng.random() < 0.5 else coordinate_axes[rng.integers(6)]
    order = ["zyx", "xyz", "yxz", "zyz", "xzx"][rng.integers(5)]
    makers: dict[str, Callable[[], tuple[Joint, ...]]] = {
        "hinge": lambda: hinge(name, parent, axis, at),
        "slide": lambda: slide(name, parent, axis, at),
        "screw": lambda: screw(name, parent, axis, float(rng.normal()) * 0.2, at),
        "universal": lambda: universal(name, parent, order[:2], at),
        "ball": lambda: ball(name, parent, order, at),
        "planar": lambda: planar(name, parent, at),
        "free": lambda: free(name, parent, order, at),
        "fixed": lambda: fixed(name, parent, at),
    }
    return makers[kind]()


def _driven(parts: list[Joint], rng: np.random.Generator) -> list[Joint]:
    """Some hinges, slides and screws made to follow coordinates of joints that follow nobody, by lines and splines."""
    simple = [j for j in parts if j.segment == j.name and not j.is_fixed]
    followers = {j.name for j in simple if rng.random() < 0.4}
    leaders = [j.name for j in parts if not j.is_fixed and j.name not in followers]
    if not leaders:
        return parts
    out = []
    for joint in parts:
        if joint.name in followers:
            names = rng.choice(leaders, size=min(len(leaders), int(rng.integers(1, 3))), replace=False)
            terms = {str(name): _random_curve(rng) for name in names}
            joint = replace(joint, drive=Drive.by(terms, float(rng.normal())))
        out.append(joint)
    return out


def _random_curve(rng: np.random.Generator) -> Linear | Spline:
    if rng.random() < 0.5:
        return Linear(float(rng.normal()))
    knots = np.cumsum(rng.uniform(0.3, 1.0, size=4)) - 1.5
    return Spline(tuple(knots), tuple(rng.normal(size=4)))


@st.composite
def trees(draw: st.DrawFn, most: int = 7, drives: bool = True) -> Figure:
    """A tree of joints of all kinds, in which any joint may hang on any earlier segment or on the world."""
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=most))
    above = [draw(st.integers(-1, k - 1)) for k in range(len(kinds))]
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    parts: list[Joint] = []
    for k, (kind, parent) in enumerate(zip(kinds, above, strict=True)):
        parts += _random_joint(kind, f"s{k}", None if parent < 0 else f"s{parent}", rng)
    if drives:
        parts = _driven(parts, rng)
    bodies = {f"s{k}": Body(float(rng.uniform(0.1, 2.0)), rng.normal(size=3)) for k in range(0, len(kinds), 2)}
    return Figure("random", parts, bodies=bodies)


# ── oracles ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def curve_value(curve: Linear | Spline | PiecewisePolynomial, x: float, order: int = 0) -> float:
    """A drive's curve or one of its derivatives: from SciPy's spline, straight beyond its ends, or from NumPy's polynomials."""
    if isinstance(curve, Linear):
        return (curve.slope * x, curve.slope, 0.0)[order]
    if isinstance(curve, PiecewisePolynomial):
        knot, *c = next((row for row in curve.rows[:0:-1] if row[0] <= x), curve.rows[0])
        return float(Polynomial(c).deriv(order)(x - knot))
    if curve.ends == "natural":
        spline: Any = CubicSpline(curve.x, curve.y, bc_type="natural")
    else:
        parts = (slice(0, 4), slice(-4, None))
        left, right = (6.0 * np.polyfit(curve.x[p], curve.y[p], 3)[0] if len(curve.x) > 3 else 0.0 for p in parts)
        spline = make_interp_spline(curve.x, curve.y, 3, bc_type=([(3, left)], [(3, right)]))
    inside = float(np.clip(x, curve.x[0], curve.x[-1]))
    straight = (spline(inside) + spline(inside, 1) * (x - inside), spline(inside, 1), 0.0)
    return float(straight[order] if inside != x else spline(x, order))


def joint_value(figure: Figure, joint: Joint, q: np.ndarray) -> float:
    """θ of one joint."""
    values = dict(zip(figure.coordinates, q, strict=True))
    if joint.drive is None:
        return float(values[joint.name])
    return joint.drive.offset + sum(curve_value(curve, values[name]) for name, curve in joint.drive.terms)


def placements_by_exponentials(figure: Figure, q: np.ndarray) -> dict[str, np.ndarray]:
    """Every segment's placement as a product of 4 × 4 matrices, ``at · exp(θ ξ)`` from the root on."""
    twists = np.zeros((len(figure.joints.values()), 4, 4))
    for twist, joint in zip(twists, figure.joints.values(), strict=True):
        if not joint.is_fixed:
            theta = joint_value(figure, joint, q)
            twist[:3, :3], twist[:3, 3] = theta * _skew(joint.turn), theta * np.array(joint.slide)
    frames: dict[str | None, np.ndarray] = {None: np.eye(4)}
    for motion, joint in zip(_exponentials(twists), figure.joints.values(), strict=True):
        frames[joint.key] = frames[joint.parent] @ joint.at @ motion
    return {segment: frames[segment] for segment in figure.segments}


def _exponentials(A: np.ndarray) -> np.ndarray:
    """Matrix exponentials by their series, ``exp(A) = exp(A/32)³²``."""
    out, power = np.eye(4) + np.zeros_like(A), np.eye(4) + np.zeros_like(A)
    for k in range(1, 20):
        power = power @ A / (32 * k)
        out = out + power
    for _ in range(5):
        out = out @ out
    return out


def _skew(w: Any) -> np.ndarray:
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def slope(function: Callable[[np.ndarray], Any], x: np.ndarray, h: float = 3e-4) -> np.ndarray:
    """Central differences of fourth order of a function of a vector; the last axis of the answer runs over x."""
    columns = []
    for i in range(len(x)):
        step = np.zeros(len(x))
        step[i] = h
        near = np.asarray(function(x + step)) - np.asarray(function(x - step))
        far = np.asarray(function(x + 2 * step)) - np.asarray(function(x - 2 * step))
        columns.append((8 * near - far) / (12 * h))
    return np.stack(columns, axis=-1)


def assert_close(actual: Any, expected: Any, relative: float = 1e-6, what: str = "") -> None:
    """Equal within `relative` of the largest entry (of one, where all are smaller)."""
    size = max(1.0, float(np.abs(expected).max(initial=0.0)))
    assert_allclose(actual, expected, rtol=0, atol=relative * size, err_msg=what)
