"""The tab of time: keys, play, ghosts, named postures."""

from __future__ import annotations

import threading
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.basics.writing import write_file
from supple.errors import BadValue
from supple.view.page.as_python import postures_text, read_postures
from supple.view.page.body import Body
from supple.view.page.keys import Keys
from supple.view.page.session import Session

if TYPE_CHECKING:
    from supple.view.page.page import Page


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
            self.told()
            if at >= self.keys.end and at + 1.0 <= self._time.max:
                self._time.value = at + 1.0
            self._draw_ghosts(session)

        self.page.worker.do(work)

    def unkey(self) -> None:
        """Take the key at the slider's time away."""
        self.page.worker.do(lambda session: (self.keys.remove(float(self._time.value)), self.told()))

    def _clear(self) -> None:
        self.page.worker.do(lambda session: (self.keys.clear(), self.told()))

    def told(self) -> None:
        """Say which keys there are, and which postures are kept."""
        self._known.options = ("none", *self.postures)
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
        self.told()
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
