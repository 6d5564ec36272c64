"""Why a target is not reached, in one sentence: what is straight, what stands at a limit, what is pinned."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from supple.figure.effectors import Point
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.problem.problem import Task
from supple.scene.scene import Scene
from supple.view.page.mirror import bare
from supple.view.page.pins import seen_by

STRAIGHT = np.deg2rad(12.0)
AT_LIMIT = 1e-3  # of the range
HELPS = 0.02  # m/rad: what a joint at its limit would gain, at least
SIDES = (
    (re.compile(r"(^|[_. ])(l|left)(?=$|[_. ])", re.I), "left"),
    (re.compile(r"(^|[_. ])(r|right)(?=$|[_. ])", re.I), "right"),
)
BODY = {
    "forearm": "elbow",
    "shank": "knee",
    "thigh": "hip",
    "upper_arm": "shoulder",
    "hand": "wrist",
    "foot": "ankle",
    "lumbar": "lower back",
    "thorax_lower": "back",
    "thorax_upper": "upper back",
}


def spoken(name: str) -> str:
    """A segment's joint as one would say it: ``forearm_l`` is the left elbow."""
    stem, side = bare(name), ""
    for pattern, word in SIDES:
        if pattern.search(stem):
            stem, side = pattern.sub(r"\1", stem, count=1), word + " "
            break
    stem = re.sub(r"[_. ]+", "_", stem).strip("_")
    stem = re.sub(r"_(link|joint)$", "", stem)
    return side + BODY.get(stem, stem.replace("_", " "))


def why(scene: Scene, name: str) -> str:
    """One sentence about a constraint that is not met."""
    task, figure, q = scene.constraints[name], scene.figure, scene.q
    parts = []
    way = _way(figure, q, task)
    if way is not None:
        chain = scene.chains.get(name, ())
        straight = _straight(figure, q, task, way)
        limited = _limited(scene, q, task, way, chain)
        if straight:
            parts.append(f"the {_listed(straight)} {'is' if len(straight) == 1 else 'are'} straight")
        if limited:
            parts.append(f"{_listed(limited)} {'is at its limit' if len(limited) == 1 else 'are at their limits'}")
    if not parts:
        holding = [other for other in scene.now.setup.enabled if other != name]
        parts = (
            [f"{_listed(holding)} hold{'s' if len(holding) == 1 else ''} it back"]
            if holding
            else ["no joint brings it nearer"]
        )
    return "; ".join(parts)


def _listed(names: list[str]) -> str:
    shown = names[:4] + ([f"{len(names) - 4} more"] if len(names) > 4 else [])
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]


def _way(figure: Figure, q: Floats, task: Task) -> Floats | None:
    """The unit vector from what a pin speaks of to where it should be."""
    pair = seen_by(figure, q, task)
    if pair is None:
        return None
    d = pair[1] - pair[0]
    length = float(np.linalg.norm(d))
    return d / length if length > 1e-9 else None


def _straight(figure: Figure, q: Floats, task: Task, way: Floats) -> list[str]:
    """The hinges between two bones that lie in one line, along the way to the target."""
    segment = getattr(task.effector, "segment", None)
    if segment is None:
        return []
    rows = [s for s in reversed(figure.path_to_root(segment)) if s in figure.segments and figure.joints_of(s)]
    frames = figure.placements(q)
    places = [frames[s][:3, 3] for s in rows] + [figure.seen(q, task.effector)[:3, 3]]
    size = max((float(np.linalg.norm(places[-1] - p)) for p in places), default=0.0)
    out = []
    for k in range(1, len(rows)):
        before = next((places[k] - p for p in reversed(places[:k]) if np.linalg.norm(places[k] - p) > 0.1 * size), None)
        after = next((p - places[k] for p in places[k + 1 :] if np.linalg.norm(p - places[k]) > 0.1 * size), None)
        if before is None or after is None or len(figure.joints_of(rows[k])) != 1:
            continue
        aligned = (_angle(before, after) < STRAIGHT) and (_angle(after, way) < 3.0 * STRAIGHT)
        axis = frames[rows[k]][:3, :3] @ np.array(figure.joint_of[rows[k]].turn)
        if aligned and abs(float(axis @ after)) < 0.5 * np.linalg.norm(after) * np.linalg.norm(axis):  # it would bend
            out.append(spoken(rows[k]))
    return out


def _angle(a: Floats, b: Floats) -> float:
    return float(np.arccos(np.clip(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)), -1.0, 1.0)))


def _limited(scene: Scene, q: Floats, task: Task, way: Floats, chain: tuple[str, ...]) -> list[str]:
    """The joints at a limit beyond which the target would come nearer, those that matter most first."""
    figure, limits = scene.figure, scene.limits
    segment = getattr(task.effector, "segment", None)
    if segment is None:
        return []
    end: Any = task.effector
    point = Point(segment, tuple(end.frame[:3, 3].tolist()))
    gain = way @ figure.jacobian(q, point)
    found: dict[str, float] = {}
    for i, coordinate in enumerate(figure.coordinates):
        lower, upper = float(limits.lower[i]), float(limits.upper[i])
        room = AT_LIMIT * (upper - lower) if np.isfinite(upper - lower) else AT_LIMIT
        stopped = (gain[i] > HELPS and upper - q[i] <= room) or (gain[i] < -HELPS and q[i] - lower <= room)
        if coordinate in chain and stopped:
            called = spoken(coordinate.partition(".")[0])
            found[called] = max(found.get(called, 0.0), abs(float(gain[i])))
    return sorted(found, key=lambda called: -found[called])
