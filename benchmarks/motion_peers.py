"""Environments of the peers of captured motion, made on demand, and the call of their runners."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from motion_data import Capture

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "peers"


class NotInstalled(Exception):
    """A peer cannot be had on this machine; the text says why."""


@dataclass(frozen=True)
class Peer:
    """What a peer needs."""

    name: str
    folder: str
    requires: tuple[str, ...]
    settings: tuple[str, ...]
    alone: tuple[str, ...] = ()  # installed without what they ask for, which the runner does not use
    pythons: tuple[str, ...] = ()  # commands to try where this Python is not among the package's wheels


PEERS = {
    "momentum": Peer(
        "momentum",
        "momentum",
        ("numpy", "scipy"),
        ("sure", "quick"),
        ("pymomentum-core",),
        ("python3.12", "python3.13"),
    ),  # it asks for torch, which its solvers do not use
    "mink": Peer("mink", "motion_mink", ("mink", "mujoco", "quadprog"), ("sure",)),
}


def environment(peer: Peer) -> Path:
    """The Python of the peer's environment, made and filled if it is not there yet."""
    place = BUILD / peer.folder
    python, done = place / "bin" / "python", place / "installed"
    if done.exists():
        return python
    found = [c for name in peer.pythons for c in pythons(name)] if peer.pythons else [sys.executable]
    if not found:
        raise NotInstalled(f"none of {', '.join(peer.pythons)} is here")
    print(f"making an environment for {peer.name} ...", file=sys.stderr, flush=True)
    BUILD.mkdir(parents=True, exist_ok=True)
    _run([found[0], "-m", "venv", "--clear", str(place)])
    _run([str(python), "-m", "pip", "install", "--quiet", *peer.requires])
    if peer.alone:
        _run([str(python), "-m", "pip", "install", "--quiet", "--no-deps", *peer.alone])
    done.touch()
    return python


def pythons(name: str) -> list[str]:
    """Where a command such as python3.12 is and works: on the path, or among pyenv's versions."""
    places = [shutil.which(name) or ""]
    if shutil.which("pyenv"):
        root = subprocess.run(["pyenv", "root"], capture_output=True, text=True, check=False).stdout.strip()
        places += sorted(map(str, Path(root, "versions").glob(f"*/bin/{name}")))
    return [p for p in places if p and subprocess.run([p, "-c", ""], capture_output=True, check=False).returncode == 0]


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise NotInstalled(next((line for line in lines if line.startswith("ERROR")), (lines or ["no message"])[-1]))


def answers(peer: Peer, capture: Capture, spacing: float, setting: str, passes: int, folder: Path) -> dict[str, Any]:
    """What a peer makes of a motion at a spacing: q, seconds, and a note on its settings."""
    python = environment(peer)
    runs = [run.frames for run in capture.runs(spacing)]
    padded = np.full((len(runs), max(map(len, runs))), -1)
    for row, frames in zip(padded, runs, strict=True):
        row[: len(frames)] = frames
    asked, told = folder / "job.npz", folder / "answer.npz"
    np.savez(asked, runs=padded, setting=setting, passes=passes, **capture.described())
    told.unlink(missing_ok=True)
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [str(python), str(HERE / "peers_motion" / f"run_{peer.name}.py"), str(asked), str(told)]
    done = subprocess.run(command, env=os.environ | one, capture_output=True, text=True, check=False)
    if done.returncode or not told.exists():
        raise RuntimeError((done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1])
    with np.load(told) as file:
        return {key: file[key] for key in file.files}
