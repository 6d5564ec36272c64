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
class Pull(Value):
    """No posture of the box meets several entries at once: pulled together, none goes as far as all of them ask."""

    entries: tuple[int, ...]
    forces: Floats  # λ (entries, 3)
    turns: Floats  # N (entries, 3, 3)
    forms: tuple[Floats, ...]  # Φ (4, 4) of each joint that moves
    limits: tuple[Floats, ...]  # G (4, columns) of each joint that moves
    skews: tuple[Floats, ...]  # Ω (4, 4) of each joint that moves


@dataclass(frozen=True, eq=False, repr=False)
class Split(Value):
    """A box cut at a value of one unknown: what lies below, and what lies above."""

    joint: int
    at: float
    below: Proof
    above: Proof


Proof: TypeAlias = Leaf | Crash | Pull | Split
