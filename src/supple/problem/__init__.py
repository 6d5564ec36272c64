"""Problems: goals, tasks, obstacles, the problem and its pack; and what comes out, solution and status.

A *goal* says what an effector should read; a *task* is an effector with a goal and a weight; a *problem* is a figure with
tasks and limits, checked and packed once; a *solution* is a posture, a status and a sentence.
"""

from typing import TYPE_CHECKING

from supple import lazily

if TYPE_CHECKING:
    from supple.problem.evaluation import Evaluation as Evaluation
    from supple.problem.goals.alternatives import AnyOf as AnyOf, Outside as Outside
    from supple.problem.goals.balanced import Balanced as Balanced
    from supple.problem.goals.base import Miss as Miss
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
    from supple.problem.moving import Moving as Moving
    from supple.problem.problem import Problem as Problem
    from supple.problem.regions.free import free_space as free_space, seeds_about as seeds_about
    from supple.problem.solution import Decision as Decision, Solution as Solution, Status as Status, Trace as Trace
    from supple.problem.task import Clearance as Clearance, Task as Task

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "evaluation": ["Evaluation"],
        "goals.alternatives": ["AnyOf", "Outside"],
        "goals.balanced": ["Balanced"],
        "goals.base": ["Miss"],
        "goals.custom": ["Custom"],
        "goals.flats": ["Beyond", "OnLine", "OnPlane"],
        "goals.near": ["Near"],
        "goals.places": ["AimedAt", "Aligned", "At", "Facing", "Placed"],
        "goals.within": ["Within"],
        "moving": ["Moving"],
        "problem": ["Problem"],
        "regions.free": ["free_space", "seeds_about"],
        "solution": ["Decision", "Solution", "Status", "Trace"],
        "task": ["Clearance", "Task"],
    },
)
