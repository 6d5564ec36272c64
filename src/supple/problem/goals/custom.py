"""A goal of one's own, as one small Numba function."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import check_fields, finite, named_or_none, numbers
from supple.basics.values import Value
from supple.errors import BadValue, shown
from supple.geometry.placements import Floats, frozen
from supple.kernels import kinds as kind
from supple.problem.goals.base import Miss, Term


@dataclass(frozen=True, eq=False, repr=False)
class Custom(Value):
    """A goal of one's own: ``function(a, x, g, H) -> P``, compiled by Numba, for the target numbers ``a``.

    ``x`` holds the 12 numbers of the effector's frame: its position, then its x, y and z axes. The function writes ∂P/∂x
    into ``g`` (12) and ∂²P/∂x² into ``H`` (12, 12), both zero on entry, and returns ``P ≥ 0``. The goal counts as met
    when ``√P`` is within the task's tolerance in metres.
    """

    function: Callable[..., float]
    target: Any = ()
    relative_to: str | None = None

    def __post_init__(self) -> None:
        check_fields(self, relative_to=named_or_none)
        if not callable(self.function) or isinstance(self.function, type):
            raise BadValue(f"Custom takes a function (a, x, g, H) -> P first, not {shown(self.function)}")
        array = np.atleast_1d(numbers(self.target, "the target of Custom")).ravel()
        object.__setattr__(self, "target", frozen(finite(array, array.shape, "the target of Custom")))
        try:
            assert self.address is not None  # compiles the function now: what Numba cannot take is refused here
        except Exception as error:  # whatever Numba has to say of it
            said = str(error).strip().splitlines()
            why = next((line for line in said[1:] if line.strip()), said[0] if said else type(error).__name__)
            raise BadValue(f"the function of Custom cannot be compiled as (a, x, g, H) -> float: {why}") from error

    @cached_property
    def address(self) -> int:
        """Where the compiled function is, in this process."""
        from supple.kernels.compiling import register_custom

        return register_custom(self.function)

    def __getstate__(self) -> dict[str, Any]:
        if isinstance(self.function, FunctionType) and not _is_found_by_name(self.function):
            name = f"{self.function.__module__}.{self.function.__qualname__}"
            raise BadValue(
                f"the function {name} of a Custom goal cannot be sent to another process or pickled: nobody finds it by its "
                "name there; define it at the top level of a module, or decorate it with numba.njit"
            )
        return super().__getstate__()

    def __copy__(self) -> Custom:
        return self

    def __deepcopy__(self, memo: Any) -> Custom:
        return self

    def terms(self) -> list[Term]:
        """One term."""
        return [Term(kind.CUSTOM, self.target, "position", address=self.address)]

    def miss(self, X: Floats) -> Miss:
        """``√P``, in the place of metres."""
        x = np.concatenate([X[:3, 3], X[:3, 0], X[:3, 1], X[:3, 2]])
        P = self.function(self.target.copy(), x, np.zeros(12), np.zeros((12, 12)))
        return Miss(metres=float(np.sqrt(max(P, 0.0))) if np.isfinite(P) else np.inf)

    def aimed(self, target: ArrayLike) -> Custom:
        """With other target numbers, as many as before."""
        array = finite(target, self.target.shape, "the target of Custom")
        return replace(self, target=array)


def _is_found_by_name(function: FunctionType) -> bool:
    """Whether a function is what its module has under its name."""
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is function
