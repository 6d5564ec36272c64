"""Boxes of postures in all of which two things touch that must keep apart: how they are found (why they touch is in
`checker.collisions`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from supple.geometry.placements import HERE, Floats
from supple.geometry.polyhedra import polyhedron_of
from supple.geometry.shapes import Ball, Capsule, Core, Cylinder, Hull
from supple.problem.bars import Pair
from supple.problem.problem import Problem
from supple.proofs.checker.proof import Crash
from supple.proofs.claims import Claim
from supple.proofs.serial_chain import Chain, Undecidable, chain_of, moved

SWEEPS = 20  # of projections onto faces
INWARD = 1e-7  # share of the way to a solid's centre by which a point of it is moved inside
SURE = 1e-9  # [m] by which a crash is deeper than rounding


@dataclass(frozen=True, eq=False)
class Pairing:
    """A bar on a chain and what its core must stay `keep` away from, as the other thing sees it."""

    chain: Chain  # ends in the frame of the bar's core
    half: float  # of the core's length, on its z axis
    keep: float
    faces: Floats  # (m, 4) normal and offset of a polyhedron; none: a line
    line: Floats  # (7) centre, unit direction and half-length of a line
    radius: float  # around the polyhedron or the line
    given: int  # the claim from whose target the chain leads back; −1: it leads from the base
    loose: float  # how much of the bar's place the claim leaves open
    pair: Pair


class _Known(NamedTuple):
    """A chain to a segment's frame, the claim that it leads back from, or −1, and how far it is and how loosely known."""

    chain: Chain
    given: int = -1
    behind: Floats = HERE  # the last placement of the chain as that claim's segment sees it
    far: float = 0.0
    loose: tuple[float, float] = (0.0, 0.0)


def pairings_of(problem: Problem, claims: Sequence[Claim]) -> list[Pairing]:
    """The pairs that a problem keeps apart, as far as they depend on the joints of some claims alone."""
    names = {name for claim in claims for name in claim.chain.names}
    ways = _Ways(problem, names, claims)
    return [
        pairing
        for task in problem.clear
        for pair in task.goal.pairs
        if _is_provable(pair)
        for pairing in ways.pairings(pair, pair.keep - task.tolerance)
    ]


def _is_provable(pair: Pair) -> bool:
    """Whether proofs can speak of a pair: a round bar of a segment. The others are left out, which proves less, never more."""
    other = pair.other
    simple = other.core is not None or (other.segment is None and not isinstance(other.shape, Hull | Cylinder))
    return pair.bar.segment is not None and pair.bar.core is not None and simple and other.moves is None


class _Ways:
    """The ways to the segments that carry bars, found once for each."""

    def __init__(self, problem: Problem, names: set[str], claims: Sequence[Claim]) -> None:
        self.problem, self.names, self.claims = problem, names, claims
        self.known: dict[tuple[str, str | None], list[_Known]] = {}

    def pairings(self, pair: Pair, keep: float) -> list[Pairing]:
        """The pairings of a pair, one for each way."""
        assert pair.bar.segment is not None
        key = (pair.bar.segment, pair.other.segment)
        if key not in self.known:
            self.known[key] = [*self.ways(*key)]
        return [_pairing(known, pair, keep) for known in self.known[key]]

    def ways(self, segment: str, seen_from: str | None) -> Iterator[_Known]:
        """The ways to a segment's frame."""
        chain = self.chain(segment, seen_from)
        if chain is not None:
            yield _Known(chain)
        for k, claim in enumerate(self.claims) if seen_from is None else ():
            back = self.chain(segment, claim.way.segment) if claim.places else None
            if back is not None and (chain is None or set(back.names) != set(chain.names)):
                places = np.array([T[:3, 3] for T in (*back.before, claim.way.frame)])
                slid = np.maximum(np.abs(back.lower), np.abs(back.upper))[back.slides]
                far = float(np.linalg.norm(places, axis=1).sum() + slid.sum())
                yield _Known(
                    back.led_by(claim.segment_at), k, back.behind, far, (claim.tolerance, claim.angle_tolerance)
                )

    def chain(self, segment: str, seen_from: str | None) -> Chain | None:
        """The chain to a segment, if all its joints are among the named."""
        limits, figure = self.problem.limits, self.problem.figure
        assert limits is not None
        try:
            chain = chain_of(figure, segment, np.eye(4), limits.lower, limits.upper, seen_from)
        except Undecidable:
            return None
        chain = chain.trimmed(figure.coordinates)
        return chain if set(chain.names) <= self.names else None


def _pairing(known: _Known, pair: Pair, keep: float) -> Pairing:
    core, other = pair.bar.core, pair.other
    assert core is not None
    own = replace(known.chain, behind=known.chain.behind @ core.at)
    far = known.far + float(np.linalg.norm((known.behind @ core.at)[:3, 3])) + core.half
    loose = known.loose[0] + known.loose[1] * far
    if isinstance(other.shape, Ball | Capsule):
        line = Core.of(other.shape)
        numbers = np.array([*line.at[:3, 3], *line.at[:3, 2], line.half])
        return Pairing(own, core.half, keep, np.empty((0, 4)), numbers, line.radius, known.given, loose, pair)
    body = polyhedron_of(other.shape)
    faces = np.column_stack([body.normals, body.offsets])
    inside = np.array([*other.centre, 0.0, 0.0, 1.0, 0.0])
    return Pairing(own, core.half, keep, faces, inside, 0.0, known.given, loose, pair)


class Crashes:
    """The pairings of a problem, looked at all together."""

    def __init__(self, pairings: list[Pairing], names: tuple[str, ...]) -> None:
        groups: dict[int, list[int]] = {}
        for k, pairing in enumerate(pairings):
            groups.setdefault(id(pairing.chain.before), []).append(k)
        self.groups = [_Group([pairings[k] for k in members], members, names) for members in groups.values()]

    def first(self, lower: Floats, upper: Floats) -> Crash | None:
        """The deepest pair that touches throughout the box."""
        best, found = -SURE, None
        for group in self.groups:
            depth, crash = group.deepest(lower, upper)
            if depth < best:
                best, found = depth, crash
        return found


class _Group:
    """Pairings on one chain."""

    def __init__(self, pairings: list[Pairing], members: list[int], names: tuple[str, ...]) -> None:
        self.chain = pairings[0].chain
        self.at = np.array([names.index(name) for name in self.chain.names], dtype=int)
        self.members, self.given = members, [p.given for p in pairings]
        rows = [(i, t) for i, p in enumerate(pairings) for t in ((0.0,) if p.half == 0.0 else (-p.half, 0.0, p.half))]
        self.which = np.array([i for i, _ in rows])
        self.along = np.array([t for _, t in rows])
        self.points = np.array([(pairings[i].chain.behind @ [0.0, 0.0, t, 1.0])[:3] for i, t in rows])
        most = max(len(p.faces) for p in pairings)
        nothing = np.array([0.0, 0.0, 0.0, np.inf])
        padded = [np.vstack([p.faces, np.tile(nothing, (most - len(p.faces), 1))]) for p in pairings]
        self.faces = np.array(padded)[self.which]
        self.line = np.array([p.line for p in pairings])[self.which]
        self.solid = np.array([len(p.faces) > 0 for p in pairings])[self.which]
        self.keep = np.array([p.keep + p.radius - p.loose for p in pairings])[self.which]

    def deepest(self, lower: Floats, upper: Floats) -> tuple[float, Crash | None]:
        """How much nearer than it may be the worst pair is in the whole box (negative), and that pair."""
        w, rho = reach_of(self.chain, self.points, lower[self.at], upper[self.at])
        inside = np.full(len(w), np.inf)
        if self.faces.shape[1]:
            level = np.einsum("kfi,ki->kf", self.faces[:, :, :3], w) - self.faces[:, :, 3]
            most = level.max(axis=1)
            inside = np.where(self.solid & (most <= 0.0), most, np.inf)
        x = self._nearest(w)
        near = np.linalg.norm(w - x, axis=1)
        depth = np.minimum(inside, near) + rho - self.keep
        k = int(np.argmin(depth))
        near_by = None if inside[k] < near[k] else x[k]
        i = self.which[k]
        return float(depth[k]), Crash(self.members[i], self.given[i], float(self.along[k]), near_by)

    def _nearest(self, w: Floats) -> Floats:
        """A point of each solid near w."""
        centre, direction, half = self.line[:, :3], self.line[:, 3:6], self.line[:, 6]
        t = np.clip(np.einsum("ki,ki->k", w - centre, direction), -half, half)
        on_line = centre + t[:, None] * direction
        if not self.faces.shape[1]:
            return on_line
        x = w.copy()
        for _ in range(SWEEPS):
            for f in range(self.faces.shape[1]):
                n = self.faces[:, f, :3]
                x -= np.maximum(0.0, np.einsum("ki,ki->k", n, x) - self.faces[:, f, 3])[:, None] * n
        x += INWARD * (centre - x)
        out = (np.einsum("kfi,ki->kf", self.faces[:, :, :3], x) - self.faces[:, :, 3]).max(axis=1) > 0.0
        return np.where((self.solid & ~out)[:, None], x, np.where(self.solid[:, None], np.inf, on_line))


def reach_of(chain: Chain, points: Floats, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Where points behind the last joint are in the middle posture of a box, and how far from there they can get in it."""
    middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    T, axes = np.eye(4), []
    for B, x, slides in zip(chain.before, chain.signs * middle, chain.slides, strict=True):
        T = T @ B @ moved(x, slides)
        axes.append(T)
    w = points @ T[:3, :3].T + T[:3, 3]
    rho = np.zeros(len(points))
    for A, a, slides in zip(axes[::-1], half[::-1], chain.slides[::-1], strict=True):
        if slides:
            rho += a
        else:
            across = np.linalg.norm(np.cross(w - A[:3, 3], A[:3, 2]), axis=1)
            rho += 2.0 * np.sin(0.5 * min(a, np.pi)) * (across + rho)
    return w, rho
