"""How kernels are compiled: the only part of supple that knows Numba.

A *kernel* is a plain Python function over flat arrays. It allocates nothing, creates no Python object and raises nothing,
so that it runs compiled, runs interpreted (``NUMBA_DISABLE_JIT=1``) and can be compiled for a GPU later.

`decorators` mark kernels; `twins` makes them once more for problems that need less; `views` is how they look into packs;
`without_numba` how Python does, and how it calls entries without their sources; `custom` calls functions that users bring;
`cache` keeps compiled ones between processes; `messages` says what is being compiled, and `collecting` lets garbage wait
meanwhile. `shortcuts`, `loading` and `keeping` hold everything that Numba does not promise, and `guard` decides whether this
Numba still is what they were made for. Names are imported when they are asked for: those of `without_numba` need no compiler.
"""

from typing import TYPE_CHECKING

from supple import lazily

if TYPE_CHECKING:
    from supple.kernels.compiling.cache import (
        INTERPRETED as INTERPRETED,
        kernel_digest as kernel_digest,
        kernel_sources as kernel_sources,
    )
    from supple.kernels.compiling.custom import call_custom as call_custom, register_custom as register_custom
    from supple.kernels.compiling.decorators import (
        entry as entry,
        leaf as leaf,
        shared as shared,
        stage as stage,
        written_in as written_in,
    )
    from supple.kernels.compiling.twins import (
        GENERAL as GENERAL,
        HULLS as HULLS,
        hull_twin as hull_twin,
        plain_twin as plain_twin,
    )
    from supple.kernels.compiling.without_numba import (
        define_views as define_views,
        entry_in as entry_in,
        flat as flat,
        row as row,
        table as table,
        untyped as untyped,
    )

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "cache": ["INTERPRETED", "kernel_digest", "kernel_sources"],
        "custom": ["call_custom", "register_custom"],
        "decorators": ["entry", "leaf", "shared", "stage", "written_in"],
        "twins": ["GENERAL", "HULLS", "hull_twin", "plain_twin"],
        "without_numba": ["define_views", "entry_in", "flat", "row", "table", "untyped"],
    },
)
