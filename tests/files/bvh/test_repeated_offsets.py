"""Files whose positions are places and not ways from the offset: the offset counts once."""

from __future__ import annotations

import numpy as np

from supple.files.bvh.reader import parse_bvh

HEAD = """HIERARCHY
ROOT Root {
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
"""
TAIL = """
MOTION
Frames: 3
Frame Time: 0.01
"""
CHANNELS = "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"
OFFSETS = [(0.8, 94.0, -452.0), (15.0, 0.0, 0.0), (9.0, -0.4, 0.0)]
WALK = np.array(
    [[-0.5, 93.5, -9.0], [-0.7, 93.4, -8.3], [-0.9, 93.6, -7.7]]
)  # of the hips, whose offset is from elsewhere


def file(positions: list[np.ndarray]) -> str:
    """A root, and three joints one below the other, with these positions in three frames."""
    text = HEAD
    for k, offset in enumerate(OFFSETS):
        text += f"JOINT J{k} {{ OFFSET {' '.join(map(str, offset))} {CHANNELS}\n"
    text += "End Site { OFFSET 0 0 0 }\n" + "}" * 4 + TAIL
    for t in range(3):
        numbers = [0.0] * 6
        for rows in positions:
            numbers += [*rows[t], 0.0, 0.0, 0.0]
        text += " ".join(map(str, numbers)) + "\n"
    return text


def heights(positions: list[np.ndarray]) -> np.ndarray:
    """Where the three joints are, in the file's axes (frames, 3, 3)."""
    motion = parse_bvh(file(positions), "t.bvh", unit=1.0, up="z")
    return np.stack([motion.figure.placement(motion.q, f"J{k}")[:, :3, 3] for k in range(3)], axis=1)


def test_a_joint_that_walks_about_is_where_its_positions_say_too():
    repeated = [WALK, *(np.tile(offset, (3, 1)) for offset in OFFSETS[1:])]
    np.testing.assert_allclose(heights(repeated), np.cumsum(repeated, axis=0).transpose(1, 0, 2), atol=1e-12)


def test_positions_that_begin_at_their_offsets_are_added_to_them():
    small = [np.full((3, 3), 0.1 * k) for k in range(3)]
    wanted = np.cumsum([s + o for s, o in zip(small, OFFSETS, strict=True)], axis=0).transpose(1, 0, 2)
    np.testing.assert_allclose(heights(small), wanted, atol=1e-12)
