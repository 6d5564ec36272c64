"""The text of an MJCF file: what is refused before MuJoCo sees it, and the model that it makes of the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import Lock
from typing import Any

from supple.errors import BadFile, MissingExtra
from supple.files.xml import Element

MOST_COPIES = 10_000  # bodies that <replicate> may make, in all nested counts
MOST_CELLS = 4_096  # width, height, rows, columns of pictures and height fields; sizes of user data
SOFT = {"composite", "flexcomp", "flex", "skin"}
OUTSIDE = {"include", "attach", "plugin", "extension"}
SIZES = {"width", "height", "nrow", "ncol", "nkey", "gridsize", "resolution"}
NUMERIC = {"pos", "quat", "axisangle", "euler", "xyaxes", "zaxis", "fromto", "size", "axis", "range", "ref", "polycoef"}
_LOCK = Lock()
NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


def walk(root: Element) -> Iterator[tuple[Element, float]]:
    """Every element, with the number of copies that <replicate> makes of it."""
    stack = [(root, 1.0)]
    while stack:
        element, copies = stack.pop()
        if element.tag == "replicate":
            copies *= max(1.0, element.number("count", 1.0))
        yield element, copies
        stack.extend((child, copies) for child in element.children[::-1])


def refuse_dangers(root: Element) -> None:
    """No other files, no plug-ins, no memory without bounds, no numbers that are none."""
    for element, copies in walk(root):
        _refuse_dangers(element, copies)


def _refuse_dangers(element: Element, copies: float) -> None:
    if element.tag in OUTSIDE:
        raise element.bad(f"{element.label} is not allowed: write the whole model into one file, without plug-ins")
    if element.tag in SOFT:
        raise element.bad(f"{element.label} is not allowed: a figure is made of rigid bodies")
    if copies > MOST_COPIES:
        raise element.bad(f"{element.label} makes {copies:.0f} copies; at most {MOST_COPIES} are allowed")
    for key, value in element.attributes.items():
        words = value.split()
        if key.startswith("file") and value:
            raise element.bad(f"{element.label} refers to the file {value[:60]!r}; only this one is read")
        if key in SIZES or key.startswith("nuser_"):
            for word in words:
                if len(word) > 6 or not word.lstrip("+-").isdigit() or int(word) > MOST_CELLS:
                    raise element.bad(f"{key} of {element.label} must be at most {MOST_CELLS}, not {word[:20]!r}")
        if key in NUMERIC and any(NOT_FINITE.fullmatch(word) for word in words):
            raise element.bad(f"{key} of {element.label} must be finite, not {value[:60]!r}")


def mujoco_itself() -> Any:
    """MuJoCo's Python package."""
    try:
        return import_module("mujoco")
    except ImportError as error:
        raise MissingExtra("mujoco", "mjcf", "reading MJCF files") from error


@contextmanager
def _overheard(mujoco: Any) -> Iterator[list[str]]:
    """While MuJoCo compiles, its warnings come here, and not to stderr and a log file in the user's folder."""
    said: list[str] = []
    with _LOCK:  # there is one handler for all threads
        before = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(said.append)
        try:
            yield said
        finally:
            mujoco.set_mju_user_warning(before)


def compiled(text: str | bytes, file: str | None) -> Any:
    """MuJoCo's model. What it warns of is said where it refuses the model; where it does not, it is about dynamics."""
    mujoco, said = mujoco_itself(), []
    try:
        plain = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\ufeff")
        with _overheard(mujoco) as said:
            return mujoco.MjModel.from_xml_string(plain)
    except UnicodeDecodeError as error:
        raise BadFile("MJCF must be UTF-8 text", file=file) from error
    except Exception as error:  # MuJoCo raises several kinds, none of them its own base
        message = str(error).strip()
        line = re.search(r"line(?: number=)? ?(\d+)", message, re.IGNORECASE)
        first = message.splitlines()[0] if message else type(error).__name__
        first = "; ".join([first, *(" ".join(warning.split()) for warning in said)])
        raise BadFile(f"MuJoCo refuses the model: {first}", file=file, line=int(line[1]) if line else None) from error
