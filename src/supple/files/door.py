"""One door for all formats: figures by catalogue name or file, motions and markers by file, written by the file's ending."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from supple.basics.checks import instance, path_of
from supple.errors import BadFile, find
from supple.figure import catalogue
from supple.figure.figure import Figure, Origin
from supple.files.acclaim.motion import read_amc
from supple.files.acclaim.skeleton import read_asf
from supple.files.bvh.reader import read_bvh
from supple.files.bvh.writer import write_bvh
from supple.files.c3d.reader import read_c3d
from supple.files.c3d.writer import write_c3d
from supple.files.gltf import write_gltf
from supple.files.marker_trial import Wishes
from supple.files.mjcf import read_mjcf
from supple.files.osim.reader import read_osim
from supple.files.scene.text import read_scene_file, write_scene
from supple.files.storage import read_storage, write_storage
from supple.files.trc import read_trc, write_trc
from supple.files.urdf.reader import read_urdf
from supple.files.urdf.writer import write_urdf
from supple.motion.markers import Markers
from supple.motion.motion import Motion
from supple.scene.scene import Scene


def _bvh_figure(path: Path, *, unit: float | None = None, up: str | None = None) -> Figure:
    return read_bvh(path, unit=unit, up=up).figure


FIGURES: dict[str, Callable[..., Figure]] = {
    ".urdf": read_urdf,
    ".xml": read_mjcf,
    ".mjcf": read_mjcf,
    ".bvh": _bvh_figure,
    ".osim": read_osim,
    ".asf": read_asf,
}
MOTIONS: dict[str, Callable[..., Motion]] = {
    ".bvh": read_bvh,
    ".amc": read_amc,
    ".mot": read_storage,
    ".sto": read_storage,
}
MARKERS: dict[str, Callable[[Path, Wishes], Markers]] = {".c3d": read_c3d, ".trc": read_trc}


def load(what: str | Path, **options: Any) -> Figure:
    """A figure: a name of the catalogue, or a file (.urdf, .xml for MJCF, .bvh, .osim, .asf).

    `options` go to the catalogue's builder (``load("human", stature=1.6)``) or to the reader (``load("walk.bvh", unit=0.01)``).
    """
    path = path_of(what, "what load() takes, a name of the catalogue or a file,")
    suffix = path.suffix.lower()
    if suffix in FIGURES:
        _check_options(FIGURES[suffix], options, f"the reader of {suffix} files")
        return FIGURES[suffix](path, **options)._with_origin(Origin(str(path.absolute()), True, options))
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
    _check_options(MOTIONS[suffix], options, f"the reader of {suffix} files")
    return MOTIONS[suffix](path_of(path), **options)


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
    wishes = Wishes(up, unit, rate, unlabelled, zeros)
    reader = MARKERS.get(path_of(path).suffix.lower())
    if reader is None:
        raise BadFile(f"markers are read from {', '.join(MARKERS)}", file=str(path))
    return reader(Path(path), wishes)


def read_scene(path: str | Path) -> Scene:
    """A scene from a file (.toml, .json) and the figure that it names."""
    return read_scene_file(path_of(path), load)


def _at_rest(figure: Figure) -> Motion:
    return Motion(figure, figure.rest[None], np.zeros(1), source=figure.source)


WRITERS: dict[type, dict[str, Callable[[Any, str | Path], None]]] = {
    Figure: {
        ".urdf": write_urdf,
        ".bvh": lambda figure, path: write_bvh(_at_rest(figure), path),
        ".glb": lambda figure, path: write_gltf(_at_rest(figure), path),
        ".gltf": lambda figure, path: write_gltf(_at_rest(figure), path),
    },
    Motion: {
        ".bvh": write_bvh,
        ".mot": write_storage,
        ".sto": write_storage,
        ".glb": write_gltf,
        ".gltf": write_gltf,
    },
    Markers: {".trc": write_trc, ".c3d": write_c3d},
}


def write(what: Figure | Motion | Markers | Scene, path: str | Path) -> None:
    """Write a figure, a motion, markers or a scene, as the path's ending says; unit and up axis of a source are restored.

    Figures go to .urdf, .bvh, .glb and .gltf files, motions to .bvh, .mot, .sto, .glb and .gltf, markers to .trc and .c3d,
    scenes to .toml and .json.
    """
    instance(what, (Figure, Motion, Markers, Scene), "what write() writes")
    path = path_of(path)
    if isinstance(what, Scene):
        write_scene(what, path)
        return
    writers = next((files for kind, files in WRITERS.items() if isinstance(what, kind)), {})
    writer = writers.get(path.suffix.lower())
    if writer is None:
        known = [
            f"{kind.__name__.lower().rstrip('s')}s are written to {', '.join(files)}" for kind, files in WRITERS.items()
        ]
        raise BadFile("; ".join(known), file=str(path))
    writer(what, path)
