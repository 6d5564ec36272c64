"""One call of the compiled search: pack, scratch, report and trace. Every door that searches goes through here.

There are three entries, made of one source (`kernels.compiling.twins`). A *plain* problem asks for points, frames and
directions in the world, of one rank and without alternatives, on segments that undriven joints carry, within ranges; no ball
or root turns without limits, and goals are few for the number of joints. It is served by the plain entry, which compiles in a
third of the time; everything else by the general one. Both give a plain problem the same answer, bit for bit. A third
serves figures that keep clear of things with boxes and hulls.

Where settings allow it, an arm of six hinges that has a formula is answered by it, row by row, and only what the formula
leaves is searched for. An arm of seven hinges is searched for from the start alone, then in slices (`closed_forms.nearest`),
and from many starts only where these have nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from supple.kernels.compiling import entry_in, untyped
from supple.problem.allowance import FREELY
from supple.problem.packing import is_plain, suited
from supple.problem.problem import Problem
from supple.solvers.levenberg_marquardt.formula_first import HINGES, FormulaFirst, hinges_placed
from supple.solvers.levenberg_marquardt.scratch import CHAINED, FORMULAS, SEARCH_SCRATCH, open_call_scratch
from supple.solvers.levenberg_marquardt.starts import search_box

NO_TRACE = FREELY.page()
search_entry = entry_in("supple.solvers.levenberg_marquardt.search.search_entry")
plain_search_entry = entry_in("supple.solvers.levenberg_marquardt.search.plain_search_entry")


class SearchCall:
    """What one search at a time needs; `run` searches for rows of postures."""

    def __init__(
        self,
        problem: Problem,
        settings: Sequence[float],
        seed: int = 0,
        report: np.ndarray | None = None,
        trace: np.ndarray = NO_TRACE,
        paces: Any = None,
        I: np.ndarray | None = None,
    ) -> None:
        """Searches write what they spend into `report` (rows, REPORT) and, where it has room, their way down into `trace`.

        With `paces` (size), rows are chained, each starting where the one before ended, and no coordinate moves by more
        than its pace from one row to the next. I is for a pack with other counts than the problem's.
        """
        own, F, T = problem.pack
        self.I, self.F, self.T = own if I is None else I, F.copy(), T[None].copy()
        self.report, self.trace = FREELY.report() if report is None else report, trace
        self.told = self.report[:1].reshape(-1)  # its first row
        self.scratch = SEARCH_SCRATCH.fresh(self.I)
        known = open_call_scratch(self.I, self.scratch)
        known.settings[: len(settings)] = settings
        known.settings[CHAINED] = 0.0 if paces is None else 1.0
        known.box[:] = search_box(problem, seed, paces)
        self.entry = plain_search_entry if is_plain(self.I, F) else suited(search_entry, self.I, F)
        self.has_run = False
        self.settings, self.formula = known.settings, None
        if known.settings[FORMULAS] and (count := hinges_placed(problem)):
            self.formula = FormulaFirst(problem, paces, sliced=count > HINGES)

    def run(self, T: np.ndarray, Q: np.ndarray, first: int = 0, last: int = 1) -> None:
        """Solve rows first … last − 1 of Q (k, size) in place for the targets T, k times as many numbers."""
        if self.formula is None:
            self.search(T, Q, first, last)
        else:
            self.formula.run(self, T, Q, first, last)

    def search(self, T: np.ndarray, Q: np.ndarray, first: int, last: int) -> None:
        """The same without a formula."""
        self.entry(self.I, self.F, self.scratch, T, Q, self.report, self.trace, first, last)
        if not self.has_run:  # from now on without a look at types, which stay what they are
            self.entry, self.has_run = untyped(self.entry), True
