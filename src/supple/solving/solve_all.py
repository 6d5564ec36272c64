"""All postures that bring a frame to a pose: the list, the nearest to the start first, and whether it is proved complete."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.by_thread import kept_by_thread
from supple.basics.checks import flag, instance
from supple.basics.values import Value
from supple.errors import BadValue, MissingExtra, Refused
from supple.geometry.placements import Floats
from supple.problem.problem import Problem
from supple.problem.solution import audited
from supple.proofs.checker.formulas import KINDS
from supple.proofs.claims import Claim, claims_of
from supple.proofs.completeness import Completeness, listed
from supple.proofs.serial_chain import Chain, Undecidable
from supple.solvers.any_arm.any_arm import AnyArm
from supple.solvers.closed_forms.axes import HINGES, Axes
from supple.solvers.closed_forms.closed_form import ClosedForm
from supple.solvers.closed_forms.recognition import Formula, recognised
from supple.solving.in_place import Curve, curves_of

NEAR_LIMIT = 1e-8  # [rad] by which a posture that is left out must be outside
MOST_WINDINGS = 100_000
REMEMBERED = 32  # arms that are kept packed


@dataclass(frozen=True, eq=False, repr=False)
class AllSolutions(Value):
    """Every posture that meets a problem, as far as it is known.

    `complete` is True only with a proof, the `certificate`; False if there is none; "family" if some angle is free, so that
    there are infinitely many, of which `q` has some; "cluster" if postures all but meet. `why` says more.
    """

    problem: Problem
    q: Floats  # (k, size), the nearest to the start first
    complete: bool | str
    why: str
    certificate: Completeness | None = None
    curves: tuple[Curve, ...] = field(default=())  # of arms that can move while the hand stays, in the order of `q`

    def __len__(self) -> int:
        return len(self.q)


def solve_all(
    problem: Problem, start: ArrayLike | None = None, *, prove: bool = True, windings: bool = False
) -> AllSolutions:
    """All postures that bring a frame to a pose, for a chain of six or seven hinges.

    The problem has one task, a frame `Placed`, or a point and a direction of one segment, which leave the turn about that
    free: it counts for a hinge. Other coordinates of the figure stay where the start has them. Postures that
    are whole turns apart are one, given where it is nearest to the start, or with `windings` all of them inside the limits.
    Seven hinges can move while the hand stays: the answer is "family", with the `curves`, and `q` has the posture of each
    that is nearest to the start.
    Where the axes have a formula the list is proved complete, unless `prove` is False; elsewhere it comes from eliminations
    that must agree, and is not. `AllSolutions.why` says which, and where a proof fails. A problem of another kind is
    refused, by name.
    """
    instance(problem, Problem, "the problem of solve_all")
    prove, windings = flag(prove, "prove"), flag(windings, "windings")
    figure = problem.figure
    posture = problem.admitted(figure.rest if start is None else figure.posture(start))
    claim = _claim(problem)
    names = claim.chain.names
    at = [figure.coordinates.index(name) for name in names if name in figure.coordinates]
    own = np.append(
        posture[at], np.zeros(len(names) - len(at))
    )  # where a direction is free, a hinge is added at the end
    if len(names) > HINGES:
        if windings:
            raise BadValue("windings= is for arms of six hinges: the curves of seven are given once")
        return _on_curves(problem, posture, claim, at, own)
    found = _found(claim.chain, np.ascontiguousarray(claim.target), own)
    rows = found.inside
    rows = np.array(_windings(claim.chain, rows)).reshape(-1, HINGES) if windings else rows
    order = np.argsort(np.linalg.norm((rows - own)[:, : len(at)], axis=1), kind="stable")
    q = np.tile(posture, (len(rows), 1))
    q[:, at] = rows[order][:, : len(at)]
    q, crashed = _audited(problem, q)
    if found.free:
        return _family(problem, q, posture)
    if found.close:
        return AllSolutions(problem, q, "cluster", "Some postures all but meet: the arm is stretched, or nearly.")
    if found.formula is None:
        return AllSolutions(problem, q, False, found.why)
    if claim.way.turning:
        return AllSolutions(problem, q, False, "Not proved: a direction is free, of which certificates do not speak.")
    if not prove:
        return AllSolutions(problem, q, False, "Nobody asked for a proof.")
    if crashed:
        return AllSolutions(problem, q, False, "Postures that touch something were left out, which is not proved.")
    return _proved(problem, q, claim, found)


def _proved(problem: Problem, q: Floats, claim: Claim, found: _Found) -> AllSolutions:
    """The list with its proof, or the reason why there is none."""
    assert found.formula is not None
    lower, upper = claim.chain.lower, claim.chain.upper
    for row in found.everywhere:
        turns = 2.0 * np.pi * np.round((np.clip(row, lower, upper) - row) / (2.0 * np.pi))
        outside = np.maximum(lower - (row + turns), (row + turns) - upper).max()
        if 0.0 < outside < NEAR_LIMIT:
            return AllSolutions(problem, q, False, "A posture stands at a limit, or just outside.")
    certificate = listed(problem, claim, found.formula, KINDS[found.formula.kind], found.everywhere)
    try:
        report = certificate.checked()
    except MissingExtra as missing:
        return AllSolutions(problem, q, False, str(missing))
    if not report.holds:
        return AllSolutions(problem, q, False, f"Not proved: {report.why}.")
    some = f"{len(found.everywhere)} up to whole turns, {len(q)} of them inside the limits"
    return AllSolutions(problem, q, True, f"There are no others ({some}).", certificate)


def _on_curves(problem: Problem, posture: Floats, claim: Claim, at: list[int], own: Floats) -> AllSolutions:
    """The curves of seven hinges, and the nearest posture of each."""
    size, counted = len(at), (np.arange(HINGES + 1) < len(at)).astype(np.float64)
    found = curves_of(claim.chain, np.ascontiguousarray(claim.target), own, counted)
    if not found.curves:
        return AllSolutions(
            problem, np.empty((0, len(posture))), False, "Not proved: slices of the arm have no posture."
        )

    def whole(rows: Floats) -> Floats:
        q = np.tile(posture, (len(rows), 1))
        q[:, at] = rows[:, :size]
        return q

    q = whole(np.array(found.nearest).reshape(-1, HINGES + 1))
    good = np.array([audited(problem, row, stationary=True).ok for row in q], dtype=bool)
    curves = tuple(Curve(whole(rows), arc, closed) for rows, arc, closed in found.pieces)
    why = found.why
    if problem.clear:
        why += " What the arm touches along them was not looked at, but for the postures given."
    return AllSolutions(problem, q[good], "family", why, curves=curves)


def _family(problem: Problem, q: Floats, posture: Floats) -> AllSolutions:
    """Some of infinitely many; if the formula gave none inside the limits, one is searched for."""
    if not len(q):
        from supple.solving.solve import solve

        found = solve(problem, posture, prove=False)
        q = found.q[None] if found.ok else q
    why = "Some angle is free: these are some of infinitely many postures." if len(q) else "Some angle is free."
    return AllSolutions(problem, q, "family", why)


# ── what a problem asks ──────────────────────────────────────────────────────────────────────────────────────────────
def _claim(problem: Problem) -> Claim:
    """The one pose that a problem asks for."""
    try:
        claims = claims_of(problem)
    except Undecidable as reason:
        raise Refused(f"solve_all takes a frame that is Placed: {reason}") from None
    wanted = [task for task in problem.tasks if not task.preference]
    claim = claims[0]
    if len(claims) != 1 or len(wanted) != (2 if claim.way.turning else 1) or problem.loops or claim.point:
        raise Refused(
            "solve_all takes one task, a frame that is Placed, or a point and a direction of one segment, "
            "on a figure without closed loops"
        )
    chain = claim.chain
    slides = [name for name, slides in zip(chain.names, chain.slides, strict=True) if slides]
    if slides:
        raise Refused(f"solve_all takes chains of hinges; joint {slides[0]!r} slides")
    if len(chain.names) not in (HINGES, HINGES + 1):
        raise Refused(
            f"solve_all takes chains of six or seven hinges; {len(chain.names)} move {claim.way.segment!r}"
            + (", with the turn that a direction leaves free" if claim.way.turning else "")
        )
    return claim


class _Found(NamedTuple):
    """Postures inside the limits, all of them between −π and π, whether an angle is free or some nearly meet, and how."""

    inside: Floats
    everywhere: Floats
    free: bool
    close: bool
    formula: Formula | None
    why: str = ""


@kept_by_thread(REMEMBERED)
def _forms(chain: Chain) -> tuple[ClosedForm, ClosedForm] | AnyArm:
    """The formula of a chain, once for whole turns and once inside its limits; or what finds postures without one."""
    axes = Axes.of(chain)
    formula = recognised(axes)
    if formula is None:
        return AnyArm(axes)
    round_ = replace(axes, lower=np.full(HINGES, -np.pi), upper=np.full(HINGES, np.pi))
    return ClosedForm(round_, formula), ClosedForm(axes, formula)


def _found(chain: Chain, target: Floats, start: Floats) -> _Found:
    """All postures of a chain."""
    forms = _forms(chain)
    if isinstance(forms, AnyArm):
        postures, agreed, tried = forms.everywhere(target)
        why = f"Not proved: these axes have no formula. {tried} eliminations were made; those of {agreed} angles have all."
        return _Found(forms.inside(target, start, postures), postures, False, False, None, why)
    wide, narrow = forms
    rows, free, close = narrow(target, start)
    return _Found(rows, wide(target, start)[0], free, close, narrow.formula)


def _windings(chain: Chain, rows: Floats) -> list[Any]:
    """Every row with whole turns added in every way that stays inside the limits."""
    if not np.isfinite([chain.lower, chain.upper]).all():
        raise BadValue("windings= needs limits: a joint that turns without end has infinitely many")
    found: list[Any] = []
    for row in rows:
        first = np.ceil((chain.lower - row) / (2.0 * np.pi) - 1e-12).astype(int)
        last = np.floor((chain.upper - row) / (2.0 * np.pi) + 1e-12).astype(int)
        if len(found) + np.prod(last - first + 1.0) > MOST_WINDINGS:
            raise BadValue(f"there are more than {MOST_WINDINGS} windings inside these limits")
        ways = [range(a, b + 1) for a, b in zip(first, last, strict=True)]
        found += [np.clip(row + 2.0 * np.pi * np.array(k), chain.lower, chain.upper) for k in product(*ways)]
    return found


def _audited(problem: Problem, q: Floats) -> tuple[Floats, bool]:
    """The rows that meet the problem by an independent check, and whether some did not."""
    good = [audited(problem, row, stationary=True).ok for row in q]
    return q[np.array(good, dtype=bool)], not all(good)
