"""Functions that users bring: compiled to C functions, and called by kernels that need not be compiled again."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportPrivateImportUsage=false
# (an intrinsic is called without its typing context, which its signature names)
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba import carray, njit, types
from numba.extending import intrinsic, is_jitted, overload

from supple.kernels.compiling.cache import INTERPRETED
from supple.kernels.compiling.views import pointer

_SIGNATURE = types.float64(types.uintp, types.intp, types.uintp, types.uintp, types.uintp)
_functions: dict[int, Any] = {}
_addresses: dict[Callable[..., float], int] = {}


def register_custom(function: Callable[..., float]) -> int:
    """Compile ``function(a, x, g, H) -> P`` to a C function and return its address; kernels call it without recompiling."""
    if INTERPRETED:
        _functions[id(function)] = function
        return id(function)
    if function in _addresses:
        return _addresses[function]
    inner = function if is_jitted(function) else njit(error_model="numpy")(function)

    def outer(a: Any, count: Any, x: Any, g: Any, hessian: Any) -> Any:
        return inner(
            carray(pointer(a), (count,), types.float64),
            carray(pointer(x), (12,), types.float64),
            carray(pointer(g), (12,), types.float64),
            carray(pointer(hessian), (12, 12), types.float64),
        )

    compiled = numba.cfunc(_SIGNATURE)(outer)
    address = int(compiled.address or 0)
    _functions[address] = compiled  # kept alive for as long as the process
    _addresses[function] = address
    return address


def call_custom(address: int, a: Any, x: Any, g: Any, hessian: Any) -> float:
    """Call the registered function at `address`."""
    return _functions[address](a, x, g, hessian)


@intrinsic
def _call_address(context: Any, address: Any, a: Any, count: Any, x: Any, g: Any, h: Any) -> Any:
    from llvmlite import ir

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = args[0].type
        function = ir.FunctionType(ir.DoubleType(), [word] * 5)
        target = builder.inttoptr(args[0], function.as_pointer())
        return builder.call(target, list(args[1:]))

    word = types.uintp
    return types.float64(word, word, types.intp, word, word, word), lower


@overload(call_custom)
def _call_custom(address: Any, a: Any, x: Any, g: Any, hessian: Any) -> Any:
    def call(address: Any, a: Any, x: Any, g: Any, hessian: Any) -> Any:
        return _call_address(
            types.uintp(address), a.ctypes.data, a.size, x.ctypes.data, g.ctypes.data, hessian.ctypes.data
        )

    return call
