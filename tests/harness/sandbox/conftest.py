"""Each sandbox that this machine has."""

import pytest

from tracegrade_harness.sandbox.choice import SANDBOXES, Sandbox


@pytest.fixture(params=SANDBOXES, ids=lambda sandbox: str(sandbox.name))
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """One after the other."""
    found: Sandbox = request.param
    if why := found.why_not():
        pytest.skip(why)
    return found
