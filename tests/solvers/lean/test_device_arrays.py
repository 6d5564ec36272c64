"""Arrays and streams of others: what DLPack says is what NumPy says, and a stream is known by its number."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from supple.errors import BadValue
from supple.solvers.lean.arrays import Borrowed, handle_of, lies_there, told


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_a_capsule_says_what_numpy_says(dtype: type):
    for array in (np.zeros((3, 4, 4), dtype), np.zeros((6, 5), dtype)[::2, 1:], np.zeros(7, dtype)):
        said, own = told(array.__dlpack__()), array.__array_interface__
        assert said["shape"] == own["shape"]
        assert said["typestr"] == own["typestr"]
        assert said["data"][0] == own["data"][0]
        assert said["strides"] in (None, array.strides) or array.size == 0


def test_what_is_borrowed_keeps_its_owner():
    array = np.arange(12.0).reshape(3, 4)
    assert Borrowed(array.__dlpack__()).__cuda_array_interface__["shape"] == (3, 4)


def test_what_lies_here_does_not_lie_there():
    assert not lies_there(np.zeros(3))
    assert not lies_there([1.0])
    assert lies_there(SimpleNamespace(__dlpack_device__=lambda: (2, 0)))
    assert not lies_there(SimpleNamespace(__dlpack_device__=lambda: (1, 0)))
    assert lies_there(SimpleNamespace(__cuda_array_interface__={}))


def test_a_stream_is_known_by_its_number():
    assert handle_of(None) == 0
    assert handle_of(17) == 17
    for stream in (
        SimpleNamespace(cuda_stream=17),
        SimpleNamespace(ptr=17),
        SimpleNamespace(handle=SimpleNamespace(value=17)),
    ):
        assert handle_of(stream) == 17
    assert handle_of(SimpleNamespace(__cuda_stream__=lambda: (0, 17))) == 17
    with pytest.raises(BadValue, match="stream"):
        handle_of("seventeen")
