"""What a C3D file holds beside markers: analog channels, events, parameters of other programs; read, kept, written again.

A channel's sample is ``(number − OFFSET) · SCALE · GEN_SCALE`` in its own unit; some channels take many samples in one frame of
markers. Events stand in the group EVENT, with times in minutes and seconds of the whole recording, of which a file may hold a
part; older files have up to 18 of them in the header. Here times are those of the markers: the first frame is at 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.figure.figure import Source
from supple.files.c3d.bytes import SIZES, C3dBytes, as_floats
from supple.geometry.placements import Floats

OWN = ("POINT", "TRIAL", "ANALOG", "EVENT")  # groups that are understood, and written anew
MOST_CHANNELS = 1_000
MIDDLE = 32_768  # of the range of numbers without a sign: who subtracts it means such numbers, said or not
MOST_EVENTS = 10_000
MOST_KEPT = 60_000  # bytes of parameters of other programs
HEADER_EVENTS, HEADER_KEY = 18, 12345


@dataclass(frozen=True, eq=False)
class Analog:
    """Channels of other devices: their names, units, samples a second, and samples (count, channels)."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    rate: float
    values: Floats


@dataclass(frozen=True)
class Event:
    """Something that happened at a time [s] of the trial."""

    label: str
    context: str
    time: float


@dataclass(frozen=True)
class Kept:
    """A parameter of a group that nobody here understands, with its bytes in Intel order."""

    group: str
    name: str
    kind: int
    shape: tuple[int, ...]
    data: bytes


@dataclass(frozen=True, eq=False, repr=False)
class C3dSource(Source):
    """What a C3D file says beside its markers."""

    analog: Analog | None = None
    events: tuple[Event, ...] = ()
    kept: tuple[Kept, ...] = ()


def read_analog(
    c3d: C3dBytes, raw: np.ndarray, points: int, real: bool, rate: float, notes: list[str]
) -> Analog | None:
    """The channels in the frames (frames, bytes) of a file."""
    size = 4 if real else 2
    samples = (raw.shape[1] - 4 * points * size) // size
    if samples < 1:
        return None
    used = int(c3d.number("ANALOG", "USED") or 0)
    if not 1 <= used <= MOST_CHANNELS or samples % used:
        notes.append(f"{samples} analog numbers in each frame belong to no known count of channels: left out.")
        return None
    order = ">" if c3d.processor == "mips" else "<"
    part = np.ascontiguousarray(raw[:, 4 * points * size :])
    told = c3d.text("ANALOG", "FORMAT").upper()
    unsigned = told == "UNSIGNED" or (not told and bool((_many(c3d, "OFFSET", used, 0.0) == MIDDLE).any()))
    values = (
        as_floats(part, c3d.processor) if real else part.view(f"{order}{'u' if unsigned else 'i'}2").astype(np.float64)
    )
    scale, offset = _many(c3d, "SCALE", used, 1.0), _many(c3d, "OFFSET", used, 0.0, not unsigned)
    general = c3d.number("ANALOG", "GEN_SCALE")
    values = (values.reshape(-1, used) - offset) * scale * (1.0 if general is None else general)
    values = np.where(np.isfinite(values), values, np.nan)
    names = [*_texts(c3d, "LABELS"), *[""] * used][:used]
    names = [name or f"channel {k + 1}" for k, name in enumerate(names)]
    units = [*_texts(c3d, "UNITS"), *[""] * used][:used]
    return Analog(tuple(names), tuple(units), rate * (samples // used), values)


def _many(c3d: C3dBytes, name: str, count: int, default: float, signed: bool = False) -> Floats:
    values, k = c3d.numbers("ANALOG", name), 2
    while ("ANALOG", f"{name}{k}") in c3d.parameters:
        values, k = np.append(values, c3d.numbers("ANALOG", f"{name}{k}")), k + 1
    found = c3d.parameters.get(("ANALOG", name))
    if signed and found is not None and found.kind == 2:
        values = np.where(values > 32767, values - 65536, values)
    return np.append(values[:count], np.full(max(0, count - len(values)), default))


def _texts(c3d: C3dBytes, name: str, group: str = "ANALOG") -> list[str]:
    out, k = c3d.texts(group, name), 2
    while (group, f"{name}{k}") in c3d.parameters:
        out += c3d.texts(group, f"{name}{k}")
        k += 1
    return out


def read_events(c3d: C3dBytes, first: int, rate: float) -> tuple[Event, ...]:
    """The events of a file whose first frame has the number `first`."""
    labels, contexts = _texts(c3d, "LABELS", "EVENT"), _texts(c3d, "CONTEXTS", "EVENT")
    times = c3d.numbers("EVENT", "TIMES")
    begin = (first - 1) / rate
    count = min(int(c3d.number("EVENT", "USED") or 0), len(times) // 2, MOST_EVENTS)
    out = [
        Event(
            labels[k] if k < len(labels) else "",
            contexts[k] if k < len(contexts) else "",
            float(60.0 * times[2 * k] + times[2 * k + 1] - begin),
        )
        for k in range(count)
    ]
    if not out and int(c3d.integers(298, 1)[0]) == HEADER_KEY:
        count = min(int(c3d.integers(300, 1)[0]), HEADER_EVENTS)
        seconds = c3d.reals(304, count)
        texts = [c3d.data[396 + 4 * k : 400 + 4 * k].decode("latin-1").strip("\0 ") for k in range(count)]
        out = [Event(text, "", float(time - begin)) for text, time in zip(texts, seconds, strict=True)]
    return tuple(event for event in out if np.isfinite(event.time))


def read_kept(c3d: C3dBytes, notes: list[str]) -> tuple[Kept, ...]:
    """The parameters of all other groups."""
    out, room = [], MOST_KEPT
    for (group, name), parameter in c3d.parameters.items():
        count = int(np.prod(parameter.shape, dtype=np.int64)) if parameter.shape else 1
        if group in OWN or not group or not name or not (group + name).isascii():
            continue
        data = c3d.data[parameter.at : parameter.at + count * SIZES[parameter.kind]]
        if parameter.kind == 2:
            data = c3d.integers(parameter.at, count).astype("<u2").tobytes()
        elif parameter.kind == 4:
            data = c3d.reals(parameter.at, count).astype("<f4").tobytes()
        room -= len(data) + len(group) + len(name) + 20
        if room < 0:
            notes.append(f"Parameters of other programs beyond {MOST_KEPT} bytes are left out, from {group}:{name} on.")
            break
        out.append(Kept(group, name, parameter.kind, parameter.shape, data))
    return tuple(out)
