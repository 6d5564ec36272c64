"""Broken OSIM models, as `run` breaks the other formats.

    python fuzz/osim.py --count 10000 --format osim

The sample holds every kind of joint, function and constraint that is read, in the style of OpenSim 4, and a second one a
little of each in the style of OpenSim 3.
"""

from __future__ import annotations

import sys

import run
import seeds


def _frame(name: str, on: str) -> str:
    return f"""<PhysicalOffsetFrame name="{name}"><socket_parent>{on}</socket_parent>
      <translation>0.1 -0.2 0.3</translation><orientation>0.4 -0.5 0.6</orientation></PhysicalOffsetFrame>"""


def _joint(kind: str, parent: str, child: str, coordinates: int, inside: str = "") -> str:
    listed = "\n".join(
        f"""<Coordinate name="{child}_{k}"><default_value>0.1</default_value><range>-1.5 2</range>
        <clamped>true</clamped><locked>false</locked></Coordinate>"""
        for k in range(coordinates)
    )
    return f"""<{kind} name="{child}_joint">
      <socket_parent_frame>inner</socket_parent_frame><socket_child_frame>outer</socket_child_frame>
      <coordinates>{listed}</coordinates>
      <frames>{_frame("inner", parent)}{_frame("outer", f"/bodyset/{child}")}</frames>{inside}</{kind}>
"""


def _axis(name: str, axis: str, coordinates: str, function: str) -> str:
    return f"""<TransformAxis name="{name}"><coordinates>{coordinates}</coordinates><axis>{axis}</axis>
      {function}</TransformAxis>
"""


SPLINE = "<SimmSpline><x>0 0.5 1 1.5</x><y>0.1 0.2 -0.1 0.4</y></SimmSpline>"
MULTIPLE = f"<MultiplierFunction><function>{SPLINE}</function><scale>1.1</scale></MultiplierFunction>"
TRANSFORM = "".join((
    "<SpatialTransform>",
    _axis("rotation1", "0 0 1", "a_0", "<LinearFunction><coefficients>1 0</coefficients></LinearFunction>"),
    _axis("rotation2", "0 1 0", "a_1", "<PolynomialFunction><coefficients>0.1 0 2 1 0</coefficients></PolynomialFunction>"),
    _axis("rotation3", "1 0 0", "", "<Constant><value>0.2</value></Constant>"),
    _axis("translation1", "1 0 0", "a_0", MULTIPLE),
    _axis("translation2", "0 1 1", "a_0 a_1", "<LinearFunction><coefficients>1 -2 0.5</coefficients></LinearFunction>"),
    _axis("translation3", "0 0 1", "a_1", "<PiecewiseLinearFunction><x>0 1 2</x><y>1 0 3</y></PiecewiseLinearFunction>"),
    "</SpatialTransform>",
))  # fmt: skip
JOINTS = (
    _joint("CustomJoint", "/ground", "a", 2, TRANSFORM)
    + _joint("PinJoint", "/bodyset/a", "b", 1)
    + _joint("SliderJoint", "/bodyset/a", "c", 1)
    + _joint("UniversalJoint", "/bodyset/b", "d", 2)
    + _joint("BallJoint", "../../bodyset/b", "e", 3)
    + _joint("FreeJoint", "/ground", "f", 6)
    + _joint("PlanarJoint", "/bodyset/f", "g", 3)
    + _joint("WeldJoint", "/bodyset/g", "h", 0)
    + _joint("EllipsoidJoint", "/bodyset/a", "i", 3, "<radii_x_y_z>0.1 0.2 0.3</radii_x_y_z>")
    + _joint(
        "ScapulothoracicJoint", "/bodyset/a", "j", 4,
        "<thoracic_ellipsoid_radii_x_y_z>0.1 0.2 0.3</thoracic_ellipsoid_radii_x_y_z>"
        "<scapula_winging_axis_origin>0.1 0.2</scapula_winging_axis_origin>",
    )
)  # fmt: skip
CONSTRAINTS = f"""
<CoordinateCouplerConstraint name="tie"><isEnforced>true</isEnforced>
  <coupled_coordinates_function>{SPLINE}</coupled_coordinates_function>
  <independent_coordinate_names>b_0</independent_coordinate_names>
  <dependent_coordinate_name>c_0</dependent_coordinate_name><scale_factor>0.5</scale_factor></CoordinateCouplerConstraint>
<PointConstraint name="pin"><socket_body_1>/bodyset/d</socket_body_1><socket_body_2>/bodyset/e</socket_body_2>
  <location_body_1>0.1 0 0</location_body_1><location_body_2>0 0.1 0</location_body_2></PointConstraint>
<WeldConstraint name="glue"><socket_frame1>one</socket_frame1><socket_frame2>two</socket_frame2>
  <frames>{_frame("one", "/bodyset/d")}{_frame("two", "/ground")}</frames></WeldConstraint>
"""
BODIES = "\n".join(f'<Body name="{n}"><mass>1</mass><mass_center>0 0.1 0</mass_center></Body>' for n in "abcdefghij")
NEW = f"""<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40600">
<Model name="everything"><Ground name="ground"/><defaults/>
<JointSet name="jointset"><objects>{JOINTS}</objects></JointSet>
<BodySet name="bodyset"><objects>{BODIES}</objects></BodySet>
<ConstraintSet name="constraintset"><objects>{CONSTRAINTS}</objects></ConstraintSet>
<MarkerSet name="markerset"><objects><Marker name="M.1"><socket_parent_frame>/bodyset/e</socket_parent_frame>
<location>0.1 0.2 0.3</location></Marker></objects></MarkerSet>
<ForceSet><objects><Thelen2003Muscle name="m"/></objects></ForceSet>
</Model></OpenSimDocument>"""
OLD = """<?xml version="1.0" encoding="UTF-8"?>
<OpenSimDocument Version="30000"><Model name="old"><BodySet><objects><Body name="ground"><Joint/></Body>
<Body name="b"><mass>2</mass><Joint><PinJoint name="j"><parent_body>ground</parent_body>
<location_in_parent>0 1 0</location_in_parent><orientation_in_parent>0 0 1</orientation_in_parent>
<location>0 0 0</location><orientation>0 0 0</orientation><CoordinateSet><objects><Coordinate name="q">
<range>-1 1</range><clamped>true</clamped></Coordinate></objects></CoordinateSet>
<reverse>false</reverse></PinJoint></Joint></Body>
</objects></BodySet><MarkerSet><objects><Marker name="m"><body>b</body><location>1 2 3</location></Marker></objects></MarkerSet>
</Model></OpenSimDocument>"""


def use_osim(data: bytes) -> None:
    """Read a model, place its segments and its markers."""
    import numpy as np

    from supple.files.osim.reader import parse_osim

    figure = parse_osim(data, "fuzz.osim")
    frames = figure.placements(figure.rest)
    seen = [frames[p.segment][:3, :3] @ p.offset + frames[p.segment][:3, 3] for p in figure.markers.values()]
    if not all(np.isfinite(numbers).all() for numbers in (*frames.values(), *seen)):
        raise AssertionError("a segment or a marker has no finite place at rest")


run.READERS["osim"] = use_osim
seeds.SAMPLES["osim"] = (NEW.encode(), NEW.encode(), OLD.encode())

if __name__ == "__main__":
    sys.exit(run.main())
