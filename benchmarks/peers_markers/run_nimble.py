"""nimblephysics: the model from its OSIM file, `fitMarkersToWorldPositions` frame by frame.

Limits are left as its reader sets them, whatever the job says.
"""

from __future__ import annotations

import nimblephysics
import numpy as np
from common import Job, main


class Nimble:
    """Its own solver of one posture, from the frame before; answers with places, since its coordinates are its own."""

    answers = "places"

    def __init__(self, job: Job) -> None:
        self.job = job
        parsed = nimblephysics.biomechanics.OpenSimParser.parseOsim(str(job.path))
        self.skeleton = parsed.skeleton
        self.markers = [parsed.markersMap[name] for name in job.names]
        self.note = "fitMarkersToWorldPositions, its own settings"
        self.zero = self.skeleton.getPositions().copy()

    def first(self) -> np.ndarray:
        self.skeleton.setPositions(self.zero)
        for _ in range(5):
            self.solve(0, self.zero)
        return self.skeleton.getPositions()

    def solve(self, t: int, state: np.ndarray) -> np.ndarray:
        seen = self.job.seen[t]
        there = np.flatnonzero(~np.isnan(seen[:, 0]))
        markers = [self.markers[k] for k in there]
        self.skeleton.fitMarkersToWorldPositions(markers, seen[there].reshape(-1), self.job.weights[there])
        return state

    def read(self, state: np.ndarray) -> np.ndarray:
        return self.skeleton.getMarkerWorldPositions(self.markers).reshape(-1, 3)


if __name__ == "__main__":
    main(Nimble)
