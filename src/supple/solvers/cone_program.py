"""Cone programs whose structure is built once: ``min ½ xᵀP x + cᵀx`` with affine expressions of x in cones.

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

from supple.coordinates.lifted import Cone
from supple.errors import MissingExtra
from supple.space import Floats

SLACK = 1e-6  # by how much a condition on the targets alone may fail


def need_clarabel() -> Any:
    """The module of the cone solver."""
    try:
        import clarabel
    except ImportError as error:
        raise MissingExtra("clarabel", "convex", "RankOne") from error
    return clarabel


@dataclass(frozen=True, eq=False)
class Answer:
    """What the cone solver says: variables, or None, and whether it calls the program infeasible."""

    x: Floats | None
    infeasible: bool
    status: str


@dataclass(frozen=True, eq=False)
class ConeProgram:
    """Cones over `size` variables and parameters, the number one among them; `costs` are expressions to be made small.

    The cost is ``Σ ‖E(x)‖²``.
    """

    size: int
    parameters: int
    cones: Sequence[Cone]
    costs: Sequence[Floats] = ()

    def __post_init__(self) -> None:
        ordered: list[tuple[str, Floats]] = []
        conditions: list[tuple[str, Floats]] = []
        for kind in ("zero", "positive", "second_order", "semidefinite"):
            for cone in (c for c in self.cones if c.kind == kind):
                free, bound = _split(cone, self.size, self.parameters)
                ordered += [(kind, free)] if len(free) else []
                conditions += [(kind, bound)] if len(bound) else []
        object.__setattr__(self, "conditions", conditions)
        none = np.empty(0, dtype=int)
        rows, columns, at = [none], [none], 0
        values, constants = [np.empty((0, self.parameters))], [np.empty((0, self.parameters))]
        for _, E in ordered:
            r, j = np.nonzero((E[:, 1:] != 0.0).any(axis=2))
            rows.append(at + r)
            columns.append(j)
            values.append(E[r, 1 + j])
            constants.append(E[:, 0])
            at += len(E)
        row, column = np.concatenate(rows), np.concatenate(columns)
        order = np.lexsort((row, column))
        pattern = sparse.csc_array((np.ones(len(row)), (row[order], column[order])), shape=(at, self.size))
        object.__setattr__(self, "pattern", (pattern.indices, pattern.indptr, pattern.shape))
        object.__setattr__(self, "coefficients", np.concatenate(values)[order])
        object.__setattr__(self, "constants", np.concatenate(constants))
        object.__setattr__(self, "kinds", _merged(ordered))

    def at(self, parameters: Floats) -> Posed:
        """The program for a set of parameters."""
        d: Any = self
        indices, pointers, shape = d.pattern
        A = sparse.csc_array((-(d.coefficients @ parameters), indices, pointers), shape=shape)
        P, c, constant = np.zeros((self.size, self.size)), np.zeros(self.size), 0.0
        for E in self.costs:
            M = E @ parameters
            P += 2.0 * M[:, 1:].T @ M[:, 1:]
            c += 2.0 * M[:, 1:].T @ M[:, 0]
            constant += float(M[:, 0] @ M[:, 0])
        met = all(_met(kind, E @ parameters) for kind, E in d.conditions)
        return Posed(A, d.constants @ parameters, d.kinds, sparse.csc_array(np.triu(P)), c, constant, met)


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

    def __init__(
        self, A: Any, b: Floats, kinds: list[tuple[str, int]], P: Any, c: Floats, constant: float, met: bool
    ) -> None:
        self.A, self.b, self.kinds, self.P, self.c, self.constant, self.met = A, b, kinds, P, c, constant, met
        self._solver: Any = None

    def solve(self, cost: Floats | None = None) -> Answer:
        """Minimise the program's own cost, or a linear `cost` in its place."""
        if not self.met:
            return Answer(None, True, "the targets contradict each other")
        if not self.A.shape[1]:
            return Answer(np.empty(0), False, "nothing is left to choose")
        linear = cost is not None or self.P.nnz == 0
        q = self.c if cost is None else cost
        if not linear:
            return _answer(_setup(self.P, q, self.A, self.b, self.kinds))
        if self._solver is None:
            self._solver = _setup(sparse.csc_array(self.P.shape), q, self.A, self.b, self.kinds)
        else:
            self._solver.update(q=q)
        return _answer(self._solver)

    def with_rows(self, rows: Floats, right: Floats) -> Posed:
        """The same with further rows ``rows · x ≥ right``."""
        A = sparse.csc_array(sparse.vstack([self.A, sparse.csc_array(-rows)], format="csc"))
        kinds = [*self.kinds, ("positive", len(right))]
        return Posed(A, np.concatenate([self.b, -right]), kinds, self.P, self.c, self.constant, self.met)

    def value(self, x: Floats) -> float:
        """The program's own cost."""
        P = self.P
        return float(x @ (P @ x) - 0.5 * x @ (P.diagonal() * x) + self.c @ x + self.constant)

    def slack(self, x: Floats) -> list[tuple[str, Floats]]:
        """The value of every cone's expression."""
        s, out, at = self.b - self.A @ x, [], 0
        for kind, count in self.kinds:
            out.append((kind, s[at : at + count]))
            at += count
        return out


def _setup(P: Any, q: Floats, A: Any, b: Floats, kinds: list[tuple[str, int]]) -> Any:
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
    cones = [make[kind](count) for kind, count in kinds]
    return clarabel.DefaultSolver(P, q, A, b, cones, settings)


def _answer(solver: Any) -> Answer:
    found = solver.solve()
    status = str(found.status).removeprefix("SolverStatus.")
    if status in ("Solved", "AlmostSolved"):
        return Answer(np.array(found.x), False, status)
    return Answer(None, "PrimalInfeasible" in status, status)
