"""The tab of surroundings: obstacles, clearance, and other ways to meet the same pins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import supple
from supple.errors import BadValue, Refused
from supple.geometry.placements import Floats
from supple.view.page.body import Body
from supple.view.page.cloud import Cloud
from supple.view.page.joints import if_person
from supple.view.page.obstacles import KINDS, new_obstacle, size_of, sized
from supple.view.page.session import Session

if TYPE_CHECKING:
    from supple.view.page.page import Page

APART, MOST_WAYS = 0.05, 16  # [rad, m] in some coordinate that make another posture; how many are shown


def other_ways(problem: supple.Problem, here: Floats) -> list[Floats]:
    """Other postures that meet a problem, the nearest first: all of them where `solve_all` can list them, else some."""
    try:
        rows = list(supple.solve_all(problem, here, prove=False).q)
    except Refused:
        found = supple.solve(problem, start=here, distinct=4, prove=False)
        rows = [solution.q for solution in found if solution.ok]
    return [q for q in rows if np.abs(q - here).max() > APART][:MOST_WAYS]


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
        self._margin.on_update(lambda e: if_person(e, page, lambda s, v: s.scene.keep_clear(margin=float(v) / 1000.0)))
        itself = gui.add_checkbox("Keep clear of itself", False)
        itself.on_update(lambda e: if_person(e, page, lambda s, v: s.scene.keep_clear(itself=bool(v))))
        self._touching = gui.add_markdown("")
        others = gui.add_button_group(
            "Other ways", ("show", "hide"), hint="Other postures that meet the same pins; click on one to take it"
        )
        others.on_click(lambda e: page.worker.do(lambda s: self._ways(s, e.target.value == "show")))

        self.cloud = Cloud(page.server.scene, page.size)
        reach = gui.add_button_group(
            "Reach", ("map", "clear"), hint="Where the selected part can go while the trunk stays"
        )
        reach.on_click(
            lambda e: page.worker.do(self.cloud.show if e.target.value == "map" else lambda s: self.cloud.hide())
        )

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
        for k, q in enumerate(other_ways(session.scene.problem, session.q)):
            body = Body(self.page.server.scene, f"/ways/{k}", session.figure, opacity=0.3, tint="#6aa5ab")
            body.show(q)
            body.on_press(lambda *_: None, self._taking(q))
            self._others.append(body)
        if not self._others:
            raise BadValue("no other posture was found that meets the pins")

    def _taking(self, q: Floats) -> Any:
        """What a click on another way does."""

        def take(session: Session) -> None:
            session.pose(q, "another way")
            self._ways(session, False)

        return lambda *_: self.page.worker.do(take)

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
