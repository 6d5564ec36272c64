"""The documentation is true: its Python runs and prints what it says it prints.

Of README.md and every page in docs: a block marked ``python`` runs, in the order of the page, in one namespace and an empty
folder; a block marked ``output`` is what the Python block before it prints; in a block marked ``sh`` the lines that begin with
``supple`` run too. A sketch that is not meant to run is marked ``py``.
"""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from typer.testing import CliRunner

import supple
from supple.cli import app
from tests import ROOT

README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = [README, *sorted(DOCS.rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def name_of(page: Path) -> str:
    return page.relative_to(DOCS).with_suffix("").as_posix() if page.is_relative_to(DOCS) else page.stem


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path) -> Iterator[tuple[str, int, str]]:
    """The kind of each fenced block, the line on which it begins, and what is in it."""
    text = text_of(page)
    for found in BLOCK.finditer(text):
        yield found[1], text.count("\n", 0, found.start(2)), found[2]


def run_command(line: str) -> None:
    done = CliRunner().invoke(app, shlex.split(line, comments=True)[1:], prog_name="supple")
    assert done.exit_code == 0, f"{line}\n{done.output}"


RUNNING = [page for page in PAGES if {"python", "output", "sh"} & {kind for kind, _, _ in blocks(page)}]


@pytest.mark.parametrize("page", RUNNING, ids=name_of)
def test_a_page_does_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {"__name__": "__page__"}
    printed = ""
    for kind, line, text in blocks(page):
        if kind == "python":
            printed_here = io.StringIO()
            with redirect_stdout(printed_here):
                try:
                    exec(compile("\n" * line + text, str(page), "exec", dont_inherit=True), space)
                except supple.MissingExtra as missing:
                    pytest.skip(str(missing))
            printed = printed_here.getvalue()
        elif kind == "output":
            assert printed.rstrip() == text.rstrip(), f"{page.name}, line {line}"
        elif kind == "sh":
            for command in filter(re.compile(r"supple ").match, text.splitlines()):
                run_command(command)


def test_the_readme_the_paths_and_the_guide_show_code_that_runs():
    running = {name_of(page) for page in PAGES if any(kind == "python" for kind, _, _ in blocks(page))}
    told = {name_of(page) for page in PAGES if page.parent.name in {"learn", "guide"}}
    assert running >= {"README", "index", *told} - {"guide/installing"}
