"""Which runs a report is of, in words; nothing where it is of all."""

from collections.abc import Iterator
from datetime import datetime

from tracegrade_scoring.rendering import words
from tracegrade_scoring.report.model import Report


def selection_sentence(report: Report) -> str:
    """Return what was asked for and what is left out for it; '' for a report of everything."""
    asked = list(_asked(report))
    if not asked:
        return ""
    untimed = report.contents.untimed if report.selection.has_period else 0
    left_out = f"; {words.count(untimed, 'run')} without a known time left out" if untimed else ""
    return f"Only runs {', '.join(asked)}{left_out}."


def _asked(report: Report) -> Iterator[str]:
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
