"""How long the posing page's session takes from an event to a posture, with six pins, in reach and out of it.

    python benchmarks/dragging.py                     # the table
    python benchmarks/dragging.py --plot drag.png     # and joint speeds while a hand sweeps in and out of reach
    python benchmarks/dragging.py --soak 30           # minutes of dragging: memory before and after, and what was lost

A hand is pressed and pulled by 1,000 events: round a circle, and out of reach and back. Times are of `pull` and `tick`: solve,
checks, history, and the sentence that says why; in seconds of the processor, so that what else runs does not count. A tick goes
all the way to the newest target, by at most a stride.
"""

from __future__ import annotations

import argparse
import os
import resource
from collections.abc import Callable
from pathlib import Path
from time import monotonic, thread_time

import numpy as np

import supple
from supple import AimedAt, At, Beyond, Direction, OnPlane, Placed, Point, Scene
from supple.view.page.session import STRIDE, Session

EVENTS = 1000
SHARED = Path(os.environ.get("SUPPLE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
G1 = SHARED / "data" / "robots" / "g1" / "g1_29dof.urdf"


def pinned(scene: Scene, feet: tuple[str, str], others: dict[str, tuple]) -> Scene:
    """Six pins: two hard feet and four more, all met where the figure is."""
    for foot in feet:
        scene.add(foot, foot, Placed(scene.figure.placement(scene.q, foot)), hard=True)
    for name, (effector, goal) in others.items():
        scene.add(name, effector, goal)
    return scene


def person(name: str) -> tuple[Session, str]:
    """A person with the left hand in front: feet, eyes, the other hand, the pelvis, and the hand that is pulled."""
    figure = supple.load(name)
    scene = Scene(figure)
    scene.add("start", "hand_l.palm", At((0.40, 0.30, 1.10)))
    scene.add("hips", Point("pelvis"), At(figure.placement(scene.q, "pelvis")[:3, 3]))
    scene.solve()
    scene.remove("start")
    scene.remove("hips")
    right = figure.placement(scene.q, "hand_r")[:3, 3]
    pelvis, eyes = figure.placement(scene.q, "pelvis")[:3, 3], figure.placement(scene.q, "eyes")
    others = {
        "right hand": (Point("hand_r"), At(right)),
        "look": (Direction("eyes"), AimedAt(eyes[:3, 3] + 2.0 * eyes[:3, 0])),
        "hips": (Point("pelvis"), Beyond(pelvis - [0.0, 0.0, 0.5], (0.0, 0.0, 1.0))),
        "front": (Point("pelvis"), OnPlane(pelvis, (0.0, 1.0, 0.0))),
    }
    return Session(pinned(scene, ("foot_l", "foot_r"), others)), "hand_l"


def humanoid() -> tuple[Session, str]:
    """G1, free, on its feet, knees and elbows bent."""
    figure = supple.load(G1).based_at(free=True)
    joints = {"hip_pitch": -0.4, "knee": 0.8, "ankle_pitch": -0.4, "elbow": 0.6}
    scene = Scene(figure, {f"{side}_{name}_joint": at for side in ("left", "right") for name, at in joints.items()})
    right = figure.placement(scene.q, "right_wrist_yaw_link")[:3, 3]
    pelvis, torso = (figure.placement(scene.q, name) for name in ("pelvis", "torso_link"))
    others = {
        "right hand": (Point("right_wrist_yaw_link"), At(right)),
        "hips": (Point("pelvis"), Beyond(pelvis[:3, 3] - [0.0, 0.0, 0.4], (0.0, 0.0, 1.0))),
        "front": (Point("pelvis"), OnPlane(pelvis[:3, 3], (0.0, 1.0, 0.0))),
        "look": (Direction("torso_link"), AimedAt(torso[:3, 3] + 2.0 * torso[:3, 0])),
    }
    return Session(pinned(scene, ("left_ankle_roll_link", "right_ankle_roll_link"), others)), "left_wrist_yaw_link"


def arm() -> tuple[Session, str]:
    """Panda: one end is pulled, the links stay above a table and in front of a wall."""
    figure = supple.load("panda")
    scene = Scene(figure)
    for k, segment in enumerate([s for s in figure.segments if figure.chain(None, s)][1:7]):
        side = ((-2.0, 0.0, 0.0), (1.0, 0.0, 0.0)) if k % 2 else ((0.0, 0.0, -1.0), (0.0, 0.0, 1.0))
        scene.add(f"{segment} clear", Point(segment), Beyond(*side))
    return Session(scene), figure.segments[-1]


CASES = {"human": lambda: person("human"), "jack": lambda: person("jack"), "G1": humanoid, "Panda": arm}


def paths(begin: np.ndarray, reach: float) -> dict[str, np.ndarray]:
    """A circle, and the way out and back."""
    angle = np.linspace(0.0, 4.0 * np.pi, EVENTS)
    circle = begin + 0.08 * reach * np.column_stack([np.cos(angle) - 1.0, np.sin(angle), np.zeros(EVENTS)])
    far = 1.6 * reach * (1.0 - np.abs(np.linspace(-1.0, 1.0, EVENTS)))
    return {"circle": circle, "out and back": begin + np.outer(far, (0.9, 0.1, 0.4))}


def dragged(session: Session, segment: str, path: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Seconds of each event, whether the hand was there, and the postures."""
    place = session.figure.placement(session.q, segment)[:3, 3]
    session.press(0, segment, place)
    session.tick(1.0)
    pin = session.pulls[0].pin
    times, met, postures = [], [], [session.q]
    for target in path:
        began = thread_time()
        session.pull(0, target)
        session.tick(1.0)
        times.append(thread_time() - began)
        met.append(session.misses()[pin][1])
        postures.append(session.q)
    session.release(0)
    return np.array(times), np.array(met), np.array(postures)


def table() -> dict[str, np.ndarray]:
    """Print it; the greatest change of a coordinate at each event of the way out and back, by figure."""
    print(
        f"{'figure':7s} {'path':13s} {'met':>5s} {'median ms':>10s} {'p99 ms':>8s} {'worst ms':>9s} {'largest change':>15s}"
    )
    changes = {}
    for name, made in CASES.items():
        if name == "G1" and not G1.exists():
            print(f"{name:7s} its file is not there: {G1}")
            continue
        for kind in ("circle", "out and back"):
            session, segment = made()
            begin = np.array(session.figure.placement(session.q, segment)[:3, 3])
            times, met, postures = dragged(session, segment, paths(begin, 0.8 if name == "G1" else 1.0)[kind])
            changes[name] = np.abs(np.diff(postures, axis=0)).max(axis=1)
            median, p99, worst = 1e3 * np.percentile(times, [50, 99, 100])
            numbers = f"{median:10.2f} {p99:8.2f} {worst:9.2f} {changes[name].max():15.3f}"
            print(f"{name:7s} {kind:13s} {met.mean():5.0%} {numbers}", flush=True)
    return changes


def plot(changes: dict[str, np.ndarray], path: Path) -> None:
    """How much the fastest coordinate changes at each event of a sweep out of reach and back."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Sheet

    sheet = Sheet(figsize=(7.2, 3.0), layout="constrained")
    FigureCanvasAgg(sheet)
    ax = sheet.subplots()
    for name, change in changes.items():
        ax.plot(change, label=name, linewidth=0.9)
    ax.axhline(STRIDE, color="#c8322b", linewidth=0.8, linestyle="--", label="stride")
    ax.set_xlabel("event: out of reach and back")
    ax.set_ylabel("largest change [rad, m]")
    ax.legend(frameon=False, ncols=5, fontsize=8)
    sheet.savefig(path, dpi=150)


def soak(session: Session, segment: str, going_on: Callable[[int], bool]) -> tuple[int, int]:
    """Drag at random while `going_on(drags)`; how many drags there were, and how many ended off a target within reach."""
    rng, lost, drags = np.random.default_rng(0), 0, 0
    begin = np.array(session.figure.placement(session.q, segment)[:3, 3])
    while going_on(drags):
        session.press(0, segment, session.figure.placement(session.q, segment)[:3, 3])
        for _ in range(30):
            target = begin + 0.12 * rng.standard_normal(3)
            session.pull(0, target)
            session.tick()
        session.release(0)
        there = session.figure.placement(session.q, segment)[:3, 3]
        lost += session.said.ok and bool(np.linalg.norm(there - target) > 1e-3)
        drags += 1
    return drags, lost


def soaked(minutes: float) -> None:
    """Minutes of dragging: memory after the first tenth and at the end."""
    session, segment = CASES["human"]()
    ends = monotonic() + 60.0 * minutes
    before, _ = soak(session, segment, lambda _: monotonic() < ends - 54.0 * minutes)
    warm = memory()
    after, lost = soak(session, segment, lambda _: monotonic() < ends)
    grown = memory() / warm - 1.0
    print(f"{before + after} drags of 30 events in {minutes:g} minutes: memory {grown:+.1%}, {lost} lost updates")


def memory() -> float:
    """Bytes that are resident now."""
    try:
        return float(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--soak", type=float, metavar="MINUTES")
    given = parser.parse_args()
    if given.soak:
        soaked(given.soak)
        return
    changes = table()
    if given.plot is not None:
        plot(changes, given.plot)


if __name__ == "__main__":
    main()
