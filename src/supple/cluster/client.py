"""Who does the work: processes of this machine, or a cluster that somebody runs already. Both are Dask's.

The processes are workers of an embedded `LocalCluster`, one thread each: compiled loops of one file share nothing, and a file
that kills its process takes no other with it.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from typing import Any

from supple.errors import BadValue, Error, needed, shown

PATIENCE = 10.0  # seconds to wait for a scheduler
MOST_WORKERS = 1024
CLOSING = 0.4  # seconds that processes are given to end by themselves


def distributed() -> Any:
    """Dask's package."""
    return needed("distributed", "distributed", "cluster", "working on several processes or machines")


def check_cluster(cluster: Any, workers: int | None) -> None:
    """Refuse what is no cluster, before any work."""
    if cluster is not None and not isinstance(cluster, str | distributed().Client):
        raise BadValue(f"a cluster is the address of a scheduler or a distributed.Client, not {shown(cluster)}")
    if isinstance(cluster, str) and not re.fullmatch(r"[a-z]+://[^\s/]+:\d{1,5}/?", cluster, re.ASCII):
        raise BadValue(f"the address of a scheduler is written tcp://HOST:8786, not {shown(cluster)}")
    if cluster is not None and workers is not None:
        raise BadValue("workers is for processes of this machine; the cluster that is given has its own")


@contextlib.contextmanager
def connected(cluster: Any, workers: int | None) -> Iterator[Any]:
    """A client of `cluster`: an address, a client, or None, which makes processes on this machine and ends them afterwards."""
    dask = distributed()
    if isinstance(cluster, dask.Client):
        yield cluster
    elif isinstance(cluster, str):
        with _client(dask, cluster) as client:
            yield client
    else:
        yield from _embedded(dask, workers or os.cpu_count() or 1)


def _client(dask: Any, address: str) -> Any:
    try:
        return dask.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise Error(
            f"no scheduler answers at {address!r}; begin one with: dask scheduler, and workers with: dask worker ADDRESS"
        ) from error


def _embedded(dask: Any, count: int) -> Iterator[Any]:
    """A client of processes on this machine; none of them is left when it ends."""
    with contextlib.ExitStack() as stack:
        local = dask.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            host="127.0.0.1",
            silence_logs="CRITICAL",
        )
        stack.callback(_end, local)
        client = dask.Client(local, set_as_default=False)
        stack.callback(client.close, CLOSING)
        yield client


def _end(local: Any) -> None:
    """End the processes at once: whatever they have not finished is done again."""
    for nanny in local.workers.values():
        process = getattr(getattr(nanny, "process", None), "process", None)
        with contextlib.suppress(Exception):
            nanny.auto_restart = False
            if process is not None:
                process._process.kill()
    with contextlib.suppress(Exception):
        local.close(timeout=CLOSING)
