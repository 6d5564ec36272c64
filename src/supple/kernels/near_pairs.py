"""Which of the pairs that keep clear are near in a posture, how near, and how that changes: as few distances as will do.

Three sieves, each cheaper than the next, none of which holds back a pair that is near:

1. *balls*. Every body has a ball around it, and its centre is placed once, however many pairs it is in. Pairs whose balls are
   farther apart than asked for are far;
2. *the last direction*. Two convex bodies are at least as far apart as they are along any direction. The one in which a pair
   was nearest when it was last looked at, kept as its reference sees it, still says so mostly, for two corners (`pair_gap`).
   Nothing is lost where it does not: a stale direction gives a bound that is true and of no use;
3. the distance itself (`clearance`, `hulls`), which is given up as soon as the pair is known to be far.

What is found is what would be found without the first two, to the last bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from supple.kernels.compiling import leaf, row, stage
from supple.kernels.jacobian import fill_block, locate
from supple.kernels.layouts import BLOCK, NO_ROW, PLAIN, PROBLEM, REFERENCE_ROW, RESIDUAL_AT, ROUTE
from supple.kernels.observe import observe, outward
from supple.kernels.opening import Scratch, of
from supple.kernels.tables import EVALUATION, open_evaluation, open_routes, open_tasks
from supple.kernels.terms.clear import KEEP, REACH, pair_gap
from supple.kernels.terms.covectors import point_row
from supple.kernels.tree import open_tree

CARRIED_BY, CENTRE_AT = range(2)  # of a body: the row that carries it or `NO_ROW`, and where its centre is in F
THE_TERM, THE_ONE, THE_OTHER = range(3)  # of a pair: its term and its bodies


class NearScratch(NamedTuple):
    """What is found of near pairs, the first so many rows of each table."""

    evaluation: Any = of(EVALUATION)
    centre: Any = of("2 * TERMS", 3)
    found: Any = of(1)  # how many
    which: Any = of("TERMS")  # the pair
    slack: Any = of("TERMS")  # how much more than its margin it has [m]
    slope: Any = of("TERMS", "COORDINATES")  # of that
    least: Any = of("TERMS")  # of every pair: the slack that it must not fall below
    x: Any = of("COORDINATES")
    lower: Any = of("COORDINATES")
    upper: Any = of("COORDINATES")
    out: Any = of("COORDINATES")
    origin: Any = of("COORDINATES")
    b: Any = of("TERMS")
    A: Any = of("TERMS", "COORDINATES")


NEAR_SCRATCH = Scratch(NearScratch, PROBLEM)
open_near = NEAR_SCRATCH.open


@leaf
def find_centres(F: Any, bodies: Any, W: Any, centre: Any) -> None:
    """Where the centres of the balls around bodies are, in the world."""
    for k in range(bodies.shape[0]):
        r, at = bodies[k, CARRIED_BY], bodies[k, CENTRE_AT]
        for i in range(3):
            centre[k, i] = F[at + i]
            if r != NO_ROW:
                turned = W[r, 3 * i] * F[at] + W[r, 3 * i + 1] * F[at + 1] + W[r, 3 * i + 2] * F[at + 2]
                centre[k, i] = W[r, 9 + i] + turned


@leaf
def balls_apart(centre: Any, pair: Any, reach: float) -> bool:
    """Whether the balls around a pair are farther apart than they reach."""
    a, b = pair[THE_ONE], pair[THE_OTHER]
    x, y, z = centre[a, 0] - centre[b, 0], centre[a, 1] - centre[b, 1], centre[a, 2] - centre[b, 2]
    return x * x + y * y + z * z > reach * reach


@leaf
def slack_of(tree: Any, tasks: Any, k: int, enough: float, scratch: Any) -> float:
    """By how much more than its margin pair k is apart [m]; where that is above `enough`, something else that is above it."""
    observe(tree, tasks, k, scratch)
    A, axis = tasks.number[k], scratch.axes[tasks.term[k, RESIDUAL_AT] // BLOCK]
    return pair_gap(scratch.seen, tasks.solid, tasks.term[k], A, A[KEEP] + enough, axis, scratch.mixed) - A[KEEP]


@leaf
def write_slope(I: Any, tree: Any, tasks: Any, routes: Any, k: int, scratch: Any, slope: Any) -> None:
    """How the distance of pair k, which was looked at last, changes with every coordinate."""
    R, M, a = scratch.rows, scratch.mixed, tasks.term[k, RESIDUAL_AT]
    for r in range(a, a + BLOCK):
        for i in range(6):
            R[r, i] = 0.0
    point_row(row(M, 3, 3), M[0], M[1], M[2], R, a)
    if tasks.term[k, REFERENCE_ROW] != NO_ROW:
        outward(row(scratch.seen, 12, 12), R, a)
    fill_block(tree, tasks, routes, k, scratch, scratch.columns, 0, I[PLAIN] == 1)
    for i in range(slope.shape[0]):
        slope[i] = 0.0
    first = routes.begin[tasks.term[k, ROUTE]]
    for c in range(routes.begin[tasks.term[k, ROUTE] + 1] - first):
        slope[routes.column[first + c]] = scratch.columns[c, 0]


@stage
def find_near(I: Any, F: Any, memory: Any, q: Any, bodies: Any, pairs: Any, influence: float) -> int:
    """How many pairs are less than `influence` beyond their margins: which, their slacks and slopes; and the least slacks."""
    near = open_near(I, memory)
    tree = open_tree(I, F)
    tasks = open_tasks(I, F)
    routes = open_routes(I, F)
    scratch = open_evaluation(I, near.evaluation)
    locate(I, F, near.evaluation, q)
    find_centres(F, bodies, scratch.world, near.centre)
    count = 0
    for p in range(pairs.shape[0]):
        k = pairs[p, THE_TERM]
        near.least[p] = 0.0
        if balls_apart(near.centre, pairs[p], tasks.number[k, REACH] + influence):
            continue
        slack = slack_of(tree, tasks, k, influence, scratch)
        if slack < influence:
            near.which[count], near.slack[count], near.least[p] = p, slack, min(slack, 0.0)
            write_slope(I, tree, tasks, routes, k, scratch, near.slope[count])
            count += 1
    near.found[0] = count
    return count


@stage
def none_nearer(I: Any, F: Any, memory: Any, q: Any, bodies: Any, pairs: Any, tolerated: float) -> bool:
    """Whether in q every pair has the least slack that was found for it last, but for what is tolerated."""
    near = open_near(I, memory)
    tree = open_tree(I, F)
    tasks = open_tasks(I, F)
    scratch = open_evaluation(I, near.evaluation)
    locate(I, F, near.evaluation, q)
    find_centres(F, bodies, scratch.world, near.centre)
    for p in range(pairs.shape[0]):
        k = pairs[p, THE_TERM]
        if balls_apart(near.centre, pairs[p], tasks.number[k, REACH]):
            continue
        if not slack_of(tree, tasks, k, 0.0, scratch) >= near.least[p] - tolerated:
            return False
    return True
