"""Postures solved by a GPU: how many a second, how many of them met, judged here in float64.

Run ``python benchmarks/gpu.py [--jobs panda,ur5,…] [--count 4000000] [--json FILE]`` on a machine with an NVIDIA GPU
and the extra ``cuda``. Targets are placements of random postures, uniform in joint space (free roots: anywhere within
a metre), all different; tolerances 1e-5 m and 1e-4 rad; limits hold. *device*: targets and answers stay there,
between events on its stream, median of five. *host*: from NumPy arrays of float32 to NumPy arrays of float64, by the
clock, median of five. *met*: rows that the device claims; *judged*: rows of the first 200,000 that are legal and
within the tolerances by the figure's own placements on the processor. *same bits*: whether other sizes and another
order of the batch give every row the same bits. With ``--lost SHARE`` so many targets are moved out of reach. Each
job then asks `solve_many` for some of its targets on the device and on the processor, and says how often the statuses
agree.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import supple
from supple.solvers.lean.batch import Batch

SHARED = Path(os.environ.get("SUPPLE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
JUDGED, TURNS, SAME = 200_000, 5, 5_000
REACH, TURN = 1e-5, 1e-4


def robot(path: str) -> supple.Figure:
    """A robot of the shared folder."""
    return supple.load(SHARED / "data" / "robots" / path)


def walking() -> supple.Figure:
    """The G1, free to be anywhere."""
    return robot("g1/g1_29dof.urdf").based_at(free=True)


FEET_AND_HANDS = ["left_rubber_hand", "right_rubber_hand", "left_ankle_roll_link", "right_ankle_roll_link"]
JOBS: dict[str, tuple[Callable[[], supple.Figure], list[str]]] = {
    "panda": (lambda: supple.load("panda"), ["panda_hand"]),
    "ur5": (lambda: supple.load("ur5"), ["tool0"]),
    "iiwa14": (lambda: supple.load("iiwa14"), ["iiwa_link_ee"]),
    "sawyer": (lambda: supple.load("sawyer"), ["right_hand"]),
    "g1": (walking, FEET_AND_HANDS),
    "human": (lambda: supple.load("human"), ["hand_l", "hand_r", "foot_l", "foot_r", "head", "pelvis"]),
}


def drawn(figure: supple.Figure, count: int, rng: np.random.Generator, share: float) -> np.ndarray:
    """Postures (count, size): joints in a share of their ranges about the middle, a free root within a metre, turned anyhow."""
    free = ~np.isfinite(figure.upper - figure.lower)
    low, high = np.where(free, -1.0, figure.lower), np.where(free, 1.0, figure.upper)
    turning = free & np.asarray(figure.turning)
    low[turning], high[turning] = -np.pi, np.pi
    middle, half = 0.5 * (low + high), 0.5 * (high - low) * np.where(free, 1.0, share)
    return rng.uniform(middle - half, middle + half, (count, figure.size))


def judged(figure: supple.Figure, ends: list[str], q: np.ndarray, targets: list[np.ndarray]) -> float:
    """The share of rows that are legal and meet every target."""
    good = ((q >= figure.lower) & (q <= figure.upper)).all(axis=1)
    for end, T in zip(ends, targets, strict=True):
        X = figure.placement(q, end)
        far = np.linalg.norm(X[:, :3, 3] - T[:, :3, 3], axis=1)
        chord = np.linalg.norm((X - T)[:, :3, :3], axis=(1, 2)) / np.sqrt(2.0)
        good &= (far <= REACH) & (2.0 * np.arcsin(np.minimum(0.5 * chord, 1.0)) <= TURN)
    return float(good.mean())


def measured(work: Callable[[], Any], cuda: Any = None) -> float:
    """Seconds of one call: between events on the device if there is one, else by the clock; median of five."""
    spans = []
    for _ in range(TURNS):
        if cuda is None:
            begun = time.perf_counter()
            work()
            spans.append(time.perf_counter() - begun)
        else:
            (own, stream), work_on = cuda, work
            first, last = own.event(), own.event()
            first.record(stream)
            work_on()
            last.record(stream)
            last.synchronize()
            spans.append(own.event_elapsed_time(first, last) * 1e-3)
    return statistics.median(spans)


def run(name: str, counts: list[int], share: float, lost: float = 0.0, agree: int = SAME) -> list[dict[str, Any]]:
    """All rows of one job."""
    make, ends = JOBS[name]
    figure = make()
    ends = [end if end in figure.segments else figure.segments[-1] for end in ends]
    problem = supple.Problem(figure, [supple.Task(supple.Frame(end), supple.Placed(np.eye(4))) for end in ends])
    rng, rows = np.random.default_rng(11), []
    batch = Batch(problem)
    cuda = batch.cuda
    q = drawn(figure, max(counts), rng, share)
    targets = [np.ascontiguousarray(figure.placement(q, end).astype(np.float32)) for end in ends]
    gone = rng.random(max(counts)) < lost
    for T in targets:
        T[gone, :3, 3] += 50.0
    begun = time.perf_counter()
    batch([t[:64] for t in targets] if len(ends) > 1 else targets[0][:64])
    first = time.perf_counter() - begun
    last: Any = None
    for count in counts:
        some = [t[:count] for t in targets]
        given = some if len(ends) > 1 else some[0]
        answers = batch(given)
        host = measured(lambda given=given: batch(given))
        flat = np.concatenate([t.reshape(count, 16) for t in some], axis=1)
        there, stream = cuda.to_device(flat), cuda.stream()
        out = batch(there)
        device = measured(lambda there=there, out=out, on=stream: batch(there, on, out), (cuda, stream))
        check = min(count, JUDGED)
        right = judged(figure, ends, answers.q[:check], [t[:check].astype(float) for t in some])
        order = rng.permutation(count)
        other = batch([t[order] for t in some] if len(ends) > 1 else some[0][order])
        same = bool(np.array_equal(other.q, answers.q[order]) and np.array_equal(other.trips, answers.trips[order]))
        if last is not None:
            same = same and bool(np.array_equal(last.q, answers.q[: len(last.q)]))
        last = answers
        met = answers.trips > 0
        rows.append(
            {
                "job": name, "count": count, "first": first, "device": device, "host": host, "met": float(met.mean()),
                "judged": right, "of judged": float(met[:check].mean()),
                "trips": float(np.abs(answers.trips).mean()), "same bits": same,
            }
        )  # fmt: skip
        told = f"{count / device / 1e6:9.1f} M/s"
        print(
            f"{name:8s}{count:9d}{told} on the device {count / host / 1e6:9.2f} M/s host to host ({host * 1e3:8.3f} ms)"
            f"  met {met.mean():.6f} judged {right:.6f} trips {np.abs(answers.trips).mean():6.2f} same bits {same}"
            f" first {first:.1f} s",
            flush=True,
        )
    if agree:
        compare(problem, targets, min(agree, max(counts)))
    for kernel in filter(None, batch.way.loops):
        for own in kernel.overloads.values():
            print(f"{'':8s}registers {own.regs_per_thread}, local bytes {own.local_mem_per_thread}", flush=True)
    return rows


def compare(problem: supple.Problem, targets: list[np.ndarray], few: int) -> None:
    """Ask `solve_many` for some of the targets on the device and on the processor, and say how often both say the same."""
    given = [t[:few].astype(float) for t in targets]
    own = given if len(targets) > 1 else given[0]
    there, here = (supple.solve_many(problem, own, device=device) for device in ("cuda", "cpu"))
    agree = float(np.mean([a is b for a, b in zip(there.status, here.status, strict=True)]))
    worse = [i for i in range(few) if here.ok[i] and not there.ok[i]]
    print(
        f"{'':8s}solve_many, {few} rows: statuses agree {agree:.6f}, met {there.ok.mean():.6f} and {here.ok.mean():.6f}, "
        f"on the device {there.on_device.mean():.6f}, lost by it {len(worse)}",
        flush=True,
    )


def main() -> None:
    """Print the table; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--count", type=int, default=4_000_000)
    parser.add_argument("--share", type=float, default=1.0, help="of the ranges from which targets are drawn")
    parser.add_argument("--lost", type=float, default=0.0, help="share of the targets that are moved out of reach")
    parser.add_argument("--agree", type=int, default=SAME, help="rows that the processor is asked for too")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = []
    for name in arguments.jobs.split(","):
        most = arguments.count if len(JOBS[name][1]) == 1 else min(arguments.count, 1_000_000)
        rows += run(name, sorted({1_000, 100_000, most}), arguments.share, arguments.lost, arguments.agree)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
