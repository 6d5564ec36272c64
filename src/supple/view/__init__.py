"""Drawing figures, frames of motions, maps of reach; pages to pose figures and play motions. Needs the extra ``view``."""

from supple.view.frames import draw_frames
from supple.view.page.doors import edit, play
from supple.view.picture import draw
from supple.view.reach import draw_reach

__all__ = ["draw", "draw_frames", "draw_reach", "edit", "play"]
