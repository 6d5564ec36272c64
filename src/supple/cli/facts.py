"""What there is to say about a figure in words and numbers."""

from __future__ import annotations

import numpy as np

from supple.figure.figure import Figure
from supple.figure.joints import Joint
from supple.geometry.placements import HERE, Floats, moved

KINDS = {(1, 0): "hinge", (0, 1): "slide", (2, 0): "universal", (3, 0): "ball", (1, 2): "planar", (3, 3): "free"}


def joint_named(figure: Figure) -> dict[str, Joint]:
    """The moving joints by name."""
    return {joint.name: joint for joint in figure.joints.values() if not joint.is_fixed}


def kind_of(joints: list[Joint]) -> str:
    """One word for the joints between a segment and its parent."""
    if not joints:
        return "fixed"
    if len(joints) == 1 and any(joints[0].turn) and any(joints[0].slide):
        return "screw"
    turns, slides = sum(any(j.turn) for j in joints), sum(not any(j.turn) for j in joints)
    return KINDS.get((turns, slides), f"{len(joints)} joints")


def value(amount: float, turning: bool) -> str:
    """An angle in degrees or a length in millimetres."""
    if np.isinf(amount):
        return "−∞" if amount < 0 else "∞"
    return f"{np.round(np.rad2deg(amount), 1) + 0.0:g}°" if turning else f"{np.round(1000 * amount, 2) + 0.0:g} mm"


def place(point: Floats) -> str:
    """A point in metres."""
    return "(" + ", ".join(f"{c:.3f}" for c in np.round(point, 3) + 0.0) + ")"


def limits_of(joint: Joint) -> str:
    """A joint's range as text."""
    if np.isinf(joint.limits).all():
        return "unlimited"
    lower, upper = (value(side, any(joint.turn)) for side in joint.limits)
    return f"{lower} … {upper}"


def frames_at_rest(figure: Figure) -> dict[str, Floats]:
    """Where every segment is in the rest posture, joint by joint: facts are told without a compiler."""
    q = dict(zip(figure.coordinates, figure.rest.tolist(), strict=True))
    world: dict[str | None, Floats] = {None: HERE}
    for joint in figure.joints.values():
        value = joint.drive.value(q) if joint.drive is not None else q.get(joint.name, 0.0)
        world[joint.key] = world[joint.parent] @ joint.at @ moved(joint.turn, joint.slide, value)
    return {segment: world[segment] for segment in figure.segments}


def box_at_rest(figure: Figure) -> Floats:
    """The corners (2, 3) of the box around all segments and their shapes in the rest posture [m]."""
    from supple.view.solids import of_shape

    frames = frames_at_rest(figure)
    points = [T[None, :3, 3] for T in frames.values()]
    for segment, body in figure.bodies.items():
        points += [of_shape(shape).moved(frames[segment]).skin()[0] for shape in body.shapes]
    return np.stack([(every := np.concatenate(points)).min(axis=0), every.max(axis=0)]) if points else np.zeros((2, 3))


def reach(figure: Figure) -> tuple[str, float, str] | None:
    """The segment with the longest way to the root segment above it, that way [m], and the root segment.

    No posture takes the segment farther from the root's origin. None where a slide on the way has no end.
    """
    best: tuple[str, float, str] | None = None
    for segment in figure.segments:
        length, at, root = 0.0, segment, segment
        while True:
            joint = figure.joint_of[at]
            root = joint.segment or root
            if joint.parent is None or figure.parent_of(root) is None:
                break
            length += float(np.linalg.norm(joint.at[:3, 3])) + _longest_slide(joint)
            at = joint.parent
        if np.isinf(length):
            return None
        if best is None or length > best[1]:
            best = (segment, length, root)
    return best


def _mass_centre(figure: Figure) -> Floats:
    """The sum of all masses times where they are at rest."""
    frames = frames_at_rest(figure)
    moments = [body.mass * (frames[s][:3, :3] @ body.centre + frames[s][:3, 3]) for s, body in figure.bodies.items()]
    return np.sum(moments, axis=0)


def _longest_slide(joint: Joint) -> float:
    along = float(np.linalg.norm(joint.slide))
    return along * max(abs(side) for side in joint.limits) if along > 0.0 else 0.0


def counts(figure: Figure) -> list[tuple[str, str]]:
    """The rows of the summary."""
    low, high = box_at_rest(figure)
    driven = sum(joint.drive is not None for joint in figure.joints.values())
    rows = [
        ("coordinates", str(figure.size)),
        ("segments", str(len(figure.segments))),
        ("driven joints", str(driven) if driven else "none"),
        ("coordinates of groups", ", ".join(c.name for c in figure.drivers) or "none"),
        ("further linear limits", str(len(figure.limits.rows[2])) if not figure.limits.is_box else "none"),
        ("closed loops", ", ".join(loop.name for loop in figure.loops) or "none"),
        ("extent at rest", " × ".join(f"{side:.3f}" for side in high - low) + " m (x, y, z)"),
        ("from", f"{place(low)} to {place(high)}"),
    ]
    far = reach(figure)
    if far is not None and far[1] > 0.0:
        rows.append(("reach", f"{far[0]} at most {far[1]:.3f} m from {far[2]}"))
    mass = sum(body.mass for body in figure.bodies.values())
    if mass > 0.0:
        rows.append(("mass", f"{mass:.3f} kg, centred at {place(_mass_centre(figure) / mass)} at rest"))
    else:
        rows.append(("mass", "none given"))
    if figure.source is not None:
        rows.append(("source", f"{figure.source.format}, unit {figure.source.unit:g} m, {figure.source.up} up"))
    return rows
