"""The panels of the posing page: what can be set, pressed and read."""

from __future__ import annotations

import html
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.geometry.placements import Floats
from supple.view.page.around import Surroundings
from supple.view.page.figures import Figures
from supple.view.page.filing import Files
from supple.view.page.joints import Joints
from supple.view.page.pins import KINDS, kind_of, segment_of
from supple.view.page.session import Session
from supple.view.page.timeline import Timeline

if TYPE_CHECKING:
    from supple.view.page.page import Page

HOTKEYS = {
    "point": "P",
    "frame": "F",
    "direction": "D",
    "aim": "A",
    "line": "L",
    "plane": "K",
    "half-space": "H",
    "balance": "B",
}
OFTEN = 0.1  # s between two updates of words and numbers
STYLE = "font-family:inherit;font-size:0.86em;line-height:1.45;padding:0 0.6em"


class Panel:
    """The page's panels; every change goes through the worker."""

    def __init__(self, page: Page, library: Path | None) -> None:
        self.page, self.gui = page, page.server.gui
        self.pressed: tuple[str, Floats] | None = None
        self._last, self._told = 0.0, ""
        self._rows: tuple[Any, ...] = ()
        self._folders: list[Any] = []
        self._status = self.gui.add_html("")
        tabs = self.gui.add_tab_group()
        with tabs.add_tab("Pose"):
            self._pose_tab()
        with tabs.add_tab("Joints"):
            self.joints = Joints(page)
        with tabs.add_tab("Figures"):
            self.figures = Figures(page)
        with tabs.add_tab("Time"):
            self.timeline = Timeline(page, library)
        with tabs.add_tab("Around"):
            self.around = Surroundings(page)
        with tabs.add_tab("Files"):
            self.files = Files(page)
        self._commands()

    def do(self, work: Any) -> None:
        """Have the session do something."""
        self.page.worker.do(work)

    # ── the first tab ────────────────────────────────────────────────────────────────────────────────────────────────
    def _pose_tab(self) -> None:
        gui = self.gui
        self._pick = gui.add_dropdown("Segment", ("none", *self.page.session.figure.segments), initial_value="none")
        self._pick.on_update(self._picked)
        first = gui.add_button_group("Pin", KINDS[:4], hint="Hold the selected segment (keys P, F, D, A)")
        second = gui.add_button_group(" ", KINDS[4:], hint="Keys L, K, H, B")
        for group in (first, second):
            group.on_click(lambda event: self.pin(event.target.value))
        steps = gui.add_button_group("Step", ("undo", "redo", "solve"))
        steps.on_click(lambda event: self.do(lambda s: getattr(s, event.target.value)()))
        postures = gui.add_button_group("Posture", ("reset", "mirror", "copy", "paste"))
        postures.on_click(lambda event: self.do(lambda s: getattr(s, event.target.value)()))
        self._misses = gui.add_html("")
        self._pins = gui.add_folder("Pins", expand_by_default=True)

    def _picked(self, event: Any) -> None:
        if event.client is not None:
            name = event.target.value
            self.do(lambda session: session.select(None if name == "none" else name))

    def pin(self, kind: str) -> None:
        """Pin what is selected."""

        def work(session: Session) -> None:
            segment = session.selected or (session.figure.segments[0] if kind == "balance" else None)
            if segment is None:
                from supple.errors import BadValue

                raise BadValue("select a segment first: click on it")
            self.page.chosen = session.pin(kind, segment)
            session.select(None)

        self.do(work)

    def _commands(self) -> None:
        """Keys; the list of them opens with the palette."""

        def command(label: str, key: str | None, work: Any, modifier: str | None = None) -> None:
            handle = self.gui.add_command(label, hotkey=key, modifier=modifier)
            handle.on_trigger(lambda event: work())

        for kind, key in HOTKEYS.items():
            command(f"Pin: {kind}", key, lambda kind=kind: self.pin(kind))
        command("Pin: two parts together", "T", lambda: self.figures.pair("together"))
        command("Pin: two parts meet", "E", lambda: self.figures.pair("meet"))
        command("Pin: either of two parts", "O", lambda: self.figures.pair("either"))
        command("Undo", "Z", lambda: self.do(lambda s: s.undo()), "cmd/ctrl")
        command("Redo", "Y", lambda: self.do(lambda s: s.redo()), "cmd/ctrl")
        command("Mirror left and right", "M", lambda: self.do(lambda s: s.mirror()))
        command("Back to rest", "R", lambda: self.do(lambda s: s.reset()))
        command("Solve", "enter", lambda: self.do(lambda s: s.solve()))
        command("Select nothing", "escape", self._clear)
        command("Remove the chosen pin", "delete", self._unpin)
        command("Key this posture", "I", lambda: self.timeline.key())
        command("Play or stop", "space", lambda: self.timeline.toggle())

    def _clear(self) -> None:
        self.page.chosen = None
        self.do(lambda session: session.select(None))

    def _unpin(self) -> None:
        name = self.page.chosen
        if name is not None:
            self.do(lambda session: session.unpin(name))

    # ── what is shown ────────────────────────────────────────────────────────────────────────────────────────────────
    def opened(self, session: Session) -> None:
        """Another figure is on the page."""
        self._pick.options = ("none", *session.figure.segments)
        self._rows = ()
        self.joints.opened(session)
        self.timeline.opened(session)

    def show(self, session: Session) -> None:
        """Bring words and numbers up to date, not too often while somebody pulls."""
        if session.pulls and monotonic() - self._last < OFTEN:
            return
        self._last = monotonic()
        chosen = session.selected or "none"
        if self._pick.value != chosen:
            self._pick.value = chosen
        self._show_status(session)
        rows = tuple(
            (name, kind_of(task), name not in session.scene.disabled, task.hard, task.weight, task.chain)
            for name, task in session.scene.constraints.items()
        )
        if not session.pulls and rows != self._rows:
            self._rebuild(session, rows)
        self._show_misses(session)
        self.joints.show(session)
        self.timeline.show(session)
        self.around.show(session)

    def _show_status(self, session: Session) -> None:
        said, trouble = session.said, self.page.worker.trouble if hasattr(self.page, "worker") else ""
        if trouble:
            head, colour, text = "Not done", "#b3261e", trouble
        elif said.ok:
            head, colour, text = (
                session.figure.name,
                "#26704f",
                "every pin is met" if session.scene.constraints else "pull at any part of it",
            )
            unmet = [name for name, (_, ok) in session.misses().items() if not ok]
            if unmet:
                head, colour, text = "Not met", "#b3261e", ", ".join(unmet)
        else:
            head, colour, text = ("Proved out of reach" if said.proved else "Out of reach"), "#b3261e", said.text
        small = f"{said.microseconds / 1000.0:.2f} ms · {said.iterations} iterations" if said.microseconds else ""
        box = f"{STYLE};padding-top:0.5em;padding-bottom:1em;min-height:4.4em"
        told = (
            f'<div style="{box}"><b style="color:{colour}">{html.escape(head)}</b><br>'
            f'{html.escape(text)}<br><span style="opacity:0.55">{small or "&nbsp;"}</span></div>'
        )
        if told != self._told:
            self._status.content = self._told = told

    def _show_misses(self, session: Session) -> None:
        rows = []
        for name, (miss, ok) in session.misses().items():
            colour = "#26704f" if ok else "#b3261e"
            far = f"{1000.0 * miss.metres:.2f} mm" + (f" · {np.rad2deg(miss.radians):.2f}°" if miss.radians else "")
            rows.append(f'<tr><td>{html.escape(name)}</td><td style="text-align:right;color:{colour}">{far}</td></tr>')
        table = f'<table style="{STYLE};width:100%">{"".join(rows)}</table>'
        if self._misses.content != table:
            self._misses.content = table

    def _rebuild(self, session: Session, rows: tuple[Any, ...]) -> None:
        """A folder for each pin."""
        for folder in self._folders:
            folder.remove()
        self._folders, self._rows = [], rows
        with self._pins:
            for name, kind, on, hard, weight, chain in rows:
                folder = self.gui.add_folder(f"{name} · {kind or 'goal'}", expand_by_default=False)
                self._folders.append(folder)
                with folder:
                    self._pin_controls(session, name, (on, hard, weight, chain))

    def _pin_controls(self, session: Session, name: str, now: tuple[bool, bool, float, Any]) -> None:
        gui, (on, hard, weight, chain) = self.gui, now
        task = session.scene.constraints[name]
        end = segment_of(task)
        path = () if end is None else session.figure.path_to_root(end)
        several = tuple(s for s in path if s in session.figure.segments and session.figure.joints_of(s))
        chains = ("all", *several, "a set")
        gui.add_checkbox("Counts", on).on_update(lambda e: self._set(e, lambda s, v: s.enable(name, v)))
        gui.add_checkbox("Hard", hard).on_update(lambda e: self._set(e, lambda s, v: s.change(name, hard=v)))
        gui.add_slider("Weight", 0.01, 10.0, 0.01, float(np.clip(weight, 0.01, 10.0))).on_update(
            lambda e: self._set(e, lambda s, v: s.change(name, weight=float(v)))
        )
        if several and (chain is None or isinstance(chain, tuple) or chain in chains):
            now_from = "a set" if isinstance(chain, tuple) else chain or "all"
            gui.add_dropdown("Joints from", chains, initial_value=now_from).on_update(
                lambda e: self._set(e, lambda s, v: s.change(name, chain={"all": None, "a set": several}.get(v, v)))
            )
        if isinstance(chain, tuple):
            self._set_controls(name, several, chain)
        label = gui.add_text("Name", name)
        row = gui.add_button_group(" ", ("choose", "rename", "remove"))

        def pressed(event: Any) -> None:
            if event.target.value == "choose":
                self.page.chosen = name
                self.do(lambda session: session.select(None))
            elif event.target.value == "rename":
                to = label.value
                self.do(lambda session: session.rename(name, to))
            else:
                self.do(lambda session: session.unpin(name))

        row.on_click(pressed)

    def _set_controls(self, name: str, several: tuple[str, ...], chain: tuple[str, ...]) -> None:
        """Which of the joints on the way help a pin."""
        for s in several:
            box = self.gui.add_checkbox(s, s in chain)
            box.on_update(
                lambda e, s=s: self._set(e, lambda session, on: session.change(name, chain=_with(chain, s, on)))
            )

    def _set(self, event: Any, work: Any) -> None:
        if event.client is not None:
            value = event.target.value
            self.do(lambda session: work(session, value))


def _with(chain: tuple[str, ...], segment: str, on: bool) -> tuple[str, ...]:
    left = tuple(s for s in chain if s != segment)
    return (*left, segment) if on else left
