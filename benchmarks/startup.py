"""A user's first impression: how long a fresh process takes to import supple and solve its first problem.

Run ``python benchmarks/startup.py [--json FILE]``. Cold means an empty kernel cache, as after an installation or an upgrade;
warm means every later process. Each is measured in processes of their own; of the warm ones the median is shown.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """
import time
start = time.perf_counter()
import supple
imported = time.perf_counter()
human = supple.load("human")
points = {name: human.placement(human.rest, name)[:3, 3] + 0.05 for name in ("hand_l.tip", "hand_r.tip", "head.top")}
tasks = [supple.Task(supple.Point(name), supple.At(x)) for name, x in points.items()]
solution = supple.solve(supple.Problem(human, tasks))
solved = time.perf_counter()
assert solution.ok, solution.report()
print(imported - start, solved - imported)
"""


def run(cache: str) -> tuple[float, float]:
    """Seconds of the import, and of the first figure and solve, in a fresh process."""
    environment = os.environ | {"SUPPLE_CACHE": cache, "SUPPLE_QUIET": "1"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    imported, solved = map(float, done.stdout.split())
    return imported, solved


def main() -> None:
    """Print the table; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        cold = run(cache)
        warm = [run(cache) for _ in range(arguments.rounds)]
    median = tuple(statistics.median(column) for column in zip(*warm, strict=True))
    rows = [
        {"case": "cold: all that a first solve compiles", "import": cold[0], "solve": cold[1], "target": 12.0},
        {"case": "warm: a fresh process", "import": median[0], "solve": median[1], "target": 0.9},
    ]
    print(f"{'start-up [s]':42s}{'import':>10s}{'first solve':>14s}{'together':>10s}{'target':>10s}")
    for row in rows:
        total = row["import"] + row["solve"]
        print(f"{row['case']:42s}{row['import']:10.2f}{row['solve']:14.2f}{total:10.2f}{row['target']:10.1f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
