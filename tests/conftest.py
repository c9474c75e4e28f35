"""What every test may use: the folder of real traces, and which examples hypothesis tries.

A run tries the same examples as the one before, so that it fails for a change and not by chance;
`EXAMPLES=new` tries others. A slow machine is no reason to fail.
"""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "same", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("new", settings.get_profile("same"), derandomize=False)
settings.load_profile(os.environ.get("EXAMPLES", "same"))

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real traces that nobody in this project wrote; skips where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the folder of shared test data is not on this machine")
    return SHARED_DATA
