"""What every test may use: the folder of real traces, where this machine has it."""

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real traces that nobody in this project wrote; skips where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the folder of shared test data is not on this machine")
    return SHARED_DATA
