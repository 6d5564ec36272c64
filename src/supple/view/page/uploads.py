"""What somebody has sent to the page, read by the safe readers from a folder that lasts as long as the reading."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import supple
from supple.basics.writing import write_file
from supple.errors import BadFile
from supple.view.page.server import UPLOAD

SCENES = (".toml",)
FIGURES = (".urdf", ".osim", ".asf", ".bvh")


def safe_name(name: str) -> str:
    """A file's own name and nothing else of a path: letters, numbers, dots and dashes."""
    bare = re.split(r"[/\\]", name)[-1]
    stem, dot, ending = bare.rpartition(".") if "." in bare else (bare, "", "")
    clean = re.sub(r"[^A-Za-z0-9_-]+", "_", stem)[:80].strip("_") or "file"
    return f"{clean}.{re.sub(r'[^A-Za-z0-9]', '', ending)[:8].lower()}" if dot else clean


def opened(name: str, content: bytes) -> supple.Figure | supple.Motion | supple.Scene | str:
    """A figure, a motion, a scene, or the text of a file of postures. A scene may name figures of the catalogue only.

    MJCF is left out: its compiler opens whatever files it names.
    """
    safe = safe_name(name)
    ending = Path(safe).suffix
    if len(content) > UPLOAD:
        raise BadFile(f"at most {UPLOAD // 2**20} MB", file=safe)
    if ending == ".json":
        text = _text(content, safe)
        if '"constraints"' not in text and '"figure"' in text and '"postures"' in text:
            return text
        return _scene(text, ".json", safe)
    if ending in SCENES:
        return _scene(_text(content, safe), ending, safe)
    if ending not in FIGURES:
        raise BadFile(f"the page opens {', '.join((*FIGURES, *SCENES, '.json'))}", file=safe)
    with tempfile.TemporaryDirectory(prefix="supple-") as folder:
        path = Path(folder) / safe
        write_file(path, content)
        try:
            if ending == ".bvh":
                motion = supple.read_motion(path)
                return motion if len(motion) > 1 else motion.figure
            figure = supple.load(path)
        except BadFile as error:
            raise BadFile(str(error).replace(str(path), safe)) from error  # the folder is nobody's business
    return figure._with_origin(None)  # the file is gone


def _text(content: bytes, file: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadFile("it is not text in UTF-8", file=file) from error


def _scene(text: str, ending: str, file: str) -> supple.Scene:
    from supple.files.scene.text import parse_scene

    def by_name(what: str | Path, **options: object) -> supple.Figure:
        from supple.figure import catalogue

        if str(what) not in catalogue.names():
            raise BadFile(
                "a scene that is uploaded may name figures of the catalogue, not files of this computer", file=file
            )
        return supple.load(str(what), **options)

    return parse_scene(text, ending, by_name, file)
