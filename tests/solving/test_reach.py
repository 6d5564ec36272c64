"""Maps of reach, on planar arms whose workspace is an annulus, known in closed form."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

import supple
from supple.solving.reach_grid import MOST, spread_rotations
from supple.view import draw_reach
from tests.cli.test_cli import refusal, run, said

pytest.importorskip("flint", reason="proofs need python-flint")

UPPER, FORE, HAND = 0.5, 0.3, 0.1
HAIR = 1e-3  # [m] of the boundary, within which a pose may stay undecided
FULL = (-np.inf, np.inf)


def arm(elbow: tuple[float, float] = FULL) -> supple.Figure:
    """Two links in the plane z = 0.2; the hand turns about z too."""
    parts = [
        *supple.hinge("upper", None, (0, 0, 1), at=(0, 0, 0.2)),
        *supple.hinge("fore", "upper", (0, 0, 1), at=(UPPER, 0, 0), limits=elbow),
        *supple.hinge("wrist", "fore", (0, 0, 1), at=(FORE, 0, 0)),
        *supple.fixed("tip", "wrist", at=(HAND, 0, 0)),
    ]
    return supple.Figure("arm", parts)


def annulus(elbow: tuple[float, float]) -> tuple[float, float]:
    """How near to the shoulder, and how far from it, the wrist comes, if the elbow bends from 0 to one side at least."""
    most = min(elbow[1], np.pi)
    return float(np.sqrt(UPPER**2 + FORE**2 + 2 * UPPER * FORE * np.cos(most))), UPPER + FORE


def assert_decided(found: supple.solving.Reach, inside: np.ndarray) -> None:
    """Reached where a depth `inside` the workspace is positive, proved impossible where negative, but for a hair."""
    assert inside.shape == found.reached.shape
    assert (np.abs(inside) > HAIR).mean() > 0.9
    assert found.reached[inside > HAIR].all()
    assert found.impossible[inside < -HAIR].all()
    assert not (found.reached & found.impossible).any()
    assert sum(found.counts.values()) == found.reached.size


@pytest.mark.parametrize("elbow", [FULL, (0.0, 2.0)], ids=["free", "limited"])
def test_the_wrist_reaches_an_annulus(elbow: tuple[float, float]) -> None:
    figure = arm(elbow)
    found = supple.reach(figure, "wrist", spacing=0.14)
    assert_allclose(found.positions[:, 2], 0.2)  # every hinge is upright: the slice is level
    near, far = annulus(elbow)
    rho = np.linalg.norm(found.positions[:, :2], axis=1)
    assert rho.max() > far
    assert_decided(found, np.minimum(rho - near, far - rho)[:, None])
    assert found.impossible[rho < near - HAIR].any()
    assert found.share == found.reached.mean()
    assert 0.0 < found.proving <= found.seconds


def test_witnesses_are_where_they_should_be() -> None:
    figure = arm((0.0, 2.0))
    found = supple.reach(figure, "wrist", spacing=0.2)
    assert np.isnan(found.q[~found.reached]).all()
    at = figure.placement(found.q[found.reached], "wrist")[:, :3, 3]
    tolerance = supple.Task(supple.Point("wrist"), supple.At((0, 0, 0))).tolerance
    assert_allclose(at, found.positions[found.reached[:, 0]], atol=tolerance)
    assert all(figure.limits.contains(q) for q in found.q[found.reached])


def test_off_the_plane_nothing_is_reached() -> None:
    found = supple.reach(arm(), "wrist", x=(-0.6, 0.6), y=0.1, z=(0.0, 0.4), spacing=0.2)
    assert [len(axis) for axis in found.axes] == [7, 1, 3]
    level = np.isclose(found.positions[:, 2], 0.2)
    assert found.reached[level].any()
    assert found.impossible[~level].all()


def test_each_rotation_has_an_annulus_of_its_own() -> None:
    angles = np.array([0.0, 1.0, 2.5])
    found = supple.reach(arm(), "tip", z=0.2, spacing=0.2, rotation=Rotation.from_rotvec(angles[:, None] * [0, 0, 1]))
    wrist = found.positions[:, None, :2] - HAND * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    rho = np.linalg.norm(wrist, axis=-1)
    near, far = annulus(FULL)
    assert_decided(found, np.minimum(rho - near, far - rho))
    assert_array_equal(found.dexterity, found.reached.mean(axis=1))
    assert set(found.dexterity) >= {0.0, 1.0}


def test_a_rotation_out_of_the_plane_is_proved_impossible() -> None:
    found = supple.reach(arm(), "tip", x=(-0.5, 0.5), y=0.0, z=0.2, spacing=0.25, rpy=(0.5, 0.0, 0.0))
    assert found.rotations is not None
    assert found.rotations.shape == (1, 3, 3)
    assert found.impossible.all()


def test_certificates_are_kept_if_asked_for_and_hold() -> None:
    options = {"x": (-1.0, 1.0), "y": 0.3, "z": 0.2, "spacing": 0.25}
    assert supple.reach(arm(), "wrist", **options).certificates == {}
    found = supple.reach(arm(), "wrist", **options, keep=True)
    assert set(found.certificates) == set(map(tuple, np.argwhere(found.impossible).tolist()))
    assert found.certificates
    for (i, _), certificate in found.certificates.items():
        assert_allclose(certificate.wishes[0].target[:3, 3], found.positions[i])
        assert certificate.verify()


def test_the_same_call_gives_the_same_map() -> None:
    one, two = (supple.reach(arm((0.0, 2.0)), "tip", spacing=0.45, rotation=3, seed=4) for _ in range(2))
    assert_array_equal(one.status, two.status)
    assert_array_equal(one.q, two.q)


def test_spread_rotations_are_rotations_and_far_apart() -> None:
    R = spread_rotations(60)
    assert_allclose(R @ R.transpose(0, 2, 1), np.tile(np.eye(3), (60, 1, 1)), atol=1e-12)
    turns = Rotation.from_matrix(R)
    apart = [(turns[i].inv() * turns[j]).magnitude() for i in range(60) for j in range(i)]
    assert min(apart) > 0.5  # 60 places evenly taken would be some 0.9 rad apart


def test_a_volume_holds_the_slice() -> None:
    volume = supple.reach(arm(), "wrist", spacing=0.4, volume=True)
    assert min(len(axis) for axis in volume.axes) > 1
    level = np.isclose(volume.positions[:, 2], 0.2)
    assert not volume.reached[~level].any()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"spacing": 0.0}, "must be positive and finite"),
        ({"spacing": np.nan}, "must be positive and finite"),
        ({"spacing": "wide"}, "must be positive and finite"),
        ({"spacing": 1e-6}, f"more than {MOST}: take a spacing of"),
        ({"x": (1.0, 0.0)}, "x of a map"),
        ({"z": "high"}, "z of a map"),
        ({"rotation": 0}, "at least 1"),
        ({"quat_wxyz": [[1, 2], [3]]}, "quat_wxyz of reach must be numbers"),
        ({"rotation": 3, "quat_wxyz": (1, 0, 0, 0)}, "one description"),
        ({"quaternion": (1, 0, 0, 0)}, "does not take quaternion"),
        ({"boxes": 0}, "boxes of a proof must be a whole number, at least 1"),
    ],
)
def test_what_cannot_be_mapped_is_refused(options: dict, words: str) -> None:
    with pytest.raises(supple.BadValue, match=words):
        supple.reach(arm(), "wrist", **options)


def test_segments_that_cannot_be_mapped_are_refused() -> None:
    with pytest.raises(supple.UnknownName, match="did you mean wrist"):
        supple.reach(arm(), "writs")
    with pytest.raises(supple.BadValue, match="no joint moves"):
        supple.reach(supple.Figure("post", [*supple.fixed("top", None, at=(0, 0, 1))]), "top")
    with pytest.raises(supple.Refused, match="cannot be decided"):
        supple.reach(supple.load("human"), "head")
    parts = [
        *supple.screw("lift", None, (0, 0, 1), 0.1),
        *supple.hinge("a", None, (0, 0, 1)),
        *supple.hinge("b", None, (0, 0, 1)),
    ]
    looped = supple.Figure("looped", parts, loops=(supple.Loop("pin", "a", "b", (1, 0, 0), (1, 0, 0), point=True),))
    with pytest.raises(supple.Refused, match="turns and slides at once"):
        supple.reach(looped, "lift")


def test_the_command_prints_draws_and_writes(tmp_path: Path) -> None:
    picture, file = tmp_path / "map.png", tmp_path / "map.json"
    result = run("reach", "ur5", "--spacing", 0.6, "--plane", "y=0.1", "-o", picture, "--json", file)
    assert result.exit_code == 0, result.output
    record = json.loads(file.read_text())
    figure = supple.load("ur5")
    counts = record["counts"]
    assert re.search(rf"proved impossible\s*│\s*{counts['impossible']}\s", result.stdout)
    assert counts["reached"] > 0
    assert counts["impossible"] > 0
    for position, status, q in zip(record["positions"], record["status"], record["q"], strict=True):
        assert (status == ["reached"]) == (q != [None])
        if q != [None]:
            assert_allclose(figure.placement(q[0], record["segment"])[:3, 3], position, atol=1e-4)
    assert picture.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    "more", [{"volume": True}, {"rotation": 2}, {"x": 0.0, "y": 0.3}], ids=["volume", "turns", "line"]
)
def test_every_kind_of_map_is_drawn(more: dict, tmp_path: Path) -> None:
    found = supple.reach(arm(), "wrist", spacing=0.4, **more)
    picture = tmp_path / "map.png"
    sheet = draw_reach(found, path=picture, dpi=40)
    assert picture.read_bytes()[:4] == b"\x89PNG"
    legend = " ".join(text.get_text() for text in sheet.legends[0].get_texts())
    assert all(word in legend for word in ("reached", "proved impossible", "undecided"))


def test_a_command_takes_a_quaternion() -> None:
    assert "1 rotation" in said("reach", "ur5", "tool0", "--spacing", 0.8, "--quat-wxyz", "1,0,0,0")


def test_the_command_refuses_by_name_before_any_work(tmp_path: Path) -> None:
    assert "no figure called" in refusal("reach", "nobody")
    assert "did you mean tool0" in refusal("reach", "ur5", "tol0")
    assert "must be positive" in refusal("reach", "ur5", "--spacing", -1)
    assert "take a spacing of" in refusal("reach", "ur5", "--spacing", 0.001)
    assert "x=0, y=0 or z=0.3" in refusal("reach", "ur5", "--plane", "w=1")
    assert "exclude each other" in refusal("reach", "ur5", "--plane", "x=0", "--volume")
    assert "both name rotations" in refusal("reach", "ur5", "--rotations", 2, "--quat-wxyz", "1,0,0,0")
    assert "pictures are written as" in refusal("reach", "ur5", "-o", tmp_path / "map.foo")
    assert "there is no folder" in refusal("reach", "ur5", "--json", tmp_path / "none" / "map.json")
