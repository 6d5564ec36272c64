"""Peers in marker tracking: their environments, made on demand, and the call of their runners."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from markers_data import Trial, places
from markers_export import UPRIGHT, described
from motion_peers import NotInstalled, pythons

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Peer:
    """What a peer needs, what it takes, and what it can do."""

    name: str
    takes: str  # "arrays", "osim" or "biomod"
    requires: tuple[str, ...]
    alone: tuple[str, ...] = ()  # installed without what they ask for, which the runner does not use
    pythons: tuple[str, ...] = ()  # commands to try where this Python is not among the package's wheels
    limits: bool = True  # whether it can hold limits


PEERS = {
    peer.name: peer
    for peer in (
        Peer("opensim", "osim", ("opensim==4.6",)),
        Peer("momentum", "arrays", ("numpy", "scipy"), ("pymomentum-core",), ("python3.12", "python3.13")),
        Peer("mink", "arrays", ("mink", "mujoco", "quadprog")),
        Peer("biorbd", "biomod", ("biorbd",), limits=False),
        Peer("nimble", "osim", ("nimblephysics", "numpy<2"), (), ("python3.11", "python3.10")),
    )
}


def environment(peer: Peer, folder: Path) -> Path:
    """The Python of the peer's environment, made and filled if it is not there yet."""
    place = folder / peer.name
    python, done = place / "bin" / "python", place / "installed"
    if done.exists():
        return python
    found = [c for name in peer.pythons for c in pythons(name)] if peer.pythons else [sys.executable]
    if not found:
        raise NotInstalled(f"none of {', '.join(peer.pythons)} is here")
    print(f"making an environment for {peer.name} ...", file=sys.stderr, flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    for command in (
        [found[0], "-m", "venv", "--clear", str(place)],
        [str(python), "-m", "pip", "install", "--quiet", *peer.requires],
        *([[str(python), "-m", "pip", "install", "--quiet", "--no-deps", *peer.alone]] if peer.alone else []),
    ):
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode:
            lines = [line.strip() for line in (ran.stdout + ran.stderr).splitlines() if line.strip()]
            shutil.rmtree(place, ignore_errors=True)
            raise NotInstalled(next((x for x in lines if x.startswith("ERROR")), (lines or ["no message"])[-1]))
    done.touch()
    return python


def answers(peer: Peer, trial: Trial, setting: str, passes: int, folder: Path, environments: Path) -> dict[str, Any]:
    """What a peer makes of a trial: places of the markers (frames, m, 3), seconds of each frame, a note, and q if it says."""
    python = environment(peer, environments)
    asked, told = folder / "job.npz", folder / "answer.npz"
    np.savez(asked, setting=setting, passes=passes, **described(trial, peer.takes, folder))
    told.unlink(missing_ok=True)
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [str(python), str(HERE / "peers_markers" / f"run_{peer.name}.py"), str(asked), str(told)]
    done = subprocess.run(command, env=os.environ | one, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode or not told.exists():
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise RuntimeError(" | ".join(lines[-4:]))
    with np.load(told) as file:
        found = {key: file[key] for key in file.files}
    if "q" in found:
        found["places"] = places(trial.figure, found["q"], trial.names)
    else:
        found["places"] = found["places"] @ UPRIGHT.T
    return found
