"""`/trends`: a metric over time, by release or another dimension."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Final, NamedTuple, TypeAlias

from markupsafe import Markup

from tracegrade_explorer import links
from tracegrade_explorer.alerts.marks import alert_marks
from tracegrade_explorer.errors import BadFilter
from tracegrade_explorer.filters.grammar import NUMBERS, Filter, to_pairs
from tracegrade_explorer.pages.cells import metrics_of
from tracegrade_explorer.pages.definitions import several_definitions
from tracegrade_explorer.pages.runs import chips, label_of
from tracegrade_explorer.responses import PageContent, PageRequest, PageResponse
from tracegrade_explorer.snapshots.snapshot import Row, read_added_up
from tracegrade_scoring.metrics import Kind, Scale
from tracegrade_scoring.pictures.small import Line, Point, lines
from tracegrade_scoring.rendering import words

PARTS: Final = {"date": 1, "week": 7}
"""Days of each."""
FORMER: Final = {"day": "date"}
"""Former names of time periods in addresses."""
OWN: Final = ("metric", "by", "split")
SPLITS: Final = ("release", "agent", "category", "run_mode")
"""What lines may be drawn for, next to the dimensions of the lake."""
MOST_NAMES: Final = 50
"""Releases, or values of a dimension, with rows of their own, those with most runs."""
OTHER: Final = "(other)"
FEW: Final = 5
"""With fewer tasks, or for runs without a task, a point is hollow and has no interval."""
MOST_LINES: Final = 6
"""Names drawn, those with most runs; the table has all that have rows."""
WIDTH_95: Final = 1.96
"""Standard errors on either side of a value that hold it 19 times of 20."""


class TrendQuery(NamedTuple):
    """The requested trend."""

    runs: Filter
    label: str
    is_share: bool
    by: str
    """A key of `PARTS`."""
    split: str
    """What each line stands for: one of `SPLITS`, or a dimension."""


def trends(request: PageRequest) -> PageResponse:
    """Return a metric of each date or week by name, over the runs that count in rates."""
    own, run_filter = request.split(*OWN)
    metrics, splits = metrics_of(request), (*SPLITS, *request.snapshot.dimensions)
    metric, by, split = _chosen(own, {*NUMBERS, *metrics}, splits)
    if run_filter.counted is None:
        run_filter = run_filter.replaced(counted=True)
    known = metrics.get(metric)
    task_means = known is not None and known.kind is Kind.TASK_MEAN
    query = TrendQuery(
        run_filter, label_of(metric, metrics), known is not None and known.scale is Scale.SHARE,
        by, split,
    )  # fmt: skip
    rows = _points(request, query, metric, task_means=task_means)
    view = {
        "metric": metric,
        "by": by,
        "split": split,
        "splits": splits,
        "label": query.label,
        "meaning": known.meaning if known else "",
        "chips": [*chips(run_filter, metrics)],
        "hidden": to_pairs(run_filter.runs_alone),
        "metrics": [
            (key, label_of(key, metrics)) for key in (*NUMBERS, *request.snapshot.own_metrics)
        ],
        "chart": _chart(rows, query),
        "rows": [_row(row, query) for row in reversed(rows)],
        "few": FEW,
        "most": MOST_NAMES,
        "mixed": several_definitions(request),
        "alerts": alert_marks(request, lambda alert: alert.metric == metric),
        "names": [_name(name, query) for name in _largest(rows)],
    }
    columns = ["date", split, "runs", "measured", "units", "value", "spread"]
    flat = [{**row, split: OTHER if row["is_other"] else row["name"]} for row in rows]
    points = [{column: row[column] for column in columns} for row in flat]
    data = {"metric": metric, "by": by, "split": split, "mixed": view["mixed"], "rows": points}
    return PageContent("trends", f"{query.label} over time", view, data, columns, points)


def _chosen(
    own: Mapping[str, str], metrics: Collection[str], splits: Sequence[str]
) -> tuple[str, str, str]:
    """Return the metric, the time period and the split that an address names, else the usual.

    Raises:
        BadFilter: One of them is not known.
    """
    metric, given = own.get("metric", "success"), own.get("by", "date")
    by = FORMER.get(given, given)
    if metric not in metrics or by not in PARTS:
        msg = f"metric={metric}, by={given}: give a metric or number of runs, and date or week"
        raise BadFilter(msg)
    split = own.get("split", splits[0])
    if split not in splits:
        msg = f"split={split}: give one of {', '.join(splits)}"
        raise BadFilter(msg)
    return metric, by, split


def _points(
    request: PageRequest, trend: TrendQuery, metric: str, *, task_means: bool
) -> list[Row]:
    """Return the points of all names; runs of a state are read each time, since it passes."""
    days = PARTS[trend.by]

    def made() -> list[Row]:
        return read_added_up(
            request.con, "trend", trend.runs, metric,
            days=days, most=MOST_NAMES, split=trend.split, task_means=task_means,
        )  # fmt: skip

    if trend.runs.state is not None:
        return made()
    key = ("trend", trend.runs.conditions_alone.query, metric, days, trend.split)
    points: list[Row] = request.snapshot.cached(key, made)
    return points


LineName: TypeAlias = tuple[str | None, bool]
"""A name, and whether it stands for all names beyond those with most runs."""


def _largest(rows: list[Row]) -> list[LineName]:
    runs: dict[LineName, int] = defaultdict(int)
    for row in rows:
        runs[row["name"], row["is_other"]] += row["measured"]
    return sorted(runs, key=lambda name: (name[1], -runs[name], name[0] or ""))[:MOST_LINES]


def _name(name: LineName, trend: TrendQuery) -> str:
    text, is_other = name
    return OTHER if is_other else words.name(text, f"(no {words.mode(trend.split)})")


class Chart(NamedTuple):
    """Lines, and their labels."""

    drawn: Markup
    top: str
    """The value at the top."""
    middle: str
    bottom: str
    dates: tuple[str, ...]
    """The first and the last, or the only one."""


def _chart(rows: list[Row], trend: TrendQuery) -> Chart | None:
    """Return the chart of what has values; None if nothing has."""
    found = [row for row in rows if row["value"] is not None]
    if not found:
        return None
    first, last = found[0]["date"], found[-1]["date"]
    top = 1.0 if trend.is_share else max(map(_high, found)) or 1.0
    drawn = [
        Line(
            _name(name, trend),
            [
                _point(row, _across(row["date"], first, last), top, trend)
                for row in found
                if (row["name"], row["is_other"]) == name
            ],
        )
        for name in _largest(found)
    ]
    label = f"{trend.label} from {first} to {last}, lines by {words.mode(trend.split)}"
    high, middle, low = (_amount(share * top, trend) for share in (1.0, 0.5, 0.0))
    dates = (str(first), str(last)) if first != last else (str(first),)
    return Chart(lines(drawn, label), high, middle, low, dates)


def _across(day: date, first: date, last: date) -> float:
    """Return the horizontal position of a date; a single date is in the middle."""
    return (day - first).days / (last - first).days if last > first else 0.5


def _high(row: Row) -> float:
    """Return the upper end of the interval of a value."""
    return float(row["value"] + WIDTH_95 * (row["spread"] or 0.0))


def _point(row: Row, x: float, top: float, trend: TrendQuery) -> Point:
    around = _high(row) - row["value"]
    title = (
        f"{_name((row['name'], row['is_other']), trend)}, {row['date']}: "
        f"{_amount(row['value'], trend)} over {words.count(row['measured'], 'run')}"
    )
    few = row["units"] < FEW or row["spread"] is None
    ends = (None, None) if few else ((row["value"] - around) / top, (row["value"] + around) / top)
    return Point(x, row["value"] / top, few, title, _runs(row, trend), *ends)


def _row(row: Row, trend: TrendQuery) -> dict[str, Any]:
    return {
        "date": row["date"],
        "name": _name((row["name"], row["is_other"]), trend),
        "runs": row["runs"],
        "measured": row["measured"],
        "value": _amount(row["value"], trend),
        "href": _runs(row, trend),
    }


def _runs(row: Row, trend: TrendQuery) -> str:
    """Return the list of the runs with a name that were received in a part of time.

    That of other names has the runs of all names.
    """
    dates = (row["date"], row["date"] + timedelta(PARTS[trend.by] - 1))
    found = trend.runs.replaced(received=dates)
    if not row["is_other"]:
        found = found.replaced(names={**trend.runs.names, trend.split: (row["name"],)})
    return links.runs(found)


def _amount(value: float | None, trend: TrendQuery) -> str:
    return words.amount(value, Scale.SHARE if trend.is_share else Scale.NUMBER)
