"""Waits until two consecutive readings of an environment are equal."""

import time
from collections.abc import Callable
from typing import NamedTuple

from tracegrade_harness.parts.diff import diff
from tracegrade_harness.parts.state import State

GAP_SECS = 0.1
"""Seconds between two readings; a process that still writes does so more often."""


class SettledState(NamedTuple):
    """The last state that was read."""

    state: State
    moving: list[str]
    """Objects that changed between the last two readings, sorted; empty if the state has settled.
    """


def wait_until_settled(read: Callable[[], State], within_secs: float = 5) -> SettledState:
    """Read until two consecutive states are equal, or the time is over.

    At least two states are read, even if the time is short.
    """
    deadline = time.monotonic() + within_secs
    last = read()
    while True:
        time.sleep(GAP_SECS)
        state = read()
        if state == last or time.monotonic() >= deadline:
            return SettledState(state, diff(last, state).names)
        last = state
