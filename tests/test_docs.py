"""The documentation is true: its Python runs, prints what it says it prints, and names only what exists.

Of README.md and every page in docs: a block marked ``python`` runs, in the order of the page, in one namespace and an empty
folder; a block marked ``output`` is what the Python block before it prints; in a block marked ``sh`` the lines that begin with
``supple`` run too. A sketch that is not meant to run is marked ``py``.
"""

from __future__ import annotations

import importlib.util
import inspect
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
from supple.figure import catalogue

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
WRITTEN = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"\bsupple\.([A-Za-z_]\w*)")
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)[^)]*\)")


def name_of(page: Path) -> str:
    return page.stem


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


def test_the_readme_and_the_guide_show_code_that_runs():
    running = {page.stem for page in PAGES if any(kind == "python" for kind, _, _ in blocks(page))}
    assert running >= {"README", "index", "figures", "goals", "solving", "files"}


@pytest.mark.parametrize("page", WRITTEN, ids=name_of)
def test_a_page_names_only_what_exists(page: Path):
    strange = {
        name
        for name in NAME.findall(text_of(page))
        if not hasattr(supple, name) and importlib.util.find_spec(f"supple.{name}") is None
    }
    assert not strange, f"{page.name} speaks of {', '.join(sorted(strange))}, which supple does not have"


@pytest.mark.parametrize("page", WRITTEN, ids=name_of)
def test_links_to_files_lead_somewhere(page: Path):
    broken = [link for link in LINK.findall(text_of(page)) if not (page.parent / link).exists()]
    assert not broken, f"{page.name} links to {', '.join(broken)}"


def test_every_public_name_is_on_the_page_of_public_names():
    listed = set(re.findall(r"^\.\. auto\w+:: supple\.(\w+)$", text_of(ROOT / "docs" / "api.md"), re.MULTILINE))
    assert listed == set(supple.__all__)


def test_every_solver_is_in_the_guide():
    public = {name: getattr(supple, name) for name in supple.__all__}
    solvers = {name for name, kind in public.items() if inspect.isclass(kind) and hasattr(kind, "refuse")}
    assert solvers
    missing = [name for name in sorted(solvers) if f"`{name}`" not in text_of(ROOT / "docs" / "solving.md")]
    assert not missing, f"solving.md does not speak of {', '.join(missing)}"


def test_the_readme_counts_the_coordinates_of_the_catalogue():
    rows = dict(re.findall(r"^\| `(\w+)` \| (\d+) \|", text_of(README), re.MULTILINE))
    assert rows == {name: str(catalogue.build(name).size) for name in catalogue.names()}
