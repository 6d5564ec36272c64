"""Postures carried over to the configurations of Pinocchio and MuJoCo, and back.

Joints are known by their names, and numbers are put where the other library keeps them (`foreign_joints`). A ball here is three
turns in a stated order and a quaternion there; the quaternion of a rotation is the one with w ≥ 0, and of the angles of a
rotation those are taken that lie inside the limits and, of these, that are nearest to a reference. Angles ``(x, y, z)`` about
axes a, b, c of a rotation R, with s = 1 if (a, b, c) is an even order and −1 if not:

    x = atan2(−s R_bc, R_cc),    M = R_a(−x) R,    y = atan2(s M_ac, M_cc),    z = atan2(s M_ba, M_bb);

where the third axis is the first again, and c the one that is left,

    x = atan2(R_ba, −s R_ca),    M = R_a(−x) R,    y = atan2(−s M_ca, M_aa),    z = atan2(−s M_bc, M_bb).

The other triple is (x + π, π − y, z + π), or (x + π, −y, z + π). Where x is free, as at gimbal lock, it stays at the reference;
y and z make up for it, so the rotation is right to rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from supple.basics.checks import mapping, number, numbers
from supple.errors import BadValue, UnknownName
from supple.figure.foreign_joints import Layout, Library, Several, Slot, layout_of, matched, own_layout, several_of
from supple.figure.joints import Joint
from supple.geometry.placements import Floats, inverse

GIMBAL = 1e-9  # a sine or cosine of the middle angle that is no more leaves the first angle free
NEARLY_NOTHING = 1e-6  # the length of a quaternion, or of a cosine and a sine, that names no rotation


class Bridge:
    """A figure beside the layout of a configuration."""

    def __init__(self, figure: Any, library: Library, model: Any, names: Mapping[str, str] | None) -> None:
        self.figure = figure
        self.layout: Layout = own_layout(figure, library) if model is None else layout_of(model, library)
        self.column = {name: k for k, name in enumerate(figure.coordinates)}
        called = mapping({} if names is None else names, f"the names that {library} uses", str)
        known, several = {slot.name for slot in self.layout.slots}, several_of(figure)
        for name in called.keys() - known:
            raise UnknownName(f"the model has no joint called {name!r}; it has {', '.join(sorted(known)[:20])}")
        self.pairs = [(slot, matched(figure, slot, several, called, library)) for slot in self.layout.slots]

    # ── there ────────────────────────────────────────────────────────────────────────────────────────────────────────
    def there(self, q: ArrayLike | Mapping[str, Any], others: ArrayLike | None) -> Floats:
        """The configuration of postures (size) or (n, size); `others` is where joints stand that the figure does not have."""
        given = self.figure.posture(q, many=True)
        Q = np.atleast_2d(given)
        out = np.full((len(Q), self.layout.size), np.nan)
        if others is not None:
            out[:] = self._configuration(others, "others")
        for slot, here in self.pairs:
            place = out[:, slot.at : slot.end]
            if isinstance(here, Several):
                self._several_there(slot, here, Q, place)
            elif here is not None and not here.is_fixed:
                values = self._values(here, Q)
                place[:] = (
                    values[:, None] if slot.kind == "scalar" else np.stack([np.cos(values), np.sin(values)], axis=1)
                )
            elif others is None:
                what = "has no such joint" if here is None else "holds that joint still"
                raise BadValue(
                    f"{self.layout.library} moves {slot.name!r}, and {self.figure.name!r} {what}: say where it stands by "
                    "others=, a configuration, or which joint it is by names="
                )
        return out[0] if given.ndim == 1 else out

    def _values(self, joint: Joint, Q: Floats) -> Floats:
        """The value of a joint of one coordinate in every posture."""
        if joint.drive is None:
            return Q[:, self.column[joint.name]]
        values = np.full(len(Q), joint.drive.offset)
        for name, curve in joint.drive.terms:
            values += [curve(x) for x in Q[:, self.column[name]].tolist()]
        return values

    def _several_there(self, slot: Slot, here: Several, Q: Floats, place: Floats) -> None:
        q = Q[:, [self.column[joint.name] for joint in here.joints]]
        if slot.kind == "planar":
            place[:] = np.column_stack([q[:, :2], np.cos(q[:, 2]), np.sin(q[:, 2])])
            return
        T = np.tile(np.eye(4), (len(Q), 1, 1))
        T[:, :3, :3] = Rotation.from_euler(here.turns.upper(), q[:, -3:]).as_matrix()
        if slot.kind == "free":
            T[:, :3, 3] = q[:, :3]
            T = self._seen_there(slot, here) @ T
            place[:, :3] = T[:, :3, 3]
        xyzw = Rotation.from_matrix(T[:, :3, :3]).as_quat(canonical=True)
        place[:, -4:] = xyzw if self.layout.library == "Pinocchio" else np.roll(xyzw, 1, axis=1)

    def _seen_there(self, slot: Slot, here: Several) -> Floats:
        """Where a free joint is at zero, as the other library sees it."""
        if slot.base is None:
            return np.eye(4)
        first, figure = here.joints[0], self.figure
        above = first.parent and figure.joint_of[first.parent].segment
        stands = np.eye(4) if above is None else figure.placement(figure.rest, above)
        return inverse(slot.base) @ stands @ first.at

    # ── and back ─────────────────────────────────────────────────────────────────────────────────────────────────────
    def here(self, configuration: ArrayLike, near: Any, slack: float) -> Floats:
        """The postures of a configuration (nq), or of n of them; angles are those nearest to `near`."""
        given = self._configuration(configuration, f"a configuration of {self.layout.library}")
        C, figure = np.atleast_2d(given), self.figure
        Q = np.array(
            np.broadcast_to(figure.rest if near is None else figure.posture(near, many=True), (len(C), figure.size))
        )
        known, followers = set[str](), list[tuple[Slot, Joint]]()
        for slot, here in self.pairs:
            numbers_ = C[:, slot.at : slot.end]
            if isinstance(here, Several):
                columns = [self.column[joint.name] for joint in here.joints]
                Q[:, columns] = self._several_here(slot, here, numbers_, Q[:, columns])
                known.update(joint.name for joint in here.joints)
            elif here is not None and here.drive is None and not here.is_fixed:
                k = self.column[here.name]
                Q[:, k] = self._scalar(slot, numbers_, Q[:, k], [k])
                known.add(here.name)
            elif here is not None and not here.is_fixed:
                followers.append((slot, here))
        lacking = [name for name in figure.coordinates if name not in known]
        if lacking and near is None:
            raise BadValue(
                f"{self.layout.library} has no joint {lacking[0]!r} of {figure.name!r}: say where it stands by near=, a "
                "posture, or what it is called there by names="
            )
        for slot, here in followers:
            self._check_follower(slot, here, C, Q, slack)
        return Q[0] if given.ndim == 1 else Q

    def _configuration(self, values: ArrayLike, what: str) -> Floats:
        array = numbers(values, what)
        if array.ndim not in (1, 2) or array.shape[-1] != self.layout.size or not np.isfinite(array).all():
            raise BadValue(
                f"{what} is {self.layout.size} finite numbers, or n rows of them, not of shape {array.shape}"
            )
        return array

    def _scalar(self, slot: Slot, given: Floats, near: Floats, columns: list[int]) -> Floats:
        """The values of a joint of one coordinate."""
        if slot.kind == "scalar":
            return given[:, 0]
        self._check_length(slot, given[:, -2:])
        return self._inside(np.arctan2(given[:, -1], given[:, -2])[:, None], near[:, None], columns)[:, 0]

    def _check_length(self, slot: Slot, given: Floats) -> None:
        if (np.linalg.norm(given, axis=1) < NEARLY_NOTHING).any():
            raise BadValue(f"the numbers of {slot.name!r} are all but 0 and name no rotation")

    def _check_follower(self, slot: Slot, here: Joint, C: Floats, Q: Floats, slack: float) -> None:
        """Refuse a configuration in which a joint is not where the figure has it, since it follows others there."""
        values, given = self._values(here, Q), C[:, slot.at : slot.end]
        told = self._scalar(slot, given, values, []) if slot.kind == "circle" else given[:, 0]
        off = float(np.abs(told - values).max(initial=0.0))
        if off > slack:
            raise BadValue(
                f"{here.name!r} of {self.figure.name!r} follows other joints, and the configuration has it {off:.3g} away "
                f"from there: slack={2.0 * off:.1g} takes it all the same"
            )

    def _several_here(self, slot: Slot, here: Several, given: Floats, near: Floats) -> Floats:
        columns, out = [self.column[joint.name] for joint in here.joints], np.empty_like(near)
        if slot.kind == "planar":
            out[:, :2], out[:, 2] = given[:, :2], self._scalar(slot, given, near[:, 2], columns[2:])
            return out
        self._check_length(slot, given[:, -4:])
        xyzw = given[:, -4:] if self.layout.library == "Pinocchio" else np.roll(given[:, -4:], -1, axis=1)
        T = np.tile(np.eye(4), (len(given), 1, 1))
        T[:, :3, :3] = Rotation.from_quat(xyzw).as_matrix()
        if slot.kind == "free":
            T[:, :3, 3] = given[:, :3]
            T = inverse(self._seen_there(slot, here)) @ T
            out[:, :3] = T[:, :3, 3]
        out[:, -3:] = self._angles(T[:, :3, :3], here.turns, near[:, -3:], columns[-3:])
        return out

    def _angles(self, R: Floats, order: str, near: Floats, columns: list[int]) -> Floats:
        """The angles (n, 3) of rotations: inside the limits if they can be, and of these the nearest."""
        best, again = _triple(R, order, near[:, 0]), order[0] == order[2]
        other = np.stack([best[:, 0] + np.pi, -best[:, 1] if again else np.pi - best[:, 1], best[:, 2] + np.pi], axis=1)
        two = [self._inside(angles, near, columns) for angles in (best, other)]
        lower, upper = self.figure.lower[columns], self.figure.upper[columns]
        costs = [
            np.abs(angles - near).sum(axis=1) + np.where(((angles < lower) | (angles > upper)).any(axis=1), 1e6, 0.0)
            for angles in two
        ]
        return np.where((costs[0] <= costs[1])[:, None], *two)

    def _inside(self, angles: Floats, near: Floats, columns: list[int]) -> Floats:
        """Angles with whole turns added: nearest to a reference, or inside their limits where that is not."""
        turn = 2.0 * np.pi
        out = angles - turn * np.round((angles - near) / turn)
        if not columns:
            return out
        lower, upper = self.figure.lower[columns], self.figure.upper[columns]
        out = np.where((out < lower) & (out + turn <= upper), out + turn * np.ceil((lower - out) / turn), out)
        return np.where((out > upper) & (out - turn >= lower), out - turn * np.ceil((out - upper) / turn), out)


def _triple(R: Floats, order: str, first: Floats) -> Floats:
    """Angles (n, 3) about the axes of `order`, the first as given where it is free."""
    a, b = "xyz".index(order[0]), "xyz".index(order[1])
    c, s = 3 - a - b, 1.0 if (b - a) % 3 == 1 else -1.0
    again = order[2] == order[0]
    up, along = (R[:, b, a], -s * R[:, c, a]) if again else (-s * R[:, b, c], R[:, c, c])
    x = np.where(np.hypot(up, along) > GIMBAL, np.arctan2(up, along), first)
    M = Rotation.from_euler(order[0], -x[:, None]).as_matrix() @ R
    if again:
        return np.stack([x, np.arctan2(-s * M[:, c, a], M[:, a, a]), np.arctan2(-s * M[:, b, c], M[:, b, b])], axis=1)
    return np.stack([x, np.arctan2(s * M[:, a, c], M[:, c, c]), np.arctan2(s * M[:, b, a], M[:, b, b])], axis=1)


def to_other(figure: Any, library: Library, q: Any, model: Any, others: Any, names: Any) -> Floats:
    """The configuration of a posture, or of n of them."""
    return Bridge(figure, library, model, names).there(q, others)


def from_other(figure: Any, library: Library, q: Any, model: Any, near: Any, names: Any, slack: float) -> Floats:
    """The posture of a configuration, or of n of them."""
    slack = number(slack, "the slack of joints that follow others", least=0.0)
    return Bridge(figure, library, model, names).here(q, near, slack)
