"""Head, arms, hands and legs of a person, which `human` and `jack` have in common.

Places and lengths: fractions of the stature after Drillis and Contini (1966), as tabulated by Winter (Biomechanics and
Motor Control of Human Movement), with joint centres of hips and shoulders moved inwards from the skin. Masses and
their centres: the same tables. Ranges of motion: those of the American Academy of Orthopaedic Surgeons, rounded; the
neck's and the shoulder's are shared out over the joints of this model. Positive values fold, spread and turn inwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from supple.figure.catalogue.standing import BACKWARD, DOWN, FORWARD, LEFT, RIGHT, SIDES, UP, Bar, Motion, Plan, along
from supple.geometry.placements import Floats, Triple, turned

Places: TypeAlias = tuple[Triple, Triple, Triple]  # of a finger's knuckle, middle joint and tip

# ── places, left side, as fractions of the stature ───────────────────────────────────────────────────────────────────
HIP = (0.0, 0.050, 0.530)
KNEE = (0.0, 0.050, 0.285)
ANKLE = (0.0, 0.050, 0.039)
BALL = (0.080, 0.050, 0.014)  # of the foot
TOE = (0.117, 0.050, 0.0)
HEEL = (-0.035, 0.050, 0.0)
STERNUM = (0.024, 0.012, 0.824)  # where the clavicle begins
SHOULDER = (-0.012, 0.104, 0.818)
ELBOW = (-0.012, 0.104, 0.632)
WRIST = (-0.012, 0.104, 0.486)
FINGERTIP = (-0.012, 0.104, 0.378)
KNUCKLES = 0.431  # height
THUMB = (0.002, 0.102, 0.474)
NECK = (-0.016, 0.0, 0.842)
SKULL = (0.0, 0.0, 0.915)
EYES = (0.056, 0.0, 0.936)
FINGERS = {"index": (0.016, 0.046), "middle": (0.005, 0.053), "ring": (-0.006, 0.048), "little": (-0.016, 0.037)}

# ── shares of the mass; hands and feet with their fingers and toes ───────────────────────────────────────────────────
SHARES = {"neck": 0.012, "head": 0.069, "clavicle": 0.018, "upper_arm": 0.028, "forearm": 0.016, "hand": 0.006}
SHARES |= {"thigh": 0.100, "shank": 0.0465, "foot": 0.0125, "toes": 0.002}
FINGER_SHARE = 0.00018  # of each part of a finger

# ── coordinates: axis on the left side, range in degrees ─────────────────────────────────────────────────────────────
CLAVICLE = (Motion("protraction", DOWN, -25, 25), Motion("elevation", FORWARD, -10, 45))
UPPER_ARM = (
    Motion("flexion", RIGHT, -60, 180),
    Motion("abduction", FORWARD, -45, 150, rest=0.1),
    Motion("rotation", DOWN, -90, 70),
)
FOREARM = (Motion("flexion", RIGHT, 0, 150, rest=0.15),)
HAND = (Motion("pronation", DOWN, -80, 80), Motion("flexion", BACKWARD, -70, 80), Motion("deviation", RIGHT, -30, 20))
THUMB_MOTIONS = (Motion("opposition", DOWN, -10, 70), Motion("curl", LEFT, 0, 80))
FINGER_MOTIONS = (Motion("flexion", BACKWARD, -20, 90, rest=0.25), Motion("curl", BACKWARD, 0, 100, rest=0.35))
THIGH = (Motion("flexion", RIGHT, -30, 120), Motion("abduction", FORWARD, -30, 45), Motion("rotation", DOWN, -45, 45))
SHANK = (Motion("flexion", LEFT, 0, 140),)
FOOT = (Motion("flexion", RIGHT, -50, 20), Motion("inversion", BACKWARD, -15, 35))
TOES = (Motion("extension", RIGHT, -40, 70),)
NECK_MOTIONS = (Motion("flexion", LEFT, -40, 35), Motion("bending", BACKWARD, -40, 40), Motion("rotation", UP, -50, 50))
HEAD_MOTIONS = (Motion("flexion", LEFT, -20, 15), Motion("rotation", UP, -30, 30))


def add_head(plan: Plan, top: str) -> None:
    """Neck and head on the segment `top`; the frame ``eyes`` lies between the eyes and looks along its x axis."""
    plan.joint("neck", top, NECK, NECK_MOTIONS)
    plan.body("neck", SHARES["neck"], along(NECK, SKULL, 0.5), [Bar(NECK, SKULL, 0.032)])
    plan.joint("head", "neck", SKULL, HEAD_MOTIONS)
    plan.frame("head.top", "head", (0.010, 0.0, 1.0))
    plan.frame("eyes", "head", EYES)
    skull = Bar((0.006, 0.0, 0.945), (0.016, 0.0, 0.955), 0.045)
    face = Bar((0.022, 0.0, 0.930), (0.026, 0.0, 0.902), 0.031)
    nose = Bar((0.054, 0.0, 0.926), (0.060, 0.0, 0.918), 0.007)
    plan.body("head", SHARES["head"], (0.012, 0.0, 0.940), [skull, face, nose])


def add_arms(plan: Plan, top: str, fingers: bool, grip: float) -> None:
    """Clavicles, arms and hands on the segment `top`; ``hand_l.tip`` is where the straight middle finger ends.

    ``hand_l.palm`` lies in the middle of the palm: x along the fingers, z out of the palm.
    """
    for s, side in SIDES:
        plan.joint(f"clavicle{s}", top, STERNUM, CLAVICLE, side)
        plan.body(f"clavicle{s}", SHARES["clavicle"], along(STERNUM, SHOULDER, 0.5), [_clavicle_bar()], side)
        plan.joint(f"upper_arm{s}", f"clavicle{s}", SHOULDER, UPPER_ARM, side)
        muscle = Bar(SHOULDER, along(SHOULDER, ELBOW, 0.25), 0.031)
        bars = [muscle, Bar(SHOULDER, ELBOW, 0.025)]
        plan.body(f"upper_arm{s}", SHARES["upper_arm"], along(SHOULDER, ELBOW, 0.436), bars, side)
        plan.joint(f"forearm{s}", f"upper_arm{s}", ELBOW, FOREARM, side)
        bars = [Bar(ELBOW, along(ELBOW, WRIST, 0.4), 0.024), Bar(ELBOW, WRIST, 0.017)]
        plan.body(f"forearm{s}", SHARES["forearm"], along(ELBOW, WRIST, 0.430), bars, side)
        plan.joint(f"hand{s}", f"forearm{s}", WRIST, HAND, side)
        plan.frame(f"hand{s}.tip", f"hand{s}", FINGERTIP, side)
        plan.frame(f"hand{s}.palm", f"hand{s}", along(WRIST, (*WRIST[:2], KNUCKLES), 0.7), side, (DOWN, RIGHT))
        _add_hand(plan, s, side, fingers, grip)


def _clavicle_bar() -> Bar:
    return Bar(along(STERNUM, SHOULDER, 0.15), along(STERNUM, SHOULDER, 0.95), 0.024)


def _finger_places(offset: float, length: float) -> Places:
    """Knuckle, middle joint and tip of a finger that hangs straight down."""
    x, y = WRIST[0] + offset, WRIST[1]
    return (x, y, KNUCKLES), (x, y, KNUCKLES - 0.52 * length), (x, y, KNUCKLES - length)


def _bent(places: Places, motions: Sequence[Motion], share: float) -> Places:
    """A finger bent at knuckle and middle joint by a share of how far they bend."""
    knuckle, middle, tip = map(np.array, places)
    first, curl = (turned(motion.axis, share * np.deg2rad(motion.highest)) for motion in motions)
    bent = knuckle + first @ (middle - knuckle)
    return places[0], _triple(bent), _triple(bent + first @ curl @ (tip - middle))


def _triple(point: Floats) -> Triple:
    x, y, z = point.tolist()
    return (x, y, z)


def _add_hand(plan: Plan, s: str, side: int, fingers: bool, grip: float) -> None:
    """The palm, and ten coordinates of fingers, or one rigid hand."""
    thumb = (THUMB, (0.022, 0.098, 0.452), (0.034, 0.096, 0.426))
    fist = {"thumb": thumb} | {name: _finger_places(*numbers) for name, numbers in FINGERS.items()}
    palm = [
        Bar((WRIST[0] + 0.4 * x, WRIST[1], 0.478), (WRIST[0] + x, WRIST[1], KNUCKLES), 0.0085)
        for x, _ in FINGERS.values()
    ]
    motions = {name: THUMB_MOTIONS if name == "thumb" else FINGER_MOTIONS for name in fist}
    if not fingers:
        fist = {name: _bent(places, motions[name], grip) for name, places in fist.items()}
    digits = {name: [Bar(a, b, 0.0065), Bar(b, c, 0.0055)] for name, (a, b, c) in fist.items()}
    if not fingers:
        bars = [*palm, *(bar for pair in digits.values() for bar in pair)]
        plan.body(f"hand{s}", SHARES["hand"], along(WRIST, FINGERTIP, 0.506), bars, side)
        return
    centre = along(WRIST, FINGERTIP, 0.30)
    plan.body(f"hand{s}", SHARES["hand"] - 2 * len(fist) * FINGER_SHARE, centre, palm, side)
    for name, (knuckle, middle, tip) in fist.items():
        finger, end = f"{name}{s}", f"{name}{s}.end"
        first, curl = motions[name]
        plan.joint(finger, f"hand{s}", knuckle, [first], side)
        plan.body(finger, FINGER_SHARE, along(knuckle, middle, 0.5), digits[name][:1], side)
        plan.joint(end, finger, middle, [curl], side, stem=finger)
        plan.frame(f"{finger}.tip", end, tip, side)
        plan.body(end, FINGER_SHARE, along(middle, tip, 0.5), digits[name][1:], side)


def add_legs(plan: Plan, pelvis: str) -> None:
    """Both legs, with the frames ``foot_l.heel`` and ``toes_l.tip`` on the soles."""
    for s, side in SIDES:
        plan.joint(f"thigh{s}", pelvis, HIP, THIGH, side)
        bars = [Bar(along(HIP, KNEE, 0.05), along(HIP, KNEE, 0.55), 0.046), Bar(HIP, KNEE, 0.035)]
        plan.body(f"thigh{s}", SHARES["thigh"], along(HIP, KNEE, 0.433), bars, side)
        plan.joint(f"shank{s}", f"thigh{s}", KNEE, SHANK, side)
        bars = [Bar(KNEE, along(KNEE, ANKLE, 0.45), 0.032), Bar(KNEE, ANKLE, 0.023)]
        plan.body(f"shank{s}", SHARES["shank"], along(KNEE, ANKLE, 0.433), bars, side)
        plan.joint(f"foot{s}", f"shank{s}", ANKLE, FOOT, side)
        plan.frame(f"foot{s}.heel", f"foot{s}", HEEL, side)
        plan.body(f"foot{s}", SHARES["foot"], (0.030, 0.050, 0.025), _foot_bars(), side)
        plan.joint(f"toes{s}", f"foot{s}", BALL, TOES, side)
        plan.frame(f"toes{s}.tip", f"toes{s}", TOE, side)
        bars = [Bar((0.084, y, 0.011), (0.106, y, 0.011), 0.011) for y in (0.040, 0.054, 0.064)]
        plan.body(f"toes{s}", SHARES["toes"], (0.096, 0.050, 0.010), bars, side)


def _foot_bars() -> list[Bar]:
    """Heel, instep and the ball of the foot; every bar's lowest point is on the sole."""
    heel, instep = (-0.017, 0.050, 0.018), (0.012, 0.050, 0.034)
    front = [Bar(heel, (0.076, y, 0.014), 0.014) for y in (0.040, 0.052, 0.062)]
    return [Bar(heel, (0.020, 0.050, 0.018), 0.018), Bar(instep, (0.066, 0.046, 0.017), 0.016), *front]
