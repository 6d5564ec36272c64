"""The tab of figures: another one in the place of this, another one beside it, and postures of hands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import supple
from supple.errors import BadValue
from supple.figure import catalogue
from supple.figure.figure import Figure
from supple.view.page.hand_presets import PRESETS
from supple.view.page.pins import PAIRS
from supple.view.page.session import Session

if TYPE_CHECKING:
    from supple.view.page.page import Page

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "jack, spine grouped": ("jack", {"spine": "grouped"}),
    "jack, spine and shoulders grouped": ("jack", {"spine": "grouped", "shoulders": "grouped"}),
    "human, rigid hands": ("human", {"fingers": False}),
}


def named(name: str) -> Figure:
    """A figure of the list."""
    what, options = VARIANTS.get(name, (name, {}))
    return supple.load(what, **options)


class Figures:
    """Swap, invite, hands."""

    def __init__(self, page: Page) -> None:
        self.page, gui = page, page.server.gui
        self.sent: dict[str, Figure] = {}  # figures that somebody has uploaded
        self._pick = gui.add_dropdown("Figure", (*catalogue.names(), *VARIANTS), initial_value="jack")
        act = gui.add_button_group(
            " ",
            ("swap", "add", "remove"),
            hint="Swap: another figure holds the same posture, of several the one that is selected. Add: another one in "
            "the same scene. Remove: the selected one of several",
        )
        act.on_click(lambda e: page.worker.do(lambda s: self.act(s, e.target.value)))
        gui.add_markdown(
            "Click on two parts, of one figure or of two: **T** holds them together as they are, **E** lets them meet, "
            "**O** has either of them stay here."
        )
        both = gui.add_button_group("Two parts", PAIRS)
        both.on_click(lambda e: self.pair(e.target.value))
        first, second = tuple(PRESETS)[:3], tuple(PRESETS)[3:]
        for label, names in (("Hands", first), (" ", second)):
            hands = gui.add_button_group(label, names, hint="Of the selected hand, or of all")
            hands.on_click(lambda e: page.worker.do(lambda s: s.hand(e.target.value)))

    def pair(self, kind: str) -> None:
        """Pin the two parts that were selected last to each other."""

        def work(session: Session) -> None:
            one, other = session.selected, session.other
            if one is None or other is None or other not in session.figure.segments:
                raise BadValue("click on one part, then on another: both are pinned to each other")
            session.pair(kind, one, other)
            session.select(None)

        self.page.worker.do(work)

    def act(self, session: Session, what: str) -> None:
        """Swap the figure, add one, or take one away."""
        if what == "remove":
            session.dismiss()
            return
        name = self._pick.value
        figure = self.sent[name] if name in self.sent else named(name)
        if what == "add":
            session.invite(figure)
        else:
            session.swap(figure)

    def known(self, name: str, figure: Figure) -> None:
        """Offer a figure that was uploaded."""
        self.sent[name] = figure
        self._pick.options = (*catalogue.names(), *VARIANTS, *self.sent)
