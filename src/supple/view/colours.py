"""The colours of a picture."""

from __future__ import annotations

import numpy as np

from supple.geometry.placements import Floats

INK, TRACK, UNLIMITED, PANE = "#3c434c", "#dfe3e8", "#7c8692", "#8f99a5"
BASES = {"flesh": "#dccdbb", "bone": "#d3dae1", "base": "#8f99a5", "obstacle": "#ccd2d9"}
RAMP = ((0.0, "#33678a"), (0.55, "#6aa5ab"), (0.8, "#efb24a"), (1.0, "#c8322b"))  # from mid-range to a limit
OUTLINE = (0.21, 0.23, 0.26)
SHADOW = (0.79, 0.80, 0.82)


def rgb(text: str) -> Floats:
    """A colour written #rrggbb."""
    return np.array([int(text[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0


def ramp(share: float | None) -> Floats:
    """The colour of a joint that uses this share of its range; a joint without limits is grey."""
    if share is None:
        return rgb(UNLIMITED)
    knots, colours = zip(*((k, rgb(c)) for k, c in RAMP), strict=True)
    return np.array([np.interp(share, knots, channel) for channel in np.array(colours).T])


def colour_of(kind: str | float | None) -> Floats:
    """The colour of a piece before it is lit."""
    return rgb(BASES[kind]) if isinstance(kind, str) else ramp(kind)
