"""Convex inverse kinematics: everything that is measured of it, part by part.

Run ``OMP_NUM_THREADS=1 python benchmarks/convex.py [--parts decide,sawyer,rank] [--count N] [--json FOLDER]``. Each part has a
file of its own, ``convex_decide.py`` (solved or proved impossible), ``convex_sawyer.py`` (an arm among boxes, beside Drake) and
``convex_rank.py`` (the paper's own method), which takes more options. The problem sets are read from a folder ``shared``
beside the checkout, or from the one that the environment variable ``SUPPLE_SHARED`` names.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import convex_decide
import convex_rank
import convex_sawyer

PARTS = {"decide": convex_decide.main, "sawyer": convex_sawyer.main, "rank": convex_rank.main}


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--count", help="problems of each set, for a shorter run")
    parser.add_argument("--json", type=Path, help="a folder for one file of each part")
    arguments = parser.parse_args()
    for name in arguments.parts.split(","):
        options = ["--count", arguments.count] if arguments.count else []
        if arguments.json:
            arguments.json.mkdir(parents=True, exist_ok=True)
            options += ["--json", str(arguments.json / f"{name}.json")]
        print(f"\n## {name}\n", flush=True)
        PARTS[name](options)


if __name__ == "__main__":
    main()
