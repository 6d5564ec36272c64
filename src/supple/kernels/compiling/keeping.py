"""How a compiled entry goes into a file: made of what Numba does not promise, and used only where `guard` found it to be what
it was; elsewhere nothing is kept.

An entry is looked for among what came with the package and in the cache (`loading`) and, if another process is compiling it
right now, in the cache once more (`locks`). Only then is it compiled, and kept.
"""

from __future__ import annotations

import contextlib
import copy
import json
from pathlib import Path
from typing import Any

from llvmlite.binding import parse_assembly
from numba.core.environment import Environment
from numba.core.serialize import dumps

from supple.kernels.compiling import cache, locks, messages
from supple.kernels.compiling.loading import Loading


class Kept(Loading):
    """The cache of an entry whose source is there."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._claim: locks.Claim | None = None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled entry; None if it is not there, or not as it was kept: then it is compiled anew."""
        result, why = self.found(sig, target_context)
        where = self.place(sig, target_context.codegen()) if result is None else None
        if where is not None:
            result = self._awaited(where, target_context)
        if result is None:
            messages.explain(self.name, why)
        return result

    def _awaited(self, where: tuple[Path, str], target_context: Any) -> Any:
        """What another process is compiling, when it is there; None if we are to compile: then it is ours to do."""
        file = where[0]
        before = _stamp(file)
        wait, patience = (lambda: messages.wait(self.name)), 3.0 * messages.last_time(self.name)
        self._claim = locks.claim(file, lambda: _stamp(file) != before, wait, max(patience, locks.PATIENCE))
        if _stamp(file) == before:
            return None
        result = self.loaded(where, target_context, cache.ours)[0]
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
            where = self.place(sig, cres.codegen)
            if where is not None and not cres.library.has_dynamic_globals:  # addresses of this process
                messages.complain(self.name, cache.keep(*where, packed(cres)))
        except Exception as error:  # what cannot be kept is compiled again next time
            messages.complain(self.name, str(error) or type(error).__name__)
        finally:
            self.release()


def packed(cres: Any) -> bytes:
    """A compiled entry as bytes: machine code, and what Numba must know to call it.

    Three things are left out. The listing of types shows paths and is read by nobody. The intermediate code, two thirds of it
    all, is for functions that would merge this one into themselves, and no kernel calls an entry: in its place are the names
    that it defines, which Numba asks for. And the module of the source, which Numba would import to find objects that no kernel
    looks up: in its place is this package.
    """
    libdata, fndesc, env, signature, objectmode, lifted, _, reload_init, environments = cres._reduce()
    name, kind, (code, _) = libdata
    names = _defined(cres.library._get_module_for_linking())
    libdata = name, kind, (code, names)
    about = copy.copy(fndesc)
    about.modname = __package__
    bare = {id(each): _bare(each) for each in (env, *environments)}
    others = tuple(bare[id(each)] for each in environments)
    return dumps((libdata, about, bare[id(env)], signature, objectmode, lifted, "", reload_init, others))


def _bare(environment: Any) -> Any:
    """An environment of compiled code without the names of its module."""
    bare: Any = Environment({"__name__": __package__})
    bare.env_name = environment.env_name
    bare.consts[:] = environment.consts
    return bare


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
