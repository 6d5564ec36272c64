"""An independent judge of retargeted motions: an own reader of BVH, own forward kinematics, own tables of names.

It shares nothing with the retargeter but the public placements of the target. Directions are those of straight lines
between joints: hip to knee, knee to ankle, shoulder to elbow, elbow to wrist, hips to neck. Lengths of the source are
scaled by the legs.

*Direction*: mean angle between lines of source and target [°]. *Depth*: how far a joint, heel or toe of the target is
below z = 0 at worst [mm]; *sunk*: share of frames in which something is by more than 5 mm. *Slide*: how far a heel or
toe goes from its median place while it touches the ground (to 10 mm) and the source's ankle or toe stands still and
low for a tenth of a second or more, within half a hundredth of a leg [mm]. *Jerk*: mean third difference of knees,
ankles, elbows, wrists and hips over that of the source. *Jump*: the greatest change of an angle from frame to frame
[rad]. *Body*: mean distance of the same points, seen from the hips and scaled [mm]. *Outside*: how far over a limit
[rad].
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

WRONG = {"direction": 12.0, "depth": 20.0, "slide": 5.0, "jerk": 8.0}  # above these a motion is wrong
TOUCHING = 0.01  # [m]
SIDED = ("hip", "knee", "ankle", "toe", "shoulder", "elbow", "wrist")
LINES = [(a, b) for s in "lr" for a, b in ((f"hip_{s}", f"knee_{s}"), (f"knee_{s}", f"ankle_{s}"),
         (f"shoulder_{s}", f"elbow_{s}"), (f"elbow_{s}", f"wrist_{s}"))] + [("hips", "neck")]  # fmt: skip
KEYS = [f"{p}_{s}" for p in ("knee", "ankle", "elbow", "wrist") for s in "lr"] + ["hips"]


class Bvh(NamedTuple):
    """Joints with parents, offsets, channels; the motion's rows; seconds a frame."""

    names: list[str]
    parents: list[int]
    offsets: np.ndarray
    channels: list[list[str]]
    rows: np.ndarray
    dt: float


def read_bvh(path: Any) -> Bvh:
    """Read a file, without checks."""
    words = Path(path).read_text(encoding="latin-1").split()
    names, parents, offsets, channels, stack, k = [], [], [], [], [], 0
    ends = 0
    while words[k] != "MOTION":
        word = words[k]
        if word in ("ROOT", "JOINT", "End"):
            named = word != "End"
            ends += not named
            names.append(words[k + 1] if named else f"end {ends} of {names[stack[-1]]}")
            parents.append(stack[-1] if stack else -1)
            stack.append(len(names) - 1)
            offsets.append(None)
            channels.append([])
            k += 1
        elif word == "OFFSET":
            offsets[stack[-1]] = [float(x) for x in words[k + 1 : k + 4]]
            k += 3
        elif word == "CHANNELS":
            count = int(words[k + 1])
            channels[stack[-1]] = words[k + 2 : k + 2 + count]
            k += 1 + count
        elif word == "}":
            stack.pop()
        k += 1
    frames, dt = int(words[k + 2]), float(words[k + 5])
    rows = np.array(words[k + 6 :], dtype=float).reshape(frames, -1)
    return Bvh(names, parents, np.array(offsets), channels, rows, dt)


def _about(axis: str, degrees: np.ndarray) -> np.ndarray:
    c, s = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    i, j = {"X": (1, 2), "Y": (2, 0), "Z": (0, 1)}[axis]
    R = np.tile(np.eye(3), (len(degrees), 1, 1))
    R[:, i, i], R[:, j, j], R[:, i, j], R[:, j, i] = c, c, -s, s
    return R


def placements(bvh: Bvh) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Where each joint is (frames, 3) and how it is turned (frames, 3, 3), z up.

    Channels of place take the offset's place, as most files mean it.
    """
    at, turned, column = [], [], 0
    for k, parent in enumerate(bvh.parents):
        local, R = np.tile(bvh.offsets[k], (len(bvh.rows), 1)), np.tile(np.eye(3), (len(bvh.rows), 1, 1))
        for channel in bvh.channels[k]:
            values = bvh.rows[:, column]
            column += 1
            if channel.endswith("position"):
                local[:, "XYZ".index(channel[0])] = values
            else:
                R = R @ _about(channel[0], values)
        if parent < 0:
            at.append(local)
            turned.append(R)
        else:
            at.append(at[parent] + (turned[parent] @ local[..., None])[..., 0])
            turned.append(turned[parent] @ R)
    to_z_up = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    return {name: (p @ to_z_up.T, to_z_up @ R) for name, p, R in zip(bvh.names, at, turned, strict=True)}


def _sided(table: dict[str, str], sides: tuple[str, str]) -> dict[str, str]:
    return {
        f"{part}_{s}": name.replace("*", side)
        for part, name in table.items()
        for s, side in zip("lr", sides, strict=True)
    }


CAPTURED = _sided({"hip": "*UpLeg", "knee": "*Leg", "ankle": "*Foot", "toe": "*ToeBase", "shoulder": "*Arm",
                   "elbow": "*ForeArm", "wrist": "*Hand"}, ("Left", "Right")) | {"neck": "Neck"}  # fmt: skip
BANDAI = _sided({"hip": "UpperLeg_*", "knee": "LowerLeg_*", "ankle": "Foot_*", "toe": "Toes_*", "shoulder": "UpperArm_*",
                 "elbow": "LowerArm_*", "wrist": "Hand_*"}, ("L", "R")) | {"neck": "Neck"}  # fmt: skip


def source_points(
    path: Any, first: int = 0, last: int | None = None, step: int = 1
) -> tuple[dict[str, np.ndarray], float]:
    """The judged points of a clip (frames, 3), and seconds between them."""
    bvh = read_bvh(path)
    bvh = bvh._replace(rows=bvh.rows[first:last:step])
    found = {name.rpartition(":")[2]: p for name, (p, _) in placements(bvh).items()}
    table = BANDAI if "UpperLeg_L" in found else CAPTURED
    out = {part: found[name] for part, name in table.items()}
    out["hips"] = 0.5 * (out["hip_l"] + out["hip_r"])
    return out, bvh.dt * step


def _at(segment: str, *offset: float) -> tuple[str, tuple[float, ...]]:
    return segment, offset or (0.0, 0.0, 0.0)


def _both(table: dict[str, Any], sides: tuple[str, str]) -> dict[str, Any]:
    return {
        f"{p}_{s}": (n.replace("*", side), o)
        for p, (n, o) in table.items()
        for s, side in zip("lr", sides, strict=True)
    }


TARGETS: dict[str, dict[str, Any]] = {
    "human": _both({"hip": _at("thigh_*"), "knee": _at("shank_*"), "ankle": _at("foot_*"), "shoulder": _at("upper_arm_*"),
                    "elbow": _at("forearm_*"), "wrist": _at("hand_*"), "heel": _at("foot_*", -0.03, 0, -0.068),
                    "ball": _at("foot_*", 0.14, 0, -0.068)}, ("l", "r")) | {"neck": _at("neck")},
    "g1": _both({"hip": _at("*_hip_roll_link"), "knee": _at("*_knee_link"), "ankle": _at("*_ankle_roll_link"),
                 "shoulder": _at("*_shoulder_roll_link"), "elbow": _at("*_elbow_link"), "wrist": _at("*_wrist_yaw_link"),
                 "heel": _at("*_ankle_roll_link", -0.05, 0, -0.03), "ball": _at("*_ankle_roll_link", 0.12, 0, -0.03)},
                ("left", "right")) | {"neck": _at("torso_link", 0.0, 0.0, 0.35)},
    "h1": _both({"hip": _at("*_hip_pitch_link"), "knee": _at("*_knee_link"), "ankle": _at("*_ankle_link"),
                 "shoulder": _at("*_shoulder_roll_link"), "elbow": _at("*_elbow_link"),
                 "wrist": _at("*_elbow_link", 0.28, 0, -0.015), "heel": _at("*_ankle_link", -0.05, 0, -0.05),
                 "ball": _at("*_ankle_link", 0.12, 0, -0.05)},
                ("left", "right")) | {"neck": _at("torso_link", 0.0, 0.0, 0.5)},
    "talos": _both({"hip": _at("leg_*_3_link"), "knee": _at("leg_*_4_link"), "ankle": _at("leg_*_6_link"),
                    "shoulder": _at("arm_*_3_link"), "elbow": _at("arm_*_4_link"), "wrist": _at("arm_*_7_link"),
                    "heel": _at("leg_*_6_link", -0.09, 0, -0.107), "ball": _at("leg_*_6_link", 0.1, 0, -0.107)},
                   ("left", "right")) | {"neck": _at("torso_2_link", 0.0, 0.0, 0.32)},
    "skeleton": {},
}  # fmt: skip


def _of_skeleton(figure: Any) -> dict[str, Any]:
    """The points of a captured skeleton: its joints; heels and balls are below ankles and toes, as low as toes get at rest."""
    table = {part: _at(name) for part, name in CAPTURED.items()}
    for s in "lr":
        low = min(
            figure.placement(figure.rest, name)[2, 3]
            for name in figure.segments
            if name.startswith(CAPTURED[f"toe_{s}"])
        )
        foot, toe = (figure.placement(figure.rest, CAPTURED[f"{part}_{s}"]) for part in ("ankle", "toe"))
        for part, at in (("heel", foot[:3, 3]), ("ball", toe[:3, 3])):
            down = np.array([at[0], at[1], low]) - foot[:3, 3]
            table[f"{part}_{s}"] = CAPTURED[f"ankle_{s}"], tuple(foot[:3, :3].T @ down)
        del table[f"toe_{s}"]
    return table


def target_points(figure: Any, Q: np.ndarray, kind: str) -> dict[str, np.ndarray]:
    """The judged points of a target (frames, 3), by the figure's public placements."""
    frames: dict[str, np.ndarray] = {}
    out = {}
    for part, (segment, offset) in (TARGETS[kind] or _of_skeleton(figure)).items():
        if segment not in frames:
            frames[segment] = figure.placement(Q, segment)
        T = frames[segment]
        out[part] = T[:, :3, :3] @ np.array(offset) + T[:, :3, 3]
    out["hips"] = 0.5 * (out["hip_l"] + out["hip_r"])
    return out


def _rise(points: dict[str, np.ndarray]) -> np.ndarray:
    return (points["neck"] - points["hips"])[:, 2]


def _leg(points: dict[str, np.ndarray]) -> float:
    return float(np.mean([np.linalg.norm(points[f"{a}_l"] - points[f"{b}_l"], axis=1).mean() for a, b in
                          (("hip", "knee"), ("knee", "ankle"))]) * 2.0)  # fmt: skip


def _standing(way: np.ndarray, dt: float, leg: float) -> list[tuple[int, int]]:
    """Phases in which a point of the source surely stands: slow and low for a tenth of a second."""
    if len(way) < 4:
        return []
    reach = max(1, round(0.033 / dt))
    k = np.arange(len(way))
    a, b = np.maximum(k - reach, 0), np.minimum(k + reach, len(way) - 1)
    slow = np.linalg.norm(way[b] - way[a], axis=1) / ((b - a) * dt) < 0.12 * leg
    mask = slow & (way[:, 2] < np.quantile(way[:, 2], 0.05) + 0.01 * leg)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(int)))
    out = []
    for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        a = first
        for k in range(
            first + 1, last + 1
        ):  # a point that creeps stands anew wherever it has gone half a hundredth of a leg
            if k == last or np.linalg.norm(way[k] - way[a]) > 0.005 * leg:
                out += [(a, k)] if (k - a) * dt >= 0.1 else []
                a = k
    return out


def _slide(source: dict[str, np.ndarray], target: dict[str, np.ndarray], dt: float, leg: float) -> float:
    worst = 0.0
    for s in "lr":
        for theirs, mine in (("ankle", "heel"), ("toe", "ball")):
            for a, b in _standing(source[f"{theirs}_{s}"], dt, leg):
                way = target[f"{mine}_{s}"][a:b]
                way = way[way[:, 2] < TOUCHING, :2]
                if len(way):
                    worst = max(worst, float(np.linalg.norm(way - np.median(way, axis=0), axis=1).max()))
    return worst


def judged(source: dict[str, np.ndarray], dt: float, figure: Any, Q: np.ndarray, kind: str) -> dict[str, float]:
    """The numbers of one motion; `wrong` is 1 where one of them is above what is allowed."""
    target = target_points(figure, Q, kind)
    leg, mine = _leg(source), _leg(target)
    scale = mine / leg
    angles = []
    for a, b in LINES:
        u, v = source[b] - source[a], target[b] - target[a]
        cosine = (u * v).sum(axis=1) / (np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1))
        angles.append(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))
    low = np.min([p[:, 2] for part, p in target.items()], axis=0)

    def jerk(points: dict[str, np.ndarray]) -> float:
        return float(np.mean([np.linalg.norm(np.diff(points[k], n=3, axis=0), axis=1).mean() for k in KEYS]))

    body = [
        np.linalg.norm((target[k] - target["hips"]) - scale * (source[k] - source["hips"]), axis=1) for k in KEYS[:-1]
    ]
    joints = Q[:, 6:]
    over = np.maximum(figure.lower - Q, Q - figure.upper)
    out = {
        "direction": float(np.mean(angles)), "depth": 1e3 * max(0.0, float(-low.min())), "sunk": float((low < -0.005).mean()),
        "slide": 1e3 * _slide(source, target, dt, leg),
        "jerk": jerk(target) / max(scale * jerk(source), 1e-12) if len(Q) > 4 else 1.0,
        "jump": float(np.abs(np.diff(joints, axis=0)).max()) if len(Q) > 1 else 0.0, "body": 1e3 * float(np.mean(body)),
        "outside": float(max(0.0, np.nan_to_num(over, neginf=0.0).max())),
        "upside": float((_rise(target) * _rise(source) < -0.02 * mine * leg).mean()),
    }  # fmt: skip
    broken = not np.isfinite(list(out.values())).all() or out["outside"] > 1e-6
    return out | {"wrong": float(broken or any(not out[key] <= most for key, most in WRONG.items()))}
