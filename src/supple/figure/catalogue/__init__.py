"""Figures that come with the library: robots, a hand, a parallel platform and people, built by name and offline."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from supple.errors import find
from supple.figure.catalogue.baxter import baxter
from supple.figure.catalogue.hand import hand
from supple.figure.catalogue.human import human
from supple.figure.catalogue.iiwa14 import iiwa14
from supple.figure.catalogue.jack import jack
from supple.figure.catalogue.panda import panda
from supple.figure.catalogue.sawyer import sawyer
from supple.figure.catalogue.stewart import stewart
from supple.figure.catalogue.ur5 import ur5
from supple.figure.figure import Figure

__all__ = ["names", "build", "describe"]

_BUILDERS: dict[str, tuple[Callable[..., Figure], str]] = {
    "panda": (panda, "Franka Emika Panda: arm of 7 joints, hand and two coupled fingers"),
    "ur5": (ur5, "Universal Robots UR5: arm of 6 joints"),
    "iiwa14": (iiwa14, "KUKA LBR iiwa 14: arm of 7 joints"),
    "sawyer": (sawyer, "Rethink Sawyer: arm of 7 joints and a head"),
    "baxter": (baxter, "Rethink Baxter: two arms of 7 joints and a head"),
    "stewart": (stewart, "Stewart–Gough platform: six legs, closed loops; options geometry, lengths, rest, swing"),
    "hand": (hand, "hand of 24 joints, after the Shadow hand; options side, prefix"),
    "human": (human, "person with 72 coordinates; options stature, mass, root, legs, fingers"),
    "jack": (jack, "person with 17 vertebrae; options spine and shoulders, free or grouped, and human's"),
}


def names() -> tuple[str, ...]:
    """The names of the catalogue."""
    return tuple(_BUILDERS)


def describe(name: str) -> str:
    """One line about a figure of the catalogue."""
    return _entry(name)[1]


def build(name: str, **options: Any) -> Figure:
    """The figure called `name`; its options are the arguments of the function that builds it."""
    builder, _ = _entry(name)
    known = tuple(inspect.signature(builder).parameters)
    for option in options:
        find(known, option, "option", f"the catalogue's {name!r}")
    return builder(**options)


def _entry(name: str) -> tuple[Callable[..., Figure], str]:
    find(names(), name, "figure", "the catalogue")
    return _BUILDERS[name]
