"""The further tabs of the posing page: joints, time, surroundings, files."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

import supple
from supple.basics.writing import write_file
from supple.errors import BadValue
from supple.scene.scene import Scene
from supple.view.page.body import Body
from supple.view.page.keys import Keys
from supple.view.page.lines import postures_of, postures_text, python_lines, read_postures
from supple.view.page.obstacles import KINDS, new_obstacle, size_of, sized
from supple.view.page.session import Session
from supple.view.page.uploads import opened as opened_upload

if TYPE_CHECKING:
    from supple.view.page.page import Page

SOLVERS = ("usual", "Newton", "ProjectedGradient", "JacobianTranspose", "PseudoInverse", "CyclicCoordinateDescent")


class Joints:
    """Sliders of the selected segment's coordinates, locks, rigidity by segment, and the solver."""

    def __init__(self, page: Page) -> None:
        self.page, gui = page, page.server.gui
        self._sliders: dict[str, Any] = {}
        self._segment: str | None = None
        colours = gui.add_checkbox("Colour by nearness to limits", True)
        colours.on_update(lambda e: self._colour(e.target.value))
        solver = gui.add_dropdown("Solver on release", SOLVERS, initial_value="usual")
        solver.on_update(lambda e: self.page.worker.do(lambda s: _choose(s, e.target.value)))
        self._note = gui.add_markdown("Click on a part of the figure to see its joint.")
        self._folder = gui.add_folder("Joint")

    def _colour(self, on: bool) -> None:
        self.page.body.coloured = on
        self.page.worker.do(lambda session: None)

    def opened(self, session: Session) -> None:
        """Another figure."""
        self._segment = "?"

    def show(self, session: Session) -> None:
        """The sliders, where the joint is now."""
        if session.selected != self._segment:
            self._rebuild(session)
        values = session.figure.named(session.q)
        for name, slider in self._sliders.items():
            turning = session.figure.turning[session.figure.coordinates.index(name)]
            shown = round(float(np.rad2deg(values[name]) if turning else values[name]), 3)
            shown = float(np.clip(shown, slider.min, slider.max))
            if abs(slider.value - shown) > 1e-3:
                slider.value = shown

    def _rebuild(self, session: Session) -> None:
        gui, figure = self.page.server.gui, session.figure
        self._folder.remove()
        self._sliders, self._segment = {}, session.selected
        self._folder = gui.add_folder(session.selected or "Joint")
        self._note.visible = session.selected is None
        if session.selected is None:
            return
        own = figure.chain(figure.parent_of(session.selected), session.selected)
        rigid = session.scene.rigidity
        with self._folder:
            for name in own:
                self._slider(session, name)
                lock = gui.add_checkbox(f"lock {name}", rigid.get(name, 0.0) >= 1.0)
                lock.on_update(lambda e, name=name: _if_person(e, self.page, lambda s, v: s.lock(name, v)))
            if own:
                segment = session.selected
                stiff = gui.add_slider("Rigidity", 0.0, 1.0, 0.05, float(max(rigid.get(n, 0.0) for n in own)))
                stiff.on_update(lambda e: _if_person(e, self.page, lambda s, v: s.stiffen(segment, float(v))))

    def _slider(self, session: Session, name: str) -> None:
        figure, i = session.figure, session.figure.coordinates.index(name)
        turning = bool(figure.turning[i])
        scale, least = (180.0 / np.pi, 360.0) if turning else (1.0, 3.0)
        low, high = (float(x * scale) for x in (figure.lower[i], figure.upper[i]))
        low, high = (low if np.isfinite(low) else -least), (high if np.isfinite(high) else least)
        at, rest = float(np.clip(session.q[i] * scale, low, high)), float(np.clip(figure.rest[i] * scale, low, high))
        unit = "°" if turning else "m"
        marks = ((low, f"{low:.4g}"), (rest, "·"), (high, f"{high:.4g}{unit}"))
        slider = self.page.server.gui.add_slider(
            name, low, max(high, low + 1e-6), (high - low) / 2000.0 or 1e-6, at, marks=marks
        )
        slider.on_update(lambda e: _if_person(e, self.page, lambda s, v: s.turn({name: float(v) / scale}, done=False)))
        self._sliders[name] = slider


def _choose(session: Session, name: str) -> None:
    session.solver = None if name == "usual" else getattr(supple, name)()


def _if_person(event: Any, page: Page, work: Any) -> None:
    """What a person has set, not the page itself."""
    if event.client is not None:
        value = event.target.value
        page.worker.do(lambda session: work(session, value))


class Timeline:
    """Keys, play, ghosts of the neighbouring keys; named postures."""

    def __init__(self, page: Page, library: Path | None) -> None:
        self.page, self.keys, self._library = page, Keys(), library
        self.postures = {} if library is None else read_postures(page.session.figure, library)
        self._playing = threading.Event()
        self._ghosts: list[Body] = []
        gui = page.server.gui
        self._time = gui.add_slider("Time [s]", 0.0, 5.0, 0.01, 0.0)
        self._time.on_update(self._scrubbed)
        row = gui.add_button_group("Keys", ("key", "unkey", "play", "clear"), hint="Key: I, play: space")
        row.on_click(
            lambda e: {"key": self.key, "unkey": self.unkey, "play": self.toggle, "clear": self._clear}[
                e.target.value
            ]()
        )
        self._loop = gui.add_checkbox("Loop", True)
        self._show_ghosts = gui.add_checkbox("Ghosts of neighbouring keys", False)
        self._show_ghosts.on_update(lambda e: page.worker.do(lambda s: self._draw_ghosts(s)))
        self._list = gui.add_markdown("No keys yet: press *key* or I.")
        with gui.add_folder("Named postures"):
            self._name = gui.add_text("Name", "posture 1")
            self._known = gui.add_dropdown("Kept", ("none", *self.postures), initial_value="none")
            keep = gui.add_button_group(" ", ("keep", "take", "forget"))
            keep.on_click(lambda e: page.worker.do(lambda s: self._posture(s, e.target.value)))

    # ── keys ─────────────────────────────────────────────────────────────────────────────────────────────────────────
    def key(self) -> None:
        """Key the posture at the time of the slider, and go on by a second if nothing is keyed beyond."""

        def work(session: Session) -> None:
            at = float(self._time.value)
            self.keys.put(at, session.q)
            self._told()
            if at >= self.keys.end and at + 1.0 <= self._time.max:
                self._time.value = at + 1.0
            self._draw_ghosts(session)

        self.page.worker.do(work)

    def unkey(self) -> None:
        """Take the key at the slider's time away."""
        self.page.worker.do(lambda session: (self.keys.remove(float(self._time.value)), self._told()))

    def _clear(self) -> None:
        self.page.worker.do(lambda session: (self.keys.clear(), self._told()))

    def _told(self) -> None:
        times = ", ".join(f"{t:.2f}" for t in self.keys.times)
        self._list.content = f"Keys at {times} s" if times else "No keys yet: press *key* or I."

    def _scrubbed(self, event: Any) -> None:
        if event.client is not None and len(self.keys) > 1:
            at = float(event.target.value)
            self.page.worker.do(lambda session: session.turn(session.figure.named(self.keys.posture(at)), done=False))

    def toggle(self) -> None:
        """Play, or stop."""
        if self._playing.is_set():
            self._playing.clear()
            return
        self._playing.set()
        threading.Thread(target=self._play, daemon=True).start()

    def _play(self) -> None:
        try:
            motion = self.page.worker.ask(lambda session: self.keys.motion(session.scene))
        except Exception:  # told on the page by the worker
            self._playing.clear()
            return
        began = monotonic()
        while self._playing.is_set():
            at = monotonic() - began
            length = float(motion.times[-1])
            if at > length and (not self._loop.value or length == 0.0):
                break
            frame = int(np.searchsorted(motion.times, at % length if length else 0.0, side="right")) - 1
            q = motion.q[max(frame, 0)]
            self.page.worker.do(lambda session, q=q: self.page.body.show(q))
            self._playing_pause()
        self._playing.clear()
        self.page.worker.do(lambda session: None)

    @staticmethod
    def _playing_pause() -> None:
        threading.Event().wait(1.0 / 30.0)

    def opened(self, session: Session) -> None:
        """Another figure: its keys are new."""
        self._playing.clear()
        self.keys.clear()
        self._told()
        for ghost in self._ghosts:
            ghost.remove()
        self._ghosts = []

    def show(self, session: Session) -> None:
        """Nothing of it changes by itself."""

    def _draw_ghosts(self, session: Session) -> None:
        for ghost in self._ghosts:
            ghost.remove()
        self._ghosts = []
        if self._show_ghosts.value:
            rows = zip(self.keys.around(float(self._time.value)), ("#6aa5ab", "#efb24a"), strict=True)
            for k, (q, tint) in enumerate(rows):
                if q is not None:
                    self._ghosts.append(
                        Body(self.page.server.scene, f"/ghosts/{k}", session.figure, opacity=0.22, tint=tint)
                    )
                    self._ghosts[-1].show(q)

    # ── named postures ───────────────────────────────────────────────────────────────────────────────────────────────
    def _posture(self, session: Session, what: str) -> None:
        name = self._name.value.strip() if what == "keep" else self._known.value
        if what == "keep":
            if not name or name == "none":
                raise BadValue("a posture is kept by a name")
            self.postures[name] = session.q
        elif name not in self.postures:
            raise BadValue("choose a posture that was kept")
        elif what == "take":
            session.pose(self.postures[name], f"take {name!r}")
        else:
            del self.postures[name]
        self._known.options = ("none", *self.postures)
        if self._library is not None and what != "take":
            write_file(self._library, postures_text(session.figure, self.postures).encode())


class Surroundings:
    """Obstacles, clearance, what else would do."""

    def __init__(self, page: Page) -> None:
        self.page, gui = page, page.server.gui
        self._others: list[Body] = []
        add = gui.add_button_group("Add", KINDS)
        add.on_click(lambda e: page.worker.do(lambda s: self._add(s, e.target.value)))
        self._pick = gui.add_dropdown("Obstacle", ("none",), initial_value="none")
        self._size = gui.add_vector3(
            "Size [m]", (0.3, 0.3, 0.3), step=0.01, hint="Box: sides; ball: radius; capsule: radius, –, length"
        )
        act = gui.add_button_group(" ", ("size", "remove"))
        act.on_click(lambda e: page.worker.do(lambda s: self._act(s, e.target.value)))
        self._pick.on_update(lambda e: page.worker.do(self._chosen))
        self._margin = gui.add_slider("Clearance [mm]", 0.0, 100.0, 1.0, 0.0)
        self._margin.on_update(lambda e: _if_person(e, page, lambda s, v: s.scene.keep_clear(margin=float(v) / 1000.0)))
        itself = gui.add_checkbox("Keep clear of itself", False)
        itself.on_update(lambda e: _if_person(e, page, lambda s, v: s.scene.keep_clear(itself=bool(v))))
        self._touching = gui.add_markdown("")
        others = gui.add_button_group(
            "Other ways", ("show", "hide"), hint="Other postures that meet the same pins; click on one to take it"
        )
        others.on_click(lambda e: page.worker.do(lambda s: self._ways(s, e.target.value == "show")))

    def _add(self, session: Session, kind: str) -> None:
        k = 1
        while f"{kind} {k}" in session.scene.obstacles:
            k += 1
        root = session.figure.placement(session.q, session.figure.segments[0])[:3, 3]
        place = root + 0.35 * self.page.size * np.array([1.0, 0.0, 0.0])
        session.scene.place(f"{kind} {k}", new_obstacle(kind, place, 0.15 * self.page.size))
        self.show(session)
        self._pick.value = f"{kind} {k}"

    def _act(self, session: Session, what: str) -> None:
        name = self._pick.value
        shape = session.scene.obstacles.get(name)
        if shape is None:
            raise BadValue("choose an obstacle first")
        if what == "remove":
            session.scene.take_away(name)
        else:
            session.scene.place(name, sized(shape, np.array(self._size.value)))
            if session.scene.now.setup.enabled:
                session.solve()

    def _chosen(self, session: Session) -> None:
        shape = session.scene.obstacles.get(self._pick.value)
        if shape is not None and hasattr(shape, "at") | hasattr(shape, "centre"):
            self._size.value = size_of(shape)

    def _ways(self, session: Session, wanted: bool) -> None:
        for body in self._others:
            body.remove()
        self._others = []
        if not wanted:
            return
        found = supple.solve(session.scene.problem, start=session.q, distinct=4, deadline=3.0, prove=False)
        for k, solution in enumerate(s for s in found if s.ok and np.abs(s.q - session.q).max() > 0.05):
            body = Body(self.page.server.scene, f"/ways/{k}", session.figure, opacity=0.3, tint="#6aa5ab")
            body.show(solution.q)
            q = solution.q
            body.on_press(
                lambda *_: None,
                lambda *_, q=q: self.page.worker.do(lambda s: (s.pose(q, "another way"), self._ways(s, False))),
            )
            self._others.append(body)
        if not self._others:
            raise BadValue("no other posture was found that meets the pins")

    def show(self, session: Session) -> None:
        """The list of obstacles, and what touches."""
        names = ("none", *session.scene.obstacles)
        if tuple(self._pick.options) != names:
            self._pick.options = names
        if session.pulls or not (session.scene.obstacles or session.scene.clearance.itself):
            text = ""
        else:
            rows = [f"{t.segment} – {t.other}: {1000 * t.distance:.0f} mm" for t in session.scene.touching[:6]]
            text = "Too near: " + "; ".join(rows) if rows else "Nothing touches."
        if self._touching.content != text:
            self._touching.content = text


class Files:
    """Out: scene, posture, motion, picture, Python. In: figures, scenes, motions, postures."""

    OUT = ("scene.toml", "postures.json", "posture.bvh", "motion.bvh", "motion.glb", "pose.py")

    def __init__(self, page: Page) -> None:
        self.page, gui = page, page.server.gui
        self._what = gui.add_dropdown("Save as", self.OUT, initial_value="scene.toml")
        save = gui.add_button("Save")
        save.on_click(lambda e: page.worker.do(lambda s: self._save(s, e.client, self._what.value)))
        picture = gui.add_button("Picture of the view")
        picture.on_click(self._picture)
        python = gui.add_button("Copy as Python")
        python.on_click(lambda e: page.worker.do(lambda s: self._python(s)))
        self._code = gui.add_markdown("")
        upload = gui.add_upload_button(
            "Open a file", mime_type="*/*", hint="Figure, scene, motion or postures; at most 64 MB"
        )
        upload.on_upload(self._uploaded)

    def _save(self, session: Session, client: Any, name: str) -> None:
        content = self.content(session, name)
        if client is not None:
            client.send_file_download(name, content, save_immediately=True)

    def content(self, session: Session, name: str) -> bytes:
        """What a file of that name holds."""
        if name == "pose.py":
            return python_lines(session.scene).encode()
        if name == "postures.json":
            kept = self.page.panel.timeline.postures
            return postures_text(session.figure, {"now": session.q, **kept}).encode()
        with tempfile.TemporaryDirectory(prefix="supple-") as folder:
            path = Path(folder) / name
            keys = self.page.panel.timeline.keys
            if name == "scene.toml":
                supple.write(session.scene, path)
            elif name == "posture.bvh" or not len(keys):
                supple.write(
                    supple.Motion(session.figure, session.q[None], np.zeros(1), source=session.figure.source), path
                )
            else:
                supple.write(keys.motion(session.scene), path)
            return path.read_bytes()

    def _picture(self, event: Any) -> None:
        from io import BytesIO

        from PIL import Image

        image = event.client.get_render(height=1080, width=1920, transport_format="png", timeout=20.0)
        data = BytesIO()
        Image.fromarray(image).save(data, "png")
        event.client.send_file_download("pose.png", data.getvalue(), save_immediately=True)

    def _python(self, session: Session) -> None:
        self._code.content = f"```python\n{python_lines(session.scene)}\n```"

    def _uploaded(self, event: Any) -> None:
        file = event.target.value
        self.page.worker.do(lambda session: self.opened(session, file.name, file.content))

    def opened(self, session: Session, name: str, content: bytes) -> None:
        """Take what somebody has sent: a figure, a scene, a motion's keys or postures."""
        found = opened_upload(name, content)
        if isinstance(found, Scene):
            self.page.open(found)
        elif isinstance(found, supple.Figure):
            self.page.open(Scene(found))
        elif isinstance(found, supple.Motion):
            self.page.open(Scene(found.figure, found.posture(0)))
            timeline = self.page.panel.timeline
            for t, q in list(zip(found.times, found.q, strict=True))[:: max(1, len(found) // 24)]:
                timeline.keys.put(float(t), q)
            timeline._told()
        else:
            self.page.panel.timeline.postures |= postures_of(session.figure, found, name)
            self.page.panel.timeline._known.options = ("none", *self.page.panel.timeline.postures)
