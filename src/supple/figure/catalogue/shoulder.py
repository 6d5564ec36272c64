"""The shoulder complex: clavicle and upper arm driven by elevation, abduction and twist.

*Elevation* e raises the arm forward, *abduction* a sideways (after elevation), *twist* turns it inwards about its own
length. The girdle takes part as it does in people: the clavicle hardly moves in the first 30°, then rises by one degree
for every two of the upper arm in its socket ("scapulohumeral rhythm", Inman and others 1944), and comes to rest near
40°; when the arm is raised forward it also swings forward a little and back again::

    clavicle.elevation  = C(e) + C(a)          clavicle.protraction = P(e)
    upper_arm.abduction = a − C(a) + K(e)      upper_arm.flexion    = F(e)      upper_arm.rotation = twist

with splines C and P through the tables below. F and K are splines through the values that take the girdle's share out
again: with a = 0 the arm points along (sin e, 0, −cos e) of the trunk, with e = 0 along (0, sin a, −cos a) on the left.

The allowed region is a polygon in the three angles, degrees::

    −50 ≤ e ≤ 175     −40 ≤ a ≤ 170     −85 ≤ t ≤ 65
    e + a ≤ 180               raised no further than overhead
    −0.4 e − a ≤ 10           across the body only in front of it, behind it only spread
    0.25 e + 0.25 a + t ≤ 70  turned inwards less when raised
    −0.4 e − t ≤ 85           turned outwards less behind the body

Inside it clavicle and upper arm keep to their own ranges. Both sides have the same numbers: equal values are mirrored
postures.
"""

from __future__ import annotations

import numpy as np

from supple.figure.catalogue.standing import radians
from supple.figure.curves import Spline
from supple.figure.drives import Coordinate, Drive, Group, Linear, LinearLimit
from supple.geometry.placements import X, Z, turned

ANGLES = (-60, -30, 0, 30, 60, 90, 120, 150, 180)  # degrees
RISE = (-2, -1, 0, 2.5, 10, 20, 30, 37, 42)
SWING = (-8, -4, 0, 4, 8, 10, 8, 4, 0)
BOX = {"elevation": (-50, 175), "abduction": (-40, 170), "twist": (-85, 65)}
ROWS = (
    ({"elevation": 1.0, "abduction": 1.0}, 180.0),
    ({"elevation": -0.4, "abduction": -1.0}, 10.0),
    ({"elevation": 0.25, "abduction": 0.25, "twist": 1.0}, 70.0),
    ({"elevation": -0.4, "twist": -1.0}, 85.0),
)
HANGING = {"abduction": 0.1}  # at rest [rad]


def _spline(degrees_in: tuple[float, ...], degrees_out: tuple[float, ...]) -> Spline:
    return Spline(tuple(np.deg2rad(degrees_in).tolist()), tuple(np.deg2rad(degrees_out).tolist()))


def _in_front(rise: Spline, swing: Spline) -> tuple[Spline, Spline]:
    """The upper arm's flexion and abduction as functions of e that keep the raised arm straight in front of its socket.

    The arm's direction in the clavicle's frame is ``v = Rx(−C) Rz(P) (sin e, 0, −cos e)``, and the upper arm turned by
    flexion f and abduction k points along ``(sin f cos k, sin k, −cos f cos k)``.
    """
    knots = np.deg2rad(np.arange(-60, 181, 10))
    flexion, abduction = [], []
    for e in knots.tolist():
        v = turned(X, -rise(e)) @ turned(Z, swing(e)) @ np.array([np.sin(e), 0.0, -np.cos(e)])
        flexion.append(float(np.arctan2(v[0], -v[2])))
        abduction.append(float(np.arcsin(v[1])))
    x = tuple(knots.tolist())
    return Spline(x, tuple(flexion)), Spline(x, tuple(abduction))


def shoulder_group(side: str) -> Group:
    """The group of one side, "_l" or "_r": five joints driven by three coordinates, with the polygon as its bounds."""
    rise, swing = _spline(ANGLES, RISE), _spline(ANGLES, SWING)
    socket = Spline(rise.x, tuple(a - c for a, c in zip(rise.x, rise.y, strict=True)))
    flexion, keeping = _in_front(rise, swing)
    e, a, t = (f"shoulder{side}.{angle}" for angle in BOX)
    drives = {
        f"clavicle{side}.protraction": Drive.by({e: swing}),
        f"clavicle{side}.elevation": Drive.by({e: rise, a: rise}),
        f"upper_arm{side}.flexion": Drive.by({e: flexion}),
        f"upper_arm{side}.abduction": Drive.by({a: socket, e: keeping}),
        f"upper_arm{side}.rotation": Drive.by({t: Linear(1.0)}),
    }
    coordinates = [
        Coordinate(f"shoulder{side}.{angle}", radians(*box), HANGING.get(angle, 0.0)) for angle, box in BOX.items()
    ]
    bounds = [
        LinearLimit.of({f"shoulder{side}.{angle}": value for angle, value in row.items()}, float(np.deg2rad(upper)))
        for row, upper in ROWS
    ]
    return Group(f"shoulder{side}", tuple(coordinates), drives, tuple(bounds))
