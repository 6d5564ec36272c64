"""Postures of a hand by name: how far each finger is closed, from 0 (straight) to 1, on any hand with three fingers or more.

A coordinate whose range lies nearly evenly about zero spreads and stays where it is at rest; any other one closes towards the
farther end of its range. A pinch is solved for: the tips of thumb and index finger meet.
"""

from __future__ import annotations

import re

import numpy as np

from supple.errors import BadValue, find
from supple.figure.effectors import Gap, Point
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.problem.goals import At
from supple.problem.problem import Problem, Task
from supple.solving.solve import solve
from supple.view.page.regions import Tree, hands, side_of

EVEN = 0.35  # of the range: the middle is nearer to zero than this, so it spreads
THUMB = re.compile(r"thumb|(^|_)th", re.IGNORECASE)
INDEX = re.compile(r"index|fore|(^|_)ff|finger_?1", re.IGNORECASE)
PRESETS = {  # thumb, index finger, the others
    "open": (0.0, 0.0, 0.0),
    "relaxed": (0.25, 0.22, 0.3),
    "fist": (0.75, 0.95, 0.95),
    "point": (0.7, 0.0, 0.95),
    "pinch": (0.45, 0.5, 0.25),
}


def preset(figure: Figure, q: Floats, hand: str, name: str) -> dict[str, float]:
    """The coordinates of a hand's fingers in a preset."""
    find(tuple(PRESETS), name, "hand preset", "the page")
    known = hands(figure)
    find(tuple(known), hand, "hand with fingers", f"figure {figure.name!r}")
    tree, out, shares = Tree(figure), {}, PRESETS[name]
    firsts = known[hand]
    for finger in firsts:
        share = shares[0] if THUMB.search(_bare(finger)) else shares[1] if INDEX.search(_bare(finger)) else shares[2]
        for s in tree.all_below(finger):
            for c in tree.own[s]:
                out[c] = _closed(figure, c, share)
    return _pinched(figure, q, tree, firsts, out) if name == "pinch" else out


def hands_meant(figure: Figure, selected: str | None) -> list[str]:
    """The hand that is selected or carries what is; all of them if nothing is."""
    known = hands(figure)
    if not known:
        raise BadValue(f"figure {figure.name!r} has no hand with fingers that move")
    if selected is None:
        return list(known)
    tree = Tree(figure)
    near = [hand for hand in known if selected in tree.all_below(hand) or hand in tree.all_below(selected)]
    same = [hand for hand in known if side_of(hand) and side_of(hand) == side_of(selected)]
    return near or same or list(known)


def _bare(name: str) -> str:
    return name.rpartition("/")[2]


def _closed(figure: Figure, coordinate: str, share: float) -> float:
    i = figure.coordinates.index(coordinate)
    low, high = float(figure.lower[i]), float(figure.upper[i])
    if not np.isfinite(high - low) or abs(low + high) < EVEN * (high - low):
        return float(figure.rest[i])
    straight, end = float(np.clip(0.0, low, high)), high if high > -low else low
    return straight + share * (end - straight)


def _pinched(
    figure: Figure, q: Floats, tree: Tree, firsts: tuple[str, ...], begin: dict[str, float]
) -> dict[str, float]:
    """Thumb and index finger brought together from where they are nearly so."""
    thumb = next((f for f in firsts if THUMB.search(_bare(f))), firsts[0])
    index = next((f for f in firsts if INDEX.search(_bare(f))), firsts[1])
    start = figure.posture({**figure.named(q), **begin})
    help_ = {c for f in (thumb, index) for s in tree.all_below(f) for c in tree.own[s]}
    gap = Gap(Point(tree.all_below(thumb)[-1]), Point(tree.all_below(index)[-1]))
    problem = Problem(figure, [Task(gap, At((0.0, 0.0, 0.0)), chain=tuple(sorted(help_)))])
    found = solve(problem, start=figure.limits.project(start), deadline=1.0, prove=False)
    return {**begin, **{c: x for c, x in figure.named(found.q).items() if c in help_}}
