"""What must hold of every answer, by the judge's word."""

from __future__ import annotations

from typing import Any

import numpy as np

from doors import Ledger
from questions import KNOWN

SEARCHES = (
    "solve",
    "query",
    "query, proving",
    "short form",
    "solve_many",
    "solve_many, proving",
    "follow",
)  # doors that look everywhere


def judged(ledger: Ledger) -> dict[str, Any]:
    """Judge all answers of a ledger at once; complaints are added to it. Returns what was counted besides."""
    question, rows, Q = ledger.question, np.array(ledger.rows), np.array(ledger.q)
    status = np.array(ledger.status)
    kinds, judge = question.kinds[rows], question.judge
    for k in np.flatnonzero(judge.illegal(Q) > 0.0):
        ledger.complain("every posture is legal", ledger.doors[k], rows[k], q=Q[k].tolist(), status=status[k])
    fine = np.isfinite(Q).all(axis=1)
    Q = np.where(fine[:, None], Q, 0.0)
    misses = judge.misses(Q, [None if t is None else t[rows] for t in question.targets])
    met, barely = _met(question.problem, misses, len(Q))
    told = (status != "") & (status != "REFUSED")
    for k in np.flatnonzero(told & (status == "SOLVED") & ~(met & fine)):
        detail = [(float(m.metres[k]), float(m.radians[k])) for m in misses]
        ledger.complain("SOLVED means met", ledger.doors[k], rows[k], q=Q[k].tolist(), misses=detail)
    audited = np.array([door in ("solve", "budget", "deadline") for door in ledger.doors])
    for k in np.flatnonzero(audited & told & (status != "SOLVED") & barely):
        ledger.complain("met means SOLVED", ledger.doors[k], rows[k], status=status[k])
    _errors(ledger, misses, fine)
    _impossible(ledger, kinds, status)
    looked = np.array([door in SEARCHES for door in ledger.doors])
    return {
        "known": {str(kind): int((looked & (kinds == kind)).sum()) for kind in KNOWN},
        "solved": {str(kind): int((looked & (kinds == kind) & (status == "SOLVED")).sum()) for kind in KNOWN},
        "met, not called so": int((~audited & told & (status != "SOLVED") & barely).sum()),
    }


def _met(problem: Any, misses: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Whether every task is met with what rounding may add, and without what it may take away."""
    met, surely = np.ones(count, bool), np.ones(count, bool)
    for task, miss in zip(problem.all_tasks, misses, strict=True):
        if not task.preference:
            met &= miss.metres <= task.tolerance + miss.metres_off
            met &= miss.radians <= task.angle_tolerance + miss.radians_off
            surely &= miss.metres <= task.tolerance - miss.metres_off
            surely &= miss.radians <= task.angle_tolerance - miss.radians_off
    return met, surely


def _errors(ledger: Ledger, misses: Any, fine: np.ndarray) -> None:
    """Errors that were reported are the judge's; of alternatives that are as good as each other either may be meant."""
    for k, reported in enumerate(ledger.reported):
        if reported is None or not fine[k]:
            continue
        for n, (task, miss) in enumerate(zip(ledger.question.problem.all_tasks, misses, strict=True)):
            off = abs(reported[n, 0] - miss.metres[k]), abs(reported[n, 1] - miss.radians[k])
            if off[0] <= miss.metres_off[k] and off[1] <= miss.radians_off[k]:
                continue
            detail = {"task": task.name, "reported": reported[n].tolist(), "off": off}
            ledger.complain("errors are true", ledger.doors[k], ledger.rows[k], q=ledger.q[k].tolist(), **detail)


def _impossible(ledger: Ledger, kinds: np.ndarray, status: np.ndarray) -> None:
    """IMPOSSIBLE comes with a proof that holds, and is never said where a legal posture is known."""
    for k in np.flatnonzero(status == "IMPOSSIBLE"):
        if kinds[k] in KNOWN:
            ledger.complain("what can be reached is not impossible", ledger.doors[k], ledger.rows[k], kind=kinds[k])
        proof = getattr(ledger.answers[k], "certificate", None)
        if proof is None or not proof.verify(ledger.question.problem.figure, ledger.question.judge.stated):
            ledger.complain("IMPOSSIBLE is proved", ledger.doors[k], ledger.rows[k])
