"""Subjects: derivatives against differences, lengths and markers against the truth."""

from __future__ import annotations

import numpy as np
import pytest

import supple
from supple.scaling import welded_to
from supple.subject_fit import Fit, ends_of_loops
from supple.subject_model import Model, Spot

RATE = 50.0


def places(figure: supple.Figure, q: np.ndarray) -> np.ndarray:
    """Where the markers are, by the figure's own kinematics (frames, m, 3)."""
    frames = {s: figure.placement(q, s) for s in {p.segment for p in figure.markers.values()}}
    return np.stack([frames[p.segment] @ np.append(p.offset, 1.0) for p in figure.markers.values()], axis=1)[:, :, :3]


def trial(figure: supple.Figure, q: np.ndarray, noise: float = 0.0) -> supple.Markers:
    seen = places(figure, q)
    seen += np.random.default_rng(5).normal(0.0, 1.0, seen.shape) * noise
    return supple.Markers(list(figure.markers), seen, np.arange(len(q)) / RATE)


def leg() -> supple.Figure:
    """A pelvis that floats, a hip, a knee that slides as it bends, an ankle behind an offset of its foot, a toe frame."""
    slides = supple.Spline((-1.0, 0.0, 1.0, 2.0), (0.01, 0.0, -0.02, -0.05))
    parts = [
        *supple.free("pelvis"),
        *supple.ball("thigh", "pelvis", "zxy", at=(0.05, 0.1, -0.05)),
        *supple.hinge("knee", "thigh", (0, 1, 0), at=(0.0, 0.01, -0.4), limits=(-0.5, 2.5), segment="turned"),
        supple.Joint("knee.slide", "turned", slide=(1, 0, 0), segment="shank", drive=supple.Drive.by({"knee": slides})),
        supple.Joint("ankle.y", "shank", supple.place((0.01, 0.0, -0.38)), (0, 1, 0)),
        supple.Joint("ankle.x", "ankle.y'", turn=(1, 0, 0)),
        supple.Joint("foot.origin", "ankle.x'", supple.place((-0.05, 0.0, -0.04)), segment="foot"),
        *supple.fixed("toe", "foot", at=(0.2, 0.0, 0.0)),
    ]
    spots: dict[str, tuple[str, tuple[float, float, float]]] = {}
    rng = np.random.default_rng(0)
    for segment, middle in (("pelvis", 0.0), ("thigh", -0.2), ("shank", -0.2), ("foot", 0.0)):
        for k in range(4):
            x, y, z = rng.uniform(-0.1, 0.1, 3)
            spots[f"{segment}{k}"] = (segment, (x, y, z + middle))
    return supple.Figure("leg", parts).with_markers({**spots, "tip": ("toe", (0.02, 0.01, 0.0))})


def swing(figure: supple.Figure, frames: int, seed: int = 1, reach: float = 0.8) -> np.ndarray:
    """A range of motion inside the limits."""
    rng = np.random.default_rng(seed)
    lower, upper = np.maximum(figure.lower, -reach), np.minimum(figure.upper, reach)
    phase, speed = rng.uniform(0.0, 6.0, figure.size), rng.uniform(1.0, 4.0, figure.size)
    t = np.arange(frames)[:, None] / RATE
    return 0.5 * (lower + upper) + 0.45 * (upper - lower) * np.sin(phase + speed * t)


def looped() -> supple.Figure:
    """The leg with a strut from its pelvis that a loop ties to the shank."""
    parts = [*leg().parts, *supple.ball("strut", "pelvis", at=(0.1, 0.0, 0.0)), *supple.slide("rod", "strut", rest=0.2)]
    loop = supple.Loop("tie", "rod", "shank", supple.place((0.0, 0.1, 0.1)), supple.place((0.1, 0.0, -0.2)))
    return supple.Figure("looped", parts, loops=[loop], markers=leg().markers)


def fit_of(figure: supple.Figure, frames: int) -> Fit:
    """A fit away from its optimum, everything free."""
    rng = np.random.default_rng(2)
    spots = [Spot(p.segment, np.array(p.offset), np.zeros(3)) for p in figure.markers.values()] + ends_of_loops(figure)
    bodies = list(dict.fromkeys(welded_to(figure).values()))
    model = Model(figure, spots, {b: k % (len(bodies) - 1) for k, b in enumerate(bodies)}, len(bodies) - 1)
    m = len(figure.markers)
    q = swing(figure, frames)[:, model.chosen]
    sigma = np.ones(model.count + 3 * m)
    fit = Fit(model, spots, np.arange(m), rng.normal(size=(frames, m, 3)), np.ones((frames, m)), sigma, q, True)
    fit.theta = fit.theta + rng.uniform(-0.1, 0.1, len(sigma))
    return fit


@pytest.mark.parametrize("make", [leg, looped])
def test_derivatives_are_slopes(make) -> None:
    fit = fit_of(make(), 2)
    look, h = fit.look(), 1e-6
    for k in range(len(fit.theta)):
        ends = []
        for sign in (1.0, -1.0):
            fit.theta[k] += sign * h
            ends.append(fit.look().r)
            fit.theta[k] -= sign * h
        np.testing.assert_allclose(look.B[:, :, k], (ends[0] - ends[1]) / (2.0 * h), atol=1e-7)
    for k in range(fit.Q.shape[1]):
        ends = []
        for sign in (1.0, -1.0):
            fit.Q[:, k] += sign * h
            ends.append(fit.look().r)
            fit.Q[:, k] -= sign * h
        np.testing.assert_allclose(look.A[:, :, k], (ends[0] - ends[1]) / (2.0 * h), atol=1e-7)


def test_the_arrow_is_the_whole_system() -> None:
    """Eliminating postures frame by frame gives the step of the dense normal equations."""
    fit = fit_of(leg(), 3)
    look, free, kappa, mu = fit.look(), np.arange(len(fit.theta)), 0.3, 0.01
    step = fit.step(look, free, kappa, mu)
    T, n, p = len(fit.Q), fit.Q.shape[1], len(free)
    J = np.zeros((look.r.size, T * n + p))
    rows = look.r.shape[1]
    for t in range(T):
        J[t * rows : (t + 1) * rows, t * n : (t + 1) * n] = look.A[t]
        J[t * rows : (t + 1) * rows, T * n :] = look.B[t]
    value = 0.5 * np.sum(look.r**2, axis=1)
    H, g = J.T @ J, J.T @ look.r.ravel()
    H[T * n :, T * n :] += np.diag(1.0 / fit.sigma**2)
    g[T * n :] += (fit.theta - fit.mean) / fit.sigma**2
    damping = np.repeat(kappa * np.maximum(value, value.mean()) + 1e-12, n)
    H += np.diag(np.concatenate([damping, mu * np.diag(H)[T * n :]]))
    d = -np.linalg.solve(H, g)
    np.testing.assert_allclose(step.dtheta, d[T * n :], rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(step.dq.ravel(), d[: T * n], rtol=1e-7, atol=1e-10)
    undamped = H - np.diag(np.concatenate([damping, mu / (1.0 + mu) * np.diag(H)[T * n :]]))
    assert step.gain == pytest.approx(-g @ d - 0.5 * d @ undamped @ d)


def test_lengths_and_markers_are_recovered() -> None:
    """Two markers of every segment stay where they are, relative to its size; nothing else is known."""
    figure = leg()
    truth = {"pelvis": 0.93, "thigh": 1.08, "turned": 1.02, "shank": 0.95, "foot": 1.04}
    rng = np.random.default_rng(3)
    loose = [name for name in figure.markers if name[-1] in "23p"]
    moved = {name: rng.uniform(-0.02, 0.02, 3) for name in loose}
    scaled = figure.scaled(truth)
    person = scaled.with_markers(
        {n: (scaled.markers[n].segment, np.add(scaled.markers[n].offset, moved[n])) for n in loose}
    )
    seen = trial(person, swing(person, 120))
    subject = supple.fit_subject(figure, seen, place=loose, spread=10.0, noise=1e-5, frames=30, tolerance=1e-12)
    assert subject.converged
    assert subject.untold == ("whole",), "every segment differs from it as it likes"
    for name in truth:
        assert subject.scales[name] == pytest.approx(truth[name], abs=1e-6)
    for name in figure.markers:
        np.testing.assert_allclose(subject.figure.markers[name].offset, person.markers[name].offset, atol=1e-6)
        assert subject.moved[name] == pytest.approx(np.linalg.norm(moved.get(name, 0.0)), abs=1e-6)
