"""One thread that owns a session: what people do is queued for it, and the newest target of a pull wins.

Events only say what is wanted; once all that have come are heard, one tick follows. So a page that cannot keep up is late by a
tick, never by a queue. While somebody pulls, ticks come `RATE` times a second, and so do pictures.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter, thread_time
from typing import Any, TypeVar

from supple.errors import Error
from supple.view.page.session import Session

RATE = 60.0  # 1/s
BEHIND = 0.05  # s that late ticks catch up at most
T = TypeVar("T")
Work = Callable[[Session], Any]


class Worker:
    """Runs what is asked of a session, one thing after another, and shows the session after each batch."""

    def __init__(self, session: Session, show: Callable[[Session], None]) -> None:
        self.session, self.trouble = session, ""
        self.ticks = 0  # since the beginning
        self._show, self._queue = show, queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="supple page", daemon=True)
        self._thread.start()

    def do(self, work: Work) -> None:
        """Have something done, some time soon."""
        self._queue.put(work)

    def ask(self, work: Callable[[Session], T], timeout: float = 60.0) -> T:
        """Have something done, and wait for what it returns or raises."""
        box: list[Any] = []
        done = threading.Event()

        def run(session: Session) -> None:
            try:
                box.append((True, work(session)))
            except BaseException as error:
                box.append((False, error))
                raise
            finally:
                done.set()

        self.do(run)
        if not done.wait(timeout):
            raise TimeoutError("the page's session is busy")
        ok, value = box[0]
        if not ok:
            raise value
        return value

    def stop(self) -> None:
        """End the thread; what is queued before is done."""
        self._queue.put(None)
        self._thread.join(timeout=10.0)

    def _run(self) -> None:
        due = perf_counter()
        while True:
            for work in self._waiting(None if not self.session.pulls else max(0.0, due - perf_counter())):
                if work is None:
                    return
                self._guarded(work)
            if self.session.pulls:
                if perf_counter() < due:
                    continue  # a picture comes with the tick
                due = max(due + 1.0 / RATE, perf_counter() - BEHIND)
                self._guarded(self._tick)
            self._guarded(self._show)

    def _tick(self, session: Session) -> None:
        began = thread_time()
        session.tick()
        took = thread_time() - began
        self.ticks += 1
        session.said = replace(session.said, microseconds=1e6 * took)

    def _waiting(self, patience: float | None) -> list[Work | None]:
        """All that is queued; waits for the first."""
        out = []
        try:
            out.append(self._queue.get(timeout=patience))
            while True:
                out.append(self._queue.get_nowait())
        except queue.Empty:
            return out

    def _guarded(self, work: Work) -> None:
        """What goes wrong is told on the page, and the thread goes on."""
        try:
            work(self.session)
            if work not in (self._tick, self._show):
                self.trouble = ""
        except Error as error:
            self.trouble = str(error)
        except Exception as error:
            logging.getLogger("supple").exception("the page")
            self.trouble = f"{type(error).__name__}: {error}"
