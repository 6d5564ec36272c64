"""The trunk of a person: its outline, the line of its joints, and the spine as three segments or as 17 vertebrae."""

from __future__ import annotations

import numpy as np

from supple.basics.checks import flag, number, one_of
from supple.errors import BadValue
from supple.figure.catalogue.limbs import HIP, NECK, add_arms, add_head, add_legs
from supple.figure.catalogue.standing import BACKWARD, LEFT, UP, Bar, Motion, Plan, radians
from supple.figure.drives import Coordinate, Drive, Group
from supple.figure.figure import Figure
from supple.geometry.placements import Triple

SACRUM, WAIST = 0.585, 0.682  # heights of the lowest lumbar and of the lowest thoracic joint
PELVIS = (0.0, 0.0, HIP[2])
MASSES = {"pelvis": 0.142, "lumbar": 0.139, "thorax": 0.180}  # Winter's, less the clavicles

# height, half breadth, half depth of the outline
OUTLINE = (
    (0.520, 0.086, 0.054),
    (0.585, 0.083, 0.056),
    (0.630, 0.072, 0.050),
    (0.680, 0.076, 0.055),
    (0.740, 0.087, 0.062),
    (0.790, 0.082, 0.056),
    (0.825, 0.058, 0.042),
    (0.850, 0.032, 0.034),
)
# height and forward offset of the joints' line: hollow at the loins, round at the ribs
CURVE = ((SACRUM, -0.014), (0.635, -0.004), (WAIST, -0.010), (0.762, -0.028), (NECK[2], NECK[0]))

# Vertebrae from the sacrum up. The joint below each one is called after it: L5 joins it to the sacrum, T12 to L1.
# Ranges in degrees after White and Panjabi (Clinical Biomechanics of the Spine, 1990): flexion and extension
# together, bending to one side, rotation to one side.
VERTEBRAE = ("L5", "L4", "L3", "L2", "L1", *(f"T{k}" for k in range(12, 0, -1)))
FOLD = (17, 16, 15, 14, 12, 12, 12, 9, 6, 6, 6, 5, 4, 4, 4, 4, 4)
BEND = (3, 6, 8, 6, 6, 8, 9, 7, 6, 6, 6, 6, 6, 6, 5, 6, 5)
TWIST = (1, 2, 2, 2, 2, 2, 2, 2, 4, 6, 7, 7, 8, 8, 8, 8, 9)
FLEXION_SHARE = 0.7  # of the range of flexion and extension together
RIBS = 0.5  # how much of a vertebra's share its ribs leave when the whole spine moves: T1 to T10

# The whole spine, degrees: flexion, bending and rotation as measured in living people (AAOS).
WHOLE = {"flexion": (-30.0, 85.0), "bending": (-40.0, 40.0), "rotation": (-45.0, 45.0)}


def weights() -> dict[str, tuple[float, ...]]:
    """What share of the spine's flexion, bending and rotation each vertebra takes, from L5 up; each sums to one.

    A vertebra's share is in proportion to its own range, halved where ribs hold it: 60 % of the flexion is lumbar, 81 %
    of the rotation thoracic.
    """
    held = np.array([RIBS if name[0] == "T" and int(name[1:]) <= 10 else 1.0 for name in VERTEBRAE])
    shares = {"flexion": held * FOLD, "bending": held * BEND, "rotation": held * TWIST}
    return {motion: tuple((share / share.sum()).tolist()) for motion, share in shares.items()}


def spine_group() -> Group:
    """All 51 vertebral angles from ``spine.flexion``, ``spine.bending`` and ``spine.rotation`` by fixed shares."""
    coordinates = [Coordinate(f"spine.{motion}", radians(*limits)) for motion, limits in WHOLE.items()]
    drives = {
        f"{vertebra}.{motion}": Drive.by({f"spine.{motion}": share})
        for motion, shares in weights().items()
        for vertebra, share in zip(VERTEBRAE, shares, strict=True)
    }
    return Group("spine", tuple(coordinates), drives)


def person(
    name: str,
    spine: str,
    stature: float,
    mass: float | None,
    root: str,
    legs: bool,
    fingers: bool,
    grip: float,
) -> Figure:
    """A whole person with the spine in `spine` pieces, "segments" or "vertebrae"."""
    one_of(root, ("free", "fixed"), "a person's root")
    grip = number(grip, "a person's grip, from 0 (straight fingers) to 1 (a fist),", least=0.0, most=1.0)
    legs, fingers = flag(legs, "legs, whether a person has any,"), flag(fingers, "fingers, whether they move,")
    if fingers and grip:
        raise BadValue("a grip is for hands without fingers that move: give fingers=False, or bend the fingers' joints")
    plan = Plan(stature, mass)
    plan.root("pelvis", PELVIS, root == "free")
    plan.body("pelvis", MASSES["pelvis"], (0.0, 0.0, 0.560), _slices(0.525, 0.583, 4))
    top = _add_segments(plan) if spine == "segments" else _add_vertebrae(plan)
    add_head(plan, top)
    add_arms(plan, top, fingers, grip)
    if legs:
        add_legs(plan, "pelvis")
    return Figure(name, plan.parts, bodies=plan.bodies)


def _on_curve(height: float) -> Triple:
    heights, offsets = zip(*CURVE, strict=True)
    return (float(np.interp(height, heights, offsets)), 0.0, height)


def _slices(low: float, high: float, count: int) -> list[Bar]:
    """The outline between two heights as bars across."""
    heights, breadths, depths = zip(*OUTLINE, strict=True)
    bars = []
    for z in np.linspace(low, high, count) if count > 1 else (0.5 * (low + high),):
        breadth, depth = float(np.interp(z, heights, breadths)), float(np.interp(z, heights, depths))
        half = max(breadth - depth, 0.0)
        bars.append(Bar((0.0, -half, float(z)), (0.0, half, float(z)), depth))
    return bars


def _motions(flexion: tuple[float, float], bending: float, rotation: float) -> tuple[Motion, ...]:
    """Forward, to the left, and turned to the left, are positive."""
    return (
        Motion("flexion", LEFT, *flexion),
        Motion("bending", BACKWARD, -bending, bending),
        Motion("rotation", UP, -rotation, rotation),
    )


def _add_segments(plan: Plan) -> str:
    """A lumbar and two thoracic segments."""
    middle = 0.762
    rows = (
        ("lumbar", SACRUM, WAIST, MASSES["lumbar"], _motions((-20, 55), 25, 10)),
        ("thorax_lower", WAIST, middle, 0.45 * MASSES["thorax"], _motions((-10, 20), 15, 20)),
        ("thorax_upper", middle, 0.815, 0.55 * MASSES["thorax"], _motions((-5, 15), 10, 20)),
    )
    below = "pelvis"
    for segment, low, high, share, motions in rows:
        plan.joint(segment, below, _on_curve(low), motions)
        plan.body(segment, share, (0.0, 0.0, 0.5 * (low + high)), _slices(low + 0.008, high - 0.004, 4))
        below = segment
    return below


def _add_vertebrae(plan: Plan) -> str:
    """Five lumbar and twelve thoracic vertebrae, evenly high within each region, with three coordinates each."""
    heights = [*np.linspace(SACRUM, WAIST, 6)[:-1], *np.linspace(WAIST, NECK[2], 13)]
    below = "pelvis"
    for k, vertebra in enumerate(VERTEBRAE):
        low, high = float(heights[k]), float(heights[k + 1])
        region, count = ("lumbar", 5) if k < 5 else ("thorax", 12)
        fold = (-(1 - FLEXION_SHARE) * FOLD[k], FLEXION_SHARE * FOLD[k])
        plan.joint(vertebra, below, _on_curve(low), _motions(fold, BEND[k], TWIST[k]))
        shape = _slices(low, min(high, 0.828), 1)
        plan.body(vertebra, MASSES[region] / count, (0.0, 0.0, 0.5 * (low + high)), shape)
        below = vertebra
    return below
