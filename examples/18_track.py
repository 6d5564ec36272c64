"""A moving person from markers, a third of the samples lost and one marker astray: frame by frame, then all at once."""

import numpy as np

import supple

human = supple.load("human")
spots = {
    f"{segment}.{k}": (segment, offset)
    for segment in human.segments
    if human.joints_of(segment) and segment in human.bodies
    for k, offset in enumerate([(0.05, 0.0, 0.0), (0.0, 0.06, 0.0), (0.0, 0.0, -0.08)])
}
human = human.with_markers(spots)

# A motion to be found again: every joint swings, and the root travels.
frames, rate = 120, 60.0
t = np.arange(frames)[:, None] / rate
rng = np.random.default_rng(0)
swing = np.minimum(0.25, 0.4 * (human.upper - human.lower))
q = human.rest + 0.8 * swing * np.sin(4.0 * t + rng.uniform(0.0, 6.0, human.size))
q[:, 0] = t[:, 0]
q = np.clip(q, human.lower, human.upper)
truth = np.stack([human.placement(q, p.segment) @ np.append(p.offset, 1.0) for p in human.markers.values()], axis=1)[
    ..., :3
]

seen = truth + rng.normal(0.0, 0.003, truth.shape)
seen[rng.random(seen.shape[:2]) < 1 / 3] = np.nan
seen[40:60, 5] += 0.4
markers = supple.Markers(list(human.markers), seen, t[:, 0])

for name, method in (
    ("frame by frame", supple.motion.FrameByFrame()),
    ("outliers set aside", supple.motion.FrameByFrame(huber=0.01)),
    ("the whole clip", supple.motion.WholeClip(1e-4, huber=0.01)),
):
    motion = supple.track(human, markers, method)
    found = np.stack(
        [human.placement(motion.q, p.segment) @ np.append(p.offset, 1.0) for p in human.markers.values()], axis=1
    )
    off = np.linalg.norm(found[..., :3] - truth, axis=2)
    print(
        f"{name:20s} off the truth by {1e3 * np.sqrt(np.mean(off**2)):5.2f} mm, {motion.converged.sum()} frames converged"
    )

print(motion.table().splitlines()[-1])
