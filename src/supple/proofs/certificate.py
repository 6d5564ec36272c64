"""Certificates: data from which anybody can check that no posture does what was asked.

**Claim.** No posture of the named joints within the named ranges meets all wishes, each to within its tolerances, and keeps the
named pairs apart.

**Proof.** The box of joint ranges is cut into smaller ones. For each there is one wish that none of its postures meets, or a
pair that touches in all of them. What is claimed and the numbers of the proof are all that a certificate holds, with the
joints that it is about; everything else is derived again by `checker`, which knows nothing of how the proof was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from supple.basics.checks import instance
from supple.basics.values import Value
from supple.figure.figure import Figure
from supple.figure.limits import Limits
from supple.geometry.placements import Floats
from supple.geometry.shapes import Cylinder, Hull
from supple.problem.bars import Other
from supple.problem.problem import Problem
from supple.proofs.checker.balls import Unproved
from supple.proofs.checker.check import Report, boxes_of, check
from supple.proofs.checker.mechanism import box_of, moves
from supple.proofs.checker.proof import Crash, Leaf, Proof, Pull, Split
from supple.proofs.checker.statement import Bar, Follow, Link, Pair, Statement, Wish
from supple.proofs.checker.text import numbers_of, read, written
from supple.proofs.claims import Claim, Origin
from supple.proofs.collisions import Pairing


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Value):
    """What is claimed, and its proof; one that `solve` made also knows the figure and the limits that it is about."""

    said: Statement
    proof: Proof
    figure: Figure | None = field(default=None, repr=False)
    limits: Limits | None = field(default=None, repr=False)

    def verify(self, figure: Figure | None = None, limits: Limits | None = None) -> bool:
        """Whether the proof holds, of a figure, whose limits are its own unless others are given.

        Without a figure it is that of the problem if `solve` made the certificate. For one from a text there is none: then
        whether it speaks of any figure that you know is not checked (`checked` says so).
        """
        return self.checked(figure, limits).holds

    def checked(self, figure: Figure | None = None, limits: Limits | None = None) -> Report:
        """As `verify`, with a report: `holds`, `why` not, what was `checked` and what is `unchecked`."""
        if figure is not None:
            instance(figure, Figure, "the figure of a certificate")
        if limits is not None:
            instance(limits, Limits, "the limits of a certificate")
        if figure is None and limits is None:
            figure, limits = self.figure, self.limits
        return check(self.said, self.proof, figure, limits)

    @property
    def wishes(self) -> tuple[Wish, ...]:
        """What is wished, all at once."""
        return self.said.wishes

    @property
    def statement(self) -> str:
        """What cannot be, in words: every joint's range, target, tolerance and body that it depends on."""
        full = self.said.in_full()
        narrower = self._narrower()
        return f"{full} (the limits of {', '.join(narrower)} are narrower than the figure's own)" if narrower else full

    @property
    def brief(self) -> str:
        """What cannot be, in a few words."""
        return self.said.in_short()

    def explain(self) -> str:
        """What cannot be, in plain words, which limits matter, and in full everything that it depends on."""
        from supple.proofs.reasons import reason_of

        return f"{self.brief}{reason_of(self)} In full: {self.statement}."

    def leaves(self) -> Iterator[tuple[Leaf | Crash | Pull, Floats, Floats]]:
        """The boxes of the proof over the joints that move and free turns, in this order, and what proves each empty."""
        try:
            yield from boxes_of(*box_of(self.said.links, self.said.entries), self.proof)
        except Unproved:
            return

    def _narrower(self) -> list[str]:
        if self.figure is None or self.limits is None:
            return []
        own, names = self.figure.limits, [link.name for link in self.said.links if not link.is_fixed]
        at = [(name, self.figure.coordinates.index(name)) for name in names]
        return [n for n, i in at if self.limits.lower[i] > own.lower[i] or self.limits.upper[i] < own.upper[i]]

    def to_json(self) -> str:
        """The certificate as text; numbers come back to the bit."""
        return written(self.said, self.proof)

    @staticmethod
    def from_json(text: str) -> Certificate:
        """The certificate in a text; it proves nothing until `verify` says so."""
        return Certificate(*read(text))


# ── from a search ────────────────────────────────────────────────────────────────────────────────────────────────────
def certified(
    problem: Problem, names: tuple[str, ...], claims: Sequence[Claim], pairings: Sequence[Pairing], proof: Proof
) -> Certificate:
    """The certificate of a proof that a search has found over the named unknowns; of the problem only what the proof needs."""
    assert problem.limits is not None
    nodes = list(_nodes(proof))
    entries, numbers = _entries(claims, nodes)
    touching = [pairings[node.pair] for node in nodes if isinstance(node, Crash)]
    pairs = {id(pairing.pair): pairing.pair for pairing in touching}
    at = {key: i for i, key in enumerate(pairs)}
    ways = [(claims[k].way.segment, claims[k].way.seen_from) for k in numbers]
    for pairing in touching:
        back = claims[pairing.given].way.segment if pairing.given >= 0 else pairing.pair.other.segment
        ways.append((str(pairing.pair.bar.segment), back))
    links = links_between(problem, ways)
    unknowns = [link.name for link in links if moves(link)]
    turns = [
        c.way.turning for e in entries if isinstance(e, Wish) and e.kind == "axis" for c in claims if c.origin is e
    ]
    where = {name: i for i, name in enumerate([*unknowns, *turns])}

    def renumbered(node: Proof) -> Proof:
        if isinstance(node, Split):
            if names[node.joint] not in where:  # nothing that is proved depends on it
                return renumbered(node.below)
            return Split(where[names[node.joint]], node.at, renumbered(node.below), renumbered(node.above))
        if isinstance(node, Leaf):
            return replace(node, claim=numbers[node.claim])
        assert isinstance(node, Crash)  # pulls make their own certificates
        given = numbers[node.given] if node.given >= 0 else -1
        return replace(node, pair=at[id(pairings[node.pair].pair)], given=given)

    apart = tuple(Pair(_bar(problem.figure, pair.bar), _other(problem.figure, pair.other)) for pair in pairs.values())
    margin, tolerance = (float(problem.clearance.margin), float(problem.clear[0].tolerance)) if apart else (0.0, 0.0)
    statement = Statement(problem.figure.name, links, tuple(entries), apart, margin, tolerance)
    return Certificate(statement, renumbered(proof), problem.figure, problem.limits)


def _nodes(proof: Proof) -> Iterator[Proof]:
    stack = [proof]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, Split):
            stack += [node.below, node.above]


def _entries(claims: Sequence[Claim], nodes: Sequence[Proof]) -> tuple[list[Wish | Follow], dict[int, int]]:
    """The entries that a proof needs, and which of them each of its claims is."""
    needed = {node.claim for node in nodes if isinstance(node, Leaf)}
    needed |= {node.given for node in nodes if isinstance(node, Crash) and node.given >= 0}
    entries: list[Wish | Follow] = []
    known: dict[int, int] = {}

    def number(origin: Origin) -> int:
        if id(origin) not in known:
            entry = origin if isinstance(origin, Wish) else Follow(number(origin.known), number(origin.through))
            known[id(origin)] = len(entries)
            entries.append(entry)
        return known[id(origin)]

    numbers = {}
    for k in sorted(needed):
        origin = claims[k].origin
        assert origin is not None
        numbers[k] = number(origin)
    return entries, numbers


def links_between(problem: Problem, ways: Sequence[tuple[str, str | None]]) -> tuple[Link, ...]:
    """The joints between the ends of some ways, in the figure's order, with the problem's limits."""
    figure, limits = problem.figure, problem.limits
    assert limits is not None
    keys: set[str] = set()
    for segment, seen_from in ways:
        keys |= set(figure.path_to_root(segment)) ^ set(() if seen_from is None else figure.path_to_root(seen_from))
    links = []
    for joint in figure.joints.values():
        if joint.key in keys:
            at = figure.coordinates.index(joint.name) if not joint.is_fixed and joint.drive is None else -1
            lower, upper = (float(limits.lower[at]), float(limits.upper[at])) if at >= 0 else (0.0, 0.0)
            links.append(Link(joint.name, joint.segment, joint.parent, joint.at, joint.turn, joint.slide, lower, upper))
    return tuple(links)


def _bar(figure: Figure, bar: Any) -> Bar:
    """A bar by its number."""
    own = numbers_of(bar.shape)
    return Bar(bar.segment, [numbers_of(shape) for shape in figure.bars[bar.segment]].index(own), bar.shape)


def _other(figure: Figure, other: Other) -> Bar:
    assert not isinstance(other.shape, Hull | Cylinder)  # proofs do not speak of these
    return Bar(None, other.name, other.shape) if other.segment is None else _bar(figure, other)
