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
from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Any

from supple.view.page.session import Session

STILL = 0.3  # s that a target stands before it is asked about
PATIENCE = 10.0  # s that a proof may take


class Beside:
    """Asks one question at a time; `told` is called when one is proved."""

    def __init__(self, told: Callable[[], None]) -> None:
        self._told = told
        self._able = all(importlib.util.find_spec(name) is not None for name in ("clarabel", "flint"))
        self._helper = Helper()
        self._busy, self._asked, self._proved = False, "", "nothing"
        self._seen: tuple[str, float] = ("", 0.0)

    def look(self, session: Session) -> None:
        """See whether there is something to prove; costs next to nothing."""
        if not self._able or session.said.ok:
            return
        problem = session.scene.problem
        mark = repr([pull.wanted.tobytes() for pull in session.pulls.values()] or session.revision)
        if self._seen[0] != mark:
            self._seen = (mark, monotonic())
        if self._proved == mark:
            session.said = replace(session.said, proved=True)
        if self._busy or self._asked == mark or monotonic() - self._seen[1] < STILL:
            return
        self._busy, self._asked = True, mark
        threading.Thread(
            target=self._ask, args=(mark, pickle.dumps(("proved", problem, session.q, PATIENCE))), daemon=True
        ).start()

    def _ask(self, mark: str, question: bytes) -> None:
        proved = bool(self._helper.ask(question))
        self._busy = False
        if proved:
            self._proved = mark
            self._told()

    def close(self) -> None:
        """End the process."""
        self._able = False
        self._helper.close()


class Helper:
    """A process that answers one question after another: pickles over pipes, to and from a child of our own."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    def ask(self, question: bytes) -> Any:
        """What the process answers; None if it has ended."""
        try:
            return self._asked(question)
        except (OSError, ValueError, EOFError):
            return None

    def _asked(self, question: bytes) -> Any:
        if self._ended:
            return None
        if self._process is None or self._process.poll() is not None:
            command = [sys.executable, "-m", "supple.view.page.beside"]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment())
        into, out = self._process.stdin, self._process.stdout
        assert into is not None
        assert out is not None
        into.write(len(question).to_bytes(8, "little") + question)
        into.flush()
        return pickle.loads(out.read(int.from_bytes(out.read(8), "little")))

    def close(self) -> None:
        """End it."""
        self._ended = True
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def proved(problem: Any, start: Any, patience: float) -> bool:
    """Whether it is proved that a problem has no solution."""
    from supple.problem.solution import Status
    from supple.solving.solve import solve

    return solve(problem, start=start, deadline=patience).status is Status.IMPOSSIBLE


def layer(figure: Any, segment: str, z: float, spacing: float, patience: float) -> tuple[Any, Any]:
    """The positions (k, 3) at a height that a segment reaches, and those of which that is not known."""
    from supple.solving.reach import reach

    found = reach(figure, segment, z=z, spacing=spacing, boxes=40, deadline=patience)
    there, never = found.reached.any(axis=1), found.impossible.all(axis=1)
    return found.positions[there], found.positions[~there & ~never]


def main() -> None:
    """Answer questions on the standard input until it ends. Only the page that started this process writes there."""
    if hasattr(os, "nice"):
        os.nice(10)
    source, target = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr
    while len(head := source.read(8)) == 8:
        name, *rest = pickle.loads(source.read(int.from_bytes(head, "little")))
        try:
            found = {"proved": proved, "layer": layer}[name](*rest)
        except Exception:  # what cannot be decided is not known
            found = None
        answer = pickle.dumps(found)
        target.write(len(answer).to_bytes(8, "little") + answer)
        target.flush()


if __name__ == "__main__":
    main()
