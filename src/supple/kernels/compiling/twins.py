"""Twins: a kernel once more, with all that it calls, for problems that need less of it.

The source is the same. A branch on one of the constants `GENERAL` and `HULLS` is decided before a kernel is typed, so what it
leads to is not compiled at all where that is false, and what is left gives the same numbers. A twin has a name of its own,
and so have the kernels that it calls and that differ: compiled code of all can be kept side by side.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from supple.kernels.compiling.decorators import MADE_BY

GENERAL: bool = True  # False in plain twins
HULLS: bool = False  # True in twins for figures that keep clear with boxes and hulls


def plain_twin(kernel: Any) -> Any:
    """The twin of a kernel, in which `GENERAL` is false; the kernel itself if nothing in it asks."""
    return _twin(kernel, {}, "plain", "GENERAL", False)


def hull_twin(kernel: Any) -> Any:
    """The twin of a kernel, in which `HULLS` is true."""
    return _twin(kernel, {}, "hull", "HULLS", True)


def _twin(kernel: Any, known: dict[Any, Any], called: str, constant: str, value: bool) -> Any:
    function = getattr(kernel, "py_func", kernel)
    code = getattr(function, "__code__", None)
    if code is None or code not in MADE_BY:
        return kernel
    if code not in known:
        around, changed = function.__globals__, {}
        for name in code.co_names:
            found = around.get(name)
            other = value if name == constant else _twin(found, known, called, constant, value)
            if other is not found:
                changed[name] = other
        known[code] = kernel
        if changed:
            copy = FunctionType(code, {**around, **changed}, f"{called}_{function.__name__}", function.__defaults__)
            copy.__qualname__ = copy.__name__
            copy.__doc__ = function.__doc__
            known[code] = MADE_BY[code](copy, small=not value)
    return known[code]
