"""Arrays that lie on a device already, whoever made them, and streams, whoever opened them.

An array speaks ``__cuda_array_interface__`` (CuPy, PyTorch, Numba) or DLPack (these and JAX). It is looked at where it
lies and never copied; what it belongs to is kept alive as long as the look is.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from supple.errors import BadValue
from supple.solvers.lean import gpu

ON_CUDA, ON_CUDA_MANAGED = 2, 13  # kinds of devices in DLPack
LEGACY = 1  # the stream that DLPack takes for the default one
KINDS = {0: "i", 1: "u", 2: "f"}


class _Tensor(ctypes.Structure):
    """A tensor of DLPack; of what manages it only this is looked at, which stands first."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("number", ctypes.c_int32), ("sides", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64),
    )  # fmt: skip


class Borrowed:
    """A tensor of DLPack as an array with ``__cuda_array_interface__``; its capsule lives as long."""

    def __init__(self, capsule: Any) -> None:
        self.capsule, self.__cuda_array_interface__ = capsule, told(capsule)


def told(capsule: Any) -> dict[str, Any]:
    """What a capsule says of its tensor."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _Tensor.from_address(pointer(capsule, b"dltensor"))
    if tensor.lanes != 1 or tensor.code not in KINDS:
        raise BadValue("an array on the device has plain numbers")
    size, sides = tensor.bits // 8, range(tensor.sides)
    strides = tuple(size * tensor.strides[k] for k in sides) if tensor.strides else None
    return {
        "shape": tuple(tensor.shape[k] for k in sides), "strides": strides, "version": 3,
        "typestr": f"<{KINDS[tensor.code]}{size}", "data": ((tensor.data or 0) + tensor.offset, False),
    }  # fmt: skip


def lies_there(value: Any) -> bool:
    """Whether an array lies on a device."""
    if hasattr(value, "__cuda_array_interface__"):
        return True
    where = getattr(value, "__dlpack_device__", None)
    return not isinstance(value, np.ndarray) and where is not None and where()[0] in (ON_CUDA, ON_CUDA_MANAGED)


def looked_at(value: Any, stream: Any = None) -> Any:
    """An array on the device as Numba sees it; where it speaks DLPack alone, ready for a stream."""
    cuda = gpu.cuda()
    if hasattr(value, "__cuda_array_interface__"):
        return cuda.as_cuda_array(value)
    return cuda.as_cuda_array(Borrowed(value.__dlpack__(stream=handle_of(stream) or LEGACY)))


def handle_of(stream: Any) -> int:
    """The number of a stream: of Numba, CuPy, PyTorch, of what speaks ``__cuda_stream__``, or a number itself; 0: none."""
    if stream is None or isinstance(stream, int):
        return stream or 0
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    for name in ("cuda_stream", "ptr", "handle"):
        number = getattr(stream, name, None)
        if number is not None:
            return int(getattr(number, "value", number) or 0)
    raise BadValue(f"a stream is Numba's, CuPy's, PyTorch's or its number, not {stream!r}")


def stream_of(stream: Any) -> Any:
    """A stream as Numba has it; None stays None."""
    if stream is None or hasattr(stream, "auto_synchronize"):
        return stream
    return gpu.cuda().external_stream(handle_of(stream))
