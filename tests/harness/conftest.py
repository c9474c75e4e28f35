"""The sandbox that keeps agents in."""

import pytest

from tracegrade_harness.sandbox.bwrap import Bubblewrap


@pytest.fixture
def bwrap() -> Bubblewrap:
    """The one that keeps agents in."""
    found = Bubblewrap()
    if why := found.why_not():
        pytest.skip(why)
    return found
