"""Files are written whole or not at all: killed, failing or refused, a writer leaves the old file or the new one."""

from __future__ import annotations

import ast
import errno
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple
import supple.basics.writing
from supple.basics.writing import check_place, write_file
from supple.errors import BadFile

SOURCE = Path(supple.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
POSIX = pytest.mark.skipif(os.name != "posix", reason="files have modes and signals on POSIX only")


def left_overs(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".supple")]


# ── the one writer ───────────────────────────────────────────────────────────────────────────────────────────────────
def test_text_and_bytes_arrive_as_they_are(tmp_path: Path):
    write_file(tmp_path / "text", "zwei\nZeilen: ü\r\n")
    write_file(str(tmp_path / "bytes"), b"\0\r\n\xff")
    assert (tmp_path / "text").read_bytes() == "zwei\nZeilen: ü\r\n".encode()
    assert (tmp_path / "bytes").read_bytes() == b"\0\r\n\xff"
    assert not left_overs(tmp_path)


@POSIX
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o755, 0o4711])
def test_permissions_of_what_was_there_are_kept(tmp_path: Path, mode: int):
    file = tmp_path / "file"
    file.write_text("old")
    file.chmod(mode)
    before = file.stat()
    write_file(file, "new")
    after = file.stat()
    assert file.read_text() == "new"
    assert stat.S_IMODE(after.st_mode) == mode
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)


@POSIX
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_has_what_the_umask_leaves(tmp_path: Path, mask: int):
    before = os.umask(mask)
    try:
        write_file(tmp_path / "file", "new")
        write_file(tmp_path / "private", "new", mode=0o600)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o666 & ~mask
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o600 & ~mask


@POSIX
def test_a_link_stays_a_link_and_what_it_names_is_written(tmp_path: Path):
    (tmp_path / "deep").mkdir()
    real, link, chain = tmp_path / "deep" / "real", tmp_path / "link", tmp_path / "chain"
    link.symlink_to("deep/real")
    chain.symlink_to(link)
    for text in ("first", "second"):  # to nothing yet, then to a file
        write_file(chain, text)
        assert link.is_symlink()
        assert chain.is_symlink()
        assert real.read_text() == text
    link.unlink()
    link.symlink_to("nowhere/real")
    with pytest.raises(BadFile, match=r"there is no folder .*nowhere"):
        write_file(link, "third")


@POSIX
def test_pipes_and_devices_are_written_to_directly(tmp_path: Path):
    pipe, heard = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()))
    reader.start()
    write_file(pipe, "through the pipe")
    reader.join()
    assert heard == [b"through the pipe"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    write_file("/dev/null", "nothing")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@POSIX
@pytest.mark.parametrize("redirected", [False, True])
def test_standard_output_is_written_to_and_not_replaced(tmp_path: Path, redirected: bool):
    script = (
        "from supple.basics.writing import write_file; write_file('/dev/stdout', 'one\\n'); "
        "import os; os.write(1, b'two\\n')"
    )
    file = tmp_path / "out"
    with file.open("ab") as stream:
        target = stream if redirected else subprocess.PIPE
        done = subprocess.run([sys.executable, "-c", script], stdout=target, check=True)
    assert (file.read_bytes() if redirected else done.stdout) == b"one\ntwo\n"


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_what_cannot_be_written_is_refused_by_name(tmp_path: Path):
    file = tmp_path / "file"
    file.write_text("in the way")
    for path, words in [
        (tmp_path / "missing" / "x.bvh", "there is no folder .*missing.*make it first"),
        (file / "x.bvh", "there is no folder .*file"),
        (tmp_path, "this is a folder"),
    ]:
        for call in (check_place, lambda path: write_file(path, "text")):
            with pytest.raises(BadFile, match=words) as caught:
                call(path)
            assert str(path) in str(caught.value)
    with pytest.raises(BadFile, match="UTF-8 cannot hold"):
        write_file(file, "\ud800")
    assert file.read_text() == "in the way"


@POSIX
def test_a_file_or_folder_that_may_not_be_written_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "file"
    file.write_text("old")
    closed: set[Path] = {file}
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) not in closed)  # for root nothing is closed
    with pytest.raises(BadFile, match="cannot be written: see its permissions"):
        write_file(file, "new")
    closed = {tmp_path}
    with pytest.raises(BadFile, match="see the permissions of the folder"):
        write_file(file, "new")
    assert file.read_text() == "old"


FIGURE = supple.load("panda")
MOTION = supple.Motion(FIGURE, np.tile(FIGURE.rest, (2, 1)), np.array([0.0, 0.1]))
MARKERS = supple.Markers(("a",), np.zeros((2, 1, 3)), np.array([0.0, 0.1]))
WRITTEN = [
    (what, ending)
    for what, endings in [
        (FIGURE, (".urdf", ".bvh", ".glb", ".gltf")),
        (MOTION, (".bvh", ".mot", ".sto", ".glb", ".gltf")),
        (MARKERS, (".trc", ".c3d")),
        (supple.Scene(FIGURE), (".toml", ".json")),
    ]
    for ending in endings
]


@pytest.mark.parametrize(("what", "ending"), WRITTEN, ids=lambda x: x if isinstance(x, str) else type(x).__name__)
def test_every_format_is_refused_before_any_work_and_fails_whole(
    what: Any, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    target = tmp_path / f"file{ending}"
    supple.write(what, target)
    before = target.read_bytes()
    assert before
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(BadFile, match="No space left"):
        supple.write(what, target)
    assert target.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [target.name]
    monkeypatch.setattr(supple.Figure, "placement", no_work)
    with pytest.raises(supple.Error, match=r"there is no folder .*missing"):
        supple.write(what, tmp_path / "missing" / f"file{ending}")


def full_disk(handle: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def no_work(*_: Any) -> None:
    raise AssertionError("worked before it looked at where the file goes")


@pytest.mark.parametrize("ending", [".png", ".pdf", ".svg", ".jpg", ".eps", ".ps", ".svgz"])
def test_pictures_are_refused_before_they_are_drawn(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("matplotlib")
    from supple.view import draw, draw_frames

    target = tmp_path / f"picture{ending}"
    draw(FIGURE, path=target, dpi=30.0, chart=False)
    before = target.read_bytes()
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(BadFile, match="No space left"):
        draw(FIGURE, path=target, dpi=30.0, chart=False)
    assert target.read_bytes() == before
    monkeypatch.setattr(supple.Figure, "placement", no_work)
    for call in (draw, lambda figure, path: draw_frames([MOTION], path=path)):
        with pytest.raises(supple.Error, match="there is no folder"):
            call(FIGURE, path=tmp_path / "missing" / f"picture{ending}")


@pytest.mark.parametrize("failing", ["chmod", "fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.EIO, "broken"), KeyboardInterrupt(), MemoryError()])
def test_whatever_fails_leaves_the_old_file_and_nothing_else(
    failing: str, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: Any) -> None:
        raise error

    file = tmp_path / "file"
    file.write_text("old")
    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(BadFile if isinstance(error, OSError) else type(error)):
        write_file(file, "new")
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


# ── killed ───────────────────────────────────────────────────────────────────────────────────────────────────────────
KILLING = """
import os, signal, sys, time
from supple.basics.writing import write_file

file, whole, seen = sys.argv[1], [bytes([65 + k]) * 300_000 for k in range(2)], set()
for attempt in range(150):
    child = os.fork()
    while not child:  # on and on, until it is killed
        for data in whole:
            write_file(file, data)
    time.sleep(0.0001 * attempt)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if os.path.exists(file):  # the first may be killed before it has written anything
        with open(file, "rb") as stream:
            data = stream.read()
        assert data in whole, f"{len(data)} bytes of {set(data)}"
        seen.add(data[:1])
print(sorted(seen))
"""


@POSIX
def test_killed_at_any_instant_the_old_file_or_the_new_one_is_there(tmp_path: Path):
    command = [sys.executable, "-c", KILLING, str(tmp_path / "file")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[b'A', b'B']\n", "")


# ── the habit ────────────────────────────────────────────────────────────────────────────────────────────────────────
BY_NAME = {
    "write_text",
    "write_bytes",
    "tofile",
    "savetxt",
    "savez",
    "savez_compressed",
    "mkstemp",
    "NamedTemporaryFile",
}
OF_MODULES = {("os", "open"), ("os", "fdopen"), ("io", "open"), ("np", "save"), ("numpy", "save"), ("json", "dump")}
OF_MODULES |= {("pickle", "dump"), ("shutil", "copyfile"), ("shutil", "copy"), ("shutil", "move"), ("os", "replace")}
HARMLESS = {
    ("view/report_parts.py", "savefig"), ("view/picture.py", "savefig"),  # pictures, into io.BytesIO
    ("files/rigs/fbx_worker.py", "savez"),  # into io.BytesIO, for the process that asked
    ("cluster/stored.py", "open"),  # of any store, beside its place and then moved there
    ("kernels/compiling/cache.py", "open"),  # for reading, past links
    ("kernels/compiling/locks.py", "open"),  # a lock, which stays empty
    ("view/page/beside.py", "fdopen"),  # a pipe
}  # fmt: skip


def writes(tree: ast.Module) -> list[tuple[int, str]]:
    """Calls that open a file for writing: line and name."""
    found = []
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        function = call.func
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        owner = (
            function.value.id if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) else ""
        )
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        modes = [a.value for a in given if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        opens = name == "open" and any(set(mode) <= set("rwaxbt+") and set(mode) & set("wax+") for mode in modes)
        if opens or name in BY_NAME or (owner, name) in OF_MODULES or name == "savefig":
            found.append((call.lineno, name))
    return found


def test_one_module_alone_opens_files_for_writing():
    found = {}
    for module in MODULES:
        name = module.relative_to(SOURCE).as_posix()
        lines = [
            (line, call) for line, call in writes(ast.parse(module.read_text("utf-8"))) if (name, call) not in HARMLESS
        ]
        found |= {name: lines} if lines else {}
    assert found.keys() == {"basics/writing.py"}, found


@pytest.mark.parametrize(
    "line",
    [
        "open(path, 'w')", "open(path, mode='ab')", "path.open('x')", "open(path, 'r+')",
        "path.write_text(text)", "path.write_bytes(b'')",
        "np.save(path, array)", "sheet.savefig(path)", "os.open(path, flags)", "json.dump(value, stream)",
    ],
)  # fmt: skip
def test_the_habit_sees_what_writes(line: str):
    assert writes(ast.parse(line))


@pytest.mark.parametrize("line", ["open(path)", "open(path, 'rb')", "path.read_text('utf-8')", "json.dumps(value)"])
def test_the_habit_lets_readers_pass(line: str):
    assert not writes(ast.parse(line))


# ── commands ─────────────────────────────────────────────────────────────────────────────────────────────────────────
COMMANDS: list[Callable[[str], list[str]]] = [
    lambda path: ["convert", "panda", f"{path}.urdf"],
    lambda path: ["show", "panda", "-o", f"{path}.png"],
    lambda path: ["certify", "panda", "hand", "--at", "9,9,9", "-o", f"{path}.json"],
    lambda path: ["reach", "panda", "--json", f"{path}.json"],
    lambda path: ["reach", "panda", "-o", f"{path}.png"],
    lambda path: ["track", "absent.trc", "-m", "panda", "-o", f"{path}.mot"],
    lambda path: ["track", "absent.trc", "-m", "panda", "--report", f"{path}.html"],
    lambda path: ["solve", "absent.toml", "-o", f"{path}.bvh"],
    lambda path: ["solve", "absent.toml", "--picture", f"{path}.png"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command("to")))
def test_commands_look_where_their_files_go_before_they_read_or_solve(command: Any, tmp_path: Path):
    from typer.testing import CliRunner

    from supple.cli import app

    done = CliRunner().invoke(app, command(str(tmp_path / "missing" / "file")))
    assert done.exit_code == 2
    assert "there is no folder" in done.stderr
    assert "missing" in done.stderr
