"""A preference for a posture."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import check_fields, finite, named_or_none, numbers, spread
from supple.basics.values import Value
from supple.errors import BadValue
from supple.geometry.placements import Floats, frozen
from supple.kernels import kinds as kind
from supple.problem.goals.base import Miss, OfFigure, Term


@dataclass(frozen=True, eq=False, repr=False)
class Near(Value, OfFigure):
    """A posture goal: ``P = Σ_i w_i (q_i − ref_i)²``. A preference, not a condition: it never makes a solution fail."""

    reference: Any  # (size,)
    weights: Any = 1.0
    relative_to: str | None = None

    def __post_init__(self) -> None:
        check_fields(self, relative_to=named_or_none)
        reference = np.atleast_1d(numbers(self.reference, "the reference of Near"))
        object.__setattr__(self, "reference", frozen(finite(reference, reference.shape[:1], "the reference of Near")))
        weights = spread(self.weights, reference.shape, "the weights of Near")
        if not (np.isfinite(weights).all() and (weights >= 0.0).all()):
            raise BadValue("the weights of Near must be finite and not negative")
        object.__setattr__(self, "weights", frozen(weights))

    def terms(self) -> list[Term]:
        """One term on the posture itself."""
        return [Term(kind.NEAR, self.reference, "posture")]

    def miss(self, X: Floats) -> Miss:
        """A preference is never missed."""
        return Miss()

    @property
    def holds(self) -> Floats:
        """The coordinates that have a weight."""
        return self.weights > 0.0

    def check_figure(self, size: int, owner: str) -> None:
        """The reference has a number for every coordinate."""
        if self.reference.shape != (size,):
            raise BadValue(f"Near needs {size} numbers for {owner}, not {self.reference.size}")

    def aimed(self, target: ArrayLike) -> Near:
        """Near another posture."""
        return replace(self, reference=finite(target, self.reference.shape, "the reference of Near"))
