"""Of several processes one compiles; nobody waits for the dead, nor for ever."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from supple.kernels.compiling import locks
from supple.kernels.compiling.locks import claim

SOURCES = Path(locks.__file__).parents[3]
# A process that claims a file, says so, and then waits to be ended.
HOLDER = """
import sys, time
from pathlib import Path
from supple.kernels.compiling.locks import claim
held = claim(Path(sys.argv[1]), lambda: False, lambda: None)
print(held is not None, flush=True)
time.sleep(100)
"""


@contextlib.contextmanager
def holder(file: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has the claim; killed in the end, if it has not been."""
    settings = {**os.environ, "PYTHONPATH": str(SOURCES)}
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(file)], env=settings, stdout=-1, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "True\n"
            yield process
        finally:
            process.kill()


def never() -> bool:
    return False


def test_who_claims_first_has_it_until_he_ends(tmp_path: Path):
    file, waits = tmp_path / "code", []
    with holder(file):
        assert claim(file, never, lambda: waits.append(1), patience=0.3) is None  # patience is at its end
        assert waits == [1]
        assert claim(file, lambda: True, lambda: waits.append(2), patience=100.0) is None  # somebody else has done it
        assert waits == [1]


def test_of_a_process_that_is_killed_nothing_remains(tmp_path: Path):
    with holder(tmp_path / "code"):
        pass
    mine = claim(tmp_path / "code", never, lambda: pytest.fail("nobody is there to wait for"))
    assert mine is not None
    mine.end()
    mine.end()
    assert not list(tmp_path.iterdir())


def test_what_somebody_dies_over_is_taken_up(tmp_path: Path):
    file = tmp_path / "code"
    with holder(file) as process:
        mine = claim(file, never, process.kill, patience=60.0)
    assert mine is not None
    mine.end()


def test_where_no_lock_can_be_had_everybody_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").write_text("in the way")
    assert claim(tmp_path / "file" / "code", never, lambda: None) is None

    def unable(handle: int) -> None:
        raise OSError(errno.ENOLCK, "no locks here")

    monkeypatch.setattr(locks, "_lock", unable)
    assert claim(tmp_path / "code", never, lambda: pytest.fail("there is nothing to wait for")) is None


@pytest.mark.skipif(os.name != "posix", reason="links")
def test_a_link_in_the_place_of_the_lock_is_not_followed(tmp_path: Path):
    (tmp_path / "code.lock").symlink_to(tmp_path / "precious")
    assert claim(tmp_path / "code", never, lambda: None) is None
    assert not (tmp_path / "precious").exists()
