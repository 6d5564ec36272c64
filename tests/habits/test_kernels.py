"""Kernels have names of their own, rows of numbers are opened by names, and scratch is as large as its views."""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import supple
from supple.figure.catalogue import build
from supple.kernels.layouts import PROBLEM
from supple.kernels.opening import Scratch

SOURCE = Path(supple.__file__).parent
DECORATORS = {"leaf", "written_in", "stage", "shared", "entry"}
ROWS = {"settings", "report", "tally", "state"}  # what a literal subscript may not open
FORBIDDEN = {"index", "count"}  # methods of every tuple: as fields they hide them, or are hidden


def files() -> list[Path]:
    """Every file of the library."""
    return sorted(SOURCE.rglob("*.py"))


def kernels(text: str) -> list[str]:
    """The names of all kernels in a file."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    return [f.name for f in functions if any(isinstance(d, ast.Name) and d.id in DECORATORS for d in f.decorator_list)]


def by_number(text: str) -> list[str]:
    """Where settings, a report or what a loop remembers is opened by a number."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Subscript):
            continue
        name = node.value.id if isinstance(node.value, ast.Name) else getattr(node.value, "attr", "")
        last = node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) else node.slice
        if name in ROWS and isinstance(last, ast.Constant) and isinstance(last.value, int):
            found.append(f"line {node.lineno}: {ast.unparse(node)}")
    return found


def forbidden_fields(text: str) -> list[str]:
    """Fields of named tuples that are called like a method of every tuple."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "NamedTuple" for base in node.bases):
            names = [f.target.id for f in node.body if isinstance(f, ast.AnnAssign) and isinstance(f.target, ast.Name)]
            found += [f"{node.name}.{name}" for name in names if name in FORBIDDEN]
    return found


def test_a_kernel_has_a_name_of_its_own_in_its_room() -> None:
    where: dict[tuple[str, str], list[str]] = {}
    for path in files():
        place = str(path.relative_to(SOURCE))
        for name in kernels(path.read_text()):
            where.setdefault((place.split("/")[0], name), []).append(place)
    twice = {key: places for key, places in where.items() if len(places) > 1}
    assert twice == {}


def test_no_setting_and_no_report_is_opened_by_a_number() -> None:
    found = {str(path.relative_to(SOURCE)): by_number(path.read_text()) for path in files()}
    assert {place: lines for place, lines in found.items() if lines} == {}


def test_no_field_hides_a_method_of_tuples() -> None:
    texts = {str(path.relative_to(SOURCE)): path.read_text() for path in files()}
    found = {
        f"{place}: {field}"
        for place, text in texts.items()
        if "supple.kernels.compiling import" in text or "supple.kernels.opening import" in text
        for field in forbidden_fields(text)
    }
    assert found == set()


def test_what_is_forbidden_would_be_noticed() -> None:
    assert kernels("@leaf\ndef a(): ...\n@stage\ndef b(): ...\ndef c(): ...\n") == ["a", "b"]
    assert kernels("def make():\n    @stage\n    def loop(): ...\n") == ["loop"]
    assert by_number("settings[2] + s.state[0] + report[STEPS]") == ["line 1: settings[2]", "line 1: s.state[0]"]
    assert by_number("report[:, 1]\ninfo[k, VALUE]\nT[3]") == ["line 1: report[:, 1]"]
    assert forbidden_fields("class A(NamedTuple):\n    count: int\n    at: int\n") == ["A.count"]


# ── scratch ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def scratches() -> dict[str, Scratch]:
    """Every layout of scratch in the library that is for a problem, by its named tuple."""
    for path in files():
        if "supple.kernels.opening import" in path.read_text():
            import_module(
                ".".join(("supple", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
            )
    modules = [module for name, module in sys.modules.items() if name.startswith("supple.")]
    found = [one for module in modules for one in vars(module).values() if isinstance(one, Scratch)]
    return {one.kind.__name__: one for one in found if one.layout is PROBLEM}


def test_methods_declare_their_scratch() -> None:
    assert {"EvaluationScratch", "WalkScratch", "NewtonScratch", "FaceScratch", "BaselineScratch"} <= scratches().keys()


@pytest.mark.parametrize("name", scratches())
def test_scratch_is_as_large_as_its_views(name: str) -> None:
    figure = build("panda")
    tied = supple.Limits(figure.lower, figure.upper, A=np.ones((3, figure.size)), b=[9.0, 10.0, 11.0])
    tasks = [supple.Task(figure.segments[-1], supple.Placed(figure.placement(figure.rest, figure.segments[-1])))]
    I, scratch = supple.Problem(figure, tasks, tied).packed[0], scratches()[name]
    memory = scratch.fresh(I)
    tables = scratch.tables
    marked = 0
    for number, (field, view) in enumerate(zip(tables, scratch.open(I, memory), strict=True), start=1):
        if tables[field].over or any(t.over == field for t in tables.values()):
            continue
        assert not (view == -number).any()
        view[...] = -number  # nothing lies over another
        marked += view.size
    for number, (field, view) in enumerate(zip(tables, scratch.open(I, memory), strict=True), start=1):
        if not (tables[field].over or any(t.over == field for t in tables.values())):
            assert (view == -number).all()
    assert marked <= scratch.size(I) == memory.size
    assert scratch.intact(I, memory)
