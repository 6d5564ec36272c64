"""Figures and motions to files and back: a robot as URDF, a moving arm as BVH."""

import numpy as np

import supple

robot = supple.load("ur5")
supple.write(robot, "ur5.urdf")
again = supple.load("ur5.urdf")
q = robot.rest + 0.1
gap = np.abs(robot.placement(q, "tool0") - again.placement(q, "tool0")).max()
print(f"ur5.urdf: {again}, placements differ by at most {gap:.1e}")

person = supple.load("human", root="fixed", legs=False, fingers=False)
times = np.arange(60) / 30.0
wave = np.tile(person.rest, (len(times), 1))
wave[:, person.coordinates.index("upper_arm_r.abduction")] = 1.4
wave[:, person.coordinates.index("forearm_r.flexion")] = 1.2 + 0.5 * np.sin(2 * np.pi * times)
supple.write(supple.Motion(person, wave, times), "wave.bvh")

motion = supple.read_motion("wave.bvh")  # centimetres and y up, unless told otherwise
print(f"wave.bvh: {len(motion)} frames at {motion.rate:.0f} a second of {motion.figure}")
hands = [f.placement(p, "hand_r")[:3, 3] for f, p in ((person, wave[20]), (motion.figure, motion.posture(20)))]
print(f"the right hand in frame 20: {hands[0].round(4)} written, {hands[1].round(4)} read")
