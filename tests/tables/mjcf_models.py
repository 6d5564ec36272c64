"""Small MJCF models, and where MuJoCo puts the bodies of any."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from supple.figure.figure import Figure

mujoco: Any = pytest.importorskip("mujoco")
Rotation = pytest.importorskip("scipy.spatial.transform").Rotation

DEGREE, RADIAN = "angle='degree'", "angle='radian'"


def model_of(inside: str, compiler: str = DEGREE, more: str = "") -> str:
    return f"<mujoco model='small'><compiler {compiler}/><worldbody>{inside}</worldbody>{more}</mujoco>"


GEOM = "<geom size='.1' mass='1'/>"


def start(model: Any, random: np.random.Generator) -> Any:
    """MuJoCo's data at a random posture."""
    data = mujoco.MjData(model)
    for j in range(model.njnt):
        k, kind = model.jnt_qposadr[j], int(model.jnt_type[j])
        data.qpos[k] = random.uniform(-2, 2)
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            data.qpos[k : k + 3] = random.uniform(-2, 2, 3)
        if kind in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL):
            quaternion = random.normal(size=4)
            first = k + (3 if kind == mujoco.mjtJoint.mjJNT_FREE else 0)
            data.qpos[first : first + 4] = quaternion / np.linalg.norm(quaternion)
    return data


def posture(figure: Figure, model: Any, qpos: np.ndarray) -> np.ndarray:
    """The same posture in the figure's coordinates, joint after joint as MuJoCo stores them."""
    values: list[float] = []
    for j in range(model.njnt):
        k, kind = model.jnt_qposadr[j], int(model.jnt_type[j])
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            values += [*qpos[k : k + 3]]
            k += 3
        if kind in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL):
            values += [*Rotation.from_quat(np.roll(qpos[k : k + 4], -1)).as_euler("ZYX")]
        else:
            values.append(qpos[k])
    assert len(values) == figure.size
    return np.array(values)


def assert_bodies_agree(figure: Figure, model: Any, seed: int = 0) -> None:
    random = np.random.default_rng(seed)
    bodies = [s for s in figure.segments if not s.endswith(".site") and s not in ("tip", "mark")]
    assert len(bodies) >= model.nbody - 1
    for _ in range(5):
        data = start(model, random)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        placements = figure.placements(q := posture(figure, model, data.qpos))
        names = [model.body(b).name or f"body{b}" for b in range(model.nbody)]
        for b in range(1, model.nbody):
            np.testing.assert_allclose(placements[names[b]][:3, 3], data.xpos[b], atol=1e-9, err_msg=names[b])
            np.testing.assert_allclose(placements[names[b]][:3, :3].ravel(), data.xmat[b], atol=1e-9)
        for k in range(model.nsite):
            if name := model.site(k).name:
                segment = f"{name}.site" if name in names else name
                np.testing.assert_allclose(placements[segment][:3, 3], data.site_xpos[k], atol=1e-9)
                np.testing.assert_allclose(placements[segment][:3, :3].ravel(), data.site_xmat[k], atol=1e-9)
        np.testing.assert_allclose(figure.mass_centre(q), data.subtree_com[0], atol=1e-9)
