"""The semidefinite programme of the strongest pull (see `pulling`), over forms that are linear in its unknowns.

Unknowns are, of each entry, λ in units of the tree's size, N, and the lengths of both; of each joint that moves, the entries of
Φ, W and Ω. Clarabel solves it; its own dual, the moments of a mixture of postures, says how wide that is at each joint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from supple.errors import needed
from supple.geometry.placements import Floats
from supple.proofs.checker.balls import product
from supple.proofs.checker.statement import Link, Wish
from supple.proofs.serial_chain import quaternion, upright_of

PAIRS = np.triu_indices(4)
UPPER = np.triu_indices(4, 1)
TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])
OWN = 26  # unknowns of a joint: Φ, W, Ω
BASIS = np.zeros((10, 4, 4))  # of symmetric matrices
BASIS[np.arange(10), PAIRS[0], PAIRS[1]] = BASIS[np.arange(10), PAIRS[1], PAIRS[0]] = 1.0
SKEW = np.zeros((6, 4, 4))
SKEW[np.arange(6), UPPER[0], UPPER[1]] = 1.0
SKEW -= SKEW.transpose(0, 2, 1)


class Form(NamedTuple):
    """What is linear in the unknowns: the numbers of some, and what each is multiplied with."""

    at: np.ndarray
    of: Floats

    def by(self, change: Callable[[Floats], Any]) -> Form:
        """A linear function of it."""
        return Form(self.at, change(self.of))


def _sum(forms: Sequence[Form]) -> Form:
    return Form(np.concatenate([f.at for f in forms]), np.concatenate([f.of for f in forms]))


def squared(B: Floats) -> Floats:
    """K with ``qᵀKq = ⟨B, R(q)⟩`` for unit quaternions q; B (…, 3, 3)."""
    K = np.zeros((*B.shape[:-2], 4, 4))
    x, y, z = (B[..., i, i] for i in range(3))
    K[..., 0, 0], K[..., 1, 1], K[..., 2, 2], K[..., 3, 3] = x + y + z, x - y - z, y - x - z, z - x - y
    for i, (j, k) in enumerate(((2, 1), (0, 2), (1, 0))):
        K[..., 0, i + 1] = K[..., i + 1, 0] = B[..., j, k] - B[..., k, j]
        a, b = sorted((j, k))
        K[..., a + 1, b + 1] = K[..., b + 1, a + 1] = B[..., j, k] + B[..., k, j]
    return K


def _behind(p: Floats) -> Floats:
    """The matrix of ``q ↦ q p``."""
    return np.array([product(row, p.tolist()) for row in np.eye(4).tolist()]).T


class Step(NamedTuple):
    """How a joint hands on what pulls on its segment."""

    t: Floats  # where it is in the segment above
    K: Floats  # (4, 4) of quaternions, or (4, 8) of a hinge
    along: Floats | None  # of a slide
    limits: tuple[float, float]  # s², c² of a hinge; both ends of a slide
    moves: bool


def step_of(link: Link, low: float, high: float) -> Step:
    """How a joint hands on what pulls on its segment, its coordinate being in a range."""
    T = link.at
    if link.is_fixed:
        return Step(T[:3, 3], _behind(quaternion(T[:3, :3])), None, (0.0, 0.0), False)
    slides = any(link.slide)
    U, sign = upright_of(np.array(link.slide if slides else link.turn))
    if low == high:
        x = sign * low
        M = np.eye(4)
        M[2, 3] = x if slides else 0.0
        M[:2, :2] = np.eye(2) if slides else [[np.cos(x), -np.sin(x)], [np.sin(x), np.cos(x)]]
        T = T @ U @ M @ U.T
        return Step(T[:3, 3], _behind(quaternion(T[:3, :3])), None, (0.0, 0.0), False)
    if slides:
        return Step(T[:3, 3], _behind(quaternion(T[:3, :3])), sign * (T @ U)[:3, 2], (low, high), True)
    middle, half = 0.5 * sign * (low + high), 0.5 * (high - low)
    turn = np.array([np.cos(0.5 * middle), 0.0, 0.0, np.sin(0.5 * middle)])
    one = _behind(turn) @ _behind(quaternion((T @ U)[:3, :3]))
    after = _behind(quaternion(U[:3, :3].T))
    K = np.hstack([after @ one, after @ _behind(np.array([0.0, 0.0, 0.0, sign])) @ one])
    squares = (np.sin(0.5 * half) ** 2, np.cos(0.5 * half) ** 2) if half < 0.999 * np.pi else (0.0, 0.0)
    return Step(T[:3, 3], K, None, squares, True)


class Programme:
    """The programme of a tree on a box: ``min cost·x``, matrices S(x) positive semidefinite, lengths no more than one."""

    def __init__(self, tree: Any, steps: dict[str, Step]) -> None:
        self.tree, self.rows, self.kinds = tree, list[Any](), list[tuple[str, int]]()
        self.hinges: dict[int, int] = {}  # of a joint that moves: where its matrix begins
        self.cost, self.count, self.still = np.zeros(tree.size), 0, set[bytes]()
        self.loads: dict[Any, tuple[list[Form], list[Form]]] = {}
        loose = np.zeros(tree.size)
        for k, wish in enumerate(tree.wishes):
            self._pull(k, wish)
            loose[14 * k + 12 : 14 * k + 14] = wish.tolerance / tree.unit, 2.0**0.5 * wish.angle_tolerance
        for link in reversed(tree.links):
            load = self.loads.pop((True, link.key), None)
            if load is not None:
                self._pass(link, steps[link.key], _sum(load[0]), _sum(load[1]))
        for M, _ in self.loads.values():
            at = _sum(M)
            np.add.at(self.cost, at.at, at.of[:, 0, 0])
        self.cost += loose
        lengths = np.array([14 * k + i for k in range(len(tree.wishes)) for i in (12, 13)])
        self._add("positive", np.append(lengths, -1), np.append(-np.ones(len(lengths)), 1.0)[:, None])

    def _add(self, kind: str, at: np.ndarray, columns: Floats) -> None:
        """A cone, its rows linear in the unknowns `at`, −1 being the number one; columns (unknowns, rows)."""
        self.rows.append((self.count, at, columns))
        self.kinds.append((kind, columns.shape[1]))
        self.count += columns.shape[1]

    def _load(self, key: str | None) -> tuple[list[Form], list[Form]]:
        return self.loads.setdefault(self.tree.seat(key), ([], []))

    def _pull(self, k: int, wish: Wish) -> None:
        """The loads of an entry on both ends, and the cones of its lengths."""
        first, eye = 14 * k, np.eye(3)
        at, turning = first + np.arange(3), first + 3 + np.arange(9)
        used = np.array([wish.kind == "pose" or (wish.kind == "axis" and j == 2) for _ in range(3) for j in range(3)])
        units = np.eye(9).reshape(9, 3, 3)[used]
        for key, T, s in ((wish.segment, wish.frame, 1.0), (wish.seen_from, wish.target, -1.0)):
            M, force = self._load(key)
            M.append(Form(at, squared(s * eye[:, :, None] * T[:3, 3] / self.tree.unit)))
            M.append(Form(turning[used], squared(s * units @ T[:3, :3].T)))
            force.append(Form(at, s * eye))
        self._add("second_order", np.append(first + 12, at), np.eye(4))
        self._add("second_order", np.append(first + 13, turning[used]), np.eye(1 + int(used.sum())))

    def _pass(self, link: Link, step: Step, M: Form, force: Form) -> None:
        """Hand a load on to the segment above."""
        above, pushed = self._load(link.parent)
        pushed.append(force)
        above.append(force.by(lambda f: squared(f[:, :, None] * step.t / self.tree.unit)))
        carried = M.by(lambda m: step.K.T @ m @ step.K)
        if not step.moves:
            above.append(carried)
            return
        k = self.tree.number[link.key]
        first = self.tree.first + OWN * k
        Phi, W = Form(first + np.arange(10), BASIS), Form(first + 10 + np.arange(10), BASIS)
        above.append(Phi)
        if step.along is not None:
            self._slide(step, carried, force, Phi)
            return
        s, c = step.limits
        parts = [Phi.by(lambda m: np.kron(np.eye(2), m)), carried.by(np.negative)]
        parts.append(Form(first + 20 + np.arange(6), SKEW).by(lambda m: np.kron(TURN, m)))
        if c > 0.0:
            parts.append(W.by(lambda m: np.kron(np.diag([-s, c]), m)))
            self._semidefinite(W)
        self.hinges[k] = self.count
        self._semidefinite(_sum(parts))

    def _slide(self, step: Step, carried: Form, force: Form, Phi: Form) -> None:
        """Its form bounds at both ends of its range; without limits no force may be on it."""
        assert step.along is not None
        along = step.along / self.tree.unit
        ends = step.limits if np.isfinite(step.limits).all() else (0.0,)
        if len(ends) == 1 and force.at.tobytes() not in self.still:
            self.still.add(force.at.tobytes())
            self._add("zero", force.at, force.of)
        for x in ends:
            moved = force.by(lambda f, x=x: -x * squared(f[:, :, None] * along))
            self._semidefinite(_sum([Phi, carried.by(np.negative), moved]))

    def _semidefinite(self, S: Form) -> None:
        n = S.of.shape[1]
        i, j = np.tril_indices(n)
        self._add("semidefinite", S.at, S.of[:, j, i] * np.where(i == j, 1.0, 2.0**0.5))

    def solved(self) -> tuple[Floats | None, Floats]:
        """The unknowns, None if the solver gave up, and how wide the mixture is at each joint that moves (0: certain)."""
        clarabel = needed("clarabel", "clarabel", "convex", "proving what trees cannot do")
        b, rows, columns, values = np.zeros(self.count), [], [], []
        for first, at, numbers in self.rows:
            known = at >= 0
            b[first : first + numbers.shape[1]] += numbers[~known].sum(axis=0)
            k, r = np.nonzero(numbers[known])
            rows.append(first + r)
            columns.append(at[known][k])
            values.append(-numbers[known][k, r])
        flat = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
        A = sparse.csc_array(flat, shape=(self.count, self.tree.size))
        make = {
            "zero": clarabel.ZeroConeT,
            "positive": clarabel.NonnegativeConeT,
            "second_order": clarabel.SecondOrderConeT,
        }
        cones = [
            clarabel.PSDTriangleConeT(round((np.sqrt(8 * n + 1) - 1) / 2)) if kind == "semidefinite" else make[kind](n)
            for kind, n in self.kinds
        ]
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_threads, settings.presolve_enable = False, 1, False
        settings.chordal_decomposition_enable = False
        P = sparse.csc_array((self.tree.size, self.tree.size))
        found = clarabel.DefaultSolver(P, self.cost, A, b, cones, settings).solve()
        usable = str(found.status).removeprefix("SolverStatus.") in ("Solved", "AlmostSolved", "InsufficientProgress")
        return np.array(found.x) if usable else None, self._spread(np.array(found.z))

    def _spread(self, z: Floats) -> Floats:
        """One less the larger eigenvalue of the mean of ``h hᵀ``, its trace being one."""
        out = np.zeros(len(self.tree.moving))
        i, j = np.tril_indices(8)
        for k, first in self.hinges.items():
            Y = np.zeros((8, 8))
            Y[i, j] = Y[j, i] = z[first : first + 36] / np.where(i == j, 1.0, 2.0**0.5)
            H = np.array([[np.trace(Y[a : a + 4, b : b + 4]) for b in (0, 4)] for a in (0, 4)])
            out[k] = 1.0 - float(np.linalg.eigvalsh(H / max(np.trace(H), 1e-300))[1])
        return out
