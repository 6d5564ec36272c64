"""What a figure inherits from classes that are not imported before somebody asks for one of their members."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

import supple

ELSEWHERE = [one for one in supple.Figure.__bases__ if one is not getattr(import_module(one.__module__), one.__name__)]
SCRIPT = """
import sys, supple
figure = supple.load("panda")
print(*(name for name in {names} if name in sys.modules))
{line}
print(*(name for name in {names} if name in sys.modules))
"""
LATE = ["supple.figure.contacts", "supple.figure.edits", "supple.figure.kinematics"]


def members(kind: type) -> set[str]:
    """The names that a class itself defines."""
    return {name for name in vars(kind) if not (name.startswith("__") and name.endswith("__"))}


@pytest.mark.parametrize("base", ELSEWHERE)
def test_the_names_that_are_told_are_those_that_there_are(base: type):
    there = getattr(import_module(base.__module__), base.__name__)
    assert members(base) == members(there)
    assert len(members(there)) >= 8


def test_some_are_elsewhere():
    assert sorted(base.__module__ for base in ELSEWHERE) == LATE


@pytest.mark.parametrize(
    ("line", "module"),
    [
        ("figure.placement(figure.rest, 'panda_hand')", LATE[2]),
        ("supple.Figure.locked(figure, 'panda_joint1')", LATE[1]),
        ("figure.bars", LATE[0]),
        ("assert callable(supple.Figure.touching)", LATE[0]),
    ],
)
def test_a_member_is_imported_when_it_is_asked_for(line: str, module: str):
    script = SCRIPT.format(names=LATE, line=line)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    before, after = done.stdout.splitlines()
    assert before == ""
    assert module in after.split()


def test_what_is_worked_out_once_is_kept():
    figure = supple.load("panda").with_spheres({"panda_hand": [(0, 0, 0, 0.1)]})
    assert figure.bars is figure.bars
    assert "bars" in vars(figure)
    assert np.isfinite(figure.placement(figure.rest, "panda_hand")).all()


def test_what_there_is_not_is_refused_by_name():
    with pytest.raises(AttributeError, match="'Figure' object has no attribute 'lokced'"):
        _ = supple.load("panda").lokced  # pyright: ignore[reportAttributeAccessIssue]
