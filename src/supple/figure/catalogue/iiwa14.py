"""KUKA LBR iiwa 14 R820: seven hinges, from the maker's published dimensions, limits and speeds."""

from __future__ import annotations

import numpy as np

from supple.figure.catalogue.robot_tables import NONE, QUARTER, Frame, Row, both, joints_of
from supple.figure.figure import Figure
from supple.figure.joints import fixed


def _hinge(k: int, xyz: tuple, rpy: tuple, limit: float, speed: float) -> Row:
    """Joint `k` with its limit and its speed in degrees and degrees a second, as the data sheet has them."""
    limits = both(float(np.deg2rad(limit)))
    return Row(f"iiwa_joint_{k}", f"iiwa_link_{k - 1}", f"iiwa_link_{k}", xyz, rpy, limits, float(np.deg2rad(speed)))


ROWS = (
    Frame("iiwa_link_0", "base"),
    _hinge(1, (0, 0, 0.1575), NONE, 170, 85),
    _hinge(2, (0, 0, 0.2025), (QUARTER, 0, np.pi), 120, 85),
    _hinge(3, (0, 0.2045, 0), (QUARTER, 0, np.pi), 170, 100),
    _hinge(4, (0, 0, 0.2155), (QUARTER, 0, 0), 120, 75),
    _hinge(5, (0, 0.1845, 0), (-QUARTER, np.pi, 0), 170, 130),
    _hinge(6, (0, 0, 0.2155), (QUARTER, 0, 0), 120, 135),
    _hinge(7, (0, 0.081, 0), (-QUARTER, np.pi, 0), 175, 135),
    Frame("iiwa_link_ee_kuka", "iiwa_link_7", (0, 0, 0.045), (np.pi, np.pi, np.pi)),
    Frame("iiwa_link_ee", "iiwa_link_7", (0, 0, 0.045), (0, -QUARTER, 0)),
)
READY = {"iiwa_joint_2": np.pi / 6, "iiwa_joint_4": -QUARTER, "iiwa_joint_6": np.pi / 3}


def iiwa14() -> Figure:
    """Seven coordinates; the rest posture holds the flange pointing down in front of the base."""
    return Figure("iiwa14", [*fixed("base"), *joints_of(ROWS, READY)])
