"""biorbd: the skeleton as a bioMod, markers through its extended Kalman filter, which has no limits."""

from __future__ import annotations

import biorbd
import numpy as np
from common import Job, checked, main


class Kalman:
    """One filter, one frame after the other; samples that were not seen go in as NaN."""

    answers = "q"

    def __init__(self, job: Job) -> None:
        self.job = job
        self.model = biorbd.Model(str(job.path))
        self.rate = 1.0 / float(np.mean(np.diff(job.times)))
        self.note = "KalmanReconsMarkers, its own noise factors"
        order = [n.to_string() for n in self.model.markerNames()]
        self.order = [job.names.index(n) for n in order]
        at = self.model.markers(biorbd.GeneralizedCoordinates(job.start))
        checked(job, self, np.array([m.to_array() for m in at])[np.argsort(self.order)])

    def first(self) -> biorbd.GeneralizedCoordinates:
        model = self.model
        self.kalman = biorbd.KalmanReconsMarkers(model, biorbd.KalmanParam(self.rate))
        zero = np.zeros(model.nbQ())
        self.q, self.speed, self.rise = (
            biorbd.GeneralizedCoordinates(self.job.start),
            biorbd.GeneralizedVelocity(zero),
            biorbd.GeneralizedAcceleration(zero),
        )
        self.kalman.setInitState(self.q, self.speed, self.rise)
        return self.q

    def solve(self, t: int, state: biorbd.GeneralizedCoordinates) -> biorbd.GeneralizedCoordinates:
        seen = self.job.seen[t][self.order].reshape(-1)
        self.kalman.reconstructFrame(self.model, seen, self.q, self.speed, self.rise)
        return self.q

    def read(self, state: biorbd.GeneralizedCoordinates) -> np.ndarray:
        return state.to_array().copy()


if __name__ == "__main__":
    main(Kalman)
