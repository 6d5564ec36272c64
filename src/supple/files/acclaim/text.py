"""The grammar of ASF files: sections that begin with a colon, bones between ``begin`` and ``end``, a list of who hangs on whom.

What is wrong is a `BadFile` that names the line. Units and axes come later; angles stay in the file's own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from supple.files.bvh.text import MOST_DEPTH, Cursor
from supple.files.xml import shown
from supple.geometry.placements import Floats

ROOT = "root"
MOST_BONES = 2_000
KEYWORDS = frozenset(("id", "name", "direction", "length", "axis", "dof", "limits", "bodymass", "cofmass"))
DOFS = frozenset(("rx", "ry", "rz", "tx", "ty", "tz"))
Word = tuple[str, int]  # and the line on which it stands


@dataclass
class Bone:
    """A bone while it is being read; the root is one without length."""

    name: str = ""
    line: int = 1
    direction: Floats = field(default_factory=lambda: np.zeros(3))
    length: float = 0.0
    axis: Floats = field(
        default_factory=lambda: np.zeros(3)
    )  # angles of its axes, about the axes of `order` one by one
    order: str = "xyz"
    dofs: tuple[str, ...] = ()
    limits: tuple[tuple[float, float], ...] = ()
    position: Floats = field(default_factory=lambda: np.zeros(3))  # of the root
    parent: str | None = None


@dataclass
class Skeleton:
    """All bones by name, parents first, and what one unit of length and of angle is."""

    bones: dict[str, Bone]
    length: float | None
    in_degrees: bool


def read_skeleton(cursor: Cursor) -> Skeleton:
    """The skeleton in the lines of an ASF file."""
    sections = _sections(cursor)
    length, in_degrees = _units(cursor, sections.get("units", []))
    bones = {ROOT: _root(cursor, sections.get("root", []))}
    for words in _blocks(cursor, sections.get("bonedata", [])):
        bone = _bone(cursor, words)
        if bone.name in bones:
            cursor.refuse(f"there are two bones called {shown(bone.name)}", bone.line)
        bones[bone.name] = bone
        if len(bones) > MOST_BONES:
            cursor.refuse(f"more than {MOST_BONES} bones", bone.line)
    order = _hierarchy(cursor, sections.get("hierarchy", []), bones)
    return Skeleton({name: bones[name] for name in order}, length, in_degrees)


def _sections(cursor: Cursor) -> dict[str, list[list[Word]]]:
    """The lines of words of each section, by its lower-case keyword; comments and brackets are gone."""
    sections: dict[str, list[list[Word]]] = {}
    current: list[list[Word]] = []
    for row, line in enumerate(cursor.lines):
        text = line.split("#", 1)[0]
        words = text.replace("(", " ").replace(")", " ").split()
        if words and words[0].startswith(":"):
            key = words[0][1:].lower()
            if key in sections and key in ("root", "bonedata", "hierarchy"):
                cursor.refuse(f"there are two sections :{key}", row + 1)
            current = sections.setdefault(key, [])
            words = words[1:]
        if words:
            current.append([(word, row + 1) for word in words])
    for key in ("root", "bonedata", "hierarchy"):
        if key not in sections:
            cursor.refuse(f"an ASF file has a section :{key}; there is none", 1)
    return sections


def _numbers(cursor: Cursor, words: list[Word], count: int, what: str, line: int) -> Floats:
    cursor.row = words[0][1] if words else line
    if len(words) != count:
        cursor.refuse(f"{what} must be {count} numbers, not {len(words)}")
    return cursor.numbers([word for word, _ in words], what)


def _units(cursor: Cursor, lines: list[list[Word]]) -> tuple[float | None, bool]:
    length, in_degrees = None, True
    for (key, line), *rest in lines:
        if key.lower() == "length":
            length = float(_numbers(cursor, rest, 1, "the unit of length", line)[0])
            if not length >= 1e-6:
                cursor.refuse(f"the unit of length must be positive, not {length:g}", line)
        elif key.lower() == "angle":
            word = rest[0][0].lower() if rest else ""
            if not word.startswith(("deg", "rad")):
                cursor.refuse(f"the unit of angle is deg or rad, not {shown(word)}", line)
            in_degrees = word.startswith("deg")
    return length, in_degrees


def _order(cursor: Cursor, word: str, line: int) -> str:
    if sorted(word.lower()) != ["x", "y", "z"]:
        cursor.refuse(f"an order of axes is XYZ or the like, not {shown(word)}", line)
    return word.lower()


def _dofs(cursor: Cursor, words: list[Word], what: str) -> tuple[str, ...]:
    dofs = tuple(word.lower() for word, _ in words)
    for (word, line), dof in zip(words, dofs, strict=True):
        if dof not in DOFS:
            reason = "bones that stretch are not supported" if dof == "l" else f"not {shown(word)}"
            cursor.refuse(f"a degree of freedom of {what} is rx, ry, rz, tx, ty or tz: {reason}", line)
        if dofs.count(dof) > 1:
            cursor.refuse(f"{what} has the degree of freedom {dof} twice", line)
    return dofs


def _root(cursor: Cursor, lines: list[list[Word]]) -> Bone:
    root = Bone(ROOT)
    for (key, line), *rest in lines:
        if key.lower() == "order":
            root.dofs = _dofs(cursor, rest, "the root")
        elif key.lower() == "axis":
            root.order = _order(cursor, rest[0][0] if rest else "", line)
        elif key.lower() == "position":
            root.position = _numbers(cursor, rest, 3, "the position of the root", line)
        elif key.lower() == "orientation":
            root.axis = _numbers(cursor, rest, 3, "the orientation of the root", line)
    return root


def _blocks(cursor: Cursor, lines: list[list[Word]]) -> list[list[Word]]:
    """The words between each ``begin`` and its ``end``."""
    blocks: list[list[Word]] = []
    inside = False
    for words in lines:
        key = words[0][0].lower()
        if key in ("begin", "end") and len(words) == 1:
            if (key == "begin") == inside:
                cursor.refuse("'begin' and 'end' must take turns", words[0][1])
            inside = key == "begin"
            if inside:
                blocks.append([words[0]])
        elif inside:
            blocks[-1] += words
        else:
            cursor.refuse(f"{shown(words[0][0])} stands outside 'begin' and 'end'", words[0][1])
    if inside:
        cursor.refuse("an 'end' is missing", blocks[-1][0][1])
    return blocks


def _bone(cursor: Cursor, words: list[Word]) -> Bone:
    """A bone from the words of its block, the first of which is ``begin``."""
    values: dict[str, list[Word]] = {}
    key = ""
    for k, (word, line) in enumerate(words[1:], 1):
        if word.lower() in KEYWORDS and words[k - 1][0].lower() != "name":
            key = word.lower()
            if key in values:
                cursor.refuse(f"a bone has {key} twice", line)
            values[key] = []
        elif key:
            values[key].append((word, line))
        else:
            cursor.refuse(f"{shown(word)} is no property of a bone", line)
    line = words[0][1]
    name = values.get("name", [])
    if len(name) != 1:
        cursor.refuse("a bone needs a name of one word", line)
    label = f"bone {shown(name[0][0])}"
    axis = values.get("axis") or [("0", line)] * 3
    bone = Bone(name[0][0], line, dofs=_dofs(cursor, values.get("dof", []), label))
    bone.direction = _numbers(cursor, values.get("direction", []), 3, f"the direction of {label}", line)
    bone.length = float(_numbers(cursor, values.get("length", []), 1, f"the length of {label}", line)[0])
    bone.axis = _numbers(cursor, axis[:3], 3, f"the axis of {label}", line)
    bone.order = _order(cursor, axis[3][0] if len(axis) == 4 else "xyz", line)
    bone.limits = _limits(cursor, values.get("limits", []), bone, label)
    return bone


def _limits(cursor: Cursor, words: list[Word], bone: Bone, label: str) -> tuple[tuple[float, float], ...]:
    """A pair for each degree of freedom, or nothing."""
    if words and len(words) != 2 * len(bone.dofs):
        cursor.refuse(f"{label} has {len(bone.dofs)} degrees of freedom but {len(words)} limits", bone.line)
    out: list[float] = []
    for word, line in words:
        if word.lower().lstrip("+-") in ("inf", "infinity"):
            out.append(-np.inf if word.startswith("-") else np.inf)
        else:
            out.append(float(_numbers(cursor, [(word, line)], 1, f"a limit of {label}", line)[0]))
    pairs = tuple(zip(out[0::2], out[1::2], strict=True))
    for lower, upper in pairs:
        if lower > upper:
            cursor.refuse(f"a lower limit of {label} is above the upper one", words[0][1])
    return pairs


def _hierarchy(cursor: Cursor, lines: list[list[Word]], bones: dict[str, Bone]) -> list[str]:
    """The names of all bones, parents first; each gets its parent."""
    children: dict[str, list[str]] = {}
    for (parent, line), *rest in lines:
        if not rest and parent.lower() in ("begin", "end"):
            continue
        for name, at in [(parent, line), *rest]:
            if name not in bones:
                cursor.refuse(f"the hierarchy names {shown(name)}, which is no bone", at)
        for name, at in rest:
            if bones[name].parent is not None or name == ROOT:
                cursor.refuse(f"bone {shown(name)} hangs on two bones, or on itself", at)
            bones[name].parent = parent
            children.setdefault(parent, []).append(name)
    order, stack = [], [(ROOT, 0)]
    while stack:
        name, depth = stack.pop()
        order.append(name)
        if depth > MOST_DEPTH:
            cursor.refuse(f"bones hang more than {MOST_DEPTH} deep", bones[name].line)
        stack += [(child, depth + 1) for child in reversed(children.get(name, []))]
    for name in bones.keys() - set(order):
        cursor.refuse(f"bone {shown(name)} does not hang on the root", bones[name].line)
    return order
