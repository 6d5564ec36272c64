"""The posing page in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple import Scene
from tests.view.page.browser import Tab, browsers

browser = pytest.fixture(scope="module")(browsers)


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    from supple.view.page.page import Page

    page = Page(Scene(supple.load("human", fingers=False)), port=0)
    yield page
    page.close()


@pytest.fixture
def tab(browser: Any, page: Any) -> Iterator[Tab]:
    tab = Tab(browser, page.link, page.server.get_clients)
    yield tab
    tab.close()
    assert tab.errors == []


def place(page: Any, segment: str) -> np.ndarray:
    return page.worker.ask(lambda s: s.figure.placement(s.q, segment)[:3, 3])


def still(tab: Tab, page: Any) -> None:
    tab.until(lambda: not page.worker.ask(lambda s: dict(s.pulls)))


def test_a_hand_is_pulled_to_its_target_undone_and_done_again(tab: Tab, page: Any):
    before = page.worker.ask(lambda s: s.q)
    tab.shot("page")
    tab.drag(tab.pixel(place(page, "hand_r")), (60.0, -90.0), let_go=False)
    tab.until(lambda: page.session.pulls)
    tab.page.wait_for_timeout(800)
    tab.shot("pull")
    held = page.worker.ask(lambda s: next(iter(s.pulls.values())))
    assert held.segment in ("hand_r", "forearm_r")
    name = held.pin
    far = page.worker.ask(lambda s: s.misses()[name][0].metres)
    assert far < 1e-3
    assert np.linalg.norm(held.wanted[:3, 3] - held.begin[:3, 3]) > 0.1
    tab.page.mouse.up()
    still(tab, page)
    after = page.worker.ask(lambda s: s.q)
    assert list(page.session.scene.constraints) == ["foot_l", "foot_r"]
    tab.page.keyboard.press("Control+z")
    tab.until(lambda: np.array_equal(page.session.q, before))
    tab.page.keyboard.press("Control+y")
    tab.until(lambda: np.array_equal(page.session.q, after))


def test_out_of_reach_it_says_why(tab: Tab, page: Any):
    tab.drag(tab.pixel(place(page, "hand_r")), (-330.0, -230.0), let_go=False)
    tab.until(lambda: page.session.pulls and not page.session.said.ok)
    tab.page.wait_for_timeout(1000)
    tab.shot("out_of_reach")
    assert tab.page.get_by_text("Out of reach").or_(tab.page.get_by_text("Proved out of reach")).first.is_visible()
    assert "straight" in page.session.said.text or "limit" in page.session.said.text
    tab.page.mouse.up()
    still(tab, page)
    assert page.session.scene.limits.contains(page.session.q)


def test_a_click_selects_a_key_pins_and_the_gizmo_is_there(tab: Tab, page: Any):
    tab.page.mouse.click(*tab.pixel(np.add(place(page, "head"), [0.0, 0.0, 0.08])))
    tab.until(lambda: page.session.selected is not None)
    tab.page.wait_for_timeout(500)
    tab.shot("selected")
    chosen = page.session.selected
    tab.page.keyboard.press("p")
    tab.until(lambda: chosen in page.session.scene.constraints)
    tab.page.wait_for_timeout(500)
    tab.shot("pinned")
    tab.page.keyboard.press("Delete")
    tab.until(lambda: chosen not in page.session.scene.constraints)
    tab.page.keyboard.press("m")
    tab.until(lambda: page.session.scene.now.done == "mirror")


def test_two_people_see_the_same_and_one_who_vanishes_leaves_nothing(browser: Any, tab: Tab, page: Any):
    other = Tab(browser, page.link, page.server.get_clients)
    other.drag(other.pixel(place(page, "hand_r")), (50.0, -70.0), let_go=False)
    other.until(lambda: page.session.pulls)
    other.close()
    still(tab, page)
    assert list(page.session.scene.constraints) == ["foot_l", "foot_r"]
    tab.page.wait_for_timeout(1500)  # until this tab has drawn what the other one did
    tab.drag(tab.pixel(place(page, "thorax_upper")), (-30.0, 40.0))
    tab.until(lambda: len(page.session.scene.history) == 3)
    still(tab, page)
    assert_allclose([miss.metres for miss, _ in page.session.misses().values()], 0.0, atol=1e-5)


def test_a_scene_is_saved_and_opened_again_and_a_hostile_file_is_not(tab: Tab, page: Any, tmp_path):
    tab.drag(tab.pixel(place(page, "hand_r")), (50.0, -70.0))
    tab.until(lambda: len(page.session.scene.history) == 2)
    still(tab, page)
    q = page.worker.ask(lambda s: s.q)
    tab.page.get_by_text("Files", exact=True).click()
    with tab.page.expect_download() as download:
        tab.page.get_by_role("button", name="Save", exact=True).click()
    path = tmp_path / "scene.toml"
    download.value.save_as(path)
    assert_array_equal(supple.read_scene(path).q, q)
    page.worker.ask(lambda s: s.reset())
    evil = tmp_path / "evil.urdf"
    evil.write_text('<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><robot name="a">&a;</robot>')
    for file in (evil, path):
        with tab.page.expect_file_chooser() as chooser:
            tab.page.get_by_text("Open a file").click()
        chooser.value.set_files(str(file))
        if file is evil:
            tab.until(lambda: page.worker.trouble != "")
            tab.page.wait_for_timeout(500)
            tab.shot("refused")
    tab.until(lambda: np.array_equal(page.session.q, q))
    tab.page.get_by_role("button", name="Copy as Python").click()
    tab.page.wait_for_timeout(800)
    tab.shot("files")


def test_obstacles_and_keys(tab: Tab, page: Any):
    tab.page.get_by_text("Around", exact=True).click()
    tab.page.get_by_role("button", name="box", exact=True).click()
    tab.until(lambda: "box 1" in page.session.scene.obstacles)
    tab.page.wait_for_timeout(500)
    tab.shot("obstacle")
    tab.page.get_by_text("Time", exact=True).click()
    tab.page.keyboard.press("i")
    tab.until(lambda: len(page.panel.timeline.keys) == 1)
    page.worker.ask(lambda s: s.turn({"upper_arm_r.flexion": 1.2}))
    tab.page.keyboard.press("i")
    tab.until(lambda: len(page.panel.timeline.keys) == 2)
    tab.page.keyboard.press(" ")
    tab.page.wait_for_timeout(800)
    tab.shot("keys")
    tab.page.keyboard.press(" ")


def test_two_figures_shake_hands(tab: Tab, page: Any):
    tab.page.get_by_text("Figures", exact=True).click()
    tab.page.get_by_role("button", name="add", exact=True).click()
    tab.until(lambda: "jack/hand_r" in page.session.figure.segments)
    page.worker.ask(lambda s: (s.select("jack/hand_r.palm"), s.select("hand_r.palm")))
    tab.page.mouse.move(60.0, 640.0)
    tab.page.keyboard.press("e")
    tab.until(lambda: len(page.session.scene.constraints) == 5)
    assert all(ok for _, ok in page.worker.ask(lambda s: s.misses()).values())
    tab.page.wait_for_timeout(2000)
    tab.shot("handshake")
    for _ in range(2):
        tab.page.keyboard.press("Control+z")
    tab.until(lambda: page.session.figure.name == "human" and "jack/hand_r" not in page.session.figure.segments)
    assert page.worker.trouble == ""
