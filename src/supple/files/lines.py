"""Text files of numbers, line by line: decoding, blank lines, and tables whose every cell is a finite number."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from supple.errors import BadFile, BadValue
from supple.files.bvh.text import Cursor, is_plain
from supple.files.xml import read_bytes
from supple.geometry.placements import Floats

MOST_BYTES = 512 * 1024 * 1024
LONGEST_LINE = 4_000_000
UNEVEN = 0.25  # how far, in frames, a time may lie from an even grid


def read_lines(path: str | Path) -> Cursor:
    """The lines of a text file."""
    return as_lines(read_bytes(path, MOST_BYTES), str(path))


def as_lines(data: bytes, file: str | None = None) -> Cursor:
    """The lines of a text, in UTF-8 or else Latin-1, whatever ends them; a file with zero bytes is refused."""
    if b"\0" in data:
        raise BadFile("this is not a text file", file=file, line=data.count(b"\n", 0, data.index(b"\0")) + 1)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for k, line in enumerate(lines):
        if len(line) > LONGEST_LINE:
            raise BadFile(f"the line has more than {LONGEST_LINE} characters", file=file, line=k + 1)
    return Cursor(lines, file)


def cells(line: str) -> list[str]:
    """The cells of a line: between tabs, or between blanks where there is no tab."""
    return [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()


def table_of(rows: list[list[str]]) -> Floats | None:
    """Cells as numbers, all at once; None if a row is longer than another or a cell is not written as a number is."""
    try:
        if len({len(row) for row in rows}) <= 1 and all(is_plain("".join(row)) for row in rows):
            return np.array(rows, dtype=np.float64)
    except ValueError:
        pass
    return None


def even_step(times: Floats, format: str, known: float = 0.0) -> float:
    """The one time between frames [s] that a format can say; uneven times are refused. `known` if there is one frame."""
    if len(times) < 2:
        return known
    grid, since = np.arange(len(times)), times - times[0]
    for step in (known, since[1], since[-1] / grid[-1]):
        if np.abs(since - step * grid).max() <= 1e-9 * step:
            return float(step)
    if np.abs(since - step * grid).max() > UNEVEN * step:
        k = int(np.argmax(np.abs(since - step * grid)))
        raise BadValue(
            f"{format} holds evenly spaced frames only, but frame {k} is at {times[k]:.6g} s, not "
            f"{times[0] + step * k:.6g} s: resample first"
        )
    return float(step)
