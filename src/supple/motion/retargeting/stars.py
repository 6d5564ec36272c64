"""What a frame asks for, as markers: directions are stars, places are points.

A *star* is a marker fixed in a segment so far away that only turning the segment moves it, as stars are seen from the
ground: at `FAR` metres along an axis a, with the weight ``w / FAR²``, it costs ``½ w |R a − d|²`` for the wished
direction d, whatever the segment's place (a metre of it is a milliradian). So the compiled tracker of markers
(`tracking.frame_step`), which fits a frame in tens of microseconds inside the limits, follows directions too.

Points are the hips, the feet, and what is planted: heels, balls and hands on their places, with a weight that leaves
micrometres.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from supple.basics.stopping import Stop
from supple.figure.effectors import Point
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.motion.retargeting.rest_alignment import STRAIGHT, Pair
from supple.motion.retargeting.soles import Spot
from supple.motion.retargeting.wishes import Wishes
from supple.motion.tracking.clip import Clip

FAR = 1000.0  # [m] to a star
FIRM = 1e5  # weight of what must hold [1/m²] against a radian
HIPS, FEET = 10.0, 100.0  # weights of places
TWISTS = {"foot": 1.0, "toes": 1.0, "hand": 0.6, "": 1.0}  # of facing against pointing; orientations count in full
TWIST = 0.15
WEIGHTS = {"spine": 0.5, "clavicle": 0.2, "foot": 3.0, "toes": 1.0, "digit": 0.3, "": 0.1}
STAY = 1e-3  # weight of the rest posture, which decides what nothing else does


class Mark(NamedTuple):
    """A marker of the target: where it is wished (frames, 3), and how much that counts (frames,)."""

    name: str
    point: Point
    places: Floats
    weights: Floats


@dataclass(frozen=True, eq=False)
class Sky:
    """All marks of a clip: stars and the hips, which tell how the body lies; and those of feet and what is planted."""

    stars: list[Mark]
    feet: list[Mark]

    def clip(self, figure: Figure, more: list[Mark], step: float, stop: Stop) -> Clip:
        """What the tracker follows."""
        marks = [*self.stars, *self.feet, *more]
        places, weights = np.stack([m.places for m in marks], axis=1), np.stack([m.weights for m in marks], axis=1)
        near = np.array([np.full(figure.size, STAY), figure.rest])
        near[0, _of_root(figure, marks)] = 0.0
        names = tuple(mark.name for mark in marks)
        seen = replace(figure, markers={mark.name: mark.point for mark in marks})
        return Clip(
            seen, names, np.ascontiguousarray(places), np.ascontiguousarray(weights), near, step=step, stop=stop
        )


def _of_root(figure: Figure, marks: list[Mark]) -> np.ndarray:
    """The coordinates that move every segment with a mark: nothing draws them anywhere."""
    shared = set.intersection(*(set(figure.chain(None, mark.point.segment)) for mark in marks))
    return np.isin(figure.coordinates, list(shared))


def fixed(segment: str, rest: Floats, at: Floats) -> Point:
    """A point of the world at rest, fixed in a segment."""
    x, y, z = (rest[:3, :3].T @ (at - rest[:3, 3])).tolist()
    return Point(segment, (x, y, z))


def followed(figure: Figure, pairs: tuple[Pair, ...]) -> list[Pair]:
    """The pairs without those whose coordinates move what hangs below them once more, as those of a grouped spine do."""
    own = {pair.target: set(figure.chain(None, pair.target)) for pair in pairs}

    def again(pair: Pair) -> bool:
        below = [p.target for p in pairs if pair.target in figure.path_to_root(p.target) and p != pair]
        return any(own[pair.target] & set(figure.chain(pair.target, segment)) for segment in below)

    return [pair for pair in pairs if not again(pair)] or list(pairs[-1:])


def sky_of(figure: Figure, wishes: Wishes) -> Sky:
    """The marks of a clip."""
    anatomy, always = wishes.alignment.target.anatomy, np.ones(len(wishes.motion))
    stars: list[Mark] = []
    way = np.zeros((len(wishes.motion), 3)) if wishes.hips is None else wishes.hips[1]
    for pair in followed(figure, wishes.alignment.pairs):
        axes, rest = wishes.axes(pair), anatomy.rest[pair.target]
        turned = wishes.wished(pair)
        weight = WEIGHTS.get(pair.part, 1.0)
        twist = 1.0 if pair.part in STRAIGHT else TWISTS.get(pair.part, TWIST)
        for axis, share, which in zip(axes, (1.0, twist), "xy", strict=True):
            x, y, z = (FAR * (rest[:3, :3].T @ axis)).tolist()
            name = f"{pair.target} {which}"
            stars.append(
                Mark(name, Point(pair.target, (x, y, z)), FAR * (turned @ axis) + way, weight * share / FAR**2 * always)
            )
    pair = wishes.alignment.of("pelvis") or wishes.alignment.pairs[0]
    if wishes.hips is not None and figure.chain(None, pair.target):
        stars.append(Mark("hips", fixed(pair.target, anatomy.rest[pair.target], wishes.hips[0]), way, HIPS * always))
    feet: list[Mark] = []
    for footing in wishes.footings:
        sole = footing.sole
        feet.append(Mark(f"{sole.foot} place", Point(sole.foot), footing.placements[:, :3, 3], FEET * always))
        for k, (point, which) in enumerate(((sole.heel, "heel"), (sole.ball, "ball"))):
            if footing.planted[k].any():
                mark = fixed(sole.foot, sole.rest, point)
                places = np.nan_to_num(footing.locks[k])
                feet.append(Mark(f"{sole.foot} {which}", mark, places, FIRM * footing.planted[k]))
    return Sky(stars, feet)


def floors(spots: list[Spot], weights: list[Floats]) -> list[Mark]:
    """Marks that keep spots above the ground: the tracker's floors have negative weights."""
    out = []
    for k, (spot, weight) in enumerate(zip(spots, weights, strict=True)):
        places = np.tile([0.0, 0.0, spot.radius], (len(weight), 1))
        out.append(Mark(f"spot {k} of {spot.segment}", spot.point, places, -weight))
    return out
