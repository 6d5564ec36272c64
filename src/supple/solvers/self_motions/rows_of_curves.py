"""What the tracing of self-motions reads and writes, by names."""

from __future__ import annotations

SEVEN = 7  # hinges

# an arm (STILL_ROWS, 3): axes at zero, points on them, the frame's columns and where it is, and the reach
ALONG, THROUGH, HOME, REACH = 0, 7, 14, 18
STILL_ROWS = 19

# a vertex: its posture, the direction in which the hand stays, and the length of the curve from it to the next
TANGENT, LENGTH, COLUMNS = 7, 14, 15

# a seed: its posture, and the curve that passes it, −1 if none does
OWNER, SEED_COLUMNS = 7, 8

# scratch (CURVE_ROWS, CURVE_COLUMNS)
EQUATIONS = 0  # seven equations, two right sides behind
ONTO, STEP, DIRECTION = 7, 8, 9  # the last equation's left side; both solutions
SIDE = 7  # behind the first solution: the sign of the determinant
TRIAL = 10  # a posture that is tried
POINT = 11  # a point between two vertices
STACK = 12  # halved pieces of a curve: where they begin, how long they are, how far their ends are
STACK_ROWS = 48
CURVE_ROWS, CURVE_COLUMNS = STACK + STACK_ROWS, 9

BROKEN, CLOSED = 0, 1  # how a curve ends
FULL = 1 << 20  # added to the number of curves: there was no room for all
