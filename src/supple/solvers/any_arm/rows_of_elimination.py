"""What the compiled eliminations read and write: one flat array, by names."""

from __future__ import annotations

SAMPLES, DEGREE = 20, 8  # of the determinant on the circle, a trigonometric polynomial
MOST = 24  # zeros of one, and postures of one list
WAYS = 12
NODES = 19  # of an arc that is looked at by itself
LINE, PRODUCTS, KNOWN, SIZE = 15, 27, 9, 12  # numbers of a line, products on either side, rows of the matrix

CHAIN = 0  # axes and points of the hinges in the order of the cut (6, 6)
LINES = CHAIN + 36  # (27, 15)
PARTS = LINES + PRODUCTS * LINE  # (4, 15)
SIDES = PARTS + 4 * LINE  # both sides of the fourteen equations: products known, unknown, and the constant (14, 36)
SIX = SIDES + 14 * 36  # six equations by 1, cosine and sine of the angle left (3, 6 · 9)
MATRIX = SIX + 3 * 54  # (12, 12)
ROWS_CHANGED = MATRIX + SIZE * SIZE  # of its factors
VALUES = ROWS_CHANGED + SIZE  # of the determinant at the samples
COSINES = VALUES + SAMPLES + NODES  # of whole parts of the circle, sines behind
SERIES = COSINES + 2 * SAMPLES  # coefficients: constant, cosines, sines
LOCAL = SERIES + 2 * DEGREE + 1  # those of an arc
QUARTERS = LOCAL + 2 * NODES - 1  # cosines of k π / (2 NODES)
ARCS = QUARTERS + 4 * NODES  # a stack of arcs: middle and half width (64, 2)
KERNEL = ARCS + 128  # and another direction behind
SOLVED = KERNEL + 2 * SIZE
POSTURE = SOLVED + SIZE
ZEROS = POSTURE + SIZE  # of each elimination (WAYS, MOST)
TOLD = ZEROS + WAYS * MOST  # of each: how many zeros, whether all are sure, the hinge left (WAYS, 3)
NUMBERS = TOLD + 3 * WAYS
COUNT, SURE, LEFT = range(3)
