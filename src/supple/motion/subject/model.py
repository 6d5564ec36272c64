"""Where markers are, as postures, lengths and places of markers change; with all first derivatives.

A figure whose segment b has the scale s_b and whose marker k lies ``s_b x_k + m_k`` from the origin of its segment, x_k
where it was at first and m_k how far it has been moved, has that marker at

    p_k(q, s, m) = c_k(q) + Σ_b s_b B_kb(q) + R_b(q) m_k,

because scales turn nothing. B_kb sums, over the joints from the root to marker k whose place belongs to b, that place in
world axes; how far driven joints that slide on b have slid; and ``R_b x_k`` for the marker's own b. Derivatives by q
are those of rigid bodies: ``∂p/∂q_i = Σ_j θ_j'(q_i) (ω_j × p + v_j)`` over the joints that follow q_i.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from supple.errors import Refused
from supple.figure.figure import Figure
from supple.figure.packing import Packed, pack_tree, worlds
from supple.figure.scaling import holders, length_factors, welded_to
from supple.geometry.placements import Floats


class Spot(NamedTuple):
    """A point of a segment: `grows` scales with it, `stays` does not."""

    segment: str
    grows: Floats
    stays: Floats


class Sight(NamedTuple):
    """Where k spots are in T postures, and how they move."""

    places: Floats  # (T, k, 3)
    by_q: Floats  # (T, k, 3, n)
    by_scale: Floats  # (T, k, 3, groups)
    turns: Floats  # (T, k, 3, 3) of their segments


class Model:
    """A figure seen at some spots, its bodies in `count` groups of one scale each; ``groups[b]`` is the group of body b."""

    def __init__(self, figure: Figure, spots: Sequence[Spot], groups: Mapping[str, int], count: int) -> None:
        self.figure, self.body = figure, welded_to(figure)
        self.groups, self.count = groups, count
        self.ends = {spot.segment for spot in spots}
        used = {name for segment in self.ends for name in figure.chain(None, segment)}
        self.chosen = np.array([i for i, name in enumerate(figure.coordinates) if name in used], dtype=np.int64)
        self.names = [figure.coordinates[i] for i in self.chosen]
        self.above = {segment: set(figure.path_to_root(segment)) for segment in self.ends}
        self._refuse()

    def _refuse(self) -> None:
        lengths = length_factors(self.figure, [1.0] * len(self.figure.joints.values()))
        for joint in self.figure.joints.values():
            for name, _ in joint.drive.terms if joint.drive is not None else ():
                if name in lengths:
                    raise Refused(
                        f"joint {joint.name!r} follows {name!r}, which is a length: its scale cannot be fitted"
                    )

    def scaled(self, scales: Floats) -> Figure:
        """The figure with a scale for each group."""
        return self.figure.scaled({body: float(scales[g]) for body, g in self.groups.items()})

    def see(self, scales: Floats, spots: Sequence[Spot], Q: Floats) -> Sight:
        """Where the spots are, in postures Q (T, n) of the chosen coordinates."""
        parts = self.scaled(scales).joints.values()
        tree = pack_tree(parts, self.names, self.ends)
        world, slopes = worlds(*tree.arrays, np.ascontiguousarray(Q))
        R = {key: world[:, r, :9].reshape(-1, 3, 3) @ tree.frame[key][:3, :3] for key, r in tree.row.items()}
        turns = np.stack([R[spot.segment] for spot in spots], axis=1)
        arms = [scales[self.groups[self.body[s.segment]]] * s.grows + s.stays for s in spots]
        origins = np.stack([_origin(tree, world, spot.segment) for spot in spots], axis=1)
        places = origins + np.einsum("tkij,kj->tki", turns, np.array(arms))
        by_scale = self._by_scale(tree, world, R, scales, spots)
        return Sight(places, _by_q(tree, world, slopes, places, spots), by_scale, turns)

    def _by_scale(
        self, tree: Packed, world: Floats, R: Mapping[str, Floats], scales: Floats, spots: Sequence[Spot]
    ) -> Floats:
        """B summed by groups (T, k, 3, groups)."""
        out = np.zeros((len(world), len(spots), 3, self.count))
        for joint, (held, on) in zip(self.figure.joints.values(), holders(self.figure), strict=True):
            below = [k for k, spot in enumerate(spots) if joint.key in self.above[spot.segment]]
            if not below:
                continue
            if held is not None and joint.at[:3, 3].any():
                way = R[joint.parent or ""] @ joint.at[:3, 3]
                out[..., self.groups[self.body[held]]][:, below] += way[:, None]
            if on is not None and any(joint.slide) and (joint.drive is not None or any(joint.turn)):
                g = self.groups[self.body[on]]
                out[..., g][:, below] += _slid(tree, world, tree.row[joint.key])[:, None] / scales[g]
        for k, spot in enumerate(spots):
            out[:, k, :, self.groups[self.body[spot.segment]]] += R[spot.segment] @ spot.grows
        return out


def _origin(tree: Packed, world: Floats, segment: str) -> Floats:
    r, at = tree.row[segment], tree.frame[segment][:3, 3]
    return world[:, r, 9:12] + world[:, r, :9].reshape(-1, 3, 3) @ at


def _slid(tree: Packed, world: Floats, r: int) -> Floats:
    """How far the joint of row r has slid, in world axes (T, 3)."""
    a = tree.parent[r]
    at = tree.tables["OFFSET"][r - 1, 9:12]
    return world[:, r, 9:12] - world[:, a, 9:12] - world[:, a, :9].reshape(-1, 3, 3) @ at


def _by_q(tree: Packed, world: Floats, slopes: Floats, places: Floats, spots: Sequence[Spot]) -> Floats:
    """How the places move with the coordinates (T, k, 3, n)."""
    out = np.zeros((*places.shape, tree.size))
    paths = [set(tree.path(tree.row[spot.segment])) for spot in spots]
    for j, drivers in enumerate(tree.drives):
        below = [k for k, path in enumerate(paths) if j in path]
        w, v = world[:, None, j + 1, 12:15], world[:, None, j + 1, 15:18]
        speed = np.cross(w, places[:, below]) + v
        for coordinate, term in drivers:
            out[..., coordinate][:, below] += speed if term < 0 else slopes[:, term, None, None] * speed
    return out
