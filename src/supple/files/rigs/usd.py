"""USD files in, through the package usd-core: a skeleton (UsdSkel) and the animation that is bound to it.

Bones are the joints of the first skeleton that moves, else of the first. Layers that a file names are opened where they lie in
its own folder or below it; a file that names others is refused.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import BadFile, needed
from supple.figure.figure import Figure
from supple.files.rigs.bones import MOST_FRAMES, MOST_NODES, MOST_NUMBERS, Rig, motion_of
from supple.files.xml import read_bytes, shown
from supple.geometry.placements import Floats
from supple.motion.motion import Motion

MOST_BYTES = 512 * 1024 * 1024
MOST_LAYERS = 500


def read_usd_figure(path: str | Path) -> Figure:
    """The skeleton in a USD file."""
    return read_usd(path).figure


def read_usd(path: str | Path) -> Motion:
    """The motion in a USD file; one frame at rest where nothing moves."""
    read_bytes(path, MOST_BYTES)  # a plain file, and not too large
    needed("pxr", "usd-core", "usd", "reading USD files")
    Tf = import_module("pxr.Tf")
    try:
        return motion_of(_rig(str(path)))
    except Tf.ErrorException as error:
        raise BadFile(
            f"USD cannot read this: {(str(error).strip().splitlines() or ['?'])[-1]}", file=str(path)
        ) from error


def _rig(file: str) -> Rig:
    Usd, UsdGeom, UsdSkel = (import_module(f"pxr.{name}") for name in ("Usd", "UsdGeom", "UsdSkel"))
    _refuse_strangers(file)
    stage: Any = Usd.Stage.Open(file)
    cache: Any = UsdSkel.Cache()
    found = [prim for prim in stage.Traverse() if prim.IsA(UsdSkel.Skeleton)]
    if not found:
        raise BadFile("the file has no skeleton (UsdSkel)", file=file)
    for root in (prim for prim in stage.Traverse() if prim.IsA(UsdSkel.Root)):
        cache.Populate(UsdSkel.Root(root), Usd.PrimDefaultPredicate)
    queries = [cache.GetSkelQuery(UsdSkel.Skeleton(prim)) for prim in found]
    moving = [q for q in queries if q and q.GetAnimQuery() and q.GetAnimQuery().GetJointTransformTimeSamples()]
    query = next(iter(moving), next((q for q in queries if q), None))
    if query is None:
        raise BadFile("the file's skeletons are broken", file=file)
    notes = [f"Of {len(found)} skeletons {shown(str(query.GetPrim().GetName()))} is read."] if len(found) > 1 else []
    topology, order = query.GetTopology(), [str(j) for j in query.GetJointOrder()]
    if not 0 < len(order) <= MOST_NODES:
        raise BadFile(f"the skeleton has {len(order)} joints: from 1 to {MOST_NODES} can be read", file=file)
    names, parents = [j.rpartition("/")[2] for j in order], [int(topology.GetParent(k)) for k in range(len(order))]
    unit = float(UsdGeom.GetStageMetersPerUnit(stage))
    up = str(UsdGeom.GetStageUpAxis(stage)).lower()
    samples = query.GetAnimQuery().GetJointTransformTimeSamples() if query in moving else []
    if len(samples) > MOST_FRAMES or len(samples) * len(order) * 16 > MOST_NUMBERS:
        raise BadFile(f"{len(samples)} frames of {len(order)} joints are more than can be read", file=file)
    rest = _placed(query, Usd.TimeCode.Default(), unit, True, file)
    frames = [_placed(query, Usd.TimeCode(t), unit, False, file) for t in samples]
    per_second = float(stage.GetTimeCodesPerSecond()) or 24.0
    return Rig(
        file,
        "usd",
        names,
        parents,
        rest,
        set(range(len(order))),
        unit,
        up if up in ("y", "z") else "y",
        np.array(samples) / per_second if samples else np.zeros(1),
        np.array(frames) if frames else None,
        notes,
    )


def _placed(query: Any, time: Any, unit: float, at_rest: bool, file: str) -> Floats:
    """The placements of all joints at a time, in the stage, in metres."""
    UsdGeom = import_module("pxr.UsdGeom")
    local = query.ComputeJointSkelTransforms(time, at_rest)
    if not local and at_rest:
        local = query.GetJointWorldBindTransforms()
    if not local:
        raise BadFile("the skeleton has no rest pose", file=file)
    above = np.array(UsdGeom.Xformable(query.GetPrim()).ComputeLocalToWorldTransform(time))
    out = np.swapaxes(np.array(local) @ above, -1, -2)  # USD has rows where others have columns
    out[:, :3, 3] *= unit
    return out


def _refuse_strangers(file: str) -> None:
    """Refuse layers outside the folder of the file."""
    Sdf = import_module("pxr.Sdf")
    home, waiting, seen = Path(file).resolve().parent, [Path(file).resolve()], set[Path]()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        if len(seen) > MOST_LAYERS:
            raise BadFile(f"the file names more than {MOST_LAYERS} others", file=file)
        layer: Any = Sdf.Layer.FindOrOpen(str(path))
        for named in layer.GetCompositionAssetDependencies() if layer else ():
            other = (path.parent / str(named)).resolve()
            if "://" in str(named) or "[" in str(named) or not other.is_relative_to(home):
                raise BadFile(f"it names {shown(str(named))}, which is not in its folder: put it there", file=file)
            if other.is_file():
                waiting.append(other)
