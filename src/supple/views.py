"""The tables of a problem, as kernels see them: views into packed arrays, laid out here and nowhere else.

Kernels that are merged into their callers take these views; the large ones take the packs and open the views themselves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from supple.compiled import flat, leaf, row, shared, table, written_in
from supple.potentials import MIXED, TERM
from supple.routes import LINK
from supple.tree import HEADER, WORLD, padded

# integers of a term: kind, row, reference row, where its target (or solid), residuals and chain begin, lengths of chain and
# target, address of a custom function, number of residuals, rank (lower ones come strictly first), whether it sees what the
# term before it sees, and its route
FIELDS = 13
RANK, ROUTE = 10, 12
BLOCK = 3  # residual rows of a term; those that it does not need stay zero
NO_ROW = -1


class Tasks(NamedTuple):
    """A problem's terms, as kernels see them."""

    task: Any  # (tasks + 1) where the alternatives of each task begin
    alternative: Any  # (alternatives + 1) where the terms of each alternative begin
    term: Any  # (terms, FIELDS)
    chain: Any  # joints of relative terms, in walking order, as 1 + joint, negative on the reference's side
    number: Any  # (terms, TERM) frames, weights and parameters
    mass: Any  # (n + 1, 4) mass fraction and first moment of each row, or nothing
    near: Any  # (posture terms, size) weights
    solid: Any  # the numbers of all solids (see `clearance`)


class Routes(NamedTuple):
    """Which coordinates move what a term sees (see `routes`)."""

    first: Any  # (routes + 1) where the links of each route begin
    begin: Any  # (routes + 1) where its columns begin
    link: Any  # (links, LINK)
    column: Any  # coordinates
    prefix: Any  # (routes, routes) leading columns that two routes share
    second: Any  # (routes · routes + 1) where the further shared columns of two routes begin
    extra: Any  # (pairs, 2) their positions in both


class Allowed(NamedTuple):
    """The limits, as kernels see them."""

    lower: Any
    upper: Any
    free: Any  # (size) how willingly each coordinate moves; 0: not at all
    equalities: int
    A: Any  # (rows, size) of unit length, equalities first
    b: Any


class Work(NamedTuple):
    """Scratch of one evaluation; the caller brings the memory."""

    theta: Any
    slope: Any
    bend: Any
    sine: Any  # (n, padded)
    cosine: Any  # (n, padded)
    world: Any
    wrench: Any  # (n + 1, 6) summed over subtrees at the end
    stiff: Any  # (n + 1, 36) likewise
    along: Any  # (n, padded) angle of each joint, then derivative along it
    seen: Any  # (24) the frame a term sees, and its reference
    force: Any  # (12) on the parts of that frame
    push: Any  # (1, 6) the wrench of these forces
    block: Any  # (36) a term's B
    second: Any  # (12, 12) ∂²P/∂X²
    carried: Any  # (12, 6)
    mixed: Any  # (MIXED)
    stack: Any  # (7, deepest or longest chain, padded) twists on the way to the root, and whose they are
    line: Any  # (as wide)
    rho: Any  # (residuals)
    rows: Any  # (residuals, 6)
    chosen: Any  # (blocks) the term in each block of residuals, or −1
    columns: Any  # (blocks · widest route, 3) a Jacobian without its zeros
    sums: Any  # (n + 1, 4) mass sums, then (n, 3) columns


@shared
def is_dual(I: Any) -> bool:
    """Whether damped steps are solved for in residuals rather than in coordinates: they are few, and they are all there is.

    Posture goals and linear rows need coordinates.
    """
    return I[10] <= I[1] and I[13] == 0 and I[15] == 0


@shared
def by_joints(I: Any) -> bool:
    """Whether damped steps are solved for joint by joint: the problem is plain (`Tables._plain`), and residuals are not few."""
    return I[27] == 1 and I[10] * I[10] >= 8 * I[0]


@written_in
def read_tasks(I: Any, F: Any, a: int, f: int) -> Any:
    """Views of the tasks in a pack whose tables begin at a and f; and where the next table begins in F."""
    tasks, alternatives, terms = I[6], I[7], I[8]
    chain, masses, near = I[9], I[12], I[13]
    task = row(I, a, tasks + 1)
    a += tasks + 1
    alternative = row(I, a, alternatives + 1)
    a += alternatives + 1
    term = table(I, a, terms, FIELDS)
    a += terms * FIELDS
    links = row(I, a, chain)
    number = table(F, f, terms, TERM)
    f += terms * TERM
    mass = table(F, f, masses, 4)
    f += 4 * masses
    weights = table(F, f, near, I[1])
    f += near * I[1]
    return Tasks(task, alternative, term, links, number, mass, weights, row(F, f, I[25])), f + I[25]


@written_in
def read_routes(I: Any) -> Any:
    """Views of the routes in a pack."""
    count, links, columns = I[18], I[19], I[20]
    a = HEADER + 6 * I[0] + 2 * I[3] + 1 + 3 * I[4] + I[6] + I[7] + 2 + I[8] * FIELDS + I[9]
    first, begin = row(I, a, count + 1), row(I, a + count + 1, count + 1)
    a += 2 * count + 2
    link, column = table(I, a, links, LINK), row(I, a + LINK * links, columns)
    a += LINK * links + columns
    prefix, second = table(I, a, count, count), row(I, a + count * count, count * count + 1)
    return Routes(first, begin, link, column, prefix, second, table(I, a + 2 * count * count + 1, I[21], 2))


@written_in
def read_limits(I: Any, F: Any, f: int) -> Any:
    """Views of the limits in a pack, whose tables begin at f."""
    size, rows = I[1], I[15]
    lower, upper, free = row(F, f, size), row(F, f + size, size), row(F, f + 2 * size, size)
    A = table(F, f + 3 * size, rows, size)
    return Allowed(lower, upper, free, I[16], A, row(F, f + 3 * size + rows * size, rows))


@written_in
def read_charts(I: Any, F: Any) -> Any:
    """The first joint of every chart, and the rotation (9) of its original offset; these tables are the last of a pack."""
    charts = I[17]
    return row(I, I.shape[0] - charts, charts), table(F, F.shape[0] - 9 * charts, charts, 9)


def scratch_size(header: Any) -> int:
    """Numbers of scratch that `read_work` lays out."""
    n, deepest, t, residuals, longest, widest = (int(header[k]) for k in (0, 2, 4, 10, 11, 22))
    wide = padded(max(deepest, longest, 6))
    by_joint = n + 3 * padded(n) + (n + 1) * (WORLD + 6 + 36) + 4 * (n + 1) + 3 * n
    return by_joint + 2 * t + 24 + 12 + 6 + 36 + 144 + 72 + MIXED + 8 * wide + (8 + widest) * residuals


@written_in
def read_work(I: Any, scratch: Any) -> Any:
    """Views of the scratch, with the world's own frame filled in; and where free scratch begins."""
    n, t, residuals = I[0], I[4], I[10]
    wide = padded(max(I[2], I[11], 6))
    room = padded(n)
    along, sine, cosine = row(scratch, 0, room), row(scratch, room, room), row(scratch, 2 * room, room)
    a = 3 * room
    theta, slope, bend = row(scratch, a, n), row(scratch, a + n, t), row(scratch, a + n + t, t)
    a += n + 2 * t
    world, wrench = table(scratch, a, n + 1, WORLD), table(scratch, a + (n + 1) * WORLD, n + 1, 6)
    a += (n + 1) * (WORLD + 6)
    stiff, sums = table(scratch, a, n + 1, 36), row(scratch, a + 36 * (n + 1), 4 * (n + 1) + 3 * n)
    a += 40 * (n + 1) + 3 * n
    seen, force, wrung = row(scratch, a, 24), row(scratch, a + 24, 12), table(scratch, a + 36, 1, 6)
    block, second, carried = row(scratch, a + 42, 36), table(scratch, a + 78, 12, 12), table(scratch, a + 222, 12, 6)
    mixed = row(scratch, a + 294, MIXED)
    a += 294 + MIXED
    stack, line = table(scratch, a, 7, wide), row(scratch, a + 7 * wide, wide)
    a += 8 * wide
    rho, rows = row(scratch, a, residuals), table(scratch, a + residuals, residuals, 6)
    blocks = residuals // BLOCK
    a += 7 * residuals
    chosen, columns = row(scratch, a, blocks), table(scratch, a + residuals, blocks * I[22], BLOCK)
    for k in range(WORLD):
        world[0, k] = 1.0 if k == 0 or k == 4 or k == 8 else 0.0
    work = Work(
        theta, slope, bend, sine, cosine, world, wrench, stiff, along, seen, force, wrung, block, second, carried, mixed,
        stack, line, rho, rows, chosen, columns, sums,
    )  # fmt: skip
    return work, a + (1 + I[22]) * residuals


@leaf
def clear(a: Any) -> None:
    """Set a table to zero."""
    numbers = flat(a)
    for i in range(numbers.shape[0]):
        numbers[i] = 0.0
