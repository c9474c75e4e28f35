"""Remarks on planning quality: how many runs lack it and why, and whose verdicts it rests on."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tracegrade_queries.engine.result_rows import ResultRow
from tracegrade_scoring.rendering import words

REASONS_SHOWN: Final = 3
"""Number of reasons that are shown, most frequent first; the others are counted."""


class PlanningShare(NamedTuple):
    """Counts of the runs of one release without planning quality, and with verdicts on it."""

    attempts: int = 0
    """Runs whose plan counts: no sub-agents' and no killed ones."""
    without_planning: int = 0
    """Runs among them without planning quality."""
    planning_reasons: Sequence[Mapping[str, Any]] = ()
    """Why: `reason`, and of how many `runs`; those of most runs first."""
    judged_by_people: int = 0
    """Runs whose planning quality rests on verdicts of people or other verifiers alone."""
    judged_by_models: int = 0
    """Runs whose planning quality rests on verdicts of a judge or an evaluation."""

    @classmethod
    def of(cls, row: ResultRow) -> "PlanningShare":
        """Return what a row of `score_remarks` says."""
        return cls(**{name: row[name] for name in cls._fields})


NOTHING_KNOWN: Final = PlanningShare()
"""The counts without any run."""


def planning_remarks(found: PlanningShare) -> Iterator[str]:
    """Yield in sentences, without their full stop, what a planning quality does not say itself."""
    if found.without_planning:
        of = f"{found.without_planning:,} of {words.count(found.attempts, 'run')}"
        yield f"No planning quality in {of}: {_reasons(found)}"
    judged = [
        f"of {whose} in {words.count(runs, 'run')}"
        for runs, whose in (
            (found.judged_by_people, "people or verifiers"),
            (found.judged_by_models, "judges"),
        )
        if runs
    ]
    if judged:
        yield f"Planning quality rests on verdicts {' and '.join(judged)}"


def _reasons(found: PlanningShare) -> str:
    shown = [
        f"{words.reason(each['reason'])} ({each['runs']:,})"
        for each in found.planning_reasons[:REASONS_SHOWN]
    ]
    more = len(found.planning_reasons) - len(shown)
    return "; ".join([*shown, words.count(more, "more reason")] if more else shown)
