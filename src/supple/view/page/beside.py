"""Proofs that are looked for beside a drag, in a process of their own, so that they are never in its way.

When a target has stood out of reach for a moment, the question goes to the process; if the answer comes while the same question
stands, the page says "proved out of reach". Needs the extra ``convex``; without it nothing is asked.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pickle
import subprocess
import sys
import threading
from dataclasses import replace
from time import monotonic
from typing import Any

from supple.view.page.session import Session
from supple.view.page.worker import Worker

STILL = 0.3  # s that a target stands before it is asked about
PATIENCE = 10.0  # s that a proof may take


class Beside:
    """Asks one question at a time."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._able = all(importlib.util.find_spec(name) is not None for name in ("clarabel", "flint"))
        self._process: subprocess.Popen[bytes] | None = None
        self._busy, self._asked = False, ""
        self._seen: tuple[str, float] = ("", 0.0)

    def look(self, session: Session) -> None:
        """See whether there is something to prove; costs next to nothing."""
        if not self._able or session.said.ok or session.said.proved:
            return
        problem = session.scene.problem
        mark = repr([pull.wanted.tobytes() for pull in session.pulls.values()] or session.revision)
        if self._seen[0] != mark:
            self._seen = (mark, monotonic())
        if self._busy or self._asked == mark or monotonic() - self._seen[1] < STILL:
            return
        self._busy, self._asked = True, mark
        threading.Thread(
            target=self._ask, args=(mark, pickle.dumps((problem, session.q, PATIENCE))), daemon=True
        ).start()

    def _ask(self, mark: str, question: bytes) -> None:
        try:
            proved = self._answer(question)
        except (OSError, ValueError):  # the process has ended
            proved = False
        self._busy = False
        if proved:
            self._worker.do(lambda session: self._tell(session, mark))

    def _tell(self, session: Session, mark: str) -> None:
        if self._seen[0] == mark and not session.said.ok:
            session.said = replace(session.said, proved=True)

    def _answer(self, question: bytes) -> bool:
        if self._process is None or self._process.poll() is not None:
            command = [sys.executable, "-m", "supple.view.page.beside"]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment())
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(len(question).to_bytes(8, "little") + question)
        self._process.stdin.flush()
        return self._process.stdout.read(1) == b"1"

    def close(self) -> None:
        """End the process."""
        self._able = False
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def answer(problem: Any, start: Any, patience: float) -> bool:
    """Whether it is proved that a problem has no solution."""
    from supple.problem.solution import Status
    from supple.solving.solve import solve

    return solve(problem, start=start, deadline=patience).status is Status.IMPOSSIBLE


def main() -> None:
    """Answer questions on the standard input until it ends. Only the page that started this process writes there."""
    if hasattr(os, "nice"):
        os.nice(10)
    source, target = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr
    while len(head := source.read(8)) == 8:
        question = pickle.loads(source.read(int.from_bytes(head, "little")))
        try:
            proved = answer(*question)
        except Exception:  # what cannot be decided is not proved
            proved = False
        target.write(b"1" if proved else b"0")
        target.flush()


if __name__ == "__main__":
    main()
