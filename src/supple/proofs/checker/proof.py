"""Proofs that a box of joint ranges is empty: their data, which may be any numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from supple.basics.values import Value
from supple.geometry.placements import Floats


@dataclass(frozen=True, eq=False, repr=False)
class Leaf(Value):
    """No posture of the box meets one entry of the statement."""

    claim: int
    start: int  # with which joint the first arc begins
    grams: tuple[Floats, ...]
    symmetric: Floats  # Λ (8, 8), of poses
    kernel: Floats  # N (rows, 8)
    facial: Floats  # Ω (rows, 2^k)
    linear: Floats  # λ (4), of points


@dataclass(frozen=True, eq=False, repr=False)
class Crash(Value):
    """In every posture of the box, or every one that meets the entry `given`, a pair that must keep apart does not."""

    pair: int
    given: int  # the entry from whose target the way leads back; −1: it leads from the base
    along: float  # a point of the bar's core, on its z axis
    near: Floats | None  # a point of the other thing that it is too near to; None: it is inside


@dataclass(frozen=True, eq=False, repr=False)
class Split(Value):
    """A box cut at a value of one unknown: what lies below, and what lies above."""

    joint: int
    at: float
    below: Proof
    above: Proof


Proof: TypeAlias = Leaf | Crash | Split
