"""What is typed on a command line, read into figures, postures and goals; and what the commands do with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import supple
from supple.basics.writing import check_place
from supple.cli import archives
from supple.cli.archives import Spread
from supple.errors import BadValue, find
from supple.figure.figure import Figure, Source
from supple.geometry.placements import Floats
from supple.motion.motion import Motion


def options_of(what: str | Path, unit: float | None, up: str | None) -> dict[str, Any]:
    """The options of the BVH reader; refused for anything else."""
    given = {key: value for key, value in (("unit", unit), ("up", up)) if value is not None}
    if given and not _is_bvh(what):
        raise BadValue(f"--{next(iter(given))} is for BVH files; {str(what)!r} states its own units")
    return given


def _is_bvh(what: str | Path) -> bool:
    return Path(what).suffix.lower() == ".bvh"


def figure_of(what: str, unit: float | None = None, up: str | None = None) -> Figure:
    """A figure by name or file."""
    return supple.load(what, **options_of(what, unit, up))


def run_of(path: Path, figure: Figure) -> Motion:
    """Another run, to compare with: coordinates are those of `figure`, skeletons their own."""
    return supple.read_motion(path, **({"figure": figure} if path.suffix.lower() in (".mot", ".sto") else {}))


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def number(text: str) -> float:
    """A finite number; with the suffix ``deg`` an angle in degrees, given back in radians."""
    bare = text.strip().lower()
    degrees = bare.endswith("deg")
    try:
        value = float(bare.removesuffix("deg"))
    except ValueError:
        raise BadValue(f"{text.strip()!r} is not a number (write 0.5, or 30deg)") from None
    if not np.isfinite(value):
        raise BadValue(f"{text.strip()!r} is not a finite number")
    return float(np.deg2rad(value)) if degrees else value


def numbers(text: str, count: int, what: str) -> list[float]:
    """Numbers separated by commas or blanks."""
    values = [number(part) for part in text.replace(",", " ").split()]
    if len(values) != count:
        raise BadValue(f"{what} needs {count} numbers, not {len(values)}: {text!r}")
    return values


def posture(figure: Figure, text: str | None) -> Floats:
    """The rest posture with what `text` says put in: all coordinates, or ``name=value`` for some of them."""
    q = np.array(figure.rest)
    if text is None:
        return q
    if "=" not in text:
        return np.array(numbers(text, figure.size, f"a posture of {figure.name!r}"))
    for pair in filter(str.strip, text.split(",")):
        name, equals, value = pair.partition("=")
        if not equals:
            raise BadValue(f"--q mixes names and bare numbers at {pair.strip()!r}: write name=value for each")
        q[find(figure.coordinates, name.strip(), "coordinate", f"figure {figure.name!r}")] = number(value)
    return q


def task(text: str) -> supple.Task:
    """A task from ``segment=x,y,z``."""
    segment, equals, place = text.rpartition("=")
    if not equals:
        raise BadValue(f"a goal is written segment=x,y,z, not {text!r}")
    name = segment.strip()
    return supple.Task(supple.Point(name), supple.At(numbers(place, 3, f"the goal of {name!r}")), name=name)


# ── commands ─────────────────────────────────────────────────────────────────────────────────────────────────────────
MOVING = (".bvh", ".glb", ".gltf", ".mot", ".sto")  # endings of files that hold motions


def two(files: list[str], spread: Spread) -> tuple[str, Path]:
    """From what to what."""
    if len(files) != 2:
        raise BadValue("write convert FROM TO, or convert FROM… -o FOLDER --format .glb")
    if any(spread):
        raise BadValue("--workers, --cluster, --retry-failed and --format are for many files: name a folder by -o")
    return files[0], Path(files[1])


def converted_many(files: list[str], folder: Path, unit: float | None, up: str | None, spread: Spread) -> bool:
    """Convert motions into a folder; whether all went well."""
    from supple import cluster

    reading: dict[str, Any] = {}
    for file in files:
        reading |= options_of(file, unit, up)
    if spread.ending is None:
        raise BadValue("say by --format what the motions are written as, such as .glb")
    job = cluster.Convert(spread.ending, reading=reading)
    return archives.do(job, files, archives.folder_of([folder]), spread, "converting")


def converted(source: str, target: Path, unit: float | None, up: str | None) -> str:
    """Convert, and say what was done."""
    check_place(target)
    given: Figure | Motion
    moves = target.suffix.lower() in MOVING
    if _is_bvh(source) and moves:
        given = supple.read_motion(source, **options_of(source, unit, up))
    elif _is_bvh(target):
        figure = supple.load(source)
        given = replace(figure, source=bvh_source(0.01 if unit is None else unit, "y" if up is None else up))
    else:
        given = supple.load(source, **options_of(source, unit, up))
    supple.write(given, target)
    figure = given.figure if isinstance(given, Motion) else given
    kind = f"a motion of {len(given)} frames" if isinstance(given, Motion) else "the figure"
    detail = f"{len(figure.segments)} segments, {figure.size} coordinates"
    lost = ""
    if _is_bvh(source) and not moves:
        lost = "; the motion itself has no place in this format"
    elif _is_bvh(target) and not isinstance(given, Motion):
        lost = f" in its rest posture; unit {given.source.unit:g} m, {given.source.up} up" if given.source else ""
    return f"{target}: {kind} {figure.name!r} ({detail}) from {source}{lost}"


def bvh_source(unit: float, up: str) -> Source:
    """What a BVH file is to be written in; a unit or an up axis that none can have is refused by its option."""
    if up not in ("x", "y", "z"):
        raise BadValue(f"--up is x, y or z, not {up!r}")
    if not (np.isfinite(unit) and unit > 0.0):
        raise BadValue(f"--unit is a positive number of metres, not {unit!r}")
    return Source("bvh", unit, up)


def shown(
    what: str,
    output: Path,
    q: str | None,
    goals: list[str],
    frame: int | None,
    view: str,
    chart: bool | None,
    unit: float | None,
    up: str | None,
) -> str:
    """Draw, and say what was drawn."""
    from supple.view.picture import check_picture, draw

    check_picture(output)
    options = options_of(what, unit, up)
    if frame is None:
        figure = supple.load(what, **options)
        start = posture(figure, q)
    else:
        if q is not None:
            raise BadValue("--frame and --q both name a posture: give one of them")
        motion = supple.read_motion(what, **options)
        if not 0 <= frame < len(motion):
            raise BadValue(f"{what} has frames 0 to {len(motion) - 1}, not {frame}")
        figure, start = motion.figure, motion.posture(frame)
    problem, text = None, f"{output}: {figure.name}, {figure.size} coordinates"
    if goals:
        problem = supple.Problem(figure, [task(goal) for goal in goals])
        solution = supple.solve(problem, start=start)
        start, text = solution.q, f"{text}; {solution.status.name}: {solution.reason}"
    elif not figure.limits.contains(start):
        text += "; this posture is outside the limits"
    draw(figure, start, problem=problem, path=output, view=numbers(view, 2, "--view"), chart=chart)
    return text
