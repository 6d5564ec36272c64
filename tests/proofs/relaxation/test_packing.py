"""The pack of a relaxation is read by name, and no kernel writes beyond a table of its scratch."""

from __future__ import annotations

import numpy as np
import pytest

from supple.kernels.layouts import counts_of, intact, pack, view
from supple.proofs.claims import Claim
from supple.proofs.proof import leaf_of
from supple.proofs.relaxation import packing
from supple.proofs.relaxation.packing import RELAXATION
from supple.proofs.relaxation.relaxation import Relaxation, Workspace
from tests.proofs.test_decide import arm, claim, far


def test_constants_are_those_of_their_layout() -> None:
    for name in RELAXATION.counts:
        assert getattr(packing, name) == RELAXATION.contents[name], name


def guarded(workspace: Workspace) -> Workspace:
    """The same with guards between the tables."""
    I, memory = workspace.I, workspace.memory
    tables = {t.name: view(RELAXATION, I, memory, t.name) for t in (*RELAXATION.ints, *RELAXATION.floats)}
    return Workspace(*pack(RELAXATION, counts_of(RELAXATION, I), tables, checked=True))


def proved(c: Claim, start: int, workspace: Workspace | None = None) -> tuple[float, np.ndarray, Workspace]:
    """The bound of a proof, its numbers, and the workspace that it was found in."""
    r = Relaxation(c, *c.chain.box, start, workspace)
    assert r.refuted(1e-3)
    leaf = leaf_of(r, 0, start)
    return r.bound, np.concatenate([gram.ravel() for gram in leaf.grams]), r.workspace


@pytest.mark.parametrize("name", ["panda", "ur5", "gantry"])
@pytest.mark.parametrize("point", [False, True])
def test_no_kernel_writes_beyond_its_tables(name: str, point: bool) -> None:
    _, _, chain = arm(name)
    for seed in range(3):
        c = claim(chain, far(chain, seed), point)
        bound, numbers, workspace = proved(c, 0)
        again, same, kept = proved(c, 0, guarded(workspace))
        assert intact(RELAXATION, kept.I, kept.memory)
        assert again == bound
        np.testing.assert_array_equal(same, numbers)
