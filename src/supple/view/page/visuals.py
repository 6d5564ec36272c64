"""The visual meshes of a robot's own file, by trimesh; a mesh that is missing is a note.

URDF: ``<visual>`` elements with a mesh (OBJ, STL, glTF, DAE, as far as trimesh reads them) or a simple shape. A file name is
looked for beside the file and above it, after the package's name as well as without it; nothing else is opened. MJCF: meshes as
MuJoCo has compiled them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np

from supple.errors import Error
from supple.figure.figure import Figure
from supple.figure.structure import Origin
from supple.files.folders import Folders
from supple.geometry.placements import place
from supple.view.page.meshes import Mesh, joined, of_solid, segments_of, thinned

ENDINGS = (".obj", ".stl", ".glb", ".gltf", ".dae", ".ply")
LARGEST = 50 * 2**20  # bytes of a mesh
FACES = 60_000  # triangles of a figure; beyond, meshes are thinned


def visual_meshes(figure: Figure) -> tuple[dict[str, Mesh], list[str]]:
    """A mesh for each segment, from its file or of our own, and notes about what is missing."""
    own, notes = segments_of(figure), list[str]()
    origin = figure.origin
    if origin is not None and origin.beside:
        found = dict[str, Mesh]()
        for each in (replace(origin, beside=()), *origin.beside):
            for segment, mesh in _of_origin(each, notes).items():
                found[each.prefix + segment] = mesh
    else:
        found = {} if origin is None else _of_origin(origin, notes)
    total = sum(len(mesh.faces) for mesh in found.values())
    if total > FACES:
        found = {s: thinned(mesh, max(24, FACES * len(mesh.faces) // total)) for s, mesh in found.items()}
        notes.append(f"The visual meshes have {total:,} triangles; they are drawn with {FACES:,} or fewer.")
    every = {**own, **found}
    return {segment: every[segment] for segment in figure.segments if segment in every}, notes


def _of_origin(origin: Origin, notes: list[str]) -> dict[str, Mesh]:
    """The meshes of one robot's file, by segment."""
    readers = {".urdf": _of_urdf, ".xml": _of_mjcf, ".mjcf": _of_mjcf}
    reader = readers.get(Path(origin.what).suffix.lower()) if origin.is_file else None
    try:
        return {} if reader is None else reader(Path(origin.what), notes)
    except (Error, OSError, ValueError) as error:
        notes.append(f"The visual meshes were not read: {error}")
        return {}


def _of_urdf(path: Path, notes: list[str]) -> dict[str, Mesh]:
    from supple.files.urdf.bodies import origin_of
    from supple.files.xml import read_xml

    out: dict[str, Mesh] = {}
    missing: list[str] = []
    for link in read_xml(path).all("link"):
        parts = []
        for visual in link.all("visual"):
            (xyz, rpy), geometry = origin_of(visual), visual.first("geometry")
            for shape in geometry.children if geometry is not None else ():
                mesh = _mesh(shape, path.parent, missing) if shape.tag == "mesh" else _simple(visual)
                if mesh is not None:
                    parts.append(mesh.moved(place(xyz, rpy=rpy)) if shape.tag == "mesh" else mesh)
        if parts:
            out[link.attribute("name")] = joined(parts)
    if missing:
        named = ", ".join(sorted(set(missing))[:4])
        notes.append(f"{len(set(missing))} visual meshes were not found, and are drawn as simple bodies: {named} …")
    return out


def _of_mjcf(path: Path, notes: list[str]) -> dict[str, Mesh]:
    """The geoms that are meshes and are drawn (groups 0 to 2), as MuJoCo has compiled them."""
    from supple.files.mjcf.compiler import mujoco_api
    from supple.files.mjcf.reader import read_looks

    mujoco, looks = mujoco_api(), read_looks(path)
    model = looks.model
    if looks.stand_ins:
        notes.append(f"{len(looks.stand_ins)} visual meshes were not found.")
    parts: dict[str, list[Mesh]] = {}
    for g in range(model.ngeom):
        k = int(model.geom_dataid[g])
        if model.geom_type[g] != mujoco.mjtGeom.mjGEOM_MESH or k < 0 or model.geom_group[g] > 2:
            continue
        if model.mesh(k).name in looks.stand_ins:
            continue
        first, count = int(model.mesh_vertadr[k]), int(model.mesh_vertnum[k])
        begin, number = int(model.mesh_faceadr[k]), int(model.mesh_facenum[k])
        T, turn = np.eye(4), np.zeros(9)
        mujoco.mju_quat2Mat(turn, model.geom_quat[g])
        T[:3, :3], T[:3, 3] = turn.reshape(3, 3), model.geom_pos[g]
        mesh = Mesh(
            model.mesh_vert[first : first + count].astype(float),
            model.mesh_face[begin : begin + number].astype(np.int64),
        )
        parts.setdefault(model.body(int(model.geom_bodyid[g])).name, []).append(mesh.moved(T))
    return {segment: joined(meshes) for segment, meshes in parts.items()}


def _simple(visual: Any) -> Mesh | None:
    from supple.files.urdf.bodies import shape_of
    from supple.view.solids import of_shape

    shape = shape_of(visual)
    return None if shape is None else of_solid(of_shape(shape))


def _mesh(tag: Any, folder: Path, missing: list[str]) -> Mesh | None:
    name = tag.attribute("filename")
    file = _found(name, folder)
    if file is None:
        missing.append(name.rpartition("/")[2])
        return None
    try:
        import trimesh

        loaded: Any = trimesh.load(file, force="mesh", process=False, skip_materials=True)
        vertices, faces = np.asarray(loaded.vertices, dtype=float), np.asarray(loaded.faces, dtype=np.int64)
    except Exception:  # readers of many formats fail in many ways
        missing.append(file.name)
        return None
    scale = np.array(tag.numbers("scale", 3, (1.0, 1.0, 1.0)))
    good = len(faces) > 0 and np.isfinite(vertices).all()
    return Mesh(vertices * scale, faces) if good else None


def _found(name: str, folder: Path) -> Path | None:
    """Where a mesh is: after the package's folder or beside, never above the folders that hold the robot's file."""
    bare = unquote(urlsplit(name).netloc + urlsplit(name).path if "://" in name else name)
    parts = [part for part in bare.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    if not parts or Path(parts[-1]).suffix.lower() not in ENDINGS:
        return None
    folders = Folders(folder, [above for above in list(folder.absolute().parents)[:3] if above.is_dir()])
    for k in range(len(parts)):
        file = folders.find("/".join(parts[k:])).path
        if file is not None and file.stat().st_size <= LARGEST:
            return file
    return None
