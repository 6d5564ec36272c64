"""One problem, decided: its claims refuted box by box, or a posture found on the way (see `decide`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import monotonic

import numpy as np

from supple.errors import MissingExtra
from supple.geometry.placements import Floats, angle_of, inverse
from supple.problem.problem import Problem
from supple.problem.solution import Decision, Solution, Status, audited
from supple.proofs.branching import Outcome, Search, box_of, groups_of
from supple.proofs.certificate import Certificate, certified, links_between
from supple.proofs.certificates import Certificates
from supple.proofs.checker.balls import need_flint
from supple.proofs.claims import Claim, claims_of, wishes_of
from supple.proofs.collisions import Pairing, pairings_of
from supple.proofs.pulled import insist_on, pulled
from supple.proofs.serial_chain import Undecidable
from supple.solvers.alternatives import COMBINATIONS, every_one
from supple.solvers.base import has_alternatives
from supple.solvers.levenberg_marquardt.levenberg_marquardt import LevenbergMarquardt


def undecidable(problem: Problem) -> str:
    """Why a problem cannot be decided; nothing if it can, or each of its alternatives."""
    try:
        _claims(problem)
    except Undecidable as reason:
        each = every_one(problem) if has_alternatives(problem) else []
        return next(filter(None, map(undecidable, each)), "") if each else str(reason)
    return ""


def _claims(problem: Problem) -> tuple[Claim, ...]:
    """The claims of a problem, none if its joints are too many for one but can be pulled."""
    try:
        return claims_of(problem)
    except Undecidable as reason:
        wishes = wishes_of(problem)
        if not wishes:
            raise
        try:
            insist_on(problem, links_between(problem, [(w.segment, w.seen_from) for w in wishes]))
        except Undecidable:
            raise reason from None
        return ()


def decided(local: Solution, boxes: int, deadline: float = np.inf) -> Solution:
    """What branch and bound makes of a search that failed, until a time of the monotonic clock.

    A problem that cannot be decided keeps its answer, and the reason says why. Of one with alternatives the tasks without a
    choice are looked at first, then every combination: it is impossible if all of them are.
    """
    answer = _alone(local, boxes, deadline)
    if answer.ok or answer.status is Status.IMPOSSIBLE or not has_alternatives(local.problem):
        return answer
    problems = every_one(local.problem)
    if not problems:
        said = f"its alternatives have more than {COMBINATIONS} combinations"
        return replace(local, reason=f"{local.reason} Whether it is impossible was not decided: {said}.")
    answers: list[Solution] = []
    for alone in problems:
        answers.append(_alone(replace(local, problem=alone, reason="One alternative is not met."), boxes, deadline))
        if answers[-1].ok:
            met = audited(
                local.problem, answers[-1].q, True, iterations=local.iterations, evaluations=local.evaluations
            )
            return replace(met, seed=local.seed, decision=_summed(answers))
        if answers[-1].status is not Status.IMPOSSIBLE:
            return replace(local, reason=f"{local.reason} {answers[-1].reason}", decision=_summed(answers))
    proof = Certificates(tuple(answer.certificate for answer in answers))
    said = replace(local, status=Status.IMPOSSIBLE, reason=f"{proof.brief}.", certificate=proof)
    return replace(said, decision=_summed(answers))


def _summed(answers: Sequence[Solution]) -> Decision:
    """What all of them took."""
    own = [answer.decision for answer in answers if answer.decision is not None]
    return Decision(sum(d.boxes for d in own), sum(d.seconds for d in own), sum(d.checking for d in own))


def _alone(local: Solution, boxes: int, deadline: float) -> Solution:
    """The same of what has no alternatives; tasks that have some are left out of what is proved."""
    try:
        claims = _claims(local.problem)
        need_flint()
    except MissingExtra as error:
        return replace(local, reason=f"{local.reason} Whether it is impossible cannot be proved: {error}.")
    except Undecidable as error:
        return replace(local, reason=f"{local.reason} Whether it is impossible cannot be decided: {error}.")
    return _Deciding(local, claims, boxes, deadline).solution()


class _Deciding:
    """One problem, decided."""

    def __init__(self, local: Solution, claims: tuple[Claim, ...], boxes: int, deadline: float) -> None:
        self.local, self.problem, self.claims, self.boxes = local, local.problem, claims, boxes
        self.late: Callable[[], bool] = lambda: monotonic() > deadline
        self.begun, self.looked = monotonic(), 0
        self.own = LevenbergMarquardt()
        self.q = np.array(local.q)

    def solution(self) -> Solution:
        """A posture, a proof, or neither, each with what it took."""
        if self.claims and (solution := self.by_claims()) is not None:
            return solution
        if (solution := self.by_pulls()) is not None:
            return solution
        said = "was not decided in time" if self.late() else f"was not decided in {self.looked} boxes of joint ranges"
        return self.noted(replace(self.local, reason=f"{self.local.reason} Whether it is impossible {said}."))

    def by_pulls(self) -> Solution | None:
        """A proof that pulls on all wishes at once, for figures of any size."""
        try:
            certificate, boxes = pulled(self.problem, self.boxes, self.late)
        except (MissingExtra, Undecidable):
            return None
        self.looked += boxes
        return None if certificate is None else self.proved(certificate)

    def by_claims(self) -> Solution | None:
        """A proof or a posture, box by box, of claims on chains."""
        groups = [list(range(len(self.claims)))] if self.problem.clear else groups_of(self.claims)
        found = [False] * len(groups)
        for most in (self.boxes,) if len(groups) == 1 else (1, self.boxes):
            for k, members in enumerate(groups):
                claims = [self.claims[i] for i in members]
                if found[k]:
                    continue
                outcome, certificate = self.search(claims, most)
                if certificate is not None:
                    return self.proved(certificate)
                found[k] = outcome.q is not None
                if all(found) and (solution := self.met()) is not None:
                    return solution
        return None

    def search(self, claims: Sequence[Claim], most: int) -> tuple[Outcome, Certificate | None]:
        """Refute some claims, or find a posture that meets them."""
        pairings: list[Pairing] = pairings_of(self.problem, claims)
        names, lower, upper = box_of(claims, pairings)
        figure = self.problem.figure
        own = [(i, figure.coordinates.index(name)) for i, name in enumerate(names) if name in figure.coordinates]

        def reach(guess: Floats) -> Floats | None:
            q = self.q.copy()
            for i, j in own:
                q[j] = guess[i]
            tried = self.own.solve(self.problem, self.problem.admitted(q))
            if not tried.ok and (
                self.problem.clear or not all(_meets(claim, figure.coordinates, tried.q) for claim in claims)
            ):
                return None
            for _, j in own:
                self.q[j] = tried.q[j]
            return tried.q

        outcome = Search(names, claims, pairings, most, reach, self.late).run(lower, upper)
        self.looked += outcome.boxes
        if outcome.proof is None:
            return outcome, None
        return outcome, certified(self.problem, names, claims, pairings, outcome.proof)

    def met(self) -> Solution | None:
        """The solution, if the postures of all groups together are one."""
        solution = self.own.solve(self.problem, self.problem.admitted(self.q))
        return self.noted(solution) if solution.ok else None

    def proved(self, certificate: Certificate) -> Solution:
        """The certificate, if it stands up to its check."""
        searched = monotonic()
        if not certificate.verify(self.problem.figure, self.problem.limits):
            reason = f"{self.local.reason} A proof that it is impossible did not stand up to its check."
            return self.noted(replace(self.local, reason=reason))
        checking = monotonic() - searched
        said = replace(self.local, status=Status.IMPOSSIBLE, reason=f"{certificate.brief}.", certificate=certificate)
        return self.noted(said, checking)

    def noted(self, solution: Solution, checking: float = 0.0) -> Solution:
        """A solution with what it took to decide."""
        return replace(solution, decision=Decision(self.looked, monotonic() - self.begun - checking, checking))


def _meets(claim: Claim, joints: tuple[str, ...], q: Floats) -> bool:
    """Whether a posture meets a claim; joints that were added are not looked at."""
    if any(
        name not in joints and high > low for name, low, high in zip(claim.chain.names, *claim.chain.box, strict=True)
    ):
        return False
    values = [q[joints.index(name)] if name in joints else 0.0 for name in claim.chain.names]
    T = claim.chain.placement(np.array(values))
    near = float(np.linalg.norm(T[:3, 3] - claim.target[:3, 3])) <= claim.tolerance
    return near and (claim.point or angle_of((inverse(claim.target) @ T)[:3, :3]) <= claim.angle_tolerance)
