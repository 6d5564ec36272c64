"""The leaves of the lean loop, as a GPU runs them: against the audit, central differences, and postures that are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import supple
from supple.errors import BadValue, MissingExtra
from supple.problem.targets import flat_targets
from supple.solvers.lean.lean_leaves import leaves
from supple.solvers.lean.root import unfold
from supple.solvers.lean.shape import INSIDE, Refused, packs, shaped

pytestmark = pytest.mark.interpreted


def crane() -> supple.Figure:
    """Turns and slides about oblique axes, and a branch."""
    return supple.Figure(
        "crane",
        [
            *supple.hinge("turn", None, (0, 0, -1), segment="mast", limits=(-3.0, 3.0)),
            *supple.hinge("lift", "mast", (0.6, 0.8, 0), at=(0, 0.1, 1), segment="boom", limits=(-1.0, 1.0)),
            *supple.slide("reach", "boom", (1, 0, 0), at=(0.2, 0, 0), segment="jib", limits=(0.0, 0.8)),
            *supple.hinge("tip", "jib", (0, 1, 0), at=(0.5, 0, 0), segment="tool", limits=(-2.0, 2.0)),
            *supple.hinge("arm", "mast", (0, 1, 0), at=(0, -0.1, 0.8), segment="stay", limits=(-1.5, 1.5)),
            *supple.hinge("hook", "stay", (1, 0, 0), at=(0.4, 0, 0), segment="hook", limits=(-1.5, 1.5)),
        ],
    )


def walker() -> supple.Figure:
    """The crane, free to be anywhere."""
    return crane().based_at(free=True)


def placed(figure: supple.Figure, *ends: str) -> supple.Problem:
    tasks = [supple.Task(supple.Frame(end, (0.05, 0.1, -0.02)), supple.Placed(np.eye(4))) for end in ends]
    return supple.Problem(figure, tasks)


def goals(figure: supple.Figure) -> supple.Problem:
    """One of each kind that the loop takes."""
    return supple.Problem(
        figure,
        [
            supple.Task("tool", supple.At((0, 0, 0))),
            supple.Task(supple.Direction("tool", (0, 0.6, 0.8)), supple.Facing((0, 0, 1))),
            supple.Task(supple.Point("hook", (0.1, 0, 0)), supple.OnLine((0, 0, 1), (0, 0.6, 0.8))),
            supple.Task("jib", supple.OnPlane((0, 0, 1), (0, 0, 1))),
            supple.Task("hook", supple.Beyond((0, 0, 0.2), (0, 1, 0))),
        ],
    )


PROBLEMS = {
    "arm": placed(supple.load("panda"), "panda_hand"),
    "slides": placed(crane(), "tool"),
    "branches": placed(crane(), "tool", "hook"),
    "goals": goals(crane()),
    "free": placed(walker(), "tool", "hook"),
    "free goals": goals(walker()),
}


def legal(figure: supple.Figure, rng: np.random.Generator) -> np.ndarray:
    low, high = np.maximum(figure.lower, -1.4), np.minimum(figure.upper, 1.4)
    return rng.uniform(low, high)


def targets_at(problem: supple.Problem, q: np.ndarray, moved: float, rng: np.random.Generator) -> list[np.ndarray]:
    """Targets that a posture meets, or misses by about so much."""
    out = []
    for task in problem.tasks:
        X = problem.figure.placement(q, task.effector.segment) @ task.effector.frame
        p, shift = X[:3, 3], moved * rng.normal(size=3)
        match task.goal:
            case supple.Placed():
                Y = X.copy()
                Y[:3, :3] = Rotation.from_rotvec(10.0 * moved * rng.normal(size=3)).as_matrix() @ X[:3, :3]
                Y[:3, 3] += shift
                out.append(Y)
            case supple.At():
                out.append(p + shift)
            case supple.Facing():
                x = X[:3, 0] + 10.0 * moved * rng.normal(size=3)
                out.append(x / np.linalg.norm(x))
            case _:
                normal = rng.normal(size=3)
                normal /= np.linalg.norm(normal)
                along = normal if isinstance(task.goal, supple.OnLine) else np.cross(normal, rng.normal(size=3))
                out.append(np.stack([p + 0.3 * along + shift, normal]))
    return out


class Run:
    """Leaves in plain Python, and the numbers of a problem in them."""

    def __init__(self, problem: supple.Problem, real: type = np.float64) -> None:
        self.problem, self.real = problem, real
        self.shape, self.numbers = shaped(problem, problem.figure.rest)
        self.begin, self.look, self.move, sizes = leaves(self.shape, real, lambda leaf: leaf)
        self.offset, self.tool, self.bounds, self.limits, self.starts = packs(self.numbers, real)
        self.memory = tuple(np.zeros(size, real) for size in sizes)
        self.q, self.base = np.zeros(self.shape.joints, real), np.zeros(7, real)

    def aim(self, targets: list[np.ndarray]) -> np.ndarray:
        given = [None if t is None else t[None] for t in targets]
        (row,) = flat_targets(self.problem, given)
        source = self.numbers.source
        return np.where(source >= 0, row[np.maximum(source, 0)], 0.0).astype(self.real)

    def stand(self, q: np.ndarray) -> None:
        """Put the joints of a figure without a free root where a posture has them."""
        assert not self.shape.free
        self.q[:], self.base[:] = q[self.numbers.coordinate], (1, 0, 0, 0, 0, 0, 0)

    def here(self, T: np.ndarray) -> tuple[float, float]:
        return self.look(self.offset, self.tool, self.bounds, self.q, self.base, T, self.memory)

    def posture(self) -> np.ndarray:
        """The posture in the figure's coordinates."""
        P = np.array([self.problem.figure.rest], dtype=float)
        P[0, self.numbers.coordinate] = np.clip(self.q.astype(float), *self.numbers.limits)
        if self.shape.free:
            base = self.base.astype(float)
            base[:4] /= np.linalg.norm(base[:4])
            unfold(self.numbers.root, lambda leaf: leaf)(base, P, 0)
        return P[0]

    def solve(self, targets: list[np.ndarray], attempts: int = 12) -> bool:
        T = self.aim(targets)
        for k in range(attempts):
            self.begin(self.starts, self.limits, k, self.q, self.base)
            for trip in range(40):
                over, value = self.here(T)
                if over < 1.0:
                    return True
                self.move(self.starts, self.limits, self.q, self.base, T, value, trip == 0, self.memory)
        return False


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_is_met_is_what_the_audit_says_is_met(name: str):
    """`over` is the square of the worst miss in units of its tolerance, of whatever size."""
    problem, rng, told = PROBLEMS[name], np.random.default_rng(5), []
    run = Run(problem)
    for moved in (0.0, 3e-6, 1e-5, 1e-4, 1e-2, 0.3):
        for _ in range(3):
            q = legal(problem.figure, rng)
            targets = targets_at(problem, q, moved, rng)
            if run.shape.free:
                met = targets_at(problem, q, 0.0, rng)
                assert run.solve(met)
                q = run.posture()
                targets = targets_at(problem, q, moved, rng) if moved else met
            else:
                run.stand(q)
            over, _ = run.here(run.aim(targets))
            misses = problem.aimed(*targets).misses(q)
            worst = max(max(m.metres / t.tolerance, 2 * np.sin(m.radians / 2) / (2 * np.sin(t.angle_tolerance / 2)))
                        for m, t in zip(misses, problem.tasks, strict=True))  # fmt: skip
            far = any(m.radians > 2.0 for m in misses)
            assert far or np.sqrt(over) == pytest.approx(worst, rel=1e-5, abs=1e-5)
            told.append(worst < 1.0)
    assert {True, False} == {bool(one) for one in told}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_what_arrives_is_legal_and_near_what_was_asked(name: str, real: type):
    problem, rng, found = PROBLEMS[name], np.random.default_rng(2), 0
    run = Run(problem, real)
    for _ in range(4):
        targets = targets_at(problem, legal(problem.figure, rng), 0.0, rng)
        if run.solve(targets):
            found += 1
            q = run.posture()
            assert problem.limits.contains(q)
            slack = 1.0 if real is np.float64 else 2.0
            for miss, task in zip(problem.aimed(*targets).misses(q), problem.tasks, strict=True):
                assert miss.metres <= slack * task.tolerance
                assert miss.radians <= slack * task.angle_tolerance
    assert found >= 3


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_step_leads_down(name: str):
    """A step with little damping from near a goal leaves less than a hundredth of the value."""
    problem, rng = PROBLEMS[name], np.random.default_rng(8)
    run, fell = Run(problem), []
    for _ in range(6):
        q = legal(problem.figure, rng)
        targets = targets_at(problem, q, 0.0, rng)
        if run.shape.free:
            assert run.solve(targets)
        else:
            run.stand(q)
        run.q += 1e-3 * rng.normal(size=len(run.q))
        run.q[:] = np.clip(run.q, *run.limits)
        T = run.aim(targets)
        _, before = run.here(T)
        run.move(run.starts, run.limits, run.q, run.base, T, before, False, run.memory)
        _, after = run.here(T)
        fell.append(after <= 1e-2 * before + 1e-12)
    assert sum(fell) >= 5


def test_half_a_turn_is_never_met():
    """There the sum of cross products vanishes, as it does at the goal."""
    problem = PROBLEMS["arm"]
    run, q = Run(problem), problem.figure.rest
    for axis in np.vstack([np.eye(3), [[0.6, 0.0, 0.8]]]):
        T = targets_at(problem, q, 0.0, np.random.default_rng(1))[0]
        T[:3, :3] = Rotation.from_rotvec(np.pi * axis).as_matrix() @ T[:3, :3]
        run.stand(q)
        over, _ = run.here(run.aim([T]))
        assert over > 1e6


def test_what_is_no_number_is_never_met():
    problem = PROBLEMS["arm"]
    run, q = Run(problem), problem.figure.rest
    T = run.aim(targets_at(problem, q, 0.0, np.random.default_rng(1)))
    for k in range(12):
        for bad in (np.nan, np.inf):
            broken = T.copy()
            broken[0, k] = bad
            run.stand(q)
            with np.errstate(invalid="ignore"):
                over, value = run.here(broken)
            assert not (over < 1.0 and value < 1e30)


def test_limits_in_float32_are_inside():
    numbers = shaped(PROBLEMS["arm"], PROBLEMS["arm"].figure.rest)[1]
    low, high = packs(numbers, np.float32)[3].astype(float)
    assert (low >= numbers.limits[0]).all()
    assert (high <= numbers.limits[1]).all()
    assert packs(numbers, np.float32)[2].max() <= 1.0 / (INSIDE * 1e-5) ** 2 * 1.001


def problem_with(**options: object) -> supple.Problem:
    figure = supple.load("panda")
    given = {"tasks": [supple.Task("panda_hand", supple.At((0.4, 0, 0.4)))], **options}
    return supple.Problem(figure, **given)


REFUSED = {
    "limits are not ranges": lambda: problem_with(
        limits=supple.Limits(supple.load("panda").lower, supple.load("panda").upper, A=np.ones((1, 8)), b=[1.0])
    ),
    "ranks": lambda: problem_with(
        tasks=[
            supple.Task("panda_hand", supple.At((0.4, 0, 0.4)), hard=True),
            supple.Task("panda_link4", supple.At((0.1, 0, 0.6))),
        ]
    ),
    "alternatives": lambda: problem_with(
        tasks=[supple.Task("panda_hand", supple.AnyOf([supple.At((0.4, 0, 0.4)), supple.At((0.5, 0, 0.4))]))]
    ),
    "rigidity": lambda: problem_with(rigidity={"panda_joint1": 0.5}),
    "relative": lambda: problem_with(
        tasks=[supple.Task("panda_hand", supple.At((0.1, 0, 0), relative_to="panda_link2"))]
    ),
    "share a coordinate": lambda: supple.Problem(
        supple.load("panda"), [supple.Task("panda_rightfinger", supple.At((0.4, 0, 0.4)))]
    ),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_it_does_not_take_is_refused_by_name(why: str):
    problem = REFUSED[why]()
    with pytest.raises(Refused, match=why):
        shaped(problem, problem.figure.rest)


def test_without_a_gpu_the_door_says_so():
    from supple.solvers.lean import gpu

    gpu.cuda.cache_clear()
    if usable():
        pytest.skip("there is a GPU")
    with pytest.raises((MissingExtra, BadValue), match="cuda"):
        supple.solve_many(PROBLEMS["arm"], np.tile(np.eye(4), (3, 1, 1)), device="cuda")
    gpu.cuda.cache_clear()


def usable() -> bool:
    """Whether there is a GPU that can be used."""
    try:
        from numba import cuda

        return bool(cuda.is_available())
    except Exception:
        return False


def test_a_device_that_is_none_is_refused():
    with pytest.raises(BadValue, match="device"):
        supple.solve_many(PROBLEMS["arm"], np.tile(np.eye(4), (3, 1, 1)), device="gpu")
