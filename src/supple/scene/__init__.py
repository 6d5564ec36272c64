"""Scenes: a figure whose constraints come and go, solved without jumps.

A *scene* holds a figure, its tasks and its surroundings; a *state* is what it is at one time.
"""

from typing import TYPE_CHECKING

from supple import lazily

if TYPE_CHECKING:
    from supple.scene.scene import Scene as Scene
    from supple.scene.state import SceneState as SceneState
    from supple.scene.touches import Touch as Touch

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "scene": ["Scene"],
        "state": ["SceneState"],
        "touches": ["Touch"],
    },
)
