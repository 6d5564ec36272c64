"""What every runner shares: the job, the clock, the choice of settings and the answer file.

A runner is called in its own environment as ``python -m peers.name job.npz answer.npz package``. Only `solve` is timed, one
target at a time; turning targets into a library's own types, and its answers back into arrays, is not. Several passes are made
over the same targets with the same random numbers, and the median of a target's times counts: a busy machine then does not.
"""

from __future__ import annotations

import ctypes
import random
import sys
import time
from importlib.metadata import version
from typing import Any

import numpy as np

from peers.judge import Judge

TUNING, PATIENCE = 200, 3.0  # targets on which settings are compared, and seconds for each setting


class Job:
    """A robot, its targets and where to start; read from an .npz file."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields
        self.urdf = str(fields["urdf"])
        self.frames = [str(name) for name in fields["frames"]]
        self.targets = np.asarray(fields["targets"])  # (n, frames, 4, 4)
        self.start = np.asarray(fields["start"])  # values of the joints
        self.base = np.asarray(fields["base"])  # (4, 4), where the root link is at the start
        self.floating = bool(fields["floating"])
        self.warm = bool(fields["warm"])  # begin each target at the answer to the last
        self.passes, self.seconds = int(fields["passes"]), float(fields["seconds"])
        self.judge = Judge(self.urdf, self.frames)
        self.joints, self.lower, self.upper = self.judge.joints, self.judge.lower, self.judge.upper

    @classmethod
    def read(cls, path: str) -> Job:
        with np.load(path) as file:
            return cls(**{key: file[key] for key in file.files})

    def write(self, path: Any) -> None:
        np.savez(path, **self.fields)

    def first(self, count: int, seconds: float = 60.0) -> Job:
        """The same job with fewer targets and less time."""
        return Job(**{**self.fields, "targets": self.targets[:count], "passes": 3, "seconds": seconds})

    def starts(self, count: int = 200) -> np.ndarray:
        """The start, then random legal values of the joints: what a solver without restarts of its own is given."""
        lower, upper = np.maximum(self.lower, -np.pi), np.minimum(self.upper, np.pi)
        others = np.random.default_rng(1).uniform(lower, upper, (count - 1, len(lower)))
        return np.vstack([self.start, others])


class Solver:
    """One library set up for one job; runners override what differs."""

    clipped = True  # answers are clipped to the limits before they are judged: an overrun by rounding is forgiven
    note = ""

    def __init__(self, job: Job) -> None:
        self.job = job

    def target(self, T: np.ndarray) -> Any:
        """Targets (frames, 4, 4) in the library's own types."""
        return T[0] if len(T) == 1 else T

    def first(self) -> Any:
        """The start in the library's own types."""
        return self.job.start

    def solve(self, target: Any, start: Any) -> Any:
        """The timed call."""
        raise NotImplementedError

    def read(self, answer: Any) -> tuple[np.ndarray, np.ndarray | None, bool]:
        """Values of the job's joints, the root's placement if it floats, and whether the library claims success."""
        raise NotImplementedError

    def again(self, answer: Any) -> Any:
        """An answer as the next start."""
        return self.read(answer)[0]


def reseed() -> None:
    """The same random numbers for every pass, also in C."""
    random.seed(0)
    np.random.seed(0)
    ctypes.CDLL(None).srand(0)


def measure(solver: Any, job: Job) -> dict[str, Any]:
    """Answers and seconds; stops after `job.seconds`, with as many targets as were done in the first pass."""
    targets = [solver.target(T) for T in job.targets]
    clock, spans, works, answers = time.perf_counter, [], [], []
    solver.solve(targets[0], solver.first())
    begun = clock()
    for k in range(job.passes):
        reseed()
        span, start, worked = [], solver.first(), time.process_time()
        for i, target in enumerate(targets):
            if (k == 0 and clock() - begun > job.seconds) or (k > 0 and i == len(answers)):
                break
            before = clock()
            answer = solver.solve(target, start)
            span.append(clock() - before)
            if k == 0:
                answers.append(solver.read(answer))
            if job.warm:
                start = solver.again(answer)
        spans.append(span)
        works.append((time.process_time() - worked) / max(len(span), 1))
        if (clock() - begun) * (k + 2) / (k + 1) > 1.5 * job.seconds:
            break
    q = np.array([a[0] for a in answers], dtype=float)
    q = np.clip(q, job.lower, job.upper) if solver.clipped else q
    base = np.array([np.eye(4) if a[1] is None else a[1] for a in answers])
    ok = np.array([bool(a[2]) for a in answers])
    return {"q": q, "base": base, "ok": ok, "seconds": np.array(spans), "work": min(works), "note": solver.note}


def tuned(kind: Any, job: Job, choices: list[dict[str, Any]]) -> Any:
    """The choice of settings that solves most of the first targets, the fastest of those."""
    if len(choices) == 1:
        return kind(job, **choices[0])
    few, best = job.first(TUNING, PATIENCE), None
    for choice in choices:
        solver = kind(few, **choice)
        found = measure(solver, few)
        right = few.judge.solved(found["q"], found["base"], few.targets[: len(found["q"])]).mean()
        key = (right, -np.median(found["seconds"], axis=0).mean())
        if best is None or key > best[0]:
            best = (key, choice)
    assert best is not None
    return kind(job, **best[1])


def main(kind: Any, choices: Any = lambda job: [{}]) -> None:
    """Run the job named on the command line."""
    job = Job.read(sys.argv[1])
    found = measure(tuned(kind, job, choices(job)), job)
    np.savez(sys.argv[2], **found, version=version(sys.argv[3]))
