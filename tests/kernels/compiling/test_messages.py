"""What is said while kernels are compiled: what, why, how long it took last time, and where it is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from supple.kernels.compiling import messages
from supple.kernels.compiling.cache import Home

ENTRY = "supple.solvers.newton.newton.newton_entry"
OTHER = "supple.motion.optimal_tracking.natural_equations._rows_entry"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of these kernels, in an empty cache; nothing has been told yet."""
    folder = tmp_path / "0123456789abcdef"
    folder.mkdir()
    monkeypatch.setattr(messages, "home", lambda: Home(folder))
    monkeypatch.setattr(messages, "_told", set())
    monkeypatch.setattr(messages, "_why", {})
    monkeypatch.delenv("SUPPLE_QUIET", raising=False)
    messages._times.cache_clear()
    yield folder
    messages._times.cache_clear()


@pytest.mark.interpreted
def test_a_sentence_says_what_why_and_where(folder: Path):
    messages.explain(ENTRY, "it came compiled for Numba 0.61")
    said = messages._sentence(ENTRY)
    assert said == f"compiling newton (newton.py); it came compiled for Numba 0.61; kept in {folder} …"


@pytest.mark.interpreted
def test_what_has_been_told_is_not_told_again(folder: Path):
    for entry in (ENTRY, OTHER):
        messages.explain(entry, "no compiled code comes with a checkout")
    messages._sentence(ENTRY)
    assert messages._sentence(OTHER) == "compiling rows (natural_equations.py) …"
    messages.explain(OTHER, "a file is damaged")
    assert messages._sentence(OTHER) == "compiling rows (natural_equations.py); a file is damaged …"


@pytest.mark.interpreted
def test_how_long_it_took_is_remembered_beside_the_cache(folder: Path):
    assert messages.last_time(ENTRY) == 0.0
    messages._remember(ENTRY, 23.4)
    messages._remember(OTHER, 0.2)
    assert json.loads((folder.parent / messages.TIMES).read_text()) == {ENTRY: 23.4, OTHER: 0.2}
    messages._times.cache_clear()  # another process
    assert "compiling newton (newton.py), 23 s last time; kept" in messages._sentence(ENTRY)
    assert "last time" not in messages._sentence(OTHER)


@pytest.mark.interpreted
@pytest.mark.parametrize("text", ["", "[]", "{", '{"x": "y"}', "\xff"])
def test_times_that_cannot_be_read_are_not_known(folder: Path, text: str):
    (folder.parent / messages.TIMES).write_text(text, encoding="latin-1")
    assert messages.last_time(ENTRY) == 0.0
    messages._remember(ENTRY, 1.0)
    assert messages.last_time(ENTRY) == 1.0


@pytest.mark.interpreted
def test_where_nothing_is_kept_it_says_why(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(messages, "home", lambda: Home(None, "the home is a museum"))
    assert (
        messages._sentence(ENTRY) == "compiling newton (newton.py); anew in every process, since the home is a museum …"
    )
    messages._remember(ENTRY, 1.0)


@pytest.mark.interpreted
def test_quiet_means_quiet(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    messages.wait(ENTRY)
    messages.complain(ENTRY, "no room")
    messages.complain(ENTRY, "no room")
    messages.complain(ENTRY, "")
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert "waiting for another process that is compiling newton" in said[0]
    assert "could not be kept" in said[1]
    monkeypatch.setenv("SUPPLE_QUIET", "1")
    messages.wait(ENTRY)
    messages.complain(ENTRY, "nothing more")
    assert capsys.readouterr().err == ""
