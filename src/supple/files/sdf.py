"""SDF models (.sdf, from version 1.7 on), turned into URDF by the package rod and read as such.

One model in a file. What URDF has no words for is refused, such as balls, or left out by rod, with a remark. A file that names
another one is refused.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

from supple.errors import BadFile, needed
from supple.figure.figure import Figure
from supple.files.urdf.reader import parse_urdf
from supple.files.xml import Element, parse_xml, read_bytes

_LOCK = Lock()
MODELLED = {"revolute", "continuous", "prismatic", "fixed"}


def read_sdf(path: str | Path) -> Figure:
    """The robot in an SDF file."""
    return parse_sdf(read_bytes(path), str(path))


def parse_sdf(text: str | bytes, file: str | None = None) -> Figure:
    """The robot in an SDF text; `file` is what messages call it."""
    root = parse_xml(text, file)
    if root.tag != "sdf":
        raise root.bad(f"an SDF file begins with <sdf>, not with <{root.tag}>")
    for element in _all(root):
        if element.tag == "include":
            raise element.bad("<include> is not allowed: load the model's own file")
        if element.tag == "joint" and element.attributes.get("type") not in MODELLED:
            kind = element.attributes.get("type")
            raise element.bad(f"{element.label} is of the type {kind!r}; known are {', '.join(sorted(MODELLED))}")
    rod = needed("rod", "rod", "sdf", "reading SDF files")
    exporter = needed("rod.urdf.exporter", "rod", "sdf", "reading SDF files").UrdfExporter
    with _overheard() as said:
        urdf = _converted(rod, exporter, text, file)
    figure = parse_urdf(urdf, file)
    return replace(figure, remarks=[*figure.remarks, *(f"rod: {sentence}." for sentence in said)])


def _converted(rod: Any, exporter: Any, text: str | bytes, file: str | None) -> str:
    try:
        plain = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\ufeff")
        known = rod.Sdf.load(
            plain + "\n<!-- / -->", is_urdf=False
        )  # no suffix at its end: rod would take it for a path
        for link in (link for model in known.models() for link in model.links() if link.inertial is None):
            link.inertial = rod.Inertial(mass=0.0, inertia=rod.Inertia())  # rod wants one
        return exporter(gazebo_preserve_fixed_joints=True).to_urdf_string(known)
    except Exception as error:  # rod raises what its parts raise
        raise BadFile(f"rod cannot read this model: {error}", file=file) from error


@contextmanager
def _overheard() -> Iterator[list[str]]:
    """While rod works, what it warns of comes here, and nothing to stderr."""
    said: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: said.append(record.getMessage())
    loggers = [logging.getLogger(), logging.getLogger("rod")]
    with _LOCK:
        before = [(logger.handlers, logger.level, logger.propagate) for logger in loggers]
        try:
            for logger in loggers:
                logger.handlers, logger.propagate = [handler], False
                logger.setLevel(logging.WARNING)
            yield said
        finally:
            for logger, (handlers, level, propagate) in zip(loggers, before, strict=True):
                logger.handlers, logger.propagate = handlers, propagate
                logger.setLevel(level)


def _all(root: Element) -> list[Element]:
    found = [root]
    for element in found:
        found.extend(element.children)
    return found
