"""Marker sets: on the people of the catalogue, under any spelling."""

from __future__ import annotations

import numpy as np
import pytest

import supple
from supple.figure.marker_sets import MIDDLE, PAIRED, SETS, SPELLINGS
from supple.geometry.shapes import Core, enclosing


def off_the_skin(figure: supple.Figure, q: np.ndarray, x: np.ndarray) -> float:
    """How far a place is from the nearest shape of a figure, negative inside one [m]."""
    gaps = []
    for segment, body in figure.bodies.items():
        y = np.linalg.inv(figure.placement(q, segment)) @ np.append(x, 1.0)
        for shape in body.shapes:
            core = Core.of(enclosing(shape))
            z = np.linalg.inv(core.at) @ y
            z[2] -= np.clip(z[2], -core.half, core.half)
            gaps.append(float(np.linalg.norm(z[:3])) - core.radius)
    return min(gaps)


PEOPLE = {
    "human": lambda: supple.load("human"),
    "jack": lambda: supple.load("jack"),
    "child": lambda: supple.load("human", stature=1.2),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("who", PEOPLE)
def test_markers_lie_on_the_skin_and_in_pairs(name: str, who: str) -> None:
    """No marker is deeper in a body, or further out, than 1.5 % of the stature; left and right are mirrored."""
    human = PEOPLE[who]().with_marker_set(name)
    assert set(human.markers) == set(supple.figure.marker_set(name).names)
    q = np.zeros(human.size)
    stature = (human.placement(q, "head.top") - human.placement(q, "pelvis"))[2, 3] / 0.47
    for marker, point in human.markers.items():
        x = human.seen(q, point)[:3, 3]
        if marker[0] == "L":
            other = human.seen(q, human.markers["R" + marker[1:]])[:3, 3]
            np.testing.assert_allclose(other, x * (1, -1, 1), atol=1e-9)
            assert x[1] > 0.0
        assert abs(off_the_skin(human, q, x)) < 0.015 * stature, marker


def test_the_sets_have_their_sizes_and_scale_with_the_person() -> None:
    assert [len(supple.figure.marker_set(name).names) for name in SETS] == [41, 39, 29]
    small, large = (supple.load("human", stature=s).with_marker_set("cmu41") for s in (1.5, 1.8))
    for name, point in small.markers.items():
        np.testing.assert_allclose(np.multiply(1.2, point.offset), large.markers[name].offset, atol=1e-12)


def test_half_a_person_has_half_the_markers() -> None:
    torso = supple.load("human", root="fixed", legs=False).with_marker_set("cmu41")
    assert "LKNE" not in torso.markers
    assert "LELB" in torso.markers


def test_other_spellings_are_understood() -> None:
    cmu, gait, hayes = (supple.figure.marker_set(name) for name in SETS)
    assert cmu.spelling(["LASI", "RPSI", "LTIB", "RBAK", "CV7", "LANK"]) == {
        "LASI": "LFWT",
        "RPSI": "RBWT",
        "LTIB": "LSHN",
        "RBAK": "RBAC",
        "CV7": "C7",
    }
    assert gait.spelling(["Bob:lfwt", "Left_Heel", "R.Knee.Lat", "*42"]) == {
        "Bob:lfwt": "LASI",
        "Left_Heel": "LHEE",
        "R.Knee.Lat": "RKNE",
    }
    assert hayes.spelling(["V.Sacral", "R.Knee.Medial", "Top.Head"]) == {
        "V.Sacral": "SACR",
        "R.Knee.Medial": "RKNM",
        "Top.Head": "THD",
    }
    assert gait.spelling(["LASI", "LFWT"]) == {}, "what is there already is not renamed twice"


def test_the_tables_fit_together() -> None:
    assert set(SPELLINGS) <= set(MIDDLE) | set(PAIRED)
    for name in SETS:
        one = supple.figure.marker_set(name)
        plain = [s for marker in one.names for s in set(one._spellings(marker))]
        assert len(plain) == len(set(plain)), f"a spelling in {name!r} means two markers"
        assert all(0.0 < trust <= 0.03 for trust in one.trust.values())


def test_refusals() -> None:
    with pytest.raises(supple.UnknownName, match="cmu41"):
        supple.figure.marker_set("cmu42")
    with pytest.raises(supple.BadValue, match="with_markers"):
        supple.load("panda").with_marker_set("cmu41")


def test_what_a_model_has_computed_is_no_marker():
    """Plug-in Gait writes origins and axes of its segments among the trajectories."""
    computed = [
        side + part + end
        for side in "LR"
        for part in ("FE", "TI", "FO", "TO", "HU", "RA", "HN", "CL")
        for end in "OALP"
    ]
    for name in ("cmu41", "plug-in gait", "helen hayes"):
        assert supple.figure.marker_set(name).spelling(computed) == {}
