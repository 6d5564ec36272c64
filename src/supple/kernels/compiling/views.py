"""Views into packed arrays, as kernels make them (as Python does: `without_numba`).

Compiled, a view is a bare pointer with a shape: no reference count, hence no atomic traffic between threads.
"""

# pyright: reportCallIssue=false, reportArgumentType=false, reportPrivateImportUsage=false
# (an intrinsic is called without its typing context, which its signature names)
from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from numba import carray, types
from numba.extending import intrinsic, lower_builtin, overload, type_callable

from supple.kernels.compiling.guard import COMPILES_QUICKLY
from supple.kernels.compiling.without_numba import flat, row, table, tell_compiler


@intrinsic
def pointer(context: Any, address: Any) -> Any:
    """An address as a pointer, for `carray`."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return types.voidptr(types.uintp), lower


def _quick() -> None:
    """Views as a few instructions, written where they are called."""
    from supple.kernels.compiling.shortcuts import lower_view

    @type_callable(row)
    def _row(context: Any) -> Any:
        return lambda pack, at, count: types.Array(pack.dtype, 1, "C")

    @type_callable(table)
    def _table(context: Any) -> Any:
        return lambda pack, at, rows, columns: types.Array(pack.dtype, 2, "C")

    @type_callable(flat)
    def _flat(context: Any) -> Any:
        return lambda array: types.Array(array.dtype, 1, "C")

    lower_builtin(row, types.Array, types.Integer, types.Integer)(lower_view)
    lower_builtin(table, types.Array, types.Integer, types.Integer, types.Integer)(lower_view)
    lower_builtin(flat, types.Array)(lower_view)


def _plain() -> None:
    """Views by Numba's public ways: a function each, that is called."""

    @overload(row)
    def _row(pack: Any, at: Any, count: Any) -> Any:
        kind, size = pack.dtype, pack.dtype.bitwidth // 8

        def view(pack: Any, at: Any, count: Any) -> Any:
            return carray(pointer(types.uintp(pack.ctypes.data + at * size)), (count,), kind)

        return view

    @overload(table)
    def _table(pack: Any, at: Any, rows: Any, columns: Any) -> Any:
        kind, size = pack.dtype, pack.dtype.bitwidth // 8

        def view(pack: Any, at: Any, rows: Any, columns: Any) -> Any:
            return carray(pointer(types.uintp(pack.ctypes.data + at * size)), (rows, columns), kind)

        return view

    @overload(flat)
    def _flat(array: Any) -> Any:
        kind = array.dtype

        def view(array: Any) -> Any:
            return carray(pointer(array.ctypes.data), (array.size,), kind)

        return view


def _define(function: Callable[..., Any], kind: Any, shapes: Sequence[tuple[int, int]], views: Any) -> None:
    """Tell Numba of a function that makes views; quickly, as one instruction to the compiler."""
    if not COMPILES_QUICKLY:
        twin = FunctionType(function.__code__, function.__globals__)
        overload(function)(lambda I, memory: twin)  # not inline: Numba would take what is written into views for dead
        return
    from supple.kernels.compiling.shortcuts import lower_views

    def typer(I: Any, memory: Any) -> Any:
        kinds = I.dtype, memory.dtype
        fields = [types.Array(kinds[a], sides, "C") if a >= 0 else types.intp for a, sides in shapes]
        return types.BaseTuple.from_types(fields, kind)

    type_callable(function)(lambda context: typer)
    lower_builtin(function, types.Array, types.Array)(lower_views(views))


def teach_views() -> None:
    """Tell the compiler of `row`, `table` and `flat`, and of all functions that make views, now and later."""
    if COMPILES_QUICKLY:
        _quick()
    else:
        _plain()
    tell_compiler(_define)
