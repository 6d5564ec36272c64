"""The problems of `convex_rank`: Baxter's two arms on one box, and two Stewart platforms."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import supple
from supple import Frame, Loop, Placed, Problem, Task

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("SUPPLE_SHARED", ROOT.parent / "shared")) / "data"


def need_data() -> None:
    """Say what is missing."""
    if not DATA.is_dir():
        raise FileNotFoundError(f"{DATA} is missing: set SUPPLE_SHARED to the folder that holds data/problems")


@dataclass(frozen=True, eq=False)
class Box:
    """Two arms that hold one box, and where the box should be; `label` is 1 feasible, −1 infeasible, 0 not known."""

    problem: Problem
    targets: np.ndarray  # (n, 4, 4)
    shifted: np.ndarray  # the same a metre further on: out of reach
    label: np.ndarray


def box(count: int) -> Box:
    """The first `count` targets."""
    with np.load(DATA / "problems/baxter_dual.npz") as file:
        numbers = {name: file[name][:count] for name in ("position", "quaternion", "shifted_position", "status")}
    told = json.loads((DATA / "problems/parameters.json").read_text())["baxter_dual"]
    grips = [np.linalg.inv(_grip(told[f"{side}_gripper_in_B"])) for side in ("left", "right")]
    figure = supple.load(str(DATA / "robots/baxter/baxter.urdf"))
    tied = replace(figure, loops=(Loop("box", "left_gripper", "right_gripper", *grips),))
    targets, shifted = (
        np.array([supple.place(p, quat_wxyz=q) for p, q in zip(numbers[name], numbers["quaternion"], strict=True)])
        for name in ("position", "shifted_position")
    )
    problem = Problem(tied, [Task(Frame("left_gripper", grips[0]), Placed(targets[0]))])
    return Box(problem, targets, shifted, numbers["status"])


def _grip(told: dict[str, Any]) -> np.ndarray:
    x, z = np.array(told["x_axis"], float), np.array(told["z_axis"], float)
    return supple.place(told["position"], matrix=np.column_stack([x, np.cross(z, x), z]))


@dataclass(frozen=True, eq=False)
class Platform:
    """A platform, the poses it should take, and the lengths of its legs by plain geometry."""

    name: str
    figure: supple.Figure
    poses: list[np.ndarray]
    lengths: np.ndarray  # (poses, 6)


def platforms(count: int) -> list[Platform]:
    """Random poses of the Griffis–Duffy platform, and Dietmaier's forty assembly modes of one set of leg lengths."""
    told = json.loads((DATA / "robots/stewart/griffis_duffy1993.json").read_text())
    with np.load(DATA / "problems/stewart_poses.npz") as file:
        pairs = zip(file["position"][:count], file["quaternion"][:count], strict=True)
        poses = [supple.place(p, quat_wxyz=q) for p, q in pairs]
        lengths = file["leg_lengths"][:count]
    base = np.array(told["base_points"], float) - told["base_centroid"]
    plate = np.array(told["platform_points"], float) - told["platform_centroid"]
    figure = supple.load("stewart", geometry=(base, plate), lengths=(0.5, 3.0))
    first = Platform("Griffis–Duffy, random poses", figure, poses, lengths)
    told = json.loads((DATA / "robots/stewart/dietmaier1998.json").read_text())
    modes = [supple.place(mode["t"], matrix=mode["R"]) for mode in told["assembly_modes"]]
    geometry = np.array(told["base_points"], float), np.array(told["platform_points"], float)
    figure = supple.load("stewart", geometry=geometry, lengths=(0.3, 3.0), rest=modes[0])
    modes = modes[:count]
    return [first, Platform("Dietmaier, assembly modes", figure, modes, np.tile(told["leg_lengths"], (len(modes), 1)))]
