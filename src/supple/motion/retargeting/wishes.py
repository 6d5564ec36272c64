"""What the target is to do in each frame: turns of segments, the place of the hips, the ways of the feet.

Every number here is an array over all frames, computed at once from the source's placements.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from supple.geometry.placements import Floats
from supple.motion.motion import Motion
from supple.motion.retargeting.footing import Footing, flat_toes, levelled, planned
from supple.motion.retargeting.planted import TIPPED, Ground, Phase, either, ground_under, on_one_end, phases, standing
from supple.motion.retargeting.rest_alignment import STRAIGHT, Alignment, Pair, arcs
from supple.motion.retargeting.soles import Sole

SIDES = ("l", "r")


@dataclass(frozen=True, eq=False)
class SourceFoot:
    """One foot of the source: the ways of ankle and ball (frames, 3), and when each is planted."""

    side: str
    ways: tuple[Floats, Floats]
    planted: list[list[Phase]]


class Wishes:
    """The source's motion in terms of the target."""

    def __init__(self, motion: Motion, alignment: Alignment, plant: bool) -> None:
        self.motion, self.alignment, self.plant = motion, alignment, plant
        self._wished: dict[str, Floats] = {}
        self.frames = motion.figure.placements(motion.q, [pair.source for pair in alignment.pairs])

    def _carried(self, segment: str, point: Floats) -> Floats:
        """The way of a point of the source that is given at rest in the world (frames, 3)."""
        rest, T = self.alignment.source.anatomy.rest[segment], self.frames[segment]
        return T[:, :3, :3] @ (rest[:3, :3].T @ (point - rest[:3, 3])) + T[:, :3, 3]

    def turned(self, pair: Pair) -> Floats:
        """W D of a pair: how far the target's segment has turned from its rest (frames, 3, 3)."""
        return self._from_rest(pair) @ self.turns[pair.target]

    def wished(self, pair: Pair) -> Floats:
        """How far the target's segment shall have turned from its rest (frames, 3, 3): feet and toes as planned."""
        if pair.target not in self._wished:
            footing, foot = self._footing(pair), self.alignment.of("foot", pair.side)
            if footing is None or foot is None:
                turn = self.turned(pair)
            elif pair.part == "toes":
                turn = self._of_toes(footing, foot, pair)
            else:
                turn = footing.placements[:, :3, :3] @ footing.sole.rest[:3, :3].T
            self._wished[pair.target] = turn
        return self._wished[pair.target]

    def _footing(self, pair: Pair) -> Footing | None:
        if pair.part not in ("foot", "toes"):
            return None
        return next((f for f, (side, _) in zip(self.footings, self.soles, strict=True) if side == pair.side), None)

    def _from_rest(self, pair: Pair) -> Floats:
        """W of a pair: how far the source's segment has turned from its rest."""
        return self.frames[pair.source][:, :3, :3] @ self.alignment.source.anatomy.rest[pair.source][:3, :3].T

    @cached_property
    def turns(self) -> dict[str, Floats]:
        """D of every pair, with soles made level by what the planted feet show."""
        turns = dict(self.alignment.turns)
        for foot in self.feet:
            for part in ("foot", "toes"):
                pair = self.alignment.of(part, foot.side)
                if pair is not None and self.plant:
                    D = turns[pair.target]
                    turns[pair.target] = D @ levelled(self._from_rest(pair) @ D, foot.planted)
        return turns

    # ── feet of the source ───────────────────────────────────────────────────────────────────────────────────────────
    @cached_property
    def leg(self) -> float:
        """The length of the source's legs, hip to ankle; of its body where it has none."""
        bones = [p for p in self.alignment.pairs if p.part in ("thigh", "shank") and p.side == "l"]
        length = sum(float(np.linalg.norm(self.alignment.source.bone(p, p.source))) for p in bones)
        size = float(np.ptp([p[2] for p in self.alignment.source.anatomy.origin.values()])) or 1.0
        return length or 0.5 * size

    @cached_property
    def ways(self) -> dict[str, tuple[Floats, Floats]]:
        """Ankle and ball of each of the source's feet."""
        out = {}
        for side in SIDES:
            pair = self.alignment.of("foot", side)
            if pair is not None:
                source = self.alignment.source
                ankle = source.start(pair.source)
                ball = Sole(source.anatomy, pair.source, ankle).ball
                out[side] = self._carried(pair.source, ankle), self._carried(pair.source, ball)
        return out

    def joints_of_foot(self, side: str) -> tuple[Floats, Floats]:
        """The ways of the source's ankle and of the joint of its toes, above the ball; of the ball where it has none."""
        ankle, ball = self.ways[side]
        foot, anatomy = self.alignment.of("foot", side), self.alignment.source.anatomy
        if foot is None:
            return ankle, ball
        toes = [s for s in anatomy.below[foot.source][1:] if s in anatomy.moving]
        return ankle, self._carried(foot.source, anatomy.origin[toes[0]]) if toes else ball

    @cached_property
    def ground(self) -> Ground:
        """The ground under the source's feet; level at its lowest point where it has none."""
        if self.ways:
            return ground_under(list(self.ways.values()), self.motion.times, self.leg)
        low = min(float(T[:, 2, 3].min()) for T in self.frames.values())
        return Ground((low, low), np.zeros(2))

    @cached_property
    def feet(self) -> list[SourceFoot]:
        """The source's feet and their planted phases."""
        out = []
        for side, ways in self.ways.items():
            heights = [way[:, 2] - self.ground.under(way, kind) for kind, way in enumerate(ways)]
            planted = [
                either(phases(way, h, self.motion.times, self.leg), standing(joint, self.motion.times, self.leg))
                for way, h, joint in zip(ways, heights, self.joints_of_foot(side), strict=True)
            ]
            out.append(SourceFoot(side, ways, on_one_end(planted, ways, self._tipped(side))))
        return out

    def _tipped(self, side: str) -> np.ndarray:
        """In which frames a foot of the source is nowhere near level (frames,)."""
        pair = self.alignment.of("foot", side)
        assert pair is not None  # as it has ways
        return (self._from_rest(pair) @ self.alignment.turns[pair.target])[:, 2, 2] < np.cos(TIPPED)

    def height(self, pair: Pair) -> Floats:
        """How high a source segment's turning point is above the ground under the ankles (frames,)."""
        way = self.way(pair)
        return way[:, 2] - self.ground.under(way, 0)

    def way(self, pair: Pair) -> Floats:
        """The way of a source segment's turning point (frames, 3)."""
        return self._carried(pair.source, self.alignment.source.start(pair.source))

    # ── places in the target's world ─────────────────────────────────────────────────────────────────────────────────
    @cached_property
    def ankle_height(self) -> float:
        """How high the target's ankles are above the ground when it stands; 0 without feet."""
        return float(np.mean([sole.height for _, sole in self.soles])) if self.soles else 0.0

    @cached_property
    def soles(self) -> list[tuple[str, Sole]]:
        """The target's soles, by side."""
        target = self.alignment.target
        pairs = [pair for side in SIDES if (pair := self.alignment.of("foot", side)) is not None]
        return [(p.side, Sole(target.anatomy, p.target, target.start(p.target))) for p in pairs]

    def scaled(self, way: Floats) -> Floats:
        """A way of the source in the target's world: scaled, its height measured from the ankles of a standing foot."""
        if not self.plant:
            return self.alignment.scale * way
        height = way[:, 2] - self.ground.under(way, 0)
        flat = self.alignment.scale * way * [1.0, 1.0, 0.0]
        return flat + np.outer(self.alignment.scale * height + self.ankle_height, [0.0, 0.0, 1.0])

    @cached_property
    def footings(self) -> list[Footing]:
        """The ways of the target's feet."""
        out = []
        for (side, sole), foot in zip(self.soles, self.feet, strict=True):
            pair = self.alignment.of("foot", side)
            assert pair is not None
            planted = foot.planted if self.plant else [[], []]
            ankles = self.scaled(foot.ways[0]) + self._wider(side)
            footing = planned(sole, self.turned(pair), ankles, planted, self.motion.times)
            toes = self.alignment.of("toes", side)
            out.append(footing if toes is None or not self.plant else self._with_clear_toes(footing, pair, toes))
        return out

    def _with_clear_toes(self, footing: Footing, foot: Pair, toes: Pair) -> Footing:
        """A footing so high that toes in the air are above the ground too."""
        anatomy, at = self.alignment.target.anatomy, self.alignment.target.start(toes.target)
        turned, T = self._of_toes(footing, foot, toes), footing.placements
        joint = T[:, 2, :3] @ footing.sole.in_foot(at) + T[:, 2, 3]
        rest = anatomy.rest[toes.target]
        spots = [
            (rest[:3, :3] @ s.centre + rest[:3, 3] - at, s.radius)
            for s in footing.sole.spots
            if s.segment == toes.target
        ]
        if not spots:
            return footing
        low = np.min([joint + turned[:, 2] @ away - radius for away, radius in spots], axis=0)
        placements = T.copy()
        placements[:, 2, 3] += np.where(footing.planted[0] | footing.planted[1], 0.0, np.maximum(0.0, -low))
        return replace(footing, placements=placements)

    def _of_toes(self, footing: Footing, foot: Pair, toes: Pair) -> Floats:
        """How far toes shall have turned from their rest: as far from their foot as the source's, flat while planted."""
        planned = footing.placements[:, :3, :3] @ footing.sole.rest[:3, :3].T
        bent = self._from_rest(toes) @ np.swapaxes(self._from_rest(foot), 1, 2)
        out, T = flat_toes(bent @ planned, planned, footing, self.motion.times), footing.placements
        room = T[:, 2, :3] @ footing.sole.in_foot(footing.sole.ball) + T[:, 2, 3]  # under the ball
        way, length = out @ footing.sole.forward, max(footing.sole.height, 1e-6)
        least = np.clip(-room / length, -1.0, 0.0)
        flat = np.linalg.norm(way[:, :2], axis=1)
        k = np.flatnonzero((way[:, 2] < least) & (flat > 0.1)) if self.plant else np.zeros(0, dtype=int)
        up = np.column_stack([way[k, :2] * (np.sqrt(1.0 - least[k] ** 2) / flat[k])[:, None], least[k]])
        out[k] = arcs(way[k], up) @ out[k]
        return out

    def _wider(self, side: str) -> Floats:
        """How far outwards a foot goes because the target's hips are wider than the scaled source's (frames, 3), level."""
        thigh, pelvis = self.alignment.of("thigh", side), self.alignment.of("pelvis")
        if thigh is None or pelvis is None or self.hips is None:
            return np.zeros((len(self.motion), 3))
        mine = self.turned(pelvis) @ (self.alignment.target.start(thigh.target) - self.hips[0])
        hip = self._carried(pelvis.source, self.alignment.source.start(thigh.source))
        theirs = self.scaled(hip) - self.hips[1]
        return (mine - theirs) * [1.0, 1.0, 0.0]

    @cached_property
    def hips(self) -> tuple[Floats, Floats] | None:
        """The middle of the hips at the target's rest in the world, and its way; of the root where there are no thighs."""
        pair = self.alignment.of("pelvis") or (self.alignment.pairs[0] if self.alignment.pairs else None)
        if pair is None:
            return None
        thighs = [p for side in SIDES if (p := self.alignment.of("thigh", side)) is not None]
        source, target = self.alignment.source, self.alignment.target
        if len(thighs) == 2:
            theirs, mine = (
                np.mean([source.start(p.source) for p in thighs], axis=0),
                np.mean([target.start(p.target) for p in thighs], axis=0),
            )
        else:
            theirs, mine = source.start(pair.source), target.start(pair.target)
        return mine, self.scaled(self._carried(pair.source, theirs))

    # ── axes that are compared ───────────────────────────────────────────────────────────────────────────────────────
    def axes(self, pair: Pair) -> Floats:
        """Two directions of the target's segment at rest in the world, rows: along its bone, and across it."""
        body = self.alignment.target.anatomy.axes
        bone = body[:, 2] if pair.part in STRAIGHT else self.alignment.target.bone(pair, pair.target)
        if np.linalg.norm(bone) < 1e-6:
            bone = body[:, 2]
        bone = bone / np.linalg.norm(bone)
        across = body[:, 1] - (body[:, 1] @ bone) * bone
        if np.linalg.norm(across) < 0.3:
            across = body[:, 0] - (body[:, 0] @ bone) * bone
        return np.array([bone, across / np.linalg.norm(across)])
