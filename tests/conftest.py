"""What all tests share: where the data is, and how Hypothesis draws its examples."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests import ROOT

# The same examples in every run, so that a failure is a fact about the change at hand and not about the day.
# To look further: pytest --hypothesis-profile=explore
settings.register_profile("steady", derandomize=True, deadline=None, database=None, print_blob=True)
settings.register_profile("explore", deadline=None, max_examples=2000, print_blob=True)
settings.load_profile("steady")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of robot models, recordings and problem sets, which is not part of the repository."""
    folder = Path(os.environ.get("SUPPLE_SHARED", ROOT.parent / "shared"))
    data = folder / "data"
    if not data.is_dir():
        pytest.skip(f"no test data: the folder {data} is missing; put it there, or set SUPPLE_SHARED to its parent")
    return folder
