"""A hand of 24 degrees of freedom with the published dimensions, joints and limits of the Shadow Dexterous Hand.

Two at the wrist, four in the first, middle and ring finger each, five in the little finger (its metacarpal folds into
the palm) and five in the thumb. In each finger joint 4 spreads it and joints 3, 2 and 1 curl it; z points along
the fingers, y out of the back of the hand, and x to the thumb's side of a right hand.
"""

from __future__ import annotations

import numpy as np

from supple.basics.checks import one_of, text
from supple.figure.catalogue.robot_tables import NONE, QUARTER, Frame, Row, both, joints_of
from supple.figure.figure import Figure
from supple.figure.joints import fixed
from supple.geometry.placements import Triple, X

SPREAD = both(np.pi / 9)
CURL = (0.0, QUARTER)
SIDES = {"right": ("rh_", 1), "left": ("lh_", -1)}
KNUCKLES = {"FF": (0.033, 0, 0.095), "MF": (0.011, 0, 0.099), "RF": (-0.011, 0, 0.095), "LF": (0, 0, 0.06579)}
PHALANGES = (0.045, 0.025, 0.026)
METACARPAL_AXIS = (0.573576436, 0.0, 0.819152044)
READY = {"J3": 0.35, "J2": 0.35, "J1": 0.35}


def hand(side: str = "right", prefix: str | None = None) -> Figure:
    """The right hand, or its mirror image in the plane x = 0 with `side` "left".

    Equal values curl, spread and oppose both hands alike, with one exception that the maker's own description has:
    THJ3, whose range is symmetric, turns the other way. Every name begins with `prefix`, "rh_" or "lh_" by default.
    """
    usual, sign = SIDES[one_of(side, SIDES, "a hand's side")]
    p = usual if prefix is None else text(prefix, "a hand's prefix, such as 'rh_',")
    rows = [*_wrist(p, sign)]
    for finger in ("FF", "MF", "RF", "LF"):
        rows += _finger(p, finger, sign)
    rows += _thumb(p, sign)
    rest = {f"{p}{finger}{joint}": value for finger in KNUCKLES for joint, value in READY.items()}
    rest |= {f"{p}THJ4": 0.6, f"{p}THJ1": 0.3}
    return Figure("hand", [*fixed(f"{p}forearm"), *joints_of(rows, rest)])


def _mirrored(point: Triple, sign: int) -> Triple:
    return (sign * point[0], point[1], point[2])


def _axis(axis: Triple, sign: int) -> Triple:
    """The axis about which the mirrored joint turns: a mirror turns rotations round."""
    return (axis[0], sign * axis[1], sign * axis[2])


def _wrist(p: str, sign: int) -> list[Row | Frame]:
    sideways, bend = (-np.pi / 6, np.pi / 18), (-0.698131700798, 0.488692190558)
    return [
        Row(f"{p}WRJ2", f"{p}forearm", f"{p}wrist", (0, -0.01, 0.213), NONE, sideways, 2.0, _axis((0, 1, 0), sign)),
        Row(f"{p}WRJ1", f"{p}wrist", f"{p}palm", (0, 0, 0.034), NONE, bend, 2.0, X),
        Frame(f"{p}manipulator", f"{p}palm", (0, 0, 0.05)),
    ]


def _finger(p: str, finger: str, sign: int) -> list[Row | Frame]:
    low = f"{p}{finger.lower()}"
    rows: list[Row | Frame] = []
    carrier = f"{p}palm"
    if finger == "LF":
        carrier = f"{low}metacarpal"
        root, axis = _mirrored((-0.033, 0, 0.02071), sign), _axis(METACARPAL_AXIS, sign)
        rows.append(Row(f"{p}LFJ5", f"{p}palm", carrier, root, NONE, (0.0, np.pi / 4), 2.0, axis))
    outwards = -1 if finger in ("FF", "MF") else 1
    spread = _axis((0, outwards, 0), sign)
    knuckle = _mirrored(KNUCKLES[finger], sign)
    first, second, last = PHALANGES
    return [
        *rows,
        Row(f"{p}{finger}J4", carrier, f"{low}knuckle", knuckle, NONE, SPREAD, 2.0, spread),
        Row(f"{p}{finger}J3", f"{low}knuckle", f"{low}proximal", NONE, NONE, CURL, 2.0, X),
        Row(f"{p}{finger}J2", f"{low}proximal", f"{low}middle", (0, 0, first), NONE, CURL, 2.0, X),
        Row(f"{p}{finger}J1", f"{low}middle", f"{low}distal", (0, 0, second), NONE, CURL, 2.0, X),
        Frame(f"{low}tip", f"{low}distal", (0, 0, last)),
    ]


def _thumb(p: str, sign: int) -> list[Row | Frame]:
    root, facing = _mirrored((0.034, -0.0085, 0.029), sign), (0, np.pi / 4, 0 if sign > 0 else np.pi)
    base, opposition, hub = (0, 0, -sign), (sign, 0, 0), both(0.209439510239)
    return [
        Row(f"{p}THJ5", f"{p}palm", f"{p}thbase", root, facing, both(np.pi / 3), 4.0, base),
        Row(f"{p}THJ4", f"{p}thbase", f"{p}thproximal", NONE, NONE, (0.0, 1.2217304764), 4.0, opposition),
        Row(f"{p}THJ3", f"{p}thproximal", f"{p}thhub", (0, 0, 0.038), NONE, hub, 4.0, X),
        Row(f"{p}THJ2", f"{p}thhub", f"{p}thmiddle", NONE, NONE, both(0.698131700798), 2.0, (0, -1, 0)),
        Row(f"{p}THJ1", f"{p}thmiddle", f"{p}thdistal", (0, 0, 0.032), (0, 0, -QUARTER), CURL, 4.0, X),
        Frame(f"{p}thtip", f"{p}thdistal", (0, 0, 0.0275)),
    ]
