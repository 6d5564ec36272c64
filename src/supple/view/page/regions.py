"""Regions of a figure: root, trunk, head, arms, legs, fingers, each a set of coordinates.

The *trunk* is what carries both sides: a segment on which some segment and that segment's partner on the other side hang. A
*limb* begins where the trunk ends; it is called by what is at its end. *Fingers* part, three at least, from one segment. Names
of several figures in one world have a prefix that ends in a slash; each figure has regions of its own.
"""

from __future__ import annotations

import re

from supple.figure.figure import Figure
from supple.view.page.mirror import bare, other_side

LEFT = re.compile(r"(^|[_. ])(l|left)(?=$|[_. ])|(?<![a-z])left|Left", re.IGNORECASE)
RIGHT = re.compile(r"(^|[_. ])(r|right)(?=$|[_. ])|(?<![a-z])right|Right", re.IGNORECASE)
ENDS = (
    ("leg", re.compile(r"foot|toe|ankle|knee|shank|calf|thigh", re.IGNORECASE)),
    ("arm", re.compile(r"hand|wrist|gripper|palm|elbow|forearm|finger", re.IGNORECASE)),
    ("head", re.compile(r"head|neck|eye", re.IGNORECASE)),
)
FEWEST = 3  # fingers


class Tree:
    """Which segments hang on which; segments without a coordinate of their own belong to the one before them."""

    def __init__(self, figure: Figure) -> None:
        self.figure = figure
        self.own = {
            s: tuple(c for c in figure.chain(figure.parent_of(s), s) if c in figure.coordinates)
            for s in figure.segments
        }
        self.below: dict[str, list[str]] = {s: [] for s in figure.segments}
        for s in figure.segments:
            parent = figure.parent_of(s)
            if parent is not None:
                self.below[parent].append(s)

    def all_below(self, segment: str) -> list[str]:
        """A segment and all that hangs on it."""
        out = [segment]
        for s in out:
            out += self.below[s]
        return out

    def branches(self, segment: str) -> list[str]:
        """What moves on a segment: the next segments below that have coordinates of their own."""
        out = []
        for s in self.below[segment]:
            out += [s] if self.own[s] else self.branches(s)
        return out

    def carries_both(self, segment: str) -> bool:
        """Whether some segment and its partner on the other side hang on this one."""
        names = set(self.all_below(segment))
        return any(other_side(s) != s and other_side(s) in names for s in names)


def hands(figure: Figure) -> dict[str, tuple[str, ...]]:
    """The segments from which fingers part, each with the first segments of its fingers."""
    tree, out = Tree(figure), {}
    for s in figure.segments:
        fingers = tree.branches(s)
        slim = all(not tree.carries_both(f) and len(tree.all_below(f)) < 12 for f in fingers)
        if len(fingers) >= FEWEST and slim and not tree.carries_both(s):
            out[s] = tuple(fingers)
    return out


def regions(figure: Figure) -> dict[str, tuple[str, ...]]:
    """The coordinates of each region, in the figure's order; none is left out, none is in two."""
    tree, named = Tree(figure), dict[str, str]()
    fingers = {s: hand for hand, firsts in hands(figure).items() for first in firsts for s in tree.all_below(first)}
    for s in figure.segments:
        parent = figure.parent_of(s)
        prefix = s[: len(s) - len(bare(s))]
        if s in fingers:
            named[s] = f"{prefix}{side_of(fingers[s])}fingers"
        elif parent is None and len(tree.own[s]) == 6:
            named[s] = f"{prefix}root"
        elif tree.carries_both(s):
            named[s] = f"{prefix}trunk"
        elif parent is not None and named[parent] not in (f"{prefix}root", f"{prefix}trunk"):
            named[s] = named[parent]
        else:
            named[s] = f"{prefix}{_limb(tree, s)}"
    out: dict[str, list[str]] = {}
    for s in figure.segments:
        for c in tree.own[s]:
            if not any(c in known for known in out.values()):
                out.setdefault(named[s], []).append(c)
    return {name: tuple(c for c in figure.coordinates if c in set(found)) for name, found in out.items()}


def side_of(segment: str) -> str:
    """ "left ", "right " or nothing."""
    name = bare(segment)
    return "left " if LEFT.search(name) else "right " if RIGHT.search(name) else ""


def _limb(tree: Tree, first: str) -> str:
    """What a limb is called, by what is at its end."""
    names = [bare(s) for s in tree.all_below(first)]
    for word, pattern in ENDS:
        if any(pattern.search(name) for name in names):
            return side_of(first) + word
    return bare(first).replace("_", " ") if tree.figure.parent_of(first) is not None else "body"
