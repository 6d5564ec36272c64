"""How far a question walks through the code: modules, functions and changes of module of the calls within supple.

Run ``python benchmarks/walks.py [--json FILE] [--pairs N] [--only NAME]``. Counted are calls of functions whose source lies in
``src/supple``, as Python's profiler sees them; comprehensions and generators count as part of the function around them, and a
generator that goes on as no new call. A *change of module* is a call of a function in another module than the call before it,
wherever it returned to in between: what a reader who follows the calls would have to turn pages for.

Each walk is made twice and the second one counted, with a figure, a problem and files of its own: what is imported, compiled
or made once in a process is there already; and where kernels are compiled, in a second process, so that a kernel whose source
had to be imported to be compiled does not count. Kernels are counted in two ways: *entered as one call*, which a profiler does
not look into (they are compiled); and *interpreted* (``NUMBA_DISABLE_JIT=1``), in a process of its own, where every kernel is a
function like any other. Scenes and proofs take minutes interpreted and are left out there.

The URDF file is that of the folder ``SUPPLE_SHARED``, if there is one, else what supple writes of its catalogue's robot.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import supple

SOURCE = str(Path(supple.__file__).parent) + os.sep
SCENE = Path(__file__).parents[1] / "examples" / "scenes" / "cup.toml"
TARGETS = {  # the most modules, and changes of module, kernels entered as one call
    "URDF query": (32, 500),
    "tracked frame": (16, None),
    "supple solve scene.toml": (40, None),
}
GENERATOR = 0x20  # the flag of a code object


class Walk:
    """What was called, in order, by module."""

    def __init__(self) -> None:
        self.modules: list[str] = []
        self.functions: set[tuple[str, str]] = set()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(SOURCE):
            return
        if code.co_name[0] == "<" or code.co_flags & GENERATOR:
            return
        module = code.co_filename.removeprefix(SOURCE).removesuffix(".py").replace(os.sep, ".")
        self.modules.append(module)
        self.functions.add((module, code.co_qualname))

    def counts(self, pairs: int) -> dict[str, Any]:
        """The numbers of a row, the modules, and the pairs of modules between which it goes to and fro."""
        steps = [(a, b) for a, b in zip(self.modules, self.modules[1:], strict=False) if a != b]
        often = Counter(" ⇄ ".join(sorted(step)) for step in steps)
        return {
            "modules": len(set(self.modules)),
            "functions": len(self.functions),
            "changes": len(steps),
            "names": sorted(set(self.modules)),
            "pairs": dict(often.most_common(pairs)),
        }


def counted(parts: dict[str, Callable[[dict[str, Any]], Any]], pairs: int) -> dict[str, Any]:
    """The counts of each part of a walk and, if there are several, of all; later parts know the answers of earlier ones."""
    whole, rows, known = Walk(), {}, {}
    for name, part in parts.items():
        walk = Walk()
        sys.setprofile(walk)
        try:
            known[name] = part(known)
        finally:
            sys.setprofile(None)
        rows[name] = walk.counts(pairs)
        whole.modules += walk.modules
        whole.functions |= walk.functions
    return {**rows, "all": whole.counts(pairs)} if len(rows) > 1 else rows


# ── the walks ────────────────────────────────────────────────────────────────────────────────────────────────────────
def urdf(folder: Path) -> Path:
    """A URDF file of a robot."""
    shared = Path(os.environ.get("SUPPLE_SHARED", "")) / "data" / "robots" / "panda" / "panda.urdf"
    if os.environ.get("SUPPLE_SHARED") and shared.is_file():
        return shared
    supple.write(supple.load("panda"), folder / "panda.urdf")
    return folder / "panda.urdf"


def urdf_query(folder: Path) -> dict[str, Any]:
    """A URDF query from file to errors."""
    path, target = urdf(folder), supple.place((0.5, 0.1, 0.4), rpy=(3.1, 0, 0))
    goal = supple.Placed((0.4, 0.1, 0.5), rpy=(3.1, 0, 0))
    return {
        "load": lambda _: supple.load(path),
        "Problem": lambda known: supple.Problem(known["load"], [supple.Task("panda_hand", goal)]),
        "prepare": lambda known: supple.prepare(known["Problem"]),
        "query": lambda known: known["prepare"](target),
        "errors": lambda known: known["query"].errors,
    }


def a_solve(folder: Path) -> dict[str, Any]:
    """`solve` of a problem."""
    goal = supple.Placed((0.5, 0.1, 0.4), rpy=(3.1, 0, 0))
    problem = supple.Problem(supple.load(urdf(folder)), [supple.Task("panda_hand", goal)])
    return {"solve": lambda _: supple.solve(problem)}


def a_frame(_: Path) -> dict[str, Any]:
    """One frame of markers tracked."""
    figure = supple.load("human", fingers=False)
    names = [name for name in figure.segments if not name.endswith("'")][::3]
    figure = figure.with_markers({name: (name, (0.01, 0.02, 0.03)) for name in names})
    q = figure.rest + 0.05 * np.sin(np.arange(figure.size))
    seen = supple.Markers(names, figure.marker_places(figure.limits.project(q))[None], np.zeros(1))
    return {"track": lambda _: supple.track(figure, seen)}


def a_scene(_: Path) -> dict[str, Any]:
    """`supple solve` of a scene file."""
    from supple.cli import app

    def solve(_: Any) -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            app(["solve", str(SCENE)], prog_name="supple")

    return {"supple solve": solve}


def a_proof(folder: Path) -> dict[str, Any]:
    """An impossible pose with `Decide`."""
    goal = supple.Placed((0.6, 0.3, 0.95), rpy=(3.1, 0, 0))
    problem = supple.Problem(supple.load(urdf(folder)), [supple.Task("panda_hand", goal)])
    return {"solve": lambda _: supple.solve(problem, solver=supple.Decide())}


WALKS = {
    "URDF query": urdf_query,
    "solve": a_solve,
    "tracked frame": a_frame,
    "supple solve scene.toml": a_scene,
    "impossible with Decide": a_proof,
}
SHORT = ("URDF query", "solve", "tracked frame")  # those that are counted interpreted, too


def measured(names: list[str], pairs: int) -> dict[str, Any]:
    """The counts of the named walks in this process."""
    out = {}
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(2):
                out[name] = counted(WALKS[name](Path(folder)), pairs)
    return out


def in_a_process(names: list[str], pairs: int, interpreted: bool) -> dict[str, Any]:
    """The counts of the named walks in a process of their own."""
    command = [sys.executable, __file__, "--here", *names, "--pairs", str(pairs)]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1" if interpreted else "0", "SUPPLE_QUIET": "1"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    """Print the table; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--pairs", type=int, default=0, help="show so many pairs of modules of each walk")
    parser.add_argument("--only", choices=[*WALKS])
    parser.add_argument("--here", nargs="+", choices=[*WALKS], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.here:
        print(json.dumps(measured(arguments.here, arguments.pairs)))
        return
    names = [arguments.only] if arguments.only else [*WALKS]
    short = [name for name in names if name in SHORT]
    in_a_process(names, 0, False)  # compiles what is missing
    rows = {"entered": in_a_process(names, arguments.pairs, False)}
    if short:
        rows["interpreted"] = in_a_process(short, arguments.pairs, True)
    print(f"{'walk':26s}{'part':14s}{'kernels':14s}{'modules':>9s}{'functions':>11s}{'changes':>9s}   target")
    for kernels, walks in rows.items():
        for walk, parts in walks.items():
            for part, row in parts.items():
                most = TARGETS.get(walk) if part == [*parts][-1] and kernels == "entered" else None
                wanted = " and ".join(f"≤ {x}" for x in most or () if x is not None)
                numbers = f"{row['modules']:9d}{row['functions']:11d}{row['changes']:9d}"
                print(f"{walk:26s}{part:14s}{kernels:14s}{numbers}   {wanted}")
                for pair, times in row["pairs"].items():
                    print(f"{'':10s}{times:6d}  {pair}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
