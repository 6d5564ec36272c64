"""Franka Emika Panda: seven hinges, a hand and two fingers, from the maker's published joint origins and limits."""

from __future__ import annotations

import numpy as np

from supple.figure.catalogue.robot_tables import NONE, QUARTER, Frame, Row, both, joints_of
from supple.figure.drives import mimic
from supple.figure.figure import Figure
from supple.figure.joints import fixed, slide

ROWS = (
    Row("panda_joint1", "panda_link0", "panda_link1", (0, 0, 0.333), NONE, both(2.8973), 2.175),
    Row("panda_joint2", "panda_link1", "panda_link2", NONE, (-QUARTER, 0, 0), both(1.7628), 2.175),
    Row("panda_joint3", "panda_link2", "panda_link3", (0, -0.316, 0), (QUARTER, 0, 0), both(2.8973), 2.175),
    Row("panda_joint4", "panda_link3", "panda_link4", (0.0825, 0, 0), (QUARTER, 0, 0), (-3.0718, -0.0698), 2.175),
    Row("panda_joint5", "panda_link4", "panda_link5", (-0.0825, 0.384, 0), (-QUARTER, 0, 0), both(2.8973), 2.61),
    Row("panda_joint6", "panda_link5", "panda_link6", NONE, (QUARTER, 0, 0), (-0.0175, 3.7525), 2.61),
    Row("panda_joint7", "panda_link6", "panda_link7", (0.088, 0, 0), (QUARTER, 0, 0), both(2.8973), 2.61),
    Frame("panda_link8", "panda_link7", (0, 0, 0.107)),
    Frame("panda_hand", "panda_link8", rpy=(0, 0, -np.pi / 4)),
    Frame("panda_hand_tcp", "panda_hand", (0, 0, 0.1034)),
)
READY = (0.0, -np.pi / 4, 0.0, -3 * np.pi / 4, 0.0, np.pi / 2, np.pi / 4)
FINGER = {"at": (0, 0, 0.0584), "limits": (0.0, 0.04), "speed": 0.2}


def panda() -> Figure:
    """Eight coordinates: seven of the arm and the first finger's; the second finger follows the first."""
    rest = {f"panda_joint{k}": value for k, value in enumerate(READY, start=1)}
    first, second = "panda_finger_joint1", "panda_finger_joint2"
    return Figure(
        "panda",
        [
            *fixed("panda_link0"),
            *joints_of(ROWS, rest),
            *slide(first, "panda_hand", (0, 1, 0), segment="panda_leftfinger", rest=0.02, **FINGER),
            *slide(second, "panda_hand", (0, -1, 0), segment="panda_rightfinger", drive=mimic(first), **FINGER),
        ],
    )
