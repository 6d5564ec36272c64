"""Kernels that read targets as users give them: positions (3) and placements (16, row by row), checked on the way.

A placement is taken as it is if its last row is (0, 0, 0, 1), its rotation is one to within rounding, and everything is
finite; anything else needs a closer look by the goal itself, which cleans it or refuses it by name.
"""

from __future__ import annotations

import math
from typing import Any

from supple.geometry.placements import ROUNDING
from supple.kernels.compiling import entry, flat, leaf, row

POINT, PLACEMENT = 3, 16  # numbers of a target
PLACED = 12  # numbers of a placement as kernels read it: position, then rotation


@leaf
def read_points(given: Any, T: Any) -> bool:
    """Copy positions; whether all are finite."""
    fine = True
    for i in range(T.shape[0]):
        fine = fine and math.isfinite(given[i])
        T[i] = given[i]
    return fine


@leaf
def read_placements(given: Any, T: Any) -> bool:
    """Copy placements, position first; whether all are proper to within rounding."""
    for k in range(T.shape[0] // PLACED):
        a, b = PLACEMENT * k, PLACED * k
        r00, r01, r02 = given[a], given[a + 1], given[a + 2]
        r10, r11, r12 = given[a + 4], given[a + 5], given[a + 6]
        r20, r21, r22 = given[a + 8], given[a + 9], given[a + 10]
        x, y, z = given[a + 3], given[a + 7], given[a + 11]
        worst = abs(r00 * r00 + r10 * r10 + r20 * r20 - 1.0) + abs(r01 * r01 + r11 * r11 + r21 * r21 - 1.0)
        worst += abs(r02 * r02 + r12 * r12 + r22 * r22 - 1.0) + abs(r00 * r01 + r10 * r11 + r20 * r21)
        worst += abs(r00 * r02 + r10 * r12 + r20 * r22) + abs(r01 * r02 + r11 * r12 + r21 * r22)
        worst += abs(given[a + 12]) + abs(given[a + 13]) + abs(given[a + 14]) + abs(given[a + 15] - 1.0)
        worst += 0.0 * (x + y + z)  # a sum keeps NaN, and this is NaN if a position is not finite
        volume = r00 * (r11 * r22 - r12 * r21) - r01 * (r10 * r22 - r12 * r20) + r02 * (r10 * r21 - r11 * r20)
        T[b], T[b + 1], T[b + 2] = x, y, z
        T[b + 3], T[b + 4], T[b + 5] = r00, r01, r02
        T[b + 6], T[b + 7], T[b + 8] = r10, r11, r12
        T[b + 9], T[b + 10], T[b + 11] = r20, r21, r22
        if not (worst <= ROUNDING and volume > 0.0):
            return False
    return True


@entry
def read_targets_entry(given: Any, T: Any, first: int, at: int, numbers: int) -> int:
    """Copy positions (k, 3) or placements (k, 16) to T[first …, at …]; returns the first that needs a closer look, or −1."""
    table = flat(T)
    for k in range(given.shape[0]):
        to = row(table, (first + k) * T.shape[1] + at, numbers)
        if given.shape[1] == POINT:
            fine = read_points(given[k], to)
        else:
            fine = read_placements(given[k], to)
        if not fine:
            return k
    return -1
