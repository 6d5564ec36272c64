"""Report pages: the verdict first, titled by the trial, what to look at, limits, another run beside."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.errors import BadValue
from supple.view.fit_report import write_fit_report
from supple.view.other_run import apart, differences, together
from supple.view.report import errors_of, write_report
from supple.view.report_parts import limits_hit, table
from supple.view.suspects import suspects
from tests.cli.test_cli import refusal, run
from tests.motion.retargeting.test_retarget import HUMAN, marching
from tests.motion.tracking.test_track import arm, places, trial, wave


@pytest.fixture(scope="module")
def seen() -> tuple[supple.Figure, np.ndarray, np.ndarray]:
    """An arm, a motion of it, and its markers."""
    figure = arm()
    q = wave(figure, 60)
    return figure, q, places(figure, q)


def spoilt(
    seen: tuple[supple.Figure, np.ndarray, np.ndarray], how: str
) -> tuple[supple.motion.Tracked, supple.Markers, str]:
    """The arm tracked with one marker spoilt, and that marker's name."""
    figure, q, at = seen
    at, k = at.copy(), 0
    name = list(figure.markers)[k]
    T = figure.placement(q, figure.markers[name].segment)
    if how == "elsewhere":
        at[:, k] += T[:, :3, :3] @ [0.0, 0.06, 0.0]
    elif how == "spikes":
        at[[20, 40], k] += 0.2
    else:
        at[:, k] += 0.05 * np.sin(np.arange(len(at)) * 1.3)[:, None]
    markers = trial(figure, at)
    exact = supple.Motion(figure, q, markers.times)
    errors = np.linalg.norm(figure.marker_places(q) - at, axis=2)
    tracked = supple.track(figure, markers)
    object.__setattr__(tracked, "q", exact.q)
    object.__setattr__(tracked, "errors", errors)
    return tracked, markers, name


@pytest.mark.parametrize(
    ("how", "said"), [("elsewhere", "Sits 60 mm"), ("spikes", "in frame 20|in frame 40"), ("loose", "Moves by")]
)
def test_suspicious_markers_are_named_with_what_to_do(seen, how: str, said: str) -> None:
    tracked, markers, name = spoilt(seen, how)
    found = suspects(tracked, markers)
    assert [who for who, _ in found] == [name]
    assert re.search(said, found[0][1]), found


def test_markers_that_are_seldom_seen_are_named(seen) -> None:
    figure, _, at = seen
    at = at.copy()
    at[:40, 1] = np.nan
    markers = trial(figure, at)
    found = dict(suspects(supple.track(figure, markers), markers))
    assert found == {list(figure.markers)[1]: "Seen in 33 % of the frames only: see whether its label changes."}


def test_a_page_is_titled_by_the_trial_and_tells_the_verdict_first(seen, tmp_path: Path) -> None:
    figure, q, at = seen
    markers = trial(figure, at)
    tracked = supple.track(figure, markers)
    other = supple.Motion(figure, q + 0.01, markers.times)
    write_report(tracked, markers, tmp_path / "page.html", "throw & catch", other)
    text = (tmp_path / "page.html").read_text()
    assert "<title>throw &amp; catch</title>" in text
    order = [
        text.index(what) for what in ("<h1>throw", "class='verdict", "Markers to look at", "Error by frame", "srcdoc")
    ]
    assert order == sorted(order)
    theirs = errors_of(other, markers, tracked.markers)
    assert theirs is not None
    assert f"<td>{1e3 * np.sqrt(np.mean(theirs**2)):.2f}</td>" in text


# ── another run ──────────────────────────────────────────────────────────────────────────────────────────────────────
def test_how_far_two_runs_are_apart(seen) -> None:
    figure, q, _ = seen
    times = np.arange(len(q)) / 100.0
    k = figure.coordinates.index("elbow")
    bent = q.copy()
    bent[:, k] += 0.1
    found = {
        name: (turned, away)
        for name, turned, away in apart(supple.Motion(figure, q, times), supple.Motion(figure, bent, times))
    }
    assert_allclose(found["shoulder"][0], 0.0, atol=1e-6)
    assert_allclose(found["elbow"][0], 0.1, atol=1e-9)
    assert_allclose(found["elbow"][1], 0.0, atol=1e-12)
    assert_allclose(found["wrist"][1], 2.0 * 0.25 * np.sin(0.05), atol=1e-9)


def test_only_common_times_are_compared(seen) -> None:
    figure, q, _ = seen
    a = supple.Motion(figure, q[:30], np.arange(30) / 100.0)
    b = supple.Motion(figure, q[:60:2], np.arange(30) / 50.0)
    ours, theirs = together(a, b)
    assert_allclose(ours, 2 * theirs)
    assert len(ours) == 15


def test_figures_that_share_nothing_are_not_compared(seen) -> None:
    figure, q, _ = seen
    with pytest.raises(BadValue, match="share no segment: compare runs of one figure"):
        differences(supple.Motion(figure, q, np.arange(60.0)), marching(HUMAN, 5))


def test_limits_that_were_hit_are_named(seen) -> None:
    figure, q, _ = seen
    k = figure.coordinates.index("elbow")
    stuck = np.array(q)
    stuck[:15, k] = 2.0
    told = limits_hit(supple.Motion(figure, stuck, np.arange(60) / 100.0))
    assert f"<td>elbow</td><td class='text'>upper</td><td>{np.rad2deg(2.0):.1f} °</td><td>25.0</td>" in told
    assert limits_hit(supple.Motion(figure, q, np.arange(60) / 100.0)) == "<p>No coordinate was at a limit.</p>"


def test_tables_escape_what_they_hold() -> None:
    assert "<td>&lt;b&gt;</td>" in table(["a"], [["<b>"]])


# ── the command line ─────────────────────────────────────────────────────────────────────────────────────────────────
def test_retarget_compares_with_another_run(tmp_path: Path) -> None:
    clip, first, page = tmp_path / "march.bvh", tmp_path / "first.bvh", tmp_path / "page.html"
    supple.write(marching(HUMAN, 12), clip)
    assert run("retarget", clip, "--to", "jack", "-o", first).exit_code == 0
    done = run("retarget", clip, "--to", "jack", "-o", tmp_path / "b.bvh", "--report", page, "--against", first)
    assert done.exit_code == 0, done.output
    text = page.read_text()
    assert "<title>march.bvh onto jack</title>" in text
    assert "Against the other run" in text
    assert "--report" in refusal("retarget", clip, "--to", "jack", "-o", first, "--against", first)


def test_a_fitted_subject_has_a_page(seen, tmp_path: Path) -> None:
    figure = seen[0]
    markers = trial(figure.scaled(1.1), places(figure.scaled(1.1), wave(figure, 30)))
    subject = supple.fit_subject(figure, markers, scales="whole", frames=10)
    write_fit_report(subject, markers, tmp_path / "fit.html", "static.trc on arm")
    text = (tmp_path / "fit.html").read_text()
    assert "<title>static.trc on arm</title>" in text
    assert f"<td>whole</td><td>{subject.scales['whole']:.4f}</td>" in text
    assert text.index("class='verdict") < text.index("Scales") < text.index("Error by marker")
