"""The allowed postures: a box, linear equalities and linear inequalities on the coordinates.

``lower ≤ q ≤ upper``, ``A_eq q = b_eq``, ``A q ≤ b``: a convex set that can say whether it `contains` a posture and which of
its postures is nearest to a given one (`project`).

**Projection.** The box alone is a clip. With further rows, Dykstra's method cycles over the sets: one step per row,
``q ← q − a y`` with ``y`` the step to the row's boundary, each set remembering its last correction and giving it back
before the next turn; for rows this is coordinate ascent on the dual (Hildreth). The iterates converge to the exact
Euclidean projection, linearly; the loop ends when a whole round moves q by less than 1e-14 of its size.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.compiled import entry, leaf
from supple.errors import BadValue
from supple.space import Floats, frozen

ROUNDS = 20_000
SLACK = 1e-9  # a row of unit length counts as kept if it is overstepped by less


@leaf
def clip(q: Any, lower: Any, upper: Any) -> None:
    """Nearest posture in the box, in place."""
    for i in range(q.shape[0]):
        q[i] = min(max(q[i], lower[i]), upper[i])


@leaf
def project(q: Any, lower: Any, upper: Any, equalities: int, A: Any, b: Any, ease: Any, y: Any, back: Any) -> float:
    """Nearest allowed posture, in place; returns how far the rows are overstepped. Rows have unit length, equalities first.

    `ease` (size) is the inverse metric: distance is ``Σ dq²/ease``, and a coordinate of ease 0 does not move. `y` (rows) and
    `back` (size) are scratch: the last correction of each row and of the box.
    """
    n, m = q.shape[0], b.shape[0]
    if m == 0:
        clip(q, lower, upper)
        return 0.0
    for r in range(m):
        y[r] = 0.0
    for i in range(n):
        back[i] = 0.0
    for _ in range(ROUNDS):
        change, size = 0.0, 1.0
        for r in range(m):
            s, stiffness = -b[r], 0.0
            for i in range(n):
                s += A[r, i] * q[i]
                stiffness += A[r, i] * A[r, i] * ease[i]
            if stiffness <= 0.0:
                continue
            s /= stiffness
            new = y[r] + s if r < equalities else max(0.0, y[r] + s)
            step = new - y[r]
            y[r] = new
            if step != 0.0:
                for i in range(n):
                    q[i] -= A[r, i] * ease[i] * step
                change = max(change, abs(step))
        for i in range(n):
            x = q[i] + back[i]
            z = min(max(x, lower[i]), upper[i])
            change = max(change, abs(z - q[i]))
            size = max(size, abs(z))
            back[i] = x - z
            q[i] = z
        if change <= 1e-14 * size:
            break
    worst = 0.0
    for r in range(m):
        s = -b[r]
        for i in range(n):
            s += A[r, i] * q[i]
        worst = max(worst, abs(s) if r < equalities else s)
    return worst


@entry
def _project_entry(
    q: Any, lower: Any, upper: Any, equalities: int, A: Any, b: Any, ease: Any, y: Any, back: Any
) -> float:
    return project(q, lower, upper, equalities, A, b, ease, y, back)


def _rows(A: Any, b: Any, size: int, what: str) -> tuple[Floats, Floats]:
    """Rows scaled to unit length; a row of zeros or anything not finite is refused."""
    if A is None and b is None:
        return frozen(np.empty((0, size))), frozen(np.empty(0))
    if A is None or b is None:
        raise BadValue(f"{what} need both a matrix and a right-hand side")
    A, b = np.atleast_2d(np.asarray(A, float)), np.atleast_1d(np.asarray(b, float))
    if A.shape != (len(b), size):
        raise BadValue(f"{what} on {size} coordinates need a matrix of shape ({len(b)}, {size}), not {A.shape}")
    if not (np.isfinite(A).all() and np.isfinite(b).all()):
        raise BadValue(f"{what} must be finite")
    length = np.linalg.norm(A, axis=1)
    if (length < 1e-12).any():
        raise BadValue(f"{what}: row {int(np.argmin(length))} has no coefficient")
    return frozen(A / length[:, None]), frozen(b / length)


@dataclass(frozen=True, eq=False)
class Limits:
    """``lower ≤ q ≤ upper``, ``A_eq q = b_eq``, ``A q ≤ b``. Rows are kept scaled to unit length."""

    lower: Floats
    upper: Floats
    A_eq: Any = None
    b_eq: Any = None
    A: Any = None
    b: Any = None
    _pack: tuple[Any, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        lower, upper = np.atleast_1d(np.array(self.lower, float)), np.atleast_1d(np.array(self.upper, float))
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
        pack = (lower, upper, len(b_eq), np.ascontiguousarray(np.vstack([A_eq, A])), np.concatenate([b_eq, b]))
        object.__setattr__(self, "_pack", pack)
        if pack[4].size:
            self.project(np.clip(np.zeros(len(lower)), lower, upper))  # refuses a contradiction now, by name

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
        return self._pack[2:]  # type: ignore[return-value]

    def contains(self, q: ArrayLike, slack: float = SLACK) -> bool:
        """Whether `q` is allowed: the box exactly, rows to within `slack`."""
        q = np.asarray(q, float)
        lower, upper, equalities, A, b = self._pack
        over = A @ q - b
        over[:equalities] = np.abs(over[:equalities])
        return bool((q >= lower).all() and (q <= upper).all() and (over <= slack).all())

    def project(self, q: ArrayLike) -> Floats:
        """The allowed posture nearest to `q`."""
        out = np.array(q, dtype=np.float64)
        if out.shape != (self.size,):
            raise BadValue(f"a posture of {self.size} coordinates has shape ({self.size},), not {out.shape}")
        if not np.isfinite(out).all():
            raise BadValue("a posture to project must be finite")
        if self.is_box:
            return np.clip(out, self.lower, self.upper)
        y, back = np.empty(len(self._pack[4])), np.empty(self.size)
        over = _project_entry(out, *self._pack, np.ones(self.size), y, back)
        if not over <= SLACK:
            raise BadValue(f"the limits contradict each other: the nearest posture oversteps a row by {over:.3g}")
        return out
