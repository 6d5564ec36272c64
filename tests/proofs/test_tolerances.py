"""Tolerances: what misses a target by no more than them is never refuted, and where boxes are cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from convex_trial import holds, loop_of
from supple.geometry.placements import inverse
from supple.proofs.branching import BESIDE, Guess, idle, place_of_cut
from supple.proofs.checker.balls import CONJUGATE, dual_product, exact
from supple.proofs.checker.leaves import _Check
from supple.proofs.checker.moments import arcs_of
from supple.proofs.checker.proof import Leaf
from supple.proofs.checker.slack import CORNERS, NEAR, WIDTH, carried, forms, spread
from supple.proofs.claims import Claim
from supple.proofs.proof import leaf_of
from supple.proofs.relaxation.relaxation import Relaxation, best_start
from supple.proofs.serial_chain import Chain, dual_of
from supple.proofs.tolerances import halves, will_hold
from tests.proofs.test_decide import FIGURES, arm, claim, moments_of, posture


def missed(
    chain: Chain, q: np.ndarray, rng: np.random.Generator, tolerances: tuple[float, float], share: float
) -> Claim:
    """A claim of which a posture misses the target by a share of both tolerances."""
    T = chain.placement(q)
    aside, axis = (x / np.linalg.norm(x) for x in rng.normal(size=(2, 3)))
    T[:3, 3] += share * tolerances[0] * aside
    T[:3, :3] = Rotation.from_rotvec(share * tolerances[1] * axis).as_matrix() @ T[:3, :3]
    return Claim(chain, T, *tolerances, False, claim(chain, T).way)


@pytest.mark.parametrize("name", FIGURES)
def test_a_miss_is_a_combination_of_what_the_target_can_do(name: str) -> None:
    """``x = ±(c y + Σ m_k y_k)``, with c and m the inverse of the miss as a dual quaternion."""
    _, _, chain = arm(name)
    rng = np.random.default_rng(0)
    q = posture(chain, 3)
    c = missed(chain, q, rng, (0.05, 0.3), 1.0)
    m = dual_of(inverse(inverse(c.target) @ chain.placement(q)), 2.0 / chain.reach)
    assert np.linalg.norm(m[1:4]) <= 0.15
    assert np.linalg.norm(m[5:]) <= 0.05 / chain.reach * (1.0 + 1e-9)
    for start in range(len(chain.names) - 2):
        r = Relaxation(c, *chain.box, start)
        _, (h_a, h_b) = moments_of(r, chain, q)
        L = carried(*halves(c, r.ranges, start))
        L_a, L_b = r.arc_matrices
        np.testing.assert_allclose(L[0], L_b, atol=1e-12)
        x, y = L_a @ h_a, np.tensordot(m, L, 1) @ h_b
        assert min(np.abs(x - y).max(), np.abs(x + y).max()) < 1e-12


@pytest.mark.parametrize("name", FIGURES)
def test_what_is_within_tolerances_is_never_refuted(name: str) -> None:
    """Postures at corners of their boxes, whose targets are refuted but for tolerances; further off, some proofs hold."""
    pytest.importorskip("flint")
    _, _, chain = arm(name)
    low, high = chain.box
    rng = np.random.default_rng(sum(name.encode()))
    refuted, held = 0, 0
    for k in range(16):
        q = rng.uniform(low, high)
        at_limit = rng.random(len(q)) < 0.6
        q[at_limit] = np.where(rng.random(len(q)) < 0.5, low, high)[at_limit]
        share = rng.random(len(q)) ** 2
        lower, upper = q - share * (q - low), q + share * (high - q)
        lower, upper = np.where(rng.random(len(q)) < 0.5, q, lower), np.maximum(upper, q + 1e-3)
        tolerances = (10.0 ** rng.uniform(-5, -2), 10.0 ** rng.uniform(-5, -1.5))
        for factor in (0.999, 10.0):
            c = missed(chain, q, rng, tolerances, factor)
            start = int(rng.integers(len(q) - 2))
            r = Relaxation(c, lower, upper, start)
            if r.refuted(np.inf if k % 2 else 1e-9):
                holding = holds(c, leaf_of(r, 0, start), lower, upper)
                assert not (holding and factor < 1.0)
                refuted += factor < 1.0
                held += holding
    assert refuted > 0
    assert held > 0


def test_the_search_foresees_the_check() -> None:
    pytest.importorskip("flint")
    _, _, chain = arm("ur5")
    rng = np.random.default_rng(5)
    agreed = []
    for k in range(16):
        q = posture(chain, k)
        c = missed(chain, q, rng, (1e-4, 1e-3), (0.5, 8.0)[k % 2])
        start, lower, upper = best_start(c), q, q + rng.uniform(0.1, 0.8, size=6)
        r = Relaxation(c, lower, upper, start)
        if r.refuted(np.inf):
            leaf = leaf_of(r, 0, start)
            agreed.append(will_hold(c, leaf, r))
            assert holds(c, leaf, lower, upper) or not agreed[-1]
    assert any(agreed)


@pytest.mark.parametrize("name", ["scara", "gantry", "ur5"])
def test_what_is_computed_in_floats_is_within_its_bounds_of_balls(name: str) -> None:
    """The matrices C_k, from columns in balls of 300 bits moved by as much as is allowed, against those in floats."""
    flint = pytest.importorskip("flint")
    _, _, chain = arm(name)
    rng = np.random.default_rng(1)
    c = claim(chain, chain.placement(posture(chain, 2)))
    for start in range(len(chain.names) - 2):
        _, b = arcs_of(len(chain.names), start)
        sizes = [(8, 8), (4, 8), (4, 2 ** len(b))]
        own, kernel, facial = (10.0 ** rng.uniform(-3, 3) * rng.normal(size=size) for size in sizes)
        leaf = Leaf(0, start, (), 0.5 * (own + own.T), kernel, facial, np.empty(0))
        with flint.ctx.workprec(300):
            *_, halves_ = _Check(loop_of(c), leaf, *chain.box).arcs()
            one, two = (np.array([[float(x.mid()) for x in column] for column in half]) for half in halves_)
            L = carried(one, two)
            length = float(np.sqrt((L * L).sum(axis=(1, 2)).max()))
            norms = [float(np.linalg.norm(x)) for x in (leaf.symmetric, leaf.kernel, leaf.facial)]
            off = spread(one, two) * (4 * length * norms[0] + norms[1] * norms[2])
            off += NEAR * length * (length * norms[0] + norms[1] * norms[2])
            moved = [half + 0.9 * WIDTH * rng.choice([-1.0, 1.0], size=half.shape) for half in (one, two)]
            for columns in ((one, two), moved):
                true = [exactly(flint, *columns, k) for k in range(8)]
                M = 2 * exact(leaf.symmetric) * true[0] - exact(kernel).transpose() * exact(facial)
                for k, C in zip((1, 2, 3, 5, 6, 7), forms(leaf, L), strict=True):
                    own = true[k].transpose() * M
                    gap = (own + own.transpose()) / 2 - exact(C)
                    assert float(sum(x * x for x in gap.entries()).upper()) ** 0.5 <= off
                    assert columns is moved or float(sum(x * x for x in gap.entries()).upper()) ** 0.5 <= 1e-3 * off


def exactly(flint: Any, one: np.ndarray, two: np.ndarray, k: int) -> Any:
    """The matrix of y_k in balls: the conjugates of ``B₁ e_k T⁻¹B₂``."""
    unit = [flint.arb(int(i == k)) for i in range(8)]
    rows = [[flint.arb(x) for x in row] for row in one.tolist()], [[flint.arb(x) for x in row] for row in two.tolist()]
    columns = [dual_product(dual_product(c, unit), d) for c in rows[0] for d in rows[1]]
    return flint.arb_mat([[x * s for x, s in zip(column, CONJUGATE, strict=True)] for column in columns]).transpose()


def test_the_icosahedron_holds_the_ball() -> None:
    directions = np.random.default_rng(0).normal(size=(2000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    assert (directions @ CORNERS.T).max(axis=1).min() >= 1.0
    assert np.linalg.norm(CORNERS, axis=1).max() < 1.26


# ── cuts ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
HINGES = np.zeros(3, dtype=bool)


def test_an_angle_in_the_gap_of_its_range_is_cut_in_the_middle() -> None:
    """Both ends of a range are as likely: neither half has their mean in its hull."""
    upper = np.array([3.0, 1.0, 2.0])
    guess = Guess(np.array([np.pi, 0.2, -0.4]), np.array([np.sin(3.0) ** 2, 0.0, 0.0]))
    joint, at = place_of_cut(-upper, upper, guess, HINGES)
    assert joint == 0
    assert abs(at) < 1.0


def test_the_least_certain_angle_is_cut_where_it_is() -> None:
    upper = np.array([1.2, 1.0, 1.1])
    joint, at = place_of_cut(-upper, upper, Guess(np.array([0.1, 0.2, -0.4]), np.array([0.01, 0.3, 0.1])), HINGES)
    assert joint == 1
    assert at == pytest.approx(0.2, abs=0.15)


@pytest.mark.parametrize("q", [-0.9, -0.1, 0.0, 0.2, 1.0])
def test_a_posture_that_is_certain_stays_inside_one_half(q: float) -> None:
    upper = np.array([1.0, 2.0, 1.1])
    joint, at = place_of_cut(-upper, upper, Guess(np.full(3, q), np.zeros(3)), HINGES)
    assert joint == 1
    assert abs(at - q) >= BESIDE * 4.0 - 1e-12 or abs(at) < 1e-12


def test_slides_are_cut_where_they_are_uncertain() -> None:
    guess = Guess(np.array([0.1, 0.3]), np.array([0.0, 0.4]))
    joint, at = place_of_cut(np.array([-1.0, -0.5]), np.array([1.0, 0.5]), guess, np.array([False, True]))
    assert joint == 1
    assert at == pytest.approx(0.3, abs=0.06)


def test_hinges_that_do_not_move_a_point_are_not_cut() -> None:
    _, _, chain = arm("panda")
    still = idle(claim(chain, chain.placement(posture(chain, 0)), point=True))
    assert not idle(claim(chain, chain.placement(posture(chain, 0)))).any()
    rng = np.random.default_rng(0)
    for j in range(len(still)):
        q = posture(chain, 1)
        there = chain.placement(q)[:3, 3]
        q[j] += rng.uniform(0.5, 1.0)
        assert (np.abs(chain.placement(q)[:3, 3] - there).max() < 1e-9) == still[j]
    assert still.any()
