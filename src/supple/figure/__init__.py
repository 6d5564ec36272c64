"""Figures: joints, drives, limits, effectors and marker sets, the tree of them, and new figures from old.

A *joint* moves a *segment* by a coordinate; a *figure* is an unchanging tree of joints; an *effector* is what a task places.
`catalogue` holds the figures that come with the library.
"""

from typing import TYPE_CHECKING

from supple import lazily

if TYPE_CHECKING:
    from supple.figure.drives import (
        Bound as Bound,
    )
    from supple.figure.drives import (
        Coordinate as Coordinate,
    )
    from supple.figure.drives import (
        Drive as Drive,
    )
    from supple.figure.drives import (
        Group as Group,
    )
    from supple.figure.drives import (
        Line as Line,
    )
    from supple.figure.drives import (
        Pieces as Pieces,
    )
    from supple.figure.drives import (
        Spline as Spline,
    )
    from supple.figure.drives import (
        mimic as mimic,
    )
    from supple.figure.effectors import (
        Direction as Direction,
    )
    from supple.figure.effectors import (
        Frame as Frame,
    )
    from supple.figure.effectors import (
        Gap as Gap,
    )
    from supple.figure.effectors import (
        MassCentre as MassCentre,
    )
    from supple.figure.effectors import (
        Point as Point,
    )
    from supple.figure.figure import (
        Figure as Figure,
    )
    from supple.figure.figure import (
        Loop as Loop,
    )
    from supple.figure.figure import (
        Source as Source,
    )
    from supple.figure.joints import (
        Joint as Joint,
    )
    from supple.figure.joints import (
        ball as ball,
    )
    from supple.figure.joints import (
        fixed as fixed,
    )
    from supple.figure.joints import (
        free as free,
    )
    from supple.figure.joints import (
        hinge as hinge,
    )
    from supple.figure.joints import (
        planar as planar,
    )
    from supple.figure.joints import (
        screw as screw,
    )
    from supple.figure.joints import (
        slide as slide,
    )
    from supple.figure.joints import (
        universal as universal,
    )
    from supple.figure.limits import (
        Limits as Limits,
    )
    from supple.figure.marker_sets import (
        MarkerSet as MarkerSet,
    )
    from supple.figure.marker_sets import (
        marker_set as marker_set,
    )

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "drives": ["Bound", "Coordinate", "Drive", "Group", "Line", "Pieces", "Spline", "mimic"],
        "effectors": ["Direction", "Frame", "Gap", "MassCentre", "Point"],
        "figure": ["Figure", "Loop", "Source"],
        "joints": ["Joint", "ball", "fixed", "free", "hinge", "planar", "screw", "slide", "universal"],
        "limits": ["Limits"],
        "marker_sets": ["MarkerSet", "marker_set"],
    },
)
