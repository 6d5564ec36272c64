"""A compiled model on its way to a figure: MuJoCo's tables, and names for all that has none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from supple.errors import BadFile
from supple.files.mjcf.text import mujoco_itself, walk
from supple.files.xml import Element
from supple.geometry.placements import Floats, place


def unique(given: Sequence[str], spare: Sequence[str]) -> list[str]:
    """The given names; where one is empty or was there before, the spare one, primed until it is new."""
    done: list[str] = []
    taken = {name for name in given if name}
    for name, other in zip(given, spare, strict=True):
        if not name or name in done:
            name = other
            while name in taken:
                name += "_"
            taken.add(name)
        done.append(name)
    return done


class Model:
    """A model with the names of its bodies, sites and joints."""

    def __init__(self, model: Any, root: Element) -> None:
        self.tables, self.root, self.api = model, root, mujoco_itself()
        bodies = [model.body(b).name for b in range(model.nbody)]
        sites = [model.site(k).name for k in range(model.nsite)]
        spare = [f"body{b}" for b in range(model.nbody)] + [f"{name}.site" for name in sites]
        names = unique([*bodies, *sites], spare)
        self.bodies, self.sites = names[: model.nbody], names[model.nbody :]
        owner, many = model.jnt_bodyid, model.body_jntnum
        spare = [
            self.bodies[b] if many[b] == 1 else f"{self.bodies[b]}.{j - model.body_jntadr[b] + 1}"
            for j, b in enumerate(owner)
        ]
        self.joints = unique([model.joint(j).name for j in range(model.njnt)], spare)
        self.equalities = unique(
            [model.equality(e).name for e in range(model.neq)], [f"equality{e + 1}" for e in range(model.neq)]
        )

    def bad(self, tag: str, name: str, message: str) -> BadFile:
        """The error about the element of that tag and name, on its line if it can be told."""
        for element, _ in walk(self.root):
            if element.attributes.get("name") == name and (element.tag == tag or tag == ""):
                return element.bad(message)
        return self.root.bad(message)

    def carrier(self, site: int) -> str | None:
        """The body that carries a site; None for the world."""
        b = int(self.tables.site_bodyid[site])
        return self.bodies[b] if b else None

    def site(self, k: int) -> Floats:
        """Where a site is in its body."""
        return place(self.tables.site_pos[k], quat_wxyz=self.tables.site_quat[k])

    def geoms(self, b: int) -> range:
        """The geoms of a body."""
        first = int(self.tables.body_geomadr[b])
        return range(first, first + int(self.tables.body_geomnum[b]))
