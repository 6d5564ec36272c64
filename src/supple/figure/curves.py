"""Bent curves of one coordinate by which it drives a joint: splines, and polynomials laid end to end."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from supple.basics.checks import finite, instance, number, numbers, one_of
from supple.errors import BadValue
from supple.figure.drives import Curve, Pair
from supple.geometry.placements import Floats


class Pieced(Curve):
    """What polynomials laid end to end can be asked; a kind of them says what its pieces are."""

    def pieces(self) -> Floats:
        """Rows (knot, c0, c1, …) of ``f = Σ c_k tᵏ``, ``t = q − knot``, each from its knot on, the first one below it too."""
        raise NotImplementedError

    def __call__(self, q: float) -> float:
        """The value at q."""
        rows = self.pieces()
        knot, *c = rows[int(np.searchsorted(rows[1:, 0], q, side="right"))]
        return float(np.polynomial.polynomial.polyval(q - knot, c))

    def _stretches(self) -> list[tuple[float, Floats, float, float]]:
        """Of each piece: its knot, its coefficients, and from where to where it holds."""
        rows = self.pieces()
        ends = [-np.inf, *rows[1:, 0].tolist(), np.inf]
        return [(float(row[0]), row[1:], a, b) for row, a, b in zip(rows, ends, ends[1:], strict=False)]

    def span(self, lower: float, upper: float) -> Pair:
        """The least and the greatest value between two points: at the ends, at knots, or where a piece is level."""
        lower, upper = (number(end, "an end of the stretch of a curve") for end in (lower, upper))
        values = [self(lower), self(upper)]
        for knot, c, a, b in self._stretches():
            a, b = max(a, lower) - knot, min(b, upper) - knot
            values += _extremes(c, a, b) if a < b else []
        return min(values), max(values)

    def steepest(self) -> float:
        """The greatest slope, up or down; infinite where an end piece grows ever steeper."""
        slopes = []
        for knot, c, a, b in self._stretches():
            d = c[1:] * np.arange(1, len(c))
            if np.isfinite(a) and np.isfinite(b):
                slopes += _extremes(d, a - knot, b - knot) if a < b else []
            else:
                slopes.append(np.inf if d[1:].any() else d[0] if len(d) else 0.0)
        return float(np.abs(slopes).max())


def _extremes(c: Floats, a: float, b: float) -> list[float]:
    """The values of ``Σ c_k tᵏ`` at a and b and where it is level between them."""
    scaled = c * (b - a) ** np.arange(len(c))  # of u = t / (b − a), so that what is negligible can be told
    level = scaled[1:] * np.arange(1, len(c))
    level = np.where(np.abs(level) > 1e-16 * np.abs(level).max(initial=0.0), level, 0.0)
    roots = np.polynomial.polynomial.polyroots(np.trim_zeros(level, "b")) if level[1:].any() else np.empty(0)
    between = (b - a) * np.real(roots[np.abs(np.imag(roots)) < 1e-9])
    where = [a, b, *(t for t in between if a < t < b)]
    return np.polynomial.polynomial.polyval(np.array(where), c).tolist()


@dataclass(frozen=True, eq=False, repr=False)
class Spline(Pieced):
    """A cubic spline through the points ``(x, y)``, twice continuously differentiable between them, straight beyond its ends.

    With "natural" `ends` the second derivative is zero at both ends, which makes the straight continuation as smooth as
    the rest. With "cubic" ends the third derivative at an end is that of the cubic through the four points there (zero for
    three points): it follows smooth data more closely, but its second derivative jumps to zero where the line begins.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    ends: str = "natural"

    def __post_init__(self) -> None:
        knots = np.atleast_1d(numbers(self.x, "the knots of a spline"))
        x: tuple[float, ...] = tuple(finite(knots, knots.shape[:1], "the knots of a spline").tolist())
        y: tuple[float, ...] = tuple(finite(self.y, (len(x),), "the values of a spline").tolist())
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "y", y)
        if len(x) < 2 or any(b <= a for a, b in pairwise(x)):
            raise BadValue(f"a spline needs two or more knots in rising order, not {x}")
        one_of(self.ends, ("natural", "cubic"), "the ends of a spline")
        with np.errstate(all="ignore"):
            if not np.isfinite(self.pieces()).all():
                raise BadValue("the knots of a spline are too near to each other for its values")

    def pieces(self) -> Floats:
        """Rows (knot, c0, c1, c2, c3) of ``f = c0 + c1 t + c2 t² + c3 t³``, ``t = q − knot``; straight ends included.

        The first row is the continuation below the first knot and is measured from it too. The second derivatives m at the
        knots solve ``h₀ m₀ + 2(h₀ + h₁) m₁ + h₁ m₂ = 6 (s₁ − s₀)`` with h the widths and s the slopes of the chords; at an
        end ``m₀ = 0``, or ``m₁ − m₀ = 6 h₀ D`` with D the third divided difference of the four points there.
        """
        x, y = np.array(self.x), np.array(self.y)
        h = np.diff(x)
        s = np.diff(y) / h
        m = np.zeros(len(x)) if len(x) == 2 else self._bends(x, h, s)
        c1 = s - h * (2.0 * m[:-1] + m[1:]) / 6.0
        inner = np.column_stack([x[:-1], y[:-1], c1, m[:-1] / 2.0, np.diff(m) / (6.0 * h)])
        end_slope = s[-1] + h[-1] * (m[-2] + 2.0 * m[-1]) / 6.0
        return np.vstack([[x[0], y[0], c1[0], 0.0, 0.0], inner, [x[-1], y[-1], end_slope, 0.0, 0.0]])

    def stretched(self, along: float, up: float) -> Spline:
        """``up · f(q / along)``."""
        return Spline(tuple(along * x for x in self.x), tuple(up * y for y in self.y), self.ends)

    def _bends(self, x: Floats, h: Floats, s: Floats) -> Floats:
        """The second derivatives at three or more knots, from a band of three diagonals."""
        n = len(x)
        band, right = np.zeros((3, n)), np.zeros(n)
        band[0, 2:], band[1, 1:-1], band[2, :-2] = h[1:], 2.0 * (h[:-1] + h[1:]), h[:-1]
        right[1:-1] = 6.0 * np.diff(s)
        band[1, 0] = band[1, -1] = 1.0
        if self.ends == "cubic":
            band[0, 1] = band[2, -2] = -1.0
            if n > 3:
                second = np.diff(s) / (x[2:] - x[:-2])
                third = np.diff(second) / (x[3:] - x[:-3])
                right[0], right[-1] = -6.0 * h[0] * third[0], 6.0 * h[-1] * third[-1]
        from scipy.linalg import solve_banded

        return solve_banded((1, 1), band, right, check_finite=False)


@dataclass(frozen=True, eq=False, repr=False)
class PiecewisePolynomial(Pieced):
    """Polynomials laid end to end: rows (knot, c0, c1, …) of ``f = Σ c_k tᵏ``, ``t = q − knot``, each from its knot on.

    The first row holds below its knot as well; one row is a polynomial. How smooth f is at the knots is up to the rows:
    where they do not fit, derivatives are those of the piece that begins there.
    """

    rows: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        table = numbers(self.rows, "the rows of a curve in pieces, (knot, c0, c1, …), all of one length,")
        if table.ndim != 2 or not len(table) or table.shape[1] < 2:
            raise BadValue("a curve in pieces needs rows (knot, c0, c1, …), all of one length")
        rows = tuple(map(tuple, finite(table, table.shape, "the numbers of a curve in pieces").tolist()))
        object.__setattr__(self, "rows", rows)
        if any(b[0] < a[0] for a, b in pairwise(rows)):
            raise BadValue("the pieces of a curve must be in the order of their knots")

    def pieces(self) -> Floats:
        """The rows as an array."""
        return np.array(self.rows)

    def stretched(self, along: float, up: float) -> PiecewisePolynomial:
        """``up · f(q / along)``."""
        rows = ((along * knot, *(up * c / along**k for k, c in enumerate(more))) for knot, *more in self.rows)
        return PiecewisePolynomial(tuple(rows))

    def scaled(self, factor: float) -> PiecewisePolynomial:
        """``factor · f(q)``."""
        factor = number(factor, "the factor of a curve")
        return PiecewisePolynomial(tuple((knot, *(factor * c for c in more)) for knot, *more in self.rows))

    def after(self, slope: float, shift: float) -> PiecewisePolynomial:
        """``f(slope · q + shift)``, for a slope that is not zero."""
        slope, shift = (
            number(slope, "the slope of a curve's argument"),
            number(shift, "the shift of a curve's argument"),
        )
        if slope == 0.0:
            raise BadValue("the slope of a curve's argument must not be 0: the curve would be a constant")
        rows = [((knot - shift) / slope, c * slope ** np.arange(len(c))) for knot, c, _, _ in self._stretches()]
        if slope < 0.0:  # each piece now begins where the next one began
            begins = [rows[-1][0], *(knot for knot, _ in rows[:0:-1])]
            rows = [(to, _about(c, to - knot)) for (knot, c), to in zip(rows[::-1], begins, strict=True)]
        return PiecewisePolynomial(tuple((knot, *c.tolist()) for knot, c in rows))

    def of_curve(self, inner: PiecewisePolynomial, shift: float = 0.0) -> PiecewisePolynomial:
        """``f(g(q) + shift)`` of this and another curve g: a piece for each piece of f that each piece of g runs through."""
        shift, outer = number(shift, "the shift of a curve's argument"), self._stretches()
        rows: list[tuple[float, Floats]] = []
        for knot, c, a, b in instance(inner, PiecewisePolynomial, "the inner curve")._stretches():
            c = np.array([c[0] + shift, *c[1:]])
            for begin, end in pairwise([a, *_crossings(c, knot, a, b, [row[0] for row in outer[1:]]), b]):
                where = begin if end == np.inf else end if begin == -np.inf else (begin + end) / 2.0
                where += 1.0 if end == np.inf else -1.0 if begin == -np.inf else 0.0
                where = knot if not np.isfinite(begin) and not np.isfinite(end) else where
                at = float(np.polynomial.polynomial.polyval(where - knot, c))
                o_knot, o_c, _, _ = outer[int(np.searchsorted([row[2] for row in outer[1:]], at, side="right"))]
                start = begin if np.isfinite(begin) else end if np.isfinite(end) else knot
                local = _about(c, start - knot)
                rows.append((start, _composed(o_c, np.array([local[0] - o_knot, *local[1:]]))))
        width = max(len(c) for _, c in rows)
        return PiecewisePolynomial(tuple((knot, *np.pad(c, (0, width - len(c))).tolist()) for knot, c in rows))


def _crossings(c: Floats, knot: float, a: float, b: float, levels: list[float]) -> list[float]:
    """Where a polynomial reaches some levels strictly between a and b."""
    out: set[float] = set()
    for level in levels:
        p = np.array([c[0] - level, *c[1:]])
        size = np.abs(p).max(initial=0.0)
        p = np.trim_zeros(np.where(np.abs(p) > 1e-14 * size, p, 0.0), "b")
        if len(p) > 1:
            roots = np.polynomial.polynomial.polyroots(p)
            found = knot + np.real(roots[np.abs(np.imag(roots)) < 1e-9 * (1.0 + np.abs(roots))])
            out.update(float(x) for x in found if a < x < b)
    return sorted(out)


def _composed(f: Floats, g: Floats) -> Floats:
    """The coefficients of ``f(g(t))``."""
    out = np.array([f[-1]])
    for c in f[-2::-1]:
        out = np.convolve(out, g)
        out[0] += c
    return out


def _about(c: Floats, step: float) -> Floats:
    """The coefficients of ``g(t) = f(t + step)``."""
    out = c.copy()
    for k in range(len(c) - 1):
        for j in range(len(c) - 2, k - 1, -1):
            out[j] += step * out[j + 1]
    return out
