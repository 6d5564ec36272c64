"""A list of postures is called complete only if it is: forged, shortened, stretched and moved lists are refused."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from math import pi
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from tests.tables.arms import ARMS, figure_of

pytest.importorskip("flint")
from supple.errors import BadFile
from supple.proofs.checker.circle_zeros import circle_zeros
from supple.proofs.checker.hinge_lines import dot, slack, unit
from supple.proofs.completeness import Completeness

KNOWN = np.array([0.3, -0.8, 0.7, 0.2, 0.9, 0.4])


@cache
def certificate(name: str = "ur5-like", wide: float = pi) -> Any:
    figure = figure_of(ARMS[name], wide)
    target = supple.Placed(figure.placement(KNOWN, "hand"))
    found = supple.solve_all(supple.Problem(figure, [supple.Task("hand", target)]))
    assert found.complete is True, found.why
    return found.certificate


@pytest.mark.parametrize("name", ARMS)
def test_a_list_with_a_posture_withheld_is_never_complete(name: str) -> None:
    whole = certificate(name)
    assert whole.verify()
    for k in range(len(whole.postures)):
        rest = np.delete(whole.postures, k, axis=0)
        report = replace(whole, proof=replace(whole.proof, postures=rest)).checked()
        assert not report.holds
        assert "not in the list" in report.why


def forged(whole: Any, **changes: Any) -> Any:
    return replace(whole, proof=replace(whole.proof, **changes))


def test_forged_lists_are_refused() -> None:
    whole = certificate()
    q, h, p = whole.postures, whole.proof.along, whole.proof.through
    moved = np.array(q)
    moved[0, 2] += 2e-9
    bent, far, zero = np.array(h), np.array(p), np.zeros_like(h)
    bent[3, 0] += 1e-6
    far[2] += 1e-3
    for wrong, word in (
        (forged(whole, postures=moved), "not seen to be one"),
        (forged(whole, postures=np.concatenate([q, q[:1]])), "twice"),
        (forged(whole, postures=np.concatenate([q, q[:1] + 0.1])), "not seen to be one"),
        (forged(whole, postures=np.tile(q, (3, 1))), "none"),
        (forged(whole, postures=np.full_like(q, np.nan)), "none"),
        (forged(whole, postures=q[:, :5]), "none"),
        (forged(whole, kind="meeting"), "does not fit"),
        (forged(whole, kind="general"), "does not fit"),
        (forged(whole, kind="any"), "none"),
        (forged(whole, backwards=True), ""),
        (forged(whole, along=bent), "does not fit"),
        (forged(whole, along=zero), ""),
        (forged(whole, through=far), ""),
    ):
        report = wrong.checked()
        assert not report.holds
        assert word in report.why


def test_it_is_about_its_figure_and_its_target() -> None:
    whole = certificate()
    other = figure_of(ARMS["skew planar"])
    assert not whole.verify(other)
    data = json.loads(whole.to_json())
    data["entries"][0]["target"][0][3] += 1e-6
    assert not Completeness.from_json(json.dumps(data)).verify()
    data = json.loads(whole.to_json())
    data["joints"][2]["at"][0][3] += 1e-7
    changed = Completeness.from_json(json.dumps(data))
    assert not changed.verify()
    assert not changed.verify(whole.figure)


@pytest.mark.parametrize("name", ["ur5-like", "kuka-like"])
def test_text_and_back(name: str) -> None:
    whole = certificate(name)
    again = Completeness.from_json(whole.to_json())
    assert again.to_json() == whole.to_json()
    assert again.verify()
    assert again.verify(whole.figure)
    assert "no others" in again.explain()
    for wrong in ("", "{}", "[]", whole.to_json().replace("postures", "postured"), whole.to_json()[:-3]):
        with pytest.raises(BadFile):
            Completeness.from_json(wrong)
    with pytest.raises(BadFile, match="formula"):
        Completeness.from_json(whole.to_json().replace(f'"{whole.proof.kind}"', '"magic"'))


def test_zeros_on_the_circle_are_all_found() -> None:
    import flint

    rng = np.random.default_rng(0)
    x = np.linspace(-pi, pi, 20001)
    c, s = np.cos(x), np.sin(x)
    for _ in range(20):
        f = rng.normal(size=6)
        y = f[0] + f[1] * c + f[2] * s + f[3] * c * c + f[4] * c * s + f[5] * s * s
        signs = x[:-1][y[:-1] * y[1:] < 0]
        arcs = np.array([[float(a.mid()), float(b.mid())] for a, b in circle_zeros([flint.arb(v) for v in f])])
        for at in signs:
            assert np.hypot(*(arcs - [np.cos(at), np.sin(at)]).T).min() < 4e-4
        assert len(arcs) < 9


def test_the_slack_holds_what_neighbours_do() -> None:
    """Motions of an arm and of one with other lines differ by no more than the bound, and not by much less."""
    import flint

    from supple.solvers.closed_forms.axes import Axes
    from tests.tables.arms import axes_of

    rng, shares = np.random.default_rng(1), []
    for size in (1e-8, 1e-4, 1e-2):
        axes = axes_of(ARMS["skew wrist"])
        h = axes.along + size * rng.normal(size=(6, 3))
        h /= np.linalg.norm(h, axis=1)[:, None]
        other = Axes(h, axes.through + size * rng.normal(size=(6, 3)), axes.home, axes.lower, axes.upper)
        lines = [unit(row) for row in axes.along], [[flint.arb(float(x)) for x in row] for row in axes.through]
        turn, shift = (float(x) for x in slack(*lines, [unit(row) for row in h], other.through))
        bare = replace(axes, home=np.eye(4)), replace(other, home=np.eye(4))
        for _ in range(200):
            q = rng.uniform(-pi, pi, 6)
            a, b = (one.placement(q) for one in bare)
            off = np.linalg.norm(a[:3, :3] - b[:3, :3], 2), np.linalg.norm(a[:3, 3] - b[:3, 3])
            assert off[0] <= turn
            assert off[1] <= shift
            shares.append(max(off[0] / turn, off[1] / shift))
    assert max(shares) > 0.1
    assert_allclose(float(dot(unit((3, 4, 0)), unit((3, 4, 0)))), 1.0)
