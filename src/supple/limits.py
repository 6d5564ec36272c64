"""The allowed postures: a box, linear equalities and linear inequalities on the coordinates.

``lower ≤ q ≤ upper``, ``A_eq q = b_eq``, ``A q ≤ b``: a convex set that can say whether it `contains` a posture and which of
its postures is nearest to a given one (`project`).

**Projection.** The box alone is a clip, and a clip that keeps the rows is the projection. Otherwise the multipliers y of the
rows (``y ≥ 0`` for inequalities) are sought: for given y the nearest point is ``q(y) = clip(q₀ − D Aᵀy)``, and y maximises the
concave dual ``½‖q(y) − q₀‖²_D⁻¹ + yᵀ(A q(y) − b)``, whose slope is ``A q(y) − b`` and whose second derivative is
``−A_F D A_Fᵀ``, F the coordinates that the box does not hold. A round is a sweep of safe steps, one multiplier at a time
(Hildreth), which finds the rows that pull, and a Newton step with a line search for these. The dual is piecewise
quadratic, so the Newton step ends at its exact maximum as soon as the right piece is found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.compiled import entry, leaf, row, shared, stage, table
from supple.errors import BadValue
from supple.space import Floats, frozen

ROUNDS = 2000  # of a projection; a handful is the rule
HELD = 1e-6  # weight, in a Newton step, of a coordinate that the box holds: the box may let it go
SLACK = 1e-9  # a row of unit length counts as kept if it is overstepped by less


@shared
def row_room(m: int) -> int:
    """Numbers of scratch that `project` needs for m rows."""
    return m * (m + 5)


@leaf
def clip(q: Any, lower: Any, upper: Any) -> None:
    """Nearest posture in the box, in place."""
    for i in range(q.shape[0]):
        q[i] = min(max(q[i], lower[i]), upper[i])


@leaf
def overstep(A: Any, b: Any, r: int, q: Any) -> float:
    """``a_r·q − b_r``."""
    s = -b[r]
    for i in range(q.shape[0]):
        s += A[r, i] * q[i]
    return s


@leaf
def pulled(q: Any, origin: Any, lower: Any, upper: Any, A: Any, b: Any, ease: Any, y: Any, s: Any) -> float:
    """``q = clip(q₀ − D Aᵀy)`` and the slopes ``s = A q − b``; returns the dual's value."""
    value = 0.0
    for i in range(q.shape[0]):
        q[i] = origin[i]
    for r in range(b.shape[0]):
        if y[r] != 0.0:
            for i in range(q.shape[0]):
                q[i] -= ease[i] * A[r, i] * y[r]
    for i in range(q.shape[0]):
        q[i] = min(max(q[i], lower[i]), upper[i])
        if ease[i] > 0.0:
            value += 0.5 * (q[i] - origin[i]) ** 2 / ease[i]
    for r in range(b.shape[0]):
        s[r] = overstep(A, b, r, q)
        value += y[r] * s[r]
    return value


@leaf
def sweep(
    q: Any, origin: Any, lower: Any, upper: Any, equalities: int, A: Any, b: Any, ease: Any, y: Any, s: Any
) -> float:
    """One safe step for each multiplier in turn: the curvature without the box is the greatest there can be.

    After a step only the coordinates of that row are computed anew, and what they change in other rows.
    """
    for r in range(y.shape[0]):
        if s[r] <= 0.0 and y[r] == 0.0 and r >= equalities:
            continue
        stiffness = 0.0
        for i in range(q.shape[0]):
            stiffness += A[r, i] * A[r, i] * ease[i]
        if not stiffness > 0.0:
            continue
        new = y[r] + s[r] / stiffness
        y[r] = new if r < equalities else max(new, 0.0)
        for i in range(q.shape[0]):
            if A[r, i] != 0.0 and ease[i] > 0.0:
                x = origin[i]
                for c in range(y.shape[0]):
                    x -= ease[i] * A[c, i] * y[c]
                x = min(max(x, lower[i]), upper[i])
                for c in range(y.shape[0]):
                    s[c] += A[c, i] * (x - q[i])
                q[i] = x
    return pulled(q, origin, lower, upper, A, b, ease, y, s)


@leaf
def dual_step(
    q: Any, lower: Any, upper: Any, equalities: int, A: Any, ease: Any, y: Any, s: Any, H: Any, step: Any, felt: Any
) -> None:
    """Newton's step for the rows that are felt: ``(A_F D A_Fᵀ) step = s``, by Cholesky; a row that is not felt rests."""
    m, count = y.shape[0], 0
    for r in range(m):
        step[r] = 0.0
        if r < equalities or y[r] > 0.0:
            felt[count], count = r, count + 1
    for k in range(count):
        r = int(felt[k])
        for l in range(k + 1):
            H[k, l] = 0.0
        for i in range(q.shape[0]):
            h = A[r, i] * ease[i] * (1.0 if lower[i] < q[i] and q[i] < upper[i] else HELD)
            if h != 0.0:
                for l in range(k + 1):
                    H[k, l] += h * A[int(felt[l]), i]
        H[k, k] = H[k, k] * (1.0 + 1e-10) + 1e-14
        x = s[r]
        for l in range(k + 1):
            for j in range(l):
                H[k, l] -= H[k, j] * H[l, j]
            H[k, l] = math.sqrt(max(H[k, k], 1e-15)) if k == l else H[k, l] / H[l, l]
            x -= H[k, l] * step[int(felt[l])]  # nothing yet for l = k
        step[r] = x / H[k, k]
    for k in range(count - 1, -1, -1):
        r = int(felt[k])
        for l in range(k + 1, count):
            step[r] -= H[l, k] * step[int(felt[l])]
        step[r] /= H[k, k]


@stage
def project(
    q: Any, lower: Any, upper: Any, equalities: int, A: Any, b: Any, ease: Any, room: Any, origin: Any
) -> float:
    """Nearest allowed posture, in place. Rows have unit length, equalities first.

    Returns how far it is from being that: the most by which a row is overstepped, or left alone although it pulls.

    `ease` (size) is D, the inverse metric: distance is ``Σ dq²/ease``, and a coordinate of ease 0 does not move. `room`
    (`row_room` numbers) and `origin` (size) are scratch.
    """
    n, m = q.shape[0], b.shape[0]
    for i in range(n):
        origin[i] = q[i]
    clip(q, lower, upper)
    worst = 0.0
    for r in range(m):
        over = overstep(A, b, r, q)
        worst = max(worst, abs(over) if r < equalities else over)
    if worst <= 0.0:
        return 0.0
    if room.shape[0] < row_room(m):
        return math.inf
    y, s, step, trial = row(room, 0, m), row(room, m, m), row(room, 2 * m, m), row(room, 3 * m, m)
    best, H = row(room, 4 * m, m), table(room, 5 * m, m, m)
    for r in range(m):
        y[r] = best[r] = 0.0
    value = pulled(q, origin, lower, upper, A, b, ease, y, s)
    least = math.inf
    for _ in range(ROUNDS):
        worst = 0.0
        for r in range(m):
            worst = max(worst, abs(s[r]) if r < equalities or y[r] > 0.0 else s[r])
        if worst < least:
            least = worst
            for r in range(m):
                best[r] = y[r]
        if worst <= 1e-14:
            break
        value = sweep(q, origin, lower, upper, equalities, A, b, ease, y, s)
        dual_step(q, lower, upper, equalities, A, ease, y, s, H, step, trial)
        length, found = 1.0, False
        while length > 1e-12 and not found:
            gain = 0.0
            for r in range(m):
                trial[r] = y[r] + length * step[r]
                if r >= equalities:
                    trial[r] = max(trial[r], 0.0)
                gain += s[r] * (trial[r] - y[r])
            new = pulled(q, origin, lower, upper, A, b, ease, trial, H[0])
            found = gain > 0.0 and new >= value + 1e-4 * gain
            length *= 0.5
        for r in range(m):
            y[r] = trial[r] if found else y[r]
        value = pulled(q, origin, lower, upper, A, b, ease, y, s)
    pulled(q, origin, lower, upper, A, b, ease, best, s)
    return least


@entry
def _project_entry(
    q: Any, lower: Any, upper: Any, equalities: int, A: Any, b: Any, ease: Any, room: Any, origin: Any
) -> float:
    return project(q, lower, upper, equalities, A, b, ease, room, origin)


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
        room, origin = np.empty(row_room(len(self._pack[4]))), np.empty(self.size)
        over = _project_entry(out, *self._pack, np.ones(self.size), room, origin)
        return out if over <= SLACK else _nearest(np.array(q, dtype=np.float64), *self._pack)


def _nearest(q: Floats, lower: Floats, upper: Floats, equalities: int, A: Floats, b: Floats) -> Floats:
    """The projection where the kernel's iteration ends too early: least distance programming (Lawson & Hanson, chapter 23).

    With all limits as ``G z ≥ h``, ``z`` the way from q, the non-negative u that brings ``(Gᵀ; hᵀ) u`` nearest to (0, …, 0, 1)
    leaves a residual r with ``z = −r/r_last``; if it leaves none, no posture is allowed.
    """
    from scipy.optimize import nnls

    box = np.eye(len(q))
    low, high = np.isfinite(lower), np.isfinite(upper)
    G = np.vstack([box[low], -box[high], -A, A[:equalities]])
    h = np.concatenate([(lower - q)[low], (q - upper)[high], A @ q - b, b[:equalities] - A[:equalities] @ q])
    size = float(np.abs(h).max(initial=1.0))
    E, f = np.vstack([G.T, h / size]), np.append(np.zeros(len(q)), 1.0)
    u, distance = nnls(E, f, maxiter=100 * E.shape[1])
    r = E @ u - f
    if distance < 1e-10 or r[-1] == 0.0:
        raise BadValue("the limits contradict each other: no posture keeps them all")
    out = np.clip(q - size * r[:-1] / r[-1], lower, upper)
    over = A @ out - b
    over[:equalities] = np.abs(over[:equalities])
    if over.max(initial=0.0) > SLACK * max(1.0, size):
        raise BadValue(f"the limits leave no posture that can be found: one is overstepped by {over.max():.3g}")
    return out
