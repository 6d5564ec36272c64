"""All branches by other people's libraries: ``python -m peers.all_branches JOB.npz ANSWER.npz``, where they are installed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

LONGEST = 20.0  # seconds for one arm


def eaik(job: dict[str, Any]) -> Callable[[Any], Any]:
    """EAIK from axes; of some arms it calls exact answers least-squares ones too, so all are taken and judged like the rest."""
    from eaik.IK_HP import HPRobot

    h, p, home = job["along"], job["through"], job["home"]
    steps = np.diff(np.concatenate([np.zeros((1, 3)), p, home[None, :3, 3]]), axis=0)
    robot = HPRobot(h, steps)
    turn = np.eye(4)
    turn[:3, :3] = home[:3, :3].T
    if not robot.hasKnownDecomposition():
        raise RuntimeError("no decomposition")

    return lambda target: robot.IK(target @ turn).Q


def ssik(job: dict[str, Any]) -> Callable[[Any], Any]:
    """ssik from a URDF file."""
    from ssik import Manipulator

    arm = Manipulator.from_urdf(str(job["urdf"]), base="base", ee="hand")
    return lambda target: [s.q for s in arm.solve(target)]


def main() -> None:
    """Answer a job with each library that can."""
    with np.load(sys.argv[1], allow_pickle=False) as file:
        job = {key: file[key] for key in file.files}
    told: dict[str, Any] = {}
    for make in (eaik, ssik):
        name = make.__name__
        try:
            ask = make(job)
            ask(job["targets"][0])
        except Exception as error:
            told[f"{name}_why"] = f"{type(error).__name__}: {error}"[:200]
            continue
        rows, counts, spans = [], [], []
        for target in job["targets"][: int(job["most"])]:
            begun = time.perf_counter()
            found = ask(target)
            spans.append(time.perf_counter() - begun)
            counts.append(len(found))
            rows += [np.asarray(q, dtype=float).ravel()[:6] for q in found]
            if sum(spans) > LONGEST:
                break
        told[f"{name}_counts"], told[f"{name}_seconds"] = np.array(counts), np.array(spans)
        told[f"{name}_rows"] = np.array(rows).reshape(-1, 6)
    np.savez(sys.argv[2], **told)


if __name__ == "__main__":
    main()
