"""The grammar of BVH files: lines in, nodes of the tree and a table of numbers out; units and axes come later.

Files of many programs are read: braces where they like, blank lines, any case of the keywords, names with blanks,
several roots. What is wrong is a `BadFile` that names the line. Nothing here calls itself, however deep the tree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from supple.errors import BadFile
from supple.files.xml import LARGEST_NUMBER
from supple.geometry.placements import Floats

MOST_BYTES = 512 * 1024 * 1024
MOST_JOINTS = 10_000
MOST_DEPTH = 500
ROWS_AT_ONCE = 1024  # frames turned into numbers in one go

STATEMENTS = ("OFFSET", "CHANNELS", "JOINT", "END")
CHANNEL = re.compile(r"([xyz])(position|rotation)", re.IGNORECASE)


@dataclass
class Node:
    """A ROOT, JOINT or End Site while it is being read."""

    name: str
    label: str
    line: int
    parent: str | None
    is_end: bool
    offset: Floats | None = None
    channels: tuple[str, ...] = ()
    seen: set[str] = field(default_factory=set)  # statements that may occur once; how many end sites

    @property
    def slides_first(self) -> tuple[str, ...]:
        """The channels with positions before rotations, each kind in its order."""
        return tuple(sorted(self.channels, key=lambda code: not code.startswith("t")))


class Cursor:
    """Where the reader stands in the lines of a file."""

    def __init__(self, lines: list[str], file: str | None) -> None:
        self.lines, self.file = lines, file
        self.row = 0  # of the next line
        self.words: list[str] = []  # left on the current line, last one first

    def refuse(self, message: str, line: int | None = None) -> NoReturn:
        """Complain about the current line, or about another one."""
        raise BadFile(message, file=self.file, line=line or max(1, self.row))

    def word(self) -> str:
        """The next word or brace; empty at the end of the file."""
        while not self.words:
            if self.row == len(self.lines):
                return ""
            line = self.lines[self.row]
            self.row += 1
            if "\0" in line:
                self.refuse("this is not a text file")
            self.words = line.replace("{", " { ").replace("}", " } ").split()[::-1]
        return self.words.pop()

    def phrase(self, stop: tuple[str, ...] = ()) -> list[str]:
        """The words that remain on this line, up to a brace or one of the keywords `stop`."""
        words = []
        while self.words and self.words[-1] not in "{}" and self.words[-1].upper() not in stop:
            words.append(self.words.pop())
        return words

    def numbers(self, words: list[str], what: str) -> Floats:
        """The words as finite numbers."""
        for word in words:
            if not is_number(word):
                self.refuse(f"{what} must be a finite number of at most {LARGEST_NUMBER:g}, not {_shown(word)}")
        return np.array([float(word) for word in words])

    def count(self, word: str, what: str) -> int:
        """The word as a whole number from zero."""
        if not (word.isascii() and word.isdigit() and len(word) <= 12):
            self.refuse(f"{what} must be a whole number, not {_shown(word)}")
        return int(word)


def is_plain(text: str) -> bool:
    """Whether the text is free of what Python or NumPy would read as part of a number and others would not."""
    return text.isascii() and "_" not in text and "\0" not in text


def is_number(word: str) -> bool:
    """Whether the word is a finite number of a sensible size."""
    try:
        return is_plain(word) and abs(float(word)) <= LARGEST_NUMBER
    except ValueError:
        return False


def _shown(word: str) -> str:
    return repr(word if len(word) <= 40 else word[:37] + "…")


def read_hierarchy(cursor: Cursor) -> list[Node]:
    """All nodes of the tree in the order of the file, which is depth first."""
    if (word := cursor.word()).upper() != "HIERARCHY":
        cursor.refuse(f"a BVH file begins with HIERARCHY, not {_shown(word)}")
    nodes: list[Node] = []
    stack: list[Node] = []
    taken: set[str] = set()
    while True:
        word = cursor.word()
        key, top = word.upper(), stack[-1] if stack else None
        if (key == "ROOT" and top is None) or (key in ("JOINT", "END") and top is not None and not top.is_end):
            stack.append(_opened(cursor, key, top, taken))
            nodes.append(stack[-1])
            if len(nodes) > MOST_JOINTS or len(stack) > MOST_DEPTH:
                cursor.refuse(f"more than {MOST_JOINTS} joints, or nested more than {MOST_DEPTH} deep")
        elif key == "OFFSET" and top is not None:
            _read_offset(cursor, top)
        elif key == "CHANNELS" and top is not None and not top.is_end:
            _read_channels(cursor, top)
        elif key == "}" and top is not None:
            if top.offset is None:
                cursor.refuse(f"{top.label} has no OFFSET")
            stack.pop()
        elif key == "MOTION" and nodes and top is None:
            return nodes
        elif top is not None:
            _refuse_inside(cursor, word, top)
        else:
            cursor.refuse(f"ROOT or MOTION must come here, not {_shown(word) if word else 'the end of the file'}")


def _refuse_inside(cursor: Cursor, word: str, top: Node) -> NoReturn:
    if not word or word.upper() == "MOTION":
        cursor.refuse(f"{top.label} of line {top.line} is still open: a closing brace is missing")
    allowed = "OFFSET" if top.is_end else "OFFSET, CHANNELS, JOINT, End Site"
    cursor.refuse(f"{_shown(word)} cannot stand in {top.label}; only {allowed} or a closing brace")


def _opened(cursor: Cursor, key: str, top: Node | None, taken: set[str]) -> Node:
    """A new node, past its opening brace."""
    line, words = cursor.row, cursor.phrase()
    if key == "END" and top is not None:
        if [word.upper() for word in words] != ["SITE"]:
            cursor.refuse("'End' must be followed by 'Site'")
        count = sum(statement.startswith("end") for statement in top.seen) + 1
        top.seen.add(f"end{count}")
        name, label = f"{top.name}.end{count if count > 1 else ''}", f"the end site of {top.name!r}"
    else:
        name = " ".join(words)
        label = f"{key} {_shown(name)}"
    if not name:
        cursor.refuse(f"{key} needs a name")
    if name in taken:
        cursor.refuse(f"the name {_shown(name)} is there twice: every joint and end site needs its own")
    taken.add(name)
    if (word := cursor.word()) != "{":
        cursor.refuse(f"an opening brace must follow {label}, not {_shown(word)}")
    return Node(name, label, line, top.name if top else None, key == "END")


def _read_offset(cursor: Cursor, node: Node) -> None:
    words = cursor.phrase(STATEMENTS)
    if node.offset is not None:
        cursor.refuse(f"{node.label} has two OFFSETs")
    if len(words) != 3:
        cursor.refuse(f"the OFFSET of {node.label} must be three numbers, not {len(words)}")
    node.offset = cursor.numbers(words, f"the OFFSET of {node.label}")


def _read_channels(cursor: Cursor, node: Node) -> None:
    words = cursor.phrase(STATEMENTS)
    if "channels" in node.seen:
        cursor.refuse(f"{node.label} has two lines of CHANNELS")
    node.seen.add("channels")
    count = cursor.count(words[0] if words else "", f"the number of CHANNELS of {node.label}")
    if count != len(words) - 1:
        cursor.refuse(f"{node.label} announces {count} CHANNELS and names {len(words) - 1}")
    codes: list[str] = []
    for word in words[1:]:
        match = CHANNEL.fullmatch(word)
        if match is None:
            cursor.refuse(f"a channel of {node.label} is Xposition, Yrotation or the like, not {_shown(word)}")
        codes.append(("t" if match[2].lower() == "position" else "") + match[1].lower())
        if codes[-1] in codes[:-1]:
            cursor.refuse(f"{node.label} has the channel {word} twice")
    node.channels = tuple(codes)


def read_header(cursor: Cursor) -> tuple[int, float]:
    """The number of frames and the time of one frame [s]."""
    if cursor.words:
        cursor.refuse("MOTION must stand alone on its line")
    values = []
    for title, pattern in (("Frames: N", r"frames\s*:\s*(\S+)"), ("Frame Time: T", r"frame\s+time\s*:\s*(\S+)")):
        while cursor.row < len(cursor.lines) and not cursor.lines[cursor.row].strip():
            cursor.row += 1
        line = cursor.lines[cursor.row].strip() if cursor.row < len(cursor.lines) else ""
        cursor.row = min(cursor.row + 1, len(cursor.lines))
        match = re.fullmatch(pattern, line, re.IGNORECASE)
        if match is None:
            cursor.refuse(f"the line '{title}' must come here, not {_shown(line)}")
        values.append(match[1])
        if title == "Frames: N":
            cursor.count(match[1], "Frames")
    frame_time = float(cursor.numbers(values[1:], "Frame Time")[0])
    if frame_time < 0.0 or (frame_time == 0.0 and int(values[0]) > 1):
        cursor.refuse(f"Frame Time must be positive, not {values[1]}")
    return int(values[0]), frame_time


def read_table(cursor: Cursor, frames: int, columns: int) -> Floats:
    """The numbers of all frames, one line for each."""
    rows = [k for k in range(cursor.row, len(cursor.lines)) if cursor.lines[k].strip()]
    if columns == 0 and not rows:  # then a frame is a blank line
        rows = list(range(cursor.row, len(cursor.lines)))[:frames]
    if len(rows) < frames:
        last = rows[-1] + 1 if rows else cursor.row
        cursor.refuse(f"Frames says {frames}, but the file ends after {len(rows)}", last)
    if len(rows) > frames:
        cursor.refuse(f"Frames says {frames}, but here is another line", rows[frames] + 1)
    table = np.empty((frames, columns))
    for k in range(0, frames, ROWS_AT_ONCE):
        _fill(cursor, table[k : k + ROWS_AT_ONCE], rows[k : k + ROWS_AT_ONCE])
    return table


def _fill(cursor: Cursor, table: Floats, rows: list[int]) -> None:
    """Read some lines at once; look at them one by one only if something is wrong."""
    lines = [cursor.lines[k] for k in rows]
    words = [line.split() for line in lines]
    columns = table.shape[1]
    try:
        if all(len(row) == columns for row in words) and all(map(is_plain, lines)):
            table[:] = np.array(words, dtype=np.float64)
            if (np.abs(table) <= LARGEST_NUMBER).all():
                return
    except ValueError:
        pass
    for k, row in zip(rows, words, strict=True):
        cursor.row = k + 1
        if len(row) != columns:
            cursor.refuse(f"a frame has {columns} numbers, one for each channel; here are {len(row)}")
        cursor.numbers(row, "a channel")
        if not is_plain(cursor.lines[k]):
            cursor.refuse("a frame is written in plain digits and blanks; here is another character between them")
    raise AssertionError("lines that are right one by one are right together")
