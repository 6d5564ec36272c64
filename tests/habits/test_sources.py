"""The habits that no other tool checks: docstrings, no traces of a machine, one version."""

from __future__ import annotations

import ast
import re
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest

from tests import ROOT

SOURCE = ROOT / "src" / "supple"
MODULES = sorted(SOURCE.rglob("*.py"))
MACHINE_PATH = re.compile(r"(?<![\w.:/])/(?:work|root|home/\w+|Users/\w+)/")


def kept_files() -> list[Path]:
    """What git tracks or would track; every file where the tree is not a checkout."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        files = [ROOT / name for name in done.stdout.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        made = {".venv", "build", "dist", "__pycache__"}
        files = [path for path in ROOT.rglob("*") if not made & set(path.relative_to(ROOT).parts)]
    return [path for path in files if path.is_file()]


def text_of(path: Path) -> str:
    """The file as text; empty for pictures and other binary files."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def test_the_package_says_that_it_is_typed():
    assert (SOURCE / "py.typed").is_file()


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_module_has_a_docstring(module: Path):
    assert ast.get_docstring(ast.parse(text_of(module))), f"{module.name} does not say what it is for"


def test_no_file_names_a_place_on_somebodys_machine():
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in kept_files()
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("line", "names_a_machine"),
    [
        ("see " + "/".join(["", "home", "ann", "supple"]), True),
        ("/".join(["", "work", "data"]), True),
        ("https://example.org" + "/".join(["", "work", "data"]), False),
        ("figures/work/data", False),
    ],
)
def test_machine_paths_are_told_from_others(line: str, names_a_machine: bool):
    assert bool(MACHINE_PATH.search(line)) is names_a_machine


def test_the_changelog_begins_with_this_version():
    entries = re.findall(r"^## \[?([0-9][^\]\s]*)", text_of(ROOT / "CHANGELOG.md"), re.MULTILINE)
    assert entries, "CHANGELOG.md has no entry"
    assert entries[0] == version("supple")
