"""Every public name, of the top and of the rooms, with what it stands for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

HOMES = (
    *("supple", "supple.figure", "supple.files", "supple.geometry", "supple.motion", "supple.problem", "supple.proofs"),
    *("supple.scene", "supple.solvers", "supple.solvers.rank_one", "supple.solving", "supple.cluster"),
)


def public() -> dict[str, Any]:
    """Things by name; a name means one thing wherever it is found."""
    out: dict[str, Any] = {}
    for home in HOMES:
        for name in import_module(home).__all__:
            thing = getattr(import_module(home), name)
            assert out.setdefault(name, thing) is thing, f"{home}.{name} is not what {name} is elsewhere"
    return out


PUBLIC = public()
