"""One door for all formats: figures by catalogue name or file, motions and markers by file, written by the file's ending."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.basics.checks import instance, path_of
from supple.errors import BadFile, find
from supple.figure import catalogue
from supple.figure.figure import Figure, Origin
from supple.motion.markers import Markers
from supple.motion.motion import Motion

if TYPE_CHECKING:
    from supple.scene.scene import Scene


# What reads and writes which ending: a function and its file, imported when such a file comes.
FIGURES = {
    ".urdf": "urdf.reader:read_urdf",
    ".xml": "mjcf.reader:read_mjcf",
    ".mjcf": "mjcf.reader:read_mjcf",
    ".bvh": "bvh.reader:read_skeleton",
    ".osim": "osim.reader:read_osim",
    ".asf": "acclaim.skeleton:read_asf",
}
MOTIONS = {
    ".bvh": "bvh.reader:read_bvh",
    ".amc": "acclaim.motion:read_amc",
    ".mot": "storage:read_storage",
    ".sto": "storage:read_storage",
}
MARKERS = {".c3d": "c3d.reader:read_c3d", ".trc": "trc:read_trc"}
WRITERS: dict[type, dict[str, str]] = {
    Figure: {
        ".urdf": "urdf.writer:write_urdf",
        ".bvh": "bvh.writer:write_bvh",
        ".glb": "gltf:write_gltf",
        ".gltf": "gltf:write_gltf",
    },
    Motion: {
        ".bvh": "bvh.writer:write_bvh",
        ".mot": "storage:write_storage",
        ".sto": "storage:write_storage",
        ".glb": "gltf:write_gltf",
        ".gltf": "gltf:write_gltf",
    },
    Markers: {".trc": "trc:write_trc", ".c3d": "c3d.writer:write_c3d"},
}


def _function(where: str) -> Callable[..., Any]:
    """A function of a file of this room, such as "urdf.reader:read_urdf"."""
    module, name = where.split(":")
    return getattr(import_module(f"supple.files.{module}"), name)


def load(what: str | Path, **options: Any) -> Figure:
    """A figure: a name of the catalogue, or a file (.urdf, .xml for MJCF, .bvh, .osim, .asf).

    `options` go to the catalogue's builder (``load("human", stature=1.6)``) or to the reader (``load("walk.bvh", unit=0.01)``).
    """
    path = path_of(what, "what load() takes, a name of the catalogue or a file,")
    suffix = path.suffix.lower()
    if suffix in FIGURES:
        reader = _function(FIGURES[suffix])
        _check_options(reader, options, f"the reader of {suffix} files")
        return reader(path, **options)._with_origin(Origin(str(path.absolute()), True, options))
    if not isinstance(what, str) or suffix in MOTIONS or os.path.exists(what):  # no error for a name that is no path
        raise BadFile(f"cannot tell a figure's format from {suffix!r}: {', '.join(FIGURES)} are known", file=str(what))
    find(catalogue.names(), str(what), "figure", "the catalogue")
    return catalogue.build(str(what), **options)._with_origin(Origin(str(what), False, options))


def _check_options(reader: Callable[..., Any], options: Mapping[str, Any], owner: str) -> None:
    """Refuse what a reader does not take."""
    known = [p.name for p in signature(reader).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for option in options:
        find(tuple(known), option, "option", owner)


def read_motion(path: str | Path, **options: Any) -> Motion:
    """A motion from a file (.bvh, .amc, .mot, .sto); `options` go to the reader, for example `unit` and `up` of a .bvh file.

    Files that hold coordinates without a skeleton need `figure`; an .amc file takes the path `asf` of its skeleton instead.
    """
    suffix = path_of(path).suffix.lower()
    if suffix not in MOTIONS:
        raise BadFile(f"motions are read from {', '.join(MOTIONS)}", file=str(path))
    reader = _function(MOTIONS[suffix])
    _check_options(reader, options, f"the reader of {suffix} files")
    return reader(path_of(path), **options)


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
    from supple.files.marker_trial import Wishes

    wishes = Wishes(up, unit, rate, unlabelled, zeros)
    reader = MARKERS.get(path_of(path).suffix.lower())
    if reader is None:
        raise BadFile(f"markers are read from {', '.join(MARKERS)}", file=str(path))
    return _function(reader)(Path(path), wishes)


def read_scene(path: str | Path) -> Scene:
    """A scene from a file (.toml, .json) and the figure that it names."""
    from supple.files.scene.text import read_scene_file

    return read_scene_file(path_of(path), load)


def write(what: Figure | Motion | Markers | Scene, path: str | Path) -> None:
    """Write a figure, a motion, markers or a scene, as the path's ending says; unit and up axis of a source are restored.

    Figures go to .urdf, .bvh, .glb and .gltf files, motions to .bvh, .mot, .sto, .glb and .gltf, markers to .trc and .c3d,
    scenes to .toml and .json.
    """
    from supple.scene.scene import Scene

    instance(what, (Figure, Motion, Markers, Scene), "what write() writes")
    path = path_of(path)
    if isinstance(what, Scene):
        from supple.files.scene.text import write_scene

        write_scene(what, path)
        return
    writers = next((files for kind, files in WRITERS.items() if isinstance(what, kind)), {})
    writer = writers.get(path.suffix.lower())
    if writer is None:
        known = [
            f"{kind.__name__.lower().rstrip('s')}s are written to {', '.join(files)}" for kind, files in WRITERS.items()
        ]
        raise BadFile("; ".join(known), file=str(path))
    if isinstance(what, Figure) and writer != WRITERS[Figure][".urdf"]:  # a motion of one frame, at rest
        what = Motion(what, what.rest[None], np.zeros(1), source=what.source)
    _function(writer)(what, path)
