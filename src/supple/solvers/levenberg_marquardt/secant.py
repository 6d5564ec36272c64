"""What Gauss–Newton leaves out, learnt on the way (Dennis, Gay & Welsch 1981).

Half of the Hessian of ``|ρ|²`` is ``JᵀJ + Σ ρ_a ∇²ρ_a``. Where the residuals stay large, because goals are out of reach or
contradict each other, the second part S decides how fast a method converges. It is not computed but learnt from gradients that
are there anyway: after a step s, with ``y = J₊ᵀρ₊ − Jᵀρ`` and ``y♯ = (J₊ − J)ᵀρ₊``, which is what S should make of s,

    S ← τS,  τ = min(1, |sᵀy♯| / |sᵀSs|),
    S ← S + (w yᵀ + y wᵀ)/yᵀs − (wᵀs) y yᵀ/(yᵀs)²,   w = y♯ − S s,

the least change, in the metric of y, that makes ``S s = y♯``. Where another alternative of a task comes to count, nothing is
known any more and S begins at zero.
"""

from __future__ import annotations

import math
from typing import Any

from supple.kernels.algebra.blocks_of_three import pull_back
from supple.kernels.compiling import leaf

LEAST = 1e-10  # the cosine between y and s below which a step teaches nothing


@leaf
def forget(S: Any) -> None:
    """Begin at zero."""
    for i in range(S.shape[0]):
        for j in range(S.shape[0]):
            S[i, j] = 0.0


@leaf
def learn(blocks: Any, here: Any, there: Any, q: Any, trial: Any, S: Any, learnt: Any) -> None:
    """Update S after the step from q to the trial, here and there linearised; `learnt` (4, size) is scratch."""
    n, s, y, w, v = q.shape[0], learnt[0], learnt[1], learnt[2], learnt[3]
    tasks, routes, widest = blocks
    for b in range(here.chosen.shape[0]):
        if here.chosen[b] != there.chosen[b] and here.chosen[b] >= 0.0 and there.chosen[b] >= 0.0:
            forget(S)
            return
    pull_back(tasks, routes, here.chosen, here.J, widest, here.rho, y)
    pull_back(tasks, routes, here.chosen, here.J, widest, there.rho, w)
    pull_back(tasks, routes, there.chosen, there.J, widest, there.rho, v)
    ss, yy, ys = 0.0, 0.0, 0.0
    sw, sv = 0.0, 0.0
    for i in range(n):
        s[i] = trial[i] - q[i]
        w[i] = v[i] - w[i]
        y[i] = v[i] - y[i]
        ss += s[i] * s[i]
        yy += y[i] * y[i]
        ys += y[i] * s[i]
        sw += s[i] * w[i]
    if not ys > LEAST * math.sqrt(ss * yy):
        return
    for i in range(n):
        v[i] = 0.0
        for j in range(n):
            v[i] += S[i, j] * s[j]
        sv += s[i] * v[i]
    tau = min(1.0, abs(sw) / abs(sv)) if sv != 0.0 else 1.0
    ws = 0.0
    for i in range(n):
        w[i] -= tau * v[i]
        ws += w[i] * s[i]
    a, b = 1.0 / ys, ws / (ys * ys)
    for i in range(n):
        x, z = a * w[i] - b * y[i], a * y[i]
        for j in range(n):
            S[i, j] = tau * S[i, j] + x * y[j] + z * w[j]
