"""Why runs failed, as a report shows it: one row for each reason."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.why_failed import most_first, of_failed, reason_title
from tracegrade_scoring.report.reason_outcome import ReasonOutcome

REASON_HEADINGS = ("release", "why", "runs", "first in", "in that run")
"""The headings of rows of reasons."""


class ReasonRow(NamedTuple):
    """One reason why runs of a release failed."""

    release: str
    why: str
    runs: str
    """That have it as their first reason, of those that failed."""
    example: str
    """The first of these runs, with the step."""
    sentence: str
    """What went wrong in that run; '' if `why` says it all."""
    trajectory_id: str
    """Run of the agent that made the step."""
    step_index: int | None

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells below `REASON_HEADINGS`."""
        return (self.release, self.why, self.runs, self.example, self.sentence)


def reason_rows(reasons: Sequence[ReasonOutcome], label: str) -> Iterator[ReasonRow]:
    """Yield why runs of a release failed, what explains most of them first.

    Args:
        reasons: Of the release; those that say that nothing is known come last.
        label: The release's name as shown.
    """
    failed = sum(reason.runs for reason in reasons)
    for reason in sorted(reasons, key=lambda each: most_first(each.kind, each.object, each.runs)):
        step = "" if reason.step_index is None else f", step {reason.step_index}"
        why = reason_title(reason.kind, reason.object)
        example = reason.step_trajectory_id or reason.trajectory_id
        yield ReasonRow(
            label,
            why,
            of_failed(reason.runs, failed),
            words.name(example) + step,
            "" if reason.sentence == why else words.line(reason.sentence),
            example,
            reason.step_index,
        )
