"""Pictures of motions: the same moments of several of them, one row for each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from supple.errors import BadValue
from supple.motion.motion import Motion
from supple.view.picture import VIEW, check_picture, draw, save


def draw_frames(
    motions: Sequence[Motion],
    frames: Sequence[int] | None = None,
    *,
    path: str | Path,
    views: Sequence[Sequence[float]] = (VIEW,),
    dpi: float = 100.0,
) -> None:
    """Draw `frames` (five of them by default) of motions of equal length into one picture, a row for each view of each."""
    check_picture(path)
    if len({len(motion) for motion in motions}) != 1:
        raise BadValue("draw_frames takes motions with the same number of frames")
    count = len(motions[0])
    chosen = np.linspace(0, count - 1, 5).astype(int).tolist() if frames is None else list(frames)
    for frame in chosen:
        if not 0 <= frame < count:
            raise BadValue(f"the motions have frames 0 to {count - 1}, not {frame}")
    from matplotlib.figure import Figure as Sheet

    rows = [(view, motion) for view in views for motion in motions]
    sheet = Sheet(figsize=(2.4 * len(chosen), 2.8 * len(rows)), layout="constrained")
    axes = np.asarray(sheet.subplots(len(rows), len(chosen), squeeze=False))
    for line, (view, motion) in zip(axes, rows, strict=True):
        for ax, frame in zip(line, chosen, strict=True):
            draw(motion.figure, motion.posture(frame), ax=ax, view=view, dpi=dpi)
    for ax, frame in zip(axes[0], chosen, strict=True):
        ax.set_title(f"{motions[0].times[frame]:.2f} s", fontsize=9)
    save(sheet, Path(path), dpi)
