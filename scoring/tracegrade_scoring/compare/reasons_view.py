"""Why compared runs failed, as a comparison shows it: one row for each reason on both sides."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tracegrade_scoring.compare.model import ReasonChange
from tracegrade_scoring.metrics import Scale
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.why_failed import most_first, of_failed, reason_title

REASONS_NOTE: Final = (
    "Each failed run is counted once, under the first of its reasons. The change is of the share "
    "of the compared runs that fail for it; whether it is chance was not tested."
)


class ReasonDifference(NamedTuple):
    """One reason on both sides."""

    why: str
    base: str
    """Runs that have it as their first reason, of those that failed."""
    candidate: str
    change: str
    """Change of their share of the compared runs whose success is known."""
    sentence: str
    """What went wrong in the run that is named; '' if `why` says it all."""
    example: str
    """The candidate's first run with it, or else the base's, with the step."""
    name: str
    """Kind and object, as lists of runs spell a reason."""
    trajectory_id: str
    step_index: int | None

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells below the headings of a table."""
        return self[:6]


def reason_differences(reasons: Sequence[ReasonChange]) -> Iterator[ReasonDifference]:
    """Yield why runs of either side failed, what explains most of the candidate's first."""
    for reason in sorted(reasons, key=_order):
        why = reason_title(reason.kind, reason.object)
        example = reason.step_trajectory_id or reason.trajectory_id
        step = "" if reason.step_index is None else f", step {reason.step_index}"
        change = reason.change
        yield ReasonDifference(
            why,
            of_failed(reason.base_runs, reason.base_failed),
            of_failed(reason.candidate_runs, reason.candidate_failed),
            words.NOTHING if change is None else words.difference(change, Scale.SHARE),
            "" if reason.sentence == why else words.line(reason.sentence),
            words.run(example) + step,
            ": ".join(filter(None, (reason.kind, reason.object))),
            example,
            reason.step_index,
        )


def _order(reason: ReasonChange) -> tuple[object, ...]:
    return most_first(reason.kind, reason.object, reason.candidate_runs, reason.base_runs)
