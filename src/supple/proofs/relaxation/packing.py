"""The pack of a relaxation: the blocks of both arcs one behind the other (moments and their terms: `checker.moments`).

Its floats are scratch, laid out as a pack is: sizes of forty tables, summed wherever one of them is opened, would take longer
to compile than all else. Also counts and tables of whole numbers are written by kernels, so every workspace has a copy.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from supple.kernels.layouts import Layout, Table, pack
from supple.kernels.opening import opener
from supple.proofs.checker.moments import Terms, terms

MEETING = 36  # equations where the arcs of a pose meet

ROOM = 32  # numbers at the ends of rows, so that loops over them are cut into equal pieces
PAIRS = MEETING + 16  # pairs of rows, with room at the end
REPORT = 4

RELAXATION = Layout(
    "a relaxation",
    "JOINTS FIXED_PARTS JOINTS_A JOINTS_B WIDTH_A WIDTH_B SPLIT MOMENTS WIDE_MOMENTS MATRIX BLOCKS SECOND BLOCK_TERMS GROUPS"
    " ENTRIES SQUARE CUBE MOST_ROWS ROWS ALL_ROWS NULL_ROWS UNKNOWNS TIED STRIDE",
    ints=[
        *(Table(name, ("BLOCKS",)) for name in ("ORDER", "SEEN", "ENTRY", "STEP")),
        *(Table(name, ("BLOCKS",), 1) for name in ("TERM_FIRST", "GROUP_FIRST")),
        *(Table(name, ("BLOCK_TERMS",)) for name in ("ROW", "COLUMN", "PLACE", "MOMENT", "PRODUCT", "SIGN")),
        *(Table(name, ("GROUPS",)) for name in ("GROUP", "HALF")),
        *(Table(name, ("MOMENTS",)) for name in ("FREE_MOMENT", "TIED_MOMENT", "COLUMN_MOMENT")),
        *(Table(name, ("MOST_ROWS",)) for name in ("PIVOT", "SEQUENCE")),
        Table("JOINT_A", ("JOINTS_A",)),
        Table("JOINT_B", ("JOINTS_B",)),
    ],
    floats=[
        Table("REPORT", (REPORT,)),
        Table("COEFFICIENT", ("BLOCK_TERMS",)),
        *(Table(name, ("WIDTH_B", "WIDTH_B")) for name in ("V", "VT")),
        *(Table(name, ("ENTRIES",)) for name in ("X", "S", "INVERSE", "DX", "DS", "CORRECTION")),
        *(Table(name, ("SQUARE",)) for name in ("ONE", "TWO", "WIDE", "OTHER", "HALF_FOLDED")),
        *(Table(name, ("CUBE",)) for name in ("COLUMNS", "WIDENED_ROWS")),
        *(Table(name, ("MOMENTS",)) for name in ("BASE", "Z", "DZ", "RHS", "INWARD", "Y", "WEIGHT")),
        Table("FULL", ("MOMENTS", "WIDE_MOMENTS")),
        *(Table(name, ("MATRIX",)) for name in ("D", "G", "H")),
        Table("PANEL", (4, "WIDE_MOMENTS")),
        Table("E", ("MOST_ROWS", "MOMENTS")),
        Table("W", ("MOST_ROWS", "WIDE_MOMENTS")),
        Table("TAKEN", ("MOMENTS", "MOST_ROWS")),
        Table("MULTIPLIER", ("MOST_ROWS",)),
        *(Table(name, (8, 8)) for name in ("Q", "SPARE")),
        Table("TURNED", (8, "WIDTH_A")),
        *(Table(name, (8, "WIDTH_B")) for name in ("L", "K")),
        Table("OUTER", ("SQUARE", PAIRS)),
        Table("PAIRS", ("MOMENTS", PAIRS)),
        Table("FIXED", ("FIXED_PARTS", 8)),
        Table("TARGET", (8,)),
        *(Table(name, ("JOINTS",)) for name in ("HALF_MIDDLE", "SIGNED_G", "SLIDES")),
        Table("SCALE", (1,)),
        Table("PARTS", ("JOINTS", 8)),
        Table("TWO_SPARE", (2, 8)),
        Table("A", ("WIDTH_A", 8)),
        Table("B", ("WIDTH_B", 8)),
    ],
)
# Joints of both arcs, the fixed parts between them, joints of A and of B, orders of their whole blocks, moments of A and of
# both, the latter with room, numbers of a matrix of that size, blocks, which of them is B's whole, terms and groups of all
# blocks, their entries, the largest order squared and cubed, and as many equations as there can be.
(JOINTS, FIXED_PARTS, JOINTS_A, JOINTS_B, WIDTH_A, WIDTH_B, SPLIT, MOMENTS, WIDE_MOMENTS, MATRIX, BLOCKS, SECOND,
 BLOCK_TERMS, GROUPS, ENTRIES, SQUARE, CUBE, MOST_ROWS) = range(18)  # fmt: skip
# What kernels find: equations that are eliminated, all of them, rows of N, unknowns with t, tied moments, and how far it is
# from one row of D, G and H to the next.
ROWS, ALL_ROWS, NULL_ROWS, UNKNOWNS, TIED, STRIDE = range(18, 24)
BOUND, VALUE, STEPS, LEFT = range(REPORT)  # report: the bound, t, steps, and what is left of equations without unknowns


class Blocks(NamedTuple):
    """The blocks: of A, then of B; the whole, then each joint with limits."""

    order: Any  # (blocks)
    seen: Any  # (blocks) the orders as they are seen
    entry: Any  # (blocks) where the entries of each start; those of arc B's whole are the last


class BlockTerms(NamedTuple):
    """What each entry of a block is made of."""

    step: Any  # (blocks) from a group's moment to that of the same terms with a sign; 0 for a whole arc
    term_first: Any  # (blocks + 1) where the terms of each block start
    group_first: Any  # (blocks + 1) where its groups start: its terms without a sign, moment by moment
    row: Any  # (terms)
    column: Any
    place: Any  # of the entry, row by row
    moment: Any  # those of B behind those of A
    product: Any  # which product of κ, those of B's behind those of A's
    sign: Any
    group: Any  # (groups) where the terms of each group start, and where the last of a block ends
    half: Any  # (groups) where those of them end that are not below the diagonal


class Places(NamedTuple):
    """Which moment stands where."""

    free: Any  # (moments) those that are free
    tied: Any  # (moments) those that are tied to them
    column: Any  # (moments) that in each column of W
    pivot: Any  # (rows) the column of W that each row gave, or −1
    sequence: Any  # (rows) in which order rows were solved


class Joints(NamedTuple):
    """The joints of both arcs, in their order."""

    a: Any
    b: Any


open_blocks = opener(Blocks, RELAXATION)
open_terms = opener(BlockTerms, RELAXATION)
open_places = opener(Places, RELAXATION, free="FREE_MOMENT", tied="TIED_MOMENT", column="COLUMN_MOMENT")
open_joints = opener(Joints, RELAXATION, a="JOINT_A", b="JOINT_B")


@lru_cache(maxsize=64)
def packed_arcs(a: int, b: int, limited: tuple[bool, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The pack for arcs of a and b joints, some of which have limits; to be copied."""
    parts, second = [], 0
    for k, flags, moments, product in ((a, limited[:a], 0, 0), (b, limited[a:], 3**a, 2**a)):
        second = len(parts) if moments else second
        found = [(terms(k), 0), *((terms(k, i), 3 ** (k - 1 - i)) for i, has in enumerate(flags) if has)]
        parts += [(t, moments, product, step) for t, step in found]
    first = np.cumsum([0] + [len(t.row) for t, _, _, _ in parts])
    groups = [at + _groups(t) for (t, _, _, _), at in zip(parts, first, strict=False)]
    halves = [at + _halves(t) for (t, _, _, _), at in zip(parts, first, strict=False)]
    order = np.array([t.size for t, _, _, _ in parts])
    behind = np.where(np.arange(len(order)) == second, 0, order * order)
    moments, rows = 3**a + 3**b, MEETING + 8 * 2**b
    wide, largest = moments + ROOM, int(order.max())
    numbers = (
        *(a + b, a + b + 1, a, b, 2**a, 2**b, 3**a, moments, wide, moments * wide, len(order), second),
        *(first[-1], sum(map(len, groups)), (order * order).sum(), largest**2, largest**3, rows),
        *(0, 0, 0, 0, 0, 0),
    )
    counts = {name: int(number) for name, number in zip(RELAXATION.counts, numbers, strict=True)}
    tables = {
        **{t.name: np.zeros(RELAXATION.shape(t, counts)) for t in (*RELAXATION.ints, *RELAXATION.floats)},
        "ORDER": order,
        "SEEN": order,
        "ENTRY": np.where(np.arange(len(order)) == second, behind.sum(), np.cumsum(behind) - behind),
        "STEP": [step for _, _, _, step in parts],
        "TERM_FIRST": first,
        "GROUP_FIRST": np.cumsum([0] + [len(g) for g in groups]),
        "ROW": np.concatenate([t.row for t, _, _, _ in parts]),
        "COLUMN": np.concatenate([t.column for t, _, _, _ in parts]),
        "PLACE": np.concatenate([t.row * t.size + t.column for t, _, _, _ in parts]),
        "MOMENT": np.concatenate([t.moment + at for t, at, _, _ in parts]),
        "PRODUCT": np.concatenate([t.factors + at for t, _, at, _ in parts]),
        "SIGN": np.concatenate([t.sign for t, _, _, _ in parts]),
        "GROUP": np.concatenate(groups),
        "HALF": np.concatenate(halves),
    }
    return pack(RELAXATION, counts, tables)


def _groups(t: Terms) -> np.ndarray:
    """Where the terms of each moment start, of those without a sign, and where the last end."""
    plain = t.moment[t.sign > 0.0]
    return np.append(np.unique(plain, return_index=True)[1], len(plain))


def _halves(t: Terms) -> np.ndarray:
    """Where those of each moment end that are not below the diagonal; nothing for the last place."""
    starts, plain = _groups(t), (t.row <= t.column)[t.sign > 0.0]
    counts = [int(plain[a:b].sum()) for a, b in pairwise(starts)]
    return np.append(starts[:-1] + counts, starts[-1])
