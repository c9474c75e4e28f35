"""Sentences at the top of a report: the runs that it covers, and how those ended."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.mixed_definitions import mixed_sentences
from tracegrade_scoring.report.model import Report


class Standing(NamedTuple):
    """The number of runs that did not end by themselves, and their endings."""

    runs: int
    """The number of these runs."""
    crashed: int
    """Scored, and ended in an error."""
    unfinished: int
    """Scored runs without an end."""
    interrupted: int
    """Runs that ended waiting for a person."""
    resumed: int
    """Go on with an earlier one, which is counted with them."""
    waiting: int
    """Not scored yet, because their root may still come."""
    waiting_until: int | None
    """When all of those are scored without it, ns since 1970; None if there are none."""


def standing(report: Report) -> list[str]:
    """Return a sentence each on mixed scores, and on runs that crashed, were resumed or wait."""
    found = [release.runs for release in report.releases]
    ended = Standing(
        sum(each.runs for each in found),
        sum(each.crashed_runs for each in found),
        sum(each.unfinished_runs for each in found),
        sum(each.interrupted_runs for each in found),
        sum(each.resumed_runs for each in found),
        sum(each.waiting_runs for each in found),
        max((each.waiting_until or 0 for each in found), default=None),
    )
    return [*mixed_sentences(report.mixed), *standing_sentences(ended)]


def standing_sentences(found: Standing) -> list[str]:
    """Return a sentence each on how any runs ended."""
    return list(_sentences(found))


def _sentences(found: Standing) -> Iterator[str]:
    if found.crashed:
        yield (
            f"{found.crashed:,} of {words.count(found.runs, 'run')} crashed: the run ended in an "
            "error."
        )
    if found.unfinished:
        verb = "has" if found.unfinished == 1 else "have"
        yield (
            f"{found.unfinished:,} of {words.count(found.runs, 'run')} {verb} no end: still "
            "running, or cut off as their process died."
        )
    if found.interrupted:
        verb = "was" if found.interrupted == 1 else "were"
        yield (
            f"{found.interrupted:,} of {words.count(found.runs, 'run')} {verb} interrupted: for "
            "an approval, an answer or a result; in no rate of success until a run continues it."
        )
    if found.resumed:
        verb = "was" if found.resumed == 1 else "were"
        yield (
            f"{found.resumed:,} of {words.count(found.runs, 'run')} {verb} resumed: begun in an "
            "earlier trace, and counted once with what all parts used."
        )
    if found.waiting:
        yield f"{words.waiting(found.waiting, 'run', found.waiting_until or 0)}."


def selection_sentence(report: Report) -> str:
    """Return the requested selection and the runs that it leaves out; '' for a full report."""
    conditions = list(_conditions(report))
    if not conditions:
        return ""
    untimed = report.contents.untimed if report.selection.has_period else 0
    left_out = f"; {words.count(untimed, 'run')} without a known time left out" if untimed else ""
    return f"Only runs {', '.join(conditions)}{left_out}."


def _conditions(report: Report) -> Iterator[str]:
    selection = report.selection
    if selection.agent_name is not None:
        yield f"of agent {words.name(selection.agent_name)}"
    if selection.releases:
        yield f"of release {' or '.join(map(words.name, selection.releases))}"
    if selection.since is not None:
        yield f"begun at or after {_time(selection.since)}"
    if selection.until is not None:
        yield f"begun before {_time(selection.until)}"


def _time(moment: datetime) -> str:
    return f"{moment:%d %B %Y, %H:%M} UTC"
