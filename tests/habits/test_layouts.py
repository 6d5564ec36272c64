"""Packs are read by name: constants equal their layout, tables come back as they were put in, and no kernel counts places."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import supple
from supple.figure.catalogue import build, names
from supple.kernels import layouts
from supple.kernels.layouts import PROBLEM, TREE, Layout, Table, dump, intact, pack, view

SOURCE = Path(supple.__file__).parent
PACKS = {"I", "F"}  # what a literal subscript may not open


def literal_subscripts(text: str) -> list[str]:
    """Where a pack, or the integers of a term, is opened by a number."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Subscript):
            continue
        name = node.value.id if isinstance(node.value, ast.Name) else getattr(node.value, "attr", "")
        last = node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) else node.slice
        is_number = isinstance(last, ast.Constant) and isinstance(last.value, int)
        packed = isinstance(node.value, ast.Name) and name in PACKS
        term = (
            name == "term"
            and isinstance(node.slice, ast.Tuple)
            and ast.unparse(node.value) in ("tasks.term", "tree.term")
        )
        if is_number and (packed or term):
            found.append(f"line {node.lineno}: {ast.unparse(node)}")
    return found


def kernel_files() -> list[Path]:
    """Every file with kernels."""
    return [p for p in sorted(SOURCE.rglob("*.py")) if "supple.kernels.compiling import" in p.read_text()]


@pytest.mark.parametrize("path", kernel_files(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_no_pack_is_opened_by_a_number(path: Path) -> None:
    assert literal_subscripts(path.read_text()) == []


def test_a_number_would_be_noticed() -> None:
    assert literal_subscripts("n = I[3] + F[0]") == ["line 1: I[3]", "line 1: F[0]"]
    assert literal_subscripts("k = tasks.term[i, 4]\nm = I[JOINTS]") == ["line 1: tasks.term[i, 4]"]


KERNELS = ("leaf", "stage", "entry", "shared", "written_in")  # decorators of what may open packs
READERS = {"kernels/layouts.py"}  # where `view` itself stands


def arithmetic_on_packs(text: str) -> list[str]:
    """Where Python, outside kernels, opens a pack otherwise than by the name of a count."""
    found: list[str] = []

    def visit(node: ast.AST, compiled: bool) -> None:
        if isinstance(node, ast.FunctionDef):
            compiled = compiled or any(name in ast.unparse(d) for d in node.decorator_list for name in KERNELS)
        if isinstance(node, ast.Subscript) and not compiled and ast.unparse(node.value).split(".")[-1] in PACKS:
            at = ast.unparse(node.slice).split(".")[-1]
            if at != ":" and (not at.isidentifier() or not at.isupper() or at.startswith("AT_")):
                found.append(f"line {node.lineno}: {ast.unparse(node)}")
        for child in ast.iter_child_nodes(node):
            visit(child, compiled)

    visit(ast.parse(text), False)
    return found


def test_python_looks_at_packs_by_view_alone() -> None:
    found = {
        path.relative_to(SOURCE).as_posix(): arithmetic_on_packs(path.read_text()) for path in SOURCE.rglob("*.py")
    }
    assert len(found) > 250
    assert {name: places for name, places in found.items() if places and name not in READERS} == {}


def test_arithmetic_would_be_noticed() -> None:
    text = "def f(I, F):\n    at = I[AT_LOWER]\n    return F[at : at + 3], self.F[at], I[JOINTS], F[:], I[n + 1]"
    assert len(arithmetic_on_packs(text)) == 4
    assert arithmetic_on_packs("@leaf\n" + text) == []


@pytest.mark.parametrize("layout", [TREE, PROBLEM], ids=["tree", "problem"])
def test_constants_are_those_of_their_layout(layout: Layout) -> None:
    assert {name: vars(layouts)[name] for name in layout.contents} == layout.contents


def a_problem(name: str, seed: int) -> supple.Problem:
    """A problem with points, frames, a preference and linear limits on a figure of the catalogue."""
    figure, rng = build(name), np.random.default_rng(seed)
    ends = rng.choice(figure.segments, size=min(3, len(figure.segments)), replace=False)
    tasks = [supple.Task(str(s), supple.At(rng.normal(size=3))) for s in ends]
    tasks += [
        supple.Task(
            str(ends[0]), supple.Placed(figure.placement(figure.rest, str(ends[0])), relative_to=figure.segments[0])
        )
    ]
    if seed % 2:
        tasks.append(supple.Task(None, supple.Near(figure.rest), weight=0.1))
    return supple.Problem(figure, tasks)


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("seed", range(4))
def test_tables_come_back_as_they_were_put_in(name: str, seed: int) -> None:
    problem = a_problem(name, seed)
    I, F, _ = problem.packed
    assert problem.limits is not None
    assert_array_equal(view(PROBLEM, I, F, "LOWER"), problem.limits.lower)
    assert_array_equal(view(PROBLEM, I, F, "UPPER"), problem.limits.upper)
    tables = {t.name: view(PROBLEM, I, F, t.name).copy() for t in (*PROBLEM.ints, *PROBLEM.floats)}
    counts = {count: int(I[PROBLEM.contents[count]]) for count in PROBLEM.counts}
    assert sum(t.size for t in tables.values()) + PROBLEM.header == len(I) + len(F)  # nothing lies between tables
    again = pack(PROBLEM, counts, tables, checked=False)
    if not layouts.CHECKED:
        assert_array_equal(again[0], I)
        assert_array_equal(again[1], F)
    guarded = pack(PROBLEM, counts, tables, checked=True)
    assert intact(PROBLEM, *guarded)
    for table in tables:
        assert_array_equal(view(PROBLEM, *guarded, table), tables[table])
    assert all(t.name in dump(PROBLEM, I, F) for t in PROBLEM.ints)


def test_a_guarded_pack_gives_the_same_answers_and_stays_whole() -> None:
    problem = a_problem("panda", 1)
    I, F, T = problem.packed
    tables = {t.name: view(PROBLEM, I, F, t.name) for t in (*PROBLEM.ints, *PROBLEM.floats)}
    counts = {count: int(I[PROBLEM.contents[count]]) for count in PROBLEM.counts}
    guarded = pack(PROBLEM, counts, tables, checked=True)
    other = supple.Problem(problem.figure, problem.tasks)
    other.__dict__["pack"] = (*(array.copy() for array in guarded), T.copy())
    assert other.packed[0].size > I.size  # it is the guarded one that is read
    q = problem.figure.rest
    assert other.value(q) == problem.value(q)
    assert_array_equal(other.evaluate(q).hessian, problem.evaluate(q).hessian)
    assert intact(PROBLEM, *other.packed[:2])


def test_an_overrun_is_noticed() -> None:
    layout = Layout("two rows", "COUNT", [Table("FIRST", ("COUNT",))], [Table("SECOND", ("COUNT", 2))])
    I, F = pack(layout, {"COUNT": 3}, {"FIRST": [1, 2, 3], "SECOND": np.zeros((3, 2))}, checked=True)
    assert intact(layout, I, F)
    at = int(I[layout.contents["AT_SECOND"]])
    F[at : at + 7] = 1.0  # one too many
    assert not intact(layout, I, F)


@pytest.mark.parametrize(
    ("counts", "tables", "culprit"),
    [
        ({"COUNT": 3}, {"FIRST": [1, 2], "SECOND": np.zeros((3, 2))}, "FIRST"),
        ({"COUNT": 3}, {"FIRST": [1, 2, 3]}, "SECOND"),
        ({"COUNT": 3, "MORE": 1}, {"FIRST": [1, 2, 3], "SECOND": np.zeros((3, 2))}, "MORE"),
    ],
)
def test_a_table_of_another_shape_is_refused(counts: dict[str, int], tables: dict[str, object], culprit: str) -> None:
    layout = Layout("two rows", "COUNT", [Table("FIRST", ("COUNT",))], [Table("SECOND", ("COUNT", 2))])
    with pytest.raises(AssertionError, match=culprit):
        pack(layout, counts, tables)


def test_shapes_count_numbers() -> None:
    counts = {"COUNT": 3}
    assert Layout("x", "COUNT", [], []).shape(Table("T", ("COUNT",), 1), counts) == (4,)
    assert math.prod(Layout("x", "COUNT", [], []).shape(Table("T", ("COUNT", 5)), counts)) == 15
