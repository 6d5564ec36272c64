"""What the formulas read and write: rows of three numbers, by names."""

from __future__ import annotations

# an arm (ARM_ROWS, 3)
ALONG, THROUGH = 0, 6  # axes of the neighbour that fits the formula, in its order
OWN_ALONG, OWN_THROUGH = 12, 18  # axes of the arm itself
HOME = 24  # columns of the frame's rotation at zero, and where it is
LOWER, UPPER = 28, 30  # ranges of the coordinates, two rows each
ARM_ROWS = 32

# scratch (SCRATCH_ROWS, 6)
MOTION = 0  # g: columns of its rotation, and its translation
LEFT = 4  # columns of what the wrist must do
FOUND = 7  # up to four cosines and sines
POWERS, ZEROS = 11, 16  # of the quartic and its derivatives
QUARTIC = 21  # its six coefficients
SYSTEM = 22  # six equations of Newton's step, the right side behind
TURNS, BEST = 28, 34  # cosines and sines of the start; a posture to go back to
SCRATCH_ROWS, SCRATCH_COLUMNS = 35, 7

MOST = 8  # branches
BACKWARDS = 8  # added to the kind of an arm that is taken reversed
FAMILY, CLUSTER = 256, 512  # added to the number of branches: some angle is free; some branches are nearly one
