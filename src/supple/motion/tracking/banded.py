"""The banded matrix of a window, in the form that LAPACK factorises: column by column, from the diagonal down.

Scaled so that its diagonal is 1, ``S M S (S⁻¹ x) = S r``; a coordinate with the scale 0 is held and does not move. Half the
digits are enough for a step that is judged before it is taken, and take half the time; where they are not, all are used.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import get_lapack_funcs

from supple.geometry.placements import Floats
from supple.motion.tracking.normal_equations import band_entry


def solve_band(H: Floats, near: Floats, far: Floats, r: Floats, free: np.ndarray, short: bool) -> Floats | None:
    """The solution of all frames at once, 0 for what is not free; None if the matrix is not positive."""
    T, n = r.shape
    diagonal = H[:, np.arange(n), np.arange(n)]
    if not (diagonal > 0.0).all():
        return None
    scale = np.where(free, 1.0 / np.sqrt(diagonal), 0.0)
    for single in (True, False) if short else (False,):
        kind = np.float32 if single else np.float64
        factorise, substitute = get_lapack_funcs(("pbtrf", "pbtrs"), dtype=kind)
        band = np.empty((T * n, 2 * n + 1), dtype=kind)
        band_entry(H, near, far, scale, band)
        factor, failed = factorise(band.T, lower=True, overwrite_ab=True)
        if not failed:
            x, _ = substitute(factor, (scale * r).astype(kind).reshape(-1, 1), lower=True)
            return scale * x.reshape(T, n).astype(np.float64)
    return None
