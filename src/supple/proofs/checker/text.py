"""Certificates as JSON (specified in `checker`): strict, and bounded before anything is computed.

Objects have exactly the fields of the format, none twice. Numbers are finite, with at most 32 characters and no larger than
1e50; there is neither true nor false. The tree of boxes is a list, each cut followed by what lies below and then by what
lies above it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from supple.errors import BadFile, BadValue
from supple.geometry.placements import Floats, frozen
from supple.geometry.shapes import Ball, Box, Capsule, Cylinder, Hull, Polytope
from supple.proofs.checker.balls import LARGEST
from supple.proofs.checker.proof import Crash, Leaf, Proof, Split
from supple.proofs.checker.statement import KINDS, Bar, Follow, Link, Pair, Solid, Statement, Wish

FORMAT = "supple certificate 2"
MOST_BYTES = 200_000_000
MOST_LINKS, MOST_ENTRIES, MOST_PAIRS, MOST_FACES = 10_000, 100, 10_000, 500
MOST_NODES, DEEPEST = 200_001, 200
LONGEST_NAME, LONGEST_NUMBER = 1000, 32
WIDEST = 32  # rows and columns of a matrix


def written(statement: Statement, proof: Proof) -> str:
    """A statement and its proof as text."""
    return written_as(FORMAT, statement, [_node(node) for node in _in_order(proof)])


def written_as(form: str, statement: Statement, proof: Any) -> str:
    """A statement and a proof of some form as text."""
    data = {
        "format": form,
        "figure": statement.figure,
        "joints": [_link(link) for link in statement.links],
        "entries": [_entry(entry) for entry in statement.entries],
        "margin": float(statement.margin),
        "tolerance": float(statement.tolerance),
        "pairs": [{"bar": _bar(pair.bar), "other": _bar(pair.other)} for pair in statement.pairs],
        "proof": proof,
    }
    return json.dumps(data, allow_nan=False)


def read(text: str) -> tuple[Statement, Proof]:
    """The statement in a text, and its proof, which may be none."""
    return read_as(FORMAT, text, _tree)


def read_as(form: str, text: str, proof: Callable[[Any], Any]) -> tuple[Statement, Any]:
    """The statement in a text of some form, and what a function makes of its proof."""
    if not isinstance(text, str) or len(text) > MOST_BYTES:
        raise BadFile(f"a certificate is a text of no more than {MOST_BYTES} characters")
    try:
        data = json.loads(
            text, object_pairs_hook=_once, parse_int=_whole, parse_float=_number, parse_constant=_no_number
        )
        if not isinstance(data, dict) or data.get("format") != form:
            raise BadValue(f"it does not begin with the format {form!r}")
        return _statement(data), proof(data["proof"])
    except BadFile:
        raise
    except (BadValue, KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
        raise BadFile(f"this is no certificate: {str(error)[:300]}") from error


# ── what a text may hold ─────────────────────────────────────────────────────────────────────────────────────────────
def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise BadValue("an object names one field twice")
    return data


def _whole(text: str) -> int:
    if len(text) > LONGEST_NUMBER:
        raise BadValue(f"a number has more than {LONGEST_NUMBER} characters")
    return int(text)


def _number(text: str) -> float:
    value = float(text) if len(text) <= LONGEST_NUMBER else math.nan
    if not abs(value) <= LARGEST:
        raise BadValue(f"a number is larger than {LARGEST:g}, or has more than {LONGEST_NUMBER} characters")
    return value


def _no_number(text: str) -> float:
    raise BadValue(f"{text} is no number")


def fields_of(data: Any, *names: str) -> list[Any]:
    """The fields of an object, which must be exactly these."""
    if type(data) is not dict or set(data) != set(names):
        raise BadValue(f"an object has other fields than {', '.join(names)}")
    return [data[name] for name in names]


def _list(data: Any, most: int, what: str) -> list[Any]:
    if type(data) is not list or len(data) > most:
        raise BadValue(f"{what} must be a list of no more than {most}")
    return data


def _text(data: Any) -> str:
    if type(data) is not str or len(data) > LONGEST_NAME:
        raise BadValue(f"a name is a text of no more than {LONGEST_NAME} characters")
    return data


def _maybe(data: Any) -> str | None:
    return None if data is None else _text(data)


def _float(data: Any) -> float:
    if type(data) not in (int, float) or not abs(data) <= LARGEST:
        raise BadValue(f"{str(data)[:40]!r} is no number, or too large a one")
    return float(data)


def index_of(data: Any) -> int:
    """A whole number."""
    if type(data) is not int:
        raise BadValue(f"{str(data)[:40]!r} is no whole number")
    return data


def array_of(data: Any, *shape: int) -> Floats:
    """Numbers of a shape, of which −1 may be anything up to `WIDEST`."""
    rows = [data] if len(shape) == 1 else _list(data, max(shape[0], WIDEST, MOST_FACES), "a matrix")
    if not all(type(row) is list and {type(x) for x in row} <= {int, float} for row in rows):
        raise BadValue("a matrix holds something that is no number")
    array = frozen(data) if len(data) else np.empty(tuple(max(n, 0) for n in shape))
    fits = array.ndim == len(shape) and all(
        m == n or (n < 0 and m <= WIDEST) for m, n in zip(array.shape, shape, strict=True)
    )
    if not fits or not bool((np.abs(array) <= LARGEST).all()):
        raise BadValue(f"numbers are not of the shape {shape}, or too large")
    return array


# ── the statement ────────────────────────────────────────────────────────────────────────────────────────────────────
def _statement(data: dict[str, Any]) -> Statement:
    _, figure, links, entries, margin, tolerance, pairs, _ = fields_of(
        data, "format", "figure", "joints", "entries", "margin", "tolerance", "pairs", "proof"
    )
    return Statement(
        _text(figure),
        tuple(_read_link(x) for x in _list(links, MOST_LINKS, "the joints")),
        tuple(_read_entry(x) for x in _list(entries, MOST_ENTRIES, "the entries")),
        tuple(_read_pair(x) for x in _list(pairs, MOST_PAIRS, "the pairs")),
        _float(margin),
        _float(tolerance),
    )


def _link(link: Link) -> dict[str, Any]:
    lower, upper = (float(x) if np.isfinite(x) else None for x in (link.lower, link.upper))
    placed = {"name": link.name, "segment": link.segment, "parent": link.parent, "at": link.at.tolist()}
    return {**placed, "turn": list(link.turn), "slide": list(link.slide), "lower": lower, "upper": upper}


def _read_link(data: Any) -> Link:
    name, segment, parent, at, turn, slide, lower, upper = fields_of(
        data, "name", "segment", "parent", "at", "turn", "slide", "lower", "upper"
    )
    (a, b, c), (x, y, z) = (array_of(axis, 3).tolist() for axis in (turn, slide))
    low, high = -np.inf if lower is None else _float(lower), np.inf if upper is None else _float(upper)
    return Link(_text(name), _maybe(segment), _maybe(parent), array_of(at, 4, 4), (a, b, c), (x, y, z), low, high)


def _entry(entry: Wish | Follow) -> dict[str, Any]:
    if isinstance(entry, Follow):
        return {"known": entry.known, "through": entry.through}
    seen = {"kind": entry.kind, "segment": entry.segment, "frame": entry.frame.tolist(), "seen_from": entry.seen_from}
    loose = {"tolerance": float(entry.tolerance), "angle_tolerance": float(entry.angle_tolerance)}
    return {**seen, "target": entry.target.tolist(), **loose}


def _read_entry(data: Any) -> Wish | Follow:
    if "known" in data:
        return Follow(*(index_of(x) for x in fields_of(data, "known", "through")))
    names = ("kind", "segment", "frame", "seen_from", "target", "tolerance", "angle_tolerance")
    kind, segment, frame, seen_from, target, tolerance, angle = fields_of(data, *names)
    if kind not in KINDS:
        raise BadValue(f"an entry is a {' or '.join(KINDS)}, not {str(kind)[:40]!r}")
    places = array_of(frame, 4, 4), _maybe(seen_from), array_of(target, 4, 4)
    return Wish(kind, _text(segment), *places, _float(tolerance), _float(angle))


def _bar(bar: Bar) -> dict[str, Any]:
    return {"segment": bar.segment, "number": bar.number, "shape": numbers_of(bar.shape)}


def _read_bar(data: Any) -> Bar:
    segment, number, shape = fields_of(data, "segment", "number", "shape")
    return Bar(_maybe(segment), _text(number) if segment is None else index_of(number), _read_shape(shape))


def _read_pair(data: Any) -> Pair:
    return Pair(*(_read_bar(x) for x in fields_of(data, "bar", "other")))


def numbers_of(shape: Solid | Hull | Cylinder) -> dict[str, Any]:
    """A solid as names and numbers."""
    if isinstance(shape, Ball):
        return {"kind": "ball", "centre": list(shape.centre), "radius": float(shape.radius)}
    if isinstance(shape, Capsule):
        return {"kind": "capsule", "radius": shape.radius, "length": shape.length, "at": shape.at.tolist()}
    if isinstance(shape, Box):
        return {"kind": "box", "lower": list(shape.lower), "upper": list(shape.upper), "at": shape.at.tolist()}
    if isinstance(shape, Hull):  # of which proofs do not speak: it is written so that it is told from others
        return {"kind": "hull", "points": shape.points.tolist(), "radius": shape.radius}
    if isinstance(shape, Cylinder):  # likewise
        return {"kind": "cylinder", "radius": shape.radius, "length": shape.length, "at": shape.at.tolist()}
    return {"kind": "polytope", "A": shape.A.tolist(), "b": shape.b.tolist()}


def _read_shape(data: Any) -> Solid:
    kind = data["kind"]
    if kind == "ball":
        _, centre, radius = fields_of(data, "kind", "centre", "radius")
        shape: Solid = Ball(array_of(centre, 3), _float(radius))  # pyright: ignore[reportArgumentType]
    elif kind == "capsule":
        _, radius, length, at = fields_of(data, "kind", "radius", "length", "at")
        shape = Capsule(_float(radius), _float(length), array_of(at, 4, 4))
    elif kind == "box":
        _, lower, upper, at = fields_of(data, "kind", "lower", "upper", "at")
        shape = Box(array_of(lower, 3), array_of(upper, 3), array_of(at, 4, 4))  # pyright: ignore[reportArgumentType]
    elif kind == "polytope":
        _, A, b = fields_of(data, "kind", "A", "b")
        count = len(_list(A, MOST_FACES, "the faces"))
        shape = Polytope(array_of(A, count, 3), array_of(b, count))
    else:
        raise BadValue(f"a solid is a ball, a capsule, a box or a polytope, not {str(kind)[:40]!r}")
    if numbers_of(shape) != data:
        raise BadValue(f"a {kind} is none")  # it was put right: the file says something else
    return shape


# ── the proof ────────────────────────────────────────────────────────────────────────────────────────────────────────
def _in_order(proof: Proof) -> list[Proof]:
    """All nodes, each cut before what lies below it, that before what lies above."""
    out, stack = [], [proof]
    while stack:
        node = stack.pop()
        out.append(node)
        if isinstance(node, Split):
            stack += [node.above, node.below]
    return out


def _node(node: Proof) -> dict[str, Any]:
    if isinstance(node, Split):
        return {"joint": int(node.joint), "at": float(node.at)}
    if isinstance(node, Crash):
        near = None if node.near is None else node.near.tolist()
        return {"pair": node.pair, "given": node.given, "along": float(node.along), "near": near}
    names = ("symmetric", "kernel", "facial", "linear")
    matrices = {name: getattr(node, name).tolist() for name in names}
    return {"claim": node.claim, "start": node.start, "grams": [g.tolist() for g in node.grams], **matrices}


def _tree(data: Any) -> Proof:
    """The tree in a list, put together from its end."""
    done: list[tuple[Proof, int]] = []
    for node in _list(data, MOST_NODES, "the boxes")[::-1]:
        if "joint" not in node:
            done.append((_read_crash(node) if "pair" in node else _read_leaf(node), 0))
            continue
        joint, at = fields_of(node, "joint", "at")
        (below, one), (above, two) = done.pop(), done.pop()
        depth = 1 + max(one, two)
        if depth > DEEPEST:
            raise BadValue(f"more than {DEEPEST} cuts lead to one box")
        done.append((Split(index_of(joint), _float(at), below, above), depth))
    if len(done) != 1:
        raise BadValue("its boxes are not one tree")
    return done[0][0]


def _read_crash(data: Any) -> Crash:
    pair, given, along, near = fields_of(data, "pair", "given", "along", "near")
    return Crash(index_of(pair), index_of(given), _float(along), None if near is None else array_of(near, 3))


def _read_leaf(data: Any) -> Leaf:
    claim, start, grams, *others = fields_of(data, "claim", "start", "grams", "symmetric", "kernel", "facial", "linear")
    blocks = tuple(array_of(G, -1, -1) for G in _list(grams, WIDEST, "the matrices of a box"))
    symmetric, kernel, facial = (array_of(M, -1, -1) for M in others[:3])
    return Leaf(index_of(claim), index_of(start), blocks, symmetric, kernel, facial, array_of(others[3], -1))
