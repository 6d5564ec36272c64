"""Drawing: `draw` a figure in a posture, with its goals; `draw_frames` of motions. Needs the extra ``view`` (matplotlib)."""

from supple.view.frames import draw_frames
from supple.view.picture import draw

__all__ = ["draw", "draw_frames"]
