"""Waiting until an environment no longer moves, so that its state is one moment's."""

import time
from collections.abc import Callable
from typing import NamedTuple

from tracegrade_harness.parts.diff import diff
from tracegrade_harness.parts.state import State

GAP_SECS = 0.1
"""Between two readings; a process that still writes does so more often."""


class SettledState(NamedTuple):
    """The last state that was read."""

    state: State
    moving: list[str]
    """Objects that still changed between the last two readings, sorted; empty: it is still."""


def wait_until_settled(read: Callable[[], State], within_secs: float = 5) -> SettledState:
    """Read until two states in a row are equal, or the time is over.

    Two states are read at least, however short the time.
    """
    deadline = time.monotonic() + within_secs
    last = read()
    while True:
        time.sleep(GAP_SECS)
        state = read()
        if state == last or time.monotonic() >= deadline:
            return SettledState(state, diff(last, state).names)
        last = state
