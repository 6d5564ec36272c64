"""The kinds of terms, and how many residuals each has."""

from __future__ import annotations

AT, FACE, TURN, AIM, LINE, PLANE, BEYOND, BOX, TILT, CUSTOM, NEAR, CLEAR = range(12)
ROWS = {AT: 3, FACE: 3, TURN: 3, AIM: 3, LINE: 3, PLANE: 1, BEYOND: 1, BOX: 3, TILT: 3, CUSTOM: 0, NEAR: 0, CLEAR: 1}
MIXED = 120  # scratch numbers of a term
