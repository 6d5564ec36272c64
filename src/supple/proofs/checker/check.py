"""Whether a certificate proves what it says, and whether that is about a figure.

What is claimed is taken from the statement, and the dual numbers from the proof; all else is derived from the statement's
links. With a figure, these must be that figure's to the last bit, and so must the bars; its limits must be no wider than
the assumed ranges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.figure.figure import Figure
from supple.figure.limits import Limits
from supple.geometry.placements import Floats
from supple.proofs.checker.balls import FARTHEST, PRECISION, Unproved, need_flint
from supple.proofs.checker.collisions import Ways, core_of
from supple.proofs.checker.leaves import Loop
from supple.proofs.checker.mechanism import Mechanism
from supple.proofs.checker.proof import Crash, Leaf, Proof, Pull, Split
from supple.proofs.checker.pull_bounds import Pulls
from supple.proofs.checker.statement import Bar, Statement
from supple.proofs.checker.text import DEEPEST, MOST_ENTRIES, MOST_LINKS, MOST_NODES, MOST_PAIRS, numbers_of

Boxed = tuple[Leaf | Crash | Pull, Floats, Floats]


@dataclass(frozen=True)
class Report:
    """What was found of a certificate: whether it holds, what was checked, and what was not."""

    holds: bool
    why: str  # it does not; empty if it does
    checked: tuple[str, ...]
    unchecked: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        said = "The proof holds." if self.holds else f"The proof does NOT hold: {self.why}."
        parts = [f"Checked: {'; '.join(self.checked)}."] * bool(self.checked)
        return " ".join([said, *parts, f"Not checked: {'; '.join(self.unchecked)}."])


MEANT = "whether the targets, tolerances, obstacles and margins that it names are those that you mean"


def check(statement: Statement, proof: Proof, figure: Figure | None = None, limits: Limits | None = None) -> Report:
    """What there is to say of a statement and its proof; limits other than the figure's own may be given."""
    if figure is None:
        unchecked = (
            f"whether the joints, their ranges and the bodies that it names are those of {statement.figure!r}",
        )
    else:
        unchecked = ()
    checked: list[str] = []
    try:
        if figure is not None:
            is_of(figure, figure.limits if limits is None else limits, statement)
            checked.append(f"it speaks of the joints, limits and bodies of {figure.name!r}")
        count = _check(statement, proof)
        checked.append(
            f"{count} {'box' if count == 1 else 'boxes'} of joint ranges are empty and cover all that it assumes"
        )
    except Unproved as reason:
        return Report(False, str(reason), tuple(checked), (*unchecked, MEANT))
    return Report(True, "", tuple(checked), (*unchecked, MEANT))


def boxes_of(lower: Floats, upper: Floats, proof: Proof) -> Iterator[Boxed]:
    """The boxes of a proof, and what proves each empty; a cut that is none is refused."""
    stack: list[tuple[Proof, Floats, Floats, int]] = [(proof, lower, upper, 0)]
    count = 0
    while stack:
        node, lower, upper, depth = stack.pop()
        count += 1
        if count > MOST_NODES or depth > DEEPEST:
            raise Unproved(f"it has more than {MOST_NODES} boxes, or more than {DEEPEST} cuts to one")
        if isinstance(node, Split):
            if not (0 <= node.joint < len(lower) and lower[node.joint] < node.at < upper[node.joint]):
                raise Unproved("a cut lies outside of what it cuts")
            top, bottom = upper.copy(), lower.copy()
            top[node.joint] = bottom[node.joint] = node.at
            stack += [(node.above, bottom, upper, depth + 1), (node.below, lower, top, depth + 1)]
        else:
            yield node, lower, upper


def _check(statement: Statement, proof: Proof) -> int:
    """The number of boxes, all of which are seen to be empty."""
    sizes = (
        (len(statement.links), MOST_LINKS),
        (len(statement.entries), MOST_ENTRIES),
        (len(statement.pairs), MOST_PAIRS),
    )
    if any(size > most for size, most in sizes):
        raise Unproved("it names too many joints, entries or pairs")
    if not (0.0 <= statement.margin < FARTHEST and 0.0 <= statement.tolerance < FARTHEST):
        raise Unproved("the margin by which things keep apart, or its tolerance, is negative or not finite")
    with need_flint().ctx.workprec(PRECISION):
        mechanism = Mechanism(statement.links, statement.entries)
        shapes: dict[str, Any] = {}
        for pair in statement.pairs:
            core_of(pair)
            shape = numbers_of(pair.other.shape)
            if pair.other.segment is None and shapes.setdefault(str(pair.other.number), shape) != shape:
                raise Unproved(f"there are two obstacles called {pair.other.number!r}")
        ways = Ways(mechanism, statement.pairs, statement.margin, statement.tolerance)
        pulls, loops = Pulls(mechanism), dict[int, Loop]()
        count = 0
        for leaf, lower, upper in boxes_of(mechanism.lower, mechanism.upper, proof):
            count += 1
            if isinstance(leaf, Crash):
                empty = ways.touches(leaf, lower, upper)
            elif isinstance(leaf, Pull):
                empty = pulls.refuted(leaf, lower, upper)
            else:
                if leaf.claim not in loops:
                    if not 0 <= leaf.claim < len(statement.entries):
                        raise Unproved("a box is said to be empty for an entry that is none")
                    loops[leaf.claim] = Loop(mechanism.claim(leaf.claim))
                loop = loops[leaf.claim]
                empty = loop.refuted(leaf, *loop.chain.box(lower, upper))
            if not empty:
                raise Unproved(f"box {count} is not seen to be empty")
    return count


# ── whether it is about a figure ─────────────────────────────────────────────────────────────────────────────────────
def is_of(figure: Figure, limits: Limits, statement: Statement) -> None:
    """Refuse a statement whose links and bars are not a figure's, or that assumes narrower ranges."""
    if statement.figure != figure.name:
        raise Unproved(f"it speaks of {statement.figure!r}, not of {figure.name!r}")
    where = {name: i for i, name in enumerate(figure.coordinates)}
    for link in statement.links:
        joint = figure.joint_of.get(link.key)
        own = (link.name, link.segment, link.parent, link.turn, link.slide)
        same = joint is not None and (joint.name, joint.segment, joint.parent, joint.turn, joint.slide) == own
        if joint is None or not same or joint.drive is not None or not np.array_equal(joint.at, link.at):
            raise Unproved(f"{link.name!r} is no joint of {figure.name!r}, or another one there")
        if not link.is_fixed:
            i = where[link.name]
            if not (link.lower <= limits.lower[i] and limits.upper[i] <= link.upper):
                raise Unproved(f"{link.name!r} may move further than the certificate assumes")
    for bar in (bar for pair in statement.pairs for bar in (pair.bar, pair.other)):
        if bar.segment is not None and not _has(figure, bar):
            raise Unproved(f"{bar.segment!r} has no such body in {figure.name!r}")


def _has(figure: Figure, bar: Bar) -> bool:
    own = figure.bars.get(str(bar.segment), ())
    return (
        type(bar.number) is int and 0 <= bar.number < len(own) and numbers_of(own[bar.number]) == numbers_of(bar.shape)
    )
