"""Joint angles from markers against OpenSim's own, on its own models: same markers, same weights, both converged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple

NEAR = np.radians(0.05)
UPRIGHT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # from OpenSim's ground, y up, to the world
TRIALS = {  # model, markers, task weights if not all are 1, frames
    "gait2354": ("opensim/gait2354/subject01.osim", "opensim/gait2354/walk1.trc", None, (0, 20)),
    "gait2354, weighted": (
        "opensim/gait2354/subject01.osim",
        "opensim/gait2354/walk1.trc",
        "opensim/gait2354/ik_weights.json",
        (0, 20),
    ),
    "gait2392": ("opensim/gait2392_walk/subject01.osim", "opensim/gait2392_walk/walk_free_01.trc", None, (0, 20)),
    "gait2392, other walk": (
        "opensim/gait2392_walk/subject01.osim",
        "opensim/gait2392_walk/walk_free_02.trc",
        "opensim/gait2392_walk/ik_weights.json",
        (0, 20),
    ),
    "rajagopal": ("opensim/rajagopal_walk/subject.osim", "opensim/rajagopal_walk/walk.trc", None, (20, 23)),
    "run with gaps": ("gaps/run_subject.osim", "gaps/run_500_nan.trc", None, (0, 5)),
    "shoulder, closed loop": (
        "closed_loop/shoulder/subject1_abdbonepin.osim",
        "closed_loop/shoulder/abdbonepin.trc",
        "closed_loop/shoulder/ik_weights.json",
        (0, 20),
    ),
}


def weights_of(file: Path | None, names: list[str]) -> dict[str, float]:
    """The task of each marker; none at all is none."""
    if file is None:
        return dict.fromkeys(names, 1.0)
    tasks = json.loads(file.read_text())["markers"]
    return {name: float(tasks.get(name, 0.0)) for name in names}


def opensims(
    opensim: Any, model_file: Path, markers: supple.Markers, weights: dict[str, float], joints: Any
) -> np.ndarray:
    """OpenSim's coordinates (frames, size) by the names of ours."""
    opensim.Logger.setLevelString("Off")
    model = opensim.Model(str(model_file))
    table, tasks = opensim.TimeSeriesTableVec3(), opensim.SetMarkerWeights()
    table.setColumnLabels(list(markers.names))
    for time, row in zip(markers.times, markers.positions @ UPRIGHT, strict=True):
        table.appendRow(float(time), opensim.RowVectorVec3([opensim.Vec3(*map(float, x)) for x in row]))
    table.addTableMetaDataString("DataRate", str(markers.rate))
    table.addTableMetaDataString("Units", "m")
    for name in markers.names:
        tasks.cloneAndAppend(opensim.MarkerWeight(name, weights[name]))
    state = model.initSystem()
    reference = opensim.MarkersReference(table, tasks)
    none = opensim.SimTKArrayCoordinateReference()
    solver = opensim.InverseKinematicsSolver(model, reference, none, float("inf"))
    solver.setAccuracy(1e-9)
    state.setTime(float(markers.times[0]))
    solver.assemble(state)
    out = []
    for time in markers.times:
        state.setTime(float(time))
        solver.track(state)
        out.append([model.getCoordinateSet().get(name).getValue(state) for name in joints])
    return np.array(out)


@pytest.mark.parametrize("name", TRIALS)
def test_angles_are_opensims(name: str, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # OpenSim writes a log where it is called
    opensim = pytest.importorskip("opensim")
    model_file, marker_file, weight_file, (first, last) = TRIALS[name]
    mocap = shared / "data" / "mocap"
    figure, trial = supple.load(mocap / model_file), supple.read_markers(mocap / marker_file)
    weights = weights_of(mocap / weight_file if weight_file else None, list(trial.names))
    kept = [n for n in trial.names if n in figure.markers and weights[n] > 0.0]
    markers = trial.only(kept).frames(first, last)
    theirs = opensims(opensim, mocap / model_file, markers, weights, figure.coordinates)
    sharp = supple.motion.FrameByFrame(tolerance=1e-12, steps=5000)
    ours = supple.track(figure, markers, sharp, weights={n: weights[n] for n in kept})
    off = np.angle(np.exp(1j * (ours.q - theirs)))
    slides = [joint.endswith(("_tx", "_ty", "_tz")) for joint in figure.coordinates]
    off[:, slides] = (ours.q - theirs)[:, slides]
    worst = np.abs(off).max(axis=0)
    assert worst.max() < NEAR, {figure.coordinates[k]: float(worst[k]) for k in np.flatnonzero(worst >= NEAR)}
    assert ours.gap.max() < 1e-9
