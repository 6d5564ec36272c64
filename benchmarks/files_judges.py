"""What other programs say of a file, for `files.py`: (read or refused, why, difference in tolerances)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

import supple
from retargeting_judge import placements, read_bvh

Answer = tuple[str, str, float | None]
POSTURES = 4
PLACE = 2e-5  # [m] and of axes: OpenSim keeps six digits of numbers in documents before version 4
SAMPLE = 1e-5  # [m]
UPRIGHT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


def _read(reader: Callable[..., Any], path: str, **options: Any) -> tuple[Any, Answer]:
    try:
        return reader(path, **options), ("read", "", None)
    except supple.Error as error:
        why = re.sub(r"'[^']*'", "…", str(error).replace(path, "")).lstrip(":0123456789 ")
        return None, ("refused", why[:100], None)


def _opensim() -> Any:
    import opensim

    opensim.Logger.setLevelString("Off")
    return opensim


def judge_osim(path: str) -> Answer:
    """Bodies and markers against OpenSim."""
    figure, answer = _read(supple.load, path)
    if figure is None:
        return answer
    opensim = _opensim()
    try:
        model = opensim.Model(path)
        state = model.initSystem()
    except RuntimeError:
        return ("read", "OpenSim does not open it", None)
    source, rng, worst = figure.source, np.random.default_rng(0), 0.0
    free = [n for n in figure.coordinates if n not in source.helpers]
    lower, upper = np.maximum(figure.lower, -0.7), np.minimum(figure.upper, 0.7)
    for k in range(POSTURES):
        q = figure.rest if k == 0 else rng.uniform(np.minimum(lower, upper), np.maximum(lower, upper))
        values = {n: float(q[figure.coordinates.index(n)]) for n in free} | dict(source.locked)
        _follow(opensim, model, values)
        for c in model.getCoordinateSet():
            c.setLocked(state, False)
            if c.getName() in values:
                c.setValue(state, values[c.getName()], False)
        model.realizePosition(state)
        for body in model.getBodySet():
            there, here = body.getTransformInGround(state), figure.placement(q, body.getName())
            R = np.array([[there.R().get(i, j) for j in range(3)] for i in range(3)])
            worst = max(worst, float(np.abs(here[:3, 3] - UPRIGHT @ there.p().to_numpy()).max()))
            worst = max(worst, float(np.abs(here[:3, :3] - UPRIGHT @ R).max()))
        names = [m.getName() for m in model.getMarkerSet()]
        ours = figure.marker_places(q[None], names)[0] if names else np.empty((0, 3))
        for marker, here in zip(model.getMarkerSet(), ours, strict=True):
            there = UPRIGHT @ marker.getLocationInGround(state).to_numpy()
            worst = max(worst, float(np.abs(here - there).max()))
    return ("read", "", worst / PLACE)


def _follow(opensim: Any, model: Any, values: dict[str, float]) -> None:
    """The values of followers, by OpenSim's own functions."""
    for _ in range(5):
        for constraint in model.getConstraintSet():
            coupler = opensim.CoordinateCouplerConstraint.safeDownCast(constraint)
            if coupler is None or not coupler.get_isEnforced():
                continue
            leaders = coupler.getIndependentCoordinateNames()
            leaders = [leaders.get(i) for i in range(leaders.size())]
            if all(name in values for name in leaders):
                vector = opensim.Vector(len(leaders), 0.0)
                for i, name in enumerate(leaders):
                    vector.set(i, values[name])
                scale = float(coupler.getPropertyByName("scale_factor").toString())
                values[coupler.getDependentCoordinateName()] = scale * coupler.getFunction().calcValue(vector)


def judge_c3d(path: str) -> Answer:
    """Coordinates and analog samples against ezc3d."""
    markers, answer = _read(supple.read_markers, path, up="z", zeros="seen")
    if markers is None:
        return answer
    import ezc3d

    try:
        c3d = ezc3d.c3d(path)
    except (RuntimeError, ValueError, OSError, IndexError):
        return ("read", "ezc3d does not open it", None)
    labels = [" ".join(str(name).split()) for name in c3d["parameters"]["POINT"]["LABELS"]["value"]]
    points, unit = c3d["data"]["points"][:3].transpose(2, 1, 0), markers.source.unit
    bare = [name.rsplit(":", 1)[-1].strip() for name in labels]
    worst, count = 0.0, min(len(points), len(markers))
    for name in markers.names:
        known = labels if labels.count(name) == 1 else bare
        if known.count(name) != 1:
            continue
        theirs, ours = unit * points[:count, known.index(name)], markers[name][:count]
        seen = np.isfinite(theirs).all(axis=1) & np.isfinite(ours).all(axis=1) & (np.abs(theirs) < 1e6).all(axis=1)
        if seen.any():
            worst = max(worst, float(np.abs(theirs - ours)[seen].max()))
    worst /= SAMPLE
    analog, theirs = getattr(markers.source, "analog", None), c3d["data"]["analogs"][0].T
    if analog is not None and theirs.shape == analog.values.shape:
        size = max(float(np.abs(theirs).max(initial=0.0)), 1e-12)
        worst = max(worst, float(np.nanmax(np.abs(theirs - analog.values), initial=0.0)) / (1e-5 * size))
    return (
        "read",
        "" if len(points) == len(markers) else f"{len(points)} frames for ezc3d, {len(markers)} here",
        worst,
    )


def judge_trc(path: str) -> Answer:
    """Coordinates against the cells under each name."""
    markers, answer = _read(supple.read_markers, path, up="z", zeros="seen")
    if markers is None:
        return answer
    with open(path, encoding="latin-1") as stream:
        lines = [line.rstrip("\r\n").split("\t") for line in stream]
    head = next(k for k, cells in enumerate(lines) if cells[0].strip().lower().startswith("frame"))
    rows = [cells for cells in lines[head + 1 :] if cells[0].strip().isdigit()]
    if len(rows) != len(markers):
        return ("read", "another number of rows, or no tabs", None)
    worst = None
    called = [" ".join(cell.split()).rsplit(":", 1)[-1] for cell in lines[head]]
    apart = np.diff([k for k, name in enumerate(called) if name and k >= 2])
    if (apart != 3).any():
        return ("read", "names are not above their cells", None)
    for k, name in enumerate(called):
        if k >= 2 and name and name in markers.names:
            for frame in range(0, len(rows), max(1, len(rows) // 50)):
                cells = rows[frame][k : k + 3]
                try:
                    theirs = markers.source.unit * np.array([float(cell) for cell in cells])
                except ValueError:
                    continue
                ours = markers[name][frame]
                if len(theirs) == 3 and np.isfinite(theirs).all() and np.isfinite(ours).all():
                    worst = max(worst or 0.0, float(np.abs(theirs - ours).max()) / SAMPLE)
    return ("read", "", worst)


def judge_storage(path: str) -> Answer:
    """Numbers against OpenSim's table, for a figure of slides that are called as the columns are."""
    opensim = _opensim()
    try:
        table = opensim.TimeSeriesTable(path)
        labels, theirs = list(table.getColumnLabels()), table.getMatrix().to_numpy()
        times = np.array(table.getIndependentColumn())
    except RuntimeError:
        labels, theirs, times = [], None, np.empty(0)
    plain = [n for n in labels if n.isprintable() and n == n.strip() and n and labels.count(n) == 1][:200]
    from supple.figure.figure import Figure
    from supple.figure.joints import slide

    known = plain or ["pelvis_tx"]
    values = {n: n.removesuffix("/value").rsplit("/", 1)[-1] if n.endswith("/value") else n for n in known}
    names = list(dict.fromkeys(name for name in values.values() if "/" not in name))[:100]
    if not names:
        return ("refused", "no column is a coordinate", None)
    figure = Figure("columns", [joint for name in names for joint in slide(name, None)])
    motion, answer = _read(supple.read_motion, path, figure=figure, partial=True)
    if motion is None or theirs is None:
        return answer if motion is None else ("read", "OpenSim does not open it", None)
    columns = {name: labels.index(label) for label, name in values.items() if name in names}
    last = np.append(np.diff(times) != 0.0, True)
    if len(theirs[last]) != len(motion):
        return ("read", "another number of rows", None)
    apart = [np.abs(theirs[last][:, k] - motion.q[:, figure.coordinates.index(n)]).max() for n, k in columns.items()]
    return ("read", "", float(max(apart, default=0.0)) / (1e-9 * max(1.0, float(np.abs(theirs).max()))))


def judge_gltf(path: str) -> Answer:
    """Where named nodes stand at rest against trimesh."""
    figure, answer = _read(supple.load, path)
    if figure is None:
        return answer
    import trimesh

    try:
        graph = trimesh.load_scene(path, file_type="glb" if path.endswith("vrm") else None).graph
    except Exception:  # of any kind
        return ("read", "trimesh does not open it", None)
    worst, known = None, set(graph.nodes)
    for segment in figure.segments:
        if segment in known:
            there = UPRIGHT @ graph.get(segment)[0][:3, 3]
            off = float(np.abs(figure.placement(figure.rest, segment)[:3, 3] - there).max())
            worst = max(worst or 0.0, off / (SAMPLE * max(1.0, float(np.abs(there).max()))))
    return ("read", "" if worst is not None else "no node of that name", worst)


def judge_bvh(path: str) -> Answer:
    """Where joints are in some frames, by the reader and the forward kinematics of the judge of retargeting."""
    motion, answer = _read(supple.read_motion, path, unit=1.0)
    if motion is None:
        return answer
    try:
        bvh = read_bvh(path)
    except (ValueError, IndexError):
        return ("read", "the judge does not read it", None)
    some, worst = np.unique(np.linspace(0, len(motion) - 1, POSTURES).astype(int)), 0.0
    found, frames = placements(bvh._replace(rows=bvh.rows[some])), motion.figure.placements(motion.q[some])
    for name, (there, R) in found.items():
        if name in frames:
            size = max(1.0, float(np.abs(there).max()))
            worst = max(worst, float(np.abs(frames[name][:, :3, 3] - there).max()) / size)
            worst = max(worst, float(np.abs(frames[name][:, :3, :3] - R).max()))
    return ("read", "", worst / SAMPLE)


def judge_rig(path: str) -> Answer:
    """Only whether it is read, and all its numbers are finite."""
    motion, answer = _read(supple.read_motion, path)
    if motion is None:
        return answer
    frames = motion.figure.placements(motion.q[-1])
    return ("read" if all(np.isfinite(T).all() for T in frames.values()) else "error", "", None)


JUDGES: dict[str, Callable[[str], Answer]] = {
    "osim": judge_osim,
    "c3d": judge_c3d,
    "trc": judge_trc,
    "bvh": judge_bvh,
    "mot": judge_storage,
    "sto": judge_storage,
    **dict.fromkeys(("gltf", "glb", "vrm"), judge_gltf),
    **dict.fromkeys(("fbx", "usd", "usda", "usdc", "usdz"), judge_rig),
}
