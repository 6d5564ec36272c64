"""The picture of `scaling`: time against degrees of freedom on two logarithmic axes, one column for each family of figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

TITLES = {
    "chain": "a chain of hinges, a pose and a point",
    "jack": "the jack with many arms, a point a hand",
    "grouped": "the same, spine and shoulders grouped, linear limits",
}
COLOURS = {
    "ActiveSet": "black",
    "ProjectedGradient": "C0",
    "Newton": "C3",
    "LevenbergMarquardt": "C2",
    "JacobianTranspose": "C7",
    "DampedLeastSquares": "C1",
    "PseudoInverse": "C5",
    "CyclicCoordinateDescent": "C9",
    "Fabrik": "C6",
    "value + gradient": "black",
    "linearisation": "C2",
    "Jacobian": "C1",
    "Hessian": "C3",
    "building: figure": "C4",
    "building: problem": "C8",
}


def label(name: str, line: dict[str, Any]) -> str:
    """A line's name and slope."""
    return name if line["from_100"] is None else f"{name}  {line['from_100']:.2f}"


def slope_marks(axis: Any, exponents: tuple[int, ...]) -> None:
    """Dotted lines of whole slopes through the lower left corner of what is drawn."""
    low, high = axis.get_xlim()
    bottom, top = axis.get_ylim()
    x = np.array([max(low, 100.0), high])
    for exponent in exponents:
        y = bottom * 2.0 * (x / x[0]) ** exponent
        axis.plot(x, y, color="0.6", lw=0.8, ls=":", zorder=0)
        if y[-1] < top:
            axis.annotate(f"n{'¹²³'[exponent - 1]}", (x[-1], y[-1]), fontsize=7, color="0.5", ha="right", va="bottom")
    axis.set(xlim=(low, high), ylim=(bottom, top))


def draw(found: dict[str, Any], file: Path) -> None:
    """Write the picture."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, len(found), figsize=(5.2 * len(found), 9.0), squeeze=False, layout="constrained")
    for column, (family, result) in zip(axes.T, found.items(), strict=True):
        for name, line in result["lines"].items():
            axis, colour = column[0 if "evaluations" in line else 1], COLOURS[name]
            wide = 2.2 if colour == "black" else 1.2
            axis.plot(line["sizes"], line["seconds"], color=colour, lw=wide, marker="o", ms=3, label=label(name, line))
        column[0].set(title=TITLES[family], ylabel="seconds for one iteration")
        column[1].set(ylabel="seconds for one evaluation, or to build", xlabel="degrees of freedom")
        for axis, exponents in zip(column, ((1, 2, 3), (1, 2)), strict=True):
            axis.set(xscale="log", yscale="log")
            slope_marks(axis, exponents)
            axis.grid(alpha=0.25)
            axis.legend(fontsize=7, frameon=False, loc="upper left")
    figure.savefig(file, dpi=110)
