"""Ground and light, such that a figure looks solid without a graphics card."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.view.ground import nice
from supple.view.skeleton import Skeleton

ASIDE = 0.14  # of the size: how far from the middle of the picture a figure stands


def stage(server: Any, size: float, floor: float = 0.0) -> None:
    """A grid on the ground and three lights; no maps and no cast shadows, which software draws ten times slower."""
    view = server.scene
    view.world_axes.visible = False
    view.configure_environment_map(None)
    view.configure_default_lights(False, cast_shadow=False)
    view.add_light_hemisphere("/light/sky", sky_color=(255, 255, 255), ground_color=(150, 142, 132), intensity=1.5)
    view.add_light_directional("/light/key", color=(255, 246, 232), intensity=2.3, position=(0.6, -0.9, 1.4))
    view.add_light_directional("/light/rim", color=(206, 224, 255), intensity=0.9, position=(-1.0, 0.7, 0.5))
    cell = nice(0.25 * size)
    view.add_grid(
        "/ground", width=40.0 * cell, height=40.0 * cell, cell_size=cell, section_size=4.0 * cell, cell_color=(214, 219, 225),
        section_color=(184, 191, 200), fade_distance=9.0 * size, fade_strength=1.2, fade_from="origin", shadow_opacity=0.0,
        position=(0.0, 0.0, floor),
    )  # fmt: skip


def first_view(skeleton: Skeleton) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """What is looked at and from where: all of a figure is seen, a little left of the middle, since panels are on the right."""
    places = np.array([*skeleton.origin.values()])
    low, high = places.min(axis=0), places.max(axis=0)
    size = max(skeleton.size, float(np.linalg.norm((high - low)[:2])))
    middle = 0.5 * (low + high) - [0.0, 0.0, 0.02 * size]
    way = np.array([0.92, -0.66, 0.24])
    right = np.array([0.66, 0.92, 0.0]) / np.hypot(0.66, 0.92)
    look_at = middle + ASIDE * size * right
    return tuple(look_at.tolist()), tuple((look_at + 1.75 * size * way).tolist())


class Shade:
    """A soft dark spot on the ground below a figure: discs that grow and fade."""

    RINGS = 14

    def __init__(self, scene: Any, name: str, size: float, floor: float) -> None:
        angle = np.linspace(0.0, 2.0 * np.pi, 40, endpoint=False)
        rim = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(40)])
        vertices = np.concatenate([[[0.0, 0.0, 0.0]], rim]).astype(np.float32)
        i = np.arange(40)
        faces = np.column_stack([np.zeros(40, dtype=int), 1 + i, 1 + (i + 1) % 40]).astype(np.uint32)
        self._floor = floor
        self.frame = scene.add_frame(name, show_axes=False)
        for k in range(self.RINGS):
            radius = size * 0.2 * (1.0 - k / self.RINGS)
            scene.add_mesh_simple(
                f"{name}/{k}", vertices * np.float32(radius), faces, color=(70, 76, 86), opacity=0.024, side="double",
                position=(0.0, 0.0, 3e-4 * (k + 1) * size), cast_shadow=False, receive_shadow=False,
            )  # fmt: skip

    def show(self, place: Any) -> None:
        """Lie below a place."""
        self.frame.position = (float(place[0]), float(place[1]), self._floor)

    def remove(self) -> None:
        """Take it off the page."""
        self.frame.remove()
