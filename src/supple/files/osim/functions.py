"""The functions of OSIM files: what a coordinate does to an axis, as sums of curves of one coordinate each.

Read are Constant, LinearFunction (of one or several coordinates), PolynomialFunction, PiecewiseLinearFunction, SimmSpline
(under its older names too) and MultiplierFunction around any of them. A SimmSpline is a cubic spline with "cubic" ends
(`Spline`). All are exact, inside and outside their knots; any other function is refused by name.

Coordinates that other coordinates determine are substituted: ``f(g(q))`` of two curves is a curve, cut where g reaches a knot
of f. Only a curve of a sum of curves has no such form and is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from supple.errors import BadValue
from supple.figure.curves import PiecewisePolynomial, Spline
from supple.figure.drives import Curve, Linear
from supple.files.xml import Element, blaming

MOST_KNOTS = 10_000
MOST_POWERS = 16
SPLINES = ("SimmSpline", "NaturalCubicSpline", "natCubicSpline")
READ = ("Constant", "LinearFunction", "PolynomialFunction", "PiecewiseLinearFunction", "MultiplierFunction", *SPLINES)


@dataclass(frozen=True)
class Sum:
    """``offset + Σ f(q)`` over terms (coordinate, f)."""

    offset: float = 0.0
    terms: tuple[tuple[str, Curve], ...] = ()

    def scaled(self, factor: float) -> Sum:
        """``factor`` times this."""
        terms = [
            (n, Linear(factor * f.slope) if isinstance(f, Linear) else _pieces(f).scaled(factor)) for n, f in self.terms
        ]
        return Sum(factor * self.offset, tuple(terms))

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.offset + other.offset, _merged((*self.terms, *other.terms)))

    def put_in(self, values: Mapping[str, Sum]) -> Sum:
        """This with some coordinates replaced by what determines them."""
        out = Sum(self.offset)
        for name, curve in self.terms:
            inner = values.get(name)
            out += Sum(0.0, ((name, curve),)) if inner is None else _applied(curve, inner, name)
        return out

    @property
    def is_straight(self) -> bool:
        """Whether it is linear in every coordinate."""
        return all(isinstance(f, Linear) for _, f in self.terms)


def of(name: str) -> Sum:
    """The coordinate itself."""
    return Sum(0.0, ((name, Linear(1.0)),))


def _pieces(curve: Curve) -> PiecewisePolynomial:
    return (
        curve
        if isinstance(curve, PiecewisePolynomial)
        else PiecewisePolynomial(tuple(map(tuple, curve.pieces().tolist())))
    )


def _merged(terms: tuple[tuple[str, Curve], ...]) -> tuple[tuple[str, Curve], ...]:
    """The terms with all lines of one coordinate made one."""
    slopes: dict[str, float] = {}
    for name, f in terms:
        if isinstance(f, Linear):
            slopes[name] = slopes.get(name, 0.0) + f.slope
    bent = tuple((name, f) for name, f in terms if not isinstance(f, Linear))
    return (*((name, Linear(slope)) for name, slope in slopes.items()), *bent)


def _applied(curve: Curve, inner: Sum, name: str) -> Sum:
    """``curve(inner)``."""
    if isinstance(curve, Linear):
        return inner.scaled(curve.slope)
    if not inner.terms:
        return Sum(curve(inner.offset))
    leader, line = inner.terms[0]
    if len(inner.terms) > 1:
        raise BadValue(f"coordinate {name!r} follows several others and moves an axis by a curve: make it a line")
    if not isinstance(line, Linear):
        return Sum(0.0, ((leader, _pieces(curve).of_curve(_pieces(line), inner.offset)),))
    if line.slope == 0.0:
        return Sum(curve(inner.offset))
    return Sum(0.0, ((leader, _pieces(curve).after(line.slope, inner.offset)),))


def function_in(holder: Element) -> Element | None:
    """The function that an element holds, bare or inside <function>."""
    wrapped = holder.first("function")
    if wrapped is not None:
        return next(iter(wrapped.children), None)
    candidates = (child for child in holder.children if child.tag[:1].isupper() or child.tag in SPLINES)
    return next(candidates, None)


def read_function(function: Element, names: tuple[str, ...]) -> Sum:
    """What a function says of the coordinates that it is given."""
    with blaming(function):
        return _read(function, names)


def _read(function: Element, names: tuple[str, ...]) -> Sum:
    if function.tag == "Constant":
        value = function.first("value")
        return Sum(0.0 if value is None else value.listed(1)[0])
    if function.tag == "MultiplierFunction":
        inner, scale = function_in(function), function.first("scale")
        if inner is None:
            raise function.bad(f"{function.label} multiplies no function")
        return read_function(inner, names).scaled(1.0 if scale is None else scale.listed(1)[0])
    if function.tag == "LinearFunction":
        *slopes, offset = _coefficients(function, (1.0, 0.0))
        if len(slopes) != len(names):
            raise function.bad(f"{function.label} has {len(slopes)} slopes for {len(names)} coordinates")
        return Sum(offset, _merged(tuple((n, Linear(slope)) for n, slope in zip(names, slopes, strict=True))))
    if function.tag not in READ:
        raise function.bad(f"functions of type {function.tag} are not read; {', '.join(READ[:6])} are")
    if len(names) != 1:
        raise function.bad(f"{function.label} takes one coordinate, not {len(names)}")
    return _of_one(function, names[0])


def _of_one(function: Element, name: str) -> Sum:
    if function.tag == "PolynomialFunction":
        c = list(_coefficients(function, (1.0,)))[::-1]
        if len(c) > MOST_POWERS:
            raise function.bad(f"{function.label} has degree {len(c) - 1}; at most {MOST_POWERS - 1} is read")
        bent: Curve = PiecewisePolynomial(((0.0, 0.0, *c[1:]),)) if len(c) > 2 else Linear(c[1] if len(c) == 2 else 0.0)
        return Sum(c[0], ((name, bent),))
    x, y = function.needed("x").listed(), function.needed("y").listed()
    if len(x) != len(y) or not 2 <= len(x) <= MOST_KNOTS:
        raise function.bad(
            f"{function.label} has {len(x)} x and {len(y)} y; it needs as many of one as of the other, 2 or more"
        )
    spline = Spline(x, y, "cubic")
    if function.tag in SPLINES:
        return Sum(0.0, ((name, _pieces(spline)),))
    rises = [(b - a) / (v - u) for a, b, u, v in zip(y, y[1:], x, x[1:], strict=False)]
    return Sum(0.0, ((name, PiecewisePolynomial(tuple(zip(x, y, rises, strict=False)))),))


def _coefficients(function: Element, default: tuple[float, ...]) -> tuple[float, ...]:
    child = function.first("coefficients")
    values = default if child is None else child.listed()
    if not values:
        raise function.bad(f"{function.label} has no coefficients")
    return values
