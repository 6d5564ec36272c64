"""Names of entries: two that are compiled differently never have the same."""

from __future__ import annotations

from typing import Any

import pytest

from supple.kernels.compiling import recording
from supple.kernels.compiling.recording import name_of


def made(flag: Any, inner: Any = None) -> Any:
    def kernel(x: float) -> float:
        return x if flag else inner(x)

    return kernel


def helper(x: float) -> float:
    return x


@pytest.mark.interpreted
def test_what_an_entry_closes_over_is_part_of_its_name():
    functions = [made(True), made(False), made(1), made((True, 2)), made((True, 3)), made("a"), made(True, helper)]
    functions.append(made(True, made(False, helper)))
    names = [name_of(function) for function in functions]
    assert len(set(names)) == len(names)
    assert name_of(made(True)) == names[0]
    assert name_of(helper) == f"{__name__}.helper"


@pytest.mark.interpreted
def test_what_cannot_be_named_is_refused():
    with pytest.raises(ValueError, match="closes over flag, a list"):
        name_of(made([1, 2]))


@pytest.mark.interpreted
def test_two_entries_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recording, "REGISTER", {})
    monkeypatch.setattr(recording, "_names", {})
    space: dict[str, Any] = {"__name__": "somewhere"}
    exec("def kernel(x):\n    return x", space)
    first = space["kernel"]
    recording.register(first, first)
    recording.register(first, first)  # imported again
    exec("def kernel(x):\n    return x + 1", space)
    with pytest.raises(ValueError, match=r"two entries somewhere\.kernel"):
        recording.register(space["kernel"], space["kernel"])
