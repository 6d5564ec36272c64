"""How long one evaluation takes: from inside compiled code, from Python, and beside Pinocchio.

Run ``python benchmarks/kernels.py [--json FILE]``. One thread. Each figure is the best of a hundred short rounds, all of them
over different postures: the least disturbed round counts, and no branch predictor flatters it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import supple
from pinocchio_peer import Peer
from supple.kernels.compiling import entry
from supple.kernels.jacobian import jacobian
from supple.kernels.layouts import RESIDUALS
from supple.kernels.objective import gradient, hessian
from supple.kernels.tables import open_evaluation
from supple.kernels.tree import open_tree, place, steer

HUMAN_GOALS = ("hand_l.tip", "hand_r.tip", "foot_l.heel", "foot_r.heel", "pelvis", "head.top")
POSTURES = 64


@entry
def _gradients(I: Any, F: Any, scratch: Any, T: Any, Q: Any, rounds: int, g: Any, H: Any, rho: Any, J: Any) -> float:
    """Value and gradient at every posture of Q, `rounds` times, without leaving compiled code."""
    total = 0.0
    for _ in range(rounds):
        for k in range(Q.shape[0]):
            value, _ = gradient(I, F, scratch, T, Q[k], g)
            total += value
    return total


@entry
def _hessians(I: Any, F: Any, scratch: Any, T: Any, Q: Any, rounds: int, g: Any, H: Any, rho: Any, J: Any) -> float:
    """The same for value, gradient and exact Hessian."""
    total = 0.0
    for _ in range(rounds):
        for k in range(Q.shape[0]):
            value, _ = hessian(I, F, scratch, T, Q[k], 1, g, H)
            total += value
    return total


@entry
def _jacobians(I: Any, F: Any, scratch: Any, T: Any, Q: Any, rounds: int, g: Any, H: Any, rho: Any, J: Any) -> float:
    """The same for residuals and Jacobian."""
    total = 0.0
    for _ in range(rounds):
        for k in range(Q.shape[0]):
            value, _ = jacobian(I, F, scratch, T, Q[k], rho, J)
            total += value
    return total


@entry
def _placements(I: Any, F: Any, scratch: Any, T: Any, Q: Any, rounds: int, g: Any, H: Any, rho: Any, J: Any) -> float:
    """The same for the placements of all joints alone: the part that every evaluation begins with."""
    tree = open_tree(I, F)
    work = open_evaluation(I, scratch)
    total = 0.0
    for _ in range(rounds):
        for k in range(Q.shape[0]):
            steer(tree, Q[k], work.theta, work.slope, work.bend)
            place(tree, work.theta, work.along, work.sine, work.cosine, work.world)
            total += work.world[1, 0]
    return total


LOOPS = (_gradients, _hessians, _jacobians, _placements)


@entry
def _nothing(I: Any, F: Any, scratch: Any, T: Any, Q: Any, info: Any, first: int, last: int) -> int:
    """A call with the arguments of a solver entry that does no work."""
    return last - first


def best(function: Callable[[], Any], times: int, rounds: int = 100) -> float:
    """Least seconds per evaluation over several rounds; `function` performs `times` of them."""
    function()
    spans = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        spans.append(time.perf_counter() - start)
    return min(spans) / times


def postures(figure: supple.Figure, count: int = POSTURES, seed: int = 0) -> np.ndarray:
    """Random legal postures; coordinates without limits within ±1."""
    rng = np.random.default_rng(seed)
    return rng.uniform(np.maximum(figure.lower, -1.0), np.minimum(figure.upper, 1.0), (count, figure.size))


def inside(problem: supple.Problem, what: int, times: int) -> float:
    """Seconds for one evaluation inside compiled code."""
    I, F, T = problem.pack
    size, m = problem.figure.size, int(problem.packed[0][RESIDUALS])
    g, H, scratch = np.zeros(size), np.zeros((size, size)), problem.scratch()
    rho, J = np.zeros(m), np.zeros((m, size))
    Q = postures(problem.figure)
    rounds = max(1, times // len(Q))
    return best(lambda: LOOPS[what](I, F, scratch, T, Q, rounds, g, H, rho, J), rounds * len(Q))


def from_python(problem: supple.Problem, what: int, times: int) -> float:
    """Seconds for one evaluation called from Python through the packed entry, arrays made beforehand."""
    I, F, T = problem.pack
    size, m = problem.figure.size, int(problem.packed[0][RESIDUALS])
    g, H, scratch = np.zeros(size), np.zeros((size, size)), problem.scratch()
    rho, J = np.zeros(m), np.zeros((m, size))
    Q = postures(problem.figure)
    rows = [Q[k : k + 1] for k in range(len(Q))]
    loop = LOOPS[what]

    def run() -> None:
        for k in range(times):
            loop(I, F, scratch, T, rows[k % len(rows)], 1, g, H, rho, J)

    return best(run, times)


def null_call(problem: supple.Problem, times: int = 1000) -> float:
    """Seconds for a call from Python that does nothing."""
    I, F, T = problem.pack
    scratch, Q, info = problem.scratch(), problem.figure.rest[None].copy(), np.zeros((1, 4))

    def run() -> None:
        for _ in range(times):
            _nothing(I, F, scratch, T, Q, info, 0, 1)

    return best(run, times)


def problems() -> dict[str, supple.Problem]:
    """The two figures of the standing targets."""
    human, panda = supple.load("human"), supple.load("panda")
    q = postures(human, 1, seed=1)[0]
    points = [supple.Task(supple.Point(s), supple.At(human.placement(q, s)[:3, 3])) for s in HUMAN_GOALS]
    pose = supple.Placed(panda.placement(panda.rest, "panda_hand"), per_radian=1.0)
    return {"human": supple.Problem(human, points), "panda": supple.Problem(panda, [supple.Task("panda_hand", pose)])}


def measure() -> list[dict[str, Any]]:
    """All rows of the table, in microseconds."""
    given = problems()
    human, panda = given["human"], given["panda"]
    peer_human, peer_panda = Peer(human), Peer(panda)
    rows = []
    for label, problem, peer, what, times, target in (
        ("human, 6 points: value + gradient", human, peer_human, 0, 500, 2.5),
        ("human, 6 points: value + gradient + Hessian", human, peer_human, 1, 200, 15.0),
        ("panda, pose: value + Jacobian", panda, peer_panda, 2, 2000, 0.35),
        ("panda, pose: value + gradient", panda, peer_panda, 0, 2000, None),
    ):
        peer_call = (peer.gradient, peer.hessian, peer.jacobian)[what]
        peer.check(what, postures(problem.figure, 3))
        core, whole = peer.time(what, postures(problem.figure), best)
        ours, python = inside(problem, what, times), from_python(problem, what, times // 4)
        row = {"task": label, "inside": ours, "python": python, "pinocchio_core": core, "pinocchio": whole}
        row = {k: v * 1e6 if isinstance(v, float) else v for k, v in row.items()}
        rows.append(row | {"target": target, "ratio": row["pinocchio"] / row["python"], "peer": peer_call.__doc__})
    for name, problem in given.items():
        rows.append({"task": f"{name}: placements alone", "inside": inside(problem, 3, 1000) * 1e6})
    rows.append({"task": "null call from Python", "python": null_call(panda) * 1e6, "target": 2.0})
    return rows


def main() -> None:
    """Print the table; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = measure()
    columns = ("inside", "python", "pinocchio_core", "pinocchio", "ratio", "target")
    print(f"{'one evaluation [µs]':46s}" + "".join(f"{c:>16s}" for c in columns))
    for row in rows:
        cells = [f"{row[c]:16.2f}" if isinstance(row.get(c), float) else f"{'':16s}" for c in columns]
        print(f"{row['task']:46s}" + "".join(cells))
    print("ratio: Pinocchio from Python (the same quantities, NumPy for the products) over supple from Python")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
