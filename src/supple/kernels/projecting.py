"""The nearest allowed posture, for Python: a projection onto limits (`algebra.nearest`)."""

from __future__ import annotations

from typing import Any

from supple.kernels.algebra.nearest import project
from supple.kernels.compiling import entry
from supple.kernels.tables import Allowed


@entry
def project_entry(
    q: Any, lower: Any, upper: Any, equalities: int, A: Any, b: Any, ease: Any, room: Any, origin: Any
) -> float:
    """`project`, for Python."""
    return project(q, Allowed(lower, upper, ease, equalities, A, b), ease, room, origin)
