"""Drawing a figure, frames of motions, and maps of reach. Needs the extra ``view`` (matplotlib)."""

from supple.view.frames import draw_frames
from supple.view.picture import draw
from supple.view.reach import draw_reach

__all__ = ["draw", "draw_frames", "draw_reach"]
