"""Postures carried to where markers were seen: what a frame is fitted from when nothing is known yet.

**Carrying.** The markers of a posture, stiff as it stands, lie best on those seen after one rigid motion (Kabsch). The root's
coordinates that make this motion are known in closed form: where three hinges through one centre turn it (a chart, `charts`),
their offset is turned instead and the angles are read off; what is left, slides above all, a few Gauss–Newton steps of the
root's own coordinates find, the rest of the figure being stiff: the first is exact where it only slides. So roots with
limits, or with fewer coordinates than a rigid body, come as near as they can.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from supple.figure.figure import Figure
from supple.figure.packing import Packed, pack_tree, worlds
from supple.geometry.placements import Floats, compose
from supple.kernels.compiling import entry_in
from supple.kernels.layouts import TREE, view
from supple.kernels.tables import EXACT
from supple.motion.tracking.clip import Clip
from supple.solvers.levenberg_marquardt.levenberg_marquardt import strides

report_entry = entry_in("supple.kernels.charts.report_entry")
WIDE = 1.0  # [rad] how far from rest a start turns joints that have no limits
ROUNDS = 30  # Gauss–Newton steps of a root, at most
STILL = 1e-10  # [m, rad] a step that is none
LEAST = 1e-12  # of the largest, what a coordinate that moves no marker weighs
evenly = cache(strides)  # the same for all figures of a size


def starts(clip: Clip, frame: int, count: int, start: Floats) -> Floats:
    """The caller's start; then that and `count` others, carried to where the markers of a frame are."""
    postures = np.vstack([start, spread_out(clip.figure, count)])
    return np.vstack([start, carried_to(clip, frame, postures)])


def spread_out(figure: Figure, count: int) -> Floats:
    """The rest posture, then others, ever further from it, up to all over the limits."""
    lower = np.maximum(figure.lower, figure.rest - WIDE)
    upper = np.minimum(figure.upper, figure.rest + WIDE)
    share = (0.5 + np.arange(count)[:, None] * evenly(figure.size)) % 1.0
    postures = lower + share * (upper - lower)
    calm = np.linspace(0.0, 1.0, count)[:, None]  # few joints far, then all
    return figure.rest + calm * (postures - figure.rest)


def carried_to(clip: Clip, frame: int, postures: Floats) -> Floats:
    """The postures with their root carried to where their markers lie best on those seen; as they are if it cannot be."""
    figure, points = clip.figure, clip.packing.points
    seen = np.flatnonzero(clip.weights[frame] > 0.0).tolist()
    name = common_root(figure, {points[k].segment for k in seen})
    if name is None or len(seen) < 3:
        return postures
    root, out = root_of(figure, name, clip.limits), postures.copy()
    there, weights = clip.positions[frame, seen], clip.weights[frame, seen]
    places = figure.marker_places(postures, [clip.names[k] for k in seen])
    own = np.ascontiguousarray(postures[:, root.chosen])
    at = worlds(*root.packed, own)[0][:, root.row]
    local = np.einsum("kij,kmi->kmj", at[:, :9].reshape(-1, 3, 3), places - at[:, None, 9:12])
    turns = [rigid_fit(x, there, weights)[:3, :3] for x in places]
    out[:, root.chosen] = root.slid(root.turned(own, np.array(turns)), local, there, weights)
    return out


def common_root(figure: Figure, segments: set[str]) -> str | None:
    """The segment nearest to the root that carries all others, if it moves."""
    for segment in figure.segments:
        if figure.joints_of(segment):
            above = all(segment in figure.path_to_root(other) for other in segments)
            return segment if above else None
    return None


def rigid_fit(a: Floats, b: Floats, weights: Any) -> Floats:
    """The placement that brings points a nearest to points b (Kabsch)."""
    w = np.asarray(weights)[:, None] / np.sum(weights)
    mean_a, mean_b = (w * a).sum(axis=0), (w * b).sum(axis=0)
    u, _, vt = np.linalg.svd((b - mean_b).T @ (w * (a - mean_a)))
    R = u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))]) @ vt
    return compose(R, mean_b - R @ mean_a)


class Root(NamedTuple):
    """The joints from the world to a figure's root, packed, with charts even where they have limits."""

    tree: Packed
    packed: tuple[np.ndarray, np.ndarray]
    chosen: np.ndarray  # the figure's coordinates that move it
    row: int  # of the world table
    lower: Floats
    upper: Floats

    def turned(self, Q: Floats, turns: Floats) -> Floats:
        """The postures Q with their chart turned so that the root has turned by (k, 3, 3) in the world."""
        I, F = self.packed
        first = view(TREE, I, F, "CHART")
        if len(first) != 1:
            return Q
        i = int(first[0])
        world, _ = worlds(I, F, Q)
        above, behind = (world[:, r, :9].reshape(-1, 3, 3) for r in (self.tree.parent[i + 1], i + 3))
        return np.array([self._read(i, A.T @ R @ B, q) for A, R, B, q in zip(above, turns, behind, Q, strict=True)])

    def _read(self, i: int, turn: Floats, near: Floats) -> Floats:
        """The posture near to another one whose chart of joint i has turned like that; of its two triples one inside limits."""
        (I, F), axis, three = self.packed, self.tree.tables["AXIS"], self.tree.tables["COORDINATE"][i : i + 3]
        other, found = near.copy(), []
        other[three] += np.pi
        other[three[1]] = (0.0 if axis[i] == axis[i + 2] else np.pi) - near[three[1]]
        for reference in (near, other):
            own, q = F.copy(), near.copy()
            view(TREE, I, own, "OFFSET")[i, :9] = turn.ravel()
            q[three] = 0.0
            report_entry(I, own, q, reference, EXACT)
            for k in three:
                if np.isfinite(self.lower[k]) and np.isfinite(self.upper[k]):
                    q[k] -= 2.0 * np.pi * np.round((q[k] - 0.5 * (self.lower[k] + self.upper[k])) / (2.0 * np.pi))
            found.append((float(np.abs(q - np.clip(q, self.lower, self.upper)).sum()), q))
        return np.clip(min(found, key=lambda each: each[0])[1], self.lower, self.upper)

    def slid(self, Q: Floats, local: Floats, there: Floats, weights: Floats) -> Floats:
        """The postures after Gauss–Newton steps that bring points (k, m, 3), fixed in the root, to where they were seen."""
        w = np.sqrt(weights)[None, :, None]
        best, least = Q, np.full(len(Q), np.inf)
        for _ in range(ROUNDS):
            world, slopes = worlds(*self.packed, Q)
            at = world[:, self.row]
            places = np.einsum("kij,kmj->kmi", at[:, :9].reshape(-1, 3, 3), local) + at[:, None, 9:12]
            off = w * (there - places)
            value = np.sum(off**2, axis=(1, 2))
            best, least = np.where((value < least)[:, None], Q, best), np.minimum(value, least)
            J = (w[..., None] * self._moves(world, slopes, places)).reshape(len(Q), -1, Q.shape[1])
            H, g = np.swapaxes(J, 1, 2) @ J, np.einsum("kri,kr->ki", J, off.reshape(len(Q), -1))
            H += LEAST * np.maximum(np.trace(H, axis1=1, axis2=2), 1e-300)[:, None, None] * np.eye(Q.shape[1])
            moved = np.clip(Q + np.linalg.solve(H, g[..., None])[..., 0], self.lower, self.upper)
            if np.abs(moved - Q).max() < STILL:
                break
            Q = moved
        return best

    def _moves(self, world: Floats, slopes: Floats, places: Floats) -> Floats:
        """How places (k, m, 3) that the root carries move with its coordinates (k, m, 3, n)."""
        out = np.zeros((*places.shape, self.tree.size))
        for joint, drivers in enumerate(self.tree.drives):
            twist = world[:, None, joint + 1, 12:18]
            speed = np.cross(twist[..., :3], places) + twist[..., 3:]
            for coordinate, term in drivers:
                out[..., coordinate] += speed if term < 0 else slopes[:, term, None, None] * speed
        return out


def root_of(figure: Figure, segment: str, limited: bool) -> Root:
    """The joints from the world to a segment."""
    names = figure.chain(None, segment)
    chosen = np.array([figure.coordinates.index(name) for name in names], dtype=np.int64)
    tree = pack_tree(figure.joints.values(), names, {segment})
    row, free = tree.row[segment], np.full(len(chosen), np.inf)
    packed = tree.with_charts(TREE, {row}, np.zeros(tree.size, dtype=bool), {}, {})
    lower, upper = (figure.lower[chosen], figure.upper[chosen]) if limited else (-free, free)
    return Root(tree, packed, chosen, row, lower, upper)
