"""Solving: the front doors, one file each.

`solve` answers one problem, `prepare` a problem asked again and again, `solve_many` thousands of targets, `follow` a path of
them, `step` one moment of a control loop, `reach` a whole map.
"""

from typing import TYPE_CHECKING

from supple import lazily

if TYPE_CHECKING:
    from supple.solving.follow import Path as Path
    from supple.solving.in_place import Curve as Curve
    from supple.solving.many import Solutions as Solutions
    from supple.solving.prepare import Query as Query
    from supple.solving.reach import Reach as Reach
    from supple.solving.servo import Moment as Moment, Servo as Servo
    from supple.solving.solve_all import AllSolutions as AllSolutions
    from supple.solving.twist import Twist as Twist

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "in_place": ["Curve"],
        "follow": ["Path"],
        "many": ["Solutions"],
        "prepare": ["Query"],
        "reach": ["Reach"],
        "servo": ["Moment", "Servo"],
        "solve_all": ["AllSolutions"],
        "twist": ["Twist"],
    },
)
