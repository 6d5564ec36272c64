"""Small OSIM documents for tests, and their kinematics written down independently with SciPy's rotations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.spatial.transform import Rotation

P = ((0.1, -0.2, 0.3), (0.4, -0.5, 0.6))  # where joints hold their parents: translation, and turns about x, y', z''
C = ((-0.05, 0.15, 0.02), (-0.3, 0.2, 0.7))  # and their children
UPRIGHT = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])  # axes with y up, in the world
Turn = Callable[[float], np.ndarray]


def frame(position: Sequence[float], angles: Sequence[float] = (0.0, 0.0, 0.0)) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.from_euler("XYZ", angles).as_matrix(), position
    return T


def turn(axis: Sequence[float], angle: float) -> np.ndarray:
    u = np.array(axis, dtype=float)
    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec(angle * u / np.linalg.norm(u)).as_matrix()
    return T


def shift(*p: float) -> np.ndarray:
    return frame(p)


def numbers(values: Sequence[float]) -> str:
    return " ".join(map(repr, values))


def coordinate(name: str, inside: str = "") -> str:
    return f'<Coordinate name="{name}">{inside}</Coordinate>'


def offset_frame(name: str, on: str, at: tuple[Sequence[float], Sequence[float]]) -> str:
    place = f"<translation>{numbers(at[0])}</translation><orientation>{numbers(at[1])}</orientation>"
    return f'<PhysicalOffsetFrame name="{name}"><socket_parent>{on}</socket_parent>{place}</PhysicalOffsetFrame>'


def path(body: str) -> str:
    return "/ground" if body == "ground" else f"/bodyset/{body}"


def joint(kind: str, name: str, parent: str, child: str, coordinates: Sequence[str] = (), inside: str = "") -> str:
    """A joint of OpenSim 4 that holds its parent at P and its child at C."""
    listed = "".join(c if c.startswith("<") else coordinate(c) for c in coordinates)
    frames = offset_frame("inner", path(parent), P) + offset_frame("outer", path(child), C)
    return f"""<{kind} name="{name}"><socket_parent_frame>inner</socket_parent_frame>
      <socket_child_frame>outer</socket_child_frame><coordinates>{listed}</coordinates>
      <frames>{frames}</frames>{inside}</{kind}>"""


def spatial(*axes: tuple[str, Sequence[float], str, str]) -> str:
    """A spatial transform from (name, axis, coordinates, function); axes that are not given do not move."""
    given = {axis[0]: axis for axis in axes}
    still = '<Constant name="function"><value>0</value></Constant>'
    out = ""
    for kind in ("rotation", "translation"):
        for k, e in enumerate(np.eye(3).tolist(), start=1):
            name, axis, names, function = given.get(f"{kind}{k}", (f"{kind}{k}", e, "", still))
            out += f"""<TransformAxis name="{name}"><coordinates>{names}</coordinates>
              <axis>{numbers(axis)}</axis>{function}</TransformAxis>"""
    return f"<SpatialTransform>{out}</SpatialTransform>"


def line(*coefficients: float) -> str:
    return f'<LinearFunction name="function"><coefficients>{numbers(coefficients)}</coefficients></LinearFunction>'


def polynomial(*coefficients: float) -> str:
    return f"<PolynomialFunction><coefficients>{numbers(coefficients)}</coefficients></PolynomialFunction>"


def knots(kind: str, x: Sequence[float], y: Sequence[float]) -> str:
    return f"<{kind}><x>{numbers(x)}</x><y>{numbers(y)}</y></{kind}>"


def scaled(function: str, scale: float) -> str:
    return f"<MultiplierFunction><function>{function}</function><scale>{scale!r}</scale></MultiplierFunction>"


def coupler(name: str, follower: str, leaders: str, function: str, more: str = "") -> str:
    return f"""<CoordinateCouplerConstraint name="{name}">
      <coupled_coordinates_function>{function}</coupled_coordinates_function>
      <independent_coordinate_names>{leaders}</independent_coordinate_names>
      <dependent_coordinate_name>{follower}</dependent_coordinate_name>{more}</CoordinateCouplerConstraint>"""


def marker(name: str, where: str, at: Sequence[float]) -> str:
    return f"""<Marker name="{name}"><socket_parent_frame>{where}</socket_parent_frame>
      <location>{numbers(at)}</location></Marker>"""


def body(name: str, inside: str = "<mass>2</mass><mass_center>0.1 0.2 0.3</mass_center>") -> str:
    return f'<Body name="{name}">{inside}</Body>'


def document(
    bodies: str, joints: str = "", constraints: str = "", markers: str = "", more: str = "", version: int = 40600
) -> str:
    sets = {"BodySet": bodies, "JointSet": joints, "ConstraintSet": constraints, "MarkerSet": markers}
    text = "\n".join(f'<{t} name="{t.lower()}"><objects>{inside}</objects></{t}>' for t, inside in sets.items())
    return f"""<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="{version}">
<Model name="test"><Ground name="ground"/>
{text}
{more}</Model></OpenSimDocument>"""
