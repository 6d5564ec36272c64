"""A person with a spine of 17 vertebrae and shoulder complexes that can move as groups.

After the figure of Zhao and Badler (1994). Their task of looking down a tube has 22 coordinates with spine and
shoulders grouped, 70 with the vertebrae free: 3 (or 51) of the spine, 3 of each shoulder, 1 of each elbow, 3 of each
wrist, 3 from the trunk to the neck and 2 from the neck to the head. Those are all that is left of

    build("jack", spine="grouped", shoulders="grouped", root="fixed", legs=False, fingers=False)

and of the same with spine="free".
"""

from __future__ import annotations

from supple.basics.checks import one_of
from supple.figure.catalogue.shoulder import shoulder_group
from supple.figure.catalogue.trunk import person, spine_group
from supple.figure.drives import FREE
from supple.figure.figure import Figure


def jack(
    spine: str = "free",
    shoulders: str = "free",
    stature: float = 1.75,
    mass: float | None = None,
    root: str = "free",
    legs: bool = True,
    fingers: bool = True,
    grip: float = 0.0,
) -> Figure:
    """The person of `human` with 17 vertebrae L5 … L1, T12 … T1 of three coordinates each in place of three segments.

    `spine` "grouped": all 51 follow ``spine.flexion``, ``spine.bending`` and ``spine.rotation`` by shares in proportion
    to each vertebra's own range, halved where ribs hold it (see `trunk.weights`). `shoulders` "grouped": clavicle and
    upper arm follow ``shoulder_l.elevation``, ``shoulder_l.abduction`` and ``shoulder_l.twist`` within a polygon (see
    `shoulder`). Both are free by default. The other arguments are those of `human`.
    """
    for option, value in (("spine", spine), ("shoulders", shoulders)):
        one_of(value, ("free", "grouped"), f"jack's {option}")
    figure = person("jack", "vertebrae", stature, mass, root, legs, fingers, grip)
    groups = [spine_group()] if spine == "grouped" else []
    if shoulders == "grouped":
        complexes = [shoulder_group("_l"), shoulder_group("_r")]
        # The polygon keeps these joints within their ranges; a box around it would not.
        figure = figure.with_limits({name: FREE for group in complexes for name in group.drives})
        groups += complexes
    return figure.grouped(*groups) if groups else figure
