"""Natural coordinates: a posture as points and unit vectors x that obey ``Φ(x) = 0`` (García de Jalón & Bayo 1994).

Every body has an origin o and three unit vectors v₁ v₂ v₃; all else that it carries, markers too, is linear in them:
``o + Σ c_k v_k``.
The equations, in this order:

* **rigid body**: ``v_i · v_j = δ_ij``, six for each body;
* **joints**, the child's origin being their centre: a *ball* shares that point (3 rows); a *hinge* a unit vector as well (6);
  a *universal* joint has a vector of its own, fixed in the parent, at a fixed angle to one of the child (3 + 5); a *planar*
  joint shares a vector and keeps the child in a plane (3 + 1); a *slide* shares all vectors and keeps two distances at zero
  (9 + 2); a *free* joint has none;
* **relative coordinates**: an angle θ that is a coordinate of its own obeys ``v₂·b = cos θ``, ``v₂·c = sin θ`` with b and c
  in the parent; a distance s obeys ``o − p − s u = 0``; a joint that follows others obeys its drive. Screws and driven joints
  need theirs, other joints get one on request;
* **loops**: both ends share a point (3), or also two vectors (9).

Some are redundant, as in every such model: a hinge or universal joint says once more that its vector has unit length, a slide
that all three are orthogonal, and a flat four-bar that it stays flat. All rows are linear or quadratic but those with cos θ and
sin θ and curved drives, so the entries of Φ_x are constant or linear but there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from supple.basics.checks import instance, items
from supple.basics.values import Value
from supple.errors import BadValue, find
from supple.figure.effectors import Direction, Point, along_x
from supple.figure.figure import Figure
from supple.geometry.placements import HERE, Floats, compose, finite, inverse
from supple.motion.optimal_tracking.links import Link, along, links_of
from supple.motion.optimal_tracking.natural_equations import COSINE, SINE, Rows, Vec, Writer, combined


class Carrier(NamedTuple):
    """A body as x writes it: its origin, and its unit vectors, which are the columns of `basis` in the body's own axes."""

    origin: Vec
    vectors: tuple[Vec, Vec, Vec]
    basis: Floats

    def direction(self, local: ArrayLike) -> Vec:
        """A vector fixed in the body."""
        return combined(self.vectors, self.basis.T @ np.asarray(local, dtype=float))

    def point(self, local: ArrayLike) -> Vec:
        """A point fixed in the body."""
        return self.origin.plus(self.direction(local))

    def frame(self, x: Floats) -> Floats:
        """Where the body is."""
        return compose(np.column_stack([v.at(x) for v in self.vectors]) @ self.basis.T, self.origin.at(x))


WORLD = Carrier(Vec(np.zeros(3)), (Vec(np.eye(3)[0]), Vec(np.eye(3)[1]), Vec(np.eye(3)[2])), np.eye(3))


@dataclass(frozen=True, eq=False, repr=False)
class Natural(Value):
    """A figure's postures in natural coordinates.

    `angles` names coordinates of the figure that become coordinates of x as well, so that they can be driven; `points` are
    points of the figure that do, as markers are in the literature.
    """

    figure: Figure
    angles: Sequence[str] = ()
    points: Sequence[Point] = ()

    def __post_init__(self) -> None:
        instance(self.figure, Figure, "what has natural coordinates")
        object.__setattr__(self, "angles", items(self.angles, "the angles of natural coordinates"))
        object.__setattr__(self, "points", items(self.points, "the points of natural coordinates", Point))
        for name in self.angles:
            find(self.figure.coordinates, name, "coordinate", f"figure {self.figure.name!r}")
        for point in self.points:
            find(self.figure.segments, point.segment, "segment", f"figure {self.figure.name!r}")

    def __repr__(self) -> str:
        return f"Natural({self.figure.name!r}, {self.size} coordinates, {self.count} constraints)"

    # ── structure ────────────────────────────────────────────────────────────────────────────────────────────────────
    @cached_property
    def _scalars(self) -> tuple[str, ...]:
        """Joints and coordinates whose value is a coordinate of x."""
        names = dict.fromkeys(self.angles)
        for joint in self.figure.joints.values():
            if joint.drive is not None:
                names[joint.name] = None
                names.update((name, None) for name, _ in joint.drive.terms)
            elif any(joint.turn) and any(joint.slide):
                names[joint.name] = None
        return tuple(names)

    @cached_property
    def _chains(self) -> tuple[list[Link], dict[str, tuple[str | None, Floats]]]:
        return links_of(self.figure, set(self._scalars))

    @cached_property
    def _carriers(self) -> dict[str | None, Carrier]:
        """Every body, the world included, with its place in x: twelve numbers each, in the order of the links."""
        out: dict[str | None, Carrier] = {None: WORLD}
        for k, link in enumerate(self._chains[0]):
            o, *v = (Vec(np.zeros(3), ((1.0, 12 * k + 3 * i),)) for i in range(4))
            basis = np.eye(3) if link.kind in ("ball", "free") else along_x(tuple(link.axis))
            out[link.child] = Carrier(o, (v[0], v[1], v[2]), basis)
        return out

    @cached_property
    def index(self) -> dict[str, int]:
        """Where the value of a joint or coordinate stands in x, for those that have a place there."""
        first = 12 * len(self._chains[0])
        return {name: first + k for k, name in enumerate(self._scalars)}

    @cached_property
    def _crosses(self) -> dict[str, Vec]:
        """The first axis of every universal joint, by the body that it carries: a unit vector of x."""
        first = 12 * len(self._chains[0]) + len(self._scalars)
        bodies = [link.child for link in self._chains[0] if link.kind == "universal"]
        return {body: Vec(np.zeros(3), ((1.0, first + 3 * k),)) for k, body in enumerate(bodies)}

    @property
    def _first_point(self) -> int:
        return 12 * len(self._chains[0]) + len(self._scalars) + 3 * len(self._crosses)

    @property
    def size(self) -> int:
        """Number of coordinates n."""
        return self._first_point + 3 * len(self.points)

    @property
    def bodies(self) -> int:
        """Number of moving bodies."""
        return len(self._chains[0])

    @property
    def count(self) -> int:
        """Number of constraints m, redundant ones included."""
        return len(self._rows.constant)

    # ── equations ────────────────────────────────────────────────────────────────────────────────────────────────────
    @cached_property
    def _rows(self) -> Rows:
        w, body = Writer(), self._carriers
        for link in self._chains[0]:
            v = body[link.child].vectors
            for i in range(3):
                for j in range(i, 3):
                    w.dot(v[i], v[j], float(i == j))
        for link in self._chains[0]:
            self._write_link(w, link)
        for joint in self.figure.joints.values():
            if joint.drive is not None:
                row = w.row(-joint.drive.offset)
                w.add(row, 1.0, self.index[joint.name])
                for name, curve in joint.drive.terms:
                    w.add_curve(row, -1.0, self.index[name], curve)
        for loop in self.figure.loops:
            (a, A), (b, B) = (self._seat(s, at) for s, at in ((loop.a, loop.at_a), (loop.b, loop.at_b)))
            w.vanish(a.point(A[:3, 3]).plus(b.point(B[:3, 3]), -1.0))
            for k in range(0 if loop.point else 2):
                w.vanish(a.direction(A[:3, k]).plus(b.direction(B[:3, k]), -1.0))
        for k, point in enumerate(self.points):
            own = Vec(np.zeros(3), ((1.0, self._first_point + 3 * k),))
            w.vanish(own.plus(self._point(point), -1.0))
        return w.done(self.size)

    def _write_link(self, w: Writer, link: Link) -> None:
        parent, child, O = self._carriers[link.parent], self._carriers[link.child], link.before[0]
        R, joint = O[:3, :3], link.joints[0]
        apart = child.origin.plus(parent.point(O[:3, 3]), -1.0)
        own = self.index.get(joint.name) if len(link.joints) == 1 else None
        if link.kind in ("hinge", "universal", "ball", "screw") or (link.kind == "slide" and own is not None):
            rows = w.vanish(apart)
            if own is not None and any(joint.slide):
                w.scaled(rows, -1.0, own, parent.direction(R @ joint.slide))
        if link.kind in ("hinge", "screw", "planar"):
            for before in link.before[1:]:
                R = R @ before[:3, :3]
            w.vanish(child.vectors[0].plus(parent.direction(R @ link.axis), -1.0))
        if link.kind == "universal":
            cross, second = self._crosses[link.child], link.before[1][:3, :3] @ link.axis
            w.vanish(cross.plus(parent.direction(R @ joint.turn), -1.0))
            w.dot(cross, cross, 1.0)
            w.dot(cross, child.vectors[0], float(np.array(joint.turn) @ second))
        if link.kind == "planar":
            w.dot(apart, child.vectors[0])
        if link.kind == "slide":
            for k in range(3):
                w.vanish(child.vectors[k].plus(parent.direction(R @ child.basis[:, k]), -1.0))
            for k in (1, 2) if own is None else ():
                w.dot(apart, parent.direction(R @ child.basis[:, k]))
        if own is not None and any(joint.turn):
            for k, kind in ((1, COSINE), (2, SINE)):
                row = w.dot(child.vectors[1], parent.direction(R @ child.basis[:, k]))
                w.add(row, -1.0, own, kind=kind)

    def _seat(self, segment: str, at: Floats = HERE) -> tuple[Carrier, Floats]:
        """The body that carries a frame of a segment, and that frame in the body."""
        find(self.figure.segments, segment, "segment", f"figure {self.figure.name!r}")
        body, frame = self._chains[1][segment]
        return self._carriers[body], frame @ at

    def _point(self, point: Point) -> Vec:
        carrier, frame = self._seat(point.segment, point.frame)
        return carrier.point(frame[:3, 3])

    def constraints(self, x: ArrayLike) -> Floats:
        """Φ(x): zero where x is a posture."""
        return self._rows.at(self._checked(x))[0]

    def jacobian(self, x: ArrayLike) -> csr_array:
        """Φ_x(x), sparse."""
        return self._rows.at(self._checked(x))[1]

    def linearised(self, x: ArrayLike) -> tuple[Floats, csr_array]:
        """Φ(x) and Φ_x(x) in one go."""
        return self._rows.at(self._checked(x))

    def marker_matrix(self, points: Sequence[Point | Direction]) -> tuple[csr_array, Floats]:
        """S and s such that ``S x + s`` are the points (and unit vectors) one after the other, three rows each."""
        points = items(points, "what markers are", (Point, Direction))
        rows, columns, values, constant = [], [], [], np.zeros(3 * len(points))
        for p, effector in enumerate(points):
            if isinstance(effector, Direction):
                carrier, frame = self._seat(effector.segment)
                vector = carrier.direction(frame[:3, :3] @ effector.axis)
            elif effector in self.points:
                vector = Vec(np.zeros(3), ((1.0, self._first_point + 3 * self.points.index(effector)),))
            else:
                vector = self._point(effector)
            for k in range(3):
                constant[3 * p + k], terms = vector.component(k)
                rows += [3 * p + k] * len(terms)
                columns += [i for _, i in terms]
                values += [c for c, _ in terms]
        return csr_array((values, (rows, columns)), shape=(3 * len(points), self.size)), constant

    # ── there and back ───────────────────────────────────────────────────────────────────────────────────────────────
    def _checked(self, x: ArrayLike) -> Floats:
        return finite(x, (self.size,), f"the natural coordinates of {self.figure.name!r}")

    def _values(self, q: Floats) -> dict[str, float]:
        """The value of every coordinate and every joint."""
        values = dict(zip(self.figure.coordinates, q.tolist(), strict=True))
        driven = {j.name: j.drive.value(values) for j in self.figure.joints.values() if j.drive is not None}
        return values | driven

    def from_posture(self, q: ArrayLike) -> Floats:
        """The coordinates x of a posture q."""
        values = self._values(self.figure.posture(q))
        x = np.zeros(self.size)
        frames: dict[str | None, Floats] = {None: HERE}
        for k, link in enumerate(self._chains[0]):
            T = frames[link.child] = frames[link.parent] @ along(link, values)
            x[12 * k : 12 * k + 3] = T[:3, 3]
            x[12 * k + 3 : 12 * k + 12] = (T[:3, :3] @ self._carriers[link.child].basis).T.ravel()
            if link.kind == "universal":
                i, first = self._crosses[link.child].terms[0][1], link.before[0][:3, :3] @ link.joints[0].turn
                x[i : i + 3] = frames[link.parent][:3, :3] @ first
        for name, i in self.index.items():
            x[i] = values[name]
        for k, point in enumerate(self.points):
            x[self._first_point + 3 * k :][:3] = self._point(point).at(x)
        return x

    def to_posture(self, x: ArrayLike, near: ArrayLike | None = None) -> Floats:
        """The posture q of coordinates x that obey the constraints, its angles the nearest to those of `near` (the rest)."""
        x = self._checked(x)
        values = self._values(self.figure.rest if near is None else self.figure.posture(near))
        frames = {key: carrier.frame(x) for key, carrier in self._carriers.items()}
        for link in self._chains[0]:
            names = [joint.name for joint in link.joints]
            if names[0] not in self.index:
                T = inverse(frames[link.parent]) @ frames[link.child]
                values |= dict(zip(names, link.angles(T, np.array([values[n] for n in names])), strict=True))
        values |= {name: float(x[i]) for name, i in self.index.items()}
        q = np.array([values[name] for name in self.figure.coordinates])
        if not np.isfinite(q).all():
            raise BadValue(f"these natural coordinates of {self.figure.name!r} are no posture")
        return q
