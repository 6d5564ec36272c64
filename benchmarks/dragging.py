"""How long the posing page's session takes from an event to a posture, with six pins, in reach and out of it.

    python benchmarks/dragging.py                     # the table
    python benchmarks/dragging.py --plot drag.png     # and joint speeds while a hand sweeps in and out of reach
    python benchmarks/dragging.py --soak 30           # minutes of dragging: memory before and after, and what was lost
    python benchmarks/dragging.py --page 20           # seconds with a page open in Chromium: updates a second

A hand is pressed and pulled by 1,000 events: round a circle, and out of reach and back. Times are of `pull` and `tick`: solve,
checks, history, and the sentence that says why; in seconds of the processor, so that what else runs does not count. A tick goes
all the way to the newest target, by at most a stride.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from time import monotonic, thread_time

import numpy as np

import supple
from supple import AimedAt, At, Beyond, Box, Direction, OnPlane, Placed, Point, Scene
from supple.view.page.session import STRIDE, Session
from supple.view.page.worker import RATE

EVENTS = 1000
DRAG = 30  # events of a drag of the soak
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


def table_in_the_way() -> tuple[Session, str]:
    """The person with its six pins at a table, and a shelf above it: the hand goes up to them and is stopped."""
    session, hand = person("human")
    session.scene.place("table", Box((0.45, -0.7, 0.0), (1.2, 0.7, 0.85)))
    session.scene.place("shelf", Box((0.55, -0.7, 1.35), (1.0, 0.7, 1.45)))
    return session, hand


def handshake() -> tuple[Session, str]:
    """Two people, 144 coordinates, four hard feet, hands that are held together hard; the first one's hand is pulled."""
    session = Session(Scene(supple.load("human")))
    prefix = session.invite(supple.load("human"))
    session.pair("meet", f"{prefix}hand_r.palm", "hand_r.palm")
    return session, "hand_r"


CASES = {
    "human": lambda: person("human"), "jack": lambda: person("jack"), "G1": humanoid, "Panda": arm,
    "table": table_in_the_way, "shake": handshake,
}  # fmt: skip


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
    ax.set_ylim(-0.01, 1.35 * STRIDE)
    ax.legend(frameon=False, ncols=7, fontsize=8, loc="upper center")
    sheet.savefig(path, dpi=150)


def shown(seconds: float) -> None:
    """A page that is open in a browser while somebody pulls 60 times a second: updates that are solved, sent and received."""
    from playwright.sync_api import sync_playwright

    from supple.view.page.page import Page

    session, segment = CASES["human"]()
    page = Page(session.scene, port=0)
    begin = np.array(page.session.figure.placement(page.session.q, segment)[:3, 3])
    received = [0]
    pictures = (
        "new Promise(done => { let n = 0, t0 = performance.now(); const f = t => { n++; if (t - t0 > 3000)"
        " done(n * 1000 / (t - t0)); else requestAnimationFrame(f); }; requestAnimationFrame(f); })"
    )
    with sync_playwright() as play:
        flags = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), headless=True, args=flags)
        tab = browser.new_page(viewport={"width": 1000, "height": 680})
        tab.on("websocket", lambda ws: ws.on("framereceived", lambda _: received.__setitem__(0, received[0] + 1)))
        tab.goto(page.link)
        tab.wait_for_timeout(5000)
        page.worker.ask(lambda s: s.press(0, segment, begin))
        ended = threading.Event()

        def pull() -> None:
            first = monotonic()
            for k in range(int(60 * seconds)):
                there = begin + 0.08 * np.array([np.cos(0.1 * k) - 1.0, np.sin(0.1 * k), 0.0])
                page.worker.do(lambda s, there=there: s.pull(0, there))
                time.sleep(max(0.0, first + (k + 1) / 60.0 - monotonic()))
            ended.set()

        ticks, cpu, got, began = page.worker.ticks, time.process_time(), received[0], monotonic()
        threading.Thread(target=pull, daemon=True).start()
        rate = tab.evaluate(pictures)
        while not ended.is_set():
            tab.wait_for_timeout(50)
        length = monotonic() - began
        ticks, cpu, got = page.worker.ticks - ticks, time.process_time() - cpu, received[0] - got
        page.worker.ask(lambda s: s.release(0))
        browser.close()
    page.close()
    print(
        f"{ticks / length:.1f} updates a second for {length:.0f} s, {got / length:.1f} messages received a second, "
        f"{1e3 * cpu / ticks:.2f} ms of the server's processor time an update; the browser draws {rate:.0f} pictures a second"
    )


def soak(session: Session, segment: str, going_on: Callable[[int], bool]) -> tuple[int, int]:
    """Drag at random while `going_on(drags)`; how many drags there were, and how many ended off a target within reach."""
    rng, lost, drags = np.random.default_rng(0), 0, 0
    begin = np.array(session.figure.placement(session.q, segment)[:3, 3])
    while going_on(drags):
        session.press(0, segment, session.figure.placement(session.q, segment)[:3, 3])
        for _ in range(DRAG):
            target = begin + 0.12 * rng.standard_normal(3)
            session.pull(0, target)
            session.tick()
        session.release(0)
        there = session.figure.placement(session.q, segment)[:3, 3]
        lost += session.said.ok and bool(np.linalg.norm(there - target) > 1e-3)
        drags += 1
    return drags, lost


def soaked(minutes: float) -> None:
    """The drags that fill minutes at 60 events a second, without the pauses: memory after a tenth of them and at the end."""
    session, segment = CASES["human"]()
    drags = round(60.0 * minutes * RATE / DRAG)
    soak(session, segment, lambda done: done < drags // 10)
    warm = memory()
    done, lost = soak(session, segment, lambda done: done < drags - drags // 10)
    grown = memory() / warm - 1.0
    print(
        f"{done + drags // 10} drags of {DRAG} events, {minutes:g} minutes at {RATE:g} a second: memory {grown:+.1%} "
        f"of {warm / 2**20:.0f} MB, {lost} lost updates, {len(session.scene.history)} steps to undo"
    )


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
    parser.add_argument("--page", type=float, metavar="SECONDS", help="with a page open in a browser")
    given = parser.parse_args()
    if given.page:
        shown(given.page)
        return
    if given.soak:
        soaked(given.soak)
        return
    changes = table()
    if given.plot is not None:
        plot(changes, given.plot)


if __name__ == "__main__":
    main()
