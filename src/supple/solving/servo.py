"""A control loop with speeds and accelerations: from posture and velocity now to posture and velocity a moment later.

Each call takes three whole differential steps (`solvers.differential`), bounded by the limits alone; they say how far each
coordinate has to go, Δ. Coordinates approach at a common rate s, so that effectors keep their direction,

    s = min(rate, speed_i / |Δ_i|, brake_i(|Δ_i|, wait) / |Δ_i|),
    brake(d, wait) = max(a (√(2 d / a) − dt/2 − wait), min(d / dt, a dt)),

with a the greatest acceleration: at a speed of brake(d, 0) a coordinate comes to rest within d by slowing down by a dt in each
moment, and if it has kept to that once, it can keep to it ever after. A coordinate whose acceleration is bounded follows what
is wanted, w = s Δ, as a filter of the first order, four times as fast as what is missed falls: critically damped, so nothing
is overshot, and the delay of that filter is the `wait`. What comes of it, v + β (w − v), is clipped to

    max(−speed, v − a dt, −brake(q − l, 0)) ≤ v′ ≤ min(speed, v + a dt, brake(h − q, 0)),

with v the velocity now and limits l, h: so coordinates slow down in time before their limits. Where a velocity that was handed
in is too fast for that, speeds come first, then limits, then accelerations. Each coordinate is clipped for itself: one that is
late is not made up for by the others at their greatest accelerations, which is what shakes. Hard tasks and closed loops allow
no such thing: with them one more step, of gain s dt, is taken inside these bounds.

**At the border of reach and near singularities** the damping grows with what is missed, ``damping + ease |ρ|²`` (Sugihara
2011): directions in which a coordinate has to move far to gain little are left alone. `damping` is that of a motion, greater
than that of `step`: it calms what is left of such directions where nothing is missed yet.

**Twists** are targets ahead of where the effector is, by as much as it moves in 1 / rate; with them nothing slows down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import check_fields, finite, instance, not_negative, numbers, positive
from supple.basics.values import Value
from supple.errors import BadValue, Refused
from supple.geometry.placements import Floats, frozen
from supple.problem.goals import At, Placed
from supple.problem.problem import Problem
from supple.solvers.differential.scratch import DT, EASE, GAIN, SPEED
from supple.solving.step import Plan, planned
from supple.solving.twist import Twist

REST = 1e-12  # radians or metres that are no way to go
STEPS = 3  # that look how far there is to go
QUICK = 4.0  # times as fast as what is missed falls, velocities follow what is wanted


@dataclass(frozen=True, eq=False, repr=False)
class Moment(Value):
    """A posture and the velocity of its coordinates, both (size,); ``q, velocity = moment`` takes it apart."""

    q: Floats
    velocity: Floats

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.q, self.velocity))


@dataclass(frozen=True, eq=False, repr=False)
class Servo(Value):
    """Moves a figure towards its tasks, a moment of `dt` [s] at each call, within limits, speeds and accelerations.

    `acceleration` is a number or one for each coordinate [rad/s², m/s²], inf for no bound; `speed` the figure's own by default.
    What is missed falls by `rate` [1/s] at most. `damping` and `ease` price motion, as above. What `step` refuses is refused,
    and obstacles are.
    """

    problem: Problem
    dt: float
    acceleration: ArrayLike = np.inf
    speed: ArrayLike | None = None
    rate: float = 50.0
    damping: float = 2e-3
    ease: float = 1.0

    def __post_init__(self) -> None:
        figure = instance(self.problem, Problem, "what a servo is about").figure
        check_fields(self, "a servo", dt=positive, rate=positive, damping=positive, ease=not_negative)
        planned(self.problem, 1.0, self.damping)  # refuses by name what steps cannot take
        if self.problem.clear:  # what keeps a step clear knows no accelerations
            kept = "; ".join(f"it keeps {task.name}" for task in self.problem.clear)
            raise Refused(f"a servo cannot take this problem: {kept}; step() does, without accelerations")
        for name in ("speed", "acceleration"):
            what, given = f"the {name} of a servo", getattr(self, name)
            values = figure.speed if given is None and name == "speed" else numbers(given, what)
            if values.shape not in ((), (figure.size,)):
                raise BadValue(f"{what} is a number, or one for each of {figure.size} coordinates, not {values.shape}")
            if not (values > 0.0).all():
                raise BadValue(f"{what} must be positive")
            object.__setattr__(self, name, frozen(np.broadcast_to(values, figure.size)))

    @cached_property
    def _plan(self) -> Plan:
        return planned(self.problem, 1.0, self.damping)

    @cached_property
    def _settings(self) -> np.ndarray:
        settings, n = self._plan.settings.copy(), self.problem.figure.size
        settings[DT], settings[EASE], settings[GAIN] = self.dt, self.ease, min(1.0, self.rate * self.dt)
        settings[SPEED : SPEED + n] = np.inf
        return settings

    def __call__(self, q: ArrayLike, velocity: ArrayLike | None = None, targets: Any = None) -> Moment:
        """The moment after posture q and `velocity`, at rest by default.

        `targets` are as for `step`; for an `At` or a `Placed` a `Twist` may stand, a velocity of its effector to be kept.
        """
        figure, plan, dt = self.problem.figure, self._plan, self.dt
        n = figure.size
        here = figure.posture(q)
        v = np.zeros(n) if velocity is None else finite(velocity, (n,), "the velocity of a servo").copy()
        aims, twisted = self._aimed(targets, here)
        T, scratch, settings = plan.aimed(aims), plan.scratch(), self._settings.copy()
        settings[GAIN], to = 1.0, here.copy()
        for _ in range(STEPS):
            to = plan.taken(to, T, settings, scratch)
        way = to - here
        part = self._part(np.abs(way), not twisted)
        least, most = self._window(here, v)
        if self.problem.has_hard:
            settings[GAIN], settings[SPEED + n :] = part, np.concatenate((least, most))
            there = plan.taken(here.copy(), T, settings, scratch)
        else:
            wanted = v + self._follow * (part / dt * way - v)
            there = self._inside(here, here + dt * np.clip(wanted, least, most))
        return Moment(there, (there - here) / dt)

    @cached_property
    def _follow(self) -> Floats:
        """The part of what is wanted that velocities take up in a moment."""
        return np.where(np.isfinite(np.asarray(self.acceleration)), min(1.0, QUICK * self.rate * self.dt), 1.0)

    def _part(self, far: Floats, slows: bool) -> float:
        """The part of the way that is gone in a moment; `slows`: so that it can end there."""
        top = np.asarray(self.speed)
        if slows:
            top = np.minimum(top, self._brake(far, self.dt / self._follow - self.dt))
        rates = np.where(far > REST, np.maximum(top, 0.0) / np.maximum(far, REST), np.inf)
        return float(min(self.rate * self.dt, max(rates.min(initial=np.inf) * self.dt, REST), 1.0))

    def _inside(self, here: Floats, there: Floats) -> Floats:
        """A posture that has not left the limits by rounding."""
        limits = self.problem.limits
        assert limits is not None
        return np.clip(there, np.minimum(here, limits.lower), np.maximum(here, limits.upper))

    def _brake(self, room: Floats, wait: Any = 0.0) -> Floats:
        """The greatest velocities from which coordinates come to rest within so much room, slowing down `wait` seconds late."""
        a = np.asarray(self.acceleration)
        bounded = np.isfinite(a) & np.isfinite(room)
        own, left = np.where(bounded, a, 1.0), np.where(bounded, np.maximum(room, 0.0), 0.0)
        stop = own * (np.sqrt(2.0 * left / own) - 0.5 * self.dt - wait)
        stop = np.maximum(stop, np.minimum(left / self.dt, own * self.dt))  # or all of it in this moment
        return np.where(bounded, stop, np.where(np.isfinite(room), np.maximum(room, 0.0) / self.dt, np.inf))

    def _window(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """The least and the greatest velocity of each coordinate in this moment."""
        limits, top, a = self.problem.limits, np.asarray(self.speed), np.asarray(self.acceleration)
        assert limits is not None
        below, above = q - limits.lower, limits.upper - q
        free = self.problem.free > 0.0
        change = np.where(np.isfinite(a), a * self.dt, np.inf)
        least, most = np.maximum(-top, v - change), np.minimum(top, v + change)
        least, most = np.minimum(least, np.maximum(most, -top)), np.maximum(most, np.minimum(least, top))
        least = np.maximum(
            least, np.minimum(-self._brake(below), most)
        )  # no faster towards a limit than can be stopped,
        most = np.minimum(most, np.maximum(self._brake(above), least))  # unless accelerations do not allow it
        slow, fast = -below / self.dt, above / self.dt  # limits come first
        least, most = np.minimum(np.maximum(least, slow), fast), np.maximum(np.minimum(most, fast), slow)
        least, most = np.clip(least, -top, top), np.clip(most, -top, top)  # from outside them, as fast as speeds allow
        return np.where(free, least, -np.inf), np.where(free, most, np.inf)

    def _aimed(self, targets: Any, q: Floats) -> tuple[Any, bool]:
        """Targets with what twists come to in their place, and whether there are any."""
        several = len(self.problem.tasks) != 1
        given = list(targets) if several and isinstance(targets, list | tuple) else [targets]
        if not any(isinstance(one, Twist) for one in given):
            return targets, False
        out = []
        for task, one in zip(self.problem.tasks, given, strict=False):
            if not isinstance(one, Twist):
                out.append(one)
                continue
            if type(task.goal) not in (At, Placed):
                raise Refused(f"{task.name!r}: a twist moves the target of an At or a Placed")
            out.append(one.moved(self.problem.figure, task, q, max(self.dt, 1.0 / self.rate)))
        return out if several else out[0], True
