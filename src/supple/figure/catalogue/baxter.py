"""Rethink Robotics Baxter: two arms of seven hinges and a head, from the maker's published joint origins and limits."""

from __future__ import annotations

from supple.figure.catalogue.robot_tables import NONE, QUARTER, Frame, Row, both, joints_of
from supple.figure.figure import Figure
from supple.figure.joints import fixed

FOLD = (-QUARTER, 0, 0)
ROLL = (QUARTER, 0, QUARTER)
BEND = (-QUARTER, -QUARTER, 0)
READY = {"s1": -0.55, "e1": 0.75, "w1": 1.26}


def _arm(side: str, sign: int) -> tuple[Row | Frame, ...]:
    """One arm; only where it is mounted differs between the sides, `sign` +1 on the left."""

    def row(joint: str, parent: str, link: str, *numbers) -> Row:
        return Row(f"{side}_{joint}", f"{side}_{parent}", f"{side}_{link}", *numbers)

    return (
        Frame(f"{side}_arm_mount", "torso", (0.024645, sign * 0.219645, 0.118588), (0, 0, sign * 0.7854)),
        row("s0", "arm_mount", "upper_shoulder", (0.055695, 0, 0.011038), NONE, both(1.70167993878), 1.5),
        row("s1", "upper_shoulder", "lower_shoulder", (0.069, 0, 0.27035), FOLD, (-2.147, 1.047), 1.5),
        row("e0", "lower_shoulder", "upper_elbow", (0.102, 0, 0), ROLL, both(3.05417993878), 1.5),
        row("e1", "upper_elbow", "lower_elbow", (0.069, 0, 0.26242), BEND, (-0.05, 2.618), 1.5),
        row("w0", "lower_elbow", "upper_forearm", (0.10359, 0, 0), ROLL, both(3.059), 4.0),
        row("w1", "upper_forearm", "lower_forearm", (0.01, 0, 0.2707), BEND, (-QUARTER, 2.094), 4.0),
        row("w2", "lower_forearm", "wrist", (0.115975, 0, 0), ROLL, both(3.059), 4.0),
        Frame(f"{side}_hand", f"{side}_wrist", (0, 0, 0.11355)),
        Frame(f"{side}_gripper_base", f"{side}_hand"),
        Frame(f"{side}_gripper", f"{side}_gripper_base", (0, 0, 0.025)),
    )


ROWS = (
    Frame("torso", "base"),
    Row("head_pan", "torso", "head", (0.06, 0, 0.686), NONE, both(QUARTER)),
    *_arm("left", 1),
    *_arm("right", -1),
)


def baxter() -> Figure:
    """Fifteen coordinates: the head, the left arm, the right arm; the rest posture is the maker's neutral one."""
    rest = {f"{side}_{joint}": value for side in ("left", "right") for joint, value in READY.items()}
    return Figure("baxter", [*fixed("base"), *joints_of(ROWS, rest)])
