import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Public corpora and cases beside the checkout; tests that need them skip without them."""
    folder = Path(os.environ.get("FOLLOWUPS_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"public data not found at {folder}; set FOLLOWUPS_SHARED to run this test")
    return folder
