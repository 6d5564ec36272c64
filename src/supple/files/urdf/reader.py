"""Robots described in URDF: text in, a `Figure` out.

A link becomes a segment and keeps its name, a joint keeps its name, children come in the order of the file, and the
root link stands at the world's origin. What is read: the tree of joints, limits, speeds, mimic relations, masses, and
collision shapes. Links of which a shape was not read, and links that weigh something or are seen but have no shape at all,
are `Figure.uncovered`. The rules where descriptions in the wild differ:

- ``revolute`` and ``prismatic`` joints need a ``<limit>``; a missing ``lower`` or ``upper`` is 0, as the format says.
  A limit of 1e16 or more in size means none.
- A ``velocity`` that is missing or 0 means no limit on the speed. ``continuous`` joints have no limits of position.
- ``floating`` is six coordinates, ``name.tx`` to ``name.x`` (turns in the order zyx); ``planar`` is three,
  ``name.tx``, ``name.ty`` and ``name.z``: slides in the plane normal to the axis, then a turn about it. For an axis z
  the slides are along x and y; for any other axis they are those two carried along by the shortest turn of z to it.
  Limits on joints of these two types are not read: the format does not say which coordinate they mean.
- A mimic joint has no coordinate of its own; it may follow another mimic joint, but only joints of one coordinate. Its
  limits narrow those of the joint that it follows; it needs none.
- The rest posture is zero, or the limit nearest to zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from supple.figure.drives import FREE, Drive, Pair, mimic
from supple.figure.figure import Figure, Source
from supple.figure.joints import NOT, Joint, free
from supple.files.srdf import with_srdf
from supple.files.urdf.bodies import link_remarks, read_link
from supple.files.urdf.in_planes import planar_about
from supple.files.urdf.meshes import Fit, Meshes, meshes_in
from supple.files.xml import LARGEST_NUMBER, LONGEST_NAME, Element, blaming, parse_xml, read_bytes, shown
from supple.geometry.body_fits import ACCURACY
from supple.geometry.placements import X, place, unit

UNLIMITED = 1e16  # how a limit that is not there is written where the format demands a number
LARGEST_LIMIT = 1.7e308
MOST_LINKS = 10_000
ONE_COORDINATE = ("revolute", "continuous", "prismatic")
TYPES = (*ONE_COORDINATE, "fixed", "floating", "planar")


def read_urdf(
    path: str | Path,
    *,
    folders: Iterable[str | Path] = (),
    srdf: str | Path | None = None,
    accuracy: float = ACCURACY,
    decompose: bool | Iterable[str] = False,
) -> Figure:
    """The robot that a URDF file describes. An SRDF file or text says which of its links need not be kept apart.

    Meshes keep clear as hulls to within `accuracy` [m]; of the links `decompose` (True: all) they are taken apart before.
    """
    robot, fit = parse_xml(read_bytes(path), str(path)), Fit.of(accuracy, decompose)
    return with_srdf(_figure(robot, meshes_in(Path(path).absolute().parent, folders, fit)), srdf)


def parse_urdf(
    text: str | bytes,
    file: str | None = None,
    *,
    folders: Iterable[str | Path] = (),
    srdf: str | Path | None = None,
    accuracy: float = ACCURACY,
    decompose: bool | Iterable[str] = False,
) -> Figure:
    """The robot that a URDF text describes; `file` is what messages call it."""
    fit = Fit.of(accuracy, decompose)
    return with_srdf(_figure(parse_xml(text, file), meshes_in(None, folders, fit)), srdf)


class Given(NamedTuple):
    """A joint as the file has it; all that is asked of it more than once is read at once."""

    element: Element
    name: str
    label: str
    kind: str
    parent: str
    child: str
    xyz: tuple[float, ...]  # of its origin
    rpy: tuple[float, ...]
    axis: tuple[float, ...]
    axis_element: Element | None
    limit: Element | None
    mimic: Element | None


def _figure(robot: Element, meshes: Meshes | None) -> Figure:
    _refuse_xacro(robot)
    if robot.tag != "robot":
        raise robot.bad(f"a URDF file begins with <robot>, not with <{shown(robot.tag)[1:-1]}>")
    [name], links, joints = _named([robot]), _named(robot.all("link")), _named(robot.all("joint"))
    if not links or len(links) > MOST_LINKS:
        raise robot.bad(f"{robot.label} has {len(links)} links; a robot has from 1 to {MOST_LINKS}")
    given = {key: _given(joint, key, links) for key, joint in joints.items()}
    below = _tree(links, given)
    root = _root(robot, links, below)
    drives = _drives(given)
    parts = [Joint(f"{root}.root" if root in given else root, None, segment=root)]
    for joint in _depth_first(links, below, root):
        with blaming(joint.element):
            parts.extend(_parts(joint, drives.get(joint.name)))
    read = {key: read_link(link) for key, link in links.items()}
    bodies = {key: link.body for key, link in read.items() if link.body is not None}
    bare = [key for key, link in read.items() if link.is_uncovered]
    source, solids, remarks = Source("urdf"), {}, []
    if meshes is not None:
        source, more = meshes.found(links)
        solids, remarks = meshes.solids(source, read)
        remarks = [*more, *remarks]
    remarks = [*link_remarks(read, solids), *_ranges_not_given(given), *remarks]
    with blaming(robot):
        return Figure(name, parts, bodies=bodies, source=source, remarks=remarks, uncovered=bare, solids=solids)


def _refuse_xacro(robot: Element) -> None:
    """A template is not a description yet: refuse macros and expressions that nobody has expanded."""
    pending = [robot]
    while pending:
        element = pending.pop()
        if element.tag.startswith("xacro:"):
            raise element.bad(f"<{shown(element.tag)[1:-1]}> is a macro: expand the file with xacro first")
        for name, value in element.attributes.items():
            if "${" in value:
                raise element.bad(f"{name}={shown(value)} is an expression: expand the file with xacro first")
        pending.extend(element.children)


def _named(elements: Iterable[Element]) -> dict[str, Element]:
    """Elements by their names."""
    found: dict[str, Element] = {}
    for element in elements:
        name = element.attribute("name")
        if len(name) > LONGEST_NAME:
            raise element.bad(f"the name of a <{element.tag}> is longer than {LONGEST_NAME} characters")
        if name in found:
            raise element.bad(f"{element.label} was already described on line {found[name].line}")
        found[name] = element
    return found


def _given(joint: Element, name: str, links: dict[str, Element]) -> Given:
    """A joint of the file; what is wrong with a single number or name of it is refused here."""
    ends = [joint.needed("parent"), joint.needed("child")]
    parent, child = (end.attribute("link") for end in ends)
    kind, origin, axis = joint.attribute("type"), joint.first("origin"), joint.first("axis")
    xyz, rpy = (NOT if origin is None else origin.numbers(key, 3, NOT) for key in ("xyz", "rpy"))
    along = X if axis is None else axis.numbers("xyz", 3, X)
    for end in ends:
        if (given := end.attributes["link"]) not in links:
            raise end.bad(f"{joint.label} has the {end.tag} {shown(given)}, but the file describes no such link")
    limit, mimic = joint.first("limit"), joint.first("mimic")
    return Given(joint, name, joint.label, kind, parent, child, xyz, rpy, along, axis, limit, mimic)


def _tree(links: dict[str, Element], joints: dict[str, Given]) -> dict[str, list[Given]]:
    """The joints below each link; every link hangs on one joint at most."""
    above: dict[str, Given] = {}
    below: dict[str, list[Given]] = {name: [] for name in links}
    for joint in joints.values():
        if joint.parent == joint.child:
            raise joint.element.bad(f"{joint.label} joins link {shown(joint.parent)} to itself")
        if joint.child in above:
            other = above[joint.child]
            both = f"{joint.label} and {other.label}, line {other.element.line}"
            raise joint.element.bad(f"link {shown(joint.child)} has two parents: {both}")
        above[joint.child] = joint
        below[joint.parent].append(joint)
    return below


def _root(robot: Element, links: dict[str, Element], below: dict[str, list[Given]]) -> str:
    moved = {joint.child for joints in below.values() for joint in joints}
    roots = [name for name in links if name not in moved]
    if not roots:
        raise robot.bad(f"{robot.label} has no root: every link is the child of some joint, so they form a cycle")
    if len(roots) > 1:
        first, second = roots[:2]
        raise links[second].bad(
            f"{robot.label} has {len(roots)} roots, links {shown(first)} and {shown(second)} among them; "
            "a robot is one tree: join them with a fixed joint"
        )
    return roots[0]


def _depth_first(links: dict[str, Element], below: dict[str, list[Given]], root: str) -> Iterator[Given]:
    """All joints, parents before children; links that cannot be reached from the root form a cycle."""
    pending, reached = [iter(below[root])], {root}
    while pending:
        joint = next(pending[-1], None)
        if joint is None:
            pending.pop()
            continue
        yield joint
        reached.add(joint.child)
        pending.append(iter(below[joint.child]))
    for name, link in links.items():
        if name not in reached:
            raise link.bad(f"link {shown(name)} belongs to a cycle of joints, not to the tree of link {shown(root)}")


def _parts(joint: Given, drive: Drive | None) -> tuple[Joint, ...]:
    """The joints of ours that one joint of the file stands for."""
    name, kind, parent, child = joint.name, joint.kind, joint.parent, joint.child
    if kind not in TYPES:
        raise joint.element.bad(f"{joint.label} has the unknown type {shown(kind)}; known are {', '.join(TYPES)}")
    limits, speed = _limits(joint, drive is not None) if kind in ONE_COORDINATE else (FREE, np.inf)
    at = place(joint.xyz, rpy=joint.rpy)
    if kind == "fixed":
        return (Joint(name, parent, at, segment=child),)
    if kind == "floating":
        return free(name, parent, "zyx", at, segment=child)
    with blaming(joint.axis_element or joint.element):
        axis = unit(joint.axis, f"the axis of {joint.label}")
    if kind == "planar":
        return planar_about(axis, name, parent, at, child)
    turn, along = (NOT, axis) if kind == "prismatic" else (axis, NOT)
    return (Joint(name, parent, at, turn, along, limits, child, speed=speed, drive=drive),)


def _limits(joint: Given, driven: bool) -> tuple[Pair, float]:
    """The limits of position and speed of a joint of one coordinate."""
    limit, kind = joint.limit, joint.kind
    if limit is None and kind != "continuous" and not driven:
        raise joint.element.bad(
            f'{joint.label} is {kind} and needs a <limit lower="…" upper="…"/>; without: continuous'
        )
    if limit is None:
        return FREE, np.inf
    speed = limit.number("velocity", 0.0, LARGEST_LIMIT)
    if speed < 0.0:
        raise limit.bad(f"the velocity of {joint.label} must not be negative, not {speed}")
    if kind == "continuous" or (driven and not {"lower", "upper"} & limit.attributes.keys()):
        return FREE, speed or np.inf
    lower, upper = (limit.number(side, 0.0, LARGEST_LIMIT) for side in ("lower", "upper"))
    if lower > upper:
        raise limit.bad(f"the limits of {joint.label} are inverted: lower {lower} exceeds upper {upper}")
    if lower >= UNLIMITED or upper <= -UNLIMITED:
        raise limit.bad(f"the limits of {joint.label} leave no room: lower {lower}, upper {upper}")
    return (lower if lower > -UNLIMITED else -np.inf, upper if upper < UNLIMITED else np.inf), speed or np.inf


def _ranges_not_given(joints: dict[str, Given]) -> list[str]:
    """Joints that do not move because their limits name neither end, or are the same, and limits that are not read."""
    out = []
    for joint in joints.values():
        limit, kind = joint.limit, joint.kind
        if limit is None or kind in ("continuous", "fixed") or joint.mimic is not None:
            continue
        if kind not in ONE_COORDINATE:
            out.append(f"The limits of {joint.label} are not read: it is {kind}, with several coordinates.")
        elif missing := [side for side in ("lower", "upper") if side not in limit.attributes]:
            out.append(
                f"The <limit> of {joint.label} does not say {' nor '.join(missing)}: taken as 0, as the format says."
            )
    return out


def _drives(joints: dict[str, Given]) -> dict[str, Drive]:
    """The drive of every mimic joint, named after the joint at the end of the chain that it follows."""
    known: dict[str, tuple[str, float, float]] = {}  # (leader, ratio, offset) of each joint that was looked at
    for start in joints:
        chain, name = {}, start
        while name not in known and (tag := _mimic(joints[name])) is not None:
            if name in chain:
                raise tag.bad(f"{joints[name].label} follows itself by way of {len(chain) - 1} other mimic joints")
            chain[name] = tag
            name = _leader(tag, joints[name], joints)
        known.setdefault(name, (name, 1.0, 0.0))
        for follower, tag in reversed(chain.items()):
            leader, ratio, offset = known[tag.attribute("joint")]
            slope = tag.number("multiplier", 1.0)
            known[follower] = (leader, slope * ratio, slope * offset + tag.number("offset", 0.0))
            if max(map(abs, known[follower][1:])) > LARGEST_NUMBER:
                raise tag.bad(f"the multipliers of the mimic joints above {joints[follower].label} exceed all measure")
    return {name: mimic(*relation) for name, relation in known.items() if relation[0] != name}


def _mimic(joint: Given) -> Element | None:
    """The mimic element of a joint that can follow another; a fixed joint has nothing to follow with."""
    if joint.mimic is None or joint.kind == "fixed":
        return None
    if joint.kind not in ONE_COORDINATE:
        raise joint.mimic.bad(f"{joint.label} is {joint.kind}: only joints of one coordinate can mimic another")
    return joint.mimic


def _leader(tag: Element, joint: Given, joints: dict[str, Given]) -> str:
    name = tag.attribute("joint")
    if name not in joints:
        raise tag.bad(f"{joint.label} mimics joint {shown(name)}, but the file describes no such joint")
    kind = joints[name].kind
    if kind not in ONE_COORDINATE:
        raise tag.bad(f"{joint.label} mimics joint {shown(name)}, which is {kind} and has not one coordinate")
    return name
