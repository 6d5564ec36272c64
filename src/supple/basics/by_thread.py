"""What is made once for each thread and kept there, because it has scratch of its own that calls write."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar

T = TypeVar("T")


class _Own(threading.local):
    """What a thread has kept so far."""

    def __init__(self, make: Callable[..., Any], most: int) -> None:
        self.kept = lru_cache(most)(make)


def kept_by_thread(most: int) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """As `lru_cache`, but no thread is given what another one was."""

    def decorate(make: Callable[..., T]) -> Callable[..., T]:
        own = _Own(make, most)

        @wraps(make)
        def of_thread(*given: Any) -> T:
            return own.kept(*given)

        return of_thread

    return decorate
