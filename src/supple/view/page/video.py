"""A motion as a film, by our own drawing: .gif by Pillow, .mp4 by the program ffmpeg, if there is one."""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from supple.basics.writing import check_place, write_file
from supple.errors import BadFile, BadValue
from supple.geometry.placements import Floats
from supple.motion.motion import Motion
from supple.view.camera import Camera, photograph
from supple.view.ground import grid
from supple.view.page.clips import Clip, length_of
from supple.view.picture import VIEW
from supple.view.skeleton import Piece, Skeleton

PAPER = np.array([0.965, 0.969, 0.976])
LINE = np.array([0.80, 0.83, 0.87])
HIGH = 420  # pixels


def write_video(
    clips: Sequence[Clip], path: str | Path, rate: float = 15.0, view: Sequence[float] = VIEW,
    progress: Callable[[int, int], None] | None = None,
) -> None:  # fmt: skip
    """Write a film of the motions among the clips, `rate` frames a second, as seen from a view."""
    path = Path(path)
    check_place(path)
    ending = path.suffix.lower()
    if ending not in (".gif", ".mp4"):
        raise BadFile("films are written as .gif or .mp4", file=str(path))
    program = shutil.which("ffmpeg")
    if ending == ".mp4" and program is None:
        raise BadValue("an .mp4 needs the program ffmpeg, which is not on the path; a .gif needs nothing")
    film = Film(clips, rate, view)
    if ending == ".gif":
        _write_gif(film, path, rate, progress)
    else:
        assert program is not None
        _write_mp4(film, path, rate, program, progress)


class Film:
    """The pictures of a film, all of them with one eye that stands still."""

    def __init__(self, clips: Sequence[Clip], rate: float, view: Sequence[float]) -> None:
        self.clips = [clip for clip in clips if isinstance(clip.what, Motion)]
        if not self.clips:
            raise BadValue("a film needs a motion of a figure; markers alone are played by the page")
        self.camera, self.times = Camera(view), np.arange(0.0, length_of(self.clips) + 1e-9, 1.0 / rate)
        self.size = max(Skeleton(_motion(clip).figure, _motion(clip).q[0]).size for clip in self.clips)
        self.room = self._room()
        self.pixel = float(np.ptp(self.room[1])) / HIGH

    def _room(self) -> Floats:
        """The part of the paper that all of it needs: rows (lowest, highest) of x and y."""
        points = [
            T[:3, 3] for clip in self.clips for t in self.times[:: max(1, len(self.times) // 40)]
            for T in clip.placements(clip.frame(float(t))).values()
        ]  # fmt: skip
        flat = self.camera.flat(np.array(points))
        margin = 0.12 * self.size
        low, high = flat.min(axis=0) - margin, flat.max(axis=0) + margin
        wide = max(float((high - low)[0]), 0.7 * float((high - low)[1]))
        middle = 0.5 * (low + high)[0]
        return np.array([[middle - 0.5 * wide, middle + 0.5 * wide], [low[1], high[1]]])

    def __len__(self) -> int:
        return len(self.times)

    def __iter__(self) -> Iterator[np.ndarray]:
        empty = self._paper()
        for t in self.times:
            image = photograph(self._pieces(float(t)), self.camera, self.room, self.pixel, self.size)
            seen = image.pixels[::-1]
            rows, columns = min(len(seen), len(empty)), min(seen.shape[1], empty.shape[1])
            out = empty.copy()
            part = seen[:rows, :columns]
            out[:rows, :columns] += part[..., 3:] * (part[..., :3] - out[:rows, :columns])
            yield (255.0 * np.clip(out, 0.0, 1.0)).astype(np.uint8)

    def _pieces(self, time: float) -> list[Piece]:
        out = []
        for clip in self.clips:
            motion, move = _motion(clip), np.eye(4)
            move[:3, 3] = clip.aside
            pieces = Skeleton(motion.figure, motion.q[clip.frame(time)]).pieces()
            out += [
                piece._replace(solid=piece.solid.moved(move), through=tuple(s.moved(move) for s in piece.through))
                for piece in pieces
            ]
        return out

    def _paper(self) -> Floats:
        """The empty paper with the grid of the ground on it, an even number of pixels each way."""
        from PIL import Image, ImageDraw

        columns, rows = (2 * int(np.ceil(0.5 * length / self.pixel)) for length in np.ptp(self.room, axis=1))
        paper = Image.new("RGB", (columns, rows), tuple((255 * PAPER).astype(int)))
        pen, reach = ImageDraw.Draw(paper), 1.2 * self.size + 0.5 * float(np.ptp(self.room[0]))
        lines, strength = grid(self.camera, np.zeros(3), reach)
        for line, strong in zip(lines, strength, strict=True):
            places = [((x - self.room[0, 0]) / self.pixel, rows - (y - self.room[1, 0]) / self.pixel) for x, y in line]
            colour = PAPER + float(strong) * (LINE - PAPER)
            pen.line(places, fill=tuple((255 * colour).astype(int)), width=1)
        return np.asarray(paper).astype(float) / 255.0


def _motion(clip: Clip) -> Motion:
    assert isinstance(clip.what, Motion)
    return clip.what


def _told(film: Film, progress: Callable[[int, int], None] | None) -> Iterator[np.ndarray]:
    for k, frame in enumerate(film):
        if progress is not None:
            progress(k + 1, len(film))
        yield frame


def _write_gif(film: Film, path: Path, rate: float, progress: Any) -> None:
    from PIL import Image

    frames = [Image.fromarray(frame).quantize(96, dither=Image.Dither.NONE) for frame in _told(film, progress)]
    data = io.BytesIO()
    frames[0].save(data, "gif", save_all=True, append_images=frames[1:], duration=1000.0 / rate, loop=0, optimize=True)
    write_file(path, data.getvalue())


def _write_mp4(film: Film, path: Path, rate: float, program: str, progress: Any) -> None:
    first = True
    process: subprocess.Popen[bytes] | None = None
    for frame in _told(film, progress):
        if first:
            size = f"{frame.shape[1]}x{frame.shape[0]}"
            command = [
                program,
                "-y",
                "-loglevel",
                "error",
                "-f",
                "rawvideo",
                "-pix_fmt",
                "rgb24",
                "-s",
                size,
                "-r",
                str(rate),
            ]
            command += ["-i", "-", "-pix_fmt", "yuv420p", str(path)]
            process, first = subprocess.Popen(command, stdin=subprocess.PIPE), False
        assert process is not None
        assert process.stdin is not None
        process.stdin.write(frame.tobytes())
    if process is not None and process.stdin is not None:
        process.stdin.close()
        if process.wait() != 0:
            raise BadValue(f"ffmpeg could not write {path}")
