"""Where everything lies in a pack: a table of contents in front of it, declared here and written by `pack` alone.

A *pack* is two flat arrays, I of whole numbers and F of floats. I begins with its contents: first *counts* (how many
joints, tasks, limits …), then *places* (where each table begins in I or F). A kernel opens the tables that it needs,

    lower = row(F, I[AT_LOWER], I[COORDINATES]),

and need not know what lies before them. Counts and places are plain integers with names: enums do not compile for every
target, and records cost more.

A `Layout` declares a kind of pack once: its counts, and its tables with their shapes in terms of the counts. Layouts build on
each other: every pack begins with the contents of a tree, so what opens a tree opens it in any of them. `pack` checks every
table against its shape; `view` is how Python looks at one; `dump` shows all of it as text. With ``SUPPLE_CHECKED=1`` a guard
number stands behind every table, and `intact` says whether all of them are still there.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

WORLD = 18  # numbers in a row of the world table: R (9, row-major), p (3), ω (3), v (3)
OFFSET = 14  # numbers in a row of the offset table: R (9), p (3), turn, slide
DRIVEN_BY, PIECES, CURVE_AT = range(
    3
)  # of a term of a drive: coordinate, number of pieces (0: a line), where its numbers begin
DRIVE_TERM = 3
# columns of a term's float row
FRAME, REFERENCE, WEIGHT, MET, SCALE, LOWER, UPPER, SHIFT, TERM = 0, 12, 24, 25, 26, 27, 30, 33, 36
LINK = (
    4  # integers of a link: 1 + joint (negative against its sense), column, drive term or −1, whether the column is new
)
NO_ROW = -1  # in place of a frame row: there is none
BLOCK = 3  # residual rows of a term; those that it does not need stay zero

# Integers of a term: what it is, the rows of the frame that it looks at and of its reference, where its target (or solid),
# residuals and path begin, lengths of path and target, the address of a custom function, how many residuals it has, its rank
# (lower ones come strictly first), whether it sees what the term before it sees, and its route.
(KIND, FRAME_ROW, REFERENCE_ROW, TARGET_AT, RESIDUAL_AT, PATH_AT, PATH_LENGTH, TARGET_LENGTH, ADDRESS, RESIDUALS_OF, RANK,
 SAME_AS_LAST, ROUTE) = range(13)  # fmt: skip
FIELDS = 13
OWN_SOLID = ADDRESS  # of a CLEAR term: 1 + where the solid of a segment begins that keeps clear with one; 0: with a bar

GUARD, GUARD_NUMBER = -7_777_777, -7.777777e-77  # what stands behind a table of a checked pack
CHECKED = os.environ.get("SUPPLE_CHECKED", "") not in ("", "0")


class Table(NamedTuple):
    """A table of a pack: its shape in counts and numbers; with `more`, a row that is so much longer."""

    name: str
    shape: tuple[str | int, ...]
    more: int = 0


class Layout:
    """A kind of pack: the names of its counts, its tables, and where in the contents each stands."""

    def __init__(
        self, name: str, counts: str, ints: Sequence[Table], floats: Sequence[Table], base: Layout | None = None
    ) -> None:
        self.name = name
        self.counts: tuple[str, ...] = (*(base.counts if base else ()), *counts.split())
        self.ints: tuple[Table, ...] = (*(base.ints if base else ()), *ints)
        self.floats: tuple[Table, ...] = (*(base.floats if base else ()), *floats)
        own = [*counts.split(), *(f"AT_{table.name}" for table in (*ints, *floats))]
        before = base.contents if base else {}
        self.contents: dict[str, int] = {**before, **{name: len(before) + k for k, name in enumerate(own)}}

    @property
    def header(self) -> int:
        """How many numbers the contents take."""
        return len(self.contents)

    def shape(self, table: Table, counts: Mapping[str, int]) -> tuple[int, ...]:
        """The shape of a table."""
        sides = tuple(side if isinstance(side, int) else int(counts[side]) for side in table.shape)
        return (math.prod(sides) + table.more,) if table.more else sides


def pack(
    layout: Layout, counts: Mapping[str, int], tables: Mapping[str, Any], checked: bool = CHECKED
) -> tuple[np.ndarray, np.ndarray]:
    """The two arrays of a pack. Every count and table of the layout must be there and of its shape."""
    strangers = (counts.keys() ^ set(layout.counts)) | (
        tables.keys() ^ {t.name for t in (*layout.ints, *layout.floats)}
    )
    if strangers:
        raise AssertionError(f"a pack of {layout.name} is missing, or does not know, {', '.join(sorted(strangers))}")
    contents = np.zeros(layout.header, dtype=np.int64)
    for name in layout.counts:
        contents[layout.contents[name]] = counts[name]
    out = []
    for own, first, kind, guard in (
        (layout.ints, [contents], np.int64, GUARD), (layout.floats, [], np.float64, GUARD_NUMBER),
    ):  # fmt: skip
        parts: list[np.ndarray] = list(first)
        at = sum(map(len, parts))
        for table in own:
            flat = np.asarray(tables[table.name]).astype(kind).ravel()
            if flat.size != math.prod(layout.shape(table, counts)):
                raise AssertionError(f"the table {table.name} of {layout.name} has {flat.size} numbers")
            contents[layout.contents[f"AT_{table.name}"]] = at
            parts += [flat, np.full(1, guard, kind)] if checked else [flat]
            at += flat.size + checked
        out.append(parts)
    return np.concatenate(out[0]), np.concatenate([np.empty(0), *out[1]])


def counts_of(layout: Layout, I: np.ndarray) -> dict[str, int]:
    """The counts of a pack, by name."""
    return {name: int(I[layout.contents[name]]) for name in layout.counts}


def view(layout: Layout, I: np.ndarray, F: np.ndarray, name: str) -> np.ndarray:
    """A table of a pack, as Python sees it."""
    table = next(t for t in (*layout.ints, *layout.floats) if t.name == name)
    shape, at = layout.shape(table, counts_of(layout, I)), int(I[layout.contents[f"AT_{name}"]])
    return (I if table in layout.ints else F)[at : at + math.prod(shape)].reshape(shape)


def dump(layout: Layout, I: np.ndarray, F: np.ndarray) -> str:
    """The pack as text: its counts, and every table with its name, shape and numbers."""
    lines = [f"{layout.name}: " + ", ".join(f"{name} {count}" for name, count in counts_of(layout, I).items())]
    for table in (*layout.ints, *layout.floats):
        numbers = view(layout, I, F, table.name)
        lines.append(f"{table.name} {numbers.shape} at {int(I[layout.contents[f'AT_{table.name}']])}")
        if numbers.size:
            lines.append(np.array2string(numbers, max_line_width=120, threshold=10_000, precision=6))
    return "\n".join(lines)


def intact(layout: Layout, I: np.ndarray, F: np.ndarray) -> bool:
    """Whether the guards of a checked pack stand as `pack` put them."""
    for own, array, guard in ((layout.ints, I, GUARD), (layout.floats, F, GUARD_NUMBER)):
        for table in own:
            size = math.prod(layout.shape(table, counts_of(layout, I)))
            if array[int(I[layout.contents[f"AT_{table.name}"]]) + size] != guard:
                return False
    return True


# ── a tree ───────────────────────────────────────────────────────────────────────────────────────────────────────────
TREE = Layout(
    "a tree",
    "JOINTS COORDINATES LONGEST_PATH DRIVEN DRIVE_TERMS CURVE_NUMBERS CHARTS",
    ints=[
        Table("PARENT", ("JOINTS",)),
        Table("AXIS", ("JOINTS",)),
        Table("BENT", ("JOINTS",)),
        Table("COORDINATE", ("JOINTS",)),
        Table("DEPTH", ("JOINTS",)),
        Table("LAST", ("JOINTS",)),
        Table("DRIVEN_JOINT", ("DRIVEN",)),
        Table("DRIVE_FIRST", ("DRIVEN",), 1),
        Table("DRIVE_TERM", ("DRIVE_TERMS", DRIVE_TERM)),
        Table("CHART", ("CHARTS",)),
    ],
    floats=[
        Table("OFFSET", ("JOINTS", OFFSET)),
        Table("BASE", ("DRIVEN",)),
        Table("CURVE", ("CURVE_NUMBERS",)),
        Table("HOME", ("CHARTS", 9)),
    ],
)
JOINTS, COORDINATES, LONGEST_PATH, DRIVEN, DRIVE_TERMS, CURVE_NUMBERS, CHARTS = range(7)
(AT_PARENT, AT_AXIS, AT_BENT, AT_COORDINATE, AT_DEPTH, AT_LAST, AT_DRIVEN_JOINT, AT_DRIVE_FIRST, AT_DRIVE_TERM, AT_CHART,
 AT_OFFSET, AT_BASE, AT_CURVE, AT_HOME) = range(7, 21)  # fmt: skip

# ── a problem ────────────────────────────────────────────────────────────────────────────────────────────────────────
PROBLEM = Layout(
    "a problem",
    "TASKS ALTERNATIVES TERMS PATH_JOINTS RESIDUALS LONGEST_RELATIVE_PATH MASS_ROWS POSTURE_TERMS TARGET_NUMBERS"
    " LINEAR_LIMITS EQUALITIES ROUTES ROUTE_LINKS ROUTE_COLUMNS SHARED_COLUMNS WIDEST_ROUTE RANKS FREE_ROOT SOLID_NUMBERS"
    " RANKS_THAT_MUST PLAIN RESIDUALS_ARE_FEW BY_JOINTS EVALUATION_NUMBERS",
    base=TREE,
    ints=[
        Table("TASK", ("TASKS",), 1),
        Table("ALTERNATIVE", ("ALTERNATIVES",), 1),
        Table("TERM", ("TERMS", FIELDS)),
        Table("PATH", ("PATH_JOINTS",)),
        Table("ROUTE_FIRST", ("ROUTES",), 1),
        Table("ROUTE_BEGIN", ("ROUTES",), 1),
        Table("ROUTE_LINK", ("ROUTE_LINKS", LINK)),
        Table("ROUTE_COLUMN", ("ROUTE_COLUMNS",)),
        Table("ROUTE_PREFIX", ("ROUTES", "ROUTES")),
        Table("ROUTE_SECOND", ("ROUTES", "ROUTES"), 1),
        Table("ROUTE_EXTRA", ("SHARED_COLUMNS", 2)),
    ],
    floats=[
        Table("NUMBER", ("TERMS", TERM)),
        Table("MASS", ("MASS_ROWS", 4)),
        Table("NEAR", ("POSTURE_TERMS", "COORDINATES")),
        Table("SOLID", ("SOLID_NUMBERS",)),
        Table("LOWER", ("COORDINATES",)),
        Table("UPPER", ("COORDINATES",)),
        Table("MOBILITY", ("COORDINATES",)),
        Table("A", ("LINEAR_LIMITS", "COORDINATES")),
        Table("B", ("LINEAR_LIMITS",)),
    ],
)
(TASKS, ALTERNATIVES, TERMS, PATH_JOINTS, RESIDUALS, LONGEST_RELATIVE_PATH, MASS_ROWS, POSTURE_TERMS, TARGET_NUMBERS,
 LINEAR_LIMITS, EQUALITIES, ROUTES, ROUTE_LINKS, ROUTE_COLUMNS, SHARED_COLUMNS, WIDEST_ROUTE, RANKS, FREE_ROOT,
 SOLID_NUMBERS, RANKS_THAT_MUST, PLAIN, RESIDUALS_ARE_FEW, BY_JOINTS, EVALUATION_NUMBERS) = range(21, 45)  # fmt: skip
(AT_TASK, AT_ALTERNATIVE, AT_TERM, AT_PATH, AT_ROUTE_FIRST, AT_ROUTE_BEGIN, AT_ROUTE_LINK, AT_ROUTE_COLUMN,
 AT_ROUTE_PREFIX, AT_ROUTE_SECOND, AT_ROUTE_EXTRA, AT_NUMBER, AT_MASS, AT_NEAR, AT_SOLID, AT_LOWER, AT_UPPER, AT_MOBILITY,
 AT_A, AT_B) = range(45, 65)  # fmt: skip
