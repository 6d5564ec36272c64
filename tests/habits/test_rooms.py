"""The rooms: names are imported when they are asked for, editors see the same ones, and every room says what it is."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import supple

SOURCE = Path(supple.__file__).parent
ROOMS = sorted(path.name for path in SOURCE.iterdir() if (path / "__init__.py").is_file())
LAZY = [
    ".".join(path.relative_to(SOURCE.parent).parent.parts)
    for path in sorted(SOURCE.rglob("__init__.py"))
    if "= lazily(" in path.read_text()
]


def shown_to_editors(package: str) -> dict[str, str]:
    """The names that the block under TYPE_CHECKING imports, each with its module; rooms are imported from the package."""
    path = SOURCE.parent.joinpath(*package.split("."), "__init__.py")
    blocks = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.If)]
    imports = [line for block in blocks for line in block.body if isinstance(line, ast.ImportFrom)]
    return {alias.name: str(line.module) for line in imports for alias in line.names}


@pytest.mark.parametrize("package", LAZY)
def test_editors_see_the_names_that_there_are(package: str):
    module = import_module(package)
    shown = shown_to_editors(package)
    rooms = {name for name, home in shown.items() if home == package}
    assert sorted(shown.keys() - rooms) == sorted(module.__all__)
    assert {*dir(module)} == {*shown, "__doc__", "__version__"}
    for name, home in shown.items():
        there = import_module(f"{home}.{name}") if name in rooms else getattr(import_module(home), name)
        assert getattr(module, name) is there


def test_rooms_are_there_after_importing_the_library():
    names = "supple.figure.Linear, supple.solvers.rank_one.AllOf, supple.view.draw"
    script = f"import supple; print(*(one.__name__ for one in ({names})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["Linear", "AllOf", "draw"]


def test_the_top_has_what_everybody_writes():
    assert 70 <= len(supple.__all__) <= 80


def test_importing_the_library_imports_none_of_its_rooms():
    script = "import sys, supple; print([name for name in sys.modules if name.startswith('supple.')], 'numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] False"


MOST_MODULES = 50  # that one solve of a catalogue robot imports whose code is there already
WITH_SOURCES = 99  # the same with the sources of kernels, which are imported to be compiled or interpreted
SOLVE = """
import sys, supple
solution = supple.solve(supple.load("panda"), {"panda_hand": supple.At((0.5, 0.1, 0.4))})
assert solution.ok
print(*sorted(name for name in sys.modules if name.split(".")[0] == "supple"))
"""
NOT_NEEDED = (
    "supple.motion",
    "supple.proofs",
    "supple.scene",
    "supple.view",
    "supple.files.xml",
    "supple.figure.curves",
)


@pytest.mark.parametrize(("interpreted", "most"), [(False, MOST_MODULES), (True, WITH_SOURCES)])
def test_one_solve_imports_no_more_than_it_needs(interpreted: bool, most: int):
    environment = os.environ | {"NUMBA_DISABLE_JIT": str(int(interpreted)), "SUPPLE_QUIET": "1"}
    for _ in range(1 if interpreted else 2):  # the first compiles what is missing
        done = subprocess.run(
            [sys.executable, "-c", SOLVE], capture_output=True, text=True, env=environment, check=True
        )
    names = done.stdout.split()
    assert "supple.solving.solve" in names
    assert len(names) <= most, names
    assert [name for name in names if name.startswith(NOT_NEEDED)] == []


def test_no_module_hides_a_function():
    for path in SOURCE.rglob("*.py"):
        name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
        if not name.endswith("__main__"):
            import_module(name)
    for package in LAZY:
        for name in import_module(package).__all__:
            assert not isinstance(getattr(import_module(package), name), ModuleType), f"{package}.{name}"


def test_what_there_is_not_is_refused_by_name():
    with pytest.raises(AttributeError, match="module 'supple' has no attribute 'sovle'"):
        _ = supple.sovle


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_what_it_is(room: str):
    assert len((import_module(f"supple.{room}").__doc__ or "").split()) >= 8


def test_nothing_else_stands_at_the_root():
    assert {path.name for path in SOURCE.glob("*.py")} == {"__init__.py", "errors.py"}
