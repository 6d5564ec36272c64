"""What the links of a URDF file are made of: their masses, the shapes that are read, and which links these do not cover."""

from __future__ import annotations

from supple.errors import BadValue
from supple.figure.joints import NOT
from supple.files.xml import Element, blaming
from supple.geometry.placements import Floats, place
from supple.geometry.shapes import Ball, Body, Box, Capsule, Cylinder, Shape

TOKEN = 1e-3  # kg: what weighs no more is a frame, with a mass only because simulators want one


def origin_of(element: Element) -> Floats:
    """The placement that an element's <origin> says."""
    origin = element.first("origin")
    if origin is None:
        return place()
    return place(origin.numbers("xyz", 3, NOT), rpy=origin.numbers("rpy", 3, NOT))


def body_of(link: Element) -> Body | None:
    """The mass and the simple collision shapes of a link; none if it has neither."""
    inertial = link.first("inertial")
    mass, centre = 0.0, NOT
    if inertial is not None:
        tag = inertial.first("mass")
        mass = 0.0 if tag is None else tag.number("value")
        x, y, z = origin_of(inertial)[:3, 3].tolist()
        centre = (x, y, z)
    shapes = [shape for tag in link.all("collision") if (shape := _shape(tag)) is not None]
    with blaming(link if inertial is None else inertial):
        return Body(mass, centre, tuple(shapes)) if mass or shapes else None


def is_uncovered(link: Element, body: Body | None) -> bool:
    """Whether a link takes up room that its shapes do not tell: some were not read, or it has none but mass or looks."""
    if any(_shape(tag) is None for tag in link.all("collision") if _geometry(tag) is not None):
        return True
    is_there = (body is not None and body.mass > TOKEN) or _is_seen(link)
    return is_there and not (body is not None and body.shapes)


def _is_seen(link: Element) -> bool:
    return any(_geometry(tag) is not None for kind in ("collision", "visual") for tag in link.all(kind))


def _geometry(tag: Element) -> str | None:
    """What a collision or visual element is made of."""
    geometry = tag.first("geometry")
    kinds = [child.tag for child in geometry.children] if geometry is not None else []
    return kinds[0] if kinds else None


def shape_remarks(links: dict[str, Element]) -> list[str]:
    """The links with collision shapes that were not read, by kind, and those whose mass nobody gave."""
    kinds: dict[str, list[str]] = {}
    for name, link in links.items():
        for kind in {k for tag in link.all("collision") if (k := _geometry(tag)) is not None and _shape(tag) is None}:
            kinds.setdefault(kind, []).append(name)
    out = [f"Collision shapes of the kind <{kind}> were not read: {', '.join(of)}." for kind, of in kinds.items()]
    heavy = {name for name, link in links.items() if link.first("inertial") is not None}
    light = [
        name for name, link in links.items() if name not in heavy and (link.all("collision") or link.all("visual"))
    ]
    return out + ([f"Without <inertial>, hence without mass: {', '.join(light)}."] if heavy and light else [])


def _shape(collision: Element) -> Shape | None:
    """The simple shape of a collision element; none for a mesh and for what only some programs know."""
    geometry = collision.first("geometry")
    at = origin_of(collision)
    for tag in geometry.children if geometry is not None else ():
        with blaming(tag):
            if tag.tag == "sphere":
                x, y, z = at[:3, 3].tolist()
                return Ball((x, y, z), tag.number("radius"))
            if tag.tag == "box":
                x, y, z = tag.numbers("size", 3)
                if min(x, y, z) <= 0.0:
                    raise BadValue(f"the size of a box must be positive, not {x} {y} {z}")
                return Box((-x / 2, -y / 2, -z / 2), (x / 2, y / 2, z / 2), at)
            if tag.tag == "cylinder":
                return Cylinder(tag.number("radius"), tag.number("length"), at)
            if tag.tag == "capsule":
                return Capsule(tag.number("radius"), tag.number("length"), at)
    return None
