"""From what a marker file says to `Markers`: names cleaned, samples that were never taken made NaN, metres, z up.

Readers hand over a `Trial`: labels, coordinates in the file's own unit and axes, times, and what they noted. All the
rules that do not depend on the format are here, and each of them leaves a sentence in the notes when it did something:

- a prefix ``Subject:`` is dropped where the names stay different without it;
- labels that are blank or begin with ``*`` are trajectories that nobody has named, and are dropped unless wanted;
- a name that is there twice gets a number;
- coordinates beyond any laboratory are no samples;
- exact (0, 0, 0) is how some programs write a missing sample, and also where a marker may truly be. Where the file
  does not mark missing samples by itself, zeros count as missing for markers that are elsewhere in other frames.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from supple.basics.checks import check_fields, flag, one_of, positive
from supple.errors import BadFile, BadValue
from supple.figure.figure import Source
from supple.files.bvh.reader import FILE_AXES
from supple.files.xml import LARGEST_NUMBER, shown
from supple.geometry.placements import Floats
from supple.motion.markers import Markers

UNITS = {"mm": 0.001, "cm": 0.01, "dm": 0.1, "m": 1.0, "in": 0.0254, "ft": 0.3048}
WORDS = {
    "millimetre": "mm", "millimeter": "mm", "centimetre": "cm", "centimeter": "cm", "metre": "m", "meter": "m",
    "inch": "in", "inche": "in", "foot": "ft", "feet": "ft",
}  # fmt: skip
SHORTEST_CUT = 4  # letters of a unit that is cut short
MOST_NAMED = 6  # names in one note
MOST_MARKERS = 3_000


@dataclass(frozen=True)
class Wishes:
    """What the caller of a reader knows better than the file; None leaves it to the file."""

    up: str | None = None
    unit: float | None = None
    rate: float | None = None
    unlabelled: bool = False
    zeros: str | None = None

    def __post_init__(self) -> None:
        check_fields(self, "a marker file", unlabelled=flag)
        for name, value in (("unit", self.unit), ("rate", self.rate)):
            if value is not None:
                check_fields(self, "a marker file", **{name: positive})
        if self.up is not None:
            one_of(self.up, FILE_AXES, "the up axis of a marker file")
        if self.zeros is not None:
            one_of(self.zeros, ("missing", "seen"), "what zeros are")


@dataclass
class Trial:
    """What stands in a marker file, in its own unit and axes."""

    file: str | None
    format: str
    labels: list[str]
    points: Floats  # (frames, labels, 3), NaN where the file says that a sample is missing
    times: Floats
    unit: float = 0.001
    up: str = "z"
    notes: list[str] = field(default_factory=list)


def named(names: Sequence[str]) -> str:
    """A few names for a note."""
    more = len(names) - MOST_NAMED
    return ", ".join(shown(name) for name in names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def unit_of(word: str, wishes: Wishes, notes: list[str], file: str | None) -> float:
    """The metres in one unit of the file: what the caller says, else what the file says, else a millimetre."""
    if wishes.unit is not None:
        notes.append(f"Lengths are in units of {wishes.unit:g} m, as told; the file says {shown(word)}.")
        return float(wishes.unit)
    key = word.strip().strip("\0").lower()
    if not key:
        notes.append("The file does not say its unit: millimetres are assumed. Say unit= in metres if that is wrong.")
        return UNITS["mm"]
    key = key if key in UNITS else WORDS.get(key.removesuffix("s"), key)
    if key not in UNITS and len(key) >= SHORTEST_CUT:  # cut short by a field of few letters
        begun = {unit for said, unit in WORDS.items() if said.startswith(key)}
        key = begun.pop() if len(begun) == 1 else key
    if key not in UNITS:
        raise BadFile(f"the unit {shown(word)} is not known: say unit= in metres", file=file)
    notes.append("Lengths are in metres." if key == "m" else f"Lengths were in {key}: now in metres.")
    return UNITS[key]


def finished(trial: Trial, wishes: Wishes) -> Markers:
    """The markers of a trial."""
    labels, keep = _names(trial, wishes.unlabelled)
    if not keep:
        raise BadFile("no marker here has a name: unlabelled=True keeps those without", file=trial.file)
    if len(keep) > MOST_MARKERS:
        raise BadFile(f"there are {len(keep)} markers, more than {MOST_MARKERS}", file=trial.file)
    points = trial.points[:, keep]
    with np.errstate(invalid="ignore"):
        absurd = (np.abs(points) > LARGEST_NUMBER).any(axis=2)
    if absurd.any():
        trial.notes.append(f"{absurd.sum()} samples are not numbers of a sensible size: taken as missing.")
        points[absurd] = np.nan
    points[np.isnan(points).any(axis=2)] = np.nan
    _zeros(trial, labels, points, wishes.zeros)
    _gaps(trial, labels, points)
    up = wishes.up or trial.up
    if up != "z":
        trial.notes.append(f"The file's {up} axis points up: turned, so that z does.")
    positions = trial.unit * points @ FILE_AXES[up].T
    source = Source(trial.format, trial.unit, up)
    try:
        return Markers(tuple(labels), positions, trial.times, source, tuple(trial.notes))
    except BadFile:
        raise
    except BadValue as error:
        raise BadFile(str(error), file=trial.file) from error


def _names(trial: Trial, unlabelled: bool) -> tuple[list[str], list[int]]:
    """The names to use, and which trajectories they belong to."""
    labels = [" ".join(label.split()) for label in trial.labels]
    bare = [label.rsplit(":", 1)[-1].strip() for label in labels]
    unnamed = [not name or name.startswith("*") for name in bare]
    keep = [k for k in range(len(labels)) if unlabelled or not unnamed[k]]
    if any(unnamed):
        verb = "kept" if unlabelled else "left out"
        trial.notes.append(f"{sum(unnamed)} trajectories have no label: {verb}.")
    prefixes = {labels[k].rsplit(":", 1)[0] for k in keep if ":" in labels[k]}
    if prefixes:
        if len({bare[k] for k in keep}) == len({labels[k] for k in keep}):
            trial.notes.append(f"The prefix {named(sorted(prefixes))} was taken off the names of markers.")
            labels = bare
        else:
            trial.notes.append(f"Names keep their prefix, without which some are the same: {named(sorted(prefixes))}.")
    return _distinct([labels[k] or f"*{k + 1}" for k in keep], trial.notes), keep


def _distinct(names: list[str], notes: list[str]) -> list[str]:
    """The same names, those that come again with a number behind."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        notes.append(f"Markers of the same name were numbered: {named(twice)}.")
    taken, used, out = set(names), Counter[str](), []
    for name in names:
        used[name] += 1
        new = name
        while used[name] > 1 and new in taken:
            new = f"{name}_{used[name]}"
            used[name] += new in taken
        taken.add(new)
        out.append(new)
    return out


def _zeros(trial: Trial, labels: list[str], points: Floats, zeros: str | None) -> None:
    """Take exact zeros as missing where they must be, and say what was done."""
    at_origin = (points == 0.0).all(axis=2)
    if not at_origin.any():
        return
    elsewhere = (~at_origin & ~np.isnan(points[:, :, 0])).any(axis=0)
    if zeros == "missing" or (zeros is None and not np.isnan(trial.points).any()):
        missing = at_origin if zeros == "missing" else at_origin & elsewhere
        if missing.any():
            points[missing] = np.nan
            trial.notes.append(
                f"{missing.sum()} samples are exactly (0, 0, 0): taken as missing. zeros='seen' keeps them."
            )
        at_origin &= ~missing
    for names in [[labels[k] for k in np.flatnonzero(at_origin.any(axis=0))]]:
        if names:
            trial.notes.append(f"At the origin exactly, and kept: {named(names)}. zeros='missing' drops such samples.")


def _gaps(trial: Trial, labels: list[str], points: Floats) -> None:
    missing = np.isnan(points[:, :, 0])
    if not missing.any():
        return
    having, count = int(missing.any(axis=0).sum()), int(missing.sum())
    trial.notes.append(
        f"{having} of {len(labels)} markers have gaps: {count} of {missing.size} samples "
        f"({100.0 * count / missing.size:.2g} %) are missing."
    )
    never = [labels[k] for k in np.flatnonzero(missing.all(axis=0))]
    if never:
        trial.notes.append(f"Never seen: {named(never)}.")
