"""What is kept between processes is code that is run: only from folders that are ours, and only as it was written."""

from __future__ import annotations

import os
import pickle
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from supple.kernels.compiling import INTERPRETED, cache as caching
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


@POSIX
@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_on_a_full_disk_it_works_and_says_that_nothing_is_kept(tmp_path: Path):
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"  # no file can grow
    value, hits, said = run(tmp_path / "cache", full)
    assert (value, hits) == (42.0, 0)
    assert "could not be kept, and is compiled again by the next process" in said
    assert run(tmp_path / "cache")[:2] == (42.0, 0)
    assert run(tmp_path / "cache") == (42.0, 1, "")


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


# ── processes ────────────────────────────────────────────────────────────────────────────────────────────────────────
# A module whose name makes it one of ours, with one small kernel, in a package of which no more is imported than is needed.
PROBE = """
import os, sys, types
package, module = types.ModuleType("supple"), types.ModuleType("supple.probe")
package.__path__ = [os.path.join(os.environ["PYTHONPATH"], "supple")]
sys.modules |= {"supple": package, "supple.probe": module}
from supple.kernels.compiling import entry
exec(compile("def probe(x):\\n    return 2.0 * x + 1.0\\n", "probe", "exec"), module.__dict__)
probe = entry(module.probe)
print(probe(20.5), sum(probe.stats.cache_hits.values()))
"""


def run(cache: Path, before: str = "") -> tuple[float, int, str]:
    """The probe's answer in a fresh process, how often it was loaded, and what was said."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SUPPLE_", "NUMBA_"))}
    settings = {**kept, "SUPPLE_CACHE": str(cache), "PYTHONPATH": str(SOURCES)}
    done = subprocess.run(
        [sys.executable, "-c", before + PROBE], env=settings, capture_output=True, text=True, check=True
    )
    value, hits = done.stdout.split()
    return float(value), int(hits), done.stderr


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_a_damaged_cache_is_compiled_anew_with_one_line(tmp_path: Path):
    cache, chance = tmp_path / "cache", random.Random(2)
    value, hits, said = run(cache)
    assert (value, hits) == (42.0, 0)
    assert said.count("\n") == 1
    assert "compiling probe" in said
    assert run(cache) == (42.0, 1, "")
    (file,) = cache.rglob("*.code")
    whole = file.read_bytes()
    flipped = bytearray(whole)
    for _ in range(20):
        flipped[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
    elsewhere = tmp_path / "elsewhere" / "x"
    keep(elsewhere, "of another Python", b"whatever")
    for damage in (b"", whole[: len(whole) // 2], bytes(len(whole)), bytes(flipped), elsewhere.read_bytes()):
        file.write_bytes(damage)
        value, hits, said = run(cache)
        assert (value, hits) == (42.0, 0)
        assert said.count("\n") == 1
        assert re.search("is damaged|is of another kernel", said)
        assert file.read_bytes() != damage
    assert run(cache) == (42.0, 1, "")  # what was compiled anew was kept


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_a_sealed_file_that_does_not_load_is_compiled_anew(tmp_path: Path):
    script = PROBE + (
        "import pickle; from supple.kernels.compiling.cache import keep\n"
        "place = probe._cache._place(probe.signatures[0], probe.targetctx.codegen())\n"
        "keep(*place, pickle.dumps(('not', 'a', 'result')))"
    )
    settings = {
        **os.environ,
        "SUPPLE_CACHE": str(tmp_path / "c"),
        "PYTHONPATH": str(SOURCES),
    }
    subprocess.run([sys.executable, "-c", script], env=settings, capture_output=True, check=True)
    value, hits, said = run(tmp_path / "c")
    assert (value, hits) == (42.0, 0)
    assert "cannot be loaded" in said
    assert said.count("\n") == 1


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_another_numba_never_runs_what_this_one_kept(tmp_path: Path):
    assert run(tmp_path / "cache")[:2] == (42.0, 0)
    upgrade = "import numba; numba.__version__ = '0.68.99'\n"
    assert run(tmp_path / "cache", upgrade)[:2] == (42.0, 0)
    assert run(tmp_path / "cache", upgrade)[:2] == (42.0, 1)  # each finds its own
    assert run(tmp_path / "cache") == (42.0, 1, "")


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_of_processes_that_begin_at_once_one_compiles(tmp_path: Path):
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: run(tmp_path / "cache"), range(4)))
    assert {value for value, _, _ in answers} == {42.0}
    assert sum(hits for _, hits, _ in answers) == 3
    assert sum("compiling probe (" in said and "waiting" not in said for _, _, said in answers) == 1
    assert not list(tmp_path.rglob("*.lock"))
    assert run(tmp_path / "cache") == (42.0, 1, "")


@POSIX
@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_without_a_folder_to_trust_nothing_is_kept_and_one_line_says_so(tmp_path: Path):
    cache = tmp_path / "cache"
    open_to_all(cache)
    value, hits, said = run(cache)
    assert (value, hits) == (42.0, 0)
    assert said.count("\n") == 1
    assert "anew in every process" in said
    assert "open to others" in said
    assert not list(cache.iterdir())
