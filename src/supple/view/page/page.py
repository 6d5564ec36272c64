"""The posing page: a session shown by viser. This file says what is done when; `body`, `marks` and `panel` draw."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from supple.errors import Error
from supple.figure.effectors import Frame
from supple.figure.figure import Figure
from supple.geometry.placements import Floats
from supple.problem.goals import Facing, Placed
from supple.problem.problem import Problem, Task
from supple.scene.scene import Scene
from supple.solving.solve import solve
from supple.view.page.beside import Beside
from supple.view.page.body import Body, quaternions
from supple.view.page.doors import inline
from supple.view.page.obstacles import Obstacles
from supple.view.page.panel import Panel
from supple.view.page.pin_marks import Marks
from supple.view.page.regions import Tree
from supple.view.page.server import LOOPBACK, PORT, start
from supple.view.page.session import Session
from supple.view.page.stage import Shade, first_view, stage
from supple.view.page.visuals import visual_meshes
from supple.view.page.worker import Worker
from supple.view.skeleton import Skeleton


class Page:
    """A page on which people pose a figure. `close` ends it; `link` is what to open.

    `looks` is the figure whose file has the visual meshes, if it is not the scene's own.
    """

    def __init__(
        self, scene: Scene, address: str = LOOPBACK, port: int = PORT, library: Path | None = None,
        looks: Figure | None = None,
    ) -> None:  # fmt: skip
        self.session = Session(scene)
        self.server, self.guard = start(address, port, f"supple · {scene.figure.name}")
        self.chosen: str | None = None  # the pin with the gizmo
        self.client: Any = None  # who asked last
        self._rings: tuple[str, Any] | None = None
        self._shown = threading.Lock()
        self._build(scene, library, looks or scene.figure)
        self.beside = Beside(lambda: self.worker.do(lambda session: None))
        self.worker = Worker(self.session, self._show)
        self.worker.do(lambda session: None)

    @property
    def link(self) -> str:
        """The address to open in a browser."""
        return self.guard.link

    def _repr_html_(self) -> str:
        return inline(self.link)

    def close(self) -> None:
        """End the page."""
        self.panel.around.cloud.hide()
        self.beside.close()
        self.worker.stop()
        self.server.stop()

    # ── what is drawn ────────────────────────────────────────────────────────────────────────────────────────────────
    def _build(self, scene: Scene, library: Path | None, looks: Figure) -> None:
        view, figure = self.server.scene, scene.figure
        skeleton = Skeleton(figure, self.session.q)
        self.size = skeleton.size
        self._stage(skeleton)
        self._dress(figure, looks)
        self.marks = Marks(view, self.size, self._knob, self._gizmo)
        self.obstacles = Obstacles(view, self.size, self._obstacle)
        self.panel = Panel(self, library)
        self.server.on_client_disconnect(self._left)

    def _dress(self, figure: Figure, looks: Figure) -> None:
        """Make the nodes of a figure, and a spot on the ground below each root."""
        meshes, self.notes = visual_meshes(looks)
        self.body = Body(
            self.server.scene, "/figure", figure, {s: m for s, m in meshes.items() if s in figure.segments}
        )
        self.body.on_press(self._dragged, self._clicked)
        roots = [s for s in figure.segments if figure.parent_of(s) is None]
        self.shades = {
            s: Shade(self.server.scene, f"/shade/{k}", _width(figure, s), self.floor) for k, s in enumerate(roots)
        }

    def _stage(self, skeleton: Skeleton) -> None:
        """Ground, light and the first view."""
        low = np.array([*skeleton.origin.values()]).min(axis=0)
        self.floor = float(low[2] - 0.02 * self.size) if low[2] < -0.02 * self.size else 0.0
        stage(self.server, self.size, self.floor)
        camera = self.server.initial_camera
        camera.fov = 0.62
        camera.look_at, camera.position = first_view(skeleton)
        theme = {
            "show_logo": False,
            "show_share_button": False,
            "brand_color": (33, 103, 138),
            "control_width": "large",
        }
        self.server.gui.configure_theme(**theme)

    def _show(self, session: Session) -> None:
        """Draw the session; called by its own thread only."""
        self.beside.look(session)
        with self._shown, self.server.atomic():
            if session.figure is not self.body.figure:
                self._redress(session)
            if self.chosen is not None and self.chosen not in session.scene.constraints:
                self.chosen = None
            self.body.show(session.q, session.selected)
            for root, shade in self.shades.items():
                shade.show(session.figure.placement(session.q, root)[:3, 3])
            self.marks.show(session, self.chosen)
            self.obstacles.show(session)
            self._show_rings(session)
            self.panel.show(session)

    def _show_rings(self, session: Session) -> None:
        """The rings of the selected segment's own joint."""
        segment = session.selected
        names = () if segment is None else session.figure.joints_of(segment)
        if self._rings is not None and (not names or self._rings[0] != segment or self.chosen is not None):
            self._rings[1].remove()
            self._rings = None
        if segment is None or not names or self.chosen is not None:
            return
        T = session.figure.placement(session.q, segment)
        if self._rings is None:
            slides = _slides(session, segment)
            node = self.server.scene.add_transform_controls(
                f"/rings/{session.figure.segments.index(segment)}", scale=0.11 * self.size, depth_test=False, line_width=3.0,
                disable_axes=not slides, disable_sliders=not slides,
            )  # fmt: skip

            async def turned(event: Any) -> None:
                frame = frame_of(event.target)
                done = event.phase == "end"
                self.worker.do(lambda session: spin(session, segment, frame, done))

            node.on_update(turned)
            self._rings = (segment, node)
            node.position, node.wxyz = T[:3, 3], quaternions(T[None])[0]
            return
        node, turn = self._rings[1], quaternions(T[None])[0]
        apart = (
            np.abs(node.position - T[:3, 3]).max() > 1e-6
            or min(np.abs(node.wxyz - turn).max(), np.abs(node.wxyz + turn).max()) > 1e-6
        )
        if apart and not session.scene.now.done.startswith("turn ") | session.scene.now.done.endswith(" "):
            node.position, node.wxyz = T[:3, 3], turn

    # ── what people do ───────────────────────────────────────────────────────────────────────────────────────────────
    def _dragged(self, segment: str, event: Any) -> None:
        who, place, aim = (event.client_id, "segment"), event.start_position, event.end_position
        if event.phase == "start":
            self.worker.do(lambda session: session.press(who, segment, place))
        if event.phase != "end":
            self.worker.do(lambda session: session.pull(who, aim))
        else:
            self.worker.do(lambda session: (session.pull(who, aim), session.release(who)))

    def _clicked(self, segment: str, event: Any) -> None:
        place = _hit(event)
        self.chosen = None

        def select(session: Session) -> None:
            session.select(None if session.selected == segment else segment)

        self.panel.pressed = (segment, place)
        self.worker.do(select)

    def _knob(self, pin: str, event: Any) -> None:
        phase = getattr(event, "phase", None)
        who = (event.client_id, "knob")
        if phase is None:
            self.chosen = None if self.chosen == pin else pin
            self.worker.do(lambda session: session.select(None))
            return
        aim = np.array(event.end_position)
        if phase == "start":
            press = np.array(event.start_position)
            self.worker.do(lambda session: _take(session, who, pin, press))
        self.worker.do(lambda session: (session.pull(who, aim), session.release(who) if phase == "end" else None))

    def _gizmo(self, pin: str, event: Any) -> None:
        who, frame, phase = (event.client_id, "gizmo"), frame_of(event.target), event.phase
        if phase == "start":
            self.worker.do(lambda session: session.take(who, pin))
        self.worker.do(lambda session: session.carry(who, frame))
        if phase == "end":
            self.worker.do(lambda session: session.release(who))

    def _obstacle(self, name: str, event: Any) -> None:
        frame, done = frame_of(event.target), event.phase == "end"
        self.worker.do(lambda session: self.obstacles.move(session, name, frame, done))

    def _left(self, client: Any) -> None:
        """Somebody has gone: nothing of a pull is left behind."""

        def let_go(session: Session) -> None:
            for who in [who for who in session.pulls if isinstance(who, tuple) and who[0] == client.client_id]:
                session.release(who)

        self.worker.do(let_go)

    def open(self, scene: Scene, stand: bool = True) -> None:
        """Show another scene; called by the session's own thread."""
        self.session.open(scene, stand)

    def _redress(self, session: Session) -> None:
        """Draw another figure than before."""
        scene, self.chosen = session.scene, None
        self.body.remove()
        if self._rings is not None:
            self._rings[1].remove()
            self._rings = None
        for shade in self.shades.values():
            shade.remove()
        skeleton = Skeleton(scene.figure, scene.q)
        self.size = skeleton.size
        self._dress(scene.figure, scene.figure)
        look_at, position = first_view(skeleton)
        for client in self.server.get_clients().values():
            client.camera.position, client.camera.look_at = position, look_at
        self.panel.opened(self.session)


def _width(figure: Figure, root: str) -> float:
    """The size of who stands on a root, for the spot below it."""
    own = [figure.placement(figure.rest, s)[:3, 3] for s in Tree(figure).all_below(root)]
    return max(0.5, float(np.ptp(np.array(own), axis=0).max()))


def frame_of(node: Any) -> Floats:
    """The placement of a node."""
    w, x, y, z = np.asarray(node.wxyz, dtype=float)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.from_quat([x, y, z, w]).as_matrix(), node.position
    return T


def _slides(session: Session, segment: str) -> bool:
    """Whether a segment's own joint slides too."""
    path = session.figure.path_to_root(segment)
    own = path[: next((k for k, s in enumerate(path) if k and s in session.figure.segments), len(path))]
    return any(np.any(session.figure.joint_of[s].slide) for s in own)


def _take(session: Session, who: Any, pin: str, press: Floats) -> None:
    from dataclasses import replace

    session.take(who, pin)
    session.pulls[who] = replace(session.pulls[who], press=press)


def _hit(event: Any) -> Floats:
    return np.array(event.ray_origin)


def spin(session: Session, segment: str, frame: Floats, done: bool) -> None:
    """Turn a segment's own joint so that the segment comes nearest to a frame; pins are not looked at."""
    figure = session.figure
    goal = Placed(frame) if _slides(session, segment) else Facing(matrix=frame[:3, :3])
    problem = Problem(figure, [Task(Frame(segment), goal, chain=segment)], session.scene.limits)
    try:
        q = solve(problem, start=session.q, budget=60, prove=False).q
    except Error:
        return
    own = set(figure.chain(figure.parent_of(segment), segment))
    values = {name: float(q[i]) for i, name in enumerate(figure.coordinates) if name in own}
    session.turn(values, done)
