"""The banded system of a window beside a dense one."""

from __future__ import annotations

import numpy as np
import pytest

from supple.motion.tracking.banded import solve_band

FRAMES, SIZE = 7, 3


def system() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Blocks, both couplings and a right side, of coordinates whose weights differ by many orders."""
    rng, T, n = np.random.default_rng(0), FRAMES, SIZE
    A = rng.normal(size=(T, 2 * n, n)) * [1.0, 1e-3, 30.0]
    H = np.einsum("tri,trj->tij", A, A)
    near, far = np.zeros((T, n)), np.zeros((T, n))
    calm = 0.3
    for t in range(T - 2):
        for shift, factor in ((0, 1.0), (1, 4.0), (2, 1.0)):
            H[t + shift] += factor * calm * np.eye(n)
        near[t : t + 2] -= 2.0 * calm
        far[t] += calm
    return H, near, far, rng.normal(size=(T, n))


def dense(H: np.ndarray, near: np.ndarray, far: np.ndarray) -> np.ndarray:
    """The same as one matrix."""
    T, n = near.shape
    M = np.zeros((T, n, T, n))
    for t in range(T):
        M[t, :, t] = H[t]
        for shift, diagonal in ((1, near), (2, far)):
            if t + shift < T:
                M[t, :, t + shift] = M[t + shift, :, t] = np.diag(diagonal[t])
    return M.reshape(T * n, T * n)


@pytest.mark.parametrize(("short", "within"), [(False, 1e-11), (True, 1e-4)])
def test_it_solves_what_a_dense_matrix_does_and_holds_what_is_held(short: bool, within: float):
    H, near, far, r = system()
    free = np.ones(r.shape, dtype=bool)
    free[0], free[3, 1] = False, False
    x = solve_band(H, near, far, r, free, short)
    assert x is not None
    assert (x[~free] == 0.0).all()
    which = np.flatnonzero(free)
    wanted = np.linalg.solve(dense(H, near, far)[np.ix_(which, which)], r.ravel()[which])
    np.testing.assert_allclose(x.ravel()[which], wanted, rtol=within, atol=within * np.abs(wanted).max())


def test_half_the_digits_give_way_to_all_of_them():
    H, near, far, r = system()
    H[:, 0, :2] = H[:, :2, 0] = 0.0
    H[:, 0, 0] = H[:, 1, 1] = 1.0 + 1e-9
    H[:, 0, 1] = H[:, 1, 0] = 1.0
    near[:], far[:] = 0.0, 0.0
    H[:, :2, 2] = H[:, 2, :2] = 0.0
    half, all_of_them = (solve_band(H, near, far, r, np.ones(r.shape, dtype=bool), short) for short in (True, False))
    assert half is not None
    assert all_of_them is not None
    np.testing.assert_array_equal(half, all_of_them)


def test_what_has_no_minimum_is_told():
    H, near, far, r = system()
    H[4] -= 3.0 * np.trace(H[4]) * np.outer([0.0, 1.0, 1.0], [0.0, 1.0, 1.0]) / 4.0
    for short in (True, False):
        assert solve_band(H, near, far, r, np.ones(r.shape, dtype=bool), short) is None
