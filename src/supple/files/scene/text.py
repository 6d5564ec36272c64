"""Scene files as text: the same tables in TOML and in JSON.

Numbers are written in full, so that reading gives the same bits. Of TOML only what scenes need is written: fields, tables,
lists of tables, and all that is nested deeper in one line.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from supple.basics.writing import check_place, write_file
from supple.errors import BadFile
from supple.files.scene.fields import Noted
from supple.files.scene.figure import Load
from supple.files.scene.nested import plain_scene, read_tables
from supple.files.xml import read_bytes, shown
from supple.scene.scene import Scene

ENDINGS = (".toml", ".json")
MOST_BYTES = 16 * 1024 * 1024
BARE = re.compile(r"[A-Za-z0-9_-]+")
RUN, DOT = re.compile(r"[\w\-.\"' \t]+"), re.compile(r"[\w\-\"'][ \t]*\.(?=[ \t]*[\w\-\"'])")
MOST_PARTS = 50  # of a dotted name; Python's reader takes a time that grows with their square
WIDTH = 110
MOST_TOLD = 50  # problems


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def read_scene_file(path: str | Path, load: Load) -> Scene:
    """The scene in a file; figures that it names are loaded by `load`, files among them beside the scene."""
    data = read_bytes(path, MOST_BYTES)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadFile("this is not UTF-8 text: save it as such", file=str(path), line=line) from error
    return parse_scene(text, Path(path).suffix, load, str(path))


def parse_scene(text: str, ending: str, load: Load, file: str | None = None) -> Scene:
    """The scene in a text of TOML (".toml") or JSON (".json"); `file` is what messages call it."""
    folder = Path(file).parent if file else Path()
    raw = _tables(text, _known(ending, file), file)
    notes: list[str] = []
    try:
        return read_tables(raw, load, folder, notes)
    except Noted:
        raise BadFile(notes[0] if len(notes) == 1 else _listed(notes), file=file) from None


def _listed(notes: list[str]) -> str:
    shown = [f"there are {len(notes)} problems:", *notes[:MOST_TOLD]]
    return "\n  ".join(shown + (["…"] if len(notes) > MOST_TOLD else []))


def _known(ending: str, file: str | None) -> str:
    if ending.lower() not in ENDINGS:
        raise BadFile(f"scenes are kept in {' and '.join(ENDINGS)} files, not {ending!r}", file=file)
    return ending.lower()


def _tables(text: str, ending: str, file: str | None) -> Any:
    """The tables of a text, whatever they mean."""
    try:
        if ending == ".toml":
            _check_names(text)
            return tomllib.loads(text)
        return json.loads(text, object_pairs_hook=_once)
    except RecursionError as error:
        raise BadFile("the file is nested too deeply", file=file) from error
    except ValueError as error:  # syntax, or a number of thousands of digits
        found = re.search(r"line (\d+)", str(error))
        what = "TOML" if ending == ".toml" else "JSON"
        raise BadFile(
            f"the {what} is broken: {_short(error)}", file=file, line=int(found[1]) if found else None
        ) from error


def _check_names(text: str) -> None:
    """Refuse names of very many parts."""
    for run in RUN.finditer(text):
        if run[0].count(".") > MOST_PARTS and len(DOT.findall(run[0])) > MOST_PARTS:
            line = text.count("\n", 0, run.start()) + 1
            raise ValueError(f"a name has more than {MOST_PARTS} parts (at line {line}, column 1)")


def _short(error: ValueError) -> str:
    text = re.sub(r"[(:]? ?(?:at )?line \d+,? column \d+.*", "", str(error)).strip()
    return text if len(text) <= 200 else text[:197] + "…"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A table in which no name stands twice."""
    out = dict(pairs)
    if len(out) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{shown(next(n for n in names if names.count(n) > 1))} is said twice")
    return out


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def write_scene(scene: Scene, path: str | Path) -> None:
    """Write a scene to a .toml or .json file, which names its figure and does not hold it."""
    ending = _known(Path(path).suffix, str(path))
    check_place(path)
    write_file(path, format_scene(scene, ending, Path(path).parent))


def format_scene(scene: Scene, ending: str, folder: Path = Path()) -> str:
    """The text of a scene for a file in `folder`."""
    tables = plain_scene(scene, folder)
    return toml_text(tables) if _known(ending, None) == ".toml" else json_text(tables) + "\n"


def toml_text(tables: dict[str, Any]) -> str:
    """TOML: bare fields first, then tables, then lists of tables."""
    several = {k: v for k, v in tables.items() if isinstance(v, list) and v and all(isinstance(x, dict) for x in v)}
    single = {k: v for k, v in tables.items() if isinstance(v, dict)}
    bare = {k: v for k, v in tables.items() if k not in several and k not in single}
    parts = ["".join(f"{_key(k)} = {inline(v)}\n" for k, v in bare.items())]
    for name, value in tables.items():
        heads = (
            [(f"[{_key(name)}]", value)]
            if name in single
            else [(f"[[{_key(name)}]]", v) for v in several.get(name, ())]
        )
        parts += [
            head + "\n" + "".join(f"{_key(k)} = {inline(v)}\n" for k, v in table.items()) for head, table in heads
        ]
    return "\n".join(parts)


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def inline(value: Any) -> str:
    """A value of TOML in one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {inline(v)}" for k, v in value.items()) + " }" if value else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    return _quoted(value) if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else repr(value)


def json_text(value: Any, indent: str = "") -> str:
    """JSON in which what fits on a line stands on one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= WIDTH or not isinstance(value, dict | list):
        return line
    deeper = indent + "  "
    if isinstance(value, list):
        rows, (start, end) = [json_text(one, deeper) for one in value], "[]"
    else:
        rows, (start, end) = (
            [f"{json.dumps(k, ensure_ascii=False)}: {json_text(v, deeper)}" for k, v in value.items()],
            "{}",
        )
    return start + "\n" + ",\n".join(deeper + row for row in rows) + "\n" + indent + end
