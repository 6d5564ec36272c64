"""Obstacles in `RankOne`: every bar of a figure inside one of several free polytopes (IKSPARK, section VII).

A bar is a ball or a capsule: all points within ρ of its ends e, one or two. It is inside ``C_k x ≤ d_k`` if its ends keep
ρ off every face. Which polytope is a choice, ``z_k ∈ {0, 1}``; its *perspective* (65) makes the choice convex. With shares
z_k of the bar, and x_k those of its ends,

    C_k x_k ≤ (d_k − ρ ‖c_k‖) z_k,    z_k ≥ 0,    Σ z_k = 1,    Σ x_k = e(R),                                        (69)

and where every z is 0 or 1 this is the choice itself. In every step of the descent in rank ``Σ z_k*`` is maximised besides, k*
being the greatest share of a bar so far (72).

**Fewer choices** (IX-C): a pair of a bar and a polytope that the relaxation excludes for the targets at hand needs no
variables. A bar that fits nowhere means that the polytopes leave out the room it needs. **That is no certificate**: polytopes
are inside free space and do not cover all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from supple.basics.checks import check_fields, instance, items, not_negative, whole as whole_number
from supple.basics.values import Value
from supple.errors import BadValue
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.geometry.polyhedra import polyhedron_of
from supple.geometry.shapes import Core, Polytope
from supple.problem.allowance import FREELY
from supple.problem.problem import Problem
from supple.solvers.rank_one.conditions import Plain
from supple.solvers.rank_one.cone_program import Posed
from supple.solvers.rank_one.rank_one import RankOne
from supple.solvers.rank_one.search import Purse
from supple.solvers.rank_one.targets import targets_of
from supple.solvers.rank_one.variables import Cone, Lifted


class Ends(NamedTuple):
    """A bar of a segment: its ends (1 or 2) and its radius."""

    segment: str
    ends: tuple[tuple[float, float, float], ...]
    radius: float


def ends_of(figure: Figure) -> tuple[Ends, ...]:
    """The bars of a figure that can move."""
    out = []
    for segment, bars in figure.round_bars.items():
        for core in [Core.of(bar) for bar in bars] if figure.chain(None, segment) else []:
            sides = (0.0,) if core.half == 0.0 else (-core.half, core.half)
            points = tuple(tuple((core.at[:3, 3] + s * core.at[:3, 2]).tolist()) for s in sides)
            out.append(Ends(segment, points, core.radius))
    return tuple(out)


@dataclass(frozen=True, eq=False, repr=False)
class Watched(Value, Plain):
    """No rows: only segments whose places are wanted."""

    segments: tuple[str, ...]

    def keep(self, problem: Problem) -> Sequence[str]:
        """These segments."""
        return self.segments

    def cones(self, lifted: Lifted) -> tuple[Sequence[Cone], int]:
        """None."""
        return (), 0


@dataclass(frozen=True, eq=False, repr=False)
class FreeRegions(Value):
    """Further rows for `RankOne`: every bar of a figure inside one of the polytopes that are its choices.

    Made by `FreeRegions.of`. `whole` is the weight of whole shares (72).
    """

    bars: tuple[Ends, ...]
    polytopes: tuple[Polytope, ...]
    choices: tuple[tuple[int, ...], ...]
    whole: float = 1.0

    def __post_init__(self) -> None:
        check_fields(self, whole=not_negative)
        object.__setattr__(self, "bars", items(self.bars, "the bars of FreeRegions", Ends))
        object.__setattr__(self, "polytopes", items(self.polytopes, "the polytopes of FreeRegions", Polytope))
        rows = [items(row, "the choices of a bar") for row in items(self.choices, "the choices of FreeRegions")]
        last = len(self.polytopes) - 1
        rows = tuple(tuple(whole_number(k, "the number of a polytope", 0, last) for k in row) for row in rows)
        if len(rows) != len(self.bars):
            raise BadValue(f"FreeRegions needs choices for each of its {len(self.bars)} bars, not for {len(rows)}")
        object.__setattr__(self, "choices", rows)

    @classmethod
    def of(cls, figure: Figure, polytopes: Sequence[Polytope], margin: float = 0.0, whole: float = 1.0) -> FreeRegions:
        """All bars of a figure inside some of the polytopes, such as those of `free_space`, `margin` [m] off their faces."""
        instance(figure, Figure, "what FreeRegions.of() takes first")
        bodies = items(polytopes, "the polytopes of FreeRegions", Polytope)
        if not bodies:
            raise BadValue("FreeRegions needs polytopes, such as those of free_space")
        if not all(_is_bounded(body) for body in bodies):
            raise BadValue("FreeRegions needs bounded polytopes, such as those of free_space")
        margin, whole = (
            not_negative(margin, "the margin of FreeRegions"),
            not_negative(whole, "the weight of whole shares"),
        )
        bars = tuple(bar._replace(radius=bar.radius + margin) for bar in ends_of(figure))
        if not bars:
            raise BadValue(
                f"figure {figure.name!r} has no solids that move: give it some by with_spheres or with_capsules"
            )
        return cls(bars, bodies, (tuple(range(len(bodies))),) * len(bars), whole)

    @property
    def fits(self) -> bool:
        """Whether every bar has a choice left; if not no posture will be found, which proves nothing."""
        return all(self.choices)

    @property
    def variables(self) -> int:
        """The number of shares, and of ends in them."""
        return sum(len(allowed) * _width(bar) for bar, allowed in zip(self.bars, self.choices, strict=True))

    def keep(self, problem: Problem) -> Sequence[str]:
        """The segments that carry bars."""
        return tuple(dict.fromkeys(bar.segment for bar in self.bars))

    def cones(self, lifted: Lifted) -> tuple[Sequence[Cone], int]:
        """The rows (69) of all bars, and the number of their variables."""
        out, first, size = [], 1 + lifted.size, 1 + lifted.size + self.variables
        for bar, allowed, columns in self._layout(first):
            out.append(_whole_of(lifted, bar, columns, size))
            out += [_part_of(bar, self.polytopes[k], int(c), size) for k, c in zip(allowed, columns, strict=True)]
        return out, self.variables

    def push(self, x: Floats) -> Floats:
        """The slope of ``−whole Σ z_k*`` (72); the shares are the last of the variables."""
        out = np.zeros(len(x))
        for _, allowed, columns in self._layout(len(x) - self.variables):
            if len(allowed) > 1:
                out[columns[int(np.argmax(x[columns]))]] = -self.whole
        return out

    def shares(self, x: Floats) -> Floats:
        """The greatest share of every bar at a point of all variables: 1 if the choice is made."""
        return np.array([x[columns].max() for _, _, columns in self._layout(len(x) - self.variables)])

    def _layout(self, at: int) -> Iterator[tuple[Ends, tuple[int, ...], np.ndarray]]:
        """Every bar, its choices and where their shares are, from `at` on; behind each share are those of the ends."""
        for bar, allowed in zip(self.bars, self.choices, strict=True):
            yield bar, allowed, at + _width(bar) * np.arange(len(allowed))
            at += _width(bar) * len(allowed)

    def reduced(self, problem: Problem, solver: RankOne | None = None) -> FreeRegions:
        """The same without the pairs that the relaxation excludes for the problem's targets (Problem 7)."""
        instance(problem, Problem, "what FreeRegions are reduced for")
        watching = replace(
            RankOne() if solver is None else instance(solver, RankOne, "the solver of reduced()"),
            rows=Watched(tuple(self.keep(problem))),
            adaptive=False,
        )
        search, _ = watching.search(problem, True, Purse(FREELY))
        parameters = targets_of(problem)
        choices, known = [], []
        for bar, allowed in zip(self.bars, self.choices, strict=True):
            points = [search.lifted.point(bar.segment, end) @ parameters for end in bar.ends]
            rows = {k: np.vstack([_room_left(bar, self.polytopes[k], E) for E in points]) for k in allowed}
            choices.append(tuple(k for k in allowed if _admits(search.posed, rows[k], known)))
        return replace(self, choices=tuple(choices))


def _is_bounded(body: Polytope) -> bool:
    found = polyhedron_of(body)
    return len(found.points) > 0 and bool(np.isfinite(found.spans).all())


def _admits(posed: Posed, rows: Floats, known: list[Floats]) -> bool:
    """Whether the relaxed set has a point with these rows above 0; points that were found on the way are looked at first."""
    if any((rows @ x >= 0.0).all() for x in known):
        return True
    answer = posed.with_cone("positive", rows).solve()
    if answer.x is not None:
        known.append(np.concatenate([[1.0], answer.x])[: rows.shape[1]])
    return not answer.infeasible


def _width(bar: Ends) -> int:
    """Variables of a bar in one polytope: its share, and that of each end."""
    return 1 + 3 * len(bar.ends)


def _room_left(bar: Ends, body: Polytope, point: Floats) -> Floats:
    """``d − ρ‖c‖ − C p`` for a point (3, 1 + n)."""
    out = -np.tensordot(body.A, point, axes=1)
    out[:, 0] += body.b - bar.radius * np.linalg.norm(body.A, axis=1)
    return out


def _whole_of(lifted: Lifted, bar: Ends, columns: np.ndarray, size: int) -> Cone:
    """``Σ z = 1`` and ``Σ x = e(R)``."""
    E = np.zeros((1 + 3 * len(bar.ends), size, lifted.parameters))
    E[0, 0, 0] = -1.0
    for j, end in enumerate(bar.ends):
        E[1 + 3 * j : 4 + 3 * j, : 1 + lifted.size] = -lifted.point(bar.segment, end)
    for i in range(len(E)):
        E[i, columns + i, 0] = 1.0
    return Cone("zero", E, bar.segment)


def _part_of(bar: Ends, body: Polytope, column: int, size: int) -> Cone:
    """``(d − ρ‖c‖) z − C x ≥ 0`` for all ends, and ``z ≥ 0``."""
    m, inside = len(body.b), body.b - bar.radius * np.linalg.norm(body.A, axis=1)
    E = np.zeros((1 + m * len(bar.ends), size, 1))
    E[0, column, 0] = 1.0
    for j in range(len(bar.ends)):
        rows = slice(1 + m * j, 1 + m * (j + 1))
        E[rows, column, 0] = inside
        E[rows, column + 1 + 3 * j : column + 4 + 3 * j, 0] = -body.A
    return Cone("positive", E, bar.segment)
