"""Obstacles on the page: what they look like, what touches them, and how they are moved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from supple.errors import BadValue
from supple.geometry.placements import Floats, compose
from supple.geometry.shapes import Ball, Box, Capsule, Hull, Polytope
from supple.view.page.body import quaternions
from supple.view.page.meshes import of_obstacle
from supple.view.page.session import Session

PLAIN, TOUCHED = (150, 170, 190), (226, 120, 60)
KINDS = ("box", "ball", "capsule")


def new_obstacle(kind: str, place: Floats, size: float) -> Box | Ball | Capsule:
    """An obstacle of a handy size at a place."""
    if kind == "box":
        h = 0.5 * size
        return Box((-h, -h, -h), (h, h, h), compose(np.eye(3), place))
    if kind == "ball":
        return Ball(tuple(np.asarray(place).tolist()), 0.5 * size)
    if kind == "capsule":
        return Capsule(0.2 * size, size, compose(np.eye(3), place))
    raise BadValue(f"obstacles are {', '.join(KINDS)}, not {kind!r}")


def frame_of_obstacle(shape: Any) -> Floats | None:
    """Where an obstacle is; none for one that is not moved about."""
    if isinstance(shape, Ball):
        return compose(np.eye(3), shape.centre)
    return None if isinstance(shape, Polytope | Hull) else np.array(shape.at)


def moved(shape: Any, frame: Floats) -> Any:
    """The same obstacle elsewhere."""
    if isinstance(shape, Ball):
        return Ball(tuple(frame[:3, 3].tolist()), shape.radius)
    return replace(shape, at=frame)


def sized(shape: Any, size: Floats) -> Any:
    """The same obstacle in another size: the sides of a box; the radius of a ball; radius and length of a capsule."""
    a, b, c = (max(float(x), 1e-3) for x in size)
    if isinstance(shape, Box):
        return Box((-a / 2, -b / 2, -c / 2), (a / 2, b / 2, c / 2), shape.at)
    return Ball(shape.centre, a) if isinstance(shape, Ball) else Capsule(a, c, shape.at)


def size_of(shape: Any) -> tuple[float, float, float]:
    """What `sized` takes."""
    if isinstance(shape, Box):
        a, b, c = np.subtract(shape.upper, shape.lower).tolist()
        return (a, b, c)
    return (shape.radius, 0.0, 0.0) if isinstance(shape, Ball) else (shape.radius, 0.0, shape.length)


class Obstacles:
    """What is drawn of a session's obstacles."""

    def __init__(self, scene: Any, size: float, on_gizmo: Callable[[str, Any], Any]) -> None:
        self._scene, self._size, self._on_gizmo = scene, size, on_gizmo
        self._nodes: dict[str, tuple[Any, Any, Any]] = {}  # shape, node, gizmo
        self._colours: dict[str, Any] = {}
        self._serial = 0

    def show(self, session: Session) -> None:
        """Draw them as they are, those that are touched in another colour."""
        shapes = session.scene.obstacles
        for name in [n for n, (shape, _, _) in self._nodes.items() if shapes.get(n) is not shape]:
            self._update(name, shapes.get(name))
        for name, shape in shapes.items():
            if name not in self._nodes:
                self._add(name, shape)
        if not shapes:
            return
        touched = {touch.other for touch in session.scene.touching} if not session.pulls else set()
        for name, (_, node, _) in self._nodes.items():
            colour = TOUCHED if name in touched else PLAIN
            if self._colours.get(name) != colour:
                node.color = self._colours[name] = colour

    def move(self, session: Session, name: str, frame: Floats, done: bool) -> None:
        """Put an obstacle somewhere else; the figure follows when it is let go."""
        shape = session.scene.obstacles.get(name)
        if shape is None:
            return
        called = f"move {name!r}"
        since = len(session.scene.history) - (session.scene.now.done == called)
        session.scene.place(name, moved(shape, frame))
        if done and session.scene.now.setup.enabled:
            session.scene.fold(since, called)
            session.solve()
        session.scene.fold(since, called + (" " if done else ""))

    def _update(self, name: str, shape: Any) -> None:
        old, node, gizmo = self._nodes[name]
        alike = shape is not None and type(old) is type(shape) and size_of_or_none(old) == size_of_or_none(shape)
        frame = None if shape is None else frame_of_obstacle(shape)
        if not alike or frame is None or gizmo is None:
            node.remove()
            if gizmo is not None:
                gizmo.remove()
            del self._nodes[name]
            self._colours.pop(name, None)
            return
        turn = quaternions(frame[None])[0]
        node.position, node.wxyz = frame[:3, 3], turn
        if np.abs(gizmo.position - frame[:3, 3]).max() > 1e-6:
            gizmo.position, gizmo.wxyz = frame[:3, 3], turn
        self._nodes[name] = (shape, node, gizmo)

    def _add(self, name: str, shape: Any) -> None:
        room = 3.0 * self._size * np.array([[-1.0, -1.0, -0.02], [1.0, 1.0, 1.0]])
        frame = frame_of_obstacle(shape)
        mesh = of_obstacle(shape if frame is None else moved(shape, np.eye(4)), room)
        if mesh is None:
            return
        self._serial += 1
        node = self._scene.add_mesh_simple(
            f"/obstacles/{self._serial}", mesh.vertices.astype(np.float32), mesh.faces.astype(np.uint32), color=PLAIN,
            opacity=0.55, flat_shading=False,
        )  # fmt: skip
        gizmo = None
        if frame is not None:
            node.position, node.wxyz = frame[:3, 3], quaternions(frame[None])[0]
            gizmo = self._scene.add_transform_controls(
                f"/obstacle gizmos/{self._serial}", scale=0.1 * self._size, depth_test=False, position=frame[:3, 3],
                wxyz=quaternions(frame[None])[0],
            )  # fmt: skip

            async def dragged(event: Any, name: str = name) -> None:
                self._on_gizmo(name, event)

            gizmo.on_update(dragged)
        self._nodes[name] = (shape, node, gizmo)


def size_of_or_none(shape: Any) -> Any:
    """The size of an obstacle that has one."""
    return None if isinstance(shape, Polytope | Hull) else (size_of(shape), getattr(shape, "lower", None))
