"""Markers: supple beside OpenSim, momentum, mink, biorbd and nimblephysics, on the same models, markers and weights.

Run ``OMP_NUM_THREADS=1 python benchmarks/markers.py [--jobs clips,dropped,models,gaps,starts,methods] [--peers NAMES]
[--json FILE] [--plots FOLDER]``. One thread. A peer runs in an environment of its own, between two runs of supple, and its
ratio is to the faster of these; times are processor times, those of a frame the least of several passes. Distances are judged
for all alike, by the figure's own placements in the angles that a peer gives (nimblephysics: by the places of its own markers).
The trials are read from a folder ``shared`` beside the checkout, or from the one that the environment variable
``SUPPLE_SHARED`` names.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

import supple
from markers_data import CMU, OSIM, Trial, places, rms, trial
from markers_gaps import dropped_samples, gaps, starts
from markers_methods import methods
from markers_ours import DEFAULT, EXACT, SHARP, Row, frame_time, ours, overrun
from markers_peers import PEERS, NotInstalled, answers

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = {
    "opensim": ("sure",),
    "momentum": ("sure", "tuned", "quick"),
    "mink": ("sure", "quick"),
    "biorbd": ("sure",),
    "nimble": ("sure",),
}
Found = dict[str, Any]


class Bench:
    """Where peers live, and what has been found so far."""

    def __init__(self, wanted: list[str], environments: Path) -> None:
        self.wanted, self.environments = wanted, environments

    def ask(self, name: str, job: Trial, setting: str, passes: int) -> Found | str:
        """What a peer found, or why it did not."""
        with tempfile.TemporaryDirectory() as folder:
            try:
                return answers(PEERS[name], job, setting, passes, Path(folder), self.environments)
            except NotInstalled as reason:
                return f"not installed: {reason}"
            except RuntimeError as reason:
                return f"failed: {reason}"

    def beside(self, job: Trial, name: str, setting: str, truth: np.ndarray) -> Row:
        """A peer's line, between two runs of supple."""
        passes = 2 if len(job.seen) < 400 else 1
        before = frame_time(job, DEFAULT, 3)
        found = self.ask(name, job, setting, passes)
        who = f"{name}, {setting}" if len(SETTINGS[name]) > 1 else name
        if isinstance(found, str):
            return Row(job.name, job.limits, who, note=found)
        near, ms = min(before, frame_time(job, DEFAULT, 3)), 1e3 * float(found["seconds"].mean())
        more = overrun(job, found["q"]) if "q" in found else {}
        return Row(
            job.name, job.limits, who, rms(found["places"], truth), ms, ms / near, note=str(found["note"]), **more
        )


def table(bench: Bench, job: Trial, peers: list[str], truth: np.ndarray | None = None) -> list[Row]:
    """supple, to the default and to a sharp tolerance, and the peers."""
    truth = job.seen if truth is None else truth
    rows = [ours(job, "supple", DEFAULT)[0], ours(job, "supple, 1e-8", SHARP)[0]]
    for name in peers:
        if name in bench.wanted and (PEERS[name].limits or not job.limits):
            rows += [bench.beside(job, name, setting, truth) for setting in SETTINGS[name]]
    return rows


def clips(bench: Bench) -> list[Row]:
    """Both CMU clips, without limits and with them."""
    rows = []
    for name in CMU:
        for limits in (False, True):
            part = table(bench, trial(name).limited(limits), ["opensim", "momentum", "mink", "biorbd"])
            show(f"{CMU[name]}, limits {'on' if limits else 'off'}", part)
            rows += part
    return rows


def dropped(bench: Bench) -> list[Row]:
    """30 % of the samples lost; distances from all of them."""
    rows = []
    for name in CMU:
        whole = trial(name)
        job = whole.without(dropped_samples(whole.seen.shape[:2], 0.3))
        part = [missing_row(job, whole, "supple", DEFAULT)]
        part += [
            missing_row(job, whole, f"supple, whole clip {s:g}", supple.motion.WholeClip(s)) for s in (1e-5, 3e-5, 1e-4)
        ]
        for peer, setting in (("biorbd", "sure"), ("opensim", "sure"), ("momentum", "tuned"), ("mink", "quick")):
            if peer in bench.wanted:
                part.append(bench.beside(job, peer, setting, whole.seen))
        show(f"{whole.title}, 30 % dropped", part)
        rows += part
    return rows


def missing_row(job: Trial, whole: Trial, who: str, method: Any) -> Row:
    """What supple makes of what is left, judged by all there was."""
    row, motion = ours(job, who, method)
    return replace(row, rms=rms(places(job.figure, motion.q, job.names), whole.seen))


def models(bench: Bench) -> list[Row]:
    """OSIM models with motion: times and distances, and the angles of converged answers beside OpenSim's."""
    rows = []
    for name in OSIM:
        job = trial(name)
        part = table(bench, job, ["opensim", "nimble"])
        part += table(bench, job.limited(False), ["nimble"]) if name in ("rajagopal", "run") else []
        part += angle_row(bench, job) if "opensim" in bench.wanted else []
        show(job.title, part)
        rows += part
    return rows


def angle_row(bench: Bench, job: Trial) -> list[Row]:
    """The largest difference of any angle from OpenSim's, both converged."""
    found = bench.ask("opensim", job, "exact", 1)
    if isinstance(found, str):
        return [Row(job.name, job.limits, "opensim, 1e-9", note=found)]
    row, motion = ours(job, "supple, 1e-12", EXACT)
    slides = np.array([name.endswith(("_tx", "_ty", "_tz")) for name in job.figure.coordinates])
    off = np.abs(np.degrees(np.angle(np.exp(1j * (found["q"] - motion.q)))))[:, ~slides]
    worst = [name for name, slide in zip(job.figure.coordinates, slides, strict=True) if not slide][
        int(off.max(axis=0).argmax())
    ]
    shift = 1e3 * np.abs(found["q"] - motion.q)[:, slides].max(initial=0.0)
    note = f"largest difference of an angle {off.max():.4f}° ({worst}), of a slide {shift:.4f} mm"
    ms = 1e3 * float(found["seconds"].mean())
    return [row, Row(job.name, job.limits, "opensim, 1e-9", rms(found["places"], job.seen), ms, note=note)]


def show(title: str, rows: list[Row]) -> None:
    """One table."""
    print(
        f"\n{title:44s}{'rms mm':>10s}{'ms a frame':>12s}{'x supple':>10s}{'call ms':>10s}{'over °':>9s}{'inside mm':>11s}"
    )
    for row in rows:
        numbers = (row.rms, row.ms, row.ratio, row.call, row.over, row.held)
        widths = ((10, 4), (12, 4), (10, 1), (10, 4), (9, 3), (11, 4))
        pairs = zip(numbers, widths, strict=True)
        cells = "".join(" " * w if np.isnan(x) else f"{x:{w}.{d}f}" for x, (w, d) in pairs)
        print(f"  {row.who + ('' if row.limits else ', no limits'):42s}{cells}  {row.note}", flush=True)


def told(rows: list[Row]) -> list[dict[str, Any]]:
    """Rows for JSON, which has no NaN."""
    return [{key: None if value != value else value for key, value in asdict(row).items()} for row in rows]


JOBS = {
    "clips": lambda bench: told(clips(bench)),
    "dropped": lambda bench: told(dropped(bench)),
    "models": lambda bench: told(models(bench)),
    "gaps": lambda bench: gaps(),
    "starts": lambda bench: starts(),
    "methods": lambda bench: methods(),
}


def main() -> None:
    """Print the tables; write JSON and pictures if asked."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--jobs", default=",".join(JOBS), help="some of " + ", ".join(JOBS))
    parser.add_argument("--peers", default=",".join(PEERS), help="some of " + ", ".join(PEERS) + ", or none")
    parser.add_argument("--environments", type=Path, default=ROOT / "build" / "peers_markers")
    parser.add_argument("--json", type=Path, help="jobs that are not run again keep what the file has")
    parser.add_argument("--plots", type=Path, help="a folder for the pictures, drawn from what the file has")
    arguments = parser.parse_args()
    if os.environ.get("OMP_NUM_THREADS") != "1":
        sys.exit("set OMP_NUM_THREADS=1: everything here runs on one thread")
    wanted = [word for word in arguments.peers.split(",") if word not in ("", "none")]
    names = [word for word in arguments.jobs.split(",") if word not in ("", "none")]
    if unknown := [w for w in wanted if w not in PEERS] + [n for n in names if n not in JOBS]:
        sys.exit(f"no {', '.join(unknown)}; there are the peers {', '.join(PEERS)} and the jobs {', '.join(JOBS)}")
    bench = Bench(wanted, arguments.environments.resolve())
    kept = json.loads(arguments.json.read_text()) if arguments.json and arguments.json.exists() else {}
    for name in names:
        kept[name] = JOBS[name](bench)
        if arguments.json:
            arguments.json.write_text(json.dumps(kept, indent=1) + "\n")
    if arguments.plots:
        from markers_plot import draw

        draw(kept, arguments.plots)


if __name__ == "__main__":
    main()
