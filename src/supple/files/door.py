"""One door for all formats: figures by catalogue name or file, motions and markers by file, written by the file's ending."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from supple import catalogue
from supple.errors import BadFile, BadValue, find
from supple.figure import Figure, Origin
from supple.files.bvh import read_bvh
from supple.files.bvh_writer import write_bvh
from supple.files.c3d import read_c3d
from supple.files.c3d_writer import write_c3d
from supple.files.mjcf import read_mjcf
from supple.files.scene_text import read_scene_file, write_scene
from supple.files.trc import read_trc, write_trc
from supple.files.trial import Wishes
from supple.files.urdf import read_urdf
from supple.files.urdf_writer import write_urdf
from supple.markers import Markers
from supple.motion import Motion
from supple.scene import Scene


def _bvh_figure(path: Path, **options: Any) -> Figure:
    return read_bvh(path, **options).figure


FIGURES: dict[str, Callable[..., Figure]] = {
    ".urdf": read_urdf,
    ".xml": read_mjcf,
    ".mjcf": read_mjcf,
    ".bvh": _bvh_figure,
}
MOTIONS: dict[str, Callable[..., Motion]] = {".bvh": read_bvh}
MARKERS: dict[str, Callable[[Path, Wishes], Markers]] = {".c3d": read_c3d, ".trc": read_trc}


def load(what: str | Path, **options: Any) -> Figure:
    """A figure: a name of the catalogue, or a file (.urdf, .xml for MJCF, .bvh).

    `options` go to the catalogue's builder (``load("human", stature=1.6)``) or to the reader (``load("walk.bvh", unit=0.01)``).
    """
    suffix = Path(what).suffix.lower()
    if suffix in FIGURES:
        return _from(FIGURES[suffix](Path(what), **options), Origin(str(Path(what).absolute()), True, options))
    if isinstance(what, Path) or suffix in MOTIONS or os.path.exists(what):  # no error for a name that is no path
        raise BadFile(f"cannot tell a figure's format from {suffix!r}: {', '.join(FIGURES)} are known", file=str(what))
    find(catalogue.names(), what, "figure", "the catalogue")
    return _from(catalogue.build(what, **options), Origin(what, False, options))


def _from(figure: Figure, origin: Origin) -> Figure:
    """A figure that nobody has seen yet, told where it comes from."""
    object.__setattr__(figure, "origin", origin)
    return figure


def read_motion(path: str | Path, **options: Any) -> Motion:
    """A motion from a file (.bvh); `options` go to the reader, for example the file's `unit` and `up` axis."""
    reader = MOTIONS.get(Path(path).suffix.lower())
    if reader is None:
        raise BadFile(f"motions are read from {', '.join(MOTIONS)}", file=str(path))
    return reader(path, **options)


def read_markers(
    path: str | Path,
    *,
    up: str | None = None,
    unit: float | None = None,
    rate: float | None = None,
    unlabelled: bool = False,
    zeros: str | None = None,
) -> Markers:
    """The markers of a trial (.c3d, .trc) in metres, z up, NaN where one was not seen; `notes` tell what was converted.

    `up` ("x", "y", "z"), `unit` [m] and `rate` [1/s] are for files that do not say or lie. `unlabelled` keeps trajectories
    without a name. `zeros` tells whether samples at exactly (0, 0, 0) are "missing" or "seen"; by default the file's own
    marks decide, and where it has none, zeros are missing for markers that are elsewhere in other frames.
    """
    reader = MARKERS.get(Path(path).suffix.lower())
    if reader is None:
        raise BadFile(f"markers are read from {', '.join(MARKERS)}", file=str(path))
    return reader(Path(path), Wishes(up, unit, rate, unlabelled, zeros))


def read_scene(path: str | Path) -> Scene:
    """A scene from a file (.toml, .json) and the figure that it names."""
    return read_scene_file(path, load)


def write(what: Figure | Motion | Scene, path: str | Path) -> None:
    """Write a figure (.urdf, .bvh), a motion (.bvh) or a scene (.toml, .json); unit and up axis of a source are restored."""
    suffix = Path(path).suffix.lower()
    if isinstance(what, Scene):
        write_scene(what, path)
    elif suffix == ".urdf":
        if isinstance(what, Motion):
            raise BadValue("a URDF file holds a figure, not a motion: write motion.figure, or write a .bvh file")
        write_urdf(what, path)
    elif suffix == ".bvh":
        still = what if isinstance(what, Motion) else Motion(what, what.rest[None], np.zeros(1), source=what.source)
        write_bvh(still, path)
    else:
        raise BadFile("figures are written to .urdf and .bvh files, motions to .bvh files", file=str(path))
