"""Goals: what a carried frame should do. A goal has never heard of figures.

Each class states its target, lists the terms that kernels evaluate (`terms`), and measures how far a frame is from
it in metres and radians, by plain NumPy and independently of the kernels.

``per_radian`` makes lengths and angles commensurate: it is the length [m] that weighs as much as one radian. In the terms of
Zhao & Badler, one unit of length weighing as much as d degrees means ``per_radian = 360/(2πd)``. A direction is left free
by leaving it out.
"""

from typing import TYPE_CHECKING

from supple import lazily

if TYPE_CHECKING:
    from supple.problem.goals.alternatives import AnyOf as AnyOf, Outside as Outside
    from supple.problem.goals.balanced import Balanced as Balanced
    from supple.problem.goals.base import Goal as Goal, Miss as Miss, Term as Term
    from supple.problem.goals.custom import Custom as Custom
    from supple.problem.goals.flats import Beyond as Beyond, OnLine as OnLine, OnPlane as OnPlane
    from supple.problem.goals.near import Near as Near
    from supple.problem.goals.places import (
        AimedAt as AimedAt,
        Aligned as Aligned,
        At as At,
        Facing as Facing,
        Placed as Placed,
    )
    from supple.problem.goals.within import Within as Within

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "alternatives": ["AnyOf", "Outside"],
        "balanced": ["Balanced"],
        "base": ["Goal", "Miss", "Term"],
        "custom": ["Custom"],
        "flats": ["Beyond", "OnLine", "OnPlane"],
        "near": ["Near"],
        "places": ["AimedAt", "Aligned", "At", "Facing", "Placed"],
        "within": ["Within"],
    },
)
