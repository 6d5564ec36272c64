"""The allowed postures: a box, linear equalities and linear inequalities on the coordinates.

``lower ≤ q ≤ upper``, ``A_eq q = b_eq``, ``A q ≤ b``: a convex set that can say whether it `contains` a posture and which of
its postures is nearest to a given one (`project`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import finite, not_negative, numbers
from supple.basics.values import Value, read_only
from supple.errors import BadValue
from supple.geometry.placements import Floats, frozen
from supple.kernels.compiling import entry_in
from supple.kernels.tables import SLACK, row_room

project_entry = entry_in("supple.kernels.projecting.project_entry")


def _rows(A: Any, b: Any, size: int, what: str) -> tuple[Floats, Floats]:
    """Rows scaled to unit length; a row of zeros or anything not finite is refused."""
    if A is None and b is None:
        return frozen(np.empty((0, size))), frozen(np.empty(0))
    if A is None or b is None:
        raise BadValue(f"{what} need both a matrix and a right-hand side")
    A = np.atleast_2d(numbers(A, f"the matrix of {what}"))
    b = np.atleast_1d(numbers(b, f"the right-hand side of {what}"))
    if A.shape != (len(b), size) or b.ndim != 1:
        raise BadValue(f"{what} on {size} coordinates need a matrix of shape ({len(b)}, {size}), not {A.shape}")
    if not (np.isfinite(A).all() and np.isfinite(b).all()):
        raise BadValue(f"{what} must be finite")
    length = np.linalg.norm(A, axis=1)
    if (length < 1e-12).any():
        raise BadValue(f"{what}: row {int(np.argmin(length))} has no coefficient")
    length[np.abs(length - 1.0) < 1e-14] = 1.0  # rows of unit length stay as they are
    return frozen(A / length[:, None]), frozen(b / length)


@dataclass(frozen=True, eq=False, repr=False)
class Limits(Value):
    """``lower ≤ q ≤ upper``, ``A_eq q = b_eq``, ``A q ≤ b``. Rows are kept scaled to unit length."""

    lower: Floats
    upper: Floats
    A_eq: Any = None
    b_eq: Any = None
    A: Any = None
    b: Any = None

    def __post_init__(self) -> None:
        lower = np.atleast_1d(numbers(self.lower, "the lower limits")).copy()
        upper = np.atleast_1d(numbers(self.upper, "the upper limits")).copy()
        if lower.ndim != 1 or lower.shape != upper.shape:
            raise BadValue(f"lower and upper limits must be vectors of one length, not {lower.shape} and {upper.shape}")
        wrong = np.flatnonzero(~(lower <= upper) | (lower == np.inf) | (upper == -np.inf))
        if wrong.size:
            i = int(wrong[0])
            raise BadValue(f"limits of coordinate {i} must satisfy lower ≤ upper, not ({lower[i]}, {upper[i]})")
        A_eq, b_eq = _rows(self.A_eq, self.b_eq, len(lower), "linear equalities")
        A, b = _rows(self.A, self.b, len(lower), "linear inequalities")
        values = {"lower": frozen(lower), "upper": frozen(upper), "A_eq": A_eq, "b_eq": b_eq, "A": A, "b": b}
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if not self.is_box:
            self.project(np.clip(np.zeros(len(lower)), lower, upper))  # refuses a contradiction now, by name

    @cached_property
    def _pack(self) -> tuple[np.ndarray, np.ndarray, int, np.ndarray, np.ndarray]:
        """All of it as kernels are compiled for: in arrays that can be written to, though nobody does."""
        rows = np.ascontiguousarray(np.vstack([self.A_eq, self.A]))
        return np.array(self.lower), np.array(self.upper), len(self.b_eq), rows, np.concatenate([self.b_eq, self.b])

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.lower)

    @property
    def is_box(self) -> bool:
        """Whether there are no further rows."""
        return self._pack[4].size == 0

    @property
    def rows(self) -> tuple[int, Floats, Floats]:
        """The number of equalities, and all rows ``A q (=, ≤) b`` with the equalities first."""
        _, _, equalities, A, b = self._pack
        return equalities, read_only(A[:]), read_only(b[:])

    def _posture(self, q: ArrayLike) -> Floats:
        array = numbers(q, f"a posture of {self.size} coordinates")
        if array.shape != (self.size,):
            raise BadValue(f"a posture of {self.size} coordinates has shape ({self.size},), not {array.shape}")
        return array

    def contains(self, q: ArrayLike, slack: float = SLACK) -> bool:
        """Whether `q` is allowed: the box exactly, rows to within `slack`."""
        q, slack = self._posture(q), not_negative(slack, "the slack of limits")
        if not np.isfinite(q).all():
            return False
        lower, upper, equalities, A, b = self._pack
        over = A @ q - b
        over[:equalities] = np.abs(over[:equalities])
        return bool((q >= lower).all() and (q <= upper).all() and (over <= slack).all())

    def project(self, q: ArrayLike, ease: ArrayLike | None = None) -> Floats:
        """The allowed posture nearest to `q`: by ``Σ dq²`` or, with `ease` (size), by ``Σ dq²/ease``.

        A coordinate of ease 0 inside its range stays where it is, unless no allowed posture has it there.
        """
        out = np.array(self._posture(q))
        if not np.isfinite(out).all():
            raise BadValue("a posture to project must be finite")
        D = np.ones(self.size) if ease is None else finite(ease, (self.size,), "the ease of each coordinate").copy()
        if (D < 0.0).any():
            raise BadValue("the ease of each coordinate must not be negative")
        if self.is_box:
            return np.clip(out, self.lower, self.upper)
        room, origin = np.empty(row_room(len(self._pack[4]))), np.empty(self.size)
        over = project_entry(out, *self._pack, D, room, origin)
        if over <= SLACK * max(1.0, float(np.abs(self._pack[4]).max())):
            return out
        if ease is not None:
            return self.project(q)
        if over == np.inf:
            raise BadValue("the limits contradict each other: no posture keeps them all")
        raise BadValue(f"the limits leave no posture that can be found: one is overstepped by {over:.3g}")
