"""Values of runs as cells of tables."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from tracegrade_explorer.amounts import short
from tracegrade_explorer.filters.grammar import NUMBERS
from tracegrade_explorer.responses import PageRequest
from tracegrade_explorer.snapshots.snapshot import Row
from tracegrade_scoring.metrics import METRICS, Metric
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.catalog import main_metrics, more_metrics
from tracegrade_scoring.rendering.times import utc_now
from tracegrade_scoring.rendering.words import usd
from tracegrade_scoring.run_states import RunState

MARKS: Final = {"succeeded": "✓", "failed": "✗", None: "?"}
BESIDE: Final = "sent in addition to the run of its trial"
UNSCORED: Final = "not scored yet"
UNKNOWN_NUMBERS: Final = {"cost_usd": "no prices"}
"""Reasons for a number that is not known; others were not recorded."""
NUMBER_WORDS: Final[Mapping[str, Callable[[float], str]]] = {
    "cost_usd": usd,
    "duration_ms": words.duration,
    "tokens": short,
}
"""Writes a number in its unit; others are plain counts."""
STATE_WORDS: Final[Mapping[RunState, str]] = {
    RunState.RUNNING: "running",
    RunState.SILENT: "silent",
    RunState.CUT_OFF: "cut off",
    RunState.ENDED: "waiting to be scored",
    RunState.SCORED: "scored",
}


class ListCell(NamedTuple):
    """A value, and its explanation for the reader."""

    text: str
    title: str = ""


ALL_METRICS: Final = {
    metric.name: metric for metric in (*main_metrics(METRICS), *more_metrics(METRICS))
}
"""By name, those first that every report shows."""


def metrics_of(request: PageRequest) -> dict[str, Metric]:
    """Return how each metric of the lake is shown, by name; those of users' own last."""
    return {**ALL_METRICS, **request.snapshot.own_metrics}


def metric_cell(row: Row, metric: Metric) -> ListCell:
    """Return a metric of a run; a dash where it has no value, and why."""
    name = metric.name
    value = row[name]
    if value is None:
        reason = row[f"{name}_reason"]
        return ListCell(words.NOTHING, words.reason(reason) if reason else UNSCORED)
    if metric.unit == "runs":
        return ListCell("yes" if value else "no")
    return ListCell(words.amount(value, metric.scale))


def number_cell(row: Row, key: str) -> ListCell:
    """Return a number of a run other than a metric; a dash if it is not known, and why."""
    value = row[NUMBERS[key]]
    if value is None:
        return ListCell(words.NOTHING, UNKNOWN_NUMBERS.get(key, "not recorded"))
    return ListCell(NUMBER_WORDS.get(key, words.number)(value))


def outcome_cell(row: Row) -> ListCell:
    """Return a mark of how a run ended."""
    outcome = row["outcome"]
    if row["killed"]:
        return ListCell("†", BESIDE if row["beside"] else "killed on purpose")
    known = outcome or ("outcome not known" if row["scored"] else UNSCORED)
    return ListCell(MARKS[outcome], known)


def state_cell(row: Row) -> ListCell | None:
    """Return the state of a run in words, and when its last span came; None once it is scored."""
    if row["state"] in {None, RunState.SCORED}:
        return None
    if row["state"] is RunState.ENDED:
        return ListCell("ended", f"{STATE_WORDS[RunState.ENDED]}, {last_span(row)}")
    return ListCell(STATE_WORDS[row["state"]], last_span(row))


def last_span(row: Row) -> str:
    """Return when the last span of a run's trace was received, in words; '' if not known."""
    if row["received_at"] is None:
        return ""
    return f"last span {span_age(row)} ago"


def span_age(row: Row) -> str:
    """Return the age of the last span of a run's trace; it must be known."""
    return words.age((utc_now() - row["received_at"]).total_seconds())


def findings_cell(row: Row) -> ListCell:
    """Return the number of findings that a run's page lists, and the failure modes."""
    count = row["finding_count"]
    if not count and not row["scored"]:
        return ListCell(words.NOTHING, UNSCORED)
    modes = [words.mode(mode) for mode in row["failures"] if mode != "unclassified"]
    return ListCell(" · ".join(filter(None, (words.number(count), ", ".join(modes)))))
