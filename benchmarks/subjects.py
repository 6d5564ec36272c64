"""Subjects fitted to recordings: what is gained in tracking, and how well known lengths come back.

    python benchmarks/subjects.py [--shared FOLDER]

1. CMU's walk (02_01) and punch (02_05), the catalogue's human with the set "cmu41", from scratch: marker RMS of both clips
   before any fit, and with the subject fitted to either or to both.
2. The static trial of gait2354 from models wrong by 10 % in every segment and by 1 to 3 cm in every marker, ten times.
   The file's own model was scaled to this trial, so it stands for the truth.
3. CMU's range of motion (74_13) with markers on its skeleton, lengths and markers changed by known amounts.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import supple

MOCAP = Path("data") / "mocap"
UNIT = 0.0254 / 0.45  # metres in a unit of the BVH files


def joined(a: supple.Markers, b: supple.Markers) -> supple.Markers:
    """Two trials, one after the other."""
    times = np.concatenate([a.times, b.times + a.times[-1] + 1.0])
    return supple.Markers(a.names, np.concatenate([a.positions, b.only(a.names).positions]), times)


def displaced(figure: supple.Figure, rng: np.random.Generator, least: float, most: float) -> supple.Figure:
    """Every marker moved in some direction by a length between two [m]."""
    spots = {}
    for name, point in figure.markers.items():
        way = rng.normal(size=3)
        spots[name] = (point.segment, np.add(point.offset, rng.uniform(least, most) * way / np.linalg.norm(way)))
    return figure.with_markers(spots)


def cmu(folder: Path) -> None:
    """Real clips, from scratch."""
    chosen = supple.figure.marker_set("cmu41")
    human = supple.load("human").with_marker_set(chosen)
    walk, punch = (supple.read_markers(folder / "c3d" / f"{clip}.c3d") for clip in ("02_01", "02_05"))
    print(
        f"{'fitted to':10s} {'scales':10s} {'walk':>7s} {'punch':>7s} {'moved':>7s} {'most':>7s}  [mm] {'steps':>6s} {'s':>6s}"
    )
    rms = [1e3 * supple.track(human, clip).rms for clip in (walk, punch)]
    print(f"{'nothing':10s} {'':10s} {rms[0]:7.2f} {rms[1]:7.2f}")
    for label, trial in (("walk", walk), ("punch", punch), ("both", joined(walk, punch))):
        for scales in ("whole", "symmetric", "segments"):
            begin = perf_counter()
            subject = supple.fit_subject(human, trial, scales=scales, trust=chosen.trust)
            taken = perf_counter() - begin
            rms = [1e3 * supple.track(subject.figure, clip).rms for clip in (walk, punch)]
            moved = 1e3 * np.array(list(subject.moved.values()))
            print(f"{label:10s} {scales:10s} {rms[0]:7.2f} {rms[1]:7.2f} {np.median(moved):7.1f} {moved.max():7.1f}"
                  f"       {subject.steps:6d} {taken:6.1f}", "" if subject.converged else "not converged")  # fmt: skip


def gait(folder: Path) -> None:
    """A static trial, from wrong models."""
    figure = supple.load(folder / "opensim" / "gait2354" / "subject01.osim")
    trial = supple.read_markers(folder / "opensim" / "gait2354" / "static.trc").frames(0, 300, 10)
    bodies = ("pelvis", "femur_r", "femur_l", "tibia_r", "tibia_l", "calcn_r", "calcn_l", "torso")
    before, after, off, untold = [], [], [], set[str]()
    for seed in range(10):
        rng = np.random.default_rng(seed)
        wrong = {body: float(rng.choice([0.9, 1.1])) for body in bodies}
        start = displaced(figure.scaled(wrong), rng, 0.01, 0.03)
        subject = supple.fit_subject(start, trial, frames=10)
        before.append(supple.track(start, trial).rms)
        after.append(subject.motion.rms)
        untold.update(subject.untold)
        off.append([subject.scales[body] * wrong[body] - 1.0 for body in bodies])
    print(f"marker RMS {1e3 * np.mean(before):.2f} mm before, {1e3 * np.mean(after):.2f} mm after")
    rms = 100.0 * np.sqrt(np.mean(np.square(off), axis=0))
    print(
        "scales off by [%], RMS of ten, 10 before:", ", ".join(f"{b} {x:.1f}" for b, x in zip(bodies, rms, strict=True))
    )
    print(f"all {100.0 * np.sqrt(np.mean(np.square(off))):.1f} %, worst {100.0 * np.abs(off).max():.1f} %; "
          f"not told, at least once: {', '.join(sorted(untold))}")  # fmt: skip


def range_of_motion(folder: Path) -> None:
    """Known changes, recovered from a captured range of motion."""
    motion = supple.read_motion(folder / "bvh" / "74_13.bvh", unit=UNIT, up="y")
    spots = json.loads((folder / "c3d" / "02_01.markers.json").read_text())["markers"]
    figure = motion.figure.with_markers({name: (s["joint"], s["offset"]) for name, s in spots.items()})
    rng = np.random.default_rng(0)
    bodies = [body for body in figure.segments if figure.joints_of(body)]
    truth = {body: float(rng.uniform(0.92, 1.08)) for body in bodies}
    q = motion.q[1::10]
    exact: dict[str, Any] = {"place": False, "noise": 1e-6, "spread": 1.0, "tolerance": 1e-12, "steps": 300}
    cases: list[tuple[str, float, float, dict[str, Any]]] = [
        ("lengths alone, no noise", 0.0, 0.0, exact),
        ("lengths alone, 1 mm of noise", 1e-3, 0.0, {"place": False}),
        ("lengths and markers, 1 mm of noise", 1e-3, 0.02, {}),
    ]
    for label, noise, most, settings in cases:
        person = figure.scaled(truth)
        person = displaced(person, rng, 0.0, most) if most else person
        points = person.markers.values()
        seen = np.stack([person.placement(q, p.segment) @ np.append(p.offset, 1.0) for p in points], axis=1)[..., :3]
        trial = supple.Markers(list(person.markers), seen + noise * rng.normal(size=seen.shape), motion.times[1::10])
        subject = supple.fit_subject(figure, trial, limits=False, **settings)
        told = [body for body in bodies if body in subject.scales and body not in subject.untold]
        off = np.abs([subject.scales[body] - truth[body] for body in told])
        print(f"{label}: {len(told)} of {len(bodies)} scales told, off by {np.median(off):.1e} (median), "
              f"{off.max():.1e} (most); marker RMS {1e3 * supple.track(figure, trial, limits=False).rms:.2f} mm before, "
              f"{1e3 * subject.motion.rms:.4f} mm after; {subject.steps} steps, converged: {subject.converged}")  # fmt: skip
        print("   ", ", ".join(f"{b} {subject.scales[b] - truth[b]:+.1e}" for b in told))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Subjects fitted to recordings.")
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    folder = parser.parse_args().shared / MOCAP
    for part in (range_of_motion, gait, cmu):
        print(f"── {part.__doc__}")
        part(folder)
