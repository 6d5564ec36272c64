"""What the kernels of a GPU have in common: how leaves are compiled, and the numbers that a block shares."""

from __future__ import annotations

from typing import Any

from numba import cuda as numba_cuda

from supple.solvers.lean.shape import Shape

cuda: Any = numba_cuda
OF_TREES = 128  # registers of a lane: what does not fit in them does not fit in twice as many


def device_jit(fast: bool) -> Any:
    """How leaves are compiled for a device: merged into their callers, with fastmath or without."""

    def jit(function: Any) -> Any:
        return cuda.jit(function, device=True, forceinline=True, fastmath=fast)

    return jit


def sizes(shape: Shape) -> tuple[tuple[int, int], ...]:
    """Shapes of offsets, tools, bounds, limits and starts."""
    n, G = shape.joints, len(shape.carrier)
    return (n, 12), (G, 12), (G, 2), (2, n), (4, n)


def sharing(jit: Any) -> Any:
    """A leaf that copies all numbers into memory that a block shares."""

    @jit
    def copy(given: Any, at: Any, here: Any) -> Any:
        """Copy numbers that begin at a place; where the next ones begin."""
        wide = here.shape[1]
        for k in range(cuda.threadIdx.x, here.size, cuda.blockDim.x):
            here[k // wide, k % wide] = given[at + k]
        return at + here.size

    @jit
    def share(
        numbers: Any, source: Any, offset: Any, tool: Any, bounds: Any, limits: Any, starts: Any, own: Any
    ) -> None:
        at = copy(numbers, 0, offset)
        at = copy(numbers, at, tool)
        at = copy(numbers, at, bounds)
        at = copy(numbers, at, limits)
        copy(numbers, at, starts)
        copy(source, 0, own)
        cuda.syncthreads()

    return share
