"""Natural coordinates: every posture obeys the equations, their slopes are slopes, their rank counts the freedoms, and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose

import supple
from supple import Point
from supple.motion import Natural
from tests.tables.figures import FIGURES, FIXED, closed_four_bar

CATALOGUE = ("human", "jack", "panda", "hand", "stewart")
OPEN = {name: figure for name, figure in FIGURES.items() if not figure.loops}


def drawn(figure: supple.Figure, seed: int, reach: float = 1.2) -> np.ndarray:
    """A random posture within the limits, angles no larger than `reach`."""
    lower, upper = np.maximum(figure.lower, -reach), np.minimum(figure.upper, reach)
    q = np.random.default_rng(seed).uniform(np.minimum(lower, upper), np.maximum(lower, upper))
    return figure.limits.project(q)


@pytest.mark.parametrize("name", [*OPEN, *CATALOGUE])
def test_postures_obey_the_equations_and_come_back(name: str):
    figure = OPEN.get(name) or supple.load(name)
    natural = Natural(figure)
    q = np.array(figure.rest) if figure.loops else drawn(figure, 1)
    x = natural.from_posture(q)
    assert np.abs(natural.constraints(x)).max() < 1e-13
    assert_allclose(natural.to_posture(x, near=q + 0.05), q, atol=1e-12)


@pytest.mark.parametrize("name", [*FIGURES, "panda", "stewart"])
def test_the_jacobian_is_the_slope_of_the_equations(name: str):
    figure = FIGURES.get(name) or supple.load(name)
    natural = Natural(figure)
    x = natural.from_posture(drawn(figure, 2)) + 0.1 * np.random.default_rng(3).normal(size=natural.size)
    step, J = 1e-6, natural.jacobian(x)
    slope = np.column_stack(
        [(natural.constraints(x + step * e) - natural.constraints(x - step * e)) / (2 * step) for e in np.eye(natural.size)]
    )  # fmt: skip
    assert_allclose(J.toarray(), slope, atol=1e-6 * np.abs(slope).max())
    assert J.nnz < 0.5 * J.shape[0] * J.shape[1] or natural.bodies == 1


@pytest.mark.parametrize("name", [*OPEN, *CATALOGUE])
def test_the_rank_leaves_the_degrees_of_freedom(name: str):
    figure = OPEN.get(name) or supple.load(name)
    natural = Natural(figure)
    q = np.array(figure.rest) if figure.loops else drawn(figure, 4)
    rank = np.linalg.matrix_rank(natural.jacobian(natural.from_posture(q)).toarray(), 1e-8)
    assert natural.size - rank == (6 if name == "stewart" else figure.size)
    assert natural.count >= rank


def test_a_closed_four_bar_has_one_freedom_and_redundant_equations():
    figure = FIGURES["four-bar"]
    natural = Natural(figure)
    q = closed_four_bar(1.0)
    x = natural.from_posture(q)
    assert np.abs(natural.constraints(x)).max() < 1e-14
    assert_allclose(natural.to_posture(x, near=q + 0.1), q, atol=1e-12)
    rank = np.linalg.matrix_rank(natural.jacobian(x).toarray(), 1e-8)
    assert natural.size - rank == 1
    assert natural.count - rank == 4  # three unit lengths, and that the loop stays flat


@pytest.mark.parametrize("name", ["mixed", "spine", "twins", "panda"])
def test_markers_are_linear(name: str):
    figure = OPEN.get(name) or supple.load(name)
    points = [Point(segment, (0.1, -0.2, 0.3)) for segment in figure.segments]
    directions = [supple.Direction(segment, (1, 2, 3)) for segment in figure.segments]
    for natural in (Natural(figure), Natural(figure, points=points)):
        q = drawn(figure, 5)
        x = natural.from_posture(q)
        S, s = natural.marker_matrix([*points, *directions])
        seen = [figure.seen(q, p)[:3, 3] for p in points] + [figure.seen(q, d)[:3, 0] for d in directions]
        assert_allclose(S @ x + s, np.ravel(seen), atol=1e-12)
        assert np.abs(natural.constraints(x)).max() < 1e-13


def test_angles_can_be_coordinates():
    figure = FIGURES["twins"]
    natural = Natural(figure, angles=("left elbow", "right shoulder.x", "trunk.tx"))
    plain = Natural(figure)
    q = drawn(figure, 6)
    x = natural.from_posture(q)
    for name, i in natural.index.items():
        assert x[i] == q[figure.coordinates.index(name)]
    assert natural.size > plain.size + 2  # joints with a value of their own are bodies of their own
    rank = np.linalg.matrix_rank(natural.jacobian(x).toarray(), 1e-8)
    assert natural.size - rank == figure.size
    assert_allclose(natural.to_posture(x), q, atol=1e-12)


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), name=st.sampled_from(sorted(OPEN)))
def test_round_trip_from_anywhere(seed: int, name: str):
    figure = OPEN[name]
    natural = Natural(figure)
    q = drawn(figure, seed, reach=3.0)
    x = natural.from_posture(q)
    back = natural.to_posture(x, near=q)
    assert_allclose(back, q, atol=1e-8)  # near a ball's singular turn digits are lost
    assert_allclose(natural.from_posture(back), x, atol=1e-12)
    far = natural.to_posture(x, near=q + 2.0 * np.pi * figure.turning)
    assert_allclose(natural.from_posture(far), x, atol=1e-11)


@pytest.mark.parametrize("order", ["zyx", "xyx"])
def test_singular_balls_come_back_as_the_same_place(order: str):
    figure = supple.Figure("f", [*supple.ball("b", None, order)])
    natural = Natural(figure)
    q = np.array([0.3, np.pi / 2 if order == "zyx" else 0.0, -0.2])
    x = natural.from_posture(q)
    assert_allclose(natural.from_posture(natural.to_posture(x, near=q + 0.1)), x, atol=1e-7)


def test_a_figure_that_cannot_move_has_no_coordinates():
    natural = Natural(FIXED)
    assert natural.size == natural.count == 0
    S, s = natural.marker_matrix([Point("b", (0.1, 0.2, 0.3))])
    assert_allclose(s, FIXED.seen((), Point("b", (0.1, 0.2, 0.3)))[:3, 3])
    assert S.shape == (3, 0)


@pytest.mark.interpreted
def test_interpreted():
    figure = FIGURES["spine"]
    natural = Natural(figure)
    assert np.abs(natural.constraints(natural.from_posture(drawn(figure, 7)))).max() < 1e-13


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda f: Natural(f, angles=("elbw",)), "no coordinate called 'elbw'; did you mean elbow"),
        (lambda f: Natural(f, points=(Point("foot"),)), "no segment called 'foot'"),
        (lambda f: Natural(f).constraints(np.zeros(3)), "natural coordinates of 'arm'"),
        (lambda f: Natural(f).marker_matrix([Point("foot")]), "no segment called 'foot'"),
    ],
)
def test_wrong_names_and_sizes_are_refused(wrong, message: str):
    with pytest.raises(supple.Error, match=message):
        wrong(FIGURES["arm"])
