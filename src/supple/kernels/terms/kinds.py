"""The kinds of terms, and what can be said of a kind without knowing its formula."""

from __future__ import annotations

from typing import Any

from supple.kernels.compiling import leaf

AT, FACE, TURN, AIM, LINE, PLANE, BEYOND, BOX, TILT, CUSTOM, NEAR, CLEAR = range(12)
ROWS = {AT: 3, FACE: 3, TURN: 3, AIM: 3, LINE: 3, PLANE: 1, BEYOND: 1, BOX: 3, TILT: 3, CUSTOM: 0, NEAR: 0, CLEAR: 1}
MIXED = 120  # scratch numbers of a term


@leaf
def is_inequality(kind: int) -> bool:
    """Whether a kind asks for room rather than for a place: its residuals vanish wherever it holds."""
    return kind == BEYOND or kind == BOX or kind == TILT or kind == CLEAR


@leaf
def parts(kind: int) -> Any:
    """Which of the four parts of X (position, x, y, z axis) a kind looks at: the first, and one past the last."""
    if kind == FACE:
        return 1, 2
    if kind == TURN or kind == TILT:
        return 1, 4
    if kind == AIM:
        return 0, 2
    if kind == CUSTOM:
        return 0, 4
    return 0, 1
