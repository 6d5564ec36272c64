"""How long it takes to follow a target that is dragged, by `Scene.drag`: feet stay, eyes follow, a hand goes round in a circle.

    python benchmarks/dragging.py

Times are of whole calls, checks, history and all. `out` goes out of reach and back. Hard feet and a table make it harder.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

import supple
from supple import AimedAt, At, Box, Direction, Placed, Scene

HAND = np.array((0.4, 0.3, 1.1))
FIGURES = {"human": {}, "jack": {}, "jack grouped": {"spine": "grouped", "shoulders": "grouped"}}


def scene_of(name: str, hard: bool, table: bool) -> Scene:
    """A standing person with the left hand at HAND."""
    figure = supple.load(name.split()[0], **FIGURES[name])
    scene = Scene(figure)
    for foot in ("foot_l", "foot_r"):
        scene.add(foot, foot, Placed(figure.placement(figure.rest, foot)), hard=hard)
    scene.add("hand", "hand_l.palm", At(HAND))
    scene.add("eyes", Direction("eyes"), AimedAt(HAND))
    if table:
        scene.place("table", Box((0.3, -0.7, 0.72), (1.0, 0.7, 0.76)))
    scene.solve()
    scene.drag("hand", HAND)
    return scene


def timed(scene: Scene, path: np.ndarray) -> tuple[np.ndarray, float]:
    """Microseconds of each drag, and the share of targets met."""
    times, met = [], 0
    for target in path:
        began = perf_counter()
        met += scene.drag("hand", target).ok
        times.append(1e6 * (perf_counter() - began))
    return np.array(times), met / len(path)


def main() -> None:
    """Print the table."""
    angle, there = np.linspace(0.0, 4.0 * np.pi, 1000), np.linspace(0.0, 1.5, 100)
    circle = HAND + 0.1 * np.column_stack([np.cos(angle) - 1.0, np.sin(angle), np.zeros_like(angle)])
    out = HAND + np.outer(np.concatenate([there, there[::-1]]), (1.0, 0.0, 0.0))
    print(f"{'figure':14s} {'scene':18s} {'path':8s} {'met':>5s} {'median µs':>10s} {'p90 µs':>8s} {'p99 µs':>8s}")
    for name in FIGURES:
        for kind, hard, table in (
            ("soft feet", False, False),
            ("hard feet", True, False),
            
        ):
            for path_name, path in (("circle", circle), ("out", out)):
                times, met = timed(scene_of(name, hard, table), path)
                numbers = "  ".join(f"{np.percentile(times, p):8.0f}" for p in (50, 90, 99))
                print(f"{name:14s} {kind:18s} {path_name:8s} {met:5.0%} {numbers}", flush=True)


if __name__ == "__main__":
    main()
