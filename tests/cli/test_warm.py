"""`supple warm`: jobs that call every entry there is, and code that is there afterwards."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import supple
from supple.cli import warm
from supple.kernels.compiling import INTERPRETED
from supple.kernels.compiling.recording import Call, entries, entry_modules

SOURCE = Path(supple.__file__).parent
COMPILED = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")


@pytest.fixture(scope="module")
def calls() -> list[Call]:
    pytest.importorskip("flint")
    pytest.importorskip("clarabel")
    return warm.calls()


def used(entry: str) -> bool:
    """Whether the package calls an entry; some are for tests alone."""
    name = re.escape(entry.split("[")[0].rsplit(".", 1)[1])
    mentions = [re.findall(rf"\b{name}\b", file.read_text("utf-8")) for file in SOURCE.rglob("*.py")]
    return sum(map(len, mentions)) > 1


def test_the_jobs_call_every_entry(calls: list[Call]):
    called = {call.entry for call in calls}
    assert len(called) > 20
    assert {name for name in entries() if used(name)} - called == set()


def test_every_module_with_entries_is_found():
    marked = {file for file in SOURCE.rglob("*.py") if re.search(r"^@entry\b", file.read_text("utf-8"), re.MULTILINE)}
    names = {".".join(("supple", *file.relative_to(SOURCE).with_suffix("").parts)) for file in marked}
    assert names
    assert names <= set(entry_modules())


def test_every_call_is_recorded_once(calls: list[Call]):
    assert len({str(call) for call in calls}) == len(calls)


@COMPILED
def test_what_is_missing_is_compiled_and_what_is_there_is_not(
    calls: list[Call], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    small = [call for call in calls if call.entry.endswith((".worlds_entry", ".read_targets_entry"))]
    assert len(small) == 2
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "cache"))
    told: list[tuple[str, int, int]] = []
    seconds = warm.compile_missing(small, 2, lambda *about: told.append(about))
    assert set(seconds) == {call.entry for call in small}
    assert [(done, total) for _, done, total in told] == [(1, 2), (2, 2)]
    assert warm.compile_missing(small) == {}
    next((tmp_path / "cache").rglob("*read_targets_entry*.code")).write_bytes(b"damaged")
    assert [name.rsplit(".", 1)[1] for name in warm.compile_missing(small)] == ["read_targets_entry"]


@COMPILED
def test_where_nothing_can_be_kept_it_says_so(monkeypatch: pytest.MonkeyPatch):
    from supple.kernels.compiling import cache

    monkeypatch.setattr(cache, "home", lambda: cache.Home(None, "the disk is made of glass"))
    with pytest.raises(supple.Error, match="made of glass"):
        supple.warm()


def test_nonsense_is_refused_by_name():
    with pytest.raises(supple.Error, match="workers"):
        supple.warm(workers=0)
    with pytest.raises(supple.Error, match="progress"):
        supple.warm(progress=3)  # type: ignore[arg-type]


def test_a_process_that_fails_is_told_of():
    with pytest.raises(supple.Error, match="could not be compiled"):
        warm.run("supple.kernels.compiling.warming", "nonsense")


@pytest.mark.interpreted
@pytest.mark.parametrize("words", [("--help",), ("--version",), ("solve", "--help"), ("warm", "--help")])
def test_help_needs_neither_numpy_nor_numba(words: tuple[str, ...]):
    script = (
        "import sys; sys.argv = ['supple', *sys.argv[1:]]\nfrom supple.cli import main\n"
        "try:\n    main()\nfinally:\n    print(sorted({'numpy', 'scipy', 'numba'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
