"""Servos whose targets leave reach and come back: what is missed, speeds, accelerations, and how often they change sign.

    python benchmarks/servo.py                                     # the arms of the catalogue
    python benchmarks/servo.py --file xarm7.xml=link7 --file g1_29dof.urdf=right_wrist_yaw_link --plot servo.png

Of each robot seven targets go away from a bent posture and come back, six seconds each: 0.8 m along (1, 0.2, 0.1) and along
five random directions, and through the first axis to the other side. Accelerations are bounded to 15 rad/s². *Turns* are the
changes of sign from one moment to the next of an acceleration that is more than 1 rad/s² before and after, *flips* those of
more than half of the bound, of the joint that has most; both of the worst run. *Missed* is the mean of all moments, *left* the
share of the runs that end more than 1 mm off: at joint limits the way back may be another one than the way out. Chosen on
Panda and UR5: three steps to look ahead, the damping, the filter; the other robots are shown. Times are processor microseconds
for a moment.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np

import supple
from supple import Placed, Problem, Task
from supple.solving import Servo

MOST, SECONDS, FAR, SEED = 15.0, 6.0, 0.8, 7
BENT = {
    "panda": ("panda_hand", None),
    "ur5": ("tool0", [0.3, -1.1, 1.4, -0.9, 1.2, 0.4]),
    "iiwa14": ("", [0.2, 0.6, 0.1, -1.2, 0.1, 0.9, 0.2]),
    "sawyer": ("right_hand", None),
    "baxter": ("left_hand", None),
}


class Run(NamedTuple):
    """What a servo did while its target moved."""

    velocities: np.ndarray
    pushes: np.ndarray
    missed: np.ndarray
    seconds: float


def arms(names: list[str], files: list[str]) -> Iterator[tuple[str, supple.Figure, str, np.ndarray]]:
    """Robots, the segment that is placed, and where they begin; of a file all but the chain to that segment is locked."""
    for name in names:
        tip, q = BENT[name]
        figure = supple.load(name)
        yield name, figure, tip or figure.segments[-1], figure.rest if q is None else figure.posture(q)
    for given in files:
        path, _, tip = given.partition("=")
        figure = supple.load(path)
        chain = figure.chain(None, tip)[-7:]
        figure = figure.locked(*[name for name in figure.coordinates if name not in chain])
        figure = figure.with_limits(speed={n: min(s, 10.0) for n, s in zip(chain, figure.speed, strict=True)})
        bent = np.where(figure.rest == 0.0, 0.4 * figure.lower + 0.6 * figure.upper, figure.rest)
        yield Path(path).stem, figure, tip, bent


def ways(figure: supple.Figure, tip: str, home: np.ndarray, dt: float) -> Iterator[np.ndarray]:
    """Targets (moments, 4, 4) that go away and come back."""
    here, rng = figure.placement(home, tip), np.random.default_rng(SEED)
    part = np.sin(np.pi * np.arange(round(SECONDS / dt)) * dt / SECONDS)[:, None] ** 2
    directions = [np.array((1.0, 0.2, 0.1)), *rng.normal(size=(5, 3))]
    across = here[:3, 3] * (-0.3, -0.3, 1.0) - here[:3, 3]
    for way in [*(FAR * d / np.linalg.norm(d) for d in directions), across]:
        targets = np.tile(here, (len(part), 1, 1))
        targets[:, :3, 3] += part * way
        yield targets


def run(servo: Servo, tip: str, q: np.ndarray, targets: np.ndarray) -> Run:
    figure, v = servo.problem.figure, np.zeros(len(q))
    postures, velocities, begun = [], [v], process_time()
    for target in targets:
        q, v = servo(q, v, target)
        postures.append(q)
        velocities.append(v)
    seconds, V = process_time() - begun, np.array(velocities)
    E = figure.placement(np.array(postures), tip)[:, :3, 3] - targets[:, :3, 3]
    return Run(V[1:], np.diff(V, axis=0) / servo.dt, np.linalg.norm(E, axis=1), seconds)


def turns(pushes: np.ndarray, more: float) -> int:
    """How often an acceleration changes sign from one moment to the next, of the joint that does it most."""
    a, b = pushes[:-1], pushes[1:]
    return int(((a * b < 0.0) & (np.abs(a) > more) & (np.abs(b) > more)).sum(axis=0).max())


def draw(runs: dict[str, Run], path: Path, dt: float) -> None:
    from matplotlib import pyplot as plt

    drawing, axes = plt.subplots(
        3, len(runs), squeeze=False, sharex=True, figsize=(4 * len(runs), 7), layout="constrained"
    )
    for column, (name, one) in zip(axes.T, runs.items(), strict=True):
        t = dt * np.arange(len(one.missed))
        for part, numbers in zip(column, (1000.0 * one.missed, one.velocities, one.pushes), strict=True):
            part.plot(t, numbers, lw=0.8)
        column[0].set_title(name)
    for part, label in zip(axes[:, 0], ("missed [mm]", "speed [rad/s]", "acceleration [rad/s²]"), strict=True):
        part.set_ylabel(label)
    drawing.savefig(path, dpi=90)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="*", choices=list(BENT), default=list(BENT))
    parser.add_argument("--file", action="append", default=[], metavar="FILE=SEGMENT")
    parser.add_argument("--dt", type=float, default=0.002)
    parser.add_argument("--plot", type=Path, help="the run with most turns of each robot")
    given = parser.parse_args()
    worst: dict[str, Run] = {}
    print(f"{'robot':22}{'turns':>6}{'flips':>6}{'speed':>8}{'rad/s²':>8}{'missed mm':>11}{'left':>6}{'µs':>6}")
    for name, figure, tip, home in arms(given.robots, given.file):
        servo = Servo(Problem(figure, [Task(tip, Placed(figure.placement(home, tip)))]), given.dt, acceleration=MOST)
        runs = [run(servo, tip, home, targets) for targets in ways(figure, tip, home, given.dt)]
        worst[name] = max(runs, key=lambda one: turns(one.pushes, 1.0))
        counts = [max(turns(one.pushes, more) for one in runs) for more in (1.0, 0.5 * MOST)]
        speed = max(float((np.abs(one.velocities) / figure.speed).max()) for one in runs)
        push = max(float(np.abs(one.pushes).max()) for one in runs)
        missed = 1000.0 * float(np.mean([one.missed.mean() for one in runs]))
        left, spent = sum(one.missed[-1] > 1e-3 for one in runs), sum(one.seconds for one in runs)
        cost = 1e6 * spent / sum(len(one.missed) for one in runs)
        print(f"{name:22}{counts[0]:>6}{counts[1]:>6}{speed:>8.1%}{push:>8.2f}{missed:>11.1f}{left:>4}/7{cost:>6.0f}")
    if given.plot:
        draw(worst, given.plot, given.dt)


if __name__ == "__main__":
    main()
