"""Where MuJoCo and Pinocchio put the bodies of a robot, beside where supple puts them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from supple.figure.figure import Figure
from supple.files.mjcf.equalities import Equalities
from supple.files.mjcf.names import Names

WIDEST = 2.0  # where a coordinate has no limits [rad, m]


class Refused(Exception):
    """What the other program cannot read itself."""


def random_posture(figure: Figure, random: np.random.Generator) -> np.ndarray:
    """Anywhere in the ranges of the coordinates; the rows among them play no part in where things are."""
    lower, upper = np.maximum(figure.lower, -WIDEST), np.minimum(figure.upper, WIDEST)
    lower, upper = np.minimum(lower, figure.upper), np.maximum(upper, figure.lower)
    return random.uniform(lower, np.maximum(lower, upper))


def quaternion_of(angles: list[float]) -> np.ndarray:
    """x, y, z, w of turns about z, y, x in sequence."""
    return Rotation.from_euler("ZYX", angles).as_quat()


def is_without_soft(figure: Figure) -> bool:
    """Whether bodies that MuJoCo makes of soft things are not in the figure, by its own account."""
    return any(remark.startswith("Soft bodies are left out") for remark in figure.remarks)


class MuJoCo:
    """A model as MuJoCo compiles it from the file itself."""

    def __init__(self, path: Path) -> None:
        try:
            self.model = mujoco.MjModel.from_xml_path(str(path))
        except Exception as error:  # several kinds
            raise Refused(str(error).strip().splitlines()[0]) from error
        self.names, self.data = Names(self.model), mujoco.MjData(self.model)
        ties = Equalities(self.model, mujoco, self.names, self.model.qpos0)
        self.drives = ties.drives

    def qpos(self, figure: Figure, q: np.ndarray) -> np.ndarray:
        """MuJoCo's numbers for a posture, what follows included."""
        m, at = self.model, figure.named(q)
        out = m.qpos0.copy()
        for j, name in enumerate(self.names.joints):
            k, kind = int(m.jnt_qposadr[j]), int(m.jnt_type[j])
            if kind == mujoco.mjtJoint.mjJNT_FREE:
                out[k : k + 3] = [at[f"{name}.{axis}"] for axis in ("tx", "ty", "tz")]
                k += 3
            if kind in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL):
                out[k : k + 4] = np.roll(quaternion_of([at[f"{name}.{axis}"] for axis in "zyx"]), 1)
            elif j in self.drives:
                drive = self.drives[j]
                out[k] = drive if isinstance(drive, float) else drive.value(at)
            elif name in at or not is_without_soft(figure):
                out[k] = at[name]
        return out

    def error(self, figure: Figure, q: np.ndarray) -> float:
        """The greatest difference of a number in the placements of bodies and named sites."""
        m, d = self.model, self.data
        d.qpos[:] = self.qpos(figure, q)
        mujoco.mj_kinematics(m, d)
        placements = figure.placements(q)
        worst = 0.0
        for b in range(1, m.nbody):
            name = self.names.bodies[b]
            if is_without_soft(figure) and (name not in placements or not m.body(b).name):
                continue  # those have no names here, and other numbers
            worst = max(worst, _difference(placements[name], d.xpos[b], d.xmat[b]))
        for k in range(m.nsite):
            if m.site(k).name:
                worst = max(worst, _difference(placements[self.names.sites[k]], d.site_xpos[k], d.site_xmat[k]))
        return worst

    def bridged(self, figure: Figure, Q: np.ndarray) -> float:
        """As `error`, of postures that `to_mujoco` and `from_mujoco` carry there and back."""
        rows = figure.to_mujoco(Q, self.model, others=np.array([self.qpos(figure, q) for q in Q]))
        back = figure.from_mujoco(rows, self.model, near=Q)
        off = float(np.abs(back - Q).max(initial=0.0))
        return max(off, *(_rows_apart(self.model, self.qpos(figure, q), row) for q, row in zip(Q, rows, strict=True)))

    def residual(self, figure: Figure, q: np.ndarray) -> float:
        """How far the posture is from the equalities between joints that MuJoCo has active, by its own formula."""
        m, x = self.model, self.qpos(figure, q)
        worst = 0.0
        for e in range(m.neq):
            if m.eq_active0[e] and m.eq_type[e] == mujoco.mjtEq.mjEQ_JOINT:
                first, second = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
                k = m.jnt_qposadr[first]
                step = 0.0
                if second >= 0:
                    step = x[m.jnt_qposadr[second]] - m.qpos0[m.jnt_qposadr[second]]
                wanted = np.polynomial.polynomial.polyval(step, m.eq_data[e, : 5 if second >= 0 else 1])
                worst = max(worst, abs(float(x[k] - m.qpos0[k] - wanted)))
        return worst


class Pinocchio:
    """A robot as Pinocchio reads it from the file itself."""

    def __init__(self, path: Path) -> None:
        try:
            self.model = pin.buildModelFromUrdf(str(path))
        except Exception as error:
            raise Refused(str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__) from error
        self.data = self.model.createData()

    def q(self, figure: Figure, q: np.ndarray) -> np.ndarray:
        """Pinocchio's numbers for a posture; a joint without limits is a cosine and a sine there."""
        model, at = self.model, figure.named(q)
        out = pin.neutral(model)
        for i in range(1, model.njoints):
            name, joint = model.names[i], model.joints[i]
            k, many = joint.idx_q, joint.nq
            if many == 7:
                out[k : k + 3] = [at[f"{name}.{axis}"] for axis in ("tx", "ty", "tz")]
                out[k + 3 : k + 7] = quaternion_of([at[f"{name}.{axis}"] for axis in "zyx"])
            elif many == 4:
                angle = at[f"{name}.z"]
                out[k : k + 4] = [at[f"{name}.tx"], at[f"{name}.ty"], np.cos(angle), np.sin(angle)]
            else:
                mine = figure.joints[name]
                value = at[name] if mine.drive is None else mine.drive.value(at)
                out[k : k + many] = [np.cos(value), np.sin(value)] if many == 2 else [value]
        return out

    def error(self, figure: Figure, q: np.ndarray) -> float:
        """The greatest difference of a number in the placements of links."""
        pin.framesForwardKinematics(self.model, self.data, self.q(figure, q))
        placements = figure.placements(q)
        worst, seen = 0.0, 0
        for frame, T in zip(self.model.frames, self.data.oMf, strict=True):
            if frame.type == pin.FrameType.BODY and frame.name in placements:
                worst, seen = (
                    max(worst, _difference(placements[frame.name], T.translation, T.rotation.ravel())),
                    seen + 1,
                )
        return worst if seen else np.inf

    def bridged(self, figure: Figure, Q: np.ndarray) -> float:
        """As `error`, of postures that `to_pinocchio` and `from_pinocchio` carry there and back."""
        rows = figure.to_pinocchio(Q, self.model)
        back = figure.from_pinocchio(rows, self.model, near=Q)
        off = float(np.abs(back - Q).max(initial=0.0))
        wanted = [self.q(figure, q) for q in Q]
        apart = [np.abs(pin.difference(self.model, a, b)).max(initial=0.0) for a, b in zip(wanted, rows, strict=True)]
        return float(max(off, *apart))

    def residual(self, figure: Figure, q: np.ndarray) -> float:
        """Nothing is tied here but what mimics, which Pinocchio does not enforce."""
        return 0.0


def _rows_apart(model: Any, a: np.ndarray, b: np.ndarray) -> float:
    """The greatest difference of two configurations; quaternions of one sign and the other are the same."""
    way = np.empty(model.nv)
    mujoco.mj_differentiatePos(model, way, 1.0, a, b)
    return float(np.abs(way).max(initial=0.0))


def _difference(T: np.ndarray, position: Any, turn: Any) -> float:
    return float(max(np.abs(T[:3, 3] - position).max(), np.abs(T[:3, :3].ravel() - np.ravel(turn)).max()))
