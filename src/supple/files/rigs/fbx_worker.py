"""What the process that reads an FBX file does: ``python -m supple.files.rigs.fbx_worker FILE ANIMATION RATE LIMIT``.

The package ufbx frees objects that are still in use, so that a program may fall over when they go. Here all of them are kept,
and the process ends without clearing up; arrays and names go to the standard output as an ``.npz`` archive. Of several takes
that nobody chose the first is read in which anything moves.
"""

from __future__ import annotations

import io
import os
import sys
from typing import Any

import numpy as np


def main(path: str, animation: str, rate: str, limit: str) -> None:
    """Read a file and write what it holds."""
    import ufbx

    kept: list[Any] = []  # everything that ufbx ever handed out

    def hold(thing: Any) -> Any:
        kept.append(thing)
        return thing

    up = ufbx.axes_right_handed_y_up
    with open(path, "rb") as stream:
        data = stream.read()
    scene = hold(ufbx.load_memory(data, target_axes=up, target_unit_meters=1.0, ignore_geometry=True))
    every = [hold(node) for node in hold(scene.nodes)]
    nodes = sorted((node for node in every if not node.is_root), key=lambda node: node.node_depth)
    numbers = [node.typed_id for node in nodes]
    place = {number: k for k, number in enumerate(numbers)}
    above = [hold(node.parent) for node in nodes]
    out: dict[str, Any] = {
        "names": np.array([node.name for node in nodes], dtype=np.str_),
        "parents": np.array([-1 if up is None else place.get(up.typed_id, -1) for up in above], dtype=int),
        "bones": np.array([hold(node.bone) is not None for node in nodes], dtype=bool),
        "rest": np.array([_matrix(hold, node) for node in nodes]).reshape(-1, 4, 4),
    }
    takes = [hold(take) for take in hold(scene.anim_stacks)]
    takes = [take for take in takes if take.time_end > take.time_begin]
    out["takes"] = np.array([take.name for take in takes], dtype=np.str_)
    chosen = [take for take in takes if not animation or take.name == animation]
    own = float(hold(scene.settings).frames_per_second)
    per_second = float(rate) or (own if 1e-3 < own < 1e4 else 30.0)
    for take in chosen:
        count = int(np.floor((take.time_end - take.time_begin) * per_second + 1e-6)) + 1
        out["count"] = np.array(count)
        if count * max(len(nodes), 1) * 16 > int(limit):
            continue
        out["times"] = take.time_begin + np.arange(count) / per_second
        frames = np.empty((count, len(nodes), 4, 4))
        motion = hold(take.anim)
        for f, time in enumerate(out["times"].tolist()):
            state = hold(scene.evaluate(motion, time))
            placed = [hold(node) for node in hold(state.nodes)]
            frames[f] = [_matrix(hold, placed[number]) for number in numbers]
        out |= {"frames": frames, "chosen": np.array(take.name, dtype=np.str_)}
        if np.ptp(frames, axis=0).max(initial=0.0) > 1e-9:
            break
    stream = io.BytesIO()
    np.savez(stream, **out)
    os.write(1, len(stream.getvalue()).to_bytes(8, "little"))
    view = memoryview(stream.getvalue())
    while view:
        view = view[os.write(1, view) :]
    os._exit(0)


def _matrix(hold: Any, node: Any) -> np.ndarray:
    m = hold(node.node_to_world)
    out = np.eye(4)
    for k, column in enumerate((hold(m.c0), hold(m.c1), hold(m.c2), hold(m.c3))):
        out[:3, k] = column.x, column.y, column.z
    return out


if __name__ == "__main__":
    try:
        main(*sys.argv[1:5])
    except Exception as error:  # ufbx has kinds of its own
        os.write(2, f"ufbx: {(str(error).splitlines() or ['?'])[0]}".encode())
        os._exit(1)
