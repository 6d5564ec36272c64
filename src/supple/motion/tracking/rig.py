"""What the compiled tracker reads and writes: the pack of a figure with markers, a frame of a trial, settings, report, scratch.

**Links.** Joints that follow each other with nothing seen between them act on what hangs below as one: a ball, a free
root, a knee whose spline slides as it turns. Such a run of joints is a *link*; its *axes* are the coordinates that
move it, each with one twist, ``ξ = Σ_j θ_j'(q) ξ_j`` over the joints of the link that it turns. A figure is a tree of
links, and the tracker asks that every coordinate move one link only; a grouped spine, whose three coordinates bend
seventeen vertebrae with markers in between, does not.

**Pins** are points that must coincide exactly: the two ends of a closed loop, or a marker and where it was seen. A
loop whose frames coincide is pinned at three points.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from supple.kernels.layouts import TREE, WORLD, Layout, Table
from supple.kernels.opening import Scratch, of, opener

WORLD_PIN, LOOP = -1, -2  # a pin's second end is a place in the world; a pin belongs to a loop, not to a marker
PIN_FIRST, PIN_SECOND, PIN_MARKER = range(3)  # of a pin: the links of its ends, the marker whose place the second takes
TWIST_ROW, TWIST_DRIVE = range(2)  # of a term of a twist: the row of a joint, and the term of its drive or −1
STEPS, TOLERANCE, HUBER, LIMITED = range(4)  # settings
SETTINGS = 4
ITERATIONS, VALUE, OPEN, ENDED = range(4)  # the report of a frame
REPORT = 4
CONVERGED, SPENT, STUCK = range(3)  # how it ended
CLOSED = 1e-9  # [m] how far pins may be open, all together
SYMMETRIC = 21  # numbers of a symmetric 6 × 6 matrix, its upper triangle row by row


RIG = Layout(
    "a rig",
    "MARKERS PINS LINKS TWIST_TERMS",
    base=TREE,
    ints=[
        Table("CARRIER", ("MARKERS",)),
        Table("PIN", ("PINS", 3)),
        Table("LINK_ROW", ("LINKS",), 1),
        Table("LINK_UP", ("LINKS",), 1),
        Table("LINK_FIRST", ("LINKS",), 2),
        Table("LINK_AXIS", ("COORDINATES",)),
        Table("TWIST_BEGIN", ("COORDINATES",), 1),
        Table("TWIST_TERM", ("TWIST_TERMS", 2)),
    ],
    floats=[
        Table("MARKER_AT", ("MARKERS", 3)),
        Table("PIN_AT", ("PINS", 6)),
        Table("RIG_LOWER", ("COORDINATES",)),
        Table("RIG_UPPER", ("COORDINATES",)),
    ],
)
PINS = RIG.contents["PINS"]


class Rig(NamedTuple):
    """Markers, pins, links and limits."""

    carrier: Any  # (m) the link that carries each marker
    marker_at: Any  # (m, 3) where, in the row behind that link
    pin: Any  # (p, 3)
    pin_at: Any  # (p, 6) both ends in their rows
    row: Any  # (links + 1) the row of the world table behind each link; link 0 is the world
    up: Any  # (links + 1) the link above
    first: Any  # (links + 2) where the axes of each begin
    axis: Any  # (n) the coordinate of each axis
    begin: Any  # (n + 1) where the terms of its twist begin
    term: Any  # (terms, 2)
    lower: Any  # (n)
    upper: Any  # (n)


open_rig = opener(
    Rig, RIG, row="LINK_ROW", up="LINK_UP", first="LINK_FIRST", axis="LINK_AXIS", begin="TWIST_BEGIN", term="TWIST_TERM",
    lower="RIG_LOWER", upper="RIG_UPPER",
)  # fmt: skip


class Seen(NamedTuple):
    """A frame of a trial."""

    place: Any  # (m, 3) where markers were seen
    weight: Any  # (m) 0 for those that were not, negative for floors
    near: Any  # (2, n) weights and values of a posture to keep near to


class FrameScratch(NamedTuple):
    """What the fit of a frame writes down on its way, in the letters of `frame_step`."""

    theta: Any = of("JOINTS")
    slope: Any = of("DRIVE_TERMS")
    bend: Any = of("DRIVE_TERMS")
    along: Any = of("padded(JOINTS)")
    sine: Any = of("padded(JOINTS)")
    cosine: Any = of("padded(JOINTS)")
    world: Any = of("JOINTS + 1", WORLD)
    place: Any = of("MARKERS", 3)  # p
    force: Any = of("MARKERS", 3)  # f
    weight: Any = of("MARKERS")  # w, outliers less
    own: Any = of("LINKS + 1", 6)  # P of each link's own markers
    A: Any = of("LINKS + 1", SYMMETRIC)
    P: Any = of("LINKS + 1", 6)
    v: Any = of("LINKS + 1", 6)
    twist: Any = of("COORDINATES", 6)  # ξ, by axis
    U: Any = of("COORDINATES", 6)
    inverse: Any = of("COORDINATES")  # 1/D
    u: Any = of("COORDINATES")
    r: Any = of("COORDINATES")  # from here on by coordinate
    gradient: Any = of("COORDINATES")
    step: Any = of("COORDINATES")
    trial: Any = of("COORDINATES")
    held: Any = of("COORDINATES")  # 1: a limit is pressed against, 2: it was met on the way, 0: neither
    start: Any = of("COORDINATES")
    gap: Any = of("3 * PINS")  # c
    multiplier: Any = of("3 * PINS")  # π
    y: Any = of("3 * PINS")
    end: Any = of("PINS", 6)  # where both ends are
    C: Any = of("3 * PINS", "COORDINATES")
    Y: Any = of("3 * PINS", "COORDINATES")  # ``H⁻¹Cᵀ``
    M: Any = of("3 * PINS", "3 * PINS")  # ``C H⁻¹Cᵀ``
    kappa: Any = of(1)


FRAME = Scratch(FrameScratch, RIG)
open_frame = FRAME.open
