"""All postures: supple's lists beside those of EAIK and ssik, on the same poses and in the same run, and how many are proved.

Run ``python benchmarks/all_solutions.py [--count 2000] [--slow 300] [--brute 200] [--prove 200] [--arms NAMES] [--files
FILE:SEGMENT,…] [--environments FOLDER]``. One thread, one call at a time from Python. Poses are those of random postures;
joints turn from −π to π. "known" is the share of poses whose own posture is in the list; "lacking" counts poses where another
list, or the union of all, has a posture that this one has not: every posture of a peer is polished first, and counts only if it
then is within 1e-9 of the target. For the first `--brute` poses the union also has what Newton's steps find from 1,000 random
starts. ssik reads a URDF file; what it builds ahead of time for an arm is quicker. A peer stops after 20 s an arm. `--files`
takes robot files in place of the table: nothing was chosen on them. Thresholds were chosen on the arms of
``tests/tables/arms.py`` and on a JACO 2, with other poses.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from dataclasses import replace
from math import pi, radians
from pathlib import Path
from typing import Any

import numpy as np

import supple
from peers.environments import NotInstalled, Peer, environment
from supple.proofs.claims import claims_of
from supple.solvers.any_arm.any_arm import AnyArm
from supple.solvers.closed_forms.axes import Axes
from supple.solvers.closed_forms.closed_form import ClosedForm
from supple.solvers.closed_forms.recognition import recognised

HERE = Path(__file__).resolve().parent
PEERS = Peer("branches", ("EAIK", "ssik", "numpy"), ())
STARTS = 1000  # of brute force
Rows = list[tuple[float, float, float]]


def random_arm(seed: int) -> Rows:
    """Numbers of an arm that nobody has built."""
    rng = np.random.default_rng(seed)
    return [(rng.uniform(-pi, pi), rng.uniform(-0.4, 0.4), rng.uniform(-0.4, 0.4)) for _ in range(6)]


H = pi / 2
ARMS: dict[str, Rows] = {  # (twist, length, offset), after the robots named, not checked against their makers' files
    "UR5": [(H, 0, 0.089159), (0, -0.425, 0), (0, -0.39225, 0), (H, 0, 0.10915), (-H, 0, 0.09465), (0, 0, 0.0823)],
    "UR10e": [(H, 0, 0.1807), (0, -0.6127, 0), (0, -0.57155, 0), (H, 0, 0.17415), (-H, 0, 0.11985), (0, 0, 0.11655)],
    "Puma 560": [(H, 0, 0.6718), (0, 0.4318, 0), (-H, 0.0203, 0.15005), (H, 0, 0.4318), (-H, 0, 0), (0, 0, 0.0563)],
    "IRB 120": [(-H, 0, 0.29), (0, 0.27, 0), (-H, 0.07, 0), (H, 0, 0.302), (-H, 0, 0), (0, 0, 0.072)],
    "KR 210": [(-H, 0.35, 0.75), (0, 1.25, 0), (-H, -0.054, 0), (H, 0, 1.5), (-H, 0, 0), (0, 0, 0.303)],
    "IRB 2400": [(-H, 0.1, 0.615), (0, 0.705, 0), (-H, 0.135, 0), (H, 0, 0.755), (-H, 0, 0), (0, 0, 0.085)],
    "skew wrist": [*random_arm(31)[:3], (0.8, 0, 0.35), (-1.1, 0, 0), (0.4, 0.1, 0.1)],
    "Gen3 lite": [(H, 0, 0.2433), (pi, 0.28, 0.03), (H, 0, 0.02), (H, 0, 0.245), (H, 0, 0.057), (0, 0, 0.235)],
    "xArm6": [(-H, 0, 0.267), (0, 0.28949, 0), (-H, 0.0775, 0), (H, 0, 0.3425), (-H, 0.076, 0), (0, 0, 0.097)],
    "CRX-10iA": [(-H, 0, 0.245), (pi, 0.54, 0), (-H, 0, 0), (H, 0, -0.54), (-H, 0, 0.15), (0, 0, 0.16)],
    "PiPER": [(-H, 0, 0.123), (0, 0.28503, 0), (H, -0.02198, 0), (-H, 0, 0.25075), (H, 0, 0), (0, 0, 0.091)],
    "skew 41": random_arm(41),
    "skew 42": random_arm(42),
    "bent wrist": [*random_arm(43)[:3], (radians(60), 0, 0.25), (radians(60), 0, 0.085), (pi, 0, 0.2)],
}


def axes_of(figure: supple.Figure, segment: str = "hand") -> Axes:
    """The axes that move a segment."""
    still = supple.Placed(figure.placement(figure.rest, segment))
    return Axes.of(claims_of(supple.Problem(figure, [supple.Task(segment, still)]))[0].chain)


def from_file(file: str, segment: str) -> supple.Figure:
    """The arm of a robot file that ends at a segment, with joints that turn from −π to π."""
    axes = axes_of(robot := supple.load(file), segment)
    joints, before = [*supple.fixed("base", None)], np.eye(4)
    for j, (z, through) in enumerate(zip(axes.along, axes.through, strict=True)):
        x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
        x /= np.linalg.norm(x)
        at = np.eye(4)
        at[:3] = np.column_stack([x, np.cross(z, x), z, through])
        behind = np.linalg.inv(before) @ at
        joints += supple.hinge(f"{j + 1}", f"{j}" if j else "base", (0, 0, 1), at=behind, limits=(-pi, pi))
        before = at
    return supple.Figure(robot.name, [*joints, *supple.fixed("hand", "6", at=np.linalg.inv(before) @ axes.home)])


def figure_of(rows: Rows) -> supple.Figure:
    """An arm with the segments base, 1 … 6 and hand."""
    joints, at = [*supple.fixed("base", None)], np.eye(4)
    for j, (twist, length, offset) in enumerate(rows):
        joints += supple.hinge(f"{j + 1}", f"{j}" if j else "base", (0, 0, 1), at=at, limits=(-pi, pi))
        at = supple.place((length, 0, offset), rpy=(twist, 0, 0))
    return supple.Figure("arm", [*joints, *supple.fixed("hand", "6", at=at)])


def brute_force(polish: AnyArm, target: np.ndarray, seed: int) -> np.ndarray:
    """What Newton's steps find from random starts."""
    starts = np.random.default_rng(seed).uniform(-pi, pi, (STARTS, 6))
    return polish.inside(target, np.zeros(6), starts)


def peers_of(axes: Axes, figure: supple.Figure, targets: np.ndarray, python: Path, most: int) -> dict[str, Any]:
    """What the peers answer."""
    with tempfile.TemporaryDirectory() as folder:
        urdf, asked, told = (Path(folder) / name for name in ("arm.urdf", "job.npz", "answer.npz"))
        supple.write(figure, urdf)
        lines = {"along": axes.along, "through": axes.through, "home": axes.home}
        np.savez(asked, urdf=str(urdf), targets=targets, most=most, **lines)
        one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(HERE)}
        command = [str(python), "-m", "peers.all_branches", str(asked), str(told)]
        done = subprocess.run(command, env=os.environ | one, capture_output=True, text=True, check=False)
        if done.returncode:
            return {"eaik_why": done.stderr.strip()[-200:], "ssik_why": ""}
        with np.load(told) as file:
            return {key: file[key] for key in file.files}


def missing(union: np.ndarray, own: np.ndarray) -> bool:
    """Whether a list lacks one of the union."""
    for row in union:
        d = own - row
        off = np.abs(d - 2 * pi * np.round(d / (2 * pi)))
        if not len(own) or off.max(1).min() > 1e-5:
            return True
    return False


def microseconds(spans: Any) -> str:
    """Median, mean and 99th percentile."""
    spans = np.asarray(spans) * 1e6
    return f"{np.median(spans):.1f} / {spans.mean():.1f} / {np.percentile(spans, 99):.1f}"


def listed(axes: Axes, targets: np.ndarray) -> tuple[str, list[np.ndarray], list[float], int]:
    """How the arm is solved, its lists, the time of each, and how many were doubtful by their own word."""
    formula, start, doubtful = recognised(axes), np.zeros(6), 0
    found, spans = [], []
    ask: Any = AnyArm(axes) if formula is None else ClosedForm(axes, formula)
    ask.everywhere(targets[0]) if formula is None else ask(targets[0], start)
    for target in targets:
        begun = time.perf_counter()
        if formula is None:
            postures, agreed, _ = ask.everywhere(target)
            doubt = agreed < 2
        else:
            postures, free, close = ask(np.asarray(target, float, "C"), start)
            doubt = free or close
        spans.append(time.perf_counter() - begun)
        found.append(postures)
        doubtful += doubt
    return ("eliminations" if formula is None else "formula"), found, spans, doubtful


def proofs(figure: supple.Figure, targets: np.ndarray) -> str:
    """How many lists are proved, in what time, and how many with a posture withheld."""
    proved, spans, wrong = 0, [], 0
    for target in targets:
        problem = supple.Problem(figure, [supple.Task("hand", supple.Placed(target))])
        begun = time.process_time()
        found = supple.solve_all(problem)
        spans.append(time.process_time() - begun)
        proved += found.complete is True
        if found.certificate is not None:
            proof = found.certificate.proof
            short = replace(found.certificate, proof=replace(proof, postures=proof.postures[1:]))
            wrong += short.verify()
    return f"proved {proved} of {len(targets)}, {np.median(spans) * 1e3:.1f} ms; {wrong} with one withheld"


def main() -> None:
    """Print a line for each arm and library."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--prove", type=int, default=200)
    parser.add_argument("--slow", type=int, default=300, help="poses of arms without a formula")
    parser.add_argument("--brute", type=int, default=200, help="poses that are searched by brute force")
    parser.add_argument("--files", default="", help="robot files with the segment to be placed, FILE:SEGMENT")
    parser.add_argument("--arms", default=",".join(ARMS))
    parser.add_argument("--environments", type=Path, default=HERE.parent / "build" / "peers")
    asked = parser.parse_args()
    try:
        python: Path | None = environment(PEERS, asked.environments)
    except NotInstalled as reason:
        python = None
        print(f"peers: {reason}")
    for name in asked.files.split(",") if asked.files else asked.arms.split(","):
        if asked.files:
            file, segment = name.rsplit(":", 1)
            name, figure = Path(file).stem, from_file(file, segment)
        else:
            figure = figure_of(ARMS[name])
        axes = axes_of(figure)
        count = asked.count if recognised(axes) is not None else asked.slow
        known = np.random.default_rng(2026).uniform(-pi, pi, (count, 6))
        targets = figure.placement(known, "hand")
        how, lists, spans, doubtful = listed(axes, targets)
        theirs = {} if python is None else peers_of(axes, figure, targets, python, count)
        polish = AnyArm(axes)
        every = [[own] for own in lists]
        others: dict[str, list[np.ndarray]] = {}
        for peer in ("eaik", "ssik"):
            if f"{peer}_counts" in theirs:
                split = np.split(theirs[f"{peer}_rows"], np.cumsum(theirs[f"{peer}_counts"])[:-1])
                rows = zip(targets, split, strict=False)  # a slow peer has fewer
                others[peer] = [polish.inside(target, np.zeros(6), one) for target, one in rows]
                for k, one in enumerate(others[peer]):
                    every[k].append(one)
        for k, target in enumerate(targets[: asked.brute]):
            every[k].append(brute_force(polish, target, k))
        union = [np.concatenate(each) for each in every]
        kept = 1.0 - np.mean([missing(q[None], own) for q, own in zip(known, lists, strict=True)])
        lacking = sum(missing(a, b) for a, b in zip(union, lists, strict=True))
        mean = np.mean([len(own) for own in lists])
        said = f"known {kept:.2%}, {mean:.2f} postures, lacking {lacking}, doubtful {doubtful}"
        print(f"{name:11s} supple, {how}: {count} poses, {said}, µs {microseconds(spans)}", flush=True)
        for peer in ("eaik", "ssik"):
            if peer not in others:
                print(f"{'':11s} {peer}: {theirs.get(f'{peer}_why', 'not run')}")
                continue
            lacking = sum(missing(a, b) for a, b in zip(union, others[peer], strict=False))
            mean = np.mean([len(own) for own in others[peer]])
            spent = microseconds(theirs[f"{peer}_seconds"])
            print(f"{'':11s} {peer}: {len(others[peer])} poses, {mean:.2f} postures, lacking {lacking}, µs {spent}")
        if how == "formula" and asked.prove:
            print(f"{'':11s} {proofs(figure, targets[: asked.prove])}", flush=True)


if __name__ == "__main__":
    main()
