"""Turns and placements in three dimensions, as plain NumPy values.

A *placement* is a read-only (4, 4) array ``T = [[R, p], [0, 1]]``: the frame of a child seen from its parent, lengths in
metres. It maps coordinates of the child to coordinates of the parent, ``x_parent = R x_child + p``, so that
``T_ab @ T_bc == T_ac``. Everything that enters the library from outside passes through `placement` or `rotation` once,
which refuse what is not finite or not a proper rotation and clean up what is one to within rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.basics.checks import finite, numbers
from supple.errors import BadValue

Floats: TypeAlias = NDArray[np.float64]
Triple: TypeAlias = tuple[float, float, float]

X: Triple = (1.0, 0.0, 0.0)
Y: Triple = (0.0, 1.0, 0.0)
Z: Triple = (0.0, 0.0, 1.0)

ROTATION_SLACK = 1e-5  # how far from orthonormal a rotation matrix may come in before it is refused
ROUNDING = 1e-12  # how far it may be and still be taken as it is


def frozen(values: ArrayLike) -> Floats:
    """A read-only float64 copy."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


def _plain(values: Any, shape: tuple[int, ...], what: str) -> Floats:
    """What `finite` gives; arrays and tuples that plainly are what is wanted need not go there."""
    if type(values) is np.ndarray or type(values) is tuple:
        try:
            array = np.asarray(values)
        except Exception:  # ragged tuples, and whatever an object raises when it is asked for its numbers
            return finite(values, shape, what)
        if array.dtype == np.float64 and array.shape == shape and np.isfinite(array).all():
            return array
    return finite(values, shape, what)


def unit(axis: ArrayLike, what: str = "axis") -> Triple:
    """`axis` scaled to length one; a zero-length axis is refused."""
    vector = _plain(axis, (3,), what)
    length = float(np.hypot.reduce(vector))  # does not overflow
    if length < 1e-12:
        raise BadValue(f"{what} must not have length zero")
    if abs(length - 1.0) > 1e-15:
        vector = vector / length
    x, y, z = vector.tolist()
    return (x, y, z)


def cleaned(matrix: Any, what: str = "rotation", slack: float = ROTATION_SLACK) -> Floats:
    """The proper rotation nearest to `matrix`, up to `slack`; a reflection, a scaling or a shear is refused."""
    R = _plain(matrix, (3, 3), what)
    error = float(np.abs(R.T @ R - np.eye(3)).max())
    if error > slack:
        raise BadValue(f"{what} is not a rotation: its columns are {error:.3g} away from orthonormal")
    if np.linalg.det(R) < 0.0:
        raise BadValue(f"{what} is a reflection (determinant −1), not a rotation")
    if error > ROUNDING:
        u, _, vt = np.linalg.svd(R)
        R = u @ vt
    return R


def rotation(
    turn: Any = None,
    *,
    quat_wxyz: ArrayLike | None = None,
    quat_xyzw: ArrayLike | None = None,
    matrix: ArrayLike | None = None,
    rpy: ArrayLike | None = None,
    what: str = "rotation",
) -> Floats:
    """A (3, 3) rotation from any one of the usual descriptions; the identity from none.

    `turn` is a SciPy ``Rotation``; a quaternion's order is in the argument's name; `rpy` are URDF's fixed-axis roll,
    pitch and yaw, ``Rz(yaw) Ry(pitch) Rx(roll)``, in radians.
    """
    given = [d for d in (turn, quat_wxyz, quat_xyzw, matrix, rpy) if d is not None]
    if len(given) > 1:
        raise BadValue(f"{what}: give one description of the rotation, not {len(given)}")
    if turn is not None:
        if isinstance(turn, type) or not hasattr(turn, "as_matrix"):
            raise BadValue(f"{what} must be a scipy Rotation; for a bare array say matrix=, quat_wxyz= or quat_xyzw=")
        return cleaned(turn.as_matrix(), what)
    if quat_wxyz is not None:
        return _from_quaternion(_plain(quat_wxyz, (4,), what), what)
    if quat_xyzw is not None:
        return _from_quaternion(_plain(quat_xyzw, (4,), what)[[3, 0, 1, 2]], what)
    if matrix is not None:
        return cleaned(matrix, what)
    if rpy is not None:
        roll, pitch, yaw = _plain(rpy, (3,), what)
        return turned(Z, yaw) @ turned(Y, pitch) @ turned(X, roll)
    return np.eye(3)


def _from_quaternion(quaternion: Floats, what: str) -> Floats:
    length = float(np.linalg.norm(quaternion))
    if length < 1e-6:
        raise BadValue(f"{what}: a quaternion of length {length:.3g} names no rotation")
    w, x, y, z = quaternion / length
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def turned(axis: Sequence[float], angle: float) -> Floats:
    """Rotation about a unit axis: ``I + sin(a) [u]× + (1 − cos a) [u]×²``, exact about a coordinate axis."""
    x, y, z = axis
    s, c = np.sin(angle), np.cos(angle)
    U = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=np.float64)
    if abs(x) == 1.0 or abs(y) == 1.0 or abs(z) == 1.0:
        return c * np.eye(3) + s * U + (1 - c) * np.outer(axis, axis)
    return np.eye(3) + s * U + (1 - c) * (U @ U)


def compose(R: ArrayLike, p: ArrayLike) -> Floats:
    """The read-only placement with rotation `R` and position `p`."""
    T = np.eye(4)
    T[:3, :3] = R
    T[:3, 3] = p
    T.setflags(write=False)
    return T


def place(position: ArrayLike = (0.0, 0.0, 0.0), turn: Any = None, **description: Any) -> Floats:
    """A placement from a position and at most one description of a rotation (see `rotation`)."""
    return compose(rotation(turn, **description), _plain(position, (3,), "position"))


HERE: Floats = place()


def here() -> Floats:
    """The identity placement, as a dataclass default."""
    return HERE


def placement(at: Any, what: str = "placement", slack: float = ROTATION_SLACK) -> Floats:
    """Read a placement given as a position (3,) or as a matrix (4, 4)."""
    is_plain = type(at) is np.ndarray and at.dtype == np.float64
    array = at if is_plain else numbers(at, f"{what}, a position (3,) or a matrix (4, 4),")
    if array.shape == (3,):
        return compose(np.eye(3), _plain(array, (3,), what))
    if array.shape != (4, 4):
        raise BadValue(f"{what} must be a position (3,) or a matrix (4, 4), not of shape {array.shape}")
    _plain(array, (4, 4), what)
    if np.abs(array[3] - (0.0, 0.0, 0.0, 1.0)).max() > 1e-9:
        raise BadValue(f"{what}: the last row must be (0, 0, 0, 1), not {array[3].tolist()}")
    return compose(cleaned(array[:3, :3], what, slack), array[:3, 3])


def inverse(T: Floats) -> Floats:
    """The parent seen from the child."""
    R = T[:3, :3].T
    return compose(R, -(R @ T[:3, 3]))


def moved(turn: Sequence[float], slide: Sequence[float], q: float) -> Floats:
    """Where a joint with this axis and slide puts its child when its coordinate is `q`."""
    R = turned(turn, q) if any(turn) else np.eye(3)
    return compose(R, q * np.asarray(slide, dtype=np.float64))


def angle_between(u: ArrayLike, v: ArrayLike) -> float:
    """The angle between two vectors [rad], exact near 0 and near π alike."""
    u, v = np.asarray(u, float), np.asarray(v, float)
    return float(np.arctan2(np.linalg.norm(np.cross(u, v)), u @ v))


def angle_of(R: Floats) -> float:
    """The angle of a rotation matrix [rad], in [0, π]."""
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return float(np.arctan2(0.5 * np.linalg.norm(axis), 0.5 * (np.trace(R) - 1.0)))


def rotation_vector(R: Floats) -> Floats:
    """The axis of a rotation times its angle [rad]; half a turn has two, of which one is given."""
    twice_sine = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    angle = angle_of(R)
    if angle < 1e-6:
        return 0.5 * twice_sine
    if angle < np.pi - 1e-3:
        return angle * twice_sine / np.linalg.norm(twice_sine)
    k = int(np.argmax(np.diag(R)))  # near half a turn the axis is in the symmetric part, (R + Rᵀ)/2 − cos·I ~ a aᵀ
    axis = 0.5 * (R + R.T)[k] - np.cos(angle) * np.eye(3)[k]
    axis = axis / np.linalg.norm(axis)
    return (angle if axis @ twice_sine >= 0.0 else -angle) * axis
