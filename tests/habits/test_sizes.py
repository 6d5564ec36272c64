"""How large things may be: files of 300 lines, functions of 60, eight parameters; and one file name means one thing."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

import pytest

import supple

SOURCE = Path(supple.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
LINES, BODY, PARAMETERS = 300, 60, 8
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

STRAIGHT = {"place", "eliminate"}  # kernels that are one straight line, for speed
TOGETHER = {"run"}  # the loop of a GPU's lane, whose votes all lanes must come to at one place

# ── names that several files have, each with what it means wherever it stands ────────────────────────────────────────
SEVERAL = {
    "__init__": "what a room or a part of it is, and its public names",
    "alternatives": "goals of which one must be met: the goal, and how they are solved for",
    "base": "what all of a kind are: goals, solvers",
    "bodies": "what the links or bodies of a model are made of",
    "collisions": "what must not touch: claims about it, and the checker's own",
    "custom": "functions that users bring: the goal, its term, how they are called",
    "edits": "new ones from old",
    "elimination": "unknowns taken off a system of equations, one after the other",
    "figure": "a figure: the class, and its place in a scene file",
    "frames": "the frames of a motion, one by one",
    "joints": "joints: our own, and those of a format",
    "meshes": "triangles of a robot's looks: where its files lie, and as a page draws them",
    "motion": "a motion: the class, and the file that holds one",
    "names": "what names mean",
    "obstacles": "what stands in the way: of a problem, of a relaxed one",
    "packing": "from values to packs",
    "points": "claims about points: in relaxations, and the checker's own",
    "proof": "a proof: found, and as the checker reads it",
    "reach": "what a segment reaches: the map, its picture, its command",
    "reader": "from a file of a format to our values",
    "report": "what came of it, in words",
    "retarget": "a motion carried over to another figure: the function, its command",
    "scratch": "memory that kernels write and nobody keeps, declared",
    "search": "a search over many attempts",
    "shapes": "solid shapes: our own, and as a scene file writes them",
    "skeleton": "bones: read from a file, drawn",
    "solids": "solid shapes: how far apart they are, how they are drawn",
    "targets": "the numbers of goals",
    "text": "a format's text: its words, lines and bounds",
    "verdict": "whether an answer is to be believed",
    "writer": "from our values to a file of a format",
}


def name_of(path: Path) -> str:
    """A file as messages call it."""
    return path.relative_to(SOURCE).as_posix()


def functions() -> Iterator[tuple[Path, str, Function]]:
    """Every function and method, with its file and, for a constructor, the name of its class."""
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        made = {
            id(own): node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for own in ast.walk(node)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path, made.get(id(node), "") if node.name == "__init__" else node.name, node


def parameters(function: Function) -> int:
    """The number of parameters; `self` and `cls` do not count."""
    given = function.args
    names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    further = [a for a in (given.vararg, given.kwarg) if a is not None]
    return len([name for name in names if name not in ("self", "cls")]) + len(further)


def own_lines(function: Function) -> int:
    """The lines of a function without those of functions that it makes, which are counted by themselves."""
    made = [one for one in ast.walk(function) if isinstance(one, ast.FunctionDef) and one is not function]
    nested = {line for one in made for line in range(one.lineno, (one.end_lineno or 0) + 1)}
    return (function.end_lineno or 0) - function.lineno + 1 - len(nested)


def is_entry(function: Function) -> bool:
    """Whether it is a compiled entry, which takes all of its memory one by one."""
    return function.name.endswith("_entry") or any("entry" in ast.unparse(d) for d in function.decorator_list)


def public_doors() -> set[str]:
    """The names in `__all__` of the library and of its rooms: of functions, and of classes, whose constructors they are."""
    rooms = ["supple", *(f"supple.{p.parent.name}" for p in SOURCE.glob("*/__init__.py"))]
    return {name for room in rooms for name in getattr(import_module(room), "__all__", ())}


def broken_rules() -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """Files that are too long, functions that are, and functions with too many parameters, each with how many."""
    doors, commands = public_doors(), SOURCE / "cli"
    files = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    lengths, counts = {}, {}
    for path, name, function in functions():
        where = f"{name_of(path)}:{function.name}"
        if name not in STRAIGHT | TOGETHER:
            lengths[where] = max(lengths.get(where, 0), own_lines(function))
        if not (is_entry(function) or name in doors or path.parent == commands):
            counts[where] = max(counts.get(where, 0), parameters(function))
    bounds = (files, LINES), (lengths, BODY), (counts, PARAMETERS)
    files, lengths, counts = ({name: n for name, n in sizes.items() if n > most} for sizes, most in bounds)
    return files, lengths, counts


BROKEN = broken_rules()


@pytest.mark.parametrize("broken", BROKEN, ids=["lines of files", "lines of functions", "parameters"])
def test_nothing_is_too_large(broken: dict[str, int]):
    assert broken == {}


def test_sizes_are_counted():
    source = "def f(self, a, b=1, /, c=2, *d, e, **g):\n    return a\n\nclass K:\n    def __init__(self, x): ...\n"
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    assert [parameters(function) for function in found] == [6, 1]
    assert len(MODULES) > 250
    assert sum(1 for _ in functions()) > 2000


def test_a_file_name_means_one_thing():
    several = {name for name, count in Counter(path.stem for path in MODULES).items() if count > 1}
    assert several - SEVERAL.keys() == set()
    assert SEVERAL.keys() - several == set(), "these names occur once: strike them out"
