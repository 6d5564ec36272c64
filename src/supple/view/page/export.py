"""One page of HTML that plays clips offline: meshes, placements and a small player, nothing from elsewhere."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from supple.basics.writing import check_place, write_file
from supple.motion.markers import Markers
from supple.motion.motion import Motion
from supple.view.colours import BASES, rgb
from supple.view.page.body import quaternions
from supple.view.page.clips import Clip, length_of, middle_of
from supple.view.page.faults import marker_errors, worst_times
from supple.view.page.meshes import segments_of

RATE = 60.0  # frames a second that are kept, at most
FRAMES = 6000  # and in all
TINTS = ("#d8b898", "#9db8c9", "#c9a9b8", "#b3c49a")


def write_player(clips: Sequence[Clip], path: str | Path, title: str = "") -> None:
    """Write the page."""
    check_place(path)
    write_file(Path(path), player_page(clips, title).encode())


def player_page(clips: Sequence[Clip], title: str = "") -> str:
    """The page as text."""
    name = title or ", ".join(clip.name for clip in clips)
    return (
        _template()
        .replace("@TITLE@", html.escape(name))
        .replace("@DATA@", json.dumps(player_data(clips)).replace("</", "<\\/"))
    )


def _template() -> str:
    return files("supple.view.page").joinpath("player.html").read_text(encoding="utf-8")


def player_data(clips: Sequence[Clip]) -> dict[str, Any]:
    """What the player reads: numbers as base64 of little-endian arrays."""
    middle, size = middle_of(clips)
    out = [_motion(clip, k) if isinstance(clip.what, Motion) else _markers(clip) for k, clip in enumerate(clips)]
    return {
        "length": length_of(clips),
        "middle": middle.tolist(),
        "size": size,
        "clips": out,
        "worst": worst_times(clips),
        "errors": _errors(clips),
    }


def _errors(clips: Sequence[Clip]) -> dict[str, Any] | None:
    """Lines from markers to where the figure carries them, frame by frame of the markers; NaN where there is none."""
    trial = next((clip for clip in clips if isinstance(clip.what, Markers)), None)
    if trial is None:
        return None
    kept = _kept(trial)
    rows = [marker_errors(clips, float(trial.times[k])) for k in kept]
    most = max((len(row) for row in rows), default=0)
    if most == 0:
        return None
    lines = np.full((len(rows), most, 2, 3), np.nan)
    for out, row in zip(lines, rows, strict=True):
        out[: len(row)] = row
    return {"times": _packed(trial.times[kept], "<f4"), "count": most, "lines": _packed(lines, "<f4")}


def _kept(clip: Clip) -> np.ndarray:
    """Which frames are kept."""
    count, length = len(clip.times), float(clip.times[-1]) if len(clip.times) else 0.0
    wanted = min(count, FRAMES, max(2, int(length * RATE) + 1))
    return np.unique(np.linspace(0, count - 1, wanted).round().astype(int))


def _motion(clip: Clip, k: int) -> dict[str, Any]:
    motion = clip.what
    assert isinstance(motion, Motion)
    meshes, kept = segments_of(motion.figure), _kept(clip)
    names = tuple(meshes)
    placed = [clip.placements(int(frame)) for frame in kept]
    world = np.array([[row[name] for name in names] for row in placed]).reshape(len(kept), len(names), 4, 4)
    turns = quaternions(world.reshape(-1, 4, 4)).reshape(len(kept), len(names), 4)
    shown = [c for c in motion.figure.coordinates if np.ptp(motion.q[:, motion.figure.coordinates.index(c)]) > 1e-6]
    index = np.array([motion.figure.coordinates.index(c) for c in shown], dtype=int)
    part = motion.q[kept][:, index]
    values = np.where(motion.figure.turning[index], np.rad2deg(part), part)
    return {
        "kind": "motion",
        "name": clip.name,
        "tint": (rgb(TINTS[k % len(TINTS)]) if motion.figure.bodies else rgb(BASES["bone"])).tolist(),
        "times": _packed(clip.times[kept], "<f4"),
        "meshes": [
            {"v": _packed(clip.scale * mesh.vertices, "<f4"), "f": _packed(mesh.faces, "<u2")}
            for mesh in meshes.values()
        ],
        "positions": _packed(world[:, :, :3, 3], "<f4"),
        "turns": _packed(np.round(32767.0 * turns), "<i2"),
        "coordinates": shown,
        "values": _packed(values, "<f4"),
    }


def _markers(clip: Clip) -> dict[str, Any]:
    markers, kept = clip.what, _kept(clip)
    assert isinstance(markers, Markers)
    return {
        "kind": "markers",
        "name": clip.name,
        "times": _packed(clip.times[kept], "<f4"),
        "count": len(markers.names),
        "positions": _packed(markers.positions[kept] + np.array(clip.aside), "<f4"),
    }


def _packed(values: Any, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values).astype(kind).tobytes()).decode()
