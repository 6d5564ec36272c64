"""What the links of a URDF file are made of: their masses, the shapes that are read, and which links these do not cover."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from supple.errors import BadValue
from supple.figure.joints import NOT
from supple.files.xml import Element, blaming
from supple.geometry.placements import place
from supple.geometry.shapes import Ball, Body, Box, Capsule, Cylinder, Shape

TOKEN = 1e-3  # kg: what weighs no more is a frame, with a mass only because simulators want one


class LinkParts(NamedTuple):
    """What a link is made of."""

    body: Body | None  # its mass and its simple collision shapes; None if it has neither
    is_uncovered: bool  # whether it takes up room that its shapes do not tell
    unread: tuple[str, ...]  # the kinds of collision shapes that were not read
    has_inertia: bool
    is_drawn: bool  # whether it has any collision or visual element
    meshes: int  # how many of its collision shapes are meshes


def origin_of(element: Element) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The numbers xyz and rpy of an element's <origin>."""
    origin = element.first("origin")
    if origin is None:
        return NOT, NOT
    return origin.numbers("xyz", 3, NOT), origin.numbers("rpy", 3, NOT)


def read_link(link: Element) -> LinkParts:
    """A link that has shapes which were not read, or none though it has mass or looks, is uncovered."""
    inertial, tags = link.first("inertial"), [tag for tag in link.children if tag.tag in ("collision", "visual")]
    mass, centre = 0.0, NOT
    if inertial is not None:
        tag = inertial.first("mass")
        mass = 0.0 if tag is None else tag.number("value")
        x, y, z = origin_of(inertial)[0]
        centre = (x, y, z)
    found = [(kinds, shape_of(tag, kinds)) for tag in tags if tag.tag == "collision" and (kinds := _geometry(tag))]
    shapes = tuple(shape for _, shape in found if shape is not None)
    unread = tuple(dict.fromkeys(kinds[0].tag for kinds, shape in found if shape is None))
    body = None
    if mass or shapes:
        with blaming(link if inertial is None else inertial):
            body = Body(mass, centre, shapes)
    is_there = mass > TOKEN or any(_geometry(tag) for tag in tags)
    meshes = sum(shape is None and kinds[0].tag == "mesh" for kinds, shape in found)
    bare = bool(unread) or (is_there and not shapes)
    return LinkParts(body, bare, unread, inertial is not None, bool(tags), meshes)


def _geometry(tag: Element) -> tuple[Element, ...]:
    """What a collision or visual element is made of."""
    return next((child.children for child in tag.children if child.tag == "geometry"), ())


def link_remarks(links: dict[str, LinkParts], covered: Collection[str] = ()) -> list[str]:
    """The links with collision shapes that were not read, by kind, and those whose mass nobody gave."""
    kinds: dict[str, list[str]] = {}
    for name, link in links.items():
        for kind in () if name in covered else link.unread:
            kinds.setdefault(kind, []).append(name)
    out = [f"Collision shapes of the kind <{kind}> were not read: {', '.join(of)}." for kind, of in kinds.items()]
    heavy = any(link.has_inertia for link in links.values())
    light = [name for name, link in links.items() if link.is_drawn and not link.has_inertia]
    return out + ([f"Without <inertial>, hence without mass: {', '.join(light)}."] if heavy and light else [])


def shape_of(element: Element, geometry: tuple[Element, ...] = ()) -> Shape | None:
    """The simple shape of a collision or visual element; none for a mesh and for what only some programs know."""
    tag = next(
        (tag for tag in geometry or _geometry(element) if tag.tag in ("sphere", "box", "cylinder", "capsule")), None
    )
    xyz, rpy = origin_of(element)
    if tag is not None:
        with blaming(tag):
            if tag.tag == "sphere":
                x, y, z = xyz
                return Ball((x, y, z), tag.number("radius"))
            at = place(xyz, rpy=rpy)
            if tag.tag == "box":
                x, y, z = tag.numbers("size", 3)
                if min(x, y, z) <= 0.0:
                    raise BadValue(f"the size of a box must be positive, not {x} {y} {z}")
                return Box((-x / 2, -y / 2, -z / 2), (x / 2, y / 2, z / 2), at)
            if tag.tag == "cylinder":
                return Cylinder(tag.number("radius"), tag.number("length"), at)
            return Capsule(tag.number("radius"), tag.number("length"), at)
    return None
