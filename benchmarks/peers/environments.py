"""A virtual environment for each peer, made on demand, and the call of its runner there."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from peers.common import Job

HERE = Path(__file__).resolve().parent
ARMS, HUMANOIDS = ("panda", "ur5"), ("talos-easy", "talos-hard", "g1-easy", "g1-hard")


class NotInstalled(Exception):
    """A peer cannot be had on this machine; the text says why."""


@dataclass(frozen=True)
class Peer:
    """What a peer needs and which jobs it takes."""

    name: str
    requires: tuple[str, ...]
    jobs: tuple[str, ...]
    sources: tuple[str, ...] = ()  # repositories that are not on the package index: checkouts in the folder `sources`

    @property
    def distribution(self) -> str:
        """The package whose version is reported."""
        return self.sources[-1] if self.sources else self.requires[0]


_PYROKI = (
    *("jax", "jaxlib", "jaxlie", "jax_dataclasses", "jaxtyping", "loguru", "yourdfpy", "trimesh", "viser", "tyro"),
    *("robot_descriptions", "pyliblzfse", "termcolor", "tqdm", "rich"),
)
_ALL = (
    Peer("roboticstoolbox", ("roboticstoolbox-python", "numpy<2"), (*ARMS, "path")),
    Peer("eaik", ("EAIK",), ("ur5",)),
    Peer("placo", ("placo",), (*ARMS, *HUMANOIDS, "path")),
    Peer("klampt", ("Klampt",), (*ARMS, *HUMANOIDS, "path")),
    Peer("pink", ("pin-pink", "pin", "daqp", "quadprog"), (*ARMS, *HUMANOIDS, "path")),
    Peer("mink", ("mink", "mujoco", "daqp", "quadprog"), (*ARMS, *HUMANOIDS, "path")),
    Peer("trac_ik", ("pytracik",), (*ARMS, "path")),
    Peer("drake", ("drake",), (*ARMS, *HUMANOIDS, "path")),
    Peer("pyroki", _PYROKI, (*ARMS, "path"), sources=("jaxls", "pyroki")),
)
PEERS = {peer.name: peer for peer in _ALL}


def environment(peer: Peer, folder: Path) -> Path:
    """The Python of the peer's environment, made and filled if it is not there yet."""
    place = folder / peer.name
    python, done = place / "bin" / "python", place / "installed"
    if done.exists():
        return python
    checkouts = [folder / "sources" / name for name in peer.sources]
    if missing := [str(path) for path in checkouts if not path.is_dir()]:
        raise NotInstalled(f"not on the package index; put its repository into {' and '.join(missing)}")
    print(f"making an environment for {peer.name} ...", file=sys.stderr, flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    _run([sys.executable, "-m", "venv", "--clear", str(place)])
    _run([str(python), "-m", "pip", "install", "--quiet", *peer.requires])
    if checkouts:
        _run([str(python), "-m", "pip", "install", "--quiet", "--no-deps", *map(str, checkouts)])
    done.touch()
    return python


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        errors = [line for line in lines if "error" in line.lower()] or lines or ["no message"]
        raise NotInstalled(errors[0].strip())


def answers(peer: Peer, python: Path, job: Job, folder: Path) -> dict[str, Any]:
    """What the peer makes of a job: q, base, ok, seconds and a note on its settings."""
    asked, told = folder / "job.npz", folder / "answer.npz"
    job.write(asked)
    told.unlink(missing_ok=True)
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(HERE.parent)}
    command = [str(python), "-m", f"peers.{peer.name}", str(asked), str(told), peer.distribution]
    done = subprocess.run(command, env=os.environ | one, capture_output=True, text=True, check=False)
    if done.returncode or not told.exists():
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise RuntimeError(last)
    with np.load(told) as file:
        return {key: file[key] for key in file.files}
