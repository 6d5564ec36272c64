"""The documents stay short, whole and true to the names: words, pages, links, and what they speak of."""

from __future__ import annotations

import importlib.util
import inspect
import re
from pathlib import Path

import pytest

import supple
from supple.figure import catalogue
from tests import ROOT
from tests.tables.public import PUBLIC

DOCS = ROOT / "docs"
README, CHANGELOG, CONTRIBUTING = (ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING"))
PAGES = [README, *sorted(DOCS.rglob("*.md"))]
WRITTEN = [*PAGES, CONTRIBUTING, CHANGELOG]
WORDS = 30_000
NAME = re.compile(r"(?<!/)\bsupple((?:\.[A-Za-z_]\w*)+)")
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)[^)]*\)")
SHOWN = re.compile(r"^\.\. automodule:: supple\.(\S+)$", re.MULTILINE)


def name_of(page: Path) -> str:
    return page.relative_to(DOCS).with_suffix("").as_posix() if page.is_relative_to(DOCS) else page.stem


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def exists(dotted: str) -> bool:
    """Whether ``supple`` has what follows its name: an attribute, or a module, step by step."""
    thing, path = supple, "supple"
    for name in dotted.strip(".").split("."):
        path += f".{name}"
        if hasattr(thing, name):
            thing = getattr(thing, name)
        elif inspect.ismodule(thing) and hasattr(thing, "__path__") and importlib.util.find_spec(path):
            thing = importlib.import_module(path)
        else:
            return False
    return True


def test_the_documents_are_short():
    """As ``wc -w`` counts: all pages with README and CHANGELOG, tables and code included; docstrings are the code's."""
    written = [page for page in [*PAGES, CHANGELOG] if not name_of(page).startswith("papers/")]  # these are generated
    counts = {name_of(page): len(text_of(page).split()) for page in written}
    longest = sorted(counts, key=counts.__getitem__)[-5:]
    assert sum(counts.values()) <= WORDS, f"{sum(counts.values())} words; the longest: {', '.join(longest)}"


def test_no_page_is_an_orphan():
    trees = re.findall(r"^```{toctree}\n(.*?)^```$", text_of(DOCS / "index.md"), re.MULTILINE | re.DOTALL)
    listed = [line for tree in trees for line in tree.splitlines() if line and not line.startswith(":")]
    assert sorted(listed) == sorted({name_of(page) for page in PAGES} - {"README", "index"})


def test_no_picture_is_an_orphan():
    shown = {Path(link).name for page in WRITTEN for link in LINK.findall(text_of(page)) if "images/" in link}
    assert shown == {picture.name for picture in (DOCS / "images").rglob("*.*")}


@pytest.mark.parametrize("page", WRITTEN, ids=name_of)
def test_a_page_names_only_what_exists(page: Path):
    strange = {name for name in NAME.findall(text_of(page)) if not exists(name)}
    assert not strange, f"{page.name} speaks of {', '.join(sorted(strange))}, which supple does not have"


@pytest.mark.parametrize("page", WRITTEN, ids=name_of)
def test_links_to_files_lead_somewhere(page: Path):
    broken = [link for link in LINK.findall(text_of(page)) if not (page.parent / link).exists()]
    assert not broken, f"{page.name} links to {', '.join(broken)}"


def test_every_room_with_public_names_has_a_page_of_them():
    rooms = {path.parent.name for path in (ROOT / "src" / "supple").glob("*/__init__.py") if "__all__" in text_of(path)}
    pages = {page.stem for page in (DOCS / "reference").glob("*.md")}
    assert pages == {"supple", *rooms} - {"files", "proofs"}  # all of what these two show stands on the page of supple
    for name in pages:
        module = "supple" if name == "supple" else f"supple.{name}"
        assert f".. automodule:: {module}\n   :members:" in text_of(DOCS / "reference" / f"{name}.md")


def test_every_solver_is_in_the_guide_and_explained_once():
    solvers = {name: kind for name, kind in PUBLIC.items() if inspect.isclass(kind) and hasattr(kind, "refuse")}
    assert {"LevenbergMarquardt", "Newton", "Fabrik", "Decide", "DampedLeastSquares"} <= set(solvers)
    guide = text_of(DOCS / "guide" / "solving.md")
    missing = [name for name in sorted(solvers) if f"`{name}`" not in guide]
    assert not missing, f"solving.md does not speak of {', '.join(missing)}"
    shown = [module for page in (DOCS / "how").glob("*.md") for module in SHOWN.findall(text_of(page))]
    assert len(shown) == len(set(shown)), "a docstring stands on two pages"
    homes = {
        name: kind.__module__.removeprefix("supple.").removesuffix(".levenberg_marquardt")
        for name, kind in solvers.items()
    }
    untold = [name for name, home in homes.items() if not any(module.startswith(home) for module in shown)]
    assert not untold, f"no page of docs/how shows the docstrings of {', '.join(untold)}"


def test_the_readme_counts_the_coordinates_of_the_catalogue():
    rows = dict(re.findall(r"^\| `(\w+)` \| (\d+) \|", text_of(README), re.MULTILINE))
    assert rows == {name: str(catalogue.build(name).size) for name in catalogue.names()}
