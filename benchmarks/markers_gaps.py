"""What is lost when markers are: samples at random, in blocks, and a segment's markers for a second; and first frames by luck.

Distances are from all samples that there were, seen or hidden; "hidden" from those that were taken away.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import supple
from markers_data import Trial, places, rms, trial

SHARES = (0.1, 0.2, 0.3, 0.4)
BLOCK = 0.5  # seconds that one marker is gone at a time
SEGMENTS = ("LeftForeArm", "RightLeg", "LeftFoot", "Head", "Hips", "Spine1")
METHODS = {"frame by frame": supple.motion.FrameByFrame(), "whole clip": supple.motion.WholeClip(1e-5)}
STARTS = 100


def dropped_samples(shape: tuple[int, ...], share: float, seed: int = 0) -> np.ndarray:
    """Samples (frames, m) lost at random."""
    return np.random.default_rng(seed).random(shape) < share


def dropped_blocks(shape: tuple[int, int], share: float, rate: float, seed: int = 0) -> np.ndarray:
    """Samples (frames, m) lost marker by marker for half a second each, until the share is gone."""
    rng, hidden, long = np.random.default_rng(seed), np.zeros(shape, dtype=bool), round(BLOCK * rate)
    while hidden.mean() < share:
        first = rng.integers(1 - long, shape[0])
        hidden[max(first, 0) : first + long, rng.integers(shape[1])] = True
    return hidden


def dropped_segment(job: Trial, segment: str) -> np.ndarray:
    """All markers of a segment gone for a second in the middle of the trial."""
    hidden = np.zeros(job.seen.shape[:2], dtype=bool)
    first = (len(hidden) - round(job.markers.rate)) // 2
    carried = [job.figure.markers[name].segment == segment for name in job.names]
    hidden[first : first + round(job.markers.rate), carried] = True
    return hidden


def gaps() -> list[dict[str, Any]]:
    """Growth of the error with what is missing, on the CMU walk."""
    job = trial("02_01")
    shape: Any = job.seen.shape[:2]
    cases = {"nothing": np.zeros(shape, dtype=bool)}
    cases |= {f"{share:.0%} at random": dropped_samples(shape, share) for share in SHARES}
    cases |= {f"{share:.0%} in blocks": dropped_blocks(shape, share, job.markers.rate) for share in SHARES}
    cases |= {f"{segment} for 1 s": dropped_segment(job, segment) for segment in SEGMENTS}
    rows = []
    print(
        f"\n{'missing, CMU walk':28s}"
        + "".join(f"{name + ': all':>22s}{'hidden':>9s}{'not conv':>9s}" for name in METHODS)
    )
    for case, hidden in cases.items():
        row: dict[str, Any] = {"case": case, "lost": int(hidden.sum())}
        for name, method in METHODS.items():
            motion = job.without(hidden).track(method)
            at = places(job.figure, motion.q, job.names)
            unseen = rms(at[hidden][None], job.seen[hidden][None]) if hidden.any() else None
            failed = int((~motion.converged).sum() + (~np.isfinite(motion.q)).any(axis=1).sum())
            row[name] = {"rms": rms(at, job.seen), "hidden": unseen, "failed": failed}
        rows.append(row)
        cells = "".join(f"{r['rms']:22.2f}{r['hidden'] or 0.0:9.2f}{r['failed']:9d}" for r in (row[n] for n in METHODS))
        print(f"  {case:26s}{cells}", flush=True)
    return rows


def starts() -> list[dict[str, Any]]:
    """First frames from random starts: how far apart the optima are."""
    rows = []
    print(
        f"\n{'first frame, 100 random starts':32s}{'best mm':>10s}{'worst mm':>10s}{'apart mm':>10s}{'no search: same':>18s}"
    )
    for name in ("02_01", "02_05", "gait2354", "gait2392", "rajagopal", "run"):
        job = trial(name).frames(0, 1)
        rng, found, plain = np.random.default_rng(0), [], []
        lower, upper = np.maximum(job.figure.lower, -np.pi), np.minimum(job.figure.upper, np.pi)
        for _ in range(STARTS):
            begin = rng.uniform(lower, upper)
            for motions, search in ((found, True), (plain, False)):
                method = supple.motion.FrameByFrame(tolerance=1e-9, steps=2000, search=search)
                motions.append(places(job.figure, job.track(method, start=begin).q, job.names))
        offs, bare = (np.array([rms(at, job.seen) for at in motions]) for motions in (found, plain))
        apart = max(1e3 * float(np.linalg.norm(at - found[0], axis=2).max()) for at in found)
        same = int((bare <= offs.min() * (1.0 + 1e-4)).sum())
        rows.append({"trial": name, "best": offs.min(), "worst": offs.max(), "apart": apart, "plain": same})
        print(f"  {job.title:30s}{offs.min():10.5f}{offs.max():10.5f}{apart:12.5f}{same:22d}", flush=True)
    return rows
