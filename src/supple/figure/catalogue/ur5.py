"""Universal Robots UR5: six hinges, from the maker's published dimensions."""

from __future__ import annotations

import numpy as np

from supple.figure.catalogue.robot_tables import NONE, QUARTER, Frame, Row, both, joints_of
from supple.figure.figure import Figure
from supple.figure.joints import fixed
from supple.geometry.placements import Y, Z

TURN = both(2 * np.pi)
ROWS = (
    Row("shoulder_pan_joint", "base_link", "shoulder_link", (0, 0, 0.089159), NONE, TURN, 3.15, Z),
    Row("shoulder_lift_joint", "shoulder_link", "upper_arm_link", (0, 0.13585, 0), (0, QUARTER, 0), TURN, 3.15, Y),
    Row("elbow_joint", "upper_arm_link", "forearm_link", (0, -0.1197, 0.425), NONE, both(np.pi), 3.15, Y),
    Row("wrist_1_joint", "forearm_link", "wrist_1_link", (0, 0, 0.39225), (0, QUARTER, 0), TURN, 3.2, Y),
    Row("wrist_2_joint", "wrist_1_link", "wrist_2_link", (0, 0.093, 0), NONE, TURN, 3.2, Z),
    Row("wrist_3_joint", "wrist_2_link", "wrist_3_link", (0, 0, 0.09465), NONE, TURN, 3.2, Y),
    Frame("ee_link", "wrist_3_link", (0, 0.0823, 0), (0, 0, QUARTER)),
    Frame("tool0", "wrist_3_link", (0, 0.0823, 0), (-QUARTER, 0, 0)),
)
READY = {
    "shoulder_lift_joint": -QUARTER,
    "elbow_joint": QUARTER,
    "wrist_1_joint": -QUARTER,
    "wrist_2_joint": -QUARTER,
}


def ur5() -> Figure:
    """Six coordinates; the rest posture holds the tool pointing down in front of the base."""
    return Figure("ur5", [*fixed("base_link"), *joints_of(ROWS, READY)])
