"""The rows of a batch, or the layers of a map, on the workers of a Dask cluster.

A part of a batch is an ordinary `solve_many` there, with one thread. A row's answer depends on nothing but the problem and its
target, and a layer on nothing but its own poses, so parts put together are what one machine gives, bit for bit where the
workers' machine code is of the same level.
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
    threads = _threads(cluster)
    count = next(len(one) for one in targets if one is not None)
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


def spread_layers(cluster: Any, survey: Any, layer: Callable[..., Any], progress: Callable[[int], None]) -> int:
    """Fill a map by its layers, which workers decide; the number of poses."""
    _threads(cluster)
    dask = needed("distributed", "distributed", "cluster", "solving on a cluster")
    asking, layers, done, turns = (
        cluster.scatter(survey.asking, broadcast=True, hash=False),
        survey.layers(),
        0,
        survey.q.shape[1],
    )
    size = len(survey.reached) // len(layers)
    futures = {cluster.submit(layer, asking, axes, survey.first, pure=False): k * size for k, axes in enumerate(layers)}
    try:
        for future in dask.as_completed(list(futures), loop=cluster.loop):
            survey.join(futures[future], future.result())
            done += size * turns
            progress(done)
    except KeyboardInterrupt:
        cluster.cancel(list(futures))
        raise Interrupted(
            f"interrupted after {done:,} of {survey.reached.size:,} poses", done, survey.reached.size
        ) from None
    return done


def _threads(cluster: Any) -> int:
    """How many work at a time on a cluster; what is none, or has no workers, is refused."""
    dask = needed("distributed", "distributed", "cluster", "solving on a cluster")
    if not isinstance(cluster, dask.Client):
        raise BadValue(f"a cluster is a distributed.Client, not {shown(cluster)}")
    threads = sum(cluster.nthreads().values())
    if threads == 0:
        raise Error("the cluster has no workers; begin some with: dask worker ADDRESS")
    return threads


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
