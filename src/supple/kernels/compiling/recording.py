"""Which entries there are, and with what types of arguments Python calls them.

`entry` puts every kernel that Python calls into the register. A process that records (``SUPPLE_RECORD=1``, interpreted)
notes the types of each call: so signatures are known without a compiler, and without a list by hand.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from numba import typeof

from supple.kernels.compiling.cache import INTERPRETED, PACKAGE, kernel_sources


class Call(NamedTuple):
    """An entry, and the types of its arguments."""

    entry: str
    types: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{self.entry}{self.types}"


REGISTER: dict[str, Any] = {}  # name → dispatcher, or the plain function where nothing is compiled
_names: dict[Callable[..., Any], str] = {}
_calls: dict[str, Call] | None = {} if os.environ.get("SUPPLE_RECORD") and INTERPRETED else None


def register(function: Callable[..., Any], dispatcher: Any) -> Any:
    """Put an entry into the register; where calls are recorded, what comes back records them."""
    name = name_of(function)
    known = REGISTER.get(name)
    code = getattr(getattr(known, "py_func", known), "__code__", function.__code__)
    if code != function.__code__:
        raise ValueError(f"there are two entries {name}: their compiled code would be taken for each other's")
    _names[function] = name
    REGISTER[name] = dispatcher if _calls is None else _recorded(name, function)
    return REGISTER[name]


def name_of(function: Callable[..., Any]) -> str:
    """The name of an entry: its module, its own, and what it closes over, since that is compiled in."""
    return _names.get(function) or f"{function.__module__}.{function.__qualname__}{_closed_over(function)}"


def known_as(function: Callable[..., Any]) -> str | None:
    """The name of an entry; None if this is none."""
    return _names.get(function)


def _closed_over(function: Any) -> str:
    names = function.__code__.co_freevars
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    told = [f"{name}={_named(content, name)}" for name, content in zip(names, cells, strict=True)]
    return f"[{','.join(told)}]" if told else ""


def _named(content: Any, what: str) -> str:
    """What a function closes over, in words that no other value has."""
    inner = getattr(content, "py_func", content)
    if hasattr(inner, "__code__"):
        return name_of(inner)
    if isinstance(content, tuple):
        return f"({','.join(_named(each, what) for each in content)})"
    if content is None or isinstance(content, bool | int | float | str):
        return repr(content)
    raise ValueError(
        f"an entry closes over {what}, a {type(content).__name__}: its compiled code cannot be told from others"
    )


def entry_modules(package: Path = PACKAGE) -> list[str]:
    """The modules of the package that define entries."""
    marked = re.compile(rb"^@entry\b|\b(entry|plain_twin|hull_twin)\(", re.MULTILINE)
    files = [f for f in kernel_sources(package) if marked.search(f.read_bytes()) and f.parent.name != "compiling"]
    return [".".join(("supple", *f.relative_to(package).with_suffix("").parts)) for f in files]


def entries() -> dict[str, Any]:
    """All entries of the package, by name."""
    for module in entry_modules():
        import_module(module)
    return {name: each for name, each in REGISTER.items() if name.startswith("supple.")}


def entry_from_source(name: str) -> Any:
    """The entry of that name: its source is imported, and a twin made, if nobody asked for it before."""
    module, function = name.rsplit(".", 1)
    import_module(module)
    if name not in REGISTER:
        kind, _, original = function.partition("_")
        made = import_module("supple.kernels.compiling.twins").__dict__[f"{kind}_twin"]
        made(REGISTER[f"{module}.{original}"])
    return REGISTER[name]


def entry_named(name: str) -> Any:
    """The entry of that name, among all entries of the package."""
    return entries().get(name) or entry_from_source(name)


def recorded() -> list[Call]:
    """The calls so far, each once."""
    return list((_calls or {}).values())


def _recorded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any) -> Any:
        found = Call(name, tuple(typeof(arg) for arg in args))
        if _calls is not None:
            _calls.setdefault(str(found), found)
        return function(*args)

    call.__dict__["py_func"] = function  # as a dispatcher has it
    return call
