"""The player: clips on one clock, a page that plays offline, a film."""

from __future__ import annotations

import base64
import html
import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.errors import BadFile, BadValue
from supple.view.page.clips import Clip, length_of, read_clip, side_by_side
from supple.view.page.export import player_data, player_page, write_player
from supple.view.page.faults import marker_errors, worst_times
from supple.view.page.video import write_video
from supple.view.retarget_report import write_retarget_report
from tests.view.page.browser import Tab, browsers

browser = pytest.fixture(scope="module")(browsers)


def motion(name: str = "human", frames: int = 31, **options: Any) -> supple.Motion:
    figure = supple.load(name, **options)
    Q = np.tile(figure.rest, (frames, 1))
    Q[:, -1] = 0.2 * np.sin(np.linspace(0.0, 6.0, frames))
    Q[:, figure.size // 2] += np.linspace(0.0, 0.5, frames)
    return supple.Motion(figure, np.stack([figure.limits.project(q) for q in Q]), 2.0 + np.arange(frames) / 30.0)


def numbers(text: str, kind: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def test_clips_share_a_clock_that_begins_at_nought():
    clip = Clip("a", motion())
    assert clip.times[0] == 0.0
    assert length_of([clip, Clip("b", motion(frames=11))]) == pytest.approx(1.0)
    assert [clip.frame(t) for t in (-1.0, 0.0, 1 / 30, 0.05, 9.0)] == [0, 0, 1, 1, 30]


def test_motions_stand_side_by_side_and_markers_stay():
    markers = supple.Markers(["a"], np.zeros((2, 1, 3)), np.arange(2) / 10)
    first, second, cloud = side_by_side([Clip("a", motion()), Clip("b", motion()), Clip("c", markers)])
    assert first.aside == (0.0, 0.0, 0.0)
    assert second.aside[1] < -0.5
    assert cloud.aside == (0.0, 0.0, 0.0)


def test_the_page_holds_the_placements_of_every_frame():
    clip = Clip("walk </script><script>alert(1)</script>", motion())
    (found,) = player_data([clip])["clips"]
    count = len(found["meshes"])
    at = numbers(found["positions"], "<f4").reshape(31, count, 3)
    turns = numbers(found["turns"], "<i2").reshape(31, count, 4) / 32767.0
    assert_allclose(np.linalg.norm(turns, axis=2), 1.0, atol=1e-4)
    names = [s for s in clip.what.figure.segments if s in clip.what.figure.bodies]
    for frame in (0, 17, 30):
        there = clip.placements(frame)
        assert_allclose(at[frame, 0], there[names[0]][:3, 3], atol=1e-6)
    page = player_page([clip])
    assert "</script><script>alert" not in page
    assert not re.search(r"(src|href)\s*=|https?://", page)  # nothing from elsewhere
    text = re.search(r'<script id="data"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert text is not None
    assert json.loads(text[1].replace("<\\/", "</"))["clips"][0]["name"] == clip.name


def test_long_and_fast_motions_are_thinned():
    figure = supple.load("panda")
    fast = supple.Motion(figure, np.tile(figure.rest, (2400, 1)), np.arange(2400) / 1200.0)
    (found,) = player_data([Clip("fast", fast)])["clips"]
    assert len(numbers(found["times"], "<f4")) == 120


def test_error_lines_go_from_what_was_seen_to_what_carries_it():
    figure = supple.load("human")
    named = dict(list(figure.markers.items())[:3]) or {"a": supple.Point("head", (0.0, 0.0, 0.1))}
    figure = replace(figure, markers=named)
    still = supple.Motion(figure, np.tile(figure.rest, (3, 1)), np.arange(3) / 10)
    seen = np.tile(figure.marker_places(figure.rest, list(named)), (3, 1, 1)).reshape(3, -1, 3).copy()
    seen[1, 0] += [0.0, 0.0, 0.02]
    seen[2, 0] = np.nan
    clips = [Clip("m", still), Clip("c", supple.Markers(list(named), seen, np.arange(3) / 10))]
    lines = marker_errors(clips, 0.1)
    assert_allclose(lines[0, 0] - lines[0, 1], [0.0, 0.0, 0.02], atol=1e-9)
    assert len(marker_errors(clips, 0.2)) == len(named) - 1
    assert worst_times(clips)[0] == pytest.approx(0.1)
    assert worst_times(clips[:1]) == []


@pytest.mark.parametrize(("name", "error"), [("a.txt", BadFile), ("a.mot", BadValue), ("a.amc", BadValue)])
def test_what_cannot_be_played_is_refused(tmp_path: Path, name: str, error: type):
    (tmp_path / name).write_text("")
    with pytest.raises(error):
        read_clip(tmp_path / name)


def test_a_film_is_written_and_told_about(tmp_path: Path):
    pytest.importorskip("matplotlib")
    from PIL import Image

    told: list[tuple[int, int]] = []
    write_video(
        [Clip("arm", motion("panda", 7))], tmp_path / "arm.gif", rate=15.0, progress=lambda *at: told.append(at)
    )
    with Image.open(tmp_path / "arm.gif") as film:
        assert film.n_frames == 4
        frames = []
        for k in range(4):
            film.seek(k)
            frames.append(np.asarray(film.convert("RGB")).astype(int))
    assert told[-1] == (4, 4)
    assert np.abs(frames[0] - frames[-1]).max() > 30
    with pytest.raises(BadFile, match=r"\.gif or \.mp4"):
        write_video([Clip("arm", motion("panda", 7))], tmp_path / "arm.avi")
    markers = supple.Markers(["a"], np.zeros((2, 1, 3)), np.arange(2) / 10)
    with pytest.raises(BadValue, match="needs a motion"):
        write_video([Clip("m", markers)], tmp_path / "m.gif")


# ── in a browser ─────────────────────────────────────────────────────────────────────────────────────────────────────
def test_the_written_page_plays_with_the_network_off(browser: Any, tmp_path: Path):
    write_player([Clip("walk", motion())], tmp_path / "walk.html")
    context = browser.new_context(offline=True, viewport={"width": 900, "height": 600})
    page, wrong = context.new_page(), []
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: wrong.append(request.url) if not request.url.startswith("file:") else None)
    page.goto((tmp_path / "walk.html").as_uri())
    page.wait_for_function("supplePlayer.time > 0.2")
    page.keyboard.press(" ")
    assert page.evaluate("supplePlayer.playing") is False
    page.evaluate("supplePlayer.go(0.5)")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("supplePlayer.time") == pytest.approx(16 / 30, abs=1e-4)
    page.select_option("#which", index=1)
    folder = os.environ.get("SUPPLE_SHOTS")
    if folder:
        page.screenshot(path=f"{folder}/offline.png")
    pixels = page.evaluate(
        "() => { const c = document.createElement('canvas'), s = document.getElementById('stage');"
        "c.width = s.width; c.height = s.height;"
        "const g = c.getContext('2d'); supplePlayer.go(0.6); g.drawImage(s, 0, 0);"
        "return new Set(g.getImageData(0, 0, c.width, c.height).data).size; }"
    )
    assert pixels > 40  # shades of a lit figure
    context.close()
    assert wrong == []


@pytest.fixture
def player(browser: Any) -> Iterator[Any]:
    from supple.view.page.player import Player

    player = Player(side_by_side([Clip("before", motion()), Clip("after", motion("jack"))]), port=0)
    yield player
    player.close()


def test_the_player_plays_stops_and_steps(browser: Any, player: Any):
    tab = Tab(browser, player.link, player.server.get_clients)
    tab.until(lambda: player.time > 0.0)
    tab.page.keyboard.press(" ")
    tab.until(lambda: not player.playing)
    player.go(0.5)
    tab.page.keyboard.press("ArrowRight")
    tab.until(lambda: abs(player.time - 16 / 30) < 1e-6)
    tab.page.wait_for_timeout(500)
    tab.shot("player")
    tab.close()
    assert tab.errors == []


def test_the_report_of_a_retargeting_plays_both_and_names_its_worst_frames(tmp_path):
    before = motion("human", frames=12)
    after = supple.retarget(before, supple.load("jack", fingers=False))
    errors = np.zeros_like(after.errors)
    errors[7] = 0.5
    after = replace(after, errors=errors)
    write_retarget_report(before, after, tmp_path / "report.html")
    page = html.unescape((tmp_path / "report.html").read_text())
    data = json.loads(re.search(r'type="application/json">(.*?)</script>', page, re.S)[1])
    assert [clip["name"] for clip in data["clips"]] == ["human", "jack"]
    assert_allclose(data["worst"], [7.0 / 30.0], atol=1e-6)
    cells = [f"{1e3 * side.slide:.2f}" for side in (after.report.source, after.report.target)]
    assert f"<td>slide of planted feet [mm]</td><td>{cells[0]}</td><td>{cells[1]}</td>" in page
    assert ("Nothing seems wrong." if after.report.ok else "Not to be relied on:") in page
    apart = [numbers(clip["positions"], "<f4")[1] for clip in data["clips"]]
    assert abs(apart[0] - apart[1]) > 0.3


def test_the_page_draws_what_markers_miss():
    figure = supple.load("human", fingers=False).with_marker_set("cmu41")
    still = supple.Motion(figure, np.tile(figure.rest, (4, 1)), np.arange(4) / 30.0)
    names = tuple(figure.markers)[:3]
    seen = np.stack([figure.marker_places(figure.rest, names).reshape(-1, 3)] * 4)
    seen[2, 0] += [0.0, 0.03, 0.0]
    seen[3, 1] = np.nan
    clips = [Clip("motion", still), Clip("markers", supple.Markers(names, seen, np.arange(4) / 30.0))]
    data = player_data(clips)
    lines = numbers(data["errors"]["lines"], "<f4").reshape(4, 3, 2, 3)
    assert_allclose(np.linalg.norm(lines[2, :, 0] - lines[2, :, 1], axis=1), [0.03, 0.0, 0.0], atol=1e-6)
    assert np.isnan(lines[3]).all(axis=(1, 2)).tolist() == [False, False, True]
    assert_allclose(data["worst"][0], 2.0 / 30.0, atol=1e-6)
    assert player_data(clips[:1])["errors"] is None
