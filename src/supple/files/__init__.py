"""Files: one reader and writer a format, a folder where a format needs several files, and the door to all of them."""

from typing import TYPE_CHECKING

from supple import lazily

if TYPE_CHECKING:
    from supple.files.door import (
        load as load,
        read_markers as read_markers,
        read_motion as read_motion,
        read_scene as read_scene,
        write as write,
    )

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "door": ["load", "read_markers", "read_motion", "read_scene", "write"],
    },
)
