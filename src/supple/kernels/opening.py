"""Opening memory: views of a pack's tables, and of the scratch of a kernel, each declared once.

**Packs.** ``open_tree = opener(Tree, TREE)`` is a kernel that makes a `Tree` of views from a pack, each where the contents
say that its table begins (`layouts`).

**Scratch** is memory that a kernel writes and nobody keeps: one flat array of floats. A named tuple declares it,

    class NewtonScratch(NamedTuple):
        gradient: Any = of("COORDINATES")
        factor: Any = of("COORDINATES", "padded(COORDINATES)")

    NEWTON_SCRATCH = Scratch(NewtonScratch, PROBLEM)
    open_newton_scratch = NEWTON_SCRATCH.open             # a kernel: open_newton_scratch(I, scratch)
    scratch = NEWTON_SCRATCH.fresh(I)                     # as much as the views take: there is no second sum to forget

in counts of the pack, numbers, ``+ - * //``, comparisons (1 or 0), ``max``, ``min`` and `padded`. A side may be another
`Scratch`: room for all of it. Tables lie one behind the other; one that is ``over=`` another lies in the same place, for
what is never needed at once. With ``SUPPLE_CHECKED=1`` a guard number stands behind every table, and `intact` says whether
all are still there: the check of bounds that compiled code does without.

Compiled, an opener is one instruction to the compiler, however many views it makes: as a function of its own it would be
typed and lowered anew wherever it is merged, and openers were a sixth of a cold start.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from supple.kernels.compiling import define_views, row, table
from supple.kernels.layouts import CHECKED, GUARD_NUMBER, Layout, Table

LANES = 8  # numbers in a block that vector registers take at once
Views = list[tuple[int, Any, tuple[Any, ...]]]  # of each: its array (0: I, 1: the other; −1: a count), place, and sides


_OPERATORS: dict[type, tuple[str, str]] = {  # as Python and the compiler write them; no number is ever negative
    ast.Add: ("+", "add"), ast.Sub: ("-", "sub"), ast.Mult: ("*", "mul"), ast.FloorDiv: ("//", "sdiv"),
}  # fmt: skip
_COMPARISONS: dict[type, str] = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def padded(n: int) -> int:
    """n rounded up to whole blocks of `LANES` numbers; loops over whole blocks leave no remainder."""
    return (n + LANES - 1) // LANES * LANES


class Side(NamedTuple):
    """How a table of scratch is declared: its sides, and the table in whose place it lies."""

    sides: tuple[Any, ...]
    over: str


def of(*sides: int | str | Scratch, over: str = "") -> Any:
    """Declare a table of scratch: a row of so many numbers, or so many rows and columns."""
    return Side(sides, over)


class _Text:
    """Arithmetic as Python's source."""

    def count(self, at: int) -> str:
        """Entry `at` of the contents."""
        return f"I[{at}]"

    def constant(self, value: int) -> str:
        """A number."""
        return str(value)

    def binary(self, kind: type, a: str, b: str) -> str:
        """Of two numbers."""
        return f"({a} {_OPERATORS[kind][0]} {b})"

    def compare(self, kind: type, a: str, b: str) -> str:
        """1 or 0."""
        return f"int({a} {_COMPARISONS[kind]} {b})"

    def choose(self, largest: bool, a: str, b: str) -> str:
        """The larger or the smaller one."""
        return f"{'max' if largest else 'min'}({a}, {b})"


class _Code:
    """The same arithmetic as instructions to the compiler."""

    def __init__(self, builder: Any, word: Any, contents: Any) -> None:
        self.builder, self.word, self.contents = builder, word, contents
        self.known: dict[int, Any] = {}

    def count(self, at: int) -> Any:
        """Entry `at` of the contents."""
        if at not in self.known:
            self.known[at] = self.builder.load(self.builder.gep(self.contents, [self.word(at)]))
        return self.known[at]

    def constant(self, value: int) -> Any:
        """A number."""
        return self.word(value)

    def binary(self, kind: type, a: Any, b: Any) -> Any:
        """Of two numbers."""
        return getattr(self.builder, _OPERATORS[kind][1])(a, b)

    def compare(self, kind: type, a: Any, b: Any) -> Any:
        """1 or 0."""
        return self.builder.zext(self.builder.icmp_signed(_COMPARISONS[kind], a, b), self.word)

    def choose(self, largest: bool, a: Any, b: Any) -> Any:
        """The larger or the smaller one."""
        return self.builder.select(self.builder.icmp_signed(">" if largest else "<", a, b), a, b)


@cache
def _parsed(expression: str) -> ast.expr:
    return ast.parse(expression, mode="eval").body


class _Sum:
    """Expressions in the counts of a pack, in either arithmetic."""

    def __init__(self, contents: Mapping[str, int], sizes: Mapping[str, str | int], arithmetic: Any) -> None:
        self.contents, self.sizes, self.how = contents, sizes, arithmetic

    def __call__(self, expression: Any) -> Any:
        """What an expression comes to."""
        if isinstance(expression, Scratch) and expression.told_by:
            return self.how.count(self.contents[expression.told_by])
        if isinstance(expression, Scratch):
            return expression.end(self.how)
        if isinstance(expression, int):
            return self.how.constant(expression)
        return self._node(_parsed(expression))

    def _node(self, node: ast.expr) -> Any:
        how = self.how
        match node:
            case ast.Constant(value=int(value)):
                return how.constant(value)
            case ast.Name(id=name) if name in self.sizes:
                return self(self.sizes[name])
            case ast.Name(id=name):
                return how.count(self.contents[name])
            case ast.BinOp(left, op, right):
                return how.binary(type(op), self._node(left), self._node(right))
            case ast.Compare(left, [op], [right]):
                return how.compare(type(op), self._node(left), self._node(right))
            case ast.Call(ast.Name(id="padded"), [one]):
                blocks = how.binary(ast.Add, self._node(one), how.constant(LANES - 1))
                return how.binary(ast.Mult, how.binary(ast.FloorDiv, blocks, how.constant(LANES)), how.constant(LANES))
            case ast.Call(ast.Name(id="max" | "min" as name), [first, *others]):
                value = self._node(first)
                for other in others:
                    value = how.choose(name == "max", value, self._node(other))
                return value
        raise AssertionError(f"scratch has no size {ast.unparse(node)}")


class Scratch:
    """The layout of some scratch: where each of its tables lies, in the counts of a pack. `sizes` are short for expressions.

    If a count of the pack tells how many numbers it takes (`told_by`), what lies behind it is found without a sum.
    """

    def __init__(self, kind: Any, layout: Layout, told_by: str = "", **sizes: str | int) -> None:
        self.kind, self.layout, self.told_by, self.sizes = kind, layout, told_by, sizes
        self.tables: dict[str, Side] = kind._field_defaults
        self._size = eval(f"lambda I: {self.end(_Text())}")
        self.open = _kernel(f"open_{kind.__name__}", f"Views of {kind.__name__}.", kind, self._views)

    def opening(self, part: Any) -> Any:
        """A kernel that opens a part of it: the tables of the names that a named tuple has."""

        def views(how: Any) -> Views:
            places = self._places(how)
            return [(1, *places[name][:2]) for name in part._fields]

        return _kernel(f"open_{part.__name__}", f"Views of {part.__name__}.", part, views)

    def _views(self, arithmetic: Any) -> Views:
        """For every field the array that it lies in (1: scratch), where it begins, and its sides."""
        return [(1, at, sides) for at, sides, _ in self._places(arithmetic).values()]

    def _places(self, how: Any) -> dict[str, tuple[Any, tuple[Any, ...], Any]]:
        """Where each table begins, its sides, and where it ends."""
        sum_of, out, end = _Sum(self.layout.contents, self.sizes, how), {}, how.constant(0)
        for name, (sides, over) in self.tables.items():
            shape = tuple(map(sum_of, sides))
            at, size = out[over][0] if over else end, shape[0]
            for side in shape[1:]:
                size = how.binary(ast.Mult, size, side)
            behind = how.binary(ast.Add, at, size)
            if CHECKED:
                behind = how.binary(ast.Add, behind, how.constant(1))
            out[name] = at, shape, behind
            end = how.choose(True, end, behind) if over else behind
        return out

    def end(self, how: Any) -> Any:
        """Where all of it ends: behind the last table, unless one that lies over another ends later."""
        last = how.constant(0)
        for (_, over), (*_, behind) in zip(self.tables.values(), self._places(how).values(), strict=True):
            last = how.choose(True, last, behind) if over else behind
        return last

    def size(self, I: Any) -> int:
        """How many numbers it takes."""
        return int(self._size(I))

    def size_for(self, counts: Mapping[str, int]) -> int:
        """How many numbers it takes for a pack of these counts, before there is one."""
        contents = np.zeros(self.layout.header, dtype=np.int64)
        for name, number in counts.items():
            contents[self.layout.contents[name]] = number
        return self.size(contents)

    def fresh(self, I: Any) -> np.ndarray:
        """Memory for it, all zeros but for the guards."""
        memory = np.zeros(self.size(I))
        self.guard(I, memory)
        return memory

    def guard(self, I: Any, memory: np.ndarray) -> None:
        """Put the guards of a checked run where they belong."""
        for at in self._guards(I):
            memory[at] = GUARD_NUMBER

    def intact(self, I: Any, memory: np.ndarray) -> bool:
        """Whether all guards stand as they were put."""
        return all(memory[at] == GUARD_NUMBER for at in self._guards(I))

    def _guards(self, I: Any) -> list[int]:
        if not CHECKED:
            return []
        places = self._places(_Text())
        shared = {name for name, (_, over) in self.tables.items() if over} | {t.over for t in self.tables.values()}
        return [eval(behind, {"I": I}) - 1 for name, (_, _, behind) in places.items() if name not in shared]


def opener(kind: Any, layout: Layout, **other: str) -> Any:
    """A kernel ``open(I, F)`` that makes a named tuple of views: each field is the table, or the count, of its name.

    What is called otherwise in the layout is told: ``opener(Limits, PROBLEM, mobility="MOBILITY")``.
    """
    tables: dict[str, Table] = {table.name: table for table in (*layout.ints, *layout.floats)}

    def views(how: Any) -> Views:
        out: Views = []
        for field in kind._fields:
            name: str = other.get(field, field if field in tables else str(field).upper())
            if name not in tables:
                out.append((-1, how.count(layout.contents[name]), ()))
                continue
            table = tables[name]
            sides = [
                how.constant(side) if isinstance(side, int) else how.count(layout.contents[side])
                for side in table.shape
            ]
            if table.more:
                size = sides[0]
                for side in sides[1:]:
                    size = how.binary(ast.Mult, size, side)
                sides = [how.binary(ast.Add, size, how.constant(table.more))]
            array = 0 if table in layout.ints else 1
            out.append((array, how.count(layout.contents[f"AT_{name}"]), tuple(sides)))
        return out

    return _kernel(f"open_{kind.__name__}", f"Views of {kind.__name__} in a pack.", kind, views)


def _kernel(name: str, text: str, kind: Any, views: Callable[[Any], Views]) -> Any:
    """A function ``(I, memory) -> kind`` of views, interpreted and compiled: memory is F of a pack, or scratch."""
    fields, shapes = [], []
    for array, at, sides in views(_Text()):
        shapes.append((array, len(sides)))
        where = f"({'memory' if array else 'I'}, {', '.join((at, *sides))})"
        fields.append(at if array < 0 else f"{'row' if len(sides) == 1 else 'table'}{where}")
    names: dict[str, Any] = {"row": row, "table": table, "kind": kind}
    exec(f"def {name}(I, memory):\n    {text!r}\n    return kind({', '.join(fields)})", names)
    define_views(names[name], kind, shapes, lambda *code: views(_Code(*code)))
    return names[name]
