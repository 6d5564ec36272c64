"""What a figure has to say about itself: what its reader remarked, and what its own numbers show, one sentence each.

Remarks are about the file and stay true whatever becomes of the figure. The rest is found anew for every figure: joints
that cannot move, ranges that followers narrow, segments whose shapes are not known. So an edit that mends one of these
makes its sentence go away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from supple.figure.joints import angular

if TYPE_CHECKING:
    from supple.figure.figure import Figure

NOTHING = 1e-9  # a range that is shorter leaves no room [rad, m]


def notes_of(figure: Figure) -> tuple[str, ...]:
    """The remarks of the reader, then what the figure itself shows."""
    return (*figure.remarks, *_ranges(figure), *_uncovered(figure), *_told(figure))


def _told(figure: Figure) -> list[str]:
    """How many pairs of segments it was told not to keep apart."""
    count = len(figure.ignored or ())
    return [] if figure.ignored is None else [f"It was told {count} pairs of segments that it need not keep apart."]


def _ranges(figure: Figure) -> list[str]:
    """Coordinates that have no room, and those whose followers leave them less than their own range."""
    out, turns = [], angular(figure.joints.values())
    for name, lower, upper in zip(figure.coordinates, figure.lower.tolist(), figure.upper.tolist(), strict=True):
        own = figure._spans[name][:2]
        unit = "rad" if turns[name] else "m"
        narrowed = lower > own[0] or upper < own[1]
        because = f" by the ranges of what follows it ({', '.join(_followers(figure, name))})" if narrowed else ""
        if upper - lower <= NOTHING:
            out.append(
                f"{name!r} is held at {lower:.6g} {unit}{because or ', both ends of its range'}: it cannot move."
            )
        elif narrowed:
            was, now = (f"{a:.6g} … {b:.6g}" for a, b in (own, (lower, upper)))
            out.append(f"The range of {name!r}, {was}, is narrowed to {now} {unit}{because}.")
    return out


def _followers(figure: Figure, leader: str) -> list[str]:
    """The joints with a range of their own that are driven by a coordinate alone."""
    driven = [j for j in figure.joints.values() if j.drive is not None and j.limits != (-float("inf"), float("inf"))]
    return [repr(j.name) for j in driven if j.drive is not None and [n for n, _ in j.drive.terms] == [leader]]


def _uncovered(figure: Figure) -> list[str]:
    if not figure.uncovered:
        return []
    return [
        f"The shapes of {len(figure.uncovered)} segments are not known, or not all of them, so that nothing keeps them "
        f"clear of obstacles: {', '.join(figure.uncovered)}. Give them some by with_solids."
    ]
