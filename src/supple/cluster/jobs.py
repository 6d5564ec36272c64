"""What is done to each file of an archive: frozen records of settings that go through pickle, called with two paths.

A job reads the first file, writes the second whole or not at all, and tells how it went. An `Error` means that this file cannot
be done; the others go on. Figures that a job needs are read once in each process.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

import supple
from supple.basics.checks import check_fields, flag, mapping, named, named_or_none, number, one_of, whole
from supple.basics.values import Value
from supple.cluster.manifest import digest_of
from supple.errors import BadValue, find, shown
from supple.figure.figure import Figure
from supple.files.door import WRITERS
from supple.motion.markers import Markers


@dataclass(frozen=True, eq=False, repr=False)
class Told(Value):
    """How a file went: whether its result can be believed, if not why, and numbers about it."""

    ok: bool
    reason: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)


@runtime_checkable
class Job(Protocol):
    """What `map` does to each file."""

    @property
    def ending(self) -> str:
        """Of the files that it writes, such as ``.mot``."""
        ...

    def __call__(self, source: Path, target: Path) -> Told:
        """Read one file, write the other."""
        ...


class _Recorded(Value):
    """A job whose fields are its settings; it reads by `reader` and solves by `door`, whose options are its own."""

    ending: str
    reader: ClassVar[str]
    door: ClassVar[str] = ""
    needs: ClassVar[str] = ""  # a field that may not be None

    def __post_init__(self) -> None:
        named(getattr(self, self.needs, "-"), f"the {self.needs} of {type(self).__name__}")
        kinds = CHECKS | {"reading": _options(self.reader), "options": _options(self.door)}
        check_fields(self, **{one.name: kinds[one.name] for one in fields(self) if one.name in kinds})  # pyright: ignore
        super().__post_init__()


def _options(door: str) -> Callable[[Any, str], dict[str, Any]]:
    """A check of options: those of a public function, by name."""

    def check(value: Any, what: str) -> dict[str, Any]:
        given = mapping(value, what)
        known = tuple(OPTIONS[door])
        for name in given:
            find(known, name, "option", f"supple.{door}()")
        return given

    return check


def _ending(value: Any, what: str) -> str:
    return one_of(value, WRITERS["motions"], f"{what} of the files that motions are written to")


def _method(value: Any, what: str) -> Any:
    if isinstance(value, type):
        raise BadValue(f"{what} is the method itself: write {value.__name__}(), not {value.__name__}")
    if value is not None and not (hasattr(value, "fit") or hasattr(value, "refuse") or hasattr(value, "tracked")):
        raise BadValue(f"{what} is one such as FrameByFrame() or a solver such as Newton(), not {shown(value)}")
    return value


def _cutoff(value: Any, what: str) -> float | None:
    return None if value is None else number(value, what, above=0.0)


def _weights(value: Any, what: str) -> dict[str, float] | None:
    if value is None:
        return None
    return {name: number(weight, f"the weight of {name!r}", least=0.0) for name, weight in mapping(value, what).items()}


def _last(value: Any, what: str) -> int | None:
    return None if value is None else whole(value, what)


def _step(value: Any, what: str) -> int:
    return whole(value, what, 1)


CHECKS: dict[str, Any] = {
    "ending": _ending,
    "model": named_or_none,
    "method": _method,
    "to": named,
    "free": flag,
    "cutoff": _cutoff,
    "mass": _cutoff,
    "weights": _weights,
    "relabel": flag,
    "first": whole,
    "last": _last,
    "step": _step,
}
OPTIONS = {
    "read_markers": ("up", "unit", "rate", "unlabelled", "zeros"),
    "read_motion": ("asf", "figure", "partial", "unit", "up"),
    "track": ("weights", "coordinates", "limits", "start"),
    "fit_subject": ("scales", "trust", "spread"),
    "retarget": ("match", "plant", "rest", "deadline"),
    "": (),
}


@dataclass(frozen=True, eq=False, repr=False)
class Track(_Recorded):
    """Markers in, the motion of `model` out; `method` and `options` are those of `track`."""

    reader: ClassVar[str] = "read_markers"
    door: ClassVar[str] = "track"
    needs: ClassVar[str] = "model"
    model: str
    ending: str = ".mot"
    method: Any = None
    cutoff: float | None = None  # of a Butterworth filter of the markers [Hz]
    weights: Mapping[str, float] | None = None  # by marker; what it leaves out counts nothing
    relabel: bool = False  # put labels right that were permuted for a while
    reading: Mapping[str, Any] = field(default_factory=dict)  # options of `read_markers`
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, source: Path, target: Path) -> Told:
        """Track one trial."""
        figure, markers = _figure(self.model), supple.read_markers(source, **self.reading)
        markers = supple.motion.relabelled(figure, markers) if self.relabel else markers
        markers = markers if self.cutoff is None else markers.filtered(self.cutoff)
        motion = supple.track(figure, markers, self.method, **self.options, **self._weighted(figure, markers))
        supple.write(motion, target)
        return Told(motion.ok, " ".join(motion.problems), {"frames": len(motion), "rms": motion.rms})

    def _weighted(self, figure: Figure, markers: Markers) -> dict[str, Any]:
        """The option `weights` of `track`, for the markers that figure and trial share."""
        if self.weights is None:
            return {}
        shared = {name: self.weights.get(name, 0.0) for name in markers.names if name in figure.markers}
        if shared and not any(shared.values()):
            raise BadValue(f"no marker of figure and trial ({', '.join([*shared][:5])}, …) has a weight")
        return {"weights": shared}


@dataclass(frozen=True, eq=False, repr=False)
class Fit(_Recorded):
    """Markers of a static trial in, the OSIM file `model` in the subject's sizes out; `options` are those of `fit_subject`."""

    reader: ClassVar[str] = "read_markers"
    door: ClassVar[str] = "fit_subject"
    needs: ClassVar[str] = "model"
    ending: ClassVar[str] = ".osim"  # pyright: ignore[reportIncompatibleVariableOverride]
    model: str
    mass: float | None = None  # of every subject [kg]; the model's by default
    reading: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, source: Path, target: Path) -> Told:
        """Fit one subject."""
        from supple.files.osim.writer import write_subject

        markers = supple.read_markers(source, **self.reading)
        subject = supple.fit_subject(_figure(self.model), markers, **self.options)
        write_subject(subject.figure, self.model, target, subject.factors, self.mass)
        ended = [] if subject.converged else ["The fit has not converged."]
        numbers = {"frames": len(subject.motion), "rms": subject.motion.rms}
        return Told(not ended and subject.motion.ok, " ".join([*ended, *subject.motion.problems]), numbers)


@dataclass(frozen=True, eq=False, repr=False)
class Retarget(_Recorded):
    """A clip in, the motion of the figure `to` out; `model` is the clip's figure where its file has none."""

    reader: ClassVar[str] = "read_motion"
    door: ClassVar[str] = "retarget"
    to: str
    ending: str = ".bvh"
    model: str | None = None
    free: bool = True  # a figure that is fixed in the world floats instead
    first: int = 0  # frame; 1 leaves out the T-pose that some files begin with
    last: int | None = None  # frame to stop before
    step: int = 1  # take every so many frames
    reading: Mapping[str, Any] = field(default_factory=dict)  # options of `read_motion`
    options: Mapping[str, Any] = field(default_factory=dict)  # of `retarget`

    def __call__(self, source: Path, target: Path) -> Told:
        """Retarget one clip."""
        model = {} if self.model is None else {"figure": _figure(self.model)}
        motion = supple.read_motion(source, **model, **self.reading).frames(self.first, self.last, self.step)
        if not len(motion):
            raise BadValue("no frame is left")
        figure = _figure(self.to)
        out = supple.retarget(motion, _floating(figure) if self.free else figure, **self.options)
        supple.write(out, target)
        return Told(out.ok, "" if out.ok else out.report.text(), {"frames": len(out)})


@dataclass(frozen=True, eq=False, repr=False)
class Convert(_Recorded):
    """A motion in, the same in another format out."""

    reader: ClassVar[str] = "read_motion"
    ending: str = ".bvh"
    model: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, source: Path, target: Path) -> Told:
        """Convert one motion."""
        model = {} if self.model is None else {"figure": _figure(self.model)}
        motion = supple.read_motion(source, **model, **self.reading)
        supple.write(motion, target)
        return Told(True, "", {"frames": len(motion)})


def settings_of(job: Job) -> str:
    """A digest of what a job does besides its code: its kind, its fields, and the bytes of the files that these name."""
    told: dict[str, Any] = {"kind": f"{type(job).__module__}.{type(job).__qualname__}"}
    if isinstance(job, Value):
        for one in fields(job):  # pyright: ignore[reportArgumentType]
            value = getattr(job, one.name)
            file = Path(value) if isinstance(value, str) and len(value) < 4096 else None
            told[one.name] = digest_of(file) if file is not None and file.is_file() else words_of(value)
    else:
        told["kind"] = f"{getattr(job, '__module__', '')}.{getattr(job, '__qualname__', told['kind'])}"
        told["source"] = _source(job)
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _source(job: Any) -> str:
    """The text of somebody's own job, so that one that was changed is another."""
    try:
        return inspect.getsource(job if inspect.isroutine(job) else type(job))
    except (OSError, TypeError):
        return ""


def words_of(value: Any) -> Any:
    """A value as text in which equal ones are equal, whatever the process."""
    if isinstance(value, Mapping):
        return {str(name): words_of(one) for name, one in value.items()}
    if isinstance(value, np.ndarray):
        return [str(value.dtype), *value.shape, hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()]
    if isinstance(value, Value):
        return {"kind": type(value).__name__} | {
            one.name: words_of(getattr(value, one.name))
            for one in fields(value)  # pyright: ignore[reportArgumentType]
        }
    if isinstance(value, list | tuple):
        return [words_of(one) for one in value]
    return repr(value)


def _figure(what: str) -> Figure:
    """A figure of the catalogue or of a file, read again when the file has changed."""
    return _read(what, digest_of(what) if Path(what).is_file() else "")


@lru_cache(maxsize=8)
def _read(what: str, _digest: str) -> Figure:
    return supple.load(what)


@lru_cache(maxsize=8)
def _floating(figure: Figure) -> Figure:
    """A figure that is fixed in the world, floating."""
    roots = [segment for segment in figure.segments if figure.parent_of(segment) is None]
    return figure if any(figure.joints_of(root) for root in roots) else figure.based_at(free=True)
