"""The player: clips on a page of viser, with a clock."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from time import monotonic
from typing import Any

import numpy as np

from supple.errors import BadValue
from supple.motion.markers import Markers
from supple.motion.motion import Motion
from supple.view.page.body import Body
from supple.view.page.clips import Clip, length_of, middle_of
from supple.view.page.doors import inline
from supple.view.page.export import TINTS
from supple.view.page.faults import marker_errors, worst_times
from supple.view.page.server import LOOPBACK, PORT, start
from supple.view.page.stage import stage
from supple.view.page.visuals import visual_meshes

RATE = 30.0  # pictures a second


class Player:
    """A page on which clips play. `close` ends it; `link` is what to open."""

    def __init__(self, clips: Sequence[Clip], address: str = LOOPBACK, port: int = PORT) -> None:
        if not clips:
            raise BadValue("there is nothing to play")
        self.clips, self.length = list(clips), length_of(clips)
        self.time, self.playing = 0.0, True
        self._ended, self._lock = threading.Event(), threading.Lock()
        self.server, self.guard = start(address, port, "supple · player")
        self._build()
        self._thread = threading.Thread(target=self._run, name="supple player", daemon=True)
        self._thread.start()

    @property
    def link(self) -> str:
        """The address to open in a browser."""
        return self.guard.link

    def _repr_html_(self) -> str:
        return inline(self.link)

    def close(self) -> None:
        """End the page."""
        self._ended.set()
        self._thread.join(timeout=10.0)
        self.server.stop()

    def go(self, time: float) -> None:
        """Show a moment."""
        with self._lock:
            self.time = float(np.clip(time, 0.0, self.length))
            self._show()

    # ── what is drawn ────────────────────────────────────────────────────────────────────────────────────────────────
    def _build(self) -> None:
        view, (middle, size) = self.server.scene, middle_of(self.clips)
        stage(self.server, size)
        camera = self.server.initial_camera
        camera.fov, camera.look_at = 0.62, tuple(middle.tolist())
        camera.position = tuple((middle + 1.9 * size * np.array([0.92, -0.66, 0.24])).tolist())
        self.server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(33, 103, 138))
        self._drawn: list[tuple[Clip, Any]] = []
        for k, clip in enumerate(self.clips):
            if isinstance(clip.what, Markers):
                cloud = view.add_point_cloud(
                    f"/clips/{k}",
                    np.zeros((1, 3), np.float32),
                    (33, 103, 138),
                    point_size=0.012 * size,
                    point_shape="circle",
                )
                self._drawn.append((clip, cloud))
            else:
                view.add_frame(f"/clips/{k}", show_axes=False, position=clip.aside)
                meshes, _ = visual_meshes(clip.what.figure)
                shaped = bool(clip.what.figure.bodies)
                tint = None if k == 0 or not shaped else TINTS[k % len(TINTS)]
                self._drawn.append((clip, Body(view, f"/clips/{k}", clip.what.figure, meshes, tint=tint)))
        self._lines = view.add_line_segments(
            "/errors", np.zeros((1, 2, 3), np.float32), colors=(214, 48, 40), thickness=0.004 * size, visible=False
        )
        self._controls()
        self.go(0.0)

    def _show(self) -> None:
        with self.server.atomic():
            for clip, drawn in self._drawn:
                frame = clip.frame(self.time)
                if isinstance(clip.what, Motion):
                    drawn.show(clip.what.q[frame])
                else:
                    drawn.points = clip.points(frame).astype(np.float32)
            self._show_errors()
            if abs(self._slider.value - self.time) > 1e-4:
                self._slider.value = round(self.time, 4)

    def _show_errors(self) -> None:
        """A red line from each marker that was seen to where the first figure that has it carries it."""
        pairs = marker_errors(self.clips, self.time)
        if len(pairs):
            self._lines.points = pairs.astype(np.float32)
        if self._lines.visible != bool(len(pairs)):
            self._lines.visible = bool(len(pairs))

    # ── what people do ───────────────────────────────────────────────────────────────────────────────────────────────
    def _controls(self) -> None:
        gui = self.server.gui
        names = "\n".join(f"- {clip.name}" for clip in self.clips)
        gui.add_markdown(names)
        self._slider = gui.add_slider("Time [s]", 0.0, max(self.length, 1e-3), 1e-4, 0.0)
        self._slider.on_update(self._scrubbed)
        row = gui.add_button_group(" ", ("play", "◀", "▶"), hint="Space; arrow keys step by a frame")
        row.on_click(
            lambda e: {"play": self.toggle, "◀": lambda: self.step(-1), "▶": lambda: self.step(1)}[e.target.value]()
        )
        self._speed = gui.add_dropdown("Speed", ("0.1", "0.25", "0.5", "1", "2"), initial_value="1")
        self._loop = gui.add_checkbox("Loop", True)
        for label, key, work in (
            ("Play or stop", "space", self.toggle),
            ("A frame back", "arrowleft", lambda: self.step(-1)),
            ("A frame on", "arrowright", lambda: self.step(1)),
        ):
            gui.add_command(label, hotkey=key).on_trigger(lambda event, work=work: work())
        self._plot(gui)
        worst = worst_times(self.clips)
        if worst:
            group = gui.add_button_group("Worst [s]", tuple(f"{t:.3f}" for t in worst))
            group.on_click(lambda e: self._stop_at(float(e.target.value)))

    def _plot(self, gui: Any) -> None:
        """A curve of one coordinate."""
        first = next((clip.what for clip in self.clips if isinstance(clip.what, Motion)), None)
        if first is None or len(first) < 2:
            return
        moving = [c for i, c in enumerate(first.figure.coordinates) if np.ptp(first.q[:, i]) > 1e-6]
        pick = gui.add_dropdown("Curve", ("none", *moving), initial_value="none")
        holder = gui.add_folder("Curve", expand_by_default=True, visible=False)
        drawn: list[Any] = []

        def chosen(event: Any) -> None:
            for old in drawn:
                old.remove()
            drawn.clear()
            holder.visible = pick.value != "none"
            if pick.value == "none":
                return
            i = first.figure.coordinates.index(pick.value)
            values = np.rad2deg(first.q[:, i]) if first.figure.turning[i] else first.q[:, i]
            with holder:
                data = (np.asarray(first.times - first.times[0], dtype=float), np.asarray(values, dtype=float))
                series = ({"label": "s"}, {"label": pick.value, "stroke": "#21678a"})
                drawn.append(gui.add_uplot(data=data, series=series, aspect=2.0))

        pick.on_update(chosen)

    def _scrubbed(self, event: Any) -> None:
        if event.client is not None:
            self._stop_at(float(event.target.value))

    def _stop_at(self, time: float) -> None:
        self.playing = False
        self.go(time)

    def toggle(self) -> None:
        """Play, or stop."""
        if not self.playing and self.time >= self.length:
            self.time = 0.0
        self.playing = not self.playing

    def step(self, way: int) -> None:
        """Stop, and go on or back by a frame of the clip with the most frames."""
        clip = max(self.clips, key=lambda clip: len(clip.times))
        k = int(np.clip(clip.frame(self.time) + way, 0, len(clip.times) - 1))
        self._stop_at(float(clip.times[k]))

    def _run(self) -> None:
        last = monotonic()
        while not self._ended.wait(1.0 / RATE):
            now = monotonic()
            passed, last = now - last, now
            if not self.playing or not self.server.get_clients():
                continue
            at = self.time + passed * float(self._speed.value)
            if at > self.length:
                self.playing = bool(self._loop.value) and self.length > 0.0
                at = at % self.length if self.playing else self.length
            self.go(at)
