"""Which parts of a figure are nearer to obstacles, or to each other, than they should be."""

from __future__ import annotations

from typing import NamedTuple

from supple.figure.figure import Figure
from supple.geometry.distances import distance_between
from supple.problem.task import METRES
from supple.scene.state import SceneState


class Touch(NamedTuple):
    """A segment and an obstacle or another segment, and the distance between them [m]; below zero they overlap."""

    segment: str
    other: str
    distance: float


def touches_of(figure: Figure, state: SceneState) -> tuple[Touch, ...]:
    """The pairs that the clearance does not allow in the posture of a state, those that overlap most first.

    A distance counts as kept to within a task's tolerance. Segments that cannot move, pairs that are to be ignored and, of the
    figure with itself, pairs that touch at rest are left out.
    """
    setup, frames = state.setup, figure.placements(state.q)
    margin = setup.clearance.margin - METRES
    ignored = {frozenset(pair) for pair in setup.clearance.ignoring}
    moving = {segment: bars for segment, bars in figure.bars.items() if figure.chain(None, segment)}
    out = []
    for name, shape in setup.obstacles.items():
        for segment, bars in moving.items():
            distance = min(distance_between(bar, shape, frames[segment]) for bar in bars)
            if distance < margin and frozenset((segment, name)) not in ignored:
                out.append(Touch(segment, name, distance))
    if setup.clearance.itself:
        kept = set(figure.colliding_pairs(setup.clearance.margin))
        for a, b in figure.touching(state.q, margin):
            if (a, b) in kept and frozenset((a, b)) not in ignored:
                pairs = ((one, other) for one in figure.bars[a] for other in figure.bars[b])
                out.append(Touch(a, b, min(distance_between(x, y, frames[a], frames[b]) for x, y in pairs)))
    return tuple(sorted(out, key=lambda touch: touch.distance))
