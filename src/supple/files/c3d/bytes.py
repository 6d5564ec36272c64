"""The bytes of C3D files: a header, a section of parameters, then frames of numbers, in three dialects.

The parameter section names the processor. Intel and DEC write the low byte first, MIPS the high byte. DEC's numbers
have their two words swapped and another exponent: with sign s, exponent e and fraction f they mean
``(−1)^s · 1.f · 2^(e − 129)``, and 0 where e = 0. Nothing is believed that the length of the file contradicts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

import numpy as np

from supple.errors import BadFile
from supple.geometry.placements import Floats

BLOCK = 512
MOST_RECORDS = 20_000  # of the parameter section
PROCESSORS = {84: "intel", 85: "dec", 86: "mips"}
SIZES = {-1: 1, 1: 1, 2: 2, 4: 4}  # bytes of one value of each type of parameter


class Parameter(NamedTuple):
    """One parameter: its type (−1 text, 1 byte, 2 integer, 4 real), its dimensions, and where its values begin."""

    kind: int
    shape: tuple[int, ...]
    at: int


@dataclass(eq=False)
class C3dBytes:
    """A C3D file in memory, with its dialect and parameters."""

    data: bytes
    file: str | None
    processor: str = "intel"
    parameters: dict[tuple[str, str], Parameter] = field(default_factory=dict)

    def refuse(self, message: str) -> NoReturn:
        """Complain about the file."""
        raise BadFile(message, file=self.file)

    # ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────
    def integers(self, at: int, count: int, signed: bool = False) -> np.ndarray:
        """16-bit integers that begin at a byte."""
        if at < 0 or at + 2 * count > len(self.data):
            self.refuse("the file ends too early")
        order = ">" if self.processor == "mips" else "<"
        return np.frombuffer(self.data, f"{order}{'i' if signed else 'u'}2", count, at)

    def reals(self, at: int, count: int) -> Floats:
        """32-bit numbers that begin at a byte."""
        if at < 0 or at + 4 * count > len(self.data):
            self.refuse("the file ends too early")
        return as_floats(np.frombuffer(self.data, np.uint8, 4 * count, at), self.processor)

    # ── parameters ───────────────────────────────────────────────────────────────────────────────────────────────────
    def texts(self, group: str, name: str) -> list[str]:
        """The texts of a parameter, blanks cut off; none if it is not there."""
        found = self.parameters.get((group, name))
        if found is None or found.kind != -1:
            return []
        width, count = (found.shape[0] if found.shape else 1), math.prod(found.shape[1:])
        if width == 0:
            return [""] * min(count, MOST_RECORDS)
        whole = self.data[found.at : found.at + width * count]
        return [_text(whole[k * width : (k + 1) * width]) for k in range(count)]

    def text(self, group: str, name: str) -> str:
        """The first text of a parameter."""
        return next(iter(self.texts(group, name)), "")

    def numbers(self, group: str, name: str) -> Floats:
        """The numbers of a parameter, integers without sign; none if it is not there."""
        found = self.parameters.get((group, name))
        if found is None or found.kind == -1:
            return np.empty(0)
        count = math.prod(found.shape)
        if found.kind == 4:
            return self.reals(found.at, count)
        if found.kind == 2:
            return self.integers(found.at, count).astype(np.float64)
        return np.frombuffer(self.data, np.uint8, count, found.at).astype(np.float64)

    def number(self, group: str, name: str) -> float | None:
        """The first number of a parameter, if there is a finite one."""
        values = self.numbers(group, name)[:1]
        return float(values[0]) if len(values) and np.isfinite(values[0]) else None


def as_floats(raw: np.ndarray, processor: str) -> Floats:
    """Bytes (…, 4 n) as n numbers each."""
    raw = np.ascontiguousarray(raw)
    if processor != "dec":
        with np.errstate(invalid="ignore"):
            return raw.view(">f4" if processor == "mips" else "<f4").astype(np.float64)
    words = raw.view("<u2")
    high, low = words[..., 0::2].astype(np.int64), words[..., 1::2].astype(np.int64)
    exponent = (high >> 7) & 0xFF
    fraction = ((high & 0x7F) << 16 | low) + (1 << 23)
    value = np.ldexp(fraction.astype(np.float64), exponent - 129 - 23)
    return np.where(exponent == 0, 0.0, np.where(high >> 15, -value, value))


def _text(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return "".join(c if c.isprintable() else " " for c in text).strip()


def open_c3d(data: bytes, file: str | None) -> C3dBytes:
    """The file with its dialect found and its parameters listed."""
    c3d = C3dBytes(data, file)
    if len(data) < BLOCK or data[1] != 0x50:
        c3d.refuse("this is not a C3D file: its second byte must be 80")
    start = (max(1, data[0]) - 1) * BLOCK
    if start == 0 or start + 4 > len(data):
        c3d.refuse("the parameter section lies outside the file")
    processor = PROCESSORS.get(data[start + 3])
    if processor is None:
        c3d.refuse(f"the processor {data[start + 3]} is not known: 84 is Intel, 85 DEC, 86 MIPS")
    c3d.processor = processor
    blocks = data[start + 2]
    c3d.parameters = _parameters(c3d, start + 4, start + blocks * BLOCK if blocks else len(data))
    return c3d


def _parameters(c3d: C3dBytes, at: int, end: int) -> dict[tuple[str, str], Parameter]:
    """All parameters by the names of group and parameter, in capitals; a step out of the section is its end."""
    groups: dict[int, str] = {}
    found: list[tuple[int, str, Parameter]] = []
    for _ in range(MOST_RECORDS):
        if at + 2 > min(end, len(c3d.data)):
            break
        length, group = (b - 256 if b > 127 else b for b in c3d.data[at : at + 2])
        if length == 0 or group == 0:
            break
        link = at + 2 + abs(length)
        step = int(c3d.integers(link, 1)[0])
        name = _text(c3d.data[at + 2 : link]).upper()
        if group < 0:
            groups.setdefault(-group, name)
        else:
            found.append((group, name, _parameter(c3d, link + 2, name)))
        if step == 0:
            break
        if step < 2:
            c3d.refuse(f"the parameter section is broken after {name[:40]!r}")
        at = link + step
    return {(groups[group], name): parameter for group, name, parameter in reversed(found) if group in groups}


def _parameter(c3d: C3dBytes, at: int, name: str) -> Parameter:
    head = c3d.data[at : at + 2]
    kind = head[0] - 256 if head and head[0] > 127 else head[0] if head else 0
    if len(head) < 2 or kind not in SIZES:
        c3d.refuse(f"the parameter {name[:40]!r} is of no known type")
    shape = tuple(c3d.data[at + 2 : at + 2 + head[1]])
    begin = at + 2 + head[1]
    if begin + SIZES[kind] * math.prod(shape) > len(c3d.data):
        c3d.refuse(f"the parameter {name[:40]!r} reaches beyond the end of the file")
    return Parameter(kind, shape, begin)
