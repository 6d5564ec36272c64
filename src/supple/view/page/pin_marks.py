"""Pins on the page: a knob for each, a red line to what is missed, and a gizmo for the one that is chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from supple.geometry.placements import Floats
from supple.view.page.body import quaternions
from supple.view.page.pins import TURNING, handle_of, kind_of, seen_by
from supple.view.page.session import Session

RED, GREEN, GREY = (214, 48, 40), (38, 140, 96), (150, 156, 164)
HIDDEN = np.zeros((1, 2, 3), dtype=np.float32)


class Marks:
    """What is drawn of a session's pins."""

    def __init__(
        self, scene: Any, size: float, on_knob: Callable[[str, Any], Any], on_gizmo: Callable[[str, Any], Any]
    ) -> None:
        self._scene, self._size, self._on_knob, self._on_gizmo = scene, size, on_knob, on_gizmo
        self._knobs: dict[str, Any] = {}
        self._looks: dict[str, Any] = {}
        self._gizmo: tuple[str, str, Any] | None = None  # pin, kind, node
        self._serial = 0
        self._lines = scene.add_line_segments("/misses", HIDDEN, colors=RED, thickness=0.008, visible=False)
        self._label = scene.add_label("/why", "", visible=False)

    def show(self, session: Session, chosen: str | None) -> None:
        """Draw the pins as they are."""
        figure, q, tasks = session.figure, session.q, session.scene.constraints
        misses = session.misses()
        for gone in [name for name in self._knobs if name not in tasks]:
            self._knobs.pop(gone).remove()
            self._looks.pop(gone)
        lines = []
        for name, task in tasks.items():
            handle = handle_of(figure, q, task)
            if handle is None:
                pair = seen_by(figure, q, task) if kind_of(task) == "balance" else None
                handle = None if pair is None else _at(np.array([pair[0][0], pair[0][1], 0.0]))
            if handle is None:
                continue
            off, ok = name in session.scene.disabled, misses.get(name, (None, True))[1]
            self._show_knob(name, handle, GREY if off else GREEN if ok else RED, bool(task.hard))
            pair = None if off or ok else seen_by(figure, q, task)
            if pair is not None and kind_of(task) != "aim":
                lines.append(pair)
        self._show_lines(lines, session)
        self._show_gizmo(session, chosen)

    def _show_knob(self, name: str, handle: Floats, colour: tuple[int, int, int], hard: bool) -> None:
        if name not in self._knobs:
            self._serial += 1
            knob = self._scene.add_icosphere(
                f"/pins/{self._serial}", 0.014 * self._size, color=colour, cast_shadow=False
            )

            async def pressed(event: Any, name: str = name) -> None:
                self._on_knob(name, event)

            knob.on_drag("left")(pressed)
            knob.on_click(pressed)
            self._knobs[name], self._looks[name] = knob, None
        knob, look = self._knobs[name], (colour, tuple(np.round(handle[:3, 3], 6)))
        if look != self._looks[name]:
            knob.position, knob.color = handle[:3, 3], colour
            self._looks[name] = look

    def _show_lines(self, lines: list[tuple[Floats, Floats]], session: Session) -> None:
        if lines:
            self._lines.points = np.array(lines, dtype=np.float32)
            self._label.position = lines[-1][1]
            short = f"{1000.0 * float(np.linalg.norm(lines[-1][1] - lines[-1][0])):.0f} mm"
            wanted = f"{short} · proved out of reach" if session.said.proved else short
            if self._label.text != wanted:
                self._label.text = wanted
        if self._lines.visible != bool(lines):
            self._lines.visible = self._label.visible = bool(lines)

    def _show_gizmo(self, session: Session, chosen: str | None) -> None:
        task = dict(session.scene.constraints).get(chosen or "")
        kind = None if task is None or chosen in session.scene.disabled else kind_of(task)
        handle = None if kind is None else handle_of(session.figure, session.q, task)  # pyright: ignore
        if self._gizmo is not None and (handle is None or self._gizmo[:2] != (chosen, kind)):
            self._gizmo[2].remove()
            self._gizmo = None
        if handle is None or kind is None or chosen is None:
            return
        if self._gizmo is None:
            self._serial += 1
            node = self._scene.add_transform_controls(
                f"/gizmos/{self._serial}", scale=0.13 * self._size, depth_test=False, disable_rotations=kind not in TURNING,
                disable_axes=kind == "direction", disable_sliders=kind == "direction", line_width=3.0,
            )  # fmt: skip
            name = chosen

            async def moved(event: Any) -> None:
                self._on_gizmo(name, event)

            node.on_update(moved)
            self._gizmo = (chosen, kind, node)
        held = any(pull.pin == chosen for pull in session.pulls.values())
        node = self._gizmo[2]
        turn = quaternions(handle[None])[0]
        moved_away = (
            np.abs(node.position - handle[:3, 3]).max() > 1e-7
            or min(np.abs(node.wxyz - turn).max(), np.abs(node.wxyz + turn).max()) > 1e-6
        )
        if not held and moved_away:
            node.position, node.wxyz = handle[:3, 3], turn


def _at(place: Floats) -> Floats:
    T = np.eye(4)
    T[:3, 3] = place
    return T
