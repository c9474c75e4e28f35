"""`/runs`: the runs of a filter, with what they have in common beside them."""

import math
from collections.abc import Iterator, Mapping
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
    to_query,
)
from tracegrade_explorer.filters.typed import typed_pairs
from tracegrade_explorer.pages.cells import (
    ALL_METRICS,
    ListCell,
    findings_cell,
    metric_cell,
    metrics_of,
    outcome_cell,
)
from tracegrade_explorer.responses import PageContent, PageRequest, PageResponse, Redirect
from tracegrade_explorer.snapshots.rows import FACTS, count_runs, runs_page
from tracegrade_explorer.snapshots.snapshot import Row, read_kept
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
    "steps": "Steps",
    "calls": "Tool calls",
    "errors": "Failed calls",
    "tokens": "Tokens",
    "cost_usd": "Cost, USD",
    "duration_ms": "Duration, ms",
    "findings": "Findings",
}
"""Of keys; a metric has its own."""
SORTED: Final = (("steps", "Steps"), ("errors", "Failed"), ("cost_usd", "Cost"))
OWN: Final = ("add", "low", "high", "typed")
"""Parameters of the forms that add to the filter: a range, or what was typed."""


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
    """What is known of all of them."""


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
    own, wanted = request.split(*OWN)
    if own:
        return Redirect(links.runs(_with_range(request, _with_typed(request, wanted, own), own)))
    if request.form == "csv":
        return _table(request, wanted)
    metrics = metrics_of(request)
    page = runs_page(request.con, wanted)
    count, total = _count(request, wanted), _count(request, Filter())
    after = page.rows[-1]["trajectory_id"] if page.more else None
    view = {
        "wanted": wanted,
        "count": count,
        "total": total,
        "chips": [*chips(wanted, metrics)],
        "headings": [*_headings(wanted, metrics)],
        "rows": [_row(row, wanted, metrics) for row in page.rows],
        "facets": [*_facets(request, wanted, count)],
        "histograms": [*_histograms(request, wanted)],
        "following": links.runs(wanted.beginning_after(after)) if after else "",
        "first": links.runs(wanted.beginning_after(None)) if wanted.after else "",
        "hidden": _hidden(wanted),
        "kept": to_pairs(wanted.beginning_after(None)),
        "metrics": [*_choices(metrics)],
        "query": to_query(wanted),
    }
    data = {"filter": to_query(wanted), "runs": count, "of": total, "after": after,
            "rows": page.rows}  # fmt: skip
    return PageContent("runs", "Runs", view, data, _columns(wanted))


def _count(request: PageRequest, wanted: Filter) -> int:
    """Return how many runs a filter has, wherever its list begins."""
    key = ("count_runs", to_query(wanted.conditions_alone))
    count: int = request.snapshot.kept(key, lambda: count_runs(request.con, wanted))
    return count


def _table(request: PageRequest, wanted: Filter) -> PageContent:
    """Return the whole list for a spreadsheet."""
    page = runs_page(request.con, wanted, CSV_ROWS)
    return PageContent("runs", "Runs", {}, {}, _columns(wanted), page.rows)


def _columns(wanted: Filter) -> list[str]:
    return [*FACTS[1:], *wanted.columns]


def _with_typed(request: PageRequest, wanted: Filter, own: dict[str, str]) -> Filter:
    """Return the filter with the conditions that were typed, as its address has it."""
    pairs = typed_pairs(own.get("typed", ""))
    given = [*to_pairs(wanted.beginning_after(None)), *pairs]
    return request.filter_of(given) if pairs else wanted


def _with_range(request: PageRequest, wanted: Filter, own: dict[str, str]) -> Filter:
    """Return the filter with the range that a form asks for, as its address has it."""
    key = own.get("add", "")
    if not key:
        return wanted.beginning_after(None)
    if key not in NUMBERS and key not in request.snapshot.own_metrics:
        msg = f"add={key} is neither a metric nor a number of runs; choose one of the form's"
        raise BadFilter(msg)
    ends = f"{own.get('low', '')}..{own.get('high', '')}"
    given = request.filter_of([(key, ends)]).ranges[key] or Range()
    return wanted.within(key, given.low, given.high)


def label_of(key: str, metrics: Mapping[str, Metric]) -> str:
    """Return the label of a key of filters, or of a metric of the lake."""
    return LABELS.get(key) or metrics[key].label


def shown_name(key: str, name: str | None) -> str:
    """Return a name that a filter asks for, in words."""
    if key == "failure" and name is not None:
        return words.mode(name)
    if key == "reason" and name is not None:
        kind, _, what = name.partition(": ")
        return reason_title(kind, what or None)
    return words.name(name, "not known")


def chips(wanted: Filter, metrics: Mapping[str, Metric]) -> Iterator[Chip]:
    """Yield each condition of a filter in words, with the list without it."""
    for key, names in wanted.names.items():
        for name in names:
            text = f"{label_of(key, metrics)}: {shown_name(key, name)}"
            yield Chip(text, links.runs(wanted.without(key, name)))
    for key, ends in wanted.ranges.items():
        yield Chip(f"{label_of(key, metrics)} {_ends(ends)}", links.runs(wanted.without(key)))
    yield from _setting_chips(wanted)


def _setting_chips(wanted: Filter) -> Iterator[Chip]:
    for key, time in (("since", wanted.since), ("until", wanted.until)):
        if time:
            yield Chip(f"{key} {time.isoformat(' ')}", links.runs(wanted.replaced(**{key: None})))
    if wanted.received:
        dates = f" {words.DASH} ".join(dict.fromkeys(map(str, wanted.received)))
        yield Chip(f"received {dates}", links.runs(wanted.replaced(received=None)))
    if wanted.request:
        yield Chip(f"asked: {words.name(wanted.request)}", links.runs(wanted.replaced(request="")))
    if wanted.level != "root":
        which = {"all": "sub-agents' runs too", "sub_agent": "sub-agents' runs"}[wanted.level]
        yield Chip(which, links.runs(wanted.replaced(level="root")))
    if wanted.counted is not None:
        which = "that count in rates" if wanted.counted else "that count in no rate"
        yield Chip(which, links.runs(wanted.replaced(counted=None)))


def _ends(ends: Range | None) -> str:
    if ends is None:
        return "without a value"
    if ends == Range():
        return "with a value"
    low, high = ("" if end is None else number_text(end) for end in ends)
    if low == high:
        return low
    return f"{low}{words.DASH}{high}" if low and high else f"≥ {low}" if low else f"≤ {high}"


def _headings(wanted: Filter, metrics: Mapping[str, Metric]) -> Iterator[Heading]:
    yield _heading(wanted, STARTED, "Started, UTC")
    yield from (Heading(text, "", "none") for text in ("Agent", "Release", "Task", "Outcome"))
    for name in wanted.columns:
        yield _heading(wanted, name, metrics[name].label, metrics[name].meaning)
    for key, text in SORTED:
        yield _heading(wanted, key, text)
    yield _heading(wanted, "findings", "Findings")


def _heading(wanted: Filter, key: str, text: str, title: str = "") -> Heading:
    order = "none"
    if wanted.sort == key:
        # The newest come first of what began; of numbers the least.
        order = "ascending" if wanted.descending == (key == STARTED) else "descending"
    number = key not in {STARTED, "findings"}
    return Heading(text, links.runs(wanted.sorted_by(key)), order, title, number)


def _row(row: Row, wanted: Filter, metrics: Mapping[str, Metric]) -> dict[str, Any]:
    return {
        "id": row["trajectory_id"],
        "href": links.run(row["trajectory_id"], wanted),
        "started": row["start_time"],
        "date": row["date"],
        "agent": words.name(row["agent_name"]),
        "release": words.name(row["release"]),
        "task": words.name(row["task_id"]),
        "outcome": outcome_cell(row),
        "outcome_name": row["outcome"] or "unknown",
        "metrics": [metric_cell(row, metrics[name]) for name in wanted.columns],
        "steps": words.number(row["step_count"]),
        "errors": words.number(row["error_count"]),
        "cost": ListCell(words.NOTHING, "no prices")
        if row["cost_usd"] is None
        else ListCell(f"{row['cost_usd']:.4f}"),
        "findings": findings_cell(row),
        "found": row["finding_count"] > 0,
        "why": row["why"] or "",
        "request": row["request"] or "",
    }


def _facets(request: PageRequest, wanted: Filter, count: int) -> Iterator[Facet]:
    """Yield the names that the runs have; a name that is chosen leads to the list without it."""
    found: dict[str, list[Row]] = {}
    for row in read_kept(request.snapshot, request.con, "facets", wanted, names=FACET_NAMES):
        found.setdefault(row["facet"], []).append(row)
    for key in NAMED:
        names = found.get(key, [])
        if names and (len(names) > 1 or names[0]["name"] is not None):
            shown = [_facet_name(wanted, key, row, count) for row in names]
            modes = [row["name"] for row in names if key == "failure"]
            more = names[0]["of"] - len(names)
            yield Facet(LABELS[key], shown, more, measured_note(modes))


def _facet_name(wanted: Filter, key: str, row: Row, count: int) -> FacetName:
    chosen = row["name"] in wanted.names.get(key, ())
    other = wanted.without if chosen else wanted.narrowed
    return FacetName(
        shown_name(key, row["name"]),
        row["runs"],
        links.runs(other(key, row["name"])),
        chosen,
        bar(row["runs"] / count),
    )


def _histograms(request: PageRequest, wanted: Filter) -> Iterator[dict[str, Any]]:
    """Yield how the values of each metric of the list are spread, where there are several."""
    for name in wanted.columns:
        metric = metrics_of(request)[name]
        if metric.unit == "runs":
            continue
        ends = Range(0.0, 1.0) if metric.scale is Scale.SHARE else _ends_of(request, wanted, name)
        if ends.low != ends.high and (counts := _counts(request, wanted, name, ends)).keys() - {
            None
        }:
            yield _histogram(wanted, metric, ends, counts)


def _ends_of(request: PageRequest, wanted: Filter, name: str) -> Range:
    """Return the least and the largest value of a metric; None twice without any."""
    (found,) = read_kept(request.snapshot, request.con, "measured_ends", wanted, measured=name)
    return Range(found["low"], found["high"])


def _counts(request: PageRequest, wanted: Filter, name: str, ends: Range) -> dict[int | None, int]:
    """Return the runs of each part of a range, and under None those without a value."""
    rows = read_kept(
        request.snapshot, request.con, "histogram", wanted, measured=name,
        low=ends.low, high=ends.high, bins=BINS,
    )  # fmt: skip
    return {row["bin"]: row["runs"] for row in rows}


def _histogram(
    wanted: Filter, metric: Metric, ends: Range, counts: Mapping[int | None, int]
) -> dict[str, Any]:
    low, high = ends.low or 0.0, ends.high or 0.0
    edges = [low + (high - low) * position / BINS for position in range(BINS)] + [high]
    name, bins = metric.name, []
    for position in range(BINS):
        # Up to the last number before the next part begins, so that no run is in two.
        last = high if position == BINS - 1 else math.nextafter(edges[position + 1], -math.inf)
        shown = f"{words.amount(edges[position], metric.scale)} to " + words.amount(
            edges[position + 1], metric.scale
        )
        count = counts.get(position, 0)
        bins.append(
            Bin(
                count,
                links.runs(wanted.within(name, edges[position], last)),
                f"{metric.label} {shown}: {words.count(count, 'run')}",
            )
        )
    return {
        "label": metric.label,
        "drawn": histogram(bins, f"{metric.label}, runs by value"),
        "low": words.amount(low, metric.scale),
        "high": words.amount(high, metric.scale),
        "without": counts.get(None, 0),
        "without_href": links.filtered(
            "/runs", wanted.replaced(ranges={**wanted.ranges, name: None})
        ),
    }


def _hidden(wanted: Filter) -> list[tuple[str, str]]:
    """Return what a form must send along: the filter but what it asks for itself."""
    kept = wanted.replaced(request="", since=None, until=None)
    return to_pairs(kept)


def _choices(metrics: Mapping[str, Metric]) -> Iterator[tuple[str, str]]:
    """Yield what a range may be given of: key and label."""
    for key in NUMBERS:
        if key not in ALL_METRICS:
            yield key, LABELS[key]
    yield from ((name, metric.label) for name, metric in metrics.items())
