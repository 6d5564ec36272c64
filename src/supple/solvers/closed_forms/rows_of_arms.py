"""What the formulas read and write: rows of three numbers, by names."""

from __future__ import annotations

# an arm (ARM_ROWS, 3)
ALONG, THROUGH = 0, 6  # axes of the neighbour that fits the formula, in its order
OWN_ALONG, OWN_THROUGH = 12, 18  # axes of the arm itself
HOME = 24  # columns of the frame's rotation at zero, and where it is
LOWER, UPPER = 28, 30  # ranges of the coordinates, two rows each
HELD = 32  # the hinge that is held, in the world or as the frame sees it: its axis, and a point on it
SIZE = 34  # its reach
TOUCH = 35  # by how much equations may fail and still count as touching
ARM_ROWS = 36

# whole numbers beside it: the kind, the coordinates of its hinges and of the one that is held, the end that this one is at,
# whether rows are chained, and whether slices are taken of targets that are near
KIND, AT, HELD_AT, HELD_LAST, CHAINED, NEAR_TOO, WAY = 0, 1, 7, 8, 9, 10, 11

# scratch (SCRATCH_ROWS, SCRATCH_COLUMNS)
MOTION = 0  # g: columns of its rotation, and its translation
LEFT = 4  # columns of what the wrist must do
FOUND = 7  # up to four cosines and sines
POWERS, ZEROS = 11, 16  # of the quartic and its derivatives
QUARTIC = 21  # its six coefficients
SYSTEM = 22  # six equations of Newton's step, the right side behind
TURNS, BEST, OWN = 28, 34, 38  # cosines and sines of the start; a posture to go back to; the start
NEAR_LOWER, NEAR_UPPER, FAR = (
    35,
    36,
    37,
)  # ranges about the start; squares of distances from it, a column for each branch
AIM, GIVEN, NUMBERS = 39, 43, 47  # the target: four rows of four, that of the whole arm, and as packs have it
OUT, BRANCHES = 49, 57  # postures, a row each; cosines and sines of all branches
SCRATCH_ROWS, SCRATCH_COLUMNS = 69, 8

TOUCHING = 1e-9  # parts of a² + b² by which c² may be larger
FLAT = 1e-11  # parts of a polynomial's largest term: an extremum this near to zero counts as two zeros
MOST = 8  # branches
BACKWARDS = 8  # added to the kind of an arm that is taken reversed
FAMILY, CLUSTER = 256, 512  # added to the number of branches: some angle is free; some branches are nearly one
