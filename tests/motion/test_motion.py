"""A motion is refused as soon as its parts do not belong together, and does not change afterwards."""

from __future__ import annotations

import numpy as np
import pytest

from supple.errors import BadValue
from supple.figure.figure import Figure, Source
from supple.figure.joints import X, Z, fixed, hinge
from supple.motion.motion import Motion

ARM = Figure("arm", [*hinge("a", None, Z), *hinge("b", "a", X, at=(0, 0, 1)), *fixed("tip", "b", at=(0, 0, 1))])
Q = np.arange(6.0).reshape(3, 2)
TIMES = np.array([0.5, 0.75, 1.0])


def test_frames_postures_and_rate():
    motion = Motion(ARM, Q, TIMES, errors=[0.1, np.nan, 0.2])
    assert len(motion) == 3
    np.testing.assert_array_equal(motion.posture(-1), [4.0, 5.0])
    assert motion.rate == 4.0
    assert motion.errors is not None
    np.testing.assert_array_equal(motion.errors, [0.1, np.nan, 0.2])


def test_arrays_are_copies_that_cannot_be_written():
    q = Q.copy()
    motion = Motion(ARM, q, TIMES)
    q[:] = 9.0
    np.testing.assert_array_equal(motion.q, Q)
    for array in (motion.q, motion.times, motion.posture(0)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_the_source_is_the_figures_own_unless_told():
    figure = Figure("arm", ARM.joints.values(), source=Source("bvh", 0.01, "y"))
    assert Motion(figure, Q, TIMES).source == Source("bvh", 0.01, "y")
    assert Motion(figure, Q, TIMES, source=Source("trc")).source == Source("trc")
    assert Motion(ARM, Q, TIMES).source is None


def test_a_part_of_a_motion_keeps_times_errors_and_source():
    motion = Motion(ARM, Q, TIMES, errors=[0.1, 0.2, 0.3], source=Source("trc"))
    part = motion.frames(0, None, 2)
    np.testing.assert_array_equal(part.q, Q[::2])
    np.testing.assert_array_equal(part.times, TIMES[::2])
    np.testing.assert_array_equal(part.errors, [0.1, 0.3])
    assert part.source == Source("trc")
    assert len(motion.frames(1)) == 2
    assert len(motion.frames(1, -1)) == 1
    assert len(motion.frames(3)) == 0
    with pytest.raises(BadValue, match="at least 1"):
        motion.frames(0, 2, 0)


def test_no_frames_are_a_motion_without_a_rate():
    motion = Motion(ARM, np.empty((0, 2)), [])
    assert len(motion) == 0
    with pytest.raises(BadValue, match="no rate"):
        _ = motion.rate


@pytest.mark.parametrize(
    ("q", "times", "errors", "message"),
    [
        (Q, [0.0, 0.2, 0.2], None, r"must rise, not go from 0\.2 to 0\.2 s \(frame 2\)"),
        (Q, [0.0, 0.2, np.nan], None, "times .* must be finite"),
        (Q, [0.0, 0.2], None, r"postures .* must have shape \(2, 2\), not \(3, 2\)"),
        (Q[:, :1], TIMES, None, r"postures .* must have shape \(3, 2\), not \(3, 1\)"),
        (Q * [1.0, np.inf], TIMES, None, "postures .* must be finite"),
        (Q, TIMES[:, None], None, "times"),
        (Q, 0.0, None, "times"),
        (Q, TIMES, np.zeros((2, 5)), r"errors .* must have 3 rows"),
    ],
)
def test_what_does_not_belong_together_is_refused(q, times, errors, message):
    with pytest.raises(BadValue, match=message):
        Motion(ARM, q, times, errors)
