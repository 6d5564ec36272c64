"""The postures of the target: all frames fitted, doubtful ones searched for again, the ground kept clear, jumps taken slowly.

**Fitted.** A frame is wanted as markers (`retargeting.stars`), and fitted by the compiled tracker. Nothing in it depends on the
frame before but where the fit starts, so the clip may be followed in both directions from any frame.

**Searched.** One frame is searched for from many starts, the rest posture and others all over the limits, each carried to where
its stars lie best. From there the clip is followed to both ends. Then the frames that are worse than their neighbours, those
beside a jump, and the ends are searched again; where that finds something better, the clip is followed from there, both ways, as long as it stays better.

**Above the ground.** Frames in which a spot of soles, hands, knees, elbows, pelvis or head dips below the ground are fitted again from
where they are, with floors under all spots.

**Slowly.** Where a coordinate jumps, because a shoulder has reached the end of its range and the way on leads round the other
side, the frames around are fitted again near to the postures' averages over a while, so that the change takes as
long as it needs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from supple.basics.stopping import Stop
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.motion.retargeting.rest_alignment import Pair
from supple.motion.retargeting.soles import Spot, spots_of
from supple.motion.retargeting.stars import FIRM, floors, sky_of
from supple.motion.retargeting.wishes import Wishes
from supple.motion.tracking.by_solver import BySolver
from supple.motion.tracking.clip import Clip
from supple.motion.tracking.frame_by_frame import LATE, FrameByFrame, carried_to, run, spread_out
from supple.motion.tracking.frame_step import ENDED, VALUE
from supple.solvers.levenberg_marquardt.settings import LevenbergMarquardt

STARTS, AGAIN = 24, 8  # searches for the first frame, and for one that is doubtful
WINDOW = 60  # frames of which one at most is doubted for being the worst
WORSE, BETTER = 2.0, 0.97  # of the clip's median, what is doubtful; of what there is, what is better
STRETCH = 30  # frames that are followed at once from a better one
FASTEST = 20.0  # what no coordinate exceeds without being slowed down, or its own speed limit if lower [rad/s, m/s]
SLOWLY = 0.3  # weight of the averages where a coordinate would jump
AVERAGED = 0.15  # seconds on either side over which they are taken
TOUCH = 2e-4  # [m] below the ground that is none
HELD = 4e4  # weight of the floor under a foot that is planted [1/m²]
ROUNDS = 2  # times that the ground is looked at
METHOD = FrameByFrame(tolerance=1e-4, steps=40)


class Follower:
    """The target's postures."""

    def __init__(self, figure: Figure, wishes: Wishes, stop: Stop) -> None:
        self.figure, self.wishes, self.stop = figure, wishes, stop
        self.anatomy = wishes.alignment.target.anatomy
        self.footings = wishes.footings
        self.sky = sky_of(figure, wishes)
        times = wishes.motion.times
        self.step = float(times[-1] - times[0]) / max(len(times) - 1, 1) or 1.0
        self.plain = self.sky.clip(figure, [], self.step, stop)
        root = self.plain.near[0] == 0.0
        self.fastest = np.where(root, np.inf, np.minimum(figure.speed, FASTEST)) * self.step

    @cached_property
    def spots(self) -> list[Spot]:
        """What may touch the ground: soles, what lies farthest out on each hand, knees, elbows and the head."""
        if not self.wishes.plant:
            return []
        out = [spot for footing in self.footings for spot in footing.sole.spots]
        for pair in self.wishes.alignment.pairs:
            if pair.part in ("head", "hand", "shank", "forearm", "pelvis"):
                out += self._outermost(pair)
        return out

    def _outermost(self, pair: Pair) -> list[Spot]:
        """The spots of a pair's segment that lie farthest from where it turns; where it turns, if it has no shapes."""
        start = self.wishes.alignment.target.start(pair.target)
        below = [pair.target]
        if pair.part in ("head", "hand"):
            below = [s for s in self.anatomy.below[pair.target] if s == pair.target or s in self.anatomy.moving]
        found = [farthest(spots_of(self.anatomy, s), self.anatomy.rest[s], start) for s in below]
        return [spot for spots in found for spot in spots] or [Spot(pair.target, np.zeros(3), 0.0)]

    # ── fitting ──────────────────────────────────────────────────────────────────────────────────────────────────────
    def solved(self, told: Callable[[int], None] | None) -> tuple[Floats, int]:
        """The postures (frames, size), and how many were done before it was time to stop: the others stand still.

        `told` hears the number of each frame that is done.
        """
        if METHOD.refusals(self.plain):
            Q, done = self._by_solver()
        else:
            Q, done = self._fitted()
        for k in range(done if told is not None else 0):
            told(k)  # pyright: ignore[reportOptionalCall]
        return Q, done

    def _by_solver(self) -> tuple[Floats, int]:
        """For figures that the compiled tracker does not take: a solver of single problems, frame by frame."""
        fits = BySolver(LevenbergMarquardt()).fit(self.plain, np.array(self.figure.rest))
        return fits.q, int((fits.reports[:, ENDED] != LATE).sum())

    def _fitted(self) -> tuple[Floats, int]:
        clip, count = self.plain, len(self.wishes.motion)
        self.settings = METHOD.settings(clip, METHOD.steps)
        q, _ = self._searched(0, STARTS)
        fits = run(clip, np.arange(count), q, self.settings)
        Q, value = fits.q, fits.reports[:, VALUE]
        done = int((fits.reports[:, ENDED] != LATE).sum())
        if done == count and not self.stop.asked:
            Q, value = self._doubted(Q, value)
            Q = self._lifted(Q)
            Q = self._slowed(Q)
        return Q, done

    def _searched(self, k: int, starts: int) -> tuple[Floats, float]:
        """The best posture of frame k from many starts, and its value."""
        stars = replace(self.plain, weights=self.plain.weights * np.isin(self.plain.names, [m.name for m in self.sky.stars]))
        rest = self.figure.rest[None]
        postures = np.vstack([rest, spread_out(self.figure, starts)])
        begin = np.clip(carried_to(stars, k, postures), self.figure.lower, self.figure.upper)
        fits = run(self.plain, np.full(len(begin), k), begin, self.settings, chained=False)
        value = fits.reports[:, VALUE]
        best = np.flatnonzero(value <= value.min() * (1.0 + 1e-3))[0]  # of equals the one from nearest to rest
        return fits.q[best], float(value[best])

    def _doubted(self, Q: Floats, value: Floats) -> tuple[Floats, Floats]:
        """The postures with doubtful frames searched again, and what is better followed from there."""
        Q, value, seen = Q.copy(), value.copy(), np.zeros(len(Q), dtype=bool)
        for k in self._doubtful(Q, value):
            if seen[k] or self.stop.asked:
                continue
            q, least = self._searched(k, AGAIN)
            if least < BETTER * value[k]:
                Q[k], value[k] = q, least
                for way in (1, -1):
                    self._followed(k, way, Q, value, seen)
        return Q, value

    def _doubtful(self, Q: Floats, value: Floats) -> list[int]:
        """Frames that are the worst of their surroundings and worse than most, those beside jumps, and the last."""
        count = len(Q)
        jumps = np.flatnonzero((np.abs(np.diff(Q, axis=0)) > self.fastest).any(axis=1))
        worst = [a + int(np.argmax(value[a : a + WINDOW])) for a in range(0, count, WINDOW)]
        limit = WORSE * float(np.median(value))
        found = [k for k in worst if value[k] > limit]
        beside = sorted({*(jumps + 1).tolist(), *np.maximum(jumps - 1, 0).tolist()})[: 2 + count // WINDOW]
        return list(dict.fromkeys([count - 1, *beside, *found]))

    def _followed(self, k: int, way: int, Q: Floats, value: Floats, seen: np.ndarray) -> None:
        """Follow the clip from frame k on, one way, as long as that is better than what there is."""
        while not self.stop.asked:
            frames = k + way * np.arange(STRETCH + 1)
            frames = frames[(frames >= 0) & (frames < len(Q))]
            if len(frames) < 2:
                return
            fits = run(self.plain, frames, Q[k], self.settings)
            better = fits.reports[1:, VALUE] < BETTER * value[frames[1:]]
            good = len(better) if better.all() else int(np.argmin(better))
            new = frames[1 : 1 + good]
            Q[new], value[new], seen[new] = fits.q[1 : 1 + good], fits.reports[1 : 1 + good, VALUE], True
            if good < len(better):
                return
            k = int(frames[-1])

    # ── the ground ───────────────────────────────────────────────────────────────────────────────────────────────────
    @cached_property
    def grounded(self) -> Clip:
        """The clip with floors for all spots; those of a planted foot, which its locks hold already, count less."""
        held = {s.segment: f.planted[0] | f.planted[1] for f in self.footings for s in f.sole.spots}
        weights = [np.where(held.get(s.segment, False), HELD, FIRM) * np.ones(len(self.wishes.motion)) for s in self.spots]
        return self.sky.clip(self.figure, floors(self.spots, weights), self.step, self.stop)

    def heights(self, Q: Floats) -> Floats:
        """How high above the ground the lowest point of each spot is (frames, spots)."""
        return np.stack([p[:, 2] - s.radius for p, s in zip(self._places(Q), self.spots, strict=True)], axis=1)

    def _places(self, Q: Floats) -> list[Floats]:
        frames = {segment: self.figure.placement(Q, segment) for segment in {spot.segment for spot in self.spots}}
        return [frames[s.segment][:, :3, :3] @ s.centre + frames[s.segment][:, :3, 3] for s in self.spots]

    def _lifted(self, Q: Floats) -> Floats:
        """The postures with nothing below the ground."""
        if not self.spots:
            return Q
        for _ in range(ROUNDS):
            low = np.flatnonzero((self.heights(Q) < -TOUCH).any(axis=1))
            if not len(low) or self.stop.asked:
                break
            Q = Q.copy()
            Q[low] = run(self.grounded, low, Q[low], self.settings, chained=False).q
        return Q

    # ── jumps ────────────────────────────────────────────────────────────────────────────────────────────────────────
    def _slowed(self, Q: Floats) -> Floats:
        """The postures with jumps taken slowly."""
        jumps = np.flatnonzero((np.abs(np.diff(Q, axis=0)) > self.fastest).any(axis=1))
        if not len(jumps) or self.stop.asked:
            return Q
        reach = max(2, round(AVERAGED / self.step))
        concerned = np.unique(np.clip((jumps[:, None] + np.arange(-2 * reach, 2 * reach + 2)).ravel(), 0, len(Q) - 1))
        near = np.repeat(self.plain.near[None], len(concerned), axis=0)
        smooth = averaged(Q, reach)
        share = np.exp(-0.5 * (np.abs(concerned[:, None] - jumps[None] - 0.5).min(axis=1) / (0.7 * reach)) ** 2)
        moving = near[:, 0] > 0.0
        near[:, 0] += moving * (SLOWLY * share)[:, None]
        near[:, 1] += moving * ((SLOWLY * share)[:, None] / near[:, 0].clip(1e-12)) * (smooth[concerned] - near[:, 1])
        start = np.where(moving, smooth[concerned], Q[concerned])
        out = Q.copy()
        clip = self.grounded if self.spots else self.plain
        out[concerned] = run(clip, concerned, start, self.settings, chained=False, near=near).q
        return out


def averaged(Q: Floats, reach: int) -> Floats:
    """Averages over `reach` frames on either side, with weights that fall off like a triangle."""
    weights = 1.0 + reach - np.abs(np.arange(-reach, reach + 1))
    padded = np.pad(Q, ((reach, reach), (0, 0)), mode="edge")
    total = sum(w * padded[k : k + len(Q)] for k, w in enumerate(weights))
    return np.asarray(total / weights.sum(), dtype=np.float64)


def farthest(spots: list[Spot], rest: Floats, start: Floats) -> list[Spot]:
    """Of the spots of a segment the one farthest from a point."""
    away = [float(np.linalg.norm(rest[:3, :3] @ spot.centre + rest[:3, 3] - start)) for spot in spots]
    return [spots[int(np.argmax(away))]] if spots else []
