"""Samples that cannot be right are set aside and told; labels that were permuted are put right on request."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import supple
from tests.cli.test_cli import run
from tests.motion.test_verdicts import WALKER, seen, swapped


def permuted(markers: supple.Markers, names: list[str], first: int, last: int) -> supple.Markers:
    """The markers with the labels of some carried on by one for a while."""
    columns = [markers.names.index(name) for name in names]
    positions = markers.positions.copy()
    positions[first:last, columns] = positions[first:last, np.roll(columns, 1)]
    return replace(markers, positions=positions)


def spoilt(markers: supple.Markers, share: float, spike: float, seed: int = 0) -> tuple[supple.Markers, np.ndarray]:
    """Single samples that lie elsewhere; at the origin if the spike is 0."""
    rng = np.random.default_rng(seed)
    which = rng.random(markers.positions.shape[:2]) < share
    off = rng.normal(size=(*which.shape, 3))
    off *= spike / np.linalg.norm(off, axis=2, keepdims=True)
    wrong = markers.positions + off if spike else np.zeros_like(markers.positions)
    return replace(markers, positions=np.where(which[:, :, None], wrong, markers.positions)), which


@pytest.mark.parametrize("spike", [0.3, 1.0, 0.0])
def test_spikes_and_zeros_are_set_aside_and_little_else(spike: float):
    clean = seen()
    trial, which = spoilt(clean, 0.01, spike)
    motion, good = supple.track(WALKER, trial), supple.track(WALKER, clean)
    aside = np.isnan(motion.errors)  # type: ignore[arg-type]
    assert aside[which].mean() > 0.95
    assert (aside & ~which).mean() < 0.001
    assert abs(motion.rms - good.rms) < 0.1 * good.rms
    places = [np.linalg.norm(WALKER.marker_places(m.q) - clean.positions, axis=2) for m in (motion, good)]
    assert np.sqrt(np.mean(places[0] ** 2)) < 1.1 * np.sqrt(np.mean(places[1] ** 2))
    assert any("set aside" in text for text in (*motion.notes, *motion.problems))


def test_many_bad_samples_are_a_problem_and_few_a_note():
    few, many = (supple.track(WALKER, spoilt(seen(), share, 0.5)[0]) for share in (0.005, 0.05))
    assert few.ok, few.verdict
    assert not many.ok


def test_clean_trials_lose_nothing():
    assert np.isfinite(supple.track(WALKER, seen()).errors).all()  # type: ignore[arg-type]


def test_what_a_marker_slides_into_is_kept():
    trial = seen()
    positions = trial.positions.copy()
    way = 0.15 * np.sin(np.linspace(0.0, np.pi, len(trial))) ** 2
    positions[:, trial.names.index("LKNE"), 0] += way
    motion = supple.track(WALKER, replace(trial, positions=positions))
    assert np.isfinite(motion.errors).all()  # type: ignore[arg-type]


@pytest.mark.parametrize("names", [["LKNE", "RKNE"], ["LANK", "LSHO", "RELB"], ["LANK", "RANK", "LWRA", "RSHO"]])
def test_permuted_labels_are_put_right_on_request(names: list[str]):
    clean = seen()
    wrong = permuted(clean, names, 10, 22)
    told = [p for p in supple.track(WALKER, wrong).problems if all(repr(n) in p for n in names)]
    assert told
    assert "from frame 10 to 21" in told[0]
    right = supple.motion.relabelled(WALKER, wrong)
    np.testing.assert_array_equal(right.positions, clean.positions)
    assert any("put right" in note for note in right.notes)
    assert supple.track(WALKER, right).ok


def test_a_trial_in_order_is_left_as_it_is():
    clean = seen()
    np.testing.assert_array_equal(supple.motion.relabelled(WALKER, clean).positions, clean.positions)


# limits of what is odd were chosen on Rajagopal's walk and gait2354's
TRIALS = {
    "gait2392": ("opensim/gait2392_walk/subject01.osim", "opensim/gait2392_walk/walk_free_01.trc", ("R.ASIS", "R.Thigh.Upper")),
    "second walk": ("opensim/gait2392_walk/subject01.osim", "opensim/gait2392_walk/walk_free_02.trc", ("L.Heel", "R.Heel")),
    "run": ("gaps/run_subject.osim", "gaps/run_500_nan.trc", ("LTH1", "RTH1")),
}  # fmt: skip


@pytest.mark.parametrize("name", TRIALS)
def test_spoilt_trials_end_within_a_tenth_of_the_clean_residual(name: str, shared: Path):
    model, file, pair = TRIALS[name]
    figure = supple.load(shared / "data" / "mocap" / model)
    clean = supple.read_markers(shared / "data" / "mocap" / file).frames(0, 120)
    good = supple.track(figure, clean)
    noisy = replace(clean, positions=clean.positions + np.random.default_rng(1).normal(0, 0.002, clean.positions.shape))
    variants = {
        "swapped": swapped(clean, *pair, 20, 70), "swapped throughout": swapped(clean, *pair),
        "spiked": spoilt(clean, 0.01, 0.4)[0], "at the origin": spoilt(clean, 0.02, 0.0)[0], "noisy": noisy,
    }  # fmt: skip
    for what, trial in variants.items():
        assert supple.track(figure, trial).rms < 1.1 * good.rms, what


def test_the_command_relabels(shared: Path, tmp_path: Path):
    folder = shared / "data" / "mocap" / "opensim" / "gait2354"
    trial = swapped(supple.read_markers(folder / "walk1.trc").frames(0, 40), "R.ASIS", "V.Sacral", 10, 20)
    supple.write(trial, tmp_path / "t.trc")
    arguments = ("track", tmp_path / "t.trc", "-m", folder / "subject01.osim", "--zeros", "missing", "--unlabelled")
    assert run(*arguments).exit_code == 1
    done = run(*arguments, "--relabel")
    assert done.exit_code == 0, done.output
    assert "Labels put right: R.ASIS, V.Sacral" in done.output or "Labels put right: V.Sacral, R.ASIS" in done.output
