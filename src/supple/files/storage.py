"""MOT and STO files in and out: a table of coordinates over time, as OpenSim writes and reads it.

A header ends with the line ``endheader``; then come the names of the columns, the first of which is ``time``, and the rows.
Angles are degrees where the header says ``inDegrees=yes``, or "Angles are in degrees." as older files do, else radians;
slides are metres. A coordinate is an angle if it turns anything; in models from OSIM files where OpenSim says so (see
`osim.coordinates`), and then all coordinates of the model are written, those that follow others too. A column may carry the
path of a state, ``/jointset/hip_r/hip_flexion_r/value``, or of older ones, ``hip_r/hip_flexion_r``; columns that the figure
does not have are left alone. Speeds (``…/speed``, ``…_u``) are no postures; a file that holds nothing else is refused. Where a
time is there again, as at the steps of an integrator, the last row of that time stays.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from supple.basics.checks import flag, instance
from supple.basics.writing import check_place, write_file
from supple.errors import BadFile, BadValue
from supple.figure.drives import Curve
from supple.figure.figure import Figure
from supple.files.bvh.text import Cursor
from supple.files.lines import as_lines, cells, read_lines, table_of
from supple.files.marker_trial import named
from supple.files.xml import LARGEST_NUMBER, shown
from supple.geometry.placements import Floats
from supple.motion.motion import Motion

ROWS_AT_ONCE = 1024
STATES = ("speed", "activation", "fiber_length", "force")  # the last words of columns that are no coordinates
DEGREES = np.pi / 180.0


def read_storage(path: str | Path, *, figure: Figure | None = None, partial: bool = False) -> Motion:
    """The motion of `figure` in a MOT or STO file; `partial` leaves coordinates that the file lacks at rest."""
    if figure is None:
        raise BadValue("a MOT or STO file holds coordinates, not a figure: say figure=")
    return _read(read_lines(path), figure, partial)


def parse_storage(data: bytes, figure: Figure, file: str | None = None, *, partial: bool = False) -> Motion:
    """The motion of a figure in the bytes of a MOT or STO file; `file` is what messages call it."""
    return _read(as_lines(data, file), figure, partial)


def _read(cursor: Cursor, figure: Figure, partial: bool) -> Motion:
    instance(figure, Figure, "the figure of a MOT or STO file")
    flag(partial, "partial, whether coordinates may be missing,")
    in_degrees = _header(cursor)
    names = _names(cursor)
    table = _table(cursor, len(names))
    columns = {_coordinate(name): k for k, name in reversed(list(enumerate(names))) if k}
    known = [name for name in figure.coordinates if name in columns]
    helpers = getattr(figure.source, "helpers", ())
    absent = [name for name in figure.coordinates if name not in columns and name not in helpers]
    if not known and any(_is_speed(name) for name in names):
        raise BadFile(
            "the file holds speeds or accelerations, no postures: choose the file of coordinates", file=cursor.file
        )
    if absent and not (partial and known):
        raise BadFile(
            f"there is no column for {named(absent)} of figure {figure.name!r}"
            + ("" if not known else ": partial=True leaves such coordinates at rest"),
            file=cursor.file,
        )
    table, angles = _last_of_each_time(table), _angles(figure)
    q = np.tile(figure.rest, (len(table), 1))
    for k, name in enumerate(figure.coordinates):
        if name in columns:
            q[:, k] = table[:, columns[name]] * (DEGREES if in_degrees and angles[k] else 1.0)
    try:
        return Motion(figure, q, table[:, 0])
    except BadValue as error:
        raise BadFile(str(error), file=cursor.file) from error


def turning(figure: Figure) -> np.ndarray:
    """Whether each coordinate is an angle: it turns a joint, itself or through a drive."""
    names: set[str] = set()
    for joint in figure.joints.values():
        if any(joint.turn):
            names.update([joint.name] if joint.drive is None else [name for name, _ in joint.drive.terms])
    return np.array([name in names for name in figure.coordinates], dtype=bool)


def _angles(figure: Figure) -> np.ndarray:
    """Whether each coordinate is in degrees in files that say so."""
    said = {column.name: column.is_angle for column in getattr(figure.source, "columns", ())}
    return np.array([said.get(n, t) for n, t in zip(figure.coordinates, turning(figure), strict=True)], dtype=bool)


def _coordinate(column: str) -> str:
    """The name of the coordinate whose value a column holds; other states keep their paths."""
    if column.endswith("/value"):
        return column.removesuffix("/value").rsplit("/", 1)[-1]
    joint, _, name = column.rpartition("/")  # as files of OpenSim 3.3 have it
    return name if joint and "/" not in joint and name not in STATES else column


def _is_speed(column: str) -> bool:
    """Whether a column holds a speed or an acceleration by its name."""
    return column.endswith(("/speed", "_u", "_dudt", "_vel", "_acc", "/accel"))


def _last_of_each_time(table: Floats) -> Floats:
    """The rows but for those after which the same time comes again."""
    return table[np.append(np.diff(table[:, 0]) != 0.0, True)]


def _header(cursor: Cursor) -> bool:
    """Whether angles are degrees; the cursor ends below the header."""
    in_degrees = False
    for row, line in enumerate(cursor.lines[:1000]):
        text = "".join(line.split()).lower()
        if text == "endheader":
            cursor.row = row + 1
            return in_degrees
        if text.startswith("indegrees="):
            in_degrees = text in ("indegrees=yes", "indegrees=true", "indegrees=1")
        elif text.startswith("anglesareindegrees"):
            in_degrees = True
        elif text.startswith("datatype=") and text != "datatype=double":
            cursor.refuse(f"only plain numbers can be coordinates, not {shown(line.strip())}", row + 1)
    cursor.refuse("a MOT or STO file has a line 'endheader'; there is none", 1)


def _names(cursor: Cursor) -> list[str]:
    while cursor.row < len(cursor.lines) and not cursor.lines[cursor.row].strip():
        cursor.row += 1
    names = cells(cursor.lines[cursor.row].strip()) if cursor.row < len(cursor.lines) else [""]
    cursor.row = min(cursor.row + 1, len(cursor.lines))
    if names[0].lower() != "time":
        cursor.refuse(f"the first column must be called time, not {shown(names[0])}")
    return names


def _table(cursor: Cursor, columns: int) -> Floats:
    rows = [k for k in range(cursor.row, len(cursor.lines)) if cursor.lines[k].strip()]
    if not rows:
        cursor.refuse("there is no row of numbers under the names", len(cursor.lines))
    parts = []
    for k in range(0, len(rows), ROWS_AT_ONCE):
        words = [cursor.lines[row].split() for row in rows[k : k + ROWS_AT_ONCE]]
        part = table_of(words)
        if part is None or part.shape[1] != columns or not (np.abs(part) <= LARGEST_NUMBER).all():
            part = np.array([_slowly(cursor, row, columns) for row in rows[k : k + ROWS_AT_ONCE]])
        parts.append(part)
    return np.vstack(parts)


def _slowly(cursor: Cursor, row: int, columns: int) -> Floats:
    """One row, with a complaint about what is wrong with it."""
    words = cursor.lines[row].split()
    if len(words) != columns:
        cursor.refuse(f"a row has {columns} numbers, one for each column; here are {len(words)}", row + 1)
    cursor.row = row + 1
    return cursor.numbers(words, "a value")


def write_storage(motion: Motion, path: str | Path) -> None:
    """Write the coordinates of a motion: degrees and metres."""
    check_place(path)
    write_file(path, format_storage(motion))


def format_storage(motion: Motion) -> str:
    """The text of the MOT or STO file that holds a motion."""
    figure = motion.figure
    for name in figure.coordinates:
        if not name.isprintable() or not name.strip() or name != name.strip():
            raise BadValue(f"MOT cannot hold the name {name!r}: rename the joint without tabs and outer blanks")
    names, values = _written(motion)
    head = [
        "Coordinates",
        "version=1",
        f"nRows={len(motion)}",
        f"nColumns={len(names) + 1}",
        "inDegrees=yes",
        "",
        "Units are S.I. units (second, meters, Newtons, ...)",
        "Angles are in degrees.",
        "",
        "endheader",
        "\t".join(["time", *names]),
    ]
    table = np.column_stack([motion.times, values]).tolist()
    return "\n".join([*head, *("\t".join(f"{x:.15g}" for x in row) for row in table)]) + "\n"


def _written(motion: Motion) -> tuple[list[str], Floats]:
    """The names and values of the columns: of the figure, or of the OSIM file that it came from."""
    figure = motion.figure
    columns = getattr(figure.source, "columns", ())
    values = dict(zip(figure.coordinates, motion.q.T, strict=True))
    if {c.name for c in columns if c.value is None} != set(figure.coordinates) - set(
        getattr(figure.source, "helpers", ())
    ):
        return list(figure.coordinates), np.where(turning(figure), motion.q / DEGREES, motion.q)
    out = []
    for column in columns:
        if column.value is None:
            value = values[column.name]
        elif isinstance(column.value, float):
            value = np.full(len(motion), column.value)
        else:
            value = column.value.offset + sum(_along(curve, values[name]) for name, curve in column.value.terms)
        out.append(value / DEGREES if column.is_angle else value)
    return [column.name for column in columns], np.column_stack(out) if out else np.empty((len(motion), 0))


def _along(curve: Curve, x: Floats) -> Floats:
    """A curve at many points."""
    rows = curve.pieces()
    piece = rows[np.searchsorted(rows[1:, 0], x, side="right")]
    t, value = x - piece[:, 0], np.zeros(len(x))
    for c in piece[:, :0:-1].T:
        value = value * t + c
    return value
