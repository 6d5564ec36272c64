"""Whether geometry agrees with a match of limbs: how sure each pair is, and which cannot be.

Of a limb's segment two things are compared that no rest pose changes: how far the way along the bones goes on below
it, as a share of what hangs below the limb's first matched segment in either figure, and where the knee or elbow
divides the limb. A pair whose shares differ by δ is sure to ``exp(−(δ/0.3)²)``. A hand cannot be an upper arm,
whatever its name says: nothing hangs below it. A match that was found, not given, is refused where a pair of a limb
is less sure than `LEAST`.
"""

from __future__ import annotations

import numpy as np

from supple.errors import BadValue
from supple.motion.retargeting.anatomy import Anatomy
from supple.motion.retargeting.names import LIMBS
from supple.motion.retargeting.soles import spots_of

WIDTH = 0.3
LEAST = 0.1
MAIN = (*LIMBS["leg"][:3], *LIMBS["arm"][1:])


def below(anatomy: Anatomy, segment: str) -> float:
    """The longest way along the bones from a segment to what hangs below it, shapes included."""
    way = {segment: 0.0}
    for s in anatomy.figure.segments:
        parent = anatomy.above[s]
        if parent in way and s != segment:
            way[s] = way[parent] + float(np.linalg.norm(anatomy.origin[s] - anatomy.origin[parent]))
    far = [way[s] + float(np.linalg.norm(spot.centre)) + spot.radius for s in way for spot in spots_of(anatomy, s)]
    return max([*way.values(), *far])


def sureness(pairs: list[tuple[str, str]], source: Anatomy, target: Anatomy) -> list[float]:
    """How sure geometry is of each pair (target, source), from 0 to 1; 1 for what is no limb."""
    parts = [(target.said[t].part or source.said[s].part, target.said[t].side or source.said[s].side) for t, s in pairs]
    known = [pair for pair, (part, _) in zip(pairs, parts, strict=True) if part in MAIN]
    ways = [{pair[k]: below(a, pair[k]) for pair in known} for k, a in ((0, target), (1, source))]
    out = []
    for (t, s), (part, side) in zip(pairs, parts, strict=True):
        limb = next((names for names in LIMBS.values() if part in names), ())
        firsts = [
            pair
            for pair, (other, its) in zip(pairs, parts, strict=True)
            if other in limb and other in MAIN and its == side
        ]
        if part not in MAIN:
            out.append(1.0)
            continue
        whole = [max(ways[k][pair[k]] for pair in firsts) for k in (0, 1)]
        scale = [max(w, 0.5 * a.longest) for w, a in zip(whole, (target, source), strict=True)]
        shares = ways[0][t] / scale[0], ways[1][s] / scale[1]
        out.append(float(np.exp(-(((shares[0] - shares[1]) / WIDTH) ** 2))))
    return out


def refuse_unsure(pairs: list[tuple[str, str]], source: Anatomy, target: Anatomy) -> list[float]:
    """How sure each pair is; refuses the whole where a limb cannot be what its name says."""
    sure = sureness(pairs, source, target)
    if sure and min(sure) < LEAST:
        k = int(np.argmin(sure))
        t, s = pairs[k]
        part = (target.said[t].part or source.said[s].part).replace("_", " ")
        raise BadValue(
            f"the names say that {t!r} of {target.figure.name!r} is, like {s!r} of {source.figure.name!r}, a {part}, but "
            f"what hangs below them tells otherwise ({100 * sure[k]:.0f} % sure): give match= with lines 'target = source'"
        )
    return sure
