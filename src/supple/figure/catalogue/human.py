"""A person with 72 degrees of freedom, of any stature and mass."""

from __future__ import annotations

from supple.figure.catalogue.trunk import person
from supple.figure.figure import Figure


def human(
    stature: float = 1.75,
    mass: float | None = None,
    root: str = "free",
    legs: bool = True,
    fingers: bool = True,
    grip: float = 0.0,
) -> Figure:
    """Standing upright on z = 0 with hanging arms, facing x, the left hand on the side of y.

    Coordinates: 6 of the root ``pelvis`` (unlimited; all others have limits), 9 of the trunk (``lumbar``,
    ``thorax_lower``, ``thorax_upper``), 3 of the neck and 2 of the head, and on each side 5 of the shoulder
    (``clavicle`` and ``upper_arm``), 1 of the elbow (``forearm``), 3 of the wrist (``hand``), 10 of the fingers, 3 of
    the hip (``thigh``), 1 of the knee (``shank``), 2 of the ankle (``foot``) and 1 of the toes. They are called after
    the segment and the motion, ``thigh_l.flexion``. Equal values on the left and on the right mean mirrored postures;
    ``bending`` and ``rotation`` of trunk, neck and head are positive to the left, ``flexion`` forward.

    `stature` [m] scales every length; `mass` [kg] is that of the whole person, by default 70 kg at 1.75 m and in
    proportion to the stature's square. `root` "fixed" holds the pelvis where it stands; without `legs` there are none,
    nor their mass; without `fingers` each hand is rigid, closed by `grip` from 0 (straight) to 1 (a fist). Segments end in
    named frames: ``head.top``, ``eyes``, ``hand_l.tip``, ``hand_l.palm``, ``index_l.tip``, ``foot_l.heel``, ``toes_l.tip``.
    """
    return person("human", "segments", stature, mass, root, legs, fingers, grip)
