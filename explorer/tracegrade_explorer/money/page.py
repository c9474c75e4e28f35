"""`/money`: what runs cost and how long they took, in a window of time."""

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any, Final

from tracegrade_explorer import links
from tracegrade_explorer.amounts import short
from tracegrade_explorer.errors import BadFilter
from tracegrade_explorer.filters.grammar import Filter
from tracegrade_explorer.money.tables import make_tables
from tracegrade_explorer.now.windows import TimeWindow
from tracegrade_explorer.pages.window_bar import WindowBar, window_bar
from tracegrade_explorer.responses import PageContent, PageRequest
from tracegrade_explorer.snapshots.snapshot import Row, read
from tracegrade_scoring.metrics import Scale
from tracegrade_scoring.pictures.small import Bin, bar, labeled_histogram
from tracegrade_scoring.rendering import words
from tracegrade_scoring.rendering.words import usd

GROUPS: Final = ("agent", "release", "model", "task", "day")
HEADINGS: Final = {each: each.capitalize() for each in GROUPS}
MOST_ROWS: Final = 100
"""The table shows so many; the CSV has all."""
DEAREST: Final = 6
TOOLS: Final = 12
UNPRICED: Final = 6
DAY: Final = timedelta(days=1)
COLUMNS: Final = ("duration_ms", "tokens", "cost_usd")
"""Numbers of the lists that the page leads to."""


def money(request: PageRequest) -> PageContent:
    """Return what the runs of a window cost and took, grouped as the address says."""
    group = _group(request)
    chosen = window_bar(request, "/money", ("window", "by"))
    make_tables(request)
    by = GROUPS[0] if group == "model" else group
    total, rows = request.snapshot.cached(
        ("money", by, chosen.window, chosen.midnight), lambda: _read_rows(request, by, chosen)
    )
    models, times, dearest, tools = request.snapshot.cached(
        ("money", chosen.window), lambda: _read_others(request, _ends(chosen.window))
    )
    listed = models if group == "model" else rows
    data = {"window": chosen.window.name, **_ends(chosen.window), "by": group,
            "prices": _price_source(request), "total": total, "rows": listed, "models": models,
            "times": times, "dearest": dearest, "tools": tools}  # fmt: skip
    view = {
        "bar": chosen,
        "groups": [*_group_tabs(request, group)],
        "by": group,
        "own": {
            form: links.with_query(f"/money.{form}", request.pairs) for form in ("csv", "json")
        },
        "priced_by": _priced_by(request),
        "total": _total(total),
        "heading": HEADINGS[group],
        "rows": [_row(request, row, group, chosen.window, total) for row in listed[:MOST_ROWS]],
        "more": max(len(listed) - MOST_ROWS, 0),
        "of_models": group == "model",
        "solves": bool(total["solved"]),
        "unknown_models": [*_unknown(models)],
        "times": _histogram(times, chosen.window),
        "dearest": [_dear(row) for row in dearest],
        "tools": [*_tools(request, tools, chosen.window)],
        "more_tools": tools[0]["tools"] - len(tools) if tools else 0,
        "zone": chosen.zone,
    }
    columns = [*listed[0]] if listed else ["name", "runs"]
    return PageContent("money", "Money and time", view, data, columns, listed)


def _group(request: PageRequest) -> str:
    """Return what the address groups runs by."""
    group = dict(request.pairs).get("by", GROUPS[0])
    if group not in GROUPS:
        msg = f"by={group} is not known here; known: {', '.join(GROUPS)}"
        raise BadFilter(msg)
    return group


def _read_rows(request: PageRequest, group: str, chosen: WindowBar) -> tuple[Row, list[Row]]:
    """Return the row of all runs of a window, and one for each name of a group."""
    ends = _ends(chosen.window)
    values = {**ends, "grouped_by": group, "midnight": chosen.midnight}
    (total, *rows) = read(request.con, "money_rows", **values)
    if group == "day":
        rows.sort(key=lambda row: -int(row["name"]) if row["name"] else math.inf)
        rows = [
            {**row, "name": _day_name(row["name"], chosen.midnight, request.zone)} for row in rows
        ]
    return total, rows


def _read_others(
    request: PageRequest, ends: dict[str, datetime | None]
) -> tuple[list[Row], list[Row], list[Row], list[Row]]:
    """Return what a page shows however its runs are grouped."""
    return (
        read(request.con, "money_models", **ends),
        read(request.con, "money_times", **ends),
        read(request.con, "dearest_runs", **ends, rows=DEAREST),
        read(request.con, "money_tools", **ends, rows=TOOLS),
    )


def _ends(window: TimeWindow) -> dict[str, datetime | None]:
    return {"since": window.since, "until": window.until}


def _day_name(days: str | None, midnight: datetime, zone: tzinfo) -> str | None:
    """Return the date that is so many days after a midnight where the reader is."""
    if days is None:
        return None
    return str(midnight.replace(tzinfo=UTC).astimezone(zone).date() + int(days) * DAY)


def _price_source(request: PageRequest) -> str | None:
    """Return the date of the price list in force, `own` for a user's prices; None without any."""
    found = request.snapshot.prices
    if found is None or not found.prices:
        return None
    return found.list_date or "own"


def _priced_by(request: PageRequest) -> str:
    source = _price_source(request)
    if source is None:
        return "no prices"
    if source == "own":
        return "by the lake's own prices"
    day = date.fromisoformat(source)
    return f"by list prices of {day.day} {day:%b %Y}"


def _group_tabs(request: PageRequest, chosen: str) -> Iterator[dict[str, Any]]:
    rest = [pair for pair in request.pairs if pair[0] != "by"]
    for group in GROUPS:
        href = links.with_query("/money", [*rest, ("by", group)])
        yield {"text": group, "href": href, "chosen": group == chosen}


def _total(row: Row) -> dict[str, Any]:
    """Return the numbers of all runs of the window, in words."""
    tokens = row["input_tokens"] is not None or row["output_tokens"] is not None
    return {
        "runs": row["runs"],
        "has_tokens": tokens or row["cost_usd"] is not None,
        "sampled": row["estimated_runs"] is not None and row["estimated_runs"] > row["runs"],
        "estimated_runs": row["estimated_runs"],
        "spent": _cost(row),
        "without_cost": row["unpriced"],
        "a_run": "" if row["usd_per_run"] is None else usd(row["usd_per_run"]),
        "a_solved_run": "" if row["usd_per_solved"] is None else usd(row["usd_per_solved"]),
        "why_unsolved": _why_unsolved(row),
        "tokens": f"{_tokens(row['input_tokens'])}, {_tokens(row['output_tokens'])}",
        **_times(row),
    }


def _why_unsolved(row: Row) -> str:
    if not row["solved"]:
        return "no run is known to have succeeded"
    return "" if row["usd_per_solved"] is not None else "a cost is not known"


def _cost(row: Row) -> str:
    """Return what runs cost; where no cost is known, why."""
    if row["cost_usd"] is not None:
        return usd(row["cost_usd"])
    if row.get("unpriced") or row.get("no_price"):
        return "no price"
    return "no tokens" if row.get("no_tokens") else words.NOTHING


def _tokens(number: float | None) -> str:
    return words.NOTHING if number is None else short(number)


def _times(row: Row) -> dict[str, str]:
    return {
        key: words.NOTHING if row.get(f"{key}_ms") is None else words.duration(row[f"{key}_ms"])
        for key in ("median", "p95")
    }


def _row(
    request: PageRequest, row: Row, group: str, window: TimeWindow, total: Row
) -> dict[str, Any]:
    absent = {"agent": "(no agent name)", "task": "no task", "day": "unknown start"}
    share = row["cost_usd"] / total["cost_usd"] if row["cost_usd"] and total["cost_usd"] else None
    return {
        "name": words.name(row["name"], absent.get(group, "not recorded")),
        "href": _runs(request, row["name"], group, window),
        "runs": row["runs"],
        "cost": _cost(row),
        "without_cost": row["runs"] - row["priced"] if row["priced"] else 0,
        "share": "" if share is None else words.amount(share, Scale.SHARE),
        "a_run": usd(row["usd_per_run"]) if row.get("usd_per_run") is not None else words.NOTHING,
        "a_solved_run": (
            usd(row["usd_per_solved"]) if row.get("usd_per_solved") is not None else words.NOTHING
        ),
        "input": _tokens(row["input_tokens"]),
        "output": _tokens(row["output_tokens"]),
        **_times(row),
    }


def _runs(request: PageRequest, name: str | None, group: str, window: TimeWindow) -> str:
    """Return where the runs of a row are listed; '' where no filter has them."""
    if name is None and group in {"model", "tool", "day"}:
        return ""
    if group != "day":
        return links.runs(window.runs(Filter({group: (name,)}, columns=COLUMNS)))
    began = datetime.combine(date.fromisoformat(str(name)), datetime.min.time(), request.zone)
    since = began.astimezone(UTC).replace(tzinfo=None)
    until = since + DAY
    if window.since and window.until:
        since, until = max(since, window.since), min(until, window.until)
    return links.runs(Filter(since=since, until=until, columns=COLUMNS))


def _unknown(models: Sequence[Row]) -> Iterator[str]:
    """Yield the models that no price covers, with their tokens."""
    rows = [row for row in models if row["no_price"]]
    for row in rows[:UNPRICED]:
        name = words.name(row["name"], "an unnamed model")
        known = row["input_tokens"] is not None
        taken = f"{_tokens(row['input_tokens'])} tokens in, {_tokens(row['output_tokens'])} out"
        yield f"{name} ({taken if known else 'no tokens recorded'})"
    if len(rows) > UNPRICED:
        yield words.count(len(rows) - UNPRICED, "more model")


def _histogram(times: Sequence[Row], window: TimeWindow) -> Any:
    """Return how long runs took as bars, each twice as wide as the last; '' without any."""
    if not times:
        return ""
    runs = {row["power"]: row["runs"] for row in times}
    first, last = min(runs), max(runs)
    bins, labels = [], []
    for power in range(first, last + 1):
        low, high = (2.0**power if power else 0.0), 2.0 ** (power + 1)
        of_bar = window.runs(Filter(columns=COLUMNS)).within(
            "duration_ms", low, math.nextafter(high, 0)
        )
        found = runs.get(power, 0)
        title = f"{words.count(found, 'run')} of {words.duration(low)} to {words.duration(high)}"
        bins.append(Bin(found, links.runs(of_bar), title))
        labels.append(words.duration(low))
    return labeled_histogram(bins, labels, "Time of a run")


def _dear(row: Row) -> dict[str, Any]:
    about = [
        words.name(row["agent_name"], ""),
        words.name(row["release"], ""),
        words.count(row["step_count"], "step"),
        f"{_tokens(row['input_tokens'])} tokens in",
    ]
    return {
        "cost": usd(row["cost_usd"]),
        "href": links.run(row["trajectory_id"]),
        "request": words.clip(words.line(row["request"].strip()), 120) if row["request"] else "",
        "id": words.run(row["trajectory_id"]),
        "about": " · ".join(filter(None, about)),
        "time": "" if row["duration_ms"] is None else words.duration(row["duration_ms"]),
    }


def _tools(
    request: PageRequest, rows: Sequence[Row], window: TimeWindow
) -> Iterator[dict[str, Any]]:
    most = max((row["sum_ms"] or 0 for row in rows), default=0) or 1
    for row in rows:
        known = row["sum_ms"] is not None
        yield {
            "name": words.name(row["tool_name"], "not recorded"),
            "href": _runs(request, row["tool_name"], "tool", window),
            "sum": words.duration(row["sum_ms"]) if known else words.NOTHING,
            "bar": bar(row["sum_ms"] / most) if known else "",
            "calls": row["calls"],
            "failed": row["failed"],
            **_times(row),
        }
