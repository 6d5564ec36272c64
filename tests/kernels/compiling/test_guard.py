"""What Numba does not promise is used only while it is what it was; without it the answers are the same."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numba
import pytest
from numba.core.compiler import DefaultPassBuilder, Flags

import supple
from supple.kernels.compiling import INTERPRETED, guard, shortcuts

SOURCES = Path(supple.__file__).parents[1]
COMPILED = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
# An entry that calls a leaf, a stage and what is written in, and looks into arrays, and writes, by every kind of view.
PROBE = """
import os, sys, types
module = types.ModuleType("supple.probe")
sys.modules["supple.probe"] = module
exec(compile('''
from typing import Any, NamedTuple
from supple.kernels.compiling import entry, flat, leaf, row, stage, table, written_in
from supple.kernels.layouts import Layout
from supple.kernels.opening import Scratch, of

class Pair(NamedTuple):
    x: Any = of("COUNT")

open_pair = Scratch(Pair, Layout("a pair", "COUNT", [], [])).open

@leaf
def first(x):
    return x[0]

@stage
def total(X):
    return flat(X).sum()

@written_in
def opened(pack):
    return row(pack, 1, 2), table(pack, 2, 2, 2)

@entry
def probe(pack, I, memory):
    a, X = opened(pack)
    scratch = open_pair(I, memory)
    for k in range(2):
        scratch.x[k] = a[k]
    return 10.0 * first(memory) + total(X)
''', "probe", "exec"), module.__dict__)
import numpy as np
from supple.kernels.compiling import guard
value = module.probe(np.arange(6.0), np.array([2]), np.zeros(2))
print(value, sum(module.probe.stats.cache_hits.values()), guard.COMPILES_QUICKLY)
"""


def run(cache: Path, before: str = "", **environment: str) -> tuple[float, int, bool, str]:
    """The probe's answer in a fresh process, how often it was loaded, whether shortcuts were taken, and what was said."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SUPPLE_", "NUMBA_"))}
    settings = {**kept, "SUPPLE_CACHE": str(cache), "PYTHONPATH": str(SOURCES), **environment}
    done = subprocess.run(
        [sys.executable, "-c", before + PROBE], env=settings, capture_output=True, text=True, check=True
    )
    value, hits, quick = done.stdout.split()
    return float(value), int(hits), quick == "True", done.stderr


@COMPILED
def test_this_numba_is_what_it_was(tmp_path: Path):
    assert numba.__version__.rsplit(".", 1)[0] == guard.TESTED_NUMBA
    assert not guard.SLOW
    assert not guard.UNKEPT
    value, hits, quick, said = run(tmp_path / "cache")
    assert (value, hits, quick) == (24.0, 0, True)
    assert "is not what it was" not in said
    assert run(tmp_path / "cache") == (24.0, 1, True, "")


def test_the_ceiling_on_numba_is_what_was_tested():
    project = SOURCES.parent / "pyproject.toml"
    (asked,) = [d for d in tomllib.loads(project.read_text())["project"]["dependencies"] if d.startswith("numba")]
    major, minor = map(int, guard.TESTED_NUMBA.split("."))
    assert asked.split(",")[-1] == f"<{major}.{minor + 1}"


# What another Numba might have done: each with the name that the line on stderr must mention.
CHANGES = {
    "Compiler.__init__": """
import numba.core.compiler as c
was = c.CompilerBase.__init__
c.CompilerBase.__init__ = lambda self, typing, target, lib, args, result, flags, locs: was(
    self, typing, target, lib, args, result, flags, locs)
""",
    "populate_array": """
import numba.np.arrayobj as a
was = a.populate_array
a.populate_array = lambda array, data, shape, strides, itemsize, info=None, parent=None, **more: was(
    array, data, shape, strides, itemsize, more.get("meminfo", info), parent)
""",
    "JITCodeLibrary._finalize_dynamic_globals": """
import numba.core.codegen as c
was, finalize = c.CPUCodeLibrary._finalize_dynamic_globals, c.CPUCodeLibrary._finalize_final_module
c.CPUCodeLibrary._settle_globals = was
def finalised(self):
    c.CPUCodeLibrary._finalize_dynamic_globals = was
    try:
        finalize(self)
    finally:
        del c.CPUCodeLibrary._finalize_dynamic_globals
c.CPUCodeLibrary._finalize_final_module = finalised
del c.CPUCodeLibrary._finalize_dynamic_globals
""",
    "DefaultOptions.forceinline": """
import numba.core.options as o
import numba
del o.DefaultOptions.forceinline
""",
}


@COMPILED
@pytest.mark.parametrize("name", CHANGES)
def test_where_numba_has_changed_kernels_are_compiled_by_its_public_ways(tmp_path: Path, name: str):
    value, hits, quick, said = run(tmp_path / "cache", CHANGES[name])
    assert (value, hits, quick) == (24.0, 0, False)
    assert "is not what it was" in said
    assert name in said
    assert said.count("\n") == 1
    assert run(tmp_path / "cache", CHANGES[name]) == (24.0, 1, False, "")  # it is kept, apart from the others
    assert run(tmp_path / "cache")[:3] == (24.0, 0, True)


@COMPILED
def test_where_numba_has_changed_how_code_is_kept_nothing_is_kept(tmp_path: Path):
    change = "import numba.core.compiler as c; c.CompileResult.reduced = c.CompileResult._reduce; del c.CompileResult._reduce"
    for _ in range(2):
        value, hits, quick, said = run(tmp_path / "cache", change)
        assert (value, hits, quick) == (24.0, 0, True)
        assert "CompileResult._reduce is gone" in said
        assert said.count("\n") == 1
    assert not list(tmp_path.rglob("*.code"))


@COMPILED
def test_shortcuts_can_be_switched_off(tmp_path: Path):
    value, hits, quick, said = run(tmp_path / "cache", SUPPLE_SHORTCUTS="0")
    assert (value, hits, quick) == (24.0, 0, False)
    assert "is not what it was" not in said
    assert run(tmp_path / "cache", SUPPLE_SHORTCUTS="0") == (24.0, 1, False, "")


@COMPILED
def test_passes_that_are_left_out_are_there_and_nothing_needs_them(monkeypatch: pytest.MonkeyPatch):
    full = DefaultPassBuilder.define_nopython_pipeline(SimpleNamespace(flags=Flags(), func_ir=None))
    (short,) = shortcuts.without_needless([full])
    assert {each.__name__ for each, _ in full.passes} - {
        each.__name__ for each, _ in short.passes
    } == shortcuts.NEEDLESS
    needed = {each.__name__ for each in set().union(*full.dependency_analysis().values())}
    assert needed
    monkeypatch.setattr(shortcuts, "NEEDLESS", needed)
    assert shortcuts.without_needless([full]) == [full]
