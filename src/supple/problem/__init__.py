"""Problems: goals, tasks, obstacles, the problem and its pack; and what comes out, solution and status.

A *goal* says what an effector should read; a *task* is an effector with a goal and a weight; a *problem* is a figure with
tasks and limits, checked and packed once; a *solution* is a posture, a status and a sentence.
"""

from typing import TYPE_CHECKING

from supple import lazily

if TYPE_CHECKING:
    from supple.problem.goals import (
        AimedAt as AimedAt,
    )
    from supple.problem.goals import (
        AnyOf as AnyOf,
    )
    from supple.problem.goals import (
        At as At,
    )
    from supple.problem.goals import (
        Beyond as Beyond,
    )
    from supple.problem.goals import (
        Custom as Custom,
    )
    from supple.problem.goals import (
        Facing as Facing,
    )
    from supple.problem.goals import (
        Miss as Miss,
    )
    from supple.problem.goals import (
        Near as Near,
    )
    from supple.problem.goals import (
        OnLine as OnLine,
    )
    from supple.problem.goals import (
        OnPlane as OnPlane,
    )
    from supple.problem.goals import (
        Outside as Outside,
    )
    from supple.problem.goals import (
        Over as Over,
    )
    from supple.problem.goals import (
        Placed as Placed,
    )
    from supple.problem.goals import (
        Within as Within,
    )
    from supple.problem.obstacles import (
        Clearance as Clearance,
    )
    from supple.problem.problem import (
        Evaluation as Evaluation,
    )
    from supple.problem.problem import (
        Problem as Problem,
    )
    from supple.problem.problem import (
        Task as Task,
    )
    from supple.problem.regions.free import (
        free_space as free_space,
    )
    from supple.problem.regions.free import (
        seeds_about as seeds_about,
    )
    from supple.problem.solution import (
        Decision as Decision,
    )
    from supple.problem.solution import (
        Solution as Solution,
    )
    from supple.problem.solution import (
        Status as Status,
    )
    from supple.problem.solution import (
        Trace as Trace,
    )

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "goals": [
            "AimedAt",
            "AnyOf",
            "At",
            "Beyond",
            "Custom",
            "Facing",
            "Miss",
            "Near",
            "OnLine",
            "OnPlane",
            "Outside",
            "Over",
            "Placed",
            "Within",
        ],
        "obstacles": ["Clearance"],
        "problem": ["Evaluation", "Problem", "Task"],
        "regions.free": ["free_space", "seeds_about"],
        "solution": ["Decision", "Solution", "Status", "Trace"],
    },
)
