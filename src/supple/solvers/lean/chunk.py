"""Where a chunk of a batch lies while it is solved."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.solvers.lean import gpu


class Slot:
    """Buffers for a chunk, on the device and pinned, and the stream that fills them."""

    def __init__(self, rows: int, widths: tuple[int, int, int], kinds: tuple[Any, Any], pinned: bool) -> None:
        cuda = gpu.cuda()
        (wide, found, size), (kind, real) = widths, kinds
        self.stream, self.done = cuda.stream(), cuda.event()
        self.graphs: dict[int, tuple[Any, Any]] = {}  # of small batches, by their size
        self.targets = cuda.device_array((rows, wide), kind)
        self.work, self.Q = cuda.device_array(2 + 2 * rows, np.int32), cuda.device_array((rows, found), real)
        self.P, self.verdict = cuda.device_array((rows, size)), cuda.device_array(rows, np.int32)
        if pinned:
            self.given = cuda.pinned_array((rows, wide), kind)
            self.answer, self.told = cuda.pinned_array((rows, size)), cuda.pinned_array(rows, np.int32)
