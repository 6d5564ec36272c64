"""The library's own leaves for another compiler: the same source, written down once more for a GPU, or as plain Python.

A leaf is copied with all leaves that it calls. Views, which a device function may not return, are written into
their callers.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from supple.kernels.compiling import row
from supple.kernels.compiling.decorators import MADE_BY


def ported(kernel: Any, jit: Callable[[Any], Any], written_in: Callable[[Any], Any], known: dict[Any, Any]) -> Any:
    """A leaf compiled by `jit`, and views by `written_in`; `known` remembers what has been."""
    if kernel is row:
        return known.setdefault(row, written_in(row))
    function = getattr(kernel, "py_func", kernel)
    code = getattr(function, "__code__", None)
    if code is None or code not in MADE_BY:
        return kernel
    if code not in known:
        around = dict(function.__globals__)
        for name in code.co_names:
            if name in around:
                around[name] = ported(around[name], jit, written_in, known)
        copy = FunctionType(code, around, function.__name__, function.__defaults__)
        copy.__qualname__ = copy.__name__
        known[code] = jit(copy)
    return known[code]
