"""What objects of OSIM files say: names, vectors, places, sockets."""

from __future__ import annotations

from collections.abc import Iterator

from supple.files.xml import LONGEST_NAME, Element, shown
from supple.geometry.placements import Floats, Triple, X, Y, Z, compose, turned


def name_of(element: Element) -> str:
    """The name of an object; what has none and needs none is called by its kind."""
    name = element.attributes.get("name", "").strip() or (element.tag.lower() if moves(element.tag) else "")
    name = name or element.attribute("name")
    if len(name) > LONGEST_NAME:
        raise element.bad(f"the name of a <{element.tag}> is longer than {LONGEST_NAME} characters")
    return name


def another(name: str, taken: set[str]) -> str:
    """The name, or with the number behind it that OpenSim gives to names that are there already; it is then taken."""
    new, k = name, 0
    while new in taken:
        new, k = f"{name}_{k}", k + 1
    taken.add(new)
    return new


def vector(element: Element, tag: str) -> Triple:
    """Three numbers in a child, zero if there is no such child."""
    child = element.first(tag)
    x, y, z = (0.0, 0.0, 0.0) if child is None else child.listed(3)
    return x, y, z


def says(element: Element, tag: str, default: bool) -> bool:
    """A child that reads true or false."""
    child = element.first(tag)
    if child is None:
        return default
    if child.text.lower() not in ("true", "false"):
        raise child.bad(f"<{tag}> of {element.label} must be true or false, not {shown(child.text)}")
    return child.text.lower() == "true"


def members(element: Element, tag: str) -> Iterator[Element]:
    """The objects in a set; objects of a plain list."""
    for group in element.all(tag):
        inner = group.first("objects")
        yield from (child for child in (inner or group).children if child.tag[:1].isupper())


def placed(element: Element, where: str, turn: str) -> Floats:
    """The placement that two children of an element say: a position and an orientation."""
    a, b, c = vector(element, turn)
    return compose(turned(X, a) @ turned(Y, b) @ turned(Z, c), vector(element, where))


def socket_of(owner: Element, name: str) -> Element | None:
    """What an object names in one of its sockets, which were called connectors once."""
    named = owner.first(f"socket_{name}") or owner.first(f"socket_{name}_connectee_name")
    connectors = owner.first("connectors")
    if named is None and connectors is not None:
        held = next((c for c in connectors.children if c.attributes.get("name") == name), None)
        named = held.first("connectee_name") if held is not None else None
    return named


def moves(tag: str) -> bool:
    """Whether objects of this kind tie bodies to each other."""
    return tag.endswith(("Joint", "Constraint"))
