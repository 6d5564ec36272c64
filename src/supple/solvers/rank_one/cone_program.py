"""Cone programs whose structure is built once: ``min Σ ‖E(x)‖²`` or ``min cᵀx`` with affine expressions of x in cones.

Expressions (rows, 1 + n, 1 + p) are affine in the variables and in parameters (see `coordinates.lifted`). `ConeProgram` finds
the sparse pattern of all rows once; a set of parameters then gives the numbers by one product. Rows without any
variable are conditions on the parameters alone: they are looked at, not handed on. The solver is Clarabel, an
interior-point method that takes the sparse arrays as they are: ``A x + s = b``, s in the cones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from supple.errors import needed
from supple.geometry.placements import Floats
from supple.solvers.rank_one.variables import Cone, Kind

SLACK = 1e-6  # by how much a condition on the targets alone may fail


def need_clarabel() -> Any:
    """The module of the cone solver."""
    return needed("clarabel", "clarabel", "convex", "RankOne")


@dataclass(frozen=True, eq=False)
class Answer:
    """What the cone solver says: variables, or None, and whether it calls the program infeasible."""

    x: Floats | None
    infeasible: bool
    status: str


@dataclass(frozen=True, eq=False)
class ConeProgram:
    """The structure of a program: where its numbers go, and how they follow from the parameters."""

    indices: np.ndarray
    pointers: np.ndarray
    shape: tuple[int, int]
    coefficients: Floats  # (entries, 1 + p)
    constants: Floats  # (rows, 1 + p)
    kinds: list[tuple[str, int]]
    squares: Floats  # the diagonal of P
    conditions: list[tuple[str, Floats]]  # on parameters alone

    @classmethod
    def of(cls, size: int, parameters: int, cones: Sequence[Cone], costs: Sequence[Floats] = ()) -> ConeProgram:
        """Cones over `size` variables and as many parameters, the number one among them.

        The cost is ``Σ ‖E(x)‖²`` over `costs`; their values are variables too, behind the others, so that P is diagonal.
        """
        residuals = sum(len(E) for E in costs)
        total = size + residuals
        ordered: list[tuple[str, Floats]] = []
        conditions: list[tuple[str, Floats]] = []
        for kind in ("zero", "positive", "second_order", "semidefinite"):
            for cone in (c for c in (*cones, *_residuals(costs, size, total, parameters)) if c.kind == kind):
                free, bound = _split(cone, total, parameters)
                ordered += [(kind, free)] if len(free) else []
                conditions += [(kind, bound)] if len(bound) else []
        none = np.empty(0, dtype=int)
        rows, columns, at = [none], [none], 0
        values, constants = [np.empty((0, parameters))], [np.empty((0, parameters))]
        for _, E in ordered:
            r, j = np.nonzero((E[:, 1:] != 0.0).any(axis=2))
            rows.append(at + r)
            columns.append(j)
            values.append(E[r, 1 + j])
            constants.append(E[:, 0])
            at += len(E)
        row, column = np.concatenate(rows), np.concatenate(columns)
        order = np.lexsort((row, column))
        pattern = sparse.csc_array((np.ones(len(row)), (row[order], column[order])), shape=(at, total))
        numbers = np.concatenate(values)[order], np.concatenate(constants), _merged(ordered)
        squares = np.repeat([0.0, 2.0], [size, residuals])
        return cls(pattern.indices, pattern.indptr, (at, total), *numbers, squares, conditions)

    def at(self, parameters: Floats) -> Posed:
        """The program for a set of parameters."""
        numbers = -(self.coefficients @ parameters)
        A = sparse.csc_array((numbers, self.indices, self.pointers), shape=self.shape)
        met = all(_met(kind, E @ parameters) for kind, E in self.conditions)
        return Posed(A, self.constants @ parameters, self.kinds, self.squares, met)


def _residuals(costs: Sequence[Floats], size: int, total: int, parameters: int) -> list[Cone]:
    """``E(x) − y = 0`` for all costs."""
    out, at = [], 1 + size
    for E in costs:
        rows = np.zeros((len(E), 1 + total, parameters))
        rows[:, : E.shape[1], : E.shape[2]] = E
        rows[np.arange(len(E)), at + np.arange(len(E)), 0] = -1.0
        out.append(Cone("zero", rows))
        at += len(E)
    return out


def _split(cone: Cone, size: int, parameters: int) -> tuple[Floats, Floats]:
    """The rows of a cone with variables, padded to all variables and parameters, and its rows without."""
    m, n, p = cone.rows.shape
    E = np.zeros((m, 1 + size, parameters))
    E[:, :n, :p] = cone.rows
    has = (E[:, 1:] != 0.0).any(axis=(1, 2))
    if cone.kind in ("second_order", "semidefinite"):
        has[:] = has.any()
    return E[has], E[~has, 0]


def _merged(ordered: list[tuple[str, Floats]]) -> list[tuple[str, int]]:
    """Kinds and rows of Clarabel's cones: all zero rows are one, all positive ones another."""
    out = []
    for kind in ("zero", "positive"):
        count = sum(len(E) for k, E in ordered if k == kind)
        out += [(kind, count)] if count else []
    return out + [(kind, len(E)) for kind, E in ordered if kind in ("second_order", "semidefinite")]


def _met(kind: str, v: Floats) -> bool:
    """Whether a value without variables is in its cone."""
    if kind == "zero":
        return bool((np.abs(v) <= SLACK).all())
    if kind == "positive":
        return bool((v >= -SLACK).all())
    return kind != "second_order" or bool(np.linalg.norm(v[1:]) <= v[0] + SLACK)


class Posed:
    """A program with numbers. It keeps one Clarabel solver, of which only the linear cost is changed."""

    def __init__(self, A: Any, b: Floats, kinds: list[tuple[str, int]], squares: Floats, met: bool) -> None:
        self.A, self.b, self.kinds, self.squares, self.met = A, b, kinds, squares, met
        self._solver: Any = None

    def solve(self, cost: Floats | None = None) -> Answer:
        """Minimise the program's own cost, or a linear `cost` in its place."""
        if not self.met:
            return Answer(None, True, "the targets contradict each other")
        if not self.A.shape[1]:
            return Answer(np.empty(0), False, "nothing is left to choose")
        if cost is None and self.squares.any():
            return _answer(_setup(sparse.diags_array(self.squares, format="csc"), 0.0 * self.squares, self))
        q = np.zeros(self.A.shape[1]) if cost is None else cost
        if self._solver is None:
            self._solver = _setup(sparse.csc_array((len(q), len(q))), q, self)
        else:
            self._solver.update(q=q)
        return _answer(self._solver)

    def with_cone(self, kind: Kind, rows: Floats) -> Posed:
        """The same with one more cone, rows (m, 1 + n) with their numbers."""
        more = sparse.csc_array(np.pad(-rows[:, 1:], ((0, 0), (0, self.A.shape[1] + 1 - rows.shape[1]))))
        A = sparse.csc_array(sparse.vstack([self.A, more], format="csc"))
        return Posed(A, np.append(self.b, rows[:, 0]), [*self.kinds, (kind, len(rows))], self.squares, self.met)

    def admits(self, kind: Kind, rows: Floats) -> bool:
        """Problem 7: whether the program with one more cone may have a point; False on the cone solver's word alone."""
        return not self.with_cone(kind, rows).solve().infeasible

    def value(self, x: Floats) -> float:
        """The program's own cost."""
        return float(0.5 * x @ (self.squares * x))

    def slack(self, x: Floats) -> list[tuple[str, Floats]]:
        """The value of every cone's expression."""
        s, out, at = self.b - self.A @ x, [], 0
        for kind, count in self.kinds:
            out.append((kind, s[at : at + count]))
            at += count
        return out


def _setup(P: Any, q: Floats, posed: Posed) -> Any:
    clarabel = need_clarabel()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.presolve_enable = False
    settings.chordal_decomposition_enable = False
    settings.max_threads = 1
    make = {
        "zero": clarabel.ZeroConeT,
        "positive": clarabel.NonnegativeConeT,
        "second_order": clarabel.SecondOrderConeT,
        "semidefinite": lambda rows: clarabel.PSDTriangleConeT(round((np.sqrt(8 * rows + 1) - 1) / 2)),
    }
    cones = [make[kind](count) for kind, count in posed.kinds]
    return clarabel.DefaultSolver(P, q, posed.A, posed.b, cones, settings)


def _answer(solver: Any) -> Answer:
    try:
        found = solver.solve()
    except BaseException as panic:  # Clarabel's own assertions are no Exception
        if type(panic).__name__ != "PanicException":
            raise
        return Answer(None, False, "Panic")
    status = str(found.status).removeprefix("SolverStatus.")
    if status in ("Solved", "AlmostSolved"):
        return Answer(np.array(found.x), False, status)
    return Answer(None, "PrimalInfeasible" in status, status)
