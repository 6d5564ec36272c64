"""How kept machine code comes back into a process: made of what Numba does not promise, and used only where `guard` found it
to be what it was; elsewhere nothing is kept (`keeping` writes it).

An entry is looked for among the code that came with the package (`shipped`), then in the cache. Neither needs its source: what
is kept says of what sources it was made, by the digest of their text, and calls no Python.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult

from supple.kernels.compiling import cache
from supple.kernels.compiling.cache import INTERPRETED, SHIPPED
from supple.kernels.compiling.guard import UNKEPT


class Loading(NullCache):
    """Numba's cache of one entry, in files that are checked before they are loaded.

    Numba's own has an index and numbers for names, which two processes that write at once can cross, and loads whatever it
    finds. Here a file's name, and its first lines, tell all that the code depends on.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def serve(self, dispatcher: Any) -> None:
        """Be the cache of an entry."""
        dispatcher._cache = self

    def place(self, signature: Any, codegen: Any) -> tuple[Path, str] | None:
        """The file for a signature on this processor, and the key that it must hold; None if nothing is kept."""
        folder = cache.home().folder
        if folder is None:
            return None
        about = self.name, Path(__file__).parent, sys.version, numba.__version__, signature, codegen.magic_tuple()
        key = "\n".join(map(str, about))
        plain = "".join(c if c.isalnum() or c in "._" else "-" for c in self.name)
        return folder / f"{plain}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.code", key

    def found(self, sig: Any, target_context: Any) -> tuple[Any, str]:
        """The compiled entry, shipped or kept, and ""; or None, and why it must be compiled."""
        _make_ready(target_context)
        codegen = target_context.codegen()
        result, why, comes = None, "", SHIPPED.is_dir()
        if comes:
            from supple.kernels.compiling import shipped  # a checkout has no such code

            where, why = shipped.found(self.name, sig, *codegen.magic_tuple()[1:])
            if where is not None:
                result, why = self.loaded(where, target_context, shipped.trusted)
        where = self.place(sig, codegen) if result is None else None
        if where is not None:
            result, damage = self.loaded(where, target_context, cache.ours)
            why = damage or why
        if result is None and not (comes or why):
            from supple.kernels.compiling import shipped

            why = shipped.shelf().why_not
        return result, why

    def loaded(self, where: tuple[Path, str], target_context: Any, trusted: Callable[..., bool]) -> tuple[Any, str]:
        """What a file holds, and ""; or None, and what is wrong with the file."""
        file, key = where
        try:
            payload = cache.kept(file, key, trusted)
            if payload is None:
                return None, ""
            return CompileResult._rebuild(target_context, *pickle.loads(payload)), ""
        except Exception as error:  # whatever it is: there is a way without
            why = str(error) if isinstance(error, cache.Damaged) else f"{file.name} cannot be loaded"
            return None, f"{why} in {file.parent}"

    def payload(self, sig: Any, target_context: Any) -> bytes | None:
        """What the cache holds for a signature, unloaded; None if it holds nothing, or not what was written."""
        target_context.refresh()
        where = self.place(sig, target_context.codegen())
        with contextlib.suppress(cache.Damaged):
            return None if where is None else cache.kept(*where)
        return None

    def has(self, sig: Any, target_context: Any) -> bool:
        """Whether there is code for a signature, shipped or kept, that need not be compiled."""
        target_context.refresh()
        from supple.kernels.compiling import shipped

        where, _ = shipped.found(self.name, sig, *target_context.codegen().magic_tuple()[1:])
        with contextlib.suppress(cache.Damaged):
            if where is not None and cache.kept(*where, shipped.trusted) is not None:
                return True
        return self.payload(sig, target_context) is not None


class WithoutSource(Loading):
    """The cache of a stand-in, which is never compiled: what is not there, the entry itself is asked for."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled entry."""
        result, _ = self.found(sig, target_context)
        if result is None:
            entry = _source(self.name)
            entry.compile(sig)
            result = entry.overloads[tuple(sig)]._replace(metadata=None)  # whose times are its own
        return result


def _make_ready(target_context: Any) -> None:
    """Make Numba's runtime ready to run what is loaded: all of its `refresh` that this takes.

    The rest of it imports what a compiler needs, SciPy's algebra too, which takes longer than everything else.
    """
    try:
        from numba.core.runtime import rtsys  # pyright: ignore[reportPrivateImportUsage]

        rtsys.initialize(target_context)
    except (ImportError, AttributeError, TypeError):  # another Numba
        target_context.refresh()


def ready(name: str, count: int) -> Any:
    """What to call for an entry of `count` arguments: a stand-in that loads its code, or the entry itself.

    The entry itself if its source is there already, if nothing can be kept, or if kernels run interpreted.
    """
    if INTERPRETED or UNKEPT or name.rpartition(".")[0] in sys.modules:
        return _source(name)
    names: dict[str, Any] = {}
    arguments = ", ".join(f"argument_{k}" for k in range(count))
    exec(f"def stand_in({arguments}): pass", names)
    dispatcher = njit(names["stand_in"])
    WithoutSource(name).serve(dispatcher)
    return dispatcher


def _source(name: str) -> Any:
    from supple.kernels.compiling.recording import entry_from_source

    return entry_from_source(name)
