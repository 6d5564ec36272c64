"""Twins: what `GENERAL` leads to is not compiled in them, not even typed; the rest is the same, and names tell them apart."""

from __future__ import annotations

from typing import Any

import pytest

from supple.kernels.compiling import GENERAL, INTERPRETED, decorators, entry, leaf, plain_twin, stage

pytestmark = pytest.mark.interpreted


@leaf
def add_text(x: float) -> Any:
    """Cannot be compiled: a number and a text."""
    return x + "one"


@leaf
def twice(x: float) -> float:
    """Asks nothing."""
    return 2.0 * x


@stage
def inner(x: float) -> float:
    """Asks, with `and` before a condition of its own, and with `not`."""
    if GENERAL and x < 0.0:
        x = add_text(x)
    if not GENERAL or x > 1e9:
        return twice(x)
    return x


def outer(x: float) -> float:
    """Asks through what it calls."""
    return inner(x) + 1.0


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Any:
    """An entry that is not kept."""
    monkeypatch.setattr(decorators, "UNKEPT", "a test keeps nothing")
    return entry(outer)


def test_a_twin_is_the_same_source_without_what_is_general(kernel: Any) -> None:
    twin = plain_twin(kernel)
    assert twin(3.0) == 7.0
    assert twin(-3.0) == -5.0  # no text is added


def test_what_a_twin_leaves_out_would_not_compile(kernel: Any) -> None:
    with pytest.raises(Exception, match=r"unsupported operand|No implementation of function"):
        kernel(-3.0)


def test_a_twin_has_a_name_of_its_own_and_shares_what_does_not_ask(kernel: Any) -> None:
    twin = plain_twin(kernel)
    function = getattr(twin, "py_func", twin)
    assert (function.__name__, function.__qualname__, function.__module__) == ("plain_outer", "plain_outer", __name__)
    other = function.__globals__["inner"]
    assert getattr(other, "py_func", other).__qualname__ == "plain_inner"
    assert getattr(other, "py_func", other).__globals__["twice"] is twice
    assert plain_twin(twice) is twice
    assert GENERAL is True


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_only_what_a_twin_needs_is_compiled(kernel: Any) -> None:
    plain_twin(kernel)(2.0)
    assert not add_text.signatures
