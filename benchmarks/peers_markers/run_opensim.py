"""OpenSim: the model from its OSIM file, `InverseKinematicsSolver.track` frame by frame, constraints exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import opensim
from common import Job, checked, main

ACCURACY = {"sure": 1e-5, "exact": 1e-9}  # what its tool asks for by default, and as far as it converges


class OpenSim:
    """One solver; limits are the ranges of coordinates that the file calls clamped."""

    answers = "q"

    def __init__(self, job: Job) -> None:
        opensim.Logger.setLevelString("Off")
        self.job = job
        self.note = f"InverseKinematicsSolver.track, accuracy {ACCURACY[job.setting]:g}"
        self.model: Any = opensim.Model(str(job.path))
        self.coordinates = [self.model.getCoordinateSet().get(name) for name in job.joints]
        if not job.limits:
            for k in range(self.model.getCoordinateSet().getSize()):
                self.model.getCoordinateSet().get(k).setDefaultClamped(False)
        for coordinate, value in zip(self.coordinates, job.start, strict=True):
            coordinate.setDefaultValue(float(value))
        self.state = self.model.initSystem()
        self.table, self.weights = self._markers()
        if "there" in job.fields:
            checked(job, self, self._places())

    def _places(self) -> np.ndarray:
        self.model.realizePosition(self.state)
        markers = self.model.getMarkerSet()
        return np.array([markers.get(n).getLocationInGround(self.state).to_numpy() for n in self.job.names])

    def _markers(self) -> tuple[Any, Any]:
        table, weights = opensim.TimeSeriesTableVec3(), opensim.SetMarkerWeights()
        table.setColumnLabels(self.job.names)
        for time, row in zip(self.job.times, self.job.seen, strict=True):
            table.appendRow(float(time), opensim.RowVectorVec3([opensim.Vec3(*map(float, x)) for x in row]))
        table.addTableMetaDataString("DataRate", str(1.0 / float(np.mean(np.diff(self.job.times)))))
        table.addTableMetaDataString("Units", "m")
        for name, weight in zip(self.job.names, self.job.weights, strict=True):
            weights.cloneAndAppend(opensim.MarkerWeight(name, float(weight)))
        return table, weights

    def first(self) -> Any:
        self.state = self.model.initSystem()
        self.reference = opensim.MarkersReference(self.table, self.weights)
        none = opensim.SimTKArrayCoordinateReference()
        self.solver = opensim.InverseKinematicsSolver(self.model, self.reference, none, float("inf"))
        self.solver.setAccuracy(ACCURACY[self.job.setting])
        self.state.setTime(float(self.job.times[0]))
        self.solver.assemble(self.state)
        return self.state

    def solve(self, t: int, state: Any) -> Any:
        state.setTime(float(self.job.times[t]))
        self.solver.track(state)
        return state

    def read(self, state: Any) -> np.ndarray:
        return np.array([coordinate.getValue(state) for coordinate in self.coordinates])


if __name__ == "__main__":
    main(OpenSim)
