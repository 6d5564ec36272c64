"""Certificates of alternatives: none of several things can be, each with its own proof.

A task with alternatives is met when one of them is. It cannot be met where every one of them is proved impossible, together
with the tasks that have no choice; where several tasks have alternatives, every combination. So there is one certificate for
each, and all of them must hold. Whether they are all the alternatives that were meant is for the reader to see: the statement
lists them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from supple.basics.checks import items
from supple.basics.values import Value
from supple.errors import BadFile
from supple.figure.figure import Figure
from supple.figure.limits import Limits
from supple.proofs.certificate import Certificate
from supple.proofs.checker.check import Report
from supple.proofs.checker.complete import FORMAT as LIST
from supple.proofs.checker.text import MOST_BYTES
from supple.proofs.completeness import Completeness

FORMAT = "supple certificates 1"
MOST_PARTS = 100


@dataclass(frozen=True, eq=False, repr=False)
class Certificates(Value):
    """Proofs that none of several alternatives can be: one certificate for each."""

    parts: tuple[Certificate, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", items(self.parts, "the certificates of alternatives", Certificate))

    def verify(self, figure: Figure | None = None, limits: Limits | None = None) -> bool:
        """Whether every one of the proofs holds, of a figure as `Certificate.verify` has it; no proofs prove nothing."""
        return self.checked(figure, limits).holds

    def checked(self, figure: Figure | None = None, limits: Limits | None = None) -> Report:
        """As `verify`, with a report of all of them."""
        reports = [part.checked(figure, limits) for part in self.parts]
        why = next((f"alternative {k}: {r.why}" for k, r in enumerate(reports, 1) if not r.holds), "")
        done = tuple(f"alternative {k}: {said}" for k, r in enumerate(reports, 1) for said in r.checked)
        left = tuple(dict.fromkeys(said for r in reports for said in r.unchecked))
        if not reports:
            why = "it holds no proof"
        return Report(not why, why, done, (*left, "whether these are all the alternatives that you mean"))

    @property
    def statement(self) -> str:
        """What cannot be, in words, alternative by alternative."""
        return "; ".join(f"({k}) {part.statement}" for k, part in enumerate(self.parts, 1))

    @property
    def brief(self) -> str:
        """What cannot be, in a few words."""
        own = dict.fromkeys(part.brief for part in self.parts)
        return f"None of {len(self.parts)} alternatives can be: {'; '.join(own)}"

    def explain(self) -> str:
        """What cannot be and why, alternative by alternative."""
        own = " ".join(f"({k}) {part.explain()}" for k, part in enumerate(self.parts, 1))
        return f"None of {len(self.parts)} alternatives can be. {own}"

    def to_json(self) -> str:
        """All of them as one text."""
        return json.dumps({"format": FORMAT, "none_of": [part.to_json() for part in self.parts]}, allow_nan=False)

    @staticmethod
    def from_json(text: str) -> Certificates:
        """The certificates in a text; they prove nothing until `verify` says so."""
        found = certificate_of(text)
        if isinstance(found, Completeness):
            raise BadFile("this proves that a list of postures is complete, not that nothing can be")
        return found if isinstance(found, Certificates) else Certificates((found,))


def certificate_of(text: str) -> Certificate | Certificates | Completeness:
    """The certificate in a text: that nothing can be, none of several alternatives, or no further posture."""
    if isinstance(text, str) and f'"{LIST}"' in text[:100]:
        return Completeness.from_json(text)
    if isinstance(text, str) and len(text) <= MOST_BYTES and FORMAT in text[:100]:
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadFile(f"this is no certificate: {str(error)[:300]}") from error
        own = data.get("none_of") if isinstance(data, dict) and {*data} == {"format", "none_of"} else None
        if not isinstance(own, list) or data["format"] != FORMAT or len(own) > MOST_PARTS:
            raise BadFile(f"this is no certificate: {FORMAT!r} has a list of no more than {MOST_PARTS} of them")
        return Certificates(tuple(map(Certificate.from_json, own)))
    return Certificate.from_json(text)
