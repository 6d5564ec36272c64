"""Broken MJCF models, as `run` breaks the other formats.

    python fuzz/mjcf.py --count 10000 --format mjcf

The sample holds every kind of joint, equality and tendon that is read, includes another file, attaches a model and has meshes.
"""

from __future__ import annotations

import sys
import tempfile
from functools import cache
from pathlib import Path

import run
import seeds

MODEL = """<?xml version="1.0" encoding="utf-8"?>
<mujoco model="everything">
  <compiler angle="radian" meshdir="meshes" autolimits="true"/>
  <size memory="1M" nuser_body="3"/>
  <default><geom density="100"/><default class="small"><geom size=".02" rgba="1 0 0 1"/></default></default>
  <include file="assets.xml"/>
  <asset><model name="other" file="other.xml"/><mesh name="made" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
  <worldbody>
    <light pos="0 0 3"/><geom type="plane" size="1 1 1"/><geom type="hfield" hfield="hills"/>
    <body name="root" pos="0 0 1" user="1 2 3"><freejoint name="float"/><geom size=".1"/><camera name="eye"/>
      <body name="upper" pos="0 0 .3" euler="0 .1 0"><joint name="p" axis="0 1 0" range="-1 1" ref=".1"/>
        <geom type="capsule" fromto="0 0 0 0 0 .3" size=".02"/>
        <body name="lower" pos="0 0 .3"><joint name="r" axis="1 0 0" range="-2 2"/><geom type="mesh" mesh="tip"/>
          <site name="tool" pos="0 0 .1"/></body></body>
      <body name="shoulder" pos=".2 0 0"><joint name="s" type="ball" range="0 1.2"/><geom type="box" size=".1 .1 .1"/>
        <body name="rail" pos=".2 0 0"><joint name="t" type="slide" axis="0 0 1"/><geom class="small"/></body></body>
      <replicate count="3" euler="0 0 1"><body pos=".3 0 0"><joint axis="0 1 0"/>
        <geom type="mesh" mesh="made"/></body></replicate>
      <frame pos="0 1 0"><attach model="other" body="hand" prefix="left_"/></frame>
    </body>
    <body name="leader" pos="2 0 0"><joint name="u" axis="0 1 0"/><geom size=".1"/></body>
    <body name="follower" pos="3 0 0"><joint name="v" axis="0 1 0"/><geom type="ellipsoid" size=".1 .2 .3"/></body>
    <body name="pulled" mocap="true" pos="4 0 0"><geom size=".1" contype="0" conaffinity="0"/></body>
  </worldbody>
  <tendon><fixed name="one"><joint joint="p" coef="2"/><joint joint="t" coef="-1"/></fixed>
    <fixed name="two"><joint joint="u" coef="1"/></fixed>
    <spatial name="cord" width="0.002"><site site="tool"/><site site="left_end"/></spatial></tendon>
  <equality><joint joint1="v" joint2="u" polycoef="0 1 .5 0 0"/><tendon tendon1="one" tendon2="two" polycoef="0 1 0 0 0"/>
    <connect body1="lower" body2="rail" anchor="0 0 .1"/><weld body1="pulled" body2="lower"/></equality>
  <actuator><motor joint="p"/></actuator><sensor><jointpos joint="p"/></sensor>
  <keyframe><key name="home" qpos="0 0 1 1 0 0 0 .2 .1 1 0 0 0 0 .1 .1 .1 .3 0 0"/></keyframe>
</mujoco>
"""
BESIDE = {
    "assets.xml": """<mujocoinclude><asset><mesh name="tip" file="tip.obj" scale=".1 .1 .1"/>
      <texture name="skin" type="2d" file="skin.png"/><hfield name="hills" nrow="9" ncol="9" size="1 1 1 1"/>
      </asset></mujocoinclude>""",
    "other.xml": """<mujoco model="other"><worldbody><body name="hand"><joint name="grip"/><geom size=".05"/>
      <site name="end"/></body></worldbody></mujoco>""",
    "meshes/tip.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
}


@cache
def folder() -> Path:
    """What the sample names, in a folder that lives as long as the process."""
    here = Path(tempfile.mkdtemp(prefix="supple-fuzz-"))
    for name, content in BESIDE.items():
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_text(content)
    return here


def use_mjcf(data: bytes) -> None:
    """Read a model and place its segments."""
    import numpy as np

    from supple.files.mjcf.reader import read_mjcf

    path = folder() / "model.xml"
    path.write_bytes(data)
    figure = read_mjcf(path)
    frames = figure.placements(figure.rest)
    if not all(np.isfinite(T).all() for T in frames.values()):
        raise AssertionError("a segment has no finite place at rest")


run.READERS["mjcf"] = use_mjcf
seeds.SAMPLES["mjcf"] = (MODEL.encode(),)

if __name__ == "__main__":
    sys.exit(run.main())
