"""``make papers``: the tables and figures of the papers anew, ours beside theirs, and a page for each.

``python benchmarks/papers/run.py [--quick] [--only jack,gradient] [--fresh] [--check]``. Each part of an experiment is kept in
build/papers when it is done, under the digest of its sources, so that a run that was stopped goes on where it was; ``--fresh``
forgets. ``--quick`` takes small samples, ``--check`` only says whether the pages are as old as what they measure.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import gradient_2009
import hessian_2019
import ikspark_2025
import jack_1994
import tracking_2011
from pages import IMAGES, ROOT, digest, stale, summary, written

PAPERS: dict[str, Any] = {
    "jack": jack_1994,
    "gradient": gradient_2009,
    "hessian": hessian_2019,
    "tracking": tracking_2011,
    "ikspark": ikspark_2025,
}
KEPT = ROOT / "build" / "papers"


def parts(name: str, paper: Any, quick: bool, fresh: bool) -> dict[str, Any]:
    """What each part of a paper's experiment gives; those that are kept are read."""
    out: dict[str, Any] = {}
    mode = "quick" if quick else "full"
    for label, part in paper.PARTS.items():
        kept = KEPT / f"{name}.{label}.{mode}.{digest(paper.MEASURES)}.json"
        known = json.loads(kept.read_text()) if kept.exists() and not fresh else None
        if known is not None and all((IMAGES / picture).exists() for picture in known["pictures"]):
            out[label] = known["found"]
            print(f"{name}: {label}: kept", flush=True)
            continue
        begun, used, now = time.monotonic(), time.process_time(), time.time()
        print(f"{name}: {label} …", flush=True)
        out[label] = json.loads(json.dumps(part(quick, IMAGES)))
        drawn = [path.name for path in sorted(IMAGES.glob("*")) if path.stat().st_mtime >= now - 1.0]
        KEPT.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps({"found": out[label], "pictures": drawn}))
        took, cpu = time.monotonic() - begun, time.process_time() - used
        print(f"{name}: {label}: {took:.0f} s by the clock, {cpu:.0f} s of processor time", flush=True)
    return out


def main() -> int:
    """Measure, draw and write, or check."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small samples, in minutes")
    parser.add_argument("--only", default=",".join(PAPERS), help="which papers, by name")
    parser.add_argument("--fresh", action="store_true", help="measure again what is kept")
    parser.add_argument(
        "--check", action="store_true", help="only say whether the pages are as old as what they measure"
    )
    arguments = parser.parse_args()
    if arguments.check:
        pages = [paper.page(None) for paper in PAPERS.values()]
        wrong = [why for page in pages if (why := stale(page))]
        print("\n".join(wrong) or "all pages are as old as what they measure")
        return int(bool(wrong))
    for name in arguments.only.split(","):
        found = parts(name, PAPERS[name], arguments.quick, arguments.fresh)
        print(f"page: {written(PAPERS[name].page(found), arguments.quick)}", flush=True)
    print(f"summary: {summary([paper.page(None) for paper in PAPERS.values()])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
