"""Methods beside each other on the CMU walk: as it is, with noise, with samples missing; joint and natural coordinates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import supple
from markers_data import Trial, places, rms, trial
from markers_gaps import dropped_samples
from markers_ours import least

NOISE = 5e-3  # metres, standard deviation of each coordinate
LOST = 0.2


def chosen() -> dict[str, Any]:
    """The methods, by name; natural coordinates too where this version has them."""
    found = {
        "FrameByFrame()": supple.motion.FrameByFrame(),
        "FrameByFrame(1e-8)": supple.motion.FrameByFrame(tolerance=1e-8, steps=500),
        "WholeClip(1e-5)": supple.motion.WholeClip(1e-5),
        "LevenbergMarquardt()": supple.LevenbergMarquardt(),
        "Newton()": supple.Newton(),
    }
    natural = getattr(supple, "OptimalTracking", None)
    return found | ({"OptimalTracking()": natural()} if natural else {})


def cases() -> dict[str, Trial]:
    """The walk as it is, with noise, and with a fifth of its samples missing."""
    job = trial("02_01")
    rough = np.random.default_rng(1).normal(0.0, NOISE, job.markers.positions.shape)
    noisy = replace(job, markers=replace(job.markers, positions=job.markers.positions + rough))
    lost = job.without(dropped_samples(job.seen.shape[:2], LOST, seed=1))
    return {"as it is": job, "5 mm of noise": noisy, "20 % missing": lost}


def methods() -> list[dict[str, Any]]:
    """Distances from the markers as they were, time, steps, and frames that did not converge."""
    truth, rows = trial("02_01").seen, []
    print(f"\n{'CMU walk, no limits':44s}{'rms mm':>9s}{'ms a frame':>12s}{'steps':>8s}{'most':>6s}{'failed':>8s}")
    for case, job in cases().items():
        for name, method in chosen().items():
            motion = job.track(method)
            ms = (
                1e3 * least(lambda job=job, method=method: job.track(method), 3 if "Frame" in name else 1) / len(motion)
            )
            row = {
                "case": case,
                "method": name,
                "rms": rms(places(job.figure, motion.q, job.names), truth),
                "ms": ms,
                "steps": float(motion.iterations.mean()),
                "most": int(motion.iterations.max()),
                "failed": int((~motion.converged).sum()),
            }
            rows.append(row)
            print(
                f"  {case:18s}{name:24s}{row['rms']:9.4f}{ms:12.4f}{row['steps']:8.1f}{row['most']:6d}{row['failed']:8d}",
                flush=True,
            )
    return rows
