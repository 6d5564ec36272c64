"""The decorators of kernels.

`leaf` marks the inner functions, which are merged into their callers; `written_in` those that must be merged before
compilation; `stage` the few large ones that several kernels share, which are not merged; `shared` small ones that
Python calls too; `entry` those that Python calls. Leaves and stages are only typed and written down as LLVM's code;
optimised and turned into machine code is an entry, with all that it calls, once (`shortcuts`). Those that are `small`
have short loops, which are left as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit
from numba.extending import register_jitable

from supple.kernels.compiling import collecting, messages
from supple.kernels.compiling.cache import INTERPRETED
from supple.kernels.compiling.guard import COMPILES_QUICKLY, UNKEPT
from supple.kernels.compiling.recording import name_of, register
from supple.kernels.compiling.views import teach_views

_OPTIONS: dict[str, Any] = {
    "error_model": "numpy",
    "fastmath": {"contract", "nsz", "arcp"},  # NaN and infinity keep their meaning
    "nogil": True,
}
if COMPILES_QUICKLY:
    from supple.kernels.compiling.shortcuts import OPTIONS as _QUICKLY, SMALL as _SMALL
else:
    _QUICKLY, _SMALL = {}, {}


MADE_BY: dict[Any, Callable[..., Any]] = {}  # the decorator of each kernel, by its code (see `twins`)


def _options(kind: str, small: bool = False) -> dict[str, Any]:
    """Numba's options for a kind of kernel."""
    return _OPTIONS | _QUICKLY.get(kind, {}) | (_SMALL if small else {})


def leaf(function: Any, small: bool = False) -> Any:
    """A kernel that only kernels call, merged into its callers: it may take many views without a cost."""
    MADE_BY[function.__code__] = leaf
    return njit(function, **_options("leaf", small))


def written_in(function: Any, small: bool = False) -> Any:
    """A kernel that is written into its one or two callers before they are compiled.

    For functions that open views and return them, since a GPU returns no views, and for the loops of solvers: each level
    of calls would have everything below it optimised once more.
    """
    MADE_BY[function.__code__] = written_in
    return njit(function, inline="always", **_options("written_in"))


def shared(function: Callable[..., Any]) -> Any:
    """A small function that kernels and Python both call."""
    return register_jitable(**_options("shared"))(function)


def stage(function: Any, small: bool = False) -> Any:
    """A large kernel that only kernels call, compiled once and not merged into its callers; give it packs, not views."""
    MADE_BY[function.__code__] = stage
    return njit(function, **_options("stage", small))


def entry(function: Any, small: bool = False) -> Any:
    """A kernel that Python calls; compiled once for every figure and every mix of goals, and cached on disk."""
    MADE_BY[function.__code__] = entry
    dispatcher = register(function, njit(function, **_options("entry")))
    if not INTERPRETED and not UNKEPT:
        from supple.kernels.compiling.keeping import Kept

        Kept(name_of(function)).serve(dispatcher)
    return dispatcher


teach_views()
if not INTERPRETED:
    messages.listen()
    collecting.collect_seldom()
