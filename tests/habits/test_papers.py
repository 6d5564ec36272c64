"""The pages about papers are as old as what they measure, and whole."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT

PAGES = sorted((ROOT / "docs" / "papers").glob("*.md"))


@pytest.fixture(scope="module")
def pages() -> Any:
    spec = importlib.util.spec_from_file_location("paper_pages", ROOT / "benchmarks" / "papers" / "pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["paper_pages"] = module
    spec.loader.exec_module(module)
    return module


def test_no_page_is_older_than_what_it_measures():
    pytest.importorskip("matplotlib")
    call = [sys.executable, str(ROOT / "benchmarks" / "papers" / "run.py"), "--check"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_summary_has_every_claim_of_every_page():
    """As many rows for each page as its own table of claims has, and each with the same verdict."""
    summary = (ROOT / "docs" / "papers" / "summary.md").read_text(encoding="utf-8")
    own = [page for page in PAGES if page.stem != "summary"]
    assert {page.stem for page in own} == {"jack", "gradient", "hessian", "tracking", "ikspark"}
    for page in own:
        claims = re.findall(r"^\| (.+?) \| \*\*([^|*]+)\*\* \|", page.read_text(encoding="utf-8"), re.MULTILINE)
        told = re.findall(rf"^\| \[[^]]+\]\({page.stem}\.md\) \| (.+?) \| ([^|]+) \|$", summary, re.MULTILINE)
        assert told == claims
        assert len(claims) >= 5


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_have_their_pictures_and_verdicts(page: Path):
    text = page.read_text(encoding="utf-8")
    for picture in re.findall(r"\((\.\./images/papers/[^)]+)\)", text):
        assert (page.parent / picture).exists(), picture
    assert re.search(r"\| \*{0,2}(confirmed|not confirmed)", text)


def test_the_digest_sees_what_runs_and_nothing_else(pages: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pages, "ROOT", tmp_path)

    def of(text: str) -> str:
        (tmp_path / "one.py").write_text(text)
        return pages.digest(("one.py",))

    plain = of('def f(info):\n    """Says."""\n    return info + 1\n')
    assert (
        of('import this\n\ndef f(report: int) -> int:\n    """Says more."""\n    # and why\n    return report + 1\n')
        == plain
    )
    assert of('def f(info):\n    """Says."""\n    return info + 2\n') != plain
    assert of('def f(info):\n    """Says."""\n    return info - 1\n') != plain
