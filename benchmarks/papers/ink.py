"""One style for every figure of the papers: SVG and PNG side by side, legible at the width of a column.

It is imported first, and puts the folder above on the path, where experiments share their data with other benchmarks.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt

sys.path.append(str(Path(__file__).resolve().parents[1]))
plt.switch_backend("Agg")
COLOURS = ("#2b6cb0", "#c0392b", "#2f855a", "#8a5a00", "#6b46c1", "#4a5568", "#b83280", "#0f766e")
PALE, GREY = "#dce8f5", "#8a8f98"
plt.rcParams.update(
    {
        "font.size": 9, "axes.titlesize": 9.5, "axes.labelsize": 9, "legend.fontsize": 8, "xtick.labelsize": 8,
        "ytick.labelsize": 8, "axes.grid": True, "grid.color": "#e6e6e6", "axes.axisbelow": True,
        "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "svg.hashsalt": "supple",
        "axes.prop_cycle": plt.cycler(color=COLOURS),
    }
)  # fmt: skip


def sheet(rows: int = 1, columns: int = 1, height: float = 3.0, width: float = 7.2, **options: Any) -> tuple[Any, Any]:
    """A figure of panels, laid out so that nothing collides."""
    return plt.subplots(rows, columns, figsize=(width, height), layout="constrained", **options)


def kept(figure: Any, folder: Path, name: str, shaded: bool = False) -> str:
    """Write a figure as SVG and PNG; its name. Shaded bodies are pixels in either: of these there is only the PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    endings: dict[str, dict[str, Any]] = {".png": {"dpi": 150 if shaded else 120}}
    if not shaded:
        endings[".svg"] = {"metadata": {"Date": None}}
    for ending, more in endings.items():
        figure.savefig(folder / f"{name}{ending}", **more)
    plt.close(figure)
    return name


def boxes(axes: Any, data: list[Any], labels: list[str]) -> None:
    """Box plots, one row each, the first on top."""
    axes.boxplot(
        data, orientation="horizontal", widths=0.6, patch_artist=True,
        boxprops={"facecolor": PALE, "edgecolor": COLOURS[0]}, medianprops={"color": COLOURS[0], "linewidth": 2},
        whiskerprops={"color": COLOURS[0]}, capprops={"color": COLOURS[0]},
        flierprops={"marker": "+", "markeredgecolor": COLOURS[1], "markersize": 3, "alpha": 0.5},
    )  # fmt: skip
    axes.set_yticks(range(1, len(labels) + 1), labels)
    axes.set_ylim(len(labels) + 0.6, 0.4)
