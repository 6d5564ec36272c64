"""What segments' names say: a side, and a part of the body.

Names come as ``LeftUpLeg``, ``thigh_l``, ``mixamorig:LeftUpLeg``, ``Bip01 L Thigh`` or ``left_hip_pitch_link``. A
name is cut into words at blanks, underscores, dots, digits and capitals; what stands before a colon is dropped. ``l``
and ``left`` are a side, the other words are looked up in a table of parts, the most telling first.
"""

from __future__ import annotations

import re
from typing import NamedTuple

AXIAL = ("pelvis", "spine", "neck", "head")
LIMBS = {"leg": ("thigh", "shank", "foot", "toes"), "arm": ("clavicle", "upper_arm", "forearm", "hand")}
SIDED = (*LIMBS["leg"], *LIMBS["arm"])
SIDES = {"l": "l", "left": "l", "lft": "l", "r": "r", "right": "r", "rgt": "r"}
NOISE = {"link", "joint", "jnt", "bone", "bip", "def", "mixamorig", "skel", "char"}
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_PARTS = [
    ("digit", r"thumb|index|middle|ring|little|pinky|finger|fingers"),
    ("toes", r"toe|toes|ball"),
    ("foot", r"foot|ankle|talus|calcn|calcaneus"),
    ("shank", r"(lower|low) ?leg|lowerleg|shank|calf|shin|knee|tibia"),
    ("thigh", r"(up|upper) ?leg|upleg|upperleg|thigh|femur|hip"),
    ("shank", r"leg"),
    ("forearm", r"(fore|lower|low) ?arm|forearm|lowerarm|elbow|radius|ulna"),
    ("upper_arm", r"((up|upper) )?arm|upperarm|humerus"),
    ("hand", r"hand|wrist|palm"),
    ("clavicle", r"clavicle|collar|shoulder|scapula"),
    ("head", r"head|skull"),
    ("neck", r"neck"),
    ("spine", r"spine|back|lumbar|thorax|torso|chest|waist|abdomen|trunk"),
    ("pelvis", r"pelvis|hips|hip|sacrum"),
]
_TABLE = [(part, re.compile(rf"\b({words})\b")) for part, words in _PARTS]
_BARE = re.compile("|".join(words for part, words in _PARTS if part in SIDED and part != "digit"))
_VERTEBRA = re.compile(r"[LT]\d+")


class Named(NamedTuple):
    """What a name says: "l", "r" or "" for the side, the part of the body or "", and its words for comparison."""

    side: str
    part: str
    words: tuple[str, ...]


def named(name: str) -> Named:
    """Read a segment's name."""
    bare = name.rpartition(":")[2]
    if _VERTEBRA.fullmatch(bare):
        return Named("", "spine", (bare.lower(),))
    words = [word.lower() for word in _WORD.findall(bare)]
    side = next((SIDES[word] for word in words if word in SIDES), "")
    if not side and len(words) and words[0][0] in "lr" and _BARE.fullmatch(words[0][1:]):  # lfemur, rhand
        side, words = words[0][0], [words[0][1:], *words[1:]]
    rest = tuple(word for word in words if word not in SIDES and word not in NOISE)
    text = " ".join(rest)
    found = (
        part for part, words in _TABLE if words.search(text) and (part == "digit" or (part in SIDED) == bool(side))
    )
    return Named(side, next(found, ""), rest)
