"""The tab of joints: sliders, locks, rigidity, and the solver that follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import supple
from supple.view.page.regions import regions
from supple.view.page.session import Session

if TYPE_CHECKING:
    from supple.view.page.page import Page

SOLVERS = (
    "usual", "ProjectedGradient", "ActiveSet", "Newton", "JacobianTranspose", "PseudoInverse", "CyclicCoordinateDescent",
    "Fabrik",
)  # fmt: skip


class Joints:
    """Sliders of the selected segment's coordinates, locks, rigidity by segment, and the solver."""

    def __init__(self, page: Page) -> None:
        self.page, gui = page, page.server.gui
        self._sliders: dict[str, Any] = {}
        self._segment: str | None = None
        colours = gui.add_checkbox("Colour by nearness to limits", True)
        colours.on_update(lambda e: self._colour(e.target.value))
        solver = gui.add_dropdown("Solver", SOLVERS, initial_value="usual")
        solver.on_update(lambda e: self.page.worker.do(lambda s: _choose(s, e.target.value)))
        with gui.add_folder("Regions", expand_by_default=False):
            self._regions = gui.add_folder("Rigidity", expand_by_default=True)
        self._known: dict[str, tuple[tuple[str, ...], Any]] = {}
        self._figure: Any = None
        self._note = gui.add_markdown("Click on a part of the figure to see its joint.")
        self._place = gui.add_folder("Selected", expand_by_default=True, visible=False)
        with self._place:
            self._folder = gui.add_folder("Joint")

    def _colour(self, on: bool) -> None:
        self.page.body.coloured = on
        self.page.worker.do(lambda session: None)

    def opened(self, session: Session) -> None:
        """Another figure."""
        self._segment = "?"

    def show(self, session: Session) -> None:
        """The sliders, where the joint is now."""
        if session.figure is not self._figure:
            self._rebuild_regions(session)
        self._show_regions(session)
        if session.selected != self._segment:
            self._rebuild(session)
        values = session.figure.named(session.q)
        for name, slider in self._sliders.items():
            turning = session.figure.turning[session.figure.coordinates.index(name)]
            shown = round(float(np.rad2deg(values[name]) if turning else values[name]), 3)
            shown = float(np.clip(shown, slider.min, slider.max))
            if abs(slider.value - shown) > 1e-3:
                slider.value = shown

    def _rebuild_regions(self, session: Session) -> None:
        gui, self._figure = self.page.server.gui, session.figure
        for _, slider in self._known.values():
            slider.remove()
        self._known = {}
        with self._regions:
            for name, own in regions(session.figure).items():
                slider = gui.add_slider(
                    name.capitalize(), 0.0, 1.0, 0.05, 0.0, hint="0 moves freely, 1 is locked: the whole region"
                )
                slider.on_update(
                    lambda e, name=name: if_person(e, self.page, lambda s, v: s.stiffen_region(name, float(v)))
                )
                self._known[name] = (own, slider)

    def _show_regions(self, session: Session) -> None:
        rigid = session.scene.rigidity
        for own, slider in self._known.values():
            shown = round(float(np.mean([rigid.get(c, 0.0) for c in own])), 3)
            if abs(slider.value - shown) > 1e-3:
                slider.value = shown

    def _rebuild(self, session: Session) -> None:
        gui, figure = self.page.server.gui, session.figure
        self._folder.remove()
        self._sliders, self._segment = {}, session.selected
        with self._place:
            self._folder = gui.add_folder(session.selected or "Joint")
        self._note.visible = session.selected is None
        self._place.visible = session.selected is not None
        if session.selected is None:
            return
        own = figure.chain(figure.parent_of(session.selected), session.selected)
        rigid = session.scene.rigidity
        with self._folder:
            for name in own:
                self._slider(session, name)
                lock = gui.add_checkbox(f"lock {name}", rigid.get(name, 0.0) >= 1.0)
                lock.on_update(lambda e, name=name: if_person(e, self.page, lambda s, v: s.lock(name, v)))
            if own:
                segment = session.selected
                likes = gui.add_checkbox(
                    "Prefer this bend", f"prefer {segment}" in session.scene.constraints,
                    hint="Where pins leave it free, it comes back to how it bends now",
                )  # fmt: skip
                likes.on_update(lambda e: if_person(e, self.page, lambda s, v: s.prefer(segment, bool(v))))
                stiff = gui.add_slider("Rigidity", 0.0, 1.0, 0.05, float(max(rigid.get(n, 0.0) for n in own)))
                stiff.on_update(lambda e: if_person(e, self.page, lambda s, v: s.stiffen(segment, float(v))))

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
        slider.on_update(lambda e: if_person(e, self.page, lambda s, v: s.turn({name: float(v) / scale}, done=False)))
        self._sliders[name] = slider


def _choose(session: Session, name: str) -> None:
    session.solver = None if name == "usual" else getattr(supple, name)()


def if_person(event: Any, page: Page, work: Any) -> None:
    """What a person has set, not the page itself."""
    if event.client is not None:
        value = event.target.value
        page.worker.do(lambda session: work(session, value))
