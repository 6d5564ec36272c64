"""The CMU skeleton with its markers for other programs: as plain arrays, as an OSIM and as a bioMod.

All frames of the skeleton are parallel to the file's axes when every coordinate is zero; segment s is ``offset[s]`` from its
parent and turns by ``Rz Ry Rx`` of its three coordinates, if it has any; the root slides along x, y and z before.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from markers_data import Trial, places
from motion_data import ROOT

AXES = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}
UPRIGHT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # from the axes of y-up files to the world's


def skeleton(trial: Trial) -> dict[str, Any]:
    """Everything in arrays, in the world's axes; ``turns[s]`` are the coordinates of segment s (−1: none)."""
    figure = trial.figure
    zero = figure.placements(np.zeros(figure.size))
    base, index = zero["Hips"][:3, :3], {s: i for i, s in enumerate(figure.segments)}
    parents = [figure.parent_of(s) for s in figure.segments]
    at = np.array([zero[s][:3, 3] for s in figure.segments])
    parent = np.array([-1 if p is None else index[p] for p in parents])
    joints = list(figure.coordinates)
    names = [[f"{s}.{axis}" for axis in "zyx"] for s in figure.segments]
    points = [figure.markers[name] for name in trial.names]
    return {
        "segments": np.array(figure.segments),
        "parent": parent,
        "offset": (at - np.where(parent[:, None] >= 0, at[parent], 0.0)) @ base,
        "turns": np.array([[joints.index(n) if n in joints else -1 for n in row] for row in names]),
        "base": base,
        "lower": figure.lower,
        "upper": figure.upper,
        "link": np.array([index[p.segment] for p in points]),
        "at": np.array([p.offset for p in points]),
        "there": places(figure, trial.start[None], trial.names)[0],
    }


def numbers(values: Any) -> str:
    """Numbers in full precision, with blanks between."""
    return " ".join(repr(float(x)) for x in values)


def plain(joint: str) -> str:
    """A name without dots."""
    return joint.replace(".", "_")


def coordinates_of(trial: Trial, fields: dict[str, Any], s: int) -> list[tuple[str, str]]:
    """Names of a segment's coordinates and their axes, the slides of a root first."""
    joints = trial.figure.coordinates
    slides = list(zip(joints[:3], "xyz", strict=True)) if fields["parent"][s] < 0 else []
    return slides + [(joints[k], axis) for k, axis in zip(fields["turns"][s], "zyx", strict=True) if k >= 0]


def write_osim(trial: Trial, path: Path) -> None:
    """The model as OpenSim and nimblephysics read it; its ground has y up, as the BVH file does."""
    fields = skeleton(trial)
    segments = fields["segments"]
    bodies = "".join(
        f'<Body name="{s}"><mass>1</mass><mass_center>0 0 0</mass_center><inertia>1 1 1 0 0 0</inertia></Body>'
        for s in segments
    )
    joints = "".join(_osim_joint(trial, fields, s) for s in range(len(segments)))
    markers = "".join(
        f'<Marker name="{name}"><socket_parent_frame>/bodyset/{segments[link]}</socket_parent_frame>'
        f"<location>{numbers(at)}</location><fixed>true</fixed></Marker>"
        for name, link, at in zip(trial.names, fields["link"], fields["at"], strict=True)
    )
    path.write_text(
        '<?xml version="1.0" encoding="UTF-8"?><OpenSimDocument Version="40000"><Model name="cmu">'
        f'<BodySet name="bodyset"><objects>{bodies}</objects></BodySet>'
        f'<JointSet name="jointset"><objects>{joints}</objects></JointSet>'
        f'<MarkerSet name="markerset"><objects>{markers}</objects></MarkerSet></Model></OpenSimDocument>'
    )


def _osim_joint(trial: Trial, fields: dict[str, Any], s: int) -> str:
    segment, above = fields["segments"][s], fields["parent"][s]
    parent = "/ground" if above < 0 else f"/bodyset/{fields['segments'][above]}"
    moving = coordinates_of(trial, fields, s)
    frames = (
        f'<frames><PhysicalOffsetFrame name="{segment}_in"><socket_parent>{parent}</socket_parent>'
        f"<translation>{numbers(fields['offset'][s])}</translation></PhysicalOffsetFrame></frames>"
    )
    ends = f"<socket_parent_frame>{segment}_in</socket_parent_frame><socket_child_frame>/bodyset/{segment}</socket_child_frame>"
    if not moving:
        return f'<WeldJoint name="to_{segment}">{ends}{frames}</WeldJoint>'
    names = "".join(_osim_coordinate(trial, joint) for joint, _ in moving)
    turns, slides = [m for m in moving if "t" not in m[0].rpartition(".")[2]], moving[:3] if above < 0 else []
    rows = [_osim_axis(f"rotation{i + 1}", *pair) for i, pair in enumerate(turns)]
    idle = [(None, "x"), (None, "y"), (None, "z")]
    rows += [_osim_axis(f"translation{i + 1}", *pair) for i, pair in enumerate(slides or idle)]
    transform = f"<SpatialTransform>{''.join(rows)}</SpatialTransform>"
    return f'<CustomJoint name="to_{segment}">{ends}<coordinates>{names}</coordinates>{frames}{transform}</CustomJoint>'


def _osim_coordinate(trial: Trial, joint: str) -> str:
    k = trial.figure.coordinates.index(joint)
    lower, upper = trial.figure.lower[k], trial.figure.upper[k]
    clamped = bool(np.isfinite(lower))
    span = numbers([lower, upper] if clamped else [-99.0, 99.0])
    begin = f"<default_value>{float(trial.start[k])!r}</default_value>"
    told = f"{begin}<range>{span}</range><clamped>{str(clamped).lower()}</clamped>"
    return f'<Coordinate name="{plain(joint)}">{told}</Coordinate>'


def _osim_axis(name: str, joint: str | None, axis: str) -> str:
    told = f"<coordinates>{plain(joint)}</coordinates>" if joint else "<coordinates></coordinates>"
    function = (
        "<LinearFunction><coefficients>1 0</coefficients></LinearFunction>"
        if joint
        else "<Constant><value>0</value></Constant>"
    )
    return f'<TransformAxis name="{name}">{told}<axis>{AXES[axis]}</axis>{function}</TransformAxis>'


def write_biomod(trial: Trial, path: Path) -> None:
    """The model as biorbd reads it, in the world's axes."""
    fields = skeleton(trial)
    lines = ["version 4", ""]
    for s, segment in enumerate(fields["segments"]):
        above = fields["parent"][s]
        R, at = (
            (fields["base"], fields["base"] @ fields["offset"][s]) if above < 0 else (np.eye(3), fields["offset"][s])
        )
        lines += [f"segment {segment}", f"  parent {'base' if above < 0 else fields['segments'][above]}"]
        lines += ["  rtinmatrix 1", "  rt", *(f"    {numbers([*R[i], at[i]])}" for i in range(3)), "    0 0 0 1"]
        axes = "".join(axis for _, axis in coordinates_of(trial, fields, s))
        if above < 0:
            lines += [f"  translations {axes[:3]}"]
        lines += [f"  rotations {axes[3:] if above < 0 else axes}"] if axes else []
        lines += ["  mass 1", "  inertia", "    1 0 0", "    0 1 0", "    0 0 1", "  com 0 0 0", "endsegment", ""]
    for name, link, at in zip(trial.names, fields["link"], fields["at"], strict=True):
        lines += [
            f"marker {name}",
            f"  parent {fields['segments'][link]}",
            f"  position {numbers(at)}",
            "  technical 1",
        ]
        lines += ["endmarker", ""]
    path.write_text("\n".join(lines))


def described(trial: Trial, kind: str, folder: Path) -> dict[str, Any]:
    """The trial for a peer that takes arrays ("arrays"), an OSIM file ("osim") or a bioMod ("biomod")."""
    common = {
        "names": np.array(trial.names),
        "joints": np.array(
            [plain(j) for j in trial.figure.coordinates] if trial.model is None else trial.figure.coordinates
        ),
        "times": trial.markers.times,
        "seen": trial.seen,
        "weights": np.array([trial.weights.get(n, 1.0) for n in trial.names]),
        "start": trial.start,
        "limits": trial.limits,
    }
    if kind == "arrays":
        return common | skeleton(trial)
    there = {} if trial.model else {"there": places(trial.figure, trial.start[None], trial.names)[0]}
    if kind == "biomod":
        write_biomod(trial, folder / "model.bioMod")
        return common | there | {"path": str(folder / "model.bioMod")}
    file = trial.model
    if file is None:
        file = folder / "model.osim"
        write_osim(trial, file)
    return common | {k: v @ UPRIGHT for k, v in there.items()} | {"path": str(file), "seen": trial.seen @ UPRIGHT}


assert ROOT == 6  # three slides and three turns, which come first
