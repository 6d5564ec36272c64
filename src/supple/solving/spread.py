"""The rows of a batch on the workers of a Dask cluster: each part is an ordinary `solve_many` there, with one thread.

A row's answer depends on nothing but the problem and its target, so parts put together are what one machine gives, bit for bit
where the workers' machine code is of the same level.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from supple.errors import BadValue, Error, Interrupted, needed, shown
from supple.problem.problem import Problem

LEAST = 256  # rows of a part: fewer are not worth sending
PARTS = 4  # for each thread of a worker, so that none waits long for the last


def spread(
    cluster: Any, solve: Callable[..., Any], problem: Problem, targets: Sequence[Any], options: Mapping[str, Any]
) -> dict[str, Any]:
    """The fields of `Solutions`, put together from the parts that workers solve."""
    dask = needed("distributed", "distributed", "cluster", "solving on a cluster")
    if not isinstance(cluster, dask.Client):
        raise BadValue(f"a cluster is a distributed.Client, not {shown(cluster)}")
    count = next(len(one) for one in targets if one is not None)
    threads = sum(cluster.nthreads().values())
    if threads == 0:
        raise Error("the cluster has no workers; begin some with: dask worker ADDRESS")
    size = max(LEAST, -(-count // (PARTS * threads)))
    stated = cluster.scatter(problem, broadcast=True, hash=False)
    futures = [
        cluster.submit(_part, solve, stated, [None if t is None else t[at : at + size] for t in targets], dict(options))
        for at in range(0, count, size)
    ]
    try:
        return _joined(problem, targets, cluster.gather(futures))
    except KeyboardInterrupt:
        done = sum(future.status == "finished" for future in futures)
        cluster.cancel(futures)
        raise Interrupted(f"interrupted after {done:,} of {len(futures):,} parts", done, len(futures)) from None


def _part(solve: Callable[..., Any], problem: Problem, targets: list[Any], options: dict[str, Any]) -> Any:
    return solve(problem, targets if len(targets) > 1 else targets[0], threads=1, **options)


def _joined(problem: Problem, targets: Sequence[Any], parts: list[Any]) -> dict[str, Any]:
    proofs, row = {}, 0
    for part in parts:
        proofs |= {row + i: proof for i, proof in part.proofs.items()}
        row += len(part)
    return {
        "problem": problem,
        "targets": tuple(targets),
        "q": np.concatenate([part.q for part in parts]),
        "status": tuple(status for part in parts for status in part.status),
        "report": np.concatenate([part.report for part in parts]),
        "seed": parts[0].seed,
        "proving": parts[0].proving,
        "proofs": proofs,
    }
