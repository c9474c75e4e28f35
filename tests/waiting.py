"""Tests wait for a fact, never for a time."""

import time
from collections.abc import Callable
from typing import Any

PATIENCE_SECS = 240.0
"""How long a test waits for what must come; only a failed test waits so long."""


def wait_until(condition: Callable[[], Any]) -> None:
    """Return as soon as the condition holds; fail if it never does."""
    deadline = time.monotonic() + PATIENCE_SECS
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
