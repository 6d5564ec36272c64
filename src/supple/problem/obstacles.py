"""Keeping clear: which bodies of a figure keep away from which obstacles, and from each other.

A *bar* is what a segment keeps clear with: a ball or a capsule, all points within its radius of a core, or a box or a hull. A
*pair* is a bar and what it must not touch: an obstacle in the world, or the bar of another segment; its residual is
``max(0, keep − gap)`` with the gap between the bar's core and the other thing (`clearance`) and ``keep`` the bar's radius plus
the margin. Of a round thing and one with corners the round one is the bar, wherever it is; between two with corners the gap is
that of `hulls`. All pairs with one obstacle are one hard task, and so are all pairs of the figure with itself.

Pairs that cannot be helped are left out (`contacts`), and those of an obstacle with what cannot move at all. `Clearance` may
name more. What has been left out for safety to mean less than it seems is said in `clearance_notes`, and refused where nobody
said that it does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import instance, items, mapping
from supple.basics.values import Value
from supple.errors import BadValue, find, shown
from supple.figure.figure import Figure
from supple.geometry.distances import between_cores, distance_where
from supple.geometry.placements import Floats
from supple.geometry.polyhedra import polyhedron_of, prism
from supple.geometry.shapes import Ball, Box, Capsule, Cylinder, Hull, Polytope
from supple.kernels import kinds as kind
from supple.kernels.solids import solid_of
from supple.problem.bars import Bar, Obstacle, Other, Pair, Standing, Wandering, carried, in_order
from supple.problem.goals.base import Miss, OfFigure, Term
from supple.problem.moving import Moving
from supple.problem.task import Clearance


@dataclass(frozen=True, eq=False, repr=False)
class Clear(Value, OfFigure):
    """A goal of the whole figure: every pair apart. It is missed by the margin that the worst pair lacks."""

    name: str
    pairs: tuple[Pair, ...]
    relative_to: None = None

    def terms(self) -> list[Term]:
        """One term for each pair."""
        return [Term(kind.CLEAR, np.empty(0), "posture")] * len(self.pairs)

    @property
    def segments(self) -> tuple[str, ...]:
        """The segments that carry the pairs."""
        both = ((pair.bar.segment, pair.other.segment) for pair in self.pairs)
        names = [name for pair in both for name in pair if name is not None]
        return tuple(dict.fromkeys(names))

    def miss_of(self, figure: Figure, q: ArrayLike) -> Miss:
        """How much the worst pair lacks, recomputed in plain NumPy."""
        return self.miss_at(figure.placements(q))

    def miss_at(self, frames: Mapping[str, Floats]) -> Miss:
        """How much the worst pair lacks where the segments are in these frames."""
        cores = _for_each((p.bar for p in self.pairs), lambda bar: _frame(frames, bar) @ bar.at)
        if all(p.bar.core is not None and p.other.core is not None for p in self.pairs):
            return Miss(metres=max(0.0, _lacking_from_bars(self.pairs, cores, frames)))
        near = np.flatnonzero(_may_lack(self.pairs, cores) & _may_touch(self.pairs, cores, frames))
        return Miss(metres=max((_lacking(self.pairs[i], frames) for i in near), default=0.0))

    def miss(self, X: Floats) -> Miss:
        """A frame alone does not tell."""
        raise BadValue(f"{self.name!r} is a goal of the whole figure")

    def aimed(self, target: Any) -> Clear:
        """It has no target."""
        raise BadValue(f"{self.name!r} has no target")


def _frame(frames: Mapping[str, Floats], other: Bar | Other) -> Floats:
    return other.world if other.segment is None else frames[other.segment]


def _seen(frame: Floats, point: Floats) -> Floats:
    """A point of a frame, in the world."""
    return frame[:3, :3] @ point + frame[:3, 3]


def _for_each(things: Iterable[Any], make: Callable[[Any], Floats]) -> Floats:
    """What is made of each thing, in rows; of one that comes again it is made once."""
    made: dict[int, Floats] = {}
    return np.array([made[id(x)] if id(x) in made else made.setdefault(id(x), make(x)) for x in things])


def _lacking_from_bars(pairs: Sequence[Pair], cores: Floats, frames: Mapping[str, Floats]) -> float:
    """What the worst of many pairs of bars lacks."""
    cored = [(p.other, p.other.core) for p in pairs if p.other.core is not None]
    shapes = [core for _, core in cored]
    others = _for_each((other for other, _ in cored), lambda other: _frame(frames, other) @ other.core.at)
    halves = (np.array([p.bar.core.half for p in pairs if p.bar.core]), np.array([core.half for core in shapes]))
    apart = between_cores(cores[:, :3, 3] - others[:, :3, 3], cores[:, :3, 2], halves[0], others[:, :3, 2], halves[1])
    return float((np.array([p.keep + core.radius for p, core in zip(pairs, shapes, strict=True)]) - apart).max())


def _may_lack(pairs: Sequence[Pair], cores: Floats) -> np.ndarray:
    """Which pairs with an obstacle in the world no single face keeps far enough apart; others are looked at closely anyway."""
    out = np.ones(len(pairs), dtype=bool)
    shape = pairs[0].other.shape
    same = all(pair.other is pairs[0].other and pair.bar.core is not None for pair in pairs)
    if isinstance(shape, Box | Polytope) and pairs[0].other.segment is None and same and pairs[0].other.moves is None:
        body = polyhedron_of(shape)
        halves = np.array([p.bar.core.half for p in pairs if p.bar.core])
        keep = np.array([p.keep for p in pairs])
        lowest = cores[:, :3, 3] @ body.normals.T - np.abs(cores[:, :3, 2] @ body.normals.T) * halves[:, None]
        out = ~((lowest - body.offsets).max(axis=1) >= keep)
    return out


def _may_touch(pairs: Sequence[Pair], cores: Floats, frames: Mapping[str, Floats]) -> np.ndarray:
    """Which pairs are not kept far enough apart by the balls around them."""
    at = _for_each((p.other for p in pairs), lambda other: _seen(_frame(frames, other), other.centre))
    reach = np.array([p.bar.reach - p.bar.radius + p.other.reach + p.keep for p in pairs])
    return ~(np.linalg.norm(cores[:, :3, 3] - at, axis=1) >= reach)


def _lacking(pair: Pair, frames: Mapping[str, Floats]) -> float:
    """What a bar lacks."""
    bar, other, keep = pair
    margin = keep - bar.radius
    distance = distance_where(bar.shape, other.shape, _frame(frames, bar), _frame(frames, other), margin)
    return max(0.0, margin - distance)


def named_obstacles(obstacles: Any) -> dict[str, Obstacle]:
    """Obstacles by name; those of a sequence are called obstacle 1, obstacle 2 and so on."""
    if isinstance(obstacles, Mapping):
        named = mapping(obstacles, "the obstacles")
    else:
        several = items(obstacles, "the obstacles, if no mapping from names to shapes,")
        named = {f"obstacle {i}": shape for i, shape in enumerate(several, 1)}
    named = {own: part for name, shape in named.items() for own, part in _parts(name, shape)}
    for name, given in named.items():
        shape = given.shape if isinstance(given, Moving) else given
        if not isinstance(shape, Ball | Box | Capsule | Polytope | Hull):
            known = "a Ball, Box, Capsule, Cylinder, Polytope, Hull, Mesh or Cloud"
            raise BadValue(f"{name!r} must be {known}, not {shown(shape)}")
    return named


def _parts(name: str, shape: Any) -> list[tuple[str, Any]]:
    """A shape by its name; of one that has several parts each by a name and its number."""
    if isinstance(shape, Ball | Box | Capsule | Polytope | Hull):
        return [(name, shape)]
    if isinstance(shape, Moving):
        return [(own, Moving(part, shape.at)) for own, part in _parts(name, shape.shape)]
    if isinstance(shape, Cylinder):
        return [(name, Hull(prism(shape)))]
    from supple.geometry.body_fits import Cloud, Mesh

    if not isinstance(shape, Mesh | Cloud):
        return [(name, shape)]
    return [(f"{name} {i}" if len(shape.parts) > 1 else name, part) for i, part in enumerate(shape.parts, 1)]


def check_clearance(figure: Figure, obstacles: Mapping[str, Obstacle], clearance: Clearance) -> None:
    """Refuse names that do not exist, obstacles without an inside, and figures that nothing can touch."""
    instance(clearance, Clearance, "a problem's clearance")
    known = (*figure.segments, *obstacles)
    for pair in clearance.ignoring:
        for name in pair:
            find(known, name, "segment or obstacle", f"figure {figure.name!r} and its obstacles")
    for name, shape in obstacles.items():
        try:
            if isinstance(shape, Moving):
                Wandering(name, shape.shape, shape.at)
            else:
                solid_of(shape)
        except BadValue as error:
            raise BadValue(f"{name!r} is no obstacle: {error}") from error
    if (obstacles or clearance.itself) and not any(figure.bars.values()):
        raise BadValue(f"figure {figure.name!r} has no solids: give it some by with_spheres or with_capsules")
    bare = uncovered_by(figure, obstacles, clearance)
    if bare and clearance.uncovered == "refuse":
        raise BadValue(
            f"nothing would keep these segments of figure {figure.name!r} clear, for their shapes were not read: "
            f'{", ".join(bare)}. Give them some by with_spheres or with_capsules, or say Clearance(uncovered="ignore")'
        )
    if clearance.itself and not kept_apart(figure, clearance):
        raise BadValue(
            f"itself=True keeps nothing apart: every two segments of figure {figure.name!r} that have solids are joined, "
            "touch at rest, or are ignored"
        )


def uncovered_by(figure: Figure, obstacles: Mapping[str, Obstacle], clearance: Clearance) -> tuple[str, ...]:
    """The segments of unknown shape that could come into contact: with an obstacle if they move, or with the figure itself."""
    ignored = {frozenset(pair) for pair in clearance.ignoring}

    def matters(segment: str) -> bool:
        near = any(frozenset((segment, name)) not in ignored for name in obstacles)
        return clearance.itself or (near and bool(figure.chain(None, segment)))

    return tuple(segment for segment in figure.uncovered if matters(segment))


def kept_apart(figure: Figure, clearance: Clearance) -> tuple[tuple[str, str], ...]:
    """The pairs of segments that a figure which keeps clear of itself keeps apart."""
    ignored = {frozenset(pair) for pair in clearance.ignoring}
    return tuple(pair for pair in figure.colliding_pairs(clearance.margin) if frozenset(pair) not in ignored)


def clearance_notes(figure: Figure, obstacles: Mapping[str, Obstacle], clearance: Clearance) -> tuple[str, ...]:
    """What is not kept clear though one might think so, one sentence each."""
    notes = []
    bare = uncovered_by(figure, obstacles, clearance)
    if bare:
        notes.append(f"Nothing keeps these segments clear, for their shapes were not read: {', '.join(bare)}.")
    if clearance.itself:
        ignored = {frozenset(pair) for pair in clearance.ignoring}
        out = figure.left_out(clearance.margin)
        pairs = [f"{a} and {b}" for a, b in out["at rest"] if frozenset((a, b)) not in ignored]
        near = f"are within {clearance.margin:g} m of each other" if clearance.margin else "touch"
        notes += [f"Not kept apart, because they {near} at rest: {'; '.join(pairs)}."] if pairs else []
        always = [f"{a} and {b}" for a, b in out["always"] if frozenset((a, b)) not in ignored]
        notes += [f"Not kept apart, because they {near} wherever they go: {'; '.join(always)}."] if always else []
    return tuple(notes)


def clear_goals(figure: Figure, obstacles: Mapping[str, Obstacle], clearance: Clearance) -> list[Clear]:
    """The goals of keeping clear of each obstacle and, if asked for, of oneself; none where nothing can touch."""
    if not obstacles and not clearance.itself:
        return []
    ignored = {frozenset(pair) for pair in clearance.ignoring}
    bars = {segment: [Bar.of(segment, shape) for shape in shapes] for segment, shapes in figure.bars.items()}
    goals = []
    movable = [segment for segment in bars if figure.chain(None, segment)]
    for name, shape in obstacles.items():
        able = [bar for s in movable if frozenset((s, name)) not in ignored for bar in bars[s]]
        standing = Wandering(name, shape.shape, shape.at) if isinstance(shape, Moving) else Standing(name, shape)
        pairs = tuple(standing.pair(bar, clearance.margin) for bar in able)
        goals += [Clear(f"clear of {name}", pairs)] if pairs else []
    if clearance.itself:
        others = {segment: [carried(bar) for bar in own] for segment, own in bars.items()}
        pairs = tuple(
            Pair(bar, other, bar.radius + clearance.margin)
            for a, b in kept_apart(figure, clearance)
            for bar, other in in_order(bars[a], bars[b], others[a], others[b])
        )
        goals += [Clear("clear of itself", pairs)] if pairs else []
    return goals
