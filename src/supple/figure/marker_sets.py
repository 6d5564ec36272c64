"""The usual sets of markers: where each one sits on a person, and how far that can be trusted.

Places are fractions of the stature in the upright stance with hanging arms, palms inwards: x forward, y to the left, z
up, soles on z = 0; those of the left are mirrored for the right. They are rounded means of where landmarks lie on adults, a
centimetre off the skin. On a bone just below the skin a marker is trusted to 5–10 mm, where skin or clothes slide to
15–20 mm, on muscle, where it only has to tell which way a limb is turned, to 30 mm.

In the figures of the catalogue the hand turns about the forearm at the wrist, so the markers of the wrist, which turn with
the radius, are the hand's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from supple.basics.checks import check_fields, mapping, named, names_in
from supple.basics.values import Value
from supple.errors import BadValue, find
from supple.figure.effectors import Point
from supple.geometry.placements import Triple

if TYPE_CHECKING:
    from supple.figure.figure import Figure

BONE, NEAR, CLOTH, MUSCLE = 0.006, 0.010, 0.018, 0.030  # trust [m]
HIPS, TOP = 0.530, 1.0  # heights of the pelvis' origin and of the head's top


class Landmark(NamedTuple):
    """A segment of the person, a place in the upright stance as a fraction of the stature, and how far to trust it [m]."""

    segment: str
    place: Triple
    trust: float


MIDDLE = {
    "C7": Landmark("thorax_upper", (-0.052, 0.0, 0.846), NEAR),
    "T10": Landmark("thorax_lower", (-0.066, 0.0, 0.716), CLOTH),
    "CLAV": Landmark("thorax_upper", (0.038, 0.0, 0.812), NEAR),
    "STRN": Landmark("thorax_lower", (0.066, 0.0, 0.735), CLOTH),
    "SACR": Landmark("pelvis", (-0.066, 0.0, 0.578), CLOTH),
    "THD": Landmark("head", (0.010, 0.0, 1.004), NEAR),
    "FHD": Landmark("head", (0.068, 0.0, 0.955), NEAR),
    "RHD": Landmark("head", (-0.048, 0.0, 0.955), NEAR),
    "RBAC": Landmark("thorax_upper", (-0.066, -0.045, 0.780), MUSCLE),  # on the right alone: it tells the sides apart
}
PAIRED = {  # on the left
    "FHD": Landmark("head", (0.054, 0.036, 0.958), CLOTH),
    "BHD": Landmark("head", (-0.036, 0.036, 0.958), CLOTH),
    "SHO": Landmark("clavicle", (-0.012, 0.098, 0.848), NEAR),
    "UPA": Landmark("upper_arm", (-0.012, 0.136, 0.730), MUSCLE),
    "ELB": Landmark("upper_arm", (-0.014, 0.128, 0.634), NEAR),
    "FRM": Landmark("forearm", (-0.012, 0.128, 0.570), MUSCLE),
    "WRA": Landmark("hand", (0.016, 0.104, 0.490), CLOTH),
    "WRB": Landmark("hand", (-0.038, 0.104, 0.490), CLOTH),
    "WRI": Landmark("hand", (-0.012, 0.122, 0.490), CLOTH),
    "FIN": Landmark("hand", (-0.004, 0.117, 0.436), CLOTH),
    "ASI": Landmark("pelvis", (0.054, 0.070, 0.568), CLOTH),
    "PSI": Landmark("pelvis", (-0.060, 0.028, 0.580), CLOTH),
    "THI": Landmark("thigh", (0.002, 0.098, 0.390), MUSCLE),
    "KNE": Landmark("thigh", (-0.002, 0.084, 0.288), NEAR),
    "KNM": Landmark("thigh", (-0.002, 0.016, 0.288), NEAR),
    "TIB": Landmark("shank", (0.008, 0.082, 0.170), MUSCLE),
    "ANK": Landmark("shank", (-0.003, 0.075, 0.041), BONE),
    "ANM": Landmark("shank", (0.003, 0.027, 0.046), BONE),
    "HEE": Landmark("foot", (-0.039, 0.050, 0.024), NEAR),
    "TOE": Landmark("foot", (0.078, 0.048, 0.032), NEAR),
    "MT5": Landmark("foot", (0.058, 0.080, 0.020), NEAR),
}

# The names of each set, and the landmark that each means; those after the bar once for each side, with L or R before them.
SETS = {
    "cmu41": "C7 T10 CLAV STRN RBAC | FHD BHD SHO UPA ELB FRM WRA WRB FIN FWT=ASI BWT=PSI THI KNE SHN=TIB ANK HEE TOE MT5",
    "plug-in gait": (
        "C7 T10 CLAV STRN RBAK=RBAC | FHD BHD SHO UPA ELB FRM WRA WRB FIN ASI PSI THI KNE TIB ANK HEE TOE"
    ),
    "helen hayes": "THD FHD RHD ROFF=RBAC SACR | SHO ELB WRI ASI THI KNE KNM TIB ANK ANM HEE TOE",
}

# Other spellings of a landmark, in capitals and without signs; for paired ones behind L or R, or LEFT or RIGHT.
SPELLINGS = {
    "ASI": "ASIS FWT IAS ASISS",
    "PSI": "PSIS BWT IPS",
    "SACR": "SACRUM VSACRAL VSACRUM SAC",
    "TIB": "SHN SHANK SHANKFRONT TIBIA",
    "THI": "THIGH THIGHFRONT THIGHWAND",
    "KNE": "KNEE KNEELAT KNEELATERAL FLE LKNE LFE",
    "KNM": "KNEEMED KNEEMEDIAL KNEM FME MFE",
    "ANK": "ANKLE ANKLELAT ANKLELATERAL FAL LMAL",
    "ANM": "ANKLEMED ANKLEMEDIAL ANKM TAM MMAL",
    "HEE": "HEEL FCC CAL",
    "TOE": "TOETIP TOES FM2 MT2",
    "MT5": "FM5 TOELAT META5 5MT",
    "SHO": "SHOULDER ACROMION ACROMIUM ACR SAE ACRO",
    "UPA": "UPPERARM BICEP ARM",
    "ELB": "ELBOW ELBOWLAT HLE LEL",
    "FRM": "FOREARM FRA FARM",
    "WRA": "WRISTA WRISTLAT WRISTRAD RSP RAD",
    "WRB": "WRISTB WRISTMED WRISTULN USP ULN",
    "WRI": "WRIST",
    "FIN": "FINGER HAND HM2 FNG",
    "FHD": "FRONTHEAD HEADFRONT TEMPLE",
    "BHD": "BACKHEAD REARHEAD HEADBACK",
    "THD": "TOPHEAD HEADTOP VERTEX",
    "RHD": "REARHEAD BACKHEAD",
    "C7": "CV7 C7TH",
    "T10": "TV10",
    "CLAV": "SJN JUGULAR CLAVICLE IJ",
    "STRN": "SXS STERNUM XIPHOID STERN",
    "RBAC": "RBAK ROFFSET ROFF BACKOFFSET OFFSET RSCAP",
}
ON_VERTEBRAE = {"thorax_upper": "T4", "thorax_lower": "T10"}  # what carries the trunk's markers where it has vertebrae


@dataclass(frozen=True, eq=False, repr=False)
class MarkerSet(Value):
    """A set of markers by name; each has its landmark."""

    name: str
    landmarks: Mapping[str, Landmark]
    means: Mapping[str, str]  # the landmark of each marker by name, for other spellings

    def __post_init__(self) -> None:
        check_fields(self, "a marker set", name=named)
        object.__setattr__(self, "landmarks", mapping(self.landmarks, "the landmarks of a marker set", Landmark))
        object.__setattr__(self, "means", mapping(self.means, "the meanings of a marker set", str))
        for name in self.landmarks:
            find(tuple(self.means), name, "meaning", "a marker set")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the markers."""
        return tuple(self.landmarks)

    @property
    def trust(self) -> dict[str, float]:
        """How far each marker may be from its place [m], for `fit_subject`."""
        return {name: landmark.trust for name, landmark in self.landmarks.items()}

    def spelling(self, names: Iterable[str]) -> dict[str, str]:
        """This set's names for those of a trial that spells them differently, for `Markers.renamed`; the rest is left out."""
        given = names_in(names, "the names of a trial")
        known = {s: name for name in self.landmarks for s in self._spellings(name)}
        taken, out = set(given) & set(self.landmarks), {}
        for name in given:
            found = known.get(_plain(name.rpartition(":")[2]))
            if name not in self.landmarks and found is not None and found not in taken:
                out[name] = found
                taken.add(found)
        return out

    def _spellings(self, name: str) -> list[str]:
        """All ways to write the name of one marker; its own first."""
        means = self.means[name]
        others = SPELLINGS.get(means if means in MIDDLE else means[1:], "").split()
        if means in MIDDLE:
            return [_plain(name), means, *others]
        sides = ("L", "LEFT") if means[0] == "L" else ("R", "RIGHT")
        return [_plain(name), means, *(f"{side}{other}" for side in sides for other in (means[1:], *others))]


def marker_set(name: str) -> MarkerSet:
    """One of the usual sets: "cmu41", "plug-in gait" or "helen hayes"."""
    row = SETS[tuple(SETS)[find(tuple(SETS), name, "set", "the table of marker sets")]]
    middle, paired = (part.split() for part in row.split("|"))
    landmarks, means = {}, {}
    for entry in middle:
        called, _, stem = entry.partition("=")
        landmarks[called], means[called] = MIDDLE[stem or called], stem or called
    for entry in paired:
        called, _, stem = entry.partition("=")
        for side in "LR":
            landmarks[side + called] = _on_side(PAIRED[stem or called], side)
            means[side + called] = side + (stem or called)
    return MarkerSet(name, landmarks, means)


def placed_on(figure: Figure, markers: MarkerSet) -> dict[str, Point]:
    """The markers of a set on a person of the catalogue; those of parts that it does not have are left out."""
    stance = np.zeros(figure.size)
    frames = figure.placements(stance)
    if "pelvis" not in frames or "head.top" not in frames:
        raise BadValue(
            f"figure {figure.name!r} is none of the catalogue's people (human, jack): the places of {markers.name!r} are "
            "written for these; give it markers with with_markers()"
        )
    origin = frames["pelvis"][:3, 3]
    stature = (frames["head.top"][2, 3] - origin[2]) / (TOP - HIPS)
    out = {}
    for name, landmark in markers.landmarks.items():
        segment = landmark.segment if landmark.segment in frames else ON_VERTEBRAE.get(landmark.segment, "")
        if segment in frames:
            where = origin + stature * np.subtract(landmark.place, (0.0, 0.0, HIPS))
            T = frames[segment]
            out[name] = Point(segment, T[:3, :3].T @ (where - T[:3, 3]))
    return out


def _on_side(landmark: Landmark, side: str) -> Landmark:
    x, y, z = landmark.place
    paired = landmark.segment not in ("head", "pelvis")
    segment = f"{landmark.segment}_{side.lower()}" if paired else landmark.segment
    return Landmark(segment, (x, y if side == "L" else -y, z), landmark.trust)


def _plain(name: str) -> str:
    return re.sub(r"[^A-Z0-9]", "", name.upper())
