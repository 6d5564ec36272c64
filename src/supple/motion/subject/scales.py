"""Which segments share a scale."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

from supple.basics.checks import mapping, names_in, one_of
from supple.errors import BadValue, find
from supple.figure.figure import Figure
from supple.figure.scaling import welded_to

Scales: TypeAlias = str | Mapping[str, Sequence[str]]

# What turns a name of the left into one of the right, as people, OSIM and BVH files write it.
SIDES = ((r"_l$", "_r"), (r"_l\.", "_r."), (r"\.l$", ".r"), (r"^l_", "r_"), (r"^L(?=[A-Z_.])", "R"), ("left", "right"))
SIDES = (*SIDES, ("Left", "Right"))


def groups_of(figure: Figure, scales: Scales) -> dict[str, tuple[str, ...]]:
    """The bodies that share a scale, by the name of the group; what is in none has the scale of the whole.

    A body is a segment with all that is welded to it, and called after that segment.
    """
    bodies = tuple(dict.fromkeys(welded_to(figure).values()))
    if isinstance(scales, Mapping):
        return _given(figure, scales)
    one_of(scales, ("segments", "symmetric", "whole"), "scales, if no mapping of groups to segments,")
    if scales == "whole":
        return {}
    if scales == "segments":
        return {body: (body,) for body in bodies}
    right = {body: mirrored(body, bodies) for body in bodies}
    taken = {name for name in right.values() if name is not None}
    return {b: (b,) if right[b] is None else (b, str(right[b])) for b in bodies if b not in taken}


def mirrored(name: str, names: Sequence[str]) -> str | None:
    """The name on the right that belongs to a name on the left, if there is one."""
    for left, right in SIDES:
        other = re.sub(left, right, name)
        if other != name and other in names:
            return other
    return None


def _given(figure: Figure, scales: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Groups that the caller names; a pattern such as ``"thigh_*"`` stands for all segments that match it."""
    body, out, taken = welded_to(figure), {}, {}
    for group, segments in mapping(scales, "scales").items():
        given = names_in(segments, f"the segments of group {group!r} of scales")
        matches = [s for name in given for s in figure.segments if fnmatchcase(s, name) or s == name]
        for name in given:
            if not any(fnmatchcase(s, name) or s == name for s in figure.segments):
                find(figure.segments, name, "segment", f"figure {figure.name!r}, scaled in groups,")
        out[group] = tuple(dict.fromkeys(body[s] for s in matches))
        for name in out[group]:
            if taken.setdefault(name, group) != group:
                raise BadValue(f"segment {name!r} is in two groups of scales, {taken[name]!r} and {group!r}")
    return out
