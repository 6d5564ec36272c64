"""What the wide loop of a GPU takes, by the hundred thousand: obstacles, coupled joints, preferences, relative goals.

Run ``python benchmarks/gpu_wide.py [--jobs boxes,coupled,…] [--count 200000] [--json FILE]`` on a machine with an NVIDIA GPU
and the extra ``cuda``. Targets are met by random postures, uniform in joint space; those among obstacles are clear by a
centimetre, as points along the capsules say. *host* and *same bits* are as in ``gpu.py``; *met* are the rows that the device
claims; *judged* those of the first 1,000 that are legal and miss no task by more than its tolerance, as the figure's own
placements and distances on the processor say; *agree* is the share of ``--agree`` rows for which `solve_many` says the same
on the device and on the processor.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import supple
from gpu import SHARED, drawn, measured
from supple.geometry.shapes import Ball, Capsule, Core, Cylinder
from supple.problem.task import met
from supple.solvers.lean.batch import Batch

JUDGED, POINTS, KEPT, ROOM = 1_000, 7, 0.005, 0.01
Job = tuple[supple.Problem, Callable[[int, np.random.Generator], list[np.ndarray]]]


def placements(figure: supple.Figure, ends: list[str], seen_from: str | None = None) -> Callable[..., list[np.ndarray]]:
    """Targets of placed ends, where random postures have them."""

    def draw(count: int, rng: np.random.Generator) -> list[np.ndarray]:
        q = drawn(figure, count, rng, 1.0)
        frames = [figure.placement(q, end) for end in ends]
        if seen_from is not None:
            base = np.linalg.inv(figure.placement(q, seen_from))
            frames = [*frames[:-1], base @ frames[-1]]
        return [np.ascontiguousarray(X.astype(np.float32)) for X in frames]

    return draw


def coupled() -> Job:
    """A finger of a Panda, which goes with the other one."""
    figure = supple.load("panda")
    return supple.Problem(
        figure, [supple.Task(supple.Frame("panda_rightfinger"), supple.Placed(np.eye(4)))]
    ), placements(figure, ["panda_rightfinger"])


def preferred() -> Job:
    """A Panda that likes to be as it rests."""
    figure = supple.load("panda")
    rest = supple.Task(None, supple.Near(figure.rest), preference=True)
    problem = supple.Problem(figure, [supple.Task(supple.Frame("panda_hand"), supple.Placed(np.eye(4))), rest])
    draw = placements(figure, ["panda_hand"])
    size = figure.size
    return problem, lambda count, rng: [
        *draw(count, rng),
        np.broadcast_to(figure.rest.astype(np.float32), (count, size)),
    ]


def relative() -> Job:
    """Baxter's left hand in the world, and the right one as the left one sees it."""
    figure = supple.load(SHARED / "data" / "robots" / "baxter" / "baxter.urdf")
    ends = ["left_hand", "right_hand"]
    tasks = [
        supple.Task(supple.Frame(ends[0]), supple.Placed(np.eye(4))),
        supple.Task(supple.Frame(ends[1]), supple.Placed(np.eye(4), relative_to=ends[0])),
    ]
    return supple.Problem(figure, tasks), placements(figure, ends, ends[0])


def round_panda() -> supple.Figure:
    """A Panda whose links, but for the fingers, are the capsules of its published collision model."""
    figure = supple.load(SHARED / "data" / "robots" / "panda" / "panda_collision.urdf")
    solids = {
        segment: [Capsule(bar.radius, bar.length, bar.at) for bar in bars if isinstance(bar, Cylinder)]
        for segment, bars in figure.bars.items()
    }
    return figure.with_solids({s: () if "finger" in s else bars for s, bars in solids.items()})


def kept_apart(figure: supple.Figure) -> list[tuple[str, str]]:
    """The pairs of links that are clear of each other in some of 400 postures, and at rest."""
    q = np.vstack([figure.rest[None], drawn(figure, 400, np.random.default_rng(2), 1.0)])
    clear = {pair: clear_of(figure, [], [pair], q) for pair in figure.colliding_pairs()}
    return [pair for pair, good in clear.items() if good[0] and good.mean() > 0.2]


def boxes(figure: supple.Figure) -> list[supple.Box]:
    """Twenty boxes about a Panda, which leave its rest alone."""
    rng, out = np.random.default_rng(4), []
    while len(out) < 20:
        angle, far = rng.uniform(-np.pi, np.pi), rng.uniform(0.35, 0.9)
        middle = np.array([far * np.cos(angle), far * np.sin(angle), rng.uniform(-0.1, 1.1)])
        half = rng.uniform(0.02, 0.12, 3)
        box = supple.Box(tuple(middle - half), tuple(middle + half))
        if clear_of(figure, [box], [], figure.rest[None])[0]:
            out.append(box)
    return out


def clear_of(figure: supple.Figure, about: list[supple.Box], apart: list[tuple[str, str]], q: np.ndarray) -> np.ndarray:
    """Whether points along the capsules are clear of boxes, and those of pairs of links of each other."""
    points: dict[str, list[tuple[np.ndarray, float]]] = {}
    for segment, bars in figure.bars.items():
        X = figure.placement(q, segment)
        cores = [Core.of(bar) for bar in bars if isinstance(bar, Ball | Capsule)]
        points[segment] = []
        for core in cores:
            Y = X @ core.at
            along = np.linspace(-core.half, core.half, POINTS)[:, None]
            points[segment].append((Y[:, None, :3, 3] + along * Y[:, None, :3, 2], core.radius))
    good = np.ones(len(q), dtype=bool)
    for segment, several in points.items():
        if not figure.chain(None, segment):
            continue
        for at, radius in several:
            for box in about:
                lower, upper = np.asarray(box.lower), np.asarray(box.upper)
                off = np.maximum(np.maximum(lower - at, at - upper), 0.0)
                good &= (np.linalg.norm(off, axis=2) >= radius + ROOM + KEPT).all(axis=1)
    for a, b in apart:
        for p, r in points.get(a, []):
            for o, s in points.get(b, []):
                off = np.linalg.norm(p[:, :, None] - o[:, None], axis=3)
                good &= (off >= r + s + ROOM + KEPT).all(axis=(1, 2))
    return good


def among_boxes() -> Job:
    """A Panda among twenty boxes, clear of them and of itself."""
    figure = round_panda()
    about, apart = boxes(figure), kept_apart(figure)
    touching = [pair for pair in figure.colliding_pairs() if pair not in apart]
    task = supple.Task(supple.Frame("panda_hand"), supple.Placed(np.eye(4)))
    problem = supple.Problem(
        figure, [task], obstacles=about, clearance=supple.Clearance(KEPT, itself=True, ignoring=touching)
    )

    def draw(count: int, rng: np.random.Generator) -> list[np.ndarray]:
        parts: list[np.ndarray] = []
        while sum(map(len, parts)) < count:
            q = drawn(figure, 20_000, rng, 1.0)
            parts.append(q[clear_of(figure, about, apart, q)])
        q = np.concatenate(parts)[:count]
        return [np.ascontiguousarray(figure.placement(q, "panda_hand").astype(np.float32))]

    return problem, draw


JOBS: dict[str, Callable[[], Job]] = {
    "boxes": among_boxes, "coupled": coupled, "near": preferred, "relative": relative,
}  # fmt: skip


def right(problem: supple.Problem, q: np.ndarray, targets: list[np.ndarray], found: np.ndarray) -> float:
    """The share of rows that are claimed and are legal and met, of those that are claimed."""
    good = []
    for i in np.flatnonzero(found[:JUDGED]):
        one = problem.aimed(*(cleaned(t[i]) for t in targets))
        misses = one.misses(q[i])
        good.append(one.limits.contains(q[i]) and all(met(t, m) for t, m in zip(one.all_tasks, misses, strict=True)))
    return float(np.mean(good)) if good else 1.0


def cleaned(target: np.ndarray) -> np.ndarray:
    """A target of float32 as one of float64 with a rotation that is one."""
    out = target.astype(float)
    if out.shape == (4, 4):
        u, _, v = np.linalg.svd(out[:3, :3])
        out[:3, :3] = u @ v
    return out


def run(name: str, count: int, agree: int) -> dict[str, Any]:
    """The row of a job."""
    problem, draw = JOBS[name]()
    rng, batch = np.random.default_rng(11), Batch(problem)
    targets = draw(count, rng)
    begun = time.perf_counter()
    solve(batch, problem, [t[:64] for t in targets])
    first = time.perf_counter() - begun
    found = solve(batch, problem, targets)
    host = measured(lambda: solve(batch, problem, targets))
    ready, order = flat(problem, targets), rng.permutation(count)
    flat_time = measured(lambda: batch.rows(ready))
    other = solve(batch, problem, [t[order] for t in targets])
    few = solve(batch, problem, [t[: count // 3] for t in targets])
    same = all(
        np.array_equal(getattr(other, part), getattr(found, part)[order])
        and np.array_equal(getattr(few, part), getattr(found, part)[: count // 3])
        for part in ("q", "trips")
    )
    met_rows = found.trips > 0
    row = {
        "job": name, "count": count, "first": first, "host": host, "rows": flat_time, "met": float(met_rows.mean()),
        "judged": right(problem, found.q, targets, met_rows), "trips": float(np.abs(found.trips).mean()), "same bits": same,
    }  # fmt: skip
    if agree:
        some = [np.array([cleaned(x) for x in t[:agree]]) for t in targets]
        given = some if len(some) > 1 else some[0]
        there, here = (supple.solve_many(problem, given, device=device) for device in ("cuda", "cpu"))
        row["agree"] = float(np.mean([a is b for a, b in zip(there.status, here.status, strict=True)]))
        row["met here"] = float(here.ok.mean())
    print(
        "  ".join(f"{key} {value:.6g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items()),
        flush=True,
    )
    for kernel in filter(None, batch.way.loops):
        for own in kernel.overloads.values():
            print(f"{'':8s}registers {own.regs_per_thread}, local bytes {own.local_mem_per_thread}", flush=True)
    return row


def flat(problem: supple.Problem, targets: list[np.ndarray]) -> np.ndarray:
    """Targets as kernels read them: a placement as its place and its rotation, in the order of its terms."""
    parts = []
    for task, T in zip(problem.tasks, targets, strict=True):
        if T.shape[1:] == (4, 4):
            place, turn = T[:, :3, 3], T[:, :3, :3].reshape(len(T), 9)
            at_first = len(task.goal.terms()[0].target) == 3
            parts += [place, turn] if at_first else [turn, place]
        else:
            parts.append(T)
    return np.concatenate(parts, axis=1)


def solve(batch: Batch, problem: supple.Problem, targets: list[np.ndarray]) -> Any:
    """From arrays to arrays."""
    return batch.rows(flat(problem, targets))


def main() -> None:
    """Print the table; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--agree", type=int, default=2_000)
    parser.add_argument("--warm", action="store_true", help="only compile")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = []
    for name in arguments.jobs.split(","):
        if arguments.warm:
            problem, draw = JOBS[name]()
            begun = time.perf_counter()
            solve(Batch(problem), problem, draw(64, np.random.default_rng(1)))
            print(f"{name}: first call {time.perf_counter() - begun:.1f} s", flush=True)
        else:
            rows.append(run(name, arguments.count, arguments.agree))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
