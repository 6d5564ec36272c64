"""Drawing: `draw` makes a picture of a figure in a posture, with its goals. Needs the extra ``view`` (matplotlib)."""

from supple.view.picture import draw

__all__ = ["draw"]
