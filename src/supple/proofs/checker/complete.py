"""Whether a list of postures is complete: no posture of six hinges brings a frame exactly to a pose but those of the list.

**The claim.** Of a statement with one entry, a pose, and no pairs: every posture of its joints, with whatever ranges, that
brings the frame to the target exactly is within 1e-9 rad of one of the list, in each coordinate and but for whole turns; and
each of the list is within 1e-9 rad of one such posture. (Tolerances of the entry do not matter.)

**The proof** names a formula (`formulas`) and a neighbour: lines that fit the formula exactly. By the bound of `hinge_lines`
every posture of the arm has, on the neighbour, a motion within a derived slack of the wanted one. The formula, in balls
with that slack, gives boxes that hold all postures. Each box must lie where Krawczyk's test (`single_posture`) has found
that there is exactly one posture, which is that of the list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.basics.values import Value
from supple.errors import BadValue
from supple.figure.figure import Figure
from supple.figure.limits import Limits
from supple.geometry.placements import Floats
from supple.proofs.checker.balls import LARGEST, PRECISION, Unproved, need_flint
from supple.proofs.checker.check import Report, is_of
from supple.proofs.checker.formulas import KINDS, MEETING, PARALLEL, PLANAR, boxes_of_formula
from supple.proofs.checker.hinge_lines import HINGES, Lines, slack, unit
from supple.proofs.checker.mechanism import Mechanism
from supple.proofs.checker.single_posture import CLOSE, holds_one
from supple.proofs.checker.statement import Statement, Wish
from supple.proofs.checker.strict_json import array_of, fields_of, index_of
from supple.proofs.checker.text import MOST_LINKS, read_as, written_as

FORMAT = "supple list of postures 1"
MOST_POSTURES = 16  # of six hinges in general (Primrose 1986)
MEANT = "whether the target that it names is the one that you mean, and whether the postures are inside the limits"


@dataclass(frozen=True, eq=False, repr=False)
class Complete(Value):
    """All postures, and the formula and the neighbour that prove it."""

    postures: Floats  # (k, 6), in the order of the chain
    kind: str
    backwards: bool
    along: Floats  # (6, 3)
    through: Floats  # (6, 3)


def written_list(statement: Statement, proof: Complete) -> str:
    """A statement and its list as text; the fields are those of certificates, but for the proof."""
    data = {
        "postures": proof.postures.tolist(),
        "kind": proof.kind,
        "backwards": int(proof.backwards),
        "along": proof.along.tolist(),
        "through": proof.through.tolist(),
    }
    return written_as(FORMAT, statement, data)


def read_list(text: str) -> tuple[Statement, Complete]:
    """The statement and the list in a text, which may be wrong."""
    return read_as(FORMAT, text, _read_proof)


def _read_proof(data: Any) -> Complete:
    postures, kind, backwards, along, through = fields_of(data, "postures", "kind", "backwards", "along", "through")
    if kind not in KINDS:
        raise BadValue(f"a formula is {', '.join(KINDS)}, not {str(kind)[:40]!r}")
    count = len(postures)
    lists = array_of(postures, count, HINGES) if count else np.empty((0, HINGES))
    return Complete(lists, kind, bool(index_of(backwards)), array_of(along, HINGES, 3), array_of(through, HINGES, 3))


def check_complete(
    statement: Statement, proof: Complete, figure: Figure | None = None, limits: Limits | None = None
) -> Report:
    """What there is to say of a list of postures and the proof that it is complete."""
    name = statement.figure
    unchecked = (MEANT,) if figure is not None else (f"whether the joints that it names are those of {name!r}", MEANT)
    checked: list[str] = []
    try:
        if figure is not None:
            is_of(figure, figure.limits if limits is None else limits, statement)
            checked.append(f"it speaks of the joints of {figure.name!r}")
        with need_flint().ctx.workprec(PRECISION):
            boxes = _check(statement, proof)
        checked.append(
            f"{boxes} boxes hold every posture, and each of {len(proof.postures)} postures is the only one near it"
        )
    except Unproved as reason:
        return Report(False, str(reason), tuple(checked), unchecked)
    return Report(True, "", tuple(checked), unchecked)


def _check(statement: Statement, proof: Complete) -> int:
    """The number of boxes, each of which lies about a posture of the list."""
    entry = statement.entries[0] if len(statement.entries) == 1 else None
    if not isinstance(entry, Wish) or entry.kind != "pose" or statement.pairs or len(statement.links) > MOST_LINKS:
        raise Unproved("it is not about one pose alone")
    kind, near = _fitting(proof)
    lines = Lines.of(Mechanism(statement.links, statement.entries).claim(0))
    radii = [holds_one(lines, q) for q in proof.postures]
    for i, q in enumerate(proof.postures):
        if any(_off(q, other) <= 2.0 * CLOSE for other in proof.postures[:i]):
            raise Unproved("a posture comes twice")
    R, t = lines.motion(proof.backwards)
    turn, shift = slack(*lines.taken(proof.backwards), near, proof.through)
    arb = need_flint().arb
    R = [[x + arb(0, turn) for x in row] for row in R]
    t = [x + arb(0, shift) for x in t]
    through = [[arb(float(x)) for x in row] for row in proof.through]
    count = 0
    for box in boxes_of_formula(kind, near, through, R, t):
        count += 1
        box = box[::-1] if proof.backwards else box
        if not any(_lies(box, q, r) for q, r in zip(proof.postures, radii, strict=True)):
            raise Unproved("there may be a posture that is not in the list")
    return count


def _fitting(proof: Complete) -> tuple[int, list[list[Any]]]:
    """The kind, and the neighbour's directions in balls; refused if it does not fit the formula exactly."""
    sizes = proof.along.shape == proof.through.shape == (HINGES, 3) and proof.postures.shape[1:] == (HINGES,)
    if not sizes or len(proof.postures) > MOST_POSTURES or proof.kind not in KINDS:
        raise Unproved("the formula, its neighbour or the list is none")
    if not all(bool((np.abs(a) <= LARGEST).all()) for a in (proof.along, proof.through, proof.postures)):
        raise Unproved("a number is too large, or none")
    kind, h, p = KINDS.index(proof.kind), proof.along, proof.through

    def same(j: int) -> bool:
        return bool((h[j] == h[j - 1]).all() or (h[j] == -h[j - 1]).all())

    if kind == PLANAR:
        fits = same(2) and same(3) and (p[4] == p[5]).all()
    else:
        fits = bool((p[3] == p[4]).all() and (p[4] == p[5]).all())
        fits = fits and (kind != MEETING or bool((p[0] == p[1]).all())) and (kind != PARALLEL or same(1))
    if not fits:
        raise Unproved("the neighbour does not fit the formula")
    near = [unit(row) for row in h]
    for j in range(1, HINGES) if kind in (PARALLEL, PLANAR) else ():
        if same(j):  # one direction, not two balls that might differ
            near[j] = near[j - 1] if bool((h[j] == h[j - 1]).all()) else [-x for x in near[j - 1]]
    return kind, near


def _off(a: Floats, b: Floats) -> float:
    """The largest difference, whole turns not counted."""
    d = a - b
    return float(np.abs(d - 2.0 * np.pi * np.round(d / (2.0 * np.pi))).max())


def _lies(box: list[Any], q: Floats, r: float) -> bool:
    """Whether a box lies within r of a posture, but for whole turns."""
    arb = need_flint().arb
    for x, at in zip(box, q.tolist(), strict=True):
        turns = round((float(x.mid()) - at) / (2.0 * np.pi))
        if not abs(x - arb(at) - 2 * turns * arb.pi()) < r:
            return False
    return True
