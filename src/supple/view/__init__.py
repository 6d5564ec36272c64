"""Drawing figures, frames of motions, maps of reach; pages to pose figures and play motions. Needs the extra ``view``."""

from typing import TYPE_CHECKING

from supple import lazily

if TYPE_CHECKING:
    from supple.view.frames import draw_frames as draw_frames
    from supple.view.page.doors import edit as edit, play as play
    from supple.view.picture import draw as draw
    from supple.view.reach import draw_reach as draw_reach

__getattr__, __dir__, __all__ = lazily(
    __name__, {"frames": ["draw_frames"], "page.doors": ["edit", "play"], "picture": ["draw"], "reach": ["draw_reach"]}
)
