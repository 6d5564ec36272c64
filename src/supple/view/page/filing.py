"""The tab of files: what goes out and what comes in."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import supple
from supple.scene.scene import Scene
from supple.view.page.as_python import postures_of, postures_text, python_lines
from supple.view.page.session import Session
from supple.view.page.uploads import opened as opened_upload

if TYPE_CHECKING:
    from supple.view.page.page import Page


class Files:
    """Out: scene, posture, motion, picture, Python. In: figures, scenes, motions, postures."""

    OUT = ("scene.toml", "postures.json", "posture.bvh", "motion.bvh", "motion.glb", "pose.py")

    def __init__(self, page: Page) -> None:
        self.page, gui = page, page.server.gui
        self._what = gui.add_dropdown("Save as", self.OUT, initial_value="scene.toml")
        save = gui.add_button("Save")
        save.on_click(lambda e: page.worker.do(lambda s: self._save(s, e.client, self._what.value)))
        picture = gui.add_button("Picture of the view")
        picture.on_click(self._picture)
        python = gui.add_button("Copy as Python")
        python.on_click(lambda e: page.worker.do(lambda s: self._python(s)))
        self._code = gui.add_markdown("")
        upload = gui.add_upload_button(
            "Open a file", mime_type="*/*", hint="Figure, scene, motion or postures; at most 64 MB"
        )
        upload.on_upload(self._uploaded)

    def _save(self, session: Session, client: Any, name: str) -> None:
        content = self.content(session, name)
        if client is not None:
            client.send_file_download(name, content, save_immediately=True)

    def content(self, session: Session, name: str) -> bytes:
        """What a file of that name holds."""
        if name == "pose.py":
            return python_lines(session.scene).encode()
        if name == "postures.json":
            kept = self.page.panel.timeline.postures
            return postures_text(session.figure, {"now": session.q, **kept}).encode()
        with tempfile.TemporaryDirectory(prefix="supple-") as folder:
            path = Path(folder) / name
            keys = self.page.panel.timeline.keys
            if name == "scene.toml":
                supple.write(session.scene, path)
            elif name == "posture.bvh" or not len(keys):
                supple.write(
                    supple.Motion(session.figure, session.q[None], np.zeros(1), source=session.figure.source), path
                )
            else:
                supple.write(keys.motion(session.scene), path)
            return path.read_bytes()

    def _picture(self, event: Any) -> None:
        from io import BytesIO

        from PIL import Image

        image = event.client.get_render(height=1080, width=1920, transport_format="png", timeout=20.0)
        data = BytesIO()
        Image.fromarray(image).save(data, "png")
        event.client.send_file_download("pose.png", data.getvalue(), save_immediately=True)

    def _python(self, session: Session) -> None:
        self._code.content = f"```python\n{python_lines(session.scene)}\n```"

    def _uploaded(self, event: Any) -> None:
        file = event.target.value
        self.page.worker.do(lambda session: self.opened(session, file.name, file.content))

    def opened(self, session: Session, name: str, content: bytes) -> None:
        """Take what somebody has sent: a figure, a scene, a motion's keys or postures."""
        found = opened_upload(name, content)
        if isinstance(found, Scene):
            self.page.open(found)
        elif isinstance(found, supple.Figure):
            self.page.open(Scene(found))
            self.page.panel.figures.known(name, found)
        elif isinstance(found, supple.Motion):
            self.page.open(Scene(found.figure, found.posture(0)))
            timeline = self.page.panel.timeline
            for t, q in list(zip(found.times, found.q, strict=True))[:: max(1, len(found) // 24)]:
                timeline.keys.put(float(t), q)
            timeline.told()
        else:
            self.page.panel.timeline.postures |= postures_of(session.figure, found, name)
            self.page.panel.timeline.told()
