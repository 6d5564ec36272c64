"""Certificates as JSON (specified in `checker`): strict, and bounded before anything is computed.

Objects have exactly the fields of the format, none twice. Numbers are finite, with at most 32 characters and no larger than
1e50; there is neither true nor false. The tree of boxes is a list, each cut followed by what lies below and then by what
lies above it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from supple.errors import BadFile, BadValue
from supple.geometry.shapes import Ball, Box, Capsule, Cylinder, Hull, Polytope
from supple.proofs.checker.proof import Crash, Leaf, Proof, Pull, Split
from supple.proofs.checker.statement import KINDS, Bar, Follow, Link, Pair, Solid, Statement, Wish
from supple.proofs.checker.strict_json import (
    MOST_FACES,
    WIDEST,
    array_of,
    fields_of,
    float_of,
    index_of,
    list_of,
    maybe_text,
    no_number,
    number_in,
    once,
    text_of,
    whole_in,
)

FORMAT = "supple certificate 2"
MOST_BYTES = 200_000_000
MOST_LINKS, MOST_ENTRIES, MOST_PAIRS = 10_000, 100, 10_000
MOST_NODES, DEEPEST = 200_001, 200


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
            text, object_pairs_hook=once, parse_int=whole_in, parse_float=number_in, parse_constant=no_number
        )
        if not isinstance(data, dict) or data.get("format") != form:
            raise BadValue(f"it does not begin with the format {form!r}")
        return _statement(data), proof(data["proof"])
    except BadFile:
        raise
    except (BadValue, KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
        raise BadFile(f"this is no certificate: {str(error)[:300]}") from error


# ── the statement ────────────────────────────────────────────────────────────────────────────────────────────────────
def _statement(data: dict[str, Any]) -> Statement:
    _, figure, links, entries, margin, tolerance, pairs, _ = fields_of(
        data, "format", "figure", "joints", "entries", "margin", "tolerance", "pairs", "proof"
    )
    return Statement(
        text_of(figure),
        tuple(_read_link(x) for x in list_of(links, MOST_LINKS, "the joints")),
        tuple(_read_entry(x) for x in list_of(entries, MOST_ENTRIES, "the entries")),
        tuple(_read_pair(x) for x in list_of(pairs, MOST_PAIRS, "the pairs")),
        float_of(margin),
        float_of(tolerance),
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
    low, high = -np.inf if lower is None else float_of(lower), np.inf if upper is None else float_of(upper)
    return Link(
        text_of(name), maybe_text(segment), maybe_text(parent), array_of(at, 4, 4), (a, b, c), (x, y, z), low, high
    )


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
    places = array_of(frame, 4, 4), maybe_text(seen_from), array_of(target, 4, 4)
    return Wish(kind, text_of(segment), *places, float_of(tolerance), float_of(angle))


def _bar(bar: Bar) -> dict[str, Any]:
    return {"segment": bar.segment, "number": bar.number, "shape": numbers_of(bar.shape)}


def _read_bar(data: Any) -> Bar:
    segment, number, shape = fields_of(data, "segment", "number", "shape")
    return Bar(maybe_text(segment), text_of(number) if segment is None else index_of(number), _read_shape(shape))


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
        shape: Solid = Ball(array_of(centre, 3), float_of(radius))  # pyright: ignore[reportArgumentType]
    elif kind == "capsule":
        _, radius, length, at = fields_of(data, "kind", "radius", "length", "at")
        shape = Capsule(float_of(radius), float_of(length), array_of(at, 4, 4))
    elif kind == "box":
        _, lower, upper, at = fields_of(data, "kind", "lower", "upper", "at")
        shape = Box(array_of(lower, 3), array_of(upper, 3), array_of(at, 4, 4))  # pyright: ignore[reportArgumentType]
    elif kind == "polytope":
        _, A, b = fields_of(data, "kind", "A", "b")
        count = len(list_of(A, MOST_FACES, "the faces"))
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
    if isinstance(node, Pull):
        pulled = {"entries": list(node.entries), "forces": node.forces.tolist(), "turns": node.turns.tolist()}
        return {**pulled, **{k: [M.tolist() for M in getattr(node, k)] for k in ("forms", "limits", "skews")}}
    names = ("symmetric", "kernel", "facial", "linear")
    matrices = {name: getattr(node, name).tolist() for name in names}
    return {"claim": node.claim, "start": node.start, "grams": [g.tolist() for g in node.grams], **matrices}


def _tree(data: Any) -> Proof:
    """The tree in a list, put together from its end."""
    done: list[tuple[Proof, int]] = []
    for node in list_of(data, MOST_NODES, "the boxes")[::-1]:
        if "joint" not in node:
            done.append((_read_end(node), 0))
            continue
        joint, at = fields_of(node, "joint", "at")
        (below, one), (above, two) = done.pop(), done.pop()
        depth = 1 + max(one, two)
        if depth > DEEPEST:
            raise BadValue(f"more than {DEEPEST} cuts lead to one box")
        done.append((Split(index_of(joint), float_of(at), below, above), depth))
    if len(done) != 1:
        raise BadValue("its boxes are not one tree")
    return done[0][0]


def _read_end(data: Any) -> Proof:
    return _read_crash(data) if "pair" in data else _read_pull(data) if "forces" in data else _read_leaf(data)


def _read_crash(data: Any) -> Crash:
    pair, given, along, near = fields_of(data, "pair", "given", "along", "near")
    return Crash(index_of(pair), index_of(given), float_of(along), None if near is None else array_of(near, 3))


def _read_pull(data: Any) -> Pull:
    entries, forces, turns, *joints = fields_of(data, "entries", "forces", "turns", "forms", "limits", "skews")
    pulled = tuple(index_of(k) for k in list_of(entries, MOST_ENTRIES, "the entries that are pulled"))
    rows = [array_of(row, 3) for row in list_of(forces, MOST_ENTRIES, "the forces of a pull")]
    N = [array_of(M, 3, 3) for M in list_of(turns, MOST_ENTRIES, "the turns of a pull")]
    forms, limits, skews = (list_of(M, MOST_LINKS, "the matrices of a pull") for M in joints)
    F, S = (tuple(array_of(M, 4, 4) for M in own) for own in (forms, skews))
    G = tuple(array_of(M, 4, -1) for M in limits)
    return Pull(pulled, np.array(rows).reshape(-1, 3), np.array(N).reshape(-1, 3, 3), F, G, S)


def _read_leaf(data: Any) -> Leaf:
    claim, start, grams, *others = fields_of(data, "claim", "start", "grams", "symmetric", "kernel", "facial", "linear")
    blocks = tuple(array_of(G, -1, -1) for G in list_of(grams, WIDEST, "the matrices of a box"))
    symmetric, kernel, facial = (array_of(M, -1, -1) for M in others[:3])
    return Leaf(index_of(claim), index_of(start), blocks, symmetric, kernel, facial, array_of(others[3], -1))
