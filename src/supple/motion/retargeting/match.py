"""Which segment of the target does what which segment of the source does.

By name first: figures built alike are matched name by name; others part by part. Where a part is a row of segments
(the spine, the three links of a robot's hip) a body that turns freely counts once: links are taken together, from the
tip inwards, until they have three hinges, and such groups are matched by how far along the row they are. What names
leave open is matched by geometry: each segment has a place (`Anatomy.place`), and the pairs are chosen for the least
distance of places, both ways at once; pairs that are too far apart, or that do not hang below each other alike, are
dropped. Geometry has the last word on limbs (`retargeting.match_check`): it says how sure each pair is, and refuses
what cannot be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from supple.basics.checks import instance, items, names_in, text as check_text
from supple.basics.values import Value
from supple.errors import BadValue, find, shown
from supple.figure.figure import Figure
from supple.motion.retargeting.anatomy import Anatomy
from supple.motion.retargeting.match_check import refuse_unsure

SEVERAL = 3  # fingers that a hand must show in both figures
FINGERS = {
    "thumb": "thumb",
    "index": "index",
    "middle": "middle",
    "ring": "ring",
    "little": "little",
    "pinky": "little",
}
FREE = 3  # hinges after which a body turns freely
FAR = 0.12  # the greatest difference of places that is still a match


@dataclass(frozen=True, eq=False, repr=False)
class Match(Value):
    """Pairs (target segment, source segment), each target at most once; `notes` say how each was found.

    ``text()`` is for people to edit, and ``Match.parse`` reads it back.
    """

    pairs: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        pairs = items(self.pairs, "the pairs of a match")
        for pair in pairs:
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise BadValue(f"a match is made of pairs (target segment, source segment), not {shown(pair)}")
            names_in(pair, "the segments of a match")
        object.__setattr__(self, "pairs", tuple((t, s) for t, s in pairs))
        object.__setattr__(
            self, "notes", tuple(check_text(n, "each note of a match") for n in items(self.notes, "the notes"))
        )
        if self.notes and len(self.notes) != len(pairs):
            raise BadValue(f"a match of {len(pairs)} pairs has as many notes, or none, not {len(self.notes)}")
        seen: set[str] = set()
        for target, _ in pairs:
            if target in seen:
                raise BadValue(f"the match names the target segment {target!r} twice: delete one of the lines")
            seen.add(target)
        super().__post_init__()

    def text(self) -> str:
        """One line for each pair, ``target = source``, with how it was found behind a ``#``."""
        notes = self.notes or ("",) * len(self.pairs)
        wide = [max((len(pair[k]) for pair in self.pairs), default=0) for k in (0, 1)]
        lines = [
            f"{t:{wide[0]}} = {s:{wide[1]}}" + (f"  # {note}" if note else "")
            for (t, s), note in zip(self.pairs, notes, strict=True)
        ]
        head = "# target segment = source segment; change what is wrong, delete what is not to be followed"
        return "\n".join([head, *(line.rstrip() for line in lines)]) + "\n"

    @classmethod
    def parse(cls, text: str) -> Match:
        """Read the lines that `text` writes."""
        check_text(text, "what Match.parse() reads")
        pairs, notes = [], []
        for number, line in enumerate(text.splitlines(), 1):
            bare, _, note = f" {line}".partition(" #")
            if not bare.strip():
                continue
            target, equals, source = (part.strip() for part in bare.partition("="))
            if not (target and equals and source):
                raise BadValue(f"line {number} of a match is 'target = source', not {line.strip()!r}")
            pairs.append((target, source))
            notes.append(note.strip())
        return cls(tuple(pairs), tuple(notes))

    def check(self, source: Figure, target: Figure) -> None:
        """Refuse names that the figures do not have."""
        instance(source, Figure, "the source of a match")
        instance(target, Figure, "the target of a match")
        for of_target, of_source in self.pairs:
            find(target.segments, of_target, "segment", f"the target {target.name!r}")
            find(source.segments, of_source, "segment", f"the source {source.name!r}")


def as_match(given: Match | Mapping[str, str] | str | None, source: Anatomy, target: Anatomy) -> Match:
    """A match as it is, from a mapping or text, or found; checked against both figures."""
    if given is None:
        match = found(source, target)
    elif isinstance(given, Match):
        match = given
    elif isinstance(given, str):
        match = Match.parse(given)
    elif isinstance(given, Mapping):
        match = Match(tuple(given.items()))
    else:
        raise BadValue(f"a match is a Match, a mapping from target to source segments, or text, not {shown(given)}")
    match.check(source.figure, target.figure)
    if not match.pairs:
        raise BadValue(
            f"nothing of {source.figure.name!r} matches {target.figure.name!r}: give match= with lines 'target = source'"
        )
    return match


def found(source: Anatomy, target: Anatomy) -> Match:
    """The match of two figures by names, then by geometry."""
    pairs: dict[str, tuple[str, str]] = {}
    if set(source.moving) == set(target.moving):
        pairs = {segment: (segment, "same name") for segment in target.moving}
    else:
        for key in target.parts:
            for t, s in _by_part(target, source, key):
                pairs[t] = (s, "name")
        for t, s in _alike(target, source):
            pairs.setdefault(t, (s, "name"))
        for t, s in _fingers(target, source):
            pairs.setdefault(t, (s, "name"))
        for t, s in _by_place(target, source, pairs):
            pairs[t] = (s, "geometry")
    able = (*target.moving, *target.parts.get(("pelvis", ""), ()))
    over = {*target.over_the_pelvis, *(t for t, (s, _) in pairs.items() if s in source.over_the_pelvis)}
    chosen = [s for s in target.figure.segments if s in pairs and s in able and s not in over]
    found = [(t, pairs[t][0]) for t in chosen]
    sure = refuse_unsure(found, source, target)
    notes = [pairs[t][1] + ("" if s > 0.995 else f", {100 * s:.0f} % sure") for t, s in zip(chosen, sure, strict=True)]
    return Match(tuple(found), tuple(notes))


def _bodies(anatomy: Anatomy, row: Iterable[str]) -> list[str]:
    """The segments of a row that turn freely of the one before, from the root outwards: the last of each group of links."""
    out, hinges = [], FREE
    for segment in reversed(tuple(row)):
        if hinges >= FREE:
            out.append(segment)
            hinges = 0
        hinges += sum(any(anatomy.figure.joint_of[key].turn) for key in keys_of(anatomy.figure, segment))
    return out[::-1]


def keys_of(figure: Figure, segment: str) -> list[str]:
    """The joints from a segment up to the next named one."""
    keys = [segment]
    while (above := figure.joint_of[keys[-1]].parent) is not None and figure.joint_of[above].segment is None:
        keys.append(above)
    return keys


def _by_part(target: Anatomy, source: Anatomy, key: tuple[str, str]) -> list[tuple[str, str]]:
    """The pairs of one part and side; the last of each row, or along the spine by their share of the way."""
    if key not in source.parts:
        return []
    mine, theirs = _bodies(target, target.parts[key]), _bodies(source, source.parts[key])
    if key[0] != "spine":
        return [(mine[-1], theirs[-1])]
    pick = ((np.arange(len(mine)) + 0.5) * len(theirs) / len(mine)).astype(int)
    last = {theirs[k]: t for t, k in zip(mine, pick, strict=True)}  # of several that would follow one, the last does
    return [(t, s) for s, t in last.items()]


def _alike(target: Anatomy, source: Anatomy) -> list[tuple[str, str]]:
    """Segments whose names say no part but have the same side and words; fingers only if both figures have the same ones."""
    mine, theirs = ({(a.said[s].side, a.said[s].words): s for s in a.moving} for a in (target, source))
    fingers = [
        {key for key, s in d.items() if a.said[s].part == "digit"} for d, a in ((mine, target), (theirs, source))
    ]
    parts = ("", "digit") if fingers[0] == fingers[1] else ("",)
    return [(t, theirs[key]) for key, t in mine.items() if key in theirs and target.said[t].part in parts]


def _fingers(target: Anatomy, source: Anatomy) -> list[tuple[str, str]]:
    """Fingers of the same name and side, link by link or by their share of the way, on hands that show several of them."""
    rows = [_fingers_of(anatomy) for anatomy in (target, source)]
    shared = [key for key in rows[0] if key in rows[1]]
    out = []
    for side, finger in shared:
        if sum(other == side for other, _ in shared) >= SEVERAL:
            mine, theirs = (row[side, finger] for row in rows)
            pick = ((np.arange(len(mine)) + 0.5) * len(theirs) / len(mine)).astype(int)
            last = {theirs[k]: t for t, k in zip(mine, pick, strict=True)}
            out += [(t, s) for s, t in last.items()]
    return out


def _fingers_of(anatomy: Anatomy) -> dict[tuple[str, str], list[str]]:
    """The links of each finger that move, by side and name, from the hand outwards."""
    out: dict[tuple[str, str], list[str]] = {}
    for segment in anatomy.moving:
        name = anatomy.said[segment]
        finger = next((FINGERS[word] for word in name.words if word in FINGERS), "")
        if name.part == "digit" and name.side and finger:
            out.setdefault((name.side, finger), []).append(segment)
    return out


def _by_place(target: Anatomy, source: Anatomy, known: Mapping[str, tuple[str, str]]) -> list[tuple[str, str]]:
    """Pairs of segments whose names say nothing, on either side, with the least total difference of places."""
    from scipy.optimize import linear_sum_assignment

    taken = {s for s, _ in known.values()}
    free_t = [t for t in target.moving if t not in known and not (target.said[t].part and _both(t, target, source))]
    free_s = [s for s in source.moving if s not in taken and not (source.said[s].part and _both(s, source, target))]
    if not free_t or not free_s or not _worth(free_t, target, free_s, source):
        return []
    a, b = np.array([target.place(t) for t in free_t]), np.array([source.place(s) for s in free_s])
    cost = np.abs(a[:, None] - b[None]).sum(axis=2)
    rows, columns = linear_sum_assignment(cost)
    pairs = [(free_t[i], free_s[j]) for i, j in zip(rows, columns, strict=True) if cost[i, j] < FAR]
    return [
        pair
        for pair in pairs
        if _hangs_alike(pair, {t: s for t, (s, _) in known.items()} | dict(pairs), target, source)
    ]


def _both(segment: str, mine: Anatomy, other: Anatomy) -> bool:
    """Whether the part that a segment's name tells is known in the other figure by name too, or is a finger."""
    name = mine.said[segment]
    return name.part == "digit" or (name.part, name.side) in other.parts


def _worth(free_t: list[str], target: Anatomy, free_s: list[str], source: Anatomy) -> bool:
    """Whether names have left something open: a segment without a meaning, on one side at least."""
    return any(not target.said[t].part for t in free_t) or any(not source.said[s].part for s in free_s)


def _hangs_alike(pair: tuple[str, str], pairs: Mapping[str, str], target: Anatomy, source: Anatomy) -> bool:
    """Whether the nearest matched segment above the target's is matched with one above the source's."""
    above = [s for s in target.path(pair[0])[:-1] if s in pairs]
    return not above or pairs[above[-1]] in source.path(pair[1])
