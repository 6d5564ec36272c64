"""Arms of seven hinges: as many curves as a dense reference finds, and the nearest posture of all, how soon.

Run ``python benchmarks/self_motions.py [--count 1000] [--dense 720] [--seed 2026] [--arms FILE:SEGMENT,…]``. One thread;
processor time. Poses are those of random postures inside the limits, and the start is another one. The reference has `--dense`
slices in place of 72. "fewer" counts poses of which it has more curves, "farther" those of which it has a posture nearer to the
start by 1e-6 or more. "nearest" is everything from the pose to the posture: slices, curves, and the nearest of them inside the
limits; the last column is `solve_all`, which cuts the curves at the limits too. Numbers were chosen on the Panda and the iiwa,
with other seeds.
"""

from __future__ import annotations

import argparse
import time
from math import pi
from pathlib import Path
from typing import Any

import numpy as np

import supple
from supple.proofs.claims import claims_of
from supple.solvers.closed_forms.axes import Axes
from supple.solvers.self_motions.rows_of_curves import SEVEN
from supple.solvers.self_motions.seven_hinges import SevenHinges

LISTED = 100  # poses that are given to solve_all


def milliseconds(spans: Any) -> str:
    """Median and 99th percentile, in milliseconds."""
    return f"{np.median(spans) * 1e3:.2f} / {np.percentile(spans, 99) * 1e3:.2f}"


def main() -> None:
    """Print a line for each arm."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--dense", type=int, default=720)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--arms", default="panda:panda_hand,iiwa14:iiwa_link_ee")
    asked = parser.parse_args()
    for word in asked.arms.split(","):
        file, segment = word.rsplit(":", 1)
        figure = supple.load(file)
        still = supple.Placed(figure.placement(figure.rest, segment))
        chain = claims_of(supple.Problem(figure, [supple.Task(segment, still)]))[0].chain
        axes = Axes.of(chain)
        arm, dense = SevenHinges(axes), SevenHinges(axes, asked.dense)
        low, high = np.maximum(chain.lower, -pi), np.minimum(chain.upper, pi)
        rng = np.random.default_rng(asked.seed)
        fewer = more = farther = none = 0
        counts, spans, listed = [], [], []
        for k in range(asked.count):
            target, start = axes.placement(rng.uniform(low, high)), rng.uniform(low, high)
            ranges = np.array([chain.lower, chain.upper, start, np.ones(SEVEN)])
            begun = time.process_time()
            curves = arm.curves(target).curves
            near = arm.nearest(target, curves, ranges)
            spans.append(time.process_time() - begun)
            known = dense.curves(target).curves
            best = dense.nearest(target, known, ranges)
            counts.append(len(curves))
            fewer, more = fewer + (len(curves) < len(known)), more + (len(curves) > len(known))
            none += near is None
            farther += best is not None and (near is None or near[1] > best[1] + 1e-6)
            if k < LISTED:
                problem = supple.Problem(figure, [supple.Task(segment, supple.Placed(target))])
                begun = time.process_time()
                supple.solve_all(problem)
                listed.append(time.process_time() - begun)
        said = f"{np.mean(counts):.2f} curves, fewer {fewer}, more {more}, none {none}, farther {farther}"
        how = "eliminations" if arm.way is None else "formula"
        times = f"nearest {milliseconds(spans[1:])} ms, solve_all {milliseconds(listed[1:])} ms"
        print(f"{Path(file).stem:14s} {how}: {asked.count} poses, {said}; {times}", flush=True)


if __name__ == "__main__":
    main()
