"""Drawing a figure, frames of motions, and maps of reach. Needs the extra ``view`` (matplotlib)."""

from typing import TYPE_CHECKING

from supple import lazily

if TYPE_CHECKING:
    from supple.view.frames import draw_frames as draw_frames
    from supple.view.picture import draw as draw
    from supple.view.reach import draw_reach as draw_reach

__getattr__, __dir__, __all__ = lazily(
    __name__, {"frames": ["draw_frames"], "picture": ["draw"], "reach": ["draw_reach"]}
)
