"""Figures: joints, drives, limits, effectors and marker sets, the tree of them, and new figures from old.

A *joint* moves a *segment* by a coordinate; a *figure* is an unchanging tree of joints; an *effector* is what a task places.
`catalogue` holds the figures that come with the library.
"""

from typing import TYPE_CHECKING

from supple import lazily

if TYPE_CHECKING:
    from supple.figure import catalogue as catalogue
    from supple.figure.curves import PiecewisePolynomial as PiecewisePolynomial, Spline as Spline
    from supple.figure.drives import (
        Coordinate as Coordinate,
        Drive as Drive,
        Group as Group,
        Linear as Linear,
        LinearLimit as LinearLimit,
        mimic as mimic,
    )
    from supple.figure.effectors import (
        Direction as Direction,
        Frame as Frame,
        Gap as Gap,
        MassCentre as MassCentre,
        Point as Point,
    )
    from supple.figure.figure import Figure as Figure, Loop as Loop, Source as Source
    from supple.figure.joints import (
        Joint as Joint,
        ball as ball,
        fixed as fixed,
        free as free,
        hinge as hinge,
        planar as planar,
        screw as screw,
        slide as slide,
        universal as universal,
    )
    from supple.figure.limits import Limits as Limits
    from supple.figure.marker_sets import MarkerSet as MarkerSet, marker_set as marker_set

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "curves": ["PiecewisePolynomial", "Spline"],
        "drives": ["Coordinate", "Drive", "Group", "Linear", "LinearLimit", "mimic"],
        "effectors": ["Direction", "Frame", "Gap", "MassCentre", "Point"],
        "figure": ["Figure", "Loop", "Source"],
        "joints": ["Joint", "ball", "fixed", "free", "hinge", "planar", "screw", "slide", "universal"],
        "limits": ["Limits"],
        "marker_sets": ["MarkerSet", "marker_set"],
    },
    rooms=["catalogue"],
)
