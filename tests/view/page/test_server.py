"""What stands between the page and the world: the guard, bounded uploads, one thread for everybody."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple import Scene
from supple.errors import BadFile
from supple.view.page.server import Guard, start
from supple.view.page.session import Session
from supple.view.page.uploads import opened, safe_name
from supple.view.page.worker import Worker


# ── the guard ────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_on_the_loopback_only_this_computer_and_this_page_are_answered():
    guard = Guard("127.0.0.1")
    assert guard.token is None
    assert guard.refusal("/", {"Host": "127.0.0.1:8080"}) is None
    assert guard.refusal("/", {"Host": "localhost:8080", "Origin": "http://localhost:8080"}) is None
    assert guard.refusal("/", {"Host": "[::1]:8080"}) is None
    for headers in (
        {"Host": "evil.example:8080"},  # another name for our address
        {"Host": "127.0.0.1:8080", "Origin": "http://evil.example"},  # another page's script
        {"Host": "127.0.0.1:8080", "Origin": "http://127.0.0.1:9999"},
        {"Host": "127.0.0.1:8080", "Origin": "null"},
        {},
    ):
        refused = guard.refusal("/", headers)
        assert refused is not None
        assert refused[0] == 403


def test_elsewhere_every_request_needs_the_token_once():
    guard = Guard("0.0.0.0")
    assert guard.token is not None
    host = {"Host": "192.168.0.7:8080"}
    for path in ("/", "/?token=", "/?token=wrong", "/?token=" + guard.token[:-1]):
        assert guard.refusal(path, host)[0] == 403
    status, headers, _ = guard.refusal(f"/?token={guard.token}", host)
    assert status == 302
    cookie = headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert guard.refusal("/", {**host, "Cookie": cookie.split(";")[0]}) is None
    assert guard.refusal("/", {**host, "Cookie": "supple_token=wrong"})[0] == 403
    assert guard.refusal("/", {**host, "Cookie": cookie.split(";")[0], "Origin": "http://evil.example"})[0] == 403
    assert guard.token in guard.link
    assert Guard("0.0.0.0").token != guard.token


# ── uploads ──────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("arm.urdf", "arm.urdf"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\windows\\system.toml", "system.toml"),
        ("/etc/cron.d/x.bvh", "x.bvh"),
        ("a b;rm -rf ~.urdf", "a_b_rm_-rf.urdf"),
        ("...", "file."),
        ("x" * 500 + ".bvh", "x" * 80 + ".bvh"),
    ],
)
def test_only_a_name_is_left_of_a_path(name: str, safe: str):
    assert safe_name(name) == safe


HOSTILE = {
    "entities.urdf": b'<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><robot name="a">&a;</robot>',
    "deep.urdf": b"<a>" * 5000,
    "nothing.urdf": b"",
    "binary.bvh": bytes(range(256)) * 50,
    "lies.bvh": b"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 99999999 Xposition\n",
    "program.py": b"import os",
    "robot.xml": b"<mujoco><include file='/etc/passwd'/></mujoco>",
    "file.toml": b'version = 1\nfigure = "/etc/passwd.urdf"\n',
    "file2.toml": b'version = 1\nfigure = { file = "../../secret.urdf" }\n',
    "nan.json": b'{"version": 1, "figure": "human", "posture": {"head.flexion": NaN}}',
    "latin.toml": "figure = 'é'".encode("latin-1"),
    "deep.json": b"[" * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_upload_is_refused_by_the_readers(name: str):
    with pytest.raises(supple.Error):
        opened(name, HOSTILE[name])


def test_too_large_an_upload_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("supple.view.page.uploads.UPLOAD", 10)
    with pytest.raises(BadFile, match="at most"):
        opened("arm.urdf", b"x" * 11)


def test_figures_scenes_motions_and_postures_are_opened(tmp_path):
    arm = supple.load("panda")
    supple.write(arm, tmp_path / "arm.urdf")
    figure = opened("arm.urdf", (tmp_path / "arm.urdf").read_bytes())
    assert isinstance(figure, supple.Figure)
    assert figure.coordinates == arm.coordinates
    supple.write(Scene(arm), tmp_path / "scene.toml")
    assert isinstance(opened("scene.toml", (tmp_path / "scene.toml").read_bytes()), Scene)
    motion = supple.Motion(supple.load("human"), np.zeros((3, 72)), np.arange(3) / 30)
    supple.write(motion, tmp_path / "walk.bvh")
    assert len(opened("walk.bvh", (tmp_path / "walk.bvh").read_bytes())) == 3
    assert isinstance(opened("p.json", b'{"figure": "human", "postures": {}}'), str)


# ── one thread ───────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_worker_follows_the_newest_target_and_loses_nothing_at_the_end():
    shown = []
    worker = Worker(Session(Scene(supple.load("human", fingers=False))), lambda session: shown.append(session.revision))
    try:
        place = worker.ask(lambda s: s.figure.placement(s.q, "hand_l")[:3, 3])
        worker.do(lambda s: s.press("me", "hand_l", place))
        for x in np.linspace(0.0, 0.3, 200):
            worker.do(lambda s, x=x: s.pull("me", np.add(place, [x, 0.0, x])))
        worker.ask(lambda s: s.release("me"))
        there = worker.ask(lambda s: s.figure.placement(s.q, "hand_l")[:3, 3])
        assert_allclose(there, np.add(place, [0.3, 0.0, 0.3]), atol=1e-4)
        assert shown
    finally:
        worker.stop()


def test_a_worker_tells_what_went_wrong_and_goes_on(caplog: pytest.LogCaptureFixture):
    worker = Worker(Session(Scene(supple.load("panda"))), lambda session: None)
    try:
        with pytest.raises(supple.BadValue):
            worker.ask(lambda s: s.undo())
        assert "as it began" in worker.trouble
        with pytest.raises(ZeroDivisionError):
            worker.ask(lambda s: 1 / 0)
        assert worker.ask(lambda s: s.figure.name) == "panda"
        assert worker.trouble == ""
    finally:
        worker.stop()


def test_many_threads_cannot_corrupt_a_session():
    worker = Worker(Session(Scene(supple.load("human", fingers=False))), lambda session: None)

    def someone(k: int) -> None:
        rng, segment = np.random.default_rng(k), ("hand_l", "hand_r", "head")[k % 3]
        for _ in range(15):
            place = worker.ask(lambda s: s.figure.placement(s.q, segment)[:3, 3])
            aim = np.add(place, 0.2 * rng.standard_normal(3))
            worker.do(lambda s, p=place: s.press(k, segment, p))
            worker.do(lambda s, p=aim: s.pull(k, p))
            worker.do((lambda s: s.release(k)) if rng.random() < 0.7 else (lambda s: s.undo()))

    people = [threading.Thread(target=someone, args=(k,)) for k in range(4)]
    try:
        for person in people:
            person.start()
        for person in people:
            person.join()
        worker.ask(lambda s: s._quiet())
        names, q, limits = worker.ask(lambda s: (list(s.scene.constraints), s.q, s.scene.limits))
        assert names == ["foot_l", "foot_r"]
        assert limits.contains(q)
    finally:
        worker.stop()


# ── a real server ────────────────────────────────────────────────────────────────────────────────────────────────────
def status_of(link: str, **headers: str) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(link, headers=headers), timeout=20.0) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_a_real_server_refuses_what_its_guard_refuses():
    pytest.importorskip("viser")
    server, guard = start(port=0)
    try:
        assert status_of(guard.link) == 200
        assert status_of(guard.link, Host="evil.example") == 403
        assert status_of(guard.link, Origin="http://evil.example") == 403
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
        key = {"Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
        assert status_of(guard.link, **upgrade, **key, Origin="http://evil.example") == 403
    finally:
        server.stop()


def test_a_taken_port_gives_way_to_the_next_and_a_token_is_asked_for_elsewhere():
    pytest.importorskip("viser")
    first, one = start(port=0)
    second, other = start("0.0.0.0", port=one.port)
    try:
        assert other.port != one.port
        here = f"http://127.0.0.1:{other.port}/"
        assert status_of(here) == 403
        assert status_of(here, Cookie=f"supple_token={other.token}") == 200
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(f"{here}?token={other.token}", timeout=20.0) as answer:
            assert answer.status == 200
    finally:
        first.stop()
        second.stop()
    with pytest.raises(supple.BadValue, match="port"):
        start(port=70_000)
