"""Goals: what a carried frame should do. A goal has never heard of figures.

Each class states its target, lists the terms that kernels evaluate (`terms`), and measures how far a frame is from
it in metres and radians, by plain NumPy and independently of the kernels.

``per_radian`` makes lengths and angles commensurate: it is the length [m] that weighs as much as one radian. In the terms of
Zhao & Badler, one unit of length weighing as much as d degrees means ``per_radian = 360/(2πd)``. A direction is left free
by leaving it out.
"""

from supple.problem.goals.alternatives import AnyOf, Outside
from supple.problem.goals.balanced import Balanced
from supple.problem.goals.base import Goal, Miss, Term
from supple.problem.goals.custom import Custom
from supple.problem.goals.flats import Beyond, OnLine, OnPlane
from supple.problem.goals.near import Near
from supple.problem.goals.places import AimedAt, At, Facing, Placed
from supple.problem.goals.within import Within

__all__ = [
    "AimedAt",
    "AnyOf",
    "At",
    "Beyond",
    "Custom",
    "Facing",
    "Goal",
    "Miss",
    "Near",
    "OnLine",
    "OnPlane",
    "Outside",
    "Balanced",
    "Placed",
    "Term",
    "Within",
]
