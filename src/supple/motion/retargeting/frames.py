"""The postures of the target: all frames fitted, doubtful ones searched for again, the ground kept clear, jumps taken
slowly.

**Fitted.** A frame is wanted as markers (`retargeting.stars`), and fitted by the compiled tracker. Nothing in it
depends on the frame before but where the fit starts, so the clip may be followed in both directions from any frame.

**Searched.** One frame is searched for from many starts, the rest posture and others all over the limits, each
carried to where its stars lie best. From there the clip is followed to both ends. Then the frames that are worse than
their neighbours, those beside a jump, and the ends are searched again; where that finds something better, the clip is
followed from there, both ways, as long as it stays better.

**Hands** that stand on the ground in the source are locked where they have come to be (`retargeting.hands`).

**Above the ground.** Frames in which a spot of soles, hands, knees, elbows, pelvis or head dips below the ground are
fitted again from where they are, with floors under all spots.

**Slowly.** Jumps and jolts are taken slowly in the end (`retargeting.slowing`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from supple.basics.stopping import Stop
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.motion.retargeting.footing import Footing
from supple.motion.retargeting.hands import Hand, hand_marks, planted_hands
from supple.motion.retargeting.rest_alignment import Pair
from supple.motion.retargeting.slowing import FASTEST, slowed
from supple.motion.retargeting.soles import Spot, spots_of
from supple.motion.retargeting.stars import FIRM, Mark, fixed, floors, sky_of
from supple.motion.retargeting.wishes import Wishes
from supple.motion.tracking.by_solver import BySolver
from supple.motion.tracking.carrying import carried_to, spread_out
from supple.motion.tracking.clip import Clip
from supple.motion.tracking.frame_by_frame import FrameByFrame
from supple.motion.tracking.frame_runs import LATE, run
from supple.motion.tracking.rig import ENDED, VALUE
from supple.solvers.levenberg_marquardt.levenberg_marquardt import LevenbergMarquardt

STARTS, AGAIN = 24, 8  # searches for the first frame, and for one that is doubtful
WINDOW = 60  # frames of which one at most is doubted for being the worst
WORSE, BETTER = 2.0, 0.97  # of the clip's median, what is doubtful; of what there is, what is better
STRETCH = 30  # frames that are followed at once from a better one
TOUCH = 2e-4  # [m] below the ground that is none
HELD, STIFF = (
    4e4,
    1e3,
)  # weights of the floor under a foot that is planted, and one that turns about one axis only [1/m²]
FIRMER = 2.0  # times the weight of locks and floors against what calms the body
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
        free = (self.plain.near[0] == 0.0) | np.isinf(figure.lower) | np.isinf(figure.upper)  # nothing to go round
        self.hands: list[Hand] = planted_hands(wishes, self.spots) if wishes.plant else []
        self.locks: list[Mark] = []
        self.kept: list[Mark] = []  # floors and locks
        self.fastest = np.where(free, np.inf, np.minimum(figure.speed, FASTEST)) * self.step

    @cached_property
    def spots(self) -> list[Spot]:
        """What may touch the ground: soles, what lies farthest out on hands, head, limbs and trunk."""
        if not self.wishes.plant:
            return []
        out = [spot for footing in self.footings for spot in footing.sole.spots]
        for pair in self.wishes.alignment.pairs:
            if pair.part not in ("foot", "toes", "digit", ""):
                out += self._outermost(pair)
        return out + self._crown()

    def _crown(self) -> list[Spot]:
        """Where the head of a figure without one would be: over the middle of the shoulders by half of their width."""
        alignment = self.wishes.alignment
        arms, trunk = [alignment.of("upper_arm", side) for side in "lr"], alignment.of("spine")
        if trunk is None or alignment.of("head") or alignment.of("neck") or arms[0] is None or arms[1] is None:
            return []
        left, right = (alignment.target.start(pair.target) for pair in arms if pair is not None)
        at = 0.5 * (left + right) + 0.5 * np.linalg.norm(left - right) * self.anatomy.axes[:, 2]
        return [Spot(trunk.target, np.array(fixed(trunk.target, self.anatomy.rest[trunk.target], at).offset), 0.0)]

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
        q = np.array(self.figure.rest)
        with self.stop:
            q, _ = self._searched(0, STARTS)
        fits = run(clip, np.arange(count), q, self.settings)
        Q, value = fits.q, fits.reports[:, VALUE]
        done = int((fits.reports[:, ENDED] != LATE).sum())
        for better in (
            lambda Q: self._doubted(Q, value),
            self._at_rest,
            self._planted,
            self._lifted,
            partial(slowed, self),
        ):
            if done < count or self.stop.asked:
                break
            with self.stop:
                Q = better(Q)
        return Q, done

    def _searched(self, k: int, starts: int) -> tuple[Floats, float]:
        """The best posture of frame k from many starts, and its value."""
        stars = replace(
            self.plain, weights=self.plain.weights * np.isin(self.plain.names, [m.name for m in self.sky.stars])
        )
        rest = self.figure.rest[None]
        postures = np.vstack([rest, spread_out(self.figure, starts)])
        begin = np.clip(carried_to(stars, k, postures), self.figure.lower, self.figure.upper)
        fits = run(self.plain, np.full(len(begin), k), begin, self.settings, chained=False)
        value = fits.reports[:, VALUE]
        best = np.flatnonzero(value <= value.min() * (1.0 + 1e-3))[0]  # of equals the one from nearest to rest
        return fits.q[best], float(value[best])

    def _doubted(self, Q: Floats, value: Floats) -> Floats:
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
        return Q

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

    def _at_rest(self, Q: Floats) -> Floats:
        """The postures with the coordinates at rest that move nothing with a mark: thumbs, say, that the source has not."""
        marks = [mark.point.segment for mark in (*self.sky.stars, *self.sky.feet)]
        asked = {name for segment in dict.fromkeys(marks) for name in self.figure.chain(None, segment)}
        idle = [name not in asked for name in self.figure.coordinates]
        return np.where(idle, self.figure.rest, Q)

    # ── the ground ───────────────────────────────────────────────────────────────────────────────────────────────────
    @cached_property
    def grounded(self) -> Clip:
        """The clip with floors for all spots; those of a planted foot, which its locks hold already, count less."""
        weights = [np.full(len(self.wishes.motion), FIRM) for _ in self.spots]
        for footing in self.footings:
            held = STIFF if self._is_stiff(footing) else HELD
            for weight, spot in zip(weights, self.spots, strict=True):
                if spot.segment in {s.segment for s in footing.sole.spots}:
                    weight[footing.planted[0] | footing.planted[1]] = held
        self.kept = [*floors(self.spots, weights), *self.locks]
        return self.sky.clip(self.figure, self.kept, self.step, self.stop)

    def clip_with(self, more: list[Mark]) -> Clip:
        """The clip above the ground with more marks, against which what is firm is firmer."""
        kept = self.kept if self.spots and self.grounded else []
        sky = replace(self.sky, feet=[firmer(mark) for mark in self.sky.feet])
        return sky.clip(self.figure, [*(firmer(mark) for mark in kept), *more], self.step, self.stop)

    def _is_stiff(self, footing: Footing) -> bool:
        """Whether a foot turns about one axis only, so that it cannot lie flat wherever its leg comes from."""
        above = [
            p.target
            for p in self.wishes.alignment.pairs
            if p.part == "shank" and p.target in self.anatomy.path(footing.sole.foot)
        ]
        return bool(above) and len(self.figure.chain(above[-1], footing.sole.foot)) < 2

    def heights(self, Q: Floats) -> Floats:
        """How high above the ground the lowest point of each spot is (frames, spots)."""
        return self.heights_in(self.figure.placements(Q, [spot.segment for spot in self.spots]))

    def heights_in(self, frames: dict[str, Floats]) -> Floats:
        """The same for segments whose places are known (frames, 4, 4)."""
        return np.stack(
            [frames[s.segment][:, 2, :3] @ s.centre + frames[s.segment][:, 2, 3] - s.radius for s in self.spots], axis=1
        )

    def _places(self, Q: Floats) -> list[Floats]:
        frames = self.figure.placements(Q, [spot.segment for spot in self.spots])
        return [frames[s.segment][:, :3, :3] @ s.centre + frames[s.segment][:, :3, 3] for s in self.spots]

    def _planted(self, Q: Floats) -> Floats:
        """The postures with hands locked where they stand on the ground."""
        if not self.hands or self.stop.asked:
            return Q
        at = [next(k for k, spot in enumerate(self.spots) if spot is hand.spot) for hand in self.hands]
        ways = self._places(Q)
        self.locks = hand_marks(self.hands, [ways[k] for k in at], len(Q))
        concerned = np.flatnonzero(np.any([mark.weights > 0.0 for mark in self.locks], axis=0))
        Q = Q.copy()
        Q[concerned] = run(self.grounded, concerned, Q[concerned], self.settings, chained=False).q
        return Q

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


def firmer(mark: Mark) -> Mark:
    """The mark with larger weights where they are those of a lock or a floor."""
    return mark._replace(weights=np.where(np.abs(mark.weights) >= HELD, FIRMER, 1.0) * mark.weights)


def farthest(spots: list[Spot], rest: Floats, start: Floats) -> list[Spot]:
    """Of the spots of a segment the one farthest from a point."""
    away = [float(np.linalg.norm(rest[:3, :3] @ spot.centre + rest[:3, 3] - start)) for spot in spots]
    return [spots[int(np.argmax(away))]] if spots else []
