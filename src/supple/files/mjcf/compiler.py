"""MuJoCo's own compiler, given a gathered text: what it makes of defaults, degrees and frames is what is read.

Meshes that touch nothing and weigh nothing are not read at all: they are looks. Where a mesh that matters cannot be had, a
small tetrahedron without weight stands in for it, so that the joints are there all the same, and the geoms that show it
are told apart.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from threading import Lock
from typing import Any

import numpy as np

from supple.errors import BadFile, MissingExtra
from supple.files.folders import Found
from supple.files.mjcf.gather import Gathered
from supple.files.xml import read_bytes

MOST_MESH_BYTES = 1024 * 1024 * 1024  # of all meshes that are read
POINTER = b"version https://git-lfs"  # how a file begins that Git left in its store
STAND_IN = b"v 0 0 0\nv .01 0 0\nv 0 .01 0\nv 0 0 .01\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
STAND_IN_NAME = "supple-stand-in.obj"
STAND_IN_MASS = 1e-9  # kg; MuJoCo wants that moving bodies weigh something
_LOCK = Lock()


@dataclass(frozen=True)
class Compiled:
    """A model of MuJoCo, and the meshes that matter but could not be had, by their names in the gathered text."""

    model: Any
    lost: frozenset[str] = frozenset()
    stand_ins: frozenset[str] = frozenset()  # names of meshes that were not read


def mujoco_api() -> Any:
    """The package mujoco."""
    try:
        return import_module("mujoco")
    except ImportError as error:
        raise MissingExtra("mujoco", "mjcf", "reading MJCF files") from error


@contextmanager
def _overheard(mujoco: Any) -> Iterator[list[str]]:
    """While MuJoCo compiles, its warnings come here, and not to stderr, Python and a log file in the user's folder."""
    said: list[str] = []
    with _LOCK, warnings.catch_warnings():  # there is one handler for all threads
        warnings.simplefilter("ignore")  # what the handler has heard is said once more when a spec is done
        before = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(said.append)
        try:
            yield said
        finally:
            mujoco.set_mju_user_warning(before)


@contextmanager
def _refusing(gathered: Gathered | None, said: list[str]) -> Iterator[None]:
    """What MuJoCo refuses is a `BadFile` on the line of the file that it means."""
    try:
        yield
    except BadFile:
        raise
    except Exception as error:  # MuJoCo raises several kinds, none of them its own base
        message = str(error).strip()
        first = message.splitlines()[0] if message else type(error).__name__
        first = "; ".join([first, *(" ".join(warning.split()) for warning in said)])
        places = gathered.places if gathered is not None else []
        line = re.search(r"line(?: number=)? ?(\d+)", message, re.IGNORECASE)
        file, at = (places[0][0], None) if places else (None, None)
        if line is not None and 0 < int(line[1]) <= len(places) and not (gathered and gathered.models):
            file, at = places[int(line[1]) - 1]  # with several models, whose line it is cannot be told
        raise BadFile(f"MuJoCo refuses the model: {first}", file=file, line=at) from error


def compile_spec(spec: Any) -> Any:
    """The model of a user's own MjSpec, which stays as it was."""
    with _overheard(mujoco_api()) as said, _refusing(None, said):
        return spec.copy().compile()


def compile_text(gathered: Gathered, drawn: bool = False) -> Compiled:
    """MuJoCo's model, with the meshes that are only `drawn` if they are wanted.

    What it warns of is said where it refuses the model; where it does not, it is about dynamics.
    """
    mujoco = mujoco_api()
    with _overheard(mujoco) as said, _refusing(gathered, said):
        names = dict.fromkeys(gathered.meshes, STAND_IN)
        spec = mujoco.MjSpec.from_string(gathered.text, include=gathered.models, assets=names)
        needed = {mesh.name for mesh in spec.meshes} if drawn else _needed(mujoco, spec)
        assets, lost = {STAND_IN_NAME: STAND_IN}, set[str]()
        for mesh in [mesh for mesh in spec.meshes if mesh.file in names]:
            data = _bytes(gathered, mesh.file) if mesh.name in needed else None
            if data is None:
                lost |= {mesh.file} if mesh.name in needed else set()
                mesh.file = STAND_IN_NAME
            else:  # by what it holds, since MuJoCo keeps meshes by name from one model to the next
                mesh.file = f"supple-{sha256(data).hexdigest()}{mesh.file[-4:]}"
                assets[mesh.file] = data
        if sum(map(len, assets.values())) > MOST_MESH_BYTES:
            raise BadFile(f"the meshes of the model have more than {MOST_MESH_BYTES} bytes", file=gathered.places[0][0])
        _lighten(mujoco, spec)
        spec.assets = assets
        stand_ins = frozenset(mesh.name for mesh in spec.meshes if mesh.file == STAND_IN_NAME)
        return Compiled(spec.compile(), frozenset(lost), stand_ins)


def _bytes(gathered: Gathered, name: str) -> bytes | None:
    """What a mesh's file holds; None where it is not there, and why is kept."""
    path = gathered.meshes[name].path
    if path is None:
        return None
    data = read_bytes(path)
    if data.startswith(POINTER):
        gathered.meshes[name] = Found(None, "a pointer that git lfs left")
        return None
    return data


def _needed(mujoco: Any, spec: Any) -> set[str]:
    """The names of meshes that can touch something or that make up the mass of a body."""
    always = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    low, high = spec.compiler.inertiagrouprange
    names: set[str] = set()
    for body in spec.bodies:
        weighs = always or not body.explicitinertial
        for geom in body.geoms:
            heavy = weighs and low <= geom.group <= high and np.isnan(geom.mass)
            if geom.meshname and (geom.contype or geom.conaffinity or heavy):
                names.add(geom.meshname)
    return names


def _lighten(mujoco: Any, spec: Any) -> None:
    """Give stand-ins the size that they have, and no weight but what the file says."""
    names = set()
    for mesh in spec.meshes:
        if mesh.file == STAND_IN_NAME:
            mesh.scale, mesh.refpos, mesh.refquat = [1, 1, 1], [0, 0, 0], [1, 0, 0, 0]
            mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
            names.add(mesh.name)
    for geom in spec.geoms:
        if geom.meshname in names:
            geom.type = mujoco.mjtGeom.mjGEOM_MESH
            if np.isnan(geom.mass):
                geom.mass = STAND_IN_MASS
