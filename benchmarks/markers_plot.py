"""The pictures of `markers`: times of all tools on all trials, and errors as samples go missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

TRIALS = {
    "02_01": "CMU walk",
    "02_05": "CMU punch",
    "gait2354": "Gait2354",
    "gait2392": "gait2392",
    "rajagopal": "Rajagopal",
    "run": "run",
    "shoulder": "shoulder",
}
TOOLS = {  # as rows are called: label, colour
    "supple": ("supple", "black"),
    "momentum, tuned": ("momentum, tuned", "C2"),
    "nimble": ("nimblephysics", "C4"),
    "mink, quick": ("mink, two steps", "C1"),
    "opensim": ("OpenSim", "C0"),
    "biorbd": ("biorbd, Kalman", "C3"),
}


def draw(found: dict[str, Any], folder: Path) -> None:
    """Write the pictures that there are numbers for."""
    import matplotlib

    matplotlib.use("Agg")
    if "clips" in found and "models" in found:
        times(found["clips"] + found["models"], folder / "markers_times.png")
    if "gaps" in found:
        growth(found["gaps"], folder / "markers_gaps.png")


def times(rows: list[dict[str, Any]], file: Path) -> None:
    """Milliseconds a frame: a column for each trial, a dot for each tool."""
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(8.0, 4.2), layout="constrained")
    for who, (label, colour) in TOOLS.items():
        x, y = [], []
        for k, name in enumerate(TRIALS):
            limits = not name.startswith("0")  # CMU clips are shown without
            line = [r["ms"] for r in rows if r["trial"] == name and r["who"] == who and r["limits"] == limits]
            if line and line[0] is not None and np.isfinite(line[0]):
                x.append(k)
                y.append(line[0])
        axis.plot(x, y, "o", color=colour, ms=8, label=label)
    axis.set(yscale="log", ylabel="ms a frame, one thread", xlim=(-0.5, len(TRIALS) + 1.6))
    axis.set_xticks(range(len(TRIALS)), list(TRIALS.values()), rotation=20)
    axis.grid(axis="y", alpha=0.3)
    axis.legend(frameon=False, loc="center right", fontsize=9)
    figure.savefig(file, dpi=110)


def growth(rows: list[dict[str, Any]], file: Path) -> None:
    """Error of all samples against the share of those missing."""
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    nothing = next(r for r in rows if r["case"] == "nothing")
    for kind, line in (("at random", "-"), ("in blocks", "--")):
        part = [(int(r["case"].split("%")[0]), r) for r in rows if r["case"].endswith(kind)]
        for method, colour in (("frame by frame", "C0"), ("whole clip", "C3")):
            y = [nothing[method]["rms"], *(r[method]["rms"] for _, r in part)]
            label = f"{method}, {kind}"
            axis.plot([0, *(share for share, _ in part)], y, line, color=colour, marker="o", ms=4, label=label)
    axis.set(xlabel="samples missing [%]", ylabel="RMS over all samples, hidden ones too [mm]", ylim=(0.0, None))
    axis.grid(alpha=0.3)
    axis.legend(frameon=False)
    figure.savefig(file, dpi=110)
