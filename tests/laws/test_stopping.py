"""Long jobs end when they are told to, by Ctrl-C or a deadline, say how far they came, and break nothing."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import supple
from supple.basics.stopping import Stop
from supple.errors import BadValue, Error, Interrupted
from supple.kernels.compiling import INTERPRETED

SOURCE = Path(supple.__file__).parent.parent
QUICK = pytest.mark.skipif(INTERPRETED, reason="far too slow when nothing is compiled")
POSIX = pytest.mark.skipif(os.name != "posix", reason="the test sends a signal")

# ── the mechanism ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("deadline", [0, -1.0, float("nan"), "soon", True, [1.0]])
def test_a_deadline_is_a_positive_number(deadline: Any):
    with pytest.raises(BadValue, match=r"a deadline \[s\] must be positive"):
        Stop(deadline)


def test_jobs_run_side_by_side_and_nothing_is_halted():
    meeting, halted = threading.Barrier(3), []
    assert not Stop().run([partial(meeting.wait, 20.0)] * 3, lambda: halted.append(True))
    assert not halted


def test_what_a_job_raises_is_raised():
    def fail() -> None:
        raise BadValue("this one")

    with pytest.raises(BadValue, match="this one"):
        Stop().run([fail], lambda: None)


def test_at_the_deadline_jobs_are_halted_and_their_end_is_awaited():
    over, ended = threading.Event(), []

    def job() -> None:
        over.wait(20.0)
        ended.append(True)

    stop = Stop(0.05)
    assert stop.run([job], over.set)
    assert ended
    assert stop.asked
    assert not stop.interrupted
    assert stop.run([partial(pytest.fail, "a job began after the deadline")], over.set)


def test_a_job_that_does_not_end_is_left_behind():
    over = threading.Event()
    begun = time.monotonic()
    assert Stop(0.05).run([partial(over.wait, 60.0)], lambda: None)
    assert time.monotonic() - begun < 30.0
    over.set()


@POSIX
def test_ctrl_c_halts_and_is_raised_with_how_far_it_came():
    over, stop = threading.Event(), Stop()
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    assert stop.run([partial(over.wait, 20.0)], over.set)
    assert stop.interrupted
    with pytest.raises(Interrupted, match="interrupted after 1,234 of 10,000 targets") as caught:
        stop.conclude(1234, 10_000, "targets", lambda: "as far as it came")
    assert (caught.value.done, caught.value.total, caught.value.partial) == (1234, 10_000, "as far as it came")
    assert isinstance(caught.value, KeyboardInterrupt)
    assert not isinstance(caught.value, Error | Exception)  # what goes on after errors must not go on after this
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.done, copy.total, copy.partial) == (str(caught.value), 1234, 10_000, None)


# ── the doors ────────────────────────────────────────────────────────────────────────────────────────────────────────
# Each door, made ready for how much is asked of it: a dozen, or far more than can be done while the test waits. Told by
# a test of its own process and, as text, by one in another.
DOORS = """
from functools import partial

import numpy as np
import supple

def lengthened(count):
    arm = supple.load("panda")
    hand = arm.segments[-1]
    problem = supple.Problem(arm, [supple.Task(supple.Frame(hand), supple.Placed(arm.placement(arm.rest, hand)))])
    spread = np.random.default_rng(1).random((min(count, 5000), arm.size))
    T = arm.placement(arm.lower + spread * (arm.upper - arm.lower), hand)
    T[::2, :3, 3] *= 3.0  # out of reach: these take long
    return problem, np.resize(T, (count, 4, 4))

def many(count):
    return partial(supple.solve_many, *lengthened(count), threads=2)

def follow(count):
    return partial(supple.follow, *lengthened(count))

def person(count):
    human = supple.load("human")
    times = 0.01 * np.arange(count)
    Q = human.rest + 0.1 * np.sin(times[:, None] + np.arange(human.size))
    return human, np.clip(Q, human.lower, human.upper), times

def track(count, method=None):
    human, Q, times = person(min(count, 5000))
    human = human.with_markers({f"m{k}": supple.Point(s, (0.05, 0.1, 0.02 * k % 0.1)) for k, s in enumerate(human.segments)})
    places = human.marker_places(Q, tuple(human.markers))
    places, times = np.resize(places, (count, *places.shape[1:])), 0.01 * np.arange(count)
    return partial(supple.track, human, supple.Markers(tuple(human.markers), places, times), method)

def retarget(count):
    return partial(supple.retarget, supple.Motion(*person(count)), supple.load("human", stature=1.6))

def reach(count):
    joints, parent = [], None
    for name, at, axis in (("a", 0.0, (0, 0, 1)), ("b", 0.5, (0, 1, 0)), ("c", 0.5, (0, 0, 1)), ("d", 0.3, (1, 0, 0))):
        joints += supple.hinge(name, parent, axis, supple.place((at, 0, 0)), (-2.0, 2.0))
        parent = name
    arm = supple.Figure("arm", joints)
    small = {"x": (0.3, 1.5), "y": 0.1, "z": 0.2, "spacing": 0.4}
    return partial(supple.reach, arm, "d", **(small if count < 1000 else {"volume": True, "spacing": 0.05}))
"""
NAMES = ("many", "follow", "track", "retarget", "reach")
namespace: dict[str, Any] = {}
exec(DOORS, namespace)
LOTS = 200_000


def bits(answer: Any) -> bytes:
    return np.ascontiguousarray(answer.q).tobytes()


CHILD = (
    DOORS
    + """
import os, signal, sys, threading, time

door, lots = globals()[sys.argv[1]](12), globals()[sys.argv[1]](int(sys.argv[2]))
before = door().q.tobytes()  # compiled, and to compare with
sent = []

def shoot():
    sent.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer(1.0, shoot).start()
try:
    lots()
    print("done")
except supple.Interrupted as error:
    print(error.done, error.total, time.process_time() - sent[0], door().q.tobytes() == before, error, sep=";")
"""
)


@QUICK
@POSIX
@pytest.mark.parametrize("name", NAMES)
def test_ctrl_c_ends_every_door_and_leaves_everything_usable(name: str):
    if name == "reach":
        pytest.importorskip("flint")
    lots = {"retarget": 30_000, "track": 50_000}.get(name, LOTS)
    settings = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", CHILD, name, str(lots)]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=True, timeout=600)
    told, total, seconds, same, message = done.stdout.strip().split(";")
    assert float(seconds) < 5.0  # of the processor, for a job that takes minutes: what others do does not count
    assert 0 <= int(told) < int(total)
    assert same == "True"
    assert message.startswith("interrupted ")
    assert f"{int(total):,}" in message


@QUICK
@pytest.mark.parametrize("name", NAMES)
def test_a_deadline_that_is_far_changes_no_bit(name: str):
    if name == "reach":
        pytest.importorskip("flint")
    door: Callable[..., Any] = namespace[name]
    assert bits(door(12)()) == bits(door(12)(deadline=1e6))


@QUICK
@pytest.mark.parametrize("name", ["many", "follow"])
def test_rows_that_a_deadline_cuts_off_are_stopped_and_legal(name: str):
    door: Callable[..., Any] = namespace[name]
    whole, cut = door(1000)(), door(LOTS)(deadline=0.3)
    assert len(cut) == LOTS
    limits = cut.problem.limits
    assert (cut.q >= limits.lower).all()
    assert (cut.q <= limits.upper).all()
    late = np.array([status is supple.Status.STOPPED for status in cut.status])
    assert late.sum() > 0
    assert late[-1]
    assert "The deadline of 0.3 s passed" in cut[LOTS - 1].reason
    assert cut[LOTS - 1].status is supple.Status.STOPPED
    done = np.flatnonzero(~late[:1000])
    assert np.array_equal(cut.q[done], whole.q[done])  # what was done is what it would have been
    assert [cut[i].status for i in done[:3].tolist()] == [whole.status[i] for i in done[:3].tolist()]


METHODS = [None, supple.motion.WholeClip(), supple.OptimalTracking(), supple.LevenbergMarquardt()]


@QUICK
@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_frames_that_a_deadline_cuts_off_stand_still_and_are_told(method: Any):
    namespace["track"](2, method)()
    cut = namespace["track"](20_000 if method is None else 5000, method)(deadline=0.4)
    assert np.isfinite(cut.q).all()
    assert not cut.converged.all()
    assert "The deadline of 0.4 s passed after" in cut.notes[-1]
    assert (cut.q >= cut.figure.lower).all()
    assert (cut.q <= cut.figure.upper).all()


@QUICK
def test_retargeting_and_maps_say_what_a_deadline_left_undone():
    cut = namespace["retarget"](50)(deadline=1e-3)
    assert np.isfinite(cut.q).all()
    assert cut.report.late.startswith("The deadline of 0.001 s passed after ")
    assert cut.report.late in cut.report.text()
    pytest.importorskip("flint")
    found = namespace["reach"](LOTS)(deadline=0.5)
    assert 0 < found.late <= found.undecided.sum()
    assert namespace["reach"](12)().late == 0


@QUICK
def test_what_an_interrupt_leaves_is_what_a_deadline_would():
    problem, targets = namespace["lengthened"](64)
    stop = Stop()
    stop.interrupted = True
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("supple.solving.many.Stop", lambda deadline: stop)
        with pytest.raises(Interrupted, match="interrupted after 0 of 64 targets") as caught:
            supple.solve_many(problem, targets)
    assert {status.name for status in caught.value.partial.status} == {"STOPPED"}
    assert "It was interrupted before" in caught.value.partial[5].reason


def test_commands_end_with_130_and_one_sentence(monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_: Any) -> None:
        raise Interrupted("interrupted after 12 of 340 poses", 12, 340)

    monkeypatch.setattr("supple.cli.inputs.figure_of", interrupted)
    from supple.cli import app

    done = CliRunner().invoke(app, ["info", "panda"])
    assert done.exit_code == 130
    assert done.stderr.strip() == "interrupted after 12 of 340 poses"
