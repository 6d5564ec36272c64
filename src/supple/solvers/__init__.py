"""Solvers: one method, one file or one folder; each a frozen record of settings with one method, ``solve``.

`levenberg_marquardt` is the default; `newton`, `active_set`, `projected_gradient`, `rank_one` and `baselines` are the papers'
methods; `multistart`, `distinct`, `decide` and `clearance_first` wrap any of them.
"""

from typing import TYPE_CHECKING

from supple import lazily

if TYPE_CHECKING:
    from supple.solvers import rank_one as rank_one
    from supple.solvers.active_set.active_set import ActiveSet as ActiveSet
    from supple.solvers.baselines.cyclic_coordinate_descent import CyclicCoordinateDescent as CyclicCoordinateDescent
    from supple.solvers.baselines.damped_least_squares import DampedLeastSquares as DampedLeastSquares
    from supple.solvers.baselines.fabrik import Fabrik as Fabrik
    from supple.solvers.baselines.jacobian_transpose import (
        CautiousStep as CautiousStep,
        FittedStep as FittedStep,
        FixedStep as FixedStep,
        JacobianTranspose as JacobianTranspose,
    )
    from supple.solvers.baselines.pseudo_inverse import PseudoInverse as PseudoInverse
    from supple.solvers.clearance_first import PreferredClearance as PreferredClearance
    from supple.solvers.decide import Decide as Decide
    from supple.solvers.levenberg_marquardt.levenberg_marquardt import LevenbergMarquardt as LevenbergMarquardt
    from supple.solvers.multistart import Multistart as Multistart
    from supple.solvers.newton.newton import Newton as Newton
    from supple.solvers.projected_gradient import ProjectedGradient as ProjectedGradient
    from supple.solvers.rank_one.rank_one import RankOne as RankOne

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "active_set.active_set": ["ActiveSet"],
        "baselines.cyclic_coordinate_descent": ["CyclicCoordinateDescent"],
        "baselines.damped_least_squares": ["DampedLeastSquares"],
        "baselines.fabrik": ["Fabrik"],
        "baselines.jacobian_transpose": ["CautiousStep", "FittedStep", "FixedStep", "JacobianTranspose"],
        "baselines.pseudo_inverse": ["PseudoInverse"],
        "clearance_first": ["PreferredClearance"],
        "decide": ["Decide"],
        "levenberg_marquardt.levenberg_marquardt": ["LevenbergMarquardt"],
        "multistart": ["Multistart"],
        "newton.newton": ["Newton"],
        "projected_gradient": ["ProjectedGradient"],
        "rank_one.rank_one": ["RankOne"],
    },
    rooms=["rank_one"],
)
