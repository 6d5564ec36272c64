"""Where the parts of a figure are in a posture, and how they move with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.basics.checks import items, names_in
from supple.errors import BadValue, find
from supple.figure.drives import Linear
from supple.figure.effectors import Direction, Gap, MassCentre, Point, as_effector
from supple.figure.packing import worlds
from supple.geometry.placements import Floats, inverse
from supple.kernels.layouts import DRIVEN_BY


class Kinematics:
    """What a `Figure`, which is the only class that has this, knows of its postures (`self` is that figure)."""

    def _world(self: Any, Q: Floats) -> tuple[np.ndarray, np.ndarray]:
        """World tables (k, n + 1, WORLD), and the slopes (k, t) of drive terms."""
        I, F = self._flat
        return worlds(I, F, Q)

    def placement(self: Any, q: ArrayLike, segment: str) -> Floats:
        """Where `segment` is: (4, 4) for one posture, (n, 4, 4) for n of them."""
        self.check_segment(segment)
        array = self.posture(q, many=True)
        world, _ = self._world(np.atleast_2d(array))
        T = self._frames(world, segment)
        return T[0] if array.ndim == 1 else T

    def placements(self: Any, q: ArrayLike, segments: Iterable[str] | None = None) -> dict[str, Floats]:
        """Where every segment is, or those that are named: (4, 4) for one posture, (n, 4, 4) for n of them."""
        names = self.segments if segments is None else dict.fromkeys(names_in(segments, "the segments to place"))
        for name in names:
            self.check_segment(name)
        array = self.posture(q, many=True)
        world, _ = self._world(np.atleast_2d(array))
        if segments is None and array.ndim == 1:
            at, frames = self._rows
            return dict(zip(names, _placed(world[0, at]) @ frames, strict=True))
        frames = {name: self._frames(world, name) for name in names}
        return {name: T[0] for name, T in frames.items()} if array.ndim == 1 else frames

    @cached_property
    def _rows(self: Any) -> tuple[np.ndarray, Floats]:
        """The row of every segment in the world table, and its frame in that row."""
        packed, names = self.packed, self.segments
        return np.array([packed.row[s] for s in names], dtype=int), np.array([packed.frame[s] for s in names])

    def marker_places(self: Any, q: ArrayLike, names: Sequence[str] | None = None) -> Floats:
        """Where the named markers (all by default) are: (m, 3) for one posture, (n, m, 3) for n of them."""
        known = tuple(self.markers)
        names = known if names is None else items(names, f"the markers of {self.name!r} to place")
        for name in names:
            if not (isinstance(name, str) and name in self.markers):
                find(known, name, "marker", f"figure {self.name!r}")
        points = [self.markers[name] for name in names]
        array = self.posture(q, many=True)
        world, _ = self._world(np.atleast_2d(array))
        frames = {segment: self._frames(world, segment) for segment in {p.segment for p in points}}
        columns = [frames[p.segment] @ np.append(p.offset, 1.0) for p in points]
        places = np.stack(columns, axis=1)[:, :, :3] if columns else np.empty((len(world), 0, 3))
        return places[0] if array.ndim == 1 else places

    def _frames(self: Any, world: np.ndarray, segment: str) -> Floats:
        return _placed(world[:, self.packed.row[segment]]) @ self.packed.frame[segment]

    def mass_centre(self: Any, q: ArrayLike) -> Floats:
        """The centre of mass [m] in one posture."""
        total = sum(body.mass for body in self.bodies.values())
        if total <= 0.0:
            raise BadValue(f"figure {self.name!r} has no mass, hence no centre of mass")
        frames = self.placements(q)
        moments = [body.mass * (frames[s][:3, :3] @ body.centre + frames[s][:3, 3]) for s, body in self.bodies.items()]
        return np.sum(moments, axis=0) / total

    def seen(self: Any, q: ArrayLike, effector: Any) -> Floats:
        """The frame of an effector in one posture: (4, 4), in the world or, for a gap, in the frame of its first end."""
        effector = as_effector(effector)
        if isinstance(effector, MassCentre):
            T = np.eye(4)
            T[:3, 3] = self.mass_centre(q)
            return T
        if isinstance(effector, Gap):
            return inverse(self.seen(q, effector.a)) @ self.seen(q, effector.b)
        return self.placement(q, effector.segment) @ effector.frame

    def jacobian(self: Any, q: ArrayLike, effector: Any) -> Floats:
        """How an effector moves with q: (3, size) for a point or a direction, (6, size) for a frame, linear rows first.

        For n postures (n, size) there are n of them. World axes; a direction's rows are the derivative of the unit vector, a
        frame's last three its angular velocity.
        """
        effector = as_effector(effector)
        if isinstance(effector, Gap | MassCentre):
            raise BadValue("jacobian() takes points, directions and frames; use Problem.jacobian for gaps and the mass")
        self.check_segment(effector.segment)
        given = self.posture(q, many=True)
        world, slopes = self._world(np.atleast_2d(given))
        joints = np.array(self.packed.path(self.packed.row[effector.segment]), dtype=int)
        T = self._frames(world, effector.segment) @ effector.frame
        w, v = world[:, joints + 1, 12:15], world[:, joints + 1, 15:18]
        linear = np.cross(w, T[:, None, :3, 3]) + v
        if isinstance(effector, Point):
            columns = linear
        elif isinstance(effector, Direction):
            columns = np.cross(w, T[:, None, :3, 0])
        else:
            columns = np.concatenate([linear, w], axis=2)
        J = np.zeros((len(world), columns.shape[2], self.size))
        for i, joint in enumerate(joints.tolist()):
            for k, s in self._drivers(joint, slopes):
                J[:, :, k] += s * columns[:, i]
        return J[0] if given.ndim == 1 else J

    def curvature(self: Any, q: ArrayLike, effector: Any) -> Floats:
        """The second derivatives of a point or a direction, K (3, size, size) in world axes; ``∂J/∂q``.

        ``K_ij = ω_j × J_i`` with j the nearer to the root, ω = 0 for slides (Erleben & Andrews 2019). For ``f = ½‖g − e‖²`` the
        Hessian is ``JᵀJ − Σ_a (g − e)_a K_a``.
        """
        effector = as_effector(effector)
        if not isinstance(effector, Point | Direction):
            raise BadValue(
                "curvature() takes points and directions; use Problem.evaluate for the Hessian of other goals"
            )
        self.check_segment(effector.segment)
        world, slopes = self._world(self.posture(q).reshape(1, self.size))
        joints = np.array(self.packed.path(self.packed.row[effector.segment]), dtype=int)
        for key in self.path_to_root(effector.segment):
            drive = self.joint_of[key].drive
            if drive is not None and not all(isinstance(curve, Linear) for _, curve in drive.terms):
                raise BadValue(f"{key!r} follows a curve; use Problem.evaluate, whose Hessian has all of it")
        T = self._frames(world, effector.segment)[0] @ effector.frame
        w, v = world[0, joints + 1, 12:15], world[0, joints + 1, 15:18]
        columns = np.cross(w, T[:3, 3]) + v if isinstance(effector, Point) else np.cross(w, T[:3, 0])
        K = np.zeros((3, self.size, self.size))
        moved = [[(k, float(np.ravel(s)[0])) for k, s in self._drivers(int(joint), slopes)] for joint in joints]
        for b, column in enumerate(columns):
            for a in range(b + 1):
                both = np.cross(w[a], column)
                for i, s in moved[a]:
                    for j, t in moved[b]:
                        K[:, i, j] += s * t * both
                        if a != b:
                            K[:, j, i] += s * t * both
        return K

    def _drivers(self: Any, joint: int, slopes: np.ndarray) -> list[tuple[int, Any]]:
        """The coordinates that move a packed joint, each with its slope in every posture, (n, 1) or one for all."""
        k = int(self.packed.tables["COORDINATE"][joint])
        if k >= 0:
            return [(k, 1.0)]
        d = -1 - k
        first, term = self.packed.tables["DRIVE_FIRST"], self.packed.tables["DRIVE_TERM"]
        return [(int(term[t, DRIVEN_BY]), slopes[:, t, None]) for t in range(first[d], first[d + 1])]

    # ── in other libraries ───────────────────────────────────────────────────────────────────────────────────────────
    def to_pinocchio(self: Any, q: Any, model: Any = None, *, others: Any = None, names: Any = None) -> Floats:
        """The configuration (nq) of a posture in Pinocchio, or (n, nq) of n of them; quaternions are (x, y, z, w).

        `model` is the ``pinocchio.Model``, whose joints are found by name, or by `names`, from its to ours. Without it the
        order is that of the URDF file that the figure was loaded from, with a free-flyer if it floats. `others` is a
        configuration for joints that the figure does not have.
        """
        from supple.figure.bridges import to_other

        return to_other(self, "Pinocchio", q, model, others, names)

    def from_pinocchio(
        self: Any, q: Any, model: Any = None, *, near: Any = None, names: Any = None, slack: float = 1e-6
    ) -> Floats:
        """The posture (size) of a configuration of Pinocchio, or (n, size) of n of them; see `to_pinocchio`.

        Of the angles of a rotation those inside the limits and nearest to `near` are taken, the rest posture by default; what
        the model does not have stays as it is there. A joint that follows others may be off by `slack`.
        """
        from supple.figure.bridges import from_other

        return from_other(self, "Pinocchio", q, model, near, names, slack)

    def to_mujoco(self: Any, q: Any, model: Any = None, *, others: Any = None, names: Any = None) -> Floats:
        """The ``qpos`` (nq) of a posture in MuJoCo, or (n, nq) of n of them, with quaternions (w, x, y, z).

        `model` is the ``MjModel``; without it the order is that of the MJCF file. The rest is as for `to_pinocchio`.
        """
        from supple.figure.bridges import to_other

        return to_other(self, "MuJoCo", q, model, others, names)

    def from_mujoco(
        self: Any, qpos: Any, model: Any = None, *, near: Any = None, names: Any = None, slack: float = 1e-6
    ) -> Floats:
        """The posture (size) of a ``qpos``, or (n, size) of n of them; the options are those of `from_pinocchio`."""
        from supple.figure.bridges import from_other

        return from_other(self, "MuJoCo", qpos, model, near, names, slack)


def _placed(rows: np.ndarray) -> Floats:
    """Rows of world tables as placements (n, 4, 4)."""
    T = np.zeros((len(rows), 4, 4))
    T[:, :3, :3] = rows[:, :9].reshape(-1, 3, 3)
    T[:, :3, 3] = rows[:, 9:12]
    T[:, 3, 3] = 1.0
    return T
