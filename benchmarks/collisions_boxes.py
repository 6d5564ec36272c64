"""A Panda with meshes among boxes: which share of reachable poses is solved, in which time, by supple and by others.

Poses are those of the hand in random postures that coal finds clear: 1 cm from every box, 5 mm between links that are kept
apart. Both keep 2 mm. Answers are judged by coal on the meshes. mink steps down a quadratic programme with its collision limit,
on the robot of MuJoCo Menagerie (``SUPPLE_MENAGERIE``, with the same boxes), 60 steps from rest and from 5 random postures.
"""

from __future__ import annotations

import os
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import supple
from collisions_oracle import Links, distance_of, transform

BOXES = {
    "table": ((-0.2, -0.8, -0.12), (0.9, 0.8, -0.02)),
    "shelf": ((0.45, -0.4, 0.55), (0.75, 0.4, 0.6)),
    "post": ((0.3, 0.3, -0.02), (0.4, 0.4, 0.7)),
    "wall": ((-0.5, -0.9, -0.12), (-0.4, 0.9, 1.2)),
    "crate": ((0.4, -0.5, -0.02), (0.65, -0.25, 0.2)),
}
METRES, RADIANS = 1e-4, 1e-3
KEPT = 0.002  # [m] between bodies
HAND = "panda_hand"


class Judge:
    """What coal says of postures."""

    def __init__(self, figure: Any, links: Links) -> None:
        import coal

        self.figure, self.links = figure, links
        joined = {frozenset(pair) for pair in figure.joined_pairs()}
        apart = {frozenset(pair) for pair in links.pairs()} - joined
        self.pairs = [
            pair
            for pair in links.pairs()
            if frozenset(pair) in apart & {frozenset(p) for p in figure.colliding_pairs()}
        ]
        self.boxes = [
            (coal.Box(*np.subtract(hi, lo).tolist()), transform(supple.place(np.add(lo, hi) / 2)))
            for lo, hi in BOXES.values()
        ]
        self.movable = [name for name in links.links if figure.chain(None, name)]

    def clear(self, q: np.ndarray, from_boxes: float, apart: float) -> bool:
        """Whether all is so far apart."""
        X = self.figure.placements(q)
        for name in self.movable:
            for box, at in self.boxes:
                if (
                    min(distance_of(g, transform(X[name] @ S), box, at) for g, S in self.links.links[name].parts)
                    < from_boxes
                ):
                    return False
        return all(self.links.distance(pair, X) >= apart for pair in self.pairs)

    def reached(self, q: np.ndarray, T: np.ndarray) -> bool:
        """Whether the hand is there."""
        E = np.linalg.inv(T) @ self.figure.placement(q, HAND)
        angle = np.arccos(np.clip((np.trace(E[:3, :3]) - 1) / 2, -1, 1))
        return bool(np.linalg.norm(E[:3, 3]) <= METRES and angle <= RADIANS)


def among_boxes(home: Path, count: int) -> list[dict[str, Any]]:
    """A row for each solver."""
    path = home / "robots" / "panda_description" / "urdf" / "panda.urdf"
    folders = [home.parent, home / "robots"]
    figure, random = supple.load(path, folders=folders), np.random.default_rng(7)
    judge, postures = Judge(figure, Links(path, folders)), []
    while len(postures) < count:
        q = random.uniform(figure.lower, figure.upper)
        if judge.clear(q, 0.01, 0.005):
            postures.append(q)
    poses = [figure.placement(q, HAND) for q in postures]
    rows = [told("supple", judge, poses, ours(figure))]
    menagerie = Path(os.environ.get("SUPPLE_MENAGERIE", "/"))
    if (menagerie / "franka_emika_panda" / "panda.xml").is_file():
        rows.append(told("mink", judge, poses, mink_panda(figure, menagerie)))
    for name, maker in (("pink", "pink_panda"), ("drake", "drake_panda")):
        if find_spec("pydrake" if name == "drake" else name) is not None:
            import collisions_peers

            rows.append(told(name, judge, poses, getattr(collisions_peers, maker)(figure, path, folders)))
    return rows


def told(name: str, judge: Judge, poses: list[np.ndarray], solve: Any) -> dict[str, Any]:
    """Ask for all poses, and have the answers judged."""
    solve(poses[0])
    milliseconds, solved, touching, said = [], 0, 0, 0
    for T in poses:
        began = time.process_time()
        q, ok = solve(T)
        milliseconds.append(1e3 * (time.process_time() - began))
        clear, there = judge.clear(q, -1e-9, 0.0), judge.reached(q, T)
        solved, said = solved + (ok and clear and there), said + ok
        touching += ok and not clear
    middle, most = np.median(milliseconds), np.quantile(milliseconds, 0.95)
    return {
        "solver": name, "poses": len(poses), "said solved": said, "solved %": 100 * solved / len(poses), "touching": touching,
        "median ms": float(middle), "95 % ms": float(most),
    }  # fmt: skip


def ours(figure: Any) -> Any:
    """A prepared problem."""
    task = supple.Task(
        HAND, supple.Placed(figure.placement(figure.rest, HAND)), tolerance=METRES / 2, angle_tolerance=RADIANS / 2
    )
    boxes = {name: supple.Box(lo, hi) for name, (lo, hi) in BOXES.items()}
    query = supple.prepare(
        supple.Problem(figure, [task], obstacles=boxes, clearance=supple.Clearance(KEPT, itself=True))
    )

    def solve(T: np.ndarray) -> tuple[np.ndarray, bool]:
        found = query(T)
        return np.asarray(found.q), found.ok

    return solve


def mink_panda(figure: Any, menagerie: Path) -> Any:
    """mink with its collision limit."""
    import mink
    import mujoco

    spec = mujoco.MjSpec.from_file(str(menagerie / "franka_emika_panda" / "panda.xml"))
    for name, (lo, hi) in BOXES.items():
        size = (np.subtract(hi, lo) / 2).tolist()
        spec.worldbody.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_BOX, size=size, pos=(np.add(lo, hi) / 2).tolist())
    model = spec.compile()
    geoms: dict[int, list[int]] = {}
    for g in range(model.ngeom):
        body = int(model.geom_bodyid[g])
        if body and (model.geom_contype[g] or model.geom_conaffinity[g]):
            geoms.setdefault(body, []).append(g)
    movable = [body for body in geoms if model.body_weldid[body]]
    pairs: list[Any] = [([g for b in movable for g in geoms[b]], [model.geom(name).id for name in BOXES])]
    several = [*geoms]
    for i, a in enumerate(several):
        pairs += [(geoms[a], geoms[b]) for b in several[i + 1 :] if model.body_parentid[b] != a]
    limits = [mink.ConfigurationLimit(model), mink.CollisionAvoidanceLimit(model, pairs, 0.85, KEPT, 0.05)]
    task = mink.FrameTask("hand", "body", 1.0, 1.0, lm_damping=1e-3)
    configuration, random = mink.Configuration(model), np.random.default_rng(1)
    at = [model.joint(f"joint{k}").qposadr[0] for k in range(1, 8)] + [
        model.joint(f"finger_joint{k}").qposadr[0] for k in (1, 2)
    ]
    names = [f"panda_joint{k}" for k in range(1, 8)] + ["panda_finger_joint1", "panda_finger_joint2"]
    columns = [figure.coordinates.index(name) if name in figure.coordinates else 7 for name in names]

    def solve(T: np.ndarray) -> tuple[np.ndarray, bool]:
        task.set_target(mink.SE3.from_matrix(T))
        for attempt in range(6):
            start = np.asarray(figure.rest) if attempt == 0 else random.uniform(figure.lower, figure.upper)
            q = model.qpos0.copy()
            q[at] = start[columns]
            configuration.update(q)
            for _ in range(60):
                error = task.compute_error(configuration)
                if np.linalg.norm(error[:3]) < METRES / 2 and np.linalg.norm(error[3:]) < RADIANS / 2:
                    break
                try:
                    v = mink.solve_ik(configuration, [task], 0.1, "daqp", damping=1e-6, limits=limits)
                except Exception:
                    break
                configuration.integrate_inplace(v, 0.1)
            error = task.compute_error(configuration)
            out = np.array(figure.rest)
            out[columns] = configuration.q[at]
            if np.linalg.norm(error[:3]) < METRES / 2 and np.linalg.norm(error[3:]) < RADIANS / 2:
                return out, True
        return out, False

    return solve
