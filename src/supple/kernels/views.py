"""The tables of a problem, as kernels see them: views into packed arrays, laid out here and nowhere else.

Kernels that are merged into their callers take these views; the large ones take the packs and open the views themselves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from supple.kernels.compiling import flat, leaf, row, shared, table, written_in
from supple.kernels.layouts import (
    ALTERNATIVES,
    AT_A,
    AT_ALTERNATIVE,
    AT_B,
    AT_CHART,
    AT_HOME,
    AT_LOWER,
    AT_MASS,
    AT_MOBILITY,
    AT_NEAR,
    AT_NUMBER,
    AT_PATH,
    AT_ROUTE_BEGIN,
    AT_ROUTE_COLUMN,
    AT_ROUTE_EXTRA,
    AT_ROUTE_FIRST,
    AT_ROUTE_LINK,
    AT_ROUTE_PREFIX,
    AT_ROUTE_SECOND,
    AT_SOLID,
    AT_TASK,
    AT_TERM,
    AT_UPPER,
    BLOCK,
    CHARTS,
    COORDINATES,
    DRIVE_TERMS,
    EQUALITIES,
    FIELDS,
    JOINTS,
    LINEAR_LIMITS,
    LINK,
    LONGEST_PATH,
    LONGEST_RELATIVE_PATH,
    MASS_ROWS,
    PATH_JOINTS,
    PLAIN,
    POSTURE_TERMS,
    RESIDUALS,
    ROUTE_COLUMNS,
    ROUTE_LINKS,
    ROUTES,
    SHARED_COLUMNS,
    SOLID_NUMBERS,
    TASKS,
    TERM,
    TERMS,
    WIDEST_ROUTE,
    WORLD,
)
from supple.kernels.terms.kinds import MIXED
from supple.kernels.tree import padded

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
def in_residuals(residuals: int, coordinates: int, posture_terms: int, linear_limits: int) -> bool:
    """Whether residuals are few, and all there is: posture goals and linear limits need coordinates."""
    return residuals <= coordinates and posture_terms == 0 and linear_limits == 0


@shared
def is_dual(I: Any) -> bool:
    """Whether damped steps are solved for in residuals rather than in coordinates."""
    return in_residuals(I[RESIDUALS], I[COORDINATES], I[POSTURE_TERMS], I[LINEAR_LIMITS])


@shared
def by_joints(I: Any) -> bool:
    """Whether damped steps are solved for joint by joint: the problem is plain (`Tables._plain`), and residuals are not few."""
    return I[PLAIN] == 1 and I[RESIDUALS] * I[RESIDUALS] >= 8 * I[JOINTS]


@written_in
def open_tasks(I: Any, F: Any) -> Any:
    """Views of the tasks in a pack."""
    terms = I[TERMS]
    return Tasks(
        row(I, I[AT_TASK], I[TASKS] + 1), row(I, I[AT_ALTERNATIVE], I[ALTERNATIVES] + 1), table(I, I[AT_TERM], terms, FIELDS),
        row(I, I[AT_PATH], I[PATH_JOINTS]), table(F, I[AT_NUMBER], terms, TERM), table(F, I[AT_MASS], I[MASS_ROWS], 4),
        table(F, I[AT_NEAR], I[POSTURE_TERMS], I[COORDINATES]), row(F, I[AT_SOLID], I[SOLID_NUMBERS]),
    )  # fmt: skip


@written_in
def open_routes(I: Any) -> Any:
    """Views of the routes in a pack."""
    count = I[ROUTES]
    return Routes(
        row(I, I[AT_ROUTE_FIRST], count + 1), row(I, I[AT_ROUTE_BEGIN], count + 1),
        table(I, I[AT_ROUTE_LINK], I[ROUTE_LINKS], LINK), row(I, I[AT_ROUTE_COLUMN], I[ROUTE_COLUMNS]),
        table(I, I[AT_ROUTE_PREFIX], count, count),
        row(I, I[AT_ROUTE_SECOND], count * count + 1), table(I, I[AT_ROUTE_EXTRA], I[SHARED_COLUMNS], 2),
    )  # fmt: skip


@written_in
def open_limits(I: Any, F: Any) -> Any:
    """Views of the limits in a pack."""
    size, rows = I[COORDINATES], I[LINEAR_LIMITS]
    return Allowed(
        row(F, I[AT_LOWER], size), row(F, I[AT_UPPER], size), row(F, I[AT_MOBILITY], size), I[EQUALITIES],
        table(F, I[AT_A], rows, size), row(F, I[AT_B], rows),
    )  # fmt: skip


@written_in
def open_charts(I: Any, F: Any) -> Any:
    """The first joint of every chart, and the rotation (9) of its original offset."""
    charts = I[CHARTS]
    return row(I, I[AT_CHART], charts), table(F, I[AT_HOME], charts, 9)


def scratch_size(header: Any) -> int:
    """Numbers of scratch that `read_work` lays out."""
    places = (JOINTS, LONGEST_PATH, DRIVE_TERMS, RESIDUALS, LONGEST_RELATIVE_PATH, WIDEST_ROUTE)
    n, deepest, t, residuals, longest, widest = (int(header[k]) for k in places)
    wide = padded(max(deepest, longest, 6))
    by_joint = n + 3 * padded(n) + (n + 1) * (WORLD + 6 + 36) + 4 * (n + 1) + 3 * n
    return by_joint + 2 * t + 24 + 12 + 6 + 36 + 144 + 72 + MIXED + 8 * wide + (8 + widest) * residuals


@written_in
def read_work(I: Any, scratch: Any) -> Any:
    """Views of the scratch, with the world's own frame filled in; and where free scratch begins."""
    n, t, residuals = I[JOINTS], I[DRIVE_TERMS], I[RESIDUALS]
    wide = padded(max(I[LONGEST_PATH], I[LONGEST_RELATIVE_PATH], 6))
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
    chosen, columns = row(scratch, a, blocks), table(scratch, a + residuals, blocks * I[WIDEST_ROUTE], BLOCK)
    for k in range(WORLD):
        world[0, k] = 1.0 if k == 0 or k == 4 or k == 8 else 0.0
    work = Work(
        theta, slope, bend, sine, cosine, world, wrench, stiff, along, seen, force, wrung, block, second, carried, mixed,
        stack, line, rho, rows, chosen, columns, sums,
    )  # fmt: skip
    return work, a + (1 + I[WIDEST_ROUTE]) * residuals


@leaf
def clear(a: Any) -> None:
    """Set a table to zero."""
    numbers = flat(a)
    for i in range(numbers.shape[0]):
        numbers[i] = 0.0
