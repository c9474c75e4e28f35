"""Says why it is not known whether a run succeeded, and what a user can do about it."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.reasons import REASONS
from tracegrade_scoring.timeline.model import Timeline

NO_ATTEMPT: Final = ("killed_run", "several_runs")
"""Reasons why a run counts for nothing."""
UNKNOWN: Final = "success_unknown"
"""Reason of scoring that neither a task nor a verdict decides."""
OF_TASKS: Final = ("ambiguous_task", "no_task")
"""Reasons of other metrics that tell why no task decides."""
LOST: Final = {
    "unrecorded_answer": "its answer was not recorded, or was cut",
    "unrecorded_calls": "tool calls that it made were not recorded, or were cut",
}
"""By flag of a run, what its trace lacks."""
RECORD: Final = REASONS["content_missing"].remedy or ""
UNDECIDED: Final = "neither its task nor a verdict says so"


class UnknownOutcome(NamedTuple):
    """What is missing, and ways to know; '' if there is nothing to do."""

    missing: str
    remedy: str


def unknown_outcome(timeline: Timeline) -> UnknownOutcome | None:
    """Return why nobody knows whether a run succeeded; None if it is known, or is no question."""
    success = timeline.score("success")
    if success is None or success.value is not None or success.reason in {None, *NO_ATTEMPT}:
        return None
    if success.reason != UNKNOWN:
        return UnknownOutcome(words.reason(success.reason), words.remedy(success.reason))
    found = dict(_undecided(timeline)) or {UNDECIDED: "give its task `success`"}
    return UnknownOutcome("; ".join(found), "; ".join((*found.values(), "or label the run")))


def _undecided(timeline: Timeline) -> Iterator[tuple[str, str]]:
    """Yield what is missing to decide, each with a way to get it."""
    reasons = {score.reason for score in timeline.scores}
    for code in OF_TASKS:
        if code in reasons:
            yield words.reason(code), words.remedy(code)
    for flag, missing in LOST.items():
        if flag in timeline.run.flags:
            yield missing, RECORD
