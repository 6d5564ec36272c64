"""The two ways of a batch through the device: kernels of a lean or a wide loop, and what goes into them besides targets."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba.core import types

from supple.kernels.tables import Routes, Tasks
from supple.kernels.tree import Tree
from supple.problem.problem import Problem
from supple.solvers.lean import gpu
from supple.solvers.lean.kept import compiled
from supple.solvers.lean.shape import COARSE_ANGLE, COARSE_PLACE, Numbers, Shape, packs
from supple.solvers.lean.takes import formed
from supple.solvers.lean.wide_shape import WideNumbers, WideShape

MENDED, TIGHT = 2, 4  # steps of what is not met at once; where tolerances are finer than what float32 can come to
F4, F8, I4, I8 = numba.float32, numba.float64, numba.int32, numba.int64


def way_of(problem: Problem, start: np.ndarray) -> LeanWay | WideWay:
    """The way of a problem; `Refused` says why it has none."""
    shape, numbers = formed(problem, start)
    if isinstance(shape, Shape):
        assert isinstance(numbers, Numbers)
        return LeanWay(shape, numbers)
    assert isinstance(numbers, WideNumbers)
    return WideWay(shape, numbers)


def _targets(kind: Any, layout: str) -> Any:
    own = numba.from_dtype(np.dtype(kind))
    return own[:, ::1] if layout == "C" else own[:, :]


class LeanWay:
    """A loop in float32 that keeps everything in registers, where it can."""

    real = np.float32
    patience = ((150_000, 40), (1_000_000, 80), (np.inf, 160))  # rows, and trips of one before it goes to the race

    def __init__(self, shape: Shape, numbers: Numbers) -> None:
        from supple.solvers.lean.loops import loops

        tight = bool((numbers.tolerance < [COARSE_PLACE**2, COARSE_ANGLE**2]).any())
        self.loops, self.source = loops(shape, numbers.root, TIGHT if tight else MENDED), numbers.source
        self.found = shape.joints + 7 * shape.free
        self._about = f"{gpu.named()} {shape} {numbers.root} {tight}"
        to = gpu.cuda().to_device
        flat = [np.concatenate([a.ravel() for a in packs(numbers, kind)]) for kind in (np.float32, np.float64)]
        self._numbers = [to(a) for a in flat]
        self._places = to(np.concatenate([numbers.coordinate, numbers.resting]).astype(float))

    def kernels(self, kind: Any, layout: str) -> tuple[Any, ...]:
        """Search, judge and mend for targets of a kind."""
        targets = _targets(kind, layout)
        search = (F4[::1], I4[::1], targets, I4[::1], I8, I8, F4[:, ::1])
        finish = (F8[::1], I4[::1], F8[::1], targets, I4[::1], F4[:, ::1], F8[:, ::1], I4[::1])
        return (
            compiled(self.loops.search, search, f"search {self._about}"),
            compiled(self.loops.judge, finish, f"judge {self._about}"),
            compiled(self.loops.mend, finish, f"mend {self._about}"),
        )

    def searching(self, source: Any) -> tuple[Any, ...]:
        """What a search takes before the targets."""
        return self._numbers[0], source

    def finishing(self, source: Any, targets: Any, work: Any, Q: Any, P: Any, verdict: Any) -> tuple[Any, ...]:
        """What judging and mending take."""
        return self._numbers[1], source, self._places, targets, work, Q, P, verdict


class WideWay:
    """A loop in float64 that takes all that has residuals."""

    real = np.float64
    patience = ((np.inf, 300),)

    def __init__(self, shape: WideShape, numbers: WideNumbers) -> None:
        from supple.solvers.lean.wide_loops import OF_WIDE, wide_loops

        self.loops, self.source, self.found = wide_loops(shape), numbers.source, shape.coordinates
        self._about = f"{gpu.named()} {shape} {OF_WIDE}"
        to, given = gpu.cuda().to_device, ((Tree, numbers.tree), (Tasks, numbers.tasks), (Routes, numbers.routes))
        arrays = (numbers.coordinate, numbers.limits, numbers.starts)
        self._types = tables_of(numbers)
        self._tables = (*(of(*map(to, one)) for of, one in given), *map(to, arrays))
        self._resting = to(numbers.resting)

    def kernels(self, kind: Any, layout: str) -> tuple[Any, ...]:
        """Search and judge for targets of a kind."""
        targets = _targets(kind, layout)
        search = (*self._types, I4[::1], targets, I4[::1], I8, I8, F8[:, ::1])
        judge = (*self._types, I4[::1], targets, I4[::1], F8[:, ::1], F8[:, ::1], I4[::1], F8[::1])
        return (
            compiled(self.loops.search, search, f"wide search {self._about}"),
            compiled(self.loops.judge, judge, f"wide judge {self._about}"),
        )

    def searching(self, source: Any) -> tuple[Any, ...]:
        """What a search takes before the targets."""
        return (*self._tables, source)

    def finishing(self, source: Any, targets: Any, work: Any, Q: Any, P: Any, verdict: Any) -> tuple[Any, ...]:
        """What judging takes."""
        return (*self._tables, source, targets, work, Q, P, verdict, self._resting)


def tables_of(numbers: WideNumbers) -> tuple[Any, ...]:
    """The types of the tables that a wide kernel takes."""

    def one(table: np.ndarray) -> Any:
        return types.Array(numba.from_dtype(table.dtype), table.ndim, "C")

    given = ((Tree, numbers.tree), (Tasks, numbers.tasks), (Routes, numbers.routes))
    named = (types.NamedTuple([one(table) for table in tables], of) for of, tables in given)
    return (*named, *map(one, (numbers.coordinate, numbers.limits, numbers.starts)))
