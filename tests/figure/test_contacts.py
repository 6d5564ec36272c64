"""What segments keep clear of things with, which pairs are joined, which touch, and which are to be kept apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import supple
from supple.figure.figure import Figure, Loop
from supple.figure.joints import ball, fixed, free, hinge, slide
from supple.files.urdf.reader import parse_urdf
from supple.files.urdf.writer import format_urdf
from supple.geometry.distances import distance_between
from supple.geometry.placements import X, Y, place
from supple.geometry.shapes import Ball, Body, Box, Capsule, Cylinder, Shape, enclosing

PEA = (Ball((0, 0, 0), 0.1),)
numbers = st.floats(-1, 1)
vectors = st.tuples(numbers, numbers, numbers)
sizes = st.floats(0.05, 1)
frames = st.builds(lambda p, r: place(p, rpy=np.multiply(3, r)), vectors, vectors)
boxes = st.builds(lambda a, b, c, at: Box((-a, 0, 0.1), (a, b, 0.1 + c), at), sizes, sizes, sizes, frames)
cylinders = st.builds(Cylinder, sizes, sizes, frames)


# ── bars ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
@given(st.one_of(boxes, cylinders), st.integers(0, 7), vectors)
def test_what_encloses_a_shape_encloses_it_tightly(shape: Shape, corner: int, turn: tuple[float, float, float]):
    bar = enclosing(shape)
    assert isinstance(bar, Capsule)
    if isinstance(shape, Box):
        own = [(shape.lower, shape.upper)[corner >> k & 1][k] for k in range(3)]
    else:
        assert isinstance(shape, Cylinder)
        angle = 3 * turn[0]
        own = [shape.radius * np.cos(angle), shape.radius * np.sin(angle), (corner % 2 - 0.5) * shape.length]
    point = Ball(tuple((shape.at @ (*own, 1.0))[:3]), 1e-9)
    assert distance_between(point, bar) == pytest.approx(-1e-9, abs=1e-9)  # every corner and rim is on its surface


def test_bars_are_the_shapes_of_bodies_unless_solids_are_given():
    shapes = (*PEA, Capsule(0.1, 0.2), Cylinder(0.3, 0.4), Box((0, 0, 0), (1, 2, 3)))
    parts = [*fixed("a"), *hinge("b", "a"), *hinge("c", "b"), *hinge("d", "c")]
    figure = Figure("f", parts, bodies={"b": Body(shapes=shapes), "c": Body(shapes=shapes), "d": Body(1.0)})
    assert list(figure.bars) == ["b", "c"]
    assert figure.bars["b"][:2] == shapes[:2]
    assert [type(bar) for bar in figure.bars["b"]] == [Ball, Capsule, Cylinder, Box]
    given_some = figure.with_solids({"c": PEA, "d": PEA})
    assert [type(bar) for bar in given_some.bars["b"]] == [Ball, Capsule, Cylinder, Box]
    assert given_some.bars["c"] == given_some.bars["d"] == PEA
    assert list(figure.with_spheres({"b": []}).bars) == ["c"]


def test_urdf_keeps_what_is_kept_clear_with():
    figure = Figure("f", [*fixed("a"), *hinge("b", "a", limits=(-1, 1))], bodies={"b": Body(1.0, shapes=PEA)})
    given_some = figure.with_spheres({"a": [(0, 0, 1, 0.2)], "b": [(1, 0, 0, 0.3), (2, 0, 0, 0.4)]})
    again = parse_urdf(format_urdf(given_some), "f.urdf")
    assert again.bars == given_some.bars
    assert parse_urdf(format_urdf(figure), "f.urdf").bars == figure.bars


# ── pairs ────────────────────────────────────────────────────────────────────────────────────────────────────────────
def chain(*names: str, step: float = 1.0) -> list[supple.Joint]:
    """Hinges a step apart, all with their pea."""
    above = [None, *names[:-1]]
    return [j for name, parent in zip(names, above, strict=True) for j in hinge(name, parent, Y, at=(step, 0, 0))]


def with_peas(
    parts: list[supple.Joint], *without: str, bodies: dict[str, Body] | None = None, **more: object
) -> Figure:
    figure = Figure("f", parts, bodies=bodies or {}, **more)  # pyright: ignore
    return figure.with_solids({s: PEA for s in figure.segments if s not in without})


def test_a_chain_is_joined_link_by_link():
    figure = with_peas(chain("a", "b", "c"))
    assert figure.joined_pairs() == (("a", "b"), ("b", "c"))
    assert figure.touching() == ()
    assert figure.colliding_pairs() == (("a", "c"),)


def test_one_rigid_body_is_joined_throughout():
    parts = [*chain("a", "b"), *fixed("a1", "a", (0, 5, 0)), *fixed("a2", "a1", (0, 5, 0)), *fixed("floor")]
    figure = with_peas(parts)
    assert set(combinations(("a", "a1", "a2"), 2)) < set(figure.joined_pairs())
    assert {("a", "b"), ("a2", "floor")} < set(figure.joined_pairs())
    assert figure.colliding_pairs() == (("b", "floor"),)


def test_what_is_locked_becomes_one_body():
    figure = with_peas(chain("a", "b", "c", "d"))
    assert ("a", "c") in figure.colliding_pairs()
    assert ("a", "c") in figure.locked("b").joined_pairs()
    assert ("a", "d") in figure.locked("b").colliding_pairs()


def test_a_segment_without_bars_joins_nothing_and_the_inside_of_a_joint_is_no_segment():
    for bodies in ({}, {"b": Body(1.0)}):
        figure = with_peas(chain("a", "b", "c"), "b", bodies=bodies)
        assert figure.joined_pairs() == ()
        assert figure.colliding_pairs() == (("a", "c"),)
    shoulder = with_peas([*fixed("a"), *ball("b", "a"), *slide("c", "b", X, at=(1, 0, 0))])
    assert shoulder.joined_pairs() == (("a", "b"), ("b", "c"))


def test_what_floats_is_joined_to_nothing():
    floating = with_peas([*fixed("a"), *free("b", "a", at=(0, 0, 3)), *hinge("c", "b", X, at=(0, 0, 1))])
    assert floating.joined_pairs() == (("b", "c"),)
    assert floating.colliding_pairs() == (("a", "b"), ("a", "c"))


def test_the_ends_of_a_loop_are_joined():
    parts = [*fixed("ground"), *hinge("a", "ground", Y, at=(1, 0, 0)), *hinge("b", "a", Y, at=(1, 0, 0))]
    parts += fixed("pin", "b", (1, 0, 0))
    figure = Figure("f", parts, loops=[Loop("l", "pin", "ground", at_b=(3, 0, 0), point=True)])
    solid = figure.with_solids(dict.fromkeys(("ground", "a", "b"), PEA))
    assert ("ground", "b") in solid.joined_pairs()


def test_what_touches_at_rest_is_not_kept_apart():
    figure = with_peas(chain("a", "b", "c", "d", step=0.09))
    assert figure.touching() == (("a", "c"), ("b", "d"))
    assert figure.colliding_pairs() == (("a", "d"),)
    assert figure.touching(margin=0.08) == (("a", "c"), ("a", "d"), ("b", "d"))
    assert figure.colliding_pairs(margin=0.08) == ()
    folded = figure.touching([0, 0, np.pi, 0])
    assert folded == (("a", "c"), ("a", "d"), ("b", "d"))


def test_a_figure_without_bars_touches_nothing():
    figure = Figure("f", chain("a", "b", "c"))
    assert figure.bars == {}
    assert figure.joined_pairs() == figure.touching() == figure.colliding_pairs() == ()
    assert with_peas(chain("a", "b", "c"), "a", "b").touching() == ()


@pytest.mark.parametrize("name", ["human", "stewart"])
def test_every_pair_is_joined_touches_or_is_kept_apart(name: str):
    figure = supple.load(name)
    joined, touching, apart = figure.joined_pairs(), figure.touching(), figure.colliding_pairs()
    assert sorted([*joined, *touching, *apart]) == sorted(combinations(figure.bars, 2))
    frames = figure.placements(figure.rest)
    for pairs, meets in ((touching[:8], True), (apart[::50], False)):
        for a, b in pairs:
            nearest = min(distance_between(p, q, frames[a], frames[b]) for p in figure.bars[a] for q in figure.bars[b])
            assert (nearest < 0) == meets


def test_a_person_keeps_hands_and_legs_apart():
    person = supple.load("human")
    apart = person.colliding_pairs()
    assert ("forearm_l", "forearm_r") in apart
    assert ("shank_l", "shank_r") in apart
    assert ("pelvis", "thigh_l") in person.joined_pairs()
    turned = np.array(person.rest)
    turned[:6] = 1, 2, 3, 0.4, 0.5, 0.6
    assert person.touching(turned) == person.touching()


@pytest.mark.parametrize(("face", "kept"), [(0.15, True), (0.05, False)])
def test_what_touches_nearly_always_is_kept_apart_if_it_is_clear_at_rest(face: float, kept: bool):
    parts = [*fixed("a"), *hinge("between", "a", X), *slide("b", "between", X, limits=(0.0, 2.0))]
    figure = Figure("f", parts).with_solids({"a": (Box((face, -1, -1), (3, 1, 1)),), "b": PEA})
    assert figure.touching([0.0, 1.0]) == (("a", "b"),)
    assert figure.left_out()["always"] == (() if kept else (("a", "b"),))
    assert (("a", "b") in figure.colliding_pairs()) == kept
