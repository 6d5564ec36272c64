"""Archives on real schedulers and real processes: nothing that is done is lost, whoever is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import supple
from supple.cluster import Convert, Entry, Retarget, Track, map as do, read_manifest
from tests import ROOT
from tests.tables.cluster_jobs import Doubled

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client() -> Iterator[distributed.Client]:
    """Two processes on this machine."""
    from supple.cluster.client import connected

    with connected(None, 2) as client:
        yield client


def texts(folder: Path, **given: str) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in given.items():
        (folder / f"{name}.txt").write_text(text)
    return sorted(folder.glob("*.txt"))


def begun(folder: Path) -> int:
    return len(list(folder.glob("*.begun")))


def test_a_poisonous_file_stops_nothing(client: distributed.Client, tmp_path: Path):
    files = texts(tmp_path / "in", a="good", b="raise", c="doubt", d="kill", e="kill once")
    seen: list[Entry] = []
    archive = do(Doubled(), files, tmp_path / "out", cluster=client, progress=seen.append)
    assert [entry.status for entry in archive.entries] == ["good", "failed", "doubtful", "failed", "good"]
    reasons = [entry.reason for entry in archive.entries]
    assert "RuntimeError: this file is poisonous" in reasons[1]
    assert reasons[2] == "Nobody believes this."
    assert "was killed" in reasons[3]
    assert not archive.ok
    assert archive.counts == {"good": 2, "doubtful": 1, "failed": 2}
    assert {entry.source for entry in seen} == {str(file) for file in files}
    assert (tmp_path / "out" / "e.out").read_text() == "kill oncekill once"
    assert not list((tmp_path / "out").glob(".supple-*"))


def test_what_is_done_and_not_changed_is_skipped(client: distributed.Client, tmp_path: Path):
    files, out, job = texts(tmp_path / "in", a="one", b="two", c="raise"), tmp_path / "out", Doubled()

    def again(job: Doubled = job, **options: bool) -> int:
        before = begun(tmp_path / "in")
        do(job, files, out, cluster=client, **options)
        return begun(tmp_path / "in") - before

    def forget() -> None:
        for note in (tmp_path / "in").glob("*.begun"):
            note.unlink()

    assert again() == 3
    assert again() == 0
    forget()
    files[0].write_text("three")
    assert again() == 1
    assert (out / "a.out").read_text() == "threethree"
    forget()
    (out / "b.out").write_text("tampered")
    assert again() == 1
    forget()
    assert again(retry_failed=True) == 1
    forget()
    assert again(replace(job, pause=0.001)) == 3
    assert len(read_manifest(out)) == 3


def test_a_line_that_was_torn_costs_one_file(client: distributed.Client, tmp_path: Path):
    files, out = texts(tmp_path / "in", a="one", b="two"), tmp_path / "out"
    do(Doubled(), files, out, cluster=client)
    manifest = out / "manifest.jsonl"
    manifest.write_bytes(manifest.read_bytes()[:-20])
    assert len(read_manifest(out)) == 1
    archive = do(Doubled(), files, out, cluster=client)
    assert (archive.skipped, archive.ok) == (1, True)
    assert len(read_manifest(out)) == 2


def test_results_equal_those_of_one_process(client: distributed.Client, tmp_path: Path):
    human = supple.load("human")
    rng = np.random.default_rng(3)
    for name in "ab":
        q = np.clip(human.rest + 0.1 * rng.standard_normal(human.size), human.lower, human.upper)
        moved = np.linspace(human.rest, q, 5)
        supple.write(supple.Motion(human, moved, np.arange(5) / 30), tmp_path / f"{name}.bvh")
    files = sorted(tmp_path.glob("*.bvh"))
    job = Retarget("jack", options={"plant": False})
    archive = do(job, files, tmp_path / "out", cluster=client)
    for file, entry in zip(files, archive.entries, strict=True):
        job(file, tmp_path / "alone.bvh")
        assert (tmp_path / "out" / entry.output).read_bytes() == (tmp_path / "alone.bvh").read_bytes(), entry.reason


def test_urls_are_read_like_files(client: distributed.Client, tmp_path: Path):
    (file,) = texts(tmp_path / "in", a="far")
    archive = do(Doubled(note=str(tmp_path)), [file.as_uri()], tmp_path / "out", cluster=client)
    assert archive.ok
    assert (tmp_path / "out" / "a.out").read_text() == "farfar"


def test_many_targets_are_solved_alike(client: distributed.Client):
    panda = supple.load("panda")
    rng = np.random.default_rng(5)
    q = rng.uniform(panda.lower, panda.upper, (600, panda.size))
    targets = panda.placement(q, "panda_hand")
    targets[::50, :3, 3] += 3.0
    problem = supple.Problem(panda, [supple.Task(supple.Frame("panda_hand"), supple.Placed(targets[0]))])
    here, there = supple.solve_many(problem, targets), supple.solve_many(problem, targets, cluster=client)
    assert here == there
    assert here.q.tobytes() == there.q.tobytes()
    assert not here.ok.all()
    assert supple.solve_many(problem, targets[:0], cluster=client).q.shape == (0, panda.size)


SCRIPT = """
import sys
from pathlib import Path
from supple.cluster import map as do
from tests.tables.cluster_jobs import Doubled
if __name__ == "__main__":
    folder, *rest = sys.argv[1:]
    files = sorted(Path(folder).glob("in/*.txt"))
    where = {"cluster": rest[0]} if rest else {"workers": 2}
    do(Doubled(pause=0.2), files, Path(folder) / "out", progress=lambda entry: print(entry.source, flush=True), **where)
"""


def begin(folder: Path, *rest: str) -> subprocess.Popen[str]:
    script = folder / "script.py"
    script.write_text(SCRIPT)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    return subprocess.Popen(
        [sys.executable, str(script), str(folder), *rest],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )


def test_ctrl_c_leaves_a_manifest_that_goes_on(client: distributed.Client, tmp_path: Path):
    files = texts(tmp_path / "in", **{f"f{k:02}": "text" for k in range(40)})
    process = begin(tmp_path)
    assert process.stdout is not None
    process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)
    pressed = time.monotonic()
    _, told = process.communicate(timeout=60)
    took = time.monotonic() - pressed
    assert process.returncode != 0
    assert "Interrupted: interrupted after" in told, told
    assert "the same again goes on from there" in told
    assert took < 30  # a hang, not a promise: how long it takes is measured by the benchmark
    done = read_manifest(tmp_path / "out")
    assert 0 < len(done) < len(files)
    archive = do(Doubled(pause=0.2), files, tmp_path / "out", cluster=client)
    assert archive.ok
    assert archive.skipped == len(done)


def test_a_lost_scheduler_is_resumed_from_the_manifest(client: distributed.Client, tmp_path: Path):
    files = texts(tmp_path / "in", **{f"f{k:02}": "text" for k in range(40)})
    ours = "from supple.cluster.client import connected\n"
    server = (
        "import sys, time\n"
        + ours
        + 'if __name__ == "__main__":\n'
        + "    with connected(None, 2) as client:\n"
        + "        print(client.scheduler.address, flush=True)\n"
        + "        time.sleep(600)\n"
    )
    (tmp_path / "server.py").write_text(server)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    scheduler = subprocess.Popen(
        [sys.executable, str(tmp_path / "server.py")],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    with scheduler:
        assert scheduler.stdout is not None
        process = begin(tmp_path, scheduler.stdout.readline().strip())
        assert process.stdout is not None
        process.stdout.readline()
        os.killpg(scheduler.pid, signal.SIGKILL)
        _, told = process.communicate(timeout=90)
    assert process.returncode != 0
    assert "the scheduler was lost" in told, told
    done = read_manifest(tmp_path / "out")
    assert 0 < len(done) < len(files)
    archive = do(Doubled(pause=0.2), files, tmp_path / "out", cluster=client)
    assert archive.ok
    assert archive.skipped == len(done)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"files": []}, "no files"),
        ({"files": ["a.txt", "a.txt"]}, "named twice"),
        ({"files": ["missing.txt"]}, "no such file"),
        ({"files": ["a.txt", "a.dat"]}, "would both be written to a.out"),
        ({"job": 3}, "a job is called with two paths"),
        ({"cluster": 3}, "the address of a scheduler"),
        ({"cluster": "tcp://127.0.0.1:1"}, "no scheduler answers"),
        ({"cluster": "tcp://127.0.0.1:1", "workers": 2}, "has its own"),
    ],
)
def test_nonsense_is_refused_before_any_work(given, words, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("supple.cluster.client.PATIENCE", 0.5)
    for name in ("a.txt", "a.dat"):
        Path(name).touch()
    arguments = {"job": Doubled(), "files": ["a.txt"], "folder": "out"} | given
    with pytest.raises(supple.Error, match=words):
        do(**arguments)


@pytest.mark.parametrize("job", [lambda: Track("a.osim", ".txt"), lambda: Convert("bvh"), lambda: Retarget("jack", "")])
def test_jobs_refuse_endings_that_no_motion_has(job):
    with pytest.raises(supple.BadValue, match="motions are written to"):
        job()
