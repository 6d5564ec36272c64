"""Figures that come with the library: robots, a hand, a parallel platform and people, built by name and offline."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

from supple.errors import find
from supple.figure.figure import Figure

__all__ = ["names", "build", "describe"]

_FIGURES: dict[str, str] = {  # each is built by the function of its name in the file of its name
    "panda": "Franka Emika Panda: arm of 7 joints, hand and two coupled fingers",
    "ur5": "Universal Robots UR5: arm of 6 joints",
    "iiwa14": "KUKA LBR iiwa 14: arm of 7 joints",
    "sawyer": "Rethink Sawyer: arm of 7 joints and a head",
    "baxter": "Rethink Baxter: two arms of 7 joints and a head",
    "stewart": "Stewart–Gough platform: six legs, closed loops; options geometry, lengths, rest, swing",
    "hand": "hand of 24 joints, after the Shadow hand; options side, prefix",
    "human": "person with 72 coordinates; options stature, mass, root, legs, fingers",
    "jack": "person with 17 vertebrae; options spine and shoulders, free or grouped, and human's",
    "crate": "box that floats, to be carried; options sides, mass",
}


def names() -> tuple[str, ...]:
    """The names of the catalogue."""
    return tuple(_FIGURES)


def describe(name: str) -> str:
    """One line about a figure of the catalogue."""
    find(names(), name, "figure", "the catalogue")
    return _FIGURES[name]


def build(name: str, **options: Any) -> Figure:
    """The figure called `name`; its options are the arguments of the function that builds it."""
    find(names(), name, "figure", "the catalogue")
    builder: Callable[..., Figure] = getattr(import_module(f"supple.figure.catalogue.{name}"), name)
    known = tuple(inspect.signature(builder).parameters)
    for option in options:
        find(known, option, "option", f"the catalogue's {name!r}")
    return builder(**options)
