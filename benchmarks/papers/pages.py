"""Pages about papers: claim by claim, with what was measured, how, and of which sources.

A page ends with a *stamp*: the digest of the experiment's sources, of the method's sources and of its data; `stale` works it
out anew. Of sources only what runs counts: comments, docstrings, imports, layout and the
names of variables do not change it.
"""

from __future__ import annotations

import ast
import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES, IMAGES = ROOT / "docs" / "papers", ROOT / "docs" / "images" / "papers"
STAMP = re.compile(r"<!-- stamp: ([0-9a-f]{16}) (quick|full) -->")
ROW = re.compile(r"^\| (.+?) \| \*\*([^|*]+)\*\* \| ", re.MULTILINE)  # of a table of claims: what is said, the verdict
CONFIRMED, PARTLY, NOT, OPEN = "confirmed", "confirmed, with conditions", "not confirmed", "not measured"


@dataclass(frozen=True)
class Claim:
    """What a paper says, what came out, and under which conditions."""

    says: str
    verdict: str
    found: str


@dataclass(frozen=True)
class Page:
    """One paper: where its sources are, what it claims, and the text between."""

    name: str
    title: str
    reference: str
    measures: tuple[str, ...]  # files and folders whose sources it is about
    claims: list[Claim] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    data: str = "None: everything is made by the script."
    thresholds: str = (
        "They were set while looking at the runs: a verdict here says how the numbers read, and is no test that could have "
        "failed beforehand."
    )


def digest(paths: tuple[str, ...]) -> str:
    """The digest of what runs in some sources."""
    out = hashlib.sha256()
    for given in paths:
        place = ROOT / given
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            out.update(path.relative_to(ROOT).as_posix().encode())
            out.update(_meaning(path).encode() if path.suffix == ".py" else path.read_bytes())
    return out.hexdigest()[:16]


def _meaning(path: Path) -> str:
    """A source without comments, docstrings, annotations, imports and names of variables."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = body = [line for line in body if not isinstance(line, ast.Import | ast.ImportFrom)]
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
        ):
            body[0].value.value = ""
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
    known: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = str(known.setdefault(node.id, len(known)))
        elif isinstance(node, ast.arg):
            node.arg = str(known.setdefault(node.arg, len(known)))
    return ast.dump(tree)


def written(page: Page, quick: bool) -> Path:
    """Write a page."""
    mode = "quick" if quick else "full"
    command = f"python benchmarks/papers/run.py --only {page.name}" + (" --quick" if quick else "")
    lines = [f"# {page.title}", "", page.reference, "", f"Made by `{command}` ({mode} mode)."]
    lines += ["", "## Claims", "", "| the paper says | verdict | what came out |", "| --- | --- | --- |"]
    lines += [f"| {claim.says} | **{claim.verdict}** | {claim.found} |" for claim in page.claims]
    lines += ["", *page.body, "", "## How the thresholds of verdicts came about", "", page.thresholds, ""]
    lines += ["## Data", "", page.data, "", f"<!-- stamp: {digest(page.measures)} {mode} -->", ""]
    PAGES.mkdir(parents=True, exist_ok=True)
    path = PAGES / f"{page.name}.md"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def summary(pages: list[Page]) -> Path:
    """The table of all claims, as the pages have them; those that were never written are left out."""
    lines = [
        "# The papers",
        "",
        "What the papers behind the methods claim, and what came out when it was tried here.",
        "",
    ]
    lines += ["`make papers` measures everything anew (`make papers QUICK=1` in minutes) and writes these pages.", ""]
    counts = []
    rows = []
    for page in pages:
        path = PAGES / f"{page.name}.md"
        claims = ROW.findall(path.read_text(encoding="utf-8")) if path.exists() else []
        rows += [f"| [{page.title}]({page.name}.md) | {says} | {verdict} |" for says, verdict in claims]
        counts += [verdict for _, verdict in claims]
    said = [f"{counts.count(word)} {word}" for word in (CONFIRMED, PARTLY, NOT, OPEN)]
    lines += [f"Of {len(counts)} claims: {'; '.join(said)}.", "", "| paper | claim | verdict |", "| --- | --- | --- |"]
    path = PAGES / "summary.md"
    path.write_text("\n".join([*lines, *rows, ""]), encoding="utf-8")
    return path


def stale(page: Page) -> str:
    """Why a page is not what its sources say; nothing if it is."""
    path = PAGES / f"{page.name}.md"
    found = STAMP.search(path.read_text(encoding="utf-8")) if path.exists() else None
    if found is None:
        return f"{path.name} is missing or has no stamp"
    return (
        "" if found[1] == digest(page.measures) else f"{path.name} is older than what it measures: make papers QUICK=1"
    )


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """A table, numbers to the right."""
    sides = ["---:" if all(re.match(r"^[-–\d.,/ %±]*$", row[k]) for row in rows) else "---" for k in range(len(head))]
    return ["| " + " | ".join(line) + " |" for line in (head, sides, *rows)]


def picture(name: str, says: str) -> list[str]:
    """A figure in a page, and where its vector form is if it has one."""
    vector = [f"[{name}.svg](../images/papers/{name}.svg)", ""] if (IMAGES / f"{name}.svg").exists() else []
    return ["", f"![{says}](../images/papers/{name}.png)", "", *vector]
