"""Left becomes right: a posture mirrored in the plane y = 0 of the world, for figures that are symmetric at rest.

A coordinate goes to its partner's, the same name on the other side, or to its own. The sign is that of their twists at rest:
with M = diag(1, −1, 1) a mirrored angular velocity is −Mω, a mirrored velocity Mv.

    q'_partner = rest_partner + s (q − rest),    s = sign(ω_partner · (−Mω)),  or sign(v_partner · Mv) for a slide.
"""

from __future__ import annotations

import re

import numpy as np

from supple.figure.effectors import Frame
from supple.figure.figure import Figure
from supple.geometry.placements import Floats

M = np.array([1.0, -1.0, 1.0])
_SIDES = (
    (re.compile(r"(?<![a-z])left(?![a-z])"), "right"),
    (re.compile(r"Left"), "Right"),
    (re.compile(r"(^|[_./])l(?=$|[_.])"), r"\1r"),
    (re.compile(r"(^|[_./])L(?=$|[_.])"), r"\1R"),
)
_OTHER = (
    (re.compile(r"(?<![a-z])right(?![a-z])"), "left"),
    (re.compile(r"Right"), "Left"),
    (re.compile(r"(^|[_./])r(?=$|[_.])"), r"\1l"),
    (re.compile(r"(^|[_./])R(?=$|[_.])"), r"\1L"),
)


def other_side(name: str) -> str:
    """The name on the other side; the same where there are no sides."""
    for table in (_SIDES, _OTHER):
        for pattern, with_ in table:
            if pattern.search(name):
                return pattern.sub(with_, name, count=1)
    return name


def bare(name: str) -> str:
    """A name without the prefix of its figure, where several are in one world."""
    return name.rpartition("/")[2]


def mirrored(figure: Figure, q: Floats) -> Floats:
    """The mirrored posture; where a partner is missing a coordinate stays. Limits are not looked at."""
    out = np.array(q)
    index = {name: i for i, name in enumerate(figure.coordinates)}
    moved = {c: s for s in reversed(figure.segments) for c in figure.chain(None, s)}
    twists: dict[str, Floats] = {}
    for name in figure.coordinates:
        if name in moved:
            twists[name] = figure.jacobian(figure.rest, Frame(moved[name]))[:, index[name]]
    for name, i in index.items():
        partner = other_side(name)
        if partner not in twists or name not in twists:
            continue
        (v, w), (v2, w2) = np.split(twists[name], 2), np.split(twists[partner], 2)
        agree = float(w2 @ (-M * w)) if np.linalg.norm(w) > 1e-9 else float(v2 @ (M * v))
        j = index[partner]
        out[j] = figure.rest[j] + (1.0 if agree >= 0.0 else -1.0) * (q[i] - figure.rest[i])
    return out
