"""How a compiled entry goes into a file and comes back: made of what Numba does not promise, and used only where `guard`
found it to be what it was; elsewhere nothing is kept.

An entry is looked for in three places: among the code that came with the package (`shipped`), in the cache, and, if another
process is compiling it right now, in the cache once more (`locks`). Only then is it compiled.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from llvmlite.binding import parse_assembly
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from supple.kernels.compiling import cache, locks, messages, shipped


class Kept(NullCache):
    """Numba's cache of one entry, in files that are checked before they are loaded.

    Numba's own has an index and numbers for names, which two processes that write at once can cross, and loads whatever it
    finds. Here a file's name, and its first lines, tell all that the code depends on.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._claim: locks.Claim | None = None

    def serve(self, dispatcher: Any) -> None:
        """Be the cache of an entry."""
        dispatcher._cache = self

    def _place(self, signature: Any, codegen: Any) -> tuple[Path, str] | None:
        """The file for a signature on this processor, and the key that it must hold; None if nothing is kept."""
        folder = cache.home().folder
        if folder is None:
            return None
        about = self.name, Path(__file__).parent, sys.version, numba.__version__, signature, codegen.magic_tuple()
        key = "\n".join(map(str, about))
        plain = "".join(c if c.isalnum() or c in "._" else "-" for c in self.name)
        return folder / f"{plain}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.code", key

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled entry; None if it is not there, or not as it was kept: then it is compiled anew."""
        target_context.refresh()
        codegen = target_context.codegen()
        where, why = shipped.found(self.name, sig, *codegen.magic_tuple()[1:])
        result = None
        if where is not None:
            result, why = self._loaded(where, target_context, shipped.trusted)
        if result is not None:
            return result
        where = self._place(sig, codegen)
        if where is not None:
            result, damage = self._loaded(where, target_context, cache.ours)
            why = damage or why
            if result is None:
                result = self._awaited(where, target_context)
        if result is None:
            messages.explain(self.name, why)
        return result

    def _loaded(self, where: tuple[Path, str], target_context: Any, trusted: Callable[..., bool]) -> tuple[Any, str]:
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
        where = self._place(sig, target_context.codegen())
        with contextlib.suppress(cache.Damaged):
            return None if where is None else cache.kept(*where)
        return None

    def has(self, sig: Any, target_context: Any) -> bool:
        """Whether there is code for a signature, shipped or kept, that need not be compiled."""
        target_context.refresh()
        where, _ = shipped.found(self.name, sig, *target_context.codegen().magic_tuple()[1:])
        with contextlib.suppress(cache.Damaged):
            if where is not None and cache.kept(*where, shipped.trusted) is not None:
                return True
        return self.payload(sig, target_context) is not None

    def _awaited(self, where: tuple[Path, str], target_context: Any) -> Any:
        """What another process is compiling, when it is there; None if we are to compile: then it is ours to do."""
        file = where[0]
        before = _stamp(file)
        wait, patience = (lambda: messages.wait(self.name)), 3.0 * messages.last_time(self.name)
        self._claim = locks.claim(file, lambda: _stamp(file) != before, wait, max(patience, locks.PATIENCE))
        if _stamp(file) == before:
            return None
        result = self._loaded(where, target_context, cache.ours)[0]
        if result is not None:
            self.release()
        return result

    def release(self) -> None:
        """Let other processes compile."""
        claim, self._claim = self._claim, None
        if claim is not None:
            claim.end()

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keep a compiled entry."""
        try:
            where = self._place(sig, cres.codegen)
            if where is not None and not cres.library.has_dynamic_globals:  # addresses of this process
                messages.complain(self.name, cache.keep(*where, packed(cres)))
        except Exception as error:  # what cannot be kept is compiled again next time
            messages.complain(self.name, str(error) or type(error).__name__)
        finally:
            self.release()


def packed(cres: Any) -> bytes:
    """A compiled entry as bytes: machine code, and what Numba must know to call it.

    Two things are left out. The listing of types shows paths and is read by nobody. The intermediate code, two thirds of it
    all, is for functions that would merge this one into themselves, and no kernel calls an entry: in its place are the names
    that it defines, which Numba asks for.
    """
    libdata, fndesc, env, signature, objectmode, lifted, _, reload_init, environments = cres._reduce()
    name, kind, (code, _) = libdata
    names = _defined(cres.library._get_module_for_linking())
    libdata = name, kind, (code, names)
    return dumps((libdata, fndesc, env, signature, objectmode, lifted, "", reload_init, environments))


def _defined(module: Any) -> bytes:
    """Bitcode that defines the names that a module defines, as single bytes, so that no call of them can be linked."""
    every = [*module.functions, *module.global_variables]
    lines = [f"@{json.dumps(each.name)} = constant i8 0" for each in every if not each.is_declaration]
    return parse_assembly("\n".join(lines)).as_bitcode()


def _stamp(file: Path) -> tuple[int, int] | None:
    with contextlib.suppress(OSError):
        about = file.stat()
        return about.st_ino, about.st_mtime_ns
    return None
