"""SRDF, which says of a robot in URDF which of its links need not be kept apart: ``<disable_collisions>``, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from supple.figure.figure import Figure
from supple.files.xml import parse_xml, read_bytes, shown


def parse_srdf(text: str | bytes, file: str | None = None) -> tuple[tuple[str, str], ...]:
    """The pairs of links that an SRDF text switches off; `file` is what messages call it."""
    robot = parse_xml(text, file)
    if robot.tag != "robot":
        raise robot.bad(f"an SRDF file begins with <robot>, not with <{shown(robot.tag)[1:-1]}>")
    for tag in ("disable_default_collisions", "enable_collisions"):
        if robot.first(tag) is not None:
            raise robot.bad(f"<{tag}> is not read: list the pairs that need not be kept apart as <disable_collisions>")
    pairs = []
    for tag in robot.all("disable_collisions"):
        one, other = tag.attribute("link1"), tag.attribute("link2")
        if one == other:
            raise tag.bad(f"{shown(one)} is paired with itself")
        pairs.append((one, other))
    return tuple(dict.fromkeys(pairs))


def with_srdf(figure: Figure, srdf: Any) -> Figure:
    """A figure that was told its pairs by an SRDF file or text, if any; those with links that it does not have are left out."""
    if srdf is None:
        return figure
    if isinstance(srdf, str) and srdf.lstrip("\ufeff \t\r\n").startswith("<"):
        pairs = parse_srdf(srdf)
    else:
        path = Path(srdf)
        pairs = parse_srdf(read_bytes(path), str(path))
    known = set(figure.segments)
    return figure.with_pairs([pair for pair in pairs if known.issuperset(pair)])
