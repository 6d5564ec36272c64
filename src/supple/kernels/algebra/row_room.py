"""What can be said of linear rows without looking at them: when one counts as kept, what room a projection onto them takes."""

from __future__ import annotations

SLACK = 1e-9  # a row of unit length counts as kept if it is overstepped by less
# of a projection's scratch (ROWS + m, m); behind them is L
ACTIVE, MULTIPLIER, ANSWER, WHITE, REMAINDER, ROWS = range(6)


def row_room(m: int) -> int:
    """Numbers of scratch that a projection (`nearest`) needs for m rows."""
    return (ROWS + m) * m
