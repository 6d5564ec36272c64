"""A motion carried over to another figure: matched, aligned, scaled, with its feet kept on the ground.

A person marches on the spot. The motion goes to a child with seventeen vertebrae, whose arms are spread at rest, and what
was kept and lost is reported. Draws both into retarget.png.
"""

from __future__ import annotations

import numpy as np

import supple
from supple.view import draw_frames

person = supple.load("human", fingers=False)
times = np.arange(90) / 30.0
wave = np.sin(2.0 * np.pi * times / 1.5)
Q = np.tile(person.rest, (len(times), 1))


def put(name: str, values: np.ndarray) -> None:
    """Let a coordinate take these values."""
    Q[:, person.coordinates.index(name)] = values


for side, lift, swing in (("l", np.maximum(0.0, wave), -wave), ("r", np.maximum(0.0, -wave), wave)):
    put(f"thigh_{side}.flexion", 1.1 * lift**2)
    put(f"shank_{side}.flexion", 1.6 * lift**2)
    put(f"upper_arm_{side}.flexion", 0.6 * swing)
    put(f"forearm_{side}.flexion", 0.9 + 0.4 * swing)
put("lumbar.rotation", 0.12 * wave)
march = supple.Motion(person, Q, times)

spread = {"upper_arm_l.abduction": 1.5, "upper_arm_r.abduction": 1.5}
child = supple.load("jack", stature=1.15, fingers=False).with_rest(spread)

match = supple.motion.match_segments(person, child)
print(match.text())
print("the child has", len(child.coordinates), "coordinates, the person", len(person.coordinates), end="\n\n")

out = supple.retarget(march, child, match)
print(out.report.text())
assert out.report.target.slide < 2e-3

supple.write(out, "child.bvh")
draw_frames([march, out], [0, 10, 22, 35, 55], path="retarget.png")

# Without planting, only directions and places are transferred.
plain = supple.retarget(march, child, match, plant=False)
print(f"\nslide without planting: {1e3 * plain.report.target.slide:.1f} mm")

# Half of the match is enough to move half of the figure.
arms = supple.motion.Match.parse("pelvis = pelvis\nupper_arm_r = upper_arm_l\nforearm_r = forearm_l\nhand_r = hand_l")
mirror = supple.retarget(march.frames(0, 30), child, arms, plant=False)
print("only one arm:", ", ".join(t for t, _ in mirror.match.pairs))
