"""A person made to measure: lengths and places of markers from a range of motion.

Someone with long legs and short arms, whose markers sit up to two centimetres from where the book has them, moves every
joint; cameras see that with a millimetre of noise. From these markers alone the figure of the catalogue is scaled, and its
markers are placed. Prints the lengths before and after beside the truth, and draws the usual marker sets into marker_sets.png.
"""

from __future__ import annotations

import numpy as np
from matplotlib import pyplot as plt

import supple
from supple.view import draw

RATE, FRAMES = 50.0, 300
TRUTH = {"thigh": 1.08, "shank": 1.05, "upper_arm": 0.93, "forearm": 0.95}
rng = np.random.default_rng(1)


def range_of_motion(figure: supple.Figure) -> np.ndarray:
    """Every joint through the middle of its range, each at its own pace."""
    lower, upper = np.maximum(figure.lower, -0.5), np.minimum(figure.upper, 1.0)
    phase, pace = rng.uniform(0.0, 6.0, figure.size), rng.uniform(0.5, 2.0, figure.size)
    t = np.arange(FRAMES)[:, None] / RATE
    return 0.5 * (lower + upper) + 0.4 * (upper - lower) * np.sin(phase + pace * t)


def seen(figure: supple.Figure, q: np.ndarray) -> supple.Markers:
    """The markers of a figure in motion, with noise."""
    points = figure.markers.values()
    places = np.stack([figure.placement(q, p.segment) @ np.append(p.offset, 1.0) for p in points], axis=1)[:, :, :3]
    return supple.Markers(list(figure.markers), places + rng.normal(0.0, 1e-3, places.shape), np.arange(len(q)) / RATE)


def length(figure: supple.Figure, start: str, end: str) -> float:
    """Millimetres from the origin of one segment to that of the next."""
    frames = figure.placements(figure.rest)
    return 1e3 * float(np.linalg.norm(frames[end][:3, 3] - frames[start][:3, 3]))


cmu = supple.figure.marker_set("cmu41")
human = supple.load("human", fingers=False).with_marker_set(cmu)
person = human.scaled({f"{part}{side}": scale for part, scale in TRUTH.items() for side in ("_l", "_r")})
person = person.with_markers(
    {
        name: (p.segment, np.add(p.offset, rng.normal(0.0, 0.4 * cmu.trust[name], 3)))
        for name, p in person.markers.items()
    }
)
trial = seen(person, range_of_motion(person))
subject = supple.fit_subject(human, trial, scales="symmetric", trust=cmu.trust)

print(f"{'length [mm]':24s} {'catalogue':>9s} {'fitted':>9s} {'truth':>9s}")
for a, b in (("thigh_l", "shank_l"), ("shank_l", "foot_l"), ("upper_arm_l", "forearm_l"), ("forearm_l", "hand_l")):
    lengths = [length(figure, a, b) for figure in (human, subject.figure, person)]
    print(f"{a:24s} {lengths[0]:9.1f} {lengths[1]:9.1f} {lengths[2]:9.1f}")
before, after = supple.track(human, trial).rms, subject.motion.rms
print(f"markers are missed by {1e3 * before:.1f} mm before the fit, {1e3 * after:.1f} mm after it")
print(f"the trial does not tell: {', '.join(subject.untold) or 'nothing'}")

sheet, panels = plt.subplots(2, 3, figsize=(13, 14), layout="tight")
for column, name in enumerate(("cmu41", "plug-in gait", "helen hayes")):
    shown = human.with_marker_set(name)
    places = {n: shown.seen(shown.rest, shown.markers[n])[:3, 3] for n in supple.figure.marker_set(name).names}
    near = {n: x[1] > 0.01 or (abs(x[1]) <= 0.01 and x[0] > 0.0) for n, x in places.items()}
    for panel, front in zip(panels[:, column], (True, False), strict=True):
        goals = [supple.Task(shown.markers[n], supple.At(x), name=n) for n, x in places.items() if near[n] == front]
        view, side = ((8, 35), "left and front") if front else ((8, 215), "right and back")
        problem = supple.Problem(shown, goals)
        draw(shown, problem=problem, ax=panel, view=view, names=True, title=f"{name}: {side}", dpi=90)
sheet.savefig("marker_sets.png", dpi=90)
print("picture: marker_sets.png")
