"""Are answers that keep clear clear? Judged by coal on the meshes themselves, beside the times that it takes.

Run ``python benchmarks/collisions.py [--parts truth,rest,boxes,steps] [--answers N] [--apart] [--json FILE]``.
``SUPPLE_ROBOTS`` names the folder with the robots of example-robot-data (its wheel from PyPI, unpacked, has it in ``share``;
none is committed).

* *truth*: on twelve robots with meshes, random targets among random boxes, clear of the boxes and of itself. Of every answer
  that says so, coal tells the distance of the convex hulls of the original meshes, or, where these meet, whether the meshes do;
  for pairs kept apart, and for obstacles. Contacts of pairs that are not kept apart are told beside.
* *rest*: pairs of links that we say touch at rest although the meshes do not.
* *boxes* and *steps*: see `collisions_boxes` and `collisions_steps`.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

import supple
from collisions_oracle import Links, transform

ROBOTS = {
    "panda": "panda_description/urdf/panda.urdf",
    "xarm7": "xarm_description/urdf/xarm7.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "ur10": "ur_description/urdf/ur10_robot.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
    "so101": "so_arm_description/urdf/so101.urdf",
    "go2": "go2_description/urdf/go2.urdf",
    "solo12": "solo_description/robots/solo12.urdf",
    "icub": "icub_description/robots/icub_reduced.urdf",
    "romeo": "romeo_description/urdf/romeo_small.urdf",
    "baxter": "baxter_description/urdf/baxter.urdf",
    "alex": "alex_description/urdf/alex_nub_hands.urdf",
}
AT_REST = {
    "laikago": "laikago_description/urdf/laikago.urdf",
    "anymal b": "anymal_b_simple_description/robots/anymal.urdf",
    "anymal c": "anymal_c_simple_description/urdf/anymal.urdf",
    "go1": "go1_description/urdf/go1.urdf",
    "allegro": "allegro_hand_description/urdf/allegro_left_hand.urdf",
    "a1": "a1_description/urdf/a1.urdf",
    **ROBOTS,
}
APART: list[bool] = []  # whether links are taken apart
ROUNDING = 1e-6  # [m] below which an overlap is none
TOLERANCE = 1e-4  # [m] by which a task may be missed, keeping clear too


def robots_folder() -> Path:
    """Where the robots are."""
    given = os.environ.get("SUPPLE_ROBOTS", "")
    if not given or not Path(given).is_dir():
        raise SystemExit("SUPPLE_ROBOTS must name the folder of example-robot-data that has `robots` in it")
    return Path(given)


def opened(name: str) -> tuple[Any, Links]:
    """A figure and the links of its file."""
    home = robots_folder()
    path, folders = home / "robots" / {**AT_REST, **ROBOTS}[name], [home.parent, home / "robots"]
    figure, links = supple.load(path, folders=folders), Links(path, folders)
    if APART:  # what touches always, or falsely at rest
        X = figure.placements(figure.rest)
        false = [pair for pair in figure.touching() if links.distance(pair, X) > 0.0]
        taken = dict.fromkeys(link for pair in (*figure.left_out()["always"], *false) for link in pair)
        figure = supple.load(path, folders=folders, decompose=[*taken], accuracy=0.002) if taken else figure
        print(name, {link: len(figure.bars[link]) for link in taken}, flush=True)
    return figure, links


# ── truth ────────────────────────────────────────────────────────────────────────────────────────────────────────────
def random_postures(figure: Any, count: int, random: np.random.Generator) -> np.ndarray:
    """Postures out of the whole range, half a turn about rest where it has no end."""
    lower = np.where(np.isfinite(figure.lower), figure.lower, figure.rest - np.pi)
    upper = np.where(np.isfinite(figure.upper), figure.upper, figure.rest + np.pi)
    return random.uniform(lower, upper, (count, figure.size))


def boxes_about(figure: Any, random: np.random.Generator, count: int = 3) -> dict[str, Any]:
    """Boxes within reach that do not touch the figure at rest."""
    frames = figure.placements(figure.rest)
    reach = max(float(np.linalg.norm(T[:3, 3] - frames[figure.segments[0]][:3, 3])) for T in frames.values())
    out: dict[str, Any] = {}
    while len(out) < count:
        half = random.uniform(0.05, 0.2, 3) * reach
        centre = frames[figure.segments[0]][:3, 3] + random.uniform(-1.0, 1.0, 3) * reach
        turned = supple.place(centre, rpy=random.uniform(-np.pi, np.pi, 3))
        box = supple.Box(-half, half, turned)
        grown = {"box": supple.Box(-half - 0.1 * reach, half + 0.1 * reach, turned)}
        clear = supple.Clearance(uncovered="ignore")
        if (
            max(
                miss.metres for miss in supple.Problem(figure, [], obstacles=grown, clearance=clear).misses(figure.rest)
            )
            == 0.0
        ):
            out[f"box {len(out)}"] = box
    return out


def truth(name: str, count: int) -> dict[str, Any]:
    """What coal says of answers that keep clear."""
    random = np.random.default_rng(0)
    figure, links = opened(name)
    obstacles = boxes_about(figure, random)
    frames = figure.placements(figure.rest)
    tip = max(figure.segments, key=lambda s: len(figure.chain(None, s)))
    task = supple.Task(tip, supple.At(frames[tip][:3, 3]), tolerance=TOLERANCE)
    clear = supple.Clearance(itself=True, uncovered="ignore")
    problem = supple.Problem(figure, [task], obstacles=obstacles, clearance=clear)
    kept = {frozenset(pair) for pair in figure.colliding_pairs()}
    row = {
        "robot": name,
        "asked": 0,
        "clear": 0,
        "touching": 0,
        "deepest": 0.0,
        "in boxes": 0,
        "not kept": 0,
        "seconds": 0.0,
    }
    always = _always(figure, links, random)
    while row["clear"] < count and row["asked"] < 20 * count:
        postures = random_postures(figure, 64, random)
        aims = np.array([figure.placements(q)[tip][:3, 3] for q in postures])
        began = time.process_time()
        found = supple.solve_many(problem, aims, start=random_postures(figure, 64, random), threads=1)
        row["seconds"] += time.process_time() - began if row["asked"] else 0.0  # the first bring what is compiled
        row["asked"] += 64
        for q in found.q[found.ok][: count - row["clear"]]:
            _judge(figure, links, np.asarray(q), obstacles, (kept, always), row)
            row["clear"] += 1
    row["ms"] = 1e3 * row["seconds"] / max(row["asked"] - 64, 1)
    return row


def _always(figure: Any, links: Links, random: np.random.Generator) -> set[frozenset[str]]:
    """Pairs whose meshes touch in each of 20 random postures, or that are next to each other: parts that overlap by design."""
    joined = {frozenset(pair) for pair in figure.joined_pairs()}
    seen = [figure.placements(q) for q in random_postures(figure, 20, random)]
    return joined | {frozenset(p) for p in links.pairs() if all(links.distance(p, X) < 0.0 for X in seen)}


def _judge(figure: Any, links: Links, q: np.ndarray, obstacles: Any, known: Any, row: dict[str, Any]) -> None:
    """Look at one answer."""
    X, (kept, always) = figure.placements(q), known
    for pair in links.pairs():
        apart = links.distance(pair, X, hulls=True)
        if frozenset(pair) in kept:
            row["deepest"] = min(row["deepest"], apart)
            row["touching"] += apart < -TOLERANCE - ROUNDING and links.distance(pair, X) < 0.0
        elif apart < -ROUNDING and frozenset(pair) not in always and links.distance(pair, X) < 0.0:
            row["not kept"] += 1
    for box in obstacles.values():
        size = np.subtract(box.upper, box.lower) - 2 * TOLERANCE
        solid, at = _box(size), transform(box.at)
        movable = [name for name in links.links if figure.chain(None, name)]
        row["in boxes"] += any(links.to_box(name, X, solid, at) < 0.0 for name in movable)


def _box(size: np.ndarray) -> Any:
    import coal

    return coal.Box(*size.tolist())


# ── rest ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
def at_rest(name: str) -> dict[str, Any]:
    """The pairs that we say touch at rest, and those of them whose meshes do not."""
    figure, links = opened(name)
    X, kept = figure.placements(figure.rest), set(figure.colliding_pairs())
    touching = figure.touching()
    false = [pair for pair in touching if links.distance(pair, X) > 0.0]
    return {
        "robot": name, "pairs": len(links.pairs()), "kept apart": len(kept), "touching": len(touching),
        "falsely": len(false), "falsely, kept apart": sum(pair in kept for pair in false),
        "which": [f"{a} and {b}, {links.distance((a, b), X):.3f} m apart" for a, b in false],
    }  # fmt: skip


def table(rows: list[dict[str, Any]], title: str) -> None:
    """Print rows under the names of their columns."""
    print(f"\n{title}")
    columns = [key for key in rows[0] if key not in ("which", "notes")]
    cells = [
        [f"{row.get(c, ''):.3g}" if isinstance(row.get(c), float) else str(row.get(c, "")) for c in columns]
        for row in rows
    ]
    widths = [max(len(c), *(len(line[k]) for line in cells)) for k, c in enumerate(columns)]
    for line in (columns, *cells):
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)), flush=True)
    for row in rows:
        for note in (*row.get("which", ()), *row.get("notes", ())):
            print(f"  {row[columns[0]]}: {note}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", default="truth,rest,boxes,steps")
    parser.add_argument("--answers", type=int, default=10_000, help="of all robots together")
    parser.add_argument("--robots", default=",".join(ROBOTS))
    parser.add_argument("--poses", type=int, default=200)
    parser.add_argument(
        "--apart", action="store_true", help="take apart what touches always, or falsely at rest (coacd)"
    )
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    APART[:] = [True] if given.apart else []
    parts, out = given.parts.split(","), {}
    names = given.robots.split(",")
    if "truth" in parts:
        out["truth"] = []
        for name in names:
            out["truth"].append(truth(name, -(-given.answers // len(names))))
            print(out["truth"][-1], flush=True)
        table(out["truth"], "answers that keep clear, as coal sees the meshes")
    if "rest" in parts:
        out["rest"] = [at_rest(name) for name in (AT_REST if names == [*ROBOTS] else names)]
        table(out["rest"], "contacts at rest")
    if "boxes" in parts:
        from collisions_boxes import among_boxes

        out["boxes"] = among_boxes(robots_folder(), given.poses)
        table(out["boxes"], "a Panda with meshes among boxes")
    if "steps" in parts:
        from collisions_steps import steps

        out["steps"] = steps(robots_folder())
        table(out["steps"], "steps of a G1 among obstacles")
    if given.json:
        given.json.write_text(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
