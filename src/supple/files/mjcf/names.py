"""What the parts of a compiled model are called: as in the file, and by a name of our own where it gives none or one twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def distinct(given: Sequence[str], spare: Sequence[str]) -> list[str]:
    """The given names; where one is empty or was there before, the spare one, primed until it is new."""
    done: list[str] = []
    seen: set[str] = set()
    taken = {name for name in given if name}
    for name, other in zip(given, spare, strict=True):
        if not name or name in seen:
            name = other
            while name in taken:
                name += "_"
            taken.add(name)
        seen.add(name)
        done.append(name)
    return done


class Names:
    """The names of bodies, sites, joints and equalities, by MuJoCo's numbers."""

    def __init__(self, model: Any) -> None:
        self.model_name = model.names.split(b"\0", 1)[0].decode("utf-8", "replace")
        bodies = [model.body(b).name for b in range(model.nbody)]
        sites = [model.site(k).name for k in range(model.nsite)]
        spare = [f"body{b}" for b in range(model.nbody)] + [f"{name}.site" for name in sites]
        names = distinct([*bodies, *sites], spare)
        self.bodies, self.sites = names[: model.nbody], names[model.nbody :]
        first, many = model.body_jntadr, model.body_jntnum
        spare = [
            self.bodies[b] if many[b] == 1 else f"{self.bodies[b]}.{j - first[b] + 1}"
            for j, b in enumerate(model.jnt_bodyid)
        ]
        self.joints = distinct([model.joint(j).name for j in range(model.njnt)], spare)
        spare = [f"equality{e + 1}" for e in range(model.neq)]
        self.equalities = distinct([model.equality(e).name for e in range(model.neq)], spare)
