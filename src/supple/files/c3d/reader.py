"""C3D files in: the markers of a trial as cameras saw them; what else there is, is kept in their source (see `extras`).

A frame is four numbers for each trajectory, x, y, z and one more whose sign tells whether the sample was taken
(negative: not), and then the analog samples of that frame. Numbers are reals where SCALE is negative, else integers to be
multiplied by SCALE. The vertical axis is what POINT:Y_SCREEN names; without it z is up, as most laboratories have it.
The first frame is at time 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from supple.files.c3d.bytes import BLOCK, C3dBytes, as_floats, open_c3d
from supple.files.c3d.extras import C3dSource, read_analog, read_events, read_kept
from supple.files.marker_trial import Trial, Wishes, finished, named, unit_of
from supple.files.xml import LARGEST_NUMBER, read_bytes, shown
from supple.geometry.placements import Floats
from supple.motion.markers import Markers

MOST_BYTES = 512 * 1024 * 1024
FULL = 65535  # the most frames that 16 bits can say, so "this many or more"
NO_POINTS = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS")  # parameters that list trajectories that are no points


def read_c3d(path: str | Path, wishes: Wishes) -> Markers:
    """The markers in a C3D file."""
    return parse_c3d(read_bytes(path, MOST_BYTES), wishes, str(path))


def parse_c3d(data: bytes, wishes: Wishes, file: str | None = None) -> Markers:
    """The markers in the bytes of a C3D file; `file` is what messages call it."""
    c3d = open_c3d(data, file)
    notes: list[str] = []
    layout = _layout(c3d, notes)
    points = _points(c3d, layout)
    rate = _rate(c3d, wishes)
    labels = _labels(c3d, layout.points)
    unit = unit_of(c3d.text("POINT", "UNITS"), wishes, notes, file)
    up = wishes.up or _up(c3d, notes)
    labels, points = _without_quantities(c3d, labels, points, notes)
    times = np.arange(layout.frames) / rate
    if not any(_labels(c3d, layout.points)):
        notes.append(f"The file names none of its {len(labels)} trajectories: they are called by their numbers.")
        labels = [f"point {k + 1}" for k in range(len(labels))]
    markers = finished(Trial(file, "c3d", labels, points, times, unit, up, notes), wishes)
    raw = np.frombuffer(c3d.data, np.uint8, layout.frames * layout.row, layout.start).reshape(layout.frames, layout.row)
    analog = read_analog(c3d, raw, layout.points, layout.scale < 0.0, rate, more := [])
    extras = analog, read_events(c3d, layout.first, rate), read_kept(c3d, more)
    if not any(extras):
        return replace(markers, notes=(*markers.notes, *more))
    if analog is not None:
        more.append(f"{len(analog.names)} analog channels at {analog.rate:g} Hz are kept in the source.")
    if extras[1]:
        more.append(f"{len(extras[1])} events are kept in the source.")
    return replace(markers, source=C3dSource("c3d", unit, up, *extras), notes=(*markers.notes, *more))


@dataclass(frozen=True)
class _Layout:
    """Where the frames are, and what one holds."""

    start: int
    frames: int
    points: int
    row: int  # bytes of a frame
    scale: float  # negative: reals
    first: int  # the number of the first frame in the whole recording


def _layout(c3d: C3dBytes, notes: list[str]) -> _Layout:
    head = c3d.integers(0, 10).astype(int)
    points, analog = int(c3d.number("POINT", "USED") or head[1]), int(head[2])
    if points != head[1]:
        notes.append(f"The header says {head[1]} trajectories, the parameters {points}: the parameters are believed.")
    scale = c3d.number("POINT", "SCALE") or float(c3d.reals(12, 1)[0])
    if not 0.0 < abs(scale) <= LARGEST_NUMBER:
        c3d.refuse(f"the scale of the coordinates is {scale:g}")
    row = (4 * points + analog) * (4 if scale < 0.0 else 2)
    start = (int(c3d.number("POINT", "DATA_START") or head[8]) - 1) * BLOCK
    if start < BLOCK or start > len(c3d.data):
        c3d.refuse("the frames begin outside the file")
    if points < 1:
        c3d.refuse("the file holds no markers")
    room = (len(c3d.data) - start) // row
    return _Layout(start, _frames(c3d, head, room, notes), points, row, scale, _first(c3d, head))


def _first(c3d: C3dBytes, head: np.ndarray) -> int:
    """The number of the first frame."""
    said = c3d.numbers("TRIAL", "ACTUAL_START_FIELD")
    return max(1, int(said @ (1, 65536)) if len(said) == 2 else int(head[3]))


def _frames(c3d: C3dBytes, head: np.ndarray, room: int, notes: list[str]) -> int:
    """How many frames there are: the greatest number that the file claims and has room for."""
    first, last = (c3d.numbers("TRIAL", f"ACTUAL_{end}_FIELD") for end in ("START", "END"))
    claims = [
        head[4] - head[3] + 1,
        int(c3d.number("POINT", "FRAMES") or 0),
        int(c3d.number("POINT", "LONG_FRAMES") or 0),
    ]
    if len(first) == len(last) == 2:
        claims.append(int((last - first) @ (1, 65536)) + 1)
    said = max(claims)
    if room == 0 or said < 1:
        c3d.refuse("the file holds no frames")
    fitting = [claim for claim in claims if 0 < claim <= room]
    if not fitting or (said == FULL < room):
        notes.append(f"The file says that it holds {said} frames; it holds {room}.")
        return room
    return max(fitting)


def _points(c3d: C3dBytes, layout: _Layout) -> Floats:
    """Coordinates (frames, points, 3), NaN where the fourth number is negative."""
    raw = np.frombuffer(c3d.data, np.uint8, layout.frames * layout.row, layout.start).reshape(layout.frames, layout.row)
    if layout.scale < 0.0:
        values = as_floats(raw[:, : 16 * layout.points], c3d.processor)
    else:
        order = ">" if c3d.processor == "mips" else "<"
        values = np.ascontiguousarray(raw[:, : 8 * layout.points]).view(f"{order}i2").astype(np.float64)
    values = values.reshape(layout.frames, layout.points, 4)
    points = values[:, :, :3].copy()
    if layout.scale > 0.0:
        points *= layout.scale
    points[values[:, :, 3] < 0.0] = np.nan
    return points


def _rate(c3d: C3dBytes, wishes: Wishes) -> float:
    rate = wishes.rate or c3d.number("POINT", "RATE") or float(c3d.reals(20, 1)[0])
    if not 1e-6 <= rate <= LARGEST_NUMBER:
        c3d.refuse(f"a rate of {rate:g} frames a second cannot be: say rate=")
    return rate


def _up(c3d: C3dBytes, notes: list[str]) -> str:
    said = c3d.text("POINT", "Y_SCREEN")
    if said.lower().removeprefix("+") in ("x", "y", "z"):
        return said.lower()[-1]
    what = (
        f"The file's vertical axis is {shown(said)}, which is not understood"
        if said
        else "The file names no vertical axis"
    )
    notes.append(f"{what}: z up is assumed. Say up= if that is wrong.")
    return "z"


def _many(c3d: C3dBytes, name: str) -> list[str]:
    """The texts of NAME, NAME2, NAME3, …"""
    out, k = c3d.texts("POINT", name), 2
    while ("POINT", f"{name}{k}") in c3d.parameters:
        out += c3d.texts("POINT", f"{name}{k}")
        k += 1
    return out


def _labels(c3d: C3dBytes, count: int) -> list[str]:
    """One label for each trajectory, blank where there is none."""
    return [*_many(c3d, "LABELS"), *[""] * count][:count]


def _without_quantities(c3d: C3dBytes, labels: list[str], points: Floats, notes: list[str]) -> tuple[list[str], Floats]:
    """Leave out trajectories that are angles, forces, moments or powers."""
    others = {label for name in NO_POINTS for label in _many(c3d, name)} - {""}
    keep = [k for k, label in enumerate(labels) if label not in others]
    if len(keep) == len(labels):
        return labels, points
    gone = [label for label in labels if label in others]
    notes.append(
        f"{len(gone)} trajectories are angles, forces, moments or powers, no points: left out ({named(gone)})."
    )
    return [labels[k] for k in keep], points[:, keep]
