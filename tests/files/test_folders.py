"""Which files a model may bring along: from its folder and from those the user names, and from nowhere else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from supple.errors import BadFile, BadValue
from supple.files.folders import Folders, told


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A robot in its package, a library beside it, and something that is nobody's business."""
    for name in ("robot/urdf/r.urdf", "robot/meshes/m.stl", "library/arm/a.stl", "library/own.stl", "secret.stl"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    os.symlink(tmp_path / "secret.stl", tmp_path / "robot" / "link.stl")
    os.symlink(tmp_path / "robot" / "meshes" / "m.stl", tmp_path / "robot" / "inner.stl")
    return tmp_path


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("meshes/m.stl", "robot/meshes/m.stl"),
        ("meshes\\m.stl", "robot/meshes/m.stl"),
        ("./meshes/../meshes/m.stl", "robot/meshes/m.stl"),
        ("../library/own.stl", "library/own.stl"),
        ("own.stl", "library/own.stl"),
        ("inner.stl", "robot/meshes/m.stl"),
        ("package://robot/meshes/m.stl", "robot/meshes/m.stl"),
        ("package://arm/a.stl", "library/arm/a.stl"),
        ("model://library/own.stl", "library/own.stl"),
        ("package://arm/../own.stl", "library/own.stl"),
    ],
)
def test_found(home: Path, reference: str, found: str):
    folders = Folders(home / "robot", [home / "library"])
    path, reason = folders.find(reference, [home / "robot"])
    assert (path, reason) == (Path(os.path.realpath(home / found)), "")


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("../secret.stl", "outside"),
        ("{}/secret.stl", "outside"),
        ("{}/robot/meshes/m.stl", "outside"),
        ("file://{}/robot/meshes/m.stl", "outside"),
        ("http://example.org/m.stl", "outside"),
        ("C:/secret.stl", "outside"),
        ("link.stl", "outside"),
        ("package://../secret.stl", "missing"),
        ("package://robot/../secret.stl", "outside"),
        ("package://", "missing"),
        ("meshes", "missing"),
        ("nothing.stl", "missing"),
        ("", "no path"),
        ("a\0b", "no path"),
        ("x" * 2000, "no path"),
    ],
)
def test_not_found(home: Path, reference: str, reason: str):
    path, why = Folders(home / "robot", [home / "library"]).find(reference.format(home), [home / "robot"])
    assert path is None
    assert reason in why


def test_a_text_has_no_folder(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(home)
    assert Folders(None).find("secret.stl").path is None
    assert Folders(None, home).find("secret.stl").path is not None


def test_folders_are_folders(home: Path):
    with pytest.raises(BadFile, match="not a folder"):
        Folders(home, [home / "secret.stl"])
    with pytest.raises(BadValue, match="folders"):
        Folders(home, [3])  # type: ignore[list-item]


def test_what_is_lost_is_told_shortly():
    assert told([("a", "missing"), ("a", "missing")]) == "'a' (missing)"
    assert told([(str(k), "missing") for k in range(10)]).endswith("and 2 more")
