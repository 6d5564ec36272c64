"""Prepared problems: packed once, then asked again and again with other targets, in microseconds.

A query keeps search calls, each with everything that one search needs; an answer takes one, writes the target, runs the
compiled search and puts it back. So nothing but the answer is built, and threads can share a query: each takes a call of its
own. Where the search is sure that every task is met (see `verdict`), that is the answer, and what else it says is made
when somebody asks; everything else is audited, and decided if that was asked for, as `solve` does it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import check_fields, flag, instance, seeded
from supple.errors import Refused
from supple.figure.limits import Limits
from supple.kernels.layouts import CHARTS, FREE_ROOT
from supple.problem.allowance import EVALUATIONS, FREELY, ITERATIONS, MET, REASON, TRIES, Allowance
from supple.problem.problem import Problem
from supple.problem.solution import JUMP, Solution, Status, solved_by
from supple.problem.targets import Slot, slots, write_targets
from supple.solvers.base import UNASKED, Proving, Solver, answered, checked_solver, insist
from supple.solvers.levenberg_marquardt.levenberg_marquardt import (
    NO_TRACE,
    LevenbergMarquardt,
    SearchCall,
    compiled,
    default_solver,
)
from supple.solvers.levenberg_marquardt.scratch import UNFIT
from supple.solvers.verdict import sure_within

INF = float("inf")
_FLOAT = np.dtype(np.float64)


@dataclass(frozen=True)
class Query:
    """A prepared problem. ``query(target)`` answers one target array for each task; see `prepare`."""

    problem: Problem
    solver: Solver
    seed: int = 0
    allowance: Allowance = FREELY
    proving: Proving = UNASKED
    one_branch: bool = False
    # what calls need; no part of the value, and made anew for a copy
    _slots: tuple[Slot, ...] = field(init=False, repr=False, compare=False)
    _shape: tuple[int, ...] | None = field(init=False, repr=False, compare=False)  # of all targets in one array
    _rest: np.ndarray = field(init=False, repr=False, compare=False)
    _rows: Limits | None = field(init=False, repr=False, compare=False)  # rounding may leave these, never the box
    _sure: float = field(init=False, repr=False, compare=False)
    _movers: Any = field(init=False, repr=False, compare=False)  # what moves obstacles in a pack, if some move
    _calls: list[SearchCall] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        instance(self.problem, Problem, "the problem of a query")
        checked_solver(self.solver)
        instance(self.allowance, Allowance, "the allowance of a query")
        instance(self.proving, Proving, "how a query proves")
        check_fields(self, "a query", seed=seeded, one_branch=flag)
        if self.one_branch and not isinstance(self.solver, LevenbergMarquardt):
            raise Refused("one branch is kept to by LevenbergMarquardt, or by the default where that is what it is")
        problem, wanted = self.problem, slots(self.problem)
        shapes = {slot.shape for slot in wanted}
        alike = next(iter(shapes)) if len(shapes) == 1 and not problem.loops else None
        assert problem.limits is not None
        self.__dict__.update(
            _slots=wanted,
            _shape=alike if alike is None or len(wanted) == 1 else (len(wanted), *alike),
            _rest=problem.admitted(problem.figure.rest)[None].copy(),
            _rows=None if problem.limits.is_box else problem.limits,
            _sure=sure_within(problem),
            _movers=movers_of(problem),
            _calls=[],
        )
        if isinstance(self.solver, LevenbergMarquardt):
            self._calls.append(self._call())

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __call__(self, target: Any = None, start: ArrayLike | None = None, obstacles: Any = None) -> Solution:
        """Solve for a target: the bare array if the problem has one task, else a list (or array) with one for each.

        None keeps a task's own target. `start` is the posture to begin at, by default the figure's rest. The answer to a
        query with a start has `jumped` if it was not come to from there but from another start, or some coordinate is
        more than 0.5 rad or m away from it. With `one_branch` that does not happen. `obstacles` says where those are that
        move (`Moving`), placements by name: frames in which their shapes are written. Others stay where the problem has them.
        """
        moves = self._placements(obstacles)
        if not isinstance(self.solver, LevenbergMarquardt):
            return self._slowly(target, start, moves)
        try:
            call = self._calls.pop()
        except IndexError:
            call = self._call()
        try:
            if self._movers is not None:
                self._movers.write(call.F, moves)
            T = targets = self._given(target)
            Q = self._rest.copy() if start is None else self._begin(start)
            begun = None if start is None and not self.one_branch else Q[0].copy()
            if T is None:
                T, targets = self._aimed(target, call.T)
            elif T.ndim != 2:
                T = T.reshape(1, -1)
            call.run(T, Q)
            spent = call.told.tolist()
            if spent[REASON] == UNFIT:  # it is looked at again, and cleaned or refused by name
                if start is not None:
                    self.problem.figure.posture(start)
                T, targets = self._aimed(target, call.T)
                call.run(T, Q)
                spent = call.told.tolist()
            q, within = Q[0], self._sure
            sizes = (q, T, *moves.values())
            sure = spent[REASON] == MET and (within == INF or max(np.abs(x).max(initial=0.0) for x in sizes) <= within)
        finally:
            self._calls.append(call)
        if sure and (self._rows is None or self._rows.contains(q)):
            q.setflags(write=False)
            return solved_by(q, (self, targets, spent, begun, q, moves))
        local = answered(self._asked(targets, moves), q, spent, NO_TRACE, self.seed, self.allowance)
        if self.one_branch and not local.ok:
            return self._kept(local, begun)
        found = self.proving.judged(local, self.allowance)
        return found if begun is None else replace(found, jumped=_jumped(spent, begun, found.q))

    def _kept(self, local: Solution, begun: Any) -> Solution:
        """An answer that stays on the branch of the start, whatever is true elsewhere."""
        if local.status is Status.NEAREST and (np.abs(local.q - begun) >= JUMP * (1.0 - 1e-9)).any():
            further = f"It would be more than {JUMP:g} rad or m away from the start, which one_branch=True forbids."
            local = replace(local, status=Status.STOPPED, reason=further)
        found = self.proving.decided(local, self.allowance)
        return replace(local, reason=f"{local.reason} Another branch meets the tasks.") if found.ok else found

    def _call(self) -> SearchCall:
        """A search call of its own, for a thread."""
        assert isinstance(self.solver, LevenbergMarquardt)
        told = self.allowance.report(), self.allowance.page()
        if not self.one_branch:
            return SearchCall(self.problem, self.solver.settings(), self.seed, *told)
        I = self.problem.pack[0].copy()
        I[CHARTS] = I[FREE_ROOT] = 0  # neither charts nor roots are moved at will
        settings = replace(self.solver, attempts=1).settings()
        return SearchCall(self.problem, settings, self.seed, *told, np.full(self.problem.figure.size, JUMP), I)

    def _placements(self, obstacles: Any) -> dict[str, np.ndarray]:
        """Where the obstacles are that move."""
        if obstacles is None:
            return {}
        from supple.problem.moving import placements_of

        return placements_of(self.problem, obstacles)

    def _asked(self, targets: Any, moves: dict[str, np.ndarray]) -> Problem:
        """The problem with these targets, and obstacles there."""
        aimed = self.problem.aimed(*((targets,) if len(self._slots) == 1 else targets))
        if not moves:
            return aimed
        from supple.problem.moving import moved_to

        return moved_to(aimed, moves)

    def told(self, targets: Any, spent: list[float], begun: Any, q: Any, moves: dict[str, Any]) -> dict[str, Any]:
        """What an answer says besides its posture, if it is a solution."""
        return {
            "problem": self._asked(targets, moves),
            "reason": Status.SOLVED.value,
            "iterations": int(spent[ITERATIONS]),
            "evaluations": int(spent[EVALUATIONS]),
            "seed": self.seed,
            "jumped": begun is not None and _jumped(spent, begun, q),
        }

    def _begin(self, start: Any) -> np.ndarray:
        """The start as a row of its own; anything unusual is looked at, and refused by name, by the figure."""
        if self._rows is not None:
            return self.problem.admitted(self.problem.figure.posture(start))[None]
        if type(start) is np.ndarray and start.shape == self._rest.shape[1:] and start.dtype == np.float64:
            return start[None].copy()  # the kernel looks whether it is finite
        return self.problem.figure.posture(start)[None].copy()

    def _given(self, target: Any) -> Any:
        """Targets that are all points or all placements, as they are; None if they need a closer look."""
        if self._shape is not None and target is not None:
            try:
                array = np.array(target, order="C")
            except Exception:  # ragged lists, and whatever an object raises when it is asked for its numbers
                return None
            if array.shape == self._shape and array.dtype is _FLOAT:
                return array
        return None

    def _aimed(self, target: Any, T: np.ndarray) -> Any:
        """Targets written into T one by one, checked and cleaned, and copies of them."""
        targets = write_targets(self._slots, target, T)
        return T, targets[0] if len(targets) == 1 else targets

    def _slowly(self, target: Any, start: Any, moves: dict[str, np.ndarray]) -> Solution:
        """The answer of a solver that is not the compiled search."""
        targets = self._given(target)
        Q = self._rest.copy() if start is None else self._begin(start)
        if targets is None:
            _, targets = self._aimed(target, self.problem.pack[2][None].copy())
        problem = self._asked(targets, moves)
        from supple.solvers.recentring import solve_recentred

        local = solve_recentred(self.solver, problem, problem.admitted(Q[0]), self.seed, self.allowance)
        return self.proving.judged(local, self.allowance)


def movers_of(problem: Problem) -> Any:
    """What moves the obstacles of a problem in its pack; None if all of them stand still."""
    if not problem.obstacles:
        return None
    from supple.problem.moving import Movers, Moving

    obstacles: Any = problem.obstacles
    return Movers(problem) if any(isinstance(shape, Moving) for shape in obstacles.values()) else None


def _jumped(spent: list[float], begun: np.ndarray, q: np.ndarray) -> bool:
    """Whether an answer is on another branch than the start, as far as can be told from the two."""
    return bool(spent[TRIES] > 1.0 or np.abs(q - begun).max(initial=0.0) > JUMP)


def prepare(
    problem: Problem,
    *,
    solver: Solver | None = None,
    seed: int = 0,
    budget: int | None = None,
    prove: bool = False,
    one_branch: bool = False,
    moving: Sequence[str] = (),
) -> Query:
    """Pack a problem once; the query that comes back answers targets in microseconds, checks included.

    That is what the default, `Multistart` of `LevenbergMarquardt`, does; problems that it cannot take, and other solvers,
    are answered as `solve` would, at its pace. With `prove` what the search does not solve is decided, as by `solve`.
    `budget` limits the evaluations of each call. With `one_branch` an answer is looked for from the start alone, and no
    coordinate moves by more than 0.5 rad or m from there: what cannot be met so is not, and the reason says so.

    `moving` names obstacles whose placements are targets too: ``query(target, obstacles={"tray": T})`` has the tray where T
    takes it from where the problem has it, without packing anything anew.
    """
    instance(problem, Problem, "what prepare() takes")
    if not (isinstance(moving, tuple) and not moving):
        from supple.problem.moving import with_moving

        problem = with_moving(problem, moving)
    searching, proving = Proving.by(solver, prove, problem)
    chosen, seed = default_solver(problem) if searching is None else searching, seeded(seed)
    insist(chosen, problem)
    allowance = FREELY if budget is None else Allowance(budget)
    return Query(problem, compiled(chosen) or chosen, seed, allowance, proving, one_branch)
