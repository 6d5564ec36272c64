"""A planar joint of a URDF file: two slides in the plane, then a turn about its normal."""

from __future__ import annotations

import numpy as np

from supple.figure.joints import Joint
from supple.geometry.placements import Floats, Triple, X, Z, turned, unit


def planar_about(axis: Triple, name: str, parent: str | None, at: Floats, segment: str) -> tuple[Joint, ...]:
    """A planar joint whose plane is normal to `axis`; at zero the segment's frame is `at`."""
    R = _z_to(axis)
    first, second = (unit(R[:, k]) for k in (0, 1))
    x = Joint(f"{name}.tx", parent, at, slide=first)
    y = Joint(f"{name}.ty", x.key, slide=second)
    return x, y, Joint(f"{name}.z", y.key, turn=axis, segment=segment)


def _z_to(axis: Triple) -> Floats:
    """The shortest turn that carries z to `axis`; half a turn about x for −z."""
    across = np.cross(Z, axis)
    sine = float(np.linalg.norm(across))
    if sine < 1e-12:
        return turned(X, 0.0 if axis[2] > 0 else np.pi)
    return turned(unit(across), float(np.arctan2(sine, axis[2])))
