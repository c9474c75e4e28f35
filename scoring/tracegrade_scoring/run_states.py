"""The state of a run: running, silent, cut off, ended or scored; pure.

A run whose end has not come is running while its spans keep coming, then silent, and after a day
cut off: it is never taken for crashed. The explorer's `open_runs.sql` works out the times for all
runs of a lake as `end_of_running` does for one; a list selects by the comparisons of `state_of`.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final


class RunState(StrEnum):
    """Where a run is between its first span and its scores."""

    RUNNING = "running"
    """No end, and a span came lately."""
    SILENT = "silent"
    """No end, and no span for a while."""
    CUT_OFF = "cut_off"
    """No end, and none is expected any more."""
    ENDED = "ended"
    """Its end has come; its scores have not."""
    SCORED = "scored"


RUNNING_SECS: Final = 120
"""Without a span, for which a run counts as running at least."""
RUNNING_GAPS: Final = 5
"""Times its own longest time between two steps, for which it does so too."""
SILENT_SECS: Final = 86_400
"""Without a span, after which a run counts as cut off."""
LIMITS: Final[Mapping[str, int]] = {
    "running_secs": RUNNING_SECS,
    "running_gaps": RUNNING_GAPS,
    "silent_secs": SILENT_SECS,
}
"""As parameters of `open_runs.sql`."""
STATE_COLUMNS: Final = ("scored", "awaits_score", "running_until", "silent_until")
"""Of the index, that decide on the state; the last two are NULL once the end has come."""
CONDITIONS: Final[Mapping[RunState, str]] = {
    RunState.RUNNING: "running_until > $now::TIMESTAMP",
    RunState.SILENT: "running_until <= $now::TIMESTAMP AND silent_until > $now::TIMESTAMP",
    RunState.CUT_OFF: "silent_until <= $now::TIMESTAMP",
    RunState.ENDED: "running_until IS NULL AND awaits_score",
    RunState.SCORED: "running_until IS NULL AND scored",
}
"""By state the condition of SQL over the index that selects its runs."""

TIMELESS: Final = {RunState.ENDED, RunState.SCORED}
"""States that no passing of time ends."""


def end_of_running(received: datetime, longest_gap: timedelta) -> datetime:
    """Return until when a run without an end counts as running.

    Args:
        received: When its last span was.
        longest_gap: Between two of its steps.
    """
    least, most = timedelta(seconds=RUNNING_SECS), timedelta(seconds=SILENT_SECS)
    return received + max(least, min(RUNNING_GAPS * longest_gap, most))


def end_of_silence(received: datetime) -> datetime:
    """Return when a run without an end is cut off."""
    return received + timedelta(seconds=SILENT_SECS)


def state_of(row: Mapping[str, Any], now: datetime) -> RunState | None:
    """Return the state of a run; None of one that is over and gets no scores of its own.

    Args:
        row: Has `STATE_COLUMNS`.
        now: UTC, as the columns.
    """
    if row["running_until"] is None:
        if row["scored"]:
            return RunState.SCORED
        return RunState.ENDED if row["awaits_score"] else None
    if now < row["running_until"]:
        return RunState.RUNNING
    return RunState.SILENT if now < row["silent_until"] else RunState.CUT_OFF
