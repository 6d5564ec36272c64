"""A servo at 1 kHz: the tool chases a target out of reach and back, within speeds and accelerations, and does not shake."""

import numpy as np
from matplotlib import pyplot as plt

import supple
from supple import Placed, Problem, Task
from supple.solving import Servo, Twist

DT, SECONDS, MOST = 0.001, 6.0, 15.0  # s, s, rad/s²
figure = supple.load("panda")
tool = "panda_hand_tcp"
home = figure.placement(figure.rest, tool)
servo = Servo(Problem(figure, [Task(tool, Placed(home))]), DT, acceleration=MOST)

times = DT * np.arange(round(SECONDS / DT))
targets = np.tile(home, (len(times), 1, 1))
targets[:, :3, 3] += np.sin(np.pi * times / SECONDS)[:, None] ** 2 * (0.8, 0.16, 0.08)  # at the far end nobody can be

q, velocity = figure.rest, np.zeros(figure.size)
speeds, missed = np.zeros((len(times), figure.size)), np.zeros(len(times))
for k, target in enumerate(targets):
    q, velocity = servo(q, velocity, target)  # the posture to command next, and its velocity
    speeds[k] = velocity
    missed[k] = np.linalg.norm(figure.placement(q, tool)[:3, 3] - target[:3, 3])

pushes = np.diff(speeds, axis=0, prepend=0.0) / DT
print(f"missed by {1000 * missed.max():.0f} mm at most, by {1000 * missed[-1]:.2f} mm when the target is back")
print(
    f"at most {100 * (abs(speeds) / figure.speed).max():.0f} % of the greatest speeds, {abs(pushes).max():.1f} rad/s²"
)
assert (abs(speeds) <= figure.speed * 1.000001).all()
assert abs(pushes).max() <= MOST * 1.000001

for _ in range(200):  # a velocity of the tool in place of a target: up, at 10 cm a second
    q, velocity = servo(q, velocity, Twist(linear=(0.0, 0.0, 0.1)))
print("tool:", np.round((figure.jacobian(q, supple.Frame(tool)) @ velocity)[:3], 3), "m/s")

drawing, axes = plt.subplots(3, 1, sharex=True, figsize=(8, 6), layout="constrained")
for part, numbers, label in zip(
    axes, (1000 * missed, speeds, pushes), ("missed [mm]", "speed [rad/s]", "[rad/s²]"), strict=True
):
    part.plot(times, numbers, lw=1)
    part.set_ylabel(label)
axes[-1].set_xlabel("time [s]")
drawing.savefig("servo.png", dpi=100)
