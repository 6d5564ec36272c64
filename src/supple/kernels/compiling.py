"""How kernels are compiled: the only module that configures Numba.

A *kernel* is a plain Python function over flat arrays. It allocates nothing, creates no Python object and raises
nothing, so that it runs compiled, runs interpreted (``NUMBA_DISABLE_JIT=1``) and can be compiled for a GPU later.

`leaf` marks the inner functions, which are merged into their callers; `written_in` those that must be merged before
compilation; `stage` the few large ones that several kernels share, which are not merged; `shared` small ones that
Python calls too; `entry` those that Python calls. Leaves and stages are only typed and written down as LLVM's code;
optimised and turned into machine code is an entry, with all that it calls, once. Entries are cached on disk in a folder
named after a digest of every kernel's source text, so an upgrade or an edit can never run old machine code: Numba alone
would not notice a change in a callee that lives in another file.
"""

# pyright: reportCallIssue=false, reportArgumentType=false, reportAttributeAccessIssue=false, reportPrivateImportUsage=false
# (an intrinsic is called without its typing context, which its signature names)
from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import sys
from collections.abc import Callable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numba
from numba import carray, njit, types
from numba.core import config
from numba.core import event as _event
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult, Flags
from numba.core.serialize import dumps
from numba.extending import intrinsic, lower_builtin, overload, register_jitable, type_callable
from numba.np.arrayobj import populate_array

from supple.kernels.caching import Damaged, cache_folder, keep, kept

INTERPRETED = bool(config.DISABLE_JIT)
_FLAGS: dict[str, Any] = {
    "error_model": "numpy",
    "fastmath": {"contract", "nsz", "arcp"},  # NaN and infinity keep their meaning
    "nogil": True,
    "_nrt": False,  # nothing is allocated, so nothing is counted; and no kernel can return a view
}
_ANNOUNCED = (
    "compiling its kernels for this machine, {once}, when it is first used: the search takes about 40 seconds, "
    "proofs, tracking, steps and other solvers up to 30 each …"
)
_NEEDLESS = {  # passes of Numba's for closures, `with`, exceptions and expressions of arrays: kernels have none of these
    *("WithLifting", "InlineClosureLikes", "RewriteDynamicRaises", "MakeFunctionToJitFunction", "FindLiterallyCalls"),
    *("LiteralUnroll", "LiteralPropagationSubPipelinePass", "InlineOverloads", "NopythonRewrites"),
}


def kernel_sources(package: Path) -> list[Path]:
    """Every file of the package that defines kernels, or the numbers that they go by, in a fixed order."""
    files, mark = sorted(package.rglob("*.py")), b"supple.kernels.compiling import"
    return [file for file in files if package / "kernels" in file.parents or mark in file.read_bytes()]


def kernel_digest(package: Path) -> str:
    """A digest of the kernels' source text and of the versions of supple and Numba."""
    digest = hashlib.sha256()
    for file in kernel_sources(package):
        digest.update(str(file.relative_to(package)).encode() + b"\0" + file.read_bytes() + b"\0")
    try:
        version = metadata.version("supple")
    except metadata.PackageNotFoundError:
        version = "source"
    digest.update(f"{version} {numba.__version__}".encode())
    return digest.hexdigest()[:16]


CACHE, _WHY_NOT = (None, "") if INTERPRETED else cache_folder(kernel_digest(Path(__file__).parent.parent))


class _Part(JITCodeLibrary):
    """The intermediate code of a kernel that only kernels call: optimised and made machine code in their module alone.

    Numba would do both for every function and once more for each of its callers, and that is most of a cold start.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """There is no machine code to point at."""
        return 0

    @property
    def codegen(self) -> Any:
        """Asked for nothing but `set_env`."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Kernels look up no Python objects."""


class _Flags(Flags):
    """Numba's flags, quick to compare: with each expression that it types it looks for what it has typed with the same."""

    __slots__ = ()
    _same = hash(Flags())  # Numba's own hash is that of the names

    def __hash__(self) -> int:
        return self._same

    def __eq__(self, other: object) -> bool:
        return self._values == other._values if isinstance(other, _Flags) else super().__eq__(other)


# Two shortcuts through Numba's compiler, which save a seventh of a cold start. They are made of its internals, so where
# these are not what they were, Numba goes its own way.


@cache
def _remembering(rules: Any) -> Any:
    """Numba's rules of types, but all that they know of an operator is tried once, not with each expression."""
    known: dict[Any, Any] = {}

    def resolve(self: Any, func: Any, args: Any, kws: Any) -> Any:
        operator = getattr(func, "typing_key", None)
        if kws or operator is None or not isinstance(func, types.Function):
            return plain(self, func, args, kws)
        signature = known.get((operator, tuple(args)))
        if signature is None:
            signature = known[operator, tuple(args)] = plain(self, func, args, kws)
        return signature

    with contextlib.suppress(Exception):
        plain = type(rules).resolve_function_type
        quick = object.__new__(type("Remembering", (type(rules),), {"resolve_function_type": resolve}))
        quick.__dict__ = rules.__dict__  # the same rules, whatever is added to them later
        return quick
    return rules


def _without_needless(pipelines: list[Any]) -> list[Any]:
    """Numba's pipelines without the passes that kernels have no use for."""
    with contextlib.suppress(Exception):
        short = [type(full)(full.pipeline_name) for full in pipelines]
        for full, new in zip(pipelines, short, strict=True):
            for each, text in full.passes:
                if each.__name__ not in _NEEDLESS:
                    new.add_pass(each, text)
            new.finalize()
            required = set().union(*new.dependency_analysis().values())
            if any(each.__name__ in _NEEDLESS for each in required):
                return pipelines
        return short
    return pipelines


class _EntryCompiler(Compiler):
    """Numba's compiler, with its shortcuts."""

    def __init__(
        self, typingctx: Any, targetctx: Any, library: Any, args: Any, result: Any, flags: Any, *rest: Any
    ) -> None:
        super().__init__(_remembering(typingctx), targetctx, library, args, result, _Flags(flags), *rest)

    def define_pipelines(self) -> list[Any]:
        """The passes in their order."""
        return _without_needless(super().define_pipelines())


class _PartCompiler(_EntryCompiler):
    """Numba's compiler for parts."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *rest: Any) -> None:
        super().__init__(typingctx, targetctx, _Part(targetctx.codegen(), "part"), *rest)


_ENTRY_FLAGS: dict[str, Any] = _FLAGS | {"no_cfunc_wrapper": True, "pipeline_class": _EntryCompiler}
_PART_FLAGS: dict[str, Any] = _ENTRY_FLAGS | {"no_cpython_wrapper": True, "pipeline_class": _PartCompiler}


def leaf(function: Callable[..., Any]) -> Any:
    """A kernel that only kernels call, merged into its callers: it may take many views without a cost."""
    return njit(function, forceinline=True, **_PART_FLAGS)


def written_in(function: Callable[..., Any]) -> Any:
    """A kernel that is written into its one or two callers before they are compiled.

    For functions that open views and return them, since a GPU returns no views, and for the loops of solvers: each level
    of calls would have everything below it optimised once more.
    """
    return njit(function, inline="always", **_FLAGS)


def shared(function: Callable[..., Any]) -> Any:
    """A small function that kernels and Python both call."""
    return register_jitable(**_PART_FLAGS)(function)


def stage(function: Callable[..., Any]) -> Any:
    """A large kernel that only kernels call, compiled once and not merged into its callers; give it packs, not views."""
    return njit(function, forceinline=False, **_PART_FLAGS)  # said, since it would be inherited from a calling leaf


def entry(function: Callable[..., Any]) -> Any:
    """A kernel that Python calls; compiled once for every figure and every mix of goals, and cached on disk."""
    dispatcher = njit(function, **_ENTRY_FLAGS)
    if CACHE is not None:
        dispatcher._cache = _Kept(CACHE, function)
    return dispatcher


def untyped(entry: Any) -> Any:
    """An entry that has been called before, without the look at its arguments' types: they must be what they were then."""
    overloads = list(getattr(entry, "overloads", {}).values())
    return getattr(overloads[0], "entry_point", entry) if len(overloads) == 1 else entry


# ── kept between processes ───────────────────────────────────────────────────────────────────────────────────────────


class _Kept(NullCache):
    """Numba's cache of one entry, in files that are checked before they are loaded (`caching`).

    Numba's own has an index and numbers for names, which two processes that write at once can cross, and loads whatever it
    finds. Here a file's name, and its first lines, tell all that the code depends on.
    """

    def __init__(self, folder: Path, function: Callable[..., Any]) -> None:
        self.folder, self.name = folder, f"{function.__module__}.{function.__qualname__}"

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
            _announce(f"{why} in {self.folder}. It is compiled anew …")
            return None

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keep a compiled entry."""
        if cres.library.has_dynamic_globals:  # addresses of this process
            return
        with contextlib.suppress(Exception):  # what cannot be kept is compiled again next time
            keep(*self._place(sig, cres.codegen), dumps(cres._reduce()))


class _Announcer(_event.Listener):
    """Says that kernels are being compiled, so that the first call does not look like a hang."""

    def on_start(self, event: Any) -> None:
        """A function is about to be compiled."""
        module = getattr(event.data["dispatcher"].py_func, "__module__", "") or ""
        if module.startswith("supple."):
            once = f"each anew in every process, since {_WHY_NOT}" if _WHY_NOT else "each once"
            _announce(_ANNOUNCED.format(once=once))

    def on_end(self, event: Any) -> None:
        """A function has been compiled."""


_said: list[str] = []


def _announce(text: str) -> None:
    """One line on stderr in the life of a process."""
    if not _said and not os.environ.get("SUPPLE_QUIET"):
        _said.append(text)
        print(f"supple: {text}", file=sys.stderr, flush=True)


if not INTERPRETED:
    _event.register("numba:compile", _Announcer())


# ── views into packed arrays ─────────────────────────────────────────────────────────────────────────────────────────
# Compiled, a view is a bare pointer with a shape: no reference count, hence no atomic traffic between threads.


def row(pack: Any, at: int, count: int) -> Any:
    """The `count` numbers of a flat array that begin at `at`."""
    return pack[at : at + count]


def table(pack: Any, at: int, rows: int, columns: int) -> Any:
    """The `rows` × `columns` numbers of a flat array that begin at `at`."""
    return pack[at : at + rows * columns].reshape(rows, columns)


def flat(array: Any) -> Any:
    """All numbers of a contiguous table in one row."""
    return array.reshape(-1)


@intrinsic
def _pointer(context: Any, address: Any) -> Any:
    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return types.voidptr(types.uintp), lower


@type_callable(row)
def _type_row(context: Any) -> Any:
    def typer(pack: Any, at: Any, count: Any) -> Any:
        return types.Array(pack.dtype, 1, "C")

    return typer


@type_callable(table)
def _type_table(context: Any) -> Any:
    def typer(pack: Any, at: Any, rows: Any, columns: Any) -> Any:
        return types.Array(pack.dtype, 2, "C")

    return typer


@type_callable(flat)
def _type_flat(context: Any) -> Any:
    def typer(array: Any) -> Any:
        return types.Array(array.dtype, 1, "C")

    return typer


@lower_builtin(row, types.Array, types.Integer, types.Integer)
@lower_builtin(table, types.Array, types.Integer, types.Integer, types.Integer)
@lower_builtin(flat, types.Array)
def _lower_view(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kind = signature.return_type
    pack = context.make_array(signature.args[0])(context, builder, args[0])
    at, shape = context.get_constant(types.intp, 0), [pack.nitems]
    if len(args) > 1:
        pairs = zip(args[1:], signature.args[1:], strict=True)
        at, *shape = [context.cast(builder, x, t, types.intp) for x, t in pairs]
    size = context.get_constant(types.intp, kind.dtype.bitwidth // 8)
    strides = [builder.mul(size, n) for n in shape[1:]] + [size]
    view = context.make_array(kind)(context, builder)
    populate_array(view, builder.gep(pack.data, [at]), shape, strides, size, None)
    return view._getvalue()


# ── functions that users bring ───────────────────────────────────────────────────────────────────────────────────────

_CUSTOM_SIGNATURE = types.float64(types.uintp, types.intp, types.uintp, types.uintp, types.uintp)
_custom_functions: dict[int, Any] = {}
_custom_addresses: dict[Callable[..., float], int] = {}


def register_custom(function: Callable[..., float]) -> int:
    """Compile ``function(a, x, g, H) -> P`` to a C function and return its address; kernels call it without recompiling."""
    if INTERPRETED:
        _custom_functions[id(function)] = function
        return id(function)
    if function in _custom_addresses:
        return _custom_addresses[function]
    inner = function if isinstance(function, numba.core.dispatcher.Dispatcher) else njit(error_model="numpy")(function)

    def outer(a: Any, count: Any, x: Any, g: Any, hessian: Any) -> Any:
        return inner(
            carray(_pointer(a), (count,), types.float64),
            carray(_pointer(x), (12,), types.float64),
            carray(_pointer(g), (12,), types.float64),
            carray(_pointer(hessian), (12, 12), types.float64),
        )

    compiled = numba.cfunc(_CUSTOM_SIGNATURE)(outer)
    address = int(compiled.address or 0)
    _custom_functions[address] = compiled  # kept alive for as long as the process
    _custom_addresses[function] = address
    return address


def call_custom(address: int, a: Any, x: Any, g: Any, hessian: Any) -> float:
    """Call the registered function at `address`."""
    return _custom_functions[address](a, x, g, hessian)


@intrinsic
def _call_address(context: Any, address: Any, a: Any, count: Any, x: Any, g: Any, h: Any) -> Any:
    from llvmlite import ir

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = args[0].type
        function = ir.FunctionType(ir.DoubleType(), [word] * 5)
        target = builder.inttoptr(args[0], function.as_pointer())
        return builder.call(target, list(args[1:]))

    word = types.uintp
    return types.float64(word, word, types.intp, word, word, word), lower


@overload(call_custom)
def _call_custom(address: Any, a: Any, x: Any, g: Any, hessian: Any) -> Any:
    def call(address: Any, a: Any, x: Any, g: Any, hessian: Any) -> Any:
        return _call_address(
            types.uintp(address), a.ctypes.data, a.size, x.ctypes.data, g.ctypes.data, hessian.ctypes.data
        )

    return call
