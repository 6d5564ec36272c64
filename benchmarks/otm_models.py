"""The two experiments of Ausejo, Suescun & Celigüeta (2011), rebuilt: figures of their make-up, markers, motions and noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import supple
from supple import Point, ball, free, hinge, universal
from supple.geometry.placements import Floats

RATE = 50.0  # frames a second


@dataclass(frozen=True, eq=False)
class Experiment:
    """A figure with markers, and trials: the postures behind them and what cameras saw of them."""

    name: str
    figure: supple.Figure
    points: dict[str, Point]
    postures: list[Floats]  # (frames, size) of each trial
    positions: list[Floats]  # (frames, markers, 3) of each trial, with noise


def whole_body() -> tuple[supple.Figure, dict[str, Point]]:
    """24 moving bodies: 1 floating, 10 spherical, 7 revolute and 6 universal joints, 55 degrees of freedom; 39 markers."""
    parts = [
        *free("pelvis", at=(0, 0, 1.0)),
        *ball("lumbar", "pelvis", "yxz", at=(-0.05, 0, 0.10)),
        *ball("chest", "lumbar", "yxz", at=(0, 0, 0.15)),
        *ball("thorax", "chest", "yxz", at=(0, 0, 0.15)),
        *ball("neck", "thorax", "yxz", at=(0.02, 0, 0.20)),
        *hinge("head", "neck", (0, 1, 0), at=(0.02, 0, 0.10)),
    ]
    points = {
        "LASI": Point("pelvis", (0.10, 0.13, 0.05)), "RASI": Point("pelvis", (0.10, -0.13, 0.05)),
        "LPSI": Point("pelvis", (-0.10, 0.05, 0.07)), "RPSI": Point("pelvis", (-0.10, -0.05, 0.07)),
        "L3": Point("lumbar", (-0.12, -0.06, 0.08)), "BAK": Point("chest", (-0.10, 0.08, 0.10)),
        "C7": Point("thorax", (-0.08, 0, 0.20)), "CLAV": Point("thorax", (0.10, 0, 0.15)),
        "STRN": Point("thorax", (0.14, 0, 0.0)), "C3": Point("neck", (-0.07, 0, 0.07)),
        "LFHD": Point("head", (0.10, 0.07, 0.10)), "RFHD": Point("head", (0.10, -0.07, 0.10)),
        "BHD": Point("head", (-0.10, 0, 0.10)),
    }  # fmt: skip
    for side, s in (("L", 1.0), ("R", -1.0)):
        parts += [
            *universal(f"{side}clavicle", "thorax", "zx", at=(0.03, 0.03 * s, 0.15)),
            *ball(f"{side}arm", f"{side}clavicle", "xyz", at=(-0.03, 0.15 * s, 0.02)),
            *hinge(f"{side}forearm", f"{side}arm", (0, 1, 0), at=(0, 0, -0.30)),
            *universal(f"{side}hand", f"{side}forearm", "zy", at=(0, 0, -0.26)),
            *universal(f"{side}fingers", f"{side}hand", "yx", at=(0, 0, -0.09)),
            *ball(f"{side}thigh", "pelvis", "yxz", at=(0, 0.09 * s, -0.05)),
            *hinge(f"{side}shank", f"{side}thigh", (0, 1, 0), at=(0, 0, -0.42)),
            *ball(f"{side}foot", f"{side}shank", "yxz", at=(0, 0, -0.42)),
            *hinge(f"{side}toes", f"{side}foot", (0, 1, 0), at=(0.14, 0, -0.06)),
        ]
        points |= {
            f"{side}ACR": Point(f"{side}clavicle", (-0.02, 0.13 * s, 0.05)),
            f"{side}UPA": Point(f"{side}arm", (0.03, 0.05 * s, -0.14)),
            f"{side}ELB": Point(f"{side}arm", (0, 0.05 * s, -0.30)),
            f"{side}FRM": Point(f"{side}forearm", (0.02, 0.05 * s, -0.13)),
            f"{side}WRA": Point(f"{side}forearm", (0.04, 0, -0.25)),
            f"{side}HND": Point(f"{side}hand", (0.04, 0.02 * s, -0.07)),
            f"{side}HNB": Point(f"{side}hand", (-0.04, 0.02 * s, -0.07)),
            f"{side}FIN": Point(f"{side}fingers", (0.0, 0.02 * s, -0.09)),
            f"{side}THI": Point(f"{side}thigh", (0.05, 0.08 * s, -0.25)),
            f"{side}TIB": Point(f"{side}shank", (0.04, 0.05 * s, -0.22)),
            f"{side}ANK": Point(f"{side}foot", (0, 0.04 * s, 0.0)),
            f"{side}HEE": Point(f"{side}foot", (-0.07, 0, -0.05)),
            f"{side}TOE": Point(f"{side}toes", (0.06, 0, 0.02)),
        }
    return supple.Figure("whole body", parts), points


def upper_body() -> tuple[supple.Figure, dict[str, Point]]:
    """12 bodies, 29 degrees of freedom, 28 markers; each shoulder blade is tied to the ribs by two rods, which close two loops.

    A rod stands for "this point of the shoulder blade glides on a sphere", as in van der Helm's model (there an ellipsoid).
    """
    parts = [*free("thorax", at=(0, 0, 1.2)), *ball("head", "thorax", "yxz", at=(0.02, 0, 0.25))]
    points = {
        "C7": Point("thorax", (-0.08, 0, 0.20)), "CLAV": Point("thorax", (0.10, 0, 0.15)),
        "STRN": Point("thorax", (0.14, 0, 0.0)), "T10": Point("thorax", (-0.12, 0, 0.0)),
        "LFHD": Point("head", (0.10, 0.07, 0.15)), "RFHD": Point("head", (0.10, -0.07, 0.15)),
        "LBHD": Point("head", (-0.10, 0.07, 0.15)), "RBHD": Point("head", (-0.10, -0.07, 0.15)),
    }  # fmt: skip
    loops = []
    for side, s in (("L", 1.0), ("R", -1.0)):
        clavicle, scapula = np.array([0.05, 0.03 * s, 0.15]), np.array([-0.05, 0.14 * s, 0.02])
        parts += [
            *universal(f"{side}clavicle", "thorax", "zx", at=clavicle),
            *ball(f"{side}scapula", f"{side}clavicle", "zyx", at=scapula),
        ]
        for name, glides, hinge_at in (
            ("superior", (-0.06, -0.08 * s, -0.01), (0.0, 0.05 * s, 0.10)),
            ("inferior", (-0.07, -0.07 * s, -0.13), (0.0, 0.05 * s, 0.0)),
        ):
            rod, foot, head = f"{side}{name}", np.array(hinge_at), clavicle + scapula + glides
            x = (head - foot) / np.linalg.norm(head - foot)
            y = np.cross((0, 0, 1), x) / np.linalg.norm(np.cross((0, 0, 1), x))
            at = supple.place(foot, matrix=np.column_stack([x, y, np.cross(x, y)]))
            parts += universal(rod, "thorax", "yz", at=at)
            reach = supple.place((float(np.linalg.norm(head - foot)), 0, 0))
            loops.append(supple.Loop(rod, rod, f"{side}scapula", reach, supple.place(glides), point=True))
        parts += [
            *ball(f"{side}arm", f"{side}scapula", "xyz", at=(0.0, 0.03 * s, -0.04)),
            *universal(f"{side}forearm", f"{side}arm", "yz", at=(0, 0, -0.30)),
            *universal(f"{side}hand", f"{side}forearm", "xy", at=(0, 0, -0.26)),
        ]
        points |= {
            f"{side}CLA": Point(f"{side}clavicle", (-0.02, 0.08 * s, 0.03)),
            f"{side}ACR": Point(f"{side}scapula", (0.0, 0.02 * s, 0.03)),
            f"{side}SPI": Point(f"{side}scapula", (-0.06, -0.09 * s, 0.0)),
            f"{side}INF": Point(f"{side}scapula", (-0.08, -0.07 * s, -0.13)),
            f"{side}UPA": Point(f"{side}arm", (0.03, 0.05 * s, -0.14)),
            f"{side}ELB": Point(f"{side}arm", (0, 0.05 * s, -0.30)),
            f"{side}FRM": Point(f"{side}forearm", (0.02, 0.05 * s, -0.13)),
            f"{side}WRA": Point(f"{side}forearm", (0.04, 0, -0.25)),
            f"{side}HND": Point(f"{side}hand", (0.04, 0.02 * s, -0.07)),
            f"{side}FIN": Point(f"{side}hand", (-0.03, 0.02 * s, -0.15)),
        }
    return supple.Figure("upper body", parts, loops=loops), points


def skin_noise(rng: np.random.Generator, frames: int, markers: int, amplitude: float) -> Floats:
    """Skin that moves as sines of the time do, in every direction with its own amplitude, frequency and phase (Chèze 1995)."""
    t = np.arange(frames)[:, None, None] / RATE
    shape = (1, markers, 3)
    size, phase = rng.uniform(0.0, amplitude, shape), rng.uniform(0.0, 2.0 * np.pi, shape)
    return size * np.sin(2.0 * np.pi * rng.uniform(0.3, 1.5, shape) * t + phase)


def smooth(s: Floats) -> Floats:
    """From 0 to 1 with the least jerk."""
    return s**3 * (10.0 - 15.0 * s + 6.0 * s * s)


def seen(figure: supple.Figure, points: dict[str, Point], Q: Floats) -> Floats:
    """Where the points are in many postures (frames, points, 3)."""
    T = {segment: figure.placement(Q, segment) for segment in {p.segment for p in points.values()}}
    return np.stack([T[p.segment][:, :3, :3] @ p.offset + T[p.segment][:, :3, 3] for p in points.values()], axis=1)


def reaching(trials: int = 10, frames: int = 120, amplitude: float = 0.02, seed: int = 1) -> Experiment:
    """Reach movements of the whole body: to a switch and back, trunk and both arms, every trial its own."""
    figure, points = whole_body()
    index, postures, positions = {n: k for k, n in enumerate(figure.coordinates)}, [], []
    start = np.array(figure.rest)
    seated = {"Rarm.y": 0.2, "Rarm.x": -0.2, "Rforearm": -0.9, "Rthigh.y": -0.2, "Rshank": 0.4, "Rfoot.y": -0.2}
    seated |= {name.replace("R", "L", 1): -value if name.endswith(".x") else value for name, value in seated.items()}
    for name, value in seated.items():
        start[index[name]] = value
    for trial in range(trials):
        rng = np.random.default_rng(seed + trial)
        reach = {"Rarm.y": -1.2, "Rforearm": 0.5, "Rclavicle.z": 0.2, "lumbar.y": 0.15, "chest.y": 0.15, "thorax.z": 0.2,
                 "neck.z": -0.2, "head": 0.1, "Rhand.y": 0.3, "Rarm.x": 0.3}  # fmt: skip
        target = start + 0.05 * rng.normal(size=figure.size)
        for name, value in reach.items():
            target[index[name]] += value * rng.uniform(0.6, 1.2)
        s = smooth(1.0 - np.abs(np.linspace(-1.0, 1.0, frames)))
        Q = start + s[:, None] * (target - start)
        postures.append(Q)
        positions.append(seen(figure, points, Q) + skin_noise(rng, frames, len(points), amplitude))
    return Experiment("reach", figure, points, postures, positions)


def steering(trials: int = 12, frames: int = 150, amplitude: float = 0.02, seed: int = 100) -> Experiment:
    """Steering with both hands at ten to two, right and left, in closed shoulder girdles."""
    figure, points = upper_body()
    index, postures, positions = {n: k for k, n in enumerate(figure.coordinates)}, [], []
    hands = [Point("Lhand", (0, 0, -0.08)), Point("Rhand", (0, 0, -0.08))]
    start = np.array(figure.rest)
    for name, value in {"Larm.y": -1.0, "Rarm.y": -1.0, "Lforearm.y": -0.9, "Rforearm.y": -0.9}.items():
        start[index[name]] = value
    grips = np.array([figure.seen(start, hand)[:3, 3] for hand in hands])
    centre = grips.mean(axis=0) + np.array([0, 0, -0.10])
    for trial in range(trials):
        rng = np.random.default_rng(seed + trial)
        turn = rng.uniform(0.4, 0.9) * np.sin(2.0 * np.pi * np.linspace(0.0, 1.0, frames))
        held = []
        for hand, grip in zip(hands, grips, strict=True):
            arm = grip - centre
            c, d = np.cos(turn), np.sin(turn)
            ways = np.column_stack([0.0 * turn + arm[0], arm[1] * c - arm[2] * d, arm[1] * d + arm[2] * c])
            held.append(supple.motion.Held(hand, centre + ways))
        rest = seen(figure, points, start[None])
        still = supple.OptimalTracking(limits=False).track_frames(
            figure, list(points.values()), np.repeat(rest, frames, axis=0), start=start, held=held
        )
        postures.append(still.q)
        positions.append(seen(figure, points, still.q) + skin_noise(rng, frames, len(points), amplitude))
    return Experiment("steering", figure, points, postures, positions)
