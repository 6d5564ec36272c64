"""TRC files in and out: a table of marker coordinates under a header that is often wrong.

Believed are the names of the markers, which stand in every third column, and the rows; where the header contradicts
them, a note says so. A cell that is blank or some spelling of NaN is a missing sample. A row that ends early misses the
rest. The format does not say which axis is up: y is, unless the caller knows better. Times are those of the Time column;
they come from DataRate if that column does not rise, or is that rate's rounded to a few digits.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from supple.basics.writing import check_place, write_file
from supple.errors import BadValue
from supple.files.bvh.reader import FILE_AXES
from supple.files.bvh.text import Cursor, is_number
from supple.files.lines import as_lines, cells, read_lines, table_of
from supple.files.marker_trial import MOST_MARKERS, UNITS, Trial, Wishes, finished, unit_of
from supple.files.xml import shown
from supple.geometry.placements import Floats
from supple.motion.markers import Markers

ROWS_AT_ONCE = 1024
ROUNDED_TO = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # s
NO_NUMBERS = frozenset(
    ("", "nan", "+nan", "-nan", "nan(ind)", "-nan(ind)", "1.#qnan", "-1.#qnan", "1.#ind", "-1.#ind", "-1.#j")
)
NUMBER = re.compile(r"[-+]?[.\d]")


def read_trc(path: str | Path, wishes: Wishes) -> Markers:
    """The markers in a TRC file."""
    return _read(read_lines(path), wishes)


def parse_trc(data: bytes, wishes: Wishes, file: str | None = None) -> Markers:
    """The markers in the bytes of a TRC file; `file` is what messages call it."""
    return _read(as_lines(data, file), wishes)


def _read(cursor: Cursor, wishes: Wishes) -> Markers:
    notes: list[str] = []
    header = _header(cursor)
    labels = _labels(cursor)
    _close_up(cursor, len(labels), notes)
    labels += [""] * _nameless(cursor, 3 * len(labels) + 2, notes)
    table = _table(cursor, 3 * len(labels) + 2, notes)
    for what, key, count in (("frames", "numframes", len(table)), ("markers", "nummarkers", len(labels))):
        said = header.get(key, "")
        if said.isascii() and said.isdigit() and int(said[:12]) != count:
            notes.append(f"The header says {said[:12]} {what}; there are {count}.")
    unit = unit_of(header.get("units", ""), wishes, notes, cursor.file)
    if wishes.up is None:
        notes.append("TRC names no vertical axis: y up is assumed. Say up= if that is wrong.")
    times = _times(cursor, table, header.get("datarate", ""), wishes, notes)
    points = table[:, 2:].reshape(len(table), len(labels), 3)
    return finished(Trial(cursor.file, "trc", labels, points, times, unit, "y", notes=notes), wishes)


def _header(cursor: Cursor) -> dict[str, str]:
    """What the lines above the names say, by lower-case keywords; the cursor ends on the line of names."""
    header: dict[str, str] = {}
    for row, line in enumerate(cursor.lines[:100]):
        words = line.lower().split()
        if words and words[0] in ("frame#", "frame"):
            cursor.row = row
            return header
        if words and words[0] == "datarate":
            values = cursor.lines[row + 1].split() if row + 1 < len(cursor.lines) else []
            header = dict(zip(words, values, strict=False))
    cursor.refuse("a TRC file has a line of names that begins with Frame#; there is none", 1)


def _labels(cursor: Cursor) -> list[str]:
    """The names of the markers, blank where a column has none; the cursor ends on the first row of numbers."""
    fields = cells(cursor.lines[cursor.row])[2:]
    names = [name for name in fields if name]
    if [name for name in fields[::3] if name] == names:
        names = fields[::3]
    while names and not names[-1]:
        names.pop()
    line, cursor.row = cursor.row + 1, cursor.row + 1
    if not names or len(names) > MOST_MARKERS:
        cursor.refuse(f"the line of names holds {len(names)} markers: from 1 to {MOST_MARKERS} can be read", line)
    while cursor.row < len(cursor.lines) and not NUMBER.match(cursor.lines[cursor.row].lstrip()):
        words = cursor.lines[cursor.row].split()
        if words and words[0].lower() == "x1" and len(words) <= 3 * MOST_MARKERS:
            names += [""] * (len(words) // 3 - len(names))
        cursor.row += 1
    return names


def _close_up(cursor: Cursor, count: int, notes: list[str]) -> None:
    """Take out the blank columns of files that keep one behind every marker."""
    rows = [k for k in range(cursor.row, len(cursor.lines)) if cursor.lines[k].strip()]
    if count < 2 or not rows or len(cells(cursor.lines[rows[0]])) < 4 * count + 1:
        return
    fields = [cells(cursor.lines[k]) for k in rows]
    if any(len(words) < 4 * count + 1 or any(words[5 : 4 * count + 1 : 4]) for words in fields):
        return
    for k, words in zip(rows, fields, strict=True):
        kept = [word for j, word in enumerate(words) if j < 2 or (j - 2) % 4 != 3]
        cursor.lines[k] = "\t".join(kept)
    notes.append("A blank column follows every marker: taken out.")


def _nameless(cursor: Cursor, columns: int, notes: list[str]) -> int:
    """How many markers stand in the rows behind those that have names, as Cortex writes what it could not label."""
    wide = [len("\t".join(cells(line)).rstrip("\t").split("\t")) for line in cursor.lines[cursor.row :] if line.strip()]
    more = [-(-(width - columns) // 3) for width in wide if width > columns]
    if len(more) < 2 or max(more) > MOST_MARKERS or any((width - columns) % 3 for width in wide if width > columns):
        return 0
    notes.append(f"{max(more)} trajectories stand behind those that have names.")
    return max(more)


def _table(cursor: Cursor, columns: int, notes: list[str]) -> Floats:
    """All rows of numbers, NaN in blank cells."""
    rows = [k for k in range(cursor.row, len(cursor.lines)) if cursor.lines[k].strip()]
    if not rows:
        cursor.refuse("there is no row of numbers under the names", len(cursor.lines))
    short: list[int] = []
    parts = []
    for k in range(0, len(rows), ROWS_AT_ONCE):
        words = [_row(cursor, row, columns, short) for row in rows[k : k + ROWS_AT_ONCE]]
        part = table_of(words)
        if part is None:
            part = np.array([_slowly(cursor, row, line) for row, line in zip(rows[k:], words, strict=False)])
        parts.append(part)
    if short:
        notes.append(f"{len(short)} rows end early, the first in line {short[0]}: the rest is taken as missing.")
    return np.vstack(parts)


def _row(cursor: Cursor, row: int, columns: int, short: list[int]) -> list[str]:
    """The cells of a line as words that Python reads, missing ones added."""
    words = cells(cursor.lines[row])
    while len(words) > columns and not words[-1]:
        words.pop()
    if len(words) > columns:
        cursor.refuse(
            f"a row has {columns} cells: frame, time and three for each marker; here are {len(words)}", row + 1
        )
    if len(words) < columns - 3:  # editors cut off blank cells at the end, so one marker may be missing
        short.append(row + 1)
    words += [""] * (columns - len(words))
    return ["nan" if word.lower() in NO_NUMBERS else word for word in words]


def _slowly(cursor: Cursor, row: int, words: list[str]) -> list[float]:
    """One row, with a complaint about the first cell that is no number."""
    for word in words:
        if not (is_number(word) or word == "nan" or word.lower().lstrip("+-") in ("inf", "infinity")):
            try:
                huge = word.isascii() and "_" not in word and bool(float(word))
            except ValueError:
                huge = False
            if not huge:
                cursor.refuse(f"a coordinate must be a number or blank, not {shown(word)}", row + 1)
    return [float(word) for word in words]


def _times(cursor: Cursor, table: Floats, said: str, wishes: Wishes, notes: list[str]) -> Floats:
    times = table[:, 1]
    if wishes.rate is not None:
        return np.arange(len(table)) / wishes.rate
    rate = float(said) if is_number(said) and float(said) >= 1e-6 else None
    if (np.abs(times) <= 1e9).all() and (np.diff(times) > 0.0).all():
        return times if rate is None else _unrounded(times, rate, notes)
    if rate is None:
        cursor.refuse("the times do not rise, and there is no DataRate to replace them: say rate=")
    notes.append(f"The times do not rise: replaced by frames at {rate:g} Hz.")
    return np.arange(len(table)) / rate


def _unrounded(times: Floats, rate: float, notes: list[str]) -> Floats:
    """Times on the even grid of the rate, if that is what they are but for having been rounded; else as they are."""
    grid = np.arange(len(times)) / rate
    off = times - grid
    start, error = (off.max() + off.min()) / 2.0, (off.max() - off.min()) / 2.0
    for digit in ROUNDED_TO:
        if np.abs(times / digit - np.round(times / digit)).max() < 1e-3 and 1e-9 < error <= 0.501 * digit:
            whole = np.round(start * rate) / rate  # as a rule the first frame is on the grid that begins at 0
            notes.append(f"Times were rounded to {digit:g} s: replaced by frames at {rate:g} Hz.")
            return grid + (whole if abs(whole - start) <= digit else start)
    return times


def write_trc(markers: Markers, path: str | Path) -> None:
    """Write markers: in unit and axes of the file they came from, else in millimetres with y up."""
    check_place(path)
    write_file(path, format_trc(markers))


def format_trc(markers: Markers) -> str:
    """The text of the TRC file that holds markers; what was not seen stays blank."""
    if not len(markers) or not 0 < len(markers.names) <= MOST_MARKERS:
        raise BadValue(f"a TRC file needs a frame and from 1 to {MOST_MARKERS} markers")
    for name in markers.names:
        if not name.isprintable() or name != name.strip() or not name:
            raise BadValue(f"TRC cannot hold the name {name!r}: rename the marker without tabs and outer blanks")
    source = markers.source
    unit, up = (source.unit, source.up) if source is not None and source.format == "trc" else (UNITS["mm"], "y")
    word = next((word for word, metres in UNITS.items() if metres == unit), "mm")
    points = (markers.positions @ FILE_AXES[up] / UNITS[word]).reshape(len(markers), -1)
    count, rate = len(markers), f"{markers.rate if len(markers) > 1 else 1.0:.15g}"
    axes = [f"{axis}{k + 1}" for k in range(len(markers.names)) for axis in "XYZ"]
    head = [
        "PathFileType\t4\t(X/Y/Z)\tmarkers.trc",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        "\t".join([rate, rate, str(count), str(len(markers.names)), word, rate, "1", str(count)]),
        "\t".join(["Frame#", "Time", *(cell for name in markers.names for cell in (name, "", ""))]).rstrip("\t"),
        "\t".join(["", "", *axes]),
        "",
    ]
    rows = [
        "\t".join([str(k + 1), f"{time:.15g}", *("" if x != x else f"{x:.15g}" for x in row)])
        for k, (time, row) in enumerate(zip(markers.times.tolist(), points.tolist(), strict=True))
    ]
    return "\n".join([*head, *rows]) + "\n"
