"""supple poses anything that bends: characters, robots and closed mechanisms, inside every limit."""

from supple.apart import Clearance
from supple.coordinates.natural import Natural
from supple.deciding.certificate import Certificate
from supple.drives import Bound, Coordinate, Drive, Group, Line, Pieces, Spline, mimic
from supple.effectors import Direction, Frame, Gap, MassCentre, Point
from supple.errors import BadFile, BadValue, Error, Interrupted, MissingExtra, Refused, UnknownName
from supple.figure import Figure, Loop, Source
from supple.files.door import load, read_markers, read_motion, read_scene, write
from supple.follow import Path, follow
from supple.free_space import free_space, seeds_about
from supple.goals import (
    AimedAt,
    AnyOf,
    At,
    Beyond,
    Custom,
    Facing,
    Miss,
    Near,
    OnLine,
    OnPlane,
    Outside,
    Over,
    Placed,
    Within,
)  # fmt: skip
from supple.joints import Joint, ball, fixed, free, hinge, planar, screw, slide, universal
from supple.limits import Limits
from supple.many import Solutions, solve_many
from supple.marker_sets import MarkerSet, marker_set
from supple.markers import Markers
from supple.moment import Moment
from supple.motion import Motion
from supple.prepare import Query, prepare
from supple.problem import Evaluation, Problem, Task
from supple.reach import Reach, reach
from supple.retarget import Retargeted, match_segments, retarget
from supple.retargeting.match import Match
from supple.scene import Scene
from supple.shapes import Ball, Body, Box, Capsule, Cylinder, Polytope
from supple.solution import Decision, Solution, Status, Trace
from supple.solve import solve
from supple.solvers.active_set import ActiveSet
from supple.solvers.cyclic_coordinate_descent import CyclicCoordinateDescent
from supple.solvers.damped_least_squares import DampedLeastSquares
from supple.solvers.decide import Decide
from supple.solvers.fabrik import Fabrik
from supple.solvers.jacobian_transpose import CautiousStep, FittedStep, FixedStep, JacobianTranspose
from supple.solvers.levenberg_marquardt import LevenbergMarquardt
from supple.solvers.multistart import Multistart
from supple.solvers.newton import Newton
from supple.solvers.optimal_tracking import OptimalTracking, TrackedFrames
from supple.solvers.projected_gradient import ProjectedGradient
from supple.solvers.pseudo_inverse import PseudoInverse
from supple.solvers.rank_one import RankOne
from supple.solvers.rank_one_obstacles import Rooms
from supple.solvers.rank_one_rows import Continuity, Together, Touching
from supple.solvers.roomy import Roomy
from supple.solvers.trial import DrivenAngle, Held
from supple.space import place
from supple.step import step
from supple.subject import Subject, fit_subject
from supple.touches import Touch
from supple.track import track
from supple.tracked import Tracked
from supple.tracking.by_frame import FrameByFrame
from supple.tracking.whole import WholeClip

__version__ = "0.1.0"

__all__ = [
    "ActiveSet", "AimedAt", "AnyOf", "At", "BadFile", "BadValue", "Ball", "Beyond", "Body", "Bound", "Box",
    "Capsule", "CautiousStep", "Certificate", "Clearance", "Continuity", "Coordinate", "Custom",
    "CyclicCoordinateDescent", "Cylinder", "DampedLeastSquares", "Decide", "Decision", "Direction", "Drive",
    "DrivenAngle", "Error", "Evaluation", "Fabrik", "Facing", "Figure", "FittedStep", "FixedStep", "Frame",
    "FrameByFrame", "Gap", "Group", "Held", "Interrupted", "JacobianTranspose", "Joint", "LevenbergMarquardt", "Limits", "Line",
    "Loop", "MarkerSet", "Markers", "MassCentre", "Match", "Miss", "MissingExtra", "Moment", "Motion", "Multistart",
    "Natural", "Near", "Newton", "OnLine", "OnPlane", "OptimalTracking", "Outside", "Over", "Path", "Pieces",
    "Placed", "Point", "Polytope", "Problem", "ProjectedGradient", "PseudoInverse", "Query", "RankOne", "Reach", "Refused",
    "Retargeted", "Rooms", "Roomy", "Scene", "Solution", "Solutions", "Source", "Spline", "Status", "Subject",
    "Task", "Together", "Touch", "Touching", "Trace", "Tracked", "TrackedFrames", "UnknownName", "WholeClip",
    "Within", "ball", "fit_subject", "fixed", "follow", "free", "free_space", "hinge", "load", "marker_set",
    "match_segments", "mimic", "place", "planar", "prepare", "reach", "read_markers", "read_motion", "read_scene",
    "retarget", "screw", "seeds_about", "slide", "solve", "solve_many", "step", "track", "universal", "write",
]  # fmt: skip
