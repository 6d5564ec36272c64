"""Random questions about random figures: tasks, many targets for them, and whether a legal posture is known that meets them.

Targets are made from postures that the judge finds legal, by the judge's own kinematics. Of each row of targets it is known
where it comes from:

* ``inside``: a legal posture meets every task exactly;
* ``edge``: likewise, by a posture half of whose coordinates stand at a limit;
* ``hair``: a legal posture meets every task, some only to 0.9 … 0.999 of their tolerances;
* ``beyond``: positions are moved away by four times the figure's extent: nothing is known to meet them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import supple
from drawn import Drawn, figure, rotation
from judge import Judge
from supple import (
    AimedAt,
    AnyOf,
    At,
    Beyond,
    Direction,
    Facing,
    Frame,
    Gap,
    MassCentre,
    Near,
    OnLine,
    OnPlane,
    Placed,
    Point,
    Task,
    Within,
)  # fmt: skip

PATH = 32  # the first so many rows come from a straight path of postures
KNOWN = ("inside", "edge", "hair")  # a legal posture meets all tasks


@dataclass(frozen=True)
class Question:
    """A problem, rows of targets with what is known of each, and a start."""

    drawn: Drawn
    problem: supple.Problem
    judge: Judge
    targets: list[np.ndarray | None]  # one array (n, …) for each task
    kinds: np.ndarray  # (n) of str
    postures: np.ndarray  # (n, size): where the targets come from
    start: np.ndarray | None
    short: bool  # whether the short form can ask it

    def row(self, i: int) -> list[Any]:
        """The targets of one row."""
        return [None if t is None else t[i] for t in self.targets]

    def aimed(self, i: int) -> supple.Problem:
        """The problem with the targets of one row."""
        return self.problem.aimed(*self.row(i))


def question(seed: int, index: int) -> Question:
    """Question number `index` of a seed."""
    rng = np.random.default_rng([seed, index])
    while True:
        drawn = figure(rng)
        if drawn.figure.size == 0:
            continue
        asked = _asked(drawn, rng)
        if asked is not None:
            return asked


def _asked(drawn: Drawn, rng: np.random.Generator) -> Question | None:
    made = drawn.figure
    more: dict[str, Any] = {}
    if drawn.obstacles:
        more = {"obstacles": drawn.obstacles, "clearance": supple.Clearance(margin=0.01 * drawn.scale)}
    elif not made.loops and rng.random() < 0.06:
        more["limits"] = _stated(made, rng)
    if rng.random() < 0.06:
        more["rigidity"] = np.where(rng.random(made.size) < 0.3, 0.5, 0.0)
    whole = Judge(supple.Problem(made, [], **more), more.get("limits"))
    postures, at_limits = _postures(whole, drawn, rng)
    if len(postures) == 0:
        return None
    places = whole.places(postures)
    simple = rng.random() < 0.35
    options = {} if simple else _options(rng, drawn.scale)
    drawn_tasks = [_task(drawn, whole, places, rng, simple, options) for _ in range(_how_many(rng))]
    tasks, targets = [t for t, _ in drawn_tasks], [x for _, x in drawn_tasks]
    if rng.random() < 0.05:
        tasks.append(Task(None, Near(postures[0], 1e-3), preference=True))
        targets.append(postures.copy())
    problem = supple.Problem(made, tasks, **more)
    kinds = np.where(at_limits, "edge", "inside").astype("<U8")
    _displace(problem, targets, kinds, drawn, rng, _extent(whole, postures))
    named = {t.effector.segment for t in tasks if isinstance(t.effector, Frame)}
    short = simple and not more and len(named) == len(tasks)
    return Question(
        drawn, problem, Judge(problem, more.get("limits")), targets, kinds, postures, _start(made, rng), short
    )


def _how_many(rng: np.random.Generator) -> int:
    return int(rng.choice([1, 1, 1, 1, 2, 2, 3, 5]))


def _stated(made: supple.Figure, rng: np.random.Generator) -> supple.Limits:
    """Narrower ranges than the figure's own, sometimes with a row."""
    low, high = made.limits.lower.copy(), made.limits.upper.copy()
    tight = rng.random(made.size) < 0.3
    high = np.where(tight & np.isfinite(high), made.rest + 0.7 * (high - made.rest), high)
    if rng.random() < 0.5 or not made.limits.is_box:
        return supple.Limits(low, high, made.limits.A_eq, made.limits.b_eq, made.limits.A, made.limits.b)
    a = rng.normal(size=made.size)
    return supple.Limits(low, high, A=a[None], b=[float(a @ made.rest) + 0.3])


# ── postures and starts ──────────────────────────────────────────────────────────────────────────────────────────────
def _room(judge: Judge, drawn: Drawn) -> tuple[np.ndarray, np.ndarray]:
    limits, rest = judge.problem.limits, drawn.figure.rest
    wide = np.where([_turns(drawn.figure, name) for name in drawn.figure.coordinates], 2.0, drawn.scale)
    low = np.where(np.isfinite(limits.lower), limits.lower, rest - wide)
    return low, np.where(np.isfinite(limits.upper), limits.upper, rest + wide)


def _turns(made: supple.Figure, name: str) -> bool:
    return all(any(j.turn) for j in made.joints.values() if j.name == name)


def _postures(judge: Judge, drawn: Drawn, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Postures that the judge finds legal, and which of them stand at limits."""
    made, count = drawn.figure, drawn.rows
    low, high = _room(judge, drawn)
    Q = rng.uniform(low, high, (count, made.size))
    edge = rng.random(count) < 0.1
    Q[:PATH] = Q[0] + np.linspace(0.0, 1.0, min(PATH, count))[:, None] * (Q[PATH] - Q[0])
    edge[:PATH] = False
    ends = np.where(rng.random(Q.shape) < 0.5, low, high)
    Q = np.where(edge[:, None] & (rng.random(Q.shape) < 0.5), ends, Q)
    if not judge.problem.limits.is_box:
        Q = np.array(
            [q if bad == 0.0 else judge.problem.limits.project(q) for q, bad in zip(Q, judge.illegal(Q), strict=True)]
        )
    if made.loops:
        query = supple.prepare(judge.problem)
        Q = np.array([query(None, q).q for q in Q])
    fine = judge.illegal(Q) == 0.0
    for miss in judge.misses(Q):  # closed loops, obstacles
        fine &= (miss.metres <= 0.5e-5) & (miss.radians <= 0.5e-4)
    return Q[fine], edge[fine]


def _start(made: supple.Figure, rng: np.random.Generator) -> np.ndarray | None:
    """None, inside the limits, at them, or outside."""
    kind = rng.integers(4)
    if kind == 0:
        return None
    low = np.where(np.isfinite(made.lower), made.lower, made.rest - 1.0)
    high = np.where(np.isfinite(made.upper), made.upper, made.rest + 1.0)
    if kind == 1:
        return rng.uniform(low, high)
    if kind == 2:
        return np.where(rng.random(made.size) < 0.5, low, high)
    return made.rest + 3.0 * rng.normal(size=made.size) * np.maximum(high - low, 1e-3)


def _extent(judge: Judge, postures: np.ndarray) -> float:
    """More than the figure measures in any of the postures."""
    places = judge.places(postures)
    return float(max(places.size(s).max() for s in judge.figure.segments)) + 1e-3


# ── tasks ────────────────────────────────────────────────────────────────────────────────────────────────────────────
def _options(rng: np.random.Generator, scale: float) -> dict[str, Any]:
    """What all tasks of a problem share."""
    tolerance = float(rng.choice([1e-5, 1e-5 * scale, 1e-3 * scale, 1e-6 * scale]))
    return {"tolerance": tolerance, "angle_tolerance": float(rng.choice([1e-4, 1e-4, 1e-3, 1e-6]))}


def _task(
    drawn: Drawn, judge: Judge, places: Any, rng: np.random.Generator, simple: bool, options: dict[str, Any]
) -> tuple[Task, np.ndarray]:
    """A task and its targets (n, …), which the postures behind `places` meet."""
    made, scale = drawn.figure, drawn.scale
    movable = [s for s in made.segments if made.chain(None, s)]
    segment = str(rng.choice(movable))
    if simple:
        X = places[segment]
        if rng.random() < 0.5:
            return Task(segment, At(X[0, :3, 3])), X[:, :3, 3].copy()
        return Task(segment, Placed(X[0])), X.copy()
    end = _effector(made, segment, movable, rng, scale)
    X, _ = judge.effector(places, end)
    relative = None
    if isinstance(end, Point | Direction | Frame) and rng.random() < 0.2:
        relative = str(rng.choice(made.segments))
        if not made.chain(relative, segment):
            relative = None
    if relative is not None:
        A = places[relative]
        X = np.linalg.inv(A) @ X
    goal, targets = _goal(X, end, rng, scale, relative)
    own = dict(options) | {"weight": float(10.0 ** rng.uniform(-1, 1))}
    if rng.random() < 0.06:
        own["hard"] = True
    elif rng.random() < 0.06:
        own["priority"] = int(rng.integers(2))
    return Task(end, goal, **own), targets


def _effector(made: supple.Figure, segment: str, movable: list[str], rng: np.random.Generator, scale: float) -> Any:
    offset = tuple(rng.normal(0, 0.1 * scale, 3))
    kind = rng.random()
    if kind < 0.08 and any(b.mass > 0.0 for b in made.bodies.values()):
        return MassCentre()
    if kind < 0.16 and len(movable) > 1:
        other = str(rng.choice([s for s in movable if s != segment]))
        if made.chain(other, segment):
            return Gap(Point(other, offset), Frame(segment))
    if kind < 0.45:
        return Point(segment, offset)
    if kind < 0.6:
        return Direction(segment, tuple(rng.normal(size=3)), offset)
    return Frame(segment)


def _goal(
    X: np.ndarray, end: Any, rng: np.random.Generator, scale: float, relative: str | None
) -> tuple[Any, np.ndarray]:
    """A goal for the first row, and the targets of all rows."""
    p, n = X[:, :3, 3], rng.normal(size=(len(X), 3))
    n /= np.linalg.norm(n, axis=1)[:, None]
    b = end.b if isinstance(end, Gap) else end
    names = ["At", "At", "OnLine", "OnPlane", "Beyond", "Box", "AnyOf"]
    names += ["Facing", "AimedAt"] if isinstance(b, Direction | Frame) else []
    names += ["Placed", "Placed", "Placed", "Turn", "Tilt"] if isinstance(b, Frame) else []
    name, far = str(rng.choice(names)), scale * rng.uniform(0.2, 2.0)
    if name == "At":
        return At(p[0], relative), p.copy()
    if name in ("OnLine", "OnPlane", "Beyond"):
        aside = np.cross(n, rng.normal(size=n.shape)) * scale
        shift = {"OnLine": 0.5 * scale * n, "OnPlane": aside, "Beyond": aside - abs(rng.normal()) * 0.1 * scale * n}[
            name
        ]
        T = np.stack([p + shift, n], axis=1)
        return {"OnLine": OnLine, "OnPlane": OnPlane, "Beyond": Beyond}[name](T[0, 0], T[0, 1], relative), T
    if name == "AnyOf":
        T = np.stack([p, p + rng.normal(0, scale, p.shape)], axis=1)[:, rng.permutation(2)]
        return AnyOf([At(T[0, 0], relative), At(T[0, 1], relative)], weights=rng.uniform(0.5, 2.0, 2).tolist()), T
    if name == "Facing":
        return Facing(X[0, :3, 0], relative_to=relative), X[:, :3, 0].copy()
    if name == "AimedAt":
        T = p + far * X[:, :3, 0]
        return AimedAt(T[0], relative_to=relative), T
    if name == "Turn":
        return Facing(matrix=X[0, :3, :3], relative_to=relative), X[:, :3, :3].copy()
    if name == "Placed":
        return Placed(X[0], per_radian=float(rng.choice([0.3, 0.3 * scale])), relative_to=relative), X.copy()
    T = np.tile(np.eye(4), (len(X), 1, 1))
    T[:, :3, 3] = p + rng.uniform(-0.02, 0.02, p.shape) * scale
    T[:, :3, :3] = X[:, :3, :3] if name == "Tilt" else rotation(rng)
    tilt = 0.2 if name == "Tilt" else None
    return Within(T[0], box=0.05 * scale, tilt=tilt, relative_to=relative), T


# ── what is known of the rows ────────────────────────────────────────────────────────────────────────────────────────
def _displace(
    problem: supple.Problem,
    targets: list[Any],
    kinds: np.ndarray,
    drawn: Drawn,
    rng: np.random.Generator,
    extent: float,
) -> None:
    """Move positions of a few rows by nearly the tolerance, and of others far away; note it in `kinds`."""
    places = [k for k, t in enumerate(problem.tasks) if type(t.goal) in (At, Placed)]
    if not places or len(kinds) < 8:
        return
    few = drawn.figure.size > 30
    chosen = rng.permutation(len(kinds))[: int(rng.random() < 0.5) if few else 4]
    for i in chosen:
        hair = bool(rng.random() < 0.5)
        kinds[i] = "hair" if hair else "beyond"
        for k in places:
            n = rng.normal(size=3)
            n /= np.linalg.norm(n)
            step = problem.tasks[k].tolerance * rng.uniform(0.9, 0.999) if hair else 4.0 * extent
            if targets[k].ndim == 2:
                targets[k][i] += step * n
            else:
                targets[k][i, :3, 3] += step * n
