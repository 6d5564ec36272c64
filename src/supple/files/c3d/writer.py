"""C3D files out: Intel, reals, one parameter section with what other programs look for; 32-bit numbers.

A sample that was not seen is (0, 0, 0) with −1 as its fourth number. Labels go to LABELS, LABELS2, … by 255 each, and
counts beyond 16 bits to TRIAL:ACTUAL_END_FIELD. What came from a C3D file beside its markers is written again: analog channels
of the frames that are there, events, parameters of other programs. Channels that no longer fit the frames (another rate) cannot
be kept: that is refused, and taking another source leaves them out.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from supple.basics.writing import check_place, write_file
from supple.errors import BadValue
from supple.files.bvh.reader import FILE_AXES
from supple.files.c3d.bytes import BLOCK
from supple.files.c3d.extras import Analog, C3dSource, Kept
from supple.files.c3d.reader import FULL
from supple.files.lines import even_step
from supple.files.marker_trial import MOST_MARKERS, UNITS
from supple.motion.markers import Markers

MOST_LABELS = 255  # of one parameter
MOST_BLOCKS = 255
MOST_GROUPS = 120
SCREENS = {"x": ("+Y", "+X"), "y": ("+X", "+Y"), "z": ("+X", "+Z")}  # up axis: what points right and up on a screen


def write_c3d(markers: Markers, path: str | Path) -> None:
    """Write markers: in unit and axes of the file they came from, else in millimetres with z up."""
    check_place(path)
    write_file(path, format_c3d(markers))


def format_c3d(markers: Markers) -> bytes:
    """The bytes of the C3D file that holds markers."""
    frames, count = len(markers), len(markers.names)
    if not frames or not 0 < count <= MOST_MARKERS:
        raise BadValue(f"a C3D file needs a frame and from 1 to {MOST_MARKERS} markers")
    source = markers.source
    unit, up = (
        (source.unit, source.up) if source is not None and source.format in ("trc", "c3d") else (UNITS["mm"], "z")
    )
    word = next((word for word, metres in UNITS.items() if metres == unit), "mm")
    rate = 1.0 / even_step(markers.times, "C3D", known=1.0)
    extras = source if isinstance(source, C3dSource) else C3dSource("c3d")
    analog, per = _analog(extras.analog, markers, rate)
    more = [*_channels(extras.analog, per, rate), *_events(extras, markers), *_others(extras.kept)]
    section = _section(markers.names, frames, rate, word, up, more)
    start = 2 + len(section) // BLOCK
    values = np.zeros((frames, count, 4), "<f4")
    seen = markers.seen
    values[:, :, :3] = np.where(seen[:, :, None], markers.positions @ FILE_AXES[up] / UNITS[word], 0.0)
    values[:, :, 3] = np.where(seen, 0.0, -1.0)
    last = min(frames, FULL)
    head = struct.pack("<BBHHHHHfHHf", 2, 0x50, count, analog.shape[1], 1, last, 0, -1.0, start, per, rate)
    data = np.hstack([values.reshape(frames, -1), analog]).tobytes()
    return head.ljust(BLOCK, b"\0") + section + data.ljust(-(-len(data) // BLOCK) * BLOCK, b"\0")


def _analog(analog: Analog | None, markers: Markers, rate: float) -> tuple[np.ndarray, int]:
    """The analog numbers of each frame (frames, samples · channels), and how many samples a frame has."""
    frames = len(markers)
    if analog is None:
        return np.empty((frames, 0), "<f4"), 0
    per = round(analog.rate / rate)
    first = round(float(markers.times[0]) * rate)
    values = analog.values[first * per : (first + frames) * per]
    if abs(per * rate - analog.rate) > 1e-6 * analog.rate or per < 1 or len(values) != frames * per:
        raise BadValue(
            f"the {len(analog.names)} analog channels of {analog.rate:g} Hz do not fit {frames} frames of {rate:g} Hz: leave "
            "them out with dataclasses.replace(markers, source=None)"
        )
    return np.where(np.isfinite(values), values, 0.0).astype("<f4").reshape(frames, -1), per


def _channels(analog: Analog | None, per: int, rate: float) -> list[bytes]:
    """The parameters of analog channels."""
    if analog is None:
        return [_integers(3, "USED", 0)]
    count = len(analog.names)
    out = [_integers(3, "USED", count), _real(3, "RATE", per * rate), _real(3, "GEN_SCALE", 1.0)]
    for k in range(0, count, MOST_LABELS):
        part, more = slice(k, k + MOST_LABELS), str(k // MOST_LABELS + 1) if k else ""
        n = len(analog.names[part])
        out += [_texts(3, f"LABELS{more}", [_short(name) for name in analog.names[part]])]
        out += [_texts(3, f"UNITS{more}", [_short(unit) or b" " for unit in analog.units[part]], True)]
        out += [_record(3, f"SCALE{more}", 4, (n,), np.ones(n, "<f4").tobytes())]
        out += [_record(3, f"OFFSET{more}", 2, (n,), np.zeros(n, "<i2").tobytes())]
    return out


def _events(extras: C3dSource, markers: Markers) -> list[bytes]:
    """The group of events; times are those of the frames that are there."""
    events = extras.events[:MOST_LABELS]
    if len(extras.events) > MOST_LABELS:
        raise BadValue(f"a C3D file holds {MOST_LABELS} events, not {len(extras.events)}")
    if not events:
        return []
    times = np.array([(0.0, event.time - float(markers.times[0])) for event in events], "<f4")
    out = [_group(4, "EVENT"), _integers(4, "USED", len(events))]
    out += [_texts(4, "LABELS", [_short(event.label) or b" " for event in events])]
    out += [_texts(4, "CONTEXTS", [_short(event.context) or b" " for event in events], True)]
    return [*out, _record(4, "TIMES", 4, (2, len(events)), times.tobytes())]


def _short(text: str) -> bytes:
    return text.encode()[:127]


def _others(kept: Sequence[Kept]) -> list[bytes]:
    """Groups of other programs and their parameters."""
    groups = {name: k for k, name in enumerate(dict.fromkeys(each.group for each in kept), 5)}
    if len(groups) > MOST_GROUPS:
        raise BadValue(f"a C3D file holds {MOST_GROUPS} groups of other programs, not {len(groups)}")
    return [*(_group(k, name) for name, k in groups.items())] + [
        _record(groups[each.group], each.name, each.kind, each.shape, each.data) for each in kept
    ]


def _section(names: Sequence[str], frames: int, rate: float, word: str, up: str, more: Sequence[bytes]) -> bytes:
    """The parameter section, whole blocks; DATA_START is the block after it."""
    labels = [name.encode() for name in names]
    if any(len(label) > 127 for label in labels):
        raise BadValue(f"C3D cannot hold the name {max(names, key=len)!r}: rename the marker")
    records = [_group(1, "POINT"), _group(2, "TRIAL"), _group(3, "ANALOG")]
    records += [_texts(1, "UNITS", [word.encode()]), *more]
    records += [
        _texts(1, name, [axis.encode()]) for name, axis in zip(("X_SCREEN", "Y_SCREEN"), SCREENS[up], strict=True)
    ]
    records += [_real(1, "SCALE", -1.0), _real(1, "RATE", rate)]
    records += [_integers(1, "USED", len(names)), _integers(1, "FRAMES", min(frames, FULL))]
    records += [
        _integers(2, "ACTUAL_START_FIELD", 1, 0),
        _integers(2, "ACTUAL_END_FIELD", frames % 65536, frames // 65536),
    ]
    for k in range(0, len(labels), MOST_LABELS):
        records.append(_texts(1, "LABELS" + (str(k // MOST_LABELS + 1) if k else ""), labels[k : k + MOST_LABELS]))
    size = 4 + sum(map(len, records)) + len(_integers(1, "DATA_START", 0)) + 2
    blocks = -(-size // BLOCK)
    if blocks > MOST_BLOCKS:
        raise BadValue("the names of the markers do not fit into a C3D file: write a .trc file")
    records.append(_integers(1, "DATA_START", 2 + blocks))
    return (bytes((1, 0x50, blocks, 84)) + b"".join(records)).ljust(blocks * BLOCK, b"\0")


def _group(group: int, name: str) -> bytes:
    return struct.pack("<bb", len(name), -group) + name.encode() + struct.pack("<Hb", 3, 0)


def _record(group: int, name: str, kind: int, shape: Sequence[int], values: bytes) -> bytes:
    body = struct.pack("<bB", kind, len(shape)) + bytes(shape) + values + b"\0"
    return struct.pack("<bb", len(name), group) + name.encode() + struct.pack("<H", 2 + len(body)) + body


def _texts(group: int, name: str, texts: Sequence[bytes], several: bool = False) -> bytes:
    width = max(map(len, texts))
    shape = (width,) if len(texts) == 1 and not several and not name.startswith("LABELS") else (width, len(texts))
    return _record(group, name, -1, shape, b"".join(text.ljust(width) for text in texts))


def _integers(group: int, name: str, *values: int) -> bytes:
    return _record(group, name, 2, (len(values),) if len(values) > 1 else (), struct.pack(f"<{len(values)}H", *values))


def _real(group: int, name: str, value: float) -> bytes:
    return _record(group, name, 4, (), struct.pack("<f", value))
