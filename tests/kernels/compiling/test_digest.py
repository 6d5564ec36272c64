"""The cache of compiled kernels: never stale, quiet when warm, harmless when it cannot be written."""

from __future__ import annotations
import __future__

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple
from supple.kernels.compiling import (
    INTERPRETED,
    cache,
    kernel_digest,
    kernel_sources,
    leaf,
    row,
    stage,
    untyped,
)
from supple.kernels.compiling.guard import COMPILES_QUICKLY

SOURCE = Path(supple.__file__).parent
# A leaf in a file that holds other leaves, and an entry in a file of its own that calls it.
LEAF = "\n\n@leaf\ndef probe(x: float) -> float:\n    return x + {constant}\n"
ENTRY = '''"""An entry whose leaf lives in another file."""

from supple.kernels.compiling import entry
from supple.kernels.tree import probe


@entry
def probe_entry(x: float) -> float:
    return probe(x)
'''
SCRIPT = "from supple.probe import probe_entry; print(probe_entry(1.0))"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package with the two kernels of the test."""
    copy = tmp_path / "copy" / "supple"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "probe.py").write_text(ENTRY)
    set_constant(copy, 41.0)
    return copy


def set_constant(package: Path, value: float) -> None:
    text = (SOURCE / "kernels" / "tree.py").read_text(encoding="utf-8")
    (package / "kernels" / "tree.py").write_text(text + LEAF.format(constant=value), encoding="utf-8")


def run(package: Path, script: str = SCRIPT, **environment: str) -> tuple[float, str]:
    """What the probe prints in a fresh process, and what is said on the way."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SUPPLE_", "NUMBA_", "XDG_", "PYTHONPATH"))}
    settings = {**kept, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    done = subprocess.run([sys.executable, "-c", script], env=settings, capture_output=True, text=True, check=True)
    return float(done.stdout), done.stderr


def private(folder: Path) -> Path:
    folder.mkdir(mode=0o700)
    return folder


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_an_edited_leaf_of_another_file_is_noticed(package: Path, tmp_path: Path):
    cache = tmp_path / "cache"
    first, said = run(package, SUPPLE_CACHE=str(cache))
    assert first == 42.0
    assert said.count("compiling probe") == 1
    before = files(cache)
    assert before

    again, said = run(package, SUPPLE_CACHE=str(cache))  # warm: nothing compiled, nothing said, nothing written
    assert again == 42.0
    assert said == ""
    assert files(cache) == before

    set_constant(package, 1.0)
    edited, said = run(package, SUPPLE_CACHE=str(cache))
    assert edited == 2.0
    assert "compiling probe" in said
    assert sum(path.is_dir() for path in cache.iterdir()) == 2

    set_constant(package, 41.0)  # the old text finds its old code again
    back, said = run(package, SUPPLE_CACHE=str(cache))
    assert back == 42.0
    assert said == ""


def test_quiet_means_quiet(package: Path, tmp_path: Path):
    assert run(package, SUPPLE_CACHE=str(tmp_path / "cache"), SUPPLE_QUIET="1") == (42.0, "")


def test_a_cache_that_cannot_be_written_is_done_without(package: Path, tmp_path: Path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    value, said = run(package, SUPPLE_CACHE=str(in_the_way / "cache"))
    assert value == 42.0
    assert "compiling probe" in said
    assert in_the_way.read_text() == "not a folder"


def test_without_a_home_the_cache_goes_to_the_temporary_folder(package: Path, tmp_path: Path):
    in_the_way, temporary = tmp_path / "file", tmp_path / "temporary"
    in_the_way.write_text("not a folder")
    temporary.mkdir()
    value, _ = run(package, XDG_CACHE_HOME=str(in_the_way), TMPDIR=str(temporary))
    assert value == 42.0
    assert [path.name.split("-")[0] for path in temporary.iterdir() if path.name.startswith("supple")] == ["supple"]
    assert run(package, XDG_CACHE_HOME=str(in_the_way), TMPDIR=str(temporary)) == (42.0, "")


def test_interpreted_nothing_is_compiled_or_cached(package: Path, tmp_path: Path):
    assert run(package, SUPPLE_CACHE=str(tmp_path / "cache"), NUMBA_DISABLE_JIT="1") == (42.0, "")
    assert not (tmp_path / "cache").exists()


def test_old_folders_are_forgotten(package: Path, tmp_path: Path):
    cache = private(tmp_path / "cache")
    old = [cache / f"{k:016x}" for k in range(6)]
    for k, folder in enumerate(old):
        folder.mkdir(parents=True)
        os.utime(folder, (1e9 + k, 1e9 + k))
    run(package, SUPPLE_CACHE=str(cache))
    assert [folder.exists() for folder in old] == [False, False, False, True, True, True]


def test_folders_of_others_are_left_alone(package: Path, tmp_path: Path):
    cache = private(tmp_path / "cache")
    others = [
        cache / name for name in ("my-dissertation!", "holiday-pictures", "sixteen-letters.", "0123456789abcdeg", "x")
    ]
    for folder in others:
        folder.mkdir(parents=True)
        (folder / "precious").write_text("do not delete")
    run(package, SUPPLE_CACHE=str(cache))
    assert all((folder / "precious").exists() for folder in others)


def test_the_digest_depends_on_every_kernel_and_on_nothing_else(package: Path):
    before = kernel_digest(package)
    assert re.fullmatch(r"[0-9a-f]{16}", before)
    sources = kernel_sources(package)
    assert package / "kernels" / "layouts.py" in sources  # no kernel, but what all of them go by
    for file in sources:
        text = file.read_bytes()
        file.write_bytes(text + b"\n# edited\n")
        assert kernel_digest(package) != before, file.name
        file.write_bytes(text)
    (package / "errors.py").write_text("# edited")
    assert kernel_digest(package) == before


def test_settings_that_change_the_code_change_the_digest(monkeypatch: pytest.MonkeyPatch):
    found = {kernel_digest(SOURCE)}
    monkeypatch.setenv("SUPPLE_CHECKED", "1")
    found.add(kernel_digest(SOURCE))
    monkeypatch.setattr(cache, "COMPILES_QUICKLY", not cache.COMPILES_QUICKLY)
    found.add(kernel_digest(SOURCE))
    monkeypatch.setenv("SUPPLE_CHECKED", "0")
    found.add(kernel_digest(SOURCE))
    assert len(found) == 4


def test_every_file_with_kernels_is_known():
    marked = re.compile(r"^@(leaf|entry|stage)\b", re.MULTILINE)
    holding = {file for file in SOURCE.rglob("*.py") if marked.search(file.read_text(encoding="utf-8"))}
    assert holding
    assert holding <= set(kernel_sources(SOURCE))


def kernel_code(function: ast.FunctionDef) -> Any:
    """A kernel without its marks, compiled by Python: its `co_names` are what it takes from its module."""
    plain = ast.FunctionDef(**{**vars(function), "decorator_list": []})
    code = compile(ast.Module([plain], []), "kernel", "exec", flags=__future__.annotations.compiler_flag)
    return next(constant for constant in code.co_consts if hasattr(constant, "co_names"))


def test_every_file_that_kernels_take_names_from_is_known():
    """Constants and openers are compiled in: what changes them must change the digest."""
    known, found, marks = set(kernel_sources(SOURCE)), 0, {"leaf", "written_in", "shared", "stage", "entry"}
    for file in known:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        functions = [f for f in tree.body if isinstance(f, ast.FunctionDef)]
        kernels = [f for f in functions if marks & {getattr(mark, "id", "") for mark in f.decorator_list}]
        used = {name for kernel in kernels for name in kernel_code(kernel).co_names}
        for line in tree.body:
            if isinstance(line, ast.ImportFrom) and (line.module or "").startswith("supple."):
                source = SOURCE.joinpath(*str(line.module).split(".")[1:]).with_suffix(".py")
                taken = used & {name.asname or name.name for name in line.names}
                found += len(taken)
                assert not taken or not source.exists() or source in known, (
                    f"{file.name} takes {taken} of {source.name}"
                )
    assert found > 100


def test_two_packages_know_numba():
    """The decorators of kernels; and the loops of a GPU, which are made for a shape by closures."""
    users = [
        f.relative_to(SOURCE).as_posix()
        for f in SOURCE.rglob("*.py")
        if re.search(r"^\s*(from|import) numba", f.read_text("utf-8"), re.MULTILINE)
    ]
    assert users
    assert {Path(user).parent.as_posix() for user in users} == {"kernels/compiling", "solvers/lean"}


@stage
def called(x: float) -> float:
    return x + 1.0


@leaf
def merged(x: float) -> float:
    return called(x)


def test_a_stage_that_a_leaf_calls_is_not_merged():
    merged.compile("(float64,)")
    (inner,), (outer,) = called.overloads.values(), merged.overloads.values()
    assert "alwaysinline" in outer.library.get_llvm_str()
    assert "alwaysinline" not in inner.library.get_llvm_str()


def test_a_leaf_that_returns_a_view_is_refused():
    part = leaf(lambda pack: row(pack, 1, 2))
    with pytest.raises(Exception, match="Only accept returning of array passed into the function"):
        part.compile("(float64[::1],)")


def test_what_is_no_entry_is_called_as_it_is():
    assert untyped(files) is files


@leaf
def chosen(a: np.ndarray, k: int, negative: bool) -> float:
    return -a[k] if negative else a[k]


@stage  # which is never read from a cache
def choose(a: np.ndarray, out: np.ndarray) -> None:
    n = 0
    for i in range(a.shape[0]):
        n = i
    out[0] = chosen(a, 0, False) + chosen(a, 1, True) + chosen(a, n, a[0] > 0.0)


@pytest.mark.skipif(INTERPRETED or not COMPILES_QUICKLY, reason="it is about compiled kernels, with all shortcuts")
def test_a_kernel_is_compiled_once_whatever_constants_it_is_given():
    choose.compile("(float64[::1], float64[::1])")
    assert len(chosen.overloads) == 1
