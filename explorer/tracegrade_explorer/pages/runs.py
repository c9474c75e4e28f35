"""`/runs`: the runs of a filter, and the facets that they share."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from tracegrade_explorer import links
from tracegrade_explorer.errors import BadFilter
from tracegrade_explorer.filters.grammar import (
    NAMED,
    NUMBERS,
    STARTED,
    Filter,
    Range,
    number_text,
    to_pairs,
)
from tracegrade_explorer.filters.typed import typed_pairs
from tracegrade_explorer.issues.known import IssueChip, news_of_runs
from tracegrade_explorer.pages.cells import (
    ALL_METRICS,
    STATE_WORDS,
    ListCell,
    findings_cell,
    metric_cell,
    metrics_of,
    number_cell,
    outcome_cell,
    state_cell,
)
from tracegrade_explorer.pages.facets import facet_rows
from tracegrade_explorer.parallel import parallel
from tracegrade_explorer.responses import PageContent, PageRequest, PageResponse, Redirect
from tracegrade_explorer.snapshots.rows import FACTS, STATE, count_runs, find_run, runs_page
from tracegrade_explorer.snapshots.snapshot import Row, read, read_cached
from tracegrade_scoring.metrics import Metric, Scale
from tracegrade_scoring.pictures.small import Bin, bar, histogram
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.measured_modes import measured_note
from tracegrade_scoring.rendering.why_failed import reason_title

FACET_NAMES: Final = 8
"""Names shown of a facet."""
BINS: Final = 10
CSV_ROWS: Final = 100_000
LABELS: Final = {
    "agent": "Agent",
    "release": "Release",
    "task": "Task",
    "category": "Category",
    "run_mode": "Run mode",
    "outcome": "Outcome",
    "conversation": "Conversation",
    "failure": "Failure mode",
    "reason": "Why it failed",
    "dialect": "Dialect",
    "model": "Model",
    "tool": "Tool",
    "steps": "Steps",
    "calls": "Tool calls",
    "errors": "Failed calls",
    "tokens": "Tokens",
    "cost_usd": "Cost, USD",
    "duration_ms": "Duration, ms",
    "findings": "Findings",
}
"""Labels of keys; a metric has its own."""
SHORT_LABELS: Final = {"errors": "Failed", "cost_usd": "Cost", "duration_ms": "Duration"}
"""Labels of columns, where the label of the key is longer."""
ALWAYS: Final = ("steps", "errors", "cost_usd")
"""Numbers that every list has, after those that are asked for."""
OWN: Final = ("add", "low", "high", "typed")
"""Parameters of the forms that extend the filter: a range, or a typed text."""
ID_BEGINS: Final = re.compile("[0-9a-fA-F]{6,64}")
"""Pattern of a text that may be the beginning of a run's id."""


class Chip(NamedTuple):
    """One condition of a filter."""

    text: str
    without: str
    """The address of the list without it."""


class FacetName(NamedTuple):
    """One name of a facet."""

    text: str
    runs: int
    href: str
    chosen: bool
    drawn: Markup


class Facet(NamedTuple):
    """The names that runs have of one kind."""

    label: str
    names: list[FacetName]
    more: int
    """Names that are not shown."""
    note: str = ""
    """A note about all of them."""


class Heading(NamedTuple):
    """A column of the list; '' where it cannot be sorted by."""

    text: str
    href: str
    order: str
    """ascending | descending | none."""
    title: str = ""
    number: bool = False
    """Its values are numbers."""


def runs(request: PageRequest) -> PageResponse:
    """Return the list of a filter's runs."""
    own, run_filter = request.split(*OWN)
    if run_id := _typed_id(request, own.get("typed", "")):
        return Redirect(links.run(run_id))
    if own:
        return Redirect(
            links.runs(_with_range(request, _with_typed(request, run_filter, own), own))
        )
    if request.form == "csv":
        return _table(request, run_filter)
    if request.form == "json":
        return PageContent("runs", "Runs", {}, _data(request, run_filter), _columns(run_filter))
    rows, view = _rows_and_view(request, run_filter)
    shown = {**view, "facets": [*_facets(rows, request, run_filter)]}
    return PageContent("runs", "Runs", shown, None, _columns(run_filter))


def _rows_and_view(request: PageRequest, run_filter: Filter) -> tuple[list[Row], dict[str, Any]]:
    """Return the rows of the facets, and what else the page shows."""
    con = request.cursor_of_lake()
    tasks: dict[str, Callable[[], Any]] = {
        "facets": partial(facet_rows, request, con, run_filter, FACET_NAMES),
        "view": partial(_view, request, run_filter),
    }
    made = parallel(tasks)
    return made["facets"], made["view"]


def _data(request: PageRequest, run_filter: Filter) -> dict[str, Any]:
    """Return the rows of the page, how many runs there are, and where its following begins."""
    page = runs_page(request.con, run_filter)
    return {
        "filter": run_filter.query,
        "runs": _count(request, run_filter),
        "of": _count(request, Filter()),
        "after": page.rows[-1]["trajectory_id"] if page.more else None,
        "rows": page.rows,
    }


def _view(request: PageRequest, run_filter: Filter) -> dict[str, Any]:
    """Return what the page shows, but for its facets."""
    data = _data(request, run_filter)
    metrics, after = metrics_of(request), data["after"]
    news = news_of_runs(request, [row["seq"] for row in data["rows"]])
    return {
        "run_filter": run_filter,
        "count": data["runs"],
        "total": data["of"],
        "chips": [*chips(run_filter, metrics)],
        "headings": [*_headings(run_filter, metrics)],
        "rows": [_row(row, run_filter, metrics, news.get(row["seq"])) for row in data["rows"]],
        "histograms": [*_histograms(request, run_filter)],
        "following": links.runs(run_filter.beginning_after(after)) if after else "",
        "first": links.runs(run_filter.beginning_after(None)) if run_filter.after else "",
        "hidden": _hidden(run_filter),
        "kept": to_pairs(run_filter.beginning_after(None)),
        "metrics": [*_choices(metrics)],
        "query": run_filter.query,
    }


def _typed_id(request: PageRequest, typed: str) -> str | None:
    """Return the id of the only run with a typed prefix; None if there is no such run.

    Raises:
        PageMissing: Several begin so.
    """
    if not ID_BEGINS.fullmatch(typed.strip()):
        return None
    name = typed.strip().lower()
    if not read(request.con, "named_runs", name=name):
        return None
    return find_run(request.con, name).trajectory_id


def _count(request: PageRequest, run_filter: Filter) -> int:
    """Return how many runs a filter has, wherever its list begins."""
    if run_filter.state is not None:
        return count_runs(request.con, run_filter)
    key = ("count_runs", run_filter.conditions_alone.query)
    count: int = request.snapshot.cached(key, lambda: count_runs(request.con, run_filter))
    return count


def _table(request: PageRequest, run_filter: Filter) -> PageContent:
    """Return the whole list for a spreadsheet."""
    page = runs_page(request.con, run_filter, CSV_ROWS)
    return PageContent("runs", "Runs", {}, {}, _columns(run_filter), page.rows)


def _columns(run_filter: Filter) -> list[str]:
    asked = (NUMBERS.get(name, name) for name in run_filter.columns)
    return [*dict.fromkeys((*FACTS[1:], STATE, *asked))]


def _with_typed(request: PageRequest, run_filter: Filter, own: dict[str, str]) -> Filter:
    """Return the filter with the conditions that were typed, as its address has it."""
    pairs = typed_pairs(own.get("typed", ""))
    given = [*to_pairs(run_filter.beginning_after(None)), *pairs]
    return request.filter_of(given) if pairs else run_filter


def _with_range(request: PageRequest, run_filter: Filter, own: dict[str, str]) -> Filter:
    """Return the filter with the range that a form asks for, as its address has it."""
    key = own.get("add", "")
    if not key:
        return run_filter.beginning_after(None)
    if key not in NUMBERS and key not in request.snapshot.own_metrics:
        msg = f"add={key} is neither a metric nor a number of runs; choose one of the form's"
        raise BadFilter(msg)
    ends = f"{own.get('low', '')}..{own.get('high', '')}"
    given = request.filter_of([(key, ends)]).ranges[key] or Range()
    return run_filter.within(key, given.low, given.high)


def label_of(key: str, metrics: Mapping[str, Metric]) -> str:
    """Return the label of a key of filters, of a metric or a dimension of the lake."""
    return LABELS.get(key) or (metrics[key].label if key in metrics else words.name(key))


def name_in_words(key: str, name: str | None) -> str:
    """Return a name that a filter asks for, in words."""
    if key == "failure" and name is not None:
        return words.mode(name)
    if key == "reason" and name is not None:
        kind, _, what = name.partition(": ")
        return reason_title(kind, what or None)
    return words.name(name, "not known")


def chips(run_filter: Filter, metrics: Mapping[str, Metric]) -> Iterator[Chip]:
    """Yield each condition of a filter in words, with the list without it."""
    for key, names in run_filter.names.items():
        for name in names:
            text = f"{label_of(key, metrics)}: {name_in_words(key, name)}"
            yield Chip(text, links.runs(run_filter.without(key, name)))
    for key, ends in run_filter.ranges.items():
        yield Chip(f"{label_of(key, metrics)} {_ends(ends)}", links.runs(run_filter.without(key)))
    yield from _other_chips(run_filter)


def _other_chips(run_filter: Filter) -> Iterator[Chip]:
    for key, time in (("since", run_filter.since), ("until", run_filter.until)):
        if time:
            yield Chip(
                f"{key} {time.isoformat(' ')}", links.runs(run_filter.replaced(**{key: None}))
            )
    if run_filter.received:
        dates = f" {words.DASH} ".join(dict.fromkeys(map(str, run_filter.received)))
        yield Chip(f"received {dates}", links.runs(run_filter.replaced(received=None)))
    if run_filter.request:
        yield Chip(
            f"asked: {words.name(run_filter.request)}", links.runs(run_filter.replaced(request=""))
        )
    if run_filter.level != "root":
        which = {"all": "sub-agents' runs too", "sub_agent": "sub-agents' runs"}[run_filter.level]
        yield Chip(which, links.runs(run_filter.replaced(level="root")))
    if run_filter.counted is not None:
        which = "that count in rates" if run_filter.counted else "that do not count in rates"
        yield Chip(which, links.runs(run_filter.replaced(counted=None)))
    yield from _end_chips(run_filter)


def _end_chips(run_filter: Filter) -> Iterator[Chip]:
    if run_filter.complete is not None:
        which = "with an end" if run_filter.complete else "without an end"
        yield Chip(which, links.runs(run_filter.replaced(complete=None)))
    if run_filter.state is not None:
        which = STATE_WORDS[run_filter.state]
        yield Chip(which, links.runs(run_filter.replaced(state=None)))


def _ends(ends: Range | None) -> str:
    if ends is None:
        return "without a value"
    if ends == Range():
        return "with a value"
    low, high = ("" if end is None else number_text(end) for end in ends)
    if low == high:
        return low
    return f"{low}{words.DASH}{high}" if low and high else f"≥ {low}" if low else f"≤ {high}"


def _headings(run_filter: Filter, metrics: Mapping[str, Metric]) -> Iterator[Heading]:
    yield _heading(run_filter, STARTED, "Started, UTC")
    yield from (Heading(text, "", "none") for text in ("Agent", "Release", "Task", "Outcome"))
    for key in _number_columns(run_filter):
        label = SHORT_LABELS.get(key) or label_of(key, metrics)
        meaning = metrics[key].meaning if key in metrics else ""
        yield _heading(run_filter, key, label, meaning)
    yield _heading(run_filter, "findings", "Findings")


def _number_columns(run_filter: Filter) -> list[str]:
    """Return the columns of numbers, those first that are asked for."""
    return [*dict.fromkeys((*run_filter.columns, *ALWAYS))]


def _cell(row: Row, key: str, metrics: Mapping[str, Metric]) -> ListCell:
    return metric_cell(row, metrics[key]) if key in metrics else number_cell(row, key)


def _heading(run_filter: Filter, key: str, text: str, title: str = "") -> Heading:
    order = "none"
    if run_filter.sort == key:
        # The newest come first of what began; of numbers the least.
        order = "ascending" if run_filter.descending == (key == STARTED) else "descending"
    number = key not in {STARTED, "findings"}
    return Heading(text, links.runs(run_filter.sorted_by(key)), order, title, number)


def _row(
    row: Row, run_filter: Filter, metrics: Mapping[str, Metric], news: IssueChip | None
) -> dict[str, Any]:
    return {
        "news": news,
        "id": row["trajectory_id"],
        "href": links.run(row["trajectory_id"], run_filter),
        "started": row["start_time"],
        "date": row["date"],
        "agent": words.name(row["agent_name"]),
        "release": words.name(row["release"]),
        "task": words.name(row["task_id"]),
        "outcome": outcome_cell(row),
        "outcome_name": row["outcome"] or "unknown",
        "state": state_cell(row),
        "numbers": [_cell(row, key, metrics) for key in _number_columns(run_filter)],
        "findings": findings_cell(row),
        "found": row["finding_count"] > 0,
        "why": row["why"] or "",
        "request": row["request"] or "",
    }


def _facets(rows: list[Row], request: PageRequest, run_filter: Filter) -> Iterator[Facet]:
    """Yield the names of the runs; a chosen name leads to the list without it."""
    count = _count(request, run_filter)
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["facet"], []).append(row)
    for key in (*NAMED, *request.snapshot.dimensions):
        names = found.get(key, [])
        if names and (len(names) > 1 or names[0]["name"] is not None):
            facet_names = [_facet_name(run_filter, key, row, count) for row in names]
            modes = [row["name"] for row in names if key == "failure"]
            more = names[0]["of"] - len(names)
            yield Facet(
                LABELS.get(key) or words.name(key), facet_names, more, measured_note(modes)
            )


def _facet_name(run_filter: Filter, key: str, row: Row, count: int) -> FacetName:
    chosen = row["name"] in run_filter.names.get(key, ())
    other = run_filter.without if chosen else run_filter.narrowed
    return FacetName(
        name_in_words(key, row["name"]),
        row["runs"],
        links.runs(other(key, row["name"])),
        chosen,
        bar(row["runs"] / max(row["runs"], count)),
    )


def _histograms(request: PageRequest, run_filter: Filter) -> Iterator[dict[str, Any]]:
    """Yield how the values of each metric of the list are spread, where there are several."""
    metrics = metrics_of(request)
    for name in run_filter.columns:
        metric = metrics.get(name)
        if metric is None or metric.unit == "runs":
            continue
        ends = (
            Range(0.0, 1.0) if metric.scale is Scale.SHARE else _ends_of(request, run_filter, name)
        )
        if ends.low != ends.high and (
            counts := _counts(request, run_filter, name, ends)
        ).keys() - {None}:
            yield _histogram(run_filter, metric, ends, counts)


def _ends_of(request: PageRequest, run_filter: Filter, name: str) -> Range:
    """Return the least and the largest value of a metric; None twice without any."""
    (found,) = read_cached(
        request.snapshot, request.con, "measured_ends", run_filter, measured=name
    )
    return Range(found["low"], found["high"])


def _counts(
    request: PageRequest, run_filter: Filter, name: str, ends: Range
) -> dict[int | None, int]:
    """Return the runs of each part of a range, and under None those without a value."""
    rows = read_cached(
        request.snapshot, request.con, "histogram", run_filter, measured=name,
        low=ends.low, high=ends.high, bins=BINS,
    )  # fmt: skip
    return {row["bin"]: row["runs"] for row in rows}


def _histogram(
    run_filter: Filter, metric: Metric, ends: Range, counts: Mapping[int | None, int]
) -> dict[str, Any]:
    low, high = ends.low or 0.0, ends.high or 0.0
    edges = [low + (high - low) * position / BINS for position in range(BINS)] + [high]
    name, bins = metric.name, []
    for position in range(BINS):
        # Up to the last number before the next part begins, so that no run is in two.
        last = high if position == BINS - 1 else math.nextafter(edges[position + 1], -math.inf)
        interval = f"{words.amount(edges[position], metric.scale)} to " + words.amount(
            edges[position + 1], metric.scale
        )
        count = counts.get(position, 0)
        bins.append(
            Bin(
                count,
                links.runs(run_filter.within(name, edges[position], last)),
                f"{metric.label} {interval}: {words.count(count, 'run')}",
            )
        )
    return {
        "label": metric.label,
        "drawn": histogram(bins, f"{metric.label}, runs by value"),
        "low": words.amount(low, metric.scale),
        "high": words.amount(high, metric.scale),
        "without": counts.get(None, 0),
        "without_href": links.filtered(
            "/runs", run_filter.replaced(ranges={**run_filter.ranges, name: None})
        ),
    }


def _hidden(run_filter: Filter) -> list[tuple[str, str]]:
    """Return the hidden fields of a form: the filter without the form's own fields."""
    remaining = run_filter.replaced(request="", since=None, until=None)
    return to_pairs(remaining)


def _choices(metrics: Mapping[str, Metric]) -> Iterator[tuple[str, str]]:
    """Yield key and label of each value that a range may limit."""
    for key in NUMBERS:
        if key not in ALL_METRICS:
            yield key, LABELS[key]
    yield from ((name, metric.label) for name, metric in metrics.items())
