"""Random figures: trees of every kind of joint on all scales, with followers, groups, loops, linear limits; the catalogue."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

import supple
from judge import Judge
from supple.figure import catalogue

KINDS = ("hinge", "slide", "screw", "universal", "ball", "planar", "fixed")
SHARES = (0.5, 0.14, 0.07, 0.07, 0.12, 0.03, 0.07)
ORDERS = ("xyz", "zyx", "yxz", "zyz", "xzx")
AXES = np.vstack([np.eye(3), -np.eye(3)])


@dataclass(frozen=True)
class Drawn:
    """A figure, its unit of length, and what makes it slow to solve for."""

    figure: supple.Figure
    scale: float
    obstacles: tuple[Any, ...] = ()

    @property
    def rows(self) -> int:
        """About how many targets it is worth."""
        figure = self.figure
        if figure.size > 30:
            return 40
        if figure.loops or self.obstacles:
            return 60
        return 700 if figure.limits.is_box else 120


def rotation(rng: np.random.Generator) -> np.ndarray:
    """A random rotation matrix."""
    w, x, y, z = v = rng.normal(size=4)
    n = 2.0 / (v @ v)
    return np.array(
        [
            [1 - n * (y * y + z * z), n * (x * y - w * z), n * (x * z + w * y)],
            [n * (x * y + w * z), 1 - n * (x * x + z * z), n * (y * z - w * x)],
            [n * (x * z - w * y), n * (y * z + w * x), 1 - n * (x * x + y * y)],
        ]
    )


def frame(R: np.ndarray, p: Any) -> np.ndarray:
    """A placement."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def figure(rng: np.random.Generator) -> Drawn:
    """A random tree, or a figure of the catalogue, now and then of another size."""
    if rng.random() < 0.3:
        return _known(str(rng.choice(catalogue.names())), rng)
    scale = float(10.0 ** rng.uniform(-3, 3)) if rng.random() < 0.5 else 1.0
    parts = _parts(rng, scale)
    made = supple.Figure("drawn", parts, bodies=_bodies(parts, rng, scale))
    if rng.random() < 0.12:
        made = _grouped(made, rng)
    if rng.random() < 0.12:
        made = _bounded(made, rng)
    if rng.random() < 0.12:
        made = _closed(made, rng, scale)
    elif rng.random() < 0.12:
        return _among_things(made, rng, scale)
    return Drawn(made, scale)


@cache
def _loaded(name: str, options: tuple[tuple[str, Any], ...]) -> supple.Figure:
    return supple.load(name, **dict(options))


def _known(name: str, rng: np.random.Generator) -> Drawn:
    options: list[tuple[str, Any]] = []
    if name in ("human", "jack"):
        options += [("root", str(rng.choice(["free", "fixed"]))), ("fingers", bool(rng.random() < 0.3))]
    if name == "jack":
        options += [
            ("spine", str(rng.choice(["free", "grouped"]))),
            ("shoulders", str(rng.choice(["free", "grouped"]))),
        ]
    made, scale = _loaded(name, tuple(options)), 1.0
    if rng.random() < 0.2:
        scale = float(10.0 ** rng.uniform(-3, 3))
        made = made.scaled(scale)
    return Drawn(made, scale)


# ── trees ────────────────────────────────────────────────────────────────────────────────────────────────────────────
def _parts(rng: np.random.Generator, scale: float) -> list[supple.Joint]:
    """Joints of a tree, most of them in one chain."""
    parts: list[supple.Joint] = []
    names: list[str | None] = [None]
    if rng.random() < 0.2:
        parts += supple.free("root", None, str(rng.choice(ORDERS)), limits=_free_range(rng, scale))
        names.append("root")
    for k in range(int(rng.integers(3, 9))):
        parent = names[-1] if rng.random() < 0.8 else names[int(rng.integers(len(names)))]
        kind = str(rng.choice(KINDS, p=SHARES))
        where = rng.normal(0, 0.4 * scale, 3) * (rng.random() < 0.9)
        parts += _joint(
            kind, f"s{k}", parent, frame(rotation(rng) if rng.random() < 0.6 else np.eye(3), where), rng, scale
        )
        names.append(f"s{k}")
    return _followers(parts, rng, scale)


def _range(rng: np.random.Generator, unit: float = 1.0, free: float = 0.15) -> tuple[float, float]:
    return (-np.inf, np.inf) if rng.random() < free else (-unit * rng.uniform(0.1, 3.0), unit * rng.uniform(0.1, 3.0))


def _free_range(rng: np.random.Generator, scale: float) -> Any:
    if rng.random() < 0.7:
        return None
    return [_range(rng, scale) for _ in range(3)] + [_range(rng) for _ in range(3)]


def _joint(kind: str, name: str, parent: Any, at: np.ndarray, rng: np.random.Generator, scale: float) -> Any:
    axis = rng.normal(size=3) if rng.random() < 0.5 else AXES[rng.integers(6)]
    order = str(rng.choice(ORDERS))
    some = rng.random() < 0.6
    if kind == "fixed":
        return supple.fixed(name, parent, at)
    if kind == "hinge":
        return supple.hinge(name, parent, axis, at, _range(rng), speed=float(rng.uniform(0.5, 3.0)))
    if kind == "slide":
        return supple.slide(name, parent, axis, at, _range(rng, 0.3 * scale, 0.05))
    if kind == "screw":
        return supple.screw(name, parent, axis, float(rng.normal(0, 0.1 * scale)), at, _range(rng))
    if kind == "universal":
        return supple.universal(name, parent, order[:2], at, [_range(rng), _range(rng)] if some else None)
    if kind == "planar":
        return supple.figure.planar(name, parent, at, [_range(rng, 0.3 * scale), _range(rng, 0.3 * scale), _range(rng)])
    return supple.ball(name, parent, order, at, [_range(rng) for _ in range(3)] if some else None)


def _followers(parts: list[supple.Joint], rng: np.random.Generator, scale: float) -> list[supple.Joint]:
    """Some hinges and slides made to follow angles that follow nobody, by lines, splines and polynomials."""
    out, leaders = [], []
    for joint in parts:
        simple = joint.segment == joint.name and not joint.is_fixed and not (any(joint.turn) and any(joint.slide))
        if simple and leaders and rng.random() < 0.2:
            unit = 1.0 if any(joint.turn) else 0.2 * scale
            offset = float(unit * rng.normal(0, 0.2))
            terms = {
                str(n): _curve(rng, unit) for n in rng.choice(leaders, min(len(leaders), rng.integers(1, 3)), False)
            }
            lines = all(isinstance(f, supple.figure.Linear) for f in terms.values())
            limits = (offset - 2.0 * unit, offset + 2.0 * unit) if lines and rng.random() < 0.4 else (-np.inf, np.inf)
            joint = replace(joint, drive=supple.figure.Drive.by(terms, offset), limits=limits)
        elif any(joint.turn) and not any(joint.slide):
            leaders.append(joint.name)
        out.append(joint)
    return out


def _curve(rng: np.random.Generator, unit: float) -> Any:
    kind = rng.integers(4)
    if kind == 0:
        x = np.cumsum(rng.uniform(0.3, 1.0, 4)) - 1.3
        return supple.figure.Spline(tuple(x), tuple(unit * rng.normal(0, 0.5, 4)))
    if kind == 1:
        c = unit * rng.normal(0, 0.3, 3)
        there, slope = float(c[0] + 0.5 * c[1] + 0.25 * c[2]), float(c[1] + c[2])
        return supple.figure.PiecewisePolynomial(((0.0, *c), (0.5, there, slope, float(unit * rng.normal(0, 0.2)))))
    return supple.figure.Linear(float(unit * rng.normal(0, 0.8)) or unit)


def _bodies(parts: list[supple.Joint], rng: np.random.Generator, scale: float) -> dict[str, supple.geometry.Body]:
    segments = [j.segment for j in parts if j.segment is not None]
    if rng.random() < 0.7:
        return {}
    return {
        s: supple.geometry.Body(float(rng.uniform(0.1, 3.0)), tuple(rng.normal(0, 0.1 * scale, 3))) for s in segments
    }


def _grouped(made: supple.Figure, rng: np.random.Generator) -> supple.Figure:
    """Two or three hinges driven by one coordinate."""
    followed = {n for j in made.joints.values() if j.drive is not None for n, _ in j.drive.terms}
    free = [
        j.name
        for j in made.joints.values()
        if j.drive is None and j.segment == j.name and any(j.turn) and j.name not in followed
    ]
    if len(free) < 2:
        return made
    chosen = [str(n) for n in rng.choice(free, min(len(free), 3), False)]
    drives = {name: supple.figure.Drive.by({"bend": float(rng.uniform(0.02, 0.1))}) for name in chosen}
    return made.grouped(supple.figure.Group("group", (supple.figure.Coordinate("bend", (-1.0, 1.0)),), drives))


def _bounded(made: supple.Figure, rng: np.random.Generator) -> supple.Figure:
    """A linear limit among two coordinates or three, which the rest posture keeps."""
    angles = [
        n for n, lo, hi in zip(made.coordinates, made.lower, made.upper, strict=True) if np.isfinite([lo, hi]).all()
    ]
    if len(angles) < 2:
        return made
    chosen = [str(n) for n in rng.choice(angles, min(len(angles), 3), False)]
    width = dict(zip(made.coordinates, made.upper - made.lower, strict=True))
    c = {name: float(rng.normal() / max(width[name], 1e-9)) for name in chosen}
    rest = dict(zip(made.coordinates, made.rest, strict=True))
    bound = supple.figure.LinearLimit.of(c, sum(c[n] * rest[n] for n in chosen) + float(rng.uniform(0.05, 0.5)))
    return replace(made, bounds=(*made.bounds, bound))


def _closed(made: supple.Figure, rng: np.random.Generator, scale: float) -> supple.Figure:
    """Two segments that meet at rest, held together in a point."""
    if made.size < 5 or len(made.segments) < 3:
        return made
    a, b = (str(s) for s in rng.choice(made.segments[1:], 2, False))
    places = Judge(SimpleNamespace(figure=made)).places(np.array(made.rest)[None])
    A, B = places[a][0], places[b][0]
    where = 0.5 * (A[:3, 3] + B[:3, 3]) + rng.normal(0, 0.1 * scale, 3)
    ends = [frame(np.eye(3), X[:3, :3].T @ (where - X[:3, 3])) for X in (A, B)]
    return replace(made, loops=(supple.Loop("pin", a, b, ends[0], ends[1], point=True),))


def _among_things(made: supple.Figure, rng: np.random.Generator, scale: float) -> Drawn:
    """A ball on each segment that moves, and one to three things nearby."""
    movable = [s for s in made.segments if made.chain(None, s)]
    if not movable:
        return Drawn(made, scale)
    size = 0.04 * scale
    balls = {s: [(*rng.normal(0, 0.05 * scale, 3), float(size * rng.uniform(0.5, 1.5)))] for s in movable}
    things = [_thing(rng, scale) for _ in range(int(rng.integers(1, 4)))]
    return Drawn(made.with_spheres(balls), scale, tuple(things))


def _thing(rng: np.random.Generator, scale: float) -> Any:
    """A solid about an arm's length away, or a floor."""
    at, half = frame(rotation(rng), rng.normal(0, 0.8 * scale, 3)), scale * rng.uniform(0.03, 0.2, 3)
    kind = rng.integers(4)
    if kind == 0:
        return supple.Ball(tuple(at[:3, 3]), float(half[0]))
    if kind == 1:
        return supple.Box(tuple(-half), tuple(half), at)
    if kind == 2:
        return supple.Capsule(float(half[0]), float(2 * half[1]), at)
    return supple.Polytope.half_space((0, 0, -5.0 * half[0]), (0, 0, 1))
