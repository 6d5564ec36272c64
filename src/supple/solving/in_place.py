"""Curves of postures that keep the hand where it is, for an arm of seven hinges, and the posture on each nearest to a start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from supple.basics.by_thread import kept_by_thread
from supple.basics.values import Value
from supple.geometry.placements import Floats
from supple.proofs.serial_chain import Chain
from supple.solvers.closed_forms.axes import Axes
from supple.solvers.self_motions.rows_of_curves import LENGTH, SEVEN
from supple.solvers.self_motions.seven_hinges import SevenHinges

REMEMBERED = 8  # arms that are kept packed


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Value):
    """Postures (n, size) along a curve on which the hand stays, and how far along it each is.

    It is cut at the limits, unless it is `closed`: then the last posture is the first, but for whole turns. Between two
    postures it is smooth, and no coordinate moves by more than a third of a radian.
    """

    q: Floats
    arc: Floats  # (n,) [rad] the length of the curve from the first posture, all coordinates alike
    closed: bool

    def __len__(self) -> int:
        return len(self.q)

    @property
    def length(self) -> float:
        """How long it is [rad]."""
        return float(self.arc[-1])


class Found(NamedTuple):
    """Pieces inside the limits, the nearest first; the nearest posture (7,) of each; and what is known of the curves."""

    pieces: list[tuple[Floats, Floats, bool]]  # postures (n, 7), lengths, whether closed
    nearest: list[Floats]
    curves: int
    why: str


@kept_by_thread(REMEMBERED)
def _arm(chain: Chain) -> SevenHinges:
    """An arm of seven hinges, packed once."""
    return SevenHinges(Axes.of(chain))


def curves_of(chain: Chain, target: Floats, start: Floats, counted: Floats) -> Found:
    """The curves of a chain of seven hinges, of which some count for how near a posture is."""
    arm = _arm(chain)
    ranges = np.array([chain.lower, chain.upper, start, counted])
    known = arm.curves(target)
    pieces = [piece for curve in known.curves for piece in arm.pieces(target, curve, ranges)]
    near = [(found, piece) for piece in pieces if (found := arm.nearest(target, [piece], ranges)) is not None]
    near.sort(key=lambda one: one[0][1])
    rows = [(V[:, :SEVEN], np.concatenate([[0.0], np.cumsum(V[:-1, LENGTH])]), closed) for _, (V, closed) in near]
    count, name = len(known.curves), repr(chain.names[arm.held]) if counted[arm.held] else "the free turn"
    said = [f"Some angle is free: {count} {'curve' if count == 1 else 'curves'} of postures"]
    said[0] += f", {len(rows)} {'piece' if len(rows) == 1 else 'pieces'} inside the limits."
    if known.broken:
        said.append(f"{known.broken} end where the arm is singular.")
    if not known.whole:
        said.append("Some slices could not be seen well.")
    said.append(f"Slices that hold {name} found them; that there are no others is not proved.")
    return Found(rows, [found[0] for found, _ in near], count, " ".join(said))
