"""FBX files in, through the package ufbx: nodes and the animation of a take, sampled evenly; ufbx turns units and axes.

The file is read by a process of its own (see `fbx_worker`): what breaks there breaks nothing here.
"""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import numpy as np

from supple.basics.checks import positive
from supple.errors import BadFile, needed
from supple.figure.figure import Figure
from supple.files.rigs.bones import MOST_NODES, MOST_NUMBERS, Rig, motion_of
from supple.files.xml import read_bytes, shown
from supple.motion.motion import Motion

MOST_BYTES = 512 * 1024 * 1024
LONGEST = 600.0  # s


def read_fbx_figure(path: str | Path) -> Figure:
    """The skeleton in an FBX file."""
    return read_fbx(path).figure


def read_fbx(path: str | Path, *, animation: str | None = None, rate: float | None = None) -> Motion:
    """The motion in an FBX file: of the first take that moves, or the one of that name; at `rate` or the file's own."""
    read_bytes(path, MOST_BYTES)  # a plain file, and not too large
    needed("ufbx", "ufbx", "fbx", "reading .fbx")
    rate = 0.0 if rate is None else positive(rate, "the rate of frames")
    file = str(path)
    told = _worked(file, [animation or "", repr(rate), str(MOST_NUMBERS)])
    takes, names = told["takes"].tolist(), told["names"].tolist()
    if animation is not None and animation not in takes:
        raise BadFile(
            f"there is no animation {shown(animation)}; there are {', '.join(takes[:10]) or 'none'}", file=file
        )
    if not 0 < len(names) <= MOST_NODES:
        raise BadFile(f"the file has {len(names)} nodes: from 1 to {MOST_NODES} can be read", file=file)
    if "count" in told and "frames" not in told:
        raise BadFile(f"{told['count']} frames of {len(names)} nodes are more than can be read: say rate=", file=file)
    notes = [f"Of {len(takes)} animations {shown(str(told.get('chosen', '')))} is read. Say animation= for another."]
    notes = notes if len(takes) > 1 and animation is None else []
    parents, bones = told["parents"].tolist(), set(np.flatnonzero(told["bones"]).tolist())
    times, frames = told.get("times", np.zeros(1)), told.get("frames")
    return motion_of(Rig(file, "fbx", names, parents, told["rest"], bones, times=times, frames=frames, notes=notes))


def _worked(file: str, arguments: list[str]) -> dict[str, np.ndarray]:
    """What the process that reads says."""
    command = [sys.executable, "-m", "supple.files.rigs.fbx_worker", file, *arguments]
    try:
        done = subprocess.run(command, capture_output=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired as error:
        raise BadFile(f"ufbx was still reading after {LONGEST:g} s", file=file) from error
    size = int.from_bytes(done.stdout[:8], "little")
    if len(done.stdout) != 8 + size or size == 0:
        last = (done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"it ended with {done.returncode}"])[-1]
        raise BadFile(f"the file cannot be read: {last}", file=file)
    with np.load(io.BytesIO(done.stdout[8:]), allow_pickle=False) as told:
        return dict(told)
