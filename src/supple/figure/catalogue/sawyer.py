"""Rethink Robotics Sawyer: one arm of seven hinges and a head, from the maker's published joint origins and limits."""

from __future__ import annotations

from supple.figure.catalogue.robot_tables import NONE, QUARTER, Frame, Row, both, joints_of
from supple.figure.figure import Figure
from supple.figure.joints import fixed

BACK, FORTH = (-QUARTER, 0, 0), (QUARTER, 0, 0)
ROWS = (
    Frame("right_arm_base_link", "base"),
    Row("right_j0", "right_arm_base_link", "right_l0", (0, 0, 0.08), NONE, both(3.0503), 1.74),
    Row("head_pan", "right_l0", "head", (0, 0, 0.2965), NONE, (-5.0952, 0.9064), 1.8),
    Row("right_j1", "right_l0", "right_l1", (0.081, 0.05, 0.237), (-QUARTER, QUARTER, 0), (-3.8095, 2.2736), 1.328),
    Row("right_j2", "right_l1", "right_l2", (0, -0.14, 0.1425), FORTH, both(3.0426), 1.957),
    Row("right_j3", "right_l2", "right_l3", (0, -0.042, 0.26), BACK, both(3.0439), 1.957),
    Row("right_j4", "right_l3", "right_l4", (0, -0.125, -0.1265), FORTH, both(2.9761), 3.485),
    Row("right_j5", "right_l4", "right_l5", (0, 0.031, 0.275), BACK, both(2.9761), 3.485),
    Row("right_j6", "right_l5", "right_l6", (0, -0.11, 0.1053), (-QUARTER, -0.17453, 3.1416), both(4.7124), 4.545),
    Frame("right_hand", "right_l6", (0, 0, 0.0245), (0, 0, 1.570796)),
)
READY = {"right_j1": -1.18, "right_j3": 2.18, "right_j5": 0.57, "right_j6": 3.3161}


def sawyer() -> Figure:
    """Eight coordinates, the head's among them; the rest posture is the maker's neutral one."""
    return Figure("sawyer", [*fixed("base"), *joints_of(ROWS, READY)])
