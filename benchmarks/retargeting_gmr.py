"""GMR (General Motion Retargeting, YanjieZe/GMR) on the clips of `retargeting.py`, onto the Unitree G1, judged alike.

    python benchmarks/retargeting_gmr.py CHECKOUT FOLDER… --g1 g1_29dof.urdf [--clips 20] [--seconds 10]

CHECKOUT is a copy of its repository; mink, mujoco and daqp must be installed. GMR's tables for BVH are made for LAFAN1's
skeleton: sizes in metres, and the axes of each bone. So a clip is scaled until its legs are as long as LAFAN1's, and
each bone turned as LAFAN1's would be where the body stands as the robot does at zero: arms down, forearms forward.
Its motion is put down until the feet's median lowest point is on the ground. Frames a second are of processor time on
one thread, reading not counted; those of supple are measured in the same run on the same frames.
"""

from __future__ import annotations

import argparse
import sys
import time
import types
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import supple
from retargeting import COLUMNS, clip_of, target_of
from retargeting_judge import CAPTURED, judged, placements, read_bvh, target_points

LEG = 0.859  # of LAFAN1 [m], hip to ankle
HEIGHT = 1.75  # what GMR takes its people for [m]
PARTS = {"Hips": "hips", "Spine2": "chest"} | {
    f"{side}{theirs}": f"{part}_{s}"
    for s, side in (("l", "Left"), ("r", "Right"))
    for theirs, part in (("UpLeg", "hip"), ("Leg", "knee"), ("FootMod", "ankle"), ("Arm", "shoulder"),
                         ("ForeArm", "elbow"), ("Hand", "wrist"))
}  # fmt: skip
DOWN, FORWARD = np.array([0.0, 0.0, -1.0]), np.array([1.0, 0.0, 0.0])
WAYS = {"hip": ("knee", DOWN), "knee": ("ankle", DOWN), "shoulder": ("elbow", DOWN), "elbow": ("wrist", FORWARD)}


def loaded(checkout: Path) -> Any:
    """GMR's class, without the viewers that its package imports."""
    package = types.ModuleType("general_motion_retargeting")
    package.__path__ = [str(checkout / "general_motion_retargeting")]
    sys.modules["general_motion_retargeting"] = package
    from general_motion_retargeting.motion_retarget import (  # pyright: ignore[reportMissingImports]
        GeneralMotionRetargeting,
    )

    return GeneralMotionRetargeting("bvh", "unitree_g1", HEIGHT)


def people(file: Path, gmr: Any, part: tuple[int, int | None, int]) -> list[dict[str, Any]]:
    """The frames as GMR wants them: places and turns of LAFAN1's bones."""
    bvh = read_bvh(file)
    zero = bvh._replace(rows=np.zeros((1, bvh.rows.shape[1])))
    names = CAPTURED | {"hips": "Hips", "chest": "Spine1"}

    def seen(which: Any) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        found = {name.rpartition(":")[2]: pose for name, pose in placements(which).items()}
        return {part: found[name] for part, name in names.items()}

    at, rest = seen(bvh._replace(rows=bvh.rows[slice(*part)])), seen(zero)
    leg = sum(np.linalg.norm(rest[a][0] - rest[b][0]) for a, b in (("hip_l", "knee_l"), ("knee_l", "ankle_l")))
    left = (rest["shoulder_l"][0] - rest["shoulder_r"][0])[0] * [1.0, 1.0, 0.0]
    left /= np.linalg.norm(left)
    body = np.column_stack([np.cross(left, [0.0, 0.0, 1.0]), left, [0.0, 0.0, 1.0]]).T  # the world as the body sees it
    standing: dict[str, np.ndarray] = {}
    for name, (p, R) in rest.items():
        stem, _, side = name.partition("_")
        turn = body
        if stem in ("shoulder", "elbow"):
            turn = _arc(body @ (rest[f"elbow_{side}"][0] - rest[f"shoulder_{side}"][0])[0], DOWN) @ body
        if stem in WAYS:
            end, way = WAYS[stem]
            turn = _arc(turn @ (rest[f"{end}_{side}"][0] - p)[0], way) @ turn
        if stem == "wrist":
            turn = standing[f"elbow_{side}"] @ rest[f"elbow_{side}"][1][0].T
        standing[name] = turn @ R[0]
    offsets = {bone: gmr.rot_offsets1[bone] for bone in gmr.rot_offsets1}
    out = []
    for k in range(len(at["hips"][0])):
        frame = {}
        for bone, name in PARTS.items():
            p, R = at[name]
            turn = Rotation.from_matrix(R[k] @ standing[name].T) * offsets[bone].inv()
            frame[bone] = (p[k] * LEG / leg, turn.as_quat(scalar_first=True))
        out.append(frame)
    return out


def _arc(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The shortest turn from u to v."""
    u = u / np.linalg.norm(u)
    axis, cosine = np.cross(u, v), float(u @ v)
    size = np.linalg.norm(axis)
    return Rotation.from_rotvec(axis / max(size, 1e-12) * np.arctan2(size, cosine)).as_matrix()


def postures(qpos: np.ndarray, figure: Any, joints: list[str]) -> np.ndarray:
    """MuJoCo's postures as those of our figure of the same robot; the root's coordinates fitted by their placement."""
    Q = np.tile(figure.rest, (len(qpos), 1))
    for k, name in enumerate(joints):
        Q[:, figure.coordinates.index(name)] = qpos[:, 7 + k]
    Q[:, :3] = qpos[:, :3]
    Q[:, 3:6] = Rotation.from_quat(qpos[:, 3:7], scalar_first=True).as_euler("ZYX")
    T = figure.placement(Q[:1], "pelvis")[0]
    wanted = Rotation.from_quat(qpos[0, 3:7], scalar_first=True).as_matrix()
    assert np.abs(T[:3, :3] - wanted).max() < 1e-6, "the root's angles are not z, y, x"
    assert np.abs(T[:3, 3] - qpos[0, :3]).max() < 1e-6, "the root's places are not x, y, z"
    return Q


def put_down(figure: Any, Q: np.ndarray) -> np.ndarray:
    """The postures with the median of the feet's lowest point on the ground."""
    points = target_points(figure, Q, "g1")
    low = np.min([points[f"{p}_{s}"][:, 2] for p in ("heel", "ball") for s in "lr"], axis=0)
    out = Q.copy()
    out[:, 2] -= np.median(low)
    return out


def main() -> None:
    """Read the command line, run, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--g1", required=True)
    parser.add_argument("--clips", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=10.0)
    told = parser.parse_args()
    _, figure = target_of(f"g1={told.g1}")
    rows: dict[str, list[dict[str, float]]] = {"supple": [], "GMR": []}
    for file in [f for folder in told.folders for f in _spread(sorted(folder.glob("*.bvh")), told.clips)]:
        motion, points, dt = clip_of(file, told.seconds)
        begin = time.process_time()
        out = supple.retarget(motion, figure)
        took = time.process_time() - begin
        rows["supple"].append(judged(points, dt, figure, out.q, "g1") | {"frames": len(out), "seconds": took})
        gmr = loaded(told.checkout)
        joints = [gmr.model.joint(k).name for k in range(1, gmr.model.njnt)]
        raw = read_bvh(file)
        step = max(1, round(dt / raw.dt))
        frames = people(file, gmr, (1, 1 + round(told.seconds / raw.dt), step))[: len(motion)]
        begin = time.process_time()
        qpos = np.array([gmr.retarget(frame) for frame in frames])
        took = time.process_time() - begin
        Q = put_down(figure, postures(qpos, figure, joints))
        rows["GMR"].append(judged(points, dt, figure, Q, "g1") | {"frames": len(Q), "seconds": took})
        print(file.name, *(f"{who}: " + ", ".join(f"{c} {r[-1][c]:.1f}" for c in COLUMNS) for who, r in rows.items()))
    head = ["", "clips", "wrong [%]", *COLUMNS, "frames/s"]
    print("| " + " | ".join(head) + " |\n| --- |" + " ---: |" * (len(head) - 1))
    for who, own in rows.items():
        cells = [f"{np.median([r[c] for r in own]):.2f}/{np.quantile([r[c] for r in own], 0.9):.2f}" for c in COLUMNS]
        speed = sum(r["frames"] for r in own) / sum(r["seconds"] for r in own)
        wrong = 100 * np.mean([r["wrong"] for r in own])
        print("| " + " | ".join([who, str(len(own)), f"{wrong:.1f}", *cells, f"{speed:,.0f}"]) + " |")


def _spread(files: list[Path], count: int) -> list[Path]:
    """So many of the files, spread evenly."""
    return [files[k] for k in np.unique(np.linspace(0, len(files) - 1, min(count, len(files))).astype(int))]


if __name__ == "__main__":
    main()
