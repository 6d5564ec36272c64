"""How long jobs are ended before they are done: at Ctrl-C, or at a deadline.

Compiled loops see no signals. So they run on threads of their own while the caller waits, and waiting can be interrupted. When
it is time to stop, `halt` takes from the loops what they may still spend, which they look at before every evaluation: they end
within microseconds, and what they have written so far is the answer. Nothing of this changes a number while nobody asks.
A thread that does not end, because it is compiling, is left behind; it shares nothing that is used again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any, TypeVar

from supple.basics.checks import endless
from supple.errors import Interrupted

POLL = 0.05  # seconds after which a wait looks around: not every system interrupts one
GRACE = 0.1  # seconds that loops are given to end
Answer = TypeVar("Answer")


class Stop:
    """When a job is to end; one for each call of a door. ``with stop:`` notes a Ctrl-C in what is done there."""

    def __init__(self, deadline: float | None = None) -> None:
        self.seconds = endless(float("inf") if deadline is None else deadline, "a deadline [s]")
        self.until = monotonic() + self.seconds
        self.interrupted = False

    @property
    def asked(self) -> bool:
        """Whether it is time to stop."""
        return self.interrupted or monotonic() > self.until

    @property
    def why(self) -> str:
        """What came first: the beginning of a sentence."""
        return "It was interrupted" if self.interrupted else f"The deadline of {self.seconds:g} s passed"

    def __enter__(self) -> Stop:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> bool:
        self.interrupted = self.interrupted or isinstance(error, KeyboardInterrupt)
        return isinstance(error, KeyboardInterrupt)

    def run(self, jobs: Sequence[Callable[[], None]], halt: Callable[[], None]) -> bool:
        """Run jobs side by side until all have ended, or it is time to stop: then they are halted. Whether they were."""
        ended: SimpleQueue[None] = SimpleQueue()
        threads, over, failed = [], [], []
        if self.asked:
            halt()
            return True

        def work(job: Callable[[], None]) -> None:
            try:
                job()
            except BaseException as error:
                failed.append(error)
            over.append(job)
            ended.put(None)

        def wait(until: float) -> None:
            while len(over) < len(threads) and (left := until - monotonic()) > 0.0:
                try:
                    ended.get(timeout=min(left, POLL))
                except Empty:
                    continue

        with self:
            for job in jobs:
                thread = Thread(target=work, args=(job,), daemon=True)
                thread.start()
                threads.append(thread)
            wait(self.until)
        if halted := self.asked:
            halt()
            wait(monotonic() + GRACE)
        if failed:
            raise failed[0]
        return halted

    def conclude(self, done: int, total: int, what: str, answer: Callable[[], Answer]) -> Answer:
        """The answer; Interrupted, with how far it came and what there is of the answer, after a Ctrl-C."""
        if not self.interrupted:
            with self:
                return answer()
        raise Interrupted(f"interrupted after {done:,} of {total:,} {what}", done, total, answer)

    def told(self, done: int, total: int, what: str) -> str:
        """What came first and how far it was by then: a sentence."""
        return f"{self.why} after {done:,} of {total:,} {what}."
