"""A user's first impression: how long a fresh process takes to its first answer, from a wheel, from a checkout, beside peers.

Run ``make wheel``, then ``python benchmarks/startup.py [--parts wheel,checkout,foreign,peers] [--only WORD]``. Every row is a
process of its own: seconds by the clock, and processor seconds, which do not count what a busy machine does besides. *wheel* is
installed from ``dist`` into an environment of its own, with no cache anywhere and a home that stays empty; *checkout* is this
one, cold (an empty cache for each row) and warm; *foreign* is the wheel on hosts that it was not made for. Peers get
environments under ``build/peers``, as in ``robots.py``, and solve for one pose of the same robot.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from peers.environments import PEERS, NotInstalled, environment

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "startup"
PANDA = """
import supple
panda = supple.load({what!r})
hand = "panda_hand"
target = panda.placement(panda.rest, hand)
target[:3, 3] += (0.05, -0.1, {up})
"""
SOLVE = "assert supple.solve(panda, {hand: supple.Placed(target)}).ok"
PROVE = """
answer = supple.solve(panda, {hand: supple.Placed(target)})
assert answer.certificate is not None, answer
"""
STEP = """
problem = supple.Problem(panda, [supple.Task(hand, supple.Placed(target))])
assert (supple.step(problem, panda.rest, 0.01) != panda.rest).any()
"""
TRACK = """
import numpy as np
import supple
human = supple.load("human").with_marker_set("cmu41")
t = np.arange(60)[:, None] / 60
seen = human.marker_places(human.rest + 0.1 * np.sin(t + np.arange(human.size)))
assert supple.track(human, supple.Markers(tuple(human.markers), seen, t[:, 0])).converged.all()
"""
HELP = "import sys; sys.argv = ['supple', {}]; from supple.cli import main; main()"
# What a process does, and how long it may take from a wheel, by the clock.
PROGRAMS: dict[str, tuple[str, float | None]] = {
    "import supple": ("import supple", None),
    "supple --help": (HELP.format("'--help'"), 0.25),
    "supple info panda": (HELP.format("'info', 'panda'"), 0.5),
    "solve, of the catalogue": (PANDA.format(what="panda", up=-0.1) + SOLVE, 1.5),
    "solve, from URDF": (PANDA.format(what="panda.urdf", up=-0.1) + SOLVE, 1.5),
    "unreachable, with proof": (PANDA.format(what="panda", up=0.8) + PROVE, 2.5),
    "track": (TRACK, 2.0),
    "step": (PANDA.format(what="panda", up=-0.1) + STEP, None),
}
# One pose of a job, in the environment of a peer.
PEER = """
import runpy, sys
import peers.common as common
def main(kind, choices=lambda job: [{}]):
    job = common.Job.read(sys.argv[1])
    solver = kind(job, **choices(job)[0])
    solver.read(solver.solve(solver.target(job.targets[0]), solver.first()))
common.main = main
runpy.run_module("peers." + sys.argv[2], run_name="__main__")
"""


@dataclass
class Row:
    """A process: where it ran, what it did, how long it took, and what it said."""

    where: str
    what: str
    wall: float = float("nan")
    processor: float = float("nan")
    target: float | None = None
    said: str = ""


def timed(command: list[str], folder: Path, settings: dict[str, str], before: Any = None) -> tuple[float, float, str]:
    """Seconds by the clock and of the processor, and what a process said on stderr."""
    begun, pipe = time.perf_counter(), subprocess.PIPE
    with subprocess.Popen(
        command, cwd=folder, env=settings, stdout=subprocess.DEVNULL, stderr=pipe, text=True, preexec_fn=before
    ) as process:
        assert process.stderr is not None
        said = process.stderr.read().strip()
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(said.splitlines()[-1] if said else f"status {process.returncode}")
    return wall, used.ru_utime + used.ru_stime, said


def plain(home: Path, **more: str) -> dict[str, str]:
    """An environment without settings of anybody's own."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SUPPLE_", "NUMBA_", "XDG_", "PYTHON"))}
    return {**kept, "HOME": str(home), "TMPDIR": str(home), **more}


def measured(where: str, python: Path, names: list[str], rounds: int, cold: bool = False, **settings: str) -> list[Row]:
    """A row for each program: the median of some rounds, after one that fills the disk's memory and Python's own caches."""
    rows = []
    for name in names:
        program, target = PROGRAMS[name]
        spans = []
        with tempfile.TemporaryDirectory() as folder:
            place = _with_urdf(Path(folder))
            home = place / "home"
            home.mkdir(mode=0o700)
            for _ in range(1 if cold else rounds + 1):
                spans.append(timed([str(python), "-c", program], place, plain(home, **settings)))
            left = [file for file in home.rglob("*") if file.is_file()]
            said = " / ".join([*spans[-1][2].splitlines(), *(["wrote into the home"] if left and not cold else [])])
        kept = spans if cold else spans[1:]
        wall, processor = (statistics.median(span[k] for span in kept) for k in (0, 1))
        rows.append(Row(where, name, wall, processor, target, said))
        show(rows[-1])
    return rows


def _with_urdf(place: Path) -> Path:
    shutil.copy(_urdf(), place / "panda.urdf")
    return place


def _urdf() -> Path:
    """The panda of the catalogue as a URDF file."""
    file = BUILD / "panda.urdf"
    if not file.exists():
        import supple

        file.parent.mkdir(parents=True, exist_ok=True)
        supple.write(supple.load("panda"), file)
    return file


def installed(requirements: list[str], name: str) -> Path:
    """The Python of a fresh environment with the newest wheel that fits it."""
    place = BUILD / name
    python = place / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    quietly = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*quietly, *requirements], check=True)
    wheel = max((ROOT / "dist").glob("supple-*.whl"), key=lambda f: ("none-any" not in f.name, f.stat().st_mtime))
    subprocess.run([*quietly, "--force-reinstall", "--no-deps", str(wheel)], check=True)
    return python


# ── parts ────────────────────────────────────────────────────────────────────────────────────────────────────────────
NEEDED = ["numpy", "scipy", "typer", "rich", "python-flint", "clarabel"]


def from_wheel(rounds: int) -> list[Row]:
    """An installed wheel, and no cache anywhere."""
    import numba

    python = installed([*NEEDED, f"numba=={numba.__version__}"], "wheel")
    return measured("wheel", python, list(PROGRAMS), rounds)


def from_checkout(rounds: int) -> list[Row]:
    """This checkout: cold, each row with an empty cache; then warm."""
    python, names = Path(sys.executable), list(PROGRAMS)
    rows = []
    for name in names:
        with tempfile.TemporaryDirectory() as cache:
            given = {"PYTHONPATH": str(ROOT / "src"), "SUPPLE_CACHE": cache, "SUPPLE_QUIET": "1"}
            rows += measured("checkout, cold", python, [name], 1, cold=True, **given)
            rows += measured("checkout, warm", python, [name], rounds, **given)
    return rows


def on_foreign_hosts(_: int) -> list[Row]:
    """The wheel where it was not made for: what it does, and what it says."""
    import numba

    python = installed([*NEEDED, f"numba=={numba.__version__}"], "wheel")
    other = "0.66.0" if not numba.__version__.startswith("0.66") else "0.65.1"
    rows, step = [], PANDA.format(what="panda", up=-0.1) + STEP

    def tried(where: str, given: Path, before: Any = None, mode: int = 0o700, **settings: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            home = _with_urdf(Path(folder)) / "home"
            home.mkdir()
            home.chmod(mode)
            chosen = plain(home, **settings)
            wall, processor, said = timed([str(given), "-c", step], Path(folder), chosen, before)
            rows.append(Row(where, "step", wall, processor, None, said.replace("\n", " / ")))
            show(rows[-1])

    tried("this host", python)
    tried("another CPU", python, NUMBA_CPU_NAME="generic")
    tried("a home that cannot be written", python, XDG_CACHE_HOME="/proc/nowhere", TMPDIR="/proc/nowhere")
    tried("the same, and another CPU", python, None, 0o700, NUMBA_CPU_NAME="generic", SUPPLE_CACHE="/proc/nowhere")
    tried("a full disk, and another CPU", python, _fill_disk, NUMBA_CPU_NAME="generic")
    try:
        tried("another Numba", installed([*NEEDED, f"numba=={other}"], "other_numba"))
    except (subprocess.CalledProcessError, RuntimeError) as error:
        rows.append(Row("another Numba", "step", said=f"could not be tried: {error}"))
        show(rows[-1])
    return rows


def _fill_disk() -> None:
    """From now on no file of this process can grow: all but what a full disk is."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def of_peers(rounds: int) -> list[Row]:
    """Other people's libraries: import, read the robot, solve for one pose."""
    from robots import job_of

    rows, folder = [], ROOT / "build" / "peers"
    with tempfile.TemporaryDirectory() as place:
        asked = Path(place) / "job.npz"
        job_of("panda", 1, 60.0).write(asked)
        for name in ("mink", "pink", "roboticstoolbox", "pyroki"):
            try:
                python = environment(PEERS[name], folder)
                command = [str(python), "-c", PEER, str(asked), name]
                settings = plain(Path(place), PYTHONPATH=str(ROOT / "benchmarks"))
                spans = [timed(command, Path(place), settings) for _ in range(rounds + 1)][1:]
                wall, processor = (statistics.median(span[k] for span in spans) for k in (0, 1))
                rows.append(Row(name, "solve, from URDF", wall, processor))
            except (NotInstalled, RuntimeError, FileNotFoundError) as error:
                rows.append(Row(name, "solve, from URDF", said=str(error)))
            show(rows[-1])
    return rows


PARTS = {"wheel": from_wheel, "checkout": from_checkout, "foreign": on_foreign_hosts, "peers": of_peers}


def show(row: Row) -> None:
    """A line of the table."""
    target = "" if row.target is None or row.where != "wheel" else f"{row.target:8.2f}"
    print(f"{row.where:32s}{row.what:26s}{row.wall:8.2f}{row.processor:11.2f}{target:>8s}  {row.said}", flush=True)


def main() -> None:
    """Print the table; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--only", default="", help="only programs whose name has this word")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    for name in [name for name in PROGRAMS if arguments.only not in name]:
        del PROGRAMS[name]
    print(f"{'start-up [s]':32s}{'':26s}{'clock':>8s}{'processor':>11s}{'target':>8s}")
    rows = [row for part in arguments.parts.split(",") for row in PARTS[part](arguments.rounds)]
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")


if __name__ == "__main__":
    main()
