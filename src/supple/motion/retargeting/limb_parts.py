"""Limbs whose names tell only which limb they are, cut into parts by geometry.

``arm_left_1_link`` to ``arm_left_7_link`` are a whole arm, not seven upper arms. Along such a row the knee, or elbow,
is the joint that is farthest from both ends, from the first joint and from the last, or from the tip where the last
is the knee itself. Joints nearer to the last one than to the knee are the foot's or hand's, those before the knee the
thigh's or upper arm's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from supple.geometry.placements import Floats
from supple.motion.retargeting.names import LIMBS, Named

FEWEST = 4  # segments of one name that may be a whole limb
SIDES = ("l", "r")


def cut(
    said: Mapping[str, Named], moving: Sequence[str], origin: Mapping[str, Floats], tip: Mapping[str, Floats]
) -> dict[str, Named]:
    """What names say, with the rows that are whole limbs cut; `tip` is the farthest origin below each segment."""
    out = dict(said)
    for limb, parts in LIMBS.items():
        upper, lower, end = parts[:3] if limb == "leg" else parts[1:]
        for side in SIDES:
            row = [s for s in moving if said[s].side == side and said[s].part in parts]
            if len(row) >= FEWEST and len({said[s].part for s in row}) == 1:
                for segment, part in zip(row, _parts(row, origin, tip, (upper, lower, end)), strict=True):
                    out[segment] = said[segment]._replace(part=part)
    return out


def _parts(
    row: Sequence[str], origin: Mapping[str, Floats], tip: Mapping[str, Floats], names: tuple[str, str, str]
) -> list[str]:
    """The part of each segment of a row."""
    at = np.array([origin[s] for s in row])
    away = np.linalg.norm(at - at[0], axis=1)
    knee = int(np.argmax(np.minimum(away, np.linalg.norm(at - at[-1], axis=1))))
    last = at[-1]
    if np.linalg.norm(at[knee] - last) < 0.1 * away.max():  # the row ends with the elbow: a forearm without a wrist
        knee, last = int(np.argmax(away)), tip[row[-1]]
    upper, lower, end = names
    near = np.linalg.norm(at - last, axis=1) < np.linalg.norm(at - at[knee], axis=1)
    return [upper if k < knee else end if near[k] and k > knee else lower for k in range(len(row))]
