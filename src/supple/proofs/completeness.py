"""Certificates of completeness: data from which anybody can check that a list of postures has all that there are.

**Claim.** Every posture of the named joints that brings the frame to the target exactly is one of the list, to within 1e-9 rad
and but for whole turns; limits only leave some of them out. **Proof.** See `checker.complete`, which derives all of it again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from supple.basics.checks import instance
from supple.basics.values import Value
from supple.figure.figure import Figure
from supple.figure.limits import Limits
from supple.geometry.placements import Floats
from supple.problem.problem import Problem
from supple.proofs.certificate import links_between
from supple.proofs.checker.check import Report
from supple.proofs.checker.complete import Complete, check_complete, read_list, written_list
from supple.proofs.checker.mechanism import moves
from supple.proofs.checker.statement import Statement, Wish
from supple.proofs.claims import Claim


@dataclass(frozen=True, eq=False, repr=False)
class Completeness(Value):
    """All postures of six hinges for a pose, and the proof; one that `solve_all` made also knows its figure and limits."""

    said: Statement
    proof: Complete
    figure: Figure | None = field(default=None, repr=False)
    limits: Limits | None = field(default=None, repr=False)

    def verify(self, figure: Figure | None = None, limits: Limits | None = None) -> bool:
        """Whether the proof holds, of a figure; without one, of that which `solve_all` was asked about, if it was."""
        return self.checked(figure, limits).holds

    def checked(self, figure: Figure | None = None, limits: Limits | None = None) -> Report:
        """As `verify`, with a report: `holds`, `why` not, what was `checked` and what is `unchecked`."""
        if figure is not None:
            instance(figure, Figure, "the figure of a certificate")
        if limits is not None:
            instance(limits, Limits, "the limits of a certificate")
        if figure is None and limits is None:
            figure, limits = self.figure, self.limits
        return check_complete(self.said, self.proof, figure, limits)

    @property
    def postures(self) -> Floats:
        """All postures (k, 6) of the joints that move the frame, also those outside the limits, between −π and π."""
        return self.proof.postures

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the six joints, in the order of `postures`."""
        return tuple(link.name for link in self.said.links if moves(link))

    @property
    def statement(self) -> str:
        """What is claimed, in words."""
        wish = self.said.entries[0]
        assert isinstance(wish, Wish)
        what = wish.exactly.rpartition(" to within ")[0]
        rows = "; ".join(f"({', '.join(f'{x:.9f}' for x in row)})" for row in self.postures.tolist())
        return (
            f"up to whole turns {len(self.postures)} postures of {self.said.figure} bring {what} exactly: of "
            f"{', '.join(self.coordinates)} {rows or 'none'}, each to within 1e-9 rad"
        )

    def explain(self) -> str:
        """What is claimed, in plain words."""
        return f"There are no others: {self.statement}."

    def to_json(self) -> str:
        """The certificate as text; numbers come back to the bit."""
        return written_list(self.said, self.proof)

    @staticmethod
    def from_json(text: str) -> Completeness:
        """The certificate in a text; it proves nothing until `verify` says so."""
        return Completeness(*read_list(text))


def listed(problem: Problem, claim: Claim, formula: Any, kind: str, postures: Floats) -> Completeness:
    """A certificate, not yet checked, for the postures that a formula gave for a claim, in the order of its chain."""
    assert isinstance(claim.origin, Wish)
    assert problem.limits is not None
    wish = replace(claim.origin, tolerance=0.0, angle_tolerance=0.0)
    links = links_between(problem, [(claim.way.segment, claim.way.seen_from)])
    turned = np.remainder(postures + np.pi, 2.0 * np.pi) - np.pi
    proof = Complete(turned, kind, bool(formula.backwards), formula.along, formula.through)
    return Completeness(Statement(problem.figure.name, links, (wish,)), proof, problem.figure, problem.limits)
