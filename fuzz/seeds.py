"""Small sound files of each format, to be broken; all of them written here."""

from __future__ import annotations

import json
import os
import struct
import tomllib
from pathlib import Path

ROBOT = b"""<?xml version="1.0" encoding="utf-8"?>
<!-- every kind of joint once -->
<robot name="everything" xmlns:xacro="http://example.org/xacro">
  <link name="base">
    <inertial><origin xyz="0 0 0.1" rpy="0 0 0"/><mass value="4.5"/></inertial>
    <collision><origin xyz="0 0 0.1"/><geometry><box size="0.2 0.2 0.2"/></geometry></collision>
  </link>
  <link name="upper"><collision><geometry><cylinder radius="0.05" length="0.3"/></geometry></collision></link>
  <link name="lower"><collision><geometry><sphere radius="0.06"/></geometry></collision></link>
  <link name="hand"><collision><geometry><mesh filename="hand.stl"/></geometry></collision></link>
  <link name="left"/><link name="right"/><link name="middle"/><link name="disc"/><link name="puck"/><link name="kite"/>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 0.2" rpy="0.1 -0.2 0.3"/><parent link="base"/><child link="upper"/>
    <axis xyz="0 1 1"/><limit lower="-1.5" upper="2.5" effort="10" velocity="2"/>
  </joint>
  <joint name="elbow" type="revolute">
    <origin xyz="0 0 0.3"/><parent link="upper"/><child link="lower"/><axis xyz="0 1 0"/>
    <limit lower="0.1" upper="2" effort="10" velocity="0"/><mimic joint="shoulder" multiplier="0.5" offset="0.75"/>
  </joint>
  <joint name="wrist" type="fixed"><parent link="lower"/><child link="hand"/><origin xyz="0 0 0.25"/></joint>
  <joint name="grip" type="prismatic">
    <parent link="hand"/><child link="left"/><axis xyz="1 0 0"/><limit lower="0" upper="0.04" effort="1" velocity="1"/>
  </joint>
  <joint name="grip2" type="prismatic">
    <parent link="hand"/><child link="right"/><axis xyz="-1 0 0"/>
    <limit lower="0" upper="0.04" effort="1" velocity="1"/><mimic joint="grip"/>
  </joint>
  <joint name="grip3" type="prismatic">
    <parent link="hand"/><child link="middle"/><axis xyz="0 1 0"/><limit effort="1" velocity="1"/>
    <mimic joint="grip2" multiplier="-2"/>
  </joint>
  <joint name="spin" type="continuous"><parent link="base"/><child link="disc"/><axis xyz="0 0 1"/></joint>
  <joint name="drift" type="planar"><parent link="base"/><child link="puck"/><axis xyz="0 0 1"/></joint>
  <joint name="fly" type="floating"><parent link="base"/><child link="kite"/><origin xyz="1 0 1"/></joint>
  <transmission name="t"><joint name="shoulder"/></transmission>
</robot>
"""
SMALL_ROBOT = b"""<robot name="r"><link name="a"/><link name="b"/>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""
MOTION = b"""HIERARCHY
ROOT Hips
{
  OFFSET 0.0 90.0 0.0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Spine
  {
    OFFSET 0.0 20.5 0.0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0.0 25.0 0.0
    }
  }
  JOINT LeftLeg
  {
    OFFSET 9.0 -4.0 0.0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0.0 -80.0 0.0
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.0083333
0.0 90.0 0.0 0.0 0.0 0.0 1.0 2.0 3.0 -10.0 5.0 0.5
0.5 90.1 1.0 1.5 -2.0 30.0 1.5 2.5 3.5 -12.0 6.0 0.25
1.0 90.2 2.0 3.0 -4.0 60.0 2.0 3.0 4.0 -14.0 7.0 0.125
"""
SCENE = b"""# every kind of table once
version = 1
figure = { name = "human", stature = 1.6, fingers = false, legs = false }

[posture]
"forearm_l.flexion" = "80deg"
"pelvis.tz" = 0.9

[rigidity]
lumbar = 0.5
"thorax_*" = 1

[limits]
lower = { "head.flexion" = -0.25, "head.rotation" = "none" }
rows = [{ coefficients = { "head.flexion" = 1, "neck.flexion" = 1 }, upper = 0.5 }]

[[constraints]]
name = "left hand"
effector = { point = "hand_l", offset = [0, 0, -0.08] }
goal = { any_of = [{ at = [0.4, 0.1, 1.2] }, { beyond = { point = [0, 0, 1], normal = [0, 0, 1] }, weight = 2 }] }
weight = 2.5
chain = "clavicle_l"
tolerance = 0.001

[[constraints]]
name = "right hand"
effector = "hand_r"
goal = { placed = { position = [0.4, -0.1, 1.2], quat_wxyz = [0, 1, 0, 0] }, per_radian = 0.2, relative_to = "pelvis" }
hard = true
angle_tolerance = "1deg"

[[constraints]]
name = "balance"
effector = { mass_centre = true }
goal = { over = [[-0.1, -0.2], [0.2, -0.2], [0.2, 0.2], [-0.1, 0.2]], margin = 0.02 }
priority = 1
enabled = false

[[constraints]]
name = "eyes"
effector = { gap = [{ direction = "eyes", axis = [1, 0, 0] }, { frame = "hand_r", at = [0, 0, 0.1] }] }
goal = { within = { box = [[-1, -0.1, -0.1], [1, 0.1, 0.1]], tilt = [0.1, "20deg", 3] } }

[[constraints]]
name = "relaxed"
goal = { near = { "head.flexion" = 0.1 }, weights = { "head.flexion" = 2 } }
preference = true

[obstacles]
table = { box = { lower = [0.3, -0.5, 0.7], upper = [0.9, 0.5, 0.75] } }
floor = { half_space = { point = [0, 0, 0], normal = [0, 0, 1] } }
pole = { capsule = { radius = 0.05, length = 2, at = { position = [1, 1, 1], rpy = [0, 0.1, 0] } } }
bulb = { ball = { centre = [0, 0, 2], radius = 0.1 } }
wedge = { polytope = { A = [[1, 1, 0], [-1, 0, 0]], b = [4, -3] } }

[solids]
head = [{ ball = { centre = [0, 0, 0.1], radius = 0.1 } }]
forearm_l = [{ capsule = { radius = 0.04, length = 0.2, at = [0, 0, -0.12] } }]
hand_l = []

[clearance]
margin = 0.01
itself = true
ignoring = [["hand_l", "table"], ["hand_r", "hand_l"]]
"""
SMALL_SCENE = b"""{"version": 1, "figure": "ur5", "posture": {"elbow_joint": 1.5},
 "constraints": [{"name": "tool", "effector": "tool0", "goal": {"facing": {"x": [0, 0, 1], "y": [0, 1, 0]}}, "weight": 2},
  {"name": "reach", "effector": {"point": "tool0"}, "goal": {"on_line": {"point": [0.4, 0, 0.3], "along": [0, 1, 0]}}}],
 "solids": {"tool0": [{"ball": {"centre": [0, 0, 0], "radius": 0.1}}]},
 "obstacles": {"wall": {"ball": {"centre": [1, 1, 1], "radius": 0.2}}}}"""
TRIAL = b"""PathFileType\t4\t(X/Y/Z)\twalk.trc
DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames
60.00\t60.00\t       900\t3\tmm\t60.00\t1\t       900
Frame#\tTime\tS:R.ASIS\t\t\tS:L.Thigh Upper\t\t\t*52\t\t
\t\tX1\tY1\tZ1\tX2\tY2\tZ2\tX3\tY3\tZ3

1\t0.000\t617.25\t1055.28\t170.78\t639.61\t1044.26\t-88.91\t\t\t
2\t0.017\tNaN\tnan\tNAN\t641.24\t1042.28\t-90.93\t430.87\t1051.26\t29.97
3\t0.033\t6.18E+02\t1053.22\t168.51\t0\t0\t0\t432.34\t1050.24\t26.85
"""
COORDINATES = b"""Coordinates
version=1
nRows=3
nColumns=5
inDegrees=yes

Units are S.I. units (second, meters, Newtons, ...)
Angles are in degrees.

endheader
time\tpelvis.tx\tpelvis.x\t/jointset/knee/knee/value\tother
      0.40000000\t      0.60162386\t     -1.88676648\t    -55.24623342\t1
      0.41666667\t      0.59889873\t     -1.79477033\t    -50.36821261\t2
      0.43333333\t      0.59660102\t     -1.47229001\t    -45.02674507\t3
"""
SKELETON = b"""# a leg and a spine
:version 1.10
:name leg
:units
  mass 1.0
  length 0.45
  angle deg
:documentation
  made up
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 0 0
  orientation 0 0 0
:bonedata
  begin
     id 1
     name femur
     direction 0.342 -0.9397 0
     length 7.1
     axis 0 0 20  XYZ
     dof rx ry rz
     limits (-160.0 20.0)
            (-70.0 70.0)
            (-60.0 inf)
  end
  begin
     id 2
     name tibia
     direction 0.342 -0.9397 0
     length 7.0
     axis 0 0 20  XYZ
     dof rx
     limits (-10.0 170.0)
  end
  begin
     id 3
     name spine
     direction 0 1 0
     length 3
     axis 10 0 0  ZYX
  end
:hierarchy
  begin
    root femur spine
    femur tibia
  end
"""
FRAMES = b"""#!OML:ASF leg.asf
:FULLY-SPECIFIED
:DEGREES
1
root 9.37 17.87 -17.32 -2.01 7.96 -3.7
femur 7.63 0.43 -1.5
tibia 12.5
2
root 9.38 17.87 -16.97 -2.05 7.97 -3.9
femur 7.64 0.49 -1.6e0
tibia 13.5
"""
MODEL = b"""<?xml version="1.0"?><OpenSimDocument Version="40600"><Model name="m"><BodySet><objects>
<Body name="a"><mass>1</mass></Body><Body name="b"/><Body name="c"/></objects></BodySet><JointSet><objects>
<PinJoint name="j"><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>f</socket_child_frame>
<coordinates><Coordinate name="q"><range>-1 1</range><clamped>true</clamped></Coordinate></coordinates><frames>
<PhysicalOffsetFrame name="f"><socket_parent>/bodyset/a</socket_parent><translation>0 1 0</translation></PhysicalOffsetFrame>
</frames></PinJoint><CustomJoint name="k"><socket_parent_frame>/bodyset/a</socket_parent_frame>
<socket_child_frame>/bodyset/b</socket_child_frame><coordinates><Coordinate name="r"/></coordinates><SpatialTransform>
<TransformAxis name="rotation1"><coordinates>r</coordinates><axis>1 0 0</axis><SimmSpline><x>0 1 2</x><y>0 1 1</y></SimmSpline>
</TransformAxis></SpatialTransform></CustomJoint><ConstantCurvatureJoint name="l">
<socket_parent_frame>/bodyset/b</socket_parent_frame><socket_child_frame>/bodyset/c</socket_child_frame>
<coordinates><Coordinate name="x"/><Coordinate name="y"/><Coordinate name="z"/></coordinates><length>0.3</length>
<neutral_angle_x_z_y>0 0.1 0</neutral_angle_x_z_y></ConstantCurvatureJoint></objects></JointSet><ConstraintSet><objects>
<CoordinateCouplerConstraint name="s"><coupled_coordinates_function><PolynomialFunction><coefficients>1 0.5 0</coefficients>
</PolynomialFunction></coupled_coordinates_function><independent_coordinate_names>q</independent_coordinate_names>
<dependent_coordinate_name>r</dependent_coordinate_name></CoordinateCouplerConstraint><ConstantDistanceConstraint name="t">
<socket_body_1>/ground</socket_body_1><socket_body_2>/bodyset/c</socket_body_2><constant_distance>0.5</constant_distance>
</ConstantDistanceConstraint></objects></ConstraintSet><MarkerSet><objects><Marker name="n">
<socket_parent_frame>/bodyset/c</socket_parent_frame><location>0 0.1 0</location></Marker></objects></MarkerSet>
</Model></OpenSimDocument>"""
OLD_MODEL = b"""<?xml version="1.0"?><OpenSimDocument Version="20302"><Model name="m"><BodySet><objects>
<Body name="ground"><Joint/></Body><Body name="a"><Joint><PinJoint><parent_body>ground</parent_body>
<location_in_parent>0 1 0</location_in_parent><location>0 0.5 0</location><CoordinateSet><objects><Coordinate name="q">
<range>-1 1</range></Coordinate></objects></CoordinateSet><reverse>false</reverse></PinJoint></Joint></Body></objects></BodySet>
<ConstraintSet><objects><PointOnLineConstraint><line_body>ground</line_body><line_direction_vec>1 0 0</line_direction_vec>
<follower_body>a</follower_body></PointOnLineConstraint></objects></ConstraintSet>
<MarkerSet><objects><Marker name="n"><body>a</body><location>0 0 1</location></Marker></objects></MarkerSet></Model>
</OpenSimDocument>"""
SAMPLES: dict[str, tuple[bytes, ...]] = {
    "urdf": (ROBOT, ROBOT, SMALL_ROBOT),
    "bvh": (MOTION,),
    "trc": (TRIAL,),
    "mot": (COORDINATES,),
    "asf": (SKELETON,),
    "osim": (MODEL, OLD_MODEL),
    "amc": (FRAMES,),
    "scene.toml": (SCENE,),
    "scene.json": (json.dumps(tomllib.loads(SCENE.decode())).encode(), SMALL_SCENE),
}


def samples(kind: str) -> tuple[bytes, ...]:
    """The sound files of a format."""
    made = {"c3d": _trials, "gltf": lambda: (_rigs(".gltf"),), "glb": lambda: (_rigs(".glb"),)}
    return made[kind]() if kind in made else SAMPLES[kind]


def _rigs(ending: str) -> bytes:
    """A small figure in motion as it is written."""
    import tempfile

    import numpy as np

    from supple.figure.figure import Figure
    from supple.figure.joints import ball, free
    from supple.files.gltf import write_gltf
    from supple.motion.motion import Motion

    figure = Figure("kite", [*free("body"), *ball("wing", "body")])
    q = np.random.default_rng(0).normal(size=(4, figure.size))
    with tempfile.TemporaryDirectory() as folder:
        write_gltf(Motion(figure, q, np.arange(4) / 10.0), Path(folder) / f"kite{ending}")
        return (Path(folder) / f"kite{ending}").read_bytes()


def _trials() -> tuple[bytes, ...]:
    """A small C3D file as it is written, and one of integers whose labels have prefixes."""
    import numpy as np

    from supple.files.c3d.writer import format_c3d
    from supple.motion.markers import Markers

    positions = np.random.default_rng(0).normal(size=(4, 5, 3))
    positions[1, 2] = np.nan
    data = format_c3d(Markers(("S:a", "S:b", "S:c", "*52", "e"), positions, np.arange(4) / 100.0))
    scale = data.index(struct.pack("<f", -1.0), 24)  # the parameter; the header's stands before
    return data, data[:scale] + struct.pack("<f", 0.1) + data[scale + 4 :]


def shared_folder() -> Path:
    """The folder of shared data: what SUPPLE_SHARED says, or the one beside the checkout."""
    beside = Path(__file__).resolve().parent.parent.parent / "shared"
    return Path(os.environ.get("SUPPLE_SHARED", beside))


def found(kind: str, shared: Path, largest: int = 100_000) -> list[bytes]:
    """The smaller files of a format in the shared folder; none if there is no such folder."""
    files = sorted(path for path in shared.glob(f"data/*/**/*.{kind}") if path.stat().st_size <= largest)
    return [path.read_bytes() for path in files]
