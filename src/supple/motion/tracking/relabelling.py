"""Labels that were permuted for a while, put right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from supple.basics.checks import instance
from supple.figure.figure import Figure
from supple.motion.markers import Markers
from supple.motion.tracking.clip import Clip, clip_of, stretch
from supple.motion.tracking.outliers import Swap, put_right
from supple.motion.tracking.refitting import Refitting
from supple.motion.tracking.track import method_for
from supple.motion.tracking.verdict import sorted_out

ROUNDS = 3  # times that a trial is looked at; what one swap has hidden shows when it is put right


def relabelled(figure: Figure, markers: Markers) -> Markers:
    """The trial with markers that have each other's names given their own, in the frames in which they are swapped or permuted.

    What was changed is in its notes. Everything else stays as it was, and a trial in order is returned as it is.
    """
    instance(figure, Figure, "what relabelled() takes first")
    instance(markers, Markers, "what relabelled() puts right")
    for _ in range(ROUNDS):
        clip = clip_of(figure, markers)
        method = method_for(clip)
        start = np.clip(figure.rest, figure.lower, figure.upper)
        swaps = sorted_out(clip, method.fit(clip, start), Refitting(method, method, start)).swaps
        if not swaps:
            break
        for swap in swaps:
            markers = _mended(markers, clip, swap)
    return markers


def _mended(markers: Markers, clip: Clip, swap: Swap) -> Markers:
    """The trial with one permutation undone."""
    columns = [markers.names.index(name) for name in clip.names]
    names, positions = [clip.names[k] for k in swap.markers], markers.positions.copy()
    right = positions[:, np.array(columns)[put_right(len(columns), swap)]]
    positions[:, columns] = np.where(swap.frames[:, None, None], right, positions[:, columns])
    note = f"Labels put right: {', '.join(names)} {stretch(swap.frames, len(markers))}."
    return replace(markers, positions=positions, notes=(*markers.notes, note))
