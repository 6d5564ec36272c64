"""The allowed postures: a box, linear equalities and linear inequalities on the coordinates.

``lower ≤ q ≤ upper``, ``A_eq q = b_eq``, ``A q ≤ b``: a convex set that can say whether it `contains` a posture and which of
its postures is nearest to a given one (`project`).

**Projection.** ``½ Σ (q − q₀)²/d`` is made least by the dual active-set method of Goldfarb & Idnani (1983). Of the limits some
are *active*: rows W with multipliers y, and coordinates that the box holds. At all times q is the nearest posture that keeps
the active limits exactly: with ``x = q₀ − D A_Wᵀy``, free coordinates have q = x and held ones lie at their bound, beyond
which x is; ``(x − q)/d`` is the bound's multiplier. The clip of q₀ is such a start. In each round the limit that is
overstepped most, of normal g, is pushed back by t > 0:

    L Lᵀ r = A_W D_F g,  v = g − A_Wᵀr,  y ← y − t r,  x ← x − t D v,                L Lᵀ = A_W D_F A_Wᵀ, F the free ones,

until it is kept (``t = s/‖v‖²_F``, s the overstep: it becomes active) or a multiplier of an active inequality reaches 0 (that
one is let go, and the push goes on). If g depends on the active normals, ``v_F = 0``, and no multiplier falls, then r proves
that the limits contradict each other. The distance from q₀ rises from round to round, so no active set comes twice. L is
built row by row from the lengths of v, made orthogonal twice over: rows may be parallel to eleven digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supple.compiled import entry, leaf, row, shared, stage, table
from supple.errors import BadValue
from supple.space import Floats, frozen

ROUNDS = 20  # of a projection, for each limit and coordinate; one for each limit that becomes active is the rule
EXACT = 1e-13  # a limit counts as kept by a projection if it is overstepped by less than this part of what is summed
SLACK = 1e-9  # a row of unit length counts as kept if it is overstepped by less
DEPENDENT = 1e-11  # a normal with less than this part of its length left depends on the active ones
SURE = 1e-13  # a multiplier that falls by less than this part of the push does not fall


class Face(NamedTuple):
    """The state of a projection; `r`, `w` and `h` are scratch, `index`, `y` and L those of the active rows, in their order."""

    q: Any
    x: Any
    lower: Any
    upper: Any
    A: Any
    b: Any
    ease: Any
    index: Any
    y: Any
    r: Any
    w: Any
    h: Any
    L: Any


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
    """``a_r·q − b_r``, in four sums that do not wait for each other."""
    n, i = q.shape[0], 0
    s0, s1, s2, s3 = -b[r], 0.0, 0.0, 0.0
    while i + 3 < n:
        s0 += A[r, i] * q[i]
        s1 += A[r, i + 1] * q[i + 1]
        s2 += A[r, i + 2] * q[i + 2]
        s3 += A[r, i + 3] * q[i + 3]
        i += 4
    while i < n:
        s0 += A[r, i] * q[i]
        i += 1
    return (s0 + s1) + (s2 + s3)


@leaf
def summed(A: Any, b: Any, r: int, q: Any) -> float:
    """What rounding of `overstep` is measured by: ``1 + |b_r| + Σ |a_ri q_i|``."""
    size = 1.0 + abs(b[r])
    for i in range(q.shape[0]):
        size += abs(A[r, i] * q[i])
    return size


@leaf
def is_free(f: Any, i: int, own: int) -> bool:
    """Whether coordinate i moves: the box does not hold it, or it is the one on its way to its bound, `own`."""
    return (f.q[i] == f.x[i] or i == own) and f.lower[i] < f.upper[i] and f.ease[i] > 0.0


@leaf
def normal(f: Any, p: int, i: int) -> float:
    """Coordinate i of the normal of limit p: a row, or the bound of coordinate ``p − m``; 0 for no limit, ``p < 0``."""
    m = f.b.shape[0]
    if p >= m:
        return 1.0 if i == p - m else 0.0
    return f.A[p, i] if p >= 0 else 0.0


@leaf
def answer(f: Any, count: int, i: int) -> float:
    """``(A_Wᵀr)_i``."""
    s = 0.0
    for k in range(count):
        s += f.r[k] * f.A[int(f.index[k]), i]
    return s


@leaf
def forward(f: Any, count: int) -> float:
    """``h ← L⁻¹h``; returns its square."""
    square = 0.0
    for k in range(count):
        for j in range(k):
            f.h[k] -= f.L[k, j] * f.h[j]
        f.h[k] /= f.L[k, k]
        square += f.h[k] * f.h[k]
    return square


@leaf
def backward(f: Any, count: int) -> None:
    """``r ← r + L⁻ᵀh``."""
    for k in range(count - 1, -1, -1):
        for j in range(k + 1, count):
            f.h[k] -= f.L[j, k] * f.h[j]
        f.h[k] /= f.L[k, k]
    for k in range(count):
        f.r[k] += f.h[k]


@leaf
def remainder(f: Any, count: int, p: int, sign: float, own: int) -> Any:
    """``h = A_W D_F v``; returns ``‖v‖²_F``, and the same with all that v is summed from taken positive."""
    square, size = 0.0, 0.0
    for k in range(count):
        f.h[k] = 0.0
    for i in range(f.q.shape[0]):
        if is_free(f, i, own):
            v = sign * normal(f, p, i)
            most = abs(v)
            for k in range(count):
                part = f.r[k] * f.A[int(f.index[k]), i]
                v -= part
                most += abs(part)
            square += f.ease[i] * v * v
            size += f.ease[i] * most * most
            if v != 0.0:
                for k in range(count):
                    f.h[k] += f.ease[i] * v * f.A[int(f.index[k]), i]
    return square, size


@stage
def respond(f: Any, count: int, p: int, sign: float, own: int) -> float:
    """How `count` active rows answer a push at limit p: r, and ``w = Lᵀr``; returns ``‖v‖²_F``, 0 if p depends on them."""
    for k in range(count):
        f.r[k] = f.w[k] = 0.0
    square, size = remainder(f, count, p, sign, own)
    for turn in range(4):
        more = forward(f, count)
        if turn > 0 and more <= 1e-22 * square or count == 0:
            break
        for k in range(count):
            f.w[k] += f.h[k]
        backward(f, count)
        square, size = remainder(f, count, p, sign, own)
    return square if square > DEPENDENT * DEPENDENT * size else 0.0


@stage
def factor(f: Any, first: int, count: int, own: int) -> None:
    """L anew from row `first` on. A row that has come to depend on those before rests: it no longer answers."""
    for k in range(first, count):
        square = respond(f, k, int(f.index[k]), 1.0, own)
        for j in range(k):
            f.L[k, j] = f.w[j]
        f.L[k, k] = math.sqrt(square) if square > 0.0 else 1e150


@stage
def first_to_fall(f: Any, equalities: int, count: int, p: int, sign: float) -> Any:
    """The push t at which the first multiplier is 0, and whose: an active row's place, m + a coordinate, or −1."""
    longest, whose, peak = math.inf, -1, 1.0
    for k in range(count):
        peak = max(peak, abs(f.r[k]))
    for k in range(count):
        if f.r[k] > SURE * peak and f.index[k] >= equalities:
            t = max(f.y[k], 0.0) / f.r[k]
            if t < longest:
                longest, whose = t, k
    for i in range(f.q.shape[0]):
        if f.q[i] != f.x[i] and f.lower[i] < f.upper[i] and f.ease[i] > 0.0 and f.b.shape[0] + i != p:
            v = sign * normal(f, p, i) - answer(f, count, i)
            if (v > SURE * peak and f.q[i] == f.upper[i]) or (v < -SURE * peak and f.q[i] == f.lower[i]):
                t = max((f.x[i] - f.q[i]) / (f.ease[i] * v), 0.0)
                if t < longest:
                    longest, whose = t, f.b.shape[0] + i
    return longest, whose


@stage
def advance(f: Any, count: int, p: int, sign: float, t: float) -> int:
    """``y ← y − t r``, ``x ← x − t D v`` and q with it; the first row of L that is out of date, if that freed a coordinate."""
    first = count
    for k in range(count):
        f.y[k] -= t * f.r[k]
    for i in range(f.q.shape[0]):
        way = t * f.ease[i]
        pull = answer(f, count, i) if f.lower[i] < f.upper[i] and way != 0.0 else 0.0
        if f.b.shape[0] + i == p:
            f.q[i] -= way * (sign - pull)
            f.x[i] += way * pull
        elif is_free(f, i, p - f.b.shape[0]):
            f.q[i] -= way * (sign * normal(f, p, i) - pull)
            f.x[i] = f.q[i]
        elif f.lower[i] < f.upper[i]:
            f.x[i] -= way * (sign * normal(f, p, i) - pull)
            first = 0 if f.x[i] == f.q[i] and way != 0.0 else first
    return first


@leaf
def first_row_on(f: Any, count: int, i: int) -> int:
    """The place of the first active row with a coefficient of coordinate i."""
    k = 0
    while k < count and f.A[int(f.index[k]), i] == 0.0:
        k += 1
    return k


@leaf
def drop(f: Any, count: int, whose: int) -> Any:
    """Let a limit go: the number of active rows, and the first whose row of L is out of date."""
    m = f.b.shape[0]
    if whose >= m:
        f.x[whose - m] = f.q[whose - m]
        return count, first_row_on(f, count, whose - m)
    for k in range(whose, count - 1):
        f.index[k], f.y[k] = f.index[k + 1], f.y[k + 1]
    return count - 1, whose


@stage
def settle(f: Any, count: int, p: int) -> None:
    """Take out of the active rows what rounding has left in them."""
    for _ in range(3):
        worst = 0.0
        for k in range(count):
            r = int(f.index[k])
            f.r[k], f.h[k] = 0.0, overstep(f.A, f.b, r, f.q)
            worst = max(worst, abs(f.h[k]) / (1.0 + abs(f.b[r])))
        if worst <= EXACT:
            break
        forward(f, count)
        backward(f, count)
        factor(f, advance(f, count, p, 0.0, -1.0), count, p - f.b.shape[0])


@leaf
def append(f: Any, count: int, p: int, y: float, sign: float, square: float) -> None:
    """Make row p active, which `respond` has just answered."""
    f.index[count], f.y[count] = p, y
    for k in range(count):
        f.L[count, k] = sign * f.w[k]
    f.L[count, count] = math.sqrt(square)


@stage
def push(f: Any, equalities: int, count: int, p: int, sign: float) -> int:
    """Push q back to limit p, which becomes active: the number of active rows, −1 if nothing can give way."""
    n, m, force = f.q.shape[0], f.b.shape[0], 0.0
    for _ in range(n + m + 1):
        i, limit = p - m, 0.0
        if i >= 0:
            limit = f.upper[i] if sign > 0.0 else f.lower[i]
        over = f.q[i] - limit if i >= 0 else overstep(f.A, f.b, p, f.q)
        square = respond(f, count, p, sign, i)
        full = max(sign * over, 0.0) / square if square > 0.0 else math.inf
        longest, whose = first_to_fall(f, equalities, count, p, sign)
        t = min(full, longest)
        if not t < math.inf:
            return -1
        first = advance(f, count, p, sign, t)
        force += t
        kept = full <= longest
        if not kept:
            count, out = drop(f, count, whose)
        elif i >= 0:
            f.q[i], out = limit, first_row_on(f, count, i)
        else:
            append(f, count, p, sign * force, sign, square)
            count += 1
            out = count
        p = -1 if kept else p
        factor(f, min(first, out), count, p - m)
        settle(f, count, p)
        if kept:
            return count
    return -1


@leaf
def is_active(f: Any, count: int, r: int) -> bool:
    """Whether row r is active."""
    for k in range(count):
        if f.index[k] == r:
            return True
    return False


@stage
def most_overstepped(f: Any, equalities: int, count: int) -> Any:
    """The limit that q oversteps most, or −1, and to which side."""
    worst, p, side = 0.0, -1, 1.0
    for r in range(f.b.shape[0]):
        over = overstep(f.A, f.b, r, f.q)
        if (over > EXACT or (over < -EXACT and r < equalities)) and not is_active(f, count, r):
            excess = abs(over) - EXACT * summed(f.A, f.b, r, f.q)
            if excess > worst:
                worst, p, side = excess, r, 1.0 if over > 0.0 else -1.0
    for i in range(f.q.shape[0]):
        excess = max(f.q[i] - f.upper[i], f.lower[i] - f.q[i])
        if excess > worst + EXACT * (1.0 + abs(f.q[i])):
            worst, p, side = excess, f.b.shape[0] + i, 1.0 if f.q[i] > f.upper[i] else -1.0
    return p, side


@leaf
def worst_row(equalities: int, A: Any, b: Any, q: Any) -> float:
    """The most by which a row is overstepped; NaN if q is."""
    worst = 0.0
    for r in range(b.shape[0]):
        over = overstep(A, b, r, q)
        over = abs(over) if r < equalities else over
        worst = worst if over <= worst else over
    return worst


@stage
def project(
    q: Any, lower: Any, upper: Any, equalities: int, A: Any, b: Any, ease: Any, room: Any, origin: Any
) -> float:
    """Nearest allowed posture, in place. Rows have unit length, equalities first.

    Returns the most by which a row is still overstepped; infinity if the limits contradict each other.

    `ease` (size) is D, the inverse metric: distance is ``Σ dq²/ease``, and a coordinate of ease 0 does not move. `room`
    (`row_room` numbers; infinity is returned if it is smaller) and `origin` (size) are scratch.
    """
    n, m = q.shape[0], b.shape[0]
    for i in range(n):
        origin[i] = q[i]
    clip(q, lower, upper)
    if room.shape[0] < row_room(m):
        return math.inf
    index, y, r = row(room, 0, m), row(room, m, m), row(room, 2 * m, m)
    w, h, L = row(room, 3 * m, m), row(room, 4 * m, m), table(room, 5 * m, m, m)
    f = Face(q, origin, lower, upper, A, b, ease, index, y, r, w, h, L)
    count = p = min(m, 0)  # no literal, for which all would be compiled once more
    for _ in range(ROUNDS * (n + m)):
        p, side = most_overstepped(f, equalities, count)
        if p < 0:
            break
        count = push(f, equalities, count, p, side)
        if count < 0:
            break
    over = max(q[p - m] - upper[p - m], lower[p - m] - q[p - m]) if p >= m else 0.0
    clip(q, lower, upper)
    worst = worst_row(equalities, A, b, q)
    return worst if count >= 0 or max(worst, over) <= SLACK else math.inf


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
        if over == np.inf:
            raise BadValue("the limits contradict each other: no posture keeps them all")
        if not over <= SLACK * max(1.0, float(np.abs(self._pack[4]).max())):
            raise BadValue(f"the limits leave no posture that can be found: one is overstepped by {over:.3g}")
        return out
