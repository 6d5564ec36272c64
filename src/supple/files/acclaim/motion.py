"""AMC files in: for each frame its number, then a line for every bone with one value for each degree of freedom.

What the values mean stands in the ASF file, so the figure read from that is needed. Angles are degrees if the ASF file
says so, unless the line ``:DEGREES`` or ``:RADIANS`` says otherwise. The format names no rate: `rate` does.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from supple.basics.checks import instance, path_of, positive
from supple.errors import BadFile, BadValue
from supple.figure.figure import Figure
from supple.files.acclaim.skeleton import AsfSource, read_asf
from supple.files.bvh.text import Cursor, is_plain
from supple.files.lines import as_lines, read_lines
from supple.files.marker_trial import named
from supple.files.xml import LARGEST_NUMBER, shown
from supple.geometry.placements import Floats
from supple.motion.motion import Motion


def read_amc(
    path: str | Path,
    *,
    figure: Figure | None = None,
    asf: str | Path | None = None,
    rate: float = 120.0,
    unit: float | None = None,
    up: str | None = None,
) -> Motion:
    """The motion in an AMC file, of a `figure` that was read from an ASF file or of the one in the file `asf`."""
    if (figure is None) == (asf is None):
        raise BadValue("an AMC file holds no skeleton: say figure= or asf=, one of them")
    if figure is None:
        figure = read_asf(path_of(asf, "asf, the skeleton of an AMC file,"), unit=unit, up=up)
    return _read(read_lines(path), figure, rate)


def parse_amc(data: bytes, figure: Figure, file: str | None = None, *, rate: float = 120.0) -> Motion:
    """The motion in the bytes of an AMC file; `file` is what messages call it."""
    return _read(as_lines(data, file), figure, rate)


def _read(cursor: Cursor, figure: Figure, rate: float) -> Motion:
    rate = positive(rate, "the rate of an AMC file [1/s]")
    source = instance(figure, Figure, "the figure of an AMC file").source
    if not isinstance(source, AsfSource):
        raise BadValue(f"figure {figure.name!r} was not read from an ASF file, so an AMC file cannot move it")
    names = [name for _, channels in source.channels for name in channels]
    if set(names) != set(figure.coordinates):
        raise BadValue(f"figure {figure.name!r} has other coordinates than its ASF file: read that file again")
    in_degrees = _angles(cursor, source.in_degrees)
    numbers, table = _frames(cursor, source)
    angle = np.pi / 180.0 if in_degrees else 1.0
    table *= [source.unit if name.rsplit(".", 1)[-1].startswith("t") else angle for name in names]
    column = {name: k for k, name in enumerate(names)}
    try:
        return Motion(figure, table[:, [column[name] for name in figure.coordinates]], (numbers - numbers[0]) / rate)
    except BadValue as error:
        raise BadFile(str(error), file=cursor.file) from error


def _angles(cursor: Cursor, in_degrees: bool) -> bool:
    """Whether angles are degrees; the cursor ends on the first frame's number."""
    for row, line in enumerate(cursor.lines):
        text = line.strip().lower()
        if text.startswith(":"):
            in_degrees = text == ":degrees" or (in_degrees and text != ":radians")
        elif text and not text.startswith("#"):
            cursor.row = row
            return in_degrees
    cursor.refuse("there is no frame", len(cursor.lines))


def _frames(cursor: Cursor, source: AsfSource) -> tuple[Floats, Floats]:
    """The numbers of the frames and the values of all of them (frames, coordinates), bones in the order of the source."""
    first: dict[str, tuple[int, int]] = {}
    total = 0
    for bone, channels in source.channels:
        first[bone] = (total, total + len(channels))
        total += len(channels)
    numbers: list[int] = []
    frames: list[list[float]] = []
    left: set[str] = set()
    for row in range(cursor.row, len(cursor.lines)):
        words = cursor.lines[row].split()
        if not words or words[0].startswith("#"):
            continue
        cursor.row = row + 1
        if len(words) == 1 and words[0] not in first:
            _complete(cursor, numbers, left)
            numbers.append(cursor.count(words[0], "the number of a frame"))
            if len(numbers) > 1 and numbers[-1] <= numbers[-2]:
                cursor.refuse(f"frame {numbers[-1]} comes after frame {numbers[-2]}")
            frames.append([0.0] * total)
            left = set(first)
            continue
        if words[0] not in left:
            reason = "is there twice in one frame" if words[0] in first else "has no degree of freedom in the ASF file"
            cursor.refuse(f"bone {shown(words[0])} {reason}")
        left.discard(words[0])
        begin, end = first[words[0]]
        frames[-1][begin:end] = _values(cursor, words, end - begin)
    _complete(cursor, numbers, left)
    return np.array(numbers, dtype=np.float64), np.array(frames).reshape(len(frames), total)


def _complete(cursor: Cursor, numbers: list[int], left: set[str]) -> None:
    if left:
        cursor.refuse(f"frame {numbers[-1]} has no line for {named(sorted(left))}")


def _values(cursor: Cursor, words: list[str], count: int) -> list[float]:
    """The numbers of one line."""
    if len(words) != count + 1:
        cursor.refuse(f"bone {shown(words[0])} has {count} degrees of freedom; here are {len(words) - 1} numbers")
    try:
        values = [float(word) for word in words[1:]] if is_plain("".join(words[1:])) else []
    except ValueError:
        values = []
    if not values or max(map(abs, values)) > LARGEST_NUMBER or any(x != x for x in values):
        cursor.numbers(words[1:], f"a value of bone {shown(words[0])}")
    return values
