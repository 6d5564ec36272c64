"""How deep a body is in itself: hands, forearms, shanks and feet in trunk, head, thighs and their partners.

Shapes are taken for the bars that enclose them; two bars overlap by the sum of their radii less the distance of their
axes. What parts overlap at rest does not count, and a figure without shapes does not overlap. At most `MANY` frames,
and the `LARGEST` bars of a segment, are looked at.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from supple.geometry.placements import Floats
from supple.geometry.shapes import Core, enclosing
from supple.motion.retargeting.rest_alignment import Alignment

TOUCHED = {"hand": ("pelvis", "spine", "head", "thigh", "hand", "forearm"), "forearm": ("pelvis", "spine", "head", "forearm"),
           "shank": ("shank",), "foot": ("foot", "shank")}  # fmt: skip
MANY, LARGEST = 100, 2  # frames; bars of a segment
Bar = tuple[str, Floats, float]  # a segment, both ends in its axes, a radius


def overlap_of(alignment: Alignment, Q: Floats) -> float:
    """How deep parts of the target are in each other at worst [m], beyond what they are at rest."""
    figure = alignment.target.anatomy.figure
    bars = {pair: _bars(alignment, pair.target) for pair in alignment.pairs if pair.part}
    couples = [
        (a, b)
        for k, p in enumerate(bars)
        for q in [*bars][k + 1 :]
        if p.side != q.side and (q.part in TOUCHED.get(p.part, ()) or p.part in TOUCHED.get(q.part, ()))
        for a, b in product(bars[p], bars[q])
    ]
    if not couples:
        return 0.0
    every = -(-len(Q) // MANY)
    postures = np.vstack([figure.rest, Q[::every]])
    placed = figure.placements(postures, {bar[0] for couple in couples for bar in couple})
    worst = 0.0
    for a, b in couples:
        ends = [placed[s][:, None, :3, :3] @ local[None, :, :, None] for s, local, _ in (a, b)]
        (p, q) = (e[..., 0] + placed[s][:, None, :3, 3] for e, s in zip(ends, (a[0], b[0]), strict=True))
        deep = a[2] + b[2] - _apart(p, q)
        worst = max(worst, float((deep[1:] - max(deep[0], 0.0)).max()))
    return worst


def _bars(alignment: Alignment, segment: str) -> list[Bar]:
    body = alignment.target.anatomy.figure.bodies.get(segment)
    out = []
    for shape in body.shapes if body is not None else ():
        core = Core.of(enclosing(shape))
        ends = np.array([core.at[:3, 2] * z + core.at[:3, 3] for z in (-core.half, core.half)])
        out.append((segment, ends, float(core.radius)))
    return sorted(out, key=lambda bar: -bar[2] - float(np.linalg.norm(bar[1][1] - bar[1][0])))[:LARGEST]


def _apart(p: Floats, q: Floats) -> Floats:
    """The distances of segments p and q (frames, 2 ends, 3)."""
    u, v, w = p[:, 1] - p[:, 0], q[:, 1] - q[:, 0], p[:, 0] - q[:, 0]
    a, b, c = (u * u).sum(axis=1), (u * v).sum(axis=1), (v * v).sum(axis=1)
    d, e = (u * w).sum(axis=1), (v * w).sum(axis=1)
    s = np.clip((b * e - c * d) / np.maximum(a * c - b * b, 1e-12), 0.0, 1.0)
    t = np.clip((b * s + e) / np.maximum(c, 1e-12), 0.0, 1.0)
    s = np.clip((b * t - d) / np.maximum(a, 1e-12), 0.0, 1.0)
    return np.linalg.norm(w + s[:, None] * u - t[:, None] * v, axis=1)
