"""What a model may ask of MuJoCo's compiler: copies, sizes and numbers, all of them bounded before it sees the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from supple.files.xml import LONGEST_NAME, Element

MOST_COPIES = 10_000  # of one element, in all nested counts
MOST_MADE = 200_000  # elements in all
MOST_ASKED = 200  # of a count in the parameters of a mesh that is made and not read
NUMERIC = {
    "pos",
    "quat",
    "axisangle",
    "euler",
    "xyaxes",
    "zaxis",
    "fromto",
    "size",
    "axis",
    "range",
    "ref",
    "polycoef",
    "qpos",
}
NOT_A_NUMBER = re.compile(r"[+-]?nan", re.IGNORECASE)
NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


def check_element(element: Element) -> None:
    """No numbers that are none, no names that copies would make into a book, no meshes of any number of corners."""
    if len(element.attributes.get("name", "")) > LONGEST_NAME:
        raise element.bad(f"the name of a <{element.tag}> is longer than {LONGEST_NAME} characters")
    for key, value in element.attributes.items():
        words = value.split()
        bad = NOT_FINITE if key in NUMERIC else NOT_A_NUMBER
        if (key in NUMERIC or len(words) > 1) and any(bad.fullmatch(word) for word in words):
            raise element.bad(f"{key} of {element.label} must be finite, not {value[:60]!r}")
    if element.tag == "mesh" and "params" in element.attributes:
        for word in element.attributes["params"].split():
            if len(word) > 20 or not _is_number(word) or not abs(float(word)) <= MOST_ASKED:
                raise element.bad(f"params of {element.label} must be at most {MOST_ASKED}, not {word[:20]!r}")


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def check_whole(root: Element, weights: Mapping[str, float]) -> float:
    """Refuse models that copy their elements without bound; `weights` are what the models make that they attach."""
    made, doubled, heaviest = 0.0, 1.0, max(weights.values(), default=0.0)
    for element, copies in _copies(root):
        if copies > MOST_COPIES:
            raise element.bad(f"{element.label} makes {copies:.0f} copies; at most {MOST_COPIES} are allowed")
        if element.tag == "attach":
            if "model" not in element.attributes:
                doubled *= 2.0  # a part of the model itself, at most all of it
            made += copies * weights.get(element.attributes.get("model", ""), heaviest)
        made += copies
        if made * doubled > MOST_MADE:
            raise element.bad(f"the model makes more than {MOST_MADE} elements, counting its copies")
    return made * doubled


def _copies(root: Element) -> Iterator[tuple[Element, float]]:
    """Every element, with the number of copies that <replicate> and <composite> make of it."""
    stack = [(root, 1.0)]
    while stack:
        element, copies = stack.pop()
        if element.tag == "replicate":
            copies *= max(1.0, element.number("count", 1.0))
        elif element.tag == "composite":
            words = element.attributes.get("count", "1").split()
            for count in element.numbers("count", len(words), (1.0,)):
                copies *= max(1.0, count)
        yield element, copies
        stack.extend((child, copies) for child in element.children[::-1])
