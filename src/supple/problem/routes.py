"""Routes: which coordinates move what a term sees, listed once, so that Jacobians are stored without their zeros.

A *route* belongs to every term that sees the same segment from the same place. Its *links* are the joints between the two,
from the root (or the reference) outwards, each with the column of the stored Jacobian that it adds to; its *columns* are
the coordinates in the order in which the links first name them. On a plain tree two routes share exactly their first
columns, as many as they have common ancestors; the table `prefix` holds that number, and `extra` lists the pairs of columns
that two routes share beyond it, which only driven joints and relative goals bring about.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class Routes:
    """Collects routes; `tables` makes the rows that kernels read."""

    def __init__(self, drives: Sequence[Sequence[tuple[int, int]]]) -> None:
        self.drives = drives  # of each joint: the coordinates that move it, and the drive term of each, or −1
        self.index: dict[tuple[int, ...], int] = {}
        self.links: list[list[list[int]]] = []
        self.columns: list[list[int]] = []

    def add(self, joints: Sequence[int]) -> int:
        """The index of the route along these joints, each as 1 + joint, negative if it moves the reference."""
        key = tuple(joints)
        if key not in self.index:
            self.index[key] = len(self.index)
            columns: list[int] = []
            links = []
            for joint in key:
                for coordinate, drive in self.drives[abs(joint) - 1]:
                    new = coordinate not in columns
                    columns += [coordinate] * new
                    links.append([joint, columns.index(coordinate), drive, int(new)])
            self.links.append(links)
            self.columns.append(columns)
        return self.index[key]

    @property
    def widest(self) -> int:
        """The number of columns of the longest route."""
        return max((len(c) for c in self.columns), default=0)

    def tables(self, shared: bool = True) -> tuple[dict[str, int], dict[str, np.ndarray]]:
        """The counts and tables of `layouts.PROBLEM` that tell of routes.

        Which columns two routes share is only found out if it is asked for.
        """
        count = len(self.columns)
        prefix = np.zeros((count, count), dtype=np.int64)
        extra: list[tuple[int, int]] = []
        first = [0] * (1 if shared else count * count + 1)
        position = [{c: i for i, c in enumerate(columns)} for columns in self.columns]
        for a, mine in enumerate(self.columns if shared else ()):
            for b, other in enumerate(self.columns):
                same = 0
                while same < min(len(mine), len(other)) and mine[same] == other[same]:
                    same += 1
                prefix[a, b] = same
                extra += [(same + i, position[b][c]) for i, c in enumerate(mine[same:]) if c in position[b]]
                first.append(len(extra))
        links = [link for links in self.links for link in links]
        columns = [column for columns in self.columns for column in columns]
        starts = [np.cumsum([0, *map(len, lists)]) for lists in (self.links, self.columns)]
        counts = {
            "ROUTES": count, "ROUTE_LINKS": len(links), "ROUTE_COLUMNS": len(columns), "SHARED_COLUMNS": len(extra),
        }  # fmt: skip
        tables = {
            "ROUTE_FIRST": starts[0], "ROUTE_BEGIN": starts[1], "ROUTE_LINK": links, "ROUTE_COLUMN": columns,
            "ROUTE_PREFIX": prefix, "ROUTE_SECOND": first, "ROUTE_EXTRA": extra,
        }  # fmt: skip
        return counts, {name: np.array(numbers, dtype=np.int64) for name, numbers in tables.items()}
