"""Robotics Toolbox: Levenberg–Marquardt in C++ from the given start, then from random ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import roboticstoolbox as rtb

from peers.common import Job, Solver, main


class Toolbox(Solver):
    """``ets.ik_LM`` with the tolerance that our judge asks for: E = ½ Σ w e² < ½ (1e-5)²."""

    def __init__(self, job: Job, method: str, k: float, ilimit: int, turn: float) -> None:
        super().__init__(job)
        self.ets = rtb.Robot.URDF(job.urdf).ets(end=job.frames[0])
        weights = [1.0, 1.0, 1.0, turn, turn, turn]
        self.settings = {"tol": 4.9e-11, "slimit": 1000, "ilimit": ilimit, "k": k, "method": method}
        if turn != 1.0:
            self.settings["mask"] = np.array(weights)
        self.note = f"ik_LM, {method}, k = {k:g}, ilimit = {ilimit}, weight of turns {turn:g}"

    def solve(self, target: Any, start: Any) -> Any:
        return self.ets.ik_LM(target, q0=start, **self.settings)

    def read(self, answer: Any) -> Any:
        return answer.q, None, answer.success


def choices(job: Job) -> list[dict[str, Any]]:
    best = [
        {"method": "chan", "k": k, "ilimit": i, "turn": t}
        for k in (0.3, 0.1, 0.03)
        for i in (10, 15, 20, 30)
        for t in (1.0, 0.1)
    ]
    others = [{"method": m, "k": 1e-4, "ilimit": i, "turn": 1.0} for m in ("wampler", "sugihara") for i in (15, 30)]
    return best + others


if __name__ == "__main__":
    main(Toolbox, choices)
