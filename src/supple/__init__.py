"""supple poses anything that bends: characters, robots and closed mechanisms, inside every limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"


def lazily(
    package: str, homes: Mapping[str, Sequence[str]], rooms: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package whose names are imported when somebody asks for them.

    `homes` maps modules of the package to the names that they hold; `rooms` are packages in it with public names of their own.
    A name once asked for stays in the package.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def attribute(name: str) -> Any:
        if name in rooms:
            return import_module(f"{package}.{name}")
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(import_module(package), name, value)
        return value

    return attribute, lambda: sorted({*home, *rooms, "__doc__", "__version__"}), sorted(home)


class _Member:
    """A member of a class whose module has not been imported yet."""

    def __init__(self, name: str, bring: Callable[[], None]) -> None:
        self.name, self.bring = name, bring

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        self.bring()
        return getattr(kind if owner is None else owner, self.name)


def members_of(home: str, names: str) -> Any:
    """A class to inherit from that has the named members of the class `home`, ``module.Class``, which is not imported before
    somebody asks for one of them. The block under ``TYPE_CHECKING`` imports it, so that editors see what is inherited.
    """
    module, _, name = home.rpartition(".")

    def bring() -> None:
        there = vars(getattr(import_module(module), name))
        for member in names.split():
            setattr(stand_in, member, there[member])

    members = {member: _Member(member, bring) for member in names.split()}
    stand_in = type(name, (), {"__module__": module, "__doc__": f"See `{home}`.", **members})
    return stand_in


if TYPE_CHECKING:
    from supple import (
        cluster as cluster,
        figure as figure,
        files as files,
        geometry as geometry,
        motion as motion,
        problem as problem,
        proofs as proofs,
        scene as scene,
        solvers as solvers,
        solving as solving,
        view as view,
    )
    from supple.cli.warm import warm as warm
    from supple.errors import (
        BadFile as BadFile,
        BadValue as BadValue,
        Error as Error,
        Interrupted as Interrupted,
        MissingExtra as MissingExtra,
        Refused as Refused,
        UnknownName as UnknownName,
    )
    from supple.figure.drives import mimic as mimic
    from supple.figure.effectors import (
        Direction as Direction,
        Frame as Frame,
        Gap as Gap,
        MassCentre as MassCentre,
        Point as Point,
    )
    from supple.figure.figure import Figure as Figure, Loop as Loop
    from supple.figure.joints import (
        Joint as Joint,
        ball as ball,
        fixed as fixed,
        free as free,
        hinge as hinge,
        screw as screw,
        slide as slide,
        universal as universal,
    )
    from supple.figure.limits import Limits as Limits
    from supple.files.door import (
        load as load,
        read_markers as read_markers,
        read_motion as read_motion,
        read_scene as read_scene,
        write as write,
    )
    from supple.geometry.placements import place as place
    from supple.geometry.shapes import Ball as Ball, Box as Box, Capsule as Capsule, Polytope as Polytope
    from supple.motion.markers import Markers as Markers
    from supple.motion.motion import Motion as Motion
    from supple.motion.optimal_tracking.settings import OptimalTracking as OptimalTracking
    from supple.motion.retargeting.retarget import retarget as retarget
    from supple.motion.subject.subject import fit_subject as fit_subject
    from supple.motion.tracking.track import track as track
    from supple.problem.goals.alternatives import AnyOf as AnyOf, Outside as Outside
    from supple.problem.goals.balanced import Balanced as Balanced
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
    from supple.problem.problem import Problem as Problem
    from supple.problem.solution import Solution as Solution, Status as Status
    from supple.problem.task import Clearance as Clearance, Task as Task
    from supple.proofs.certificate import Certificate as Certificate
    from supple.scene.scene import Scene as Scene
    from supple.solvers.active_set.active_set import ActiveSet as ActiveSet
    from supple.solvers.baselines.cyclic_coordinate_descent import CyclicCoordinateDescent as CyclicCoordinateDescent
    from supple.solvers.baselines.fabrik import Fabrik as Fabrik
    from supple.solvers.baselines.jacobian_transpose import JacobianTranspose as JacobianTranspose
    from supple.solvers.baselines.pseudo_inverse import PseudoInverse as PseudoInverse
    from supple.solvers.decide import Decide as Decide
    from supple.solvers.levenberg_marquardt.levenberg_marquardt import LevenbergMarquardt as LevenbergMarquardt
    from supple.solvers.multistart import Multistart as Multistart
    from supple.solvers.newton.newton import Newton as Newton
    from supple.solvers.projected_gradient import ProjectedGradient as ProjectedGradient
    from supple.solvers.rank_one.rank_one import RankOne as RankOne
    from supple.solving.follow import follow as follow
    from supple.solving.many import solve_many as solve_many
    from supple.solving.prepare import prepare as prepare
    from supple.solving.reach import reach as reach
    from supple.solving.solve import solve as solve
    from supple.solving.solve_all import solve_all as solve_all
    from supple.solving.step import step as step

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "cli.warm": ["warm"],
        "errors": ["BadFile", "BadValue", "Error", "Interrupted", "MissingExtra", "Refused", "UnknownName"],
        "figure.drives": ["mimic"],
        "figure.effectors": ["Direction", "Frame", "Gap", "MassCentre", "Point"],
        "figure.figure": ["Figure", "Loop"],
        "figure.joints": ["Joint", "ball", "fixed", "free", "hinge", "screw", "slide", "universal"],
        "figure.limits": ["Limits"],
        "files.door": ["load", "read_markers", "read_motion", "read_scene", "write"],
        "geometry.placements": ["place"],
        "geometry.shapes": ["Ball", "Box", "Capsule", "Polytope"],
        "motion.markers": ["Markers"],
        "motion.motion": ["Motion"],
        "motion.optimal_tracking.settings": ["OptimalTracking"],
        "motion.retargeting.retarget": ["retarget"],
        "motion.subject.subject": ["fit_subject"],
        "motion.tracking.track": ["track"],
        "problem.goals.alternatives": ["AnyOf", "Outside"],
        "problem.goals.balanced": ["Balanced"],
        "problem.goals.custom": ["Custom"],
        "problem.goals.flats": ["Beyond", "OnLine", "OnPlane"],
        "problem.goals.near": ["Near"],
        "problem.goals.places": ["AimedAt", "Aligned", "At", "Facing", "Placed"],
        "problem.goals.within": ["Within"],
        "problem.problem": ["Problem"],
        "problem.solution": ["Solution", "Status"],
        "problem.task": ["Clearance", "Task"],
        "proofs.certificate": ["Certificate"],
        "scene.scene": ["Scene"],
        "solvers.active_set.active_set": ["ActiveSet"],
        "solvers.baselines.cyclic_coordinate_descent": ["CyclicCoordinateDescent"],
        "solvers.baselines.fabrik": ["Fabrik"],
        "solvers.baselines.jacobian_transpose": ["JacobianTranspose"],
        "solvers.baselines.pseudo_inverse": ["PseudoInverse"],
        "solvers.decide": ["Decide"],
        "solvers.levenberg_marquardt.levenberg_marquardt": ["LevenbergMarquardt"],
        "solvers.multistart": ["Multistart"],
        "solvers.newton.newton": ["Newton"],
        "solvers.projected_gradient": ["ProjectedGradient"],
        "solvers.rank_one.rank_one": ["RankOne"],
        "solving.follow": ["follow"],
        "solving.many": ["solve_many"],
        "solving.prepare": ["prepare"],
        "solving.reach": ["reach"],
        "solving.solve": ["solve"],
        "solving.solve_all": ["solve_all"],
        "solving.step": ["step"],
    },
    rooms=[
        "cluster",
        "figure",
        "files",
        "geometry",
        "motion",
        "problem",
        "proofs",
        "scene",
        "solvers",
        "solving",
        "view",
    ],
)
