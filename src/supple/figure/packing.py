"""From a tree of named joints to the flat arrays that kernels read (their meaning is in `tree`).

Every joint is brought to a turn about, or a slide along, a coordinate axis: an oblique axis is folded into the joint's
offset and undone in what hangs on it; fixed joints are folded away altogether. What is left of a segment's name is a row
of the world table and a constant frame in that row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supple.basics.values import FrozenDict, read_only
from supple.figure.drives import Linear
from supple.figure.joints import Joint
from supple.geometry.placements import HERE, Floats
from supple.kernels.compiling import entry_in
from supple.kernels.layouts import DRIVE_TERM, DRIVE_TERMS, DRIVEN_BY, JOINTS, OFFSET, TREE, WORLD, Layout, pack
from supple.kernels.tables import TREE_SCRATCH

worlds_entry = entry_in("supple.kernels.tree.worlds_entry")


@dataclass(frozen=True, eq=False)
class Packed:
    """A tree in arrays, and where each segment's frame went."""

    counts: Mapping[str, int]  # of `layouts.TREE`
    tables: Mapping[str, np.ndarray]  # of `layouts.TREE`
    parent: tuple[int, ...]  # row above each row; row 0 is the world
    row: Mapping[str, int]  # by segment (or joint without a segment)
    frame: Mapping[str, Floats]  # the segment's frame in that row

    def sealed(self) -> Packed:
        """The same, which cannot be written to from now on."""
        tables = FrozenDict({name: read_only(table) for name, table in self.tables.items()})
        counts, row, frame = (FrozenDict(own) for own in (self.counts, self.row, self.frame))
        return replace(self, counts=counts, tables=tables, row=row, frame=frame)

    @property
    def count(self) -> int:
        """Moving joints n."""
        return self.counts["JOINTS"]

    @property
    def size(self) -> int:
        """Coordinates."""
        return self.counts["COORDINATES"]

    @property
    def terms(self) -> int:
        """Terms of driven joints."""
        return self.counts["DRIVE_TERMS"]

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """The pack of the tree alone."""
        return pack(TREE, self.counts, self.tables)

    def with_charts(
        self,
        layout: Layout,
        seen: Collection[int],
        held: np.ndarray,
        counts: Mapping[str, int],
        tables: Mapping[str, Any],
    ) -> tuple[np.ndarray, np.ndarray]:
        """A pack of a layout that builds on the tree's, in which balls are charts that can be re-centred (`charts`).

        `seen` are rows of the world table that something looks at, `held` (size) says which coordinates something has a
        hold on; counts and tables are those of the layout that a tree has not.
        """
        charts = find_charts(self.tables, seen, held)
        return pack(
            layout, {**self.counts, "CHARTS": len(charts), **counts}, {**with_charts(self.tables, charts), **tables}
        )

    def in_row(self, segment: str, x: Floats, point: float = 1.0) -> Floats:
        """A point of a segment as its row of the world table has it; a direction if `point` is 0."""
        T = self.frame[segment]
        return T[:3, :3] @ x + point * T[:3, 3]

    def path(self, row: int) -> list[int]:
        """Joints from the root to the frame of `row`."""
        joints: list[int] = []
        while row > 0:
            joints.append(row - 1)
            row = self.parent[row]
        return joints[::-1]

    @property
    def drives(self) -> list[list[tuple[int, int]]]:
        """Of each joint: the coordinates that move it, and the drive term of each, or −1 for a joint with its own."""
        coordinate, first = self.tables["COORDINATE"], self.tables["DRIVE_FIRST"]
        term = self.tables["DRIVE_TERM"]
        out = []
        for c in coordinate.tolist():
            terms = range(int(first[-1 - c]), int(first[-c])) if c < 0 else ()
            out.append([(c, -1)] if c >= 0 else [(int(term[t, DRIVEN_BY]), t) for t in terms])
        return out


def worlds(I: np.ndarray, F: np.ndarray, Q: Floats) -> tuple[np.ndarray, np.ndarray]:
    """World tables (k, n + 1, WORLD) of the postures Q (k, size) of a pack, and the slopes (k, t) of its drive terms."""
    tables, slopes = np.empty((len(Q), I[JOINTS] + 1, WORLD)), np.empty((len(Q), I[DRIVE_TERMS]))
    worlds_entry(I, F, TREE_SCRATCH.fresh(I), Q, slopes, tables)
    return tables, slopes


def aligned(axis: np.ndarray) -> tuple[int, float, Floats]:
    """A coordinate axis k, a sign s and a rotation A with ``A (s e_k) = axis``; A is the identity where it can be."""
    if np.count_nonzero(axis) == 1:
        k = int(np.argmax(np.abs(axis)))
        return k, float(np.sign(axis[k])), np.eye(3)
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    return 2, 1.0, np.column_stack([x, np.cross(axis, x), axis])


def _turn(A: Floats) -> Floats:
    """The read-only placement with rotation A at the origin."""
    T = np.eye(4)
    T[:3, :3] = A
    T.setflags(write=False)
    return T


def _bent(T: Floats) -> int:
    if not np.array_equal(T[:3, :3], np.eye(3)):
        return 1
    return 0 if T[:3, 3].any() else 2


def _offset_row(T: Floats, turn: float, slide: float) -> np.ndarray:
    return np.concatenate([T[:3, :3].ravel(), T[:3, 3], [turn, slide]])


def _drive_tables(joints: Sequence[Joint], index: dict[str, int]) -> dict[str, np.ndarray]:
    """The tables that tell of driven joints."""
    driven, first, term, base, curve = [], [0], [], [], []
    for i, joint in enumerate(joints):
        if joint.drive is None:
            continue
        driven.append(i)
        base.append(joint.drive.offset)
        for name, f in joint.drive.terms:
            if isinstance(f, Linear):
                term.append((index[name], 0, len(curve)))
                curve.append(f.slope)
            else:
                rows = f.pieces()
                term.append((index[name], len(rows), len(curve)))
                curve.extend([rows.shape[1], *rows.ravel()])
        first.append(len(term))
    return {
        "DRIVEN_JOINT": np.array(driven, dtype=np.int64),
        "DRIVE_FIRST": np.array(first, dtype=np.int64),
        "DRIVE_TERM": np.array(term, dtype=np.int64).reshape(-1, DRIVE_TERM),
        "BASE": np.array(base, dtype=np.float64),
        "CURVE": np.array(curve, dtype=np.float64),
    }


def pack_tree(parts: Collection[Joint], names: Sequence[str], keep: Iterable[str] | None = None) -> Packed:
    """Pack the joints `parts` (depth-first) over the coordinates `names`.

    With `keep`, only the joints above those segments are packed: a problem need not move what none of its tasks sees.
    """
    wanted = None if keep is None else _above(parts, keep)
    row: dict[str, int] = {"": 0}
    frame: dict[str, Floats] = {"": HERE}
    parent, axes, bent, depth, rows = [0], [], [], [], []
    kept: list[Joint] = []
    for joint in parts:
        above = joint.parent or ""
        if above not in row or (wanted is not None and joint.key not in wanted):
            continue
        T = frame[above] @ joint.at
        if joint.is_fixed:
            row[joint.key], frame[joint.key] = row[above], T
            continue
        turn, slide = np.array(joint.turn), np.array(joint.slide)
        length = float(np.linalg.norm(slide))
        k, sign, A = aligned(turn if turn.any() else slide / length)
        along = float(slide @ (A @ np.eye(3)[k]))
        kind = k + (0 if not slide.any() else 6 if turn.any() else 3)
        T = T @ _turn(A)
        rows.append(_offset_row(T, sign if turn.any() else 0.0, along))
        bent.append(_bent(T))
        axes.append(kind)
        parent.append(row[above])
        depth.append(0 if row[above] == 0 else depth[row[above] - 1] + 1)
        kept.append(joint)
        row[joint.key], frame[joint.key] = len(kept), _turn(A.T)
    index = {name: i for i, name in enumerate(names)}
    drives = _drive_tables(kept, index)
    order = {int(i): d for d, i in enumerate(drives["DRIVEN_JOINT"])}
    coordinate = [-1 - order[i] if i in order else index[joint.name] for i, joint in enumerate(kept)]
    whole = {
        "PARENT": parent[1:], "AXIS": axes, "BENT": bent, "COORDINATE": coordinate, "DEPTH": depth, "LAST": _last_below(parent),
        "CHART": [],
    }  # fmt: skip
    tables = {name: np.array(numbers, dtype=np.int64) for name, numbers in whole.items()}
    tables |= {**drives, "OFFSET": np.array(rows, dtype=np.float64).reshape(-1, OFFSET), "HOME": np.empty((0, 9))}
    counts = {
        "JOINTS": len(kept), "COORDINATES": len(names), "LONGEST_PATH": max(depth, default=-1) + 1,
        "DRIVEN": len(order), "DRIVE_TERMS": len(drives["DRIVE_TERM"]), "CURVE_NUMBERS": len(drives["CURVE"]), "CHARTS": 0,
    }  # fmt: skip
    return Packed(counts, tables, tuple(parent), row, frame)


def _last_below(parent: Sequence[int]) -> list[int]:
    """The last joint of each joint's subtree, from the row above each row."""
    last = list(range(-1, len(parent) - 1))
    for row in range(len(parent) - 1, 0, -1):
        last[parent[row]] = max(last[parent[row]], last[row])
    return last[1:]


def _above(parts: Collection[Joint], keep: Iterable[str]) -> set[str]:
    """The keys of all joints from the world down to the given segments."""
    by_key = {joint.key: joint for joint in parts}
    wanted: set[str] = set()
    for name in keep:
        at: str | None = name
        while at is not None and at not in wanted:
            wanted.add(at)
            at = by_key[at].parent if at in by_key else None
    return wanted


def find_charts(tree: Mapping[str, np.ndarray], seen: Collection[int], held: np.ndarray) -> list[int]:
    """The first joint of every chart of a tree, given its tables.

    `seen` are the rows that a task or a mass looks at: nothing may be fixed between the three hinges. `held` (size) says
    which coordinates have limits, drives or preferences that are written in angles.
    """
    parent, axis, bent, coordinate = (tree[name] for name in ("PARENT", "AXIS", "BENT", "COORDINATE"))
    found: list[int] = []
    hanging = np.bincount(np.asarray(parent, dtype=int), minlength=len(parent) + 1)
    i = 0
    while i + 2 < len(parent):
        a, b, c = (int(k) for k in axis[i : i + 3])
        run = parent[i + 1] == i + 1 and parent[i + 2] == i + 2 and hanging[i + 1] == 1 and hanging[i + 2] == 1
        turns = max(a, b, c) < 3 and a != b and b != c and bent[i + 1] == 2 and bent[i + 2] == 2
        free = not any(k < 0 or held[int(k)] for k in coordinate[i : i + 3])
        if run and turns and free and i + 1 not in seen and i + 2 not in seen:
            found.append(i)
            i += 3
        else:
            i += 1
    return found


def with_charts(tree: Mapping[str, np.ndarray], charts: Sequence[int]) -> dict[str, np.ndarray]:
    """The tables of a tree in which these joints begin charts.

    A chart's offset turns when it is re-centred, so it counts as bent.
    """
    bent, first = np.array(tree["BENT"]), np.array(charts, dtype=np.int64)
    bent[first] = 1
    return {**tree, "BENT": bent, "CHART": first, "HOME": tree["OFFSET"].reshape(-1, OFFSET)[first, :9]}
