"""Twins: a kernel once more, with all that it calls, for problems that need less of it.

The source is the same. A branch on the constant `GENERAL` is decided before a kernel is typed, so what it leads to is not
compiled at all where `GENERAL` is false, and what is left gives the same numbers. A twin has a name of its own, and so have
the kernels that it calls and that differ: compiled code of both can be kept side by side.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from supple.kernels.compiling.decorators import MADE_BY

GENERAL: bool = True  # False in twins


def plain_twin(kernel: Any) -> Any:
    """The twin of a kernel, in which `GENERAL` is false; the kernel itself if nothing in it asks."""
    return _twin(kernel, {})


def _twin(kernel: Any, known: dict[Any, Any]) -> Any:
    function = getattr(kernel, "py_func", kernel)
    code = getattr(function, "__code__", None)
    if code is None or code not in MADE_BY:
        return kernel
    if code not in known:
        around, changed = function.__globals__, {}
        for name in code.co_names:
            found = around.get(name)
            other = False if name == "GENERAL" else _twin(found, known)
            if other is not found:
                changed[name] = other
        known[code] = kernel
        if changed:
            copy = FunctionType(code, {**around, **changed}, f"plain_{function.__name__}", function.__defaults__)
            copy.__qualname__ = copy.__name__
            copy.__doc__ = function.__doc__
            known[code] = MADE_BY[code](copy, small=True)
    return known[code]
