"""The door to the GPU: whether there is one that can be used, and a sentence with the remedy where there is not."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from supple.errors import BadValue, MissingExtra


@cache
def cuda() -> Any:
    """``numba.cuda``, with a device behind it; refused with the reason and the remedy."""
    missing = not hasattr(np, "row_stack")
    if missing:
        setattr(np, "row_stack", np.vstack)  # noqa: B010 - numba-cuda asks for the old name when this part of it is loaded
    try:
        from numba import cuda as found

        if missing:
            import_module("numba.cuda.np.arrayobj")
    except ImportError as error:
        raise MissingExtra("numba-cuda", "cuda", 'device="cuda"') from error
    finally:
        if missing:
            delattr(np, "row_stack")
    if not found.__file__ or "numba_cuda" not in found.__file__.replace("\\", "/"):
        raise MissingExtra("numba-cuda", "cuda", 'device="cuda"')
    try:
        usable = found.is_available()
    except Exception as error:
        raise BadValue(
            f'device="cuda" cannot be used: {_first_line(error)}; leave device= out to solve here'
        ) from error
    if not usable:
        why = getattr(found, "cuda_error", lambda: None)()
        raise BadValue(
            'device="cuda" needs an NVIDIA GPU and its driver, and none can be used'
            + (f" ({_first_line(why)})" if why else "")
            + ": nvidia-smi shows what there is; leave device= out to solve here"
        )
    return found


def _first_line(error: object) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" :")]
    return lines[-1] if lines else type(error).__name__


def named() -> str:
    """The name of the device, and what kernels are compiled for."""
    device = cuda().get_current_device()
    name = device.name.decode() if isinstance(device.name, bytes) else str(device.name)
    return f"{name} {device.compute_capability}"


def processors() -> int:
    """How many multiprocessors the device has."""
    return int(cuda().get_current_device().MULTIPROCESSOR_COUNT)


def recorded(work: Callable[[], None], stream: Any) -> Callable[[], None]:
    """What some work puts on a stream, as one launch; where nothing can be recorded, the work itself."""
    try:
        driver: Any = import_module("cuda.bindings.driver")
    except ImportError:
        return work
    handle = driver.CUstream(int(getattr(stream.handle, "value", stream.handle) or 0))
    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
    if driver.cuStreamBeginCapture(handle, mode)[0] != driver.CUresult.CUDA_SUCCESS:
        return work
    try:
        work()
    finally:
        error, graph = driver.cuStreamEndCapture(handle)
    if error != driver.CUresult.CUDA_SUCCESS:
        return work
    error, ready = driver.cuGraphInstantiate(graph, 0)
    if error != driver.CUresult.CUDA_SUCCESS:
        return work

    def launch() -> None:
        driver.cuGraphLaunch(ready, handle)

    return launch
