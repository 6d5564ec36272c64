"""Certificates as JSON. Infinite limits are null; a tree of boxes is nested."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from supple.deciding.certificate import Certificate
from supple.deciding.chain import Chain, Way
from supple.deciding.claims import Claim
from supple.deciding.crashes import Pairing
from supple.deciding.proof import Crash, Leaf, Proof, Split
from supple.errors import BadFile, BadValue
from supple.space import Floats, frozen

FORMAT = "supple certificate 1"
DEEPEST = 200


def written(certificate: Certificate) -> str:
    """The certificate as text."""
    data = {
        "format": FORMAT,
        "joints": list(certificate.names),
        "lower": certificate.lower.tolist(),
        "upper": certificate.upper.tolist(),
        "claims": [_claim(c) for c in certificate.claims],
        "pairings": [_pairing(p) for p in certificate.pairings],
        "proof": _plain(certificate.proof),
    }
    return json.dumps(data)


def read(text: str) -> Certificate:
    """The certificate in a text."""
    try:
        data = json.loads(text)
        if data["format"] != FORMAT:
            raise BadFile(f"this is no {FORMAT!r} but {data['format']!r}")
        names = tuple(str(name) for name in data["joints"])
        n = len(names)
        return Certificate(
            names,
            _array(data["lower"], (n,)),
            _array(data["upper"], (n,)),
            tuple(_read_claim(c) for c in data["claims"]),
            tuple(_read_pairing(p) for p in data["pairings"]),
            _node(data["proof"], 0),
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
        raise BadFile(f"this is no certificate: {error}") from error


def _chain(c: Chain) -> dict[str, Any]:
    return {
        "joints": list(c.names),
        "before": c.before.tolist(),
        "behind": c.behind.tolist(),
        "signs": c.signs.tolist(),
        "slides": c.slides.tolist(),
        "lower": [float(x) if np.isfinite(x) else None for x in c.lower],
        "upper": [float(x) if np.isfinite(x) else None for x in c.upper],
    }


def _read_chain(data: dict[str, Any]) -> Chain:
    n = len(data["joints"])
    slides = np.array(data["slides"], dtype=bool)
    if slides.shape != (n,):
        raise BadValue("whether joints slide is not said of each")
    return Chain(
        tuple(str(name) for name in data["joints"]),
        _array(data["before"], (n, 4, 4)) if n else np.empty((0, 4, 4)),
        _array(data["behind"], (4, 4)),
        _limits(data["lower"], n, -np.inf),
        _limits(data["upper"], n, np.inf),
        _array(data["signs"], (n,)),
        slides,
    )


def _way(w: Way) -> dict[str, Any]:
    led = None if w.led is None else w.led.tolist()
    seen = {"segment": w.segment, "frame": w.frame.tolist(), "seen_from": w.seen_from}
    return {**seen, "led": led, "turning": w.turning}


def _read_way(data: dict[str, Any]) -> Way:
    led, seen_from = data["led"], data["seen_from"]
    return Way(
        str(data["segment"]),
        _array(data["frame"], (4, 4)),
        None if seen_from is None else str(seen_from),
        None if led is None else _array(led, (4, 4)),
        str(data["turning"]),
    )


def _claim(c: Claim) -> dict[str, Any]:
    return {
        "way": _way(c.way),
        "point": c.point,
        "target": c.target.tolist(),
        "tolerance": c.tolerance,
        "angle_tolerance": c.angle_tolerance,
        "chain": _chain(c.chain),
    }


def _read_claim(data: dict[str, Any]) -> Claim:
    target, tolerances = _array(data["target"], (4, 4)), (float(data["tolerance"]), float(data["angle_tolerance"]))
    return Claim(_read_chain(data["chain"]), target, *tolerances, data["point"] is True, _read_way(data["way"]))


def _pairing(p: Pairing) -> dict[str, Any]:
    return {
        "about": p.about,
        "given": p.given,
        "way": _way(p.way),
        "half": p.half,
        "keep": p.keep,
        "faces": p.faces.tolist(),
        "line": p.line.tolist(),
        "radius": p.radius,
        "chain": _chain(p.chain),
    }


def _read_pairing(data: dict[str, Any]) -> Pairing:
    faces = data["faces"]
    numbers = [_array(data[name], ()) for name in ("half", "keep", "radius")]
    half, keep, radius = (float(x) for x in numbers)
    return Pairing(
        _read_chain(data["chain"]), half, keep, _array(faces, (len(faces), 4)) if faces else np.empty((0, 4)),
        _array(data["line"], (7,)), radius, _read_way(data["way"]), int(data["given"]), str(data["about"]),
    )  # fmt: skip


def _plain(node: Proof) -> dict[str, Any]:
    if isinstance(node, Split):
        return {"joint": node.joint, "at": node.at, "below": _plain(node.below), "above": _plain(node.above)}
    if isinstance(node, Crash):
        near = None if node.near is None else node.near.tolist()
        return {"pair": node.pair, "point": node.point.tolist(), "near": near}
    return {
        "claim": node.claim,
        "start": node.start,
        "grams": [g.tolist() for g in node.grams],
        "symmetric": node.symmetric.tolist(),
        "kernel": node.kernel.tolist(),
        "facial": node.facial.tolist(),
        "linear": node.linear.tolist(),
    }


def _node(data: dict[str, Any], depth: int) -> Proof:
    if depth > DEEPEST:
        raise BadValue("its tree is too deep")
    if "joint" in data:
        below, above = (_node(data[side], depth + 1) for side in ("below", "above"))
        return Split(int(data["joint"]), float(data["at"]), below, above)
    if "pair" in data:
        near = data["near"]
        point = _array(data["point"], (3,))
        return Crash(int(data["pair"]), point, None if near is None else _array(near, (3,)))
    kernel, facial = data["kernel"], data["facial"]
    rows, width = len(kernel), len(facial[0]) if facial else 0
    return Leaf(
        int(data["claim"]),
        int(data["start"]),
        tuple(_array(g, (len(g), len(g[0]))) for g in data["grams"]),
        _array(data["symmetric"], (8, 8)) if data["symmetric"] else np.empty((0, 8)),
        _array(kernel, (rows, 8)) if kernel else np.empty((0, 8)),
        _array(facial, (rows, width)) if facial else np.empty((0, 0)),
        _array(data["linear"], (len(data["linear"]),)),
    )


def _limits(values: list[float | None], n: int, open_end: float) -> Floats:
    return _array([open_end if x is None else x for x in values], (n,), finite=False)


def _array(values: Any, shape: tuple[int, ...], finite: bool = True) -> Floats:
    array = frozen(values)
    if array.shape != shape or (finite and not np.isfinite(array).all()) or np.isnan(array).any():
        raise BadValue(f"an array of shape {shape} is not one, or not finite")
    return array
