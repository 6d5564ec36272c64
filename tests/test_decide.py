"""Solve or prove: the loop closes, relaxations never refute what can be reached, and no false certificate verifies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import supple
from supple.deciding.certificate import Certificate
from supple.deciding.chain import Chain, chain_of, quaternion
from supple.deciding.interior import phase_one
from supple.deciding.moments import terms
from supple.deciding.proof import Leaf, Split
from supple.deciding.relaxation import best_start, eliminated, relaxation_of

ARMS = {"panda": "panda_hand", "ur5": "tool0", "sawyer": "right_hand", "iiwa14": "iiwa_link_ee"}


def arm(name: str) -> tuple[supple.Figure, str, Chain]:
    figure = supple.load(name)
    segment = ARMS[name] if ARMS[name] in figure.segments else figure.segments[-1]
    chain = chain_of(figure, segment, np.eye(4), figure.lower, figure.upper)
    assert isinstance(chain, Chain), chain
    return figure, segment, chain


def posture(chain: Chain, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(*chain.box)


def far(chain: Chain, seed: int) -> np.ndarray:
    """A pose beyond the chain's reach."""
    T = chain.placement(posture(chain, seed))
    T[:3, 3] *= 1.2 * chain.reach / np.linalg.norm(T[:3, 3])
    return T


@pytest.mark.parametrize("name", ARMS)
def test_a_chain_is_the_figure_it_comes_from(name: str) -> None:
    figure, segment, chain = arm(name)
    q = np.array(figure.rest)
    at = [figure.joints.index(n) for n in chain.names]
    for seed in range(5):
        q[at] = posture(chain, seed)
        np.testing.assert_allclose(chain.placement(q[at]), figure.placement(q, segment), atol=1e-12)


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("start", [0, 1, 2])
def test_true_moments_satisfy_everything(name: str, start: int) -> None:
    _, _, chain = arm(name)
    for seed in range(3):
        q = posture(chain, seed)
        r = relaxation_of(chain, chain.placement(q), *chain.box, start)
        y, half = [], 0.5 * (q - r.middle)
        for arc in (r.a, r.b):
            part, h = np.ones(1), np.ones(1)
            for j, g in zip(arc.joints, arc.g, strict=True):
                s, c = np.sin(half[j]), np.cos(half[j])
                part, h = np.kron(part, [1.0, (s / g) ** 2, s * c / g]), np.kron(h, [c, s / g])
            np.testing.assert_allclose(arc.whole.expand(part, arc.g), np.outer(h, h), atol=1e-12)
            assert np.abs(part).max() <= 1.0 + 1e-12
            y.append(part)
        y = np.concatenate(y)
        assert np.abs(r.equations @ y).max() < 1e-12
        assert min(float(np.linalg.eigvalsh(block)[0]) for block in r.blocks(y)) > -1e-12


def test_contracting_is_the_adjoint_of_expanding() -> None:
    rng = np.random.default_rng(0)
    g = rng.uniform(0.2, 1.0, 4)
    for t in (terms(4), terms(4, 2)):
        y, W = rng.normal(size=81), rng.normal(size=(t.size, t.size))
        assert np.sum(W * t.expand(y, g)) == pytest.approx(t.contract(W, g) @ y, rel=1e-12)


@pytest.mark.parametrize("name", ARMS)
def test_what_can_be_reached_is_never_refuted(name: str) -> None:
    _, _, chain = arm(name)
    for seed in range(6):
        T = chain.placement(posture(chain, seed))
        r = relaxation_of(chain, T, *chain.box, best_start(chain))
        free = eliminated(r)
        verdict = phase_one(r.blocks(free.base), r.blocks(free.directions), 1e-6)
        assert not verdict.refuted


@pytest.mark.parametrize("name", ARMS)
def test_what_is_out_of_reach_is_proved_so(name: str) -> None:
    figure, segment, chain = arm(name)
    for seed in range(2):
        task = supple.Task(supple.Frame(segment), supple.Placed(far(chain, seed)))
        solution = supple.solve(supple.Problem(figure, [task]), solver=supple.Decide())
        assert solution.status is supple.Status.IMPOSSIBLE
        assert not solution.ok
        assert figure.limits.contains(solution.q)
        assert solution.certificate.verify()
        assert solution.reason == solution.certificate.explain()


def test_limits_alone_are_proof_enough() -> None:
    """Each joint may leave the middle by a fifth of a radian; the pose asks the first one for a whole radian."""
    figure, segment, chain = arm("ur5")
    middle = np.array([0.3, -1.0, 1.2, -0.4, 0.9, 0.2])
    narrow = figure.with_limits({name: (x - 0.2, x + 0.2) for name, x in zip(chain.names, middle, strict=True)})
    task = supple.Task(supple.Frame(segment), supple.Placed(chain.placement(middle + np.eye(6)[0])))
    solution = supple.solve(supple.Problem(narrow, [task]), solver=supple.Decide())
    assert solution.status is supple.Status.IMPOSSIBLE
    assert solution.certificate.verify()
    assert "the limits of" in solution.reason
    assert supple.solve(supple.Problem(figure, [task])).ok


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
    reachable = certificate.chain.placement(posture(certificate.chain, 8))
    assert not replace(again, target=reachable).verify()
    assert not replace(again, tolerance=1.0).verify()
    assert not replace(again, tolerance=-1.0).verify()
    bent = np.array(again.chain.before)
    bent[2, :3, :3] *= 1.01
    assert not replace(again, chain=replace(again.chain, before=bent)).verify()
    assert isinstance(again.proof, Leaf)
    narrow = replace(again.proof, upper=again.proof.upper - 0.1)
    assert not replace(again, proof=narrow).verify()
    assert not replace(again, proof=Split(0, 0.0, narrow, again.proof)).verify()
    empty = replace(again.proof, grams=tuple(0.0 * g for g in again.proof.grams))
    assert not replace(again, proof=empty).verify()


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"format": "x"}', '{"format": "supple certificate 1", "joints": 3}']
)
def test_broken_certificates_are_refused(text: str) -> None:
    with pytest.raises(supple.BadFile):
        Certificate.from_json(text)


def test_what_cannot_be_decided_is_refused_by_name() -> None:
    panda = supple.load("panda")
    point = supple.Problem(panda, [supple.Task(supple.Point("panda_hand"), supple.At((0.4, 0.0, 0.4)))])
    with pytest.raises(supple.Refused, match="not the placement"):
        supple.solve(point, solver=supple.Decide())
    pose = supple.Task(supple.Frame("panda_hand"), supple.Placed(supple.place((0.4, 0.0, 0.4))))
    with pytest.raises(supple.Refused, match="locked"):
        supple.solve(supple.Problem(panda, [pose], rigidity={"panda_joint3": 1.0}), solver=supple.Decide())
    with pytest.raises(supple.BadValue, match="box"):
        supple.Decide(boxes=0)


def test_quaternions_are_those_of_their_matrices() -> None:
    from scipy.spatial.transform import Rotation

    for R in Rotation.random(20, random_state=0):
        q = quaternion(R.as_matrix())
        assert abs(abs(q @ R.as_quat(scalar_first=True)) - 1.0) < 1e-12
        assert q[np.argmax(np.abs(q))] > 0.0
