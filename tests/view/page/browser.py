"""A headless Chromium for the tests of the page; they are skipped, with the reason, where there is none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]
# What viser's own client says of itself, in every page that it serves.
THEIRS = ("preventDefault inside passive event listener", "THREE.", "GL Driver Message", "WebSocket connection")
PATIENCE = 60_000  # ms: the machines that test are busy


def chromium() -> str:
    """Where the browser is."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if (found := shutil.which(name)) is not None:
            return found
    pytest.skip("no browser: install chromium (Debian: apt install chromium)")


def browsers() -> Iterator[Any]:
    """A browser for a module's tests."""
    api = pytest.importorskip("playwright.sync_api", reason="no browser driver: pip install playwright")
    pytest.importorskip("viser")
    path = chromium()
    with api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        yield browser
        browser.close()


class Tab:
    """One tab that looks at a page, with everything that it complained of."""

    def __init__(self, browser: Any, link: str, clients: Any) -> None:
        self.page = browser.new_page(viewport={"width": 1000, "height": 680})
        self.page.set_default_timeout(PATIENCE)
        self.errors: list[str] = []
        self.page.on("console", lambda message: self._heard(message.type, message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        before = set(clients())
        self.page.goto(link)
        self.until(lambda: set(clients()) - before)
        self.client = clients()[max(set(clients()) - before)]
        self.until(lambda: self.client.camera.image_width > 0)
        self.page.wait_for_timeout(2500)
        for note in self.page.locator(".mantine-Notification-closeButton").all():
            note.click()  # viser says that it draws without a graphics card

    def _heard(self, kind: str, text: str) -> None:
        if kind == "error" and not any(theirs in text for theirs in THEIRS):
            self.errors.append(text)

    def until(self, condition: Any, seconds: float = 60.0) -> None:
        """Wait for something to become true."""
        for _ in range(int(seconds / 0.05)):
            if condition():
                return
            self.page.wait_for_timeout(50)
        raise AssertionError("it did not happen")

    def pixel(self, place: Any) -> tuple[float, float]:
        """Where a place in the world is on the screen."""
        camera = self.client.camera
        w, x, y, z = camera.wxyz
        seen = Rotation.from_quat([x, y, z, w]).as_matrix().T @ (np.asarray(place) - camera.position)
        f = 0.5 * camera.image_height / np.tan(0.5 * camera.fov)
        return (seen[0] / seen[2] * f + 0.5 * camera.image_width, seen[1] / seen[2] * f + 0.5 * camera.image_height)

    def drag(self, start: tuple[float, float], way: tuple[float, float], steps: int = 12, let_go: bool = True) -> None:
        """Press, pull and let go."""
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        for k in range(1, steps + 1):
            mouse.move(start[0] + way[0] * k / steps, start[1] + way[1] * k / steps)
        if let_go:
            mouse.up()

    def shot(self, name: str) -> None:
        """Keep a picture, where pictures are kept: in the folder that SUPPLE_SHOTS names."""
        folder = os.environ.get("SUPPLE_SHOTS")
        if folder:
            self.page.screenshot(path=str(Path(folder) / f"{name}.png"))

    def close(self) -> None:
        """Close the tab."""
        self.page.close()
