"""Ask a million mixed questions through every door; a judge who shares nothing with the library looks at every answer.

    python fuzz/soak.py --count 1000000 --seed 0 --workers 1 --json soak.json

A *question* is a random tree or a figure of the catalogue (`drawn`), tasks of all kinds and many rows of targets, most of them
made from postures that the judge finds legal (`questions`); it goes through `solve`, the short form, `prepare`, `solve_many`,
`follow`, `step`, `Scene.drag`, budgets, deadlines, several solutions and other solvers (`doors`). The laws (`laws`, `doors`):

* every posture is finite and inside the limits, whatever the status; speeds and budgets are kept;
* SOLVED means that the judge finds every task met, and what `solve` does not call so is not met;
* errors that are reported are the judge's;
* IMPOSSIBLE has a certificate that verifies, and is never said where a legal posture is known;
* every answer has a reason; what a solver refuses it has announced;
* the same question has the same answer, q bit for bit, status and reason, through all doors and again, on any
  number of threads;
* nothing is raised or warned of, nothing hangs, memory stays what it is.

Question number k of a seed is always the same: ``--first k --count 1`` asks it again. Failures are kept in ``fuzz/failures``.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import gc
import json
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from doors import ask
from laws import judged
from questions import KNOWN, question

FAILURES = Path(__file__).parent / "failures"
STATUSES = ("SOLVED", "NEAREST", "IMPOSSIBLE", "STOPPED", "REFUSED", "")
HANG = 1200.0  # seconds that one question may take; an honest one takes less than ten, the first one compiles
CHUNK = 10  # questions between two looks at memory
WARM_UP = 0.3  # of a run, after which memory has to stay what it is
GROWTH = 48.0  # megabytes by which it may differ then: caches of the catalogue, the allocator's own pages


def resident() -> float:
    """Megabytes of memory in use by this process, after a collection."""
    gc.collect()
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return float("nan")
    return pages * 4096 / 1e6


def play(seed: int, index: int) -> dict[str, Any]:
    """One question through every door, judged."""
    record: dict[str, Any] = {"index": index, "figure": "?", "queries": 0, "table": Counter(), "wrong": []}
    faulthandler.dump_traceback_later(HANG, exit=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            asked = question(seed, index)
            record["figure"] = (
                f"{asked.drawn.figure.name}, {asked.drawn.figure.size} coordinates, scale {asked.drawn.scale:.3g}"
            )
            ledger = ask(asked, np.random.default_rng([seed, index, 1]))
            record |= judged(ledger)
        record["queries"] = len(ledger.q)
        record["table"] = Counter(zip((d.removesuffix("[i]") for d in ledger.doors), ledger.status, strict=True))
        record["wrong"] = ledger.wrong
    except Exception as error:
        record["wrong"] = [
            {"law": "nothing is raised", "door": type(error).__name__, "said": traceback.format_exc(limit=-6)}
        ]
    finally:
        faulthandler.cancel_dump_traceback_later()
    return record


def chunk(given: tuple[int, int, int]) -> tuple[list[dict[str, Any]], float]:
    """Some questions one after the other, and the memory in use afterwards."""
    seed, first, last = given
    return [play(seed, k) for k in range(first, last)], resident()


def played(seed: int, first: int, workers: int, size: int) -> Iterator[tuple[list[dict[str, Any]], float]]:
    """Chunks of questions in the order of their numbers, without an end."""
    if workers == 1:
        for at in range(first, sys.maxsize, size):
            yield chunk((seed, at, at + size))
    with ProcessPoolExecutor(workers) as pool:
        for at in range(first, sys.maxsize, size * 4 * workers):
            jobs = [(seed, k, k + size) for k in range(at, at + size * 4 * workers, size)]
            yield from pool.map(chunk, jobs)


def grown(memory: list[float]) -> float:
    """Megabytes between the memory after warm-up and in the end, each the median of a few looks."""
    after = memory[int(WARM_UP * len(memory)) :]
    few = max(1, len(after) // 5)
    return float(np.median(after[-few:]) - np.median(after[:few]))


def report(
    options: argparse.Namespace, records: list[dict[str, Any]], memory: list[float], seconds: float
) -> dict[str, Any]:
    """What came out, as it goes to JSON."""
    table: Counter[tuple[str, str]] = sum((r["table"] for r in records), Counter())
    wrong = [{"question": r["index"], "figure": r["figure"]} | w for r in records for w in r["wrong"]]
    known, solved = (
        {k: sum(r.get(part, {}).get(k, 0) for r in records) for k in KNOWN} for part in ("known", "solved")
    )
    growth = grown(memory)
    if len(memory) >= 40 and growth > GROWTH:
        wrong.append({"law": "memory stays what it is", "door": "all", "question": -1, "grown [MB]": growth})
    return {
        "seed": options.seed, "first": options.first, "questions": len(records), "queries": sum(table.values()),
        "seconds": round(seconds, 1), "table": {" / ".join(k): n for k, n in sorted(table.items())},
        "known": known, "solved": solved, "met, not called so": sum(r.get("met, not called so", 0) for r in records),
        "memory [MB]": [round(memory[0], 1), round(max(memory), 1), round(memory[-1], 1)], "growth [MB]": round(growth, 1),
        "wrong": wrong,
    }  # fmt: skip


def show(out: dict[str, Any]) -> None:
    """The table of doors, what was solved of what can be, memory, and complaints."""
    counts = Counter({tuple(k.split(" / ")): n for k, n in out["table"].items()})
    heads = ("answers", "solved", "nearest", "impossible", "stopped", "refused")
    print(f"{'door':32s}" + "".join(f"{head:>12s}" for head in heads))
    for door in dict.fromkeys(d for d, _ in sorted(counts)):
        mine = [counts[door, s] for s in STATUSES]
        print(f"{door:32s}" + "".join(f"{n:12d}" for n in (sum(mine), *mine[:5])))
    for kind in KNOWN:
        known, solved = out["known"][kind], out["solved"][kind]
        print(f"a legal posture is known, {kind}: {solved} of {known} solved ({100 * solved / max(1, known):.2f} %)")
    print(f"within tolerances, but not called so by the kernel: {out['met, not called so']}")
    first, most, last = out["memory [MB]"]
    print(
        f"memory: {first:.0f} MB at first, {most:.0f} at most, {last:.0f} in the end; {out['growth [MB]']:+.1f} after warm-up"
    )
    for one in out["wrong"][:20]:
        print("WRONG " + json.dumps(one, default=str)[:1500])
    laws = Counter(one["law"] for one in out["wrong"])
    rate = out["queries"] / max(out["seconds"], 1e-9)
    print(
        f"{out['queries']} queries, {out['questions']} questions, {out['seconds']:.0f} s, {rate:.0f} a second; ", end=""
    )
    print(f"{len(out['wrong'])} wrong" + (f": {dict(laws)}" if laws else ""))


def keep(out: dict[str, Any]) -> None:
    """A file for each question with a complaint: its number is the recipe."""
    for number in sorted({one["question"] for one in out["wrong"]}):
        FAILURES.mkdir(exist_ok=True)
        mine = [one for one in out["wrong"] if one["question"] == number]
        again = f"python fuzz/soak.py --seed {out['seed']} --first {number} --count 1"
        file = FAILURES / f"soak-{out['seed']}-{number}.json"
        file.write_text(json.dumps({"again": again, "wrong": mine}, indent=1, default=str))
        print(f"kept: {file}")


def main() -> int:
    """Ask until so many queries have been answered; the exit status is 1 if something was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=3000, help="queries, at least; whole questions are asked")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first question")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many, whatever the count")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    begun, answered = time.monotonic(), 0
    records: list[dict[str, Any]] = []
    memory: list[float] = []
    size = min(CHUNK, 1 + options.count // 1000)
    with contextlib.suppress(KeyboardInterrupt):  # what was asked until then is reported
        for part, used in played(options.seed, options.first, options.workers, size):
            memory.append(used)
            if len(memory) % 10 == 0:
                print(f"{answered} queries, {used:.0f} MB …", file=sys.stderr, flush=True)
            for record in part:
                records.append(record)
                answered += record["queries"]
                if answered >= options.count:
                    break
            if answered >= options.count or time.monotonic() > begun + 60.0 * options.minutes:
                break
    out = report(options, records, memory, time.monotonic() - begun)
    show(out)
    keep(out)
    if options.json is not None:
        options.json.write_text(json.dumps(out, indent=1, default=str))
    return int(bool(out["wrong"]))


if __name__ == "__main__":
    sys.exit(main())
