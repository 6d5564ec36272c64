"""What is kept between processes is code that is run: only from folders that are ours, and only as it was written."""

from __future__ import annotations

import os
import pickle
import random
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from supple.kernels.compiling import cache as caching
from supple.kernels.compiling.cache import Damaged, cache_folder, keep, kept, objection

POSIX = pytest.mark.skipif(os.name != "posix", reason="files have owners and modes on POSIX only")
NAME = "0123456789abcdef"
SOURCES = Path(caching.__file__).parents[3]


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "folder" / "kernel.code"
    keep(file, "key", b"payload")
    return file


def test_what_is_kept_comes_back(file: Path):
    assert kept(file, "key") == b"payload"
    assert kept(file.with_name("other"), "key") is None


def test_every_flipped_bit_is_noticed(file: Path):
    whole = file.read_bytes()
    for at in range(len(whole)):
        for bit in range(8):
            file.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << bit)]) + whole[at + 1 :])
            with pytest.raises(Damaged):
                kept(file, "key")


def test_every_length_but_the_whole_is_noticed(file: Path):
    whole = file.read_bytes()
    for end in range(len(whole)):
        file.write_bytes(whole[:end])
        with pytest.raises(Damaged):
            kept(file, "key")
    file.write_bytes(whole + b"\0")
    with pytest.raises(Damaged):
        kept(file, "key")


def test_zeros_random_bytes_and_bare_pickles_are_noticed(file: Path):
    chance = random.Random(1)
    for data in (bytes(100), chance.randbytes(10_000), pickle.dumps(("a", "b")), b""):
        file.write_bytes(data)
        with pytest.raises(Damaged):
            kept(file, "key")


def test_a_file_of_another_kernel_is_noticed(file: Path):
    with pytest.raises(Damaged, match="another kernel"):
        kept(file, "another key")


@POSIX
def test_files_that_others_may_write_links_and_folders_are_not_read(file: Path, monkeypatch: pytest.MonkeyPatch):
    file.chmod(0o620)
    with pytest.raises(Damaged, match="not ours alone"):
        kept(file, "key")
    file.chmod(0o600)
    link = file.with_name("link")
    link.symlink_to(file)
    with pytest.raises(Damaged, match="cannot be read"):
        kept(link, "key")
    for other in ("folder", "pipe"):
        (file.with_name("folder").mkdir if other == "folder" else lambda: os.mkfifo(file.with_name("pipe")))()
        with pytest.raises(Damaged):
            kept(file.with_name(other), "key")
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    with pytest.raises(Damaged, match="not ours alone"):
        kept(file, "key")


def test_what_cannot_be_kept_is_not(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    assert "File exists" in keep(tmp_path / "file" / "kernel.code", "key", b"payload")
    assert kept(tmp_path / "kernel.code", "key") is None
    assert keep(tmp_path / "kernel.code", "key", b"payload") == ""


# ── folders ──────────────────────────────────────────────────────────────────────────────────────────────────────────
@POSIX
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720, 0o702, 0o1777])
@pytest.mark.parametrize("private", [False, True])
def test_folders_that_others_may_write_to_are_not_used(tmp_path: Path, mode: int, private: bool):
    tmp_path.chmod(mode)
    assert "is open to others" in objection(tmp_path, private)
    tmp_path.chmod(0o700)
    assert objection(tmp_path, private) == ""


@POSIX
def test_in_the_temporary_folder_nobody_else_may_look(tmp_path: Path):
    tmp_path.chmod(0o755)
    assert objection(tmp_path, private=False) == ""
    assert "is open to others" in objection(tmp_path, private=True)


@POSIX
def test_links_files_and_folders_of_others_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    link, file = tmp_path / "link", tmp_path / "file"
    link.symlink_to(tmp_path)
    file.write_text("")
    assert "is a link" in objection(link, private=True)
    assert "is no folder" in objection(file, private=True)
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    assert "belongs to somebody else" in objection(tmp_path, private=True)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder, where the cache goes since there is none in the home."""
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.delenv("SUPPLE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path / f"supple-{os.getuid()}"


@POSIX
def test_the_fallback_is_made_for_us_alone(temporary: Path):
    assert cache_folder(NAME) == (temporary / NAME, "")
    assert temporary.stat().st_mode & 0o777 == (temporary / NAME).stat().st_mode & 0o777 == 0o700
    assert cache_folder(NAME) == (temporary / NAME, "")


def open_to_all(root: Path) -> None:
    root.mkdir()
    root.chmod(0o777)


def linked(root: Path) -> None:
    root.with_name("elsewhere").mkdir(mode=0o700)
    root.symlink_to(root.with_name("elsewhere"))


def linked_inside(root: Path) -> None:
    root.mkdir(mode=0o700)
    root.with_name("elsewhere").mkdir(mode=0o700)
    (root / NAME).symlink_to(root.with_name("elsewhere"))


def open_inside(root: Path) -> None:
    (root / NAME).mkdir(parents=True)
    root.chmod(0o700)
    (root / NAME).chmod(0o777)


def test_with_neither_a_home_nor_a_temporary_folder_nothing_is_kept(monkeypatch: pytest.MonkeyPatch):
    def absent(*_: object) -> str:
        raise OSError("no usable temporary folder")

    monkeypatch.delenv("SUPPLE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    monkeypatch.setattr(tempfile, "gettempdir", absent)
    folder, why = cache_folder(NAME)
    assert folder is None
    assert "cannot be used" in why


@POSIX
@pytest.mark.parametrize("prepare", [open_to_all, linked, linked_inside, open_inside])
def test_a_fallback_that_somebody_prepared_is_not_used(temporary: Path, prepare: Callable[[Path], None]):
    prepare(temporary)
    assert cache_folder(NAME)[0] is None


@POSIX
def test_a_fallback_of_somebody_else_is_not_used(temporary: Path, monkeypatch: pytest.MonkeyPatch):
    temporary.mkdir(mode=0o700)
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    folder, why = cache_folder(NAME)
    assert folder is None
    assert why


def test_why_nothing_is_kept_is_told_of_the_first_choice(temporary: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SUPPLE_CACHE", str(temporary))
    monkeypatch.setattr(caching, "objection", lambda folder, private: f"{folder} is strange")
    assert cache_folder(NAME) == (None, f"{temporary} is strange")
