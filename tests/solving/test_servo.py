"""Servos: speeds, accelerations and limits kept whatever is asked, arrival, twists, and no shaking where reach ends."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple import At, Box, Frame, Near, Placed, Point, Problem, Task
from supple.errors import BadValue, Refused
from supple.solving import Servo, Twist

PANDA, HAND = supple.load("panda"), "panda_hand"
UR5 = supple.load("ur5")
BENT = {"panda": PANDA.rest, "ur5": UR5.posture([0.3, -1.1, 1.4, -0.9, 1.2, 0.4])}
ARMS = {"panda": (PANDA, HAND), "ur5": (UR5, "tool0")}
IIWA, SAWYER, BAXTER = (
    supple.load(name) for name in ("iiwa14", "sawyer", "baxter")
)  # which the servo was not tuned on
SHOWN = {
    "iiwa14": (IIWA, "iiwa_link_ee", IIWA.posture([0.2, 0.6, 0.1, -1.2, 0.1, 0.9, 0.2])),
    "sawyer": (SAWYER, "right_hand", SAWYER.rest),
    "baxter": (BAXTER, "left_hand", BAXTER.rest),
}
DT, MOST = 0.002, 15.0


def asked(name: str) -> Problem:
    figure, tip = ARMS[name]
    return Problem(figure, [Task(tip, Placed(figure.placement(BENT[name], tip)))])


def run(
    servo: Servo, q: np.ndarray, targets: list, velocity: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Postures and velocities, from the first on."""
    Q, V = [np.array(q)], [np.zeros(len(q)) if velocity is None else velocity]
    for target in targets:
        q, v = servo(Q[-1], V[-1], target)
        Q.append(q)
        V.append(v)
    return np.array(Q), np.array(V)


def swept(name: str, seconds: float = 6.0, far: float = 0.8) -> list[np.ndarray]:
    """Targets that go out of reach and come back."""
    figure, tip = ARMS[name]
    out = np.tile(figure.placement(BENT[name], tip), (round(seconds / DT), 1, 1))
    out[:, :3, 3] += far * np.sin(np.pi * np.arange(len(out)) * DT / seconds)[:, None] ** 2 * (1.0, 0.2, 0.1)
    return list(out)


def keeps_bounds(servo: Servo, Q: np.ndarray, V: np.ndarray) -> None:
    figure, A = servo.problem.figure, np.diff(V, axis=0) / servo.dt
    assert (figure.lower <= Q).all()
    assert (figure.upper >= Q).all()
    assert (np.abs(V) <= figure.speed * (1 + 1e-9)).all()
    assert (np.abs(A) <= np.asarray(servo.acceleration) * (1 + 1e-6)).all()
    assert_allclose(np.diff(Q, axis=0) / servo.dt, V[1:], atol=1e-9)


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("seed", range(3))
def test_speeds_accelerations_and_limits_are_kept_whatever_is_asked(name: str, seed: int):
    figure, tip = ARMS[name]
    rng, servo = np.random.default_rng(seed), Servo(asked(name), DT, acceleration=MOST)
    low, high = np.maximum(figure.lower, -3.0), np.minimum(figure.upper, 3.0)
    corners = np.where(rng.random((6, figure.size)) < 0.5, low, high)  # postures at the limits
    targets = np.repeat(figure.placement(corners, tip), 120, axis=0)
    targets[::7, :3, 3] += rng.normal(size=3)
    keeps_bounds(servo, *run(servo, BENT[name], list(targets)))


@pytest.mark.parametrize("name", ARMS)
def test_it_arrives_and_stands_still(name: str):
    figure, tip = ARMS[name]
    servo = Servo(asked(name), DT, acceleration=MOST)
    target = figure.placement(BENT[name] + 0.4, tip)
    Q, V = run(servo, BENT[name], [target] * 1000)
    assert np.abs(figure.placement(Q[-1], tip) - target).max() < 1e-6
    assert np.abs(V[-1]).max() < 1e-4
    keeps_bounds(servo, Q, V)


def reversals(V: np.ndarray, more: float = 1.0) -> int:
    """How often an acceleration of more than 1 rad/s² changes its sign from one moment to the next, of the worst joint."""
    A = np.diff(V, axis=0) / DT
    return int(((A[1:] * A[:-1] < 0.0) & (np.abs(A[1:]) > more) & (np.abs(A[:-1]) > more)).sum(axis=0).max())


@pytest.mark.parametrize("name", ARMS)
def test_nothing_shakes_at_the_border_of_reach(name: str):
    figure, tip = ARMS[name]
    servo, targets = Servo(asked(name), DT, acceleration=MOST), swept(name)
    Q, V = run(servo, BENT[name], targets)
    keeps_bounds(servo, Q, V)
    missed = np.linalg.norm(figure.placement(Q[1:], tip)[:, :3, 3] - np.array(targets)[:, :3, 3], axis=1)
    assert missed.max() > 0.2  # it was out of reach
    assert missed[-1] < 1e-3  # and is back
    assert reversals(V) <= 3
    assert reversals(V, 0.5 * MOST) <= 1  # no burst from one bound to the other


@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.parametrize("way", [(1.0, 0.2, 0.1), (-0.5, 0.8, 0.4), (0.3, -0.9, -0.4), (0.1, 0.2, 1.0)])
def test_nothing_shakes_on_arms_that_it_was_not_tuned_on(name: str, way: tuple[float, float, float]):
    figure, tip, bent = SHOWN[name]
    home = figure.placement(bent, tip)
    servo = Servo(Problem(figure, [Task(tip, Placed(home))]), DT, acceleration=MOST)
    targets = np.tile(home, (2000, 1, 1))
    targets[:, :3, 3] += 0.8 * np.sin(np.pi * np.arange(2000) / 2000)[:, None] ** 2 * np.array(way)
    Q, V = run(servo, bent, list(targets))
    keeps_bounds(servo, Q, V)
    assert reversals(V) <= 3
    assert reversals(V, 0.5 * MOST) <= 1


@pytest.mark.parametrize("name", ARMS)
def test_a_target_that_stands_is_not_overshot(name: str):
    figure, tip = ARMS[name]
    goal = figure.placement(BENT[name] + np.linspace(-0.4, 0.4, figure.size), tip)
    Q, _ = run(Servo(asked(name), DT, acceleration=MOST), BENT[name], [goal] * 600)
    places = figure.placement(Q, tip)[:, :3, 3]
    way = goal[:3, 3] - places[0]
    gone = (places - places[0]) @ way / (way @ way)
    assert gone.max() < 1.0 + 1e-3
    assert_allclose(gone[-1], 1.0, atol=1e-6)


def test_hard_tasks_hold_while_accelerations_bind():
    loop = supple.load("stewart")
    goal = Placed(supple.place(loop.placement(loop.rest, "platform")[:3, 3] + (0.05, 0.02, 0.08)))
    problem = Problem(loop, [Task("platform", goal)])
    servo = Servo(problem, DT, acceleration=1.0)
    q, v = supple.solve(Problem(loop, [Task("platform", Placed(loop.placement(loop.rest, "platform")))])).q, None
    for _ in range(500):
        q, v = servo(q, v)
        assert max(miss.metres for miss in problem.misses(q)[1:]) < 1e-4  # the legs stay in their sockets
    assert problem.misses(q)[0].metres < 1e-3


def test_without_accelerations_speeds_are_kept():
    servo = Servo(asked("panda"), DT)
    Q, V = run(servo, PANDA.rest, swept("panda", 2.0))
    keeps_bounds(servo, Q, V)


def test_a_velocity_that_is_too_fast_for_a_limit_still_ends_inside():
    servo = Servo(asked("ur5"), DT, acceleration=1.0)
    q = np.array(BENT["ur5"])
    q[0] = UR5.upper[0] - 1e-3
    v = np.zeros(UR5.size)
    v[0] = UR5.speed[0]
    Q, V = run(servo, q, [None] * 50, v)
    assert (UR5.upper >= Q).all()
    assert (np.abs(V) <= UR5.speed).all()


def test_from_outside_the_limits_the_way_back_keeps_to_the_speeds():
    q = np.array(PANDA.rest)
    q[3] = PANDA.upper[3] + 0.5
    Q, V = run(Servo(asked("panda"), DT, acceleration=MOST), q, [None] * 400)
    assert (np.abs(V) <= PANDA.speed * (1 + 1e-9)).all()
    assert PANDA.limits.contains(Q[-1])


def test_a_twist_is_the_velocity_of_the_effector():
    problem = asked("panda")
    twist = Twist((0.05, -0.02, 0.03), (0.1, 0.2, -0.1))
    Q, V = run(Servo(problem, 1e-3), PANDA.rest, [twist] * 5)
    J = PANDA.jacobian(Q[-2], Frame(HAND))
    assert_allclose(J @ V[-1], [*twist.linear, *twist.angular], rtol=2e-2, atol=1e-4)  # type: ignore[misc]
    linear = Problem(PANDA, [Task(Point(HAND), At((0, 0, 1))), Task(None, Near(PANDA.rest), weight=1e-6)])
    _, v = Servo(linear, 1e-3)(PANDA.rest, None, [Twist((0.1, 0, 0)), None])
    assert_allclose(PANDA.jacobian(PANDA.rest, Point(HAND)) @ v, (0.1, 0, 0), atol=2e-3)


def test_the_same_moment_gives_the_same_answer():
    servo, target = Servo(asked("panda"), DT, acceleration=MOST), PANDA.placement(PANDA.rest + 0.2, HAND)
    one, other = servo(PANDA.rest, None, target), servo(PANDA.rest, np.zeros(8), target)
    assert one == other
    assert_array_equal(one.q, PANDA.rest + DT * one.velocity)


def refusals() -> dict:
    problem = asked("panda")
    spheres = PANDA.with_spheres({HAND: [(0, 0, 0, 0.1)]})
    walled = Problem(
        spheres, problem.tasks, obstacles=[Box((2, 2, 2), (3, 3, 3))], clearance=supple.Clearance(uncovered="ignore")
    )
    near = Problem(PANDA, [Task(None, Near(PANDA.rest))])
    return {
        "no problem": (lambda: Servo(PANDA, DT), BadValue, "servo"),  # type: ignore[arg-type]
        "no time": (lambda: Servo(problem, 0.0), BadValue, "dt"),
        "no acceleration": (lambda: Servo(problem, DT, acceleration=0.0), BadValue, "acceleration"),
        "velocity": (lambda: Servo(problem, DT)(PANDA.rest, [1.0]), BadValue, "velocity"),
        "obstacles": (lambda: Servo(walled, DT), Refused, "keeps"),
        "twist of a posture": (lambda: Servo(near, DT)(PANDA.rest, None, Twist()), Refused, "At or a Placed"),
    }


@pytest.mark.parametrize("case", refusals())
def test_bad_input_is_refused(case: str):
    make, error, words = refusals()[case]
    with pytest.raises(error, match=words):
        make()
