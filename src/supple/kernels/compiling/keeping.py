"""How a compiled entry goes into the cache and comes back: made of what Numba does not promise, and used only where `guard`
found it to be what it was; elsewhere nothing is kept.
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
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from supple.kernels.compiling.cache import Damaged, keep, kept
from supple.kernels.compiling.messages import announce


class Kept(NullCache):
    """Numba's cache of one entry, in files that are checked before they are loaded.

    Numba's own has an index and numbers for names, which two processes that write at once can cross, and loads whatever it
    finds. Here a file's name, and its first lines, tell all that the code depends on.
    """

    def __init__(self, folder: Path, function: Callable[..., Any]) -> None:
        self.folder, self.name = folder, f"{function.__module__}.{function.__qualname__}"

    def serve(self, dispatcher: Any) -> None:
        """Be the cache of an entry."""
        dispatcher._cache = self

    def _place(self, signature: Any, codegen: Any) -> tuple[Path, str]:
        """The file for a signature on this processor, and the key that it must hold."""
        about = self.name, Path(__file__).parent, sys.version, numba.__version__, signature, codegen.magic_tuple()
        key = "\n".join(map(str, about))
        return self.folder / f"{self.name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.code", key

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled entry; None if it is not there, or not as it was kept: then it is compiled anew."""
        target_context.refresh()
        file, key = self._place(sig, target_context.codegen())
        try:
            payload = kept(file, key)
            return None if payload is None else CompileResult._rebuild(target_context, *pickle.loads(payload))
        except Exception as error:  # whatever it is: there is a way without
            why = str(error) if isinstance(error, Damaged) else f"{file.name} cannot be loaded"
            announce(f"{why} in {self.folder}. It is compiled anew …")
            return None

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keep a compiled entry."""
        if cres.library.has_dynamic_globals:  # addresses of this process
            return
        with contextlib.suppress(Exception):  # what cannot be kept is compiled again next time
            keep(*self._place(sig, cres.codegen), dumps(cres._reduce()))
