"""supple poses anything that bends: characters, robots and closed mechanisms, inside every limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"


def lazily(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package whose names are imported when somebody asks for them.

    `homes` maps modules of the package to the names that they hold. A name once asked for stays in the package.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def attribute(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(import_module(package), name, value)
        return value

    return attribute, lambda: sorted({*home, "__doc__", "__version__"}), sorted(home)


if TYPE_CHECKING:
    from supple.errors import (
        BadFile as BadFile,
    )
    from supple.errors import (
        BadValue as BadValue,
    )
    from supple.errors import (
        Error as Error,
    )
    from supple.errors import (
        Interrupted as Interrupted,
    )
    from supple.errors import (
        MissingExtra as MissingExtra,
    )
    from supple.errors import (
        Refused as Refused,
    )
    from supple.errors import (
        UnknownName as UnknownName,
    )
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
    from supple.files.door import (
        load as load,
    )
    from supple.files.door import (
        read_markers as read_markers,
    )
    from supple.files.door import (
        read_motion as read_motion,
    )
    from supple.files.door import (
        read_scene as read_scene,
    )
    from supple.files.door import (
        write as write,
    )
    from supple.geometry.placements import (
        place as place,
    )
    from supple.geometry.shapes import (
        Ball as Ball,
    )
    from supple.geometry.shapes import (
        Body as Body,
    )
    from supple.geometry.shapes import (
        Box as Box,
    )
    from supple.geometry.shapes import (
        Capsule as Capsule,
    )
    from supple.geometry.shapes import (
        Cylinder as Cylinder,
    )
    from supple.geometry.shapes import (
        Polytope as Polytope,
    )
    from supple.motion.markers import (
        Markers as Markers,
    )
    from supple.motion.motion import (
        Motion as Motion,
    )
    from supple.motion.optimal_tracking.natural import (
        Natural as Natural,
    )
    from supple.motion.optimal_tracking.settings import (
        OptimalTracking as OptimalTracking,
    )
    from supple.motion.optimal_tracking.settings import (
        TrackedFrames as TrackedFrames,
    )
    from supple.motion.optimal_tracking.trial import (
        DrivenAngle as DrivenAngle,
    )
    from supple.motion.optimal_tracking.trial import (
        Held as Held,
    )
    from supple.motion.retargeting.match import (
        Match as Match,
    )
    from supple.motion.retargeting.retarget import (
        Retargeted as Retargeted,
    )
    from supple.motion.retargeting.retarget import (
        match_segments as match_segments,
    )
    from supple.motion.retargeting.retarget import (
        retarget as retarget,
    )
    from supple.motion.subject.subject import (
        Subject as Subject,
    )
    from supple.motion.subject.subject import (
        fit_subject as fit_subject,
    )
    from supple.motion.tracking.frame_by_frame import (
        FrameByFrame as FrameByFrame,
    )
    from supple.motion.tracking.track import (
        track as track,
    )
    from supple.motion.tracking.tracked import (
        Tracked as Tracked,
    )
    from supple.motion.tracking.whole_clip import (
        WholeClip as WholeClip,
    )
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
    from supple.proofs.certificate import (
        Certificate as Certificate,
    )
    from supple.scene.scene import (
        Scene as Scene,
    )
    from supple.scene.state import (
        Moment as Moment,
    )
    from supple.scene.touches import (
        Touch as Touch,
    )
    from supple.solvers.active_set.active_set import (
        ActiveSet as ActiveSet,
    )
    from supple.solvers.baselines.cyclic_coordinate_descent import (
        CyclicCoordinateDescent as CyclicCoordinateDescent,
    )
    from supple.solvers.baselines.damped_least_squares import (
        DampedLeastSquares as DampedLeastSquares,
    )
    from supple.solvers.baselines.fabrik import (
        Fabrik as Fabrik,
    )
    from supple.solvers.baselines.jacobian_transpose import (
        CautiousStep as CautiousStep,
    )
    from supple.solvers.baselines.jacobian_transpose import (
        FittedStep as FittedStep,
    )
    from supple.solvers.baselines.jacobian_transpose import (
        FixedStep as FixedStep,
    )
    from supple.solvers.baselines.jacobian_transpose import (
        JacobianTranspose as JacobianTranspose,
    )
    from supple.solvers.baselines.pseudo_inverse import (
        PseudoInverse as PseudoInverse,
    )
    from supple.solvers.clearance_first import (
        Roomy as Roomy,
    )
    from supple.solvers.decide import (
        Decide as Decide,
    )
    from supple.solvers.levenberg_marquardt.settings import (
        LevenbergMarquardt as LevenbergMarquardt,
    )
    from supple.solvers.multistart import (
        Multistart as Multistart,
    )
    from supple.solvers.newton.newton import (
        Newton as Newton,
    )
    from supple.solvers.projected_gradient import (
        ProjectedGradient as ProjectedGradient,
    )
    from supple.solvers.rank_one.conditions import (
        Continuity as Continuity,
    )
    from supple.solvers.rank_one.conditions import (
        Together as Together,
    )
    from supple.solvers.rank_one.conditions import (
        Touching as Touching,
    )
    from supple.solvers.rank_one.obstacles import (
        Rooms as Rooms,
    )
    from supple.solvers.rank_one.rank_one import (
        RankOne as RankOne,
    )
    from supple.solving.follow import (
        Path as Path,
    )
    from supple.solving.follow import (
        follow as follow,
    )
    from supple.solving.many import (
        Solutions as Solutions,
    )
    from supple.solving.many import (
        solve_many as solve_many,
    )
    from supple.solving.prepare import (
        Query as Query,
    )
    from supple.solving.prepare import (
        prepare as prepare,
    )
    from supple.solving.reach import (
        Reach as Reach,
    )
    from supple.solving.reach import (
        reach as reach,
    )
    from supple.solving.solve import (
        solve as solve,
    )
    from supple.solving.step import (
        step as step,
    )

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "errors": ["BadFile", "BadValue", "Error", "Interrupted", "MissingExtra", "Refused", "UnknownName"],
        "figure.drives": ["Bound", "Coordinate", "Drive", "Group", "Line", "Pieces", "Spline", "mimic"],
        "figure.effectors": ["Direction", "Frame", "Gap", "MassCentre", "Point"],
        "figure.figure": ["Figure", "Loop", "Source"],
        "figure.joints": ["Joint", "ball", "fixed", "free", "hinge", "planar", "screw", "slide", "universal"],
        "figure.limits": ["Limits"],
        "figure.marker_sets": ["MarkerSet", "marker_set"],
        "files.door": ["load", "read_markers", "read_motion", "read_scene", "write"],
        "geometry.placements": ["place"],
        "geometry.shapes": ["Ball", "Body", "Box", "Capsule", "Cylinder", "Polytope"],
        "motion.markers": ["Markers"],
        "motion.motion": ["Motion"],
        "motion.optimal_tracking.natural": ["Natural"],
        "motion.optimal_tracking.settings": ["OptimalTracking", "TrackedFrames"],
        "motion.optimal_tracking.trial": ["DrivenAngle", "Held"],
        "motion.retargeting.match": ["Match"],
        "motion.retargeting.retarget": ["Retargeted", "match_segments", "retarget"],
        "motion.subject.subject": ["Subject", "fit_subject"],
        "motion.tracking.frame_by_frame": ["FrameByFrame"],
        "motion.tracking.track": ["track"],
        "motion.tracking.tracked": ["Tracked"],
        "motion.tracking.whole_clip": ["WholeClip"],
        "problem.goals": [
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
        "problem.obstacles": ["Clearance"],
        "problem.problem": ["Evaluation", "Problem", "Task"],
        "problem.regions.free": ["free_space", "seeds_about"],
        "problem.solution": ["Decision", "Solution", "Status", "Trace"],
        "proofs.certificate": ["Certificate"],
        "scene.scene": ["Scene"],
        "scene.state": ["Moment"],
        "scene.touches": ["Touch"],
        "solvers.active_set.active_set": ["ActiveSet"],
        "solvers.baselines.cyclic_coordinate_descent": ["CyclicCoordinateDescent"],
        "solvers.baselines.damped_least_squares": ["DampedLeastSquares"],
        "solvers.baselines.fabrik": ["Fabrik"],
        "solvers.baselines.jacobian_transpose": ["CautiousStep", "FittedStep", "FixedStep", "JacobianTranspose"],
        "solvers.baselines.pseudo_inverse": ["PseudoInverse"],
        "solvers.clearance_first": ["Roomy"],
        "solvers.decide": ["Decide"],
        "solvers.levenberg_marquardt.settings": ["LevenbergMarquardt"],
        "solvers.multistart": ["Multistart"],
        "solvers.newton.newton": ["Newton"],
        "solvers.projected_gradient": ["ProjectedGradient"],
        "solvers.rank_one.conditions": ["Continuity", "Together", "Touching"],
        "solvers.rank_one.obstacles": ["Rooms"],
        "solvers.rank_one.rank_one": ["RankOne"],
        "solving.follow": ["Path", "follow"],
        "solving.many": ["Solutions", "solve_many"],
        "solving.prepare": ["Query", "prepare"],
        "solving.reach": ["Reach", "reach"],
        "solving.solve": ["solve"],
        "solving.step": ["step"],
    },
)
