"""How kernels are compiled: the only part of supple that knows Numba.

A *kernel* is a plain Python function over flat arrays. It allocates nothing, creates no Python object and raises nothing,
so that it runs compiled, runs interpreted (``NUMBA_DISABLE_JIT=1``) and can be compiled for a GPU later.

`decorators` mark kernels; `twins` makes them once more for problems that need less; `views` are how they look into packs;
`custom` calls functions that users bring; `cache` keeps compiled entries between processes; `messages` says what is being
compiled, and `collecting` lets garbage wait meanwhile. `shortcuts` and `keeping` hold everything that Numba does not promise,
and `guard` decides whether this Numba still is what they were made for.
"""

from supple.kernels.compiling.cache import INTERPRETED, kernel_digest, kernel_sources
from supple.kernels.compiling.custom import call_custom, register_custom
from supple.kernels.compiling.decorators import entry, leaf, shared, stage, untyped, written_in
from supple.kernels.compiling.twins import GENERAL, HULLS, hull_twin, plain_twin
from supple.kernels.compiling.views import define_views, flat, row, table

__all__ = [
    "leaf",
    "written_in",
    "shared",
    "stage",
    "entry",
    "untyped",
    "GENERAL",
    "HULLS",
    "plain_twin",
    "hull_twin",
    "row",
    "table",
    "flat",
    "define_views",
    "call_custom",
    "register_custom",
    "INTERPRETED",
    "kernel_digest",
    "kernel_sources",
]
