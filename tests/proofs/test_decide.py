"""Solve or prove: the loop closes, relaxations never refute what can be reached, and no false certificate verifies."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import supple
from convex_trial import holds, loop_of
from supple.kernels.compiling import entry
from supple.kernels.layouts import CHECKED, intact
from supple.proofs.certificate import Certificate
from supple.proofs.checker.leaves import _Check
from supple.proofs.checker.moments import terms
from supple.proofs.checker.proof import Leaf, Split
from supple.proofs.claims import Claim, claims_of
from supple.proofs.proof import leaf_of
from supple.proofs.relaxation.packing import RELAXATION, SECOND, STRIDE, UNKNOWNS, VALUE
from supple.proofs.relaxation.relaxation import Relaxation, best_start, relaxed
from supple.proofs.relaxation.scratch import open_matrices, open_unknowns
from supple.proofs.relaxation.semidefinite_blocks import fill_blocks, moments_of as moments_of_unknowns
from supple.proofs.relaxation.step_matrix import step_matrix
from supple.proofs.serial_chain import Chain, Way, chain_of, quaternion

ARMS = {"panda": "panda_hand", "ur5": "tool0", "sawyer": "right_hand", "iiwa14": "iiwa_link_ee"}
IMPOSSIBLE = supple.Status.IMPOSSIBLE


def scara() -> supple.Figure:
    """Two parallel hinges, a slide along them and a third hinge."""
    joints = [
        supple.Joint("one", None, supple.place((0, 0, 0.3)), turn=(0, 0, 1), limits=(-2.0, 2.0), segment="upper"),
        supple.Joint("two", "upper", supple.place((0.4, 0, 0)), turn=(0, 0, 1), limits=(-2.2, 2.2), segment="lower"),
        supple.Joint("lift", "lower", supple.place((0.3, 0, 0)), slide=(0, 0, -1), limits=(0.0, 0.2), segment="quill"),
        supple.Joint("wrist", "quill", turn=(0, 0, 1), limits=(-3.0, 3.0), segment="tool"),
    ]
    return supple.Figure("scara", joints)


def gantry() -> supple.Figure:
    """Three slides across each other and a hand of three hinges."""
    axes = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
    joints, above = [], None
    for name, axis in axes.items():
        joints.append(supple.Joint(name, above, slide=axis, limits=(-0.5, 0.7), segment=f"on {name}"))
        above = f"on {name}"
    for name, axis in axes.items():
        joints.append(
            supple.Joint(
                f"turn {name}", above, supple.place((0, 0, 0.05)), turn=axis, limits=(-1.5, 1.4), segment=f"hand {name}"
            )
        )
        above = f"hand {name}"
    return supple.Figure("gantry", joints)


FIGURES: dict[str, Callable[[], supple.Figure]] = {
    **{name: (lambda name=name: supple.load(name)) for name in ARMS}, "scara": scara, "gantry": gantry
}  # fmt: skip


def arm(name: str) -> tuple[supple.Figure, str, Chain]:
    figure = FIGURES[name]()
    segment = ARMS.get(name, figure.segments[-1])
    segment = segment if segment in figure.segments else figure.segments[-1]
    return figure, segment, chain_of(figure, segment, np.eye(4), figure.lower, figure.upper)


def claim(chain: Chain, target: np.ndarray, point: bool = False) -> Claim:
    return Claim(chain, target, 1e-5, 1e-4, point, Way("hand", np.eye(4)))


def posture(chain: Chain, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(*chain.box)


def far(chain: Chain, seed: int) -> np.ndarray:
    """A pose beyond the chain's reach."""
    T = chain.placement(posture(chain, seed))
    T[:3, 3] *= 1.2 * chain.reach / np.linalg.norm(T[:3, 3])
    return T


def moments_of(r: Relaxation, chain: Chain, q: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """The moments of a posture, and h of both arcs."""
    x, y, hs = q - r.ranges.middle, [], []
    for arc in (r.a, r.b):
        part, h = np.ones(1), np.ones(1)
        for j in arc:
            g = r.ranges.g[j]
            one, two = (1.0, x[j] / chain.reach / g) if chain.slides[j] else (np.cos(x[j] / 2), np.sin(x[j] / 2) / g)
            part, h = np.kron(part, [1.0, two * two, one * two]), np.kron(h, [one, two])
        y.append(part)
        hs.append(h)
    return np.concatenate(y), hs


@pytest.mark.parametrize("name", FIGURES)
def test_a_chain_is_the_figure_it_comes_from(name: str) -> None:
    figure, segment, chain = arm(name)
    q = np.array(figure.rest)
    at = [figure.coordinates.index(n) for n in chain.names]
    for seed in range(5):
        q[at] = posture(chain, seed)
        np.testing.assert_allclose(chain.placement(q[at]), figure.placement(q, segment), atol=1e-12)


def test_a_chain_between_two_segments_passes_joints_backwards() -> None:
    figure = supple.load("human")
    chain = chain_of(figure, "hand_l", np.eye(4), figure.lower, figure.upper, "hand_r")
    rng = np.random.default_rng(0)
    q = np.clip(rng.normal(size=figure.size), figure.lower, figure.upper)
    values = np.array([q[figure.coordinates.index(n)] for n in chain.names])
    seen = np.linalg.inv(figure.placement(q, "hand_r")) @ figure.placement(q, "hand_l")
    np.testing.assert_allclose(chain.placement(values), seen, atol=1e-12)


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("point", [False, True])
def test_true_moments_satisfy_everything(name: str, point: bool) -> None:
    _, _, chain = arm(name)
    for start in (0,) if point else range(len(chain.names) - 2):
        for seed in range(2):
            q = posture(chain, seed)
            r = Relaxation(claim(chain, chain.placement(q), point), *chain.box, start)
            y, _ = moments_of(r, chain, q)
            assert np.abs(y).max() <= 1.0 + 1e-12
            assert np.abs(r.equations @ y).max() < 1e-11
            assert not r.refuted(1e-6)


@pytest.mark.parametrize("name", FIGURES)
def test_arcs_are_the_loop_and_balls_find_the_same(name: str) -> None:
    _, _, chain = arm(name)
    pytest.importorskip("flint")
    q = posture(chain, 4)
    c = claim(chain, chain.placement(q))
    for start in range(len(chain.names) - 2):
        r = Relaxation(c, *chain.box, start)
        L_a, L_b = r.arc_matrices
        _, (h_a, h_b) = moments_of(r, chain, q)
        x, y = L_a @ h_a, L_b @ h_b
        assert min(np.abs(x - y).max(), np.abs(x + y).max()) < 1e-12
        leaf = Leaf(0, start, (), np.empty((0, 8)), np.empty((0, 8)), np.empty((0, 0)), np.empty(0))
        *balls, _ = _Check(loop_of(c), leaf, *chain.box).arcs()
        for L, again in zip((L_a, L_b), balls, strict=True):
            same = np.array([[float(again[i, j].mid()) for j in range(L.shape[1])] for i in range(8)])
            np.testing.assert_allclose(L, same, atol=1e-12)


def filled(r: Relaxation, arc: tuple[int, ...], localised: int, y: np.ndarray) -> np.ndarray:
    """The block of an arc, whole or with one joint localised, that these moments of it fill."""
    t = terms(len(arc), localised)
    kappa = [np.prod([r.ranges.kappa[j] for i, j in enumerate(arc) if bits >> i & 1]) for bits in t.factors]
    M = np.zeros((t.size, t.size))
    np.add.at(M, (t.row, t.column), t.sign * kappa * y[t.moment])
    return M


@pytest.mark.parametrize("name", ["panda", "gantry"])
def test_blocks_are_what_the_moments_stand_for(name: str) -> None:
    """``h hᵀ`` of an arc, whole or with one joint localised, is linear in its moments."""
    _, _, chain = arm(name)
    q = posture(chain, 6)
    r = Relaxation(claim(chain, chain.placement(q)), *chain.box, 0)
    y, hs = moments_of(r, chain, q)
    x = q - r.ranges.middle
    inside = 1.0 - np.where(chain.slides, (x / chain.reach / r.ranges.g) ** 2, (np.sin(x / 2) / r.ranges.g) ** 2)
    for arc, h, own in zip((r.a, r.b), hs, np.split(y, [r.split]), strict=True):
        np.testing.assert_allclose(filled(r, arc, -1, own), np.outer(h, h), atol=1e-12)
        for i, j in enumerate(arc):
            one = h.reshape((2,) * len(arc)).take(0, i).ravel()
            weight = inside[j] / (1.0 if chain.slides[j] else np.cos(x[j] / 2) ** 2)
            np.testing.assert_allclose(filled(r, arc, i, own), weight * np.outer(one, one), atol=1e-12)


@pytest.mark.interpreted
@pytest.mark.parametrize("name", ["scara", "gantry"])
def test_kernels_fill_the_same_blocks(name: str) -> None:
    _, _, chain = arm(name)
    for start in range(len(chain.names) - 2):
        r = Relaxation(claim(chain, far(chain, 2)), *chain.box, start)
        r.refuted(-np.inf)
        w, k = r.workspace, 0
        t, second = w.unknowns.report[VALUE], w.I[SECOND]
        for arc, own in zip((r.a, r.b), np.split(r.moments, [r.split]), strict=True):
            for i in (-1, *(i for i, j in enumerate(arc) if r.ranges.limited[j])):
                o, at = w.blocks.seen[k], w.blocks.entry[k]
                M = filled(r, arc, i, own)
                V = w.folding.V[:, :o] if k == second else np.eye(len(M))
                np.testing.assert_allclose(V.T @ V, np.eye(o), atol=1e-12)
                same = V.T @ M @ V + t * np.eye(o)
                np.testing.assert_allclose(w.matrices.S[at : at + o * o].reshape(o, o), same, atol=1e-12)
                k += 1


@pytest.mark.interpreted
@pytest.mark.parametrize("name", ["scara", "gantry"])
def test_the_matrix_of_a_step_is_what_it_is_said_to_be(name: str) -> None:
    """``H_ij = ⟨Fⁱ, X Fʲ S⁻¹⟩``, with the F of every unknown from the blocks of its unit vector."""
    _, _, chain = arm(name)
    r = Relaxation(claim(chain, far(chain, 2)), *chain.box, 0)
    r.refuted(-np.inf)
    w, rng = r.workspace, np.random.default_rng(0)
    b, m = w.matrices, int(w.I[UNKNOWNS])
    cut = [(slice(at, at + o * o), o) for at, o in zip(w.blocks.entry, w.blocks.seen, strict=True)]

    def each(entries: np.ndarray) -> list[np.ndarray]:
        return [entries[at].reshape(o, o) for at, o in cut]

    for at, o in cut:
        for W in (b.X, b.inverse):
            root = rng.normal(size=(o, o))
            W[at] = (root @ root.T).ravel()
    X, inverse, F = each(b.X.copy()), each(b.inverse.copy()), []
    for unit in np.eye(m):
        w.unknowns.z[:m] = unit
        blocks_of_unknowns(w.I, w.memory)
        F.append(each(b.dS.copy()))
    H = np.zeros((m, m))
    step_of(w.I, w.memory, H)
    for i in range(m):
        for j in range(i + 1):
            same = sum(np.trace(A @ x @ B @ y) for A, x, B, y in zip(F[i], X, F[j], inverse, strict=True))
            assert H[i, j] == pytest.approx(same, rel=1e-9, abs=1e-9)


@entry
def blocks_of_unknowns(I: Any, memory: Any) -> None:
    """``Σ z_i Fⁱ`` in dS."""
    unknowns = open_unknowns(I, memory)
    moments_of_unknowns(I, memory, unknowns.z, 0.0, unknowns.y)
    fill_blocks(I, memory, unknowns.y, unknowns.z[I[UNKNOWNS] - 1], open_matrices(I, memory).dS)


@entry
def step_of(I: Any, memory: Any, H: Any) -> None:
    """The lower triangle of the matrix of a step."""
    step_matrix(I, memory)
    unknowns = open_unknowns(I, memory)
    for i in range(H.shape[0]):
        for j in range(i + 1):
            H[i, j] = unknowns.H[i * I[STRIDE] + j]


def test_a_workspace_is_lent_to_one_relaxation_at_a_time() -> None:
    _, _, chain = arm("ur5")
    c = claim(chain, far(chain, 0))
    with relaxed(c, *chain.box, 0) as one, relaxed(c, *chain.box, 0) as two:
        first = one.workspace
        assert first is not two.workspace
        assert one.refuted(1e-3)
        assert two.refuted(1e-3)
        assert one.bound == two.bound
        assert not CHECKED or intact(RELAXATION, first.I, first.memory)
    with relaxed(c, *chain.box, 0) as three:
        assert three.workspace is first
    with pytest.raises(AttributeError):  # what was lent is gone
        one.refuted(1e-3)


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("point", [False, True])
def test_what_is_out_of_reach_is_proved_so(name: str, point: bool) -> None:
    figure, segment, chain = arm(name)
    for seed in range(2):
        T = far(chain, seed)
        task = (
            supple.Task(supple.Point(segment), supple.At(T[:3, 3]))
            if point
            else supple.Task(supple.Frame(segment), supple.Placed(T))
        )
        solution = supple.solve(supple.Problem(figure, [task]), solver=supple.Decide())
        assert solution.status is IMPOSSIBLE
        assert not solution.ok
        assert figure.limits.contains(solution.q)
        assert solution.certificate.verify()
        assert solution.certificate.explain().startswith(solution.reason[:-1])
        assert "whatever the limits" in solution.certificate.explain() or name == "gantry"
        assert solution.decision is not None
        assert solution.decision.boxes >= 1


@pytest.mark.parametrize("name", FIGURES)
def test_a_leaf_for_one_target_proves_nothing_of_a_target_that_can_be_reached(name: str) -> None:
    """The proof of an impossible pose, held against poses that can be reached, must never hold."""
    _, _, chain = arm(name)
    bad = claim(chain, far(chain, 1))
    r = Relaxation(bad, *chain.box, best_start(bad))
    assert r.refuted(1e-3)
    leaf = leaf_of(r, 0, best_start(bad))
    assert holds(bad, leaf, *chain.box)
    for seed in range(3):
        assert not holds(claim(chain, chain.placement(posture(chain, seed))), leaf, *chain.box)


@pytest.mark.interpreted
@pytest.mark.parametrize("point", [False, True])
def test_the_kernels_are_plain_python(point: bool) -> None:
    _, _, chain = arm("scara")
    c = claim(chain, far(chain, 1), point)
    r = Relaxation(c, *chain.box, 0)
    assert r.refuted(1e-3)
    assert holds(c, leaf_of(r, 0, 0), *chain.box)
    q = posture(chain, 2)
    assert not Relaxation(claim(chain, chain.placement(q), point), *chain.box, 0).refuted(1e-6)


def test_limits_alone_are_proof_enough() -> None:
    """Each joint may leave the middle by a fifth of a radian; the pose asks the first one for a whole radian."""
    figure, segment, chain = arm("ur5")
    middle = np.array([0.3, -1.0, 1.2, -0.4, 0.9, 0.2])
    narrow = figure.with_limits({name: (x - 0.2, x + 0.2) for name, x in zip(chain.names, middle, strict=True)})
    task = supple.Task(supple.Frame(segment), supple.Placed(chain.placement(middle + np.eye(6)[0])))
    solution = supple.solve(supple.Problem(narrow, [task]), solver=supple.Decide())
    assert solution.status is IMPOSSIBLE
    assert solution.certificate.verify()
    assert "it would take other limits of shoulder_pan_joint" in solution.certificate.explain()
    assert supple.solve(supple.Problem(figure, [task])).ok


def test_a_joint_that_cannot_move_is_folded_away() -> None:
    figure, segment, chain = arm("panda")
    q = posture(chain, 3)
    stiff = figure.with_limits({chain.names[2]: (float(q[2]), float(q[2]))})
    short = chain_of(stiff, segment, np.eye(4), stiff.lower, stiff.upper)
    assert len(short.names) == 6
    np.testing.assert_allclose(short.placement(np.delete(q, 2)), chain.placement(q), atol=1e-12)
    reached = supple.Problem(stiff, [supple.Task(supple.Frame(segment), supple.Placed(chain.placement(q)))])
    assert supple.solve(reached, solver=supple.Decide()).ok
    q[2] += 0.3 if q[2] < 0 else -0.3
    q[0] = 2.8
    missed = reached.aimed(chain.placement(q))
    assert supple.solve(missed, solver=supple.Decide()).status in (IMPOSSIBLE, supple.Status.SOLVED)


def odd_arm(kind: str) -> supple.Figure:
    """An arm with axes that coincide, with links without length, or with ranges of hardly any width."""
    axes = [(0, 0, 1), (0, 0, 1), (0, 1, 0), (0, 1, 0), (0, 1, 0), (1, 0, 0)]
    joints, above = [], None
    for i, axis in enumerate(axes):
        length = 0.0 if kind == "no length" or i == 1 else 0.25
        width = {"hardly any": 1e-9, "little": 1e-4}.get(kind, 1.5) if i in (1, 3) else 1.5
        at = supple.place((length if i else 0.0, 0.0, 0.0))
        joints.append(supple.Joint(f"j{i}", above, at, turn=axis, limits=(0.2 - width, 0.2 + width), segment=f"s{i}"))
        above = f"s{i}"
    return supple.Figure(kind, joints)


@pytest.mark.parametrize("kind", ["coinciding axes", "no length", "hardly any", "little"])
def test_odd_arms_are_decided_and_never_wronged(kind: str) -> None:
    figure = odd_arm(kind)
    rng = np.random.default_rng(3)
    for _ in range(4):
        q = rng.uniform(figure.lower, figure.upper)
        T = figure.placement(q, "s5")
        rounded = supple.Placed(np.round(T[:3, 3], 6), matrix=np.round(T[:3, :3], 6))
        for goal in (supple.Placed(T), rounded):
            problem = supple.Problem(figure, [supple.Task("s5", goal)])
            assert supple.solve(problem, solver=supple.Decide()).ok
            chain = claims_of(problem)[0].chain
            c = claim(chain, np.array(goal.at))
            for start in range(len(chain.names) - 2):
                r = Relaxation(c, *chain.box, start)
                assert not (r.refuted(1e-9) and holds(c, leaf_of(r, 0, start), *chain.box))
        away = T.copy()
        away[:3, 3] += (0.0, 0.0, 3.0)
        solution = supple.solve(supple.Problem(figure, [supple.Task("s5", supple.Placed(away))]))
        assert solution.status is IMPOSSIBLE


# ── partial goals, several chains, loops, bodies ─────────────────────────────────────────────────────────────────────
def direction_problem(figure: supple.Figure, segment: str, T: np.ndarray) -> supple.Problem:
    tool = supple.Direction(segment, (0, 0, 1))
    tasks = [supple.Task(supple.Point(segment), supple.At(T[:3, 3])), supple.Task(tool, supple.Facing(T[:3, 2]))]
    return supple.Problem(figure, tasks)


@pytest.mark.parametrize("name", ["ur5", "panda"])
def test_a_direction_leaves_one_turn_free(name: str) -> None:
    figure, segment, chain = arm(name)
    q = posture(chain, 5)
    T = chain.placement(q)
    (found,) = claims_of(direction_problem(figure, segment, T))
    assert len(found.chain.names) == len(chain.names) + 1
    turned = found.chain.placement(np.append(q, 0.0))
    angle = float(np.arctan2(*(turned[:3, :3].T @ found.target[:3, :3])[[1, 0], 0]))
    np.testing.assert_allclose(found.chain.placement(np.append(q, angle)), found.target, atol=1e-9)
    assert supple.solve(direction_problem(figure, segment, T), solver=supple.Decide()).ok
    beyond = T.copy()
    beyond[:3, 3] *= 0.99 * chain.reach / np.linalg.norm(T[:3, 3])
    solution = supple.solve(direction_problem(figure, segment, beyond), solver=supple.Decide())
    assert solution.status is IMPOSSIBLE
    assert solution.certificate.verify()


def test_free_turns_of_two_points_are_two_turns() -> None:
    """Two points of a hand and one direction: each has a turn of its own, and a certificate that shares one proves nothing."""
    figure, segment, chain = arm("ur5")
    T = chain.placement(posture(chain, 5))
    aside = supple.Point(segment, (0.05, 0.0, 0.0))
    tasks = [*direction_problem(figure, segment, T).tasks, supple.Task(aside, supple.At((T @ [0.05, 0, 0, 1])[:3]))]
    first, second = claims_of(supple.Problem(figure, tasks))
    assert first.way.turning != second.way.turning
    assert supple.solve(supple.Problem(figure, tasks), solver=supple.Decide()).ok
    beyond = T.copy()
    beyond[:3, 3] *= 0.99 * chain.reach / np.linalg.norm(T[:3, 3])
    certificate = supple.solve(direction_problem(figure, segment, beyond), solver=supple.Decide()).certificate
    assert certificate.verify()
    said = replace(certificate.said, entries=certificate.said.entries * 2)
    assert replace(
        certificate, said=said
    ).verify()  # each has a turn of its own: the second only adds to what is wished


def two_arms() -> supple.Figure:
    """A waist that turns, and an arm of three hinges and a fist on either side of it."""
    joints = [supple.Joint("waist", None, turn=(0, 0, 1), limits=(-1.0, 1.0), segment="chest")]
    for side, y in (("l", 0.2), ("r", -0.2)):
        above, at = "chest", (0.0, y, 0.4)
        for i, axis in enumerate([(0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0)]):
            name = f"{side}{i}"
            joints.append(
                supple.Joint(name, above, supple.place(at), turn=axis, limits=(-1.2, 1.2), segment=f"part {name}")
            )
            above, at = f"part {name}", (0.25 if i in (1, 2) else 0.05, 0.0, 0.0)
    return supple.Figure("two arms", joints)


def test_arms_that_share_a_waist_are_decided_together() -> None:
    figure = two_arms()
    rng = np.random.default_rng(0)
    q = rng.uniform(figure.lower, figure.upper)
    hands = ["part l4", "part r4"]
    good = {hand: figure.placement(q, hand) for hand in hands}
    problem = supple.Problem(figure, [supple.Task(hand, supple.Placed(T)) for hand, T in good.items()])
    assert supple.solve(problem, solver=supple.Decide()).ok
    other = q.copy()
    other[0] = -np.sign(q[0]) * 0.9  # each hand can be there, but not with the waist in one place
    mixed = [
        supple.Task(hands[0], supple.Placed(good[hands[0]])),
        supple.Task(hands[1], supple.Placed(figure.placement(other, hands[1]))),
    ]
    solution = supple.solve(supple.Problem(figure, mixed), solver=supple.Decide(boxes=600))
    assert solution.status is IMPOSSIBLE, solution.reason
    assert {leaf.claim for leaf, _, _ in solution.certificate.leaves() if isinstance(leaf, Leaf)} == {0, 1}
    assert solution.certificate.verify()
    assert Certificate.from_json(solution.certificate.to_json()).verify()


def test_a_box_in_two_hands_is_two_claims() -> None:
    baxter = supple.load("baxter")
    left, right = "left_gripper", "right_gripper"
    names = [s for s in baxter.segments if s.endswith(("_hand", "_gripper", "_gripper_base"))]
    left = next(s for s in names if s.startswith("left"))
    right = next(s for s in names if s.startswith("right"))
    grip_l, grip_r = supple.place((0, 0.1, 0.1)), supple.place((0, -0.1, 0.1))
    held = replace(baxter, loops=(supple.Loop("box", left, right, grip_l, grip_r),))
    T = np.eye(4)
    T[:3, 3] = (3.0, 0.0, 0.2)
    problem = supple.Problem(held, [supple.Task(left, supple.Placed(T))])
    claims = claims_of(problem)
    assert [len(c.chain.names) for c in claims] == [7, 7]
    assert set(claims[0].chain.names).isdisjoint(claims[1].chain.names)
    np.testing.assert_allclose(claims[1].target, T @ grip_l, atol=1e-12)
    solution = supple.solve(problem, solver=supple.Decide())
    assert solution.status is IMPOSSIBLE
    assert solution.certificate.verify()


def test_bodies_that_must_touch_are_proof_enough() -> None:
    """A hand is to reach a point inside a wall; and an arm must pass through it."""
    figure, segment, _ = arm("ur5")
    spheres = {name: [(0.0, 0.0, 0.0, 0.04)] for name in figure.segments[1:]}
    ball = figure.with_spheres(spheres)
    q = np.array([0.3, -1.0, 1.2, -0.4, 0.9, 0.2])
    T = figure.placement(q, segment)
    task = supple.Task(segment, supple.Placed(T))
    wall = supple.Box(tuple(T[:3, 3] - 0.02), tuple(T[:3, 3] + 0.02))
    solution = supple.solve(supple.Problem(ball, [task], obstacles=[wall]), solver=supple.Decide())
    assert solution.status is IMPOSSIBLE
    assert f"brings {segment} to" in solution.reason  # without that wish it would be false: the arm can keep clear
    assert "keeps clear" in solution.reason
    certificate = solution.certificate
    (own,) = certificate.wishes

    def told(**changes: Any) -> bool:
        return replace(certificate, said=replace(certificate.said, **changes)).verify()

    assert told()
    assert not told(entries=(replace(own, target=own.target @ supple.place((0.0, 0.0, 0.5))),))
    assert not told(entries=(replace(own, tolerance=0.09),))
    assert not told(entries=())
    assert not told(tolerance=0.07)
    assert Certificate.from_json(certificate.to_json()).verify(ball)
    away = supple.Box(tuple(T[:3, 3] + 1.0), tuple(T[:3, 3] + 1.1))
    assert supple.solve(supple.Problem(ball, [task], obstacles=[away]), solver=supple.Decide()).ok


# ── certificates as things ───────────────────────────────────────────────────────────────────────────────────────────
def proved() -> Certificate:
    figure, segment, chain = arm("ur5")
    task = supple.Task(supple.Frame(segment), supple.Placed(far(chain, 3)))
    solution = supple.solve(supple.Problem(figure, [task]), solver=supple.Decide())
    assert solution.certificate is not None
    return solution.certificate


def test_certificates_survive_as_text_and_lies_do_not() -> None:
    certificate = proved()
    again = Certificate.from_json(certificate.to_json())
    assert again.to_json() == certificate.to_json()
    assert again.verify()
    (own,) = again.wishes
    links = again.said.links

    def lying(**changes: Any) -> bool:
        return replace(again, said=replace(again.said, **changes)).verify()

    assert lying()
    reached = chain_of(
        supple.load("ur5"), own.segment, np.eye(4), *(getattr(supple.load("ur5"), side) for side in ("lower", "upper"))
    )
    assert not lying(entries=(replace(own, target=reached.placement(posture(reached, 8))),))
    assert not lying(entries=(replace(own, tolerance=1.0),))
    assert not lying(entries=(replace(own, tolerance=-1.0),))
    bent = np.array(links[2].at)
    bent[:3, :3] *= 1.01
    assert not lying(links=(*links[:2], replace(links[2], at=bent), *links[3:]))
    assert isinstance(again.proof, Leaf)
    assert not replace(again, proof=Split(0, np.nan, again.proof, again.proof)).verify()
    assert not replace(again, proof=replace(again.proof, claim=1)).verify()
    empty = replace(again.proof, grams=tuple(0.0 * g for g in again.proof.grams))
    assert not replace(again, proof=empty).verify()


def test_a_certificate_speaks_of_one_figure() -> None:
    certificate = Certificate.from_json(proved().to_json())
    ur5 = supple.load("ur5")
    assert certificate.verify(ur5)
    assert certificate.verify(ur5.with_limits({"elbow_joint": (-1.0, 1.0)}))
    assert not certificate.verify(supple.load("panda"))
    assert not certificate.verify(ur5.scaled(1.5))
    panda, segment, chain = arm("panda")
    task = supple.Task(supple.Frame(segment), supple.Placed(far(chain, 3)))
    certificate = supple.solve(supple.Problem(panda, [task])).certificate
    assert certificate.verify(panda)
    assert not certificate.verify(panda.with_limits({"panda_joint4": (-3.2, 0.0)}))


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"format": "x"}', '{"format": "supple certificate 1", "joints": 3}']
)
def test_broken_certificates_are_refused(text: str) -> None:
    with pytest.raises(supple.BadFile):
        Certificate.from_json(text)


def test_without_the_extra_nothing_is_proved_and_the_answer_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "flint", None)
    solution = supple.solve(supple.load("panda"), {"panda_hand": supple.At((3.0, 0.0, 0.5))})
    assert solution.status is supple.Status.NEAREST
    assert "cannot be proved" in solution.reason
    assert 'pip install "supple[convex]"' in solution.reason
    assert solution.certificate is None


def test_what_cannot_be_decided_is_refused_by_name() -> None:
    panda = supple.load("panda")
    line = supple.Problem(panda, [supple.Task(supple.Point("panda_hand"), supple.OnLine((0.4, 0, 0.4), (0, 0, 1)))])
    with pytest.raises(supple.Refused, match="neither a pose nor a point"):
        supple.solve(line, solver=supple.Decide())
    pose = supple.Task(supple.Frame("panda_hand"), supple.Placed(supple.place((0.4, 0.0, 0.4))))
    with pytest.raises(supple.Refused, match="locked"):
        supple.solve(supple.Problem(panda, [pose], rigidity={"panda_joint3": 1.0}), solver=supple.Decide())
    with pytest.raises(supple.BadValue, match="box"):
        supple.Decide(boxes=0)


def test_quaternions_are_those_of_their_matrices() -> None:
    for R in Rotation.from_quat(np.random.default_rng(0).normal(size=(20, 4))):
        q = quaternion(R.as_matrix())
        assert abs(abs(q @ R.as_quat(scalar_first=True)) - 1.0) < 1e-12
        assert q[np.argmax(np.abs(q))] > 0.0
