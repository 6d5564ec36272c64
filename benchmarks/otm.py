"""The experiments of Ausejo, Suescun & Celigüeta (2011) once more: time a frame and frames converged, beside their figures.

Run it with ``python benchmarks/otm.py``; ``--paper-frames 0`` leaves out the paper's own path, which takes minutes, and
``--image PATH`` draws the errors of the markers. Set OPENBLAS_NUM_THREADS=1 for the paper's path.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

import supple
from otm_models import Experiment, reaching, seen, steering
from supple.geometry.placements import Floats

TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7)
REPEATS = 5
RULES = ("merit", "maxmin")  # the paper's QRf and QRx
THEIRS = {  # seconds a frame and per cent converged, at each tolerance
    ("reach", "merit"): ((0.53, 0.83, 1.08, 1.25), (99.56, 98.14, 97.60, 97.49)),
    ("reach", "maxmin"): ((0.64, 0.79, 1.02, 1.25), (98.74, 98.58, 97.93, 97.32)),
    ("steering", "merit"): ((0.43, 0.52, 0.64, 0.71), (99.56, 99.34, 99.34, 99.34)),
    ("steering", "maxmin"): ((0.44, 0.48, 0.60, 0.67), (99.84, 99.72, 99.67, 99.67)),
}


def measured(experiment: Experiment, tracker: supple.OptimalTracking, frames: int | None = None) -> dict[str, float]:
    """Milliseconds a frame, per cent converged and steps a frame over all trials, or over the first frames of the first.

    The time of all trials is the least of `REPEATS` runs.
    """
    points = list(experiment.points.values())
    trials = experiment.positions if frames is None else [experiment.positions[0][:frames]]
    start = [Q[0] for Q in experiment.postures]
    tracker.track_frames(experiment.figure, points, trials[0][:1], start=start[0])
    spent, tracked = np.inf, []
    for _ in range(REPEATS if frames is None else 1):
        begin = time.perf_counter()
        tracked = [
            tracker.track_frames(experiment.figure, points, positions, start=q)
            for positions, q in zip(trials, start, strict=False)
        ]
        spent = min(spent, time.perf_counter() - begin)
    count = sum(len(positions) for positions in trials)
    return {
        "ms": 1e3 * spent / count,
        "converged": 100.0 * sum(int(t.converged.sum()) for t in tracked) / count,
        "steps": sum(int(t.iterations.sum()) for t in tracked) / count,
    }


def size_of(experiment: Experiment) -> str:
    """The size of the model in natural coordinates, markers among them."""
    natural = supple.motion.Natural(experiment.figure, points=tuple(experiment.points.values()))
    slope = natural.jacobian(natural.from_posture(experiment.postures[0][0])).toarray()
    rank = int(np.linalg.matrix_rank(slope, 1e-9))
    return (
        f"{natural.bodies} bodies, {natural.size - rank} degrees of freedom, {natural.size} coordinates, {natural.count} "
        f"constraints ({natural.count - rank} redundant), {len(experiment.points)} markers"
    )


def tables(experiment: Experiment, paper_frames: int) -> None:
    """Print both tables of one experiment."""
    frames = sum(len(positions) for positions in experiment.positions)
    print(f"\n{experiment.name}: {size_of(experiment)}; {len(experiment.positions)} trials, {frames} frames")
    print(
        f"{'path':7}{'rule':8}{'tolerance':>10}{'ms a frame':>12}{'converged %':>13}{'steps':>7}{'theirs: s':>11}{'%':>7}"
    )
    for path in ("fast", "paper") if paper_frames else ("fast",):
        for rule in RULES:
            for k, tolerance in enumerate(TOLERANCES):
                tracker = supple.OptimalTracking(rule, tolerance, path=path, limits=False)
                found = measured(experiment, tracker, paper_frames if path == "paper" else None)
                seconds, rate = (row[k] for row in THEIRS[experiment.name, rule])
                print(
                    f"{path:7}{rule:8}{tolerance:10.0e}{found['ms']:12.3f}{found['converged']:13.2f}{found['steps']:7.1f}"
                    f"{seconds:11.2f}{rate:7.2f}",
                    flush=True,
                )


def agreement(experiment: Experiment, frames: int) -> float:
    """How far the markers of the two paths are apart [m], at most."""
    points = list(experiment.points.values())
    results = []
    for path in ("fast", "paper"):
        tracker = supple.OptimalTracking(path=path, limits=False)
        results.append(
            tracker.track_frames(
                experiment.figure, points, experiment.positions[0][:frames], start=experiment.postures[0][0]
            )
        )
    ways = [seen(experiment.figure, experiment.points, r.q) for r in results]
    return float(np.abs(ways[0] - ways[1]).max())


def marker_errors(experiment: Experiment, trial: int = 5) -> Floats:
    """How far each marker of one trial was missed [m], (frames, markers)."""
    tracked = supple.OptimalTracking(limits=False).track_frames(
        experiment.figure,
        list(experiment.points.values()),
        experiment.positions[trial],
        start=experiment.postures[trial][0],
    )
    difference = seen(experiment.figure, experiment.points, tracked.q) - experiment.positions[trial]
    return np.linalg.norm(difference, axis=2)


def draw(experiment: Experiment, image: Path) -> None:
    """The paper's second figure: a box for every marker."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(11, 4.2), constrained_layout=True)
    style: dict[str, Any] = {"flierprops": {"markersize": 2}, "medianprops": {"color": "#c1440e"}}
    axes.boxplot(1e3 * marker_errors(experiment), tick_labels=list(experiment.points), **style)
    axes.tick_params(axis="x", rotation=90)
    axes.set_ylabel("distance error [mm]")
    axes.set_ylim(bottom=0.0)
    axes.set_title("Markers of one reach movement: measured and reconstructed")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(image, dpi=130)


def main() -> None:
    """Print the tables, and draw if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paper-frames", type=int, default=20, help="frames for the paper's own path")
    parser.add_argument("--image", type=Path, help="where to draw the errors of the markers")
    options = parser.parse_args()
    experiments = [reaching(), steering()]
    for experiment in experiments:
        tables(experiment, options.paper_frames)
        if options.paper_frames:
            apart = agreement(experiment, options.paper_frames)
            print(f"markers of the two paths differ by at most {apart:.1e} m")
    if options.image:
        draw(experiments[0], options.image)


if __name__ == "__main__":
    main()
