"""Targets from stores and answers into stores: the rows of `solve_many`, chunk by chunk, and nothing done twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import supple
from supple import At, Facing, Placed, Point, Problem, Task
from supple.cluster import solve_stored
from supple.cluster.client import connected

distributed = pytest.importorskip("distributed")
zarr: Any = pytest.importorskip("zarr")
arrow: Any = pytest.importorskip("pyarrow")
parquet: Any = pytest.importorskip("pyarrow.parquet")

UR5 = supple.load("ur5")
REST = UR5.placement(UR5.rest, "tool0")
ONE = Problem(UR5, [Task("tool0", Placed(REST))])
TWO = Problem(
    UR5,
    [
        Task(Point("tool0"), At(REST[:3, 3]), name="tip"),
        Task(supple.Direction("tool0", (0, 0, 1)), Facing((0, 0, -1)), name="down"),
    ],
)
COUNT, CHUNK = 25, 10


@pytest.fixture(scope="module")
def client() -> Iterator[distributed.Client]:
    """Two processes on this machine."""
    with connected(None, 2) as client:
        yield client


def places(count: int = COUNT) -> np.ndarray:
    q = np.random.default_rng(0).uniform(-2.0, 2.0, (count, UR5.size))
    T = UR5.placement(q, "tool0")
    T[::6, :3, 3] *= 3.0  # out of reach
    return T


def in_zarr(path: Path, values: np.ndarray) -> str:
    array = zarr.create_array(
        str(path), shape=values.shape, chunks=(7, *values.shape[1:]), dtype="float64", overwrite=True
    )
    array[:] = values
    return str(path)


def read(folder: Path) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Postures, statuses and metres of all answers, in order."""
    tables = [parquet.read_table(file) for file in sorted(folder.glob("part-*.parquet"))]
    table = arrow.concat_tables([one.replace_schema_metadata(None) for one in tables])
    q = np.stack([table.column(name).to_numpy() for name in UR5.coordinates], axis=1)
    return q, table.column("status").to_pylist(), np.array(table.column("metres").to_pylist())


def test_answers_are_those_of_solve_many(client: distributed.Client, tmp_path: Path):
    targets, seen = places(), list[int]()
    store = in_zarr(tmp_path / "in.zarr", targets)
    told = solve_stored(ONE, store, tmp_path / "out", chunk=CHUNK, cluster=client, progress=seen.append)
    many = supple.solve_many(ONE, targets)
    q, status, metres = read(tmp_path / "out")
    assert_array_equal(q, many.q)
    assert status == [one.name for one in many.status]
    assert_array_equal(metres, many.errors[:, :, 0])
    assert told.counts == {name: status.count(name) for name in set(status)}
    assert (len(told), told.skipped, seen[-1]) == (COUNT, 0, COUNT)
    assert len(list((tmp_path / "out").iterdir())) == 3


def test_what_was_answered_is_not_asked_again(client: distributed.Client, tmp_path: Path):
    targets, out = places(), tmp_path / "out"
    store = in_zarr(tmp_path / "in.zarr", targets)

    def again(problem: Problem = ONE, **options: Any) -> int:
        return solve_stored(problem, store, out.as_uri(), chunk=CHUNK, cluster=client, **options).skipped

    assert again() == 0
    assert again() == COUNT
    targets[12, 0, 3] += 0.01
    in_zarr(tmp_path / "in.zarr", targets)
    assert again() == COUNT - CHUNK
    assert again(seed=1) == 0
    (out / "part-000000000020.parquet").unlink()
    assert again(seed=1) == 20
    assert again(Problem(UR5, [Task("tool0", Placed(REST), tolerance=1e-3)])) == 0


def test_ctrl_c_leaves_answers_that_the_next_call_keeps(client: distributed.Client, tmp_path: Path):
    store = in_zarr(tmp_path / "in.zarr", places(60))

    def stop(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(supple.Interrupted, match="of 60 targets; the same again goes on") as stopped:
        solve_stored(ONE, store, tmp_path / "out", chunk=CHUNK, cluster=client, progress=stop)
    assert stopped.value.done == CHUNK
    assert solve_stored(ONE, store, tmp_path / "out", chunk=CHUNK, cluster=client).skipped >= CHUNK
    q, _, _ = read(tmp_path / "out")
    assert_array_equal(q, supple.solve_many(ONE, places(60)).q)


def test_parquet_columns_are_targets_by_task(client: distributed.Client, tmp_path: Path):
    tips = places()[:, :3, 3]
    store = tmp_path / "in.parquet"
    parquet.write_table(arrow.table({"tip": list(tips)}), store, row_group_size=4)
    solve_stored(TWO, store, tmp_path / "out", chunk=CHUNK, cluster=client)
    assert_array_equal(read(tmp_path / "out")[0], supple.solve_many(TWO, [tips, None]).q)
    whole = tmp_path / "whole.parquet"
    parquet.write_table(arrow.table({"tool0": list(places().reshape(COUNT, 16))}), whole)
    problem = Problem(UR5, [Task("tool0", Placed(REST), name="tool0")])
    solve_stored(problem, whole, tmp_path / "whole", chunk=CHUNK, cluster=client)
    assert_array_equal(read(tmp_path / "whole")[0], supple.solve_many(problem, places()).q)


def test_groups_of_zarr_are_targets_by_task(client: distributed.Client, tmp_path: Path):
    group = zarr.open_group(str(tmp_path / "in.zarr"), mode="w")
    tips = group.create_array("tip", shape=(COUNT, 3), dtype="float64")
    tips[:] = places()[:, :3, 3]
    solve_stored(TWO, tmp_path / "in.zarr", tmp_path / "out", chunk=CHUNK, cluster=client)
    assert_array_equal(read(tmp_path / "out")[0], supple.solve_many(TWO, [places()[:, :3, 3], None]).q)


def test_what_is_no_store_of_targets_is_refused(client: distributed.Client, tmp_path: Path):
    parquet.write_table(arrow.table({"other": [[0.0, 0.0, 0.0]]}), tmp_path / "other.parquet")
    parquet.write_table(arrow.table({"tip": [[0.0, 0.0], [1.0, 2.0]]}), tmp_path / "short.parquet")
    for name, words in (
        ("in.csv", "from .zarr and .parquet"),
        ("gone.zarr", "no such store"),
        ("other.parquet", "called as a task is: tip, down"),
        ("short.parquet", "lists of 3, 6 or 16"),
    ):
        with pytest.raises(supple.Error, match=words):
            solve_stored(TWO, tmp_path / name, tmp_path / "out", cluster=client)
    assert not (tmp_path / "out").exists()
