"""A figure on the page: a mesh for each segment, moved when it moves, and a ball or drum for each joint between bones."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from supple.figure.figure import Figure
from supple.geometry.placements import Floats, inverse
from supple.view.colours import BASES, ramp, rgb
from supple.view.page.meshes import Mesh, ball, drum, segments_of
from supple.view.skeleton import Skeleton, used_range
from supple.view.solids import Bone, Drum

CHOSEN = (255, 176, 64)
COMPANY = ("#9db8c9", "#c9b27a", "#b3c49a", "#c9a9b8")  # colours of the second figure and on
LEVELS = 12  # of colour
WARM = 0.75  # share of its range from which on a joint warms the colour of its segment
MOVED = 1e-6


def quaternions(frames: Floats) -> Floats:
    """The rotations of placements (n, 4, 4) as quaternions, w first."""
    return Rotation.from_matrix(frames[:, :3, :3]).as_quat()[:, [3, 0, 1, 2]]


class Body:
    """The nodes of one figure under a name, each hung on the one that carries it; `show` sends only what has changed."""

    def __init__(
        self, scene: Any, name: str, figure: Figure, meshes: dict[str, Mesh] | None = None, opacity: float | None = None,
        tint: str | None = None,
    ) -> None:  # fmt: skip
        self.figure, self._scene, self._name = figure, scene, name
        self.visible, self.coloured = True, tint is None
        skeleton = Skeleton(figure, figure.rest)
        flesh = 2 * len(skeleton.shaped) > len(segments_of(figure)) and not figure.uncovered
        self._flesh = rgb(tint or ("#d8b898" if flesh else BASES["bone"]))
        drawn = segments_of(figure) if meshes is None else meshes
        self.segments = tuple(drawn)
        self._tints = {s: self._flesh if tint else _tinted(self._flesh, prefixes_of(figure), s) for s in drawn}
        self._colour = {s: tuple((255 * own).astype(int).tolist()) for s, own in self._tints.items()}
        self._own = {s: figure.joints_of(s) for s in drawn}
        self._below, names = _carriers(figure, self.segments), list[str]()
        for i, below in enumerate(self._below):
            names.append(f"{names[below] if below >= 0 else name}/{i}")
        self.nodes = {
            s: scene.add_mesh_simple(
                node, mesh.vertices.astype(np.float32), mesh.faces.astype(np.uint32), color=self._colour[s],
                opacity=opacity, cast_shadow=opacity is None, receive_shadow=False,
            )
            for node, (s, mesh) in zip(names, drawn.items(), strict=True)
        }  # fmt: skip
        self._last = np.full((len(self.segments), 4, 4), np.inf)
        self._joints = _Joints(scene, f"{name}/joints", skeleton) if not skeleton.shaped and opacity is None else None

    def show(self, q: Floats, chosen: str | None = None) -> None:
        """Draw a posture."""
        frames = self.figure.placements(q)
        seen = self._seen(frames)
        apart = np.abs(seen - self._last)
        slid, turned = apart[:, :3, 3].max(axis=1) > MOVED, apart[:, :3, :3].max(axis=(1, 2)) > MOVED
        for i in np.flatnonzero(slid):
            self.nodes[self.segments[i]].position = self._last[i, :3, 3] = seen[i, :3, 3]
        if turned.any():
            self._last[turned, :3, :3] = seen[turned, :3, :3]
            for i, turn in zip(np.flatnonzero(turned), quaternions(seen[turned]), strict=True):
                self.nodes[self.segments[i]].wxyz = turn
        used = used_range(self.figure, q) if self.coloured else None
        self._show_colours(q, chosen, {} if used is None or self._joints is not None else used)
        if self._joints is not None and (slid.any() or turned.any() or self._joints.coloured != self.coloured):
            self._joints.show(frames, used)

    def _seen(self, frames: dict[str, Floats]) -> Floats:
        """Every drawn segment in the axes of the one that carries it: what a joint moves, nothing else, changes."""
        world = np.array([frames[s] for s in self.segments]).reshape(-1, 4, 4)
        hung = self._below >= 0
        below, seen = world[self._below[hung]], np.array(world)
        back = np.swapaxes(below[:, :3, :3], 1, 2)
        seen[hung, :3, :3] = back @ world[hung, :3, :3]
        seen[hung, :3, 3] = (back @ (world[hung, :3, 3] - below[:, :3, 3])[:, :, None])[:, :, 0]
        return seen

    def set_visible(self, visible: bool) -> None:
        """Show or hide all of it."""
        if visible != self.visible:
            self.visible = visible
            for node in self.nodes.values():
                node.visible = visible

    def remove(self) -> None:
        """Take it off the page."""
        for node, below in zip(self.nodes.values(), self._below, strict=True):
            if below < 0:
                node.remove()  # and what hangs on it
        if self._joints is not None:
            self._joints.remove()

    def on_press(self, drag: Callable[[str, Any], Any], click: Callable[[str, Any], Any]) -> None:
        """Call `drag(segment, event)` and `click(segment, event)`; in order, on the server's own thread."""
        for segment, node in self.nodes.items():

            async def dragged(event: Any, segment: str = segment) -> None:
                drag(segment, event)

            async def clicked(event: Any, segment: str = segment) -> None:
                click(segment, event)

            node.on_drag("left")(dragged)
            node.on_click(clicked)

    def _show_colours(self, q: Floats, chosen: str | None, used: dict[str, float | None]) -> None:
        """Warm what is near a limit; a joint that rests at a limit and has not left it does not count."""
        coordinates = self.figure.coordinates
        resting = {c for c, still in zip(coordinates, np.abs(q - self.figure.rest) < 0.05, strict=True) if still}
        for s in self.nodes:
            if s == chosen:
                colour = CHOSEN
            else:
                shares = [used.get(c) for c in self._own[s] if c not in resting]
                share = max((x for x in shares if x is not None), default=0.0)
                colour = _warmed(
                    *self._tints[s].tolist(), round(LEVELS * min(max((share - WARM) / (1.0 - WARM), 0.0), 1.0))
                )
            if colour != self._colour[s]:
                self.nodes[s].color = self._colour[s] = colour


def _carriers(figure: Figure, drawn: tuple[str, ...]) -> np.ndarray:
    """Which of the drawn segments carries each of them, −1 for none."""
    at = {s: i for i, s in enumerate(drawn)}
    above = [next((at[p] for p in figure.path_to_root(s)[1:] if p in at), -1) for s in drawn]
    return np.array(above, dtype=int)


@cache
def _warmed(red: float, green: float, blue: float, level: int) -> tuple[int, ...]:
    """The colour of a segment whose joint is nearly at its limit, from 0 to `LEVELS`."""
    warm = level / LEVELS
    mixed = (1.0 - 0.6 * warm) * np.array([red, green, blue]) + 0.6 * warm * ramp(WARM + (1.0 - WARM) * warm)
    return tuple((255 * mixed).astype(int).tolist())


def prefixes_of(figure: Figure) -> tuple[str, ...]:
    """The prefixes of the figures that are in one world with the first."""
    return () if figure.origin is None else tuple(each.prefix for each in figure.origin.beside)


def _tinted(flesh: Floats, prefixes: tuple[str, ...], segment: str) -> Floats:
    """The colour of a segment: each figure of several has one of its own."""
    for k, prefix in enumerate(prefixes):
        if segment.startswith(prefix):
            return rgb(COMPANY[k % len(COMPANY)])
    return flesh


class _Joints:
    """Balls and drums between bones, each kind in one node."""

    def __init__(self, scene: Any, name: str, skeleton: Skeleton) -> None:
        kinds: dict[bool, list[tuple[str, Floats, Floats, tuple[str, ...]]]] = {True: [], False: []}
        for segment, (solid, names) in skeleton.joint_solids().items():
            home = inverse(skeleton.frames[segment])
            if not isinstance(solid, Drum):
                assert isinstance(solid, Bone)
                kinds[True].append((segment, np.eye(4), np.full(3, solid.r_start), names))
            else:
                T = np.eye(4)
                z = home[:3, :3] @ solid.axis
                T[:3, :3] = (
                    Rotation.align_vectors([z], [[0.0, 0.0, 1.0]])[0].as_matrix()
                    if abs(z[2]) < 1.0 - 1e-12
                    else np.eye(3)
                )
                kinds[False].append((segment, T, np.array([solid.radius, solid.radius, solid.length]), names))
        self._rows, self.coloured = [], True
        for round_, rows in kinds.items():
            if rows:
                mesh = ball() if round_ else drum()
                node = scene.add_batched_meshes_simple(
                    f"{name}/{'balls' if round_ else 'drums'}", mesh.vertices.astype(np.float32), mesh.faces.astype(np.uint32),
                    np.tile([1.0, 0.0, 0.0, 0.0], (len(rows), 1)), np.zeros((len(rows), 3)),
                    batched_scales=np.stack([row[2] for row in rows]).astype(np.float32),
                    batched_colors=np.full((len(rows), 3), 128, dtype=np.uint8), lod="off", receive_shadow=False,
                )  # fmt: skip
                self._rows.append((node, rows))

    def show(self, frames: dict[str, Floats], used: dict[str, float | None] | None) -> None:
        self.coloured = used is not None
        for node, rows in self._rows:
            world = np.stack([frames[segment] @ T for segment, T, _, _ in rows])
            node.batched_positions = world[:, :3, 3].astype(np.float32)
            node.batched_wxyzs = quaternions(world).astype(np.float32)
            if used is None:
                colours = np.tile((255 * rgb(BASES["bone"])).astype(np.uint8), (len(rows), 1))
            else:
                shares = [
                    max((s for n in names if (s := used[n]) is not None), default=None) for _, _, _, names in rows
                ]
                colours = np.stack([(255 * ramp(share)).astype(np.uint8) for share in shares])
            if not np.array_equal(colours, node.batched_colors):
                node.batched_colors = colours

    def remove(self) -> None:
        for node, _ in self._rows:
            node.remove()
