"""The doors to the pages from Python; in a notebook what they return shows inline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from supple.basics.checks import instance
from supple.errors import BadValue
from supple.figure.figure import Figure
from supple.motion.markers import Markers
from supple.motion.motion import Motion
from supple.scene.scene import Scene

if TYPE_CHECKING:
    from supple.view.page.page import Page
    from supple.view.page.player import Player


def edit(what: Scene | Figure | str = "human", *, address: str = "127.0.0.1", port: int = 8080) -> Page:
    """Open a page on which a scene, a figure or a figure of that name is posed by hand. Needs the extra ``view`` (viser).

    `link` of the page is what to open in a browser; in a notebook the page shows inline. ``page.session.scene`` is the scene
    as it is now; `close` ends it.
    """
    from supple.view.page.page import Page

    if isinstance(what, str):
        from supple.files.door import load

        what = load(what)
    scene = Scene(what) if isinstance(what, Figure) else instance(what, Scene, "what edit() takes")
    return Page(scene, address, port)


def play(
    *what: Motion | Markers | str | Path, model: str | None = None, path: str | Path | None = None, **where: Any
) -> Player | None:
    """Open a page on which motions and markers, or files of them, play side by side. Needs the extra ``view`` (viser).

    Files of coordinates need their `model`. With a `path` nothing is opened: .html is one page that plays offline, .gif or
    .mp4 a film. `where` takes `address` and `port`.
    """
    from supple.view.page.clips import Clip, read_clip, side_by_side

    if not what:
        raise BadValue("play() takes at least one motion, set of markers or file")
    clips = side_by_side(
        [
            Clip(f"clip {k + 1}", w) if isinstance(w, Motion | Markers) else read_clip(w, model)
            for k, w in enumerate(what)
        ]
    )
    if path is None:
        from supple.view.page.player import Player

        return Player(clips, **where)
    if Path(path).suffix.lower() == ".html":
        from supple.view.page.export import write_player

        write_player(clips, path)
    else:
        from supple.view.page.video import write_video

        write_video(clips, path)
    return None


def inline(link: str, height: int = 640) -> str:
    """A page inside another, for notebooks."""
    return (
        f'<iframe src="{link}" width="100%" height="{height}" style="border:1px solid #dfe3e8" title="supple"></iframe>'
    )
