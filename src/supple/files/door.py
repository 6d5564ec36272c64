"""One door for all formats: figures by catalogue name or file, motions and markers by file, written by the file's ending."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.basics.checks import instance, path_of
from supple.errors import BadFile, UnknownName, find, needed, shown
from supple.figure import catalogue
from supple.figure.figure import Figure
from supple.figure.structure import Origin

if TYPE_CHECKING:
    from supple.motion.markers import Markers
    from supple.motion.motion import Motion
    from supple.scene.scene import Scene


# What reads and writes which ending: a function and its file, imported when such a file comes.
FIGURES = {
    ".urdf": "urdf.reader:read_urdf",
    ".xacro": "urdf.xacro:read_xacro",
    ".sdf": "sdf:read_sdf",
    ".xml": "mjcf.reader:read_mjcf",
    ".mjcf": "mjcf.reader:read_mjcf",
    ".bvh": "bvh.reader:read_skeleton",
    ".osim": "osim.reader:read_osim",
    ".asf": "acclaim.skeleton:read_asf",
    ".glb": "rigs.khronos:read_gltf_figure",
    ".gltf": "rigs.khronos:read_gltf_figure",
    ".vrm": "rigs.khronos:read_gltf_figure",
    ".fbx": "rigs.fbx:read_fbx_figure",
    ".usd": "rigs.usd:read_usd_figure",
    ".usda": "rigs.usd:read_usd_figure",
    ".usdc": "rigs.usd:read_usd_figure",
    ".usdz": "rigs.usd:read_usd_figure",
}
TEXTS = {  # by the tag that a text begins with
    "robot": "urdf.reader:parse_urdf",
    "mujoco": "mjcf.reader:parse_mjcf",
    "sdf": "sdf:parse_sdf",
    "OpenSimDocument": "osim.reader:parse_osim",
}
DESCRIBED = ("MJCF_PATH", "URDF_PATH", "XACRO_PATH")  # what the modules of robot_descriptions say, the best first
MOTIONS = {
    ".bvh": "bvh.reader:read_bvh",
    ".amc": "acclaim.motion:read_amc",
    ".mot": "storage:read_storage",
    ".sto": "storage:read_storage",
    ".glb": "rigs.khronos:read_gltf",
    ".gltf": "rigs.khronos:read_gltf",
    ".vrm": "rigs.khronos:read_gltf",
    ".fbx": "rigs.fbx:read_fbx",
    ".usd": "rigs.usd:read_usd",
    ".usda": "rigs.usd:read_usd",
    ".usdc": "rigs.usd:read_usd",
    ".usdz": "rigs.usd:read_usd",
}
MARKERS = {".c3d": "c3d.reader:read_c3d", ".trc": "trc:read_trc"}
WRITERS: dict[str, dict[str, str]] = {
    "figures": {
        ".urdf": "urdf.writer:write_urdf",
        ".bvh": "bvh.writer:write_bvh",
        ".glb": "gltf:write_gltf",
        ".gltf": "gltf:write_gltf",
    },
    "motions": {
        ".bvh": "bvh.writer:write_bvh",
        ".mot": "storage:write_storage",
        ".sto": "storage:write_storage",
        ".glb": "gltf:write_gltf",
        ".gltf": "gltf:write_gltf",
    },
    "markers": {".trc": "trc:write_trc", ".c3d": "c3d.writer:write_c3d"},
}


def _function(where: str) -> Callable[..., Any]:
    """A function of a file of this room, such as "urdf.reader:read_urdf"."""
    module, name = where.split(":")
    return getattr(import_module(f"supple.files.{module}"), name)


def load(what: str | Path | Any, **options: Any) -> Figure:
    """A figure: a name of the catalogue, a file (`FIGURES` lists the endings), a text, or a model.

    A text that begins with ``<`` is URDF, MJCF, SDF or OSIM itself; a model is an MjModel or MjSpec of MuJoCo. Names that
    end in ``_description`` are those of the package robot_descriptions, where it is installed. `options` go to the
    catalogue's builder (``load("human", stature=1.6)``) or to the reader (``load("walk.bvh", unit=0.01)``). Robots take
    `folders`: files that a model names are opened in its own folder and in these, and nowhere else.
    """
    if isinstance(what, str) and what.lstrip("\ufeff \t\r\n").startswith("<"):
        return _text(what, options)
    if _is_model(what):
        reader = _function("mjcf.reader:read_model")
        _check_options(reader, options, "the reader of MuJoCo's models")
        return reader(what, **options)
    path = path_of(what, "what load() takes, a name of the catalogue or a file,")
    suffix = path.suffix.lower()
    if suffix in FIGURES:
        return _file(path, suffix, options)._with_origin(Origin(str(path.absolute()), True, _kept(options)))
    if not isinstance(what, str) or suffix in MOTIONS or os.path.exists(what):  # no error for a name that is no path
        raise BadFile(f"cannot tell a figure's format from {suffix!r}: {', '.join(FIGURES)} are known", file=str(what))
    if what.endswith("_description") and what not in catalogue.names():
        return _described(what, options)._with_origin(Origin(what, False, _kept(options)))
    find(catalogue.names(), str(what), "figure", "the catalogue")
    return catalogue.build(str(what), **options)._with_origin(Origin(str(what), False, options))


def _file(path: Path, suffix: str, options: Mapping[str, Any]) -> Figure:
    reader = _function(FIGURES[suffix])
    _check_options(reader, options, f"the reader of {suffix} files")
    return reader(path, **options)


def _text(text: str, options: Mapping[str, Any]) -> Figure:
    """The figure in a text, in the format that its first tag says."""
    root = _function("xml:parse_xml")(text)
    where = TEXTS.get(root.tag)
    if where is None:
        raise root.bad(f"a text begins with <{'>, <'.join(TEXTS)}>, not with <{root.tag[:60]}>")
    reader = _function(where)
    _check_options(reader, options, f"the reader of <{root.tag}>")
    return reader(text, **options)


def _is_model(what: Any) -> bool:
    """Whether this is a model of MuJoCo; where that was not imported, nobody can have made one."""
    mujoco = sys.modules.get("mujoco")
    return mujoco is not None and isinstance(what, mujoco.MjModel | mujoco.MjSpec)


def _described(name: str, options: Mapping[str, Any]) -> Figure:
    """A robot of the package robot_descriptions, which fetches its files if it does not have them yet."""
    needed("robot_descriptions", "robot_descriptions", "descriptions", f"{shown(name)}, a name of robot_descriptions,")
    if not re.fullmatch(r"[a-z0-9_]+", name) or find_spec(f"robot_descriptions.{name}") is None:
        raise UnknownName(f"robot_descriptions has nothing called {shown(name)}")
    try:
        module = import_module(f"robot_descriptions.{name}")
    except Exception as error:  # it clones a repository
        first = (str(error).strip().splitlines() or [""])[0]
        raise BadFile(f"robot_descriptions cannot bring {name!r}: {first}") from error
    path = next((Path(getattr(module, key)) for key in DESCRIBED if getattr(module, key, None)), None)
    if path is None:
        raise BadFile(f"robot_descriptions names no file that is read here for {name!r}")
    suffix = path.suffix.lower()
    own: dict[str, Any] = {"folders": [module.PACKAGE_PATH, module.REPOSITORY_PATH]}
    if suffix == ".xacro":
        own["arguments"] = dict(getattr(module, "XACRO_ARGS", {}))
    return _file(path, suffix, own | dict(options))


def _kept(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as a scene can write them down: folders as texts, from anywhere."""
    if "folders" not in options:
        return dict(options)
    given = options["folders"]
    several = [given] if isinstance(given, str | os.PathLike) else list(given)
    return {**options, "folders": [str(Path(folder).absolute()) for folder in several]}


def _check_options(reader: Callable[..., Any], options: Mapping[str, Any], owner: str) -> None:
    """Refuse what a reader does not take."""
    known = [p.name for p in signature(reader).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for option in options:
        find(tuple(known), option, "option", owner)


def read_motion(path: str | Path, **options: Any) -> Motion:
    """A motion from a file (.bvh, .amc, .mot, .sto, .glb, .vrm, .fbx, .usd); `options` go to the reader, as `unit` of .bvh.

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

    return read_scene_file(path_of(path), _load_plain)


def _load_plain(what: str | Path, **options: Any) -> Figure:
    """`load` for what a file names: no template, which is a program, and nothing that is fetched."""
    if path_of(what).suffix.lower() == ".xacro" or str(what).endswith("_description"):
        raise BadFile(
            "a scene names no .xacro and no robot_descriptions: write the robot by supple.write", file=str(what)
        )
    return load(what, **options)


def write(what: Figure | Motion | Markers | Scene, path: str | Path) -> None:
    """Write a figure, a motion, markers or a scene, as the path's ending says; unit and up axis of a source are restored.

    Figures go to .urdf, .bvh, .glb and .gltf files, motions to .bvh, .mot, .sto, .glb and .gltf, markers to .trc and .c3d,
    scenes to .toml and .json.
    """
    from supple.motion.markers import Markers
    from supple.motion.motion import Motion
    from supple.scene.scene import Scene

    instance(what, (Figure, Motion, Markers, Scene), "what write() writes")
    path = path_of(path)
    if isinstance(what, Scene):
        from supple.files.scene.text import write_scene

        write_scene(what, path)
        return
    kind = "figures" if isinstance(what, Figure) else "motions" if isinstance(what, Motion) else "markers"
    writer = WRITERS[kind].get(path.suffix.lower())
    if writer is None:
        known = [f"{kind} are written to {', '.join(files)}" for kind, files in WRITERS.items()]
        raise BadFile("; ".join(known), file=str(path))
    if isinstance(what, Figure) and path.suffix.lower() != ".urdf":  # a motion of one frame, at rest
        what = Motion(what, what.rest[None], np.zeros(1), source=what.source)
    _function(writer)(what, path)
