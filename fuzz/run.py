"""Feed broken files to the readers: each must be read or refused by a supple.Error, quickly and in little memory.

    python fuzz/run.py --count 20000 --seed 0 --format all

File number k of a seed is always the same, whatever happened before. A reader runs in a process of its own with a limit
of memory; a file that it has not answered after two seconds is a hang. What was read is used as well: its segments must
have finite places at rest, and a figure that can be written must read back. Everything else is a failure, whose file
is kept in ``fuzz/failures``; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import seeds
from mutate import mutate, mutate_binary

HERE = Path(__file__).resolve().parent
SECONDS = 2.0
MEGABYTES = 2048
OUTCOMES = ("read", "refused", "error", "hang", "memory", "crash")
FAILURES = OUTCOMES[2:]


def use_urdf(data: bytes) -> None:
    """Read a robot, place its segments, write it and read it again."""
    import numpy as np

    from supple.errors import BadValue
    from supple.files.urdf.reader import parse_urdf
    from supple.files.urdf.writer import format_urdf

    figure = parse_urdf(data, "fuzz.urdf")
    frames = figure.placements(figure.rest)
    if not all(np.isfinite(T).all() for T in frames.values()):
        raise AssertionError("a segment has no finite place at rest")
    try:
        text = format_urdf(figure)
    except BadValue:
        return
    again = parse_urdf(text)
    if again.coordinates != figure.coordinates or again.segments != figure.segments:
        raise AssertionError("the figure that was written does not read back")


def use_bvh(data: bytes) -> None:
    """Read a motion and look at its numbers."""
    import numpy as np

    from supple.files.bvh.reader import parse_bvh

    motion: Any = parse_bvh(data.decode("utf-8", "surrogateescape"), "fuzz.bvh")
    if not (np.isfinite(motion.q).all() and np.isfinite(motion.times).all()):
        raise AssertionError("a motion has numbers that are not finite")


def use_scene(data: bytes, ending: str) -> None:
    """Read a scene, look at its posture, write it and read it again."""
    import numpy as np

    from supple.files.door import load
    from supple.files.scene.text import format_scene, parse_scene

    scene = parse_scene(data.decode("utf-8", "surrogateescape"), ending, load, "fuzz" + ending)
    if not (np.isfinite(scene.q).all() and scene.limits.contains(scene.q)):
        raise AssertionError("a scene has no legal posture")
    text = format_scene(scene, ending)
    if format_scene(parse_scene(text, ending, load), ending) != text:
        raise AssertionError("the scene that was written does not read back")


def use_markers(data: bytes, ending: str) -> None:
    """Read a trial, look at its numbers, write it and read it again."""
    import numpy as np

    from supple.errors import BadValue
    from supple.files.c3d.reader import parse_c3d
    from supple.files.c3d.writer import format_c3d
    from supple.files.marker_trial import Wishes
    from supple.files.trc import format_trc, parse_trc

    markers = {".c3d": parse_c3d, ".trc": parse_trc}[ending](data, Wishes(), "fuzz" + ending)
    if not (np.abs(markers.positions[markers.seen]) <= 1e9).all() or not markers.notes:
        raise AssertionError("a trial has numbers that are not finite, or no notes")
    try:
        again = parse_trc(format_trc(markers).encode(), Wishes(up=markers.source and markers.source.up))
        format_c3d(markers)
    except BadValue as error:
        if "rename" in str(error) or "evenly" in str(error) or "fit" in str(error):
            return
        raise AssertionError("the trial that was written does not read back") from error
    if len(again) != len(markers):
        raise AssertionError("the trial that was written has other frames")


def use_storage(data: bytes) -> None:
    """Read coordinates of a small figure, write them and read them again."""
    import numpy as np

    from supple.figure.figure import Figure
    from supple.figure.joints import free, hinge, slide
    from supple.files.storage import format_storage, parse_storage

    figure = Figure("walker", [*free("pelvis"), *hinge("knee", "pelvis"), *slide("pelvis_tx", None)])
    motion = parse_storage(data, figure, "fuzz.mot", partial=True)
    again = parse_storage(format_storage(motion).encode(), figure)
    if not np.allclose(again.q, motion.q, rtol=1e-12):
        raise AssertionError("the motion that was written does not read back")


def use_asf(data: bytes) -> None:
    """Read a skeleton and place its segments."""
    import numpy as np

    from supple.files.acclaim.skeleton import parse_asf

    figure = parse_asf(data, "fuzz.asf")
    if not all(np.isfinite(T).all() for T in figure.placements(figure.rest).values()):
        raise AssertionError("a segment has no finite place at rest")


def use_amc(data: bytes) -> None:
    """Read the motion of a sound skeleton and look at its numbers."""
    import numpy as np

    from supple.files.acclaim.motion import parse_amc
    from supple.files.acclaim.skeleton import parse_asf

    motion = parse_amc(data, parse_asf(seeds.SKELETON), "fuzz.amc")
    if not (np.isfinite(motion.q).all() and np.isfinite(motion.times).all()):
        raise AssertionError("a motion has numbers that are not finite")


def use_osim(data: bytes) -> None:
    """Read a model and place its segments."""
    import numpy as np

    from supple.files.osim.reader import parse_osim

    figure = parse_osim(data, "fuzz.osim")
    if not all(np.isfinite(T).all() for T in figure.placements(figure.rest).values()):
        raise AssertionError("a segment has no finite place at rest")


def use_gltf(data: bytes) -> None:
    """Read a rig and look at its numbers."""
    import numpy as np

    from supple.files.rigs.khronos import parse_gltf

    motion: Any = parse_gltf(data, "fuzz.gltf")
    if not (np.isfinite(motion.q).all() and np.isfinite(motion.times).all()):
        raise AssertionError("a motion has numbers that are not finite")


READERS: dict[str, Callable[[bytes], None]] = {
    "urdf": use_urdf,
    "bvh": use_bvh,
    "c3d": partial(use_markers, ending=".c3d"),
    "trc": partial(use_markers, ending=".trc"),
    "mot": use_storage,
    "osim": use_osim,
    "gltf": use_gltf,
    "glb": use_gltf,
    "asf": use_asf,
    "amc": use_amc,
    "scene.toml": partial(use_scene, ending=".toml"),
    "scene.json": partial(use_scene, ending=".json"),
}
BINARY = ("c3d", "glb")


def broken_file(kind: str, samples: list[bytes], seed: int, index: int) -> bytes:
    """File number `index` of a seed."""
    rng = random.Random(f"{kind}:{seed}:{index}")
    return (mutate_binary if kind in BINARY else mutate)(rng.choice(samples), rng)


def serve(pipe: Connection, kind: str, samples: list[bytes]) -> None:
    """Answer each file with what became of it, until the pipe closes."""
    from supple.errors import Error

    for sample in samples:
        READERS[kind](sample)  # compiles, imports, and proves that the samples are sound
    _limit_memory()
    pipe.send(("ready", ""))
    while True:
        try:
            data = pipe.recv()
        except EOFError:
            return
        try:
            READERS[kind](data)
            answer = ("read", "")
        except Error as error:
            answer = ("refused", type(error).__name__)
        except MemoryError:
            answer = ("memory", traceback.format_exc())
        except BaseException:
            answer = ("error", traceback.format_exc())
        pipe.send(answer)


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + MEGABYTES * 2**20, hard))


def _address_space() -> int:
    """Bytes of address space that this process has already; compilers reserve a lot that they never use."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[0]) * 4096 if status.exists() else 0


class Worker:
    """A process that reads, started again whenever a file has killed it."""

    def __init__(self, kind: str, samples: list[bytes]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, kind, samples), daemon=True)
        self.process.start()
        theirs.close()
        if not self.pipe.poll(120.0) or self.pipe.recv()[0] != "ready":
            raise SystemExit(f"the reader of {kind} files did not start")

    def ask(self, data: bytes) -> tuple[str, str]:
        """What became of a file."""
        try:
            self.pipe.send(data)
            if not self.pipe.poll(SECONDS):
                return "hang", f"no answer within {SECONDS:g} s"
            return self.pipe.recv()
        except (EOFError, OSError):
            self.process.join(5.0)
            return "crash", f"the process ended with status {self.process.exitcode}"

    def stop(self) -> None:
        """End the process."""
        self.pipe.close()
        self.process.kill()
        self.process.join()


def examine(kind: str, samples: list[bytes], seed: int, count: int) -> Iterator[tuple[int, bytes, str, str]]:
    """The number, content, outcome and details of each file."""
    worker = Worker(kind, samples)
    try:
        for index in range(count):
            data = broken_file(kind, samples, seed, index)
            outcome, details = worker.ask(data)
            yield index, data, outcome, details
            if outcome in ("hang", "crash", "memory"):
                worker.stop()
                worker = Worker(kind, samples)
    finally:
        worker.stop()


def run(kind: str, seed: int, count: int, shared: Path | None) -> dict[str, Any]:
    """Examine `count` files of one format and print a line of a table."""
    samples = [*seeds.samples(kind), *(seeds.found(kind, shared) if shared is not None else ())]
    began, tally = time.monotonic(), Counter[str]()
    for index, data, outcome, details in examine(kind, samples, seed, count):
        tally[outcome] += 1
        if outcome in FAILURES:
            kept = HERE / "failures" / f"{kind}-{seed}-{index}.bin"
            kept.parent.mkdir(exist_ok=True)
            kept.write_bytes(data)
            print(f"{outcome}: file {index}, kept as {kept.relative_to(HERE.parent)}\n{details}", flush=True)
    seconds = time.monotonic() - began
    row = {"format": kind, "count": count, **{name: tally[name] for name in OUTCOMES}, "seconds": round(seconds, 1)}
    print("  ".join(f"{value:>10}" for value in row.values()), flush=True)
    return row


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    parser.add_argument("--count", type=int, default=20_000, help="files of each format")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--format", choices=(*READERS, "all"), default="all")
    parser.add_argument("--shared", action="store_true", help="mutate the files of the shared folder too")
    options = parser.parse_args()
    kinds = tuple(READERS) if options.format == "all" else (options.format,)
    shared = seeds.shared_folder() if options.shared else None
    print("  ".join(f"{name:>10}" for name in ("format", "count", *OUTCOMES, "seconds")))
    rows = [run(kind, options.seed, options.count, shared) for kind in kinds]
    failures = sum(row[name] for row in rows for name in FAILURES)
    print(json.dumps({"seed": options.seed, "rows": rows, "failures": failures}))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
