"""The joints of a robot as Pinocchio and MuJoCo number them: which numbers of their configurations are whose.

Both store one joint after the other, each in a few numbers: a hinge or a slide in one; a ball in a unit quaternion, which
Pinocchio writes (x, y, z, w) and MuJoCo (w, x, y, z); a free joint in a position and such a quaternion; and Pinocchio a hinge
without limits in its cosine and sine, a planar joint in x, y, cosine and sine. Which joint comes when is the model's own
matter, so the model is asked, and joints are known by their names.

Without a model the joints are those of the figure, as the file that it was loaded from has them: MuJoCo goes depth-first in the
order of the file, Pinocchio depth-first in the order of the joints' names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from supple.errors import BadValue, Refused, find, shown
from supple.figure.joints import AXES, NOT, Joint
from supple.geometry.placements import Floats

Kind = Literal["scalar", "circle", "ball", "free", "planar"]
Library = Literal["Pinocchio", "MuJoCo"]
NUMBERS: dict[str, int] = {"scalar": 1, "circle": 2, "ball": 4, "free": 7, "planar": 4}
SLIDES = {"tx": AXES["x"], "ty": AXES["y"], "tz": AXES["z"]}
FILES = {"Pinocchio": (".urdf",), "MuJoCo": (".xml", ".mjcf")}


class Slot(NamedTuple):
    """A joint of the other library, and where its numbers begin."""

    name: str
    kind: Kind
    at: int
    base: Floats | None = None  # of one that hangs on the world: its placement there

    @property
    def end(self) -> int:
        """Where they end."""
        return self.at + NUMBERS[self.kind]


@dataclass(frozen=True)
class Layout:
    """All joints of a configuration of `size` numbers."""

    library: Library
    slots: tuple[Slot, ...]
    size: int


# ── of a model ───────────────────────────────────────────────────────────────────────────────────────────────────────
def layout_of(model: Any, library: Library) -> Layout:
    """The layout of a model of the other library; what is no such model is refused."""
    wanted = ("joints", "names", "nq", "jointPlacements") if library == "Pinocchio" else ("jnt_type", "njnt", "nq")
    if not all(hasattr(model, name) for name in wanted):
        what = "pinocchio.Model" if library == "Pinocchio" else "mujoco.MjModel"
        raise BadValue(f"a model of {library} is a {what}, not {shown(model)}")
    slots = _of_pinocchio(model) if library == "Pinocchio" else _of_mujoco(model)
    return Layout(library, tuple(slots), int(model.nq))


def _of_pinocchio(model: Any) -> list[Slot]:
    slots = []
    for k in range(1, model.njoints):
        joint, name = model.joints[k], str(model.names[k])
        if joint.nq == 0:  # it follows another and has no numbers of its own
            continue
        base = np.array(model.jointPlacements[k].homogeneous) if int(model.parents[k]) == 0 else None
        slots.append(Slot(name, _pinocchio_kind(joint.shortname(), joint.nq, name), int(joint.idx_q), base))
    return slots


def _pinocchio_kind(kind: str, count: int, name: str) -> Kind:
    bare = kind.removeprefix("JointModel")
    if bare == "FreeFlyer":
        return "free"
    if bare in ("Spherical", "Planar"):
        return "ball" if bare == "Spherical" else "planar"
    if count == 2 and ("Unbounded" in bare or bare.startswith("RUB")):
        return "circle"
    if count == 1:
        return "scalar"
    raise Refused(f"joint {name!r} of the model is a {kind}, which has no counterpart here")


def _of_mujoco(model: Any) -> list[Slot]:
    kinds: tuple[Kind, ...] = ("free", "ball", "scalar", "scalar")
    owners = [int(b) for b in model.jnt_bodyid]
    slots = []
    for j, b in enumerate(owners):
        kind = kinds[int(model.jnt_type[j])]
        spare = model.body(b).name or f"body{b}"  # what the reader calls a joint without a name
        if owners.count(b) > 1:
            spare = f"{spare}.{j - int(model.body_jntadr[b]) + 1}"
        base = np.eye(4) if kind == "free" else None
        slots.append(Slot(model.joint(j).name or spare, kind, int(model.jnt_qposadr[j]), base))
    return slots


# ── of a figure ──────────────────────────────────────────────────────────────────────────────────────────────────────
class Several(NamedTuple):
    """A joint of several coordinates: its kind, its joints here in their order, the axes of its turns."""

    kind: Kind
    joints: tuple[Joint, ...]
    turns: str


def several_of(figure: Any) -> dict[str, Several]:
    """The balls, free and planar joints of a figure by name: joints in one place, of which only the last has a segment."""
    below = {joint.parent: joint for joint in figure.joints.values()}
    out: dict[str, Several] = {}
    for first in figure.joints.values():
        name, dot, _ = first.name.rpartition(".")
        run, joint = list[Joint](), first
        while dot and joint is not None and joint.name.rpartition(".")[0] == name and _is_plain(joint, not run):
            run.append(joint)
            joint = below.get(joint.key) if joint.segment is None else None
        found = _several([one.name.rpartition(".")[2] for one in run], run)
        if found is not None and name not in out:
            out[name] = found
    return out


def _is_plain(joint: Joint, first: bool) -> bool:
    """Whether a joint moves on its own, in the same place as the one before."""
    return not joint.is_fixed and joint.drive is None and (first or np.array_equal(joint.at, np.eye(4)))


def _several(words: list[str], run: list[Joint]) -> Several | None:
    """What joints called so are together; None if they are no such thing."""
    slides = [word for word in words if word in SLIDES]
    turns = "".join(word.removesuffix("2") for word in words if word not in SLIDES)
    wanted = [(NOT, SLIDES[word]) for word in slides] + [(AXES.get(axis), NOT) for axis in turns]
    kind: dict[tuple[int, int], Kind] = {(0, 3): "ball", (3, 3): "free", (2, 1): "planar"}
    if [(joint.turn, joint.slide) for joint in run] != wanted or (len(slides), len(turns)) not in kind:
        return None
    if len(turns) == 3 and turns[1] in (turns[0], turns[2]):
        return None
    return Several(kind[len(slides), len(turns)], tuple(run), turns)


def own_layout(figure: Any, library: Library) -> Layout:
    """The layout of the file that a figure was loaded from; one whose file or order is not known is refused."""
    origin, way = figure.origin, "give the model= whose configuration it is"
    if origin is None or not origin.is_file or origin.beside or not str(origin.what).endswith(FILES[library]):
        raise BadValue(f"figure {figure.name!r} is not what a {FILES[library][0]} file holds: {way}")
    several = several_of(figure)
    inner = {joint.name: name for name, one in several.items() for joint in one.joints}
    if library == "MuJoCo" and any(one.kind != "free" for one in several.values()):
        raise BadValue(f"which of the joints of {figure.name!r} are balls is not known: {way}")
    slots, at, done = list[Slot](), 0, set[str]()
    for joint in _depth_first(figure, library == "Pinocchio"):
        name = inner.get(joint.name, joint.name)
        if joint.is_fixed or name in done:
            continue
        done.add(name)
        kind: Kind = several[name].kind if name in several else "scalar"
        if library == "Pinocchio" and kind == "scalar" and any(joint.turn) and np.isinf(joint.limits).all():
            kind = "circle"
        base = np.eye(4) if kind == "free" and several[name].joints[0].parent is None else None
        slots.append(Slot(name, kind, at, base))
        at = slots[-1].end
    return Layout(library, tuple(slots), at)


def _depth_first(figure: Any, by_name: bool) -> list[Joint]:
    """All joints, parents before children; siblings as they come, or by their names."""
    below: dict[str | None, list[Joint]] = {}
    for joint in figure.joints.values():
        below.setdefault(joint.parent, []).append(joint)
    out, pending = list[Joint](), [below.get(None, [])[::-1]]
    while pending:
        if not pending[-1]:
            pending.pop()
            continue
        out.append(pending[-1].pop())
        children = below.get(out[-1].key, [])
        pending.append((sorted(children, key=lambda one: one.name) if by_name else children)[::-1])
    return out


def matched(figure: Any, slot: Slot, several: dict[str, Several], names: dict[str, str], library: str) -> Any:
    """What a joint of the other library is here: a `Joint`, a `Several`, or None if the figure has nothing of the kind."""
    name = names.get(slot.name, slot.name)
    if slot.kind in ("scalar", "circle"):
        if name in names.values() and name not in figure.joints:
            find(tuple(figure.joints), name, "joint", f"figure {figure.name!r}, called {slot.name!r} by {library},")
        return figure.joints.get(name)
    found = several.get(name)
    roots = [one for one in several.values() if one.kind == "free" and one.joints[0].parent is None]
    if (
        found is None
        and slot.kind == "free"
        and slot.base is not None
        and len(roots) == 1
        and name not in figure.joints
    ):
        return roots[0]
    return found if found is not None and found.kind == slot.kind else None
